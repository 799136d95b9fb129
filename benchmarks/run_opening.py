"""How long it takes to open a finished run: its records, its summary, its browser.

    python benchmarks/run_opening.py [--problems 1000] [--samples 10] [--agents 4] [--rounds 5]

Targets for 10,000 records: `load_run` and `summary()` together in under a second, `browse(run)` in under a
second, on a machine that has nothing else to do; processor time tells what is ours where other work slows
everything down. The run is generated: programs, verdicts and lines of agents of usual sizes, no texts.
"""

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy  # noqa: F401 - what a notebook has imported by then is not measured
import psutil

from lcbkit import browse
from lcbkit.records import Record, Status
from lcbkit.results import Run, load_run


def main() -> None:
    """Write the run, open it, and print what that took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=1_000)
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--agents", type=int, default=4, help="lines of agents in a record")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is done; the median counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), options.problems, options.samples, options.agents)
        size = (Path(folder) / "predictions.jsonl").stat().st_size
        count = options.problems * options.samples
        print(f"{count:,} records, {size / count:,.0f} bytes each; load average {os.getloadavg()[0]:.1f}")
        measure(Path(folder), options.rounds)


def measure(folder: Path, rounds: int) -> None:
    """Open the run in each way."""
    before = psutil.Process().memory_info().rss
    run = load_run(folder)
    taken = psutil.Process().memory_info().rss - before
    print(f"its records take {taken / len(run.records):,.0f} bytes each")
    loaded = timed("load_run", lambda: load_run(folder), rounds)
    summed = timed("summary()", lambda: Run(run.records, run.config).summary(), rounds)
    print(f"together {loaded + summed:.2f} s of processor time (target: under 1 s)")
    run.summary()
    timed("browse(run)", lambda: browse(run), rounds)
    browser = browse(run)
    timed("  as a notebook shows it", browser._repr_mimebundle_, rounds)
    timed(
        "  filter(show='failed')", lambda: [browser.filter(show=show) for show in ("failed", "all")], rounds
    )
    timed("  filter(text='while')", lambda: [browser.filter(text=text) for text in ("while", "")], rounds)
    state = len(json.dumps(browser.table.get_state())) / 2**20
    print(f"the browser's table is sent as {state:.2f} MiB")


def timed(name: str, work: Callable[[], object], rounds: int) -> float:
    """Print the median of wall and processor time; returns the latter."""
    walls, used = [], []
    for _round in range(rounds):
        wall, processor = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        used.append(time.process_time() - processor)
    print(f"{name:28} {median(walls):6.2f} s, {median(used):6.2f} s of processor time")
    return median(used)


def write(folder: Path, problems: int, samples: int, agents: int) -> None:
    """A run folder without trajectories."""
    chance = random.Random(0)
    ids = [f"abc{300 + number // 7}_{'abcdefg'[number % 7]}" for number in range(problems)]
    lines = [
        record(chance, name, i, sample, agents) for sample in range(samples) for i, name in enumerate(ids)
    ]
    (folder / "predictions.jsonl").write_text("".join(json.dumps(line.to_row()) + "\n" for line in lines))
    dataset = {"source": "generated", "ids": ids}
    (folder / "run.json").write_text(json.dumps({"settings": {}, "dataset": dataset}))


def record(chance: random.Random, name: str, number: int, sample: int, agents: int) -> Record:
    """One instance as runs have them; its problem decides how hard it is."""
    tests = chance.randint(10, 40)
    passed = chance.random() < (0.9, 0.5, 0.1)[number % 3]
    verdicts = "P" * tests if passed else "".join(chance.choices("PW", (4, 1), k=tests - 1)) + "W"
    line = {"agent": 0, "role": "solver", "round": 0, "seed": 1000 * sample, "has_code": True}
    line |= {"stop_reason": "end", "error": None, "n_llm_calls": 2, "n_tool_calls": 1, "tokens": 3_500}
    empty = Record(
        problem_id=name,
        sample=sample,
        title=f"The Shortest Path of Length {number}",
        difficulty=("easy", "medium", "hard")[number % 3],
        platform=("leetcode", "codeforces", "atcoder")[number % 3],
        mode="functional" if number % 3 == 0 else "stdin",
        contest_date=f"2024-{1 + number % 12:02}-01",
        topology="independent",
        size=agents,
        format="freeform",
        model="Qwen/Qwen3.5-9B",
        seed=0,
        total=tests,
    )
    if chance.random() < 0.03:
        return replace(empty, status=Status.NO_CODE, stop_reason="truncated")
    return replace(
        empty,
        code="\n".join(f"    while left_{i} < right: left_{i} += {chance.random()}" for i in range(35)),
        passed=passed,
        pass_count=verdicts.count("P"),
        test_verdicts=verdicts,
        verdicts={"passed": verdicts.count("P")},
        first_failure=None
        if passed
        else {"test": verdicts.index("W"), "mode": "stdin", "kind": "wrong_answer", "message": "x" * 80},
        stop_reason="end",
        agents=tuple(line | {"agent": agent, "seed": 1000 * sample + agent} for agent in range(agents)),
        solve_s=round(60 * chance.random(), 3),
        judge_s=round(4 * chance.random(), 3),
        prompt_tokens=9_000,
        completion_tokens=5_000,
        n_llm_calls=2 * agents,
        n_tool_calls=agents,
    )


if __name__ == "__main__":
    main()
