"""MASPOB: a bandit over combinations of prompt variants, guided by a graph network.

Z. Hong, Q. Zhang, J. Sun, Z. Shang, M. Kong, X. Wang, Y. Shu, Z. Dai, "MASPOB: Bandit-Based Prompt
Optimization for Multi-Agent Systems with Graph Neural Networks", arXiv 2603.02630 (ICML 2026).

Each role gets a pool of variants, written once. A combination z has the features x(z), its variants'
embeddings side by side; a pull runs it on a few train rows. The next combination climbs, role by role,
`mu(z) + alpha sqrt(x' A^-1 x)` with `A <- A + c x x'` (see `bandit`), where mu is a GATv2 network over the
team's graph (see `surrogate`), trained anew after every pull. Pulls see different rows, so the incumbent is
the pulled combination with the highest mu, not the one with the best pull.

Where this differs from the paper: 120 pulls of five rollouts instead of 50 evaluations, and embeddings by
all-MiniLM-L6-v2, long prompts in parts, instead of Qwen3-Embedding-8B.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from statistics import fmean
from typing import Any

from lcbkit.errors import BadValueError, LcbkitError
from lcbkit.optimizers.asking import Ask, answers
from lcbkit.optimizers.bundle import Bundle
from lcbkit.optimizers.canonical import digest
from lcbkit.optimizers.extras import load_extra
from lcbkit.optimizers.interface import Context, Event, Outcome, Row, Step
from lcbkit.optimizers.knobs import check_least
from lcbkit.optimizers.styles import style_texts
from lcbkit.optimizers.variants import acceptable, read_variant, variant_prompt
from lcbkit.storage import read_json, write_json

__all__ = ["Maspob", "MaspobSettings", "PoolError", "write_pools"]

_PHASE = "optimization/maspob"
_ROWS_OFFSET = 104_729

Combination = tuple[int, ...]


class PoolError(LcbkitError):
    """Too few usable variants of a role; what there is has been kept, and the next run completes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaspobSettings:
    """The method's knobs.

    Attributes:
        variants: in each role's pool, its own prompt included.
        spare: how many more variants are asked for than are missing, as a factor.
        tries: how often a variant that cannot be used is asked for.
        temperature: of the reflection model.
        at_once: questions on their way at a time.
        minibatch: train rows of a pull.
        warmup: random pulls at the start, if the budget allows.
        alpha: weight of the confidence width.
        ridge: lambda, with which the information matrix begins.
        weight: c, how much a pull adds to it.
        epochs: of the network's training at most.
        embeddings: folder or hub name of the embedding model; empty: all-MiniLM-L6-v2.
        seed: of the run; 1000 times the optimizer seed is added.
    """

    variants: int = 20
    spare: float = 1.5
    tries: int = 3
    temperature: float = 0.5
    at_once: int = 4
    minibatch: int = 5
    warmup: int = 5
    alpha: float = 0.2
    ridge: float = 1.0
    weight: float = 10.0
    epochs: int = 800
    embeddings: str = ""
    seed: int = 42

    def __post_init__(self) -> None:
        check_least(self, variants=2, spare=1, tries=1, at_once=1, minibatch=1, warmup=1, alpha=0, epochs=1)
        for name in ("ridge", "weight"):
            if getattr(self, name) <= 0:
                raise BadValueError(f"{name} is {getattr(self, name)}; it must be above 0")


class Maspob:
    """Bandit over prompt variants.

    Args:
        settings: the knobs.
        encode: texts to unit vectors; None loads the embedding model.
    """

    name = "maspob"

    def __init__(
        self, settings: MaspobSettings | None = None, *, encode: Callable[[Sequence[str]], Any] | None = None
    ) -> None:
        self.settings = settings or MaspobSettings()
        self._encode = encode

    def run(self, ctx: Context) -> Outcome:
        """Write the pools, then pull until the budget is spent.

        Raises:
            ConfigError: before any question or rollout: a package or the embedding model is missing.
            PoolError: before the first rollout: a role has too few usable variants.
        """
        load_extra("torch", method=self.name, extra="maspob")
        encode = self._encode or import_module("lcbkit.optimizers.embedding").load_encoder(
            self.settings.embeddings
        )
        pools = write_pools(ctx, self.settings)
        embeddings = [encode(pools[role]) for role in ctx.team.roles]
        search = _Search(ctx, self.settings, pools, embeddings)
        search.run()
        return Outcome(
            incumbent=search.incumbent(),
            stop_reason="rollout_budget_spent",
            history=search.history,
            iterations=len(search.pulled),
        )


def write_pools(ctx: Context, settings: MaspobSettings) -> dict[str, list[str]]:
    """The variants of each role, its own prompt first.

    They are kept in the method's folder as far as they came, and completed from there: a variant costs a
    question, but no rollout.

    Raises:
        PoolError: if a role has too few after all tries.
    """
    file = ctx.scratch / "variants.json"
    origin = {
        "seed": ctx.seed_bundle.sha256,
        "team": [ctx.team.topology, ctx.team.team_size, list(ctx.team.roles)],
        "optimizer_seed": ctx.seed,
        "settings": [settings.seed, settings.temperature],
    }
    identity = digest(origin)
    kept = read_json(file) if file.exists() else {}
    found = kept["pools"] if kept.get("identity") == identity else {}
    pools = {role: found.get(role) or [ctx.seed_bundle.roles[role]] for role in ctx.team.roles}
    rng = random.Random(settings.seed + 1_000 * ctx.seed)
    missing = {role: settings.variants - len(pool) for role, pool in pools.items()}
    styles = {
        role: style_texts(math.ceil(settings.spare * count), rng) if count > 0 else []
        for role, count in missing.items()
    }
    for _ in range(settings.tries):
        styles = _ask_round(ctx, settings, pools, styles)
        write_json(file, {"identity": identity, "pools": pools})
        if not any(styles.values()):
            break
    short = {role: len(pool) for role, pool in pools.items() if len(pool) < settings.variants}
    if short:
        counts = ", ".join(f"{role} {count}" for role, count in short.items())
        raise PoolError(
            f"maspob needs {settings.variants} variants of each role's prompt and has fewer that keep to the "
            f"seed's names: {counts}; run the same job again to ask for more, or take another reflection "
            "model or fewer `variants`"
        )
    return {role: pool[: settings.variants] for role, pool in pools.items()}


