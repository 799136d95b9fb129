import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcbkit.topologies.reports import CONFIDENCES, MESSAGE_FORMATS, STATUSES, Report, fenced, format_named

TAGGED = "[STATUS]\nCompleted.\n[SUMMARY]\ns\n[EVIDENCE_OR_TESTS]\ne\n[CONFIDENCE]\nhigh, sure\n[NEXT]\nn"
JSON = {"status": "completed", "summary": "s", "confidence": "low", "next": "n", "payload": {}}
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: text.strip())


@given(
    st.builds(
        Report,
        status=st.sampled_from(STATUSES),
        summary=texts,
        evidence=texts,
        confidence=st.sampled_from(CONFIDENCES),
        next=texts,
        payload=st.dictionaries(st.text(max_size=5), st.integers() | texts, max_size=3),
    ),
    st.sampled_from([name for name in MESSAGE_FORMATS if format_named(name).render]),
)
def test_what_is_rendered_reads_as_a_whole_report(report: Report, message_format: str) -> None:
    form = format_named(message_format)
    assert form.render is not None
    parsed = form.parse(form.render(report))
    assert parsed.ok
    assert parsed.report is not None
    assert (parsed.report.status, parsed.report.confidence) == (report.status, report.confidence)


def test_a_tagged_report_is_read_field_by_field() -> None:
    parsed = format_named("semi_structured").parse(f"Before.\n{TAGGED}\n[APPROACH]\ngreedy")
    assert parsed.ok
    assert parsed.report == Report(
        status="completed",
        summary="s",
        evidence="e",
        confidence="high",
        reason="sure",
        next="n",
        payload={"approach": "greedy"},
    )


@pytest.mark.parametrize(
    "text",
    [
        "no report at all",
        TAGGED.replace("[NEXT]\nn", ""),
        TAGGED.replace("[NEXT]\nn", "[NEXT]"),
        TAGGED.replace("[SUMMARY]\ns", "[SUMMARY] s"),
        TAGGED.replace("[STATUS]", "**[STATUS]**"),
        TAGGED.replace("high", "high-ish"),
        TAGGED.replace("Completed", "done"),
        f"```\n{TAGGED}\n```",
    ],
)
def test_a_tagged_report_that_is_not_whole_is_no_valid_one(text: str) -> None:
    assert not format_named("semi_structured").parse(text).ok


def test_a_bracketed_word_inside_a_section_is_text() -> None:
    text = TAGGED.replace("\ne\n", "\n[INPUT]\n3\n```\n[NEXT]\n```\n")
    parsed = format_named("semi_structured").parse(text)
    assert parsed.ok
    assert parsed.report
    assert "[INPUT]" in parsed.report.evidence


@pytest.mark.parametrize(
    "text",
    [
        f"JSON_REPORT:\n{json.dumps(JSON)}\nEND_JSON_REPORT",
        f"Words.\njson_report: {json.dumps(JSON)} and more",
        f"```json\n{json.dumps(JSON)}\n```",
        f"```\n{json.dumps(JSON)}\n```",
        json.dumps(JSON),
    ],
)
def test_a_json_report_is_found_where_agents_put_it(text: str) -> None:
    assert format_named("structured_soft").parse(text).ok


@pytest.mark.parametrize(
    "text",
    [
        "no report",
        "JSON_REPORT:\n{broken\nEND_JSON_REPORT",
        "JSON_REPORT:\n" + "[" * 100_000,
        'JSON_REPORT:\n{"status": ' + "[" * 100_000,
        json.dumps({**JSON, "status": "done"}),
        json.dumps({**JSON, "summary": ""}),
        json.dumps({**JSON, "next": None}),
        json.dumps({**JSON, "payload": []}),
        json.dumps({name: value for name, value in JSON.items() if name != "payload"}),
    ],
)
def test_a_json_report_that_is_not_whole_is_no_valid_one(text: str) -> None:
    assert not format_named("structured_soft").parse(text).ok


def test_a_fence_is_longer_than_any_inside() -> None:
    assert fenced("a\n````python\nb\n````", "text").startswith("`````text\n")
