"""A vote over programs: the largest group of equal ones wins, and no test has a say in it."""

import ast
from collections.abc import Callable, Sequence

from lcbkit.topologies.answer import Votes

__all__ = ["count_votes", "text_key", "tree_key"]


def count_votes(programs: Sequence[str | None], *, key: Callable[[str], str] | None = None) -> Votes:
    """Let each agent's program vote for all programs that are the same.

    Args:
        programs: of each agent, by its number; None abstains.
        key: what equal programs have in common; None takes `text_key`.

    Returns:
        The vote. Of groups of one size the one with the lowest number wins; for the winning group its lowest
        number stands. Nobody wins when everybody abstains.
    """
    groups: dict[str, list[int]] = {}
    for number, program in enumerate(programs):
        if program is not None:
            groups.setdefault((key or text_key)(program), []).append(number)
    # Groups stand in the order of their lowest numbers, and sorting keeps it among equals.
    ranked = sorted(groups.values(), key=len, reverse=True)
    return Votes(winner=ranked[0][0] if ranked else None, sizes=tuple(map(len, ranked)))


def text_key(program: str) -> str:
    """The program with each run of white space as one blank.

    It also merges programs that differ in their indentation only; `tree_key` tells those apart.
    """
    return " ".join(program.split())


def tree_key(program: str) -> str:
    """The program without comments and layout, written afresh from its syntax tree.

    Raises:
        SyntaxError: if it does not parse; extracted programs do.
    """
    return ast.unparse(ast.parse(program))
