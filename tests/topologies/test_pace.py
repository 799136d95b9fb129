import asyncio

import pytest

from lcbkit.topologies.agents import AGENT_SECONDS
from lcbkit.topologies.pace import Deadline, Pace
from lcbkit.topologies.rollout import ROLLOUT_SECONDS


async def test_work_beyond_the_agents_limit_times_out() -> None:
    pace = Pace(0.05, Deadline(60), None)
    with pytest.raises(TimeoutError):
        async with pace.limit():
            await asyncio.sleep(30)
    assert pace.expired
    assert pace.worked >= 0.05


async def test_work_beyond_the_rollouts_deadline_times_out() -> None:
    deadline = Deadline(0.05)
    pace = Pace(60, deadline, None)
    with pytest.raises(TimeoutError):
        async with pace.limit():
            await asyncio.sleep(30)
    assert deadline.left() <= 0


async def test_agents_of_one_rollout_share_its_deadline() -> None:
    deadline = Deadline(0.1)
    first, late = Pace(60, deadline, None), Pace(60, deadline, None)
    for pace in (first, late):
        with pytest.raises(TimeoutError):
            async with pace.limit():
                await asyncio.sleep(30)
    assert first.worked >= 0.1 > late.worked


async def test_the_wait_for_a_place_counts_for_neither_limit() -> None:
    gate = asyncio.Semaphore(1)
    deadline = Deadline(0.3)
    pace = Pace(0.3, deadline, gate)
    await gate.acquire()
    asyncio.get_running_loop().call_later(0.6, gate.release)
    async with pace.limit(), pace.place():
        pass
    assert not pace.expired
    assert pace.worked < 0.3
    assert deadline.left() > 0


async def test_a_place_in_use_is_bounded_by_the_limit_and_given_back() -> None:
    gate = asyncio.Semaphore(1)
    pace = Pace(0.05, Deadline(60), gate)
    with pytest.raises(TimeoutError):
        async with pace.limit(), pace.place():
            await asyncio.sleep(30)
    assert not gate.locked()


async def test_the_rollouts_clock_runs_while_one_of_its_agents_works() -> None:
    gate = asyncio.Semaphore(1)
    deadline = Deadline(60)

    async def work() -> None:
        async with Pace(60, deadline, gate).limit():
            await asyncio.sleep(0.3)

    async def wait() -> None:
        pace = Pace(60, deadline, gate)
        async with pace.limit(), pace.place():
            pass

    await gate.acquire()
    asyncio.get_running_loop().call_later(0.4, gate.release)
    await asyncio.gather(work(), wait())
    assert deadline.left() < 60 - 0.25


async def test_a_cancel_is_not_taken_for_a_time_out() -> None:
    gate = asyncio.Semaphore(0)
    pace = Pace(60, Deadline(60), gate)

    async def waiting() -> None:
        async with pace.limit(), pace.place():
            pass

    task = asyncio.create_task(waiting())
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not pace.expired


def test_an_agent_may_work_ten_minutes_and_a_team_half_an_hour_on_a_problem() -> None:
    assert (AGENT_SECONDS, ROLLOUT_SECONDS) == (600, 1_800)
