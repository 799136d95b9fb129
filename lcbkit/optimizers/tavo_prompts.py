"""What TAVO asks its reflection model: credit for pieces and roles, a ranking of edits, rules for all."""

from collections.abc import Mapping, Sequence

from lcbkit.optimizers.credit import EDITS, KINDS, Knowledge
from lcbkit.optimizers.interface import Message, Rollout, Row, TeamSpec
from lcbkit.optimizers.texts import cut_middle, listing, row_text, spoken, transcript

__all__ = [
    "BEGIN_PROMPT",
    "BEGIN_RULES",
    "END_PROMPT",
    "END_RULES",
    "aggregation_findings",
    "knowledge_text",
    "piece_prompt",
    "ranking_prompt",
    "refinement_prompt",
    "role_prompt",
    "rules_prompt",
]

BEGIN_RULES, END_RULES = "<rules>", "</rules>"
BEGIN_PROMPT, END_PROMPT = "<prompt>", "</prompt>"

_TASK = 3_000
_PIECE = 6_000
_EARLIER = 4_000
_EVALUATION = 12_000
_HISTORY = 1_000
_PROMPT = 4_000

_TEAM = """A team of language models solves programming contest problems in Python. Only the program that \
the team submits counts: it is right if it passes hidden tests, and there is no partial credit."""

_EDIT_WORDS = {
    "add": "additions: sentences that the prompts lack",
    "remove": "removals: things in the prompts that do harm or nothing",
    "restructure": "restructurings: changes of order, emphasis or form",
}


def _verdict(rollout: Rollout) -> str:
    outcome = "solved" if rollout.score >= 1 else "not solved"
    return f"{outcome} ({rollout.feedback.strip() or 'no more is known'})"


def _wiring(team: TeamSpec) -> str:
    if team.replicas > 1:
        return f"Its {team.team_size} members all work as `{team.roles[0]}`, from one and the same prompt."
    return "Its roles, with their duties in the words that the team uses:\n" + "\n".join(
        f'- {role}: "{team.descriptions[role]}"' for role in team.roles
    )


def piece_prompt(
    team: TeamSpec, row: Row, rollout: Rollout, earlier: Sequence[Message], piece: Sequence[Message]
) -> str:
    """Ask how good one piece of a trajectory was, knowing how it ended.

    Args:
        team: the wiring.
        row: the problem.
        rollout: where the piece comes from.
        earlier: the messages before it.
        piece: its messages.
    """
    return f"""{_TEAM}
{_wiring(team)}

You judge one step of the team's work on one problem. You know how the whole work ended; say what this step \
did for that end. A step can be good in work that failed, and bad in work that went well all the same. Look \
at what was knowable at that moment: a wrong claim that nobody checked is a fault of the step that made it \
and, less, of the step that relied on it.

## The problem
{row_text(row, _TASK)}

## How it ended
{_verdict(rollout)}

## What came before this step
{cut_middle(transcript(earlier, each=800), _EARLIER) if earlier else "(nothing: this is the first step)"}

## The step
{cut_middle(transcript(piece), _PIECE)}

Rate it from 1 (harmful) to 10 (could not be better):
- progress: how much nearer it brought a right and fast enough program,
- coordination: how well it used what it was given and how usable its own words are for the next reader,
- stage_fit: whether it did what was due at this point, no more and no less.

Answer with one JSON object and nothing else:
{{"progress": <1-10>, "coordination": <1-10>, "stage_fit": <1-10>, "analysis": "<two or three sentences \
that name the decisive point of this step, with the detail that shows it>"}}"""


def role_prompt(
    team: TeamSpec, row: Row, rollout: Rollout, role: str, prompt: str, credits: Sequence[str]
) -> str:
    """Ask what one role's prompt is to blame or to thank for in one rollout.

    Args:
        team: the wiring.
        row: the problem.
        rollout: the work on it.
        role: whose part is judged.
        prompt: the instructions that it worked under.
        credits: what was said of the work's pieces, in order.
    """
    said = f"Judgements of its steps, in order:\n{listing(credits)}\n\n" if credits else ""
    evaluation = (
        f"Score: {rollout.score:g}\n"
        f"Submitted answer:\n{cut_middle(rollout.final_output, 800) or '(none)'}\n\n"
        f"{said}The last messages:\n{transcript(rollout.messages, last=24, each=500)}"
    )
    tasks, communications, results = _history(rollout, role)
    return f"""{_TEAM}
{_wiring(team)}

You study what the role `{role}` did on one problem, to find out how its standing instructions should \
change. The instructions are used on many other problems: what you propose must be about how to work, never \
about this problem.

## The problem
{row_text(row, _TASK)}

## How it ended
{_verdict(rollout)}

## The whole work
{evaluation[:_EVALUATION]}

## The instructions of `{role}`
{cut_middle(prompt, _PROMPT)}

## The part of `{role}`
What it was given:
{tasks}

What it wrote on the way:
{communications}

What it ended with:
{results}

Answer with one JSON object and nothing else. Every list holds short sentences, at most four, and may be \
empty:
{{"ratings": {{"result": <1-10>, "effectiveness": <1-10>, "quality": <1-10>, "collaboration": <1-10>}},
 "strengths": [...], "weaknesses": [...], "causes": ["<why a weakness came about>", ...],
 "suggestions": {{{", ".join(f'"{kind}": [...]' for kind in KINDS)}}},
 "edits": {{"add": ["<a sentence to add to its instructions>", ...], "remove": ["<what to take out>", ...], \
"restructure": ["<what to say elsewhere or otherwise>", ...]}}}}"""


