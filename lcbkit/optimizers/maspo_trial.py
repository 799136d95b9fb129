"""Candidates of one role against their parent: rollouts on the same rows, judged side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from lcbkit.optimizers.asking import Ask, answers
from lcbkit.optimizers.interface import Context, Rollout, Row, Step
from lcbkit.optimizers.maspo_prompts import judge_prompt, own_output
from lcbkit.optimizers.pairwise import (
    BETTER,
    EQUAL,
    WORSE,
    Rewarded,
    Weights,
    joint_reward,
    misaligned,
    score_credit,
    verdict,
)

__all__ = ["Comparison", "Judge", "Trial"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A bundle's rollouts on a few rows.

    Attributes:
        prompt: the role prompt on trial.
        rows: the problems.
        rollouts: one for each row, or for the first of them where the budget ended.
    """

    prompt: str
    rows: Sequence[Row]
    rollouts: Sequence[Rollout]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A candidate next to its parent.

    Attributes:
        rewarded: the joint reward and its parts.
        misaligned: ids of rows where the role got better and the team did not, the gravest first.
    """

    rewarded: Rewarded
    misaligned: tuple[str, ...]


class Judge:
    """Decides which of two outputs is better, the candidate's or its parent's.

    Args:
        ctx: what the method may use.
        weights: of the joint reward.
        keep: misaligned rows kept of a comparison.
        at_once: questions on their way at one time.
        swap: a source of coin flips that puts the candidate in place B half of the time; None: always A.
    """

    def __init__(
        self, ctx: Context, *, weights: Weights, keep: int, at_once: int, swap: Random | None = None
    ) -> None:
        self._ctx, self._weights, self._keep, self._at_once, self._swap = ctx, weights, keep, at_once, swap

    def compare(
        self, role: str, candidates: Sequence[Trial], parent: Trial, step: Step, *, lookahead: bool = True
    ) -> list[Comparison]:
        """The joint reward of each candidate against the parent, on the rows that both ran.

        Args:
            role: whose prompt differs.
            candidates: each with at least one rollout.
            parent: ran on at least as many of the same rows.
            step: of the questions.
            lookahead: whether the successor's outputs count too.
        """
        team = self._ctx.team
        judged = [] if role == team.terminal or team.replicas > 1 else [role]
        successor = team.successor[role] if judged and lookahead else None
        judged += [successor] if successor else []
        pairs = [
            (number, speaker, place)
            for number, candidate in enumerate(candidates)
            for speaker in judged
            for place in range(len(candidate.rollouts))
        ]
        credits = self._credits(candidates, parent, pairs, step)
        found = []
        for number, candidate in enumerate(candidates):
            ids = [row.id for row in candidate.rows]
            whole = {
                ids[place]: score_credit(mine.score, other.score)
                for place, (mine, other) in enumerate(zip(candidate.rollouts, parent.rollouts, strict=False))
            }
            local = {ids[p]: credits[n, s, p] for n, s, p in pairs if n == number and s == role}
            ahead = {
                ids[p]: credits[n, s, p]
                for n, s, p in pairs
                if n == number and s == successor and _both_spoke(successor, candidate, parent, p)
            }
            found.append(self._comparison(local, ahead, whole))
        return found

    def _comparison(
        self, local: Mapping[str, float], ahead: Mapping[str, float], whole: Mapping[str, float]
    ) -> Comparison:
        rewarded = joint_reward(
            local=list(local.values()),
            lookahead=list(ahead.values()),
            whole=list(whole.values()),
            weights=self._weights,
        )
        rows = misaligned(local, ahead, whole, keep=self._keep)
        return Comparison(rewarded=rewarded, misaligned=tuple(row for row, _ in rows))

    def _credits(
        self,
        candidates: Sequence[Trial],
        parent: Trial,
        pairs: Sequence[tuple[int, str, int]],
        step: Step,
    ) -> dict[tuple[int, str, int], float]:
        """Credit for each (candidate, speaker, row): asked for where two outputs differ, else equal."""
        credits: dict[tuple[int, str, int], float] = {}
        asks: list[Ask] = []
        waiting: list[tuple[tuple[int, str, int], str]] = []
        for pair in pairs:
            number, speaker, place = pair
            mine = own_output(candidates[number].rollouts[place], speaker)
            other = own_output(parent.rollouts[place], speaker)
            if not mine or not other or mine == other:
                credits[pair] = EQUAL
                continue
            swapped = self._swap is not None and self._swap.random() < 0.5
            first, second = (other, mine) if swapped else (mine, other)
            prompt = judge_prompt(self._ctx.team, speaker, parent.rows[place], first, second)
            asks.append(Ask(prompt=prompt, step=step, role=f"judge {speaker}", temperature=0.0))
            waiting.append((pair, "B" if swapped else "A"))
        given = answers(self._ctx.reflect, asks, at_once=self._at_once)
        for (pair, letter), answer in zip(waiting, given, strict=True):
            credits[pair] = BETTER if verdict(answer) == letter else WORSE
        return credits


def _both_spoke(role: str, candidate: Trial, parent: Trial, place: int) -> bool:
    return bool(own_output(candidate.rollouts[place], role) and own_output(parent.rollouts[place], role))
