"""Who works in a team: roles, tool budgets and prompts, read from the files beside this one."""

import operator
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from lcbkit.errors import BadValueError

__all__ = [
    "SIZELESS",
    "SIZES",
    "TOPOLOGIES",
    "WITH_ROUNDS",
    "Plan",
    "Role",
    "mask_players",
    "plan_team",
    "player_of",
    "role_of",
    "role_prompts",
]

SIZES = (2, 4, 8, 10)
"""How many agents a team may have."""

_table: Mapping[str, Any] = tomllib.loads(
    files("lcbkit.topologies").joinpath("teams.toml").read_text("utf-8")
)

TOPOLOGIES = tuple(_table)
"""The ways in which teams are wired, in the order in which they are listed."""

SIZELESS = tuple(name for name, entry in _table.items() if "roles" in entry)
"""Those whose roles are fixed, so that there is no size to choose."""

WITH_ROUNDS = tuple(name for name, entry in _table.items() if "rounds" in entry)
"""Those whose agents work in rounds, of which there can be more or fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """One part in a team.

    Attributes:
        name: of the role.
        prompt: name of its prompt's file; empty if that is the role's own.
        duty: what it is there for, in a sentence, where the team's texts do not say it under its name.
        python_exec: whether it may run code, in a team that has the tool.
        answers: whether its text is the submission.
        programs: whether its duty is to write whole programs, so that one of its own may stand in for a
            submission that is missing. A tester's code, say, is none.
        workers: the roles to which it can give jobs.
    """

    name: str
    prompt: str = ""
    duty: str = ""
    python_exec: bool = False
    answers: bool = False
    programs: bool = False
    workers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A team on paper.

    Attributes:
        topology: how it is wired.
        size: how many agents; None where the topology has no sizes.
        max_tool_rounds: how often one agent run may go to its tools and back.
        roles: in the order of the agents' numbers.
        rounds: of a debate; None without one.
        max_turns: how many turns a manager and its workers have together; None without a manager.
        texts: fixed sentences that agents read beside their prompts and the task, by their names.
        masked: the players that do not act.
    """

    topology: str
    size: int | None
    max_tool_rounds: int
    roles: tuple[Role, ...]
    rounds: int | None = None
    max_turns: int | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    masked: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.max_tool_rounds < 1 or not self.roles:
            raise ValueError(f"{self.topology}: a plan needs a role and a tool round")
        if self.size not in (None, len(self.roles)):
            raise ValueError(f"{self.topology}: {len(self.roles)} roles for a team of {self.size}")
        if not any(role.answers for role in self.roles):
            raise ValueError(f"{self.topology}: no role answers for the team")

    @property
    def players(self) -> dict[str, int]:
        """The agents that the team can be tried without, by the name of each with its number.

        Where agents share a role, each is `role::number`, one with a role of its own too. A manager is no
        player: without it there is no team; nor is an agent that works alone.
        """
        if len(self.roles) == 1:
            return {}
        names = [role.name for role in self.roles]
        if len(set(names)) < len(names):
            names = [player_of(name, number) for number, name in enumerate(names)]
        return {names[number]: number for number, role in enumerate(self.roles) if not role.workers}

    @property
    def active(self) -> list[tuple[int, Role]]:
        """The agents that act, by their numbers; masking leaves a number to its agent."""
        out = {self.players[name] for name in self.masked}
        return [(number, role) for number, role in enumerate(self.roles) if number not in out]

    @property
    def manager(self) -> Role | None:
        """The role that gives jobs to others, None in a team without one."""
        return next((role for role in self.roles if role.workers), None)

    @property
    def workers(self) -> tuple[str, ...]:
        """The roles to which the manager can give jobs: those of which somebody acts."""
        acting = {role.name for _, role in self.active}
        return tuple(name for name in self.manager.workers if name in acting) if self.manager else ()


def player_of(role: str, number: int) -> str:
    """What an agent is called in a team in which some share a role."""
    return f"{role}::{number}"


def role_of(player: str) -> str:
    """The role of a player: its name without a number."""
    return player.partition("::")[0]


