"""How many rollouts each method of prompt optimization needs until a planted hint is found.

    python benchmarks/optimizer_hints.py [--methods tavo,maspo] [--topologies sequential] [--seeds 0,1,2]
                                         [--budget 600] [--set mapro.evaluation_batch=50] [--stop-early]
                                         [--odds 3] [--with-test] [--jobs 1] [--out FILE] [--in-memory]

A scripted endpoint, a process of its own, plays both models: a team solves a problem only if the agent that
answers has read it, and one reflection answer out of `--odds` proposes it (tests/optimizers/hint_world.py).
The problems stand in for the protocol's, under the same ids and in the same splits, so that rows, budget and
charging are those of a real job: 150 train and 50 validation rows.

With `--in-memory` a function takes the team's place (tests/optimizers/bench.py): the same methods, ledger,
rows and hint, without agents, requests and judge. That takes minutes where the endpoint takes hours; its
numbers are others, since requests have other seeds, and of the same kind.

For every cell the table tells the first charged rollout that was solved, how many were charged in all, and
whether the bundle that the search returns holds the hint. Scores say nothing about real models: the figure is
about a method's own overhead until it can act on what its reflection found.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TOPOLOGIES = ("independent", "sequential", "centralized", "decentralized")


def main() -> None:
    """Run the cells, or, where asked to, be the endpoint or one cell."""
    options = parse_options()
    if options.serve:
        serve(options.odds)
    elif options.cell:
        cell = json.loads(options.cell)
        print(json.dumps((run_in_memory if cell["in_memory"] else run_cell)(cell)))
    else:
        run_grid(options)


def parse_options() -> argparse.Namespace:
    """The options of the command line."""
    from lcbkit.optimizers.methods import METHODS

    methods = [name for name in METHODS if name != "identity"]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", type=listed, default=methods, help=f"default: {','.join(methods)}")
    parser.add_argument("--topologies", type=listed, default=list(TOPOLOGIES))
    parser.add_argument("--seeds", type=listed, default=["0", "1", "2"])
    parser.add_argument("--budget", type=int, default=600, help="rollouts of a search")
    parser.add_argument("--set", action="append", default=[], metavar="METHOD.NAME=VALUE", help="a setting")
    parser.add_argument(
        "--odds",
        type=int,
        default=3,
        help="one reflection answer out of so many is the \
hint",
    )
    parser.add_argument("--stop-early", action="store_true", help="end a search at its first solved rollout")
    parser.add_argument("--with-test", action="store_true", help="validate and test as well")
    parser.add_argument("--in-memory", action="store_true", help="a function takes the team's place")
    parser.add_argument("--jobs", type=int, default=1, help="cells side by side")
    parser.add_argument("--concurrency", type=int, default=8, help="model calls in flight in a cell")
    parser.add_argument("--out", type=Path, help="gets a JSON line for each cell")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    return parser.parse_args()


def listed(text: str) -> list[str]:
    """The parts of a list with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def run_grid(options: argparse.Namespace) -> None:
    """Each cell in a process of its own, a line as it ends, and the table."""
    grid = list(product(options.methods, options.topologies, map(int, options.seeds)))
    cells = [
        {
            "method": method,
            "topology": topology,
            "seed": seed,
            "budget": options.budget,
            "settings": settings_of(method, options.set),
            "odds": options.odds,
            "stop_early": options.stop_early,
            "with_test": options.with_test,
            "in_memory": options.in_memory,
            "concurrency": options.concurrency,
        }
        for method, topology, seed in grid
    ]
    done: list[dict[str, Any]] = []
    with ThreadPoolExecutor(options.jobs) as threads:
        for found in threads.map(in_process, cells):
            done.append(found)
            print(line_of(found), file=sys.stderr, flush=True)
            if options.out:
                with options.out.open("a") as file:
                    file.write(json.dumps(found) + "\n")
    print(table(done, options.topologies, list(map(int, options.seeds))))


def settings_of(method: str, given: Sequence[str]) -> dict[str, Any]:
    """The settings on the command line that are this method's."""
    settings = {}
    for item in given:
        name, _, value = item.partition("=")
        owner, _, knob = name.partition(".")
        if owner == method:
            settings[knob] = json.loads(value)
    return settings


