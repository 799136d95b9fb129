"""A stand-in for the dataset hub on loopback, and a child process that loads problems from it.

A child, because the hub's client reads HF_ENDPOINT when it is imported. The log holds what went by wire:

    with LoopbackHub({"test.jsonl": data}) as hub:
        (first,) = hub.load([{"source": "release_v1", "limit": 50}], cache=tmp_path)
        hub.bytes_sent("test.jsonl")
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

__all__ = ["Asked", "LoopbackHub"]

_CHILD = """
import json, re, sys, time, warnings
from pathlib import Path
from lcbkit import load_problems
warnings.simplefilter("ignore")
for call in json.loads(sys.argv[1]):
    began = time.monotonic()
    decode = call.pop("decode", None)
    try:
        found = load_problems(**call)
        said = {"ids": found.ids, "revision": found.revision, "skipped": dict(found.skipped),
                "counts": [problem.hidden_test_count for problem in found],
                "dates": [str(problem.contest_date) for problem in found],
                "characters": sum(len(test.input) for test in found[decode].hidden_tests) if decode else None}
    except Exception as error:
        said = {"error": str(error), "kind": type(error).__name__}
    said["seconds"] = time.monotonic() - began
    peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())
    said["peak_mb"] = int(peak[1]) / 1024
    said["datasets_imported"] = "datasets" in sys.modules
    print(json.dumps(said), flush=True)
"""


@dataclass(frozen=True)
class Asked:
    """One request, and how many bytes of a file it was sent."""

    method: str
    path: str
    sent: int = 0


@dataclass
class LoopbackHub:
    """Serves files as the one dataset there is, at any revision but `none`; `commits` overrides `commit`."""

    files: dict[str, bytes]
    commit: str = "a" * 40
    commits: dict[str, str] = field(default_factory=dict)
    refuse_after: int | None = None  # pieces of files that are sent before the answer is 403
    log: list[Asked] = field(default_factory=list)

    def __enter__(self) -> "LoopbackHub":
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def asked_for(self, file: str) -> list[Asked]:
        """Requests for pieces of a file."""
        return [asked for asked in self.log if asked.path.endswith(f"/{file}") and "/resolve/" in asked.path]

    def bytes_sent(self, file: str) -> int:
        return sum(asked.sent for asked in self.asked_for(file))

    def start(self, calls: Sequence[Mapping[str, Any]], *, cache: Path, **env: str) -> subprocess.Popen[str]:
        """A process that makes these calls of load_problems and prints what each gave."""
        return subprocess.Popen(
            [sys.executable, "-c", _CHILD, json.dumps(list(calls))],
            stdout=subprocess.PIPE,
            text=True,
            env={
                **{name: value for name, value in os.environ.items() if "proxy" not in name.lower()},
                "HF_ENDPOINT": self.url,
                "HF_HUB_DISABLE_XET": "1",
                "HF_HOME": str(cache / "hf-home"),
                "LCB_CACHE": str(cache),
                **env,
            },
        )

    def load(self, calls: Sequence[Mapping[str, Any]], *, cache: Path, **env: str) -> list[dict[str, Any]]:
        """What each of the calls gave, made one after the other in one process."""
        with self.start(calls, cache=cache, **env) as child:
            out, _ = child.communicate(timeout=120)
        assert child.returncode == 0
        return [json.loads(line) for line in out.splitlines()]


def _handler(hub: LoopbackHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            path = unquote(urlparse(self.path).path)
            if "/resolve/" in path:
                self.send_piece(path)
                return
            hub.log.append(Asked(self.command, path))
            if "/none" in path:
                self.answer(404, headers={"X-Error-Code": "RevisionNotFound"})
            elif "/tree/" in path:
                self.answer(200, [self.entry(name) for name in hub.files])
            elif found := re.match(r"/api/datasets/([^/]+/[^/]+)", path):
                siblings = [{"rfilename": name} for name in hub.files]
                sha = hub.commits.get(path.partition("/revision/")[2], hub.commit)
                self.answer(200, {"_id": "1", "id": found[1], "sha": sha, "siblings": siblings})
            else:
                self.answer(404)

        do_HEAD = do_GET  # noqa: N815 - the server looks for this name

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            hub.log.append(Asked(self.command, self.path))
            self.answer(200, [self.entry(name) for name in hub.files])

        def entry(self, name: str) -> dict[str, Any]:
            return {"type": "file", "oid": "0" * 40, "size": len(hub.files[name]), "path": name}

        def send_piece(self, path: str) -> None:
            name = path.rpartition("/")[2]
            sent_before = len(hub.asked_for(name))
            data = hub.files[name]
            wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
            first = int(wanted[1]) if wanted else 0
            last = min(int((wanted and wanted[2]) or len(data) - 1), len(data) - 1)
            if hub.refuse_after is not None and sent_before >= hub.refuse_after:
                hub.log.append(Asked(self.command, path))
                self.answer(403)
                return
            hub.log.append(Asked(self.command, path, last + 1 - first))
            headers = {
                "ETag": f'"{hashlib.sha256(data).hexdigest()}"',
                "X-Repo-Commit": hub.commit,
                "Accept-Ranges": "bytes",
                "Content-Range": f"bytes {first}-{last}/{len(data)}",
            }
            self.answer(206 if wanted else 200, data[first : last + 1], headers=headers)

        def answer(self, status: int, value: Any = b"", *, headers: Mapping[str, str] | None = None) -> None:
            body = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            for name, text in (headers or {}).items():
                self.send_header(name, text)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    return Handler
