"""What happens while prompts are optimized, as typed events for a `progress=` callback."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

__all__ = [
    "EvaluationAdvanced",
    "IncumbentReported",
    "JobFinished",
    "JobStarted",
    "PhaseStarted",
    "RolloutCharged",
    "SearchEvent",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStarted:
    """A job begins, or is taken up.

    Attributes:
        title: method, topology, model and seed in words.
        where: its folder.
        budget: rollouts that the search may spend.
        stop: ends the job as a returned "stop" does, at the next rollout and from any thread.
    """

    title: str
    where: str
    budget: int
    stop: Callable[[], object] = lambda: None


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseStarted:
    """A phase begins.

    Attributes:
        phase: `optimize`, `validate` or `test`.
    """

    phase: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutCharged:
    """A usable rollout of the search.

    Attributes:
        charged: rollouts so far, this one included.
        maximum: the budget.
        score: of this one.
    """

    charged: int
    maximum: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class IncumbentReported:
    """The method says where it is.

    Attributes:
        charged: rollouts so far.
        maximum: the budget.
        iteration: of the method's loop.
        best: mean score of the best prompts so far on the method's own rows; None if it has none yet.
        note: the method's words.
    """

    charged: int
    maximum: int
    iteration: int
    best: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationAdvanced:
    """A problem of the validation or test split is done, uncharged.

    Attributes:
        split: `validation` or `test`.
        candidate: `seed`, `incumbent` or `deployed`.
        done: problems of this evaluation so far.
        total: problems of this evaluation.
        passed: those of the done ones that passed.
    """

    split: str
    candidate: str
    done: int
    total: int
    passed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFinished:
    """The job ends; the last event.

    Attributes:
        words: its result in a sentence.
        stopped: whether a callback stopped it before the end.
    """

    words: str
    stopped: bool = False


SearchEvent: TypeAlias = (
    JobStarted | PhaseStarted | RolloutCharged | IncumbentReported | EvaluationAdvanced | JobFinished
)
"""What a listener is told."""
