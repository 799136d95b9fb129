"""Evolution of a team's prompts by the package `gepa`, under a budget that is never overshot.

The package looks at its budget between iterations only and would run a batch that does not fit. Here the
charged evaluator refuses such a batch before anything runs; the refusal leaves the package as an exception,
and the candidates are read from its state, which is complete at that moment.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, ClassVar

from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.extras import load_extra
from lcbkit.optimizers.fitting import fit_context
from lcbkit.optimizers.interface import (
    BudgetExhausted,
    Context,
    Event,
    ReflectionError,
    Request,
    Rollout,
    Row,
    Step,
)
from lcbkit.optimizers.knobs import check_least

__all__ = [
    "Case",
    "Evolution",
    "EvolutionSettings",
    "Propose",
    "ask_for_text",
    "evolve",
    "rounds_without_repeats",
]

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A problem and what the team did with it."""

    row: Row
    rollout: Rollout


@dataclass(frozen=True, slots=True, kw_only=True)
class EvolutionSettings:
    """The knobs that every method on this engine has.

    Attributes:
        minibatch: train rows on which a child is compared with its parent.
        max_merges: merges that may be accepted; 0 switches merging off.
        merge_rows: validation rows that two parents must share before they are merged.
    """

    LEAST: ClassVar[Mapping[str, int]] = {"minibatch": 1, "max_merges": 0, "merge_rows": 1}

    minibatch: int = 3
    max_merges: int = 5
    merge_rows: int = 5

    def __post_init__(self) -> None:
        check_least(self, **self.LEAST)


Propose = Callable[[str, str, Sequence[Case], int], str | None]
"""Role, its text, cases of the parent and the iteration give a new text, or None for no proposal."""

Stop = Callable[[Sequence[float], int], bool]
"""Validation means of all candidates so far, and the rollouts charged, say whether to stop."""


@dataclass(slots=True, kw_only=True)
class Evolution:
    """How an evolution went.

    Attributes:
        candidates: the bundles that were run on all validation rows; the seed is the first.
        means: their mean validation scores.
        refused: whether it ended at a batch that did not fit.
        history: one entry for each iteration.
        iterations: how many there were.
    """

    candidates: list[Bundle] = field(default_factory=list)
    means: list[float] = field(default_factory=list)
    refused: bool = False
    history: list[dict[str, Any]] = field(default_factory=list)
    iterations: int = 0

    @property
    def best(self) -> int:
        """Number of the first candidate with the highest mean."""
        return max(range(len(self.means)), key=lambda number: (self.means[number], -number))


def evolve(
    ctx: Context,
    *,
    method: str,
    propose: Propose,
    stop: Stop,
    cap: int,
    paired: bool,
    seed: int,
    settings: EvolutionSettings | None = None,
) -> Evolution:
    """Let `gepa` evolve the seed bundle.

    Args:
        ctx: of the method.
        method: its name, for steps and messages.
        propose: writes a role's new text.
        stop: asked before each iteration.
        cap: rollouts that may be charged here.
        paired: whether bundles meet the same randomness on a row within a step.
        seed: of the package's generator.
        settings: the knobs; None takes their defaults.

    Returns:
        The candidates. Without a single full validation pass, the seed with no mean.

    Raises:
        ConfigError: if the package is missing.
        InfrastructureExhausted: passed through from the evaluator.
    """
    own = settings or EvolutionSettings()
    gepa = load_extra("gepa", method=method, extra="optimize")
    batch_type = load_extra("gepa.core.adapter", method=method, extra="optimize").EvaluationBatch
    run = _Run(ctx, method=method, propose=propose, stop=stop, cap=cap, paired=paired, batch_type=batch_type)
    try:
        gepa.optimize(
            seed_candidate=run.candidate_of(ctx.seed_bundle),
            trainset=list(ctx.train),
            valset=list(ctx.validation),
            adapter=run,
            candidate_selection_strategy="pareto",
            module_selector="round_robin",
            reflection_minibatch_size=own.minibatch,
            skip_perfect_score=True,
            perfect_score=1.0,
            use_merge=own.max_merges > 0,
            max_merge_invocations=own.max_merges,
            merge_val_overlap_floor=min(own.merge_rows, len(ctx.validation)),
            stop_callbacks=run.between_iterations,
            logger=_Log(),
            run_dir=None,  # with a folder the package would resume a state of its own from it
            track_best_outputs=False,
            cache_evaluation=False,
            seed=seed,
            raise_on_exception=True,
        )
    except BudgetExhausted:
        run.evolution.refused = True
    run.take_stock()
    if not run.evolution.candidates:
        run.evolution.candidates.append(ctx.seed_bundle)
    return run.evolution


