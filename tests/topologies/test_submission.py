"""Which program stands for a team whose last text holds none."""

import pytest

from lcbkit.topologies.answer import AgentRun, Usage
from lcbkit.topologies.roles import plan_team
from lcbkit.topologies.submission import newest_program, submitted

PLAN = plan_team("sequential", 4)  # a coder and a debugger write programs; an analyzer and a tester do not


def run(role: str, code: str | None, *, infra: bool = False) -> AgentRun:
    return AgentRun(
        agent=0,
        role=role,
        round=0,
        seed=0,
        text="",
        code=code,
        stop_reason="end",
        error=None,
        infra=infra,
        usage=Usage(),
        latency_s=0.0,
        messages=(),
    )


@pytest.mark.parametrize(
    ("runs", "program"),
    [
        ([run("coder", "a"), run("debugger", "b")], "b"),
        ([run("coder", "a"), run("debugger", None)], "a"),
        ([run("coder", "a"), run("coder", "b"), run("debugger", None)], "b"),
        ([run("coder", "a"), run("tester", "t"), run("debugger", None)], "a"),
        ([run("coder", "a"), run("tester", "t")], "t"),  # it answers, since it is the last
        ([run("coder", "a"), run("debugger", None, infra=True)], None),
        ([run("coder", "a"), run("debugger", "half", infra=True)], None),
        ([run("coder", "a", infra=True), run("debugger", None)], None),
        ([run("tester", "t"), run("debugger", None)], None),
        ([], None),
    ],
)
def test_the_last_program_counts_else_the_newest_of_those_who_write_them(
    runs: list[AgentRun], program: str | None
) -> None:
    assert submitted(PLAN, runs) == program


def test_the_newest_program_is_that_of_a_role_whose_duty_it_is() -> None:
    assert newest_program(PLAN, [run("coder", "a"), run("tester", "t")]) == "a"
    assert newest_program(PLAN, [run("analyzer", "x")]) is None
