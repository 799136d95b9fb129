"""What a batch costs beyond the model's own latency, at an endpoint that answers in a fixed time.

    python benchmarks/team_latency.py [--latency 0.5] [--problems 50] [--topology independent] [--team-size 4]
                                      [--concurrency 8] [--tool-calls 0] [--shared FOLDER] [--profile FILE]

The endpoint is a process of its own and answers each problem with a program that passes, after `--tool-calls`
rounds in which the agent runs that program. With c calls in flight, n calls of t seconds take n * t / c
seconds at least; the figure is the time of the batch over that. Processor time tells what is ours where other
work slows everything down.
"""

import argparse
import asyncio
import cProfile
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from submissions import Submission, add_shared_option, lcb50_submissions, sample_submissions

TARGET = 1.15


def main() -> None:
    """Run the batch, or, where asked to, be the endpoint."""
    options = parse_options()
    if options.serve:
        asyncio.run(serve(json.load(sys.stdin), options.latency, options.tool_calls))
        return
    chosen = chosen_submissions(options)
    with endpoint(chosen, options) as address, tempfile.TemporaryDirectory() as folder:
        measure(chosen, options, address, Path(folder))


def parse_options() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_shared_option(parser)
    parser.add_argument(
        "--latency", type=float, default=0.5, help="seconds that the endpoint takes to answer"
    )
    parser.add_argument("--problems", type=int, default=50)
    parser.add_argument("--topology", default="independent")
    parser.add_argument("--team-size", type=int, default=4)
    parser.add_argument("--concurrency", type=int, default=8, help="model calls in flight")
    parser.add_argument("--tool-calls", type=int, default=0, help="rounds with the tool before each answer")
    parser.add_argument("--streaming", action="store_true", help="take answers piece by piece")
    parser.add_argument("--profile", type=Path, help="write a profile of the batch, for pstats")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def chosen_submissions(options: argparse.Namespace) -> list[Submission]:
    """A passing program for as many problems as asked for; lcb50's first, the sample's again and again."""
    known = {s.problem.id: s for s in lcb50_submissions(options.shared) if s.passes}
    sample = sample_submissions()
    repeated = (
        replace(s, problem=replace(s.problem, id=f"{s.problem.id}-{n // len(sample)}"))
        for n, s in enumerate(cycle(sample))
    )
    return [
        *islice(known.values(), options.problems),
        *islice(repeated, max(0, options.problems - len(known))),
    ]


def measure(chosen: Sequence[Submission], options: argparse.Namespace, address: str, folder: Path) -> None:
    """Run the batch once and print what it took."""
    from lcbkit import ProblemSet, build_team, evaluate, get_model

    model = get_model("fixed", base_url=address, streaming=options.streaming)
    team = build_team(options.topology, team_size=options.team_size, model=model)
    problems = ProblemSet([s.problem for s in chosen], source="latency")
    profile, used, started = cProfile.Profile(), time.process_time(), time.perf_counter()
    if options.profile:
        profile.enable()
    run = evaluate(team, problems, out_dir=folder, concurrency=options.concurrency, progress=False)
    profile.disable()
    wall, used = time.perf_counter() - started, time.process_time() - used
    if options.profile:
        profile.dump_stats(options.profile)
    calls = sum(record.n_llm_calls for record in run.records)
    floor = calls * options.latency / options.concurrency
    print(f"{team}: pass@1 {run.summary().pass_at_1}")
    print(
        f"  {len(chosen)} problems, {calls} calls of {options.latency:g} s, {options.concurrency} at once; "
        f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    print(
        f"  latency alone forces {floor:.2f} s, the batch took {wall:.2f} s: "
        f"{wall / floor:.3f} times that (target: at most {TARGET})"
    )
    print(f"  {used:.2f} s of processor time in this process, {used / calls * 1e3:.1f} ms a call")


@contextmanager
def endpoint(chosen: Sequence[Submission], options: argparse.Namespace) -> Iterator[str]:
    """The address of an endpoint that knows these programs, in a process of its own."""
    command = [sys.executable, __file__, "--serve"]
    command += ["--latency", str(options.latency), "--tool-calls", str(options.tool_calls)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        with server.stdin:
            json.dump({s.problem.statement.strip(): s.code for s in chosen}, server.stdin)
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


async def serve(programs: Mapping[str, str], latency: float, tool_calls: int) -> None:
    """Answer chat completions after `latency` seconds, until the process is ended."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length:")[2].split()[0])
        body = await reader.readexactly(length)
        came = time.monotonic()
        answer = encoded(json.loads(body), programs, tool_calls)
        await asyncio.sleep(came + latency - time.monotonic())
        writer.write(answer)
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, backlog=512)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


def encoded(request: Mapping[str, Any], programs: Mapping[str, str], tool_calls: int) -> bytes:
    """The bytes of an answer, as one object or as a stream of one piece."""
    text = "\n".join(str(message["content"]) for message in request["messages"])
    code = next(code for statement, code in programs.items() if statement in text)
    message: dict[str, Any] = {"role": "assistant", "content": f"It works like this.\n```python\n{code}\n```"}
    ending = "stop"
    if request.get("tools") and sum(m["role"] == "tool" for m in request["messages"]) < tool_calls:
        function = {"name": "python_exec", "arguments": json.dumps({"code": code})}
        message["tool_calls"] = [{"index": 0, "id": "call_0", "type": "function", "function": function}]
        ending = "tool_calls"
    choice = {"index": 0, "finish_reason": ending}
    usage = {"prompt_tokens": len(text) // 4, "completion_tokens": 100, "total_tokens": len(text) // 4 + 100}
    head = {"id": "fixed", "created": 0, "model": "fixed", "usage": usage}
    if request.get("stream"):
        chunk = head | {"object": "chat.completion.chunk", "choices": [choice | {"delta": message}]}
        kind, content = "text/event-stream", f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
    else:
        whole = head | {"object": "chat.completion", "choices": [choice | {"message": message}]}
        kind, content = "application/json", json.dumps(whole).encode()
    lines = (f"Content-Type: {kind}", f"Content-Length: {len(content)}", "Connection: close", "", "")
    return "\r\n".join(("HTTP/1.1 200 OK", *lines)).encode() + content


if __name__ == "__main__":
    main()