def _history(rollout: Rollout, role: str) -> tuple[str, str, str]:
    """What a role was given, wrote on the way, and ended with, each cut."""
    own = spoken(rollout, role)
    first = next((n for n, message in enumerate(rollout.messages) if message.role == role), 0)
    given = [message for message in rollout.messages[:first] if message.content.strip()]
    parts = (transcript(given, last=2, each=500), transcript(own[:-1], last=4), transcript(own[-1:]))
    tasks, communications, results = (cut_middle(part, _HISTORY) or "(nothing)" for part in parts)
    return tasks, communications, results


def ranking_prompt(edit: str, items: Sequence[str], most: int) -> str:
    """Ask which of the proposed edits of one sort count.

    Args:
        edit: one of `EDITS`.
        items: what was proposed, repeats included.
        most: how many to keep.
    """
    return f"""{_TEAM}

Reviewers looked at several pieces of its work and proposed changes to the instructions of its members. \
Here are all {_EDIT_WORDS[edit]}.

{cut_middle(listing(items), 20_000)}

Choose the ones that matter. Join those that mean the same into one; put first what was proposed most often \
and what decides most surely whether a program is right. Leave out what holds for a single problem only, \
what contradicts a better proposal, and what would change who does what in the team.

Answer with one JSON object and nothing else, at most {most} items, the most important first:
{{"items": ["<one sentence>", ...]}}"""


def knowledge_text(knowledge: Knowledge) -> str:
    """What was learned, as lists under headings; empty lists are left out."""
    headed: list[tuple[str, Sequence[str]]] = [
        *((f"To {edit}", knowledge.edits.get(edit, ())) for edit in EDITS),
        *((f"On {kind}", knowledge.suggestions.get(kind, ())) for kind in KINDS),
    ]
    return "\n\n".join(f"{heading}:\n{listing(items)}" for heading, items in headed if items)


def rules_prompt(team: TeamSpec, knowledge: Knowledge, least: int, most: int) -> str:
    """Ask for the few rules that all roles shall follow.

    Args:
        team: the wiring.
        knowledge: what was learned.
        least: rules at least.
        most: rules at most.
    """
    return f"""{_TEAM}
{_wiring(team)}

Its work was reviewed. This was found:

{knowledge_text(knowledge)}

Write {least} to {most} rules that will stand at the end of the instructions of every member. So each rule \
must
- say what to do, as a command, in one sentence or two, concrete enough that one can see whether it was \
followed;
- make sense for every member, whatever its part: those who plan, write, test or review read the same text;
- leave alone who does what, in which order, and in which form results are handed over;
- be about contest problems in general, with no detail of a single one.
Prefer the few findings that decide whether programs are right over many that are merely good style. If a \
finding names a technique or a check that helps, keep its exact words.

Write the rules between these two lines, each on a line of its own that begins with "- ":
{BEGIN_RULES}
{END_RULES}"""


def refinement_prompt(team: TeamSpec, role: str, prompt: str, findings: str) -> str:
    """Ask for a role's instructions, rewritten by what was found.

    Args:
        team: the wiring.
        role: whose instructions they are.
        prompt: the instructions now.
        findings: what was learned, as text.
    """
    return f"""{_TEAM}
{_wiring(team)}

Rewrite the standing instructions of the role `{role}` so that they take in what was found below. Keep its \
duty, whom it works with, and the form in which it hands over results; keep what is good. Work the findings \
in where they belong; do not hang them on as a list of remarks, and leave out those that concern other \
roles or a single problem.

## The instructions now
{cut_middle(prompt, 12_000)}

## What was found
{cut_middle(findings, 12_000)}

That a submission must end with one fenced program is told to its writer elsewhere; the instructions need not.

Write the complete new instructions between these two lines:
{BEGIN_PROMPT}
{END_PROMPT}"""


def aggregation_findings(role: str, items: Mapping[str, Sequence[str]]) -> str:
    """All that was proposed for one role, as lists under headings."""
    return "\n\n".join(f"To {edit} for `{role}`:\n{listing(found)}" for edit, found in items.items() if found)
