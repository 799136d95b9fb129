"""`lcb plot`: the figures of runs as files."""

import contextlib
from pathlib import Path
from typing import Any

import click

import lcbkit
from lcbkit.commands.talk import say
from lcbkit.errors import BadValueError, NothingToDoError

__all__ = ["plot"]


def _formats(_context: Any, _parameter: Any, text: str) -> list[str]:
    return [name for name in text.replace(",", " ").split() if name]


def _width(_context: Any, _parameter: Any, text: str) -> str | float:
    with contextlib.suppress(ValueError):
        return float(text)
    return text


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out-dir", type=click.Path(path_type=Path), default=Path("figures"), show_default=True, metavar="DIR",
    help="Where the files go; those of the same names are replaced.",
)  # fmt: skip
@click.option(
    "--formats", default="png,svg,pdf", show_default=True, metavar="LIST", callback=_formats,
    help="Any of png, svg and pdf, with commas.",
)  # fmt: skip
@click.option(
    "--name", "names", multiple=True, metavar="NAME",
    help="What the figures call a run; once for each, in their order.",
)  # fmt: skip
@click.option(
    "--cutoff", metavar="DATE",
    help="Last day (or month) of the model's training data, marked in the figure by month.",
)  # fmt: skip
@click.option(
    "--width", default="column", show_default=True, metavar="WIDTH", callback=_width,
    help="column (3.3 in), wide (6.9 in), or inches.",
)  # fmt: skip
@click.option("--theme", type=click.Choice(["light", "dark"]), default="light", show_default=True)
@click.option("--no-note", is_flag=True, help="Leave the small print below the axes to your own caption.")
def plot(
    runs: tuple[Path, ...],
    out_dir: Path,
    formats: list[str],
    names: tuple[str, ...],
    no_note: bool,
    **look: Any,
) -> None:
    """Draw every figure that fits the given runs, and print the files' paths."""
    from lcbkit.plots import every_figure
    from lcbkit.plots.export import chosen_formats

    formats = chosen_formats(formats)
    loaded: Any = [lcbkit.load_run(path) for path in runs]
    if names:
        if len(set(names)) != len(loaded):
            raise BadValueError(
                f"--name is given {len(names)} times for {len(loaded)} runs; give each one its own"
            )
        loaded = dict(zip(names, loaded, strict=True))
    written = False
    for stem, figure in every_figure(loaded, note=not no_note, **look):
        if isinstance(figure, str):
            say(f"no {stem}: {figure}")
            continue
        for path in lcbkit.save_figure(figure, out_dir / stem, formats):
            click.echo(path)
        written = True
    if not written:
        raise NothingToDoError("no figure fits these runs; the lines above say why")
