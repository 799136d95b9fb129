import re
from typing import Any

import pytest

from lcbkit.display.answer import answer_html, trajectory_html

HOSTILE = "<script>alert(1)</script>"


def run(agent: int = 0, round: int = 0, **changes: Any) -> dict[str, Any]:
    return {
        "agent": agent,
        "role": "coder",
        "round": round,
        "text": "done",
        "code": "print(1)",
        "stop_reason": "end",
        "error": None,
        "infra": False,
        "usage": {"n_llm_calls": 2, "n_tool_calls": 1, "total_tokens": 1234},
        "latency_s": 1.25,
        "messages": [
            {"role": "system", "content": "You code."},
            {"role": "user", "content": "Print one."},
            {
                "role": "assistant",
                "content": "I try.",
                "tool_calls": [
                    {"name": "python_exec", "args": {"code": "print(1)", "stdin": "5"}, "id": "c1"}
                ],
            },
            {
                "role": "tool",
                "content": "stdout:\n1\nstderr:\n\nexit_code: 0",
                "tool_call_id": "c1",
                "name": "python_exec",
            },
            {"role": "assistant", "content": "**done**", "cut": True, "reasoning_chars": 4000},
        ],
        **changes,
    }


def answer(*runs: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"code": "print(1)", "status": "ok", "stop_reason": "end", "trajectory": list(runs), **changes}


def test_an_agent_shows_its_cost_its_words_and_what_it_was_sent() -> None:
    page = trajectory_html(answer(run()))
    for words in ("coder", "2 model calls", "1 tool call ·<", "1,234 tokens", "1.2 s", "wrote a program"):
        assert words in page
    assert "<b>done</b>" in page
    assert "thought before (4,000 characters, not kept)" in page
    assert "cut off at the token limit" in page
    assert "system prompt" in page
    assert "what it was sent" in page


def test_a_tool_call_stands_folded_with_its_input_and_output_once() -> None:
    page = trajectory_html(answer(run()))
    (tool,) = page.split('<details class="lcbv-tool"')[1:]
    assert "exit_code: 0" in tool[: tool.index("</summary>")]
    assert "stdin" in tool
    assert page.count("stdout:") == 1


def test_a_call_that_was_never_answered_says_so() -> None:
    messages = run()["messages"][:3]
    assert "no result" in trajectory_html(answer(run(messages=messages)))


def test_only_the_agent_that_speaks_for_the_team_is_open() -> None:
    page = trajectory_html(answer(run(0), run(1), run(2), votes={"winner": 1, "sizes": [3]}))
    opened = ['data-key="r1" open' in page, 'data-key="r0" open' in page, 'data-key="r2" open' in page]
    assert opened == [True, False, False]


def test_a_vote_shows_its_buckets_with_the_winner_first() -> None:
    runs = [run(0, code="a = 1"), run(1, code="b  =  2"), run(2, code="b = 2"), run(3, code=None)]
    page = trajectory_html(answer(*runs, votes={"winner": 1, "sizes": [2, 1]}))
    assert page.index("★ 2 of 3") < page.index("1 of 3</td>")
    assert "<td>1, 2</td>" in page
    assert "agent 1 speaks for the team" in page


def test_a_vote_that_the_texts_do_not_explain_shows_its_sizes_only() -> None:
    page = trajectory_html(answer(run(0), votes={"winner": 0, "sizes": [3, 1]}))
    assert "groups of 3, 1" in page
    assert "★" not in page
    nobody = trajectory_html(answer(run(0, code=None), votes={"winner": None, "sizes": []}))
    assert "nobody had a program" in nobody


def test_a_hand_off_stands_below_its_writer_once_for_all_its_readers() -> None:
    record = {"role": "peer_1", "round": 0, "raw_excerpt": "raw", "rendered_excerpt": "handed", "chars_in": 3}
    handoffs = [{**record, "target": target, "errors": ["no marker"]} for target in ("peer_0", "peer_2")]
    page = trajectory_html(answer(run(0), run(1), run(2), handoffs=handoffs))
    assert page.count("peer_1 → peer_0, peer_2") == 1
    assert page.index('data-key="r1"') < page.index("peer_1 →") < page.index('data-key="r2"')
    assert "not in its format: no marker" in page


def test_a_later_round_does_not_repeat_what_was_said_before() -> None:
    again = [*run()["messages"], {"role": "user", "content": "The others say."}]
    page = trajectory_html(answer(run(), run(round=1, messages=again)))
    assert page.count("I try.") == 1
    assert "5 messages of its earlier turns" in page


@pytest.mark.parametrize(
    "value",
    [
        answer(
            run(role=HOSTILE, stop_reason=HOSTILE, error=HOSTILE), code=HOSTILE, error=HOSTILE, status=HOSTILE
        ),
        answer(
            run(messages=[{"role": HOSTILE, "content": HOSTILE}, {"role": "assistant", "content": HOSTILE}])
        ),
        answer(
            run(
                messages=[
                    {"role": "assistant", "tool_calls": [{"name": HOSTILE, "args": {HOSTILE: HOSTILE}}]}
                ]
            )
        ),
        answer(
            run(),
            handoffs=[{"role": HOSTILE, "target": HOSTILE, "errors": [HOSTILE], "raw_excerpt": HOSTILE}],
        ),
        answer(run(code=HOSTILE), votes={"winner": 0, "sizes": [1]}),
    ],
)
def test_nothing_that_an_agent_writes_becomes_a_tag(value: dict[str, Any]) -> None:
    page = answer_html(value)
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_an_empty_answer_is_said_to_be_one() -> None:
    page = answer_html({"code": None, "status": "infra_error", "error": "gone", "trajectory": []})
    assert "no program" in page
    assert "infra error" in page


def test_what_a_sanitizer_leaves_can_still_be_read() -> None:
    """A notebook that is not trusted loses our style sheet: lines, blanks and gaps must stand in the text."""
    text = "First:\n    indented\n```python\nif True:\n    print(1)\n```"
    page = answer_html(answer(run(messages=[{"role": "assistant", "content": text}])))
    bare = re.sub(r"<style>.*?</style>| (class|style)=\"[^\"]*\"", "", page, flags=re.S)
    blocks = [re.sub(r"<[^>]+>", "", block) for block in re.findall(r"<pre>(.*?)</pre>", bare, re.S)]
    assert "First:\n    indented" in blocks
    assert "if True:\n    print(1)" in blocks
    words = re.sub(r"<[^>]+>", "", bare)
    assert "coder agent 0 · 2 model calls · 1 tool call · 1,234 tokens" in words
