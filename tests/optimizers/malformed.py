"""Answers that no prompt asked for: what every method must survive."""

__all__ = ["MALFORMED"]

MALFORMED = {
    "empty": "",
    "blank": " \n\n ",
    "prose": "I am afraid that I cannot judge this without more context. Shall we talk about something else?",
    "truncated JSON": '{"progress": 7, "edits": {"add": ["State the co',
    "wrong role": '{"role": "janitor", "edits": {"janitor": ["Sweep."]}, "items": {"janitor": 1}}',
    "wrong name": "janitor: swept the wrong floor",
    "wrong types": '{"progress": [], "ratings": 3, "edits": [1, null], "suggestions": "x", "items": [{}]}',
    "huge": "<prompt>" + "- word " * 300_000 + "</prompt>",
    "unclosed": "<prompt>\n<rules>\n```text\n",
    "markers only": "<prompt></prompt><rules></rules><variant></variant>",
    "surrogate": "- half a character \ud800 and a NUL \x00",
    "open thought": "<think>I could go on like this for ever",
}
"""By name; a reflection model may give one of them to every question."""
