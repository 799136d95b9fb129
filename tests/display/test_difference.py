"""The first difference is the one that decided the verdict, and it is found in any two texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbkit.display.difference import first_difference


@pytest.mark.parametrize(
    ("expected", "actual", "wanted", "found"),
    [
        ("6\n", "7\n", "6", "7"),
        ("1\n2 3\n", "1\n2 4\n", "3", "4"),
        ("  1\n 2", "1\n9", "2", "9"),
        ("1 2\n3", "1.0 2e0\n4", "3", "4"),  # numbers on an all-number line compare by value
        ("x 1", "x 1.0", "", "."),  # beside a word they do not
        ("1 2 3", "1 2", "3", ""),
        ("1 2", "1 2 3", "", "3"),
        ("1\n2", "1", "2", ""),
        ("1", "1\n2", "", "2"),
        ("a b", "a  b", "b", " "),
        ("[1, [2, 3]]", "[1, [2, 4]]", "3", "4"),
        ("nan", "sNaN", "nan", "sNaN"),
        ("", "x", "", "x"),
    ],
)
def test_the_first_differing_word_is_found(expected: str, actual: str, wanted: str, found: str) -> None:
    place = first_difference(expected, actual)
    assert place is not None
    assert expected[slice(*place.expected)] == wanted
    assert actual[slice(*place.actual)] == found


@pytest.mark.parametrize(
    ("expected", "actual"),
    [("1 2\n3", "\n1.0   2\n3 \n\n"), ("a\n", "a"), ("", "\n"), ("1e3", "1000"), ("[1, 2]", "[1, 2]")],
)
def test_what_counts_as_the_same_has_no_difference(expected: str, actual: str) -> None:
    assert first_difference(expected, actual) is None


@given(st.text("ab1.0 \n-eE+", max_size=20), st.text("ab1.0 \n-eE+", max_size=20))
def test_any_two_texts_give_ranges_inside_them(expected: str, actual: str) -> None:
    place = first_difference(expected, actual)
    if place is not None:
        assert 0 <= place.expected[0] <= place.expected[1] <= len(expected)
        assert 0 <= place.actual[0] <= place.actual[1] <= len(actual)
        assert expected[slice(*place.expected)] != actual[slice(*place.actual)]
