"""`lcb problems` and `lcb judge`: problems, and programs against them."""

from typing import Any

import click

import lcbkit
from lcbkit.commands.inputs import wanted_problems
from lcbkit.commands.options import with_filters, with_source, with_stop, with_tests, with_time_limit
from lcbkit.errors import LcbkitError

__all__ = ["judge", "problems"]


@click.command()
@click.argument("file", type=click.File("rb"))
@click.option("--problem", "problem_id", required=True, metavar="ID", help="The problem to judge against.")
@with_source
@with_tests
@with_time_limit
@with_stop
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
    problem = wanted_problems({"source": source, "only": (problem_id,)})[problem_id]
    if not has_statement(code):
        click.echo(f"{problem_id}: no_code (there is no statement to run in {file.name})")
        context.exit(int(check))
    stop = limits.pop("stop_on_first_failure")
    report = lcbkit.judge(code, problem, stop_on_failure=stop, **limits)
    click.echo(str(report))
    context.exit(int(check and not report.passed))


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@with_source
@with_filters
def problems(ids: tuple[str, ...], **filters: Any) -> None:
    """List problems, or show the named ones with their statements."""
    filters["only"] = (*filters["only"], *ids)
    found = wanted_problems(filters)
    click.echo("\n\n".join(_page(found[name]) for name in ids) if ids else str(found))


def _page(problem: "lcbkit.Problem") -> str:
    facts = f"{problem.platform} · {problem.difficulty} · {problem.mode} · {problem.contest_date:%Y-%m-%d}"
    starter = f"\n\n{problem.starter_code.rstrip()}" if problem.starter_code else ""
    return f"{problem.id}  {problem.title}\n{facts}\n\n{problem.statement.strip()}{starter}"
