"""Text for the terminal is short, marked at the right place, and names the submission's own line."""

import pytest

from lcbkit.display.text import block, ending, last_error, one_line

CRASH = """Traceback (most recent call last):
  File "/box/main.py", line 12, in <module>
    main()
  File "/box/main.py", line 8, in main
    json.loads("")
  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads
    return _default_decoder.decode(s)
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
"""


def test_the_error_names_the_line_of_the_submission_not_of_a_library() -> None:
    assert (
        last_error(CRASH) == "line 8: json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"
    )


def test_a_chain_of_errors_ends_with_the_last_one() -> None:
    chain = CRASH + "\nDuring handling of the above exception, another exception occurred:\n\n"
    chain += 'Traceback (most recent call last):\n  File "/box/main.py", line 20, in <module>\n    1 / 0\n'
    assert last_error(chain + "ZeroDivisionError: division by zero\n") == (
        "line 20: ZeroDivisionError: division by zero"
    )


def test_a_syntax_error_has_its_line() -> None:
    stderr = '  File "/box/main.py", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n'
    assert last_error(stderr) == "line 1: SyntaxError: invalid syntax"


@pytest.mark.parametrize(("stderr", "line"), [("", ""), ("bye\n", "bye"), ("a\n\nb \n\n", "b")])
def test_without_a_traceback_the_last_line_is_the_error(stderr: str, line: str) -> None:
    assert last_error(stderr) == line


def test_the_mark_stands_below_the_place_in_a_long_line() -> None:
    text = "first\n" + "x" * 500 + "HERE" + "y" * 500
    place = text.index("HERE")
    *_, shown, marks = block("actual", text, (place, place + 4)).split("\n")
    assert shown[marks.index("^") : marks.rindex("^") + 1] == "HERE"
    assert len(shown) < 120


def test_a_long_text_shows_the_part_around_the_place_and_counts_the_rest() -> None:
    text = "\n".join(f"row {number}" for number in range(5000))
    place = text.index("row 4000")
    shown = block("actual", text, (place, place + 8))
    assert "row 4000" in shown
    assert "lines before" in shown
    assert "lines after" in shown
    assert len(shown.splitlines()) < 20


def test_control_characters_cannot_move_the_cursor() -> None:
    assert "\x1b" not in block("actual", "\x1b[2Jhidden\r\nnext")
    assert one_line("\x1b[31mred\nmore", 80) == "·[31mred"


@pytest.mark.parametrize(
    ("exit_code", "signal", "words"),
    [(3, None, "exit code 3"), (None, 9, "ended by SIGKILL"), (None, 40, "ended by signal 40")],
)
def test_an_ending_is_named(exit_code: int | None, signal: int | None, words: str) -> None:
    assert ending(exit_code, signal) == words
