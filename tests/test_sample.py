"""The shipped sample: the files are what the tools build, and every program of a problem gets its verdict."""

import base64
import json
import pickle
import re
import sys
import zlib
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lcbkit.dataset import demo_problems, load_problems
from lcbkit.judging.many import judge_many
from lcbkit.judging.report import Report, Verdict
from lcbkit.problems import Problem

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools" / "sample"))

from sample_problems import DEMO, SAMPLE  # noqa: E402 (the tools are no installed package)
from sample_problems.programs import run_program  # noqa: E402
from sample_problems.record import SampleProblem  # noqa: E402
from sample_problems.rows import FILES, hidden_inputs, row  # noqa: E402
from sample_problems.statement import statement  # noqa: E402

EVERY = pytest.mark.parametrize("made", [*SAMPLE, *DEMO], ids=lambda made: made.id)
REFERENCE_SECONDS = 2.0  # of CPU, a third of a run's limit
SLOW_SECONDS = 1.0  # slow programs need more than three times a run's limit: that is not waited for here


@pytest.fixture(scope="module")
def shipped() -> dict[str, Problem]:
    """The problems as users load them, by id."""
    return {problem.id: problem for problem in [*load_problems("sample"), *demo_problems()]}


def verdicts(kind: str, shipped: dict[str, Problem], **limits: Any) -> dict[str, Report]:
    """What the judge says of all programs of one kind, by problem id."""
    programs = {made.id: getattr(made.programs, kind) for made in [*SAMPLE, *DEMO]}
    chosen = {name: program for name, program in programs.items() if program}
    pairs = [(program, shipped[name]) for name, program in chosen.items()]
    return dict(zip(chosen, judge_many(pairs, progress=False, **limits), strict=True))


def unpacked(stored: dict[str, str]) -> dict[str, Any]:
    """A row with its hidden tests in plain sight: builds of zlib pack the same text differently."""
    packed = base64.b64decode(stored["private_test_cases"])
    return {**stored, "private_test_cases": json.loads(pickle.loads(zlib.decompress(packed)))}


@pytest.mark.parametrize("name", FILES)
def test_the_shipped_rows_are_what_the_tools_build(name: str) -> None:
    text = (ROOT / "data_cache" / "sample" / name).read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    assert [unpacked(stored) for stored in rows] == [unpacked(row(made)) for made in FILES[name]]


def test_the_loader_reads_every_problem_in_order(shipped: dict[str, Problem]) -> None:
    assert list(shipped) == [made.id for made in [*SAMPLE, *DEMO]]
    for made in [*SAMPLE, *DEMO]:
        assert [test.input for test in shipped[made.id].hidden_tests] == hidden_inputs(made)
        assert shipped[made.id].fn_name == (made.func_name or None)


def test_the_sample_covers_platforms_difficulties_modes_and_a_year() -> None:
    assert Counter(made.difficulty for made in SAMPLE) == {"easy": 8, "medium": 6, "hard": 4}
    assert Counter(made.platform for made in SAMPLE) == {"codeforces": 6, "atcoder": 5, "leetcode": 7}
    assert all(bool(made.func_name) == (made.platform == "leetcode") for made in SAMPLE)
    for mode in (True, False):
        assert len({made.difficulty for made in SAMPLE if bool(made.func_name) is mode}) == 3
    assert [made.contest_date for made in SAMPLE] == sorted(made.contest_date for made in SAMPLE)
    assert len({made.contest_date[:7] for made in SAMPLE}) == 12
    assert {bool(made.func_name) for made in DEMO} == {True, False}


def test_ids_tell_apart_on_every_file_system_and_name_their_contest() -> None:
    ids = [made.id for made in [*SAMPLE, *DEMO]]
    assert len({name.lower() for name in ids}) == len(ids)
    assert all(re.fullmatch(r"lk\w{1,8}", name) for name in ids)
    assert len({(made.contest_id, made.contest_date) for made in SAMPLE}) == len(
        {m.contest_id for m in SAMPLE}
    )


@EVERY
def test_answers_written_by_hand_are_those_of_the_reference(made: SampleProblem) -> None:
    for example in made.examples:
        assert run_program(made.programs.reference, example.input, made.func_name) == example.output


@EVERY
def test_reference_brute_force_and_slow_program_agree_on_small_inputs(made: SampleProblem) -> None:
    rng = Random(made.title)
    for _ in range(120):
        text = made.small_input(rng)
        answer = run_program(made.programs.reference, text, made.func_name)
        assert run_program(made.programs.brute_force, text, made.func_name) == answer, text
        if made.programs.slow:
            assert run_program(made.programs.slow, text, made.func_name) == answer, text


@EVERY
def test_every_input_is_legal_and_no_hidden_one_occurs_twice(made: SampleProblem) -> None:
    rng, hidden = Random(made.title), hidden_inputs(made)
    assert all(made.is_legal(text) for text in [*hidden, *(made.small_input(rng) for _ in range(50))])
    assert len(set(hidden)) == len(hidden)
    assert hidden[: len(made.examples)] == [example.input for example in made.examples]
    assert (8 <= len(hidden) <= 15) or made in DEMO


@EVERY
def test_statements_are_sound_markdown_with_balanced_maths(made: SampleProblem) -> None:
    text = statement(made)
    for paragraph in text.split("\n\n"):
        prose, maths = paragraph.split("$")[::2], paragraph.split("$")[1::2]
        assert len(prose) == len(maths) + 1, paragraph
        assert all(formula.count("{") == formula.count("}") and formula.strip() for formula in maths), (
            paragraph
        )
        assert not any(sign in formula for formula in maths for sign in "<>"), paragraph
        assert not re.search(r"\\[a-zA-Z]|\w_\w", "".join(prose)), paragraph
    assert ("$" in text) == (made.platform != "leetcode")


def test_every_reference_passes_in_a_fraction_of_the_limit(shipped: dict[str, Problem]) -> None:
    reports = verdicts("reference", shipped, time_limit=REFERENCE_SECONDS, tests="all")
    assert {name: report.first_failure for name, report in reports.items() if not report.passed} == {}


def test_every_typical_wrong_program_ends_with_a_wrong_answer(shipped: dict[str, Problem]) -> None:
    reports = verdicts("wrong", shipped, time_limit=REFERENCE_SECONDS)
    for name, report in reports.items():
        found = {result.verdict for result in report.results}
        assert found - {Verdict.PASSED} == {Verdict.WRONG_ANSWER}, name


def test_every_typical_slow_program_is_right_until_its_time_is_up(shipped: dict[str, Problem]) -> None:
    reports = verdicts("slow", shipped, time_limit=SLOW_SECONDS, stop_on_failure=True)
    assert len(reports) >= 10
    for name, report in reports.items():
        assert report.first_failure is not None, name
        assert report.first_failure.verdict is Verdict.TIME_LIMIT, name


def test_the_shipped_files_stay_small() -> None:
    assert sum((ROOT / "data_cache" / "sample" / name).stat().st_size for name in FILES) < 1_000_000
