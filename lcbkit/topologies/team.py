"""Teams: build one by the name of its topology, look at its wiring, let it solve problems."""

import asyncio
import hashlib
import json
import operator
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, Self, cast

from lcbkit.errors import BadValueError, ModelError
from lcbkit.models import get_model, holds_python_exec, model_name, note_python_exec, sampling
from lcbkit.problems import Problem, check_problem
from lcbkit.prompts import build_prompt
from lcbkit.topologies.answer import AgentRun, TeamAnswer, Usage, Votes
from lcbkit.topologies.contract import CONTRACT_VERSION, as_sent
from lcbkit.topologies.delegation import manager_note
from lcbkit.topologies.events import Event, Judged, RolloutFinished, RolloutStarted
from lcbkit.topologies.messages import Desk
from lcbkit.topologies.reports import format_named
from lcbkit.topologies.roles import Plan, mask_players, plan_team, role_prompts
from lcbkit.waiting import run_sync, waking

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.graph.state import CompiledStateGraph

__all__ = ["AgentRun", "Diagram", "Team", "TeamAnswer", "Usage", "Votes", "build_team"]

_SEEDS_PER_SAMPLE = 1_000


def build_team(
    topology: str,
    *,
    team_size: int | None = 4,
    message_format: str = "freeform",
    model: "str | BaseChatModel | None" = None,
    prompts: Mapping[str, str] | None = None,
    python_exec: bool | None = None,
    rounds: int | None = None,
) -> "Team":
    """Build a team; no model is called.

    Args:
        topology: how the team is wired: `single`, `independent`, `sequential`, `centralized` or
            `decentralized`.
        team_size: how many agents: 2, 4, 8 or 10; the single team has one agent and ignores it.
        message_format: how agents write to each other: `freeform`, `semi_structured` or `structured_soft`.
        model: a chat model, or a name that `get_model` knows; None takes its default.
        prompts: role prompts to use instead of the library's, by role.
        python_exec: whether agents may run code. None takes what the recording holds, for a live model True.
        rounds: of the decentralized team's debate, the first answers included; None means 2.

    Raises:
        BadValueError: if the topology, size, format or a role is unknown, a prompt is empty, `python_exec` is
            neither true, false nor None, or rounds are below one or given to a team that does not debate.
        ModelError: if the model cannot be had, or cannot call tools and the team needs it to.
        RecordingError: if the model records into a file of teams with, or without, `python_exec`.
    """
    format_named(message_format)  # refuses an unknown one before anything is loaded
    if python_exec is not None and not isinstance(python_exec, bool):
        raise BadValueError(f"python_exec is {python_exec!r}; it is True, False or None")
    plan = plan_team(topology, team_size, rounds)
    texts = role_prompts(plan, prompts)
    chat_model = get_model(model)
    if python_exec is None:
        python_exec = holds_python_exec(chat_model) is not False
    note_python_exec(chat_model, python_exec)
    return _assembled(plan, texts, chat_model, message_format=message_format, python_exec=python_exec)


