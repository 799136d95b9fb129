"""`lcb show`: what runs left behind."""

from pathlib import Path

import click

import lcbkit

__all__ = ["show"]


@click.command()
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--records", is_flag=True, help="A line per instance as well.")
def show(folder: Path, records: bool) -> None:
    """Print the summary of a finished or running batch."""
    result = lcbkit.load_run(folder)
    if records:
        columns = ["id", "difficulty", "platform", "status", "pass", "total"]
        click.echo(result.to_frame()[columns].to_string(index=False))
    click.echo(str(result))
