"""A submission can break its own process and nothing else: no verdict, no judge, no other test."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from textwrap import indent

import pytest

from lcbkit import Report
from tests.judging.trials import Trial, check, judge_trials, read_trials

# With these a right answer may be lost too: the way back is cut, or printing fails.
MAY_LOSE = {
    "the comparison of json",
    "its working folder",  # changing it is what the guard of functional mode forbids
    "all builtins to nothing",
    "the builtins",
    "every loaded module",
    "what modules are",
    "the recursion limit",
    "every descriptor above two",
    "every descriptor above two, by something else",
    "every descriptor above two, by its output",
    "its own limits",
    "what all frames above see",
    "codecs",
    "the import system",
    "the writing of descriptors",
}


def rewriting_trials() -> Iterator[Trial]:
    """Each rewriting before a right value and before a wrong one, printed and returned."""
    for base in read_trials("rewrites.txt"):
        body = indent(base.program, "    ")
        hurt = "|runtime_error|wrong_answer" if base.name in MAY_LOSE else ""
        for value, said, right in ((6, "right", f"passed{hurt}"), (5, "wrong", "wrong_answer|runtime_error")):
            printed = Trial(
                name=f"{base.name}, printed, {said}", right=right, program=f"{base.program}print({value})\n"
            )
            yield printed
            yield replace(
                printed,
                name=f"{base.name}, returned, {said}",
                program=f"def solve(n):\n{body}    return {value}\n",
                tests=(("3", "6"),),
                fn_name="solve",
            )


TRIALS = [*rewriting_trials(), *read_trials("forgeries.txt")]


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    return judge_trials(TRIALS)


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.name)
def test_a_program_that_rewrites(trial: Trial, reports: dict[str, Report]) -> None:
    check(trial, reports[trial.name])


def test_no_rewriting_reaches_the_next_test_of_the_same_program() -> None:
    tests = (("first", "6"), ("second", "6")) * 5
    program = """
    import builtins, sys, math, json, collections, random
    if hasattr(builtins, "mark") or hasattr(math, "mark") or hasattr(json, "mark"): print("marked")
    else: print(6)
    builtins.mark = math.mark = json.mark = True
    """
    trial = Trial(name="marks", right="passed", program=program, tests=tests)
    check(trial, judge_trials([trial], workers=1)["marks"])


def test_random_numbers_differ_between_processes_only_by_seed() -> None:
    program = """
    import random
    random.seed(3)
    print(random.randrange(10 ** 9), hash("a") == hash("a"), {"b", "a", "c"} == {"a", "b", "c"})
    """
    wanted = Random(3).randrange(10**9)
    trial = Trial(name="draws", right="passed", program=program, tests=(("", f"{wanted} True True"),) * 3)
    check(trial, judge_trials([trial])["draws"])
