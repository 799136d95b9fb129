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
    "locked",
    "read_json",
    "read_jsonl",
    "shipped_folder",
    "write_atomic",
    "write_json",
]

_log = logging.getLogger(__name__)
_PACKAGE = Path(__file__).parent


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
    except ValueError:
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


def _end_last_line(file: Any) -> None:
    end = size = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - 65_536)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end == size:
        return
    file.seek(end)
    try:
        json.loads(file.read())  # a cut object never parses
    except ValueError:
        file.truncate(end)
        file.seek(0, os.SEEK_END)
    else:
        file.write(b"\n")


def read_jsonl(path: Path, *, torn_ok: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON-lines file, one at a time.

    Args:
        path: the file; empty lines are passed over.
        torn_ok: leave out a last line that has no line end and does not parse (a crash while writing).

    Raises:
        LcbkitError: names file and line of a line that is not a JSON object.
        OSError: when the file cannot be read.
    """
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            if not raw.strip():
                continue
            try:
                record = json.loads(raw)
            except ValueError:
                if torn_ok and not raw.endswith(b"\n"):
                    return
                raise LcbkitError(
                    f"{path}, line {number}, is not valid JSON (cut off or damaged); "
                    "restore the file or remove that line"
                ) from None
            if not isinstance(record, dict):
                raise LcbkitError(f"{path}, line {number}, is not a JSON object; is this the right file?")
            yield record
