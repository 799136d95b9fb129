"""Many teams on the same problems: each an ordinary run folder inside one, and a table of them all."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from lcbkit.display.bar import Bar, listening
from lcbkit.errors import BadValueError, LcbkitError, NothingToDoError
from lcbkit.evaluation import evaluate
from lcbkit.models import get_model, model_name
from lcbkit.problems import Problem
from lcbkit.results import Run
from lcbkit.runs.config import plain_name
from lcbkit.runs.judges import check_judges
from lcbkit.runs.progress import InstanceFinished, RunEvent, RunFinished, RunStarted
from lcbkit.scoring.costs import Prices, PriceSource
from lcbkit.sweeps.folder import Cell, Sweep, load_sweep, note_cells, write_tables
from lcbkit.topologies.roles import SIZELESS, TOPOLOGIES, WITH_ROUNDS
from lcbkit.topologies.team import Team, build_team

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["CellFinished", "CellStarted", "SweepEvent", "sweep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellStarted:
    """A cell begins; what its run tells follows.

    Attributes:
        cell: which.
        number: its place, from 1.
        cells: how many there are.
        total: instances of the whole sweep.
    """

    cell: Cell
    number: int
    cells: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFinished:
    """A cell ends: with its run, or with the sentence that says why it has none."""

    cell: Cell
    run: Run | None
    error: str | None


SweepEvent: TypeAlias = CellStarted | CellFinished | RunEvent
Progress: TypeAlias = bool | Callable[[SweepEvent], str | None]


def sweep(
    problems: Sequence[Problem],
    *,
    topologies: Iterable[str] = TOPOLOGIES,
    team_sizes: Iterable[int] = (4,),
    message_formats: Iterable[str] = ("freeform",),
    model: "str | BaseChatModel | None" = None,
    python_exec: bool | None = None,
    rounds: int | None = None,
    out_dir: str | Path | None = None,
    prices: PriceSource | None = None,
    progress: Progress = True,
    **options: Any,
) -> Sweep:
    """Run every topology with every size and message format on the same problems; the same call resumes.

    Each cell is an ordinary run folder inside `out_dir`, beside `sweep.json` and the table as `table.csv` and
    `table.md`. What is finished is not run again, so cells can also be added to a sweep. A cell that cannot
    run, say since a recording lacks its answers, does not keep the others from it.

    Args:
        problems: from `load_problems`.
        topologies: as in `build_team`.
        team_sizes: as in `build_team`; the single team is one cell whatever they are.
        message_formats: as in `build_team`.
        model: the chat model of all teams, or a name that `get_model` knows.
        python_exec: as in `build_team`.
        rounds: of the decentralized teams.
        out_dir: the sweep's folder; None makes one below `runs/`, named by dataset and model.
        prices: as in `Run.cost`; the tables then have columns of money.
        progress: True for one bar on standard error; a function gets each event and may return "stop".
        **options: what else `evaluate` takes: samples, seed, concurrency, time_limit, tests and so on.

    Raises:
        NothingToDoError: no problems, or no cell.
        BadValueError: an unknown topology, size or format, a bad option, rounds without a team that has them,
            or prices that lack the model.
        EngineError: a cluster that cannot be started.
        RunFolderError: the folder holds a run, or cannot be written.
        KeyboardInterrupt: on Ctrl-C; finished instances and the tables are saved.
    """
    topologies, chat_model = tuple(topologies), get_model(model)
    if rounds is not None and not {*topologies} & {*WITH_ROUNDS}:
        raise BadValueError(
            f"rounds are those of the {' or '.join(WITH_ROUNDS)} team, which this sweep does not have"
        )
    if prices is not None:
        prices = Prices.of(prices)
        prices.price(model_name(chat_model))  # a missing one is told before anything is asked
    teams = {
        cell: build_team(
            cell.topology,
            team_size=cell.team_size,
            message_format=cell.message_format,
            model=chat_model,
            python_exec=python_exec,
            rounds=rounds if cell.topology in WITH_ROUNDS else None,
        )
        for cell in _cells(topologies, team_sizes, message_formats)
    }
    if not problems or not teams:
        raise NothingToDoError("a sweep needs a problem, a topology, a team size and a message format")
    source = getattr(problems, "source", "problems")
    name = plain_name(source, "sweep", model_name(chat_model))
    folder = Path(out_dir).expanduser() if out_dir else Path("runs", name)
    note_cells(folder, teams)
    failures: dict[Cell, str] = {}
    try:
        with listening(progress, _bar) as tell, _engine_of_all(options) as engine:
            _run_all(teams, problems, folder, {**options, **engine}, tell, failures)
    finally:
        done = load_sweep(folder)
        write_tables(done, prices)
    return replace(done, failures={**done.unreadable, **failures})


def _cells(topologies: Iterable[str], sizes: Iterable[int], formats: Iterable[str]) -> list[Cell]:
    sizes, formats = tuple(sizes), tuple(formats)
    return list(
        dict.fromkeys(
            Cell(topology=topology, team_size=size, message_format=form)
            for topology in topologies
            for size in ((None,) if topology in SIZELESS else sizes)
            for form in formats
        )
    )


def _run_all(
    teams: Mapping[Cell, Team],
    problems: Sequence[Problem],
    folder: Path,
    options: Mapping[str, Any],
    tell: Callable[[SweepEvent], str | None],
    failures: dict[Cell, str],
) -> None:
    total = len(teams) * len(problems) * options.get("samples", 1)
    stopped = False
    for number, (cell, team) in enumerate(teams.items(), 1):
        if stopped or tell(CellStarted(cell=cell, number=number, cells=len(teams), total=total)) == "stop":
            return
        ends: list[RunFinished] = []

        def listen(event: RunEvent, ends: list[RunFinished] = ends) -> str | None:
            ends += [event] if isinstance(event, RunFinished) else []
            return tell(event)

        run, error = None, None
        try:
            run = evaluate(team, problems, out_dir=folder / cell.name, progress=listen, **options)
        except BadValueError:
            raise  # an option that no cell could take
        except LcbkitError as failure:
            error = failures[cell] = str(failure)
        stopped = any(end.stopped for end in ends) and not (run and run.config.get("gave_up"))
        stopped |= tell(CellFinished(cell=cell, run=run, error=error)) == "stop"


@contextmanager
def _engine_of_all(options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The option that names a cluster, if any: workers of this machine start once and not with each cell."""
    if options.get("engine") is None:
        yield {}
        return
    check_judges(options["engine"], options.get("judge_workers"), options.get("judge_cache", True))
    from lcbkit.cluster.connection import one_engine

    with one_engine(options["engine"]) as engine:
        yield {"engine": engine}


@contextmanager
def _bar() -> Iterator[Callable[[SweepEvent], str | None]]:
    """One bar over the instances of all cells; what earlier calls finished counts at once."""
    bars: list[Bar] = []

    def show(event: SweepEvent) -> None:
        if isinstance(event, CellStarted):
            if not bars:
                bars.append(Bar.of_instances(event.total))
            bars[0].describe(f"{event.number}/{event.cells} {event.cell.name}")
        elif isinstance(event, RunStarted):
            bars[0].advance(event.done, known=True)
        elif isinstance(event, InstanceFinished):
            share = f", pass@1 {event.passed / event.scored:.1%}" if event.scored else ""
            bars[0].note(f"{event.done}/{event.total}{share}")
            bars[0].advance()

    try:
        yield show
    finally:
        for bar in bars:
            bar.close()
