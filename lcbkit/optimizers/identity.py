"""The baseline: no search, so that a job shows what the protocol alone does to a score."""

from dataclasses import dataclass

from lcbkit.optimizers.interface import Context, Outcome

__all__ = ["Identity", "IdentitySettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentitySettings:
    """There is nothing to set."""


class Identity:
    """Returns the seed bundle without a rollout; by construction its difference on test is exactly 0."""

    name = "identity"

    def __init__(self, settings: IdentitySettings | None = None) -> None:
        self.settings = settings or IdentitySettings()

    def run(self, ctx: Context) -> Outcome:
        """The seed as it is."""
        return Outcome(incumbent=ctx.seed_bundle, stop_reason="identity_no_search", history=(), iterations=0)
