"""MASPO: roles improved in turn by a small beam search, rewarded for what they do to successor and team.

Source: Wang et al., "MASPO: Joint Prompt Optimization for LLM-based Multi-Agent Systems", arXiv:2605.06623.

What is implemented, for a candidate c against its parent p on the same rows under the same seeds:

    J(c) = 0.4 L + 0.4 N + 0.2 G - 0.5     L: the role's outputs, N: its successor's outputs, G: the scores
    J(c) = 0.7 L + 0.3 G - 0.5             where no successor spoke
    J(c) = G - 0.5                         for the role that submits, and for a prompt that all share
    value(c) = value(p) + J(c)             if J(c) > 0; else the parent stays in the pool

The two best of the pool are the next beam. A step's best takes the role's place in the team when its value
beats the best so far. Rows where a candidate's own output won while its successor or the team lost are given
to the roles that read it. When a role's turn comes again, its beam is first compared anew with the prompt in
place (0.7 L + 0.3 G - 0.5, or G - 0.5), since the team around it has changed.

By default the judge always sees the candidate as output A, as in the benchmark; `random_positions` mixes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

from lcbkit.optimizers.asking import Ask, answers
from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.fitting import fit_context
from lcbkit.optimizers.interface import (
    BudgetExhausted,
    ConfigError,
    Context,
    Event,
    Outcome,
    Request,
    Rollout,
    Row,
    Step,
)
from lcbkit.optimizers.knobs import check_least
from lcbkit.optimizers.maspo_prompts import BEGIN_PROMPT, END_PROMPT, proposal_prompt, sample_text
from lcbkit.optimizers.maspo_trial import Judge, Trial
from lcbkit.optimizers.pairwise import Weights
from lcbkit.optimizers.reading import as_prompt, extract_block

__all__ = ["Maspo", "MaspoSettings", "Node", "next_beam", "pool_of"]

_PHASE = "optimization/maspo"
_GAIN = 1e-6
_SAMPLES = 5
_TEMPERATURE = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class MaspoSettings:
    """Every knob of the method; the defaults are the benchmark's.

    Attributes:
        beam: prompts kept for a role.
        offspring: proposals for each of them in a step.
        minibatch: train rows of a step.
        depth: steps for a role, over all its turns.
        steps_per_turn: steps before the next role's turn.
        buffer: misaligned rows kept of a role.
        injection: rows from the predecessors' buffers in a minibatch.
        weights: of the joint reward.
        at_once: judge calls on their way at one time.
        random_positions: whether the judge sees the candidate in either place rather than always first.
        outcomes: whether proposals are told how the team's work ended.
    """

    beam: int = 2
    offspring: int = 2
    minibatch: int = 10
    depth: int = 9
    steps_per_turn: int = 3
    buffer: int = 3
    injection: int = 5
    weights: Weights = field(default_factory=Weights)
    at_once: int = 4
    random_positions: bool = False
    outcomes: bool = False

    def __post_init__(self) -> None:
        check_least(self, beam=1, offspring=1, minibatch=1, depth=1, steps_per_turn=1, at_once=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A prompt of a role.

    Attributes:
        prompt: the text.
        value: what it gained over the seed, summed along its line of descent.
        misaligned: ids of rows where it was better for itself and worse for others.
    """

    prompt: str
    value: float
    misaligned: tuple[str, ...] = ()


def pool_of(parent: Node, scored: Sequence[tuple[str, float, tuple[str, ...]]]) -> list[Node]:
    """What a parent gives to the pool: each candidate with a positive reward, itself in place of the others.

    Args:
        parent: the node.
        scored: candidate, reward J and misaligned rows.
    """
    return [
        Node(prompt=prompt, value=parent.value + reward, misaligned=rows) if reward > 0 else parent
        for prompt, reward, rows in scored
    ] or [parent]


def next_beam(pool: Sequence[Node], width: int) -> list[Node]:
    """The nodes of the highest values, one for each prompt; the earlier among equals."""
    beam: dict[str, Node] = {}
    for node in sorted(pool, key=lambda node: -node.value):
        beam.setdefault(node.prompt, node)
    return list(beam.values())[:width]


@dataclass(slots=True)
class _Role:
    """How far the search for one role is."""

    beam: list[Node]
    best: Node
    depth: int = 0
    buffer: tuple[str, ...] = ()


class Maspo:
    """The method, see the module."""

    name = "maspo"

    def __init__(self, settings: MaspoSettings | None = None) -> None:
        self.settings = settings or MaspoSettings()

    def run(self, ctx: Context) -> Outcome:
        """Search; see `Optimizer.run`."""
        if not ctx.train or ctx.evaluate.remaining < 2:
            raise ConfigError(
                f"maspo compares a prompt with its parent on train rows; with {len(ctx.train)} rows and a "
                f"budget of {ctx.evaluate.remaining} rollouts it cannot begin: 20 are the least"
            )
        return _Search(ctx, self.settings).run()


