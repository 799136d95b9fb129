"""Memory, files, big numbers, deep code: each ends as a verdict, and what was taken is given back."""

import pytest

from lcbkit import Report
from tests.judging.trials import Trial, check, judge_trials, read_trials

SLOW_TO_COMPILE = "\n".join(f"def f{i}(a=({i},)): return [a for a in range({i}) if a]" for i in range(60_000))
TRIALS = [
    *read_trials("resources.txt"),
    *(
        Trial(name=name, right=right, program=program, time_limit=time_limit)
        for name, right, time_limit, program in [
            ("is nested too deep to parse", "runtime_error", 6, f"x = {'(' * 5000}1{')' * 5000}"),
            ("has a sum too long to compile", "runtime_error|passed", 6, f"x = {'1+' * 100_000}1\nprint(6)"),
            (
                "has signs too many to compile",
                "runtime_error|memory_limit",
                6,
                f"x = {'-' * 100_000}1\nprint(6)",
            ),
            ("has lists too deep to compile", "runtime_error", 6, f"x = {'[' * 100_000}"),
            ("has a megabyte of statements", "passed", 6, "x = 1\n" * 170_000 + "print(6)"),
            ("takes too long to compile", "time_limit|runtime_error", 1, SLOW_TO_COMPILE),
            ("holds half a surrogate pair", "runtime_error|passed", 6, "x = '\ud800'\nprint(6)"),
            ("holds control characters", "runtime_error|passed", 6, "# \x01\x02\x0b\x0c\x1b\x7f\nprint(6)"),
        ]
    ),
]


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    return judge_trials(TRIALS)


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.name)
def test_a_program_that(trial: Trial, reports: dict[str, Report]) -> None:
    check(trial, reports[trial.name])


@pytest.mark.usefixtures("reports")
def test_the_next_test_starts_in_an_empty_folder_that_it_can_use() -> None:
    program = "import os\nassert os.listdir() == []\nopen('a', 'w').write('6')\nprint(open('a').read())"
    trial = Trial(name="looks around", right="passed", program=program, tests=(("", "6"),) * 20)
    check(trial, judge_trials([trial])[trial.name])
