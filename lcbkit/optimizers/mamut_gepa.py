"""MAMuT-GEPA: one joint search over all roles' prompts, each reflection seeing the whole team at work.

The recipe is named in A. Breen Herrera et al., "Build, Judge, Optimize: A Blueprint for Continuous
Improvement of Multi-Agent Consumer Assistants", arXiv 2603.03565; the engine is GEPA's (arXiv 2507.19457,
see `gepa`). The blueprint simulates dialogues and judges them by rubrics; here a rollout on a problem and its
score take the place of both.

It differs from `gepa` in what a reflection reads (the source-tagged trajectory of all roles), in its stop
(no plateau, a cap on rollouts), in its seeds (bundles that are compared meet the same randomness), and in
what may leave it: the best candidate with another text than the seed if its mean is at least the seed's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.evolution import Case, EvolutionSettings, ask_for_text, evolve
from lcbkit.optimizers.interface import Context, Outcome, Step
from lcbkit.optimizers.reading import as_prompt, extract_block
from lcbkit.optimizers.texts import compact_row, role_trace, spoken, transcript

__all__ = ["MamutGepa", "MamutGepaSettings", "best_other", "team_record"]

_BEGIN, _END = "<instruction>", "</instruction>"


@dataclass(frozen=True, slots=True, kw_only=True)
class MamutGepaSettings(EvolutionSettings):
    """The method's knobs, beside those of the engine.

    Attributes:
        metric_call_limit: rollouts that may be charged, if the budget allows them.
        temperature: of the reflection model.
        top_p: of the reflection model.
        tie: a mean that is lower by no more than this is a tie.
    """

    LEAST: ClassVar[Mapping[str, int]] = {**EvolutionSettings.LEAST, "metric_call_limit": 1}

    metric_call_limit: int = 600
    temperature: float = 0.7
    top_p: float = 1.0
    tie: float = 1e-9


class MamutGepa:
    """GEPA over the whole team with full-team trajectories."""

    name = "mamut_gepa"

    def __init__(self, settings: MamutGepaSettings | None = None) -> None:
        self.settings = settings or MamutGepaSettings()

    def run(self, ctx: Context) -> Outcome:
        """Evolve until the cap is reached or a batch would cross it."""
        own = self.settings
        cap = min(own.metric_call_limit, ctx.evaluate.remaining)

        found = evolve(
            ctx,
            method=self.name,
            propose=partial(self._propose, ctx),
            stop=lambda _means, charged: charged >= cap,
            cap=cap,
            paired=True,
            seed=ctx.seed,
            settings=own,
        )
        return Outcome(
            incumbent=best_other(found.candidates, found.means, tie=own.tie),
            stop_reason="metric_call_cap" if found.refused else "native_gepa_stop",
            history=found.history,
            iterations=found.iterations,
        )

    def _propose(
        self, ctx: Context, role: str, text: str, cases: Sequence[Case], iteration: int
    ) -> str | None:
        records = {
            f"{number}": record
            for number, case in enumerate(cases, start=1)
            if (record := team_record(role, case)) is not None
        }
        if not records:
            return None

        def render(parts: Mapping[str, str]) -> str:
            return _reflection_prompt(role, ctx, text, parts)

        answer = ask_for_text(
            ctx,
            render,
            records,
            step=Step(f"optimization/{self.name}", iteration),
            role=role,
            temperature=self.settings.temperature,
            top_p=self.settings.top_p,
        )
        if answer is None:
            return None
        block = extract_block(answer, text, begin=_BEGIN, end=_END)
        return as_prompt(block, ctx.seed_bundle.roles[role])


def best_other(candidates: Sequence[Bundle], means: Sequence[float], *, tie: float = 1e-9) -> Bundle:
    """The best candidate that is not the seed if it is no worse than the seed, else the seed.

    Args:
        candidates: the seed first.
        means: their mean validation scores; fewer if the seed's own pass did not fit.
        tie: by how much a mean may be lower.
    """
    seed = candidates[0]
    others = [number for number in range(1, len(means)) if dict(candidates[number].roles) != dict(seed.roles)]
    if not others:
        return seed
    best = max(others, key=lambda number: (means[number], -number))
    return candidates[best] if means[best] >= means[0] - tie else seed


def team_record(role: str, case: Case) -> str | None:
    """A problem, everything that was said about it, and the result; None if the role never spoke."""
    if not spoken(case.rollout, role):
        return None
    row = "\n".join(f"{name}: {value.strip()}" for name, value in compact_row(case.row).items())
    said = transcript(message for message in case.rollout.messages if message.source != "user")
    return f"""### The problem
{row}

### Everything that the team wrote, in order
{said}

### Of that, by the {role}
{role_trace(case.rollout, role)}

### How the team's answer was judged
{case.rollout.status}, score {case.rollout.score:g}. {case.rollout.feedback}"""


def _reflection_prompt(role: str, ctx: Context, text: str, records: Mapping[str, str]) -> str:
    others = "\n".join(
        f"- {name}: {' '.join(ctx.team.descriptions.get(name, '').split())}" for name in ctx.team.roles
    )
    cases = "\n\n".join(f"## Case {name}\n{record}" for name, record in records.items())
    return f"""A team of language models solves programming contests; it is wired as {ctx.team.topology}. \
Its roles:
{others}

The role {role} works by this instruction:
{_BEGIN}
{text.strip()}
{_END}

Below is what the whole team did with a few problems, and how its answers were judged.

{cases}

## What to do
Read each case as the work of a team: where did it take the turn that decided the result, and what could the
{role} have done, before or after, that would have turned it to the good? The others keep their instructions.
Then write a better instruction for the {role}:
- it stands alone, and keeps the role's duty and the form in which the others get its work;
- what it adds are strategies for problems of all kinds: how to use what it is given, what to check, what to
  pass on, what to do when others are wrong;
- it names no problem of these cases.
Write a few sentences on what you found, then the whole new instruction between these two lines:
{_BEGIN}
{_END}"""
