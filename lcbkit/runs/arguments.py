"""What a caller may ask of a batch, looked at before a folder is made or a model asked."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from lcbkit.errors import BadValueError, NothingToDoError
from lcbkit.problems import Problem

__all__ = ["MAX_SAMPLES", "check_batch"]

MAX_SAMPLES = 1_000
"""Submissions per problem: more than any estimate of pass@k needs, and few enough to be listed."""

_LONGEST_SECONDS = 86_400  # as on the command line
_SEEDS = 2**63  # servers take 64 bits, and refuse every request with more


def check_batch(
    team: Any,
    problems: Sequence[Problem],
    *,
    tests: str,
    time_limit: float,
    max_infra_rate: float,
    seed: int,
    **counts: int | None,
) -> None:
    """Check the arguments of a batch as a caller gave them.

    Args:
        team: from `build_team`.
        problems: from `load_problems`.
        tests: `hidden` or `all`.
        time_limit: CPU seconds per test.
        max_infra_rate: share of infrastructure errors, in [0, 1].
        seed: of the first agent in the first sample.
        **counts: `samples` and other whole numbers from 1 up, by their names; None leaves one to its default.

    Raises:
        NothingToDoError: no problems.
        BadValueError: names the argument that cannot be.
    """
    if isinstance(team, str):
        raise BadValueError(f"team is {team!r}; build_team({team!r}) makes one")
    _check_problems(problems)
    if tests not in ("hidden", "all"):
        raise BadValueError(f"tests is {tests!r}; a batch judges with 'hidden' or 'all'")
    if not _is_number(time_limit) or not 0 < time_limit <= _LONGEST_SECONDS:
        raise BadValueError(
            f"time_limit is {time_limit!r}; it must be a number of seconds above 0 and up to a day"
        )
    if not _is_number(max_infra_rate) or not 0 <= max_infra_rate <= 1:
        raise BadValueError(f"max_infra_rate is {max_infra_rate!r}; it is a share from 0 to 1")
    if not _is_whole(seed) or not -_SEEDS <= seed < _SEEDS - 1_000 * MAX_SAMPLES:
        raise BadValueError(f"seed is {seed!r}; it must be a whole number of 64 bits")
    for name, count in counts.items():
        if count is None:
            continue
        if not _is_whole(count) or count < 1:
            raise BadValueError(f"{name} is {count!r}; it must be a whole number, at least 1")
        if name == "samples" and count > MAX_SAMPLES:
            raise BadValueError(f"samples is {count}; it must be at most {MAX_SAMPLES}")


def _check_problems(problems: Sequence[Problem]) -> None:
    if isinstance(problems, Problem | str) or not isinstance(problems, Sequence):
        raise BadValueError(
            f"problems is {problems!r:.80}; it must be a sequence, as load_problems(...) gives"
        )
    if not problems:
        raise NothingToDoError("there is no problem to run; loosen the filters")
    if strange := next((item for item in problems if not isinstance(item, Problem)), None):
        raise BadValueError(
            f"problems holds {strange!r:.80}; load_problems(source, only=[...]) takes ids and gives problems"
        )
    name, count = Counter(problem.id for problem in problems).most_common(1)[0]
    if count > 1:
        raise BadValueError(
            f"problem {name!r} is there {count} times, and a run has one record for it; leave one, or draw "
            "several programs with samples"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
