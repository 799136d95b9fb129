"""GEPA: prompts evolve on a Pareto front, one role at a time, by reflection on traces and feedback.

L. A. Agrawal et al., "GEPA: Reflective Prompt Evolution Can Outperform Reinforcement Learning",
arXiv 2507.19457; carried by the authors' package `gepa`.

For every validation row the candidates that reach its maximum form a set. A candidate is deleted while each
set that contains it also contains another survivor, lowest mean first; a survivor becomes a parent with a
probability proportional to the number of sets that it is in. Parent and child are run on the same three train
rows, and the child enters the pool, with a full validation pass, iff `sum(child) > sum(parent)`. After an
accepted child two survivors that improved different roles since a common ancestor may be merged.

Where this differs from the benchmark: the reflection model reads what the scorer says instead of a bare
number, as the paper means it, and a batch that does not fit is refused instead of being scored as zero.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from lcbkit.optimizers.evolution import Case, EvolutionSettings, ask_for_text, evolve
from lcbkit.optimizers.interface import Context, Outcome, Step
from lcbkit.optimizers.reading import as_prompt, fenced_text
from lcbkit.optimizers.texts import compact_row, cut_middle, role_trace

__all__ = ["Gepa", "GepaSettings", "plateau", "role_record"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GepaSettings(EvolutionSettings):
    """The method's knobs, beside those of the engine.

    Attributes:
        max_full_evals: caps the rollouts at this many times all train and validation rows together.
        plateau_patience: full validation passes without a new best mean that end the search; 0: none do.
        temperature: of the reflection model.
        output_chars: of the team's answer that it reads.
        trace_chars: of the role's own words that it reads.
        seed: of the search; the optimizer seed is added.
    """

    LEAST: ClassVar[Mapping[str, int]] = {
        **EvolutionSettings.LEAST,
        "max_full_evals": 1,
        "plateau_patience": 0,
    }

    max_full_evals: int = 5
    plateau_patience: int = 3
    temperature: float = 1.0
    output_chars: int = 2_000
    trace_chars: int = 3_000
    seed: int = 0


class Gepa:
    """Reflective evolution, one role at a time."""

    name = "gepa"

    def __init__(self, settings: GepaSettings | None = None) -> None:
        self.settings = settings or GepaSettings()

    def run(self, ctx: Context) -> Outcome:
        """Evolve until the budget is spent, or full validations find nothing better any more."""
        own = self.settings
        native_cap = own.max_full_evals * (len(ctx.train) + len(ctx.validation))
        budget = ctx.evaluate.remaining
        reason = "rollout_budget_spent"

        def stop(means: Sequence[float], charged: int) -> bool:
            nonlocal reason
            if charged >= budget:
                return True
            if own.plateau_patience and plateau(means, own.plateau_patience):
                reason = "full_eval_plateau"
            elif charged >= native_cap:
                reason = "max_full_evals"
            return reason != "rollout_budget_spent"

        found = evolve(
            ctx,
            method=self.name,
            propose=partial(self._propose, ctx),
            stop=stop,
            cap=budget,
            paired=False,
            seed=own.seed + ctx.seed,
            settings=own,
        )
        return Outcome(
            incumbent=found.candidates[found.best] if found.means else ctx.seed_bundle,
            stop_reason="rollout_budget_spent" if found.refused else reason,
            history=found.history,
            iterations=found.iterations,
        )

    def _propose(
        self, ctx: Context, role: str, text: str, cases: Sequence[Case], iteration: int
    ) -> str | None:
        records = {
            f"{number}": role_record(
                role, case, output_chars=self.settings.output_chars, trace_chars=self.settings.trace_chars
            )
            for number, case in enumerate(cases, start=1)
        }

        def render(parts: Mapping[str, str]) -> str:
            return _reflection_prompt(role, ctx.team.descriptions.get(role, ""), text, parts)

        step, temperature = Step(f"optimization/{self.name}", iteration), self.settings.temperature
        answer = ask_for_text(ctx, render, records, step=step, role=role, temperature=temperature)
        if answer is None:
            return None
        return as_prompt(fenced_text(answer), ctx.seed_bundle.roles[role])


def plateau(means: Sequence[float], patience: int) -> bool:
    """Whether the last `patience` full validations brought no new best mean."""
    if not means:
        return False
    newest_best = max(range(len(means)), key=lambda number: (means[number], -number))
    return len(means) - 1 - newest_best >= patience


def role_record(role: str, case: Case, *, output_chars: int, trace_chars: int) -> str:
    """What a role did on one problem, and what came of it, as a reflection model reads it."""
    row = "\n".join(f"{name}: {value.strip()}" for name, value in compact_row(case.row).items())
    wrote = cut_middle(role_trace(case.rollout, role), trace_chars)
    answer = cut_middle(case.rollout.final_output.strip() or "(none)", output_chars)
    return f"""### The problem
{row}

### What the {role} wrote
{wrote}

### The team's final answer
{answer}

### How it was judged
Score {case.rollout.score:g}. {case.rollout.feedback}"""


def _reflection_prompt(role: str, duty: str, text: str, records: Mapping[str, str]) -> str:
    cases = "\n\n".join(f"## Case {name}\n{record}" for name, record in records.items())
    return f"""In a team of language models that solves programming contests, the role {role} works by the \
instruction below. {duty.strip()}

## The instruction now
````
{text.strip()}
````

{cases}

## What to do
Improve the instruction. First find out, case by case, what the role did that helped or harmed the result, and
where the instruction is silent or misleading. Then write it anew:
- it must stand alone: the role reads it together with the problem, and nothing of the cases above;
- keep what works, above all the role's duty, its way of handing over its work, and the names that it uses;
- add facts and strategies that the cases taught and that will help with other problems; of a single problem
  keep nothing;
- be concrete: say what to check, when, and what to do about it.
Reply with the whole new instruction between two lines of four backticks, and nothing after them:
````
the instruction
````"""
