"""The first minute with lcbkit: a team on the two built-in problems."""

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import indent

from lcbkit.dataset import demo_problems
from lcbkit.judging.pool import judge
from lcbkit.judging.report import Report
from lcbkit.problems import Problem
from lcbkit.topologies.team import Team, TeamAnswer

__all__ = ["Demonstration", "demonstrate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """One built-in problem, what the team answered, and how its program was judged.

    Attributes:
        problem: the problem.
        answer: what the team gave.
        report: the verdicts; None when the answer holds no program.
    """

    problem: Problem
    answer: TeamAnswer
    report: Report | None

    def __str__(self) -> str:
        head = f"{self.problem.id}  {self.problem.title} ({self.problem.mode})"
        if self.answer.code is None:
            reason = self.answer.error or f"stopped by: {self.answer.stop_reason}"
            return f"{head}\n\n  {self.answer.status}: no program in the answer ({reason})"
        return f"{head}\n\n{indent(self.answer.code.rstrip(), '    ')}\n\n{self.report}"


def demonstrate(team: Team, *, seed: int = 0) -> Iterator[Demonstration]:
    """Solve and judge the two built-in problems, one per mode.

    Args:
        team: any team.
        seed: of the first agent.

    Yields:
        One demonstration per problem, as soon as it is judged.
    """
    for problem in demo_problems():
        answer = team.solve(problem, seed=seed)
        report = None if answer.code is None else judge(answer.code, problem)
        yield Demonstration(problem=problem, answer=answer, report=report)
