"""What a functional submission returns is compared as plain data: nothing can claim, hide or hang."""

from pathlib import Path

import pytest

from lcbkit import Report
from tests.judging.trials import Trial, check, judge_trials, read_trials

LIAR = """
class Liar({base}):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return hash(6)
    def __len__(self): return 1
    def __repr__(self): return "6"
    __str__ = __repr__
    @property
    def __class__(self): return {base}
def solve(n):
    return Liar({content})
"""
CONTENTS = {
    "object": "",
    "int": "5",
    "float": "5.0",
    "str": "'5'",
    "list": "[5]",
    "tuple": "(5,)",
    "dict": "a=5",
    "bytes": "b'6'",
    "complex": "5",
}


def returned(name: str, right: str, program: str, given: str, wanted: str) -> Trial:
    return Trial(name=name, right=right, program=program, tests=((given, wanted),), fn_name="solve")


TRIALS = [
    *(
        returned(
            f"{base} that claims to be equal", "wrong_answer", LIAR.format(base=base, content=own), "3", "6"
        )
        for base, own in CONTENTS.items()
    ),
    *read_trials("values.txt"),
    returned("40,000 right digits", "passed", "def solve(n): return 10 ** n", "39999", "1" + "0" * 39_999),
    returned(
        "20 MB of right text", "passed", "def solve(n): return 'ab' * n", "10000000", f'"{"ab" * 10**7}"'
    ),
    returned(
        "300,000 right numbers",
        "passed",
        "def solve(n): return [*range(n)]",
        "300000",
        f"{[*range(300_000)]}",
    ),
]


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    return judge_trials(TRIALS)


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.name)
def test_a_functional_submission_returns(trial: Trial, reports: dict[str, Report]) -> None:
    check(trial, reports[trial.name])


def test_nothing_returned_runs_code_in_the_judge(tmp_path: Path) -> None:
    planted = tmp_path / "planted"
    program = f"""
    class Evil:
        def __reduce__(self): return (open, ({str(planted)!r}, "w"))
        def __reduce_ex__(self, version): return self.__reduce__()
        def __getstate__(self): return self.__reduce__()
    def solve(n):
        return Evil()
    """
    trial = returned("an object that asks to be unpickled", "wrong_answer", program, "3", "6")
    check(trial, judge_trials([trial])[trial.name])
    assert not planted.exists()
