"""Programs are found in what models really write, and nothing else is taken for one."""

import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage

from lcbkit.extract import extract_code, has_statement, strip_reasoning

PROGRAM = "n = int(input())\nprint(n * 2)"
OTHER = "print('draft')"
STARTER = "class Solution:\n    def double(self, n: int) -> int:\n        "


def block(code: str = PROGRAM, label: str = "python", fence: str = "```") -> str:
    return f"{fence}{label}\n{code}\n{fence}\n"


LABELS = (
    *(
        "python",
        "Python",
        "PYTHON",
        "python3",
        "py",
        "py3",
        " python",
        "  Python3  ",
        "Python 3",
        "python3.11",
    ),
    *("{.python}", "python title=a.py", "python,linenos", "python:main.py", ""),
)
NOTHING = (
    *("", "   ", "# YOUR CODE HERE", "# thinking", '"""Only a text."""', "pass", "...", "6", "Yes", "1, 2"),
    *("-3", '{"answer": print(1)}', "[print(1)]", "x =", "def f(:"),
)


@pytest.mark.parametrize("label", LABELS)
def test_a_block_counts_under_any_spelling_of_python(label: str) -> None:
    assert extract_code(f"Here:\n{block(label=label)}Done.") == PROGRAM


@pytest.mark.parametrize("label", ["text", "cpp", "json", "pycon", "python2", "python-repl", "pyx", "bash"])
def test_a_block_in_another_language_is_skipped(label: str) -> None:
    assert extract_code(block(label=label)) is None
    assert extract_code(block() + block(OTHER, label)) == PROGRAM


def test_a_labelled_block_wins_over_a_later_bare_one() -> None:
    assert extract_code(block() + block(OTHER, "")) == PROGRAM


def test_the_last_of_several_blocks_wins() -> None:
    assert extract_code(block(OTHER) + "Better:\n" + block()) == PROGRAM
    assert extract_code(block(OTHER, "") + "Better:\n" + block(label="")) == PROGRAM


def test_a_good_block_survives_a_later_one_with_a_syntax_error() -> None:
    assert extract_code(block() + block("print(")) == PROGRAM
    assert extract_code(block() + block(">>> print(2)\n2")) == PROGRAM


@pytest.mark.parametrize("nothing", NOTHING)
def test_a_block_without_a_statement_is_no_program(nothing: str) -> None:
    assert extract_code(block(nothing)) is None
    assert extract_code(block() + block(nothing)) == PROGRAM
    assert extract_code(block() + block(nothing, "")) == PROGRAM


@pytest.mark.parametrize("echo", [STARTER, STARTER + "pass", STARTER + "...", STARTER.replace("    ", "\t")])
def test_untouched_starter_code_is_no_program(echo: str) -> None:
    assert extract_code(block(echo), starter_code=STARTER) is None


def test_filled_in_starter_code_is_a_program() -> None:
    filled = STARTER + "return 2 * n"
    assert extract_code(block(filled) + block(STARTER + "pass"), starter_code=STARTER) == filled


def test_only_text_behind_the_reasoning_counts() -> None:
    assert extract_code(f"<think>{block(OTHER)}</think>{block()}") == PROGRAM
    assert extract_code(f"{block(OTHER)}</think>\n{block()}") == PROGRAM  # the opening tag was in the prompt
    assert extract_code(f"<THINK>a</Think>b<think>{block(OTHER)}</think>\n{block()}") == PROGRAM


def test_an_answer_cut_off_while_thinking_holds_no_program() -> None:
    assert extract_code(f"<think>{block()}") is None
    assert extract_code(f"<think>a</think>{block()}<think>wait") is None
    assert strip_reasoning("<think>never closed") == ""


def test_text_without_reasoning_stays_as_it_is() -> None:
    assert strip_reasoning("\n a < b > think \n") == "\n a < b > think \n"
    assert strip_reasoning("İ<think>ß</think>\n\nİanswer ") == "İanswer "


def test_an_unclosed_last_block_counts_when_nothing_else_does() -> None:
    assert extract_code(f"Plan.\n```python\n{PROGRAM}") == PROGRAM
    assert extract_code(f"{block(OTHER)}\n```python\n{PROGRAM}") == OTHER
    assert extract_code(f"{block(OTHER, '')}\n```python\n{PROGRAM}") == OTHER
    assert extract_code(f"Plan.\n```python\n{PROGRAM}\nfor i in ra") is None


def test_text_without_a_fence_holds_no_program() -> None:
    assert extract_code(PROGRAM) is None
    assert extract_code(f"`{PROGRAM}`") is None
    assert extract_code("Use ```print(1)``` inline.") is None
    assert extract_code("```print(1)```") is None


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_become_line_feeds(end: str) -> None:
    assert extract_code(f"ok\n{block()}".replace("\n", end)) == PROGRAM


