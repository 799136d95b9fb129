"""A job's folder: sealed files that nobody can change unnoticed, and who may go on in it."""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lcbkit.errors import LcbkitError
from lcbkit.optimizers.canonical import digest
from lcbkit.runs.folder import differences
from lcbkit.storage import read_json, write_json

__all__ = ["JobError", "JobFolder", "JobStopped", "UnknownFileError", "read_sealed", "write_sealed"]

_SEAL = "sha256"
_VERSION = 1
_ELSEWHERE = "name a new folder (--out)"


class JobError(LcbkitError):
    """A job that cannot go on: another job's folder, a changed file, an interrupted search, a bug."""


class UnknownFileError(JobError):
    """A file that is no sealed one of the kind and version that is read."""


class JobStopped(LcbkitError):  # noqa: N818 - asked for, not a mistake
    """A callback said stop; validation and test can be taken up again."""

    exit_code = 130


def write_sealed(path: Path, kind: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Write a value as JSON with the hash of what it says, whole or not at all.

    Returns:
        What was written, `schema` and seal included.
    """
    value = {"schema": f"lcbkit/{kind}/{_VERSION}", **payload}
    sealed = {**value, _SEAL: digest(value)}
    write_json(path, sealed)
    return sealed


def read_sealed(path: Path, kind: str) -> dict[str, Any]:
    """Read a sealed file.

    Raises:
        UnknownFileError: when it is not one of that kind.
        JobError: when it was changed after it was sealed.
    """
    try:
        value = read_json(path)
    except LcbkitError as error:
        raise UnknownFileError(str(error)) from error
    if not isinstance(value, dict) or value.get("schema") != f"lcbkit/{kind}/{_VERSION}":
        raise UnknownFileError(f"{path} is no sealed {kind} of this version; {_ELSEWHERE}")
    if digest({name: part for name, part in value.items() if name != _SEAL}) != value.get(_SEAL):
        raise JobError(f"{path} was changed after it was sealed; restore it, or {_ELSEWHERE}")
    return value


class JobFolder:
    """Where the parts of a job lie."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def optimization(self) -> Path:
        """The folder of the search."""
        return self.path / "optimization"

    @property
    def evaluations(self) -> Path:
        """The folder of uncharged evaluations, unless another is named."""
        return self.path / "evaluations"

    @property
    def searched(self) -> bool:
        """Whether rollouts of a search were begun here."""
        return any((self.optimization / f"{name}.jsonl").exists() for name in ("attempts", "records"))

    @contextmanager
    def opened(self, identity: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Hold the folder for one job; yields the sealed job.

        Raises:
            JobError: another process works there, it is another job's, or it cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path / "job.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise JobError(f"cannot write to {self.path}: {error.strerror}; {_ELSEWHERE}") from error
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise JobError(
                    f"another process works in {self.path}; wait for it, or {_ELSEWHERE}"
                ) from None
            yield self._job(identity)
        finally:
            os.close(handle)

    def read(self, kind: str) -> dict[str, Any] | None:
        """The sealed file of a phase, None if it is not there yet.

        Raises:
            JobError: when it was changed.
        """
        path = self.file(kind)
        return read_sealed(path, kind) if path.exists() else None

    def write(self, kind: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Seal the file of a phase."""
        return write_sealed(self.file(kind), kind, payload)

    def file(self, kind: str) -> Path:
        """The path of `job`, `optimization`, `selection`, `test` or `result`."""
        return self.path / f"{kind}.json"

    def _job(self, identity: Mapping[str, Any]) -> dict[str, Any]:
        job = self.read("job")
        if job is None:
            if any(self.file(kind).exists() for kind in ("optimization", "selection", "test", "result")):
                raise JobError(f"{self.path} holds parts of a job without its job.json; {_ELSEWHERE}")
            return self.write("job", identity)
        there = {name: value for name, value in job.items() if name not in ("schema", _SEAL)}
        if found := differences(there, dict(identity)):
            raise JobError(f"{self.path} belongs to another job ({'; '.join(found[:5])}); {_ELSEWHERE}")
        return job
