import random

from lcbkit.optimizers.styles import DIMENSIONS, PRESETS, style_texts


def test_ten_presets_come_first_and_then_combinations_that_differ() -> None:
    styles = style_texts(29, random.Random(42))
    assert tuple(styles[:10]) == PRESETS
    assert len(set(styles)) == 29
    assert all(style.count(";") == 3 for style in styles[10:])
    assert styles == style_texts(29, random.Random(42))
    assert style_texts(3, random.Random(0)) == list(PRESETS[:3])


def test_there_are_ten_dimensions_of_ten_options_that_leave_the_form_of_a_program_alone() -> None:
    assert len(DIMENSIONS) == 10
    options = [option for listed in DIMENSIONS.values() for option in listed]
    assert len(set(options)) == 100
    assert not [text for text in (*options, *PRESETS) if "fence" in text or "block" in text or "`" in text]
