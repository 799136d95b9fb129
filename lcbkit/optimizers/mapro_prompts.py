"""What MAPRO asks: variants and rewrites of a prompt, scores of outputs and hand-offs, blame for failures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lcbkit.optimizers.interface import Message, Rollout, Row, TeamSpec
from lcbkit.optimizers.texts import cut_middle, role_trace, row_text, transcript
from lcbkit.topologies.delegation import DELEGATE, jobs_by_line

__all__ = [
    "BEGIN_PROMPT",
    "BEGIN_VARIANT",
    "END_PROMPT",
    "END_VARIANT",
    "OPERATORS",
    "OUTPUT_CHARACTERS",
    "TASK_CHARACTERS",
    "Demo",
    "blame_prompt",
    "edge_prompt",
    "node_prompt",
    "probe_context",
    "rewrite_prompt",
    "variants_prompt",
]

BEGIN_VARIANT, END_VARIANT = "<variant>", "</variant>"
BEGIN_PROMPT, END_PROMPT = "<new_prompt>", "</new_prompt>"

OPERATORS = (
    "Add one sentence, the one whose absence costs the team most. Leave every other sentence as it is.",
    "Replace the weakest parts: what is vague, untrue or useless gives way to what decides whether a program "
    "is right. Leave the rest as it is.",
    "Reorganize without changing what is meant: the most important first, what belongs together side by "
    "side, nothing twice. If a finding below concerns this role, let it stand where it is read first.",
)
"""How a prompt is rewritten, in turn."""

TASK_CHARACTERS = 1_500
_DELEGATION = 700
_HEARD = 1_200
_ALL_HEARD = 8_000
_PROMPT = 4_000
OUTPUT_CHARACTERS = 3_500
_TRACE = 2_000

_SETTING = """A team of language models solves programming contest problems in Python; a problem counts as \
solved when the submitted program passes hidden tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """A prompt whose worth was seen, to calibrate the judge."""

    prompt: str
    score: float


def probe_context(team: TeamSpec, role: str, row: Row, rollout: Rollout) -> str:
    """What a role saw before it acted, as one message.

    Args:
        team: the wiring.
        role: who is to act.
        row: the problem.
        rollout: a run of the team on it.
    """
    heard = _heard(team, role, rollout.messages)
    parts = [
        row_text(row, TASK_CHARACTERS),
        *([f"## So far\n{cut_middle(heard, _ALL_HEARD)}"] if heard else []),
    ]
    return "\n\n".join([*parts, "Do your part now."])


def _heard(team: TeamSpec, role: str, messages: Sequence[Message]) -> str:
    said = [message for message in messages if message.source not in ("user", "system", "tool")]
    if team.debates:
        return transcript(said, each=_HEARD)
    if team.replicas > 1 or role == team.manager:
        return ""
    if team.manager:
        jobs = [job for message in said if message.role == team.manager for job in _jobs(message, role)]
        return "\n\n".join(f"Your job: {cut_middle(job, _DELEGATION)}" for job in jobs[-2:])
    first = next((place for place, message in enumerate(said) if message.role == role), len(said))
    return transcript(said[:first], each=_HEARD)


def _jobs(message: Message, worker: str) -> list[str]:
    """What a manager's message tells a worker to do, by calls or by lines."""
    calls = [
        str(call["arguments"].get("instructions", ""))
        for call in message.tool_calls
        if call.get("name") == DELEGATE + worker and isinstance(call.get("arguments"), Mapping)
    ]
    return [*calls, *(job.instructions for job in jobs_by_line(message.content) if job.worker == worker)]


def _duty(team: TeamSpec, role: str) -> str:
    return f'`{role}`, whose duty the team puts in these words: "{team.descriptions[role]}"'


def variants_prompt(team: TeamSpec, role: str, prompt: str, count: int) -> str:
    """Ask for rewordings of a role's prompt, each between markers.

    Args:
        team: the wiring.
        role: whose prompt.
        prompt: the text.
        count: how many.
    """
    return f"""{_SETTING}

Here are the standing instructions of one of its members: {_duty(team, role)}

## The instructions
{prompt}

Write {count} other versions of these instructions. Each has the same duty and hands over its work in the \
same form, can be used as it is, and is about contest problems in general. Let them differ from each other \
in what they stress: for one the bounds and the cost, for one the exact reading of the statement, for one \
tests by hand on small and extreme inputs, for one a plain and short way of working.

Put each version between its own pair of these tags, and write nothing else:
{BEGIN_VARIANT}
one complete version
{END_VARIANT}"""


