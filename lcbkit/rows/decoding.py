"""Safe reading of a row's tests: plain JSON, or base64 of zlib of a pickled JSON string.

Nothing is unpickled. The pickle's opcodes are read one by one, and only those that spell out one string are
accepted, so that a hostile file can neither run code nor reserve memory. Decompression is bounded.

Source:
    The packing is LiveCodeBench's, `code_generation_lite`.
"""

import base64
import binascii
import json
import pickletools
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from lcbkit.errors import DatasetError, UnusableTestsError

__all__ = ["MAX_TEST_BYTES", "count_tests", "decode_tests"]

MAX_TEST_BYTES = 1 << 30
"""Unpacked tests of one row may hold 1 GiB; LiveCodeBench's largest rows stay far below it."""

_CHUNK = 2_048  # deflate expands at most 1,032 times, so one step holds some 2 MB at most
_MODES = ("stdin", "functional")
_STRINGS = frozenset({"UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"})
_HARMLESS = frozenset({"PROTO", "FRAME", "MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT"})


def decode_tests(text: str, *, where: str) -> list[dict[str, str]]:
    """The tests of a row, each a dict with `input`, `output` and `testtype`.

    Args:
        text: a field of the row: JSON text of a list of tests, or that text packed.
        where: how messages name the row.

    Raises:
        UnusableTestsError: when the text cannot be decoded, or is not a list of such dicts.
        DatasetError: for a pickle that holds anything but a string, and for tests that unpack to more than
            `MAX_TEST_BYTES`.
    """
    try:
        tests = json.loads(text)
    except (ValueError, RecursionError):
        tests = _parse(_unpack(text, where), where)
    if not isinstance(tests, list) or not all(_is_test(test) for test in tests):
        raise UnusableTestsError(f"{where}: its tests are not a list of input, output and testtype")
    return tests


def count_tests(hidden: str, public: str, *, where: str) -> tuple[int, str]:
    """How many hidden tests a row has, and the mode of all its tests; they are dropped again.

    Args:
        hidden: the field of the hidden tests.
        public: the field of the public tests, of which there may be none.
        where: how messages name the row.

    Returns:
        The number of hidden tests, and `stdin` or `functional`.

    Raises:
        UnusableTestsError: also when there is no hidden test, or when tests of both modes are mixed.
        DatasetError: as `decode_tests`.
    """
    modes = Counter(test["testtype"] for test in decode_tests(hidden, where=where))
    if not modes:
        raise UnusableTestsError(f"{where}: it has no hidden tests")
    if len({*modes, *(test["testtype"] for test in decode_tests(public, where=where))}) > 1:
        raise UnusableTestsError(f"{where}: it mixes stdin and functional tests")
    return modes.total(), next(iter(modes))


def _is_test(test: Any) -> bool:
    return (
        isinstance(test, dict)
        and isinstance(test.get("input"), str)
        and isinstance(test.get("output"), str)
        and test.get("testtype") in _MODES
    )


def _unpack(text: str, where: str) -> str:
    """The JSON text inside a packed field."""
    try:
        packed = base64.b64decode(text)
    except (binascii.Error, ValueError):
        raise UnusableTestsError(f"{where}: its tests are neither JSON nor base64") from None
    try:
        size = sum(_unpacked_sizes(packed, where))
        pickled = zlib.decompress(packed, bufsize=max(size, 1))
    except zlib.error as error:
        raise UnusableTestsError(f"{where}: its tests do not decompress ({error})") from None
    return _pickled_string(pickled, where)


def _unpacked_sizes(packed: bytes, where: str) -> Iterator[int]:
    """Decompress once for the size alone, so that a bomb never fills the memory."""
    inflate = zlib.decompressobj()
    total = 0
    for start in range(0, len(packed), _CHUNK):
        size = len(inflate.decompress(packed[start : start + _CHUNK]))
        total += size
        if total > MAX_TEST_BYTES:
            raise DatasetError(
                f"{where}: its tests unpack to more than {MAX_TEST_BYTES:,} bytes, which no problem needs "
                "(a decompression bomb?); remove the row"
            )
        yield size


def _pickled_string(pickled: bytes, where: str) -> str:
    """The one string that a pickle holds."""
    found: list[str] = []
    try:
        for opcode, value, _ in pickletools.genops(pickled):
            if opcode.name in _STRINGS and not found:
                found.append(str(value))
            elif opcode.name == "STOP" and found:
                return found[0]
            elif opcode.name not in _HARMLESS:
                raise DatasetError(
                    f"{where}: the pickle of its tests holds more than a string ({opcode.name}) and was not "
                    "loaded; get the data from a source you trust, or remove the row"
                )
    except (ValueError, OverflowError) as error:
        raise UnusableTestsError(f"{where}: its tests are no pickle ({error})") from None
    raise UnusableTestsError(f"{where}: the pickle of its tests is cut off")


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnusableTestsError(f"{where}: its unpacked tests are not JSON ({error})") from None
