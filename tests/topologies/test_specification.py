import pickle
from typing import Any

import pytest

from lcbkit.errors import EngineError, ModelError
from lcbkit.models import get_model
from lcbkit.topologies.roles import TOPOLOGIES
from lcbkit.topologies.specification import TeamSpecification
from lcbkit.topologies.team import Team, build_team

URL = "http://127.0.0.1:9/v1"


def named(**params: Any) -> Any:
    return get_model("some-model", base_url=URL, **params)


def teams() -> list[Team]:
    plain = [build_team(topology, model=named(temperature=0.5)) for topology in TOPOLOGIES]
    debate = build_team(
        "decentralized", team_size=2, rounds=3, message_format="structured_soft", model=named()
    )
    masked = build_team("sequential", model=named(), python_exec=False).without("tester")
    own = build_team("single", model=named(), prompts={"solver": "Solve it."})
    return [*plain, debate, masked, own]


@pytest.mark.parametrize("number", range(8))
def test_a_team_is_built_again_from_plain_data(number: int) -> None:
    team = teams()[number]
    shipped = pickle.loads(pickle.dumps(TeamSpecification.of(team)))
    again = shipped.build()
    assert again.describe() == team.describe()
    assert again.sent_prompts == team.sent_prompts
    assert again.model is not team.model
    assert again.model.openai_api_base == URL


def test_a_recording_is_found_again_from_another_folder(tmp_path: Any, monkeypatch: Any) -> None:
    header = '{"lcbkit_recording": 1, "model": "m", "sampling": {}, "date": "", "python_exec": false}\n'
    (tmp_path / "mine.jsonl").write_text(header)
    monkeypatch.chdir(tmp_path)
    specification = TeamSpecification.of(build_team("single", model="recorded:mine.jsonl"))
    monkeypatch.chdir("/")
    assert specification.build().describe()["model"] == "m"


def test_keys_never_travel_and_come_from_the_environment_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-here")
    shipped = pickle.dumps(TeamSpecification.of(build_team("single", model=named())))
    assert b"sk-here" not in shipped
    monkeypatch.setenv("OPENAI_API_KEY", "sk-there")
    assert pickle.loads(shipped).build().model.openai_api_key.get_secret_value() == "sk-there"


@pytest.mark.parametrize(
    "params",
    [
        {"api_key": "sk-1"},
        {"default_headers": {"Authorization": "Bearer sk-1"}},
        {"extra_body": {"nested": {"access_token": "sk-1"}}},
    ],
)
def test_a_model_that_was_given_a_key_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="must not travel; leave it out, and set the key") as refused:
        TeamSpecification.of(build_team("single", model=named(**params)))
    assert "sk-1" not in str(refused.value)


def test_an_address_with_a_login_is_refused() -> None:
    model = get_model("m", base_url="http://me:secret@127.0.0.1:9/v1")
    with pytest.raises(ModelError, match="an address with a login") as refused:
        TeamSpecification.of(build_team("single", model=model))
    assert "me:secret" not in str(refused.value)


def test_a_number_of_tokens_is_no_key() -> None:
    assert TeamSpecification.of(build_team("single", model=named(max_tokens=7))).params == {"max_tokens": 7}


def test_a_live_object_is_refused_by_its_class_and_asked_for_its_name() -> None:
    from langchain_openai import ChatOpenAI

    live = ChatOpenAI(model="gpt", base_url=URL, api_key="x")
    with pytest.raises(
        ModelError, match=r"a live ChatOpenAI object \(gpt\).*get_model\('NAME', base_url=URL\)"
    ):
        TeamSpecification.of(build_team("single", model=live))


def test_a_model_whose_values_were_changed_since_is_a_live_object() -> None:
    model = named()
    model.temperature = 1.5
    with pytest.raises(ModelError, match="a live EndpointModel object"):
        TeamSpecification.of(build_team("single", model=model))


def test_a_team_that_records_is_refused(tmp_path: Any) -> None:
    model = named(record=tmp_path / "new.jsonl")
    with pytest.raises(ModelError, match="a team on a cluster cannot record; leave record out"):
        TeamSpecification.of(build_team("single", model=model))


def test_a_worker_that_would_build_another_team_says_what_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    specification = TeamSpecification.of(build_team("single", model=named()))
    monkeypatch.setattr("lcbkit.topologies.team.CONTRACT_VERSION", "of another version")
    with pytest.raises(EngineError, match="contract_version would differ"):
        specification.build()
