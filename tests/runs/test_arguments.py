from typing import Any

import pytest
from twice_problems import problem_set

from lcbkit.errors import BadValueError, NothingToDoError
from lcbkit.problems import ProblemSet
from lcbkit.runs.arguments import MAX_SAMPLES, check_batch

FIT = {
    "tests": "hidden",
    "time_limit": 6.0,
    "max_infra_rate": 0.1,
    "seed": 0,
    "samples": 1,
    "judge_workers": None,
}


def checked(problems: Any = None, team: Any = None, **changes: Any) -> None:
    check_batch(team, problem_set(2) if problems is None else problems, **FIT | changes)


@pytest.mark.parametrize(
    "fit",
    [
        {"tests": "all", "time_limit": 1, "max_infra_rate": 0, "seed": -5},
        {"samples": MAX_SAMPLES, "seed": 2**62, "judge_workers": 3, "concurrency": 10**6},
        {"problems": list(problem_set(1)), "max_infra_rate": 1},
    ],
)
def test_what_a_batch_can_do_passes(fit: dict[str, Any]) -> None:
    checked(**fit)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"team": "single"}, r"team is 'single'; build_team\('single'\) makes one"),
        ({"problems": problem_set(1)[0]}, "problems is .*must be a sequence"),
        ({"problems": "sample"}, "problems is 'sample'"),
        ({"problems": ["lka1_a"]}, "problems holds 'lka1_a'"),
        ({"problems": [*problem_set(2), *problem_set(1)]}, "problem 'p0' is there 2 times"),
        ({"tests": "public"}, "tests is 'public'"),
        *(
            ({"time_limit": value}, "time_limit is")
            for value in (0, -1, float("nan"), float("inf"), "6", 10**6, True)
        ),
        *(({"max_infra_rate": value}, "max_infra_rate is") for value in (-0.1, 1.5, "x", float("nan"))),
        *(({"seed": value}, "seed is") for value in ("x", 0.5, True, 2**63, -(2**63) - 1, 2**63 - 1)),
        *(({"samples": value}, "samples is") for value in (0, -1, 1.5, "2", True, MAX_SAMPLES + 1)),
        *(({"concurrency": value}, "concurrency is") for value in (0, 2.5)),
        ({"judge_workers": 0}, "judge_workers is 0"),
    ],
)
def test_what_no_batch_can_do_is_named_with_its_value(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(BadValueError, match=said):
        checked(**wrong)


def test_no_problem_is_nothing_to_do() -> None:
    with pytest.raises(NothingToDoError):
        checked(ProblemSet([], source="none"))
