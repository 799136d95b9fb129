"""What a method of prompt optimization gets, what it gives back, and how it may end."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from lcbkit.errors import LcbkitError
from lcbkit.optimizers.bundle import Bundle
from lcbkit.topologies.roles import role_of

__all__ = [
    "STOP_REASONS",
    "BudgetExhausted",
    "ChargedEvaluator",
    "ConfigError",
    "Context",
    "Event",
    "InfrastructureExhausted",
    "Message",
    "Optimizer",
    "Outcome",
    "ReflectionError",
    "Request",
    "Rollout",
    "Row",
    "Step",
    "TeamSpec",
    "TextModel",
    "Unsupported",
]

STOP_REASONS = frozenset(
    {
        "identity_no_search",
        "budget",
        "rollout_budget_spent",
        "metric_call_cap",
        "budget_before_outer_round",
        "budget_before_retry",
        "max_full_evals",
        "full_eval_plateau",
        "num_trials_complete",
        "max_iters",
        "patience",
        "maximum_search_depth",
        "max_cycles",
        "max_outer_rounds",
        "native_patience",
        "native_gepa_stop",
    }
)
"""Why a search ended; `Outcome.stop_reason` is one of them."""


class BudgetExhausted(LcbkitError):  # noqa: N818 - a normal end of a search, not a mistake
    """The rollouts asked for do not fit into what is left; nothing was run or charged for this request."""


class InfrastructureExhausted(LcbkitError):  # noqa: N818 - a state of the endpoint
    """A rollout failed three times for reasons outside of the team; a method lets this pass through."""

    exit_code = 3


class ConfigError(LcbkitError):
    """A method that cannot start: a missing package, or a budget too small for its first step."""


class Unsupported(LcbkitError):  # noqa: N818 - says what the evaluator is not able to do
    """Players are to be masked and this team's runtime cannot mask; raised before anything is run."""


class ReflectionError(LcbkitError):
    """A call of the reflection or task model that failed after its retries; a method skips that step."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Step:
    """Where a request stands in the search; it keys the request's logical seed.

    Attributes:
        phase: such as `optimization/gepa`.
        iteration: of the method's own loop, from 0.
        tag: non-empty, it takes the bundle's place in the seed, so that all bundles that run in this step
            meet the same randomness on a row.
    """

    phase: str
    iteration: int
    tag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A problem as a method sees it: nothing of its tests but how many decide its score.

    Attributes:
        id: of the problem.
        problem: the statement.
        starter_code: what a functional program must begin with; empty in stdin mode.
        mode: `stdin` or `functional`.
        difficulty: `easy`, `medium` or `hard`.
        test_count: hidden tests that decide the score.
    """

    id: str
    problem: str
    starter_code: str
    mode: str
    difficulty: str
    test_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One text of a transcript.

    Attributes:
        source: a role, a replica of a shared role (`debater::2`), `user`, `tool` or `system`.
        content: the text, without reasoning.
        tool_calls: `{"name": ..., "arguments": {...}}` for each call that the model asked for.
    """

    source: str
    content: str
    tool_calls: tuple[Mapping[str, Any], ...] = ()

    @property
    def role(self) -> str:
        """The role of the source."""
        return role_of(self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """One complete run of the team on one problem under one bundle.

    Attributes:
        row_id: of the problem.
        status: `success` (a right program), `semantic_failure` (a wrong, malformed or missing answer) or
            `infrastructure_failure` (no observation at all).
        score: 1.0 if the program passes the tests that decide, else 0.0.
        feedback: what the scorer says in words; may go to a reflection model.
        final_output: the text of the agent that answers for the team.
        messages: everything said, in order.
        usage: token and call counts, as `Usage.to_dict` names them.
        request_seed: the logical seed.
        latency_s: seconds.
        error: what failed, or None.
        scorer_metadata: `code`, `passed_tests`, `total_tests` and the like.
        active: the players that acted, as the runtime acknowledged them.
    """

    row_id: str
    status: str
    score: float
    feedback: str
    final_output: str
    messages: tuple[Message, ...]
    usage: Mapping[str, int]
    request_seed: int
    latency_s: float
    error: str | None = None
    scorer_metadata: Mapping[str, Any] = field(default_factory=dict)
    active: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether the rollout is an observation; only those are charged."""
        return self.status != "infrastructure_failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One batch among several that may run at the same time; see `ChargedEvaluator.batches`."""

    bundle: Bundle
    rows: Sequence[Row]
    step: Step
    exact: bool = True
    mask: frozenset[str] = frozenset()


