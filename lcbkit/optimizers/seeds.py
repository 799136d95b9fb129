"""Where the randomness of a request comes from: its place in the experiment, never the clock or a counter."""

import hashlib
from collections import Counter
from dataclasses import dataclass
from threading import Lock

from lcbkit.errors import BadValueError

__all__ = ["OFFSETS", "Repeats", "SeedBase", "evaluation_seed", "logical_seed", "offset_of"]

OFFSETS = {0: 0, 1: 1000, 2: 2000}
"""What each optimizer seed adds to its requests' seeds."""

_RANGE = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedBase:
    """What all logical seeds of a job share."""

    optimizer_seed: int
    cell_id: str


def offset_of(optimizer_seed: int) -> int:
    """The request-seed offset of an optimizer seed.

    Raises:
        BadValueError: for a seed other than 0, 1 and 2.
    """
    if optimizer_seed not in OFFSETS:
        raise BadValueError(f"the optimizer seed is {optimizer_seed!r}; the protocol's seeds are 0, 1 and 2")
    return OFFSETS[optimizer_seed]


def logical_seed(
    *, optimizer_seed: int, cell_id: str, phase: str, iteration: int, row_id: str, key: str, position: int
) -> int:
    """The seed of a request in a search.

    Args:
        optimizer_seed: 0, 1 or 2.
        cell_id: of the experiment's cell.
        phase: of the step.
        iteration: of the step.
        row_id: of the problem; for a text model the prompt's hash.
        key: the step's tag, else the bundle's hash; for a text model the role.
        position: index in the batch; for a text model how many identical requests came before.

    Returns:
        A number from 0 to 2^31 - 2.
    """
    offset = offset_of(optimizer_seed)
    fields = (optimizer_seed, offset, cell_id, phase, iteration, row_id, key, position, 0)
    return _number("|".join(map(str, fields)), offset)


def evaluation_seed(*, condition_id: str, optimizer_seed: int, split: str, row_id: str) -> int:
    """The seed of a row in validation or test; bundles and methods share it, so that they are paired."""
    offset = offset_of(optimizer_seed)
    return _number("|".join(map(str, (condition_id, optimizer_seed, offset, split, row_id))), offset)


def _number(text: str, offset: int) -> int:
    digest = hashlib.sha256(text.encode()).digest()
    return (int.from_bytes(digest[:8], "big") + offset) % _RANGE


class Repeats:
    """Counts identical requests; safe to use from several threads."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, ...]] = Counter()
        self._lock = Lock()

    def position(self, *request: str) -> int:
        """How often exactly this was asked before."""
        with self._lock:
            self._seen[request] += 1
            return self._seen[request] - 1