class _Search:
    """One search: the bundle in place and the state of each role."""

    def __init__(self, ctx: Context, knobs: MaspoSettings) -> None:
        self._ctx, self._knobs = ctx, knobs
        self._anchor = ctx.seed_bundle
        self._rows = {row.id: row for row in ctx.train}
        self._rng = Random(ctx.seed)
        swap = Random(f"{ctx.seed}/positions") if knobs.random_positions else None
        self._judge = Judge(ctx, weights=knobs.weights, keep=knobs.buffer, at_once=knobs.at_once, swap=swap)
        seeds = {role: Node(prompt=text, value=0.0) for role, text in ctx.seed_bundle.roles.items()}
        self._roles = {role: _Role(beam=[node], best=node) for role, node in seeds.items()}
        self._history: list[dict[str, Any]] = []
        self._unreadable = self._cuts = 0

    def run(self) -> Outcome:
        self._ctx.journal(Event(iteration=0, incumbent=self._anchor, note="seed"))
        try:
            stop = self._sweeps()
        except BudgetExhausted:
            stop = "budget"
        return Outcome(
            incumbent=self._anchor, stop_reason=stop, history=self._history, iterations=len(self._history)
        )

    def _sweeps(self) -> str:
        last = self._ctx.team.terminal
        order = [*(role for role in self._ctx.team.roles if role != last), last]
        while unfinished := [role for role in order if self._roles[role].depth < self._knobs.depth]:
            for role in unfinished:
                state = self._roles[role]
                if state.depth and self._ctx.evaluate.remaining:
                    self._refresh(role, state)
                for _ in range(min(self._knobs.steps_per_turn, self._knobs.depth - state.depth)):
                    if not self._ctx.evaluate.remaining:
                        return "budget"
                    self._step(role, state)
        return "maximum_search_depth"

    def _step(self, role: str, state: _Role) -> None:
        """Offspring for each node of the beam, and the beam that they make."""
        pool: list[Node] = []
        rewards: list[float] = []
        for place, node in enumerate(state.beam):
            if not self._ctx.evaluate.remaining:
                break
            step = Step(_PHASE, state.depth, f"{role}/{place}")
            scored = self._offspring(role, node, step)
            rewards += [reward for _, reward, _ in scored]
            pool += pool_of(node, scored)
        state.beam = next_beam(pool, self._knobs.beam)
        state.depth += 1
        top = state.beam[0]
        improved = top.value > state.best.value + _GAIN
        if improved:
            state.best, state.buffer = top, top.misaligned
            self._anchor = self._anchor.with_roles({role: top.prompt})
        self._note("step", role, state, improved=improved, rewards=rewards)

    def _offspring(self, role: str, node: Node, step: Step) -> list[tuple[str, float, tuple[str, ...]]]:
        """The distinct proposals for a node with their rewards and misaligned rows."""
        rows = self._minibatch(role)
        evaluate = self._ctx.evaluate
        rollouts = evaluate.batch(self._placed(role, node.prompt), rows, step, exact=False)
        parent = Trial(prompt=node.prompt, rows=rows[: len(rollouts)], rollouts=rollouts)
        proposals = self._proposals(role, parent, step) if evaluate.remaining else []
        scored: dict[str, tuple[float, tuple[str, ...]]] = dict.fromkeys(proposals, (0.0, ()))
        trials = self._tried(role, [text for text in scored if text != node.prompt], parent.rows, step)
        for trial, result in zip(trials, self._judge.compare(role, trials, parent, step), strict=True):
            scored[trial.prompt] = (result.rewarded.reward, result.misaligned)
        return [(text, reward, misaligned) for text, (reward, misaligned) in scored.items()]

    def _tried(self, role: str, prompts: Sequence[str], rows: Sequence[Row], step: Step) -> list[Trial]:
        """The prompts' rollouts, side by side; prompts for which no rollout is left are left out."""
        if not prompts:
            return []
        requests = [
            Request(bundle=self._placed(role, text), rows=rows, step=step, exact=False) for text in prompts
        ]
        done = self._ctx.evaluate.batches(requests)
        return [
            Trial(prompt=text, rows=rows[: len(rollouts)], rollouts=rollouts)
            for text, rollouts in zip(prompts, done, strict=True)
            if rollouts
        ]

    def _proposals(self, role: str, parent: Trial, step: Step) -> list[str]:
        """One proposal for each part of the parent's rollouts; the parent's text where none can be read."""
        parts = _parts(list(zip(parent.rows, parent.rollouts, strict=True)), self._knobs.offspring)
        asks = [self._proposal_ask(role, parent.prompt, part, step) for part in parts]
        proposals = []
        for answer in answers(self._ctx.reflect, asks, at_once=self._knobs.at_once):
            closed = BEGIN_PROMPT in answer and END_PROMPT in answer
            block = extract_block(answer, "", begin=BEGIN_PROMPT, end=END_PROMPT) if closed else ""
            text = as_prompt(block, self._ctx.seed_bundle.roles[role])
            self._unreadable += text is None
            proposals.append(parent.prompt if text in (None, parent.prompt.strip()) else text)
        return proposals

    def _proposal_ask(self, role: str, prompt: str, part: Sequence[tuple[Row, Rollout]], step: Step) -> Ask:
        samples = {
            f"sample {number}": sample_text(row, rollout, role, outcome=self._knobs.outcomes)
            for number, (row, rollout) in enumerate(part[:_SAMPLES], start=1)
        }

        def render(texts: Mapping[str, str]) -> str:
            return proposal_prompt(self._ctx.team, role, prompt, list(texts.values()))

        fitted = fit_context(render, samples)
        self._cuts += len(fitted.cuts)
        return Ask(
            prompt=fitted.prompt,
            step=step,
            role=role,
            temperature=_TEMPERATURE,
            max_tokens=fitted.max_tokens,
        )

    def _minibatch(self, role: str) -> list[Row]:
        """Rows on which predecessors harmed their readers, filled up with random others."""
        before = self._ctx.team.predecessors[role]
        known = list(dict.fromkeys(row for other in before for row in self._roles[other].buffer))
        size = min(self._knobs.minibatch, len(self._rows))
        most = min(self._knobs.injection, size)
        chosen = known if len(known) <= most else self._rng.sample(known, most)
        outside = [row for row in self._rows if row not in known]
        chosen += self._rng.sample(outside, min(size - len(chosen), len(outside)))
        return [self._rows[row] for row in chosen]

    def _refresh(self, role: str, state: _Role) -> None:
        """Compare the beam with the prompt in place anew, since the other roles have changed."""
        anchor = Node(prompt=state.best.prompt, value=0.0, misaligned=state.best.misaligned)
        others = [node.prompt for node in state.beam if node.prompt != anchor.prompt]
        nodes = [anchor, *(Node(prompt=text, value=0.0) for text in others)]
        size = min(self._knobs.minibatch, len(self._rows))
        measured = bool(others) and self._ctx.evaluate.remaining > size
        if measured:
            rows = self._rng.sample(list(self._rows.values()), size)
            step = Step(_PHASE, state.depth, f"{role}/refresh")
            first, *trials = self._tried(role, [anchor.prompt, *others], rows, step)
            results = self._judge.compare(role, trials, first, step, lookahead=False)
            values = {t.prompt: r.rewarded.reward for t, r in zip(trials, results, strict=True)}
            nodes = [
                anchor,
                *(Node(prompt=text, value=value) for text, value in values.items()),
            ]
        state.beam = next_beam(nodes, self._knobs.beam)
        top = state.beam[0]
        improved = top.prompt != anchor.prompt and top.value > _GAIN
        state.best = top if improved else anchor
        if improved:
            self._anchor = self._anchor.with_roles({role: top.prompt})
        rewards = [node.value for node in nodes[1:]] if measured else []
        self._note("refresh", role, state, improved=improved, rewards=rewards)

    def _placed(self, role: str, prompt: str) -> Bundle:
        return self._anchor.with_roles({role: prompt})

    def _note(self, what: str, role: str, state: _Role, *, improved: bool, rewards: Sequence[float]) -> None:
        entry = {
            "what": what,
            "role": role,
            "depth": state.depth,
            "rewards": [round(reward, 6) for reward in rewards],
            "beam": [round(node.value, 6) for node in state.beam],
            "improved": improved,
            "misaligned": list(state.buffer),
            "unreadable_answers": self._unreadable,
            "texts_cut": self._cuts,
        }
        self._unreadable = self._cuts = 0
        self._history.append(entry)
        self._ctx.journal(
            Event(
                iteration=len(self._history),
                incumbent=self._anchor if improved else None,
                note=f"{role}, depth {state.depth}: {'better' if improved else 'no better'}",
                detail=entry,
            )
        )


def _parts(items: Sequence[Any], count: int) -> list[Sequence[Any]]:
    """Items cut into so many parts of nearly equal length, empty ones left out."""
    size, more = divmod(len(items), count)
    cuts = [0]
    for number in range(count):
        cuts.append(cuts[-1] + size + (number < more))
    return [items[a:b] for a, b in pairwise(cuts) if b > a]
