"""HiveMind: which role contributes least? Shapley values say; it gets lessons from what went wrong.

Y. Xia, T. Wang, S. Zhang, Z. Weng, B. Cao, S. C. Liew, "HiveMind: Contribution-Guided Online Prompt
Optimization of LLM Multi-Agent Systems", arXiv 2512.06432 (AAAI 2026).

A cycle runs the team restricted to each coalition S of its players on the same rows, which gives
`v(S)` as the mean score, and from these the credits (see `shapley`)
`phi_i = sum over S without i of |S|! (n - |S| - 1)! / n! * (v(S + i) - v(S))`.
A role's credit is the sum of its players'. The role with the least (in a team with a manager, every third
cycle the manager, which is no player) gets a block of lessons, kept only if the team with it does strictly
better on validation rows.

Where this differs from the paper: plain Shapley values instead of DAG-Shapley's pruning, and a minibatch gate
instead of the online setting of a trading task.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.interface import (
    BudgetExhausted,
    ConfigError,
    Context,
    Event,
    Outcome,
    ReflectionError,
    Request,
    Rollout,
    Row,
    Step,
)
from lcbkit.optimizers.knobs import check_least
from lcbkit.optimizers.lessons import BEGIN, END, read_lessons, with_lessons
from lcbkit.optimizers.reading import as_prompt
from lcbkit.optimizers.shapley import CoalitionPlan, batch_sizes, plan_coalitions, shapley_values
from lcbkit.optimizers.texts import cut_middle, role_trace
from lcbkit.topologies.roles import role_of

__all__ = ["Hivemind", "HivemindSettings", "next_target"]

_PHASE = "optimization/hivemind"


@dataclass(frozen=True, slots=True, kw_only=True)
class HivemindSettings:
    """The method's knobs.

    Attributes:
        coalition_batch: train rows on which every coalition is run.
        acceptance_batch: validation rows on which lessons must prove themselves.
        max_coalitions: up to so many all coalitions are run; beyond, prefixes of random orders.
        manager_every: every which cycle a manager is the target.
        max_lessons: newest blocks of lessons that a prompt holds.
        fail_below: a score below is a failure.
        max_cycles: 0: until the budget is spent.
        min_gain: by how much the gate's mean must rise.
        shown_cases: of failures, and of successes, that the reflection model reads.
        problem_chars: of a problem that it reads.
        output_chars: of the role's own words that it reads.
        temperature: of the reflection model.
        seed: base of the random streams.
    """

    coalition_batch: int = 5
    acceptance_batch: int = 5
    max_coalitions: int = 40
    manager_every: int = 3
    max_lessons: int = 6
    fail_below: float = 0.5
    max_cycles: int = 0
    min_gain: float = 1e-9
    shown_cases: int = 6
    problem_chars: int = 300
    output_chars: int = 400
    temperature: float = 0.7
    seed: int = 0

    def __post_init__(self) -> None:
        check_least(self, coalition_batch=1, acceptance_batch=1, max_coalitions=2, manager_every=1)
        check_least(self, max_lessons=1, max_cycles=0, shown_cases=1)


def next_target(credits: Mapping[str, float], *, cycle: int, manager: str | None, manager_every: int) -> str:
    """Whose prompt is to improve.

    Args:
        credits: of each role that has players.
        cycle: from 1.
        manager: a role without players, if the team has one.
        manager_every: every which cycle it is the manager.

    Returns:
        The role with the lowest credit, of equal ones the first of the alphabet.
    """
    if manager is not None and cycle % manager_every == 0:
        return manager
    return min(sorted(credits), key=lambda role: credits[role])


class Hivemind:
    """Lessons for the role that contributes least, as long as they help."""

    name = "hivemind"

    def __init__(self, settings: HivemindSettings | None = None) -> None:
        self.settings = settings or HivemindSettings()

    def run(self, ctx: Context) -> Outcome:
        """Search until the next cycle does not fit any more."""
        if not ctx.team.players:
            raise ConfigError(
                f"hivemind leaves players out to see what they contribute, and the {ctx.team.topology} team "
                "has none; take another topology or method"
            )
        search = _Search(ctx, self.settings)
        while search.affordable() and (
            not self.settings.max_cycles or search.cycles < self.settings.max_cycles
        ):
            try:
                search.cycle()
            except BudgetExhausted:
                break
        done = bool(self.settings.max_cycles) and search.cycles >= self.settings.max_cycles
        return Outcome(
            incumbent=search.current,
            stop_reason="max_cycles" if done else "budget",
            history=search.history,
            iterations=search.cycles,
        )


@dataclass(slots=True)
class _Rows:
    """Rows in a shuffled order that is gone through again and again."""

    order: list[Row]
    at: int = 0

    def take(self, count: int) -> list[Row]:
        """The next rows; never one twice."""
        count = min(count, len(self.order))
        taken = [self.order[(self.at + number) % len(self.order)] for number in range(count)]
        self.at = (self.at + count) % len(self.order)
        return taken


@dataclass(slots=True)
class _Search:
    """The state of one run."""

    ctx: Context
    settings: HivemindSettings
    cycles: int = 0
    current: Bundle = field(init=False)
    lessons: dict[str, list[str]] = field(init=False)
    history: list[dict[str, Any]] = field(default_factory=list)
    plan: CoalitionPlan = field(init=False)
    sizes: tuple[int, int] = field(init=False)
    train: _Rows = field(init=False)
    validation: _Rows = field(init=False)

    def __post_init__(self) -> None:
        ctx, settings = self.ctx, self.settings
        self.current = ctx.seed_bundle
        self.lessons = {role: [] for role in ctx.team.roles}
        try:
            self.plan = plan_coalitions(
                ctx.team.players,
                random.Random(90_001 * ctx.seed + settings.seed),
                most=settings.max_coalitions,
            )
        except ValueError as error:
            raise ConfigError(f"hivemind cannot plan its coalitions: {error}") from error
        order = random.Random(100_003 * ctx.seed + settings.seed)
        self.train, self.validation = (
            _Rows(order.sample(rows, len(rows))) for rows in (list(ctx.train), list(ctx.validation))
        )
        self.sizes = batch_sizes(
            len(self.plan.coalitions),
            ctx.evaluate.remaining,
            rows=min(settings.coalition_batch, len(ctx.train)),
            gate=min(settings.acceptance_batch, len(ctx.validation)),
        )

    def affordable(self) -> bool:
        """Whether a whole cycle fits into what is left."""
        rows, gate = self.sizes
        return len(self.plan.coalitions) * rows + 2 * gate <= self.ctx.evaluate.remaining

    def cycle(self) -> None:
        """Score the coalitions, write lessons for the weakest role, and keep them if they help."""
        self.cycles += 1
        scores, whole, rows = self._score_coalitions()
        credits = self._role_credits(shapley_values(self.plan, scores))
        target = next_target(
            credits,
            cycle=self.cycles,
            manager=self.ctx.team.manager,
            manager_every=self.settings.manager_every,
        )
        entry: dict[str, Any] = {
            "cycle": self.cycles,
            "coalitions": {"+".join(sorted(chosen)): score for chosen, score in scores.items()},
            "credits": credits,
            "target": target,
        }
        block = self._reflect(target, credits.get(target), whole, rows, entry)
        candidate = self._candidate(target, block)
        if candidate is None:
            entry["outcome"] = "no new lessons"
        else:
            before, after = self._gate(candidate)
            better = after > before + self.settings.min_gain
            entry |= {"outcome": "accepted" if better else "rejected", "before": before, "after": after}
            if better:
                self.current = candidate
                self.lessons[target].append(block)
        self.history.append(entry)
        self.ctx.journal(
            Event(
                iteration=self.cycles,
                incumbent=self.current if entry["outcome"] == "accepted" else None,
                score=entry.get("after") if entry["outcome"] == "accepted" else entry.get("before"),
                note=f"{target}: {entry['outcome']}",
                detail=entry,
            )
        )

    def _score_coalitions(self) -> tuple[dict[frozenset[str], float], list[Rollout], list[Row]]:
        """The mean score of each coalition, and the whole team's rollouts with their rows."""
        rows = self.train.take(self.sizes[0])
        everybody = frozenset(self.plan.players)
        # One tag for all: every coalition meets the same randomness on a row.
        step = Step(_PHASE, self.cycles, "coalitions")
        records = self.ctx.evaluate.batches(
            [
                Request(bundle=self.current, rows=rows, step=step, mask=everybody - coalition)
                for coalition in self.plan.coalitions
            ]
        )
        by_coalition = dict(zip(self.plan.coalitions, records, strict=True))
        scores = {chosen: fmean(one.score for one in found) for chosen, found in by_coalition.items()}
        return scores, by_coalition[everybody], rows

    def _role_credits(self, values: Mapping[str, float]) -> dict[str, float]:
        """Credits by role: a shared prompt owns all of its replicas."""
        credits: dict[str, float] = {}
        for player, value in values.items():
            credits[role_of(player)] = credits.get(role_of(player), 0.0) + value
        return credits

    def _reflect(
        self,
        target: str,
        credit: float | None,
        rollouts: Sequence[Rollout],
        rows: Sequence[Row],
        entry: dict[str, Any],
    ) -> str:
        """Lessons for a role from the whole team's rollouts; empty if the model gave none."""
        failed = [one for one in rollouts if one.score < self.settings.fail_below]
        solved = [one for one in rollouts if one.score >= self.settings.fail_below]
        problems = {row.id: row.problem for row in rows}
        prompt = _lesson_prompt(
            target,
            duty=self.ctx.team.descriptions.get(target, ""),
            prompt=self.current.roles[target],
            credit=credit,
            cycle=self.cycles,
            failed=list(self._cases(failed, target, problems)),
            solved=list(self._cases(solved, target, problems)),
        )
        try:
            answer = self.ctx.reflect(
                prompt,
                step=Step(_PHASE, self.cycles),
                role=target,
                temperature=self.settings.temperature,
            )
        except ReflectionError as error:
            entry["reflection_error"] = str(error)
            return ""
        return as_prompt(read_lessons(answer), self.ctx.seed_bundle.roles[target]) or ""

    def _cases(self, rollouts: Sequence[Rollout], role: str, problems: Mapping[str, str]) -> Iterator[str]:
        for one in rollouts[: self.settings.shown_cases]:
            problem = cut_middle(problems[one.row_id].strip(), self.settings.problem_chars)
            wrote = cut_middle(role_trace(one, role, k=1), self.settings.output_chars)
            yield f"Problem: {problem}\nThis role wrote: {wrote}\nThe team's result: {one.feedback}"

    def _candidate(self, target: str, block: str) -> Bundle | None:
        """The current bundle with one more block of lessons; None if that changes nothing."""
        if not block:
            return None
        seed = self.ctx.seed_bundle.roles[target]
        text = with_lessons(seed, [*self.lessons[target], block], most=self.settings.max_lessons)
        return None if text == self.current.roles[target] else self.current.with_roles({target: text})

    def _gate(self, candidate: Bundle) -> tuple[float, float]:
        """Mean scores of the current bundle and the candidate on the same rows under the same seeds."""
        rows = self.validation.take(self.sizes[1])
        step = Step(_PHASE, self.cycles, "gate")
        before, after = self.ctx.evaluate.batches(
            [Request(bundle=bundle, rows=rows, step=step) for bundle in (self.current, candidate)]
        )
        return fmean(one.score for one in before), fmean(one.score for one in after)


