"""What commands say beside their results."""

import contextlib

import click

__all__ = ["say"]


def say(sentence: str) -> None:
    """Write a sentence to standard error; a log on a full disk is no reason to fail."""
    with contextlib.suppress(OSError):
        click.echo(f"lcb: {sentence}", err=True)
