"""The notebooks as they are shipped, and copies of them to work in."""

import os
from dataclasses import dataclass
from pathlib import Path

from lcbkit.errors import LcbkitError
from lcbkit.storage import shipped_folder, write_atomic

__all__ = ["CopiedNotebooks", "copy_notebooks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedNotebooks:
    """What `copy_notebooks` did.

    Attributes:
        written: the copies that are new or were replaced, in the order of their numbers.
        kept: files that were there already and differ, left as they were.
    """

    written: tuple[Path, ...]
    kept: tuple[Path, ...]

    def __str__(self) -> str:
        lines = [str(path) for path in self.written]
        lines += [f"{path} (kept: it differs; --overwrite replaces it)" for path in self.kept]
        return "\n".join(lines) or "all notebooks are there already"


def copy_notebooks(folder: str | os.PathLike[str], *, overwrite: bool = False) -> CopiedNotebooks:
    """Copy the shipped notebooks into a folder, to run and to edit.

    Args:
        folder: is made if it does not exist.
        overwrite: replace files of the same names that differ from the shipped ones; else they are kept,
            since they hold somebody's work.

    Raises:
        LcbkitError: when the folder cannot be written.
    """
    target, written, kept = Path(folder).expanduser(), [], []
    for source in sorted(shipped_folder("notebooks").glob("*.ipynb")):
        copy, content = target / source.name, source.read_bytes()
        try:
            if copy.exists() and (copy.read_bytes() == content or not overwrite):
                kept += [copy] * (copy.read_bytes() != content)
                continue
            write_atomic(copy, content)
        except OSError as error:
            raise LcbkitError(f"cannot write {copy}: {error.strerror}; give another folder") from error
        written.append(copy)
    return CopiedNotebooks(written=tuple(written), kept=tuple(kept))
