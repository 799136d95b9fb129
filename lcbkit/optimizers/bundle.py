"""The joint set of role prompts of a team: the only thing that an optimizer may change."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from lcbkit.errors import LcbkitError
from lcbkit.optimizers.canonical import digest

__all__ = ["Bundle", "BundleError"]


class BundleError(LcbkitError):
    """Role prompts that the team cannot take: an empty text, another role, or data of the test split."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The prompts of a team's roles, in the team's own order.

    The output contract that the library puts around the answering role's prompt is never part of it.

    Attributes:
        roles: text by role; equal texts under other role orders are other bundles only for readers, not for
            `sha256`.
        demos: worked examples, normally none: methods render theirs into the role texts.
        metadata: where the texts come from, as plain JSON values; part of `sha256`.
    """

    roles: Mapping[str, str]
    demos: tuple[Any, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.roles:
            raise BundleError("a bundle needs the prompt of at least one role")
        for role, text in self.roles.items():
            if not isinstance(text, str) or not text.strip():
                raise BundleError(f"the prompt of role {role!r} must be a text that is not empty")
        object.__setattr__(self, "roles", MappingProxyType(dict(self.roles)))
        object.__setattr__(self, "demos", tuple(self.demos))
        object.__setattr__(self, "metadata", MappingProxyType(dict(self.metadata)))

    @property
    def sha256(self) -> str:
        """Hash of what the bundle holds, as 64 hexadecimal digits."""
        return digest(self.to_dict())

    def with_roles(self, texts: Mapping[str, str]) -> "Bundle":
        """A bundle with some prompts replaced.

        Raises:
            BundleError: if a text is empty or its role is not one of this bundle's.
        """
        if strange := [role for role in texts if role not in self.roles]:
            raise BundleError(f"no role {strange[0]!r} to prompt; there is: {', '.join(self.roles)}")
        return Bundle(roles={**self.roles, **texts}, demos=self.demos, metadata=self.metadata)

    def check(self, seed: "Bundle", forbidden_ids: Collection[str] = ()) -> None:
        """Make sure that this bundle may stand in for the seed.

        Args:
            seed: what the optimization began with.
            forbidden_ids: ids of the test problems, which no metadata or demo may name.

        Raises:
            BundleError: if the roles differ, or metadata or demos carry test ids or test scores.
        """
        if set(self.roles) != set(seed.roles):
            raise BundleError(
                f"the bundle has the roles {', '.join(self.roles)}; the team has {', '.join(seed.roles)}"
            )
        for what, value in (("metadata", dict(self.metadata)), ("demos", list(self.demos))):
            if found := _leak(value, frozenset(forbidden_ids)):
                raise BundleError(f"the bundle's {what} carry data of the test split: {found!r}")

    def to_dict(self) -> dict[str, Any]:
        """The bundle as plain JSON values."""
        return {"roles": dict(self.roles), "demos": list(self.demos), "metadata": dict(self.metadata)}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> "Bundle":
        """The bundle that `to_dict` gave.

        Raises:
            BundleError: if a prompt is empty or there is none.
        """
        return cls(roles=value["roles"], demos=tuple(value["demos"]), metadata=value["metadata"])


def _leak(value: Any, ids: frozenset[str]) -> str | None:
    """The first test id, or key that names a test score, at any depth."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            name = str(key)
            if name in ids or (name.lower().startswith("test_") and "count" not in name.lower()):
                return name
            if found := _leak(inner, ids):
                return found
        return None
    if isinstance(value, list | tuple | set | frozenset):
        return next((found for inner in value if (found := _leak(inner, ids))), None)
    return str(value) if isinstance(value, str | int) and str(value) in ids else None
