"""What a team gives for one problem: its program, everything its agents wrote, and what that cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from lcbkit.display.answer import answer_html
from lcbkit.records import count_of

__all__ = ["AgentRun", "HandoffRecord", "TeamAnswer", "Usage", "Votes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What model calls cost; two usages add up.

    Attributes:
        prompt_tokens: tokens sent, cached ones included.
        completion_tokens: tokens written, reasoning included.
        reasoning_tokens: the part of `completion_tokens` that was reasoning, where the endpoint says so.
        cached_tokens: the part of `prompt_tokens` that the endpoint took from its cache.
        n_llm_calls: model calls that were made; retries after a failed connection are part of their call.
        n_tool_calls: tool calls that the model asked for, refused ones included.
        calls_without_usage: model calls that reported no tokens, failed ones among them.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    n_llm_calls: int = 0
    n_tool_calls: int = 0
    calls_without_usage: int = 0

    @property
    def total_tokens(self) -> int:
        """Tokens sent and written."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(**{name: count + getattr(other, name) for name, count in _values(self).items()})

    @classmethod
    def of_call(cls, metadata: Mapping[str, Any] | None) -> "Usage":
        """The usage of one model call.

        Args:
            metadata: LangChain's `usage_metadata` of the answer; None or empty if there was none. Zeros are
                none either: no call costs nothing. Nor is what is no count: no record could hold it.
        """
        told = metadata or {}
        sent, written = count_of(told.get("input_tokens")) or 0, count_of(told.get("output_tokens")) or 0
        if not (sent or written):
            return cls(n_llm_calls=1, calls_without_usage=1)
        return cls(
            prompt_tokens=sent,
            completion_tokens=written,
            reasoning_tokens=count_of((told.get("output_token_details") or {}).get("reasoning")) or 0,
            cached_tokens=count_of((told.get("input_token_details") or {}).get("cache_read")) or 0,
            n_llm_calls=1,
        )

    def to_dict(self) -> dict[str, int]:
        """The counts as plain JSON values, `total_tokens` included."""
        return {**_values(self), "total_tokens": self.total_tokens}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """One agent at work once: what it was sent, what it wrote, and how it ended.

    Attributes:
        agent: its number in the team, from 0.
        role: its role.
        round: the round of a debate or the turn of a manager, from 0.
        seed: sent with each of its model calls.
        text: its last text without reasoning.
        code: the program of its last message that holds one.
        stop_reason: `end`, `recursion_limit` (out of tool rounds), `timeout`, `empty` (no text, twice),
            `truncated` (cut at the token limit) or `error`.
        error: what failed, as `Type: message`.
        infra: whether the failure was the infrastructure's: it says nothing about the team.
        usage: what its model calls cost.
        latency_s: seconds from start to end, without the wait for a place at the endpoint.
        messages: the whole conversation as plain JSON values, system prompt first; lengths of reasoning
            instead of reasoning. Of a manager's later turns only what is new: what it was told since, and
            its own.
    """

    agent: int
    role: str
    round: int
    seed: int
    text: str
    code: str | None
    stop_reason: str
    error: str | None
    infra: bool
    usage: Usage
    latency_s: float
    messages: tuple[dict[str, Any], ...]

    @property
    def submission(self) -> str | None:
        """The program, unless the endpoint broke the agent off: a later attempt decides, not the draft."""
        return None if self.infra else self.code

    def to_dict(self) -> dict[str, Any]:
        """The run as plain JSON values."""
        return {**_values(self), "usage": self.usage.to_dict(), "messages": list(self.messages)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """How a vote over programs went.

    Attributes:
        winner: number of the agent whose program is submitted; None if nobody had one.
        sizes: how many agents stood behind each distinct program, the winner's first.
    """

    winner: int | None
    sizes: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """The vote as plain JSON values."""
        return {"winner": self.winner, "sizes": list(self.sizes)}


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffRecord:
    """One text on its way from one agent to another.

    Attributes:
        role: who wrote it: a role, or a peer of a debate.
        target: who reads it.
        round: the round or turn in which it was written.
        format: the message format.
        ok: whether the text was a report of that format as it was written.
        errors: what was wrong with it.
        rendered_ok: whether the text as it was handed over is one.
        chars_in: length of the text as written, without reasoning.
        chars_out: length as handed over.
        has_code: whether it carries a program.
        raw_excerpt: the beginning of the text as written.
        rendered_excerpt: the beginning as handed over.
    """

    role: str
    target: str
    round: int
    format: str
    ok: bool
    errors: tuple[str, ...]
    rendered_ok: bool
    chars_in: int
    chars_out: int
    has_code: bool
    raw_excerpt: str
    rendered_excerpt: str

    def to_dict(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        return {**_values(self), "errors": list(self.errors)}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TeamAnswer:
    """What a team gives for one problem.

    Attributes:
        code: the program to submit, or None.
        raw: the text of the agent that answers for the team, without reasoning.
        trajectory: all agent runs in the order of the work; those side by side in the order of their numbers.
        usage: the sum over the trajectory.
        votes: how the team voted, None if it does not vote.
        handoffs: what agents read of each other, in that order.
        communication: how well the team kept to its message format, as plain JSON values; None if unknown.
    """

    code: str | None
    raw: str
    trajectory: tuple[AgentRun, ...]
    usage: Usage
    votes: Votes | None
    handoffs: tuple[HandoffRecord, ...] = ()
    communication: Mapping[str, Any] | None = None

    @classmethod
    def of(
        cls,
        *,
        code: str | None,
        raw: str,
        trajectory: Sequence[AgentRun],
        votes: Votes | None = None,
        handoffs: Sequence[HandoffRecord] = (),
        communication: Mapping[str, Any] | None = None,
    ) -> "TeamAnswer":
        """An answer whose usage is the sum over its trajectory."""
        return cls(
            code=code,
            raw=raw,
            trajectory=tuple(trajectory),
            usage=sum((run.usage for run in trajectory), Usage()),
            votes=votes,
            handoffs=tuple(handoffs),
            communication=communication,
        )

    @property
    def status(self) -> str:
        """`ok` with a program; without one `infra_error`, `agent_error` or `no_code`, the gravest that fits.

        A team that answers in spite of a failed agent is `ok`; without a program, a failed endpoint leaves
        open what the team would have answered.
        """
        if self.code is not None:
            return "ok"
        if any(run.infra for run in self.trajectory):
            return "infra_error"
        return "agent_error" if any(run.error for run in self.trajectory) else "no_code"

    @property
    def stop_reason(self) -> str:
        """How the agent that answers for the team ended: the vote's winner, else the last one.

        `masked` if the team has no agent that acts.
        """
        return self._speaker.stop_reason if self._speaker else "masked"

    @property
    def error(self) -> str | None:
        """What failed in the agent that answers for the team; without a program, the first failure of any."""
        failures = [run.error for run in self.trajectory if run.error]
        if failures and self.code is None:
            return failures[0]
        return self._speaker.error if self._speaker else None

    @property
    def winner(self) -> int | None:
        """Number of the agent that won the vote, if there was one."""
        return self.votes.winner if self.votes else None

    @property
    def _speaker(self) -> AgentRun | None:
        """The agent that answers; none in a team whose players are all masked."""
        runs = [run for run in self.trajectory if self.winner in (None, run.agent)]
        return runs[-1] if runs else None

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain JSON values."""
        return {
            "code": self.code,
            "raw": self.raw,
            "status": self.status,
            "stop_reason": self.stop_reason,
            "error": self.error,
            "trajectory": [run.to_dict() for run in self.trajectory],
            "usage": self.usage.to_dict(),
            "votes": self.votes and self.votes.to_dict(),
            "handoffs": [record.to_dict() for record in self.handoffs],
            "communication": self.communication and dict(self.communication),
        }

    def __repr__(self) -> str:
        return f"<TeamAnswer {self._headline()}>"

    def __str__(self) -> str:
        lines = [self._headline(), *(_line(run) for run in self.trajectory)]
        if self.votes:
            groups = ", ".join(map(str, self.votes.sizes)) or "none"
            lines.append(f"  vote: groups of equal programs {groups}; winner {self.votes.winner}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return answer_html(self.to_dict())

    def _headline(self) -> str:
        lines = len(self.code.splitlines()) if self.code else 0
        program = f"a program of {lines} line{'s' * (lines != 1)}" if self.code else "no program"
        calls, tokens = self.usage.n_llm_calls, self.usage.total_tokens
        return f"{self.status}: {program}; {calls} model call{'s' * (calls != 1)}, {tokens:,} tokens"


def _line(run: AgentRun) -> str:
    wrote = "program" if run.code else "no program"
    who = f"{run.agent} {run.role}" + (f", round {run.round}" if run.round else "")
    return f"  {who:<32}{run.stop_reason:<16}{wrote:<12}{run.usage.total_tokens:>8,} tokens"


def _values(record: Any) -> dict[str, Any]:
    """The fields of a record; unlike `asdict` it copies no conversations, which are plain values anyway."""
    return {field.name: getattr(record, field.name) for field in fields(record)}
