import pytest
from langchain_core.messages import HumanMessage, SystemMessage

from lcbkit.extract import extract_code
from lcbkit.judging.pool import judge
from lcbkit.optimizers.toy import REMEDIES, ToyModel, toy_problems, toy_splits
from lcbkit.prompts import build_prompt

MODEL = ToyModel()


def solved(prompt: str) -> dict[str, bool]:
    """Whether the toy solves a problem of each trap under this role prompt."""
    found = {}
    for problem in toy_problems()[:4]:
        answer = MODEL.invoke([SystemMessage(prompt), HumanMessage(build_prompt(problem))]).text
        code = extract_code(answer)
        assert code is not None
        trap = next((trap for trap in REMEDIES if trap in problem.statement), "none")
        found[trap] = judge(code, problem).passed
    return found


def test_a_trap_is_passed_exactly_by_its_remedy() -> None:
    assert solved("Work.") == dict.fromkeys(REMEDIES, False) | {"none": True}
    for trap, remedy in REMEDIES.items():
        assert solved(f"Work. {remedy}") == {other: other in (trap, "none") for other in (*REMEDIES, "none")}
    assert all(solved(" ".join(REMEDIES.values())).values())


def test_splits_cover_the_problems_without_overlap() -> None:
    ids = [problem_id for part in toy_splits().values() for problem_id in part]
    assert sorted(ids) == sorted(toy_problems().ids)
    assert len(set(ids)) == len(ids) == 40


def asked(prompt: str, seed: int = 0) -> str:
    return MODEL.invoke([HumanMessage(prompt)], temperature=1.0, seed=seed).text


def test_it_finds_the_remedy_of_a_trap_that_it_is_shown() -> None:
    statement = toy_problems()[0].statement
    trap = next(trap for trap in REMEDIES if trap in statement)
    answers = [asked(f"Improve this prompt.\n{statement}", seed) for seed in range(20)]
    assert 8 <= sum(REMEDIES[trap] in answer for answer in answers) < 20
    assert answers == [asked(f"Improve this prompt.\n{statement}", seed) for seed in range(20)]
    others = [remedy for name, remedy in REMEDIES.items() if name != trap]
    assert not any(remedy in answer for answer in answers for remedy in others)


@pytest.mark.parametrize(
    ("question", "begin", "end"),
    [
        ("Write it between these tags:\n<prompt>\n</prompt>", "<prompt>", "</prompt>"),
        ("Write a prompt.", "```", "```"),
        ("Answer with one JSON object.", "{", "}"),
        ("Write them here:\n<rules>\n</rules>", "<rules>\n- ", "</rules>"),
    ],
)
def test_it_answers_in_the_shape_that_is_asked_for(question: str, begin: str, end: str) -> None:
    answer = asked(f"{next(iter(REMEDIES.values()))}\n{question}")
    assert answer.startswith(begin)
    assert answer.endswith(end)
    assert next(iter(REMEDIES.values())) in answer
