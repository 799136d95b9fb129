"""The calls of MAPRO: first pools, probes and their judges, blame, and the next pools."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from statistics import fmean

from lcbkit.optimizers.asking import Ask, answers, needed_answers
from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.interface import Context, Rollout, Row, Step
from lcbkit.optimizers.mapro_prompts import (
    BEGIN_PROMPT,
    BEGIN_VARIANT,
    END_PROMPT,
    END_VARIANT,
    OPERATORS,
    OUTPUT_CHARACTERS,
    TASK_CHARACTERS,
    Demo,
    blame_prompt,
    edge_prompt,
    node_prompt,
    probe_context,
    rewrite_prompt,
    variants_prompt,
)
from lcbkit.optimizers.reading import as_prompt, extract_block, parse_score
from lcbkit.optimizers.texts import cut_middle, row_text, spoken
from lcbkit.topologies.roles import role_of

__all__ = ["Demos", "Judged", "Reflection", "parse_blame"]

_LINE = re.compile(r"[\s\-*+>`_#\d.)]*(\w+?(?:::\d+)?)[`*_]*\s*:+[*_`]*\s*(\S.*)")
_OK = re.compile(r"\W*(?:OK|okay)\W*", re.IGNORECASE)
_LONGEST_BLAME = 800

Pools = Mapping[str, Sequence[str]]


@dataclass(slots=True)
class Demos:
    """Prompts of one role whose worth was seen, the newest last.

    Attributes:
        most: kept of either sort.
        good: that did well.
        bad: that did badly.
    """

    most: int = 6
    good: list[Demo] = field(default_factory=list)
    bad: list[Demo] = field(default_factory=list)

    def add(self, demo: Demo, *, good: bool) -> None:
        """Take a demo in, in place of one with the same prompt or of the oldest."""
        known = self.good if good else self.bad
        known[:] = [*(other for other in known if other.prompt != demo.prompt), demo][-self.most :]

    def shown(self, count: int) -> list[Demo]:
        """The newest, good and bad in turn, good first."""
        good, bad = self.good[::-1], self.bad[::-1]
        mixed = [
            demo for place in range(self.most) for demo in (*good[place : place + 1], *bad[place : place + 1])
        ]
        return mixed[:count]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Scores of a round.

    Attributes:
        nodes: by role, the score of each candidate.
        edges: by pair of roles, a table of hand-offs: rows are the writer's candidates, columns the reader's.
        diagonal: of a prompt that all peers share, how each candidate gets on with itself; None otherwise.
    """

    nodes: Mapping[str, tuple[float, ...]]
    edges: Mapping[tuple[str, str], tuple[tuple[float, ...], ...]]
    diagonal: tuple[float, ...] | None


def parse_blame(answer: str, parents: Sequence[str]) -> dict[str, str]:
    """What an answer blames each parent for; OK and names of others are left out."""
    found: dict[str, str] = {}
    for line in answer[:20_000].splitlines():
        match = _LINE.fullmatch(line.strip()[:1_000])
        name = role_of(match.group(1)) if match else ""
        if match and name in parents and not _OK.fullmatch(match.group(2)):
            found.setdefault(name, match.group(2).strip())
    return found


