"""Outputs match by LiveCodeBench's rules, and nothing printed makes the comparison crash or crawl."""

import decimal
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbkit.judging.comparison import same_output, same_value


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        ("6\n", "6"),
        ("1 2 \r\n3\r\n\n\n", "1 2\n3"),
        ("\n a \n b", "a\nb"),
        ("1.0\n\n", "1"),
        ("1_000", "1000"),
        ("1e3 -0.0", "1000 0"),
        ("0.10 2", "0.1   2"),
        ("\n", ""),
        ("nan", "nan"),
        ("١٢", "12"),  # Decimal reads every script's digits, and so does the official checker
        ("1e999999999", "10e999999998"),
    ],
)
def test_outputs_that_match(actual: str, expected: str) -> None:
    assert same_output(actual, expected)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        ("5", "6"),
        ("Yes", "YES"),
        ("a  b", "a b"),
        ("50000000000000001", "50000000000000000"),
        ("0.30000000000000004", "0.3"),
        ("NaN", "nan"),
        ("nan 1.0", "nan 1"),
        ("sNaN", "1"),
        ("1", "sNaN"),
        ("1\x0c2", "1\n2"),
        ("6\x00", "6"),
        ("1 2 3", "1 2"),
        ("1 2", "1 2 3"),
        ("1\n\n2", "1\n2"),
        ("1e99999999999999999999", "2"),
        ("inf", "1e999999999999999999"),
        ("", "0"),
    ],
)
def test_outputs_that_do_not_match(actual: str, expected: str) -> None:
    assert not same_output(actual, expected)


def test_many_digits_and_many_tokens_are_compared_in_no_time() -> None:
    start = time.process_time()
    assert same_output("1" * 200_000 + ".0", "1" * 200_000)
    assert same_output(" ".join(["1.0"] * 100_000), " ".join(["1"] * 100_000))
    assert not same_output("9 " * 5_000_000, "9 9 9")
    assert not same_output("\n" * 5_000_000 + "1\n" * 5_000_000, "1\n1\n2")
    assert time.process_time() - start < 10


def test_the_callers_decimal_context_changes_nothing() -> None:
    with decimal.localcontext(prec=1, traps=[decimal.Inexact, decimal.Rounded, decimal.FloatOperation]):
        assert same_output("1.2345", "1.23450")
        assert not same_output("1.2345", "1.2346")
    with decimal.localcontext(traps=[]):
        assert not same_output("word", "1")


words = st.text(st.characters(exclude_categories=("Z", "C")), min_size=1)
tokens = st.one_of(st.integers().map(str), st.floats().map(str), words)
lines = st.lists(st.lists(tokens, max_size=4).map(" ".join), max_size=4)


@given(lines, st.sampled_from(["", " ", "\t", "\r"]), st.sampled_from(["", "\n", " \n\n"]))
def test_white_space_around_lines_and_output_counts_for_nothing(text: list[str], pad: str, tail: str) -> None:
    padded = "\n".join(pad + line + pad for line in text) + tail
    assert same_output(padded, "\n".join(text))


@given(st.lists(st.integers(), min_size=1), st.integers(min_value=1))
def test_one_number_off_is_wrong(numbers: list[int], step: int) -> None:
    wrong = [*numbers[:-1], numbers[-1] + step]
    assert not same_output(" ".join(map(str, wrong)), " ".join(map(str, numbers)))


@given(lines, lines)
def test_matching_is_symmetric(one: list[str], other: list[str]) -> None:
    a, b = "\n".join(one), "\n".join(other)
    assert same_output(a, b) == same_output(b, a)


def test_values_are_equal_as_python_says() -> None:
    assert same_value([1, True, 2.0], [1.0, 1, 2])
    assert not same_value([(1, 2)], [[1, 2]])
    assert not same_value({1, 2}, [1, 2])
    assert not same_value("1", 1)


def test_nests_too_deep_to_compare_are_not_equal() -> None:
    one: list[object] = []
    other: list[object] = []
    for _ in range(200_000):
        one, other = [one], [other]
    assert not same_value(one, other)
