"""The table's order, as Python tells it; tests/browser holds the page to the same."""

from lcbkit.widgets.table import DataTable, natural_key


def table(**traits: object) -> DataTable:
    columns = [
        {"key": "id", "label": "id"},
        {"key": "level", "label": "level", "order": ["easy", "hard"]},
        {"key": "seconds", "label": "seconds"},
    ]
    rows = [["p10", "hard", 1.5], ["p9", "easy", None], ["P2", "hard", 10], ["p1", "easy", 2]]
    return DataTable(columns=columns, rows=rows, **traits)


def names(shown: DataTable) -> list[object]:
    return [row[0] for row in shown.in_order()]


def test_rows_keep_their_own_order_until_a_column_sorts() -> None:
    assert names(table()) == ["p10", "p9", "P2", "p1"]


def test_numbers_inside_texts_sort_by_value_and_capitals_do_not_count() -> None:
    assert names(table(sort_key="id")) == ["p1", "P2", "p9", "p10"]
    assert natural_key("abc301_a") < natural_key("abc1000_a")


def test_values_sort_as_ranked_and_ties_keep_their_order_both_ways() -> None:
    assert names(table(sort_key="level")) == ["p9", "p1", "p10", "P2"]
    assert names(table(sort_key="level", sort_desc=True)) == ["p10", "P2", "p9", "p1"]


def test_a_missing_value_is_last_both_ways() -> None:
    assert names(table(sort_key="seconds")) == ["p10", "p1", "P2", "p9"]
    assert names(table(sort_key="seconds", sort_desc=True)) == ["P2", "p1", "p10", "p9"]
