"""Verdicts on disk, for programs that were judged before against the same tests in the same circumstances."""

import hashlib
import json
import logging
import platform
import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import lcbkit.judging
from lcbkit.errors import BadValueError, LcbkitError
from lcbkit.judging.report import Report
from lcbkit.problems import TestCase
from lcbkit.runs.config import confinement
from lcbkit.storage import write_atomic

__all__ = ["Finding", "JudgeCache"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What the judge found for a program.

    Attributes:
        report: its report, texts cut as they are kept.
        seconds: how long it took to judge.
    """

    report: Report
    seconds: float


class JudgeCache:
    """A folder of findings, a file for each; several processes may use it, and it may be deleted at any time.

    A finding is found again only for the same program, tests (to the letter, in their order), function and
    limits, with the same code of the judge, interpreter, installed packages, confinement and kind of machine.

    Args:
        folder: where; it is made if need be.

    Raises:
        BadValueError: it cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._digests: dict[str, str] = {}
        try:
            if not (readme := folder / "README.txt").exists():
                write_atomic(readme, _README)
            with TemporaryFile(dir=folder):
                pass  # files can be made there
        except OSError as error:
            raise BadValueError(
                f"the judge cache cannot be written to {folder}: {error.strerror or error}; name another "
                "folder, or leave it out"
            ) from error

    @classmethod
    def opened(cls, choice: bool | str | Path) -> "bool | JudgeCache":
        """A cache in the folder that was named; True and False stay what they are.

        Raises:
            BadValueError: it is neither, or a folder that cannot be written.
        """
        if isinstance(choice, bool):
            return choice
        if not choice or not isinstance(choice, str | Path):
            raise BadValueError(f"judge_cache is {choice!r}; it is True, False or a folder for verdicts")
        return cls(Path(choice).expanduser())

    def key(
        self,
        code: str,
        problem_id: str,
        function: str | None,
        cases: Sequence[TestCase],
        limits: Mapping[str, Any],
    ) -> str:
        """What a finding is kept under.

        Args:
            code: the program.
            problem_id: whose tests these are; one problem's tests must not change while this object lives.
            function: what functional tests call.
            cases: the tests.
            limits: how it is judged, as plain JSON values.
        """
        if problem_id not in self._digests:
            self._digests[problem_id] = _digest(json.dumps(asdict(case)) for case in cases)
        what = [code, problem_id, function, self._digests[problem_id], dict(limits), _circumstances()]
        return _digest([json.dumps(what, sort_keys=True)])

    def get(self, key: str) -> Finding | None:
        """The finding under a key, or None; a damaged file counts as none."""
        try:
            value = json.loads(zlib.decompress(self._path(key).read_bytes()))
            report = Report.from_dict(value["report"])
            if len(report.results) < report.total and not _ends_early(report):
                raise ValueError(f"it holds {len(report.results)} of {report.total} tests")
            return Finding(report=report, seconds=float(value["seconds"]))
        except FileNotFoundError:
            return None
        except (OSError, zlib.error, ValueError, TypeError, KeyError) as error:
            _log.warning("%s cannot be read (%s), so that program is judged again", self._path(key), error)
            return None

    def put(self, key: str, finding: Finding) -> None:
        """Keep a finding.

        Raises:
            LcbkitError: it cannot be written.
        """
        text = json.dumps({"seconds": finding.seconds, "report": finding.report.to_dict()})
        try:
            write_atomic(self._path(key), zlib.compress(text.encode()))
        except OSError as error:
            raise LcbkitError(
                f"the judge cache cannot be written to {self.folder}: {error.strerror or error}; free space "
                "there, or leave it out; the same call again goes on"
            ) from error

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json.z"


def _ends_early(report: Report) -> bool:
    """Whether tests are left out because one failed."""
    return bool(report.results) and not report.results[-1].passed


_README = """\
Verdicts of lcbkit's judge, kept by program, tests, limits and circumstances. This folder may be deleted at
any time: programs are then judged again.
"""


def _digest(parts: Iterable[str]) -> str:
    sha = hashlib.sha256()
    for part in parts:
        sha.update(part.encode() + b"\n")
    return sha.hexdigest()


@cache
def _circumstances() -> str:
    """What else a verdict may hang on, as a digest: judge, interpreter, packages, confinement, machine."""
    (folder,) = lcbkit.judging.__path__
    sources = [path.read_text(encoding="utf-8") for path in sorted(Path(folder).glob("*.py"))]
    packages = sorted({f"{found.name} {found.version}" for found in distributions()})
    return _digest([sys.version, platform.machine(), confinement()["tier"], *sources, *packages])
