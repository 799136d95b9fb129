"""Questions that are on their way together change nothing: a search comes out alike whatever each takes."""

import hashlib
import threading
import time
from collections import Counter
from random import Random
from typing import Any

import pytest

from lcbkit.optimizers.interface import Optimizer, Outcome
from lcbkit.optimizers.mapro import Mapro
from lcbkit.optimizers.maspo import Maspo
from lcbkit.optimizers.tavo import Tavo, TavoSettings
from lcbkit.optimizers.toy_shapes import in_shape
from tests.optimizers.bench import Bench, context


class Uneven:
    """A model that answers by question and by how often it was asked, each time after another while."""

    def __init__(self, delays: int) -> None:
        self.peak = 0
        self._rng = Random(delays)
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._inside = 0

    def __call__(self, prompt: str, *, system: str | None = None, role: str = "", **_: Any) -> str:
        with self._lock:
            self._seen[f"{system}{role}{prompt}"] += 1
            again = self._seen[f"{system}{role}{prompt}"]
            self._inside += 1
            self.peak = max(self.peak, self._inside)
            wait = self._rng.random() / 200
        time.sleep(wait)
        with self._lock:
            self._inside -= 1
        drawn = hashlib.sha256(f"{again}{system}{role}{prompt}".encode()).hexdigest()[:6]
        if system is not None:
            return f"Work {drawn}."
        if "one number from" in prompt[-200:]:
            return f"0.{int(drawn, 16) % 100:02d}"
        return in_shape(
            prompt, [f"Idea {drawn}."], lambda text: int(hashlib.md5(text.encode()).hexdigest(), 16)
        )


@pytest.mark.parametrize("topology", ["sequential", "decentralized"])
@pytest.mark.parametrize("method", [Mapro(), Maspo(), Tavo(), Tavo(TavoSettings(mode="paper"))])
def test_delays_do_not_change_a_search(method: Optimizer, topology: str) -> None:
    def search(delays: int) -> tuple[Outcome, list[Any], int]:
        def score(bundle: Any, row: Any, *_: Any) -> float:
            raw = f"{bundle.sha256}{row.id}".encode()
            return float(hashlib.sha256(raw).digest()[0] < 100)

        bench, model = Bench(score, budget=60, topology=topology), Uneven(delays)
        outcome = method.run(context(topology, bench, reflect=model, task_llm=model, train=15))
        bench.ledger.assert_closed()
        return outcome, [(call.row_id, call.seed, call.bundle) for call in bench.calls], model.peak

    (first, calls, peak), (second, other_calls, _) = search(1), search(2)
    assert first == second
    assert calls == other_calls
    assert peak > 1
