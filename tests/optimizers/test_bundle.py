import pytest

from lcbkit.optimizers.bundle import Bundle, BundleError

SEED = Bundle(roles={"coder": "Write it.", "tester": "Test it."})


def test_the_hash_is_of_what_it_holds_in_canonical_form() -> None:
    import hashlib

    text = '{"demos":[],"metadata":{"é":1},"roles":{"a":"ü","b":"x"}}'
    bundle = Bundle(roles={"b": "x", "a": "ü"}, metadata={"é": 1})
    assert bundle.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert Bundle.from_dict(bundle.to_dict()).sha256 == bundle.sha256
    assert list(bundle.roles) == ["b", "a"]


def test_half_a_surrogate_pair_of_a_model_still_has_a_hash() -> None:
    assert len(Bundle(roles={"a": "x\ud83d"}).sha256) == 64


@pytest.mark.parametrize("text", ["", "  \n", None, 3])
def test_an_empty_prompt_is_refused(text: object) -> None:
    with pytest.raises(BundleError, match="'tester'"):
        SEED.with_roles({"tester": text})  # type: ignore[dict-item]


def test_a_role_cannot_be_invented_or_lost() -> None:
    with pytest.raises(BundleError, match="no role 'boss'"):
        SEED.with_roles({"boss": "x"})
    with pytest.raises(BundleError, match="the team has coder, tester"):
        Bundle(roles={"coder": "x"}).check(SEED)
    SEED.with_roles({"coder": "Better."}).check(SEED)


@pytest.mark.parametrize(
    "metadata",
    [
        {"seen": ["1", {"deep": "77"}]},
        {"a": {"77": 0.5}},
        {"a": [77]},
        {"test_score": 0.4},
        {"a": {"b": ({"test_scores": []},)}},
    ],
)
def test_metadata_with_test_ids_or_scores_is_refused_at_any_depth(metadata: dict[str, object]) -> None:
    with pytest.raises(BundleError, match="test split"):
        Bundle(roles=SEED.roles, metadata=metadata).check(SEED, {"77", "78"})


def test_harmless_metadata_and_demos_pass_and_leaking_demos_do_not() -> None:
    Bundle(roles=SEED.roles, metadata={"round": 2, "test_count": 3}, demos=("x",)).check(SEED, {"77"})
    with pytest.raises(BundleError, match="demos"):
        Bundle(roles=SEED.roles, demos=({"id": "77"},)).check(SEED, {"77"})