def ask_for_text(
    ctx: Context,
    render: Callable[[Mapping[str, str]], str],
    records: Mapping[str, str],
    *,
    step: Step,
    role: str,
    temperature: float,
    top_p: float = 1.0,
) -> str | None:
    """The reflection model's answer to a question about some cases; None without one.

    Args:
        ctx: of the method.
        render: puts the records into the question.
        records: of the cases, by number; cut where they leave no room for the answer.
        step: of the question.
        role: whose text is asked for.
        temperature: of the reflection model.
        top_p: of the reflection model.
    """
    fitted = fit_context(render, records)
    try:
        return ctx.reflect(
            fitted.prompt,
            step=step,
            role=role,
            temperature=temperature,
            top_p=top_p,
            max_tokens=fitted.max_tokens,
        )
    except ReflectionError:
        return None


class _Log:
    """Where the package writes; without it, it prints."""

    def log(self, message: str) -> None:
        _LOG.debug("%s", message)


class _Run:
    """One evolution: the package's adapter to our team, and a witness of its state.

    Candidates go by numbers of roles. The package goes through a set of their names when it merges, and the
    order of a set of strings changes from process to process; that of small numbers does not.
    """

    def __init__(
        self,
        ctx: Context,
        *,
        method: str,
        propose: Propose,
        stop: Stop,
        cap: int,
        paired: bool,
        batch_type: Any,
    ) -> None:
        self.evolution = Evolution()
        self._ctx = ctx
        self._phase = f"optimization/{method}"
        self._propose, self._stop, self._cap, self._paired = propose, stop, cap, paired
        self._batch_type = batch_type
        self._roles = list(ctx.seed_bundle.roles)
        self._validation = {row.id for row in ctx.validation}
        self._charged = 0
        self._proposed: dict[int, list[str]] = {}
        self._state: Any = None
        self._told: Bundle | None = None

    def candidate_of(self, bundle: Bundle) -> dict[int, str]:
        """A bundle as the package knows it."""
        return dict(enumerate(bundle.roles.values()))

    # What the package calls.

    def between_iterations(self, state: Any) -> bool:
        """Before each iteration: tell what was reached, and say whether to stop."""
        self._state = state
        self.take_stock()
        return self._stop(self.evolution.means, self._charged)

    def evaluate(
        self,
        batch: Sequence[Row],
        candidate: Mapping[int, str],
        capture_traces: bool = False,  # noqa: ARG002 - the package's signature; transcripts cost nothing
    ) -> Any:
        """Run a candidate on rows, or refuse if they do not all fit."""
        if self._charged + len(batch) > self._cap:
            raise BudgetExhausted(f"{len(batch)} rollouts do not fit into {self._cap - self._charged}")
        bundle, step = self._bundle(candidate), self._step(batch)
        rounds = rounds_without_repeats(batch)
        records = self._ctx.evaluate.batches(
            [Request(bundle=bundle, rows=[batch[place] for place in one], step=step) for one in rounds]
        )
        self._charged += len(batch)
        by_place = {
            place: record
            for one, found in zip(rounds, records, strict=True)
            for place, record in zip(one, found, strict=True)
        }
        cases = [Case(row=row, rollout=by_place[place]) for place, row in enumerate(batch)]
        scores = [case.rollout.score for case in cases]
        return self._batch_type(outputs=[None] * len(cases), scores=scores, trajectories=cases)

    def make_reflective_dataset(
        self, _candidate: Mapping[int, str], batch: Any, components: Sequence[int]
    ) -> dict[int, list[dict[str, Case]]]:
        """The cases as they are; `propose_new_texts` makes records of them."""
        return {component: [{"case": case} for case in batch.trajectories] for component in components}

    def propose_new_texts(
        self,
        candidate: Mapping[int, str],
        dataset: Mapping[int, Sequence[Mapping[str, Case]]],
        components: Sequence[int],
    ) -> dict[int, str]:
        """New texts; what is unchanged is left out, and without any the package skips the iteration.

        Nobody is asked for a child that could not be run.
        """
        texts: dict[int, str] = {}
        for component in components:
            cases = [entry["case"] for entry in dataset[component]]
            if self._charged + len(cases) > self._cap:
                continue
            text = self._propose(self._roles[component], candidate[component], cases, self._iteration())
            if text is not None and text.strip() and text.strip() != candidate[component].strip():
                texts[component] = text
        self._proposed[self._iteration()] = [self._roles[component] for component in texts]
        return texts

    # Our side.

    def take_stock(self) -> None:
        """Read candidates and means from the package's state, and tell of a new best one."""
        if self._state is None:
            return
        own, scores = self.evolution, self._state.prog_candidate_val_subscores
        for number in range(len(own.candidates), len(scores)):
            own.candidates.append(self._bundle(self._state.program_candidates[number]))
            own.means.append(fmean(scores[number].values()))
        own.iterations = self._state.i + 1
        for trace in self._state.full_program_trace[len(own.history) :]:
            own.history.append(self._entry(trace))
        best = own.candidates[own.best]
        self._ctx.journal(
            Event(
                iteration=own.iterations,
                incumbent=None if best == self._told else best,
                score=own.means[own.best],
                note=f"{len(own.candidates)} candidates",
                detail={"candidates": len(own.candidates), "charged": self._charged},
            )
        )
        self._told = best

    def _iteration(self) -> int:
        """From 1; the seed's validation pass is 0."""
        return 0 if self._state is None else self._state.i + 1

    def _entry(self, trace: Mapping[str, Any]) -> dict[str, Any]:
        """What happened in an iteration that has just ended, from the package's own notes."""
        new = trace.get("new_program_idx")
        return {
            "iteration": trace["i"] + 1,
            "parent": trace.get("selected_program_candidate"),
            "merged": list(trace["merged_entities"][:2]) if trace.get("merged") else None,
            "proposed": self._proposed.get(trace["i"] + 1, []),
            "candidate": new,
            "mean": None if new is None else self.evolution.means[new],
            "charged": self._charged,
        }

    def _bundle(self, candidate: Mapping[int, str]) -> Bundle:
        texts = {self._roles[number]: text for number, text in candidate.items()}
        return self._ctx.seed_bundle.with_roles(texts)

    def _step(self, batch: Sequence[Row]) -> Step:
        if not self._paired:
            return Step(self._phase, self._iteration())
        if all(row.id in self._validation for row in batch):
            return Step(self._phase, 0, "validation")  # all candidates meet the same there
        return Step(self._phase, self._iteration(), "minibatch")


def rounds_without_repeats(rows: Sequence[Row]) -> list[list[int]]:
    """Places of rows in as few rounds as hold no row twice: samplers of small sets repeat rows."""
    rounds: list[list[int]] = []
    seen: dict[str, int] = {}
    for place, row in enumerate(rows):
        turn = seen.get(row.id, 0)
        seen[row.id] = turn + 1
        if turn == len(rounds):
            rounds.append([])
        rounds[turn].append(place)
    return rounds
