import json

from lcbkit.optimizers.demonstrations import shortened, with_demonstrations


def test_a_long_string_keeps_its_ends() -> None:
    text = "begin" + "x" * 2_990 + "final"
    short = shortened(text)
    assert len(short) <= 1_400
    assert short.startswith("begin")
    assert short.endswith("final")
    assert "characters left out" in short
    assert shortened("short") == "short"


def test_many_keys_and_items_are_cut_with_a_note() -> None:
    short = shortened({f"key{number}": number for number in range(20)})
    assert list(short)[:12] == [f"key{number}" for number in range(12)]
    assert short["..."] == "8 more keys left out"
    assert shortened(list(range(9))) == [0, 1, 2, 3, 4, 5, "... 3 more items left out"]
    assert shortened({"a": [["b" * 3_000]]})["a"][0][0] != "b" * 3_000


def test_demonstrations_stand_under_the_prompt_as_json() -> None:
    text = with_demonstrations("Do your part.\n", [{"problem": "äß", "coder_text": "x"}, {"problem": "b"}])
    assert text.startswith("Do your part.\n\n## Worked examples")
    blocks = [part.partition("\n```")[0] for part in text.split("```json\n")[1:]]
    assert [json.loads(block) for block in blocks] == [{"problem": "äß", "coder_text": "x"}, {"problem": "b"}]
    assert "äß" in text
    assert with_demonstrations("Do your part.\n", []) == "Do your part.\n"
