"""How an instance or a test ended, in a letter and in words, as the browsers and the live view show it."""

from html import escape

from lcbkit.judging.report import Verdict
from lcbkit.records import Record, Status

__all__ = ["LETTERS", "SHOWN", "is_shown", "legend", "outcome", "strip"]

LETTERS: dict[str, tuple[str, str]] = {
    "P": ("passed", "good"),
    "W": ("wrong answer", "bad"),
    "R": ("runtime error", "bad"),
    "T": ("time limit", "bad"),
    "M": ("memory limit", "bad"),
    "O": ("output limit", "bad"),
    "F": ("failed", "bad"),
    "N": ("no program", "bad"),
    "E": ("agent error", "bad"),
    "X": ("infrastructure", "warn"),
    "J": ("judge error", "warn"),
    "B": ("bad test", "warn"),
    "I": ("internal error", "warn"),
    "-": ("not run", "soft"),
}
"""What each letter stands for, and the tone of its word."""

_OF_STATUS = {
    Status.NO_CODE: "N",
    Status.AGENT_ERROR: "E",
    Status.INFRA_ERROR: "X",
    Status.JUDGE_ERROR: "J",
    Status.BAD_TEST: "B",
}

_OF_VERDICT = {verdict.value: verdict.letter for verdict in Verdict}

SHOWN = {
    "all": "all",
    "passed": "passed",
    "failed": "not passed",
    "wrong_answer": "wrong answer",
    "runtime_error": "runtime error",
    "time_limit": "time limit",
    "memory_limit": "memory limit",
    "no_code": "no program",
    "agent_error": "agent error",
    "infrastructure": "infrastructure",
    "unscored": "not counted",
}
"""What a run's browser can be narrowed to, and how its list names it."""


def outcome(record: Record) -> str:
    """The letter of an instance: of its first failed test where a program was judged, else of its status."""
    if record.status is not Status.OK:
        return _OF_STATUS[record.status]
    if record.passed:
        return "P"
    return _OF_VERDICT.get(str((record.first_failure or {}).get("kind")), "F")


def is_shown(record: Record, show: str) -> bool:
    """Whether an instance belongs to one of `SHOWN`."""
    match show:
        case "all":
            return True
        case "passed":
            return record.passed
        case "failed":
            return record.scored and not record.passed
        case "unscored":
            return not record.scored
        case "infrastructure":
            return record.status in (Status.INFRA_ERROR, Status.JUDGE_ERROR)
        case _:
            return LETTERS[outcome(record)][0] == SHOWN[show]


def strip(letters: str) -> str:
    """The letters as small boxes, for pages without widgets; the style is that of `widgets/style.css`."""
    boxes = "".join(
        f'<span class="lcb-v lcb-v-{"none" if letter == "-" else escape(letter)}" '
        f'title="{i}: {escape(LETTERS.get(letter, (letter, ""))[0])}">{escape(letter)}</span>'
        for i, letter in enumerate(letters)
    )
    return f'<span class="lcb-strip{" lcb-dense" if len(letters) > 24 else ""}">{boxes}</span>'


def legend(letters: str, *, counted: bool = False) -> str:
    """What the letters that occur mean, and how often each occurs."""
    parts = []
    for letter, (words, _) in LETTERS.items():
        if number := letters.count(letter):
            told = f"{words} {number}" if counted else words
            parts.append(f'<span class="lcb-legend">{strip(letter)} {escape(told)}</span>')
    return " ".join(parts)
