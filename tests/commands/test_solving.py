import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted_endpoint import Reply, ScriptedEndpoint

Lcb = Callable[..., Any]

ANSWER = Reply("```python\nprint(input())\n```", prompt_tokens=1000, completion_tokens=100)


@pytest.fixture
def run(lcb: Lcb, endpoint: ScriptedEndpoint) -> Lcb:
    """`lcb run single` on the sample with the scripted endpoint's model."""
    endpoint.script = lambda _request: ANSWER
    flags = ("--source", "sample", "--base-url", endpoint.url, "--model", "scripted", "--no-python-exec")
    return lambda *more: lcb(
        "run", "single", *flags, "--judge-workers", 1, "--quiet", "--out-dir", "r", *more
    )


def test_a_dead_endpoint_ends_a_batch_early_with_exit_3(run: Lcb, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda _request: Reply(status=401)
    done = run()
    assert done.code == 3, done
    assert "lcb: the first 10 instances all ended in infrastructure errors" in done.err
    assert "were not tried; see that the endpoint answers, then run the same command again" in done.err
    assert "0.0%" not in done.out


def test_a_refusal_of_fewer_instances_is_told_with_its_cause(run: Lcb, endpoint: ScriptedEndpoint) -> None:
    endpoint.script = lambda _request: Reply(status=404, error="no model of that name")
    done = run("--limit", 2)
    assert done.code == 3, done
    assert "no model of that name), more than --max-infra-rate 0.1 allows" in done.err
    assert "most frequent infra_error: " in done.out


def test_a_run_says_where_it_lies(lcb: Lcb) -> None:
    done = lcb("run", "single", "--source", "sample", "--only", "lk104", "--judge-workers", 1)
    (folder,) = Path("runs").iterdir()
    assert f"lcb: the run is in {folder}\n" in done.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has this device that is always full")
def test_a_log_on_a_full_disk_fails_no_run(
    lcb: Lcb, endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.script = lambda _request: ANSWER
    flags = ("single", "--source", "sample", "--base-url", endpoint.url, "--model", "m", "--limit", 1)
    full = Path("/dev/full").open("w", encoding="utf-8")  # noqa: SIM115 - closing it fails as well
    with monkeypatch.context() as patch:
        patch.setattr("sys.stderr", full)
        done = lcb("run", *flags, "--out-dir", "r")
        again = lcb("rejudge", "r")
    with contextlib.suppress(OSError):
        full.close()
    assert (done.code, again.code) == (0, 0)


def test_the_cost_is_told_and_prices_that_lack_the_model_are_refused_before_it_is_asked(
    run: Lcb, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text("[other]\ninput = 1\noutput = 1\n")
    refused = run("--limit", 1, "--prices", prices)
    assert (refused.code, refused.out) == (2, "")
    assert "no price for scripted; it names other" in refused.err
    assert not endpoint.requests
    prices.write_text("currency = 'EUR'\n[scripted]\ninput = 2\noutput = 10\n")
    done = run("--limit", 2, "--prices", prices)
    assert done.code == 0, done
    assert "cost: 0.00600 EUR: 0.00300 a problem" in done.out


def test_several_samples_show_pass_at_k(run: Lcb) -> None:
    done = run("--limit", 1, "--samples", 3)
    assert done.code == 0, done
    assert "of 3 samples: pass@1 " in done.out
    assert ", pass@2 " in done.out
    assert ", pass@3 " in done.out


def test_a_scheduler_goes_with_the_engine_that_has_one(run: Lcb, endpoint: ScriptedEndpoint) -> None:
    done = run("--scheduler", "tcp://127.0.0.1:9")
    assert done.code == 2
    assert "--scheduler names that of a Dask cluster: add --engine dask" in done.err
    assert not endpoint.requests


def test_judge_workers_do_not_go_with_a_cluster(run: Lcb, endpoint: ScriptedEndpoint) -> None:
    done = run("--engine", "dask", "--scheduler", "tcp://127.0.0.1:9")
    assert (done.code, done.out) == (2, "")
    assert "judge_workers is 1, but on a cluster each worker judges as many programs" in done.err
    assert not endpoint.requests
