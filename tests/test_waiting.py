import asyncio
import contextvars
import signal
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import closing

import pytest

from lcbkit.waiting import LoopThread, run_sync, waking

WHO = contextvars.ContextVar("WHO", default="nobody")


async def _thread_and_context() -> tuple[int, str]:
    await asyncio.sleep(0)
    return threading.get_ident(), WHO.get()


async def _fail() -> None:
    raise LookupError("from inside")


def _interrupt_after(seconds: float) -> threading.Timer:
    # At the main thread, where the system delivers the terminal's Ctrl-C as well.
    timer = threading.Timer(seconds, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    timer.start()
    return timer


def test_without_a_loop_the_coroutine_runs_in_the_calling_thread() -> None:
    assert run_sync(_thread_and_context)[0] == threading.get_ident()


async def test_inside_a_running_loop_it_runs_in_another_thread_with_the_callers_context() -> None:
    WHO.set("a cell")
    thread, who = run_sync(_thread_and_context)
    assert thread != threading.get_ident()
    assert who == "a cell"


def test_what_the_coroutine_raises_comes_through_without_a_loop() -> None:
    with pytest.raises(LookupError, match="from inside"):
        run_sync(_fail)


async def test_what_the_coroutine_raises_comes_through_inside_a_running_loop() -> None:
    with pytest.raises(LookupError, match="from inside"):
        run_sync(_fail)


@pytest.mark.parametrize("inside_a_loop", [False, True])
def test_an_interrupt_cancels_the_coroutine_lets_it_clean_up_and_raises(inside_a_loop: bool) -> None:
    seen: list[str] = []

    async def sleeper() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            await asyncio.sleep(0.05)
            seen.append("cleaned up")
            raise

    async def cell() -> None:
        run_sync(sleeper)

    def kernel() -> None:
        # A plain loop: asyncio.run would take the signal for itself, as a kernel's loop does not.
        with closing(asyncio.new_event_loop()) as loop:
            loop.run_until_complete(cell())

    started = time.monotonic()
    timer = _interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        kernel() if inside_a_loop else run_sync(sleeper)
    timer.join()
    assert seen == ["cancelled", "cleaned up"]
    assert time.monotonic() - started < 30


async def test_waking_ends_with_its_block() -> None:
    before = asyncio.all_tasks()
    async with waking(0.01):
        assert len(asyncio.all_tasks()) == len(before) + 1
    assert asyncio.all_tasks() == before


async def test_waking_wakes_a_loop_that_has_nothing_else_to_do() -> None:
    loop = asyncio.get_running_loop()
    turns = 0
    run_once: Callable[[], None] = loop._run_once  # type: ignore[attr-defined]

    def counted() -> None:
        nonlocal turns
        turns += 1
        run_once()

    async def quiet(work: Awaitable[None]) -> int:
        nonlocal turns
        turns = 0
        await work
        return turns

    loop._run_once = counted  # type: ignore[attr-defined]
    asleep = await quiet(asyncio.sleep(0.5))
    async with waking(0.02):
        awake = await quiet(asyncio.sleep(0.5))
    assert awake > asleep + 5


def test_a_loop_in_a_thread_gives_outcomes_and_its_close_cancels_the_rest() -> None:
    ended: list[str] = []

    async def wait_long() -> None:
        try:
            await asyncio.sleep(1_000)
        finally:
            ended.append(threading.current_thread().name)

    async def fail() -> None:
        raise ValueError("no")

    loop = LoopThread("a-loop")
    waiting, unwanted = loop.submit(wait_long()), loop.submit(wait_long())
    assert loop.submit(asyncio.sleep(0, "yes")).result() == "yes"
    with pytest.raises(ValueError, match="no"):
        loop.submit(fail()).result()
    unwanted.cancel()
    loop.submit(asyncio.sleep(0)).result()
    loop.close()
    assert ended == ["a-loop"] * 2
    assert waiting.cancelled()
    assert "a-loop" not in [thread.name for thread in threading.enumerate()]
