"""A team on many problems: generation and judging side by side, a record for each finished instance."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal

from lcbkit.display.bar import listening
from lcbkit.judging.pool import memory_bytes
from lcbkit.problems import Problem
from lcbkit.records import Status
from lcbkit.results import Run
from lcbkit.runs.arguments import check_batch
from lcbkit.runs.batch import REDO, Batch
from lcbkit.runs.config import confinement, describe_run, now, run_files
from lcbkit.runs.folder import RunFolder
from lcbkit.runs.hands import Hands, Task, hands_here
from lcbkit.runs.judge_cache import JudgeCache
from lcbkit.runs.judges import check_judges
from lcbkit.runs.progress import Progress, RunFinished, run_bar
from lcbkit.topologies.team import Team
from lcbkit.waiting import run_sync, waking

__all__ = ["aevaluate", "evaluate"]


def evaluate(
    team: Team,
    problems: Sequence[Problem],
    *,
    out_dir: str | Path | None = None,
    out: str | Path | None = None,
    samples: int = 1,
    seed: int = 0,
    concurrency: int = 4,
    judge_workers: int | None = None,
    time_limit: float = 6.0,
    memory_limit: int | None = None,
    tests: Literal["hidden", "all"] = "hidden",
    stop_on_failure: bool = False,
    resume: bool = True,
    overwrite: bool = False,
    retry_errors: bool = False,
    progress: Progress = True,
    max_infra_rate: float = 0.1,
    judge_cache: bool | str | Path = True,
    engine: Any = None,
) -> Run:
    """Run a team on problems, judge its programs, and keep a record of each; the same call again resumes.

    Works in a script and in a notebook cell; `await aevaluate(...)` is the same for code that has a loop.

    Args:
        team: from `build_team`.
        problems: from `load_problems`.
        out_dir: the run's folder; None makes one below `runs/`, named by dataset, team and model.
        out: a `.jsonl` file for the predictions instead of a folder, whatever `out_dir` says; the other files
            go beside it.
        samples: submissions per problem, at most 1,000.
        seed: of the first agent in the first sample.
        concurrency: model calls in flight at one time, over all problems.
        judge_workers: programs judged at one time; None means one per core.
        time_limit: CPU seconds per test.
        memory_limit: bytes per test, 0 for no limit; None takes `LCB_FUNCTIONAL_MEMORY_BYTES`, else 4 GiB.
        tests: `hidden`, or `all` for the public ones too.
        stop_on_failure: leave out the tests of a program after its first failed one.
        resume: take up what the folder holds; False refuses a folder with records.
        overwrite: throw away what the folder holds.
        retry_errors: when resuming, run agent_error instances again, as infra_error ones always are.
        progress: True for a bar on standard error; a function gets each event and may return "stop".
        max_infra_rate: share of infra_error instances above which the run's table says that it is no score.
        judge_cache: whether programs of a problem that are equal to the letter are judged once in this call.
            A folder keeps verdicts for later calls and other teams as well. Taken over is only what hangs on
            nothing but program and tests: no verdict of a clock, of memory or of a defective test, none of a
            test that took half of its time, none of a program that names chance or time; on disk, none of
            another judge, interpreter, set of packages, confinement or machine.
        engine: `dask`, a `distributed.Client` or a scheduler's address: let the workers of that cluster roll
            out and judge, with the same records. They build the team from names, so its model must be made by
            name (`get_model`), and take keys from their own environment. The folder is written here.

    Returns:
        The run of these problems and samples; a part of them if a callback said "stop", or if nothing but
        infrastructure errors came from the first instances (`config["gave_up"]` then says so). The folder
        keeps what it holds of others.

    Raises:
        NothingToDoError: no problems.
        BadValueError: an argument outside of its range.
        RunFolderError: a folder of another configuration, in use, or not writable.
        EngineError: a cluster that cannot be used.
        ModelError: a model that a cluster's workers could not make themselves.
        KeyboardInterrupt: on Ctrl-C; finished instances and the summary are saved.
    """
    return run_sync(
        lambda: aevaluate(
            team,
            problems,
            out_dir=out_dir,
            out=out,
            samples=samples,
            seed=seed,
            concurrency=concurrency,
            judge_workers=judge_workers,
            time_limit=time_limit,
            memory_limit=memory_limit,
            tests=tests,
            stop_on_failure=stop_on_failure,
            resume=resume,
            overwrite=overwrite,
            retry_errors=retry_errors,
            progress=progress,
            max_infra_rate=max_infra_rate,
            judge_cache=judge_cache,
            engine=engine,
        )
    )


async def aevaluate(
    team: Team,
    problems: Sequence[Problem],
    *,
    out_dir: str | Path | None = None,
    out: str | Path | None = None,
    samples: int = 1,
    seed: int = 0,
    concurrency: int = 4,
    judge_workers: int | None = None,
    time_limit: float = 6.0,
    memory_limit: int | None = None,
    tests: Literal["hidden", "all"] = "hidden",
    stop_on_failure: bool = False,
    resume: bool = True,
    overwrite: bool = False,
    retry_errors: bool = False,
    progress: Progress = True,
    max_infra_rate: float = 0.1,
    judge_cache: bool | str | Path = True,
    engine: Any = None,
) -> Run:
    """`evaluate` for code that runs in an event loop; a cancel saves what is finished."""
    check_batch(
        team,
        problems,
        tests=tests,
        time_limit=time_limit,
        max_infra_rate=max_infra_rate,
        seed=seed,
        samples=samples,
        concurrency=concurrency,
        judge_workers=judge_workers,
    )
    check_judges(engine, judge_workers, judge_cache)
    cache = JudgeCache.opened(judge_cache)
    if engine is not None:
        _check_by_name(team)
    limits = {
        "time_limit": time_limit,
        "memory_limit": memory_bytes(memory_limit),
        "tests": tests,
        "stop_on_failure": stop_on_failure,
    }
    config = describe_run(team.describe(), problems, seed=seed, judging=limits)
    config |= {"samples": samples, "max_infra_rate": max_infra_rate}
    if engine is None and os.environ.get("LCB_SANDBOX"):  # a confinement that was asked for may not be there
        config["sandbox"] = await asyncio.to_thread(confinement)
    wanted = {(problem.id, sample): problem for sample in range(samples) for problem in problems}
    files = run_files(config["settings"], out_dir, out)
    with (
        RunFolder.open(files, config, resume=resume, overwrite=overwrite) as folder,
        listening(progress, run_bar) as tell,
    ):
        task = Task(
            team=team, wanted=wanted, settings=config["settings"], folder=folder, concurrency=concurrency
        )
        async with _hands(task, engine, judge_workers) as hands:
            batch = Batch(
                programs=hands.programs,
                judging=limits,
                wanted=wanted,
                folder=folder,
                tell=tell,
                # A few more rollouts than model calls: some are always busy with a tool or a hand-off.
                slots=concurrency + max(2, concurrency // 2),
                pool=hands.judges.pool,
                redo=REDO | {Status.AGENT_ERROR} if retry_errors else REDO,
                judge_cache=cache,
                elsewhere=hands.judges.elsewhere,
            )
            config |= hands.judges.facts
            # It takes a worker's start to tell what confines programs; the model need not wait for that.
            noting = asyncio.ensure_future(hands.judges.confinement())
            try:
                async with waking():
                    await batch.run()
                    config["sandbox"] = await noting
            finally:
                noting.cancel()
                config |= {"ended": now(), "verdicts": batch.verdicts}
                if batch.gave_up:
                    config["gave_up"] = batch.gave_up
                folder.close_run(config)
        run = Run(batch.finished(), config, files)
        tell(RunFinished(summary=run.summary(), stopped=batch.stopped))
        return run


def _hands(task: Task, engine: Any, judge_workers: int | None) -> AbstractAsyncContextManager[Hands]:
    if engine is None:
        return hands_here(task, judge_workers)
    from lcbkit.runs.remote import hands_on_cluster

    return hands_on_cluster(task, engine)


def _check_by_name(team: Team) -> None:
    """Refuse a team that workers could not build, before a folder is made or a worker is asked."""
    from lcbkit.runs.remote import TeamSpecification

    TeamSpecification.of(team)
