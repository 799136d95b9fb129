"""The `lcb` command: results on standard output, talk on standard error, exit codes that scripts can trust.

0 done, 1 nothing matched or a check failed, 2 wrong use or bad input, 3 too many infrastructure errors,
130 interrupted. Each command parses, calls one library function and prints; the library does the work.
"""

import contextlib
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

import lcbkit
from lcbkit.errors import LcbkitError, NothingToDoError
from lcbkit.options import (
    with_batch,
    with_filters,
    with_model,
    with_record,
    with_seed,
    with_source,
    with_team,
    with_tests,
    with_time_limit,
)

__all__ = ["benchmark", "lcb", "main"]

INFRASTRUCTURE = 3
INTERRUPTED = 130
TOPOLOGIES = ("single", "independent", "sequential", "centralized", "decentralized")


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run `lcb` and leave with its exit code; a user's mistake is one line, never a traceback."""
    sys.exit(_run(lcb, args, "lcb"))


def benchmark(topology: str, args: Sequence[str] | None = None) -> NoReturn:
    """What `python -m lcbkit.topologies.<name>` does: the demo, or with `--batch` the batch of `lcb run`."""
    given = list(sys.argv[1:] if args is None else args)
    name = f"python -m lcbkit.topologies.{topology}"
    command = run if "--batch" in given or {"-h", "--help"} & set(given) else demo
    sys.exit(_run(command, [topology, *given], name))


