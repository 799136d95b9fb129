"""What happens while a team works on a problem, as typed events for notebooks and the terminal.

Printed, an event is a line.
"""

from dataclasses import dataclass
from typing import TypeAlias

from lcbkit.judging.report import Report
from lcbkit.topologies.answer import AgentRun, HandoffRecord, TeamAnswer, Votes

__all__ = [
    "AgentFinished",
    "AgentStarted",
    "Event",
    "Handoff",
    "Judged",
    "RolloutFinished",
    "RolloutStarted",
    "RoundFinished",
    "ToolCalled",
    "Voted",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutStarted:
    """A team begins a problem.

    Attributes:
        topology: of the team.
        problem_id: the problem.
    """

    topology: str
    problem_id: str

    def __str__(self) -> str:
        return f"the {self.topology} team begins {self.problem_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStarted:
    """An agent begins to work.

    Attributes:
        agent: number of the agent.
        role: its role.
        round: of a debate, or turn of a manager.
    """

    agent: int
    role: str
    round: int

    def __str__(self) -> str:
        return f"{_who(self.agent, self.role, self.round)} begins"


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

    def __str__(self) -> str:
        return f"{_who(self.agent, self.role)} calls {self.tool}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFinished:
    """An agent is done, well or not.

    Attributes:
        run: what it was told and wrote, and how it ended.
    """

    run: AgentRun

    def __str__(self) -> str:
        run = self.run
        program = "with a program" if run.code else "without a program"
        tokens = f"{run.usage.total_tokens:,} tokens"
        return f"{_who(run.agent, run.role, run.round)} ends ({run.stop_reason}), {program}, {tokens}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Handoff:
    """A text goes from one agent to another.

    Attributes:
        record: the hand-off.
    """

    record: HandoffRecord

    def __str__(self) -> str:
        record = self.record
        program = ", with a program" if record.has_code else ""
        return f"{record.role} -> {record.target}: {record.chars_out:,} characters{program}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundFinished:
    """A round of a debate is over.

    Attributes:
        round: its number, from 0.
        programs: how many peers hold a program.
    """

    round: int
    programs: int

    def __str__(self) -> str:
        return f"round {self.round} ends; peers with a program: {self.programs}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Voted:
    """The team has voted over its programs.

    Attributes:
        votes: how the vote went.
    """

    votes: Votes

    def __str__(self) -> str:
        if self.votes.winner is None:
            return "vote: nobody has a program"
        groups = ", ".join(map(str, self.votes.sizes))
        return f"vote: groups of equal programs {groups}; agent {self.votes.winner} speaks for the team"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The team's program has its verdict; told only to who asked for it.

    Attributes:
        problem_id: the problem.
        report: the verdicts of its hidden tests.
    """

    problem_id: str
    report: Report


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutFinished:
    """The team has answered; always the last event.

    Attributes:
        problem_id: the problem.
        answer: what the team gives.
    """

    problem_id: str
    answer: TeamAnswer

    def __str__(self) -> str:
        return f"the team ends {self.problem_id}: {self.answer.status}"


Event: TypeAlias = (
    RolloutStarted
    | AgentStarted
    | ToolCalled
    | AgentFinished
    | Handoff
    | RoundFinished
    | Voted
    | Judged
    | RolloutFinished
)
"""What `Team.astream` yields."""


def _who(agent: int, role: str, round: int = 0) -> str:
    return f"agent {agent} ({role})" + (f", round {round}," if round else "")
