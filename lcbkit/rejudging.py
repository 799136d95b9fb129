"""Judging the programs of a run again: with other limits or tests, or after the judge was mended."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Literal

from lcbkit.dataset import load_problems
from lcbkit.display.bar import listening
from lcbkit.display.text import columns
from lcbkit.errors import BadValueError, LcbkitError, RunFolderError
from lcbkit.extract import has_statement
from lcbkit.judging.pool import memory_bytes
from lcbkit.problems import ProblemSet
from lcbkit.records import Record, Status
from lcbkit.results import Run, load_run
from lcbkit.runs.batch import Batch, Key
from lcbkit.runs.config import describe_run, now, plain_name
from lcbkit.runs.folder import RunFiles, RunFolder, read_config
from lcbkit.runs.instances import new_record
from lcbkit.runs.judge_cache import JudgeCache
from lcbkit.runs.judges import Judges, check_judges, judges_of_engine
from lcbkit.runs.progress import Progress, RunFinished, run_bar
from lcbkit.waiting import run_sync, waking

__all__ = ["Moved", "Rejudged", "rejudge"]

_JUDGED = frozenset({Status.OK, Status.JUDGE_ERROR, Status.BAD_TEST})
_FACTS = ("title", "difficulty", "platform", "mode", "contest_date", "erratum")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A verdict that is another now, both in a word: `passed`, the first failure's kind, or the status."""

    problem_id: str
    sample: int
    before: str
    now: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejudged:
    """What judging a run again has changed.

    Attributes:
        run: the new run.
        before: the records as they were, of the same instances.
        judged: programs that were judged again; the other records were copied.
        left_out: records whose problem the source does not hold; they are in the old run alone.
        moved: verdicts that changed.
    """

    run: Run
    before: Run
    judged: int
    left_out: int
    moved: tuple[Moved, ...]

    def __str__(self) -> str:
        copied = len(self.run.records) - self.judged
        taken = self.run.config.get("verdicts", {}).get("taken_over", 0)
        lines = [
            f"{self.judged} programs judged again, {copied} records without one copied"
            + f", {self.left_out} left out (their problems are not in this source)" * bool(self.left_out),
            *([f"{taken} of these verdicts were there already, for an equal program"] if taken else []),
            f"{len(self.moved)} verdicts moved" + ":" * bool(self.moved),
        ]
        if self.moved:
            rows = [(move.problem_id, str(move.sample), move.before, move.now) for move in self.moved]
            lines.append(columns(("id", "sample", "before", "now"), rows))
        scores = [str(run.summary().overall) for run in (self.before, self.run)]
        return "\n".join([*lines, f"pass@1 before: {scores[0]}", f"pass@1 now:    {scores[1]}"])


def rejudge(
    run: Run | str | Path,
    problems: ProblemSet | None = None,
    *,
    out_dir: str | Path | None = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    tests: Literal["hidden", "all"] | None = None,
    stop_on_failure: bool | None = None,
    judge_workers: int | None = None,
    judge_cache: bool | str | Path = True,
    progress: Progress = True,
    engine: Any = None,
) -> Rejudged:
    """Judge the stored programs of a run again, into a run folder of its own; the run itself stays as it is.

    Records without a program are copied. When the call is interrupted, the same call goes on.

    Args:
        run: a run, or what `load_run` opens.
        problems: what to judge against; None loads those that the run names as its source.
        out_dir: the new run's folder; None takes the old one's name with `-rejudged`, and a number where that
            is taken.
        time_limit: CPU seconds per test; None judges as the run was judged, here as below.
        memory_limit: bytes per test, 0 for no limit.
        tests: `hidden`, or `all` for the public ones too.
        stop_on_failure: leave out the tests of a program after its first failed one.
        judge_workers: programs judged at one time; None means one per core.
        judge_cache: as in `evaluate`. Without a folder every verdict is of this call, none of the old run.
        progress: True for a bar on standard error; a function gets each event and may return "stop".
        engine: as in `evaluate`: the workers of a Dask cluster judge. The folder is written here.

    Raises:
        BadValueError: the run names no source, the problems are not those of the run, or an argument does not
            go with an engine.
        EngineError: a cluster that cannot be used.
        RunFolderError: the folder holds another or a finished run, or cannot be written.
        KeyboardInterrupt: on Ctrl-C; what is judged is saved.
    """
    check_judges(engine, judge_workers, judge_cache)
    old = run if isinstance(run, Run) else load_run(run)
    known = problems if problems is not None else _problems_of(old)
    ids = set(known.ids)
    kept = {record.key: record for record in old.records if record.problem_id in ids}
    if not kept:
        raise BadValueError(
            f"none of the {len(old.records)} records of {old.label} is of a problem in {known.source}; name "
            "the problems that the run was made on (--source)"
        )
    given: dict[str, Any] = {"time_limit": time_limit, "tests": tests, "stop_on_failure": stop_on_failure}
    if memory_limit is not None:
        given["memory_limit"] = memory_bytes(memory_limit)
    config = _configured(
        old, kept, known, {name: value for name, value in given.items() if value is not None}
    )
    files = RunFiles.at(Path(out_dir).expanduser() if out_dir else _free_folder(old, config, len(kept)))
    _check_open(files, old, len(kept))
    programs = _Stored(kept, old, known, config["settings"])
    cache = JudgeCache.opened(judge_cache)
    new = run_sync(
        lambda: _judge_again(
            programs,
            files,
            config,
            judges=judges_of_engine(engine, judge_workers),
            cache=cache,
            progress=progress,
        )
    )
    return Rejudged(
        run=new,
        before=Run([kept[record.key] for record in new.records], old.config, old.files),
        judged=sum(_has_program(kept[record.key]) for record in new.records),
        left_out=len(old.records) - len(kept),
        moved=tuple(_moved(kept, new.records)),
    )


