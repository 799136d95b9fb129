"""Questions that are cut until they leave room for their answer."""

from collections.abc import Mapping

import pytest

from lcbkit.optimizers.fitting import estimated_tokens, fit_context


def render(parts: Mapping[str, str]) -> str:
    return "Improve this.\n" + "\n".join(parts.values())


def test_a_short_prompt_is_left_alone_with_the_whole_answer() -> None:
    fitted = fit_context(render, {"a": "x" * 3_000, "b": "y" * 100})
    assert fitted.prompt == render({"a": "x" * 3_000, "b": "y" * 100})
    assert fitted.max_tokens is None
    assert fitted.cuts == ()


def test_the_answer_gives_way_before_any_text_does() -> None:
    fitted = fit_context(render, {"a": "x" * 100_000})
    assert fitted.cuts == ()
    assert fitted.max_tokens is not None
    assert 16_384 <= fitted.max_tokens < 48_000
    assert estimated_tokens(fitted.prompt) + fitted.max_tokens <= 65_536


@pytest.mark.parametrize("sizes", [(400_000, 1_000), (200_000, 190_000), (150_000,) * 3, (10**6, 10**6, 50)])
def test_the_longest_texts_are_cut_until_prompt_and_answer_fit(sizes: tuple[int, ...]) -> None:
    parts = {f"part{n}": "x" * size for n, size in enumerate(sizes)}
    fitted = fit_context(render, parts)
    assert fitted.max_tokens == 16_384
    assert estimated_tokens(fitted.prompt) + fitted.max_tokens <= 65_536
    assert estimated_tokens(fitted.prompt) > 40_000, "more was cut than needed"
    assert all(cut.after >= 2_000 and cut.before > cut.after for cut in fitted.cuts)
    assert "part2" not in {cut.name for cut in fitted.cuts} or sizes[2] > 2_000
    assert "characters left out" in fitted.prompt


def test_texts_of_wide_characters_count_more_tokens() -> None:
    assert estimated_tokens("日" * 900) > estimated_tokens("a" * 900) * 2