def _lesson_prompt(
    role: str,
    *,
    duty: str,
    prompt: str,
    credit: float | None,
    cycle: int,
    failed: Sequence[str],
    solved: Sequence[str],
) -> str:
    worth = (
        "It leads the team, so that its contribution cannot be measured by leaving it out."
        if credit is None
        else f"Measured by running the team with and without it, it adds {credit:+.3f} to the share of "
        "problems that the team solves: around zero the team does as well without it, below zero better."
    )
    return f"""A team of language models solves programming contests together. One of its roles needs \
coaching: the {role}. Its duty: {duty.strip()}
{worth} This is coaching round {cycle}.

Its instructions now, with the lessons that it has had so far:
<instructions>
{prompt.strip()}
</instructions>

Problems that the team failed, with what this role wrote:
{_numbered(failed)}

Problems that the team solved:
{_numbered(solved)}

What should this role do differently in work to come? Write three to five short lessons:
- each is one sentence that tells the role how to act, with the sign by which it knows when;
- each is general: no name, number or trick of a single problem above;
- each is new: nothing that its instructions say already, and no description of the role;
- leave the form of its replies, the names of its tools and its place in the team alone.
Give the lessons as a list between these two lines, and nothing after them:
{BEGIN}
- ...
{END}"""


def _numbered(cases: Sequence[str]) -> str:
    return "\n\n".join(f"{number}. {case}" for number, case in enumerate(cases, start=1)) or "(none)"