class Reflection:
    """What MAPRO asks of its two models.

    Args:
        ctx: what the method may use.
        candidates: in a pool, K.
        contexts: of a candidate that are probed.
        at_once: questions on their way at one time.
        shown_demos: in a question to the judge.
    """

    def __init__(
        self, ctx: Context, *, candidates: int, contexts: int, at_once: int, shown_demos: int
    ) -> None:
        self._ctx, self._team = ctx, ctx.team
        self._candidates, self._contexts, self._at_once = candidates, contexts, at_once
        self._shown_demos = shown_demos
        self.unreadable = 0

    def first_pools(self, step: Step) -> dict[str, list[str]]:
        """The seed's prompts and rewordings of them; the seed's own text where one cannot be read."""
        seeds = self._ctx.seed_bundle.roles
        wanted = self._candidates - 1
        asks = [
            Ask(prompt=variants_prompt(self._team, role, text, wanted), step=step, role=role, temperature=0.7)
            for role, text in seeds.items()
        ]
        pools = {}
        for (role, text), answer in zip(
            seeds.items(), answers(self._ctx.reflect, asks, at_once=self._at_once), strict=True
        ):
            pieces = [piece.split(END_VARIANT, 1)[0] for piece in answer.split(BEGIN_VARIANT)[1:]]
            variants = [good for piece in pieces if (good := as_prompt(piece, text))][:wanted]
            self.unreadable += wanted - len(variants)
            pools[role] = [text, *variants, *[text] * (wanted - len(variants))]
        return pools

    def judged(
        self,
        pools: Pools,
        rows: Sequence[Row],
        rollouts: Sequence[Rollout],
        demos: Mapping[str, Demos],
        step: Step,
    ) -> Judged:
        """Probe every candidate in every context and judge outputs and hand-offs.

        Args:
            pools: the candidates.
            rows: the problems of the rollouts.
            rollouts: the best bundle's; the first few give the contexts.
            demos: by role.
            step: of the questions.

        Raises:
            InfrastructureExhausted: if a probe stays without an answer.
        """
        shown = list(zip(rows, rollouts, strict=True))[: self._contexts]
        # Equal candidates are judged once and share their scores.
        texts = {role: list(dict.fromkeys(pool)) for role, pool in pools.items()}
        contexts = {role: [probe_context(self._team, role, *pair) for pair in shown] for role in texts}
        outputs = self._probed(texts, contexts, step)
        nodes = self._node_scores(texts, contexts, outputs, demos, step)
        tasks = [row_text(row, TASK_CHARACTERS) for row, _ in shown]
        shared = self._team.roles[0]
        peers = self._team.debates
        pairs = [
            (source, target, k, m)
            for source, target in ([(shared, shared)] if peers else self._team.edges)
            for k, m in product(range(len(texts[source])), range(len(texts[target])))
            if not peers or k == m
        ]
        edges = self._edge_scores(texts, tasks, outputs, pairs, demos, step)
        places = {role: [texts[role].index(text) for text in pool] for role, pool in pools.items()}
        return Judged(
            nodes={role: tuple(nodes[role, k] for k in places[role]) for role in pools},
            edges={
                (source, target): tuple(
                    tuple(edges[source, target, k, m] for m in places[target]) for k in places[source]
                )
                for source, target in self._team.edges
            },
            diagonal=tuple(edges[shared, shared, k, k] for k in places[shared]) if peers else None,
        )

    def _probed(
        self, texts: Pools, contexts: Mapping[str, Sequence[str]], step: Step
    ) -> dict[tuple[str, int, int], str]:
        """What the task model writes as each role under each candidate in each context."""
        keys = [
            (role, k, c)
            for role, pool in texts.items()
            for k in range(len(pool))
            for c in range(len(contexts[role]))
        ]
        asks = [
            Ask(
                prompt=contexts[role][c],
                system=texts[role][k],
                step=step,
                role=role,
                temperature=0.2,
                top_p=0.9,
                max_tokens=768,
            )
            for role, k, c in keys
        ]
        found = needed_answers(self._ctx.task_llm, asks, at_once=self._at_once)
        return {key: cut_middle(answer, OUTPUT_CHARACTERS) for key, answer in zip(keys, found, strict=True)}

    def _node_scores(
        self,
        texts: Pools,
        contexts: Mapping[str, Sequence[str]],
        outputs: Mapping[tuple[str, int, int], str],
        demos: Mapping[str, Demos],
        step: Step,
    ) -> dict[tuple[str, int], float]:
        prompts = [
            (
                f"judge {role}",
                node_prompt(
                    self._team,
                    role,
                    texts[role][k],
                    contexts[role][c],
                    output,
                    demos[role].shown(self._shown_demos),
                ),
            )
            for (role, k, c), output in outputs.items()
        ]
        scores: dict[tuple[str, int], list[float]] = {}
        for (role, k, _), score in zip(outputs, self._scores(prompts, step), strict=True):
            scores.setdefault((role, k), []).append(score)
        return {key: fmean(values) for key, values in scores.items()}

    def _edge_scores(
        self,
        texts: Pools,
        tasks: Sequence[str],
        outputs: Mapping[tuple[str, int, int], str],
        pairs: Sequence[tuple[str, str, int, int]],
        demos: Mapping[str, Demos],
        step: Step,
    ) -> dict[tuple[str, str, int, int], float]:
        prompts = [
            (
                f"judge {source} to {target}",
                edge_prompt(
                    self._team,
                    source,
                    target,
                    task,
                    outputs[source, k, c],
                    texts[target][m],
                    demos[target].shown(self._shown_demos),
                ),
            )
            for source, target, k, m in pairs
            for c, task in enumerate(tasks)
        ]
        found = self._scores(prompts, step)
        size = len(tasks)
        return {pair: fmean(found[n * size : (n + 1) * size]) for n, pair in enumerate(pairs)}

    def _scores(self, prompts: Sequence[tuple[str, str]], step: Step) -> list[float]:
        asks = [
            Ask(prompt=text, step=step, role=role, temperature=0.2, top_p=0.9, max_tokens=8)
            for role, text in prompts
        ]
        return [parse_score(answer) for answer in answers(self._ctx.task_llm, asks, at_once=self._at_once)]

    def blamed(self, rows: Sequence[Row], rollouts: Sequence[Rollout], step: Step) -> dict[str, str]:
        """What roles blame the roles before them for, in failed work: by blamed role, cut.

        Args:
            rows: the problems.
            rollouts: the work on them; what was solved is passed over.
            step: of the questions.
        """
        asked: list[tuple[str, list[str]]] = []
        asks: list[Ask] = []
        for row, rollout in zip(rows, rollouts, strict=True):
            if rollout.score >= 1:
                continue
            for role in reversed(self._team.roles):
                if not (parents := self._parents(role, rollout)):
                    continue
                asked.append((role, parents))
                text = blame_prompt(self._team, role, parents, row, rollout)
                asks.append(Ask(prompt=text, step=step, role=role, temperature=0.2))
        collected: dict[str, list[str]] = {}
        for (_, parents), answer in zip(
            asked, answers(self._ctx.reflect, asks, at_once=self._at_once), strict=True
        ):
            for parent, sentence in parse_blame(answer, parents).items():
                collected.setdefault(parent, []).append(f"- {sentence}")
        return {
            role: cut_middle("\n".join(dict.fromkeys(lines)), _LONGEST_BLAME)
            for role, lines in collected.items()
        }

    def _parents(self, role: str, rollout: Rollout) -> list[str]:
        """Whose work a role read in a rollout; of peers that share a prompt each other's."""
        if not spoken(rollout, role):
            return []
        if self._team.debates:
            return [role]
        return [parent for parent in self._team.predecessors[role] if spoken(rollout, parent)]

    def next_pools(
        self, best: Bundle, overall: str, blame: Mapping[str, str], step: Step
    ) -> dict[str, list[str]]:
        """The best prompts, each with rewrites of it; the prompt itself where one cannot be read."""
        keys = [(role, number) for role in best.roles for number in range(self._candidates - 1)]
        asks = [
            Ask(
                prompt=rewrite_prompt(
                    self._team,
                    role,
                    best.roles[role],
                    OPERATORS[number % len(OPERATORS)],
                    overall,
                    blame.get(role, ""),
                    f"revision {step.iteration}.{number + 1}",
                ),
                step=step,
                role=role,
                temperature=0.7,
            )
            for role, number in keys
        ]
        pools = {role: [text] for role, text in best.roles.items()}
        for (role, _), answer in zip(
            keys, answers(self._ctx.reflect, asks, at_once=self._at_once), strict=True
        ):
            block = extract_block(answer, "", begin=BEGIN_PROMPT, end=END_PROMPT)
            text = as_prompt(block, self._ctx.seed_bundle.roles[role])
            self.unreadable += text is None
            pools[role].append(text or best.roles[role])
        return pools
