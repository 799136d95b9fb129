"""Who works in a team: roles, tool budgets and prompts, read from the files beside this one."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from lcbkit.errors import BadValueError

__all__ = ["SIZES", "Plan", "Role", "plan_team", "role_prompts"]

SIZES = (2, 4, 8, 10)
"""How many agents a team may have."""

_SIZELESS = "single"


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """One part in a team.

    Attributes:
        name: also the name of its prompt.
        python_exec: whether it may run code, in a team that has the tool.
        answers: whether its text is the submission.
    """

    name: str
    python_exec: bool = False
    answers: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A team on paper.

    Attributes:
        topology: how it is wired.
        size: how many agents; None for the single agent.
        max_tool_rounds: how often one agent run may go to its tools and back.
        roles: in the order of the agents' numbers.
    """

    topology: str
    size: int | None
    max_tool_rounds: int
    roles: tuple[Role, ...]

    def __post_init__(self) -> None:
        if self.max_tool_rounds < 1 or not self.roles:
            raise ValueError(f"{self.topology}: a plan needs a role and a tool round")
        if not any(role.answers for role in self.roles):
            raise ValueError(f"{self.topology}: no role answers for the team")


def plan_team(topology: str, size: int | None) -> Plan:
    """The plan of a team.

    Args:
        topology: one of the table's.
        size: number of agents; the single agent has none, whatever is given.

    Raises:
        BadValueError: if the topology is not known, or no team has that size.
    """
    table = _table()
    if topology not in table:
        raise BadValueError(f"no topology {topology!r}; there is: {', '.join(table)}")
    if size not in (*SIZES, None) or (size is None and topology != _SIZELESS):
        sizes = ", ".join(map(str, SIZES))
        raise BadValueError(
            f"no team has the size {size!r}; team sizes are {sizes} (the single agent has none)"
        )
    entry = table[topology]
    return Plan(
        topology=topology,
        size=None if topology == _SIZELESS else size,
        max_tool_rounds=entry["max_tool_rounds"],
        roles=tuple(Role(**role) for role in entry["roles"]),
    )


def role_prompts(plan: Plan, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The prompts of a team's roles: the given ones, else the library's.

    Raises:
        BadValueError: if a given prompt is for a role that the team does not have, or is empty or not a text.
    """
    names = list(dict.fromkeys(role.name for role in plan.roles))
    given = given or {}
    for name, text in given.items():
        if name not in names:
            raise BadValueError(
                f"the {plan.topology} team has no role {name!r} to prompt; it has: {', '.join(names)}"
            )
        if not isinstance(text, str) or not text.strip():
            raise BadValueError(f"the prompt of role {name!r} must be a text that is not empty")
    return {name: given.get(name) or _prompt(name) for name in names}


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("lcbkit.topologies").joinpath("teams.toml").read_text("utf-8"))


@cache
def _prompt(role: str) -> str:
    return files("lcbkit.topologies").joinpath("prompts", f"{role}.txt").read_text("utf-8").strip()
