"""MAPRO: the jointly best choice of prompts, found by message passing over judged prompts and hand-offs.

Source: Zhang et al., "MAPRO: Recasting Multi-Agent Prompt Optimization as Maximum a Posteriori Inference",
arXiv:2510.07475.

What is implemented, with a pool of K candidates for each role:

    T(z) = prod_r g(z_r) * prod_(i->j) g(z_i, z_j)        quality of a choice z, all g in [1e-6, 1]
    z* = argmax T(z)                                      exactly, by max-product messages (`belief.py`)
    q(k) = R log g(k) + R (R - 1) log g(k, k)             for R peers that share a prompt; without the second
                                                          term for R that do not read each other

g of a candidate is the mean score that a judge gives to what the task model writes under it in a few contexts
of real rollouts; g of a hand-off is that of one's output together with the other's prompt. The choice is then
run on the train rows; a strictly higher mean is the new best. Roles that read failed work blame those who
wrote it, and each pool is made anew: the best prompt and rewrites of it that know the blame. Ends after 8
rounds, or when none of the last 3 brought a gain over the round before.

As in the benchmark, and other than in the paper: judging is pointwise, pools grow from the best so far, the
centralized team is a star, and node and edge judges share their examples. Of our own: all choices meet the
same seeds on the train rows, equal candidates are judged once, peers that share a prompt blame each other,
and the scorer's words stand for the answer that contest problems do not have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any

from lcbkit.optimizers.asking import in_background
from lcbkit.optimizers.belief import Assignment, PairwiseModel, best_assignment, tied_scores
from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.interface import (
    BudgetExhausted,
    ConfigError,
    Context,
    Event,
    Outcome,
    Rollout,
    Row,
    Step,
    TeamSpec,
)
from lcbkit.optimizers.knobs import check_least
from lcbkit.optimizers.mapro_prompts import Demo
from lcbkit.optimizers.mapro_reflection import Demos, Judged, Pools, Reflection
from lcbkit.optimizers.texts import cut_middle

__all__ = ["Mapro", "MaproSettings", "chosen", "no_gain", "overall_line"]

_PHASE = "optimization/mapro"
_TRAIN = Step(_PHASE, 0, "train")  # one step for all: every choice meets the same seed on a row


@dataclass(frozen=True, slots=True, kw_only=True)
class MaproSettings:
    """Every knob of the method; the defaults are the benchmark's.

    Attributes:
        candidates: prompts in a role's pool, K.
        rounds: at most.
        patience: rounds without a gain that end the search.
        epsilon: a difference in train score that is no gain yet.
        scoring_batch: contexts in which each candidate is probed.
        evaluation_batch: train rows that a choice is run on; 0 takes all.
        feedback: worst rollouts that blame is taken from.
        at_once: questions on their way at one time.
        demos: whether the judge is shown prompts whose worth was seen.
        shown_demos: how many in a question.
        kept_demos: how many of either sort.
        positive: least score of a candidate that becomes a good example.
        negative: greatest score of one that becomes a bad example.
    """

    candidates: int = 5
    rounds: int = 8
    patience: int = 3
    epsilon: float = 0.0
    scoring_batch: int = 3
    evaluation_batch: int = 0
    feedback: int = 3
    at_once: int = 12
    demos: bool = True
    shown_demos: int = 3
    kept_demos: int = 6
    positive: float = 0.75
    negative: float = 0.4

    def __post_init__(self) -> None:
        check_least(self, candidates=1, rounds=1, patience=1, scoring_batch=1, evaluation_batch=0, at_once=1)


def no_gain(scores: Sequence[float], patience: int, epsilon: float = 0.0) -> bool:
    """Whether none of the last rounds was better than the one before it.

    Args:
        scores: the seed's train score, then that of each round's choice.
        patience: how many rounds count.
        epsilon: a difference that is no gain yet.
    """
    gains = [after - before for before, after in pairwise(scores)]
    return len(gains) >= patience and max(gains[-patience:]) <= epsilon


def chosen(judged: Judged, team: TeamSpec) -> Assignment:
    """The choice of the highest quality: jointly over roles, or for the one prompt that replicas share."""
    if team.replicas > 1:
        role = team.roles[0]
        scores = tied_scores(judged.nodes[role], judged.diagonal, replicas=team.replicas)
        best = max(range(len(scores)), key=scores.__getitem__)
        return Assignment(choice={role: best}, log_score=scores[best])
    return best_assignment(PairwiseModel(nodes=judged.nodes, edges=judged.edges))


def overall_line(rows: Sequence[Row], rollouts: Sequence[Rollout], examples: int = 2) -> str:
    """How many problems were solved, and a few that were not, each with its verdict."""
    failed = [(row, done) for row, done in zip(rows, rollouts, strict=True) if done.score < 1]
    line = f"{len(rollouts) - len(failed)} of {len(rollouts)} problems solved, {len(failed)} not."
    shown = [
        f"- {cut_middle(' '.join(row.problem.split()), 300)} ({done.feedback.strip() or 'wrong'})"
        for row, done in failed[:examples]
    ]
    return "\n".join([line, *(["Not solved, for example:"] if shown else []), *shown])


class Mapro:
    """The method, see the module."""

    name = "mapro"

    def __init__(self, settings: MaproSettings | None = None) -> None:
        self.settings = settings or MaproSettings()

    def run(self, ctx: Context) -> Outcome:
        """Search; see `Optimizer.run`."""
        rows = list(ctx.train)[: self.settings.evaluation_batch or None]
        if not rows or ctx.evaluate.remaining < len(rows):
            raise ConfigError(
                f"mapro runs the seed on {len(rows)} train rows and each choice as well; a budget of "
                f"{ctx.evaluate.remaining} rollouts does not reach: {2 * len(rows)} are the least for one "
                "choice (the setting evaluation_batch takes fewer rows)"
            )
        return _Search(ctx, self.settings, rows).run()


@dataclass(frozen=True, slots=True)
class _State:
    """A bundle with its rollouts on the train rows."""

    bundle: Bundle
    rollouts: Sequence[Rollout]

    @property
    def score(self) -> float:
        return fmean(rollout.score for rollout in self.rollouts)


class _Search:
    """One search: pools, the best state, demos and the scores of rounds."""

    def __init__(self, ctx: Context, knobs: MaproSettings, rows: Sequence[Row]) -> None:
        self._ctx, self._knobs, self._rows = ctx, knobs, rows
        self._ask = Reflection(
            ctx,
            candidates=knobs.candidates,
            contexts=knobs.scoring_batch,
            at_once=knobs.at_once,
            shown_demos=knobs.shown_demos if knobs.demos else 0,
        )
        self._demos = {role: Demos(knobs.kept_demos) for role in ctx.team.roles}
        self._history: list[dict[str, Any]] = []
        self._best = _State(ctx.seed_bundle, ())

    def run(self) -> Outcome:
        searching = self._ctx.evaluate.remaining >= 2 * len(self._rows)
        # The pools need no rollout: they are made while the seed runs.
        first = Step(_PHASE, 0, "pools")
        pools = in_background(lambda: self._ask.first_pools(first)) if searching else None
        self._best = _State(self._ctx.seed_bundle, self._run_on_train(self._ctx.seed_bundle))
        self._ctx.journal(
            Event(iteration=0, incumbent=self._best.bundle, score=self._best.score, note="seed")
        )
        try:
            stop = self._rounds(pools()) if pools else "budget"
        except BudgetExhausted:
            stop = "budget"
        return Outcome(
            incumbent=self._best.bundle,
            stop_reason=stop,
            history=self._history,
            iterations=len(self._history),
        )

    def _run_on_train(self, bundle: Bundle) -> list[Rollout]:
        return self._ctx.evaluate.batch(bundle, self._rows, _TRAIN)

    def _rounds(self, pools: Pools) -> str:
        scores = [self._best.score]
        for number in range(1, self._knobs.rounds + 1):
            if self._ctx.evaluate.remaining < len(self._rows):
                return "budget"
            scores.append(self._round(number, pools))
            if no_gain(scores, self._knobs.patience, self._knobs.epsilon):
                return "patience"
            if number < self._knobs.rounds and self._ctx.evaluate.remaining >= len(self._rows):
                pools = self._next_pools(number)
        return "max_iters"

    def _round(self, number: int, pools: Pools) -> float:
        """Judge, choose, run if the choice is new; the choice's train score."""
        step = Step(_PHASE, number)
        judged = self._ask.judged(pools, self._rows, self._best.rollouts, self._demos, step)
        pick = chosen(judged, self._ctx.team)
        texts = {role: pools[role][k] for role, k in pick.choice.items()}
        known = all(texts[role].strip() == text.strip() for role, text in self._best.bundle.roles.items())
        state = self._best
        if not known:
            bundle = self._ctx.seed_bundle.with_roles(texts)
            state = _State(bundle, self._run_on_train(bundle))
        improved = state.score > self._best.score
        if improved:
            self._best = state
        self._learn(pools, judged, pick.choice, success=state.score >= 0.5)
        self._note(number, judged, pick, state.score, known=known, improved=improved)
        return state.score

    def _learn(self, pools: Pools, judged: Judged, choice: Mapping[str, int], *, success: bool) -> None:
        """Keep prompts as examples for the judge: chosen ones that did well, others that did badly."""
        for role, pick in choice.items():
            scores = judged.nodes[role]
            if success and scores[pick] >= self._knobs.positive:
                self._demos[role].add(Demo(prompt=pools[role][pick], score=scores[pick]), good=True)
            others = [k for k in range(len(scores)) if pools[role][k] != pools[role][pick]]
            worst = min(others, key=scores.__getitem__, default=None)
            if worst is not None and scores[worst] <= self._knobs.negative:
                self._demos[role].add(Demo(prompt=pools[role][worst], score=scores[worst]), good=False)

    def _next_pools(self, number: int) -> Pools:
        rollouts = self._best.rollouts
        worst = sorted(range(len(rollouts)), key=lambda place: rollouts[place].score)[: self._knobs.feedback]
        step = Step(_PHASE, number)
        blame = self._ask.blamed([self._rows[n] for n in worst], [rollouts[n] for n in worst], step)
        self._history[-1]["blame"] = blame
        return self._ask.next_pools(self._best.bundle, overall_line(self._rows, rollouts), blame, step)

    def _note(
        self, number: int, judged: Judged, pick: Assignment, score: float, *, known: bool, improved: bool
    ) -> None:
        entry = {
            "round": number,
            "choice": dict(pick.choice),
            "log_quality": pick.log_score,
            "nodes": {role: list(scores) for role, scores in judged.nodes.items()},
            "score": score,
            "known": known,
            "improved": improved,
            "unreadable_answers": self._ask.unreadable,
        }
        self._ask.unreadable = 0
        self._history.append(entry)
        self._ctx.journal(
            Event(
                iteration=number,
                incumbent=self._best.bundle if improved else None,
                score=self._best.score,
                note="better" if improved else "the best again" if known else "no better",
                detail={key: entry[key] for key in ("choice", "score", "known")},
            )
        )
