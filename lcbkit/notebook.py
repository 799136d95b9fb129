"""What notebooks need beside the library: their problems and model, what is recorded, texts in columns."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from textwrap import indent
from typing import TYPE_CHECKING, NamedTuple

from lcbkit.errors import BadValueError, RecordingError
from lcbkit.html import columns, pre

if TYPE_CHECKING:
    from lcbkit.problems import Problem, ProblemSet
    from lcbkit.topologies.team import Team

__all__ = ["NotebookSetup", "Texts", "answerable", "notebook_setup", "show_texts"]


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
    answers = chosen.model
    if chosen.model == "recorded":
        answers = "recorded answers, offline"
        if chosen.source != "sample":
            answers += " (they cover the shipped problems only: for others set MODEL before a team is asked)"
    print(f"Problems: {problems}. Model: {answers}.")  # noqa: T201  (what a reader of the cell must see)
    return chosen


def answerable(problems: "ProblemSet", teams: "Iterable[Team]", *, limit: int | None = None) -> "ProblemSet":
    """Keep the problems that every one of the teams can answer.

    A live model answers anything, and nothing is asked of it here. Recorded answers cover certain problems,
    seeds and prompts only: a replay of each problem tells which.

    Args:
        problems: to choose from.
        teams: that are to answer.
        limit: stop at so many.

    Raises:
        BadValueError: when not one problem is left.
    """
    from lcbkit.models import RecordedModel

    replaying = [team for team in teams if isinstance(team.model, RecordedModel)]
    covered = (problem.id for problem in problems if all(_replays(team, problem) for team in replaying))
    kept = tuple(islice(covered, limit))
    if not kept:
        raise BadValueError(
            f"the recorded answers cover none of the {len(problems)} problems of {problems.source} for all "
            "of these teams; take fewer of them or other sizes (most is recorded for 4 agents), or name a "
            "live model"
        )
    return problems.filter(only=kept)


def _replays(team: "Team", problem: "Problem") -> bool:
    try:
        team.solve(problem)
    except RecordingError:
        return False
    return True


@dataclass(frozen=True, slots=True, repr=False)
class Texts:
    """Texts next to each other; made by `show_texts`.

    Attributes:
        texts: by their titles.
    """

    texts: Mapping[str, str]

    def __repr__(self) -> str:
        return "\n\n".join(f"{title}\n{indent(text, '    ')}" for title, text in self.texts.items())

    def _repr_html_(self) -> str:
        return columns((title, pre(text, height="26em")) for title, text in self.texts.items())


def show_texts(texts: Mapping[str, str]) -> Texts:
    """Put plain texts next to each other, each under its title; long ones scroll and lose their middle."""
    return Texts(dict(texts))
