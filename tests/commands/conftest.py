"""The command line in the test's own process: its two streams and its exit code, but no start."""

import signal
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lcbkit.cli import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Lcb = Callable[..., Outcome]


@pytest.fixture
def lcb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Lcb]:
    """Run `lcb …` in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    before = signal.getsignal(signal.SIGTERM)

    def call(*args: object) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return Outcome(left.value.code, out, err)

    yield call
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def one_line(lcb: Lcb) -> Callable[..., None]:
    """Check that a command answers with one clear sentence that holds these words, and with exit code 2."""

    def check(*args: object, words: str) -> None:
        done = lcb(*args)
        assert (done.code, done.out) == (2, ""), done
        message = done.err.strip().splitlines()[-1]
        for word in words.split("|"):
            assert word in message, message

    return check
