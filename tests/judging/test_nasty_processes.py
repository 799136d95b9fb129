"""Processes, signals and threads: whatever a submission starts ends with its test, and reaches no other."""

from itertools import chain

import pytest

from lcbkit import Report
from tests.judging.trials import (
    BURIED,
    KEPT_APART,
    Trial,
    check,
    judge_trials,
    judging_processes,
    read_trials,
    wait_for,
    wait_until_gone,
)

MARK = "lcbkit-trial-child"  # stands in the command line of every child of these programs
# Elsewhere these would reach every process of whoever runs the tests, or go on after them.
FAR = [*read_trials("far_signals.txt")] if KEPT_APART else []
FAR += [*read_trials("bombs.txt")] if BURIED else []
NASTY = [*read_trials("children.txt"), *read_trials("signals.txt"), *read_trials("trees.txt")]
# A right program after each, so that a broken worker or a stray signal shows.
GOOD = [
    Trial(name=f"right {i}", right="passed", program=f"print({i})", tests=(("", f"{i}"),))
    for i in range(len(NASTY))
]
TRIALS = [*chain.from_iterable(zip(NASTY, GOOD, strict=True))]


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    return judge_trials(TRIALS, workers=4)


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.name)
def test_a_program_that(trial: Trial, reports: dict[str, Report]) -> None:
    check(trial, reports[trial.name])


@pytest.mark.usefixtures("reports")
def test_no_child_outlives_its_test() -> None:
    assert not wait_until_gone(MARK)


@pytest.mark.parametrize("trial", FAR, ids=lambda trial: trial.name)
def test_what_reaches_far_ends_with_its_test(trial: Trial) -> None:
    before = len(judging_processes())
    reports = judge_trials([trial, GOOD[0]], workers=1)
    check(trial, reports[trial.name])
    check(GOOD[0], reports[GOOD[0].name])
    assert not wait_for(lambda: judging_processes()[before:])
