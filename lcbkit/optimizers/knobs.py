"""A method's settings from what a user gave: each name known, each value of its kind."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from typing import Any, get_type_hints

from lcbkit.errors import BadValueError

__all__ = ["check_least", "with_settings"]

_SIGNED = ("seed", "rng_base")
"""Whole numbers that count nothing."""

_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def with_settings(kind: type, given: Mapping[str, Any], *, owner: str) -> Any:
    """Settings with some of their defaults changed.

    Args:
        kind: their class, a dataclass whose fields are numbers, texts, switches or such classes again.
        given: values by name; for a group of settings a mapping of its own.
        owner: whose they are, for the messages.

    Raises:
        BadValueError: no such setting, a value of another kind, or one outside of its range.
    """
    known, hints = [field.name for field in fields(kind)], get_type_hints(kind)
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, 1)
            meant = f" (did you mean {near[0]}?)" if near else ""
            raise BadValueError(
                f"{owner} has no setting {name!r}{meant}; it has: {', '.join(known) or 'none at all'}"
            )
    values = {name: _value(hints[name], value, f"{owner}.{name}") for name, value in given.items()}
    try:
        return kind(**values)
    except BadValueError as error:
        raise BadValueError(f"{owner}: {error}") from error


def check_least(settings: Any, **least: float) -> None:
    """Make sure that some settings are not too small.

    Args:
        settings: of a method.
        **least: the least value, by the setting's name.

    Raises:
        BadValueError: one is below it.
    """
    for name, value in least.items():
        if getattr(settings, name) < value:
            raise BadValueError(f"{name} is {getattr(settings, name)}; it must be at least {value}")


def _value(kind: Any, value: Any, name: str) -> Any:
    if is_dataclass(kind) and isinstance(kind, type):
        if isinstance(value, kind):
            return value
        if not isinstance(value, Mapping):
            raise BadValueError(f"the setting {name} is {value!r}; it is a group of settings, by name")
        return with_settings(kind, value, owner=name)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if kind in _KINDS and (type(value) is not kind or (kind is float and not math.isfinite(value))):
        raise BadValueError(f"the setting {name} is {value!r}; it must be {_KINDS[kind]}")
    counts = kind is int and not name.endswith(_SIGNED)
    if (counts or name.endswith("temperature")) and value < 0:
        raise BadValueError(f"the setting {name} is {value}; it must not be negative")
    return value
