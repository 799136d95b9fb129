from lcbkit.topologies.contract import as_sent

PROMPT = "Solve it. {braces} stay"


def test_the_contract_stands_around_the_prompt_of_a_role_that_answers() -> None:
    sent = as_sent(PROMPT, answers=True, python_exec=False)
    head, tail = sent.split(PROMPT)
    assert "fenced block" in head
    assert "fenced python block" in tail


def test_a_role_that_does_not_answer_gets_its_prompt_alone() -> None:
    assert as_sent(PROMPT, answers=False, python_exec=False) == PROMPT


def test_the_note_on_the_tool_comes_with_the_tool_only() -> None:
    assert "python_exec" in as_sent(PROMPT, answers=False, python_exec=True)
    assert "python_exec" not in as_sent(PROMPT, answers=True, python_exec=False)


def test_the_note_on_the_tool_stands_before_the_reminder() -> None:
    sent = as_sent(PROMPT, answers=True, python_exec=True)
    assert sent.index(PROMPT) < sent.index("python_exec") < sent.index("Begin your reply")


def test_the_contract_is_added_once() -> None:
    once = as_sent(PROMPT, answers=True, python_exec=False)
    assert as_sent(once, answers=True, python_exec=False) == once


def test_a_prompt_that_quotes_the_contract_still_gets_it() -> None:
    whole = as_sent(PROMPT, answers=True, python_exec=False)
    heading = whole.splitlines()[0]
    quoting = as_sent(f"{PROMPT}\n{heading}\nAs you like.", answers=True, python_exec=False)
    assert quoting.startswith(whole.partition(PROMPT)[0])
    assert quoting.endswith(whole.partition(PROMPT)[2])
