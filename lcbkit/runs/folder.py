"""A run's files: where they lie, and writing them so that a crash loses only what was in flight."""

import errno
import fcntl
import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from lcbkit.errors import LcbkitError, RunFolderError
from lcbkit.records import Record
from lcbkit.scoring.scores import summarize
from lcbkit.storage import append_jsonl, clear_partial, mend_jsonl, read_json, read_jsonl, write_json

__all__ = ["RunFiles", "RunFolder", "differences", "in_order", "read_config", "read_records"]

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, slots=True)
class RunFiles:
    """Where the parts of a run lie.

    A predictions file of the usual name has plain names beside it; any other lends them its own, so that
    several runs fit into one folder.

    Attributes:
        predictions: the file of the records.
    """

    predictions: Path

    @classmethod
    def at(cls, path: Path) -> Self:
        """The files of a run folder, or of a predictions file."""
        return cls(path if path.suffix == ".jsonl" and not path.is_dir() else path / "predictions.jsonl")

    @property
    def run(self) -> Path:
        """The configuration."""
        return self._beside("run.json")

    @property
    def summary(self) -> Path:
        """The scores."""
        return self._beside("summary.json")

    @property
    def trajectories(self) -> Path:
        """The folder with the full texts."""
        return self._beside("trajectories")

    def trajectory(self, problem_id: str, sample: int) -> Path:
        """The full texts of one instance; an id becomes a safe file name."""
        return self.trajectories / f"{quote(problem_id, safe=' ')}-{sample}.json"

    def _beside(self, name: str) -> Path:
        stem = self.predictions.stem
        return self.predictions.with_name(name if stem == "predictions" else f"{stem}.{name}")

    def __str__(self) -> str:
        usual = self.predictions.name == "predictions.jsonl"
        return str(self.predictions.parent if usual else self.predictions)


def read_records(predictions: Path) -> list[Record]:
    """The records of a predictions file in the order of writing, a torn last line left out.

    Raises:
        RunFolderError: names the file and what it holds that is no record.
        OSError: when the file cannot be read.
    """
    try:
        with _no_garbage_collection():
            return [Record.from_row(row) for row in read_jsonl(predictions, torn_ok=True)]
    except RunFolderError as error:
        raise RunFolderError(f"{predictions} is not a file of records: {error}") from error
    except LcbkitError as error:
        raise RunFolderError(str(error)) from error


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Plain values hold no cycles, and looking for some among millions of them takes a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def read_config(files: RunFiles) -> dict[str, Any]:
    """What `run.json` says; empty where there is none.

    Raises:
        RunFolderError: when it does not tell how a run was made.
        OSError: when it cannot be read.
    """
    if not files.run.exists():
        return {}
    try:
        config = read_json(files.run)
    except LcbkitError as error:
        raise RunFolderError(str(error)) from error
    if wrong := _misshapen(config):
        raise RunFolderError(f"{files.run} does not tell how a run was made ({wrong}); restore or remove it")
    return dict(config)


def _misshapen(config: Any) -> str | None:
    """Which part is not of its kind; parts may be missing."""
    if not isinstance(config, Mapping):
        return "it is no JSON object"
    kinds: dict[str, Any] = {
        "settings": Mapping,
        "settings.team": Mapping,
        "settings.judging": Mapping,
        "dataset": Mapping,
    }
    kinds |= {"dataset.ids": list, "dataset.source": str, "max_infra_rate": int | float, "gave_up": str}
    for name, kind in kinds.items():
        above, _, last = name.rpartition(".")
        part = config.get(above, {}) if above else config
        if last in part and not isinstance(part[last], kind):
            return f"its {name} is {part[last]!r:.60}"
    ids = config.get("dataset", {}).get("ids", [])
    return None if all(isinstance(name, str) for name in ids) else "its dataset.ids are no ids"


def in_order(records: Sequence[Record], config: Mapping[str, Any]) -> list[Record]:
    """The records by sample and the dataset's order of problems, as far as the configuration tells it."""
    place = {problem_id: i for i, problem_id in enumerate(config.get("dataset", {}).get("ids", ()))}
    if not place:
        return list(records)
    return sorted(records, key=lambda record: (record.sample, place.get(record.problem_id, len(place))))


