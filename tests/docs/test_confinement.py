"""What the page on confinement claims is what the sandbox says of itself, on every kind of machine."""

import os
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from lcbkit.diagnosis import diagnose
from lcbkit.errors import SandboxError
from lcbkit.judging import sandbox
from lcbkit.judging.landlock import SIGNALS, TRUNCATION
from lcbkit.judging.launch import Confinement
from lcbkit.judging.sandbox import SandboxStatus, sandbox_status
from tests.docs.pages import table

TIERS = ("bwrap", "limits")
# The page's word for each fact that a worker finds out, and every value that makes a difference.
FACTS: dict[str, tuple[Any, ...]] = {
    "filter": (False, True),
    "wall": (0, TRUNCATION - 1, TRUNCATION, SIGNALS),
    "other user": (None, (70_000, False), (70_000, True)),
    "process numbers": (False, True),
    "root": (False, True),
}


def claims() -> dict[str, tuple[str, ...]]:
    return {row[0]: row[1:] for row in table("confinement.md", "What holds")}


def machines() -> Iterator[dict[str, Any]]:
    for values in product(*FACTS.values()):
        machine = dict(zip(FACTS, values, strict=True))
        if machine["root"] or machine["other user"] is None:  # nobody else becomes another user
            yield machine


def status(tier: str, machine: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> SandboxStatus:
    monkeypatch.setattr(os, "geteuid", lambda: 0 if machine["root"] else 1_000)
    facts = {
        "filtered": machine["filter"],
        "walled": machine["wall"],
        "user": machine["other user"],
        "own_pids": machine["process numbers"],
    }
    return sandbox._describe(Confinement(tier=tier), facts, "")


def deciding(held: dict[tuple[Any, ...], bool]) -> set[str]:
    """The facts that change whether a claim holds, all others being equal."""
    names = list(FACTS)
    return {
        names[place]
        for one, other in product(held, repeat=2)
        if held[one] != held[other]
        for place in [n for n in range(len(names)) if one[n] != other[n]][:1]
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1
    }


@pytest.mark.parametrize("tier", TIERS)
def test_the_page_says_what_the_sandbox_says_on_every_machine(
    tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: dict[str, dict[tuple[Any, ...], bool]] = {}
    for machine in machines():
        found = status(tier, machine, monkeypatch)
        for claim in (*found.holds, *found.does_not_hold):
            held.setdefault(claim, {})[tuple(machine.values())] = claim in found.holds
    said = {claim: cells[TIERS.index(tier)] for claim, cells in claims().items()}
    right = {}
    for claim, by_machine in held.items():
        if set(by_machine.values()) == {True}:
            right[claim] = "yes"
        elif set(by_machine.values()) == {False}:
            right[claim] = "no"
        else:
            right[claim] = f"depends: {', '.join(sorted(deciding(by_machine)))}"
    assert {claim: cell for claim, cell in said.items() if cell != "-"} == right


@pytest.mark.parametrize("tier", TIERS)
def test_this_machine_holds_what_the_page_promises(tier: str) -> None:
    try:
        here = sandbox_status(tier)
    except SandboxError as error:
        pytest.skip(str(error))
    said = {claim: cells[TIERS.index(tier)] for claim, cells in claims().items()}
    assert {claim for claim, cell in said.items() if cell == "yes"} <= set(here.holds)
    assert {claim for claim, cell in said.items() if cell == "no"} <= set(here.does_not_hold)
    assert {*here.holds, *here.does_not_hold} <= set(said)


def test_the_doctor_says_it_in_the_words_of_the_page() -> None:
    text = diagnose()
    for claim, cells in claims().items():
        if "-" not in cells:
            assert f"holds: {claim}" in text or f"does not hold: {claim}" in text
