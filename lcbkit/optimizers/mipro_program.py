"""A team of ours as DSPy sees it, and DSPy's MIPROv2 kept to our ledger.

Loaded when `mipro` runs; it imports DSPy. The program has one predictor per role, never asked itself: a
forward pass is one charged rollout of the team. Validation passes go around DSPy's own evaluator, which runs
rows in threads of its own, starts slow ones twice and takes failures for zeros.
"""

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import dspy
import optuna
from dspy.propose import GroundedProposer

from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.demonstrations import with_demonstrations
from lcbkit.optimizers.interface import Context, Rollout, Row, Step, TextModel
from lcbkit.optimizers.reading import as_prompt
from lcbkit.optimizers.texts import compact_row, cut_middle, role_trace, spoken

__all__ = ["Halted", "TeamMipro", "TeamProgram", "examples", "quietly", "reflection_lm", "team_description"]

_LOG = logging.getLogger(__name__)
_INPUTS = ("problem", "starter_code", "tests")
_PROBLEM_CHARS, _STARTER_CHARS, _TRACE_CHARS = 2_500, 1_000, 6_000
_ANSWER_CHARS = 50_000  # no instruction is that long, and DSPy puts answers into later questions
# They print their progress, or draw bars, and offer no switch.
_TALKERS = ("dspy.teleprompt.bootstrap", "dspy.teleprompt.utils", "dspy.propose.grounded_proposer")


class Halted(BaseException):
    """Ends a search at once; DSPy and Optuna catch every Exception and would go on with a score of 0.

    Attributes:
        reason: what happened on our side.
    """

    def __init__(self, reason: Exception) -> None:
        super().__init__(str(reason))
        self.reason = reason


class _Engine:
    """Asks the reflection model for DSPy."""

    def __init__(self, reflect: TextModel, step: Step, max_tokens: int | None) -> None:
        self._reflect, self._step, self._max_tokens = reflect, step, max_tokens

    def complete(self, request: Any) -> Any:
        """One request of DSPy's, answered."""
        prompt = "\n\n".join(_text(message.parts) for message in request.messages)
        system = request.system if isinstance(request.system, str) else _text(request.system or ())
        temperature = request.config.temperature
        answer = self._reflect(
            prompt,
            step=self._step,
            system=system or None,
            temperature=1.0 if temperature is None else temperature,
            max_tokens=self._max_tokens,
        )
        kit = dspy.lm15
        return kit.Response(
            id=None,
            model=request.model,
            message=kit.Message(
                role="assistant", parts=(kit.TextPart(text=cut_middle(answer, _ANSWER_CHARS)),)
            ),
            finish_reason="stop",
            usage=kit.Usage(),
        )


def _text(parts: Sequence[Any]) -> str:
    return "".join(getattr(part, "text", None) or "" for part in parts)


def reflection_lm(reflect: TextModel, step: Step, max_tokens: int | None = None) -> Any:
    """The reflection model as a DSPy language model, without DSPy's cache and retries."""
    engine = _Engine(reflect, step, max_tokens)
    return dspy.LM("lcbkit/reflection", engine=engine, cache=False, num_retries=0)


def examples(rows: Sequence[Row]) -> list[Any]:
    """Rows as DSPy's examples, long texts cut; `row_id` leads back to the row."""
    return [dspy.Example(row_id=row.id, **_given(row)).with_inputs("row_id", *_INPUTS) for row in rows]


def _given(row: Row) -> dict[str, str]:
    compact = compact_row(row, problem=_PROBLEM_CHARS, starter_code=_STARTER_CHARS)
    return {name: compact.get(name, "") for name in _INPUTS}


class TeamProgram(dspy.Module):  # type: ignore[misc]  # DSPy ships no types
    """One predictor per role, whose instructions and demos are the role's prompt.

    Args:
        seed: the prompts to begin with.
        run: runs the team once with the program's prompts on the row of an id.
    """

    def __init__(self, seed: Bundle, run: Callable[["TeamProgram", str], tuple[Row, Rollout]]) -> None:
        super().__init__()
        # Functions: DSPy copies programs deeply, and a bundle's mappings cannot be.
        self.seed: Callable[[], Bundle] = lambda: seed
        self.run = run
        for number, (role, text) in enumerate(seed.roles.items()):
            signature = dspy.Signature(f"{', '.join(_INPUTS)} -> {role}_text", text)
            setattr(self, f"role_{number}", dspy.Predict(signature))

    def forward(self, row_id: str, **_given_fields: Any) -> Any:
        """One rollout; each role that spoke adds its part to DSPy's trace."""
        row, rollout = self.run(self, row_id)
        trace = dspy.settings.trace
        for role, predictor in zip(self.seed().roles, self.predictors(), strict=True):
            if trace is not None and spoken(rollout, role):
                wrote = cut_middle(role_trace(rollout, role), _TRACE_CHARS)
                trace.append((predictor, _given(row), {f"{role}_text": wrote}))
        return dspy.Prediction(score=rollout.score)

    def bundle(self) -> Bundle:
        """The prompts that the program's instructions and demos stand for."""
        texts = {}
        for role, predictor in zip(self.seed().roles, self.predictors(), strict=True):
            first, text = self.seed().roles[role], predictor.signature.instructions
            # A signature keeps its instructions as a docstring does: without margin and outer blank lines.
            text = first if text == predictor.signature.with_instructions(first).instructions else text
            demos = [
                {name: demo[name] for name in (*_INPUTS, f"{role}_text") if demo.get(name)}
                for demo in predictor.demos
            ]
            texts[role] = with_demonstrations(text, demos)
        return self.seed().with_roles(texts)


