"""A team in memory for the tests of methods: scores come from a function, the ledger is the real one.

bench = Bench(lambda bundle, row, step, mask: float("hint" in bundle.roles["solver"]), budget=56)
outcome = Gepa().run(context("single", bench, reflect=lambda prompt, **_: "```\\nuse the hint\\n```"))
assert bench.ledger.assert_closed().charged <= 56
"""

import atexit
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.interface import (
    BudgetExhausted,
    Context,
    Event,
    InfrastructureExhausted,
    Message,
    Request,
    Rollout,
    Row,
    Step,
    TeamSpec,
    TextModel,
    Unsupported,
)
from lcbkit.optimizers.ledger import INFRASTRUCTURE_FAILURE, SEMANTIC_FAILURE, SUCCESS, Ledger
from lcbkit.optimizers.seeds import logical_seed
from lcbkit.optimizers.wiring import team_spec
from lcbkit.topologies.roles import SIZELESS, TOPOLOGIES, plan_team, player_of

__all__ = [
    "TEAMS",
    "Bench",
    "Call",
    "Score",
    "context",
    "holding",
    "rollout_of",
    "rows",
    "seed_bundle",
    "spec",
]

Score = Callable[[Bundle, Row, Step, frozenset[str]], float | None]
"""The score of a rollout; None is an infrastructure failure."""

TEAMS = tuple(name for name in TOPOLOGIES if name not in SIZELESS)
"""The topologies of several agents."""

_ATTEMPTS = 3


def holding(hint: str, *, role: str | None = None) -> Score:
    """A team that solves a problem if the prompt of a role holds the hint; None: if any of them does."""

    def score(bundle: Bundle, *_: Any) -> float:
        texts = bundle.roles.values() if role is None else [bundle.roles[role]]
        return float(any(hint in text for text in texts))

    return score


def rollout_of(*messages: tuple[str, str] | Message, **changes: Any) -> Rollout:
    """A failed rollout in which this was said; a pair is a source and what it wrote."""
    said = (one if isinstance(one, Message) else Message(source=one[0], content=one[1]) for one in messages)
    known: dict[str, Any] = {
        "row_id": "t0",
        "status": "semantic_failure",
        "score": 0.0,
        "feedback": "passed 1 of 3 tests",
        "final_output": "",
        "usage": {},
        "request_seed": 0,
        "latency_s": 0.0,
    }
    return Rollout(messages=tuple(said), **{**known, **changes})


@dataclass(frozen=True)
class Call:
    """One charged rollout, as the bench saw it."""

    bundle: Bundle
    row_id: str
    step: Step
    mask: frozenset[str]
    seed: int
    score: float


