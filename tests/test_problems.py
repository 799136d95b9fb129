"""What a problem and a set of problems say, show and give back."""

import json
import pickle
import re
import subprocess
import sys
from datetime import date, datetime
from pathlib import Path

import pytest
from row_factory import make_row, pack, some_tests

from lcbkit.errors import DatasetError, UnknownProblemError, UnusableTestsError
from lcbkit.known_ids import errata
from lcbkit.problems import Problem, ProblemSet, TestCase


def five() -> ProblemSet:
    rows = [make_row(f"p{n}", hidden=n + 1, contest_date=f"2024-05-0{5 - n}T10:00:00") for n in range(5)]
    return ProblemSet([Problem.from_row(row) for row in rows], source="five", skipped={"q": "no tests"})


def test_a_row_becomes_a_problem() -> None:
    problem = Problem.from_row(make_row("2727", mode="functional", difficulty="hard"))
    assert (problem.id, problem.mode, problem.fn_name) == ("2727", "functional", "twice")
    assert problem.contest_date == datetime(2024, 5, 1, 20)
    assert problem.public_tests == (TestCase(input="0\n", output="0\n", mode="functional"),)
    assert problem.hidden_tests[1] == TestCase(input="1\n", output="2\n", mode="functional")
    assert problem.hidden_test_count == len(problem.hidden_tests) == 2
    assert problem.erratum is None


def test_a_stdin_problem_calls_no_function() -> None:
    row = make_row("a", starter_code="def f(): pass", metadata='{"func_name": "f"}')
    assert (Problem.from_row(row).mode, Problem.from_row(row).fn_name) == ("stdin", None)


def test_hidden_tests_are_not_held_decoded() -> None:
    problem = Problem.from_row(make_row("a"))
    assert problem.hidden_tests == problem.hidden_tests
    assert problem.hidden_tests is not problem.hidden_tests


def test_a_row_comes_back_as_it_was() -> None:
    for row in (make_row("a"), make_row("b", mode="functional", metadata='{"func_name": "twice"}')):
        assert Problem.from_row(row).to_row() == row


def test_real_rows_come_back_as_they_were(shared: Path) -> None:
    lines = (shared / "data" / "lcb50" / "test.jsonl").read_text(encoding="utf-8").splitlines()
    assert [Problem.from_row(json.loads(line)).to_row() for line in lines] == [json.loads(x) for x in lines]


def test_a_problem_survives_being_sent_to_another_process() -> None:
    problem = Problem.from_row(make_row("a"))
    sent = pickle.loads(pickle.dumps(problem))
    assert sent == problem
    assert sent.hidden_tests == problem.hidden_tests


@pytest.mark.parametrize(("row_id", "reason"), errata().items())
def test_a_defective_problem_is_marked(row_id: str, reason: str) -> None:
    assert Problem.from_row(make_row(row_id)).erratum == reason


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"difficulty": "insane"}, "difficulty is 'insane'; allowed: easy, medium, hard"),
        ({"platform": "topcoder"}, "platform is 'topcoder'; allowed: leetcode, codeforces, atcoder"),
        ({"question_title": None}, "'question_title' is NoneType"),
        ({"contest_date": "soon"}, "contest_date is 'soon'"),
        ({"private_test_cases": pack(["[]"])}, "more than a string"),
    ],
)
def test_a_broken_row_is_an_error_that_names_it(fields: dict[str, object], words: str) -> None:
    with pytest.raises(DatasetError) as caught:
        Problem.from_row(make_row("zzz1", **fields))
    assert "problem 'zzz1'" in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize("field", list(make_row("a")))
def test_a_missing_field_is_an_error_that_names_it(field: str) -> None:
    row = make_row("a", mode="functional")
    del row[field]
    with pytest.raises(DatasetError, match=field):
        Problem.from_row(row)


def test_functional_tests_without_a_name_are_an_error() -> None:
    with pytest.raises(DatasetError, match=r"'a'.*names one"):
        Problem.from_row(make_row("a", mode="functional", starter_code=""))


