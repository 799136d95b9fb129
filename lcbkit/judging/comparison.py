"""Whether an output is the expected one: LiveCodeBench's rules, as pure functions.

The rules are its own. Neither comparison can be made to crash, or to take time or memory out of proportion to
the expected output.
"""

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation
from typing import Any

__all__ = ["same_output", "same_value"]

# The caller's decimal context may trap or round; comparisons must not depend on it.
_CONTEXT = Context(prec=50, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[InvalidOperation])


def same_output(actual: str, expected: str) -> bool:
    """Whether standard output matches.

    Both texts are stripped as a whole, split at line feeds, and their lines stripped. They match when there
    are as many lines and each equals its partner, or equals it token by token as `Decimal`.
    """
    actual, expected = actual.strip(), expected.strip()
    if actual == expected:
        return True
    if actual.count("\n") != expected.count("\n"):
        return False
    pairs = zip(actual.split("\n"), expected.split("\n"), strict=True)
    return all(a == e or _same_line(a.strip(), e.strip()) for a, e in pairs)


def _same_line(actual: str, expected: str) -> bool:
    if actual == expected:
        return True
    wanted = expected.split()
    given = actual.split(maxsplit=len(wanted))
    return len(given) == len(wanted) and all(map(_same_number, given, wanted))


def _same_number(actual: str, expected: str) -> bool:
    try:
        return bool(Decimal(actual, _CONTEXT).compare(Decimal(expected, _CONTEXT), _CONTEXT) == 0)
    except InvalidOperation:
        return False


def same_value(actual: Any, expected: Any) -> bool:
    """Whether a returned value equals the expected one by Python's `==` on plain data."""
    try:
        return bool(actual == expected)
    except (RecursionError, ArithmeticError):  # deeper than any expected value, or a NaN that signals
        return False
