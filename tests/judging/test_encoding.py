"""What a program's process writes is read back as it was, and forgeries are read as nothing."""

import sys
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbkit.judging.encoding import MALFORMED, Opaque, decode_value, parse_json
from lcbkit.judging.guest import encode_value


@pytest.fixture(autouse=True)
def _own_recursion_limit() -> Iterator[None]:
    """Encoding lowers it, in a process that is about to end."""
    limit = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(limit)


def passed_on(value: Any) -> Any:
    limit = sys.getrecursionlimit()
    try:
        return decode_value(encode_value(value))
    finally:
        sys.setrecursionlimit(limit)


def shape(value: Any) -> Any:
    """A value with its containers' types, which `==` alone would not tell."""
    if isinstance(value, (list, tuple)):
        return (type(value), [shape(item) for item in value])
    if isinstance(value, dict):
        return (dict, {key: shape(item) for key, item in value.items()})
    return (type(value), value)


keys = st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.tuples(st.integers(), st.text()))
plain = st.recursive(
    st.one_of(
        keys,
        st.floats(allow_nan=False),
        st.sets(st.integers()),
        st.decimals(allow_nan=False),
        st.fractions(),
        st.complex_numbers(allow_nan=False),
    ),
    lambda inner: st.one_of(st.lists(inner), st.tuples(inner, inner), st.dictionaries(keys, inner)),
)


@given(plain)
def test_plain_data_comes_back_with_its_types(value: Any) -> None:
    assert shape(passed_on(value)) == shape(value)


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "same_as"),
    [
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(a=1), {"a": 1}),
        (defaultdict(list, {1: [2]}), {1: [2]}),
        ([Point(1, 2)], [(1, 2)]),
        (numpy.int64(6), 6),
        ([numpy.int32(6), numpy.float32(0.5), numpy.bool_(True)], [6, 0.5, True]),
        ({numpy.int64(1): numpy.float64(2)}, {1: 2.0}),
        ([numpy.longdouble("0.5"), numpy.longdouble("inf")], [0.5, float("inf")]),
        (10**6_000, 10**6_000),
        ("\ud800", "\ud800"),
        ("\U0001f600\x00", "\U0001f600\x00"),
        (Fraction(6, 2), 3),
        (Decimal("6"), 6),
        (frozenset({1}), {1}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_subclasses_and_numbers_count_as_what_they_hold(value: Any, same_as: Any) -> None:
    assert passed_on(value) == same_as


class AlwaysEqual:
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1

    def __repr__(self) -> str:
        return "6"


class EqualList(list[int]):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class Falling:
    def __repr__(self) -> str:
        raise KeyboardInterrupt


def cycle() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


def nest(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        AlwaysEqual(),
        [AlwaysEqual()],
        EqualList([1]),
        deque([3]),
        (item for item in [3]),
        range(3),
        b"6",
        numpy.array([3]),
        numpy.nextafter(numpy.longdouble(6), 7),
        numpy.longdouble("nan"),
        Falling(),
        cycle(),
        nest(100_000),
        {"a": 1}.items(),
        int,
    ],
    ids=lambda value: type(value).__name__,
)
def test_nothing_else_equals_an_expected_value(value: Any) -> None:
    back = passed_on(value)
    for expected in (6, [3], [6], {}, None, "6", [0, 1, 2], True):
        assert (back == expected) is (expected == back) is False


@pytest.mark.parametrize(
    "payload",
    [
        *(b"", b"J", b"T", b"X1", b"J[", b"J\xff", b"Jnope", b"T[]", b'T["s",["l"]]', b'T["d",["l"]]'),
        *(b'T["F","0x1","0x0"]', b'T["c","x","y"]', b'T["n","12"', b'T["d",1]', b"J" + b"[" * 100_000),
        b"J" + b"9" * 60_000,
    ],
)
def test_what_no_value_writes_is_malformed(payload: bytes) -> None:
    assert decode_value(payload) is MALFORMED


@given(st.binary(max_size=60))
def test_no_bytes_make_the_reader_fail(data: bytes) -> None:
    for kind in (b"J", b"T", b"T[", b""):
        decode_value(kind + data)


def test_equal_texts_of_opaque_things_are_not_equal() -> None:
    assert Opaque("x") != Opaque("x")


def test_every_nan_is_its_own() -> None:
    assert parse_json("[NaN]") != parse_json("[NaN]")


def test_long_integers_are_read_whatever_this_process_allows() -> None:
    sys.set_int_max_str_digits(1_000)
    try:
        assert parse_json("[1" + "0" * 5_000 + "]") == [10**5_000]
        with pytest.raises(ValueError, match="60000 digits"):
            parse_json("9" * 60_000)
    finally:
        sys.set_int_max_str_digits(4_300)


@pytest.mark.parametrize("text", ["", "nope", "[1", "1 2", "[" * 100_000])
def test_what_is_not_json_is_an_error_of_one_kind(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|Extra data|nested too deeply"):
        parse_json(text)
