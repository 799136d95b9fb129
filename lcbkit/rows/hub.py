"""LiveCodeBench on the hub: releases, and the rows of one file as a stream.

The dataset is script-based, which `datasets` no longer runs, so its raw files are read, through the
`json` builder. That builder has traps. Without features it reads the first chunk twice, to guess types,
and takes the contest date for a moment in time; strings of many large rows in one chunk overflow Arrow's
32-bit offsets; the file behind it fetches bytes again whenever it steps back over its read-ahead. Hence
explicit features with 64-bit offsets, chunks of a few megabytes (a chunk always ends with a whole row,
however long), and a read-ahead no longer than a chunk.
"""

import contextlib
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcbkit.errors import DatasetError
from lcbkit.rows.schema import COLUMNS
from lcbkit.rows.stored import plain_row
from lcbkit.storage import write_atomic

__all__ = ["DATASET", "FILES", "HubFile", "commit_of", "release_files"]

DATASET = "livecodebench/code_generation_lite"
FILES = ("test.jsonl", "test2.jsonl", "test3.jsonl", "test4.jsonl", "test5.jsonl", "test6.jsonl")

_CHUNK = 4 << 20
_FIRST_ANSWER_SECONDS = 10.0
_HELP = (
    "check the network (HF_ENDPOINT, HF_HUB_OFFLINE) and call again, which goes on from what was read; or "
    "load a downloaded file by its path, or the shipped problems with source='sample'"
)


def release_files(tag: str) -> tuple[str, ...] | None:
    """The raw files of a release, None if `tag` is not written like one.

    Args:
        tag: `release_v3` (the first three files), `release_latest`, `v3` (the third alone) or `v2_v4`.

    Raises:
        DatasetError: for a release that does not exist.
    """
    if tag == "release_latest":
        return FILES
    numbers = re.fullmatch(r"(release_)?v(\d+)(?:_v(\d+))?", tag)
    if not numbers:
        return None
    first, last = int(numbers[2]), int(numbers[3] or numbers[2])
    if not 1 <= first <= last <= len(FILES) or (numbers[1] and numbers[3]):
        raise DatasetError(
            f"no release {tag!r}; there are release_v1 to release_v{len(FILES)}, release_latest, v1 to "
            f"v{len(FILES)} (one file each) and ranges such as v2_v4"
        )
    return FILES[:last] if numbers[1] else FILES[first - 1 : last]


def commit_of(folder: Path, revision: str) -> str:
    """The commit that a folder of the cache holds; asks the hub at the first call, then never again.

    Args:
        folder: the folder for this revision.
        revision: a branch, tag or commit.

    Raises:
        DatasetError: when the hub cannot be reached or does not know the revision.
    """
    file = folder / "commit"
    with contextlib.suppress(OSError):
        return file.read_text(encoding="ascii").strip()
    from huggingface_hub import HfApi

    with _explained(f"revision {revision!r}"):
        commit = HfApi().dataset_info(DATASET, revision=revision, timeout=_FIRST_ANSWER_SECONDS).sha
    if not commit:
        raise DatasetError(f"the hub names no commit for revision {revision!r} of {DATASET}; give a commit")
    try:
        write_atomic(file, commit + "\n")
    except OSError as error:
        raise DatasetError(
            f"cannot keep problems in {folder} ({error.strerror or error}); name another folder in "
            "LCB_CACHE or cache_dir="
        ) from error
    return commit


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """One raw file at one commit.

    Attributes:
        file: one of `FILES`.
        commit: the commit.
        folder: a folder for the client's own locks; its default may lie in a home that cannot be written.
    """

    file: str
    commit: str
    folder: Path

    @property
    def name(self) -> str:
        """How messages name it; a row's number follows."""
        return f"{DATASET}, {self.file}, line"

    @property
    def version(self) -> str:
        """Changes when the rows change."""
        return self.commit

    def rows(self, start: int) -> Generator[dict[str, Any], None, None]:
        """Stream the rows from the `start`-th on; those before it pass by, as bytes have no row numbers.

        Raises:
            DatasetError: when the connection breaks, or the file cannot be read.
        """
        with _explained(self.file), _short_retries():
            import datasets

            stream = datasets.load_dataset(
                "json",
                data_files=f"hf://datasets/{DATASET}@{self.commit}/{self.file}",
                split="train",
                streaming=True,
                cache_dir=str(self.folder),
                features=datasets.Features({name: datasets.Value("large_string") for name in COLUMNS}),
                chunksize=_CHUNK,
                storage_options={"hf": {"block_size": _CHUNK}},
            )
            for row in stream.skip(start):
                yield plain_row(row)


@contextlib.contextmanager
def _explained(what: str) -> Iterator[None]:
    """Turn what the hub's client raises into one sentence."""
    from huggingface_hub import errors
    from huggingface_hub.utils import httpx  # type: ignore[attr-defined]  # httpx or httpx2, as it uses

    try:
        yield
    except errors.RepositoryNotFoundError as error:
        raise DatasetError(f"the hub does not know the dataset {DATASET}; {_HELP}") from error
    except errors.RevisionNotFoundError as error:
        raise DatasetError(f"{DATASET} has no {what}; leave out revision=, or name one it has") from error
    except (errors.EntryNotFoundError, FileNotFoundError) as error:
        raise DatasetError(f"{DATASET} has no {what} at this revision; leave out revision=") from error
    except (OSError, httpx.HTTPError) as error:
        reason = str(error).strip().split("\n")[0] or type(error).__name__
        raise DatasetError(f"cannot read {what} of {DATASET} from the hub ({reason}); {_HELP}") from error
    except ValueError as error:
        raise DatasetError(
            f"{DATASET}, {what}, is damaged or has other fields than {', '.join(COLUMNS)} ({error}); "
            "try another revision="
        ) from error


@contextlib.contextmanager
def _short_retries() -> Iterator[None]:
    """Keep `datasets` from waiting up to twenty times five seconds on top of the client's own retries."""
    from datasets import config

    names = [name for name in vars(config) if name.startswith("STREAMING_") and name.endswith("_RETRIES")]
    waits = [name for name in vars(config) if name.startswith("STREAMING_") and name.endswith("_INTERVAL")]
    before = {name: getattr(config, name) for name in (*names, *waits)}
    try:
        for name in names:
            setattr(config, name, 1)
        for name in waits:
            setattr(config, name, 0)
        yield
    finally:
        for name, value in before.items():
            setattr(config, name, value)
