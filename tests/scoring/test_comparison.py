import pytest

from lcbkit.records import Record, Status
from lcbkit.results import Run, compare
from lcbkit.scoring.comparison import paired
from lcbkit.scoring.estimates import mcnemar_p


def records(outcomes: dict[str, str], **facts: object) -> list[Record]:
    """A record a sample: 1 passed, 0 failed, x an outage."""
    return [
        Record(
            problem_id=name,
            sample=number,
            passed=sign == "1",
            status=Status.INFRA_ERROR if sign == "x" else Status.OK,
            difficulty="easy" if name < "c" else "hard",
            **facts,  # type: ignore[arg-type]
        )
        for name, signs in outcomes.items()
        for number, sign in enumerate(signs)
    ]


def test_what_is_left_out_is_counted_by_its_reason() -> None:
    a = records({"a": "1", "b": "0", "c": "x", "d": "1", "e": "x", "f": "1"})
    b = records({"a": "0", "b": "0", "c": "1", "d": "x", "e": "x", "g": "1"})
    found = paired(("one", "two"), a, b)
    assert (found.problems, found.left_out) == (2, 5)
    assert found.reasons == {
        "only in a": 1,
        "only in b": 1,
        "not scored in a": 1,
        "not scored in b": 1,
        "scored in neither": 1,
    }
    text = str(found)
    assert "2 problems are compared: those that both scored" in text
    assert "left out: 5 (1 only in a, 1 only in b, 1 not scored in a" in text


def test_the_table_and_the_ids_say_where_the_runs_differ() -> None:
    found = compare(
        Run(records({"a": "1", "b": "0", "c": "1", "d": "1"})),
        Run(records({"a": "0", "b": "0", "c": "1", "d": "0"})),
    )
    assert found.differing() == ["passed by a alone: a, d", "passed by b alone: none"]
    (row,) = found.rows()
    assert row[:5] == ("all", "4", "75.0%", "25.0%", "-50.0")
    assert row[6:] == ("2", "0", f"{mcnemar_p(2, 0):.3g}")
    assert "passed by a alone: a, d" in str(found)
    assert repr(found) == str(found), "what a terminal shows"


def test_groups_are_compared_within_themselves_and_keep_their_order() -> None:
    a = records({"a": "1", "b": "0", "c": "1", "d": "1"}, platform="leetcode")
    b = records({"a": "1", "b": "1", "c": "0", "d": "1"})
    found = compare(Run(a), Run(b), by="difficulty,platform")
    assert list(found.groups) == ["easy, leetcode", "hard, leetcode"]
    easy, hard = found.groups.values()
    assert (easy.only_a, easy.only_b, easy.difference) == ((), ("b",), 0.5)
    assert (hard.only_a, hard.only_b, hard.difference) == (("c",), (), -0.5)
    assert found.difference == 0.0
    assert [row[0] for row in found.rows()] == ["all", *found.groups]


def test_of_several_samples_the_problems_with_more_passes_are_named_instead_of_a_test() -> None:
    found = paired(("one", "two"), records({"a": "110", "c": "000"}), records({"a": "100", "c": "001"}))
    assert (found.p_value, found.only_a) == (None, None)
    assert found.differing() == ["more samples of a passed: a", "more samples of b passed: c"]
    assert found.rows()[0][-3:] == ("-", "-", "-")
    assert "McNemar's test takes one sample a problem" in str(found)


def test_unlike_sources_limits_and_tests_are_said() -> None:
    def run(source: str, seconds: float, total: int) -> Run:
        judging = {"tests": "hidden", "time_limit": seconds}
        config = {"dataset": {"source": source}, "settings": {"judging": judging}}
        return Run(records({"a": "1"}, total=total), config)

    same = compare(run("sample", 6.0, 3), run("sample", 6.0, 3))
    assert same.notes == ()
    other = " ".join(compare(run("sample", 6.0, 3), run("release_v6", 2.0, 4)).notes)
    assert "the problems come from sample in a and release_v6 in b" in other
    assert "time limit (s) 6.0 in a, 2.0 in b" in other
    assert "a (3 in a, 4 in b)" in other


def test_runs_without_a_scored_problem_in_common_say_what_each_scored() -> None:
    with pytest.raises(ValueError, match=r"one scored 1 of its 2 problems, two 1 of its 1"):
        paired(("one", "two"), records({"a": "1", "b": "x"}), records({"b": "1"}))


def test_markup_in_labels_and_ids_is_escaped() -> None:
    found = paired(("<b>", "two"), records({"<i>": "1"}), records({"<i>": "0"}))
    page = found._repr_html_()
    assert "<b>" not in page
    assert "<i>" not in page
