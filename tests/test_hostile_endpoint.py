"""Batches at an endpoint that fails in every way that servers do: right status, right sums, honest exit."""

import json
import signal
import threading
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from scripted_endpoint import Reply, Request, ScriptedEndpoint, tool_call
from twice_problems import RIGHT, WRONG, asked_for, problem_set, row

from lcbkit.chat import failures
from lcbkit.cli import main
from lcbkit.evaluation import evaluate
from lcbkit.models import get_model
from lcbkit.records import Record
from lcbkit.topologies.team import build_team

BUSY = {"Retry-After": "0"}
TOO_LONG = "This model's maximum context length is 10 tokens (context_length_exceeded)"
CUT_JSON = Reply(raw='{"id": "x", "object": "chat.completion", "choi')
NO_CHOICE = Reply(raw='{"id": "x", "choices": []}')
MALFORMED = Reply("I try.", tool_calls=[{"name": "python_exec", "arguments": '{"code": "print(1'}])
DRAFT = Reply(RIGHT, tool_calls=[{"name": "python_exec", "arguments": "[]"}])

# How an instance is answered, one reply after the other and the last one again and again; how it must end.
ENDINGS: dict[str, tuple[Sequence[Reply | str], str, str, bool]] = {
    "a right answer": ([RIGHT], "ok", "end", True),
    "a wrong answer": ([WRONG], "ok", "end", False),
    "busy for a while": ([Reply(status=429, headers=BUSY)] * 2 + [Reply(RIGHT)], "ok", "end", True),
    "busy for ever": ([Reply(status=429, headers=BUSY)], "infra_error", "error", False),
    "broken once": ([Reply(status=500), RIGHT], "ok", "end", True),
    "broken for ever": ([Reply(status=500)], "infra_error", "error", False),
    "down once": ([Reply(status=503), RIGHT], "ok", "end", True),
    "down for ever": ([Reply(status=503)], "infra_error", "error", False),
    "dropped once": ([Reply(RIGHT, drop=True), RIGHT], "ok", "end", True),
    "dropped for ever": ([Reply(RIGHT, drop=True)], "infra_error", "error", False),
    "cut once": ([Reply(RIGHT, cut=True), RIGHT], "ok", "end", True),
    "cut for ever": ([Reply(RIGHT, cut=True)], "infra_error", "error", False),
    "half of the JSON": ([CUT_JSON], "infra_error", "error", False),
    "no choice": ([NO_CHOICE], "infra_error", "error", False),
    "a wrong key": ([Reply(status=401)], "infra_error", "error", False),
    "gone after a draft": ([DRAFT, Reply(status=503)], "infra_error", "error", False),
    "cut at the token limit": ([Reply("I think", finish_reason="length")], "no_code", "truncated", False),
    "cut after the program": ([Reply(RIGHT, finish_reason="length")], "ok", "truncated", True),
    "still thinking": ([Reply(f"<think>{RIGHT}")], "no_code", "truncated", False),
    "an empty answer": ([Reply("")], "no_code", "empty", False),
    "an empty answer once": ([Reply(""), RIGHT], "ok", "end", True),
    "no program": (["I do not know."], "no_code", "end", False),
    "a malformed call once": ([MALFORMED, RIGHT], "ok", "end", True),
    "malformed calls for ever": ([MALFORMED], "no_code", "recursion_limit", False),
    "half a character": ([Reply("x", tool_calls=[tool_call("f", a="\ud800")]), RIGHT], "ok", "end", True),
    "too long": ([Reply(status=400, error=TOO_LONG)], "agent_error", "error", False),
    "too long after a draft": ([DRAFT, Reply(status=400, error=TOO_LONG)], "ok", "error", True),
    "refused": ([Reply(status=422)], "agent_error", "error", False),
    "no tokens told": ([Reply(RIGHT, prompt_tokens=None)], "ok", "end", True),
}
KINDS = list(ENDINGS)
OUTAGES = sum(status == "infra_error" for _, status, _, _ in ENDINGS.values())


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries are made, but without their long waits."""
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.01)


class Ledger:
    """Gives each problem its replies in turn, and adds up what it told of tokens for each."""

    def __init__(self, replies: Callable[[str, int], Reply | str]) -> None:
        self._replies, self._lock = replies, threading.Lock()
        self._asked: Counter[str] = Counter()
        self.told: dict[str, Counter[str]] = defaultdict(Counter)

    def __call__(self, request: Request) -> Reply:
        problem_id = asked_for(request)
        with self._lock:
            number = self._asked[problem_id]
            self._asked[problem_id] += 1
            answer = self._replies(problem_id, number)
            reply = Reply(answer) if isinstance(answer, str) else answer
            if reply.status == 200 and reply.raw is None and not (reply.drop or reply.cut):
                usage: Mapping[str, Any] = reply.usage or {}
                told = {"answers": 1, "tool_calls": len(reply.tool_calls), "unknown": int(not usage)}
                tokens = {name: usage.get(name, 0) for name in ("prompt_tokens", "completion_tokens")}
                self.told[problem_id].update(told | tokens)
        return reply

    def check(self, record: Record) -> None:
        """A record's sums are what was told, and each call that told nothing is counted as such."""
        told = self.told[record.problem_id]
        tokens = (record.prompt_tokens, record.completion_tokens, record.n_tool_calls)
        assert tokens == (told["prompt_tokens"], told["completion_tokens"], told["tool_calls"]), record
        failed = record.n_llm_calls - told["answers"]
        assert failed >= 0
        assert record.calls_without_usage == told["unknown"] + failed
        assert sum(agent["tokens"] for agent in record.agents) == record.total_tokens


