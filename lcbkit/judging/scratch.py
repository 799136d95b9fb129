"""A test's scratch folder: the program's text, and beside it an empty folder to work in.

`worker.py` loads this file by its path; the pool uses it too, to clear away what a killed worker left.
Standard library only. Whatever a program has built is taken apart from the top: no path is too long, no nest
too deep, and no more than two folders are open at a time.
"""

import contextlib
import os
import stat
from collections.abc import Iterable
from os import chmod, rename, rmdir, unlink  # the guard of functional tests takes them out of `os`

__all__ = ["Scratch", "empty_folder"]

_OPEN = 0o777


class Scratch:
    """The folder of one submission.

    Args:
        folder: where; it must exist.
        source: the program's text, kept in `main.py`.
        uid: the user that tests become, who must be let in; None where they stay this one.
        littered: other folders where that user may have left something.
    """

    def __init__(
        self, folder: str, source: bytes, *, uid: int | None = None, littered: Iterable[str] = ()
    ) -> None:
        self.folder, self.source, self.uid = folder, source, uid
        self.littered = tuple(littered) if uid is not None else ()
        self.mode = 0o700 if uid is None else _OPEN
        self.program = os.path.join(folder, "main.py")
        self.work = os.path.join(folder, "work")
        self.written: tuple[int, ...] = ()

    def restore(self) -> None:
        """Make it what a test expects; cheap if the last test left it so.

        Raises:
            OSError: it cannot be written.
        """
        for place in self.littered:
            self._tidy(place)
        if self.written and self._is_pristine():
            return
        empty_folder(self.folder)
        os.mkdir(self.work)
        chmod(self.work, self.mode)
        with open(self.program, "wb") as file:
            file.write(self.source)
        chmod(self.program, 0o444)
        chmod(self.folder, 0o555)  # only the working folder is for writing
        self.written = self._identity()

    def remove(self) -> None:
        """Leave nothing behind, as far as that can be done; a mount point stays."""
        for place in self.littered:
            self._tidy(place)
        with contextlib.suppress(OSError):
            empty_folder(self.folder)
            os.rmdir(self.folder)

    def _is_pristine(self) -> bool:
        try:
            return self._identity() == self.written and not os.listdir(self.work)
        except OSError:
            return False

    def _identity(self) -> tuple[int, ...]:
        """Changes with whatever is done to the program's text or to the two folders, attributes included."""
        if self.uid is not None:  # nothing else is theirs to change
            return _fingerprint(self.work)
        return (*_fingerprint(self.work), *_fingerprint(self.program), *_fingerprint(self.folder))

    def _tidy(self, place: str) -> None:
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_uid != self.uid:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    empty_folder(entry.path)
                    rmdir(entry.path)
                else:
                    unlink(entry.path)


def empty_folder(folder: str) -> None:
    """Remove all that a folder holds; closed folders of one's own are opened.

    Subfolders are moved to the top before their parent goes, so the work is the same for any shape of tree.

    Raises:
        OSError: something cannot be removed.
    """
    chmod(folder, 0o700)
    top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        number = 0
        while names := os.listdir(top):
            for name in names:
                if not _is_folder(name, top):
                    unlink(name, dir_fd=top)
                    continue
                chmod(name, 0o700, dir_fd=top)
                inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=top)
                try:
                    for child in os.listdir(inner):
                        if not _is_folder(child, inner):
                            unlink(child, dir_fd=inner)
                            continue
                        chmod(child, 0o700, dir_fd=inner)
                        number += 1
                        rename(child, _free_name(number), src_dir_fd=inner, dst_dir_fd=top)
                finally:
                    os.close(inner)
                rmdir(name, dir_fd=top)
    finally:
        os.close(top)


def _free_name(number: int) -> str:
    """A name that no program has taken by accident, nor on purpose: it would have to know this process."""
    return f".emptied-{os.getpid()}-{id(empty_folder):x}-{number}"


def _is_folder(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.lstat(name, dir_fd=parent).st_mode)


def _fingerprint(path: str) -> tuple[int, ...]:
    status = os.lstat(path)
    return status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns
