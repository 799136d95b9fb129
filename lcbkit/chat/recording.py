"""A file of recorded model answers.

JSON lines. The first is the header: model, sampling values, date, and whether the team that asked could call
`python_exec`. Each further line holds one answer under the digest of its request. Files of one model and the
same sampling values may be read as one, also when they were pasted together.
"""

import contextlib
import datetime
import json
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lcbkit.errors import LcbkitError, RecordingError
from lcbkit.storage import append_jsonl, mend_jsonl, read_jsonl, write_atomic

__all__ = ["Header", "Recording"]

_FORMAT = 1
_MARK = "lcbkit_recording"


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a recording says of all its answers.

    Attributes:
        model: the name of the model that answered.
        sampling: the values sent with each request.
        date: when the recording was begun, YYYY-MM-DD.
        python_exec: whether the team could call `python_exec`; None when that was not noted.
    """

    model: str
    sampling: Mapping[str, Any]
    date: str = ""
    python_exec: bool | None = None

    def line(self) -> dict[str, Any]:
        """The header as it stands in the file."""
        return {
            _MARK: _FORMAT,
            "model": self.model,
            "sampling": dict(self.sampling),
            "date": self.date,
            "python_exec": self.python_exec,
        }

    def __str__(self) -> str:
        values = ", ".join(f"{name} {value}" for name, value in self.sampling.items())
        tool = (
            "" if self.python_exec is None else f", {'with' if self.python_exec else 'without'} python_exec"
        )
        return f"{self.model} ({values or 'default sampling'}{tool})"


class Recording:
    """Answers by the digest of their request; safe to use from several threads.

    Of two answers to one request the first one counts, so that adding never breaks what replays.
    """

    def __init__(self, header: Header | None = None, *, path: Path | None = None, name: str = "") -> None:
        self.path = path
        self.name = name or str(path)
        self.parts: tuple[str, ...] = ()  # names of the files that were read as one, without their endings
        self.used: set[str] = set()  # the requests that were asked for, or added, through this object
        self._header = header
        self._answers: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()

    @classmethod
    def read(cls, paths: Sequence[Path], *, name: str = "") -> "Recording":
        """Read one or more files as one recording that is not written to.

        Args:
            paths: the files, in the order that decides between two answers to one request.
            name: how messages name the recording.

        Raises:
            RecordingError: when a file is missing, is not a recording, or is of another model or sampling.
        """
        recording = cls(name=name or ", ".join(path.name for path in paths))
        for path in paths:
            recording._load(path)
        recording.parts = tuple(path.stem for path in paths)
        return recording

    @classmethod
    def open(cls, path: Path) -> "Recording":
        """Open a file to add answers to; it is made with the first answer.

        Raises:
            RecordingError: when the file exists and cannot be read, or is not a recording.
        """
        recording = cls(path=path)
        with contextlib.suppress(OSError):  # what cannot be read is told below, what cannot be written later
            mend_jsonl(path)
        if path.exists() and path.stat().st_size:
            recording._load(path)
        return recording

    @property
    def header(self) -> Header:
        """Model, sampling values, date and `python_exec`.

        Raises:
            RecordingError: while the recording has no header yet.
        """
        if self._header is None:
            raise RecordingError(f"the recording {self.name} is empty; record answers into it first")
        return self._header

    @property
    def keys(self) -> tuple[str, ...]:
        """The digests of all requests held, in the order of the file."""
        return tuple(self._answers)

    def __len__(self) -> int:
        return len(self._answers)

    def answer(self, key: str) -> dict[str, Any] | None:
        """The answer to a request, None when the recording does not hold it."""
        self.used.add(key)
        return self._answers.get(key)

    def add(self, key: str, answer: dict[str, Any]) -> dict[str, Any]:
        """Append an answer to the file.

        Returns:
            The answer that counts: this one, or the one that was there first.

        Raises:
            RecordingError: when the file cannot be written.
        """
        with self._lock:
            self.used.add(key)
            if key in self._answers or self.path is None:
                return self._answers.setdefault(key, answer)
            head = [] if self.path.exists() and self.path.stat().st_size else [self.header.line()]
            try:
                append_jsonl(self.path, [*head, {"key": key, "answer": answer}])
            except OSError as error:
                raise RecordingError(
                    f"the recording {self.path} cannot be written ({error.strerror}); choose another file"
                ) from error
            self._answers[key] = answer
            return answer

    def borrow(self, other: "Recording") -> None:
        """Know another recording's answers too; only those that are asked for get into this one's file.

        Raises:
            RecordingError: when the other is of another model or other sampling values.
        """
        self._agreed(other.header, f"the recording {other.name}")
        for key, answer in other._answers.items():
            self._answers.setdefault(key, answer)

    def describe(self, header: Header) -> None:
        """State whose answers will be added.

        Raises:
            RecordingError: when the recording holds answers of another model or other sampling values.
        """
        header = replace(header, date=header.date or datetime.date.today().isoformat())
        self._header = header if self._header is None else self._agreed(header, "the answers to add")

    def note_python_exec(self, held: bool) -> None:
        """Note whether the team that asks can call `python_exec`; a file that says nothing yet is completed.

        Raises:
            RecordingError: when the recording says otherwise.
        """
        noted = self._agreed(replace(self.header, python_exec=held), "the team")
        if noted != self._header:
            self._header = noted
            if self.path is not None and self.path.exists():
                self.write(self.path)

    def write(self, path: Path, *, only: Collection[str] | None = None) -> int:
        """Write the recording whole, atomically.

        Args:
            path: the new file, or this one.
            only: keep the answers to these requests and drop the others, `used` for instance.

        Returns:
            How many answers were dropped.
        """
        with self._lock:
            kept = {key: answer for key, answer in self._answers.items() if only is None or key in only}
            lines = [self.header.line(), *({"key": key, "answer": kept[key]} for key in kept)]
            write_atomic(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
            dropped = len(self._answers) - len(kept)
            if path == self.path:
                self._answers = kept
            return dropped

    def _load(self, path: Path) -> None:
        try:
            for line in read_jsonl(path, torn_ok=True):
                if _MARK in line:
                    header = _parse_header(line, path)
                    self._header = header if self._header is None else self._agreed(header, str(path))
                else:
                    key, answer = _parse_answer(line, path)
                    self._answers.setdefault(key, answer)
        except OSError as error:
            raise RecordingError(
                f"the recording {path} cannot be read ({error.strerror}); check the path after `recorded:`"
            ) from error
        except LcbkitError as error:
            raise RecordingError(str(error)) from error
        if self._header is None:
            raise _not_a_recording(path)

    def _agreed(self, other: Header, whose: str) -> Header:
        """The common header, or an error when the two do not go together."""
        mine = self.header
        tools = {held for held in (mine.python_exec, other.python_exec) if held is not None}
        if (mine.model, mine.sampling) != (other.model, other.sampling) or len(tools) > 1:
            raise RecordingError(
                f"the recording {self.name} is of {mine}, but {whose} of {other}; "
                "use one recording for each: recorded:FILE to replay, record=FILE (--record FILE) to add"
            )
        return replace(mine, python_exec=next(iter(tools), None))


def _parse_header(line: Mapping[str, Any], path: Path) -> Header:
    model, sampling = line.get("model"), line.get("sampling")
    held, date = line.get("python_exec"), line.get("date")
    if line[_MARK] != _FORMAT or not isinstance(model, str) or not isinstance(sampling, dict):
        raise _not_a_recording(path)
    return Header(
        model=model,
        sampling=sampling,
        date=date if isinstance(date, str) else "",
        python_exec=held if isinstance(held, bool) else None,
    )


def _parse_answer(line: Mapping[str, Any], path: Path) -> tuple[str, dict[str, Any]]:
    key, answer = line.get("key"), line.get("answer")
    if not isinstance(key, str) or not isinstance(answer, dict) or not isinstance(answer.get("text"), str):
        raise _not_a_recording(path)
    return key, answer


def _not_a_recording(path: Path) -> RecordingError:
    return RecordingError(
        f"{path} is not a recording of this version of lcbkit; record it again with record=FILE "
        "(--record FILE)"
    )
