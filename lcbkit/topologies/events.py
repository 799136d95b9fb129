"""What happens while a team works on a problem, as typed events for notebooks and the terminal."""

from dataclasses import dataclass
from typing import TypeAlias

from lcbkit.topologies.answer import AgentRun, TeamAnswer

__all__ = ["AgentFinished", "AgentStarted", "Event", "RolloutFinished", "RolloutStarted", "ToolCalled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutStarted:
    """A team begins a problem."""

    topology: str
    problem_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStarted:
    """An agent begins to work."""

    agent: int
    role: str
    round: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled:
    """An agent used a tool.

    Attributes:
        agent: number of the agent.
        role: its role.
        tool: name of the tool.
        arguments: what the model passed, as JSON text.
        result: what came back, as the model reads it.
    """

    agent: int
    role: str
    tool: str
    arguments: str
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFinished:
    """An agent is done, well or not."""

    run: AgentRun


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutFinished:
    """The team has answered; always the last event."""

    problem_id: str
    answer: TeamAnswer


Event: TypeAlias = RolloutStarted | AgentStarted | ToolCalled | AgentFinished | RolloutFinished
