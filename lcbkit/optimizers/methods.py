"""The methods by name; a method's module is loaded when it is made."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from lcbkit.errors import BadValueError
from lcbkit.optimizers.interface import Optimizer
from lcbkit.optimizers.knobs import with_settings

__all__ = ["METHODS", "make_optimizer"]

METHODS: Mapping[str, tuple[str, str]] = {
    # name: (class, settings), both in the module of that name
    "gepa": ("Gepa", "GepaSettings"),
    "hivemind": ("Hivemind", "HivemindSettings"),
    "identity": ("Identity", "IdentitySettings"),
    "mamut_gepa": ("MamutGepa", "MamutGepaSettings"),
    "mapro": ("Mapro", "MaproSettings"),
    "maspo": ("Maspo", "MaspoSettings"),
    "maspob": ("Maspob", "MaspobSettings"),
    "mipro": ("Mipro", "MiproSettings"),
    "tavo": ("Tavo", "TavoSettings"),
}


def make_optimizer(name: str, settings: Mapping[str, Any] | None = None) -> Optimizer:
    """A method, ready to run.

    Args:
        name: one of `METHODS`.
        settings: changes to its defaults, by the names of its settings.

    Raises:
        BadValueError: if there is no such method or setting, or a value is outside of its range.
    """
    if name not in METHODS:
        raise BadValueError(f"no method {name!r}; there is: {', '.join(sorted(METHODS))}")
    module = import_module(f"lcbkit.optimizers.{name}")
    method, knobs = (getattr(module, part) for part in METHODS[name])
    made: Optimizer = method(with_settings(knobs, settings or {}, owner=name))
    return made
