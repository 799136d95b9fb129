"""Loading problems: the shipped sample, a release on the hub, a file, a folder or a `datasets.Dataset`.

Every source is a stream of entries (see `rows`), read no further than the selection needs. Nothing stands
in for another source: what cannot be read is an error, never the sample.
"""

import contextlib
import hashlib
import logging
import os
import re
import sys
import time
import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from lcbkit.errors import BadValueError, DatasetError
from lcbkit.known_ids import eval_ids, splits
from lcbkit.problems import Problem, ProblemSet
from lcbkit.rows.files import Entry, JsonlFile, RowCache, describe
from lcbkit.rows.hub import DATASET, FILES, HubFile, commit_of, release_files
from lcbkit.rows.tables import ParquetFile, TableRow
from lcbkit.selection import DateLike, Selection
from lcbkit.storage import cache_folder, shipped_folder

if TYPE_CHECKING:
    import datasets

__all__ = ["demo_problems", "eval_ids", "load_problems", "splits"]

_log = logging.getLogger(__name__)
_WORTH_AN_INDEX_BYTES = 8 << 20  # smaller files are read anew in less time than anybody notices
_PATIENCE_SECONDS = 3.0


def load_problems(
    source: "str | os.PathLike[str] | datasets.Dataset | None" = None,
    *,
    limit: int | None = None,
    offset: int = 0,
    only: str | Iterable[str] | None = None,
    difficulty: str | Iterable[str] | None = None,
    platform: str | Iterable[str] | None = None,
    start_date: DateLike | None = None,
    end_date: DateLike | None = None,
    errata: Literal["keep", "drop"] = "keep",
    cache_dir: str | os.PathLike[str] | None = None,
    revision: str | None = None,
) -> ProblemSet:
    """Load problems, in the dataset's order: filters first, then offset and limit.

    What comes from the hub is kept in the cache, and a second call makes no request. Rows whose tests are
    missing or cannot be decoded are left out, with one warning that names them; `ProblemSet.skipped`
    holds the reasons.

    Args:
        source: `sample` (shipped); a LiveCodeBench release (`release_v1` to `release_v6`, `release_latest`,
            one file of it as `v3`, a range as `v2_v4`); the path of a `.jsonl` or `.parquet` file in the
            dataset's schema, or of a folder with such files (those named `test…` if there are any); a
            `datasets.Dataset` of such rows. None reads the environment variable `LCB_DATASET`, else
            `release_latest`.
        limit: how many problems to keep; None keeps all.
        offset: how many to pass over first.
        only: ids to keep; lifts offset and limit, not the filters.
        difficulty: `easy`, `medium`, `hard`, or several of them.
        platform: `leetcode`, `codeforces`, `atcoder`, or several of them.
        start_date: first contest date to keep, as `2024-05-01`, a date or a datetime.
        end_date: last contest date to keep; that day counts.
        errata: `drop` leaves out the problems that LiveCodeBench lists as defective.
        cache_dir: where to keep what is read; None takes `LCB_CACHE`, else `data_cache/` of a clone, else the
            user's cache folder.
        revision: branch, tag or commit of the dataset on the hub; None takes the one in the cache, else
            `main` as it is now.

    Raises:
        BadValueError: for an argument outside of what is allowed.
        UnknownProblemError: for an id of `only` that the source does not hold.
        DatasetError: for a source that cannot be read, and for a row that is broken, unsafe to decode, or
            there twice.
    """
    selection = Selection.parse(
        limit=limit,
        offset=offset,
        only=only,
        difficulty=difficulty,
        platform=platform,
        start_date=start_date,
        end_date=end_date,
        errata=errata,
    )
    opened = _open(source, cache_folder(cache_dir), revision)
    skipped: dict[str, str] = {}
    with contextlib.closing(_watched(opened)) as entries:
        problems = _usable(entries, selection, skipped)
        found = ProblemSet(
            selection.take(problems, skipped=skipped), source=opened.name, revision=opened.revision
        )
    if not skipped:
        return found
    named = "; ".join(f"{row_id} ({reason})" for row_id, reason in list(skipped.items())[:10])
    more = f" and {len(skipped) - 10} more" if len(skipped) > 10 else ""
    warnings.warn(
        f"skipped {len(skipped)} of the rows of {opened.name}, without usable tests: {named}{more}",
        stacklevel=2,
    )
    return ProblemSet(found, source=found.source, revision=found.revision, skipped=skipped)


