"""What the library adds to a role's prompt: the shape of the submission and a word about the tool.

Both are put around the prompt when a team is built, so that editing prompts can neither see nor lose them.
"""

from collections.abc import Sequence

__all__ = ["CONTRACT_VERSION", "as_sent"]

CONTRACT_VERSION = 1
"""Changes with the wording below, so that runs under different contracts are told apart."""

_HEAD = """## How your reply must end
With one fenced block, labelled python, that holds the complete program, ready to be submitted as it is.
Only this block is judged: a reply without it is worth nothing, so keep the reasoning short.
Not sure? Give the best complete program that you have."""

# A task ends with a fence that holds a placeholder, and small models begin their reply with a copy of it.
# Asked for a sentence first, and shown no fence here, they write a program instead.
_REMINDER = (
    "Begin your reply with one or two sentences that say how to compute the result of this problem. Then "
    "write the complete program in one fenced python block, and nothing after it; its first line is "
    "`import sys`."
)

_TOOL_NOTE = """## Running code
You can call the tool python_exec(code, stdin). It runs a Python program afresh and returns its output.
- Run your program on the examples of the statement and on one or two hard cases before you answer.
- To test a class, create it and print what its method returns, at the end of the code that you pass.
- If a result is wrong, find the cause, repair the program and run it again. When all is right, answer.
- The tool keeps nothing and submits nothing: write the final program into your reply."""

_TOOL_NOTE_FOR_OTHERS = """## Running code
You can call the tool python_exec(code, stdin). It runs a Python program afresh and returns its output.
- Use it for what your part asks, and report only what you saw in a run.
- To test a class, create it and print what its method returns, at the end of the code that you pass.
- The tool keeps nothing: pass the whole program each time."""


def as_sent(prompt: str, *, answers: bool, python_exec: bool, notes: Sequence[str] = ()) -> str:
    """The system prompt of a role as its model gets it.

    Args:
        prompt: the role's own, editable prompt.
        answers: whether the role's text is the submission; it alone gets the contract, and gets it once.
        python_exec: whether the role has the tool.
        notes: what else the role must know, at the end: how to report, how to give jobs.
    """
    tool_note = _TOOL_NOTE if answers else _TOOL_NOTE_FOR_OTHERS
    parts = [prompt.strip(), *([tool_note] if python_exec else [])]
    # A prompt that merely quotes the contract, as an optimizer's may, must not get rid of it.
    if answers and not (_HEAD in prompt and _REMINDER in prompt):
        parts = [_HEAD, *parts, _REMINDER]
    return "\n\n".join([*parts, *(note for note in notes if note)])
