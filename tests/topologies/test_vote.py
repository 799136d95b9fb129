import pytest

from lcbkit.topologies.answer import Votes
from lcbkit.topologies.vote import count_votes, text_key, tree_key

LOOP = "for x in a:\n t+=x\n print(t)"
FLAT = "for x in a:\n t+=x\nprint(t)"


@pytest.mark.parametrize(
    ("programs", "winner", "sizes"),
    [
        (["a()", "b()", "b()", "c()"], 1, (2, 1, 1)),
        (["a()", "b()", "b()", "a()"], 0, (2, 2)),
        (["a()", "b()", "c()"], 0, (1, 1, 1)),
        ([None, "b()", None, "a()"], 1, (1, 1)),
        ([None, "a()", "b()", "b()"], 2, (2, 1)),
        ([None, None], None, ()),
        (["a( )", "b()", "b()\n"], 1, (2, 1)),
    ],
)
def test_the_largest_group_wins_and_of_equals_the_one_with_the_lowest_number(
    programs: list[str | None], winner: int | None, sizes: tuple[int, ...]
) -> None:
    assert count_votes(programs) == Votes(winner=winner, sizes=sizes)


def test_white_space_does_not_part_equal_programs() -> None:
    assert text_key("  a = 1\n\n\tprint( a )\n") == text_key("a = 1\nprint( a )")


def test_the_tree_tells_programs_apart_that_differ_in_indentation_only() -> None:
    assert text_key(LOOP) == text_key(FLAT)
    assert tree_key(LOOP) != tree_key(FLAT)
    assert count_votes([LOOP, FLAT], key=tree_key).sizes == (1, 1)
    assert tree_key("x=1 # one") == tree_key("x = 1")
