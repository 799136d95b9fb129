"""Which problems to keep: ids, filters, offset and limit, applied in the dataset's order."""

import operator
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Protocol, TypeVar

from lcbkit.errors import BadValueError, UnknownProblemError
from lcbkit.rows.schema import DIFFICULTIES, PLATFORMS

__all__ = ["DateLike", "Selection"]

DateLike = str | date | datetime


class Selectable(Protocol):
    """What a selection looks at."""

    @property
    def id(self) -> str:
        """Id of the problem."""

    @property
    def difficulty(self) -> str:
        """One of `DIFFICULTIES`."""

    @property
    def platform(self) -> str:
        """One of `PLATFORMS`."""

    @property
    def contest_date(self) -> datetime:
        """When the contest began."""

    @property
    def erratum(self) -> str | None:
        """What is wrong with the problem, None if nothing is known."""


Item = TypeVar("Item", bound=Selectable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Filters, then an offset and a limit; ids lift the last two.

    Attributes:
        only: ids to keep; None keeps all.
        difficulty: difficulties to keep.
        platform: platforms to keep.
        start: first contest date to keep.
        end: last contest date to keep, the whole day included.
        drop_errata: leave out what LiveCodeBench lists as defective.
        offset: how many of what the filters kept to pass over.
        limit: how many to keep after that; None keeps all.
    """

    only: frozenset[str] | None = None
    difficulty: frozenset[str] = frozenset(DIFFICULTIES)
    platform: frozenset[str] = frozenset(PLATFORMS)
    start: date = date.min
    end: date = date.max
    drop_errata: bool = False
    offset: int = 0
    limit: int | None = None

    @classmethod
    def parse(
        cls,
        *,
        only: str | Iterable[str] | None = None,
        difficulty: str | Iterable[str] | None = None,
        platform: str | Iterable[str] | None = None,
        start_date: DateLike | None = None,
        end_date: DateLike | None = None,
        errata: str = "keep",
        offset: int = 0,
        limit: int | None = None,
    ) -> "Selection":
        """The selection that a caller's arguments describe.

        Raises:
            BadValueError: for a value outside of what is allowed, with the list of what is.
        """
        start = date.min if start_date is None else _day("start_date", start_date)
        end = date.max if end_date is None else _day("end_date", end_date)
        if start > end:
            raise BadValueError(f"start_date {start} is after end_date {end}; swap them")
        if errata not in ("keep", "drop"):
            raise BadValueError(f"errata is {errata!r}; allowed: 'keep', 'drop'")
        return cls(
            only=None if only is None else frozenset(_ids(only)),
            difficulty=_choice("difficulty", difficulty, DIFFICULTIES),
            platform=_choice("platform", platform, PLATFORMS),
            start=start,
            end=end,
            drop_errata=errata == "drop",
            offset=_count("offset", offset),
            limit=None if limit is None else _count("limit", limit),
        )

    def admits(self, item: Selectable) -> bool:
        """Whether ids and filters keep a problem; offset and limit do not count here."""
        return (
            (self.only is None or item.id in self.only)
            and item.difficulty in self.difficulty
            and item.platform in self.platform
            and self.start <= item.contest_date.date() <= self.end
            and not (self.drop_errata and item.erratum)
        )

    def take(self, items: Iterable[Item], *, skipped: Collection[str] = ()) -> Iterator[Item]:
        """Yield what is selected, and take no item more from `items` than that needs.

        Args:
            items: problems in the dataset's order.
            skipped: ids that exist but are not among `items`; it may grow while items are taken.

        Raises:
            UnknownProblemError: at the end of `items`, for an id of `only` that was in neither.
        """
        if self.only is not None:
            yield from self._take_ids(items, self.only, skipped)
            return
        left = self.limit
        if left == 0:
            return
        passed_over = 0
        for item in items:
            if not self.admits(item):
                continue
            if passed_over < self.offset:
                passed_over += 1
                continue
            yield item
            if left is not None and (left := left - 1) == 0:
                return

    def _take_ids(
        self, items: Iterable[Item], wanted: frozenset[str], skipped: Collection[str]
    ) -> Iterator[Item]:
        if not wanted:
            return
        seen: dict[str, None] = {}
        for item in items:
            seen[item.id] = None
            if self.admits(item):
                yield item
            if all(wanted_id in seen or wanted_id in skipped for wanted_id in wanted):
                return
        if unknown := sorted(wanted - seen.keys() - set(skipped)):
            raise UnknownProblemError(unknown[0], [*seen, *skipped], others=unknown[1:])


def _day(name: str, value: Any) -> date:
    """A date from a date, a datetime or ISO text; the time of day is dropped."""
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return datetime.fromisoformat(value).date()
    except (TypeError, ValueError):
        raise BadValueError(f"{name} is {value!r}; write a date as 2024-05-01") from None


def _ids(only: Any) -> Iterable[str]:
    ids = (only,) if isinstance(only, str) else tuple(only)
    if wrong := [value for value in ids if not isinstance(value, str)]:
        raise BadValueError(f"only holds {wrong[0]!r}; ids are text, as in only=['2727', 'abc301_a']")
    return ids


def _choice(name: str, value: Any, allowed: tuple[str, ...]) -> frozenset[str]:
    if value is None:
        return frozenset(allowed)
    values = (value,) if isinstance(value, str) else tuple(value)
    if wrong := [word for word in values if word not in allowed]:
        raise BadValueError(f"{name} is {wrong[0]!r}; allowed: {', '.join(allowed)}")
    return frozenset(values)


def _count(name: str, value: Any) -> int:
    try:
        count = -1 if isinstance(value, bool) else operator.index(value)  # also takes numpy's whole numbers
    except TypeError:
        count = -1
    if count < 0:
        raise BadValueError(f"{name} is {value!r}; it must be a whole number from 0 up")
    return count