class Bench:
    """A `ChargedEvaluator` whose team is a function.

    Args:
        score: says how a rollout ends.
        budget: of the ledger.
        topology: whose roles speak in the transcripts, one line each: `<role> on <row>: <its prompt>`.
        can_mask: False: masks raise `Unsupported`.
        cell_id: goes into the seeds.
        optimizer_seed: goes into the seeds.
    """

    def __init__(
        self,
        score: Score,
        *,
        budget: int,
        topology: str = "sequential",
        can_mask: bool = True,
        cell_id: str = "bench",
        optimizer_seed: int = 0,
    ) -> None:
        self.ledger = Ledger(budget)
        self.calls: list[Call] = []
        self.refused = 0
        self._score = score
        self._team = spec(topology)
        self._can_mask = can_mask
        self._cell, self._optimizer_seed = cell_id, optimizer_seed

    @property
    def maximum(self) -> int:
        return self.ledger.budget.maximum

    @property
    def remaining(self) -> int:
        return self.ledger.available

    @property
    def charged(self) -> int:
        return self.ledger.budget.charged

    def rollout(self, bundle: Bundle, row: Row, step: Step, *, mask: frozenset[str] = frozenset()) -> Rollout:
        return self.batch(bundle, [row], step, mask=mask)[0]

    def batch(
        self,
        bundle: Bundle,
        rows: Sequence[Row],
        step: Step,
        *,
        exact: bool = True,
        mask: frozenset[str] = frozenset(),
    ) -> list[Rollout]:
        return self._run(Request(bundle=bundle, rows=rows, step=step, exact=exact, mask=mask))

    def batches(self, requests: Sequence[Request]) -> list[list[Rollout]]:
        wanted = sum(len(request.rows) for request in requests if request.exact)
        if wanted > self.remaining:
            self.refused += 1
            raise BudgetExhausted(f"{wanted} rollouts do not fit into {self.remaining}")
        return [
            [] if not request.exact and not self.remaining else self._run(request) for request in requests
        ]

    def _run(self, request: Request) -> list[Rollout]:
        ids = [row.id for row in request.rows]
        assert ids, "an empty batch"
        assert len(set(ids)) == len(ids), f"a row twice in one batch: {ids}"
        if request.mask and not self._can_mask:
            raise Unsupported("this bench cannot mask")
        assert request.mask <= set(self._team.players), f"a mask of strangers: {set(request.mask)}"
        try:
            reserve = self.ledger.reserve_exact if request.exact else self.ledger.reserve
            reservation = reserve(len(ids))
        except BudgetExhausted:
            self.refused += 1
            raise
        done = []
        for position, row in enumerate(request.rows[: reservation.granted]):
            seed = logical_seed(
                optimizer_seed=self._optimizer_seed,
                cell_id=self._cell,
                phase=request.step.phase,
                iteration=request.step.iteration,
                row_id=row.id,
                key=request.step.tag or request.bundle.sha256,
                position=position,
            )
            for attempt in range(_ATTEMPTS):
                score = self._score(request.bundle, row, request.step, request.mask)
                if score is not None:
                    break
                if attempt < _ATTEMPTS - 1:
                    self.ledger.note_failure(reservation)
            if score is None:
                self.ledger.settle(reservation, INFRASTRUCTURE_FAILURE)
                self.ledger.cancel(reservation)
                raise InfrastructureExhausted(f"row {row.id} failed {_ATTEMPTS} times")
            self.ledger.settle(reservation, SUCCESS if score >= 1 else SEMANTIC_FAILURE)
            self.calls.append(Call(request.bundle, row.id, request.step, request.mask, seed, score))
            done.append(self._rollout(request, row, seed, score))
        return done

    def _rollout(self, request: Request, row: Row, seed: int, score: float) -> Rollout:
        sources = _sources(self._team)
        active = tuple(player for player in self._team.players if player not in request.mask)
        said = [
            Message(source=source, content=f"{source} on {row.id}: {request.bundle.roles[role]}")
            for source, role in sources
            if source not in request.mask
        ]
        return Rollout(
            row_id=row.id,
            status="success" if score >= 1 else "semantic_failure",
            score=score,
            feedback="passed all 3 tests" if score >= 1 else "passed 1 of 3 tests",
            final_output=said[-1].content if said else "",
            messages=(Message(source="user", content=row.problem), *said),
            usage={"n_llm_calls": len(said)},
            request_seed=seed,
            latency_s=0.0,
            active=active,
        )


def _sources(team: TeamSpec) -> list[tuple[str, str]]:
    if team.replicas > 1:
        return [(player_of(team.roles[0], number), team.roles[0]) for number in range(team.replicas)]
    others = [(role, role) for role in team.roles if role != team.terminal]
    return [*others, (team.terminal, team.terminal)]


def spec(topology: str, size: int = 4) -> TeamSpec:
    """The wiring of a team of ours."""
    return team_spec(plan_team(topology, size))


def seed_bundle(topology: str) -> Bundle:
    """Short seed prompts for the roles of a topology."""
    return Bundle(
        roles={role: f"You are the {role}. Work with care, step by step." for role in spec(topology).roles}
    )


def rows(prefix: str, n: int) -> list[Row]:
    """Rows in a fixed order: `<prefix>0` and so on."""
    return [
        Row(
            id=f"{prefix}{number}",
            problem=f"Problem {prefix}{number}: print the sum of the numbers.",
            starter_code="",
            mode="stdin",
            difficulty="easy",
            test_count=3,
        )
        for number in range(n)
    ]


@dataclass
class Journal:
    """Takes events; `context(...).journal`."""

    events: list[Event] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        self.events.append(event)


def _silent(prompt: str, **_: Any) -> str:
    raise AssertionError(f"nobody was to be asked: {prompt[:200]}")


@cache
def _scratches() -> Path:
    """Where all scratch folders of this process lie; it goes when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="lcb-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def context(
    topology: str,
    evaluate: Bench,
    *,
    reflect: Callable[..., str] = _silent,
    task_llm: Callable[..., str] = _silent,
    train: int = 150,
    validation: int = 50,
    seed: int = 0,
    roles: Mapping[str, str] | None = None,
    scratch: Path | None = None,
) -> Context:
    """What a method gets, around a bench and two functions that answer prompts."""
    reflection: TextModel = reflect
    task: TextModel = task_llm
    return Context(
        team=spec(topology),
        seed_bundle=Bundle(roles=roles) if roles else seed_bundle(topology),
        train=rows("t", train),
        validation=rows("v", validation),
        evaluate=evaluate,
        reflect=reflection,
        task_llm=task,
        seed=seed,
        scratch=scratch or Path(tempfile.mkdtemp(dir=_scratches())),
        journal=Journal(),
    )
