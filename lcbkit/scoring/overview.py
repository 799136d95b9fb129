"""Several runs side by side: a line for each, for the terminal, a notebook and files."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from lcbkit.display.text import columns
from lcbkit.html import table
from lcbkit.records import Record, Status
from lcbkit.scoring.costs import Cost, Prices, amount, cost_of
from lcbkit.scoring.scores import UNKNOWN, Summary, group, in_order, summarize

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Overview", "overview"]

_UNSCORED = {
    "infra_error": Status.INFRA_ERROR,
    "judge_error": Status.JUDGE_ERROR,
    "bad_test": Status.BAD_TEST,
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Overview:
    """Runs in the lines, what they scored and cost in the columns.

    Attributes:
        lines: by run the numbers, under the names that files give them.
        groups: names of the groups that have a column of their own.
        notes: what to know before reading one line against another, a sentence each.
    """

    lines: Sequence[Mapping[str, Any]]
    groups: Sequence[str] = ()
    notes: Sequence[str] = ()

    def header(self) -> list[str]:
        """The columns of the shown table."""
        names = ["run", "pass@1", "95 % interval", "passed / counted (of n)"]
        if any(line.get("samples", 1) > 1 for line in self.lines):
            names.append("pass@k")
        names += [*self.groups, "tokens a problem", "model calls"]
        if units := {line["currency"] for line in self.lines if line.get("currency")}:
            names += [f"{'/'.join(sorted(units))} in all", "a problem", "a solved one"]
        return names

    def rows(self) -> list[list[str]]:
        """The cells of the shown table; a dash where there is no number."""
        return [self._row(line) for line in self.lines]

    def _row(self, line: Mapping[str, Any]) -> list[str]:
        cells = [str(line["run"]), _share(line["pass_at_1"]), "-", "not run"]
        if line["low"] is not None:
            cells[2] = f"{_share(line['low'])} to {_share(line['high'])}"
        if line["n"]:
            counted = f"{line['passed']} / {line['scored']}"
            cells[3] = counted + f" (of {line['n']})" * (line["n"] != line["scored"])
        header = self.header()
        if "pass@k" in header:
            cells.append(_drawn(line) if line["samples"] > 1 else "-")
        cells += [_share(line[f"pass_at_1 {name}"]) for name in self.groups]
        cells += [_number(line["tokens_per_problem"], 0), _number(line["n_llm_calls"], 0)]
        if "a solved one" in header:
            cells += [_number(line[f"cost{part}"], None) for part in ("", "_per_problem", "_per_solved")]
        return cells

    def to_frame(self) -> "pd.DataFrame":
        """The numbers, a line a run."""
        import pandas as pd

        return pd.DataFrame(list(self.lines))

    def to_csv(self) -> str:
        """The numbers as CSV, with a header."""
        text = io.StringIO()
        if self.lines:
            writer = csv.DictWriter(text, list(self.lines[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.lines)
        return text.getvalue()

    def to_markdown(self) -> str:
        """The shown table in Markdown."""
        lines = [self.header(), ["---"] * len(self.header()), *self.rows()]
        cells = (" | ".join(cell.replace("|", "\\|") for cell in line) for line in lines)
        return "".join(f"| {line} |\n" for line in cells) + "".join(f"\n{note}\n" for note in self.notes)

    def __str__(self) -> str:
        # A run's name is not cut soon: runs of one team differ in their folders, and those stand last.
        return "\n".join([columns(self.header(), self.rows(), longest=200), *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [[escape(cell) for cell in row] for row in self.rows()]
        return table(self.header(), rows) + "".join(f"<div>{escape(note)}</div>" for note in self.notes)


def overview(
    runs: Sequence[tuple[str, Sequence[Record]]],
    *,
    of_group: Callable[[Record], str | None] | None = None,
    prices: Prices | None = None,
    notes: Sequence[str] = (),
) -> Overview:
    """Put runs side by side.

    Args:
        runs: label and records of each.
        of_group: the group of a record, for a column of pass@1 for each group; None makes none.
        prices: for columns of money; None leaves them out.
        notes: what to say in addition.

    Raises:
        BadValueError: when a model has no price.
    """
    found = {of_group(record) or UNKNOWN for _, records in runs for record in records if of_group is not None}
    groups = sorted(found, key=in_order)
    lines = []
    for label, records in runs:
        line = _line(
            label, summarize(records), cost_of(records), cost_of(records, prices) if prices else None
        )
        if of_group is not None:
            scores = group(records, of_group, groups)
            line |= {f"pass_at_1 {name}": scores[name].pass_at_1 for name in groups}
        lines.append(line)
    return Overview(lines=lines, groups=groups, notes=(*notes, *_unlike(runs)))


def _line(label: str, summary: Summary, tokens: Cost | None, money: Cost | None) -> dict[str, Any]:
    low, high = summary.overall.interval or (None, None)
    most = max(summary.pass_at_k, default=1)
    return {
        "run": label,
        "problems": summary.problems,
        "n": summary.n,
        "scored": summary.overall.scored,
        "passed": summary.overall.passed,
        "pass_at_1": summary.pass_at_1,
        "low": low,
        "high": high,
        "samples": most,
        "pass_at_k": summary.pass_at_k.get(most, summary.pass_at_1),
        "problems_at_k": summary.problems_at_k.get(most, summary.problems),
        **{str(name): summary.statuses[name] for name in (Status.NO_CODE, Status.AGENT_ERROR)},
        **{name: summary.statuses[status] for name, status in _UNSCORED.items()},
        **summary.tokens,
        "tokens_per_problem": tokens.per_problem if tokens else None,
        "seconds": summary.seconds,
        "cost": money.total if money else None,
        "cost_per_problem": money.per_problem if money else None,
        "cost_per_solved": money.per_solved if money else None,
        "currency": money.unit if money else None,
    }


def _unlike(runs: Sequence[tuple[str, Sequence[Record]]]) -> list[str]:
    ids = [{record.problem_id for record in records} for _, records in runs if records]
    if not ids or all(found == ids[0] for found in ids):
        return []
    return [
        f"these runs are not of the same problems ({len(set.intersection(*ids))} are in all of them, "
        f"{len(set.union(*ids))} in any): `lcb compare A B` pairs those that two of them share"
    ]


def _drawn(line: Mapping[str, Any]) -> str:
    some = line["problems_at_k"] != line["problems"]
    of = f", {line['problems_at_k']} of {line['problems']} problems" * some
    return f"{_share(line['pass_at_k'])} (k={line['samples']}{of})"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _number(value: float | None, digits: int | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.{digits}f}" if digits is not None else amount(value)
