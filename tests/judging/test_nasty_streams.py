"""Standard streams closed, replaced, flooded, ignored, read too far: a verdict as from the shell, no hang."""

import pytest

from lcbkit import Report
from tests.judging.trials import Trial, check, judge_trials, read_trials

BIG = "7 " * (10 << 20)  # 20 MiB
COUNT = """
import os
size = 0
while chunk := os.read(0, 1 << 20): size += len(chunk)
print(size)
"""


def with_big_input(name: str, program: str, wanted: str = "6") -> Trial:
    return Trial(name=name, right="passed", program=program, tests=((BIG, wanted),))


TRIALS = [
    *read_trials("streams.txt"),
    with_big_input("never reads 20 MB", "print(6)"),
    with_big_input("reads one byte of 20 MB", "import os\nos.read(0, 1)\nprint(6)"),
    with_big_input("closes its input before reading 20 MB", "import os\nos.close(0)\nprint(6)"),
    with_big_input("reads 20 MB and writes them", "import sys\nsys.stdout.write(sys.stdin.read())", BIG),
    with_big_input("reads 20 MB from the descriptor", COUNT, str(len(BIG))),
]


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    return judge_trials(TRIALS)


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.name)
def test_a_program_that(trial: Trial, reports: dict[str, Report]) -> None:
    check(trial, reports[trial.name])


def test_what_one_test_does_to_its_input_does_not_reach_the_next() -> None:
    program = """
    import os
    data = os.read(0, 100)
    for path in (None, "/proc/self/fd/0", "/dev/stdin"):
        try:
            fd = os.open(path, os.O_RDWR) if path else 0
            os.lseek(fd, 0, 0)
            os.write(fd, b"9 9 9")
            os.ftruncate(fd, 2)
        except OSError:
            pass
    print(sum(map(int, data.split()[1:])))
    """
    trial = Trial(name="overwrites", right="passed", program=program, tests=(("3\n1 2 3\n", "6\n"),) * 4)
    check(trial, judge_trials([trial])[trial.name])


def test_a_long_output_is_kept_in_part_only() -> None:
    trial = Trial(name="prints 60 MiB", right="wrong_answer", program="print('y' * (60 << 20))")
    result = judge_trials([trial])[trial.name].results[0]
    assert result.actual.startswith("yyy")
    assert len(result.actual) < 1 << 20