def demo_problems() -> ProblemSet:
    """The two built-in problems of `lcb demo`, one per mode."""
    return load_problems(shipped_folder("sample") / "demo.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """A source: its name for people, its entries, and what is known of a release on the hub."""

    name: str
    entries: Generator[Entry, None, None]
    revision: str | None = None
    begins_a_release: bool = False


def _open(source: Any, cache: Path, revision: str | None) -> _Opened:
    source = os.environ.get("LCB_DATASET") or "release_latest" if source is None else source
    files = release_files(source) if isinstance(source, str) else None
    if files:
        return _open_release(source, files, cache, revision or "main")
    if revision is not None:
        raise BadValueError(
            f"revision={revision!r} belongs to a release on the hub, not to {source!r}; drop it"
        )
    if source == "sample":
        path = shipped_folder("sample") / "sample.jsonl"
        return _Opened(name="sample", entries=JsonlFile(path=path).entries())
    if isinstance(source, str | os.PathLike):
        if not os.fspath(source):
            raise BadValueError("source is empty; name a release, a file or a folder, or 'sample'")
        try:
            paths = _files_at(Path(source).expanduser(), source)
        except (OSError, ValueError) as error:  # a folder that is closed to us, a name that no file can have
            raise DatasetError(f"cannot read {str(source)[:200]!r} ({error}); check the path") from error
        return _Opened(name=os.fspath(source), entries=_one_by_one(_file(path, cache) for path in paths))
    return _Opened(name="datasets.Dataset", entries=_table_entries(source))


def _open_release(tag: str, files: Sequence[str], cache: Path, revision: str) -> _Opened:
    folder = cache / "problems" / DATASET.replace("/", "--") / quote(revision, safe="")
    commit = commit_of(folder, revision)
    entries = _one_by_one(
        RowCache(path=folder / file, origin=HubFile(file=file, commit=commit, folder=folder))
        for file in files
    )
    return _Opened(name=tag, entries=entries, revision=commit, begins_a_release=files[0] == FILES[0])


def _one_by_one(files: Iterable[JsonlFile | RowCache]) -> Generator[Entry, None, None]:
    for file in files:
        yield from file.entries()


def _files_at(path: Path, source: str | os.PathLike[str]) -> list[Path]:
    if path.is_dir():
        found = [file for file in path.iterdir() if file.suffix in (".jsonl", ".parquet")]
        # The dataset's own files are named so; others beside them hold other things.
        found = [file for file in found if file.name.startswith("test")] or found
        if not found:
            raise DatasetError(f"no .jsonl or .parquet file in the folder {path}; name a folder that has one")
        return sorted(found, key=_by_number)
    if not path.exists():
        raise DatasetError(
            f"no such file or release: {os.fspath(source)!r}; a source is 'sample', a release such as "
            "'release_v6' or 'v2_v4', or the path of a .jsonl or .parquet file or of a folder with such files"
        )
    if path.suffix not in (".jsonl", ".parquet"):
        raise DatasetError(f"{path} is neither .jsonl nor .parquet; convert or rename it")
    return [path]


def _by_number(path: Path) -> list[tuple[int, str]]:
    """Sort `test.jsonl`, `test2.jsonl`, `test10.jsonl` as people count."""
    parts = re.split(r"(\d+)", path.stem)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts if part]


def _file(path: Path, cache: Path) -> JsonlFile | RowCache:
    kept = cache / "problems" / "files" / hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:16]
    if path.suffix == ".parquet":
        return RowCache(path=kept.with_suffix(".jsonl"), origin=ParquetFile(path))
    index = kept.with_suffix(".index.jsonl") if path.stat().st_size >= _WORTH_AN_INDEX_BYTES else None
    return JsonlFile(path=path, index=index)


def _table_entries(source: Any) -> Generator[Entry, None, None]:
    library = sys.modules.get("datasets")  # a Dataset cannot be here unless it was imported
    if library is None or not isinstance(source, library.Dataset):
        hint = ", one split of it, as source['test']" if library and isinstance(source, dict) else ""
        raise BadValueError(
            f"source is {type(source).__name__}; give a name, a path or a datasets.Dataset{hint}"
        )
    return _described(source.with_format(None))  # plain values, whatever format its owner set


def _described(table: "datasets.Dataset") -> Generator[Entry, None, None]:
    for number in range(len(table)):
        stored = TableRow(table, number)
        yield describe(stored.read(), stored=stored, where=f"datasets.Dataset, row {number}")


def _watched(opened: _Opened) -> Generator[Entry, None, None]:
    """Show progress once reading takes long; refuse a source without rows, and an id that is there twice."""
    places: dict[str, str] = {}
    began = time.monotonic()
    bar = None
    try:
        for entry in opened.entries:
            row_id = str(entry.row["question_id"])
            if row_id in places:
                raise DatasetError(f"{entry.where}: the same id as {places[row_id]}; remove one of the rows")
            places[row_id] = entry.where
            if opened.begins_a_release and len(places) == len(eval_ids()):
                _check_eval_ids(tuple(places), opened.name)
            if bar is None and time.monotonic() - began > _PATIENCE_SECONDS:
                from tqdm.auto import tqdm

                bar = tqdm(desc=f"reading {opened.name}", unit=" problems", mininterval=0.5, leave=False)
                bar.update(len(places))
            elif bar is not None:
                bar.update()
            yield entry
        if not places:
            raise DatasetError(f"{opened.name} holds no rows; is it the right file?")
    finally:
        if bar is not None:
            bar.close()
        opened.entries.close()


def _usable(entries: Iterable[Entry], selection: Selection, skipped: dict[str, str]) -> Iterator[Problem]:
    """The entries' problems; what the selection admits but has no usable tests goes to `skipped`."""
    for entry in entries:
        row = entry.row if entry.unusable is None else {**entry.row, "public_test_cases": "[]"}
        problem = Problem.from_stored(
            row, stored=entry.stored, count=entry.count, mode=entry.mode, where=entry.where
        )
        if entry.unusable is None:
            yield problem
        elif selection.admits(problem):
            skipped[problem.id] = entry.unusable


def _check_eval_ids(first: tuple[str, ...], name: str) -> None:
    """Say so when a release no longer begins with the evaluation ids; `limit=50` is then another set."""
    if first != eval_ids():
        _log.warning("%s does not begin with the 50 evaluation ids; use only=eval_ids()", name)
