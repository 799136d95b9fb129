import os
import subprocess
import sys

import pytest

from lcbkit.display.bar import Bar

BATCH = """
from lcbkit.display.bar import Bar
with Bar(total=3, mininterval=0) as bar:
    bar.describe("judging")
    bar.advance(2, known=True)
    bar.note("well")
    bar.advance()
print("done")
"""


def test_a_bar_tells_how_far_and_how_well_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar(total=3, mininterval=0) as bar:
        bar.describe("judging")
        bar.advance(2, known=True)
        bar.note("pass@1 50%")
        bar.advance()
    said = capsys.readouterr().err
    assert said.rpartition("judging")[2].startswith(": 100%")
    assert "3/3" in said
    assert "pass@1 50%" in said


@pytest.mark.parametrize("place", ["/dev/full", None], ids=["full", "closed"])
def test_a_bar_that_cannot_be_written_does_not_end_the_work(place: str | None) -> None:
    if place:
        talk = os.open(place, os.O_WRONLY)
    else:
        reader, talk = os.pipe()
        os.close(reader)
    run = subprocess.run(
        [sys.executable, "-c", BATCH], stdout=subprocess.PIPE, stderr=talk, text=True, check=False
    )
    os.close(talk)
    assert run.stdout == "done\n"
    assert run.returncode in (0, 120)  # 120: the interpreter could not empty its own stream