def _assembled(
    plan: Plan, texts: Mapping[str, str], model: "BaseChatModel", *, message_format: str, python_exec: bool
) -> "Team":
    """The team of a plan whose parts have been checked."""
    sent = {
        role.name: as_sent(
            texts[role.name],
            answers=role.answers,
            python_exec=python_exec and role.python_exec,
            notes=[
                format_named(message_format).contract,
                manager_note(plan.workers, plan.texts, by_line=not python_exec) if role.workers else "",
            ],
        )
        for role in plan.roles
    }
    return Team(
        plan=plan,
        message_format=message_format,
        model=model,
        prompts=MappingProxyType(dict(texts)),
        sent_prompts=MappingProxyType(sent),
        python_exec=python_exec,
        graph=_wired(plan, sent, model, python_exec, message_format),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Team:
    """Agents wired together, ready to solve problems; made by `build_team`.

    Attributes:
        plan: its roles and tool budget.
        message_format: how its agents write to each other.
        model: the chat model that all agents ask.
        prompts: the prompt of each role, as `build_team(prompts=...)` takes them.
        sent_prompts: the system prompts as sent: with the output contract and the note on the tool.
        python_exec: whether agents may run code.
        graph: the compiled LangGraph; `graph.invoke({"task": prompt})` gives the team's answer as `result`.
            In a notebook look at the team: the graph's own display asks a web service to draw it.
    """

    plan: Plan
    message_format: str
    model: "BaseChatModel"
    prompts: Mapping[str, str]
    sent_prompts: Mapping[str, str]
    python_exec: bool
    graph: "CompiledStateGraph[Any, Any, Any, Any]"

    @property
    def topology(self) -> str:
        """How the team is wired."""
        return self.plan.topology

    @property
    def team_size(self) -> int | None:
        """How many agents; None for the single team."""
        return self.plan.size

    @property
    def players(self) -> tuple[str, ...]:
        """Whom `without` can leave out: stages, workers, or replicas as `role::number`."""
        return tuple(self.plan.players)

    @property
    def masked(self) -> frozenset[str]:
        """The players that do not act."""
        return self.plan.masked

    def without(self, *players: str) -> "Team":
        """This team with some players masked, to see what each contributes.

        A masked stage is skipped, and if it was the last one, the stage before it answers for the team; of
        replicas and peers the others vote, under their own numbers; a masked worker can be given no job.
        Where everybody is masked, the team abstains without a model call, but for a manager, which works
        alone.

        Args:
            players: who does not act; those that this team leaves out already act again unless named.

        Raises:
            BadValueError: if the team has no such player.
        """
        return _assembled(
            mask_players(self.plan, players),
            self.prompts,
            self.model,
            message_format=self.message_format,
            python_exec=self.python_exec,
        )

    def solve(
        self, problem: Problem, *, seed: int = 0, sample: int = 0, gate: asyncio.Semaphore | None = None
    ) -> TeamAnswer:
        """Let the team solve a problem; works in a script and in a notebook cell.

        Args:
            problem: what to solve. Agents see its statement and starter code, never its tests.
            seed: of agent 0 in sample 0; agent i in sample k asks with `seed + 1000 * k + i`.
            sample: which of several independent answers this is, from 0.
            gate: held around each model call, to bound how many run at once over several problems.

        Returns:
            The answer. What fails on the way is in it, not raised.

        Raises:
            BadValueError: if that is no problem, or a seed or sample no whole number.
            RecordingError: if the model is a recording that does not hold a request.
        """
        return run_sync(lambda: self.asolve(problem, seed=seed, sample=sample, gate=gate))

    async def asolve(
        self, problem: Problem, *, seed: int = 0, sample: int = 0, gate: asyncio.Semaphore | None = None
    ) -> TeamAnswer:
        """`solve` for code that runs in an event loop."""
        events = self.astream(problem, seed=seed, sample=sample, gate=gate)
        async with aclosing(events):
            async for event in events:
                if isinstance(event, RolloutFinished):
                    return event.answer
        raise RuntimeError(f"the {self.topology} graph ended without a result")

    async def astream(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        sample: int = 0,
        gate: asyncio.Semaphore | None = None,
        judged: bool = False,
    ) -> AsyncGenerator[Event, None]:
        """`asolve` as a stream of events: the last one, `RolloutFinished`, holds the answer.

        With `judged`, the answer's program is run on the hidden tests when the team is done, and a `Judged`
        event tells the verdicts.
        """
        from lcbkit.judging.pool import judge
        from lcbkit.topologies.rollout import Rollout

        rollout = Rollout(seed=_first_seed(problem, seed, sample), gate=gate)
        given = {"task": build_prompt(problem), "starter_code": problem.starter_code}
        yield RolloutStarted(topology=self.topology, problem_id=problem.id)
        work = self.graph.astream(given, context=rollout, stream_mode=["custom", "values"])
        # Who leaves early closes this generator, and with it the graph must end before anything else does.
        async with waking(), aclosing(cast("AsyncGenerator[Any, None]", work)) as updates:
            async for kind, value in updates:
                if kind == "custom":
                    yield value
                elif "result" in value:
                    answer = value["result"]
        if judged and answer.code is not None:
            report = await asyncio.to_thread(judge, answer.code, problem)
            yield Judged(problem_id=problem.id, report=report)
        yield RolloutFinished(problem_id=problem.id, answer=answer)

    def describe(self) -> dict[str, Any]:
        """What identifies the team, as plain JSON values; two teams that answer alike describe alike."""
        texts = [dict(self.sent_prompts), *([dict(self.plan.texts)] if self.plan.texts else [])]
        prompts = "".join(json.dumps(part, sort_keys=True, ensure_ascii=False) for part in texts)
        return {
            "topology": self.topology,
            "team_size": self.team_size,
            "rounds": self.plan.rounds,
            "message_format": self.message_format,
            "roles": [role.name for role in self.plan.roles],
            "max_tool_rounds": self.plan.max_tool_rounds if self.python_exec else 0,
            "python_exec": self.python_exec,
            "model": model_name(self.model),
            "sampling": dict(sampling(self.model)),
            "contract_version": CONTRACT_VERSION,
            "prompts_sha256": hashlib.sha256(prompts.encode()).hexdigest(),
            **({"masked": sorted(self.masked)} if self.masked else {}),
        }

    def show(self) -> "Diagram":
        """The team's wiring, drawn where JupyterLab shows it; its `mermaid` is the drawing's source."""
        from langchain_core.runnables.graph import NodeStyles

        drawn = self.graph.get_graph().draw_mermaid(node_colors=NodeStyles(**_NODES))
        return Diagram(title=repr(self), mermaid=f"{_in_one_row(drawn)}\t{_LINES}\n")

    def __copy__(self) -> Self:
        return self  # nothing in a team changes

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} holds a live model and cannot be sent to another process or stored; build it there "
            "with build_team(...), from a model's name"
        )

    def __repr__(self) -> str:
        size = "" if self.team_size is None else f", team_size={self.team_size}"
        size += "" if self.plan.rounds is None else f", rounds={self.plan.rounds}"
        size += f", without {', '.join(sorted(self.masked))}" if self.masked else ""
        return (
            f"Team({self.topology!r}{size}, message_format={self.message_format!r}, "
            f"model={model_name(self.model)!r}, python_exec={self.python_exec})"
        )

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, str]:
        return self.show()._repr_mimebundle_()


