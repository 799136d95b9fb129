"""How a batch on a Dask cluster of this machine compares with the same batch without one.

    python benchmarks/dask_throughput.py [--workers 2] [--problems 60] [--samples 2] [--concurrency 8]
                                         [--latency 0.05] [--rounds 3] [--shared FOLDER]

Both have as many judge workers, the same problems and programs, and an endpoint in a process of its own that
answers after `--latency` seconds. They take turns, after a short batch each that loads what they need. On one
machine a cluster can only lose; the ratio says what its bookkeeping costs. Judging alone is compared as well.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from distributed import LocalCluster
from submissions import Submission, add_shared_option
from team_latency import chosen_submissions, endpoint

from lcbkit import ProblemSet, build_team, evaluate, get_model, judge_many


def main() -> None:
    """Take turns and print the medians."""
    options = parse_options()
    chosen = chosen_submissions(options)
    with (
        tempfile.TemporaryDirectory() as folder,
        endpoint(chosen, options) as address,
        LocalCluster(
            n_workers=options.workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
    ):
        bench = Bench(chosen, options, address, Path(folder))
        print(
            f"{len(chosen)} problems x {options.samples} samples, {options.concurrency} calls of "
            f"{options.latency:g} s in flight, {options.workers} judge workers on {os.cpu_count()} cores"
        )
        compare("instances", options.rounds, bench.run, cluster, len(chosen) * options.samples)
        compare("programs judged", options.rounds, bench.judge, cluster, len(chosen))


def parse_options() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_shared_option(parser)
    parser.add_argument("--workers", type=int, default=2, help="of the cluster, and of the judge without one")
    parser.add_argument("--problems", type=int, default=60)
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--concurrency", type=int, default=8, help="model calls in flight")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds that the endpoint takes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.set_defaults(tool_calls=0)
    return parser.parse_args()


def compare(what: str, rounds: int, work: Callable[[Any], Any], cluster: Any, count: int) -> None:
    """Do the work here and there by turns; equal results are a condition."""
    work(None), work(cluster)
    here, there, ratios = [], [], []
    for _ in range(rounds):
        seconds, results = zip(*(timed(work, engine) for engine in (None, cluster)), strict=True)
        assert results[0] == results[1], "the cluster's results are others"
        here.append(count / seconds[0])
        there.append(count / seconds[1])
        ratios.append(seconds[0] / seconds[1])
    print(
        f"{what} a second: {median(here):.1f} here, {median(there):.1f} on the cluster, "
        f"ratio {median(ratios):.2f} (of single rounds {', '.join(f'{ratio:.2f}' for ratio in ratios)}); "
        f"load average {os.getloadavg()[0]:.1f}; results equal"
    )


def timed(work: Callable[[Any], Any], engine: Any) -> tuple[float, Any]:
    """The seconds that the work takes with an engine, and what it gives."""
    started = time.perf_counter()
    result = work(engine)
    return time.perf_counter() - started, result


class Bench:
    """The same work for both, each time in a folder of its own."""

    def __init__(
        self, chosen: list[Submission], options: argparse.Namespace, address: str, folder: Path
    ) -> None:
        self.chosen, self.options, self.folder, self.times = chosen, options, folder, 0
        self.team = build_team("single", model=get_model("fixed", base_url=address), python_exec=False)
        self.problems = ProblemSet([s.problem for s in chosen], source="throughput")

    def run(self, engine: Any) -> str:
        """A batch; gives its records but for their times."""
        self.times += 1
        options = {} if engine is not None else {"judge_workers": self.options.workers}
        run = evaluate(
            self.team,
            self.problems,
            samples=self.options.samples,
            concurrency=self.options.concurrency,
            out_dir=self.folder / str(self.times),
            judge_cache=False,
            progress=False,
            engine=engine,
            **options,
        )
        rows = [record.to_row() for record in run.records]
        return json.dumps([{k: v for k, v in row.items() if not k.endswith("_s")} for row in rows])

    def judge(self, engine: Any) -> list[str]:
        """The programs alone; gives their verdicts."""
        workers = None if engine is not None else self.options.workers
        pairs = [(s.code, s.problem) for s in self.chosen]
        reports = judge_many(pairs, workers=workers, engine=engine, judge_cache=False, progress=False)
        return [report.letters for report in reports]


if __name__ == "__main__":
    main()
