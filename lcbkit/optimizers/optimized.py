"""What a job gave: scores, prompts before and after, and the learning curve."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from lcbkit.display.text import columns
from lcbkit.html import table
from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.job import JobError, JobFolder
from lcbkit.optimizers.summary import check_chain, check_result, summary_of
from lcbkit.storage import read_jsonl

__all__ = ["Optimized", "PromptDiff"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Optimized:
    """A job as far as it came; made by `optimize`, or read by `Optimized.load`.

    Attributes:
        folder: of the job.
        job: what it was asked to do.
        summary: what `result.json` says; without its parts `selection` or `test` until those phases are done.
        seed_bundle: the prompts before.
        incumbent: what the search found.
        deployed: what validation chose; the seed's until that phase is done.
        learning_curve: a row for each tenth charged rollout.
    """

    folder: Path
    job: Mapping[str, Any] = field(repr=False)
    summary: Mapping[str, Any]
    seed_bundle: Bundle
    incumbent: Bundle
    deployed: Bundle
    learning_curve: tuple[Mapping[str, Any], ...]

    @classmethod
    def load(cls, folder: str | Path) -> "Optimized":
        """The job in a folder.

        Raises:
            JobError: it holds no search that is done, or a changed file.
        """
        files = JobFolder(Path(folder))
        job, optimization = files.read("job"), files.read("optimization")
        if job is None or optimization is None:
            raise JobError(f"{folder} holds no finished search; run `lcb optimize --out {folder}`")
        selection, test, result = (files.read(kind) for kind in ("selection", "test", "result"))
        check_chain(files, {"job": job, "optimization": optimization, "selection": selection, "test": test})
        check_result(files, job, test, result)
        seed = Bundle.from_dict(job["seed_bundle"])
        curve = files.optimization / "learning_curve.jsonl"
        return cls(
            folder=files.path,
            job=job,
            summary=result or summary_of(job, optimization, selection, test),
            seed_bundle=seed,
            incumbent=Bundle.from_dict(optimization["incumbent_bundle"]),
            deployed=Bundle.from_dict(selection["deployed_bundle"]) if selection else seed,
            learning_curve=tuple(read_jsonl(curve)) if curve.exists() else (),
        )

    @property
    def prompts(self) -> dict[str, str]:
        """The deployed prompts, as `build_team(prompts=...)` takes them."""
        return dict(self.deployed.roles)

    @property
    def delta_pp(self) -> float | None:
        """Test score of the deployed prompts minus that of the seed's, in percentage points."""
        delta: float | None = (self.summary.get("test") or {}).get("delta_pp")
        return delta

    @property
    def words(self) -> str:
        """The result in a sentence."""
        budget = self.summary["optimization"]["budget"]
        spent = f"{budget['charged']} of {budget['maximum']} rollouts"
        selection, test = self.summary.get("selection"), self.summary.get("test")
        if not selection:
            return f"searched with {spent}; not validated yet"
        reason = selection["fallback_reason"]
        chosen = "deployed what it found" if reason is None else f"kept the seed ({reason})"
        if not test:
            return f"searched with {spent}, {chosen}; not tested yet"
        if not test["valid_for_aggregation"]:
            return f"searched with {spent}, {chosen}; test is not valid: some problems have no observation"
        return (
            f"searched with {spent}, {chosen}; test {test['baseline_mean']:.1%} before, "
            f"{test['deployed_mean']:.1%} after ({test['delta_pp']:+.1f} points)"
        )

    def diff(self) -> "PromptDiff":
        """The prompts before and after: the deployed ones, or what was found if nothing was deployed."""
        changed = self.deployed.sha256 != self.seed_bundle.sha256
        after, what = (self.deployed, "deployed") if changed else (self.incumbent, "found")
        return PromptDiff(before=self.seed_bundle.roles, after=after.roles, what=what)

    def _rows(self) -> list[tuple[str, str]]:
        cell, optimization = self.job["cell"], self.summary["optimization"]
        selection, test = self.summary.get("selection") or {}, self.summary.get("test") or {}
        budget = optimization["budget"]
        rows = [
            ("method", cell["method"]),
            ("team", f"{cell['topology']}, {_agents(cell['team_size'])}, {cell['task_model']}"),
            ("problems", f"{cell['task']}, seed {self.job['optimizer_seed']}"),
            ("protocol", "conforms" if self.job["protocol_conformant"] else self._departures()),
            ("budget", f"{budget['charged']} of {budget['maximum']} rollouts, {budget['retries']} retries"),
            ("stopped by", optimization["failure_kind"] or optimization["stop_reason"]),
        ]
        if selection:
            scores = (selection["baseline_validation_score"], selection["incumbent_validation_score"])
            rows.append(("validation", " -> ".join("-" if s is None else f"{s:.1%}" for s in scores)))
            rows.append(("deployed", selection["fallback_reason"] or "the prompts that were found"))
        if test and test["delta_pp"] is not None:
            rows.append(
                (
                    "test",
                    f"{test['baseline_mean']:.1%} -> {test['deployed_mean']:.1%} "
                    f"({test['delta_pp']:+.1f} points, {len(test['example_ids'])} problems)",
                )
            )
        return rows

    def _departures(self) -> str:
        return f"does not conform: {'; '.join(self.job['departures'])}"

    def __repr__(self) -> str:
        return f"<Optimized {self.folder}: {self.words}>"

    def __str__(self) -> str:
        return columns(("", ""), self._rows())

    def _repr_html_(self) -> str:
        return table(("", ""), [[escape(cell) for cell in row] for row in self._rows()])


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PromptDiff:
    """Two sets of role prompts, line by line.

    Attributes:
        before: text by role.
        after: text by role.
        what: what the second set is.
    """

    before: Mapping[str, str]
    after: Mapping[str, str]
    what: str

    @property
    def changed(self) -> tuple[str, ...]:
        """Roles whose text differs."""
        return tuple(role for role, text in self.before.items() if self.after[role] != text)

    def lines(self, role: str) -> list[str]:
        """The unified diff of a role's prompt, without its header."""
        texts = (self.before[role].splitlines(), self.after[role].splitlines())
        return list(difflib.unified_diff(*texts, lineterm="", n=2))[2:]

    def __repr__(self) -> str:
        return f"<PromptDiff: {', '.join(self.changed) or 'no role'} changed>"

    def __str__(self) -> str:
        parts = [f"{role} ({self.what})\n" + "\n".join(self.lines(role)) for role in self.changed]
        return "\n\n".join(parts) or "no role's prompt changed"

    def _repr_html_(self) -> str:
        if not self.changed:
            return "<div>no role's prompt changed</div>"
        return "".join(
            f"<h4>{escape(role)} ({escape(self.what)})</h4><pre style='{_LINES}'>"
            f"{''.join(map(_coloured, self.lines(role)))}</pre>"
            for role in self.changed
        )


_LINES = "white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere"


def _agents(number: int) -> str:
    return f"{number} agent{'s' * (number != 1)}"


def _coloured(line: str) -> str:
    # Colours that hold on light and dark pages; the sign tells the same without them.
    tones = {"+": "rgba(46, 160, 67, 0.2)", "-": "rgba(248, 81, 73, 0.2)"}
    tone = tones.get(line[:1])
    style = f" style='background: {tone}'" if tone else ""
    return f"<span{style}>{escape(line)}</span>\n"
