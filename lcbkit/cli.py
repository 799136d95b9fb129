"""The `lcb` command: results on standard output, talk on standard error, exit codes that scripts can trust.

0 done, 1 nothing matched or a check failed, 2 wrong use or bad input, 3 too many infrastructure errors,
130 interrupted. Each command parses, calls one library function and prints; the library does the work.
"""

import contextlib
import errno
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from types import FrameType
from typing import Any, NoReturn

import click

import lcbkit
from lcbkit.commands.optimizing import aggregate, optimize
from lcbkit.commands.plotting import plot
from lcbkit.commands.problems import judge, problems
from lcbkit.commands.results import compare, rejudge, show
from lcbkit.commands.solving import demo, demo_with_flags_of_run, run
from lcbkit.commands.sweeping import sweep
from lcbkit.commands.upkeep import doctor, notebooks, record
from lcbkit.errors import LcbkitError
from lcbkit.topologies.roles import TOPOLOGIES

__all__ = ["benchmark", "lcb", "main", "protocol"]

INTERRUPTED = 130
_CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run `lcb` and leave with its exit code; a user's mistake is one line, never a traceback."""
    sys.exit(_run(lcb, args, "lcb"))


def benchmark(topology: str, args: Sequence[str] | None = None) -> NoReturn:
    """What `python -m lcbkit.topologies.<name>` does: the demo, or with `--batch` the batch of `lcb run`.

    Both take the flags of `lcb run`.
    """
    given = list(sys.argv[1:] if args is None else args)
    command = run if {"--batch", "-h", "--help"} & set(given) else demo_with_flags_of_run
    sys.exit(_run(command, [topology, *given], f"python -m lcbkit.topologies.{topology}"))


def protocol(args: Sequence[str] | None = None) -> NoReturn:
    """What `python -m lcbkit.optimizers.run` does: `lcb optimize`."""
    sys.exit(_run(optimize, args, "python -m lcbkit.optimizers.run"))


def _run(command: click.Command, args: Sequence[str] | None, name: str) -> int:
    signal.signal(signal.SIGTERM, _interrupt)
    _open_closed_streams()
    given = _each_id_with_its_flag(sys.argv[1:] if args is None else args)
    warnings.showwarning = _say_warning
    try:
        code = command.main(args=given, prog_name=name, standalone_mode=False, **_CONTEXT)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except LcbkitError as error:
        click.echo(f"lcb: {error}", err=True)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo(
            "lcb: interrupted; what is finished is saved, the same command goes on from there", err=True
        )
        return INTERRUPTED
    except BrokenPipeError:  # `lcb problems | head`: the reader has left, which is its right
        _write_no_more()
        return 0
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        place = f"to {error.filename}" if error.filename else "the results to standard output"
        advice = "free space there and run the same again"
        with contextlib.suppress(OSError):
            click.echo(f"lcb: cannot write {place}: {error.strerror}; {advice}", err=True)
        _write_no_more()
        return LcbkitError.exit_code


def _open_closed_streams() -> None:
    """Put the null device where the caller has closed a standard stream, as `lcb show RUN >&-` does.

    Python has no object for such a one, and the next file that is opened would get its number.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            os.set_inheritable(null, True)
            stream = open(null, "r" if number == 0 else "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


def _write_no_more() -> None:
    """Let nothing that is still in the buffer fail as the interpreter ends."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning as a sentence, without the place in our code that Python puts before it."""
    with contextlib.suppress(OSError):  # a log on a full disk is no reason to end what runs
        click.echo(f"lcb: {message}", err=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End as Ctrl-C does: a running event loop has a handler of its own for it, which cancels in order."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):  # a job in the background, which ignores it
        raise KeyboardInterrupt
    handler(number, frame)


def _each_id_with_its_flag(args: Sequence[str]) -> list[str]:
    """`--only A B` as `--only A --only B`: the benchmark's habit, which click's options lack."""
    given: list[str] = []
    for argument in args:
        continues = len(given) > 1 and given[-2] == "--only" and given[-1] != "--only"
        if continues and not argument.startswith("-") and argument not in TOPOLOGIES:
            given.append("--only")
        given.append(argument)
    return given


class _Commands(click.Group):
    """A group whose help gives each command's whole sentence, in the order of a first visit."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [
            (name, command.get_short_help_str(limit=10_000))
            for name in self.list_commands(ctx)
            if (command := self.get_command(ctx, name)) is not None and not command.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(cls=_Commands)
@click.version_option(lcbkit.__version__, prog_name="lcbkit")
def lcb() -> None:
    """Experiments with teams of LLM agents on LiveCodeBench."""


for _command in (
    *(demo, run, sweep, judge, problems, show, compare, plot, rejudge),
    *(optimize, aggregate, notebooks, record, doctor),
):
    lcb.add_command(_command)

if __name__ == "__main__":
    main()
