"""What a large run costs beside the model: time for each instance, where it goes, and memory.

    python benchmarks/run_scale.py [--problems 1055] [--samples 4] [--small 50] [--distinct 4] [--rejudge]

The endpoint is a process of its own that answers at once, over HTTP on loopback. Problems are generated:
statements of LiveCodeBench's usual length, `--tests` hidden tests of `--test-bytes` bytes each, in a file as
the dataset's. `--distinct` is how many different programs the samples of one problem have; equal ones are
judged once. Targets: memory that does not grow with the number of instances but for the records (some 5 kB
each), and a rest beside generation and judging that is the smallest of the three.

A run of `--small` problems comes first, each run in a process of its own. Generating alone and judging alone
are measured apart; what the run takes beyond both is the rest: records, texts, scores, waiting.
"""

import argparse
import asyncio
import base64
import json
import os
import pickle
import random
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from lcbkit import ProblemSet, build_team, evaluate, get_model, judge_many, load_problems
from lcbkit.rejudging import rejudge
from lcbkit.results import Run


def main() -> None:
    """Run both sizes, or, where asked to, be the endpoint or one run."""
    options = parse_options()
    if options.serve:
        asyncio.run(serve(options.distinct))
    elif options.one:
        print(json.dumps(measured(options)))
    else:
        compare(options)


def parse_options() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=1_055)
    parser.add_argument("--small", type=int, default=50, help="problems of the run to compare with")
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument(
        "--distinct", type=int, default=4, help="different programs among a problem's samples"
    )
    parser.add_argument("--tests", type=int, default=10)
    parser.add_argument("--test-bytes", type=int, default=4_000)
    parser.add_argument("--concurrency", type=int, default=16, help="model calls in flight")
    parser.add_argument(
        "--rejudge", action="store_true", help="also judge the run again, twice, with a cache"
    )
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args()


def compare(options: argparse.Namespace) -> None:
    """Run the small and the large batch and print what they took."""
    count = options.problems * options.samples
    print(
        f"{options.problems} problems x {options.samples} samples = {count} instances, {os.cpu_count()} cores"
    )
    with tempfile.TemporaryDirectory() as folder:
        write_problems(Path(folder) / "problems.jsonl", options)
        small, large = (run_apart(Path(folder), options, size) for size in (options.small, options.problems))
    tell(large)
    few, many = small["instances"], large["instances"]
    grown = (large["own_mib"] - small["own_mib"]) * 2**20 / max(many - few, 1)
    print(f"peak memory of this process: {small['own_mib']:.0f} MiB with {few} instances, ", end="")
    print(f"{large['own_mib']:.0f} MiB with {many}: {grown:,.0f} bytes for each more")
    print(f"of its workers: {small['workers_mib']:.0f} MiB and {large['workers_mib']:.0f} MiB")


def tell(run: dict[str, Any]) -> None:
    """Print what one run took."""
    count = run["instances"]
    print(
        f"{count / run['wall']:.1f} instances a second: {run['wall']:.1f} s, load average {run['load']:.1f}; "
    )
    print(f"  verdicts: {run['verdicts']}")
    rest = {kind: run[kind] - run[f"solving_{kind}"] - run[f"judging_{kind}"] for kind in ("wall", "used")}
    for name, wall, used in (
        ("generating alone", run["solving_wall"], run["solving_used"]),
        ("judging alone", run["judging_wall"], run["judging_used"]),
        ("the rest", rest["wall"], rest["used"]),
    ):
        cost = f"{1e3 * used / count:5.1f} ms of processor time for each instance"
        print(f"  {name:17} {wall:7.1f} s, {100 * wall / run['wall']:3.0f} %; {cost}")
    for words, wall in zip(("a new cache", "the cache of that"), run["again"], strict=False):
        print(f"  judged again with {words}: {wall:.1f} s")


def run_apart(folder: Path, options: argparse.Namespace, size: int) -> dict[str, Any]:
    """One run in a process of its own, so that its peak of memory is its own."""
    command = [sys.executable, __file__, "--one", str(folder), "--problems", str(size)]
    for name in ("samples", "distinct", "concurrency"):
        command += [f"--{name}", str(getattr(options, name))]
    command += ["--rejudge"] * options.rejudge
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """The run's figures, then those of its parts alone."""
    problems = load_problems(Path(options.one) / "problems.jsonl")[: options.problems]
    with endpoint(options.distinct) as address:
        team = build_team("single", model=get_model("instant", base_url=address), python_exec=False)
        asyncio.run(team.asolve(problems[0]))  # what a first call loads is no cost of a large run
        given = {"samples": options.samples, "concurrency": options.concurrency, "progress": False}
        with watched() as workers, timed() as whole:
            run = evaluate(team, problems, out_dir=Path(options.one) / f"run-{len(problems)}", **given)
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        assert run.summary().pass_at_1 == 1.0, run
        with timed() as solving:
            codes = asyncio.run(solve_all(team, problems, options))
    with timed() as judging:
        judge_all(codes, problems)
    return {
        "again": judged_again(run, problems, Path(options.one)) if options.rejudge else [],
        "instances": len(run.records),
        "verdicts": run.config["verdicts"],
        "own_mib": own,
        "workers_mib": max(workers, default=0.0),
        "load": os.getloadavg()[0],
        **whole,
        **{f"solving_{name}": value for name, value in solving.items()},
        **{f"judging_{name}": value for name, value in judging.items()},
    }