@pytest.mark.parametrize("indent", ["  ", "   ", "    ", "      ", "\t"])
def test_the_indent_of_a_fence_is_taken_off_its_block(indent: str) -> None:
    listed = "".join(indent + line for line in block().splitlines(keepends=True))
    assert extract_code(f"1. Answer:\n\n{listed}") == PROGRAM


@pytest.mark.parametrize("marker", ["- ", "* ", "1. ", "12) ", "- 1. "])
def test_a_block_may_begin_behind_a_list_marker(marker: str) -> None:
    lines = block().splitlines(keepends=True)
    text = marker + lines[0] + "".join(" " * len(marker) + line for line in lines[1:])
    assert extract_code(text) == PROGRAM


def test_a_block_more_or_less_indented_than_its_fence_keeps_its_shape() -> None:
    loop = "for i in range(2):\n  print(i)"
    assert extract_code("```python\n    for i in range(2):\n      print(i)\n```") == loop
    assert extract_code(f"   ```python\n{loop}\n   ```") == loop
    assert extract_code(f"   ```python\n   {PROGRAM.replace(chr(10), chr(10) + '   ')}\n```") == PROGRAM


def test_the_indent_inside_a_string_stays() -> None:
    code = 'text = """\n    kept\n"""\nprint(text)'
    assert extract_code(block(code)) == code


def test_a_closing_fence_is_as_long_as_the_opening_one() -> None:
    code = "print('''\n```\n''')"
    assert extract_code(block(code, fence="````")) == code
    assert extract_code(f"```python\n{PROGRAM}\n`````") == PROGRAM
    assert extract_code("````python\nprint(1)\n```\nprint(2)\n````") is None


def test_tildes_fence_too_and_do_not_mix_with_backticks() -> None:
    assert extract_code(block(fence="~~~")) == PROGRAM
    assert extract_code(block(fence="~~~~", label=" python `x`")) == PROGRAM
    code = "print('''\n```\n''')"
    assert extract_code(block(code, fence="~~~")) == code


def test_backticks_inside_a_line_are_code() -> None:
    code = "fence = '```'\nprint(fence.count('`'))  # ``` three"
    assert extract_code(block(code)) == code


@pytest.mark.parametrize("quote", ['"""', "'''"])
def test_a_fence_line_inside_a_string_is_code(quote: str) -> None:
    code = f'help = {quote}\n```\nusage \\{quote} "it\'s"\n```python\n```\n{quote}  # {quote}\nprint(help)'
    assert extract_code(f"{block(code)}It prints:\n{block('usage', '')}") == code


def test_a_broken_string_does_not_swallow_the_next_block() -> None:
    assert extract_code(f"{block('s = ' + chr(39) * 3)}Fixed:\n{block()}") == PROGRAM
    assert extract_code(f"```python\ns = '''draft\nAgain:\n{block()}") == PROGRAM
    documented = f'"""Doubles."""\n{PROGRAM}'
    assert extract_code(f"{block('s = ' + chr(34) * 3)}Fixed:\n{block(documented)}") == documented


def test_a_label_inside_a_block_begins_a_new_one() -> None:
    assert extract_code(f"```python\n{block()}```") == PROGRAM
    assert extract_code(f"```markdown\nThe answer:\n{block()}```\n") == PROGRAM
    assert extract_code(f"```python\nlet me think\n{block()}") == PROGRAM
    assert extract_code(f"```\nstray\n```\n```\n{block()}") == PROGRAM


def test_words_behind_a_closing_fence_close_it_too() -> None:
    assert extract_code(f"```python\n{PROGRAM}\n``` This doubles it.\n{block('6', '')}") == PROGRAM


def test_an_empty_block_behind_the_program_is_skipped() -> None:
    assert extract_code(f"{block()}\n```\n```\n") == PROGRAM


def test_the_reference_trap_of_paired_fences_is_avoided() -> None:
    text = "```python3\nprint(1)\n```\nOutput\n```\n1\n```"
    assert extract_code(text) == "print(1)"


def test_a_program_with_a_doubtful_escape_is_still_a_program() -> None:
    code = "import re\nprint(re.sub('\\d', '', input()))\nif 0in[1]: pass"
    assert extract_code(block(code)) == code


@pytest.mark.parametrize(
    "code", ["print(1)\0", "(" * 5_000, "x = " + "-" * 200_000 + "1", "not " * 100_000 + "1"]
)
def test_text_that_breaks_the_parser_is_no_program(code: str) -> None:
    assert not has_statement(code)


def test_a_block_of_more_than_half_a_megabyte_is_no_program() -> None:
    assert extract_code(block() + block("x = 1\n" * 100_000)) == PROGRAM