def _check_open(files: RunFiles, old: Run, wanted: int) -> None:
    """Refuse a folder in which nothing would be judged, since it holds all records already."""
    if old.files and files.predictions.resolve() == old.files.predictions.resolve():
        raise RunFolderError(f"{files} is the run itself; name another folder (--out-dir, out_dir=)")
    if files.predictions.exists() and len(load_run(files.predictions).records) >= wanted:
        raise RunFolderError(
            f"{files} holds a finished run already, so nothing would be judged; name another folder "
            "(--out-dir, out_dir=)"
        )


def _problems_of(run: Run) -> ProblemSet:
    source = run.config.get("dataset", {}).get("source")
    if source is None:
        raise BadValueError(f"{run.label} does not say where its problems come from; name them (--source)")
    ids = list(dict.fromkeys(record.problem_id for record in run.records))
    try:
        return load_problems(source, only=ids)
    except LcbkitError as error:
        raise BadValueError(
            f"{error} (the run names {source} as the source of its problems; name another with --source, or "
            "give them)"
        ) from error


def _configured(
    old: Run, kept: Mapping[Key, Record], known: ProblemSet, judged_by: Mapping[str, Any]
) -> dict[str, Any]:
    """`run.json` of the new run: the old one's settings, but for how programs are judged."""
    settings, first = old.config.get("settings", {}), next(iter(kept.values()))
    judging = {"time_limit": 6.0, "memory_limit": memory_bytes(None), "tests": "hidden"}
    judging |= {"stop_on_failure": False} | settings.get("judging", {}) | dict(judged_by)
    team = {"topology": first.topology, "team_size": first.size, "message_format": first.format}
    team |= {"model": first.model, "label": old.label}
    problems = known.filter(only=[name for name, _ in kept])
    config = describe_run(
        settings.get("team", team), problems, seed=settings.get("seed", first.seed or 0), judging=judging
    )
    return config | {
        "samples": 1 + max(sample for _, sample in kept),
        "label": old.label,
        "rejudged_from": str(old.files or old.label),
    }


def _free_folder(old: Run, config: Mapping[str, Any], wanted: int) -> Path:
    """A name that is free, or taken by this very call when it was interrupted before."""
    place = Path(str(old.files)) if old.files else Path("runs", plain_name(old.label))
    stem = place.name.removesuffix(".jsonl")
    for number in count(1):
        folder = place.with_name(f"{stem}-rejudged" + f"-{number}" * (number > 1))
        files = RunFiles.at(folder)
        if not folder.exists() or not files.predictions.exists():
            return folder
        same = read_config(files).get("settings") == config["settings"]
        if same and len(load_run(folder).records) < wanted:
            return folder
    raise AssertionError("numbers do not end")


@dataclass(frozen=True)
class _Stored:
    """Programs as the records hold them."""

    records: Mapping[Key, Record]
    run: Run
    problems: ProblemSet
    settings: Mapping[str, Any]
    folder: RunFolder | None = None

    async def __call__(self, key: Key) -> Record:
        """The record before its verdict; one without a program as it is, but for facts that it lacked."""
        record, problem = self.records[key], self.problems[key[0]]
        await asyncio.to_thread(self._copy_texts, key)
        facts = new_record(problem, key[1], self.settings)
        missing = {name: getattr(facts, name) for name in _FACTS if getattr(record, name) is None}
        record = replace(record, **missing)
        if not _has_program(record):
            return record
        if not has_statement(record.code or ""):
            return replace(record, status=Status.NO_CODE, passed=False, total=facts.total, error=None)
        error = None if record.status is Status.JUDGE_ERROR else record.error
        return replace(record, status=Status.OK, error=error)

    def _copy_texts(self, key: Key) -> None:
        if self.folder is not None and (texts := self.run.trajectory(*key)):
            texts.pop("report", None)
            self.folder.write_trajectory(key, texts)


def _has_program(record: Record) -> bool:
    return record.code is not None and record.status in _JUDGED


async def _judge_again(
    programs: _Stored,
    files: RunFiles,
    config: dict[str, Any],
    *,
    judges: AbstractAsyncContextManager[Judges],
    cache: bool | JudgeCache,
    progress: Progress,
) -> Run:
    async with judges as at_work:
        config |= {**at_work.facts, "sandbox": await at_work.confinement()}
        with (
            RunFolder.open(files, config, resume=True, overwrite=False) as folder,
            listening(progress, run_bar) as tell,
        ):
            batch = Batch(
                programs=replace(programs, folder=folder),
                judging=config["settings"]["judging"],
                wanted={key: programs.problems[key[0]] for key in programs.records},
                folder=folder,
                tell=tell,
                slots=2 * at_work.pool.workers,
                pool=at_work.pool,
                redo=frozenset({Status.JUDGE_ERROR}),
                gives_up=False,
                judge_cache=cache,
                elsewhere=at_work.elsewhere,
            )
            try:
                async with waking():
                    await batch.run()
            finally:
                config |= {"ended": now(), "verdicts": batch.verdicts}
                folder.close_run(config)
            run = Run(batch.finished(), config, files)
            tell(RunFinished(summary=run.summary(), stopped=batch.stopped))
            return run


def _moved(before: Mapping[Key, Record], after: Sequence[Record]) -> Iterator[Moved]:
    for record in after:
        was, is_now = _verdict(before[record.key]), _verdict(record)
        if was != is_now:
            yield Moved(problem_id=record.problem_id, sample=record.sample, before=was, now=is_now)


def _verdict(record: Record) -> str:
    if record.status is not Status.OK:
        return str(record.status)
    return "passed" if record.passed else str((record.first_failure or {}).get("kind", "failed"))
