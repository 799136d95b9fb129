"""What the judge's tests share: pools in every tier that this machine offers."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from lcbkit.errors import SandboxError
from lcbkit.judging.pool import Pool
from lcbkit.judging.sandbox import choose

settings.register_profile("judging", deadline=None)  # other load decides how long a thing takes
settings.load_profile("judging")


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
