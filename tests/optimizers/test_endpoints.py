"""What the task and the reflection model are sent, seen from the server."""

import hashlib
from pathlib import Path

import pytest
from scripted_endpoint import Reply, ScriptedEndpoint

from lcbkit.errors import ModelError
from lcbkit.optimizers.chat_text import ChatText
from lcbkit.optimizers.endpoints import Models, decodings
from lcbkit.optimizers.interface import ReflectionError, Step
from lcbkit.optimizers.seeds import SeedBase, logical_seed
from lcbkit.topologies.answer import Usage
from tests.optimizers.bench import spec

STEP = Step("optimization/x", 2)
PROTOCOL = {"max_tokens": 32_768, "reflection_max_tokens": 48_000}


def models(url: str) -> Models:
    return Models(
        task="m", reflection="r", task_endpoints=(url,), reflection_endpoint=url, request_timeout=20
    )


def text_model(folder: Path, url: str, usage: list[tuple[str, Usage]] | None = None) -> ChatText:
    decoding = decodings(spec("single"), **PROTOCOL)["reflection"]
    return ChatText(
        make_model=lambda: models(url).for_reflection(decoding),
        max_tokens=decoding.max_tokens,
        seeds=SeedBase(optimizer_seed=1, cell_id="cell"),
        kind="reflection",
        folder=folder,
        on_usage=lambda kind, spent: (usage if usage is not None else []).append((kind, spent)),
    )


@pytest.mark.parametrize(
    ("topology", "use", "temperature"),
    [("single", "search", 0.2), ("single", "evaluation", 0.0), ("independent", "evaluation", 0.2)],
)
def test_the_task_model_is_sent_the_protocols_values(
    endpoint: ScriptedEndpoint, topology: str, use: str, temperature: float
) -> None:
    endpoint.script = lambda _: "yes"
    (model,) = models(endpoint.url).for_teams(decodings(spec(topology), **PROTOCOL)[use])
    model.invoke("?")
    body = endpoint.requests[-1].body
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (temperature, 0.9, 32_768)
    assert body["repetition_penalty"] == 1.05
    assert body["chat_template_kwargs"] == {"enable_thinking": False}


def test_a_reflection_call_is_seeded_by_its_place_and_metered(
    endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda _: Reply("<think>hm</think>\nBetter.", completion_tokens=9)
    usage: list[tuple[str, Usage]] = []
    ask = text_model(tmp_path, endpoint.url, usage)
    assert ask("Improve it.", step=STEP, role="coder", system="You edit.", temperature=0.7) == "Better."
    assert ask("Improve it.", step=STEP, role="coder", system="You edit.", max_tokens=99) == "Better."
    first, second = (request.body for request in endpoint.requests)
    assert (first["model"], first["temperature"], first["top_p"], first["max_tokens"]) == (
        "r",
        0.7,
        1.0,
        48_000,
    )
    assert (second["temperature"], second["max_tokens"]) == (1.0, 99)
    assert first["chat_template_kwargs"] == {"enable_thinking": True}
    digest = hashlib.sha256(b"You edit.\nImprove it.").hexdigest()
    expected = [
        logical_seed(
            optimizer_seed=1,
            cell_id="cell",
            phase="optimization/x/reflection",
            iteration=2,
            row_id=digest,
            key="coder",
            position=position,
        )
        for position in (0, 1)
    ]
    assert [first["seed"], second["seed"]] == expected
    assert [(kind, spent.completion_tokens) for kind, spent in usage] == [("reflection", 9)] * 2
    assert len((tmp_path / "calls.jsonl").read_text().splitlines()) == 2


def test_a_silent_reflection_model_is_asked_three_times_more(
    endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda request: "At last." if request.index == 3 else Reply(status=503)
    assert text_model(tmp_path, endpoint.url)("?", step=STEP) == "At last."
    assert len({request.seed for request in endpoint.requests}) == 1
    endpoint.script = lambda _: Reply(status=503)
    with pytest.raises(ReflectionError, match="gave no answer") as failure:
        text_model(tmp_path, endpoint.url)("?", step=STEP)
    assert (len(endpoint.requests), failure.value.exit_code) == (8, 3)


def test_addresses_come_from_the_environment_where_none_is_given(
    endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.script = lambda _: "yes"
    monkeypatch.setenv("LCB_TASK_ENDPOINTS", f"{endpoint.url}, {endpoint.url}")
    monkeypatch.setenv("LCB_REFLECTION_ENDPOINT", endpoint.url)
    bare, known = Models(task="m", reflection="r"), decodings(spec("single"), **PROTOCOL)
    assert len(bare.for_teams(known["search"])) == 2
    assert bare.for_reflection(known["reflection"]).invoke("?").text == "yes"


def test_names_are_the_full_ones_and_a_recording_is_refused() -> None:
    short = Models(task="qwen", reflection="toy")
    assert (short.task_name, short.reflection_name) == ("Qwen/Qwen3.5-9B", "toy")
    with pytest.raises(ModelError, match="no recording holds"):
        Models(task="recorded", reflection="toy").for_teams(decodings(spec("single"), **PROTOCOL)["search"])
