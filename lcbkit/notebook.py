"""Where a notebook gets its problems and its model from, unless its parameter cell says otherwise."""

import os
from typing import NamedTuple

__all__ = ["NotebookSetup", "notebook_setup"]


class NotebookSetup(NamedTuple):
    """What a notebook works with, by name."""

    source: str
    model: str


def notebook_setup(source: str | None = None, model: str | None = None) -> NotebookSetup:
    """Choose the problems and the model of a notebook, and say which.

    Args:
        source: as in `load_problems`; None takes `LCB_DATASET`, else the shipped sample.
        model: as in `get_model`; None takes `MODEL_ID`, else the recorded answers.

    Returns:
        Both names. Unlike `load_problems`, a notebook falls back to the sample, so that it runs offline as
        it is; the printed line says so, and the source's name stands in every listing and record.
    """
    chosen = NotebookSetup(
        source=source or os.environ.get("LCB_DATASET") or "sample",
        model=model or os.environ.get("MODEL_ID") or "recorded",
    )
    problems = "the shipped sample" if chosen.source == "sample" else chosen.source
    answers = "recorded answers, offline" if chosen.model == "recorded" else chosen.model
    print(f"Problems: {problems}. Model: {answers}.")  # noqa: T201  (what a reader of the cell must see)
    return chosen
