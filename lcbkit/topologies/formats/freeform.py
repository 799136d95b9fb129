"""Freeform: agents write as they like, and a text is handed on whole, inside a fence."""

from lcbkit.topologies.reports import MessageFormat, Parsed

__all__ = ["FORMAT"]


def _parse(_text: str) -> Parsed:
    """Every text is right, and holds no report."""
    return Parsed(ok=True, report=None)


FORMAT = MessageFormat(contract="", parse=_parse, render=None)
