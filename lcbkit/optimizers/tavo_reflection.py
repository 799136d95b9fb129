"""From a batch of rollouts to a candidate: the calls that TAVO makes between two charged batches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lcbkit.optimizers.asking import Ask, answers
from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.credit import (
    EDITS,
    KINDS,
    Knowledge,
    RoleCredit,
    distinct,
    parse_items,
    parse_piece_credit,
    parse_role_credit,
    pieces,
    repeated,
)
from lcbkit.optimizers.interface import Context, Message, Rollout, Row, Step
from lcbkit.optimizers.overlay import apply_overlay, rules_of, strip_overlay
from lcbkit.optimizers.reading import as_prompt, extract_block, parse_json
from lcbkit.optimizers.tavo_prompts import (
    BEGIN_PROMPT,
    BEGIN_RULES,
    END_PROMPT,
    END_RULES,
    aggregation_findings,
    knowledge_text,
    piece_prompt,
    ranking_prompt,
    refinement_prompt,
    role_prompt,
    rules_prompt,
)
from lcbkit.optimizers.texts import spoken

__all__ = ["Candidate", "Reflection"]

_CREDIT_TEMPERATURE = 0.3
_TEMPERATURE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A proposed bundle and how it came about.

    Attributes:
        bundle: the prompts.
        rules: the overlay's text; empty without one.
        unreadable: answers that were not what was asked for.
        counts: how many credits and items there were, for the history.
    """

    bundle: Bundle
    rules: str
    unreadable: int
    counts: Mapping[str, int]