def _ask_round(
    ctx: Context, settings: MaspobSettings, pools: dict[str, list[str]], styles: dict[str, list[str]]
) -> dict[str, list[str]]:
    """Ask once for each style and take in what can be used; the styles that are still wanted."""
    wanted = [(role, style) for role, listed in styles.items() for style in listed]
    asks = [
        Ask(
            prompt=variant_prompt(role, ctx.seed_bundle.roles[role], ctx.team, style),
            step=Step(_PHASE, 0),
            role=role,
            temperature=settings.temperature,
        )
        for role, style in wanted
    ]
    failed: dict[str, list[str]] = {role: [] for role in styles}
    for (role, style), answer in zip(
        wanted, answers(ctx.reflect, asks, at_once=settings.at_once), strict=True
    ):
        seed = ctx.seed_bundle.roles[role]
        text = acceptable(read_variant(answer), seed, pools[role], ctx.team.roles)
        if text is None:
            failed[role].append(style)
        elif len(pools[role]) < settings.variants:
            pools[role].append(text)
    return {role: listed if len(pools[role]) < settings.variants else [] for role, listed in failed.items()}


@dataclass(slots=True)
class _Search:
    """The state of one run, once the pools are written."""

    ctx: Context
    settings: MaspobSettings
    pools: dict[str, list[str]]
    embeddings: list[Any]
    pulled: list[Combination] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)
    bandit: Any = field(init=False)
    width: Any = field(init=False)
    surrogate: Any = field(init=False)
    order: list[Row] = field(init=False)
    at: int = 0

    def __post_init__(self) -> None:
        own, team = self.settings, self.ctx.team
        self.bandit = import_module("lcbkit.optimizers.bandit")
        model = import_module("lcbkit.optimizers.surrogate")
        seed = own.seed + 1_000 * self.ctx.seed
        dimension = sum(role.shape[1] for role in self.embeddings)
        self.width = self.bandit.Width(dimension, ridge=own.ridge, weight=own.weight)
        self.surrogate = model.Surrogate(
            self.embeddings,
            model.adjacency(team.roles, team.edges),
            seed=seed,
            settings=model.SurrogateSettings(epochs=own.epochs),
        )
        rows = list(self.ctx.train)
        self.order = random.Random(seed + _ROWS_OFFSET).sample(rows, len(rows))

    def run(self) -> None:
        """Warm up at random, then climb and pull."""
        rng = random.Random(self.settings.seed + 1_000 * self.ctx.seed)
        budget = self.ctx.evaluate.remaining
        for _ in range(
            self.bandit.warmup_pulls(budget, batch=self.settings.minibatch, most=self.settings.warmup)
        ):
            if self.ctx.evaluate.remaining:
                self._pull(tuple(rng.randrange(len(pool)) for pool in self.pools.values()), "warm-up")
        if not self.pulled:
            return
        self._refit()
        current = self._best()
        while self.ctx.evaluate.remaining:
            current = self.bandit.sweep(current, [len(pool) for pool in self.pools.values()], self._upper)
            self._pull(current, "chosen")
            self._refit()

    def incumbent(self) -> Bundle:
        """The pulled combination with the highest guessed score; the seed if nothing was pulled."""
        return self._bundle(self._best()) if self.history else self.ctx.seed_bundle

    def _pull(self, combination: Combination, kind: str) -> None:
        count = min(self.settings.minibatch, len(self.order))
        rows = [self.order[(self.at + number) % len(self.order)] for number in range(count)]
        found = self.ctx.evaluate.batch(
            self._bundle(combination), rows, Step(_PHASE, len(self.pulled) + 1), exact=False
        )
        self.at = (self.at + len(found)) % len(self.order)
        self.pulled.append(combination)
        self.scores.append(fmean(one.score for one in found))
        self.width.update(self.bandit.features(self.embeddings, combination))
        self.history.append(
            {
                "pull": len(self.pulled),
                "kind": kind,
                "combination": list(combination),
                "rows": len(found),
                "score": self.scores[-1],
            }
        )

    def _refit(self) -> None:
        self.history[-1]["loss"] = self.surrogate.fit(self.pulled, self.scores)
        best = self._best()
        self.ctx.journal(
            Event(
                iteration=len(self.pulled),
                incumbent=self._bundle(best),
                score=float(self.surrogate.mean([best])[0]),
                note=f"pull {len(self.pulled)}: {self.scores[-1]:.2f}",
                detail=self.history[-1],
            )
        )

    def _upper(self, options: Sequence[Combination]) -> Any:
        points = [self.bandit.features(self.embeddings, one) for one in options]
        return self.surrogate.mean(options) + self.settings.alpha * self.width.of(points)

    def _best(self) -> Combination:
        """Of the pulled combinations the one with the highest guess, the earliest of equal ones."""
        distinct = list(dict.fromkeys(self.pulled))
        guesses = self.surrogate.mean(distinct)
        return distinct[int(guesses.argmax())]

    def _bundle(self, combination: Combination) -> Bundle:
        texts = {
            role: pool[number] for (role, pool), number in zip(self.pools.items(), combination, strict=True)
        }
        return self.ctx.seed_bundle.with_roles(texts)
