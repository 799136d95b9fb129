"""A team's answer as methods read it: who said what, in order (pure functions)."""

from collections.abc import Mapping, Sequence
from typing import Any

from lcbkit.optimizers.interface import Message, TeamSpec
from lcbkit.topologies.answer import AgentRun, TeamAnswer
from lcbkit.topologies.delegation import DELEGATE
from lcbkit.topologies.roles import player_of

__all__ = ["messages_of"]


def messages_of(answer: TeamAnswer, task: str, team: TeamSpec) -> tuple[Message, ...]:
    """What the agents wrote and what their tools returned, after the task.

    System prompts are the bundle's, and what agents read of each other was said by its writer already, so
    neither is repeated.

    Args:
        answer: of the team.
        task: the problem's prompt.
        team: its players tell agents that share a role apart.
    """
    messages = [Message(source="user", content=task)]
    for run in answer.trajectory:
        player = player_of(run.role, run.agent)
        source = player if player in team.players else run.role
        messages += [_message(message, source) for message in _own(run)]
    return tuple(messages)


def _own(run: AgentRun) -> Sequence[Mapping[str, Any]]:
    """What a run adds: all that follows the last text that the agent was given.

    What it was given may begin with a replay of its earlier runs. The reports that a manager gets as results
    of its calls are given to it as well.
    """
    given = [place for place, message in enumerate(run.messages) if message["role"] == "user"]
    return [message for message in run.messages[given[-1] if given else 0 :] if _is_own(message)]


def _is_own(message: Mapping[str, Any]) -> bool:
    if message["role"] == "tool":
        return not str(message["name"]).startswith(DELEGATE)
    return bool(message["role"] == "assistant")


def _message(message: Mapping[str, Any], source: str) -> Message:
    if message["role"] == "tool":
        return Message(source="tool", content=message["content"])
    calls = tuple({"name": call["name"], "arguments": call["args"]} for call in message.get("tool_calls", ()))
    return Message(source=source, content=message["content"], tool_calls=calls)
