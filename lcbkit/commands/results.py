"""`lcb show`, `lcb compare` and `lcb rejudge`: what runs left behind."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import lcbkit
from lcbkit.commands.options import (
    cluster,
    seconds,
    with_by,
    with_engine,
    with_judge_cache,
    with_prices,
)
from lcbkit.commands.talk import say
from lcbkit.errors import BadValueError
from lcbkit.scoring.tables import GROUPINGS

__all__ = ["compare", "rejudge", "show"]


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@with_by
@with_prices
@click.option("--records", is_flag=True, help="A line per instance as well.")
def show(runs: tuple[Path, ...], by: tuple[str, ...], prices: Path | None, records: bool) -> None:
    """Print the table of a finished or running batch, of a sweep, or of several runs side by side."""
    from lcbkit.sweeps.folder import is_sweep, load_sweep

    if len(runs) == 1 and is_sweep(runs[0]):
        if records:
            raise BadValueError(f"{runs[0]} is a sweep; --records goes with one of the runs in it")
        click.echo(
            "\n\n".join(str(load_sweep(runs[0]).table(by=word, prices=prices)) for word in by or [None])
        )
        return
    opened = [lcbkit.load_run(path) for path in runs]
    if len(opened) > 1:
        if records:
            raise BadValueError("--records goes with one run")
        click.echo(_side_by_side(opened, by, prices))
        return
    click.echo("\n".join(_page(opened[0], by, prices, records)))


def _page(run: "lcbkit.Run", by: Sequence[str], prices: Path | None, records: bool) -> list[str]:
    tables = [f"\n{run.table(word)}" for word in by]
    cost = run.cost(prices) if prices else None
    lines = [str(run), *tables]
    if prices:
        lines.insert(1, f"cost: {cost or 'unknown, since no tokens were reported'}")
    if records:
        several = ["sample"] if run.summary().pass_at_k else []
        columns = ["id", *several, "difficulty", "platform", "status", "pass", "total"]
        lines.insert(0, run.to_frame()[columns].to_string(index=False))
    return lines


def _side_by_side(runs: Sequence["lcbkit.Run"], by: Sequence[str], prices: Path | None) -> str:
    from lcbkit.results import side_by_side

    return "\n\n".join(str(side_by_side(runs, by=word, prices=prices)) for word in by or (None,))


@click.command()
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.option(
    "--by",
    metavar="WORD[,WORD]",
    help=f"Within each group as well: one or two of {', '.join(GROUPINGS)}.",
)
def compare(a: Path, b: Path, by: str | None) -> None:
    """Compare two runs on the problems that both scored: paired difference, interval, exact McNemar test.

    A and B are run folders, predictions files, or LiveCodeBench's *_eval_all.json files.
    """
    click.echo(str(lcbkit.compare(lcbkit.load_run(a), lcbkit.load_run(b), by=by)))


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--source", metavar="SOURCE", help="Where the problems come from, as in `lcb run`.  [default: the run's]"
)
@click.option(
    "--time-limit",
    type=seconds,
    metavar="SECONDS",
    help="Processor time of one test.  [default: the run's]",
)
@click.option(
    "--memory-limit",
    type=click.IntRange(min=0),
    metavar="BYTES",
    help="Memory of each process of a test, 0 for no limit.  [default: the run's]",
)
@click.option(
    "--tests",
    type=click.Choice(["hidden", "all"]),
    help="Hidden tests, or the public ones as well.  [default: the run's]",
)
@click.option(
    "--stop-on-first-failure/--every-test",
    default=None,
    help="Do not judge the tests after the first failed one.  [default: as in the run]",
)
@click.option(
    "--judge-workers",
    type=click.IntRange(min=1),
    help="Programs judged at once.  [default: one per core]",
)
@with_judge_cache
@click.option(
    "--out-dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The new run's folder.  [default: RUN-rejudged]",
)
@with_engine
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
def rejudge(
    run: Path, source: str | None, stop_on_first_failure: bool | None, quiet: bool, **options: Any
) -> None:
    """Judge a run's stored programs again, into a new run folder, and tell which verdicts moved.

    What is not given is as in the run. The run itself stays as it is.
    """
    from lcbkit.rejudging import rejudge as judge_again

    engine = cluster(options)
    done = judge_again(
        run,
        None if source is None else lcbkit.load_problems(source),
        stop_on_failure=stop_on_first_failure,
        progress=not quiet,
        engine=engine,
        **options,
    )
    click.echo(str(done))
    say(f"the new run is in {done.run.files}")
