from datetime import datetime

import pytest

from lcbkit.errors import DatasetError
from lcbkit.rows.fields import contest_moment, function_name, id_field, text_field

TREE = """# Definition for a binary tree node.
# class TreeNode:
#     def __init__(self, val=0):
class TreeNode:
    def height(self): ...
class Solution:
    def __init__(self):
        pass
    def mirror(self, root: 'Optional[TreeNode]') -> bool:
        """


@pytest.mark.parametrize(
    ("metadata", "starter", "name"),
    [
        ('{"func_name": "given"}', "class Solution:\n    def other(self): ", "given"),
        ("{}", "class Solution:\n    def twice(self, n: int) -> int:\n        ", "twice"),
        ("", "def helper(x):\n    pass\nclass Solution:\n\tdef twice(self):", "twice"),
        ("{}", TREE, "mirror"),
        ("{}", "import math\n\ndef solve(n: int) -> int:\n    def inner(): pass", "solve"),
        ("null", "class Solution(object):\r\n    async def go(self):\r\n", "go"),
    ],
)
def test_the_function_is_named_by_the_metadata_else_by_the_starter_code(
    metadata: str, starter: str, name: str
) -> None:
    assert function_name({"metadata": metadata}, starter, "row 7") == name


@pytest.mark.parametrize(
    ("metadata", "starter"),
    [("{}", ""), ("{}", "class Other:\n    def f(self): "), ('{"func_name": "a b"}', ""), ("[]", "x = 1")],
)
def test_a_function_without_a_name_is_an_error(metadata: str, starter: str) -> None:
    with pytest.raises(DatasetError, match=r"row 7.*names one"):
        function_name({"metadata": metadata}, starter, "row 7")


def test_a_contest_date_is_iso_text_or_what_a_table_reader_made_of_it() -> None:
    moment = datetime(2024, 5, 1, 20)
    for value in ("2024-05-01T20:00:00", "2024-05-01 20:00:00", moment):
        assert contest_moment({"contest_date": value}, "row 7") == moment
    for wrong in ("May 1st", "", None, 7):
        with pytest.raises(DatasetError, match=r"row 7.*contest_date"):
            contest_moment({"contest_date": wrong}, "row 7")


def test_half_a_character_is_refused_since_it_can_be_neither_written_nor_sent() -> None:
    row = {"question_content": "A\ud800B", "question_title": "e\u0301 \U0001f600"}
    assert text_field(row, "question_title", "row 1") == row["question_title"]
    with pytest.raises(DatasetError, match=r"row 1: field 'question_content' holds half a character"):
        text_field(row, "question_content", "row 1")


@pytest.mark.parametrize("value", ["", "  ", "\n"])
def test_an_empty_id_is_refused_since_records_and_files_are_named_by_it(value: str) -> None:
    with pytest.raises(DatasetError, match="row 3: field 'question_id' is empty"):
        id_field({"question_id": value}, "row 3")
    assert id_field({"question_id": "1873_A"}, "row 3") == "1873_A"
