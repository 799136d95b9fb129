import json
from pathlib import Path

import pytest

from lcbkit.records import Record, Status
from lcbkit.results import Run
from lcbkit.scoring.costs import Price, Prices

TOML = """
currency = "EUR"
["gpt-x"]
input = 2.0
output = 10
cached = 0.5
["host:other"]
input = 1
output = 1
"""


def record(name: str, read: int, written: int, **facts: object) -> Record:
    given = {"model": "gpt-x", "passed": False} | facts
    return Record(problem_id=name, prompt_tokens=read, completion_tokens=written, **given)  # type: ignore[arg-type]


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.toml"
    path.write_text(TOML)
    return path


def test_money_is_tokens_by_price_with_cached_ones_apart(prices: Path) -> None:
    run = Run([record("a", 1_000_000, 100_000, cached_tokens=400_000, passed=True)])
    cost = run.cost(prices)
    assert cost is not None
    assert cost.total == pytest.approx(0.6 * 2.0 + 0.4 * 0.5 + 0.1 * 10)
    assert cost.unit == "EUR"


def test_cached_tokens_cost_as_others_unless_they_have_a_price() -> None:
    assert Price(input=2.0, output=0.0).of(record("a", 1_000_000, 0, cached_tokens=500_000)) == 2.0


def test_cost_is_told_in_all_a_problem_and_a_solved_one(prices: Path) -> None:
    outage = record("d", 1_000_000, 0, status=Status.INFRA_ERROR)
    run = Run([record("a", 1_000_000, 0, passed=True), record("b", 500_000, 0), record("c", 0, 0), outage])
    cost = run.cost(prices)
    assert cost is not None
    assert (cost.total, cost.per_problem, cost.per_solved) == (5.0, 1.0, 3.0)
    assert str(cost) == repr(cost) == "5.00 EUR: 1.00 a problem, 3.00 a solved one"
    tokens = run.cost()
    assert tokens is not None
    assert (tokens.unit, tokens.total, tokens.per_problem) == ("tokens", 2_500_000, 500_000)


def test_without_tokens_there_is_no_cost(prices: Path) -> None:
    assert Run([Record(problem_id="a", passed=True)]).cost(prices) is None
    assert Run([]).cost() is None


def test_calls_without_usage_make_it_a_lower_bound(prices: Path) -> None:
    cost = Run([record("a", 10, 10), record("b", 0, 0, calls_without_usage=2)]).cost(prices)
    assert "at least" in str(cost)
    assert "none was solved" in str(cost)


def test_small_sums_keep_their_digits() -> None:
    cost = Run([record("a", 123, 0)]).cost({"gpt-x": {"input": 0.1, "output": 0}})
    assert str(cost).startswith("0.0000123 USD")


def test_json_serves_as_well_and_a_provider_before_the_name(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text(json.dumps({"host:other": {"input": 1, "output": 1}}))
    cost = Run([record("a", 1_000_000, 0, model="other")]).cost(path)
    assert cost is not None
    assert (cost.total, cost.unit) == (1.0, "USD")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[gpt", "not TOML"),
        ('["gpt-x"]\ninput = 1', "input and output"),
        ('["gpt-x"]\ninput = 1\noutput = 2\nother = 3', "input and output"),
        ('["gpt-x"]\ninput = "1"\noutput = 2', "number"),
        ('["gpt-x"]\ninput = -1\noutput = 2', "number"),
        ('["gpt-x"]\ninput = nan\noutput = 2', "number"),
        ('["gpt-x"]\ninput = true\noutput = 2', "number"),
        ("gpt = 1", "input and output"),
        ("[gpt-4.1-mini]\ninput = 1\noutput = 2", 'in quotes: ["gpt-4.1-mini"]'),
        ("currency = 1", "currency"),
    ],
)
def test_a_table_that_is_none_is_named_with_what_is_wrong(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"prices\.toml") as caught:
        Prices.of(path)
    assert words in str(caught.value)


def test_a_file_nested_too_deeply_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text("[" * 100_000)
    with pytest.raises(ValueError, match="not JSON"):
        Prices.of(path)


@pytest.mark.parametrize("order", [1, -1])
def test_a_models_own_name_goes_before_that_of_a_provider(order: int) -> None:
    table = {"openai:m": {"input": 7, "output": 7}, "m": {"input": 1, "output": 1}}
    assert Prices.of(dict(list(table.items())[::order])).price("m").input == 1


@pytest.mark.parametrize("name", ["none.toml", "none.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Prices.of(tmp_path / name)


def test_a_model_without_a_price_is_named_with_those_that_have_one(prices: Path) -> None:
    with pytest.raises(ValueError, match="no price for best; it names gpt-x, host:other"):
        Run([record("a", 1, 1, model="best")]).cost(prices)