class ChargedEvaluator(Protocol):
    """The only door to the team. It owns the ledger: every usable rollout is charged.

    It may be called from several threads. Records come in row order, whatever finishes first.
    """

    @property
    def maximum(self) -> int:
        """The whole budget, in rollouts."""

    @property
    def remaining(self) -> int:
        """Rollouts that are neither charged nor reserved."""

    def rollout(self, bundle: Bundle, row: Row, step: Step, *, mask: frozenset[str] = frozenset()) -> Rollout:
        """Run the team once; as `batch` with one row."""

    def batch(
        self,
        bundle: Bundle,
        rows: Sequence[Row],
        step: Step,
        *,
        exact: bool = True,
        mask: frozenset[str] = frozenset(),
    ) -> list[Rollout]:
        """Run the team once per row.

        Args:
            bundle: the role prompts.
            rows: without repeats.
            step: keys the seeds.
            exact: all rows fit or nothing is run; False trims the batch to what is left (at least one row).
            mask: players that must not act.

        Returns:
            A usable rollout for each row that was run, in the rows' order.

        Raises:
            BudgetExhausted: before anything is run.
            InfrastructureExhausted: a rollout stayed without an observation after its retries.
            Unsupported: the team's runtime cannot mask.
            ValueError: a row twice, or none.
        """

    def batches(self, requests: Sequence[Request]) -> list[list[Rollout]]:
        """Run several batches side by side; the result is that of one `batch` after the other.

        All places are reserved in order before the first rollout starts. A request that does not fit raises
        BudgetExhausted, and nothing of any of them is run, except that a request with `exact=False` that
        finds nothing left gives an empty list.
        """


class TextModel(Protocol):
    """A model that writes or judges texts: metered, never charged. It may be called from several threads.

    Its logical seed comes from step, role and prompt, and from how often the same was asked before; calls
    that run at the same time should therefore differ in one of them.
    """

    def __call__(
        self,
        prompt: str,
        *,
        step: Step,
        role: str = "",
        system: str | None = None,
        temperature: float = 1.0,
        top_p: float = 1.0,
        max_tokens: int | None = None,
    ) -> str:
        """The model's answer, without reasoning.

        Raises:
            ReflectionError: no answer after three retries.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamSpec:
    """The wiring of the team, as far as methods may build on it.

    Attributes:
        topology: its name, such as `sequential`.
        team_size: how many agents.
        roles: the optimized roles, in the runtime's own order; one for a team of replicas.
        edges: (from, to) between roles: manager to each worker, else from each role to the next, the terminal
            one last; none for replicas. Of a team that is no chain, this leaves out who else reads whom.
        terminal: the role whose text is the submission.
        manager: the role that gives jobs to the others; None in a team without one.
        players: what a mask may name: the roles of a chain, the workers of a manager, `role::number` of
            every agent where some share a role; none for the single agent.
        replicas: agents that share the one prompt; 1 in a team of several roles.
        debates: whether replicas read each other and answer again.
        successor: of each role; None for the terminal one and for replicas. A worker's is the manager.
        predecessors: of each role. The manager's are its workers, a worker's is the manager.
        descriptions: what each role is there for, in a sentence.
        contract: what the library adds to the terminal role's prompt when it is sent.
    """

    topology: str
    team_size: int
    roles: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    terminal: str
    manager: str | None
    players: tuple[str, ...]
    replicas: int
    debates: bool
    successor: Mapping[str, str | None]
    predecessors: Mapping[str, tuple[str, ...]]
    descriptions: Mapping[str, str]
    contract: str

    def __post_init__(self) -> None:
        for name in ("successor", "predecessors", "descriptions"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What a method tells while it searches; the engine adds how much was charged by then.

    Attributes:
        iteration: of the method's own loop.
        incumbent: what the method would return if it ended now; None if that did not change.
        score: the mean by which the method ranks the incumbent, on its own rows; None if unknown.
        note: a few words for people.
        detail: plain JSON values for the learning curve.
    """

    iteration: int
    incumbent: Bundle | None = None
    score: float | None = None
    note: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """All that a method may use.

    Attributes:
        team: the wiring.
        seed_bundle: what the search begins with.
        train: rows in their fixed order.
        validation: rows in their fixed order.
        evaluate: charged rollouts.
        reflect: the reflection model.
        task_llm: the task model without a team, for probes and judges.
        seed: the optimizer seed: 0, 1 or 2. All randomness comes from `random.Random(f(seed))`.
        scratch: a folder for the method's own files.
        journal: takes events; call it whenever the incumbent changes and once per iteration.
    """

    team: TeamSpec
    seed_bundle: Bundle
    train: Sequence[Row]
    validation: Sequence[Row]
    evaluate: ChargedEvaluator
    reflect: TextModel
    task_llm: TextModel
    seed: int
    scratch: Path
    journal: Callable[[Event], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a search ended.

    Attributes:
        incumbent: the best bundle found, the seed included.
        stop_reason: one of `STOP_REASONS`.
        history: one entry of plain JSON values per iteration of the method.
        iterations: how many there were.
    """

    incumbent: Bundle
    stop_reason: str
    history: Sequence[Mapping[str, Any]]
    iterations: int


class Optimizer(Protocol):
    """A method, made with its settings and run once."""

    @property
    def name(self) -> str:
        """Its name on the command line."""

    @property
    def settings(self) -> Any:
        """A frozen dataclass with every knob; it goes into the result."""

    def run(self, ctx: Context) -> Outcome:
        """Search.

        `BudgetExhausted` is caught inside and ends the search normally.

        Raises:
            ConfigError: before the first rollout: a package is missing, or the budget too small to begin.
            InfrastructureExhausted: passed through from the evaluator.
        """
