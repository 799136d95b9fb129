"""Judging equal programs once: whose verdicts hold again, and taking them over within a batch.

A verdict is taken over only where judging again could give no other one: never where a clock, the machine or
chance had a part in it.
"""

import re
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing

from lcbkit.judging.report import Report, TestResult, Verdict
from lcbkit.problems import Problem

__all__ = ["is_steady", "iter_once", "may_repeat"]

_STEADY = frozenset({Verdict.PASSED, Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR, Verdict.OUTPUT_LIMIT})
_CHANCE = re.compile(
    r"\b(rand\w*|\w+random|getrandbits|shuffle|secrets|uuid\w*|tempfile|getpid|perf_counter\w*|monotonic\w*|"
    r"process_time\w*|time_ns|utcnow|datetime\.now|date\.today|resource|psutil)\b"
    r"|\b(choices?|sample|uniform|gauss|triangular|now|today|times?|ctime|id|object)\s*\(|\btime\s*\."
    r"|\b(import|from)\b[^\n]*\btime\b|\(\s*id\s*,|/proc\b"
)
_REPORTS = 32  # kept for programs that come later; each may hold megabytes
_WAITING = 256  # programs held back at one time; more are judged, so that no stream is read to its end

Pair = tuple[str, Problem]


def may_repeat(code: str) -> bool:
    """Whether a program does the same each time, as far as its text tells: it names no chance and clock."""
    return isinstance(code, str) and not _CHANCE.search(code)


def is_steady(report: Report, time_limit: float) -> bool:
    """Whether judging again would give the same verdicts, if the program does the same each time.

    Not so where the judge or a test was at fault, where time or memory ran out, where a signal ended the
    program (the system's own shortage of memory sends one), or where a test took more than half of the time
    limit: the next time it could take the other half as well.
    """
    return bool(report.results) and all(_is_steady(result, time_limit) for result in report.results)


def _is_steady(result: TestResult, time_limit: float) -> bool:
    return (
        result.verdict in _STEADY
        and result.signal is None
        and result.memory_bytes > 0  # else nothing ran: its judge was lost
        and max(result.cpu_seconds, result.wall_seconds) <= time_limit / 2
    )


def iter_once(
    pairs: Iterable[Pair],
    judge_all: Callable[[Iterator[Pair]], Generator[tuple[int, Report], None, None]],
    *,
    time_limit: float,
) -> Generator[tuple[int, Report], None, None]:
    """Judge pairs, equal ones once, and yield `(index, report)` as they finish.

    Args:
        pairs: program and problem; problems are told apart by identity.
        judge_all: judges what it is given, in the way of `Pool.iter_judge`.
        time_limit: of a test.
    """
    feed = _Feed(pairs)
    with closing(judge_all(iter(feed))) as found:
        for place, report in found:
            yield from feed.settle(place, report, is_steady(report, time_limit))
            yield from feed.ready()
    yield from feed.ready()
    left = list(feed.unsettled)
    with closing(judge_all(pair for _, pair in left)) as found:
        for place, report in found:
            yield left[place][0], report


class _Feed:
    """The pairs that are to be judged, the others held back until the equal one has its report."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._pairs = enumerate(pairs)
        self._given: dict[int, tuple[int, Pair]] = {}  # by their place in what was given out
        self._followers: dict[tuple[str, int], list[tuple[int, Pair]]] = {}
        self._waiting = 0
        self._reports: OrderedDict[tuple[str, int], tuple[Report, Problem]] = OrderedDict()
        self._ready: deque[tuple[int, Report]] = deque()
        self.unsettled: list[tuple[int, Pair]] = []

    def __iter__(self) -> Iterator[Pair]:
        place = 0
        for index, pair in self._pairs:
            if self._is_held_back(index, pair):
                continue
            self._given[place] = index, pair
            place += 1
            yield pair

    def _is_held_back(self, index: int, pair: Pair) -> bool:
        if not may_repeat(pair[0]):
            return False
        key = _key(pair)
        if key in self._reports and len(self._ready) < _WAITING:
            self._ready.append((index, self._reports[key][0]))
        elif key in self._followers and self._waiting < _WAITING:
            self._followers[key].append((index, pair))
            self._waiting += 1
        else:
            self._followers.setdefault(key, [])
            return False
        return True

    def settle(self, place: int, report: Report, steady: bool) -> Iterator[tuple[int, Report]]:
        """A report has come: it is yielded for its own pair, and for those that waited for it if it holds."""
        index, pair = self._given.pop(place)
        yield index, report
        followers = self._followers.pop(_key(pair), [])
        self._waiting -= len(followers)
        if not steady:
            self.unsettled += followers
            return
        if may_repeat(pair[0]):
            self._reports[_key(pair)] = report, pair[1]  # the problem too, so that its identity stays its own
            if len(self._reports) > _REPORTS:
                self._reports.popitem(last=False)
        yield from ((follower, report) for follower, _ in followers)

    def ready(self) -> Iterator[tuple[int, Report]]:
        """Pairs that came when the report was there already."""
        while self._ready:
            yield self._ready.popleft()


def _key(pair: Pair) -> tuple[str, int]:
    return pair[0], id(pair[1])