def plan_team(topology: str, size: int | None, rounds: int | None = None) -> Plan:
    """The plan of a team.

    Args:
        topology: one of the table's.
        size: number of agents; a topology without sizes has none, whatever is given.
        rounds: of a debate, the first one included; None takes the table's.

    Raises:
        BadValueError: if the topology is not known, no team has that size, or rounds are given to a team
            without a debate or are fewer than one.
    """
    if not isinstance(topology, str) or topology not in _table:
        raise BadValueError(f"no topology {topology!r}; there is: {', '.join(TOPOLOGIES)}")
    if size is not None or topology not in SIZELESS:
        size = _known_size(size)
    entry = _table[topology]
    return Plan(
        topology=topology,
        size=None if topology in SIZELESS else size,
        max_tool_rounds=entry["max_tool_rounds"],
        roles=_roles(entry, size),
        rounds=_rounds(topology, entry.get("rounds"), rounds),
        max_turns=entry["max_turns"][str(size)] if "max_turns" in entry else None,
        texts={name: text.strip() for name, text in entry.get("texts", {}).items()},
    )


def _known_size(size: Any) -> int:
    try:
        number = operator.index(size)  # whole numbers of numpy too
    except TypeError:
        number = 0
    if number not in SIZES:
        sizes = ", ".join(map(str, SIZES))
        raise BadValueError(
            f"no team has the size {size!r}; team sizes are {sizes} (the single agent has none)"
        )
    return number


def mask_players(plan: Plan, players: Collection[str]) -> Plan:
    """The plan with some players who do not act, instead of those that did not before.

    Raises:
        BadValueError: if the team has no such player.
    """
    for name in sorted(players):
        if name not in plan.players:
            there = ", ".join(plan.players) or "none"
            raise BadValueError(f"the {plan.topology} team has no player {name!r}; it has: {there}")
    masked = replace(plan, masked=frozenset(players))
    return replace(masked, texts={**plan.texts, **_texts_without(masked)})


def _texts_without(plan: Plan) -> dict[str, str]:
    """What a manager reads otherwise when the worker that its opening names, or every worker, is masked."""
    if plan.manager is None:
        return {}
    if not plan.workers:
        nudge = "Your reply held no program. Write the final program in one fenced python block."
        return {"opening": "", "nudge": nudge}
    opening = plan.texts.get("opening", "")
    named = next((word for word in re.findall(r"\w+", opening) if word in plan.manager.workers), None)
    if named is None or named in plan.workers:
        return {}
    begin, _, _ = opening.partition(named)
    return {"opening": f"{begin}{plan.workers[0]}: <what it must do, and what to mind>"}


def _roles(entry: Mapping[str, Any], size: int | None) -> tuple[Role, ...]:
    if "replicated" in entry:
        return (Role(**entry["replicated"]),) * (size or 1)
    if "stages" in entry:
        stages = [Role(name=name, **entry["stages"][name]) for name in entry["sizes"][str(size)]]
        last = stages[-1]
        if not any(role.answers for role in stages):
            stages = [replace(role, answers=role == last) for role in stages]
        return tuple(stages)
    if "manager" in entry:
        workers = [Role(name=name, **entry["workers"][name]) for name in entry["sizes"][str(size)]]
        names = tuple(dict.fromkeys(role.name for role in workers))
        return (Role(workers=names, **entry["manager"]), *workers)
    return tuple(Role(**role) for role in entry["roles"])


def _rounds(topology: str, usual: int | None, given: int | None) -> int | None:
    if given is None:
        return usual
    if usual is None:
        raise BadValueError(f"the {topology} team has no rounds; leave rounds out (--rounds)")
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise BadValueError(f"rounds is {given!r}; a debate has a whole number of rounds, at least 1")
    return given


def role_prompts(plan: Plan, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The prompts of a team's roles: the given ones, else the library's.

    Raises:
        BadValueError: if a given prompt is for a role that the team does not have, or is empty or not a text.
    """
    own = {role.name: role.prompt or role.name for role in plan.roles}
    names = list(own)
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise BadValueError(
            f"prompts is a {type(given).__name__}; it must map roles, such as {names[0]}, to texts"
        )
    for name, text in given.items():
        if name not in names:
            raise BadValueError(
                f"the {plan.topology} team has no role {name!r} to prompt; it has: {', '.join(names)}"
            )
        if not isinstance(text, str) or not text.strip():
            raise BadValueError(f"the prompt of role {name!r} must be a text that is not empty")
    return {name: given.get(name) or _prompt(own[name]) for name in names}


@cache
def _prompt(name: str) -> str:
    return files("lcbkit.topologies").joinpath("prompts", f"{name}.txt").read_text("utf-8").strip()
