"""What can go wrong by a user's hand or a missing thing: one class per case a caller may handle apart."""

from collections.abc import Sequence
from difflib import get_close_matches

__all__ = [
    "BadValueError",
    "DatasetError",
    "EngineError",
    "LcbkitError",
    "ModelError",
    "NothingToDoError",
    "RecordingError",
    "RunFolderError",
    "SandboxError",
    "UnknownProblemError",
    "UnusableTestsError",
]


class LcbkitError(Exception):
    """A mistake or a missing thing; its text is one sentence with the cause and the next step.

    The command line prints that text alone, without a traceback, and exits with `exit_code`.
    """

    exit_code = 2
    """What the command line ends with."""


class BadValueError(LcbkitError, ValueError):
    """An argument outside of what is allowed; the text lists what is."""


class DatasetError(LcbkitError):
    """Problems that cannot be read: no network, no such file or release, a broken or wrongly shaped row."""


class UnusableTestsError(DatasetError):
    """A row whose tests are missing or cannot be decoded; loading a whole source skips and names it."""


class UnknownProblemError(LcbkitError, KeyError):
    """An id that the loaded problems do not hold; a `KeyError` too, since problems are looked up by id.

    Attributes:
        problem_id: the id that was asked for.
    """

    def __init__(self, problem_id: str, known: Sequence[str], *, others: Sequence[str] = ()) -> None:
        self.problem_id = problem_id
        near = ", ".join(get_close_matches(problem_id, known)) or "nothing close"
        nor = f", nor {', '.join(map(repr, others))}" if others else ""
        super().__init__(
            f"no problem {problem_id!r} (near: {near}){nor}; `lcb problems` lists all {len(known)} of this "
            "source"
        )

    def __str__(self) -> str:
        return Exception.__str__(self)  # a KeyError would show the sentence in quotes


class NothingToDoError(LcbkitError):
    """The filters match no problem."""

    exit_code = 1
    """Apart from mistakes: the question was right, and the answer is empty."""


class ModelError(LcbkitError):
    """A chat model that cannot be had: no such name, no key, a missing package, no server."""


class RecordingError(LcbkitError):
    """A request that the recording does not hold, or a recording that cannot be read."""


class EngineError(LcbkitError):
    """A cluster that cannot be used: no package, no scheduler, workers that cannot do the work."""


class RunFolderError(LcbkitError):
    """A results folder that cannot be used: another configuration, not writable, not a run."""


class SandboxError(LcbkitError):
    """The confinement that was asked for is not available here."""