class Reflection:
    """One attempt's calls.

    Args:
        ctx: what the method may use.
        step: of the attempt.
        mode: `overlay`, `hybrid` or `paper`.
        use_credit: False leaves out the judging of pieces.
        at_once: questions on their way at one time.
        keep: how many edits of each sort survive the ranking.
        rules: least and most rules of an overlay.
    """

    def __init__(
        self,
        ctx: Context,
        step: Step,
        *,
        mode: str,
        use_credit: bool,
        at_once: int,
        keep: Mapping[str, int],
        rules: tuple[int, int],
    ) -> None:
        self._ctx, self._step, self._mode = ctx, step, mode
        self._use_credit, self._at_once, self._keep, self._rules = use_credit, at_once, keep, rules
        self._unreadable = 0

    def candidate(self, current: Bundle, rows: Sequence[Row], rollouts: Sequence[Rollout]) -> Candidate:
        """Judge the rollouts, pool what was said, and make a bundle of it.

        Args:
            current: what the rollouts ran under.
            rows: their problems.
            rollouts: the batch.
        """
        if self._mode == "paper":
            credits = self._role_credits(current, rows, rollouts, by_piece=True)
            bundle, rules = self._refined_by_role(current, credits), ""
            items = sum(len(found) for credit in credits for found in credit.edits.values())
        else:
            credits = self._role_credits(current, rows, rollouts, by_piece=False)
            knowledge = self._knowledge(credits)
            rules = "" if knowledge.empty else self._written_rules(knowledge)
            bundle = self._seeded(knowledge, rules)
            items = sum(map(len, knowledge.edits.values()))
        counts = {"role_credits": len(credits), "items": items, "rules": len(rules.splitlines())}
        return Candidate(bundle=bundle, rules=rules, unreadable=self._unreadable, counts=counts)

    def _ask(self, prompts: Sequence[tuple[str, str]], temperature: float) -> list[str]:
        """Answers to (role, prompt) pairs; empty where there was none."""
        asks = [
            Ask(prompt=prompt, step=self._step, role=role, temperature=temperature)
            for role, prompt in prompts
        ]
        return answers(self._ctx.reflect, asks, at_once=self._at_once)

    def _piece_credits(self, rows: Sequence[Row], rollouts: Sequence[Rollout]) -> list[list[str]]:
        """For each rollout a line on each of its pieces that could be read."""
        places: list[int] = []
        prompts: list[tuple[str, str]] = []
        for place, (row, rollout) in enumerate(zip(rows, rollouts, strict=True)):
            earlier: list[Message] = []
            for piece in pieces(rollout.messages, self._ctx.team.manager):
                prompts.append(("credit", piece_prompt(self._ctx.team, row, rollout, earlier, piece)))
                places.append(place)
                earlier.extend(piece)
        lines: list[list[str]] = [[] for _ in rollouts]
        for place, answer in zip(places, self._ask(prompts, _CREDIT_TEMPERATURE), strict=True):
            credit = parse_piece_credit(parse_json(answer))
            if credit is None:
                self._unreadable += 1
            else:
                lines[place].append(credit.line())
        return lines

    def _role_credits(
        self, current: Bundle, rows: Sequence[Row], rollouts: Sequence[Rollout], *, by_piece: bool
    ) -> list[RoleCredit]:
        """What could be read of the judgements of roles, in the order of rollouts, pieces and roles."""
        judge = self._use_credit and not by_piece
        lines = self._piece_credits(rows, rollouts) if judge else [[] for _ in rollouts]
        prompts: list[tuple[str, str]] = []
        for row, rollout, credits in zip(rows, rollouts, lines, strict=True):
            for part in self._parts(rollout, by_piece=by_piece):
                for role in self._ctx.team.roles:
                    if spoken(part, role):
                        text = current.roles[role]
                        prompts.append((role, role_prompt(self._ctx.team, row, part, role, text, credits)))
        found = []
        for (role, _), answer in zip(prompts, self._ask(prompts, _TEMPERATURE), strict=True):
            credit = parse_role_credit(role, parse_json(answer))
            if credit is None:
                self._unreadable += 1
            else:
                found.append(credit)
        return found

    def _parts(self, rollout: Rollout, *, by_piece: bool) -> list[Rollout]:
        if not by_piece:
            return [rollout]
        return [
            replace(rollout, messages=piece) for piece in pieces(rollout.messages, self._ctx.team.manager)
        ]

    def _ranked(self, items: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
        """The proposed edits that count, by what they do; without a readable ranking the repeated ones."""
        asked = [edit for edit in EDITS if items[edit]]
        prompts = [("ranking", ranking_prompt(edit, items[edit], self._keep[edit])) for edit in asked]
        ranked: dict[str, tuple[str, ...]] = dict.fromkeys(EDITS, ())
        for edit, answer in zip(asked, self._ask(prompts, _TEMPERATURE), strict=True):
            value = parse_json(answer)
            listed = parse_items(value.get("items")) if value else ()
            if not listed:
                self._unreadable += 1
            most = self._keep[edit]
            ranked[edit] = distinct(listed, most) if listed else repeated(items[edit], most)
        return ranked

    def _knowledge(self, credits: Sequence[RoleCredit]) -> Knowledge:
        items = {edit: [item for credit in credits for item in credit.edits[edit]] for edit in EDITS}
        suggestions = {
            kind: distinct((item for credit in credits for item in credit.suggestions[kind]), 5)
            for kind in KINDS
        }
        return Knowledge(edits=self._ranked(items), suggestions=suggestions)

    def _written_rules(self, knowledge: Knowledge) -> str:
        least, most = self._rules
        answer = self._ask([("rules", rules_prompt(self._ctx.team, knowledge, least, most))], _TEMPERATURE)[0]
        tagged = BEGIN_RULES in answer
        block = extract_block(answer, "", begin=BEGIN_RULES, end=END_RULES) if tagged else answer
        rules = rules_of(block, most=most, bare=tagged)
        self._unreadable += not rules
        return rules

    def _seeded(self, knowledge: Knowledge, rules: str) -> Bundle:
        """The seed's prompts (refined in hybrid mode) with the rules behind them."""
        seed = self._ctx.seed_bundle
        texts = {role: strip_overlay(text) for role, text in seed.roles.items()}
        if self._mode == "hybrid" and not knowledge.empty:
            texts = self._refined(texts, dict.fromkeys(texts, knowledge_text(knowledge)))
        changed = {
            role: apply_overlay(text, rules)
            for role, text in texts.items()
            # Without rules a prompt stays what it was to the last blank: the bundle is the seed again.
            if rules or text != strip_overlay(seed.roles[role])
        }
        return seed.with_roles(changed)

    def _refined_by_role(self, current: Bundle, credits: Sequence[RoleCredit]) -> Bundle:
        """The current prompts, each rewritten by what was said of its own role."""
        findings: dict[str, str] = {}
        for role in self._ctx.team.roles:
            own = [credit for credit in credits if credit.role == role]
            items = {edit: [item for credit in own for item in credit.edits[edit]] for edit in EDITS}
            if text := aggregation_findings(role, self._ranked(items)):
                findings[role] = text
        return current.with_roles(self._refined({role: current.roles[role] for role in findings}, findings))

    def _refined(self, texts: Mapping[str, str], findings: Mapping[str, str]) -> dict[str, str]:
        prompts = [
            (role, refinement_prompt(self._ctx.team, role, text, findings[role]))
            for role, text in texts.items()
        ]
        refined = dict(texts)
        for (role, _), answer in zip(prompts, self._ask(prompts, _TEMPERATURE), strict=True):
            block = extract_block(answer, "", begin=BEGIN_PROMPT, end=END_PROMPT)
            if text := as_prompt(block, self._ctx.seed_bundle.roles[role]):
                refined[role] = text
            else:
                self._unreadable += 1
        return refined
