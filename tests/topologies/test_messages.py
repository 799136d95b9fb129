import json
from typing import Any

import pytest
from scripted_endpoint import ScriptedEndpoint

from lcbkit.extract import extract_code
from lcbkit.models import get_model
from lcbkit.problems import Problem
from lcbkit.topologies.messages import EVIDENCE_CHARS, SUMMARY_CHARS, Desk
from lcbkit.topologies.reports import MESSAGE_FORMATS, format_named
from lcbkit.topologies.team import build_team

STRUCTURED = [name for name in MESSAGE_FORMATS if name != "freeform"]
LONG = '"""\n```\n[STATUS]\nJSON_REPORT:\n"""\n' + "\n".join(
    f"if True:\n\tx{number} = {{'k': [{number}]}}  # é\n" for number in range(200)
)
REPORT = "[STATUS]\nblocked\n[SUMMARY]\nstuck\n[EVIDENCE_OR_TESTS]\n1 -> 2\n[CONFIDENCE]\nlow\n[NEXT]\nask"


def hand_over(text: str, message_format: str) -> tuple[str, Any]:
    desk = Desk(topology="sequential", message_format=message_format)
    return desk.hand_over(text, sender="coder", target="tester", round=0, advice="Go on.")


@pytest.mark.parametrize("message_format", MESSAGE_FORMATS)
def test_a_long_program_crosses_a_hand_off_byte_for_byte(message_format: str) -> None:
    text = f"Words before.\n````python\n{LONG}\n````\nWords after."
    code = extract_code(text)
    assert code is not None
    assert len(code.encode()) > 5_000
    given, record = hand_over(text, message_format)
    assert code in given
    assert record.has_code
    assert record.rendered_ok
    if message_format != "freeform":
        assert extract_code(given) == code


@pytest.mark.parametrize("message_format", STRUCTURED)
def test_prose_is_cut_and_its_fences_and_tags_are_defused(message_format: str) -> None:
    text = "- ```\n[NEXT]\n" + "word " * 1_000 + "\n```python\nprint(1)\n```"
    given, record = hand_over(text, message_format)
    assert len(given) < SUMMARY_CHARS + EVIDENCE_CHARS + 700
    assert extract_code(given) == "print(1)"
    assert (record.ok, record.rendered_ok) == (False, True)


def test_what_the_agent_said_of_itself_wins() -> None:
    given, record = hand_over(f"{REPORT}\n```python\nprint(1)\n```", "semi_structured")
    parsed = format_named("semi_structured").parse(given.partition("\n\n```")[0])
    assert parsed.report is not None
    assert (parsed.report.status, parsed.report.confidence, parsed.report.next) == ("blocked", "low", "ask")
    assert record.ok


@pytest.mark.parametrize("message_format", STRUCTURED)
@pytest.mark.parametrize("text", ["", "```python\nprint(1)\n```", "<think>x</think>a", "a\u2028[NEXT]\nb"])
def test_any_text_becomes_a_whole_report(text: str, message_format: str) -> None:
    assert hand_over(text, message_format)[1].rendered_ok


def test_half_a_character_from_json_can_still_be_sent() -> None:
    report = {
        "status": "completed",
        "summary": "\ud800",
        "confidence": "low",
        "next": "n",
        "payload": {"a": "b"},
    }
    given, _ = hand_over(f"JSON_REPORT:\n{json.dumps(report)}\nEND_JSON_REPORT", "structured_soft")
    assert given.encode()


def test_a_freeform_text_passes_whole_inside_a_longer_fence() -> None:
    text = "Plan.\n```python\nprint(1)\n```\nDone."
    assert hand_over(text, "freeform")[0] == f"### coder\n````text\n{text}\n````"


@pytest.mark.parametrize("message_format", MESSAGE_FORMATS)
def test_the_measure_is_of_what_agents_wrote_not_of_what_was_made_of_it(
    endpoint: ScriptedEndpoint, problem: Problem, message_format: str
) -> None:
    endpoint.replies(f"{REPORT}\n```python\nprint(2 * int(input()))\n```")
    model = get_model("scripted", base_url=endpoint.url)
    team = build_team("sequential", team_size=2, message_format=message_format, model=model)
    measured = team.solve(problem).communication
    assert measured is not None
    assert measured["parse_rate"] == float(message_format != "structured_soft")
    assert measured["render_parse_rate"] == 1.0
    assert measured["report_total"] == measured["required_report_count"] == 2
    assert measured["inflight_handoff_count"] == 1


@pytest.mark.parametrize("message_format", STRUCTURED)
def test_every_agent_is_told_the_format_and_freeform_agents_are_not(
    endpoint: ScriptedEndpoint, message_format: str
) -> None:
    model = get_model("scripted", base_url=endpoint.url)
    told = build_team("centralized", message_format=message_format, model=model).sent_prompts
    assert all("## Report" in text for text in told.values())
    assert not any(
        "## Report" in text for text in build_team("centralized", model=model).sent_prompts.values()
    )
