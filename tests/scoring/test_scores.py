import json
import warnings
from collections.abc import Callable

import pytest

from lcbkit.records import Record, Status
from lcbkit.scoring.scores import NO_WIDTH, Score, summarize
from lcbkit.scoring.tables import score_table


def record(problem_id: str, passed: bool = False, **more: object) -> Record:
    return Record(problem_id=problem_id, passed=passed, **more)  # type: ignore[arg-type]


def test_a_group_of_which_nothing_ran_has_no_score_and_makes_no_noise() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        summary = summarize([record("a", True, difficulty="easy"), record("b", difficulty="medium")])
        text = str(summary) + summary._repr_html_() + json.dumps(summary.to_dict(), allow_nan=False)
    scores = {name: score.pass_at_1 for name, score in summary.by_difficulty.items()}
    assert scores == {"easy": 1.0, "medium": 0.0, "hard": None}
    assert summary.pass_at_1 == 0.5
    assert "nan" not in text.lower()


def test_a_run_without_records_can_be_summed_up() -> None:
    summary = summarize([])
    assert (summary.n, summary.pass_at_1, summary.infra_rate) == (0, None, 0.0)
    assert "nothing ran" in str(summary)
    assert repr(summary) == str(summary), "what a terminal shows"


def test_outages_and_defects_leave_the_denominator_and_are_counted() -> None:
    records = [record("a", True), record("b")] + [
        record(str(s), status=s) for s in Status if s is not Status.OK
    ]
    summary = summarize(records)
    assert (summary.overall.passed, summary.overall.scored, summary.n) == (1, 4, 7)
    assert summary.pass_at_1 == 0.25
    assert summary.statuses == dict.fromkeys(map(str, Status), 1) | {"ok": 2}
    assert (summary.n_infra_error, summary.infra_rate) == (1, pytest.approx(1 / 7))
    for status in Status:
        assert f"{status} {summary.statuses[status]}" in str(summary)


def test_programs_and_errata_have_scores_of_their_own() -> None:
    records = [
        record("a", True, code="x"),
        record("b", code="x", erratum="interactive"),
        record("c", status=Status.NO_CODE),
        record("d", code="x", status=Status.JUDGE_ERROR),
    ]
    summary = summarize(records)
    assert (summary.extracted.passed, summary.extracted.scored, summary.n_extracted) == (1, 2, 3)
    assert (summary.without_errata.passed, summary.without_errata.scored) == (1, 2)
    assert summary.n_errata == 1


def test_an_unknown_difficulty_keeps_its_own_group_and_none_is_named_so() -> None:
    summary = summarize([record("a", difficulty="insane"), record("b"), record("c", difficulty="easy")])
    assert list(summary.by_difficulty) == ["easy", "medium", "hard", "insane", "unk"]
    assert sum(score.n for score in summary.by_difficulty.values()) == summary.n


def test_several_samples_are_not_taken_for_independent() -> None:
    records = [record(str(i), i < 10, sample=s) for i in range(20) for s in range(50)]
    several, one = Score.of(records), Score.of(records[::50])
    assert several.pass_at_1 == one.pass_at_1 == 0.5
    assert several.interval is not None
    assert several.interval[1] - several.interval[0] > 0.3  # Wilson on 1,000 records would say 0.06


def test_an_interval_that_had_nothing_to_draw_from_is_said_to_say_nothing() -> None:
    alike = [record(str(i), True, sample=s) for i in range(2) for s in range(3)]
    assert Score.of(alike).says_nothing
    assert NO_WIDTH in str(summarize(alike))
    assert NO_WIDTH in str(score_table(alike, "sample")) + str(score_table(alike, "status"))
    unlike = [*alike, *(record("x", sample=s) for s in range(3))]
    assert not Score.of(unlike).says_nothing
    assert NO_WIDTH not in str(summarize(unlike))
    assert not Score.of(alike[::3]).says_nothing, "Wilson's always has a width"


def test_pass_at_k_leaves_out_problems_with_fewer_scored_samples() -> None:
    records = [record("a", s == 0, sample=s) for s in range(2)]
    records += [record("b", sample=0), record("b", sample=1, status=Status.INFRA_ERROR)]
    assert summarize(records).pass_at_k == {1: 0.25, 2: 1.0}


def test_pass_at_k_is_told_for_one_all_and_some_between() -> None:
    records = [record("a", s < 3, sample=s) for s in range(12)]
    summary = summarize(records)
    assert list(summary.pass_at_k) == [1, 2, 5, 10, 12]
    assert summary.pass_at_k[1] == pytest.approx(0.25)
    assert summary.pass_at_k[2] == pytest.approx(1 - 9 * 8 / (12 * 11))
    assert "of 12 samples: pass@1 25.0%, pass@2 45.5%," in str(summary)
    assert summarize(records[:1]).pass_at_k == {}


def test_tokens_that_nobody_reported_make_the_sum_a_lower_bound() -> None:
    known = record("a", prompt_tokens=10, completion_tokens=5, n_llm_calls=2, calls_without_usage=1)
    summary = summarize([known])
    assert (summary.tokens["total_tokens"], summary.tokens["calls_without_usage"]) == (15, 1)
    assert "at least" in str(summary)
    assert "at least" not in str(summarize([record("a", prompt_tokens=10, n_llm_calls=2)]))


def test_a_summary_does_not_depend_on_the_order_of_its_records() -> None:
    records = [
        record(str(i), i % 3 == 0, stop_reason=r, difficulty=d)
        for i, (r, d) in enumerate([("end", "hard"), ("truncated", "easy"), ("end", None), ("empty", "easy")])
    ]
    assert json.dumps(summarize(records).to_dict()) == json.dumps(summarize(records[::-1]).to_dict())


@pytest.mark.parametrize("show", [str, lambda summary: summary._repr_html_()])
def test_a_name_from_the_data_cannot_become_markup(show: Callable[[object], str]) -> None:
    text = show(summarize([record("a", platform="<img src=x>", stop_reason="<b>")]))
    assert ("<img" in text) is (show is str)


def test_unevenly_drawn_samples_say_on_how_many_problems_each_number_rests() -> None:
    records = [record("a", True, sample=s) for s in range(10)] + [record("b")]
    summary = summarize(records)
    assert (summary.problems_at_k[1], summary.problems_at_k[10]) == (2, 1)
    assert "of up to 10 samples" in str(summary)
    assert "pass@1 50.0% (2)" in str(summary)
    assert "pass@10 100.0% (1)" in str(summary)
    assert "pass@1 100.0%, pass@2" in str(summarize(records[:10]))


@pytest.mark.parametrize("status", [Status.AGENT_ERROR, Status.INFRA_ERROR, Status.JUDGE_ERROR])
def test_an_error_is_told_with_what_most_instances_ended_in(status: Status) -> None:
    errors = ["NotFound: no such model", "TimeOut: late", "NotFound: no such model"]
    records = [record(str(i), status=status, error=error) for i, error in enumerate(errors)]
    records.append(record("x", error="a helper failed, the team did not"))
    for told in (str(summarize(records)), summarize(records)._repr_html_()):
        assert f"most frequent {status}: NotFound: no such model" in told
        assert "helper" not in told
