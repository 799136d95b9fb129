"""`lcb record`, `lcb notebooks`, `lcb doctor`: what is shipped, and what this machine offers."""

from typing import Any

import click

from lcbkit.commands.options import with_model

__all__ = ["doctor", "notebooks", "record"]


@click.command()
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


@click.command()
@click.argument("folder", type=click.Path(file_okay=False), metavar="DIR")
@click.option("--overwrite", is_flag=True, help="Replace notebooks in DIR that differ from the shipped ones.")
def notebooks(folder: str, overwrite: bool) -> None:
    """Copy the notebooks into DIR, to run and to edit them there."""
    from lcbkit.notebook_files import copy_notebooks

    click.echo(copy_notebooks(folder, overwrite=overwrite))


@click.command()
def doctor() -> None:
    """Say what this machine offers: confinement, packages, folders, models."""
    from lcbkit.diagnosis import diagnose

    click.echo(diagnose())
