"""An answer in the shape that a question asks for, for reflection models that are scripts."""

import json
import re
from collections.abc import Callable, Sequence

__all__ = ["in_shape"]

_TAIL = 1_500
_TAG = re.compile(r"</(\w+)>")
_REWRITE = re.compile(r"<prompt>\n(.*?)\n</prompt>.*?in this style:\n([^\n]*)", re.DOTALL)
_FIELD = re.compile(r"\[\[ ## (\w+) ## \]\]")


def in_shape(question: str, sentences: Sequence[str], known: Callable[[str], int]) -> str:
    """Say some sentences in answer to a method's question, or judge what it shows.

    Methods ask for a letter, a number, a JSON object, a line per colleague, text between tags, named fields,
    the same prompt in another style or a fenced block, and say so at the end of the question.

    Args:
        question: as a reflection model gets it.
        sentences: what a new prompt, a rule or a lesson is to say.
        known: how much of what helps is in a text; judges go by it.
    """
    tail = question[-_TAIL:]
    if "exactly one letter" in tail:
        before, _, second = question.rpartition("## Output B")
        return "A" if known(before.rpartition("## Output A")[2]) > known(second) else "B"
    if "one number from 0.00 to 1.00" in tail:
        return f"{min(0.95, 0.5 + 0.15 * known(question)):.2f}"
    if "one line for each colleague" in tail:
        return "nobody: OK"
    if "JSON object" in tail:
        ratings = {"progress": 5, "coordination": 5, "stage_fit": 5, "analysis": "It could be better."}
        return json.dumps({**ratings, "edits": {"add": list(sentences)}, "items": list(sentences)})
    text = "\n".join(f"- {sentence}" for sentence in sentences)
    if (shown := _REWRITE.search(question)) and "text of the new prompt alone" in tail:
        return f"{shown[1]}\n{shown[2]}\n{text}"
    if fields := list(dict.fromkeys(_FIELD.findall(tail))):
        return "\n\n".join(f"[[ ## {name} ## ]]\n{text if name != 'completed' else ''}" for name in fields)
    if tags := _TAG.findall(tail):
        return f"<{tags[-1]}>\n{text}\n</{tags[-1]}>"
    return f"```\n{text}\n```"
