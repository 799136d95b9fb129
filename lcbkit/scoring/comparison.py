"""Two runs problem by problem: how they differ, by how much, and where."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape

from lcbkit.display.text import columns
from lcbkit.errors import BadValueError
from lcbkit.html import table
from lcbkit.records import Record
from lcbkit.scoring.estimates import bootstrap_interval, mcnemar_p
from lcbkit.scoring.scores import UNKNOWN, in_order

__all__ = ["Comparison", "paired"]

Shares = tuple[float, float]
"""Of one problem: the share of its samples that passed in a and in b."""

_HEADER = (
    "",
    "n",
    "pass@1 a",
    "pass@1 b",
    "b - a, points",
    "95 % interval",
    "a alone",
    "b alone",
    "McNemar p",
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison:
    """How run b did against run a on the problems that both scored.

    Attributes:
        a: label of the first run.
        b: label of the second run.
        problems: problems that both scored.
        outcomes: by problem, the share of its samples that passed in a and in b.
        left_out: problems that are not compared, since one of the runs lacks them or did not score them.
        reasons: how many of these for which reason.
        a_pass_at_1: mean over these problems.
        b_pass_at_1: mean over these problems.
        difference: b minus a.
        interval: 95 % bootstrap interval of the difference, over problems.
        only_a: ids that a passed and b did not; None with several samples a problem.
        only_b: the other way round.
        p_value: exact McNemar test; None with several samples a problem.
        groups: the same by group, in the order of the tables that show scores; empty unless asked for.
        notes: what else is not alike in the two runs, a sentence each.
    """

    a: str
    b: str
    problems: int
    outcomes: Mapping[str, Shares]
    left_out: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    a_pass_at_1: float
    b_pass_at_1: float
    difference: float
    interval: tuple[float, float]
    only_a: tuple[str, ...] | None
    only_b: tuple[str, ...] | None
    p_value: float | None
    groups: "Mapping[str, Comparison]" = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """What is compared, a sentence each."""
        counted = "1 problem is" if self.problems == 1 else f"{self.problems} problems are"
        lines = [f"a: {self.a}", f"b: {self.b}", f"{counted} compared: those that both scored"]
        if self.left_out:
            why = ", ".join(f"{number} {reason}" for reason, number in self.reasons.items())
            lines.append(f"left out: {self.left_out} ({why})")
        if self.p_value is None:
            lines.append("McNemar's test takes one sample a problem, and here are several: read the interval")
        return [*lines, *self.notes]

    def rows(self) -> list[tuple[str, ...]]:
        """The table's cells, a line for all problems and one for each group."""
        return [("all", *self._cells()), *((name, *part._cells()) for name, part in self.groups.items())]

    def differing(self) -> list[str]:
        """Where the runs differ, a line for each side."""
        if self.only_a is not None and self.only_b is not None:
            sides = {"passed by a alone": self.only_a, "passed by b alone": self.only_b}
        else:
            sides = {
                "more samples of a passed": tuple(name for name, (x, y) in self.outcomes.items() if x > y),
                "more samples of b passed": tuple(name for name, (x, y) in self.outcomes.items() if x < y),
            }
        return [f"{said}: {', '.join(ids) or 'none'}" for said, ids in sides.items()]

    def _cells(self) -> tuple[str, ...]:
        low, high = self.interval
        alone = (
            ("-", "-") if self.only_a is None or self.only_b is None else _counts(self.only_a, self.only_b)
        )
        return (
            str(self.problems),
            f"{self.a_pass_at_1:.1%}",
            f"{self.b_pass_at_1:.1%}",
            f"{100 * self.difference:+.1f}",
            f"{100 * low:+.1f} to {100 * high:+.1f}",
            *alone,
            "-" if self.p_value is None else f"{self.p_value:.3g}",
        )

    def __str__(self) -> str:
        return "\n".join([*self.lines(), "", columns(_HEADER, self.rows()), "", *self.differing()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        said = "".join(f"<div>{escape(line)}</div>" for line in self.lines())
        rows = [[escape(cell) for cell in row] for row in self.rows()]
        return (
            said + table(_HEADER, rows) + "".join(f"<div>{escape(line)}</div>" for line in self.differing())
        )


def _counts(*ids: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(len(names)) for names in ids)


def paired(
    labels: tuple[str, str],
    a: Sequence[Record],
    b: Sequence[Record],
    *,
    of_problem: Callable[[Record], str | None] | None = None,
    notes: Sequence[str] = (),
) -> Comparison:
    """Compare records problem by problem.

    Only problems that both sides scored count, so that an outage on one of them does not move the difference.

    Args:
        labels: what to call the two sides.
        a: records of the first.
        b: records of the second.
        of_problem: the group of a record, for a comparison within each; None makes no groups.
        notes: what else to say.

    Raises:
        BadValueError: when they have no scored problem in common.
    """
    left, right = _outcomes(a), _outcomes(b)
    common = {
        name: (_share(left[name]), _share(right[name])) for name in left if left[name] and right.get(name)
    }
    if not common:
        raise BadValueError(
            f"the runs have no scored problem in common: {labels[0]} scored {_scored(left)} of its "
            f"{len(left)} problems, {labels[1]} {_scored(right)} of its {len(right)}; compare runs of the "
            "same problems"
        )
    single = all(len(left[name]) == len(right[name]) == 1 for name in common)
    named = {record.problem_id: of_problem(record) for record in (*b, *a)} if of_problem else {}
    members: dict[str, dict[str, Shares]] = defaultdict(dict)
    for name, shares in common.items() if of_problem else ():
        members[named[name] or UNKNOWN][name] = shares
    reasons = _reasons(left, right)
    return replace(
        _compared(labels, common, single),
        left_out=sum(reasons.values()),
        reasons=reasons,
        groups={name: _compared(labels, members[name], single) for name in sorted(members, key=in_order)},
        notes=(*notes, *_test_counts(a, b, common)),
    )


def _compared(labels: tuple[str, str], outcomes: Mapping[str, Shares], single: bool) -> Comparison:
    means = [sum(side) / len(outcomes) for side in zip(*outcomes.values(), strict=True)]
    only_a = tuple(name for name, (x, y) in outcomes.items() if x > y) if single else None
    only_b = tuple(name for name, (x, y) in outcomes.items() if x < y) if single else None
    return Comparison(
        a=labels[0],
        b=labels[1],
        problems=len(outcomes),
        outcomes=outcomes,
        a_pass_at_1=means[0],
        b_pass_at_1=means[1],
        difference=means[1] - means[0],
        interval=bootstrap_interval([(y - x, 1) for x, y in outcomes.values()]),
        only_a=only_a,
        only_b=only_b,
        p_value=mcnemar_p(len(only_a), len(only_b)) if only_a is not None and only_b is not None else None,
    )


def _outcomes(records: Iterable[Record]) -> dict[str, list[bool]]:
    """Whether each scored sample passed, by problem; an empty list where none is scored."""
    outcomes: dict[str, list[bool]] = defaultdict(list)
    for record in records:
        outcomes[record.problem_id] += [record.passed] if record.scored else []
    return dict(outcomes)


def _share(passed: Sequence[bool]) -> float:
    return sum(passed) / len(passed)


def _scored(outcomes: Mapping[str, Sequence[bool]]) -> int:
    return sum(map(bool, outcomes.values()))


def _reasons(left: Mapping[str, Sequence[bool]], right: Mapping[str, Sequence[bool]]) -> dict[str, int]:
    both = left.keys() & right.keys()
    found = {
        "only in a": len(left.keys() - both),
        "only in b": len(right.keys() - both),
        "not scored in a": sum(not left[name] and bool(right[name]) for name in both),
        "not scored in b": sum(bool(left[name]) and not right[name] for name in both),
        "scored in neither": sum(not left[name] and not right[name] for name in both),
    }
    return {reason: number for reason, number in found.items() if number}


def _test_counts(a: Iterable[Record], b: Iterable[Record], common: Mapping[str, Shares]) -> list[str]:
    totals = {record.problem_id: record.total for record in a if record.total}
    other = {record.problem_id: record.total for record in b if record.total}
    unlike = [name for name in common if name in totals and totals[name] != other.get(name, totals[name])]
    if not unlike:
        return []
    first = unlike[0]
    return [
        f"the number of tests differs for {len(unlike)} of these problems, such as {first} "
        f"({totals[first]} in a, {other[first]} in b): part of the difference may be the tests'"
    ]