class RunFolder:
    """A run's files, open for writing by one process at a time.

    The lock on the predictions file is the operating system's: it ends with its process, however that ends.

    Attributes:
        files: where they lie.
        latest: what is finished, by (id, sample); grows with `append`.
    """

    def __init__(self, files: RunFiles, latest: dict[tuple[str, int], Record]) -> None:
        self.files = files
        self.latest = latest

    @classmethod
    @contextmanager
    def open(
        cls, files: RunFiles, config: dict[str, Any], *, resume: bool, overwrite: bool
    ) -> Iterator["RunFolder"]:
        """Lock the files, check that what they hold goes with this configuration, and write it down.

        Args:
            files: where.
            config: for `run.json`; its `settings` must equal those of a run that is taken up.
            resume: whether finished instances may be there already.
            overwrite: throw away what is there.

        Raises:
            RunFolderError: another process writes there, it is of another configuration, or not writable.

        When work ends in an error of ours before anything was kept, what was made here is taken away again.
        """
        with cls._writable(files):
            if files.predictions.exists() and not files.predictions.is_file():
                raise OSError(errno.EINVAL, "it is no regular file")  # a device would be read without end
            made = [path for path in (files.predictions, files.predictions.parent) if not path.exists()]
            files.predictions.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(files.predictions, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            _lock(handle, files)
            with cls._writable(files):
                if not files.predictions.stat().st_size:
                    _spare(files)
                records = _recovered(files)  # even to overwrite: never empty a file that is no run
                if overwrite and (records or files.run.exists()):
                    _empty(handle, files)
                    records = []
                elif records:
                    _check(files, config, records, resume)
                write_json(files.run, config)
                files.trajectories.mkdir(exist_ok=True)
            folder = cls(files, {record.key: record for record in records})
            try:
                yield folder
            except LcbkitError:
                if files.predictions in made and not folder.latest:
                    _withdraw(files, made)
                raise
        finally:
            os.close(handle)

    def append(self, record: Record) -> None:
        """Put a finished instance on disk.

        Raises:
            RunFolderError: when it cannot be written.
        """
        with self._writable(self.files):
            append_jsonl(self.files.predictions, [record.to_row()])
        self.latest[record.key] = record

    def write_trajectory(self, key: tuple[str, int], texts: Mapping[str, Any]) -> None:
        """Put the full texts of an instance on disk.

        Raises:
            RunFolderError: when they cannot be written.
        """
        with self._writable(self.files):
            write_json(self.files.trajectory(*key), texts)

    def write_report(self, key: tuple[str, int], report: Mapping[str, Any]) -> None:
        """Put what the judge found for an instance beside its texts.

        Raises:
            RunFolderError: when it cannot be written.
        """
        with self._writable(self.files):
            path = self.files.trajectory(*key)
            texts = read_json(path) if path.exists() else {"id": key[0], "sample": key[1]}
            write_json(path, {**texts, "report": report})

    def close_run(self, config: Mapping[str, Any]) -> None:
        """Write the scores of everything in the folder, and the configuration with its end.

        Raises:
            RunFolderError: when they cannot be written.
        """
        with self._writable(self.files):
            write_json(self.files.summary, summarize(list(self.latest.values())).to_dict())
            write_json(self.files.run, config)

    @staticmethod
    @contextmanager
    def _writable(files: RunFiles) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RunFolderError(
                f"cannot write the run to {files}: {error.strerror or error}; {_advice(error)}, or name "
                "another place (--out-dir, out_dir=)"
            ) from error


def _advice(error: OSError) -> str:
    if error.errno in _FULL:
        return "free space there and run the same again, which goes on from what is finished"
    return "make it writable"


def _lock(handle: int, files: RunFiles) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            raise RunFolderError(
                f"another process is writing the run in {files}; wait for it, or name another "
                "place (--out-dir, out_dir=)"
            ) from None
        # Some network file systems know no locks; a run there goes on without one.


def _recovered(files: RunFiles) -> list[Record]:
    """The records that are there, after the traces of a crash are cleared away."""
    ours = files.run.exists()
    if ours:
        mend_jsonl(files.predictions, all_of_it=True)
        for name in (files.run.name, files.summary.name):
            clear_partial(files.predictions.parent, escape(name))
        clear_partial(files.trajectories, "*.json")
    records = read_records(files.predictions)
    if not records and not ours and files.predictions.stat().st_size:
        raise RunFolderError(f"{files.predictions} is not a file of records; name another place (--out)")
    return records


def _empty(handle: int, files: RunFiles) -> None:
    os.ftruncate(handle, 0)
    files.summary.unlink(missing_ok=True)
    for path in files.trajectories.glob("*.json"):
        path.unlink()


def _withdraw(files: RunFiles, made: Sequence[Path]) -> None:
    """Remove a run that holds nothing, and a folder that was made for it; texts of begun work keep both."""
    with suppress(OSError):
        files.trajectories.rmdir()
        for path in (files.summary, files.run, files.predictions):
            path.unlink(missing_ok=True)
        if files.predictions.parent in made:
            files.predictions.parent.rmdir()


def _spare(files: RunFiles) -> None:
    """Refuse to write over what a run of ours did not leave there."""
    for path, own in ((files.run, "settings"), (files.summary, "overall")):
        if not path.exists():
            continue
        try:
            found = read_json(path)
        except LcbkitError:
            found = None
        if not isinstance(found, Mapping) or own not in found:
            raise RunFolderError(
                f"{path} is there already and is no part of a run; it is left as it is: name another place "
                "(--out-dir, out_dir=)"
            )


def _check(files: RunFiles, config: dict[str, Any], records: Sequence[Record], resume: bool) -> None:
    anew = "name another place (--out-dir, out_dir=), or start anew there (--overwrite, overwrite=True)"
    if not resume:
        raise RunFolderError(
            f"{files} holds {len(records)} records already; take them up (resume=True), {anew}"
        )
    old = read_config(files)
    if not old:
        raise RunFolderError(
            f"{files} holds {len(records)} records, but no {files.run.name} says how they were made; {anew}"
        )
    if found := differences(old.get("settings", {}), config["settings"]):
        raise RunFolderError(f"{files} holds a run of another configuration ({'; '.join(found)}); {anew}")
    config["started"] = old.get("started", config["started"])
    known = dict.fromkeys([*config["dataset"]["ids"], *old.get("dataset", {}).get("ids", ())])
    config["dataset"]["ids"] = list(known)


def differences(old: Any, new: Any, name: str = "") -> list[str]:
    """Where two settings differ, a phrase for each: its dotted name, the old and the new value."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        names = dict.fromkeys([*old, *new])
        return [
            phrase
            for key in names
            for phrase in differences(old.get(key), new.get(key), f"{name}.{key}" if name else key)
        ]
    return [] if old == new else [f"{name}: {_short(old)} there, {_short(new)} here"]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