class _Proposer(GroundedProposer):  # type: ignore[misc]
    """DSPy's proposer, for which a failed proposal is the role's own text once more."""

    def propose_instruction_for_predictor(
        self,
        program: TeamProgram,
        predictor: Any,
        pred_i: int,
        demo_candidates: Any,
        demo_set_i: int,
        trial_logs: Any,
        tip: str | None = None,
    ) -> str:
        """One new instruction; the first place is the role's own text, for which nobody is asked."""
        own = str(predictor.signature.instructions)
        if demo_set_i == 0:
            return own
        try:
            text = super().propose_instruction_for_predictor(
                program, predictor, pred_i, demo_candidates, demo_set_i, trial_logs, tip
            )
        except Exception as error:  # noqa: BLE001 - whatever an answer does to the parsers
            _LOG.debug("no instruction for predictor %d: %s", pred_i, error)
            return own
        return as_prompt(text, own) or own


class TeamMipro(dspy.MIPROv2):  # type: ignore[misc]
    """MIPROv2 on our doors: our description of the team, our evaluation of a candidate.

    Args:
        description: of the whole team, in the place of a program's source code.
        evaluate: scores a program on rows of these ids, in [0, 1].
        options: of MIPROv2.
    """

    def __init__(
        self, *, description: str, evaluate: Callable[[TeamProgram, list[str]], float], **options: Any
    ) -> None:
        super().__init__(**options)
        self._description = description
        self._evaluate = evaluate

    def _propose_instructions(
        self,
        program: TeamProgram,
        trainset: list[Any],
        demo_candidates: Any,
        view_data_batch_size: int,
        program_aware_proposer: bool,
        data_aware_proposer: bool,
        tip_aware_proposer: bool,
        fewshot_aware_proposer: bool,
        num_instruct_candidates: int,
    ) -> dict[int, list[str]]:
        proposer = _Proposer(
            program=program,
            trainset=trainset,
            prompt_model=self.prompt_model,
            view_data_batch_size=view_data_batch_size,
            program_aware=False,  # else it would read our source code
            use_dataset_summary=data_aware_proposer,
            use_task_demos=fewshot_aware_proposer,
            num_demos_in_context=3,
            use_tip=tip_aware_proposer,
            set_tip_randomly=tip_aware_proposer,
            use_instruct_history=False,
            set_history_randomly=False,
            rng=self.rng,
            init_temperature=self.init_temperature,
        )
        proposer.program_aware = program_aware_proposer
        proposer.program_code_string = self._description
        found: dict[int, list[str]] = proposer.propose_instructions_for_program(
            trainset=trainset,
            program=program,
            demo_candidates=demo_candidates,
            N=num_instruct_candidates,
            trial_logs={},
        )
        return found

    def _optimize_prompt_parameters(
        self, program: Any, instructions: Any, demos: Any, _evaluate: Any, *rest: Any
    ) -> Any:
        def evaluate(candidate: TeamProgram, devset: Sequence[Any], **_options: Any) -> Any:
            try:
                score = self._evaluate(candidate, [example.row_id for example in devset])
            except Exception as error:
                raise Halted(error) from error
            return dspy.Prediction(score=100.0 * score, results=[])

        return super()._optimize_prompt_parameters(program, instructions, demos, evaluate, *rest)


def team_description(ctx: Context) -> str:
    """The team in words, where DSPy would show a program's source code."""
    team = ctx.team
    roles = "\n".join(f"- {role}: {' '.join(team.descriptions.get(role, '').split())}" for role in team.roles)
    wires = ", ".join(f"{source} -> {target}" for source, target in team.edges)
    copies = f"{team.replicas} agents share this one role. " if team.replicas > 1 else ""
    return f"""A team of language models that solves programming contest problems, wired as {team.topology}.
Roles, each a module with an instruction of its own:
{roles}
{copies}{f"Who hands work to whom: {wires}. " if wires else ""}The {team.terminal} gives the answer, a whole
program in Python; hidden tests decide whether it is right. The shape of the answer is fixed elsewhere."""


@contextmanager
def quietly() -> Iterator[None]:
    """DSPy and Optuna without their prints, bars and notices on the way; all of it goes to our log."""
    dspy_log = logging.getLogger("dspy")
    level, verbosity = dspy_log.level, optuna.logging.get_verbosity()
    with ExitStack() as stack:
        for name in _TALKERS:
            module = import_module(name)
            stack.enter_context(patch.object(module, "print", _to_log, create=True))
            if hasattr(module, "tqdm"):
                stack.enter_context(patch.object(module, "tqdm", SimpleNamespace(tqdm=lambda rows: rows)))
        stack.enter_context(warnings.catch_warnings())
        # The multivariate sampler is marked as experimental.
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        stack.enter_context(dspy.context(disable_history=True))
        dspy_log.setLevel(logging.CRITICAL)
        try:
            yield
        finally:
            dspy_log.setLevel(level)
            optuna.logging.set_verbosity(verbosity)


def _to_log(*words: Any, **_options: Any) -> None:
    _LOG.debug("%s", " ".join(map(str, words)))
