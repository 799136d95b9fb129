"""One instance: a team on one problem, and the record of how it went."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from lcbkit.errors import LcbkitError
from lcbkit.problems import Problem
from lcbkit.records import Record
from lcbkit.runs.instances import failed_record, new_record, solved_record
from lcbkit.topologies.team import Team

__all__ = ["Gate", "roll_out"]

Gate = asyncio.Semaphore


async def roll_out(
    team: Team, problem: Problem, sample: int, *, settings: Mapping[str, Any], gate: Gate
) -> tuple[Record, dict[str, Any] | None]:
    """Let a team solve a problem.

    Args:
        team: who.
        problem: what; its hidden tests are not looked at.
        sample: which of several independent answers this is.
        settings: of the run.
        gate: held around each model call.

    Returns:
        The record without a verdict, and the texts of the team's work; None if it raised.

    Raises:
        LcbkitError: for wrong use or a missing thing, which the next instance would meet as well.
    """
    record = new_record(problem, sample, settings)
    started = time.perf_counter()
    try:
        answer = await team.asolve(problem, seed=settings["seed"], sample=sample, gate=gate)
    except LcbkitError:
        raise
    except Exception as error:  # noqa: BLE001 - it goes into this instance's record
        return failed_record(record, error, time.perf_counter() - started), None
    record = solved_record(record, answer, time.perf_counter() - started)
    return record, {"id": problem.id, "sample": sample, **answer.to_dict()}
