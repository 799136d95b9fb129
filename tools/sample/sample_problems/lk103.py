"""Now Playing: which song of an endlessly repeated playlist plays at a given second."""

from collections.abc import Sequence
from random import Random

from sample_problems.record import Example, Programs, SampleProblem, arguments, values

__all__ = ["PROBLEM"]

BODY = """
A café plays the songs of a playlist in their order. After the last song, it starts again with the first
one, and so on for ever, without any pause.

You are given an integer array durations, where durations[i] is the length of song i in seconds, and an
integer array moments. Song 0 starts at second 0 for the first time. A song that starts at second s and
lasts d seconds plays during the seconds s, s + 1, ..., s + d - 1.

Return an integer array answer of the same length as moments, where answer[j] is the index of the song that
plays during second moments[j].
"""

STARTER = """\
class Solution:
    def nowPlaying(self, durations: List[int], moments: List[int]) -> List[int]:
        """

REFERENCE = """\
from bisect import bisect_right
from itertools import accumulate


class Solution:
    def nowPlaying(self, durations: list[int], moments: list[int]) -> list[int]:
        ends = list(accumulate(durations))
        return [bisect_right(ends, moment % ends[-1]) for moment in moments]
"""

BRUTE_FORCE = """\
class Solution:
    def nowPlaying(self, durations: list[int], moments: list[int]) -> list[int]:
        played = []
        while len(played) <= max(moments):
            for song, duration in enumerate(durations):
                played += [song] * duration
        return [played[moment] for moment in moments]
"""

# Lets a song play one second too long.
WRONG = """\
from bisect import bisect_left
from itertools import accumulate


class Solution:
    def nowPlaying(self, durations: list[int], moments: list[int]) -> list[int]:
        ends = list(accumulate(durations))
        return [bisect_left(ends, moment % ends[-1]) for moment in moments]
"""

# Walks through the playlist for every moment.
SLOW = """\
class Solution:
    def nowPlaying(self, durations: list[int], moments: list[int]) -> list[int]:
        total = sum(durations)
        answer = []
        for moment in moments:
            left = moment % total
            song = 0
            while left >= durations[song]:
                left -= durations[song]
                song += 1
            answer.append(song)
        return answer
"""


def hidden_inputs(rng: Random) -> Sequence[str]:
    """One song, borders between songs and between rounds, huge moments, long playlists."""
    tests = [arguments([1], [0]), arguments([5], [0, 4, 5, 10**12]), arguments([3, 1, 2], list(range(13)))]
    tests += [arguments([1, 1, 1, 1], [10**12, 10**12 - 1, 10**12 - 2, 10**12 - 3])]
    tests += [arguments([10**6] * 3, [0, 999999, 1000000, 1999999, 2000000, 2999999, 3000000, 10**12])]
    for n, longest, last in ((10, 9, 200), (50, 300, 10**12), (500, 10**6, 10**12)):
        durations = [rng.randint(1, longest) for _ in range(n)]
        tests.append(arguments(durations, [rng.randint(0, last) for _ in range(n)]))
    tests += [arguments([1] * 20000, [10**12 - 1] * 20000)]
    return [*tests, arguments([10**6, 1] * 10000, [10000010000 * 99 - 1 - i for i in range(20000)])]


def small_input(rng: Random) -> str:
    """A few short songs."""
    durations = [rng.randint(1, 4) for _ in range(rng.randint(1, 5))]
    return arguments(durations, [rng.randint(0, 30) for _ in range(rng.randint(1, 6))])


def is_legal(test_input: str) -> bool:
    """Whether an input keeps the constraints of the statement."""
    durations, moments = values(test_input)
    proper = 1 <= min(durations) <= max(durations) <= 10**6 and 0 <= min(moments) <= max(moments) <= 10**12
    return proper and 1 <= len(durations) <= 20000 and 1 <= len(moments) <= 20000


PROBLEM = SampleProblem(
    id="lk103",
    title="now-playing",
    platform="leetcode",
    difficulty="medium",
    contest_id="lk-weekly-2",
    contest_date="2024-07-07",
    body=BODY,
    constraints=(
        "1 <= durations.length <= 20000",
        "1 <= durations[i] <= 10^6",
        "1 <= moments.length <= 20000",
        "0 <= moments[j] <= 10^12",
    ),
    examples=(
        Example(
            input=arguments([3, 1, 2], [0, 2, 3, 4, 6]),
            output="[0, 0, 1, 2, 0]",
            note="Song 0 plays during the seconds 0 to 2, song 1 during second 3, "
            "song 2 during the seconds 4 and 5, and song 0 again from second 6 on.",
        ),
        Example(
            input=arguments([5], [7, 1000000000000]),
            output="[0, 0]",
            note="There is only one song.",
        ),
    ),
    starter_code=STARTER,
    func_name="nowPlaying",
    hidden_inputs=hidden_inputs,
    small_input=small_input,
    is_legal=is_legal,
    programs=Programs(reference=REFERENCE, brute_force=BRUTE_FORCE, wrong=WRONG, slow=SLOW),
)
