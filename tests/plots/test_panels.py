"""What figures draw equals what the tables say."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.container import BarContainer
from matplotlib.lines import Line2D

import lcbkit
from lcbkit import plots
from lcbkit.errors import BadValueError
from lcbkit.plots.marks import shown_groups
from lcbkit.results import Run, compare, wilson_interval
from lcbkit.scoring.scores import Score
from tests.plots.drawn import PANELS, approx_all, made, points, teams, whiskers, words


@pytest.mark.parametrize("what", ["difficulty", "platform"])
def test_bars_and_whiskers_are_the_tables_scores(what: str) -> None:
    runs = {"first": made(), "second": made(share=0.8, seed=1, broken=4)}
    figure = PANELS[f"by_{what}"](runs)
    [ax] = figure.axes
    bars = [container for container in ax.containers if isinstance(container, BarContainer)]
    assert [bar.get_label() for bar in bars] == ["first", "second"]
    expected = [list(getattr(run.summary(), f"by_{what}").values()) for run in runs.values()]
    for container, scores in zip(bars, expected, strict=True):
        assert [patch.get_height() for patch in container.patches] == [score.pass_at_1 for score in scores]
    assert whiskers(ax) == approx_all([score for scores in expected for score in scores])
    assert ax.get_ylim() == (0, 1)
    assert ax.get_ylabel() == "pass@1"
    assert [tick.get_text() for tick in ax.get_yticklabels()][::5] == ["0%", "100%"]
    names = list(getattr(runs["first"].summary(), f"by_{what}"))
    assert [tick.get_text().partition("\n")[0] for tick in ax.get_xticklabels()] == names
    counted = [[score.scored for score in scores] for scores in expected]
    for low, high in ((min(pair), max(pair)) for pair in zip(*counted, strict=True)):
        assert f"n={low}-{high}" in words(figure) or low == high
    assert "95 % intervals (Wilson)" in words(figure)
    assert "Not counted: 4 infrastructure errors in second." in words(figure)


def test_whiskers_agree_with_the_formula_and_not_only_with_the_table() -> None:
    rows = [{"id": str(i), "em": i < 3, "difficulty": "easy"} for i in range(10)]
    [ax] = plots.plot_by_difficulty(Run.from_frame(pd.DataFrame(rows))).axes
    assert whiskers(ax) == [pytest.approx((0.1078, 0.6032), abs=1e-4)]
    assert whiskers(ax) == [pytest.approx(wilson_interval(3, 10))]


def test_the_heat_map_prints_each_cell_and_marks_those_without_a_score(shared: Path) -> None:
    run = lcbkit.load_run(shared / "data/submissions/o1-mini.json")
    figure = plots.plot_heatmap(run)
    text = words(figure)
    for row in run.by_both("difficulty", "platform").values():
        for score in row.values():
            assert f"{score.passed}/{score.scored}" in text
    lonely = made(2, platform="atcoder")
    assert "none of 1 counts" in " ".join(words(plots.plot_heatmap(made(2, broken=1))).split())
    assert "no problem" in words(plots.plot_heatmap([made(9), lonely]))
    assert len(plots.plot_heatmap([made(9), lonely, made(9, seed=3)]).axes) == 3


def test_months_stand_where_time_puts_them_and_the_cutoff_between_them() -> None:
    rows = [
        {"id": f"{i}", "em": i % 2, "contest_date": day}
        for i, day in enumerate(["2023-11-02", "2023-11-30", "2024-02-01", "2024-02-20"])
    ]
    run = Run.from_frame(pd.DataFrame(rows), config={"label": "r"})
    figure = plots.plot_by_month(run, cutoff="2024-01")
    [ax] = figure.axes
    names = [tick.get_text() for tick in ax.get_xticklabels()]
    assert names == ["2023-11  n=2", "2023-12  n=0", "2024-01  n=0", "2024-02  n=2"]
    assert points(ax, "r")[0] == (0, 0.5)
    assert points(ax, "r")[3] == (3, 0.5)
    assert np.isnan(points(ax, "r")[1][1])
    line = next(line for line in ax.lines if line.get_xdata()[0] == line.get_xdata()[-1] == 2.5)  # type: ignore[index]
    assert isinstance(line, Line2D)
    text = words(figure)
    assert "cut-off 2024-01-31" in text
    assert "50% (n=2) and 50% (n=2)" in text
    assert whiskers(ax) == approx_all([run.by("month")[month] for month in ("2023-11", "2024-02")])


def test_a_cutoff_outside_of_the_months_is_said_and_a_wrong_one_refused() -> None:
    assert "lies before every contest shown" in words(plots.plot_by_month(made(), cutoff="2020-01"))
    with pytest.raises(BadValueError, match=r"2024-05-31.*'soon'"):
        plots.plot_by_month(made(), cutoff="soon")
    undated = made(3, contest_date=None)
    with pytest.raises(BadValueError, match="no instance of these runs has a contest date"):
        plots.plot_by_month(undated)
    half = Run([*made(3).records, *made(5, contest_date=None, id="x", sample=9).records])
    assert "Without a contest date and not shown: 1." in words(plots.plot_by_month(half))


def test_topologies_stand_in_rows_with_their_scores_in_numbers() -> None:
    runs = teams()
    figure = plots.plot_topologies(runs)
    [ax] = figure.axes
    assert ax.get_xlim() == (0, 1)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["single", "independent", "decentralized"]
    scores = [run.summary().overall for run in runs]
    drawn = sorted(x for name in ("one agent", "2 agents", "4 agents") for x, _ in points(ax, name))
    assert drawn == sorted(score.pass_at_1 or 0.0 for score in scores)
    assert sorted(whiskers(ax, 0)) == approx_all(sorted(scores, key=lambda score: score.interval or (0, 0)))
    for score in scores:
        assert f"{score.passed}/{score.scored}" in words(figure)
    with pytest.raises(BadValueError, match=r"names no topology; plot_overall"):
        plots.plot_topologies(made(topology=None))


def test_team_sizes_are_lines_over_the_single_agents_level() -> None:
    runs = teams()
    figure = plots.plot_team_sizes(runs)
    [ax] = figure.axes
    assert [tick.get_text().partition("\n")[0] for tick in ax.get_xticklabels()] == ["2", "4"]
    for topology in ("independent", "decentralized"):
        own = [run for run in runs if run.records[0].topology == topology]
        assert [y for _, y in points(ax, topology)] == [run.summary().pass_at_1 for run in own]
    assert {y for _, y in points(ax, "single")} == {runs[0].summary().pass_at_1}
    alone = plots.plot_team_sizes([run for run in runs if run.records[0].topology != "decentralized"]).axes[0]
    assert [x for x, _ in points(alone, "independent")] == [0, 1], (
        "above their sizes: a level line needs no place"
    )
    assert ax.get_ylim() == (0, 1)
    with pytest.raises(BadValueError, match="team size"):
        plots.plot_team_sizes(runs[0])


@pytest.mark.parametrize("per", ["problem", "solved"])
def test_tokens_are_those_of_the_runs_cost(per: Any) -> None:
    runs = {
        "cheap": made(),
        "dear": made(seed=1, prompt_tokens=90_000),
        "silent": made(prompt_tokens=0, completion_tokens=0),
    }
    figure = plots.plot_tokens(runs, per=per)
    [ax] = figure.axes
    for name in ("cheap", "dear"):
        cost = runs[name].cost()
        assert cost is not None
        expected = cost.per_problem if per == "problem" else cost.per_solved
        assert points(ax, name) == [(expected, runs[name].summary().pass_at_1)]
    assert ax.get_xscale() == "log"
    assert "Not shown, no tokens reported" in words(figure)
    assert "silent" in words(figure).split("Not shown")[1]
    with pytest.raises(BadValueError, match="reports tokens"):
        plots.plot_tokens(runs["silent"], per=per)


def test_tokens_that_are_a_lower_bound_say_so() -> None:
    assert "some calls came without usage" in words(plots.plot_tokens(made(calls_without_usage=1)))
    assert "without usage" not in words(plots.plot_tokens(made()))


def test_differences_show_every_problem_once_and_the_paired_test(shared: Path) -> None:
    a, b = (lcbkit.load_run(shared / f"data/submissions/{name}.json") for name in ("o1-mini", "o1-preview"))
    comparison = compare(a, b)
    assert comparison.only_a is not None
    assert comparison.only_b is not None
    figure = plots.plot_differences([a, b])
    cells: Counter[str] = Counter()
    for collection in figure.axes[0].collections:
        if not str(collection.get_label()).startswith("_"):
            cells[str(collection.get_label())] += len(collection.get_paths())
    assert cells["o1-mini only"] == len(comparison.only_a) == 9
    assert cells["o1-preview only"] == len(comparison.only_b) == 8
    assert sum(cells.values()) == 100
    text = words(figure)
    assert f"p={comparison.p_value:.2g}" in text
    assert f"{100 * comparison.difference:+.1f} points" in text
    with pytest.raises(BadValueError, match="two runs are compared, not 1"):
        plots.plot_differences(a)


def test_differences_of_several_samples_name_no_test_that_does_not_hold() -> None:
    figure = plots.plot_differences({"a": made(samples=3), "b": made(samples=3, seed=2)})
    assert "McNemar" not in words(figure)
    assert "a more often" in words(figure)


def test_unlike_numbers_of_samples_are_told_as_they_are() -> None:
    even, one = made(samples=3), made()
    assert ", 3 samples each." in words(plots.plot_by_difficulty(even))
    assert ", 1 to 3 samples each." in words(
        plots.plot_by_difficulty(Run([*even.records[:3], *one.records[1:]]))
    )
    assert "samples" not in words(plots.plot_by_difficulty(one))


def test_whiskers_without_width_are_said_to_say_nothing() -> None:
    assert "no width and say nothing" in words(plots.plot_by_month(made(12, samples=3)))
    assert "no width" not in words(plots.plot_by_month(made(12)))


def test_a_run_whose_score_is_none_says_so_on_the_figure() -> None:
    text = words(plots.plot_by_difficulty(made(broken=10)))
    assert "Not counted: 10 infrastructure errors." in text
    assert "this is no score" in text
    with pytest.raises(BadValueError, match=r"no instance of .* counts in pass@1"):
        plots.plot_overall(made(broken=30))
    with pytest.raises(BadValueError, match="no run"):
        plots.plot_overall([])
    with pytest.raises(BadValueError, match="at most 8"):
        plots.plot_by_difficulty([made(seed=i) for i in range(9)])
    with pytest.raises(BadValueError, match="load_run"):
        plots.plot_by_difficulty(["runs/a"])  # type: ignore[list-item]


def test_runs_of_different_problems_are_called_so() -> None:
    assert "The runs hold different problems (9 to 30)" in words(plots.plot_overall([made(), made(9)]))
    assert "30 problems of release_v6" in words(plots.plot_overall([made(), made(seed=1)]))


def test_groups_stand_in_the_shared_order_whatever_each_run_holds() -> None:
    few, many = (
        {name: Score(n=1, scored=0, passed=0, interval=None) for name in names}
        for names in (("easy", "hard", "9", "unk"), ("easy", "medium", "10"))
    )
    assert (
        shown_groups([few, many]) == shown_groups([many, few]) == ["easy", "medium", "hard", "9", "10", "unk"]
    )
