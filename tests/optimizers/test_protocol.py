from collections import Counter

from lcbkit.optimizers.methods import METHODS
from lcbkit.optimizers.protocol import GRID, cells


def test_the_grid_is_the_protocols() -> None:
    found = Counter(cell.method for cell in cells())
    assert found["gepa"] == found["mipro"] == found["identity"] == 2 * 5
    assert {found[name] for name in ("mapro", "maspo", "hivemind", "mamut_gepa", "maspob", "tavo")} == {2 * 4}
    assert all(cell.in_grid for cell in cells())
    assert len({cell.id for cell in cells()}) == sum(found.values())
    assert set(GRID) <= set(METHODS)
