"""What is known of LiveCodeBench's problems by id: the evaluation ids, the splits, the defective ones."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from lcbkit.errors import BadValueError

__all__ = ["errata", "eval_ids", "splits"]


def eval_ids() -> tuple[str, ...]:
    """The 50 ids that results are reported on: the first 50 rows of every release, in order."""
    return tuple(_read("lcb_eval_ids.json")["ids"])


def splits(dataset: str = "lcb") -> dict[str, tuple[str, ...]]:
    """Fixed, ordered ids for prompt optimization, without overlap.

    Args:
        dataset: `lcb` (150 / 50 / 50 ids of release_v6; its test ids are the evaluation ids) or `sample`.

    Returns:
        The ids under `train`, `validation` and `test`.

    Raises:
        BadValueError: for another dataset.
    """
    if dataset not in ("lcb", "sample"):
        raise BadValueError(f"no splits for {dataset!r}; there are splits of 'lcb' and 'sample'")
    data = _read(f"{dataset}_splits.json")
    return {name: tuple(data[name]) for name in ("train", "validation", "test")}


@cache
def errata() -> dict[str, str]:
    """LiveCodeBench's own list of defective problems.

    Returns:
        For each id what is wrong: `several_answers` (the site accepts several, the tests one), `interactive`
        or `wrong_tests`.

    Source:
        ERRATA.md of the LiveCodeBench repository.
    """
    return {entry["id"]: entry["reason"] for entry in _read("lcb_errata.json")["problems"]}


@cache
def _read(name: str) -> Any:
    return json.loads(files("lcbkit").joinpath("ids", name).read_text(encoding="utf-8"))
