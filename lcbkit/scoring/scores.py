"""Scores: pass@1 of any group of records with its interval and every count that it rests on."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from lcbkit.display.text import one_line
from lcbkit.html import table
from lcbkit.records import Record, Status
from lcbkit.rows.schema import DIFFICULTIES, PLATFORMS
from lcbkit.scoring.estimates import bootstrap_interval, pass_at_k, wilson_interval

__all__ = ["NO_WIDTH", "UNKNOWN", "Score", "Summary", "group", "in_order", "mean_pass_at_k", "summarize"]

MODES = ("stdin", "functional")
NO_WIDTH = (
    "an interval without width comes from one problem, or from problems that are all alike: it says nothing"
)
"""What stands below scores of which one `says_nothing`."""
UNKNOWN = "unk"
"""The group of what has no value in a grouping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """pass@1 of some records.

    Attributes:
        n: records.
        scored: those that count: all but infra_error, judge_error and bad_test.
        passed: those that passed every test.
        interval: 95 % interval of pass@1 (Wilson for one sample a problem, else a bootstrap over problems);
            None without a scored record.
        method: how the interval was made, `Wilson` or `bootstrap over problems`.
    """

    n: int
    scored: int
    passed: int
    interval: tuple[float, float] | None
    method: str | None = None

    @property
    def pass_at_1(self) -> float | None:
        """Passed / scored, or None where nothing is scored."""
        return self.passed / self.scored if self.scored else None

    @property
    def says_nothing(self) -> bool:
        """Whether a bootstrap had nothing to draw anew: one problem, or problems that are all alike."""
        return self.interval is not None and self.interval[0] == self.interval[1]

    @classmethod
    def of(cls, records: Iterable[Record]) -> "Score":
        """The score of these records."""
        n, counts = 0, defaultdict[str, list[int]](lambda: [0, 0])
        for record in records:
            n += 1
            if record.scored:
                counts[record.problem_id][0] += record.passed
                counts[record.problem_id][1] += 1
        pairs = [(passed, scored) for passed, scored in counts.values()]
        passed, scored = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
        interval, method = None, None
        if scored:
            # Samples of one problem are not independent, so Wilson's formula would promise too much.
            one_each = scored == len(pairs)
            interval = wilson_interval(passed, scored) if one_each else bootstrap_interval(pairs)
            method = "Wilson" if one_each else "bootstrap over problems"
        return cls(n=n, scored=scored, passed=passed, interval=interval, method=method)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"pass_at_1": self.pass_at_1, **asdict(self)}

    def __str__(self) -> str:
        if self.pass_at_1 is None or self.interval is None:
            return f"no score: none of {self.n} counts"
        low, high = self.interval
        return f"{self.pass_at_1:.1%} ({self.passed}/{self.scored}, 95 % {low:.1%} to {high:.1%})"


def group(
    records: Iterable[Record], by: Callable[[Record], str | None], always: Sequence[str] = ()
) -> dict[str, Score]:
    """Scores by group: the names in `always` first, then others in order, then the nameless as `unk`."""
    members: dict[str, list[Record]] = {name: [] for name in always}
    for record in records:
        members.setdefault(by(record) or UNKNOWN, []).append(record)
    rest = sorted(members.keys() - {*always}, key=in_order)
    return {name: Score.of(members[name]) for name in (*always, *rest)}


_PLACE = {name: i for i, name in enumerate((*DIFFICULTIES, *PLATFORMS, *MODES))}


def in_order(name: str) -> list[tuple[bool, int, int, str]]:
    """A key to sort groups by: easy before hard, leetcode first, numbers by value, `unk` last.

    Args:
        name: of a group, or several with commas between them.
    """
    return [
        (part == UNKNOWN, _PLACE.get(part, len(_PLACE)), len(part) if part.isdigit() else 0, part)
        for part in name.split(", ")
    ]


