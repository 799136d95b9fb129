"""Teams at work on rows: executions with their retries, side by side, the results in the rows' order."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from lcbkit.errors import LcbkitError
from lcbkit.optimizers.bundle import Bundle, BundleError
from lcbkit.optimizers.endpoints import Decoding, Models
from lcbkit.optimizers.interface import Rollout, Row, Unsupported
from lcbkit.optimizers.ledger import INFRASTRUCTURE_FAILURE
from lcbkit.optimizers.scoring import SCORED_TESTS, Scorer
from lcbkit.optimizers.transcripts import messages_of
from lcbkit.optimizers.wiring import TeamShape, team_spec
from lcbkit.prompts import build_prompt
from lcbkit.topologies.team import Team, build_team

if TYPE_CHECKING:
    from lcbkit.problems import Problem
    from lcbkit.topologies.answer import TeamAnswer

__all__ = ["ATTEMPTS", "Execution", "Runner", "rollout_row", "row_of"]

ATTEMPTS = 3
"""Executions of one rollout at most: the first one and two retries."""

_KEPT_TEAMS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """A rollout to be made.

    Attributes:
        bundle: the role prompts.
        row_id: of the problem.
        seed: of the request.
        mask: players that must not act.
        place: in its batch; chooses the endpoint.
        spent: executions that were made of it before.
    """

    bundle: Bundle
    row_id: str
    seed: int
    mask: frozenset[str] = frozenset()
    place: int = 0
    spent: int = 0


def row_of(problem: "Problem") -> Row:
    """A problem as methods see it."""
    return Row(
        id=problem.id,
        problem=problem.statement,
        starter_code=problem.starter_code,
        mode=problem.mode,
        difficulty=problem.difficulty,
        test_count=min(SCORED_TESTS, problem.hidden_test_count),
    )


def rollout_row(rollout: Rollout) -> dict[str, Any]:
    """A rollout as a line of a file, without its transcript."""
    return {
        "row_id": rollout.row_id,
        "status": rollout.status,
        "score": rollout.score,
        "request_seed": rollout.request_seed,
        "latency_s": rollout.latency_s,
        "usage": dict(rollout.usage),
        "error": rollout.error,
        "scorer": dict(rollout.scorer_metadata),
    }


def _blank(execution: Execution) -> Rollout:
    """A rollout without an observation."""
    return Rollout(
        row_id=execution.row_id,
        status=INFRASTRUCTURE_FAILURE,
        score=0.0,
        feedback="",
        final_output="",
        messages=(),
        usage={},
        request_seed=execution.seed,
        latency_s=0.0,
    )


class Runner:
    """Runs teams on problems; knows nothing of budgets.

    Args:
        shape: of the team.
        models: who answers.
        problems: by id.
        scorer: of programs.
        concurrency: model calls in flight at one time.
    """

    def __init__(
        self,
        *,
        shape: TeamShape,
        models: Models,
        problems: Mapping[str, "Problem"],
        scorer: Scorer,
        concurrency: int,
    ) -> None:
        self.spec = team_spec(shape.plan)
        self.concurrency = concurrency
        self._shape, self._models = shape, models
        self._problems, self._scorer = problems, scorer
        self._chat: dict[Decoding, Any] = {}
        self._teams: OrderedDict[Any, Team] = OrderedDict()
        self._lock = Lock()

    def check(self, bundle: Bundle, mask: frozenset[str]) -> None:
        """Make sure that the team can work under these prompts and without these players.

        Raises:
            BundleError: the bundle has other roles.
            Unsupported: this team cannot leave these players out.
        """
        if set(bundle.roles) != set(self.spec.roles):
            there = ", ".join(self.spec.roles)
            raise BundleError(f"the bundle has the roles {', '.join(bundle.roles)}; the team has {there}")
        if strangers := mask - set(self.spec.players):
            raise Unsupported(
                f"the {self._shape.topology} team cannot do without {', '.join(sorted(strangers))}; "
                f"it can leave out: {', '.join(self.spec.players) or 'nobody'}"
            )

    async def run_all(
        self,
        executions: Sequence[Execution],
        decoding: Decoding,
        on_attempt: Callable[[Execution, Rollout, int], None],
    ) -> AsyncGenerator[tuple[Execution, Rollout], None]:
        """Make rollouts side by side and yield them in the given order.

        Closing the iterator early cancels what has not begun or is under way.

        Args:
            executions: what to run.
            decoding: sampling values of the team's model.
            on_attempt: is told each execution with its number, from 1, as soon as it ends.
        """
        gate = asyncio.Semaphore(self.concurrency)
        # A few more than model calls: some are always busy with a tool or with the judge.
        slots = asyncio.Semaphore(self.concurrency + max(2, self.concurrency // 2))

        async def settled(execution: Execution) -> Rollout:
            rollout = replace(_blank(execution), error="its executions were used up before an interruption")
            async with slots:
                for number in range(execution.spent + 1, ATTEMPTS + 1):
                    rollout = await self._attempt(execution, decoding, gate)
                    on_attempt(execution, rollout, number)
                    if rollout.usable:
                        break
                return rollout

        tasks = [asyncio.create_task(settled(execution)) for execution in executions]
        try:
            for execution, task in zip(executions, tasks, strict=True):
                yield execution, await task
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _attempt(self, execution: Execution, decoding: Decoding, gate: asyncio.Semaphore) -> Rollout:
        """One execution; whatever keeps it from an observation is an infrastructure failure."""
        problem, started = self._problems[execution.row_id], time.perf_counter()
        blank = _blank(execution)
        try:
            team = self._team(execution, decoding)
            answer = await team.asolve(problem, seed=execution.seed, gate=gate)
            acting = tuple(player for player in team.players if player not in team.masked)
            rollout = await self._scored(replace(blank, active=acting), answer, problem, execution.mask)
        except LcbkitError:
            raise  # wrong use or a missing thing: no retry mends it
        except Exception as error:  # noqa: BLE001 - it goes into this attempt's record
            rollout = replace(blank, error=f"{type(error).__name__}: {error}"[:1_000])
        return replace(rollout, latency_s=round(time.perf_counter() - started, 3))

    async def _scored(
        self, blank: Rollout, answer: "TeamAnswer", problem: "Problem", mask: frozenset[str]
    ) -> Rollout:
        messages = messages_of(answer, build_prompt(problem), self.spec)
        seen = replace(
            blank,
            final_output=answer.raw,
            messages=messages,
            usage=answer.usage.to_dict(),
            error=answer.error,
        )
        if answer.status == "infra_error":
            return seen
        if strangers := mask & {message.source for message in messages}:
            return replace(seen, error=f"masked players acted: {', '.join(sorted(strangers))}")
        if not answer.usage.n_llm_calls and not self._nobody_acts(mask):
            return replace(seen, error="the team made no model call")
        score = await asyncio.to_thread(self._scorer.score, answer.code, problem)
        return replace(
            seen,
            status=score.status,
            score=score.score,
            feedback=score.feedback,
            error=score.error or answer.error,
            scorer_metadata={**score.metadata, "code": answer.code},
        )

    def _nobody_acts(self, mask: frozenset[str]) -> bool:
        """Whether an empty answer is what was asked for: everybody is masked, and there is no manager."""
        return bool(mask) and mask == frozenset(self.spec.players) and self.spec.manager is None

    def _team(self, execution: Execution, decoding: Decoding) -> Team:
        with self._lock:
            if decoding not in self._chat:
                self._chat[decoding] = self._models.for_teams(decoding)
            chat = self._chat[decoding]
            model = chat[execution.place % len(chat)]
            key = (execution.bundle.sha256, execution.mask, id(model))
            if key not in self._teams:
                self._teams[key] = self._built(execution, model)
            self._teams.move_to_end(key)
            while len(self._teams) > _KEPT_TEAMS:
                self._teams.popitem(last=False)
            return self._teams[key]

    def _built(self, execution: Execution, model: Any) -> Team:
        team = build_team(
            self._shape.topology,
            team_size=self._shape.chosen_size,
            message_format=self._shape.message_format,
            model=model,
            prompts=execution.bundle.roles,
            python_exec=self._shape.python_exec,
            rounds=self._shape.rounds,
        )
        return team.without(*execution.mask) if execution.mask else team