def node_prompt(
    team: TeamSpec, role: str, prompt: str, context: str, output: str, demos: Sequence[Demo]
) -> str:
    """Ask for the score of an output under a candidate prompt.

    Args:
        team: the wiring.
        role: who wrote it.
        prompt: the candidate.
        context: what it saw.
        output: what it wrote.
        demos: prompts whose worth is known.
    """
    return f"""{_SETTING}
You rate the work of one member: {_duty(team, role)}
{_demos(demos)}
## Its instructions
{cut_middle(prompt, _PROMPT)}

## What it was given
{context}

## What it wrote
{cut_middle(output, OUTPUT_CHARACTERS) or "(nothing)"}

How likely is it that this work leads the team to a right and fast enough program? Think of correctness for \
every input that is allowed, of the cost on the largest one, and of the cases that are easily forgotten. \
Answer with one number from 0.00 to 1.00 and nothing else."""


def edge_prompt(
    team: TeamSpec, source: str, target: str, task: str, output: str, prompt: str, demos: Sequence[Demo]
) -> str:
    """Ask for the score of a hand-off: an output, and the prompt of the one who reads it.

    Args:
        team: the wiring.
        source: who wrote the output.
        target: who reads it.
        task: the problem, cut.
        output: the text.
        prompt: the reader's candidate.
        demos: prompts of the reader whose worth is known.
    """
    return f"""{_SETTING}
You rate a hand-off between two members.
- It comes from {_duty(team, source)}
- It goes to {_duty(team, target)}
{_demos(demos)}
## The problem
{task}

## What was handed over
{cut_middle(output, OUTPUT_CHARACTERS) or "(nothing)"}

## The instructions under which it is read
{cut_middle(prompt, _PROMPT)}

Does this text let the reader, working under these instructions, do its own step well? It does if all that \
the step needs is there, right, and in a form that the instructions make use of. Answer with one number \
from 0.00 to 1.00 and nothing else."""


def _demos(demos: Sequence[Demo]) -> str:
    if not demos:
        return ""
    shown = "\n\n".join(f"Rated {demo.score:.2f}:\n{cut_middle(demo.prompt, 600)}" for demo in demos)
    return f"\n## Instructions whose worth was seen before, for comparison\n{shown}\n"


def blame_prompt(team: TeamSpec, role: str, parents: Sequence[str], row: Row, rollout: Rollout) -> str:
    """Ask a role what its parents did wrong in work that failed, one line for each.

    Args:
        team: the wiring.
        role: who reads the parents' work.
        parents: whose work is criticized.
        row: the problem.
        rollout: the work.
    """
    shown = "\n\n".join(
        f"### {parent}\n{cut_middle(role_trace(rollout, parent), _TRACE)}" for parent in parents
    )
    return f"""{_SETTING}
The team failed on the problem below. You are {_duty(team, role)}
You read what the following colleagues \
wrote: {", ".join(parents)}. Say what in their work led to the failure.

## The problem
{row_text(row, TASK_CHARACTERS)}

## How the work ended
{rollout.feedback.strip() or "The program was wrong."}

## What your colleagues wrote
{shown}

## What you wrote
{cut_middle(role_trace(rollout, role), _TRACE)}

Write one line for each colleague, and nothing else: its name, a colon, and one sentence that names the \
mistake or the gap in a way that holds for other problems too. If a colleague is not to blame, write OK \
after the colon."""


def rewrite_prompt(
    team: TeamSpec, role: str, prompt: str, operator: str, overall: str, blame: str, revision: str
) -> str:
    """Ask for a rewrite of a role's prompt.

    Args:
        team: the wiring.
        role: whose prompt.
        prompt: the text.
        operator: one of `OPERATORS`.
        overall: how the team does.
        blame: what colleagues said of the role.
        revision: tells this request from others that are alike.
    """
    return f"""{_SETTING}
You revise the standing instructions of one of its members: {_duty(team, role)}

## The instructions now
{prompt}

## How the team does
{overall}

## What colleagues blame this member for
{blame or "(nothing was said)"}

## Your revision ({revision})
{operator}
Keep the member's duty, whom it works with, and the form in which it hands over its work. Do not write \
about a single problem. That a submission must end with one fenced program is told to its writer elsewhere; \
the instructions need not.

Write the complete revised instructions between these tags, and nothing else:
{BEGIN_PROMPT}
{END_PROMPT}"""