def test_public_tests_that_cannot_be_used_make_the_row_unusable() -> None:
    for public in ("garbled", json.dumps(some_tests(1, "functional"))):
        with pytest.raises(UnusableTestsError, match="'a'"):
            Problem.from_row(make_row("a", public_test_cases=public))


def test_a_problem_shows_itself_without_its_hidden_tests() -> None:
    secret = pack(json.dumps([{"input": "secret\n", "output": "hidden\n", "testtype": "stdin"}]))
    public = json.dumps([{"input": "<b>7</b>", "output": "14", "testtype": "stdin"}])
    row = make_row("abc350_c", hidden=secret, question_content="if a<b & $x_1$", public_test_cases=public)
    problem = Problem.from_row(row)
    page = problem._repr_html_()
    assert len(repr(problem)) < 200
    for text in (repr(problem), page):
        assert "secret" not in text
        assert secret not in text
    assert "if a&lt;b &amp; $x_1$" in page
    assert "&lt;b&gt;7&lt;/b&gt;" in page
    assert "wrong tests" in page


def test_a_set_indexes_by_place_slice_and_id() -> None:
    found = five()
    assert (found[0].id, found[-1].id, found["p3"].id) == ("p0", "p4", "p3")
    assert found[1:3].ids == ("p1", "p2")
    assert (found[1:3].source, found[1:3].skipped) == ("five", {"q": "no tests"})
    assert "p3" in found
    assert found[3] in found
    assert "p9" not in found
    with pytest.raises(UnknownProblemError, match="near: p"):
        found["p33"]
    with pytest.raises(KeyError) as unknown:
        found["p33"]
    assert str(unknown.value).startswith("no problem 'p33'")
    with pytest.raises(IndexError):
        found[5]


def test_a_set_knows_its_dates_and_names_its_ids() -> None:
    found = five()
    assert (found.first_date, found.last_date) == (date(2024, 5, 1), date(2024, 5, 5))
    assert re.fullmatch("[0-9a-f]{12}", found.digest)
    assert found.digest == five().digest
    assert len({found.digest, found[:4].digest, found[::-1].digest}) == 3
    nothing = found[:0]
    assert (nothing.first_date, nothing.last_date, len(nothing)) == (None, None, 0)
    assert "0 problems of five" in repr(nothing)


def test_every_listing_names_source_dates_count_and_digest() -> None:
    found = five()
    attrs = found.to_frame().attrs
    listings = [repr(found), found._repr_html_(), json.dumps(attrs)]
    for listing in listings:
        for words in ("five", "2024-05-01", "2024-05-05", "5", found.digest):
            assert words in listing
    assert "1 skipped (q)" in repr(found)
    assert attrs == found.provenance


def test_a_long_set_is_listed_in_part_and_escaped() -> None:
    many = ProblemSet(
        [Problem.from_row(make_row(f"p{n}", question_title="<script>")) for n in range(230)], source="many"
    )
    page = many._repr_html_()
    assert "and 30 more" in page
    assert "<script>" not in page


def test_a_frame_has_a_line_for_each_problem() -> None:
    frame = five().to_frame()
    assert list(frame["id"]) == ["p0", "p1", "p2", "p3", "p4"]
    assert list(frame["hidden_tests"]) == [1, 2, 3, 4, 5]
    assert list(five()[:0].to_frame().columns) == list(frame.columns)


def test_filter_selects_as_loading_does() -> None:
    found = five().filter(end_date="2024-05-04", offset=1, limit=2)
    assert found.ids == ("p2", "p3")
    assert five().filter(only=["p4", "q"]).ids == ("p4",)


def test_a_dataset_made_of_a_set_holds_its_rows() -> None:
    found = five()
    assert found.to_dataset().to_list() == [problem.to_row() for problem in found]


def test_importing_problems_loads_nothing_heavy() -> None:
    code = (
        "import sys, lcbkit.problems, lcbkit.dataset;"
        "heavy = {'datasets', 'pandas', 'numpy', 'pyarrow', 'huggingface_hub', 'tqdm'} & set(sys.modules);"
        "sys.exit(' '.join(heavy) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
