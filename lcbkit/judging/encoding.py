"""Typed plain data that a submission's process wrote, read back outside of it.

The bytes come from a process that nobody trusts. Whatever they hold, reading them yields plain values or
`MALFORMED`; it runs no code, and a forger gains only what returning the same value would have gained.
"""

import json
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

__all__ = ["MALFORMED", "Opaque", "decode_value", "parse_json"]

_CONTEXT = Context(traps=[])
# Hashes of numbers can be chosen so that all are equal, and then building a set takes quadratic time.
_MOST_HASHED = 256
_decode = json.JSONDecoder(parse_constant=float).decode


@dataclass(frozen=True, slots=True, eq=False)
class Opaque:
    """What plain data cannot hold, such as a generator: equal to nothing, shown as Python shows it."""

    text: str

    def __repr__(self) -> str:
        return self.text


MALFORMED = Opaque("something that the judge cannot read")


def parse_json(text: str) -> Any:
    """Decode one JSON value, whatever this process's limit on the digits of ints.

    Every NaN is an object of its own: Python finds two lists equal that hold the same NaN object.

    Raises:
        ValueError: the text is not JSON, nested too deeply, or holds a number of absurd length.
    """
    try:
        return _decode(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except json.JSONDecodeError:
        raise
    except ValueError:  # an int with more digits than this process converts
        return json.loads(text, parse_constant=float, parse_int=_long_int)


def _long_int(digits: str) -> int:
    if len(digits) < 4_000:
        return int(digits)
    if len(digits) > 50_000:
        raise ValueError(f"an integer of {len(digits)} digits")
    return int(Decimal(digits))


def decode_value(payload: bytes) -> Any:
    """Read what `guest.encode_value` wrote; `MALFORMED` for anything else."""
    try:
        text = payload[1:].decode("ascii")
        if payload[:1] == b"J":
            return parse_json(text)
        if payload[:1] == b"T":
            return _untag(parse_json(text))
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, MemoryError):
        pass
    return MALFORMED


def _untag(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    tag, items = value[0], value[1:]
    if tag == "l":
        return [_untag(item) for item in items]
    if tag == "t":
        return tuple(_untag(item) for item in items)
    if tag in ("s", "d") and len(items) > _MOST_HASHED and not _all_texts(tag, items):
        return Opaque(f"a {'set' if tag == 's' else 'dict'} of {len(items)} items")
    if tag == "s":
        return {_untag(item) for item in items}
    if tag == "d":
        return {_untag(key): _untag(item) for key, item in items}
    if tag == "n":
        return int(items[0], 16)
    if tag == "c":
        return complex(*items)
    if tag == "D":
        return Decimal(items[0], _CONTEXT)
    if tag == "F":
        return Fraction(int(items[0], 16), int(items[1], 16))
    return Opaque(str(items[0]).encode("utf-8", "replace").decode())


def _all_texts(tag: str, items: list[Any]) -> bool:
    return all(isinstance(item if tag == "s" else item[0], str) for item in items)
