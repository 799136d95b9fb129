"""What the judge's tests share: pools in every tier that this machine offers, and a look at what is left."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from lcbkit.errors import SandboxError
from lcbkit.judging import kernel
from lcbkit.judging.pool import Pool, default_pool
from lcbkit.judging.sandbox import choose
from tests.judging.trials import judging_processes, wait_for

settings.register_profile("judging", deadline=None)  # other load decides how long a thing takes
settings.load_profile("judging")


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fails the last test if the judge has left a process or a scratch folder behind, by whatever test."""
    tmp_path_factory.getbasetemp()  # stays where it is
    folder = Path(tempfile.mkdtemp(prefix="lcbkit-tests-"))
    folder.chmod(0o755)
    kernel.keep_orphans()  # whatever escapes becomes a child of this process, where it is seen
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        patch.setattr("tempfile.tempdir", str(folder))
        yield
        default_pool().close()
        left = wait_for(lambda: [*judging_processes(), *folder.glob("lcbkit-judge-*")])
    shutil.rmtree(folder, ignore_errors=True)
    assert not left


@pytest.fixture(scope="session", params=["bwrap", "limits"])
def tier(request: pytest.FixtureRequest) -> str:
    """Each tier; skips what this machine does not offer."""
    try:
        choose(request.param)
    except SandboxError as error:
        pytest.skip(str(error))
    return str(request.param)


@pytest.fixture(scope="session")
def pool(tier: str) -> Iterator[Pool]:
    """Two workers in each tier."""
    with Pool(2, sandbox=tier) as pool:
        yield pool
