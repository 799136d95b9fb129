import pytest

from lcbkit.optimizers.lessons import read_lessons, with_lessons


@pytest.mark.parametrize(
    ("answer", "lessons"),
    [
        ("<lessons>\n- Check n = 0.\n- Read all input.\n</lessons>", "- Check n = 0.\n- Read all input."),
        ("<lessons>\n1. Check n = 0.\n2) Read all input.\n</lessons>", "- Check n = 0.\n- Read all input."),
        ("<lessons>\nCheck n = 0.\nRead all input.\n</lessons>", "- Check n = 0. Read all input."),
        ("<lessons>\n* Check\n  n = 0.\n\n</lessons>", "- Check n = 0."),
        ("I will answer in <lessons>\n- ...\n</lessons>.\n<lessons>\n- Check n.\n</lessons>", "- Check n."),
        ("<lessons>- Check n.</lessons><lessons>\n\n</lessons>", "- Check n."),
        ("<lessons>\n- Check n.\n- Read al", "- Check n.\n- Read al"),
        ("<lessons>\n- <lesson 1>\n- {first lesson}\n- Check n.\n</lessons>", "- Check n."),
        ("<think>- not this</think>\n- Check n.", "- Check n."),
        ("Sure, my advice:\n- Check n.\nThat is all.", "- Check n."),
        ("- Check n.\n- Check  n.", "- Check n."),
        ("Check n, and read all input.", ""),
        ('{"lessons": ["Check n."', ""),
        ("", ""),
        ("<lessons></lessons>", ""),
    ],
)
def test_lessons_are_read_from_answers_of_many_shapes(answer: str, lessons: str) -> None:
    assert read_lessons(answer) == lessons


def test_a_huge_answer_gives_a_few_short_lessons() -> None:
    lessons = read_lessons("<lessons>\n" + "\n".join(f"- {number} {'x' * 9_000}" for number in range(9_000)))
    assert len(lessons.splitlines()) == 5
    assert len(lessons) < 2_100


def test_the_newest_blocks_stand_under_the_first_prompt() -> None:
    blocks = [f"- lesson {number}" for number in range(9)]
    text = with_lessons("Do your part.\n", blocks, most=6)
    assert text.startswith("Do your part.\n\n## ")
    assert [number for number in range(9) if f"- lesson {number}" in text] == [3, 4, 5, 6, 7, 8]
    assert with_lessons("Do your part.\n", []) == "Do your part.\n"
