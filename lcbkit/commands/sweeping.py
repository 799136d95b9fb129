"""`lcb sweep`: many teams on the same problems."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from lcbkit.commands.inputs import FILTERS, chat_model, wanted_problems, without
from lcbkit.commands.options import (
    SIZES,
    cluster,
    with_engine,
    with_evaluation,
    with_filters,
    with_model,
    with_prices,
    with_record,
    with_rounds,
    with_seed,
    with_source,
    with_tool,
)
from lcbkit.commands.solving import INFRASTRUCTURE, outages
from lcbkit.commands.talk import say
from lcbkit.topologies.reports import MESSAGE_FORMATS
from lcbkit.topologies.roles import TOPOLOGIES

__all__ = ["sweep"]


def _words(allowed: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    """Reads words with commas between them, each one of those allowed."""

    def read(text: str) -> tuple[str, ...]:
        words = tuple(word.strip() for word in text.split(","))
        if strange := [word for word in words if word not in allowed]:
            raise click.BadParameter(f"{strange[0]!r} is not one of {', '.join(allowed)}.")
        return words

    return read


@click.command()
@click.option(
    "--topologies",
    type=_words(TOPOLOGIES),
    default=",".join(TOPOLOGIES),
    show_default="all five",
    metavar="LIST",
    help=f"Of {', '.join(TOPOLOGIES)}, with commas between them.",
)
@click.option(
    "--team-sizes",
    type=_words(SIZES),
    default="4",
    show_default=True,
    metavar="LIST",
    help=f"Of {', '.join(SIZES)}, with commas between them; single has one agent.",
)
@click.option(
    "--message-formats",
    "--communications",
    type=_words(MESSAGE_FORMATS),
    default="freeform",
    show_default=True,
    metavar="LIST",
    help=f"Of {', '.join(MESSAGE_FORMATS)}.",
)
@with_source
@with_filters
@with_rounds
@with_tool
@with_model
@with_seed
@with_evaluation
@click.option(
    "--out-dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder of all runs and the table.  [default: runs/…]",
)
@with_engine
@with_record
@with_prices
@click.pass_context
def sweep(
    context: click.Context, /, topologies: tuple[str, ...], team_sizes: tuple[str, ...], **options: Any
) -> None:
    """Run every topology with every team size and message format: one table; the same command resumes it."""
    from lcbkit.sweeps.running import sweep as run_all

    engine, model, prices = cluster(options), chat_model(options), options.pop("prices")
    problems = wanted_problems(without(options, "source", *FILTERS))
    done = run_all(
        problems,
        topologies=topologies,
        team_sizes=[int(size) for size in team_sizes],
        message_formats=options.pop("message_formats"),
        model=model,
        python_exec=False if options.pop("no_python_exec") else None,
        stop_on_failure=options.pop("stop_on_first_failure"),
        progress=not options.pop("quiet"),
        prices=prices,
        engine=engine,
        **options,
    )
    click.echo(str(done.table(prices=prices)))
    say(f"{done.folder} holds the runs, table.csv and table.md")
    troubles = {
        cell.name: trouble
        for cell, run in done.runs.items()
        if run is not None and (trouble := outages(run, options["max_infra_rate"]))
    }
    for name, trouble in [*((cell.name, why) for cell, why in done.failures.items()), *troubles.items()]:
        say(f"{name}: {trouble}")
    if troubles:
        say("the same command runs those again that had errors, and nothing else")
    context.exit(INFRASTRUCTURE if troubles else 2 if done.failures else 0)
