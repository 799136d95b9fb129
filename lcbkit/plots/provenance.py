"""Where a figure's numbers come from, as plain facts that its files carry."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from matplotlib.figure import Figure

from lcbkit import __version__
from lcbkit.problems import digest_of
from lcbkit.results import Run

__all__ = ["add_facts", "add_provenance", "facts_of", "provenance"]

_NAME = "_lcbkit_provenance"


def facts_of(run: Run, label: str) -> dict[str, Any]:
    """What names one run: dataset, team, model, seed, counts, versions, and a digest of every verdict."""
    summary, config = run.summary(), run.config
    dataset, first = config.get("dataset", {}), run.records[0]
    ids = dataset.get("ids") or list(dict.fromkeys(record.problem_id for record in run.records))
    facts = {
        "label": label,
        "run": _name(run),
        "verdicts": _verdicts(run),
        # The folders above a file are nobody's business and differ between machines.
        "dataset": PurePath(source).name if (source := dataset.get("source")) else None,
        "dataset_digest": dataset.get("digest") or digest_of(ids),
        "problems": summary.problems,
        "n": summary.n,
        "counted": summary.overall.scored,
        "passed": summary.overall.passed,
        "statuses": {name: number for name, number in summary.statuses.items() if number},
        "topology": first.topology,
        "team_size": first.size,
        "message_format": first.format,
        "model": first.model,
        "seed": first.seed,
        "sampling": config.get("settings", {}).get("team", {}).get("sampling"),
        "prompts_sha256": config.get("settings", {}).get("team", {}).get("prompts_sha256"),
        "made_by_lcbkit": config.get("versions", {}).get("lcbkit"),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _name(run: Run) -> str | None:
    if run.files is None:
        return None
    path = run.files.predictions
    return path.parent.name if path.name == "predictions.jsonl" else path.stem


def _verdicts(run: Run) -> str:
    """Tells apart two runs that are called the same: every instance with how it ended."""
    rows = sorted((*record.key, str(record.status), record.passed) for record in run.records)
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:12]


def add_provenance(
    figure: Figure, title: str, runs: Sequence[tuple[str, Run]], small_print: Sequence[str]
) -> None:
    """Let the figure remember what one panel shows; a figure may have several."""
    add_facts(figure, title, [facts_of(run, label) for label, run in runs], small_print)


def add_facts(
    figure: Figure, title: str, facts: Sequence[dict[str, Any]], small_print: Sequence[str]
) -> None:
    """As `add_provenance`, with the facts of each thing shown."""
    panel = {"shows": title, "notes": list(small_print), "runs": list(facts)}
    setattr(figure, _NAME, [*getattr(figure, _NAME, []), panel])


def provenance(figure: Figure) -> dict[str, Any]:
    """What the figure's files say of it: the library's version and, for each panel, its runs."""
    return {"lcbkit": __version__, "panels": getattr(figure, _NAME, [])}
