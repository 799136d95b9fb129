"""A test that has passed; other ends are made from it with `dataclasses.replace`."""

from lcbkit.judging.report import TestResult, Verdict

__all__ = ["PASSED"]

PASSED = TestResult(
    index=0,
    mode="stdin",
    verdict=Verdict.PASSED,
    input="3\n1 2 3\n",
    expected="6\n",
    actual="6\n",
    stderr="",
    exit_code=0,
    signal=None,
    wall_seconds=0.03,
    cpu_seconds=0.02,
    memory_bytes=9 << 20,
)