async def solve_all(
    team: Any, problems: ProblemSet, options: argparse.Namespace
) -> dict[tuple[str, int], str]:
    """The team's programs, as many at a time as in the run, and nothing written."""
    gate = asyncio.Semaphore(options.concurrency)
    codes = {}

    async def solve(problem: Any, sample: int) -> None:
        async with gate:
            codes[problem.id, sample] = (await team.asolve(problem, sample=sample)).code

    async with asyncio.TaskGroup() as group:
        for problem in problems:
            for sample in range(options.samples):
                group.create_task(solve(problem, sample))
    return codes


def judge_all(codes: dict[tuple[str, int], str], problems: ProblemSet) -> None:
    """Judge the programs, equal ones once, and nothing written."""
    cores = len(os.sched_getaffinity(0))
    judge_many([(code, problems[name]) for (name, _), code in codes.items()], workers=cores, progress=False)


def judged_again(run: Run, problems: ProblemSet, folder: Path) -> list[float]:
    """Seconds of judging the run again with a new cache and with the one that this has filled."""
    times = []
    for _ in range(2):
        with timed() as again:
            done = rejudge(run, problems, judge_cache=folder / f"cache-{len(problems)}", progress=False)
        assert not done.moved, done
        times.append(again["wall"])
    return times


@contextmanager
def timed() -> Iterator[dict[str, float]]:
    """Elapsed time, and processor time of this process and of those that it started and awaited."""
    found: dict[str, float] = {}
    wall, used = time.perf_counter(), processor_seconds()
    yield found
    found |= {"wall": time.perf_counter() - wall, "used": processor_seconds() - used}


def processor_seconds() -> float:
    """Of this process and its ended children."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


@contextmanager
def watched() -> Iterator[list[float]]:
    """Memory of the processes below this one now and then, in MiB; shared pages count once."""
    seen: list[float] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(1.0):
            total = 0.0
            for child in psutil.Process().children(recursive=True):
                try:
                    if "--serve" not in child.cmdline():
                        total += child.memory_full_info().pss / 2**20
                except (psutil.Error, OSError):
                    continue
            seen.append(total)

    with ThreadPoolExecutor(1) as threads:
        threads.submit(look)
        try:
            yield seen
        finally:
            over.set()


def write_problems(path: Path, options: argparse.Namespace) -> None:
    """Problems that ask for a sum plus the problem's number."""
    chance = random.Random(0)
    story = " ".join(chance.choices(["edge", "tree", "count", "number", "path", "array", "each"], k=280))
    with path.open("w", encoding="utf-8") as file:
        for number in range(options.problems):
            tests = []
            for _ in range(options.tests):
                values = [chance.randrange(10_000) for _ in range(max(1, options.test_bytes // 5))]
                given, wanted = " ".join(map(str, values)), str(sum(values) + number)
                tests.append({"input": given, "output": wanted, "testtype": "stdin"})
            file.write(json.dumps(row(number, story, tests)) + "\n")


def row(number: int, story: str, tests: list[dict[str, str]]) -> dict[str, str]:
    """One problem in the dataset's schema."""
    return {
        "question_title": f"Sum {number}",
        "question_content": f"{story}\nThis is problem {number}. Print the sum plus that number.",
        "platform": ("codeforces", "atcoder")[number % 2],
        "question_id": f"sum_{number}",
        "contest_id": f"contest-{number // 7}",
        "contest_date": f"2024-{1 + number % 12:02}-01T00:00:00",
        "starter_code": "",
        "difficulty": ("easy", "medium", "hard")[number % 3],
        "public_test_cases": "[]",
        "private_test_cases": base64.b64encode(zlib.compress(pickle.dumps(json.dumps(tests)))).decode(),
        "metadata": "{}",
    }


@contextmanager
def endpoint(distinct: int) -> Iterator[str]:
    """The address of an endpoint that answers at once, in a process of its own."""
    command = [sys.executable, __file__, "--serve", "--distinct", str(distinct)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


async def serve(distinct: int) -> None:
    """Answer chat completions until the process is ended."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = int(head.partition("content-length:")[2].split()[0])
                writer.write(answer(json.loads(await reader.readexactly(length)), distinct))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, backlog=512)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


def answer(request: dict[str, Any], distinct: int) -> bytes:
    """The bytes of an answer with a right program; its seed decides which of the distinct ones."""
    text = "\n".join(str(message["content"]) for message in request["messages"])
    number = re.findall(r"This is problem (\d+)\.", text)[-1]
    variant = request.get("seed", 0) // 1_000 % distinct
    code = f"# approach {variant}\nprint(sum(map(int, input().split())) + {number})"
    message = {"role": "assistant", "content": f"{'It adds. ' * 100}\n```python\n{code}\n```"}
    usage = {"prompt_tokens": len(text) // 4, "completion_tokens": 250, "total_tokens": len(text) // 4 + 250}
    body = {"id": "instant", "object": "chat.completion", "created": 0, "model": "instant", "usage": usage}
    body["choices"] = [{"index": 0, "finish_reason": "stop", "message": message}]
    content = json.dumps(body).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    return head.encode() + content


if __name__ == "__main__":
    main()
