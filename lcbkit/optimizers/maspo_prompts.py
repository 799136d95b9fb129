"""What MASPO asks its reflection model: a better prompt for a role, and which of two outputs is better."""

from collections.abc import Sequence

from lcbkit.optimizers.interface import Rollout, Row, TeamSpec
from lcbkit.optimizers.texts import cut_middle, row_text, spoken, transcript

__all__ = [
    "BEGIN_PROMPT",
    "END_PROMPT",
    "judge_prompt",
    "own_output",
    "proposal_prompt",
    "requirement",
    "sample_text",
]

BEGIN_PROMPT, END_PROMPT = "<new_prompt>", "</new_prompt>"

_PROBLEM = 2_000
_TASK = 4_000
_OUTPUT = 4_500
_PEERS = 8
_PEER = 400


def own_output(rollout: Rollout, role: str) -> str:
    """What a role wrote in a rollout, the texts of replicas under their tags, cut; empty if it was silent."""
    return cut_middle(transcript(spoken(rollout, role)), _OUTPUT)


def sample_text(row: Row, rollout: Rollout, role: str, *, outcome: bool) -> str:
    """What a role saw and wrote in a rollout.

    Args:
        row: the problem.
        rollout: the work on it.
        role: whose part.
        outcome: whether the team's result is told.
    """
    others = (role, "user", "system", "tool")
    peers = [
        message for message in rollout.messages if message.role not in others and message.content.strip()
    ]
    parts = [f"Problem:\n{row_text(row, _PROBLEM)}"]
    if peers:
        parts.append(
            f"What others wrote, before it and after it:\n{transcript(peers, last=_PEERS, each=_PEER)}"
        )
    parts.append(f"What the role wrote:\n{own_output(rollout, role) or '(nothing)'}")
    if outcome:
        ended = "solved" if rollout.score >= 1 else "not solved"
        parts.append(f"How the team's work ended: {ended}; {rollout.feedback.strip()}")
    return "\n\n".join(parts)


def requirement(team: TeamSpec, role: str) -> str:
    """What every prompt of a role must keep."""
    kept = (
        "The role keeps its duty, the colleagues it reads and writes for, and the form in which it hands "
        "over its work. Nothing in its prompt may be about a single problem."
    )
    if role == team.terminal:
        kept += (
            " Its text is the submission: it must end with one complete Python program in one fenced block. "
            "Words to that effect are put around the prompt by themselves; it must not contradict them."
        )
    return kept


def proposal_prompt(team: TeamSpec, role: str, prompt: str, samples: Sequence[str]) -> str:
    """Ask for a better prompt of a role, in three parts of which the last is used.

    Args:
        team: the wiring.
        role: whose prompt.
        prompt: the one it worked under.
        samples: its work, as `sample_text` gives it.
    """
    shown = "\n\n".join(f"### Sample {number}\n{text}" for number, text in enumerate(samples, start=1))
    return f"""You improve the standing instructions of one member of a team of language models that solves \
programming contest problems in Python. A problem counts as solved when the submitted program passes hidden \
tests.

## The role
{role}, whose duty the team puts in these words: "{team.descriptions[role]}"
{_colleagues(team, role)}

## What must stay
{requirement(team, role)}

## Its instructions now
{prompt}

## Samples of its work under these instructions
{shown}

Find out what in the role's way of working costs the team solved problems. Read the samples against their \
problems: is what it wrote true, complete, and precise enough for the one who reads it next? Where did it \
skip a bound, an ambiguous phrase, a cost, a check? Look for the one weakness that shows in several \
samples, and for the change of instructions that would have prevented it. Do not ask for more words where \
better ones are needed.

Answer in three parts, with exactly these tags:
<analysis>what goes wrong, with the places that show it</analysis>
<change>one sentence: what you change in the instructions</change>
{BEGIN_PROMPT}
the complete new instructions, ready to use, with your change worked in and all that was good kept
{END_PROMPT}"""


def _colleagues(team: TeamSpec, role: str) -> str:
    if team.replicas > 1:
        return f"{team.team_size} members work as `{role}`, all from these same instructions."
    before = ", ".join(team.predecessors[role]) or "nobody"
    return f"It reads the work of: {before}. Its work is read by: {team.successor[role] or 'the judge'}."


def judge_prompt(team: TeamSpec, role: str, row: Row, first: str, second: str) -> str:
    """Ask which of two outputs of a role serves the team better.

    Args:
        team: the wiring.
        role: who wrote them.
        row: the problem.
        first: output A.
        second: output B.
    """
    return f"""Two versions of the same team member, `{role}`, worked on the same programming contest \
problem. Decide whose output serves the team better.

## The member's duty, in the words that the team uses
"{team.descriptions[role]}"
{requirement(team, role)}

## The problem
{row_text(row, _TASK)}

## What decides, in this order
1. Correctness: claims, algorithm and code hold for every input that the problem allows.
2. Constraints: the bounds of the problem are respected; the cost fits the largest input.
3. Edge cases: smallest sizes, equal values, empty parts, ends of ranges are seen and handled.
4. Hand-off: the next reader can use it as it is; nothing that matters is missing, vague or contradictory.
Length, politeness and format count for nothing by themselves.

## Output A
{first}

## Output B
{second}

Which output is better? Answer with exactly one letter, A or B, and nothing else."""