def _run(command: click.Command, args: Sequence[str] | None, name: str) -> int:
    signal.signal(signal.SIGTERM, lambda *_: _interrupt())
    given = _each_id_with_its_flag(sys.argv[1:] if args is None else args)
    warnings.showwarning = _say_warning
    try:
        code = command.main(args=given, prog_name=name, standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except LcbkitError as error:
        click.echo(f"lcb: {error}", err=True)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo(
            "lcb: interrupted; what is finished is saved, the same command goes on from there", err=True
        )
        return INTERRUPTED
    except BrokenPipeError:  # `lcb problems | head`: the reader has left, which is its right
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _say_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning as a sentence, without the place in our code that Python puts before it."""
    click.echo(f"lcb: {message}", err=True)


def _interrupt() -> NoReturn:
    raise KeyboardInterrupt


def _each_id_with_its_flag(args: Sequence[str]) -> list[str]:
    """`--only A B` as `--only A --only B`: the benchmark's habit, which click's options lack."""
    given: list[str] = []
    for argument in args:
        continues = len(given) > 1 and given[-2] == "--only" and given[-1] != "--only"
        if continues and not argument.startswith("-") and argument not in TOPOLOGIES:
            given.append("--only")
        given.append(argument)
    return given


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(lcbkit.__version__, prog_name="lcbkit")
def lcb() -> None:
    """Experiments with teams of LLM agents on LiveCodeBench."""


@lcb.command()
@click.argument("topology", type=click.Choice(TOPOLOGIES), default="single")
@with_team
@with_model
@with_seed
@with_record
def demo(topology: str, seed: int, **options: Any) -> None:
    """Solve and judge the two built-in problems, one per mode; offline unless a model is named."""
    from lcbkit.demonstration import demonstrate

    for solved in demonstrate(_built_team(topology, options), seed=seed):
        click.echo(str(solved) + "\n")


@lcb.command()
@click.argument("topology", type=click.Choice(TOPOLOGIES))
@with_source
@with_filters
@with_team
@with_model
@with_seed
@click.option(
    "--samples", type=click.IntRange(min=1), default=1, show_default=True, help="Submissions per problem."
)
@click.option(
    "--concurrency", type=click.IntRange(min=1), default=4, show_default=True, help="Model calls in flight."
)
@click.option(
    "--judge-workers", type=click.IntRange(min=1), help="Programs judged at once.  [default: one per core]"
)
@with_time_limit
@with_tests
@click.option(
    "--stop-on-first-failure", is_flag=True, help="Do not judge the tests after the first failed one."
)
@click.option(
    "--out-dir", type=click.Path(path_type=Path), metavar="DIR", help="The run's folder.  [default: runs/…]"
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="The predictions' file; the rest beside."
)
@click.option("--overwrite", is_flag=True, help="Throw away what the folder holds and start anew.")
@click.option(
    "--retry-errors", is_flag=True, help="On resume, run the instances again that ended in an agent error."
)
@click.option(
    "--max-infra-rate", type=click.FloatRange(0, 1), default=0.1, show_default=True, help="Above: exit 3."
)
@with_record
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
@with_batch
@click.pass_context
def run(context: click.Context, /, topology: str, **options: Any) -> None:
    """Run a team on problems: records, traces and a summary in one folder; the same command resumes it."""
    options.pop("batch")
    problems = _problems(_take(options, "source", *_FILTERS))
    result = lcbkit.evaluate(
        _built_team(topology, options),
        problems,
        stop_on_failure=options.pop("stop_on_first_failure"),
        progress=not options.pop("quiet"),
        **options,
    )
    click.echo(str(result))
    summary = result.summary()
    if summary.infra_rate > options["max_infra_rate"]:
        click.echo(
            f"lcb: {summary.n_infra_error} of {summary.n} instances ended in infrastructure errors, more "
            f"than --max-infra-rate {options['max_infra_rate']:g} allows; see that the endpoint answers, "
            "then run the same command again: it takes up only those",
            err=True,
        )
        context.exit(INFRASTRUCTURE)


@lcb.command()
@click.argument("file", type=click.File("rb"))
@click.option("--problem", "problem_id", required=True, metavar="ID", help="The problem to judge against.")
@with_source
@with_tests
@with_time_limit
@click.option(
    "--stop-on-first-failure", is_flag=True, help="Do not run the tests after the first failed one."
)
@click.option("--check", is_flag=True, help="Exit with 1 unless every test passes.")
@click.pass_context
def judge(
    context: click.Context, /, file: Any, problem_id: str, source: str | None, check: bool, **limits: Any
) -> None:
    """Judge the program in FILE (`-` is standard input) on a problem's tests."""
    from lcbkit.extract import has_statement

    try:
        code = file.read().decode()
    except UnicodeDecodeError:
        raise LcbkitError(f"{file.name} is not text in UTF-8; give the program's file") from None
    problem = _problems({"source": source, "only": (problem_id,)})[problem_id]
    if not has_statement(code):
        click.echo(f"{problem_id}: no_code (there is no statement to run in {file.name})")
        context.exit(int(check))
    stop = limits.pop("stop_on_first_failure")
    report = lcbkit.judge(code, problem, stop_on_failure=stop, **limits)
    click.echo(str(report))
    context.exit(int(check and not report.passed))


@lcb.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@with_source
@with_filters
def problems(ids: tuple[str, ...], **filters: Any) -> None:
    """List problems, or show the named ones with their statements."""
    filters["only"] = (*filters["only"], *ids)
    found = _problems(filters)
    click.echo("\n\n".join(_page(found[name]) for name in ids) if ids else str(found))


@lcb.command()
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--records", is_flag=True, help="A line per instance as well.")
def show(folder: Path, records: bool) -> None:
    """Print the summary of a finished or running batch."""
    result = lcbkit.load_run(folder)
    if records:
        columns = ["id", "difficulty", "platform", "status", "pass", "total"]
        click.echo(result.to_frame()[columns].to_string(index=False))
    click.echo(str(result))


@lcb.command()
@with_model
@click.option("--missing", is_flag=True, help="Ask only what the recordings do not hold yet.")
@click.option("--python-exec", is_flag=True, help="Give the team its tool: for models that can call tools.")
@click.option(
    "--concurrency", type=click.IntRange(min=1), default=1, show_default=True, help="Model calls in flight."
)
def record(missing: bool, python_exec: bool, concurrency: int, **model: Any) -> None:
    """Make the shipped recordings again from one live model."""
    from lcbkit.recorder import record_shipped

    count = record_shipped(
        missing=missing,
        python_exec=python_exec,
        concurrency=concurrency,
        **{key: value for key, value in model.items() if value is not None},
    )
    click.echo(f"{count} new answers recorded")


@lcb.command()
def doctor() -> None:
    """Say what this machine offers: confinement, packages, folders, models."""
    from lcbkit.diagnosis import diagnose

    click.echo(diagnose())


_FILTERS = ("limit", "offset", "only", "difficulty", "platform", "start_date", "end_date", "errata")
_MODEL = ("model", "base_url", "temperature", "top_p", "max_tokens", "request_timeout", "record")


def _take(options: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: options.pop(name) for name in names}


def _problems(filters: dict[str, Any]) -> "lcbkit.ProblemSet":
    given = {name: value for name, value in filters.items() if value not in (None, ())}
    found = lcbkit.load_problems(given.pop("source", None), **given)
    if not found:
        usable = " and has usable tests" if found.skipped else ""
        raise NothingToDoError(
            f"no problem of {found.source} matches these filters{usable}; `lcb problems` lists them all"
        )
    return found


def _built_team(topology: str, options: dict[str, Any]) -> "lcbkit.Team":
    return lcbkit.build_team(
        topology,
        team_size=int(options.pop("team_size")),
        message_format=options.pop("message_format"),
        rounds=options.pop("rounds"),
        python_exec=False if options.pop("no_python_exec") else None,
        model=_chat_model(_take(options, *_MODEL)),
    )


def _chat_model(options: dict[str, Any]) -> Any:
    given = {name: value for name, value in options.items() if value is not None}
    return lcbkit.get_model(given.pop("model", None), **given)


def _page(problem: "lcbkit.Problem") -> str:
    facts = f"{problem.platform} · {problem.difficulty} · {problem.mode} · {problem.contest_date:%Y-%m-%d}"
    starter = f"\n\n{problem.starter_code.rstrip()}" if problem.starter_code else ""
    return f"{problem.id}  {problem.title}\n{facts}\n\n{problem.statement.strip()}{starter}"


if __name__ == "__main__":
    main()
