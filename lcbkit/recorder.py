"""Make the shipped recordings: a live model's answers to everything that works offline."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcbkit.chat.recording import Recording
from lcbkit.dataset import demo_problems, load_problems
from lcbkit.errors import ModelError
from lcbkit.models import RecordingModel, get_model
from lcbkit.problems import Problem
from lcbkit.storage import shipped_folder
from lcbkit.topologies.team import Team, build_team
from lcbkit.waiting import run_sync

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["SHIPPED", "ShippedTeam", "record_shipped"]

MAX_TOKENS = 1_024  # of one answer: enough for these problems, and the files stay small


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedTeam:
    """A team whose answers are shipped.

    Attributes:
        topology: how it is wired.
        team_size: how many agents; None for the single team.
        message_format: how they write to each other.
        only: the problems it is recorded on; empty: the whole sample and the built-in ones.
    """

    topology: str
    team_size: int | None = None
    message_format: str = "freeform"
    only: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """The name of its recording."""
        size = "" if self.team_size is None else f"-r{self.team_size}"
        return f"{self.topology}{size}-{self.message_format}.jsonl"


# Both modes and all three platforms, within reach of a small model.
_FEW = ("lkc1_A", "lka2_a", "lka3_b", "lk104")

SHIPPED = (
    ShippedTeam(topology="single"),
    ShippedTeam(topology="independent", team_size=4),
    ShippedTeam(topology="sequential", team_size=4),
    ShippedTeam(topology="centralized", team_size=4),
    ShippedTeam(topology="decentralized", team_size=4),
    ShippedTeam(topology="independent", team_size=2),
    *(ShippedTeam(topology="independent", team_size=size, only=_FEW) for size in (8, 10)),
    ShippedTeam(topology="sequential", team_size=2, only=_FEW),
    *(
        ShippedTeam(topology="sequential", team_size=4, message_format=form, only=_FEW)
        for form in ("semi_structured", "structured_soft")
    ),
)
"""The teams that `recorded` can replay, and the problems that it can replay them on."""


def record_shipped(
    *,
    model: "str | BaseChatModel | None" = None,
    base_url: str | None = None,
    missing: bool = False,
    python_exec: bool = False,
    concurrency: int = 1,
    folder: Path | None = None,
    teams: Sequence[ShippedTeam] = SHIPPED,
    progress: bool = True,
    **params: Any,
) -> int:
    """Ask a live model everything that the sample, the built-in problems and the notebooks need.

    What was recorded before is replaced when everything is answered. A call that ends early keeps its
    answers in files named `*.new`, and the same call goes on with them.

    Args:
        model: a live model, by name or as an object, None: `MODEL_ID`; all recordings must be of one model.
        base_url: as in `get_model`.
        missing: keep the answers that are there and ask only for the others (a prompt was edited).
        python_exec: whether the teams may run code; only for models that can call tools.
        concurrency: model calls in flight.
        folder: where the recordings lie; None: where they are shipped from.
        teams: whose answers; all that are shipped unless given.
        progress: show a bar on standard error.
        **params: sampling values; `max_tokens` is 1,024 unless given.

    Returns:
        How many answers are new. Answers that no request needs any more are dropped.

    Raises:
        ModelError: when the model's server fails or an agent runs out of time; what was answered is kept.
        RecordingError: when the recordings are of another model, or cannot be written.
    """
    folder = folder or shipped_folder("recordings")
    params.setdefault("max_tokens", MAX_TOKENS)
    everything = [*demo_problems(), *load_problems("sample")]
    made: list[Recording] = []
    if missing:
        made = [Recording.read([path]) for path in sorted(folder.glob("*.jsonl"))]
    new = 0
    for shipped in teams:
        final = folder / shipped.file
        working = final if missing else final.with_suffix(".new")
        chat = get_model(model, base_url=base_url, record=working, **params)
        assert isinstance(chat, RecordingModel)
        for other in made:  # teams of several sizes ask some questions alike
            chat.recording.borrow(other)
        before = len(chat.recording)
        team = build_team(
            shipped.topology,
            team_size=shipped.team_size,
            message_format=shipped.message_format,
            model=chat,
            python_exec=python_exec,
        )
        problems = [problem for problem in everything if not shipped.only or problem.id in shipped.only]
        _ask(team, problems, concurrency, progress)
        new += len(chat.recording) - before
        chat.recording.write(working, only=chat.recording.used)
        made.append(chat.recording)
    for working in () if missing else [folder / shipped.file for shipped in teams]:
        working.with_suffix(".new").replace(working)
    return new


def _ask(team: Team, problems: Sequence[Problem], concurrency: int, progress: bool) -> None:
    from tqdm import tqdm

    async def all_of_them() -> None:
        gate = asyncio.Semaphore(concurrency)
        with tqdm(total=len(problems), desc=team.topology, disable=not progress) as bar:

            async def one(problem: Problem) -> None:
                answer = await team.asolve(problem, gate=gate)
                # A replay neither fails nor is late: it would ask on where an agent broke off.
                for run in answer.trajectory:
                    if run.stop_reason in ("timeout", "error"):
                        why = run.error or "it ran out of time"
                        raise ModelError(
                            f"the {run.role} broke off on {problem.id} ({why}); see that the server answers, "
                            "then run the same command, which goes on from here"
                        )
                bar.update()

            async with asyncio.TaskGroup() as group:
                for problem in problems:
                    group.create_task(one(problem))

    try:
        run_sync(all_of_them)
    except* ModelError as errors:
        raise errors.exceptions[0] from None
