"""A team on paper as methods see it: who there is, who reads whom, who can be left out."""

from collections.abc import Mapping
from itertools import pairwise

from lcbkit.optimizers.interface import TeamSpec
from lcbkit.topologies.contract import as_sent
from lcbkit.topologies.roles import Plan

__all__ = ["player_of", "team_spec"]

_DUTIES = {
    "solver": "Solves the problem alone and writes the program that is submitted.",
    "coder": "One of several that solve the problem without a word to each other; equal programs are votes.",
    "debater": "One of several peers that solve the problem, read each other's answers, revise, and vote.",
    "manager": "Gives jobs to its workers, reads their reports, and writes the program that is submitted.",
}
_PART = "Plays the part that its name says, {role}, in a team that solves the problem together."
_PROMPT = "(the role's own prompt stands here)"


def team_spec(plan: Plan) -> TeamSpec:
    """What a plan says of its team.

    A plan says who gives jobs to whom, and in which order the roles stand, but not who reads whom. So the
    edges of a team without a manager are those of a line: right for a chain, and only the way forward for a
    team in which a role reads what came of its own text.
    """
    roles = tuple(dict.fromkeys(role.name for role in plan.roles))
    names = [role.name for role in plan.roles]
    terminal = next(role.name for role in plan.roles if role.answers)
    replicas = len(names) if len(roles) == 1 else 1
    edges = _edges(plan, roles)
    manager = next((role.name for role in plan.roles if role.workers), None)
    successor: dict[str, str | None] = dict.fromkeys(roles)
    predecessors: dict[str, tuple[str, ...]] = dict.fromkeys(roles, ())
    for source, target in edges:
        if manager:
            successor[target], predecessors[target] = manager, (manager,)
            predecessors[manager] = (*predecessors[manager], target)
        else:
            successor[source], predecessors[target] = target, (source,)
    return TeamSpec(
        topology=plan.topology,
        team_size=plan.size or 1,
        roles=roles,
        edges=edges,
        terminal=terminal,
        players=tuple(plan.players),
        replicas=replicas,
        successor=successor,
        predecessors=predecessors,
        descriptions=_descriptions(plan, roles),
        contract=as_sent(_PROMPT, answers=True, python_exec=False),
    )


def player_of(role: str, number: int) -> str:
    """What a mask and a transcript call an agent of a team in which some share a role."""
    return f"{role}::{number}"


def _edges(plan: Plan, roles: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    for role in plan.roles:
        if role.workers:
            return tuple((role.name, worker) for worker in role.workers)
    return tuple(pairwise(roles))


def _descriptions(plan: Plan, roles: tuple[str, ...]) -> Mapping[str, str]:
    """A team's own sentence on a role where there is one: those of a chain and of workers."""
    own = {role: plan.texts[role] for role in roles if role in plan.texts}
    return {role: own.get(role) or _DUTIES.get(role) or _PART.format(role=role) for role in roles}
