"""Which program a team submits when the last text may hold none."""

from collections.abc import Sequence

from lcbkit.topologies.answer import AgentRun
from lcbkit.topologies.roles import Plan

__all__ = ["newest_program", "submitted"]


def newest_program(plan: Plan, runs: Sequence[AgentRun]) -> str | None:
    """The newest program of a role whose duty is to write programs.

    Args:
        plan: the team's, which says of each role whether that is its duty.
        runs: in the order of the work.
    """
    writers = {role.name for role in plan.roles if role.programs}
    programs = (run.submission for run in reversed(runs) if run.role in writers)
    return next((program for program in programs if program is not None), None)


def submitted(plan: Plan, runs: Sequence[AgentRun]) -> str | None:
    """The last run's program, or the newest one before it of a role whose duty is to write programs.

    If the endpoint broke off the last run, there is none: what would have been answered is open.

    Args:
        plan: the team's.
        runs: in the order of the work; without any there is no program.
    """
    if not runs or runs[-1].infra:
        return None
    code = runs[-1].submission
    return newest_program(plan, runs) if code is None else code
