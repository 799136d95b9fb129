import csv
import io

from lcbkit.records import Record, Status
from lcbkit.results import Run, side_by_side


def run(outcomes: str, *, samples: int = 1, **facts: object) -> Run:
    """A record a sign: 1 passed, 0 not, x an outage."""
    return Run(
        [
            Record(
                problem_id=str(number // samples),
                sample=number % samples,
                passed=sign == "1",
                status=Status.INFRA_ERROR if sign == "x" else Status.OK,
                difficulty=("easy", "hard")[number // samples % 2],
                prompt_tokens=100,
                n_llm_calls=2,
                **facts,  # type: ignore[arg-type]
            )
            for number, sign in enumerate(outcomes)
        ]
    )


def test_each_run_has_a_line_with_its_score_counts_and_tokens() -> None:
    found = side_by_side([run("1100"), run("111x")], labels=["one", "two"])
    assert found.header() == [
        *("run", "pass@1", "95 % interval", "passed / counted (of n)", "tokens a problem", "model calls"),
    ]
    assert [row[:2] + row[3:] for row in found.rows()] == [
        ["one", "50.0%", "2 / 4", "100", "8"],
        ["two", "100.0%", "3 / 3 (of 4)", "100", "8"],
    ]
    assert "two: 1 of 4 instances ended in infrastructure errors" in str(found)


def test_groups_and_money_have_columns_when_asked_for() -> None:
    runs = [run("1100", model="m"), run("1010", model="m")]
    prices = {"m": {"input": 10_000, "output": 0}}
    found = side_by_side(runs, labels=["one", "two"], by="difficulty", prices=prices)
    assert found.header()[4:] == [
        *("easy", "hard", "tokens a problem", "model calls", "USD in all", "a problem", "a solved one"),
    ]
    assert [row[4:6] + row[-3:] for row in found.rows()] == [
        ["50.0%", "50.0%", "4.00", "1.00", "2.00"],
        ["100.0%", "0.0%", "4.00", "1.00", "2.00"],
    ]


def test_several_samples_add_pass_at_k() -> None:
    found = side_by_side([run("1000", samples=2), run("10")], labels=["one", "two"])
    place = found.header().index("pass@k")
    assert [row[place] for row in found.rows()] == ["50.0% (k=2)", "-"]
    (row,) = side_by_side([run("101", samples=2)]).rows()
    assert row[place] == "100.0% (k=2, 1 of 2 problems)"


def test_runs_of_other_problems_are_said_to_be_so() -> None:
    assert not side_by_side([run("11"), run("00")]).notes
    (note,) = side_by_side([run("11"), run("000")]).notes
    assert "2 are in all of them, 3 in any" in note


def test_labels_that_are_alike_get_their_folders_or_stay() -> None:
    alike = side_by_side([run("1", topology="single", format="freeform", model="m")] * 2)
    assert [row[0] for row in alike.rows()] == ["single, freeform, m"] * 2


def test_files_hold_the_numbers_and_markdown_the_shown_cells() -> None:
    found = side_by_side([run("10"), Run([])], labels=["a|b", "<none>"])
    first, second = csv.DictReader(io.StringIO(found.to_csv()))
    assert (first["run"], float(first["pass_at_1"]), first["prompt_tokens"]) == ("a|b", 0.5, "200")
    assert (second["n"], second["pass_at_1"]) == ("0", "")
    lines = found.to_markdown().splitlines()
    assert lines[2].startswith("| a\\|b | 50.0% |")
    assert lines[3].startswith("| <none> | - | - | not run |")
    assert "<none>" not in found._repr_html_()
    assert list(found.to_frame()["run"]) == ["a|b", "<none>"]
