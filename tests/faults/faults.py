"""What can happen to a batch: a fault starts or takes up a run, strikes it, and waits for its end.

Moments are drawn from a seeded source; where a batch then is depends on the machine as well.
"""

import json
import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.faults.site import INSTANCES, Aim, Batch, Ending, Key, Site, moment

__all__ = ["FAULTS", "Scene", "Struck"]

FULL = "No space left on device"
CHOKED = "File too large"


@dataclass(frozen=True, kw_only=True)
class Struck:
    """What a fault has done.

    Attributes:
        hit: whether it met the batch at work.
        ending: how the batch ended.
        spoiled: instances whose lines it has destroyed itself.
    """

    hit: bool
    ending: Ending
    spoiled: frozenset[Key] = frozenset()


@dataclass(frozen=True)
class Scene:
    """A run that a fault may strike.

    Attributes:
        site: where.
        run: its folder's name.
        rng: draws the moment.
        last: whether no other fault will follow, for which something must be left to do.
    """

    site: Site
    run: str
    rng: random.Random
    last: bool = True

    def start(self, *flags: str, aim: Aim | None = None, talk: str | None = None) -> Batch:
        """Start it, or take it up; from now on the endpoint counts what it is asked for."""
        self.site.endpoint.requests.clear()
        return self.site.start(self.run, *flags, aim=aim, talk=talk)

    def open_count(self) -> int:
        """How many instances are still to be done."""
        return INSTANCES - len(self.site.finished(self.run))

    def some(self) -> int:
        """A number of records that the batch will write, from 1."""
        most = self.open_count() if self.last else self.open_count() // 2
        return self.rng.randint(1, max(1, most))

    def at_some_moment(self, batch: Batch) -> None:
        """Wait until some records more are on disk, and a moment."""
        batch.reaches(batch.lines() + self.some() - 1)
        moment(self.rng)


def killed(scene: Scene) -> Struck:
    """SIGKILL at any moment."""
    batch = scene.start()
    scene.at_some_moment(batch)
    batch.signal(signal.SIGKILL)
    return _killed(batch)


def killed_as_it_starts(scene: Scene) -> Struck:
    """SIGKILL before much has happened."""
    batch = scene.start()
    time.sleep(scene.rng.random())
    batch.signal(signal.SIGKILL)
    return _killed(batch)


def killed_while_judging(scene: Scene) -> Struck:
    """SIGKILL while a program runs in the judge."""
    batch = scene.start()
    scene.at_some_moment(batch)
    _wait_for_a_test(batch)
    batch.signal(signal.SIGKILL)
    return _killed(batch)


def killed_before_a_record(scene: Scene) -> Struck:
    """SIGKILL between a verdict and its line."""
    return _killed(scene.start(aim=Aim(what="SIGKILL", path=r"predictions\.jsonl$", nth=1 + scene.some())))


def killed_within_a_record(scene: Scene) -> Struck:
    """The kernel ends the process in the middle of a line."""
    cut = scene.rng.randint(1, 900)
    aim = Aim(what="tear", path=r"predictions\.jsonl$", nth=1 + scene.some(), bytes=cut)
    return _killed(scene.start(aim=aim), signal.SIGXFSZ)


def killed_within_a_file(scene: Scene) -> Struck:
    """SIGKILL when texts, verdicts, configuration or summary are written but not yet in place."""
    aim = Aim(what="SIGKILL", path=r"json\.[^/]*$", event="os.rename", nth=scene.some())
    return _killed(scene.start(aim=aim))


def _killed(batch: Batch, number: signal.Signals = signal.SIGKILL) -> Struck:
    ending = batch.wait()
    assert ending.code in (0, -number), ending
    return Struck(hit=ending.code != 0, ending=ending)


def told_to_end(scene: Scene) -> Struck:
    """SIGTERM, or Ctrl-C."""
    number = scene.rng.choice((signal.SIGTERM, signal.SIGINT))
    batch = scene.start()
    scene.at_some_moment(batch)
    batch.signal(number)
    return _interrupted(batch)


def told_to_end_before_a_record(scene: Scene) -> Struck:
    """SIGTERM while a line is about to be written."""
    return _interrupted(
        scene.start(aim=Aim(what="SIGTERM", path=r"predictions\.jsonl$", nth=1 + scene.some()))
    )


