"""Imports point to a lower floor only, never sideways or up, and always by absolute name."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from lcbkit.optimizers.methods import METHODS
from lcbkit.topologies.roles import TOPOLOGIES
from tests.conftest import ROOT

PACKAGE = ROOT / "lcbkit"
FLOORS = [
    {"errors", "html", "search_events", "waiting"},
    {"cluster", "display", "known_ids", "records", "storage"},
    {"chat", "rows"},
    {"extract", "models", "selection"},
    {"problems"},
    {"dataset", "prompts", "judging", "scoring"},
    {"topologies"},
    {"runs"},
    {"results"},
    {"diagnosis"},
    {"evaluation", "demonstration", "recorder", "notebook", "notebook_files"},
    {"magic", "plots", "widgets", "optimizers", "rejudging", "sweeps"},
    {"commands"},
    {"cli"},
    {"__main__"},
]
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names}
# Inside a folder only these import their siblings; the others are values or stand alone.
WORKERS_OF_A_FOLDER = {
    "commands": {"inputs", "optimizing", "plotting", "problems", "results", "solving", "sweeping", "upkeep"},
    "widgets": {"problem_browser", "problem_view", "run_browser", "run_rows", "progress"},
    "plots": {path.stem for path in (PACKAGE / "plots").glob("*.py")}
    - {"labels", "layout", "provenance", "style"},
    "judging": {"crew", "launch", "many", "pool", "remote", "reuse", "sandbox", "sharing", "verdicts"},
    "runs": {"batch", "config", "hands", "judge_cache", "judges", "remote", "rollouts", "verdicts"},
    "cluster": {"connection", "work"},
    "rows": {"files", "hub", "stored", "tables"},
    "chat": {"live", "recipes"},
    "display": {"answer"},
    "scoring": {"comparison", "costs", "overview", "scores", "tables"},
    "sweeps": {"running"},
    "topologies": {
        "agents",
        "calls",
        "desk_work",
        "events",
        "formats",
        "messages",
        "rollout",
        "team",
        "turns",
    }
    | {"specification", "submission", "vote", *TOPOLOGIES},
    "optimizers": {path.stem for path in (PACKAGE / "optimizers").glob("*.py")}
    - {"bandit", "belief", "canonical", "lessons", "overlay", "pairwise", "rescoring", "seeds", "shapley"}
    - {"statistics", "toy_shapes"},
}
# What runs a job; a method of optimization must not reach around its context for any of it.
ENGINE = {"aggregation", "charging", "chat_text", "costs", "curve", "deciding", "endpoints", "evaluations"}
ENGINE |= {"job", "ledger", "optimized", "phases", "planning", "progress", "protocol", "rescoring"}
ENGINE |= {"rollouts", "run", "running", "scoring", "search", "seeds", "specification", "statistics"}
ENGINE |= {"summary", "toy", "toy_shapes", "transcripts", "wiring"}


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


def imported(path: Path) -> Iterator[str]:
    """Dotted names of ours that a file imports, wherever in the file; main blocks are exempt."""
    tree = ast.parse(path.read_text())
    exempt = {
        id(inner)
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in exempt:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("lcbkit"))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}, line {node.lineno}: a relative import"
            if node.module and node.module.startswith("lcbkit"):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    own = path.relative_to(PACKAGE).with_suffix("").parts
    for name in imported(path):
        there = name.split(".")[1:] or ["__init__"]
        if there[0] in ("__init__", "__version__"):
            top = own[0] in ("__main__", "cli", "commands") or there[0] == "__version__"
            assert top, f"{'/'.join(own)} imports from the very top"
            continue
        assert there[0] in FLOOR, f"{path.name} imports {name}, which stands on no floor"
        if there[0] == own[0] and len(own) > 1:
            assert own[1] in WORKERS_OF_A_FOLDER[own[0]], f"{'/'.join(own)} imports its sibling {name}"
        else:
            assert FLOOR[there[0]] < FLOOR[own[0]], f"{'/'.join(own)} imports {name}, which is not below it"


def test_imports_are_seen_however_they_are_written() -> None:
    assert {"lcbkit.problems.Problem", "lcbkit.results.Run"} <= set(imported(PACKAGE / "evaluation.py"))
    assert "lcbkit.judging" in set(imported(PACKAGE / "runs" / "judge_cache.py"))


def test_methods_of_optimization_use_nothing_but_their_context() -> None:
    methods = [path for path in (PACKAGE / "optimizers").glob("*.py") if path.stem not in ENGINE]
    reached = {
        (path.stem, part)
        for path in methods
        for name in imported(path)
        for part in name.split(".")[2:3]
        if name.startswith("lcbkit.optimizers.") and part in ENGINE
    }
    assert len(methods) > 5
    assert not reached


def test_every_part_of_the_optimizers_has_its_place_on_the_map() -> None:
    folder = PACKAGE / "optimizers"
    map_ = (folder / "__init__.py").read_text()
    parts = {path.stem for path in folder.glob("*.py")} - {"__init__", *METHODS}
    assert sorted(part for part in parts if f"`{part}`" not in map_) == []


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_file_holds_more_than_400_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


def test_the_worker_needs_the_standard_library_only() -> None:
    assert not list(imported(PACKAGE / "judging" / "worker.py"))
