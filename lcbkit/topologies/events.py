"""What happens while a team works on a problem, as typed events for notebooks and the terminal."""

from dataclasses import dataclass
from typing import TypeAlias

from lcbkit.topologies.answer import AgentRun, HandoffRecord, TeamAnswer, Votes

__all__ = [
    "AgentFinished",
    "AgentStarted",
    "Event",
    "Handoff",
    "RolloutFinished",
    "RolloutStarted",
    "RoundFinished",
    "ToolCalled",
    "Voted",
]


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
class Handoff:
    """A text goes from one agent to another."""

    record: HandoffRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundFinished:
    """A round of a debate is over.

    Attributes:
        round: its number, from 0.
        programs: how many peers hold a program.
    """

    round: int
    programs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Voted:
    """The team has voted over its programs."""

    votes: Votes


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutFinished:
    """The team has answered; always the last event."""

    problem_id: str
    answer: TeamAnswer


Event: TypeAlias = (
    RolloutStarted
    | AgentStarted
    | ToolCalled
    | AgentFinished
    | Handoff
    | RoundFinished
    | Voted
    | RolloutFinished
)