def _interrupted(batch: Batch) -> Struck:
    ending = batch.wait()
    if ending.code < 0:  # before the command could listen
        assert not batch.lines(), ending
    elif ending.code:
        assert ending.code == 130, ending
        assert "the same command goes on" in ending.sentence
    return Struck(hit=ending.code != 0, ending=ending)


def judge_worker_killed(scene: Scene) -> Struck:
    """SIGKILL for one of the judge's workers: as it starts, at work, or idle."""
    batch = scene.start()
    if scene.rng.random() < 0.7:
        scene.at_some_moment(batch)
    if scene.rng.random() < 0.5:
        _wait_for_a_test(batch)
    hit = _kill_a_worker(batch, scene.rng)
    ending = batch.wait()
    assert ending.code == 0, ending
    return Struck(hit=hit, ending=ending)


def _kill_a_worker(batch: Batch, rng: random.Random) -> bool:
    while batch.alive():
        if workers := batch.judging():
            first, *below = rng.choice(workers)
            with suppress(psutil.Error):
                confined = "--args" in first.cmdline()  # bubblewrap; the worker is the process below it
                rng.choice([first, *below[:1]] if confined else [first]).kill()
                return True
        time.sleep(0.002)
    return False


def _wait_for_a_test(batch: Batch) -> None:
    while batch.alive() and not any(len(processes) > 2 for processes in batch.judging()):
        time.sleep(0.002)


def dask_worker_killed(scene: Scene) -> Struck:
    """SIGKILL for one of the workers of a Dask cluster, with all that it has begun."""
    batch = scene.start("--engine", "dask")
    while batch.alive() and not scene.site.endpoint.requests:  # a cluster that is being made is not at work
        time.sleep(0.01)
    scene.at_some_moment(batch)
    hit = False
    while not hit and batch.alive():
        if workers := batch.cluster():
            with suppress(psutil.Error):
                scene.rng.choice(workers).kill()
                hit = True
    ending = batch.wait()
    assert ending.code == 0, ending
    return Struck(hit=hit, ending=ending)


def killed_with_a_cluster(scene: Scene) -> Struck:
    """SIGKILL for the process that has a Dask cluster of its own."""
    batch = scene.start("--engine", "dask")
    scene.at_some_moment(batch)
    batch.signal(signal.SIGKILL)
    return _killed(batch)


def endpoint_gone(scene: Scene) -> Struck:
    """The endpoint goes and does not come back while the batch runs."""
    batch = scene.start()
    scene.at_some_moment(batch)
    hit = batch.alive()
    scene.site.endpoint_goes()
    ending = batch.wait()
    scene.site.endpoint_comes_back()
    assert ending.code in (0, 3), ending
    return Struck(hit=hit, ending=ending)


def endpoint_away(scene: Scene) -> Struck:
    """The endpoint goes and is back before the batch has ended."""
    batch = scene.start()
    scene.at_some_moment(batch)
    hit = batch.alive()
    scene.site.endpoint_goes()
    time.sleep(scene.rng.random() * 0.3)
    scene.site.endpoint_comes_back()
    ending = batch.wait()
    assert ending.code in (0, 3), ending
    return Struck(hit=hit, ending=ending)


def disk_full(scene: Scene) -> Struck:
    """No space is left at any moment."""
    batch = scene.start()
    scene.at_some_moment(batch)
    scene.site.fill(batch)
    return _full(scene, batch)


def disk_full_at_texts(scene: Scene) -> Struck:
    """No space for an answer's texts, or for its verdicts beside them."""
    return _full(scene, scene.start(aim=Aim(what="fill", path=r"/\.p\d-\d\.json\.", nth=scene.some())))


def disk_full_at_a_record(scene: Scene) -> Struck:
    """No space for a line, or for the rest of it."""
    return _full(scene, scene.start(aim=Aim(what="fill", path=r"predictions\.jsonl$", nth=1 + scene.some())))


def disk_full_at_the_summary(scene: Scene) -> Struck:
    """No space for the scores, when all else is written."""
    return _full(scene, scene.start(aim=Aim(what="fill", path=r"/\.summary\.json\.")))


