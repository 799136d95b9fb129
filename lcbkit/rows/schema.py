"""LiveCodeBench's row schema: the fields, and the words that two of them hold."""

__all__ = ["COLUMNS", "DIFFICULTIES", "PLATFORMS"]

COLUMNS = (
    "question_title",
    "question_content",
    "platform",
    "question_id",
    "contest_id",
    "contest_date",
    "starter_code",
    "difficulty",
    "public_test_cases",
    "private_test_cases",
    "metadata",
)
"""All of them hold text; `platform` one of `PLATFORMS`, `difficulty` one of `DIFFICULTIES`."""

PLATFORMS = ("leetcode", "codeforces", "atcoder")
DIFFICULTIES = ("easy", "medium", "hard")
