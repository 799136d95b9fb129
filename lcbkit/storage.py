"""Cache folders, atomic writes, and JSON lines that survive a torn last line."""

import contextlib
import fcntl
import json
import logging
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lcbkit.errors import LcbkitError

__all__ = [
    "append_jsonl",
    "cache_folder",
    "clear_partial",
    "locked",
    "mend_jsonl",
    "read_json",
    "read_jsonl",
    "shipped_folder",
    "write_atomic",
    "write_json",
]

_log = logging.getLogger(__name__)
_PACKAGE = Path(__file__).parent
_SUFFIX = 8  # signs that `tempfile` puts after a prefix
_BLOCK = 65_536


def _clone_data() -> Path | None:
    """`data_cache/` when the package runs from a clone, else None."""
    root = _PACKAGE.parent
    return (
        root / "data_cache" if (root / "pyproject.toml").exists() and (root / "data_cache").is_dir() else None
    )


def shipped_folder(name: str) -> Path:
    """Where `sample`, `recordings` or `notebooks` lies: beside a clone's package, inside an installed one."""
    clone = _clone_data()
    if clone is None:
        return _PACKAGE / "shipped" / name
    return clone.parent / name if name == "notebooks" else clone / name


def cache_folder(cache_dir: str | os.PathLike[str] | None = None) -> Path:
    """The folder for downloaded problems; it is not created.

    Args:
        cache_dir: wins over the environment variable `LCB_CACHE`, which wins over `data_cache/` of a
            clone, which wins over the user's cache folder.

    Raises:
        LcbkitError: nothing is named and this user has no home folder.
    """
    if cache_dir or (cache_dir := os.environ.get("LCB_CACHE")):
        return Path(cache_dir).expanduser()
    clone = _clone_data()
    if clone is not None and os.access(clone, os.W_OK):
        return clone
    from platformdirs import user_cache_path

    try:
        return user_cache_path("lcbkit")
    except RuntimeError as error:
        raise LcbkitError(f"no folder for downloads: {error}; set LCB_CACHE") from error


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file against other threads and processes; it ends with its holder, however that ends.

    Raises:
        OSError: when the lock file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _log.warning("waiting for another reader that holds %s", path)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def write_atomic(path: Path, data: bytes | str) -> None:
    """Write a file whole or not at all: readers see the old content or the new one, also after a crash.

    Raises:
        OSError: when the folder cannot be written; no partial file stays behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)  # mkstemp makes private files; results are to be shared
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def clear_partial(folder: Path, name: str) -> None:
    """Remove what `write_atomic` was writing when its process was killed; only for who alone writes there.

    Args:
        folder: where.
        name: the files that were to be written, as a pattern.
    """
    for path in folder.glob(f".{name}.{'?' * _SUFFIX}"):
        path.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON, atomically, non-ASCII text as it is."""
    write_atomic(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def read_json(path: Path) -> Any:
    """The value in a JSON file.

    Raises:
        LcbkitError: names a file that is not valid JSON.
        OSError: when it cannot be read.
    """
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError):  # the second: nested too deeply to be ours
        raise LcbkitError(f"{path} is not valid JSON (cut off or damaged); restore or remove it") from None


def append_jsonl(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Append one line per record in a single write, on disk when the call returns.

    A torn last line (a crash in an earlier write) is cut off first, so that it cannot swallow the new one;
    one that lacks only its line end gets it.
    """
    lines = b"".join(_line(record) for record in records)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        _end_last_line(file)
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())


def _line(record: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(record, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # a model wrote half of a surrogate pair: only the escaped form is valid UTF-8
        return json.dumps(record).encode() + b"\n"


def mend_jsonl(path: Path, *, all_of_it: bool = False) -> None:
    """Cut off what a crash has left at the end of a JSON-lines file; only for who alone writes there.

    That are lines that do not parse and have none after them that does: cut ones, zeros where the power went,
    bytes of other files. Damage before a whole line stays: no crash does that.

    Args:
        path: the file; nothing happens where there is none.
        all_of_it: whether the file may end up empty; else one in which nothing parses is left alone, since it
            may be no JSON-lines file at all.

    Raises:
        OSError: when the file cannot be read or written.
    """
    if not path.exists():
        return
    with path.open("rb+") as file:
        end = size = file.seek(0, os.SEEK_END)
        while end and not _is_object(_read_between(file, start := _start_of_line(file, end), end)):
            end = start
        if end < size and (end or all_of_it):
            file.truncate(end)
            _log.warning("cut off what a crash has left at the end of %s (%d bytes)", path, size - end)


def _end_last_line(file: Any) -> None:
    size = file.seek(0, os.SEEK_END)
    if not size or _read_between(file, size - 1, size) == b"\n":
        return
    start = _start_of_line(file, size)
    whole = _is_object(_read_between(file, start, size))  # a cut object never parses
    file.seek(0, os.SEEK_END)
    if whole:
        file.write(b"\n")
    else:
        file.truncate(start)
        file.seek(0, os.SEEK_END)


def _start_of_line(file: Any, end: int) -> int:
    """Where the line begins that ends at `end`, with its line end or without one."""
    at = end - 1
    while at > 0:
        start = max(0, at - _BLOCK)
        newline = _read_between(file, start, at).rfind(b"\n")
        if newline >= 0:
            return int(start + newline + 1)
        at = start
    return 0


def _read_between(file: Any, start: int, end: int) -> bytes:
    file.seek(start)
    return bytes(file.read(end - start))


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def read_jsonl(path: Path, *, torn_ok: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON-lines file, one at a time.

    Args:
        path: the file; empty lines are passed over.
        torn_ok: leave out what a crash has left at the end: lines that do not parse, with none after them
            that does. Of a file in which nothing parses, only a line without a line end is taken for that.

    Raises:
        LcbkitError: names file and line of a line that is not a JSON object.
        OSError: when the file cannot be read.
    """
    with path.open("rb") as file:
        any_whole = False
        for number, raw in enumerate(file, 1):
            if not raw.strip():
                continue
            try:
                record = json.loads(raw)
            except (ValueError, RecursionError):
                if torn_ok and (any_whole or not raw.endswith(b"\n")) and not any(map(_is_object, file)):
                    return
                raise LcbkitError(
                    f"{path}, line {number}, is not valid JSON (cut off or damaged); "
                    "restore the file or remove that line"
                ) from None
            if not isinstance(record, dict):
                raise LcbkitError(f"{path}, line {number}, is not a JSON object; is this the right file?")
            any_whole = True
            yield record
