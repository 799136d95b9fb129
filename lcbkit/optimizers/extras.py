"""Packages that only some methods need: loaded when such a method runs, missed with a clear word."""

from importlib import import_module
from typing import Any

from lcbkit.optimizers.interface import ConfigError

__all__ = ["load_extra"]


def load_extra(module: str, *, method: str, extra: str) -> Any:
    """A module of an optional package.

    Args:
        module: its dotted name.
        method: who needs it.
        extra: of lcbkit's that installs it.

    Raises:
        ConfigError: if the package is not installed, or one that it needs is not.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ConfigError(
            f"{method} needs the package {package}, which cannot be imported ({error}); install it with "
            f"pip install 'lcbkit[{extra}]'"
        ) from error
