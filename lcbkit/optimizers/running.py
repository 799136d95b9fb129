"""`optimize`: a job from its question to its result, each phase once."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lcbkit.dataset import load_problems
from lcbkit.errors import BadValueError, UnknownProblemError
from lcbkit.judging.pool import default_pool
from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.endpoints import decodings
from lcbkit.optimizers.evaluations import Evaluations
from lcbkit.optimizers.interface import Optimizer
from lcbkit.optimizers.job import JobError, JobFolder, JobStopped, read_sealed
from lcbkit.optimizers.methods import make_optimizer
from lcbkit.optimizers.optimized import Optimized
from lcbkit.optimizers.phases import SplitRows, run_test, validate
from lcbkit.optimizers.planning import job_spec, splits_of
from lcbkit.optimizers.progress import Progress, Teller, telling
from lcbkit.optimizers.protocol import BUDGET, MAX_TOKENS, REFLECTION_MAX_TOKENS
from lcbkit.optimizers.rescoring import full_pass_at_1
from lcbkit.optimizers.rollouts import Runner, row_of
from lcbkit.optimizers.scoring import Scorer
from lcbkit.optimizers.search import Search
from lcbkit.optimizers.specification import JobSpec, Splits
from lcbkit.optimizers.summary import check_result, summary_of
from lcbkit.problems import Problem, ProblemSet
from lcbkit.search_events import JobFinished, JobStarted, PhaseStarted
from lcbkit.topologies.roles import role_prompts

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["Phase", "optimize"]

Phase = Literal["all", "optimize", "validate", "test"]


def optimize(
    method: str,
    topology: str,
    *,
    out: str | Path,
    model: "str | BaseChatModel",
    reflection_model: "str | BaseChatModel | None" = None,
    seed: int = 0,
    budget: int = BUDGET,
    team_size: int = 4,
    message_format: str = "freeform",
    python_exec: bool = True,
    rounds: int | None = None,
    prompts: Mapping[str, str] | None = None,
    dataset: str = "lcb",
    source: Any = None,
    phase: Phase = "all",
    evaluation_cache: str | Path | None = None,
    task_endpoints: str | Sequence[str] = (),
    reflection_endpoint: str | None = None,
    eval_rows: int | None = None,
    max_tokens: int = MAX_TOKENS,
    reflection_max_tokens: int = REFLECTION_MAX_TOKENS,
    request_timeout: float | None = None,
    settings: Mapping[str, Any] | None = None,
    allow_any_cell: bool = False,
    full_tests: bool = False,
    concurrency: int = 4,
    progress: Progress = True,
) -> Optimized:
    """Optimize a team's prompts under a budget, deploy only what is strictly better on validation, test it.

    Three phases, each sealed in the job folder when it is done; the same call takes up what is there. An
    interrupted search is not taken up, since it would spend its budget twice.

    Args:
        method: `gepa`, `tavo` or another that `lcb optimize --help` lists; `identity` does not search.
        topology: of the team; a name with its size, such as `centralized_r8`, is one as well.
        out: the job's folder.
        model: the task model: `qwen`, `llama`, any name that `get_model` takes for a live model, a chat model
            object, or `toy`.
        reflection_model: who writes prompts; None takes the protocol's, beside a toy the toy.
        seed: 0, 1 or 2.
        budget: rollouts of the search; the protocol's are 600.
        team_size: 2, 4, 8 or 10; the single team has one agent.
        message_format: as in `build_team`.
        python_exec: as in `build_team`.
        rounds: as in `build_team`.
        prompts: the seed prompts of some roles, instead of the library's.
        dataset: `lcb`, `sample` or `toy`; each has its splits.
        source: where the problems of `lcb` come from, as in `load_problems`.
        phase: one of the phases, or all that are missing.
        evaluation_cache: a folder of evaluations that jobs share; None keeps them in the job's own.
        task_endpoints: addresses of the task model's servers, used in turn. Empty takes `LCB_TASK_ENDPOINTS`,
            else what `get_model` takes.
        reflection_endpoint: address of the reflection model's server; None takes `LCB_REFLECTION_ENDPOINT`.
        eval_rows: keep so many rows of validation and of test.
        max_tokens: of one answer of the task model.
        reflection_max_tokens: of one answer of the reflection model.
        request_timeout: seconds of one request.
        settings: changes to the method's own defaults.
        allow_any_cell: run a method on a team that the protocol does not have it on.
        full_tests: judge the test programs on all hidden tests as well (`full_pass_at_1` of the result).
        concurrency: model calls in flight at one time.
        progress: True for lines on standard error; a function gets each event and may return "stop".

    Raises:
        BadValueError: an argument outside of its range, or a cell that the protocol does not have.
        ConfigError: the method cannot start; nothing was spent.
        JobError: the folder is another job's, holds an interrupted search or a changed file, or a bug.
        InfrastructureExhausted: the endpoint is dead; the same call goes on from what is kept.
        JobStopped: the callback said stop.
        ModelError: a model that cannot be had.
    """
    spec = job_spec(
        method,
        topology,
        model=model,
        reflection_model=reflection_model,
        task_endpoints=task_endpoints,
        reflection_endpoint=reflection_endpoint,
        request_timeout=request_timeout,
        team_size=team_size,
        message_format=message_format,
        python_exec=python_exec,
        rounds=rounds,
        dataset=dataset,
        seed=seed,
        budget=budget,
        eval_rows=eval_rows,
        max_tokens=max_tokens,
        reflection_max_tokens=reflection_max_tokens,
        settings=settings or {},
        allow_any_cell=allow_any_cell,
    )
    if concurrency < 1:
        raise BadValueError(f"concurrency is {concurrency}; it must be at least 1")
    if phase not in ("all", "optimize", "validate", "test"):
        raise BadValueError(f"no phase {phase!r}; there is: all, optimize, validate, test")
    optimizer = make_optimizer(method, spec.settings)
    folder = JobFolder(Path(out).expanduser())
    with telling(progress) as teller:
        try:
            _Job(spec, optimizer, folder, teller, prompts, source, concurrency).run(
                phase, evaluation_cache, full_tests=full_tests
            )
        except JobStopped as stopped:
            teller(JobFinished(words=str(stopped), stopped=True))
            raise
        optimized = Optimized.load(folder.path)
        teller(JobFinished(words=optimized.words))
        return optimized


class _Job:
    """A job under way."""

    def __init__(
        self,
        spec: JobSpec,
        optimizer: Optimizer,
        folder: JobFolder,
        teller: Teller,
        prompts: Mapping[str, str] | None,
        source: Any,
        concurrency: int,
    ) -> None:
        self._spec, self._optimizer, self._folder, self._teller = spec, optimizer, folder, teller
        self._splits = splits_of(spec)
        self._problems = _problems(spec.dataset, source, self._splits)
        self._seed_bundle = Bundle(roles=role_prompts(spec.shape.plan, prompts))
        self._runner = Runner(
            shape=spec.shape,
            models=spec.models,
            problems=self._problems,
            scorer=Scorer(default_pool()),
            concurrency=concurrency,
        )
        self._decodings = decodings(
            self._runner.spec,
            max_tokens=spec.max_tokens,
            reflection_max_tokens=spec.reflection_max_tokens,
        )
        self._data = SplitRows(
            {name: [row_of(self._problems[row_id]) for row_id in ids] for name, ids in self._splits.items()}
        )

    def run(self, phase: Phase, evaluation_cache: str | Path | None, *, full_tests: bool) -> None:
        identity = self._spec.identity(
            seed_bundle=self._seed_bundle,
            splits=self._splits,
            problems=self._problems,
            decodings=self._decodings,
            settings=asdict(self._optimizer.settings),
        )
        cache = Path(evaluation_cache).expanduser() if evaluation_cache else self._folder.evaluations
        evaluations = Evaluations(
            folder=cache,
            runner=self._runner,
            decoding=self._decodings["evaluation"],
            condition_id=identity["condition_id"],
            optimizer_seed=identity["optimizer_seed"],
            origin={name: identity[name] for name in ("data_sha256", "code_sha256")},
        )
        if evaluation_cache and phase != "optimize":
            evaluations.check()
        self._check_models(phase)
        with self._folder.opened(identity) as job:
            self._teller(
                JobStarted(
                    title=self._spec.title,
                    where=str(self._folder.path),
                    budget=self._spec.budget,
                    stop=self._teller.stop,
                )
            )
            optimization = self._search(job, phase)
            if phase == "optimize":
                return
            selection = self._selection(job, optimization, evaluations, phase)
            if phase == "validate":
                return
            self._teller(PhaseStarted(phase="test"))
            test = run_test(self._folder, job, optimization, selection, evaluations, self._data, self._teller)
            self._finish(job, optimization, selection, test, cache, full_tests)

    def _check_models(self, phase: Phase) -> None:
        """Make the models that what is missing needs, so that a wrong name costs nothing."""
        models, missing = self._spec.models, self._missing(phase)
        if missing:
            models.for_teams(self._decodings["search"])
        if "optimization" in missing and self._spec.method != "identity":
            models.for_reflection(self._decodings["reflection"])

    def _missing(self, phase: Phase) -> set[str]:
        """The sealed files that this call is to make."""
        wanted = {"optimization"} if phase in ("all", "optimize") else set()
        wanted |= {"selection"} if phase in ("all", "validate") else set()
        wanted |= {"test"} if phase in ("all", "test") else set()
        return {kind for kind in wanted if not self._folder.file(kind).exists()}

    def _search(self, job: Mapping[str, Any], phase: Phase) -> dict[str, Any]:
        if phase in ("validate", "test") and self._folder.read("optimization") is None:
            raise JobError(f"{self._folder.path} holds no finished search; run the phase optimize first")
        self._teller(PhaseStarted(phase="optimize"))
        search = Search(
            folder=self._folder,
            job=job,
            optimizer=self._optimizer,
            runner=self._runner,
            models=self._spec.models,
            decodings=self._decodings,
            seed_bundle=self._seed_bundle,
            tell=self._teller,
        )
        return search.run(self._data.rows("train"), self._data.rows("validation"))

    def _selection(
        self, job: Mapping[str, Any], optimization: Mapping[str, Any], evaluations: Evaluations, phase: Phase
    ) -> dict[str, Any]:
        if phase == "test" and self._folder.read("selection") is None:
            raise JobError(f"{self._folder.path} holds no sealed selection; run the phase validate first")
        self._teller(PhaseStarted(phase="validate"))
        return validate(self._folder, job, optimization, evaluations, self._data, self._teller)

    def _finish(
        self,
        job: Mapping[str, Any],
        optimization: Mapping[str, Any],
        selection: Mapping[str, Any],
        test: Mapping[str, Any],
        cache: Path,
        full_tests: bool,
    ) -> None:
        result = self._folder.read("result")
        check_result(self._folder, job, test, result)
        if result is not None and (not full_tests or "full_pass_at_1" in result):
            return
        summary = summary_of(job, optimization, selection, test)
        if full_tests:
            summary["full_pass_at_1"] = self._rescored(test, cache)
        self._folder.write("result", summary)

    def _rescored(self, test: Mapping[str, Any], cache: Path) -> dict[str, Any]:
        baseline, deployed = (
            self._records(test["evaluations"][name], cache) for name in ("baseline", "candidate")
        )
        return full_pass_at_1(baseline, deployed, self._problems)

    @staticmethod
    def _records(named: Mapping[str, str], cache: Path) -> list[dict[str, Any]]:
        sealed = read_sealed(cache / f"{named['id']}.json", "evaluation")
        if sealed["sha256"] != named["sha256"]:
            raise JobError(f"{cache} holds another evaluation than test.json names; restore it")
        records: list[dict[str, Any]] = sealed["records"]
        return records


def _problems(dataset: str, source: Any, splits: Splits) -> dict[str, Problem]:
    if dataset != "lcb" and source is not None:
        raise BadValueError(f"source={source!r} is for the dataset lcb; {dataset} comes with the library")
    ids = [row_id for part in splits.values() for row_id in part]
    found: ProblemSet
    if dataset == "toy":
        from lcbkit.optimizers.toy import toy_problems

        found = toy_problems()
    else:
        found = load_problems("sample" if dataset == "sample" else source, only=ids)
    problems = {problem.id: problem for problem in found}
    if missing := [row_id for row_id in ids if row_id not in problems]:
        raise UnknownProblemError(missing[0], list(problems))
    return problems
