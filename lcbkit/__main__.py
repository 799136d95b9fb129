"""`lcb` as a script, and `python -m lcbkit`: what runs before the command line itself is there."""

import sys
from typing import NoReturn

__all__ = ["main"]

_INTERRUPTED = 130


def main() -> NoReturn:
    """Load the command line and hand over; Ctrl-C in that first moment leaves in one line too."""
    try:
        from lcbkit import cli
    except KeyboardInterrupt:
        sys.stderr.write("lcb: interrupted before anything was begun\n")
        sys.exit(_INTERRUPTED)
    cli.main()


if __name__ == "__main__":
    main()
