"""`lcb demo` and `lcb run`: a team at work."""

from pathlib import Path
from typing import Any

import click

import lcbkit
from lcbkit.commands.inputs import FILTERS, known_prices, team, wanted_problems, without
from lcbkit.commands.options import (
    cluster,
    with_batch,
    with_engine,
    with_evaluation,
    with_filters,
    with_model,
    with_prices,
    with_record,
    with_seed,
    with_source,
    with_team,
)
from lcbkit.commands.talk import say
from lcbkit.display.text import one_line
from lcbkit.records import Status
from lcbkit.topologies.roles import TOPOLOGIES

__all__ = ["INFRASTRUCTURE", "demo", "demo_with_flags_of_run", "outages", "run"]

INFRASTRUCTURE = 3
"""The exit code for more infrastructure errors than are allowed."""


@click.command()
@click.argument("topology", type=click.Choice(TOPOLOGIES), default="single")
@with_team
@with_model
@with_seed
@with_record
def demo(topology: str, seed: int, **options: Any) -> None:
    """Solve and judge the two built-in problems, one per mode; offline unless a model is named."""
    from lcbkit.demonstration import demonstrate

    for solved in demonstrate(team(topology, options), seed=seed):
        click.echo(str(solved) + "\n")


@click.command()
@click.argument("topology", type=click.Choice(TOPOLOGIES))
@with_source
@with_filters
@with_team
@with_model
@with_seed
@with_evaluation
@click.option(
    "--out-dir", type=click.Path(path_type=Path), metavar="DIR", help="The run's folder.  [default: runs/…]"
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The predictions' .jsonl file, the rest beside it; wins over --out-dir.",
)
@with_engine
@with_record
@with_prices
@with_batch
@click.pass_context
def run(context: click.Context, /, topology: str, **options: Any) -> None:
    """Run a team on problems: records, traces and a summary in one folder; the same command resumes it."""
    options.pop("batch")
    engine = cluster(options)
    workers = team(topology, options)
    prices, quiet = known_prices(options.pop("prices"), workers), options.pop("quiet")
    problems = wanted_problems(without(options, "source", *FILTERS))
    result = lcbkit.evaluate(
        workers,
        problems,
        stop_on_failure=options.pop("stop_on_first_failure"),
        progress=not quiet,
        engine=engine,
        **options,
    )
    click.echo(str(result))
    if prices:
        click.echo(f"cost: {result.cost(prices) or 'unknown, since no tokens were reported'}")
    if not quiet:
        say(f"the run is in {result.files}")
    if outage := outages(result, options["max_infra_rate"]):
        say(f"{outage}, then run the same command again: it takes up only those")
        context.exit(INFRASTRUCTURE)


def outages(result: "lcbkit.Run", allowed: float) -> str | None:
    """Why a run counts as an outage, or None: the share of infrastructure errors, or that it gave up."""
    summary = result.summary()
    if gave_up := result.config.get("gave_up"):
        return f"{gave_up}; see that the endpoint answers"
    if summary.infra_rate <= allowed:
        return None
    why = summary.errors.get(Status.INFRA_ERROR)
    return (
        f"{summary.n_infra_error} of {summary.n} instances ended in infrastructure errors"
        f"{f' ({one_line(why, 200)})' if why else ''}, more than --max-infra-rate {allowed:g} allows; "
        "see that the endpoint answers"
    )


@click.pass_context
def _demo_only(context: click.Context, /, **options: Any) -> None:
    own = {parameter.name for parameter in demo.params}
    idle = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in own and context.get_parameter_source(parameter.name or "") is _TYPED
    ]
    if idle:
        click.echo(
            f"lcb: without --batch this is the demo of two built-in problems; {', '.join(idle)} would count "
            "with it",
            err=True,
        )
    context.invoke(demo, **{name: value for name, value in options.items() if name in own})


_TYPED = click.core.ParameterSource.COMMANDLINE

demo_with_flags_of_run = click.Command("demo", params=run.params, callback=_demo_only, help=demo.help)
"""The benchmark's habit: a command without `--batch` is a demo, whatever other flags it is given."""
