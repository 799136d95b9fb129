"""A prompt against its parent on the same problems: verdicts of a judge, and the reward made of them.

Per problem a candidate has the credit 1 where it is better, 0 where it is worse, 0.5 otherwise. With the
means L (the role's own output), N (its successor's output) and G (the team's score), the joint reward is

    J = 0.4 L + 0.4 N + 0.2 G - 0.5    with a successor,
    J = 0.7 L + 0.3 G - 0.5            without data of a successor,
    J = G - 0.5                        for the role whose text is the submission, and for a shared prompt.

Source: Wang et al., "MASPO: Joint Prompt Optimization for LLM-based Multi-Agent Systems", arXiv:2605.06623.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

__all__ = [
    "BETTER",
    "EQUAL",
    "WORSE",
    "Rewarded",
    "Weights",
    "joint_reward",
    "misaligned",
    "score_credit",
    "verdict",
]

BETTER, EQUAL, WORSE = 1.0, 0.5, 0.0

_LETTER = re.compile(r"[\W_]*([AB])[\W_]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How the parts of the joint reward count: local, lookahead and global; then local and global alone."""

    local: float = 0.4
    lookahead: float = 0.4
    whole: float = 0.2
    local_alone: float = 0.7
    whole_alone: float = 0.3
    offset: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewarded:
    """A joint reward and the means that it is made of; None where there is nothing to average."""

    reward: float
    local: float | None
    lookahead: float | None
    whole: float


def verdict(answer: str) -> str | None:
    """The letter of a judge's answer, `A` or `B`, or None for anything but exactly one letter."""
    found = _LETTER.fullmatch(answer.strip())
    return found.group(1).upper() if found else None


def score_credit(candidate: float, parent: float) -> float:
    """The credit of a candidate's exact score next to its parent's on the same problem."""
    return EQUAL if candidate == parent else BETTER if candidate > parent else WORSE


def joint_reward(
    *,
    local: Sequence[float],
    lookahead: Sequence[float],
    whole: Sequence[float],
    weights: Weights | None = None,
) -> Rewarded:
    """The joint reward J of a candidate.

    Args:
        local: credits of the role's own outputs, one for each problem; empty for a role that is rewarded by
            the team's score alone.
        lookahead: credits of the successor's outputs, for the problems where it spoke on both sides.
        whole: credits of the team's scores, one for each problem, at least one.
        weights: of the parts.
    """
    by = weights or Weights()
    team = fmean(whole)
    own = fmean(local) if local else None
    ahead = fmean(lookahead) if lookahead and local else None
    if own is None:
        total = team
    elif ahead is None:
        total = by.local_alone * own + by.whole_alone * team
    else:
        total = by.local * own + by.lookahead * ahead + by.whole * team
    return Rewarded(reward=total - by.offset, local=own, lookahead=ahead, whole=team)


def misaligned(
    local: Mapping[str, float], lookahead: Mapping[str, float], whole: Mapping[str, float], *, keep: int = 3
) -> list[tuple[str, int]]:
    """The problems where a role got better and the team did not.

    Args:
        local: credit of the role's own output, by problem.
        lookahead: credit of the successor's output, where there is one.
        whole: credit of the team's score, by problem.
        keep: how many at most.

    Returns:
        Problem and priority, the gravest first: 0 if successor and team got worse, 1 if the successor did,
        2 if the team did.
    """
    found = []
    for row, credit in local.items():
        successor_lost = lookahead.get(row) == WORSE
        team_lost = whole[row] == WORSE
        if credit == BETTER and (successor_lost or team_lost):
            found.append((row, 0 if successor_lost and team_lost else 1 if successor_lost else 2))
    return sorted(found, key=lambda item: item[1])[:keep]
