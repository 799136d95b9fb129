"""Learning curves, of jobs as `optimize` gives them."""

from types import SimpleNamespace
from typing import Any

import pytest

from lcbkit import plots
from lcbkit.errors import BadValueError
from lcbkit.plots.provenance import provenance

ROWS = [(0, None, False), (10, 0.25, False), (20, 0.5, False), (30, 0.5, True), (40, 0.5, True)]


def job(method: str = "gepa", seed: int = 0, rows: Any = ROWS) -> Any:
    curve = [{"point": point, "score": score, "carried_forward": carried} for point, score, carried in rows]
    cell = {"method": method, "topology": "single"}
    known = {"cell": cell, "optimizer_seed": seed, "protocol_conformant": False, "sha256": "x"}
    return SimpleNamespace(learning_curve=curve, job=known)


def lines(figure: Any) -> list[list[tuple[float, float]]]:
    (ax,) = figure.axes
    return [list(zip(*line.get_data(), strict=True)) for line in ax.get_lines()]


def test_the_line_holds_each_score_and_goes_on_dotted_after_the_search() -> None:
    searched, carried, end = lines(plots.plot_learning_curve(job()))
    assert searched == [(10, 0.25), (20, 0.5)]
    assert carried == [(20, 0.5), (30, 0.5), (40, 0.5)]
    assert end == [(20, 0.5)]


def test_several_jobs_are_named_and_a_silent_one_is_told() -> None:
    figure = plots.plot_learning_curve([job(), job("tavo", 1), job("identity", 0, [(0, None, False)])])
    (ax,) = figure.axes
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["gepa, seed 0", "tavo, seed 1"]
    (panel,) = provenance(figure)["panels"]
    assert [run["label"] for run in panel["runs"]] == ["gepa, seed 0", "tavo, seed 1", "identity, seed 0"]
    assert "Without a score of its own: identity, seed 0." in panel["notes"]


@pytest.mark.parametrize(
    "bad", [[], {}, [1], 7, [job()] * 0, {"a": 1}, [job("identity", 0, [(0, None, False)])]]
)
def test_what_has_no_curve_is_told(bad: Any) -> None:
    with pytest.raises(BadValueError):
        plots.plot_learning_curve(bad)


def test_too_many_do_not_fit() -> None:
    with pytest.raises(BadValueError, match="9 curves do not fit"):
        plots.plot_learning_curve({str(number): job() for number in range(9)})
