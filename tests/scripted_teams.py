"""Runs of whole teams on the sample at a scripted endpoint: tool calls, hand-offs, votes, every ending."""

import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from scripted_endpoint import Reply, Request, ScriptedEndpoint, tool_call

from lcbkit.dataset import load_problems
from lcbkit.evaluation import evaluate
from lcbkit.models import get_model
from lcbkit.results import Run
from lcbkit.topologies.team import build_team
from tests.conftest import ROOT

__all__ = ["script", "scripted_run"]

SILENT, WRONG, CRASHING = {"lkc3_B"}, {"lka2_d", "lkc2_D", "lk105"}, {"lkc4_E"}
SLOW, BROKEN = {"lkc1_C"}, {"lk107"}


@cache
def programs() -> dict[str, Any]:
    """The sample's own programs by the problem's id."""
    folder = ROOT / "tools" / "sample"
    sys.path.insert(0, str(folder))
    names = sorted(path.stem for path in (folder / "sample_problems").glob("lk*.py"))
    found = (import_module(f"sample_problems.{name}").PROBLEM for name in names)
    return {problem.id: problem for problem in found}


@cache
def statements() -> dict[str, str]:
    return {problem.id: problem.statement.strip()[:80] for problem in load_problems("sample")}


def script(*, luck: int = 0) -> Callable[[Request], Reply | str]:
    """A model that tries its program first, and misses some problems; with luck, others."""

    def answer(request: Request) -> Reply | str:
        problem_id = next(name for name, start in statements().items() if start in request.text)
        problem = programs()[problem_id]
        if problem_id in BROKEN and not luck:
            return Reply(status=401, error="the key of this endpoint is not valid")
        if "Write no code" in request.text and "tools" not in request.body:
            return "Read the limits: **one pass** over the input is enough, with a running value in `best`."
        program = _program(problem, problem_id, (request.seed or 0) + luck)
        if request.tools and not any(message["role"] == "tool" for message in request.messages):
            stdin = problem.examples[0].input if not problem.func_name else ""
            return Reply(
                "I try it on the first example before I answer.",
                tool_calls=[tool_call("python_exec", code=program, stdin=stdin)],
                prompt_tokens=len(request.text) // 4,
                completion_tokens=90,
            )
        if problem_id in SILENT:
            return "The answer needs a segment tree over <b>all</b> residues & I ran out of room."
        text = f"The example agrees. One pass is enough, since `n` is small.\n\n```python\n{program}```\n"
        return Reply(text, prompt_tokens=len(request.text) // 4, completion_tokens=len(text) // 4)

    return answer


def _program(problem: Any, problem_id: str, seed: int) -> str:
    own = problem.programs
    if problem_id in WRONG and seed % 4 != 3:
        return str(own.wrong)
    if problem_id in CRASHING and seed % 4 != 1:
        return "first = [int(word) for word in input().split()]\nprint(first[len(first)])\n"
    if problem_id in SLOW:
        return "import sys\n\nfor line in sys.stdin:\n    print(sum(i * i for i in range(10**8)))\n"
    return str(own.reference)


def scripted_run(
    folder: Path, topology: str, *, luck: int = 0, only: Sequence[str] | None = None, **options: Any
) -> Run:
    """A finished run in a folder; the endpoint is gone afterwards."""
    with ScriptedEndpoint(script(luck=luck)) as endpoint:
        model = get_model("scripted-7b", base_url=endpoint.url)
        team = build_team(topology, model=model, **options)
        problems = load_problems("sample", only=only)
        return evaluate(
            team,
            problems,
            out_dir=folder,
            progress=False,
            time_limit=0.5,
            concurrency=8,
            stop_on_failure=luck > 0,
        )
