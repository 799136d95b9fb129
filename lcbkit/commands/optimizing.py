"""`lcb optimize` and `lcb aggregate`: better prompts under a budget, and what three seeds of it say."""

import json
import logging
from pathlib import Path
from typing import Any

import click

from lcbkit.commands.options import SIZES, seconds
from lcbkit.optimizers.methods import METHODS
from lcbkit.topologies.reports import MESSAGE_FORMATS

__all__ = ["aggregate", "optimize"]

_INTERRUPTED = 130
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")

with_log_level = click.option(
    "--log-level", type=click.Choice(_LEVELS, case_sensitive=False), default="WARNING", help="Of the log."
)


@click.command()
@click.option("--method", type=click.Choice(list(METHODS)), help="How to search; identity does not.")
@click.option("--topology", metavar="NAME", help="Of the team; also with its size, as centralized_r8.")
@click.option(
    "--team-size", type=click.Choice(SIZES), default="4", show_default=True, help="single has one agent."
)
@click.option(
    "--framework", type=click.Choice(["langgraph"]), default="langgraph", help="There is one: langgraph."
)
@click.option(
    "--communication",
    "--message-format",
    "message_format",
    type=click.Choice(MESSAGE_FORMATS),
    default="freeform",
    show_default=True,
    help="How agents write to each other.",
)
@click.option("--model", metavar="NAME", help="The task model: qwen, llama, a full name, or toy.")
@click.option("--reflection-model", metavar="NAME", help="Who writes prompts.  [default: the protocol's]")
@click.option("--seed", type=click.IntRange(0, 2), help="0, 1 or 2.")
@click.option("--budget", type=click.IntRange(min=1), default=600, show_default=True, help="Rollouts.")
@click.option(
    "--phase",
    type=click.Choice(["all", "optimize", "validate", "test"]),
    default="all",
    show_default=True,
    help="One phase, or whatever is missing.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="The job's folder.")
@click.option(
    "--evaluation-cache",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Evaluations that jobs share.  [default: OUT/evaluations]",
)
@click.option(
    "--dataset",
    type=click.Choice(["lcb", "sample", "toy"]),
    default="lcb",
    show_default=True,
    help="Whose splits; toy goes with --model toy.",
)
@click.option("--source", metavar="SOURCE", help="Where the problems of lcb come from, as in `lcb run`.")
@click.option("--eval-rows", type=click.IntRange(min=1), metavar="N", help="Rows of validation and of test.")
@click.option(
    "--max-tokens", type=click.IntRange(min=1), default=32_768, show_default=True, help="Per answer."
)
@click.option(
    "--reflection-max-tokens",
    type=click.IntRange(min=1),
    default=48_000,
    show_default=True,
    help="Per answer of the reflection model.",
)
@click.option("--request-timeout", type=seconds, metavar="SECONDS", help="Of one model call.  [default: 600]")
@click.option(
    "--task-endpoints",
    default="",
    metavar="URL[,URL]",
    help="Servers of the task model, used in turn.  [default: $LCB_TASK_ENDPOINTS, else as `lcb run`]",
)
@click.option(
    "--reflection-endpoint",
    metavar="URL",
    help="Server of the reflection model.  [default: $LCB_REFLECTION_ENDPOINT, else as `lcb run`]",
)
@click.option("--rounds", type=click.IntRange(min=1), metavar="N", help="Of a debate.  [default: 2]")
@click.option("--no-python-exec", is_flag=True, help="No tool for running code.")
@click.option(
    "--setting",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change a setting of the method; repeatable; the value is JSON.",
)
@click.option("--allow-any-cell", is_flag=True, help="Run a method on a team outside of the protocol's grid.")
@click.option("--full-tests", is_flag=True, help="Judge the test programs on all hidden tests as well.")
@click.option(
    "--concurrency", type=click.IntRange(min=1), default=4, show_default=True, help="Model calls in flight."
)
@click.option("--dry-run", is_flag=True, help="Only say what the job is and costs; asks no model.")
@click.option(
    "--list-cells",
    is_flag=True,
    help="Only list the protocol's cells, a JSON line each, with their seeds and the cost of one; "
    "--method, --topology and --model choose among them.",
)
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
@with_log_level
@click.pass_context
def optimize(
    context: click.Context,
    /,
    dry_run: bool,
    list_cells: bool,
    quiet: bool,
    log_level: str,
    settings: tuple[str, ...],
    no_python_exec: bool,
    team_size: str,
    framework: str,  # noqa: ARG001 - there is one
    **options: Any,
) -> None:
    """Optimize a team's prompts under a budget of rollouts, validate, and test; one JSON line on stdout."""
    logging.basicConfig(level=log_level.upper())
    if list_cells:
        _say_cells(options)
        return
    needed = ("method", "topology", "model", "seed", *(() if dry_run else ("out",)))
    if missing := [name for name in needed if options[name] is None]:
        raise click.UsageError(f"Missing option '--{missing[0]}'.")
    options |= {
        "team_size": int(team_size),
        "python_exec": not no_python_exec,
        "settings": dict(map(_setting, settings)),
    }
    if dry_run:
        _say_cost(options)
        return
    if not quiet:
        _say_if_in_vain(_cost(options))
    from lcbkit.optimizers.running import optimize as run

    try:
        result = run(options.pop("method"), options.pop("topology"), progress=not quiet, **options)
    except KeyboardInterrupt:
        click.echo(
            "lcb: interrupted; the same command goes on with validation and test, a search needs a new --out",
            err=True,
        )
        context.exit(_INTERRUPTED)
    click.echo(json.dumps({"out": str(result.folder), **result.summary}, ensure_ascii=False))


@click.command()
@click.argument(
    "roots", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="ROOT..."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A folder for aggregate.json, table.csv and table.md.",
)
@click.option(
    "--bootstrap", type=click.IntRange(min=100), default=10_000, show_default=True, help="Replicates."
)
@click.option(
    "--family",
    type=click.Choice(["task", "method", "none"]),
    default="task",
    show_default=True,
    help="Which tests Holm's correction takes together: of a task and model, of a method, or all.",
)
@click.option(
    "--include-nonconformant", is_flag=True, help="Take jobs that depart from the protocol as well."
)
@click.option("--quiet", is_flag=True, help="No table on standard error.")
@with_log_level
def aggregate(roots: tuple[Path, ...], quiet: bool, log_level: str, **options: Any) -> None:
    """Bring finished jobs together: a line for each cell over its seeds; one JSON line on stdout."""
    from lcbkit.optimizers.aggregation import aggregate as bring_together

    logging.basicConfig(level=log_level.upper())
    result = bring_together(*roots, **options)
    if not quiet:
        click.echo(str(result), err=True)
    click.echo(json.dumps(result.to_dict(), ensure_ascii=False))


def _setting(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name.isidentifier():
        raise click.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint="--setting")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _say_cells(options: dict[str, Any]) -> None:
    from lcbkit.optimizers.planning import listed_cells

    chosen = {name: options[name] for name in ("method", "topology", "model")}
    listed = listed_cells(options["dataset"], **chosen)
    for cell in listed:
        click.echo(json.dumps(cell))
    jobs = sum(len(cell["seeds"]) for cell in listed)
    for name in ("charged_rollouts", "evaluation_rollouts", "task_calls", "reflection_calls", "tokens"):
        total = sum(cell["cost"][name] * len(cell["seeds"]) for cell in listed)
        click.echo(f"lcb: {name.replace('_', ' ')} of all {jobs} jobs: {total:,}", err=True)


def _cost(options: dict[str, Any]) -> dict[str, Any]:
    from lcbkit.optimizers.planning import dry_run

    return dry_run(**{name: value for name, value in options.items() if name not in _NOT_OF_A_CELL})


def _say_if_in_vain(said: dict[str, Any]) -> None:
    if said["budget"] < said["least_budget"]:
        click.echo(
            f"lcb: a budget of {said['budget']} rollouts is too small for {said['cell']['method']} to try a "
            f"new prompt on these problems; {said['least_budget']} are the least",
            err=True,
        )


def _say_cost(options: dict[str, Any]) -> None:
    said = _cost(options)
    _say_if_in_vain(said)
    for name, count in said["cost"].items():
        click.echo(f"lcb: {name.replace('_', ' ')}: {count:,}", err=True)
    for phrase in said["departures"]:
        click.echo(f"lcb: departs from the protocol: {phrase}", err=True)
    click.echo(json.dumps(said, ensure_ascii=False))


_NOT_OF_A_CELL = {"out", "phase", "evaluation_cache", "source", "full_tests", "concurrency"}