# Letters with their paper, and lines of a middle grey: a drawing stays as it was when the theme changes.
_NODES = {
    name: f"fill:{paper},color:#1a1a1a,stroke:#8672d8,line-height:1.2"
    for name, paper in (("default", "#f2f0ff"), ("first", "#ffffff"), ("last", "#bfb6fc"))
}
_LINES = "linkStyle default stroke:#8a8a8a"
_ARROW = re.compile(r"^\t(\w+) -\.?-> (\w+);\n", re.MULTILINE)


def _in_one_row(drawn: str) -> str:
    """The drawing with an arrow of two heads for what goes to and fro between peers and another node.

    Of two arrows Mermaid makes a circle, which it cuts behind the first peer: all others would stand below.
    """
    edges = set(_ARROW.findall(drawn))
    peers = {target for source, target in edges if source == "__start__"}
    if len(peers) < 2:
        return drawn

    def joined(arrow: re.Match[str]) -> str:
        source, target = arrow.groups()
        if (target, source) not in edges or (source in peers) == (target in peers):
            return arrow[0]
        return f"\t{source} <-.-> {target};\n" if source in peers else ""

    return _ARROW.sub(joined, drawn)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Diagram:
    """A drawing of a graph that JupyterLab renders by itself, without network.

    Attributes:
        title: a line that stands over the source where nothing can be drawn.
        mermaid: the source, as Mermaid takes it.
    """

    title: str
    mermaid: str

    def __repr__(self) -> str:
        return f"{self.title}\n\n{self.mermaid}"

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, str]:
        return {"text/vnd.mermaid": self.mermaid, "text/plain": repr(self)}


def _first_seed(problem: Problem, seed: int, sample: int) -> int:
    """The seed of agent 0, after a look at what a caller gave."""
    check_problem(problem, "a team solves")
    for name, number in (("seed", seed), ("sample", sample)):
        if not hasattr(number, "__index__"):
            raise BadValueError(f"{name} is {number!r}; it must be a whole number")
    return operator.index(seed) + _SEEDS_PER_SAMPLE * operator.index(sample)


def _wired(
    plan: Plan, sent: Mapping[str, str], model: "BaseChatModel", python_exec: bool, message_format: str
) -> "CompiledStateGraph[Any, Any, Any, Any]":
    """The graph of a plan; LangGraph is loaded here, when the first team is built."""
    from lcbkit.topologies.agents import Agent
    from lcbkit.topologies.rollout import abstaining
    from lcbkit.topologies.turns import delegate_tools

    if not plan.active:
        return abstaining(plan.topology)
    try:
        agents = {
            role.name: Agent(
                role=role.name,
                prompt=sent[role.name],
                model=model,
                python_exec=python_exec and role.python_exec,
                max_tool_rounds=plan.max_tool_rounds,
                delegates=delegate_tools(plan.workers, plan.texts) if python_exec and role.workers else None,
            )
            for role in {role.name: role for _, role in plan.active}.values()
        }
    except NotImplementedError as error:
        raise ModelError(
            f"{model_name(model)} cannot call tools: build the team with python_exec=False "
            "(on the command line --no-python-exec)"
        ) from error
    desk = Desk(topology=plan.topology, message_format=message_format)
    graph: CompiledStateGraph[Any, Any, Any, Any] = import_module(
        f"lcbkit.topologies.{plan.topology}"
    ).build_graph(plan, agents, desk)
    return graph