def mean_pass_at_k(records: Iterable[Record], k: int) -> tuple[float | None, int]:
    """pass@k averaged over the problems with at least k scored samples, and how many those are."""
    counts: dict[str, list[bool]] = defaultdict(list)
    for record in records:
        if record.scored:
            counts[record.problem_id].append(record.passed)
    values = [pass_at_k(len(c), sum(c), k=k) for c in counts.values() if len(c) >= k]
    return (sum(values) / len(values) if values else None), len(values)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Summary:
    """What a run scored, whole and by group, with the counts and the cost.

    Attributes:
        n: instances (a sample of a problem each).
        problems: different problems.
        statuses: instances by status, each status named.
        overall: all instances.
        extracted: the instances from which a program was extracted.
        without_errata: the instances whose problem is not on the list of defective problems.
        by_difficulty: easy, medium, hard, and others that occur.
        by_platform: leetcode, codeforces, atcoder, and others that occur.
        by_mode: stdin, functional.
        pass_at_k: with several samples a problem, pass@k by k, from 1 to the number of samples, averaged over
            the problems with k scored samples.
        problems_at_k: how many problems those are.
        errors: by status that stands for an error, what most of its instances ended in.
        stop_reasons: instances by the reason why the answering role stopped.
        tokens: sums over all instances of tokens, calls, and calls whose usage the endpoint did not report.
        seconds: time of all instances together, solving and judging.
    """

    n: int
    problems: int
    statuses: Mapping[str, int]
    overall: Score
    extracted: Score
    without_errata: Score
    by_difficulty: Mapping[str, Score]
    by_platform: Mapping[str, Score]
    by_mode: Mapping[str, Score]
    pass_at_k: Mapping[int, float | None]
    problems_at_k: Mapping[int, int]
    errors: Mapping[str, str]
    stop_reasons: Mapping[str, int]
    tokens: Mapping[str, int]
    seconds: float

    @property
    def pass_at_1(self) -> float | None:
        """pass@1 over all instances."""
        return self.overall.pass_at_1

    @property
    def n_extracted(self) -> int:
        """Instances from which a program was extracted."""
        return self.extracted.n

    @property
    def n_errata(self) -> int:
        """Instances whose problem is on the list of defective problems."""
        return self.n - self.without_errata.n

    @property
    def n_infra_error(self) -> int:
        """Instances whose model could not be reached."""
        return self.statuses[Status.INFRA_ERROR]

    @property
    def infra_rate(self) -> float:
        """Share of the instances whose model could not be reached; 0 without instances."""
        return self.n_infra_error / self.n if self.n else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        groups = ("by_difficulty", "by_platform", "by_mode")
        scores = {"overall": self.overall, "extracted": self.extracted, "without_errata": self.without_errata}
        return {
            "n": self.n,
            "problems": self.problems,
            "n_extracted": self.n_extracted,
            "n_errata": self.n_errata,
            "infra_rate": self.infra_rate,
            "statuses": dict(self.statuses),
            **{name: score.to_dict() for name, score in scores.items()},
            **{name: {key: score.to_dict() for key, score in getattr(self, name).items()} for name in groups},
            "pass_at_k": {str(k): value for k, value in self.pass_at_k.items()},
            "problems_at_k": {str(k): number for k, number in self.problems_at_k.items()},
            "errors": dict(self.errors),
            "stop_reasons": dict(self.stop_reasons),
            "tokens": dict(self.tokens),
            "seconds": self.seconds,
        }

    def rows(self) -> list[tuple[str, Score]]:
        """The table's lines: a name and a score each; a group of which nothing ran keeps its line."""
        lines = [("all", self.overall)]
        if self.n_extracted or not self.overall.passed:  # a table of verdicts alone says nothing of programs
            lines.append(("with a program", self.extracted))
        if self.n_errata:
            lines.append(("without errata", self.without_errata))
        for scores in (self.by_difficulty, self.by_platform, self.by_mode):
            if self.n > (scores[UNKNOWN].n if UNKNOWN in scores else 0):
                lines += scores.items()
        return lines

    def notes(self) -> list[str]:
        """The counts and the cost, a sentence each."""
        found = [f"{name} {number}" for name, number in self.statuses.items() if number]
        lines = [f"status: {', '.join(found) or 'nothing ran'}"]
        odd = [f"{name} {number}" for name, number in self.stop_reasons.items() if name != "end"]
        if odd:
            lines.append(f"stopped early: {', '.join(odd)}")
        lines += [f"most frequent {name}: {one_line(error, 200)}" for name, error in self.errors.items()]
        if self.pass_at_k:
            lines.append(self._drawn())
        if any(score.says_nothing for _, score in self.rows()):
            lines.append(NO_WIDTH)
        if self.tokens["n_llm_calls"]:
            lines.append(_cost(self.tokens))
        return lines

    def _drawn(self) -> str:
        """pass@k, with the numbers of problems where they differ: its pass@1 is not the table's then."""
        most, numbers = max(self.pass_at_k), self.problems_at_k
        alike = numbers[1] == numbers[most]
        shown = [
            f"pass@{k} {value:.1%}" + (f" ({numbers[k]})" * (not alike))
            for k, value in self.pass_at_k.items()
            if value is not None
        ]
        what = f"of {most} samples" if alike else f"of up to {most} samples, averaged over (so many) problems"
        return f"{what}: {', '.join(shown) or 'none counts'}"

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.rows())
        lines = [f"{'':{width}}  pass@1      95 % interval   passed / counted (of n)"]
        for name, score in self.rows():
            value, interval = _cells(score)
            counts = f"{score.passed} / {score.scored}" + (
                f" (of {score.n})" if score.n != score.scored else ""
            )
            lines.append(f"{name:{width}}  {value:>6}   {interval:>16}   {counts}")
        return "\n".join([*lines, *self.notes()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [
            [escape(name), *_cells(score), str(score.passed), str(score.scored), str(score.n)]
            for name, score in self.rows()
        ]
        header = ["", "pass@1", "95 % interval", "passed", "counted", "n"]
        return table(header, rows) + "".join(f"<div>{escape(note)}</div>" for note in self.notes())


def _cells(score: Score) -> tuple[str, str]:
    if score.pass_at_1 is None or score.interval is None:
        return "-", "-"
    low, high = score.interval
    return f"{score.pass_at_1:.1%}", f"{low:.1%} to {high:.1%}"


def _cost(tokens: Mapping[str, int]) -> str:
    text = (
        f"{tokens['n_llm_calls']:,} model calls, {tokens['n_tool_calls']:,} tool calls, "
        f"{tokens['prompt_tokens']:,} tokens read, {tokens['completion_tokens']:,} written"
    )
    if tokens["calls_without_usage"]:
        text += f"; at least: {tokens['calls_without_usage']:,} calls came without usage"
    return text


def summarize(records: Sequence[Record]) -> Summary:
    """Count and score these records, each (problem, sample) once."""
    statuses = Counter(record.status for record in records)
    per_problem = Counter(record.problem_id for record in records)
    most = max(per_problem.values(), default=0)
    drawn = {k: mean_pass_at_k(records, k) for k in (*_DRAWN, most) if k <= most} if most > 1 else {}
    return Summary(
        n=len(records),
        problems=len(per_problem),
        statuses={str(status): statuses[status] for status in Status},
        overall=Score.of(records),
        extracted=Score.of(record for record in records if record.code is not None),
        without_errata=Score.of(record for record in records if record.erratum is None),
        by_difficulty=group(records, lambda record: record.difficulty, DIFFICULTIES),
        by_platform=group(records, lambda record: record.platform, PLATFORMS),
        by_mode=group(records, lambda record: record.mode, MODES),
        pass_at_k={k: value for k, (value, _) in drawn.items()},
        problems_at_k={k: number for k, (_, number) in drawn.items()},
        errors=_errors(records),
        stop_reasons=dict(sorted(Counter(filter(None, (record.stop_reason for record in records))).items())),
        tokens={name: sum(getattr(record, name) for record in records) for name in _TOKENS},
        seconds=round(sum(record.latency_s or 0.0 for record in records), 1),
    )


def _errors(records: Iterable[Record]) -> dict[str, str]:
    found: dict[str, Counter[str]] = {str(status): Counter() for status in _BROKEN}
    for record in records:
        if record.status in _BROKEN and record.error:
            found[record.status][record.error] += 1
    # Of equally many the first by its text, so that the order of the records has no say.
    return {name: min(own, key=lambda text: (-own[text], text)) for name, own in found.items() if own}


_BROKEN = (Status.AGENT_ERROR, Status.INFRA_ERROR, Status.JUDGE_ERROR)
_DRAWN = (1, 2, 5, 10, 20, 50, 100)
_TOKENS = (
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "reasoning_tokens",
    "cached_tokens",
    "n_llm_calls",
    "n_tool_calls",
    "calls_without_usage",
)
