"""A topology, a message format, an optimizer and a figure: a file each, and lines that CONTRIBUTING names.

The folder `extending` holds an example of each. It is put into a copy of the library, and used there.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from lcbkit.topologies.roles import TOPOLOGIES
from tests.conftest import ROOT

EXAMPLES = Path(__file__).parent / "extending"


def put_in(path: Path, after: str, text: str) -> None:
    """Add text behind the one place where `after` stands."""
    before, found, rest = path.read_text().partition(after)
    assert found, f"{path.name} has no {after!r}"
    path.write_text(f"{before}{found}{text}{rest}")


def put_file(name: str, folder: Path) -> None:
    """Copy a file of the examples into a folder that has none of its name."""
    target = folder / Path(name).name
    assert not target.exists(), f"the library has a file {target.name} of its own: rename the example"
    shutil.copy(EXAMPLES / name, target)


def extended_copy(folder: Path) -> Path:
    package = folder / "lcbkit"
    shutil.copytree(ROOT / "lcbkit", package, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pyproject.toml").touch()  # which makes it a clone, with its data beside it
    (folder / "data_cache").symlink_to(ROOT / "data_cache")
    topologies, plots = package / "topologies", package / "plots"

    assert "example_review" not in TOPOLOGIES, (
        "teams.toml has an [example_review] of its own: rename the example"
    )
    put_file("example_review.py", topologies)
    for role in ("author", "critic"):
        put_file(f"prompts/example_{role}.txt", topologies / "prompts")
    with (topologies / "teams.toml").open("a") as table:
        table.write("\n" + (EXAMPLES / "example_review.toml").read_text())

    put_file("example_headings.py", topologies / "formats")
    put_in(topologies / "reports.py", '"structured_soft"', ', "example_headings"')

    put_file("example_rewrite.py", package / "optimizers")
    put_in(
        package / "optimizers/methods.py", "= {\n", '    "example_rewrite": ("Rewrite", "RewriteSettings"),\n'
    )

    put_file("example_statuses.py", plots)
    taken_in = "from lcbkit.plots.example_statuses import plot_example_statuses\n"
    put_in(plots / "__init__.py", "import save_figure\n", taken_in)
    put_in(plots / "__init__.py", "__all__ = [\n", '    "plot_example_statuses",\n')
    put_in(plots / "every.py", "import plot_differences\n", taken_in)
    put_in(plots / "every.py", "= {\n", '        "example_statuses": plot_example_statuses,\n')
    return package


def test_what_contributing_says_to_write_is_all_that_must_be_written(tmp_path: Path) -> None:
    extended_copy(tmp_path)
    used = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / "use.py"), str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT / 'tests'}"},
        capture_output=True,
        text=True,
    )
    assert used.returncode == 0, used.stderr
