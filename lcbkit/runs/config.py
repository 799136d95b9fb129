"""What a run is: its settings, which every record of it shares, and the circumstances it was made in."""

import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePath
from typing import Any

from lcbkit import __version__
from lcbkit.errors import BadValueError
from lcbkit.judging.sandbox import sandbox_status
from lcbkit.problems import Problem, ProblemSet
from lcbkit.records import SCHEMA_VERSION
from lcbkit.runs.folder import RunFiles

__all__ = ["confinement", "describe_run", "now", "plain_name", "run_files"]

_PACKAGES = ("langgraph", "langchain", "langchain-core", "langchain-openai", "datasets")


def run_files(settings: Mapping[str, Any], out_dir: str | Path | None, out: str | Path | None) -> RunFiles:
    """Where a run goes: to the named file, the named folder, or one below `runs/` named by the settings.

    Raises:
        BadValueError: if a file is named that would not be read as predictions.
    """
    if out is not None:
        path = Path(out).expanduser()
        if path.suffix != ".jsonl" and not path.is_dir():
            raise BadValueError(
                f"out is {path}; predictions go to a file that ends in .jsonl, or name a folder (--out-dir, "
                "out_dir=)"
            )
        return RunFiles.at(path)
    if out_dir is not None:
        return RunFiles(Path(out_dir).expanduser() / "predictions.jsonl")
    team = settings["team"]
    size = f"r{team['team_size']}" if team.get("team_size") else ""
    name = plain_name(settings["dataset"], team["topology"], size, team["message_format"], team["model"])
    return RunFiles(Path("runs", name) / "predictions.jsonl")


def plain_name(source: str, *parts: str) -> str:
    """A folder's name from a dataset's source and what was done with it; signs that hurt become dashes."""
    name = "-".join(part for part in (_plain(source), *parts) if part)
    return re.sub(r"[^\w.+-]+", "-", name)


def _plain(source: str) -> str:
    """A source as part of a folder's name; of a path its last two parts, as many files are `test.jsonl`."""
    path = PurePath(source)
    if len(path.parts) == 1:
        return path.stem if path.suffix in (".jsonl", ".parquet") else source
    return "-".join((*path.parts[-2:-1], path.stem)).strip("/")


def describe_run(
    team: Mapping[str, Any], problems: Sequence[Problem], *, seed: int, judging: Mapping[str, Any]
) -> dict[str, Any]:
    """What `run.json` says at the start, as plain JSON values.

    Args:
        team: what `Team.describe` gave.
        problems: what is to be solved.
        seed: of the run.
        judging: how programs are judged.

    Returns:
        Under `settings` what every record of the run shares; the rest may differ when it is taken up again.
        What confines programs belongs there too, as `sandbox`: `confinement` tells it.
    """
    dataset = _dataset_facts(problems)
    return {
        "schema_version": SCHEMA_VERSION,
        "settings": {"team": team, "seed": seed, "dataset": dataset["source"], "judging": judging},
        "dataset": dataset,
        "versions": {
            "lcbkit": __version__,
            "python": platform.python_version(),
            **{name: found for name in _PACKAGES if (found := _version(name))},
        },
        "platform": platform.platform(),
        "started": now(),
    }


def _dataset_facts(problems: Sequence[Problem]) -> dict[str, Any]:
    known = problems if isinstance(problems, ProblemSet) else ProblemSet(problems, source="problems")
    return {
        "source": known.source,
        "digest": known.digest,
        "count": len(known),
        "first_date": str(known.first_date),
        "last_date": str(known.last_date),
        "skipped": dict(known.skipped),
        "ids": list(known.ids),
    }


def now() -> str:
    """The time as ISO text with its zone."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def confinement() -> dict[str, Any]:
    """What confines programs here, as plain values; the first call starts a worker to find out.

    Raises:
        SandboxError: the confinement that was asked for is not available.
    """
    return _confinement(os.environ.get("LCB_SANDBOX"))


@cache
def _confinement(setting: str | None) -> dict[str, Any]:
    """Cached, since a machine does not change under a process."""
    return asdict(sandbox_status(setting))


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
