"""What a job will cost, known before a model is asked."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

from lcbkit.optimizers.interface import TeamSpec
from lcbkit.optimizers.specification import JobSpec
from lcbkit.optimizers.tavo import validation_rows
from lcbkit.optimizers.wiring import team_spec

__all__ = ["Cost", "estimate", "least_budget"]

_TOKENS_PER_CALL = 2_500
_TOKENS_PER_REFLECTION = 12_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a job takes, as far as it can be known.

    Attributes:
        charged_rollouts: the most that the search can charge.
        evaluation_rollouts: the most that validation and test run, uncharged.
        calls_per_rollout: model calls of one rollout without a tool call, if each agent works once a round
            and a manager twice; each tool round is one more.
        task_calls: calls of the task model: those of all rollouts, probes and judges.
        reflection_calls: calls of the reflection model, about; 0 where the method is not the protocol's.
        tokens: of all calls, about: 2,500 for a call of a team or a judge, 12,000 for one of reflection.
    """

    charged_rollouts: int
    evaluation_rollouts: int
    calls_per_rollout: int
    task_calls: int
    reflection_calls: int
    tokens: int

    def to_dict(self) -> dict[str, Any]:
        """The counts as plain JSON values."""
        return asdict(self)


def estimate(spec: JobSpec, *, train: int, validation: int, test: int) -> Cost:
    """What a job will take.

    Args:
        spec: the job.
        train: rows of that split.
        validation: rows of that split.
        test: rows of that split.
    """
    plan = spec.shape.plan
    team = team_spec(plan)
    # A manager speaks first and last.
    calls = team.team_size * (plan.rounds or 1) + (team.manager is not None)
    charged, judged, written = _search(spec, team, train=train, validation=validation)
    evaluated = (1 if spec.method == "identity" else 2) * (validation + test)
    task_calls = (charged + evaluated) * calls + judged
    return Cost(
        charged_rollouts=charged,
        evaluation_rollouts=evaluated,
        calls_per_rollout=calls,
        task_calls=task_calls,
        reflection_calls=written,
        tokens=task_calls * _TOKENS_PER_CALL + written * _TOKENS_PER_REFLECTION,
    )


def least_budget(spec: JobSpec, *, train: int, validation: int) -> int:
    """Rollouts with which the method can try one new prompt; with fewer it keeps the seed, or refuses.

    Args:
        spec: the job.
        train: rows of that split.
        validation: rows of that split.
    """
    asked: Mapping[str, int] = spec.settings  # those that are read here are numbers
    match spec.method:
        case "gepa" | "mamut_gepa":
            return validation + 2 * asked.get("minibatch", 3)
        case "mipro":  # one success for each of the two sets of demonstrations, the seed, one trial
            return 2 + 2 * validation
        case "mapro":
            return 2 * min(train, asked.get("evaluation_batch") or train)
        case "maspo":
            return 2 * min(train, asked.get("minibatch", 10))
        case "hivemind":
            return min(asked.get("max_coalitions", 40), 1 << len(spec.shape.plan.players)) + 2
        case "maspob":
            return 2 * min(train, asked.get("minibatch", 5))
        case "tavo":
            rows = min(validation, asked.get("least_validation_rows", 3))
            return 2 * rows + min(train, asked.get("train_rows", 6))
        case _:
            return 1


def _search(spec: JobSpec, team: TeamSpec, *, train: int, validation: int) -> tuple[int, int, int]:
    """Charged rollouts at most, calls of the task model as probe or judge, and reflection calls, about."""
    budget, roles = spec.budget, len(team.roles)
    match spec.method:
        case "gepa" | "mamut_gepa":
            return budget, 0, max(0, budget - validation) // 6
        case "mipro":
            charged = min(budget, 2 * train + 4 * validation)
            return charged, 0, ceil(train / 10) + 4 * roles + 2
        case "mapro":
            rows = min(train, spec.settings.get("evaluation_batch") or train)
            rounds = min(8, max(0, budget // rows - 1))
            # Of hand-offs that are judged, a prompt that peers share has one: with itself.
            judged = 30 * roles + 75 * len(team.edges) + 15 * team.debates
            return min(budget, (rounds + 1) * rows), rounds * judged, roles * (5 + 7 * rounds)
        case "maspo":
            return budget, 0, ceil(84 * budget / 60)
        case "hivemind":
            coalitions = min(40, 2 ** len(team.players))
            cycle = coalitions * min(5, budget // coalitions) + 10
            cycles = budget // cycle
            return cycles * cycle, 0, max(1, cycles)
        case "maspob":
            return budget, 0, 29 * roles
        case "tavo":
            batch = min(validation, validation_rows(budget))
            attempts = min(10, max(0, budget - batch) // (6 + batch))
            return batch + attempts * (6 + batch), 0, 58 * attempts
        case "identity":
            return 0, 0, 0
        case _:
            return budget, 0, 0
