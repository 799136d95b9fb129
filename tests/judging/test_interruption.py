"""Work that is done in a caller's name ends when the caller is interrupted."""

import signal
import threading

import pytest

from lcbkit.judging.interruption import Token


class Line:
    def __init__(self) -> None:
        self.closed = threading.Event()

    def hang_up(self) -> None:
        self.closed.set()


def test_the_main_thread_waits_for_another() -> None:
    names: list[str] = []
    Token().run(lambda: names.append(threading.current_thread().name))
    assert names == ["lcbkit-judge"]


def test_another_thread_does_the_work_itself() -> None:
    names: list[str] = []
    thread = threading.Thread(
        target=lambda: Token().run(lambda: names.append(threading.current_thread().name)), name="caller"
    )
    thread.start()
    thread.join()
    assert names == ["caller"]


def test_what_the_work_raises_comes_out() -> None:
    with pytest.raises(ZeroDivisionError):
        Token().run(lambda: 1 / 0)


def test_an_interrupt_closes_the_lines_and_comes_out_when_the_work_has_ended() -> None:
    token, line, ended = Token(), Line(), threading.Event()

    def work() -> None:
        token.add(line)
        signal.raise_signal(signal.SIGINT)  # Python hands it to the main thread, which waits
        line.closed.wait(20)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        token.run(work)
    assert line.closed.is_set()
    assert ended.is_set()
    assert token.cancelled


def test_an_interrupt_that_comes_as_the_work_starts_ends_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    token, line, ended = Token(), Line(), threading.Event()
    start = threading.Thread.start

    def interrupted_start(thread: threading.Thread) -> None:
        start(thread)
        raise KeyboardInterrupt

    def work() -> None:
        token.add(line)
        line.closed.wait(20)
        ended.set()

    monkeypatch.setattr(threading.Thread, "start", interrupted_start)
    with pytest.raises(KeyboardInterrupt):
        token.run(work)
    assert line.closed.is_set()
    assert ended.is_set()


def test_a_line_that_comes_late_is_closed_at_once() -> None:
    token, line = Token(), Line()
    token.cancel()
    token.add(line)
    assert line.closed.is_set()


def test_a_line_that_was_given_back_is_left_open() -> None:
    token, line = Token(), Line()
    token.add(line)
    token.remove(line)
    token.cancel()
    assert not line.closed.is_set()
