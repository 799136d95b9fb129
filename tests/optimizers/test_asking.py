"""Questions asked at once: order, repeats, and what becomes of those without an answer."""

import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from typing import Any

import pytest

from lcbkit.optimizers.asking import Ask, answers, ask_all, in_background, needed_answers
from lcbkit.optimizers.interface import InfrastructureExhausted, ReflectionError, Step
from tests.conftest import ROOT

STEP = Step("optimization/test", 0)


def asks(*prompts: str) -> list[Ask]:
    return [Ask(prompt=prompt, step=STEP, role="coder") for prompt in prompts]


def test_answers_come_in_the_order_of_the_questions() -> None:
    def model(prompt: str, **_: Any) -> str:
        time.sleep(0.02 * (5 - int(prompt)))
        return f"answer {prompt}"

    assert answers(model, asks(*"01234"), at_once=5) == [f"answer {n}" for n in range(5)]


def test_at_most_so_many_questions_are_on_their_way() -> None:
    lock, now, peak = threading.Lock(), 0, 0

    def model(prompt: str, **_: Any) -> str:
        nonlocal now, peak
        assert prompt
        with lock:
            now += 1
            peak = max(peak, now)
        time.sleep(0.02)
        with lock:
            now -= 1
        return ""

    answers(model, asks(*map(str, range(12))), at_once=3)
    assert peak == 3


def test_equal_questions_are_asked_one_after_the_other() -> None:
    seen: Counter[str] = Counter()
    inside: set[str] = set()

    def model(prompt: str, **_: Any) -> str:
        assert prompt not in inside
        inside.add(prompt)
        seen[prompt] += 1
        mine = seen[prompt]
        time.sleep(0.01)
        inside.remove(prompt)
        return f"{prompt}{mine}"

    assert answers(model, asks(*"abaab"), at_once=4) == ["a1", "b1", "a2", "a3", "b2"]


def failing(prompt: str, **_: Any) -> str:
    if prompt == "bad":
        raise ReflectionError("no answer after 3 retries")
    return "fine"


def test_a_question_without_an_answer_is_empty_or_ends_the_search() -> None:
    assert answers(failing, asks("good", "bad")) == ["fine", ""]
    assert isinstance(ask_all(failing, asks("bad"))[0], ReflectionError)
    with pytest.raises(InfrastructureExhausted, match="no answer after 3 retries"):
        needed_answers(failing, asks("good", "bad"))


def test_what_a_model_must_not_raise_passes_through() -> None:
    def model(prompt: str, **_: Any) -> str:
        raise KeyError(prompt)

    with pytest.raises(KeyError):
        answers(model, asks("a", "b"))


def test_no_questions_need_no_model() -> None:
    assert answers(failing, []) == []


def test_work_in_the_background_gives_its_result_or_its_error() -> None:
    assert in_background(lambda: 7)() == 7
    with pytest.raises(ZeroDivisionError):
        in_background(lambda: 1 // 0)()


SILENT = """
import os
import threading
from lcbkit.optimizers.asking import Ask, ask_all, in_background
from lcbkit.optimizers.interface import Step
def silent(prompt, **_):
    os.write(1, b"asked\\n")  # whole lines, whoever writes beside it
    threading.Event().wait()
ask_all(silent, [Ask(prompt=str(n), step=Step("x", 0)) for n in range(9)], at_once=2)
"""


def test_an_interrupt_does_not_wait_for_answers() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SILENT], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert "KeyboardInterrupt" in errors
    assert process.returncode != 0
