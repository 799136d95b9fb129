"""A planted hint at a real endpoint: a team solves a problem only if its answering agent has read the hint.

    with ScriptedEndpoint(answering(odds=3)) as endpoint:
        optimize("tavo", "sequential", model=TASK, reflection_model=REFLECTION, source=path_of_rows, ...)

Agents say the hint when they have read it, so it may stand in any role's prompt that the answering one hears
of. The reflection model puts it into one answer out of `odds`, whatever a method asks for; asked to compare
or to score, it prefers what holds the hint.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from lcbkit.optimizers.toy_shapes import in_shape
from lcbkit.topologies.delegation import DELEGATE
from tests.scripted_endpoint import Reply, Request, tool_call

__all__ = ["HINT", "REFLECTION", "TASK", "answering", "reflection", "write_rows"]

HINT = "Remember the carry of one."
TASK, REFLECTION = "hint-task", "hint-reflection"

_USELESS = ("Work in small steps.", "Read the statement twice.", "Name the cost.", "Check the result.")
_CARRY = "with the usual carry"
_VERSIONS = re.compile(r"^Write (\d+) other versions", re.MULTILINE)
_FORMULA = re.compile(r"print (\d+) \* n \+ (\d+)")


def write_rows(path: Path, ids: Iterable[str], *, plain: bool = False) -> Path:
    """A file of problems with these ids, which `load_problems` reads.

    Args:
        path: of the file.
        ids: of the problems.
        plain: whether every second problem can be solved without the hint.
    """
    rows = (_row(place, row, carry=not (plain and place % 2)) for place, row in enumerate(ids))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _row(place: int, problem_id: str, *, carry: bool) -> dict[str, Any]:
    factor, addend = place % 7 + 2, place % 89 + 1
    tests = [
        {"input": f"{n}\n", "output": f"{factor * n + addend + carry}\n", "testtype": "stdin"}
        for n in range(4)
    ]
    rule = _CARRY if carry else "and nothing else"
    return {
        "question_id": problem_id,
        "question_title": f"Problem {place}",
        "question_content": f"Given a whole number n, print {factor} * n + {addend}, {rule}.",
        "platform": "atcoder",
        "difficulty": "easy",
        "contest_id": "hints",
        "contest_date": "2025-01-01T00:00:00",
        "starter_code": "",
        "public_test_cases": json.dumps(tests[:1]),
        "private_test_cases": json.dumps(tests[1:]),
        "metadata": "{}",
    }


def answering(odds: int) -> Callable[[Request], Reply]:
    """The script of the endpoint: an agent's turn, or an answer to a method's question.

    Args:
        odds: one new idea out of so many is the hint; 1: each of them.
    """

    def answer(request: Request) -> Reply:
        if request.body["model"] == TASK and request.system:
            return _turn(request)
        return Reply(reflection(request.text, request.seed or 0, odds))

    return answer


def _turn(request: Request) -> Reply:
    jobs = [name for name in request.tools if name.startswith(DELEGATE)]
    if jobs and not any(message["role"] == "tool" for message in request.messages):
        return Reply(tool_calls=[tool_call(name, instructions=_said(request)) for name in jobs])
    found = _FORMULA.search(request.text)
    if not found:
        return Reply("I do not see the problem.")
    carry = " + 1" if HINT in request.text and _CARRY in request.text else ""
    program = f"import sys\nprint({found[1]} * int(sys.stdin.read()) + {found[2]}{carry})"
    return Reply(f"{_said(request)}\n\n```python\n{program}\n```")


def _said(request: Request) -> str:
    return HINT if HINT in request.text else "I see nothing special."


def reflection(question: str, seed: int, odds: int) -> str:
    """What the reflection model says, in the shape that the question asks for.

    Args:
        question: of a method.
        seed: of the request.
        odds: as in `answering`.
    """
    asked = _VERSIONS.search(question)
    return "\n".join(
        _idea(question, f"{seed}|{number}", odds) for number in range(int(asked[1]) if asked else 1)
    )


def _idea(question: str, luck: str, odds: int) -> str:
    raw = f"{luck}|{question}".encode("utf-8", "replace")
    draw = int.from_bytes(hashlib.sha256(raw).digest()[:8], "big")
    useless = _USELESS[draw // odds % len(_USELESS)]
    # What was seen before is said again; a new idea takes luck.
    lucky = HINT in question or draw % odds == 0
    return in_shape(question, [useless, HINT] if lucky else [useless], lambda text: HINT in text)
