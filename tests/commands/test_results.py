import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from twice_problems import RIGHT, row

from lcbkit.extract import extract_code
from lcbkit.results import load_run

Lcb = Callable[..., Any]


def write_run(folder: Path, passed: str, **facts: object) -> None:
    """A run folder with a record a sign: 1 passed, 0 not, x an outage."""
    folder.mkdir()
    rows = [
        {
            "id": f"p{number}",
            "em": float(sign == "1"),
            "status": "infra_error" if sign == "x" else "ok",
            "difficulty": ("easy", "hard")[number % 2],
            "platform": "atcoder",
            "contest_date": f"2024-0{1 + number}-01",
            "predicted_code": extract_code(RIGHT),
            "model": "gpt-x",
            "topology": "single",
            "format": "freeform",
            "prompt_tokens": 1_000_000,
            "n_llm_calls": 1,
            **facts,
        }
        for number, sign in enumerate(passed)
    ]
    (folder / "predictions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(autouse=True)
def _two_runs(tmp_path: Path) -> None:
    """Folders `a` and `b`, where the command runs."""
    write_run(tmp_path / "a", "1100x")
    write_run(tmp_path / "b", "0111")


def test_compare_prints_the_paired_table_with_what_is_left_out(lcb: Lcb) -> None:
    done = lcb("compare", "a", "b", "--by", "difficulty")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert "4 problems are compared: those that both scored" in lines
    assert "left out: 1 (1 only in a)" in lines
    rows = {line.split()[0]: line.split()[1:] for line in lines if "%" in line and "interval" not in line}
    assert rows["all"][:4] == ["4", "50.0%", "75.0%", "+25.0"]
    assert rows["easy"][:4] == ["2", "50.0%", "50.0%", "+0.0"]
    assert rows["hard"][-3:] == ["0", "1", "1"]
    assert "passed by a alone: p0" in lines
    assert "passed by b alone: p2, p3" in lines


def test_compare_takes_prediction_files_and_livecodebenchs_own(lcb: Lcb) -> None:
    graded = [{"question_id": f"p{i}", "graded_list": [i < 2], "code_list": ["pass"]} for i in range(4)]
    Path("o_eval_all.json").write_text(json.dumps(graded))
    done = lcb("compare", "a/predictions.jsonl", "o_eval_all.json")
    assert done.code == 0, done
    assert "b: o_eval_all" in done.out
    assert "passed by a alone: none" in done.out


def test_show_puts_several_runs_side_by_side(lcb: Lcb) -> None:
    done = lcb("show", "a", "b", "--by", "difficulty")
    header, first, second, *notes = done.out.splitlines()
    assert header.split()[-7:] == ["easy", "hard", "tokens", "a", "problem", "model", "calls"]
    assert first.startswith("single, freeform, gpt-x in a")
    assert "2 / 4 (of 5)" in first
    assert second.split()[-4:] == ["50.0%", "100.0%", "1,000,000", "4"]
    assert any("not of the same problems (4 are in all of them, 5 in any)" in note for note in notes)
    assert any("1 of 5 instances ended in infrastructure errors" in note for note in notes)


def test_runs_of_one_team_stay_apart_however_long_their_names(lcb: Lcb, tmp_path: Path) -> None:
    folders = [f"release_v6-single-freeform-qwen-{'x' * 40}-{end}" for end in ("first", "second")]
    for folder in folders:
        write_run(tmp_path / folder, "11")
    _, first, second, *_ = lcb("show", *folders).out.splitlines()
    assert folders[0] in first
    assert folders[1] in second


def test_records_of_several_samples_name_theirs(lcb: Lcb, tmp_path: Path) -> None:
    assert "sample" not in lcb("show", "a", "--records").out
    file = tmp_path / "a/predictions.jsonl"
    file.write_text(file.read_text() + json.dumps({"id": "p0", "sample": 1, "em": 1.0}) + "\n")
    assert lcb("show", "a", "--records").out.split()[:2] == ["id", "sample"]


def test_show_prints_each_table_that_is_asked_for(lcb: Lcb) -> None:
    done = lcb("show", "b", "--by", "difficulty,platform", "--by", "month")
    assert done.code == 0, done
    assert "difficulty \\ platform" in done.out
    assert "2024-03" in done.out


def test_show_tells_what_a_run_cost_where_prices_are_given(lcb: Lcb) -> None:
    Path("prices.toml").write_text('["gpt-x"]\ninput = 2\noutput = 9\n')
    assert "USD" not in lcb("show", "a").out
    assert (
        "cost: 10.00 USD: 2.00 a problem, 4.00 a solved one"
        in lcb("show", "a", "--prices", "prices.toml").out
    )
    several = lcb("show", "a", "b", "--prices", "prices.toml").out
    assert "USD in all" in several.splitlines()[0]
    assert several.splitlines()[2].split()[-3:] == ["8.00", "2.00", "2.67"]


def test_bad_input_gets_one_clear_line(one_line: Callable[..., None]) -> None:
    Path("foo.txt").write_text("hello")
    Path("prices.toml").write_text('["other"]\ninput = 2\noutput = 9\n')
    one_line("show", "foo.txt", words="foo.txt|a file of another kind|give a run folder")
    one_line("show", ".", words="but the runs a, b")
    one_line("show", "a", "--by", "colour", words="difficulty, platform|'colour'")
    one_line("show", "a", "b", "--records", words="--records")
    one_line("show", "a", "--prices", "prices.toml", words="no price for gpt-x; it names other")
    one_line("show", "a", "--prices", "none.toml", words="none.toml")
    one_line("compare", "a", "nothing", words="nothing|give a run folder")
    one_line("rejudge", "a", words="does not say where its problems come from|--source")
    one_line("rejudge", "a", "--source", "sample", words="none of the 5 records|--source")


def test_rejudge_writes_a_run_beside_and_tells_which_verdicts_moved(lcb: Lcb) -> None:
    Path("twice.jsonl").write_text("".join(json.dumps(row(i)) + "\n" for i in range(4)))
    before = Path("a/predictions.jsonl").read_bytes()
    done = lcb("rejudge", "a", "--source", "twice.jsonl", "--quiet", "--judge-workers", 1)
    assert done.code == 0, done
    assert "4 programs judged again, 0 records without one copied, 1 left out" in done.out
    assert "2 verdicts moved:" in done.out
    assert done.out.count("passed") == 2
    assert "a-rejudged" in done.err
    assert load_run("a-rejudged").summary().overall.passed == 4
    assert Path("a/predictions.jsonl").read_bytes() == before
    again = ("--source", "twice.jsonl", "--quiet", "--judge-workers", 1, "--out-dir", "tight")
    assert lcb("rejudge", "a", *again, "--memory-limit", 10**9).code == 0
    assert load_run("tight").config["settings"]["judging"]["memory_limit"] == 10**9
    assert load_run("a-rejudged").config["settings"]["judging"]["memory_limit"] != 10**9