def disk_full_at_the_start(scene: Scene) -> Struck:
    """No space for the configuration."""
    return _full(scene, scene.start(aim=Aim(what="fill", path=r"/\.run\.json\.")))


def _full(scene: Scene, batch: Batch) -> Struck:
    """Wait for the end, try once more at times while the disk is still full, and make room."""
    ending = batch.wait()
    hit = ending.code != 0
    if hit and (scene.site.seen / "ballast").exists() and scene.rng.random() < 0.3:
        _check_full(ending)
        ending = scene.start().wait()
    if hit:
        _check_full(ending)
    scene.site.free()
    return Struck(hit=hit, ending=ending)


def _check_full(ending: Ending) -> None:
    """One sentence: what cannot be written, where, why, and what to do."""
    assert ending.code == 2, ending
    sentence = ending.sentence
    assert "cannot write the run to " in sentence
    assert FULL in sentence or CHOKED in sentence
    assert "same" in sentence
    assert "--out-dir" in sentence


def log_full(scene: Scene) -> Struck:
    """No space for the progress bar's file: no reason to end a batch."""
    ending = scene.start(talk="/dev/full").wait()
    assert ending.code == 0, ending
    return Struck(hit=True, ending=ending)


def line_cut(scene: Scene) -> Struck:
    """A crash, and of the last line only a part is on disk."""
    return _crash(scene, lambda line, rng: line[: rng.randrange(1, len(line))])


def line_garbled(scene: Scene) -> Struck:
    """A crash, and some bytes of the last line are others, line ends among them."""

    def garble(line: bytes, rng: random.Random) -> bytes:
        at = rng.randrange(len(line))
        count = rng.randint(4, 600)
        return line[:at] + rng.randbytes(count) + line[at + count :]

    return _crash(scene, garble)


def line_zeroed(scene: Scene) -> Struck:
    """A power cut, and the last line's end is zeros: the file has grown, its content was not written."""
    return _crash(
        scene, lambda line, rng: (kept := line[: rng.randrange(len(line))]) + bytes(len(line) - len(kept))
    )


def zeros_after(scene: Scene) -> Struck:
    """A power cut, and zeros follow the last line."""
    return _crash(scene, lambda line, rng: line + bytes(rng.randint(1, 9000)), spoils=False)


def garbage_after(scene: Scene) -> Struck:
    """A crash, and what follows the last line is of another file, line ends among it."""
    return _crash(scene, lambda line, rng: line + rng.randbytes(rng.randint(8, 5000)), spoils=False)


def _crash(scene: Scene, spoil: Callable[[bytes, random.Random], bytes], *, spoils: bool = True) -> Struck:
    batch = scene.start()
    batch.reaches(1)
    scene.at_some_moment(batch)
    batch.signal(signal.SIGKILL)
    ending = batch.wait()
    path = scene.site.predictions(scene.run)
    lines = [line for line in path.read_bytes().split(b"\n") if line]
    assert lines, ending
    lines = [line + b"\n" for line in lines]
    lost: frozenset[Key] = frozenset()
    if spoils:
        with suppress(ValueError):  # torn by the crash itself
            found = json.loads(lines[-1])
            lost = frozenset({(found["id"], found["sample"])})
    _overwrite(path, b"".join(lines[:-1]) + spoil(lines[-1], scene.rng))
    return Struck(hit=True, ending=ending, spoiled=lost)


def _overwrite(path: Path, content: bytes) -> None:
    with path.open("r+b") as file:
        file.truncate(0)
        file.write(content)
        os.fsync(file.fileno())


FAULTS: dict[str, Callable[[Scene], Struck]] = {
    fault.__name__.replace("_", " "): fault
    for fault in (
        *(killed, killed_as_it_starts, killed_while_judging),
        *(killed_before_a_record, killed_within_a_record, killed_within_a_file),
        *(told_to_end, told_to_end_before_a_record),
        *(judge_worker_killed, dask_worker_killed, killed_with_a_cluster),
        *(endpoint_gone, endpoint_away),
        *(disk_full, disk_full_at_texts, disk_full_at_a_record),
        *(disk_full_at_the_summary, disk_full_at_the_start, log_full),
        *(line_cut, line_garbled, line_zeroed, zeros_after, garbage_after),
    )
}
