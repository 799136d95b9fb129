"""From a model's text to a verdict: what the notebook shows is what it says."""

import re
from pathlib import Path

import lcbkit
from lcbkit.dataset import demo_problems
from tests.notebooks.kernel import data, executed, executed_live, tagged, text

STEM = "02_extract_and_judge"


def letters(html: str) -> list[str]:
    return re.findall(r"<td>([PWRTMOBI-]+)</td>", html)


def test_finds_the_program_among_several_blocks_and_none_where_there_is_none() -> None:
    notebook = executed(STEM)
    assert data(tagged(notebook, "extract"), "text/plain").endswith(
        "the program\n    a, b = map(int, input().split())\n    print(a + b)"
    )
    shown = [output["data"]["text/plain"] for output in tagged(notebook, "extractions").outputs]
    found = [plain.partition("the program\n")[2].strip() for plain in shown]
    assert found == [
        "print(1)",
        "none",
        "for i in range(int(input())):\n        print(i)",
        "none",
        "print(1)",
        "none",
    ]


def test_only_the_right_programs_pass_and_the_others_fail_as_they_say() -> None:
    found = letters(data(tagged(executed(STEM), "verdicts"), "text/html"))
    assert len(found) == 10
    for mode in (found[:5], found[5:]):
        right, wrong, slow, crashing, cheating = mode
        assert set(right) == {"P"}
        assert set(wrong) == {"P", "W"}
        assert set(slow) == {"P", "T"}
        assert set(crashing) <= {"P", "R"}
        assert "R" in crashing
        assert set(cheating) in ({"R"}, {"W"})


def test_shows_the_verdicts_that_are_left_and_the_limits() -> None:
    notebook = executed(STEM)
    kinds = [output["data"]["text/plain"] for output in tagged(notebook, "kinds").outputs]
    words = [re.sub(r"<TestResult 0: (.*), .* s>", r"\1", plain) for plain in kinds]
    assert words == ["memory limit", "output limit", "bad test"]
    busy, idle = text(tagged(notebook, "limits")).splitlines()
    assert re.match(r"0\.5\d? s of processor time", busy)
    assert idle.startswith("0.0")
    assert "<mark" in data(tagged(notebook, "report"), "text/html"), "the first difference stands out"


def test_says_what_the_sandbox_holds_and_lets_a_program_look() -> None:
    notebook = executed(STEM)
    assert re.search(r"Sandbox: <b>(bwrap|limits)</b>", data(tagged(notebook, "sandbox"), "text/html"))
    seen = data(tagged(notebook, "run-python"), "text/html")
    assert "my input: a line of mine" in seen
    assert "network: " in seen
    assert "OPENAI" not in seen


def test_judges_the_recorded_answers_and_stops_at_the_first_that_passes() -> None:
    notebook = executed(STEM)
    found = letters(data(tagged(notebook, "many"), "text/html"))
    solved = sum(set(one) == {"P"} for one in found)
    assert text(tagged(notebook, "many")).strip() == f"solved: {solved} of 18"
    assert 0 < solved < 18
    assert re.search(r"passed: [12]$", text(tagged(notebook, "stop")).strip())


def test_shows_where_the_official_checker_would_say_something_else() -> None:
    reads, exits = text(tagged(executed(STEM), "differs")).splitlines()
    assert "7 of 7 tests passed" in reads
    assert "(runtime error)" in exits


def test_the_exercise_can_be_solved_as_its_solution_says() -> None:
    notebook, problem = executed(STEM), demo_problems()[1]
    cell = tagged(notebook, "exercise")
    assert "2 of 2 tests passed" in data(cell, "text/plain")
    code = cell.source.split('"""')[1]
    failure = lcbkit.judge(code, problem).first_failure
    assert failure is not None
    assert failure.verdict is lcbkit.Verdict.WRONG_ANSWER
    assert lcbkit.judge(code.replace("set(fish)", "fish"), problem).passed


def test_judges_a_live_models_answers_to_real_problems(shared: Path) -> None:
    live = executed_live(STEM, shared)
    table = tagged(live.notebook, "many")
    found = letters(data(table, "text/html"))
    solved = sum(set(one) == {"P"} for one in found)
    assert text(table).strip() == f"solved: {solved} of 18"
    assert 9 <= solved < 18
    assert "1873_A" in data(table, "text/html")
