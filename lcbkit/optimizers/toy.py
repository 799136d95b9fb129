"""A toy world, labelled as such: problems, a task model and a reflection model that run anywhere in no time.

The problems ask for a formula on each line of the input, and most of them hold a trap that their note tells.
The toy model falls into a trap unless what it reads names the remedy, which it then passes on to whoever
reads it; asked to improve a prompt, it now and then writes one that names a remedy for a trap that it was
shown. So scores mean nothing, but every method, phase and file is the real one: for teaching and for tests.
"""

import json
import random
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolCall
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool

from lcbkit.optimizers.toy_shapes import in_shape
from lcbkit.problems import Problem, ProblemSet
from lcbkit.topologies.delegation import DELEGATE

__all__ = ["REMEDIES", "ToyModel", "toy_problems", "toy_splits"]

REMEDIES = {
    "below zero": "Mind negative numbers.",
    "blank lines": "Skip blank lines of the input.",
    "how many lines": "Read the input to its end.",
}
"""For each trap, as a problem's note tells it, the sentence that a prompt must hold."""

_NOTES = {
    "below zero": "Note: numbers may lie below zero.",
    "blank lines": "Note: there may be blank lines before the number; print nothing for them.",
    "how many lines": "Note: nobody says how many lines there are.",
    "": "Note: there is one line, with a number from 1 to 9.",
}
_SIZES = {"train": 20, "validation": 10, "test": 10}
_FORMULA = re.compile(r"print (\d+) \* n \+ (\d+)\.")
_HARMLESS = (
    "Work in small steps.",
    "Check each step before the next one.",
    "Say first what the result must be.",
    "Prefer a plain way to a clever one.",
    "Name things by what they hold.",
    "Read the statement twice.",
    "Try a small case by hand.",
)
_CHANCE_OF_A_REMEDY = 0.7
_CHANCE_OF_A_LUCKY_GUESS = 0.3


def toy_splits() -> dict[str, tuple[str, ...]]:
    """Ids of the toy problems for train, validation and test."""
    return {split: tuple(f"toy_{split}_{number}" for number in range(size)) for split, size in _SIZES.items()}


def toy_problems() -> ProblemSet:
    """All toy problems; three in four hold a trap."""
    ids = [problem_id for split in toy_splits().values() for problem_id in split]
    return ProblemSet([_problem(place, problem_id) for place, problem_id in enumerate(ids)], source="toy")


def _problem(place: int, problem_id: str) -> Problem:
    rng = random.Random(f"toy|{problem_id}")
    traps = list(_NOTES)
    trap = traps[place % len(traps)]
    factor, addend = rng.randint(2, 9), rng.randint(1, 99)
    tests = []
    for _ in range(4):
        numbers = _numbers(rng, trap)
        lines = [str(number) for number in numbers]
        if trap == "blank lines":
            lines.insert(0, "")
        output = "".join(f"{factor * number + addend}\n" for number in numbers)
        tests.append({"input": "\n".join(lines) + "\n", "output": output, "testtype": "stdin"})
    return Problem.from_row(
        {
            "question_id": problem_id,
            "question_title": f"Toy problem {place}",
            "question_content": "Each line of standard input holds a whole number n. For each of them, "
            f"print {factor} * n + {addend}.\n\n{_NOTES[trap]}",
            "platform": "atcoder",
            "difficulty": "medium" if trap else "easy",
            "contest_id": "toy",
            "contest_date": datetime(2025, 1, 1, tzinfo=UTC).replace(tzinfo=None).isoformat(),
            "starter_code": "",
            "public_test_cases": json.dumps(tests[:1]),
            "private_test_cases": json.dumps(tests[1:]),
            "metadata": "{}",
        }
    )


def _numbers(rng: random.Random, trap: str) -> list[int]:
    if not trap:
        return [rng.randint(1, 9)]
    if trap == "below zero":
        return [-rng.randint(1, 50)]
    count = rng.randint(2, 4) if trap == "how many lines" else 1
    return [rng.randint(1, 50) for _ in range(count)]