def scripted(problem_id: str, number: int) -> Reply | str:
    replies = ENDINGS[KINDS[int(problem_id[1:])]][0]
    return replies[min(number, len(replies) - 1)]


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])
def test_every_instance_of_a_batch_ends_in_its_status_whatever_happens_to_the_others(
    endpoint: ScriptedEndpoint, tmp_path: Path, streaming: bool
) -> None:
    endpoint.script = ledger = Ledger(scripted)
    team = build_team("single", model=get_model("scripted", base_url=endpoint.url, streaming=streaming))
    run = evaluate(team, problem_set(len(KINDS)), out_dir=tmp_path, concurrency=8, progress=False)
    ended = {
        KINDS[int(record.problem_id[1:])]: (str(record.status), record.stop_reason, record.passed)
        for record in run.records
    }
    assert ended == {kind: tuple(expected) for kind, (_, *expected) in ENDINGS.items()}
    for record in run.records:
        ledger.check(record)
        assert (record.error is not None) is (record.stop_reason == "error")
    summary = run.summary()
    assert (summary.n, summary.n_infra_error) == (len(KINDS), OUTAGES)
    passed = sum(passed for *_, passed in ENDINGS.values())
    assert summary.pass_at_1 == pytest.approx(passed / (len(KINDS) - OUTAGES))


FLAKY: Sequence[Reply | str | None] = (
    *(None, Reply(status=429, headers=BUSY), None, Reply(status=500), None, Reply("", drop=True), None),
    *(CUT_JSON, None, NO_CHOICE, None, Reply("x", cut=True), MALFORMED, None, Reply(f"<think>{RIGHT}")),
    *(Reply(WRONG, finish_reason="length"), None, Reply(""), Reply(status=400, error=TOO_LONG), None),
)


@pytest.mark.parametrize("topology", ["independent", "sequential", "centralized", "decentralized"])
def test_no_team_falls_to_an_endpoint_that_fails_at_every_other_request(
    endpoint: ScriptedEndpoint, tmp_path: Path, topology: str
) -> None:
    def flaky(problem_id: str, number: int) -> Reply | str:
        return FLAKY[(number + 5 * int(problem_id[1:])) % len(FLAKY)] or RIGHT

    endpoint.script = ledger = Ledger(flaky)
    team = build_team(topology, model=get_model("scripted", base_url=endpoint.url))
    run = evaluate(team, problem_set(4), out_dir=tmp_path, concurrency=4, progress=False)
    assert [record.problem_id for record in run.records] == ["p0", "p1", "p2", "p3"]
    for record in run.records:
        ledger.check(record)
        assert record.status in ("ok", "no_code", "agent_error", "infra_error")
        assert (record.code is not None) is (record.status == "ok")
        assert run.trajectory(record.problem_id)["usage"]["total_tokens"] == record.total_tokens


@pytest.mark.parametrize("topology", ["single", "independent", "sequential", "centralized", "decentralized"])
def test_an_endpoint_that_hangs_or_refuses_every_call_is_no_score_for_any_team(
    endpoint: ScriptedEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, topology: str
) -> None:
    monkeypatch.setattr(failures, "ATTEMPTS", 2)
    endpoint.script = lambda request: (
        Reply(RIGHT, delay=60) if asked_for(request) == "p0" else Reply(status=401)
    )
    model = get_model("scripted", base_url=endpoint.url, request_timeout=0.2)
    team = build_team(topology, team_size=2, model=model)
    run = evaluate(team, problem_set(2), out_dir=tmp_path, progress=False)
    assert [str(record.status) for record in run.records] == ["infra_error"] * 2
    assert (run.summary().infra_rate, run.summary().pass_at_1) == (1.0, None)


# The command line's exit codes


@pytest.fixture
def exits(endpoint: ScriptedEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run `lcb run single` on the problems with the scripted endpoint; gives its exit code."""
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # restored afterwards
    before = signal.getsignal(signal.SIGTERM)
    (tmp_path / "twice.jsonl").write_text("".join(json.dumps(row(i)) + "\n" for i in range(len(KINDS))))

    def call(*flags: object) -> int:
        source = ("--source", tmp_path / "twice.jsonl", "--model", "scripted", "--base-url", endpoint.url)
        args = ["run", "single", *source, "--out-dir", tmp_path / "run", "--quiet", *flags]
        try:
            with pytest.raises(SystemExit) as left:
                main([str(arg) for arg in args])
        finally:
            signal.signal(signal.SIGTERM, before)
        return int(left.value.code or 0)

    return call


def test_more_outages_than_allowed_exit_3_and_as_many_as_allowed_0(
    endpoint: ScriptedEndpoint, exits: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.script = Ledger(scripted)
    assert exits() == 3
    assert f"{OUTAGES} of {len(KINDS)} instances ended in infrastructure errors" in capsys.readouterr().err
    endpoint.script = Ledger(scripted)
    assert exits("--max-infra-rate", "0.5") == 0
    endpoint.script = lambda _request: RIGHT
    assert exits() == 0  # the outages are over: the same command takes up what they left
    assert f"{len(KINDS)}" in capsys.readouterr().out


def test_a_dead_endpoint_exits_3_and_prints_no_score(
    endpoint: ScriptedEndpoint, exits: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.close()
    assert exits("--limit", 2) == 3
    out, err = capsys.readouterr()
    assert "0.0%" not in out
    assert "endpoint" in err


def test_answers_without_a_program_are_a_score_of_0_and_no_failure(
    endpoint: ScriptedEndpoint, exits: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.script = lambda _request: "I do not know."
    assert exits("--limit", 2) == 0
    assert "0.0%" in capsys.readouterr().out