@pytest.mark.parametrize(
    "code", ["import sys", "x = 1", "def f(): ...", "print", "f()", "(y := 2)", "if x: pass"]
)
def test_only_statements_that_act_make_a_program(code: str) -> None:
    assert has_statement(code) is (code != "print")


PIECES = (
    *(
        "```",
        "```python",
        "````",
        "````python",
        "~~~",
        "~~~py",
        "```text",
        "   ```",
        "- ```python",
        "``` x y",
    ),
    *(
        "'''",
        '"""',
        "print(1)",
        "x = 1",
        "(",
        "# c",
        "",
        "prose here",
        "\\",
        "<think>",
        "</think>",
        "    y = 2",
    ),
)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_the_text_what_comes_out_is_a_program_of_its_lines(seed: int) -> None:
    chance = random.Random(seed)
    found = 0
    for _ in range(1_000):
        text = "\n".join(chance.choices(PIECES, k=chance.randrange(1, 14)))
        code = extract_code(text)
        if code is not None:
            found += 1
            assert has_statement(code)
            assert {line.strip() for line in code.split("\n")} <= {line.strip() for line in text.split("\n")}
    assert found > 50


def _adversarial() -> Iterator[tuple[str, Callable[[int], str]]]:
    yield "openings", lambda n: "```python\n" * (n // 10)
    yield "bad blocks", lambda n: "```python\n(\n```\n" * (n // 16)
    yield "backticks", lambda n: "`" * n
    yield "blank line", lambda n: " " * n + "``"
    yield "list markers", lambda n: "- " * (n // 2) + "```"
    yield "tildes in backticks", lambda n: "```python\n" + "~~~\n" * (n // 4)
    yield "ever longer fences", lambda n: "\n".join("`" * size for size in range(3, int((2 * n) ** 0.5)))
    yield "broken strings", lambda n: "```python\n'''\n```\n" * (n // 18)
    yield "strings never left", lambda n: "```python\n'''\n```\n" + "'''\n'''\n```\n" * (n // 12)
    yield "two kinds of strings", lambda n: "```python\n'''\n```\n```python\n\"\"\"\n```\n" * (n // 36)
    yield "backslashes", lambda n: "```python\n'''" + "\\" * n + "\n```\n```\n"
    yield "thoughts", lambda n: "<think></think>" * (n // 15)
    yield "parentheses", lambda n: block("(" * n)
    yield "long comment", lambda n: block("# pad\n" * (n // 6))


@pytest.mark.parametrize(("name", "make"), [pytest.param(*case, id=case[0]) for case in _adversarial()])
def test_the_work_grows_with_the_text_not_with_its_square(name: str, make: Callable[[int], str]) -> None:
    def seconds(size: int) -> float:
        start = time.process_time()
        assert extract_code(make(size)) is None, name
        return time.process_time() - start

    small = max(min(seconds(40_000) for _ in range(5)), 0.002)
    # Sixteen times the text: linear work takes sixteen times as long, quadratic 256 times. Other work on the
    # machine only ever adds, so one undisturbed try is enough; quadratic work has none.
    assert any(seconds(640_000) < 100 * small for _ in range(5))


def test_five_megabytes_around_a_program_do_not_hide_it() -> None:
    prose = "So `a` and ``b`` follow; 1. see *x* ~ y, then <b>.\n" * 50_000
    assert extract_code(prose + block() + prose) == PROGRAM


def _cases(shared: Path) -> Iterator[dict[str, object]]:
    with (shared / "data/cases/cases.jsonl").open() as file:
        yield from (case for case in map(json.loads, file) if case["kind"] == "extract")


def test_the_collected_cases_come_out_as_stated(shared: Path) -> None:
    wrong = {}
    for case in _cases(shared):
        text = str(case["program"])
        if case.get("input_format") == "content_parts_json":
            text = str(AIMessage(content=json.loads(text)).text)
        code = extract_code(text)
        if code != case["expected"]["code"]:  # type: ignore[index]
            wrong[case["id"]] = code
    assert wrong == {}


def test_real_outputs_give_the_official_program_but_where_a_block_was_opened_twice(shared: Path) -> None:
    rows = [json.loads(line) for line in (shared / "data/outputs/outputs.jsonl").read_text().splitlines()]
    differing = [
        row for row in rows if (extract_code(row["output"]) or "").split() != row["official_code"].split()
    ]
    assert (len(rows), len(differing)) == (120, 1)
    # The official rule takes the nothing between the two closing fences; the program is there all the same.
    assert differing[0]["output"].startswith("```python\n```python\n")
    assert differing[0]["output"].endswith("\n```\n```")
    assert differing[0]["official_code"] == ""
    assert extract_code(differing[0]["output"]) == differing[0]["output"][20:-8]
