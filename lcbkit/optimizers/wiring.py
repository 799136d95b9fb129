"""A team on paper as methods see it: who there is, who reads whom, who can be left out."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from lcbkit.optimizers.interface import TeamSpec
from lcbkit.topologies.contract import as_sent
from lcbkit.topologies.roles import SIZELESS, Plan, plan_team

__all__ = ["TeamShape", "team_spec"]

_PART = "Plays the part that its name says, {role}, in a team that solves the problem together."
_PROMPT = "(the role's own prompt stands here)"


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamShape:
    """What of a team an optimizer cannot change; as in `build_team`, but that a single agent has size 1."""

    topology: str
    team_size: int
    message_format: str = "freeform"
    python_exec: bool = True
    rounds: int | None = None

    @property
    def chosen_size(self) -> int | None:
        """The size as `build_team` takes it: None where there is none to choose."""
        return None if self.topology in SIZELESS else self.team_size

    @property
    def plan(self) -> Plan:
        """The team on paper."""
        return plan_team(self.topology, self.chosen_size, self.rounds)


def team_spec(plan: Plan) -> TeamSpec:
    """What a plan says of its team.

    A plan says who gives jobs to whom, and in which order the roles stand, but not who reads whom. So the
    edges of a team without a manager are those of a line that ends with the answering role: right for a
    chain, and only the way forward for a team in which a role reads what came of its own text.
    """
    roles = tuple(dict.fromkeys(role.name for role in plan.roles))
    terminal = next(role.name for role in plan.roles if role.answers)
    manager = plan.manager.name if plan.manager else None
    replicas = len(plan.roles) if len(roles) == 1 else 1
    edges = _edges(plan, roles, terminal)
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
        team_size=len(plan.roles),
        roles=roles,
        edges=edges,
        terminal=terminal,
        manager=manager,
        players=tuple(plan.players),
        replicas=replicas,
        debates=replicas > 1 and plan.rounds is not None,
        successor=successor,
        predecessors=predecessors,
        descriptions=_descriptions(plan),
        contract=as_sent(_PROMPT, answers=True, python_exec=False),
    )


def _edges(plan: Plan, roles: tuple[str, ...], terminal: str) -> tuple[tuple[str, str], ...]:
    if plan.manager:
        return tuple((plan.manager.name, worker) for worker in plan.manager.workers)
    return tuple(pairwise([*(role for role in roles if role != terminal), terminal]))


def _descriptions(plan: Plan) -> Mapping[str, str]:
    """A team's own sentence on a role: the one that an agent reads, or the one for us."""
    return {
        role.name: plan.texts.get(role.name) or role.duty or _PART.format(role=role.name)
        for role in plan.roles
    }
