"""Both forms of packed tests, and what must never get through."""

import base64
import json
import os
import pickle
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_factory import pack, some_tests

from lcbkit.errors import DatasetError, UnusableTestsError
from lcbkit.rows.decoding import MAX_TEST_BYTES, count_tests, decode_tests

HERE = "row 7"
a_text = st.text(st.characters(exclude_categories=()))  # half surrogate pairs included
a_test = st.fixed_dictionaries(
    {"input": a_text, "output": a_text, "testtype": st.sampled_from(["stdin", "functional"])}
)


@given(st.lists(a_test), st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_packed_and_plain_tests_come_back_whole(tests: list[dict[str, str]], protocol: int) -> None:
    text = json.dumps(tests)
    assert decode_tests(text, where=HERE) == tests
    assert decode_tests(pack(text, protocol=protocol), where=HERE) == tests


def test_a_text_longer_than_a_pickle_frame_comes_back_whole() -> None:
    tests = [{"input": "1 " * 400_000, "output": "2", "testtype": "stdin"}]
    assert decode_tests(pack(json.dumps(tests)), where=HERE) == tests


def test_counting_gives_number_and_mode() -> None:
    assert count_tests(json.dumps(some_tests(3)), "[]", where=HERE) == (3, "stdin")
    assert count_tests(pack(json.dumps(some_tests(2, "functional"))), "[]", where=HERE) == (2, "functional")


class Shell:
    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, (self.command,)


def test_a_pickle_that_would_run_code_is_an_error_that_names_the_row(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    for value in (Shell(f"touch {victim}"), [json.dumps(some_tests(1)), Shell(f"touch {victim}")]):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(DatasetError, match=r"row 7.*more than a string") as caught:
                decode_tests(pack(value, protocol=protocol), where=HERE)
            assert not isinstance(caught.value, UnusableTestsError)  # never passed over in silence
    assert not victim.exists()


@pytest.mark.parametrize("value", [some_tests(1), b"[]", 7, None, {"a": "b"}, ("[]", "[]")])
def test_a_pickle_of_anything_but_a_string_is_an_error(value: object) -> None:
    with pytest.raises(DatasetError, match=r"row 7.*more than a string"):
        decode_tests(pack(value), where=HERE)


def test_a_pickle_that_reserves_memory_costs_none() -> None:
    greedy = b"\x80\x04r\xff\xff\xff\x7f" + pickle.dumps("[]")[2:]  # stores at place 2**31 - 1 of the memo
    tracemalloc.start()
    with pytest.raises(UnusableTestsError):
        count_tests(base64.b64encode(zlib.compress(greedy)).decode(), "[]", where=HERE)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def test_a_decompression_bomb_is_an_error_and_never_fills_the_memory() -> None:
    # A full flush makes a block that stands alone, so the same one can be repeated.
    deflate = zlib.compressobj(9, wbits=-15)
    block = deflate.compress(bytes(1 << 26)) + deflate.flush(zlib.Z_FULL_FLUSH)
    bomb = b"\x78\x9c" + block * (MAX_TEST_BYTES // (1 << 26) + 1)
    assert len(bomb) < 2_000_000
    tracemalloc.start()
    with pytest.raises(DatasetError, match=r"row 7.*1,073,741,824 bytes") as caught:
        decode_tests(base64.b64encode(bomb).decode(), where=HERE)
    assert tracemalloc.get_traced_memory()[1] < 100_000_000
    tracemalloc.stop()
    assert not isinstance(caught.value, UnusableTestsError)


PACKED = pack(json.dumps(some_tests(3)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "!!not-base64!!",
        "[{" + json.dumps(some_tests(2)),
        PACKED[: len(PACKED) // 2],
        base64.b64encode(b"no zlib").decode(),
        base64.b64encode(zlib.compress(b"no pickle")).decode(),
        base64.b64encode(zlib.compress(pickle.dumps(json.dumps(some_tests(2)))[:-1])).decode(),
        pack("not JSON"),
        pack("[" * 100_000),
        "[" * 100_000,
        "{}",
        "null",
        '["text"]',
        '[{"input": "1", "output": "2"}]',
        '[{"input": 1, "output": "2", "testtype": "stdin"}]',
        '[{"input": "1", "output": null, "testtype": "stdin"}]',
        '[{"input": "1", "output": "2", "testtype": "interactive"}]',
        '[{"input": "1", "output": "2", "testtype": ["stdin"]}]',
        "[]",
        json.dumps(some_tests(1) + some_tests(1, "functional")),
    ],
)
def test_what_is_not_a_list_of_tests_is_unusable(text: str) -> None:
    with pytest.raises(UnusableTestsError, match="row 7"):
        count_tests(text, "[]", where=HERE)


@pytest.mark.parametrize("public", ["garbled", json.dumps(some_tests(1, "functional"))])
def test_public_tests_that_are_broken_or_of_another_mode_are_unusable(public: str) -> None:
    with pytest.raises(UnusableTestsError, match="row 7"):
        count_tests(PACKED, public, where=HERE)