class ToyModel(BaseChatModel):
    """Solves toy problems as its prompts let it, and improves prompts; answers depend on the seed alone."""

    @property
    def model_name(self) -> str:
        """Its name in every record."""
        return "toy"

    @property
    def sampling_values(self) -> dict[str, Any]:
        """It samples nothing."""
        return {}

    @property
    def _llm_type(self) -> str:
        return "toy"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Offer tools; it calls those that give a worker its job."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - LangChain's signature
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        texts = [message.text for message in messages]
        rng = random.Random(int(kwargs.get("seed") or 0))
        # A member of a team is asked with the model's own sampling values, a single model with the call's; a
        # role that is probed alone has its prompt as system message, where DSPy has its field marks.
        probed = messages[0].type == "system" and "[[ ## " not in texts[0]
        in_team = probed or "temperature" not in kwargs
        answer = _solution(texts) if in_team else _reflection("\n".join(texts), rng)
        calls = _jobs(messages, kwargs.get("tools", ()))
        read, written = sum(map(len, texts)) // 4 + 1, len(answer) // 4 + 1
        message = AIMessage(
            content=answer if not calls else answer.partition("\n")[0],
            tool_calls=calls,
            usage_metadata={
                "input_tokens": read,
                "output_tokens": written,
                "total_tokens": read + written,
            },
            response_metadata={"finish_reason": "stop"},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


def _jobs(messages: Sequence[BaseMessage], tools: Sequence[dict[str, Any]]) -> list[ToolCall]:
    """A manager's first turn: a job for each of its workers."""
    names = [tool["function"]["name"] for tool in tools]
    if any(message.type == "tool" for message in messages):
        return []
    return [
        ToolCall(name=name, args={"instructions": "Do your part."}, id=f"job_{place}", type="tool_call")
        for place, name in enumerate(names)
        if name.startswith(DELEGATE)
    ]


def _solution(texts: Sequence[str]) -> str:
    """A team member's text: the remedies that it read, and a program that knows these alone."""
    everything = "\n".join(texts)
    known = [trap for trap, remedy in REMEDIES.items() if remedy in everything]
    found = _FORMULA.search(everything)
    if not found:
        return "I do not understand the problem."
    said = " ".join(REMEDIES[trap] for trap in known) or "I see nothing special."
    return f"{said}\n\n```python\nimport sys\n{_program(known, *found.groups())}\n```"


def _program(known: Sequence[str], factor: str, addend: str) -> str:
    parts = ["lines = sys.stdin.read().split('\\n')[:-1]"]
    if "blank lines" in known:
        parts.append("lines = [line for line in lines if line.strip()]")
    if "how many lines" not in known:
        parts.append("lines = lines[:1]")
    number = "int(line)" if "below zero" in known else "abs(int(line))"
    return "\n".join([*parts, "for line in lines:", f"    print({factor} * {number} + {addend})"])


def _reflection(prompt: str, rng: random.Random) -> str:
    """An answer to whatever a method asks, in the shape that it asks for."""
    sentences = ["Do your part of the work on the programming problem.", *_advice(prompt, rng)]
    return in_shape(prompt, sentences, lambda text: len(_held(text)))


def _held(text: str) -> list[str]:
    return [remedy for remedy in REMEDIES.values() if remedy in text]


def _advice(prompt: str, rng: random.Random) -> list[str]:
    """Words that do no harm, the remedies that the prompt holds, and perhaps a new one.

    Where no problem is shown, a new one is a guess.
    """
    held = _held(prompt)
    shown = [remedy for trap, remedy in REMEDIES.items() if _NOTES[trap] in prompt]
    wanted = [remedy for remedy in shown or REMEDIES.values() if remedy not in held]
    chance = _CHANCE_OF_A_REMEDY if shown else _CHANCE_OF_A_LUCKY_GUESS
    new = [rng.choice(wanted)] if wanted and rng.random() < chance else []
    return [*rng.sample(_HARMLESS, 2), *held, *new]