def in_process(cell: dict[str, Any]) -> dict[str, Any]:
    """A cell's result; its error where it has none."""
    command = [sys.executable, __file__, "--cell", json.dumps(cell)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        return {**cell, "error": (ended.stderr.strip().splitlines() or ["no message"])[-1]}
    return {**cell, **json.loads(ended.stdout.splitlines()[-1])}


def run_cell(cell: dict[str, Any]) -> dict[str, Any]:
    """One search at an endpoint of its own."""
    sys.path.insert(0, str(ROOT))
    from lcbkit.known_ids import splits
    from lcbkit.optimizers.job import JobStopped
    from lcbkit.optimizers.running import optimize
    from lcbkit.search_events import RolloutCharged, SearchEvent
    from tests.optimizers.hint_world import HINT, REFLECTION, TASK, write_rows

    found: dict[str, Any] = {"first": None, "charged": 0, "held": None, "delta_pp": None, "stop_reason": None}

    def watch(event: SearchEvent) -> str | None:
        if isinstance(event, RolloutCharged):
            found["charged"] = event.charged
            if event.score >= 1 and found["first"] is None:
                found["first"] = event.charged
        return "stop" if cell["stop_early"] and found["first"] is not None else None

    ids = [problem_id for split in ("train", "validation", "test") for problem_id in splits()[split]]
    started = time.perf_counter()
    with endpoint(cell["odds"]) as address, tempfile.TemporaryDirectory() as folder:
        try:
            job = optimize(
                cell["method"],
                cell["topology"],
                out=Path(folder) / "job",
                model=TASK,
                reflection_model=REFLECTION,
                task_endpoints=address,
                reflection_endpoint=address,
                seed=cell["seed"],
                budget=cell["budget"],
                source=write_rows(Path(folder) / "hints.jsonl", ids),
                phase="all" if cell["with_test"] else "optimize",
                settings=cell["settings"],
                concurrency=cell["concurrency"],
                progress=watch,
            )
            found["held"] = any(HINT in text for text in job.incumbent.roles.values())
            found["delta_pp"] = job.delta_pp
            found["stop_reason"] = job.summary["optimization"]["stop_reason"]
        except JobStopped:
            found["stop_reason"] = "first success"
    return {**found, "seconds": round(time.perf_counter() - started, 1)}


def run_in_memory(cell: dict[str, Any]) -> dict[str, Any]:
    """One search on a team that is a function."""
    sys.path.insert(0, str(ROOT))
    from lcbkit.optimizers.job import JobStopped
    from lcbkit.optimizers.methods import make_optimizer
    from tests.optimizers.bench import Bench, context
    from tests.optimizers.hint_world import HINT, reflection

    def score(bundle: Any, _row: Any, _step: Any, mask: frozenset[str]) -> float:
        solved = any(HINT in text for role, text in bundle.roles.items() if role not in mask)
        if solved and cell["stop_early"]:
            raise JobStopped("first success")
        return float(solved)

    def ask(prompt: str, *, system: str | None = None, step: Any, role: str = "", **_: Any) -> str:
        if system is not None and role in bench_context.team.roles:
            return f"Under these instructions: {system}"
        asked[prompt] += 1
        return reflection(prompt, hash((cell["seed"], step.iteration, asked[prompt])), cell["odds"])

    asked: Counter[str] = Counter()
    bench = Bench(score, budget=cell["budget"], topology=cell["topology"], optimizer_seed=cell["seed"])
    bench_context = context(cell["topology"], bench, reflect=ask, task_llm=ask, seed=cell["seed"])
    started = time.perf_counter()
    try:
        outcome = make_optimizer(cell["method"], cell["settings"]).run(bench_context)
    except JobStopped as stopped:  # the rollout that was solved is not in the bench's list any more
        first = len(bench.calls) + 1
        return {
            **dict.fromkeys(("held", "delta_pp")),
            "first": first,
            "charged": first,
            "stop_reason": str(stopped),
            "seconds": round(time.perf_counter() - started, 1),
        }
    solved = [number for number, call in enumerate(bench.calls, start=1) if call.score >= 1]
    return {
        "first": solved[0] if solved else None,
        "charged": bench.ledger.assert_closed().charged,
        "held": any(HINT in text for text in outcome.incumbent.roles.values()),
        "delta_pp": None,
        "stop_reason": outcome.stop_reason,
        "seconds": round(time.perf_counter() - started, 1),
    }


@contextmanager
def endpoint(odds: int) -> Iterator[str]:
    """The address of the scripted models, in a process of their own while the block runs."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--serve", "--odds", str(odds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.communicate()  # it ends with its standard input


def serve(odds: int) -> None:
    """Be the endpoint until standard input ends."""
    sys.path.insert(0, str(ROOT))
    from tests.optimizers.hint_world import answering
    from tests.scripted_endpoint import ScriptedEndpoint

    with ScriptedEndpoint(answering(odds)) as scripted:
        print(scripted.url, flush=True)
        sys.stdin.read()


def line_of(found: dict[str, Any]) -> str:
    """A cell in a line."""
    cell = f"{found['method']:<12}{found['topology']:<15}seed {found['seed']}"
    if "error" in found:
        return f"{cell}  failed: {found['error']}"
    held = {None: "", True: ", holds the hint", False: ", does not hold the hint"}[found["held"]]
    return (
        f"{cell}  first success {found['first'] or 'never'}, {found['charged']} charged, "
        f"{found['stop_reason']}{held}, {found['seconds']} s"
    )


def table(done: Sequence[dict[str, Any]], topologies: Sequence[str], seeds: Sequence[int]) -> str:
    """Rollouts to the first success by method and topology, one number per seed."""
    cells = {(found["method"], found["topology"], found["seed"]): found for found in done}
    methods = list(dict.fromkeys(found["method"] for found in done))
    named = f"seeds {', '.join(map(str, seeds))}"
    lines = [
        f"Rollouts to the first success ({named}); * the search ended with prompts without the hint",
        "",
        f"| method | {' | '.join(topologies)} |",
        f"|---|{'---|' * len(topologies)}",
    ]
    for method in methods:
        shown = [
            ", ".join(_shown(cells.get((method, topology, seed))) for seed in seeds)
            for topology in topologies
        ]
        lines.append(f"| {method} | {' | '.join(shown)} |")
    return "\n".join(lines)


def _shown(found: dict[str, Any] | None) -> str:
    if found is None:
        return "-"
    if "error" in found:
        return "failed"
    return f"{found['first'] or 'never'}{'*' if found['held'] is False else ''}"


if __name__ == "__main__":
    main()
