"""What a run cost: in tokens, and in money where prices are given. None are shipped, since prices age."""

import json
import math
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from lcbkit.errors import BadValueError
from lcbkit.records import Record
from lcbkit.scoring.estimates import bootstrap_interval

__all__ = ["Cost", "Price", "PriceSource", "Prices", "amount", "cost_of"]

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Cost:
    """What records cost.

    Attributes:
        unit: `tokens`, read and written, or a currency.
        total: of all records, those that do not count in pass@1 included.
        per_problem: mean of a record that counts in pass@1: of one submission to a problem.
        interval: 95 % bootstrap interval of that mean, over problems.
        per_solved: what the counted records cost for each of them that passed; None when none did.
        at_least: some calls came without usage, so that the numbers are lower bounds.
    """

    unit: str = "tokens"
    total: float
    per_problem: float
    interval: tuple[float, float]
    per_solved: float | None
    at_least: bool

    def __str__(self) -> str:
        solved = "none was solved" if self.per_solved is None else f"{amount(self.per_solved)} a solved one"
        bound = "; at least, as some calls came without usage" * self.at_least
        return f"{amount(self.total)} {self.unit}: {amount(self.per_problem)} a problem, {solved}{bound}"

    __repr__ = __str__


def amount(value: float) -> str:
    """A number of money or tokens: small ones with three digits that count, never in powers of ten."""
    if value == 0 or value >= 100:
        return f"{value:,.0f}"
    return f"{value:.{max(2, 2 - math.floor(math.log10(value)))}f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a model costs per million tokens.

    Attributes:
        input: read ones.
        output: written ones.
        cached: read ones that the endpoint had cached; None means as much as others.
    """

    input: float
    output: float
    cached: float | None = None

    def of(self, record: Record) -> float:
        """What a record's tokens cost."""
        cached = min(record.cached_tokens, record.prompt_tokens)
        fresh = record.prompt_tokens - cached
        cached_price = self.input if self.cached is None else self.cached
        spent = fresh * self.input + cached * cached_price + record.completion_tokens * self.output
        return spent / _MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices by model.

    Attributes:
        models: by the name that records give; `provider:name` serves `name` as well.
        currency: what they are in.
        where: how messages name them.
    """

    models: Mapping[str, Price]
    currency: str = "USD"
    where: str = "the price table"

    @classmethod
    def of(cls, source: "PriceSource") -> "Prices":
        """Prices from a TOML or JSON file, or from what such a file holds.

        Args:
            source: by model a table with `input`, `output` and, if it differs from `input`, `cached`: prices
                per million tokens. Beside the models there may be a `currency`; without it, USD.

        Raises:
            BadValueError: names the file and what is wrong in it.
        """
        if isinstance(source, Prices):
            return source
        if isinstance(source, Mapping):
            return _parse(source, "the price table")
        path = Path(source).expanduser()
        try:
            text = path.read_text("utf-8")
            values = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        except OSError as error:
            raise BadValueError(f"cannot read the prices in {path}: {error.strerror or error}") from error
        except (ValueError, RecursionError) as error:
            kind = "JSON" if path.suffix == ".json" else "TOML"
            raise BadValueError(f"{path} is not {kind} ({error}); correct the file") from error
        if not isinstance(values, dict):
            raise BadValueError(f"{path} must hold a table of prices by model")
        return _parse(values, str(path))

    def price(self, model: str | None) -> Price:
        """The price of a model.

        Raises:
            BadValueError: when there is none; the text lists those that there are.
        """
        if model is not None and model in self.models:
            return self.models[model]
        for name, price in self.models.items():
            if model is not None and model == name.partition(":")[2]:
                return price
        known = ", ".join(self.models) or "no model"
        raise BadValueError(
            f"{self.where} has no price for {model or 'records without a model'}; it names {known}"
        )


PriceSource: TypeAlias = Prices | Mapping[str, Any] | str | Path
"""A price table, what one holds, or the TOML or JSON file in which it stands."""


def _parse(values: Mapping[str, Any], where: str) -> Prices:
    currency = values.get("currency", "USD")
    if not isinstance(currency, str) or not currency.strip():
        raise BadValueError(f"{where}: currency is {currency!r}; it must be a word such as USD")
    models = {name: _price(value, name, where) for name, value in values.items() if name != "currency"}
    return Prices(models=models, currency=currency, where=where)


def _price(value: Any, model: str, where: str) -> Price:
    names = set(value) if isinstance(value, Mapping) else set()
    if not {"input", "output"} <= names <= {"input", "output", "cached"}:
        nested = names and all(isinstance(part, Mapping) for part in value.values())
        hint = f'; in TOML a name with a dot stands in quotes: ["{model}.{min(names)}"]' if nested else ""
        raise BadValueError(
            f"{where}: the price of {model!r} must be a table with input and output, and cached if it "
            f"differs, not {value!r}{hint}"
        )
    for kind, number in value.items():
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < math.inf:
            raise BadValueError(
                f"{where}: the {kind} price of {model!r} is {number!r}; it must be a number per million "
                "tokens"
            )
    return Price(**value)


def cost_of(records: Sequence[Record], prices: Prices | None = None) -> Cost | None:
    """The cost of these records, in tokens or, with prices, in money; None where no tokens are reported.

    Raises:
        BadValueError: when a record's model has no price.
    """
    scored = [record for record in records if record.scored]
    if not any(record.total_tokens for record in scored):
        return None
    cost = {record.key: _spent(record, prices) for record in records}
    by_problem: dict[str, list[float]] = defaultdict(list)
    for record in scored:
        by_problem[record.problem_id].append(cost[record.key])
    counted, passed = sum(map(sum, by_problem.values())), sum(record.passed for record in scored)
    return Cost(
        unit=prices.currency if prices else "tokens",
        total=sum(cost.values()),
        per_problem=counted / len(scored),
        interval=bootstrap_interval([(sum(spent), len(spent)) for spent in by_problem.values()]),
        per_solved=counted / passed if passed else None,
        at_least=any(record.calls_without_usage for record in records),
    )


def _spent(record: Record, prices: Prices | None) -> float:
    if prices is None or not record.total_tokens:
        return record.total_tokens
    return prices.price(record.model).of(record)
