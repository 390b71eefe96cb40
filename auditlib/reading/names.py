"""Which columns are needed, and whether a file has them."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from auditlib.errors import AuditInputError
from auditlib.reading.words import listed, shown

MOST = 20  # columns named in a message
MANY = 5_000  # columns among which one with nearly the same name is looked for


@dataclass(frozen=True)
class Needed:
    """The columns asked for, by the part they play."""

    label: str
    scores: tuple[str, ...]
    by: tuple[str, ...]
    cluster: str | None

    @property
    def columns(self) -> tuple[str, ...]:
        """Each column once: label, scores, groups, cluster."""
        return tuple(dict.fromkeys((self.label, *self.scores, *self.by, *([self.cluster] if self.cluster else []))))

    def role(self, name: str) -> str:
        """The argument that named a column."""
        parts = {"label": (self.label,), "score": self.scores, "by": self.by}
        return next((part for part, names in parts.items() if name in names), "cluster")


def needed(label: Any, scores: Any, by: Any, cluster: Any) -> Needed:
    """The columns asked for, each of them text and in one part."""
    groups, risks = several(by), several(scores)
    if not risks:
        raise AuditInputError("scores names no column.")
    units = () if cluster is None else (cluster,)
    for role, names in (("label", (label,)), ("scores", risks), ("by", groups), ("cluster", units)):
        for name in names:
            if not isinstance(name, str):
                raise AuditInputError(f"{role} must name columns by text, not {shown(repr(name))}.")
    parts = [label, *risks, *groups]
    twice = next((name for name in parts if parts.count(name) > 1), None)
    if twice is not None or cluster in (label, *risks):
        name = cluster if twice is None else twice
        raise AuditInputError(
            f"column {shown(name)} is used twice; label, score, by and cluster are different columns."
        )
    return Needed(label, risks, groups, cluster)


def several(names: Any) -> tuple[Any, ...]:
    """One name or several, as a tuple."""
    return tuple(names) if isinstance(names, list | tuple) else (names,)


def check_names(path: str, names: Sequence[str], wanted: Needed, hint: str = "") -> None:
    """Every needed column is there, once."""
    held = set(names)
    absent = [name for name in wanted.columns if name not in held]
    if absent:
        asked = ", ".join(f"{wanted.role(name)}={shown(name)}" for name in absent[:MOST])
        near = [shown(found) for name in absent[:MOST] if (found := nearest(name, names)) is not None]
        meant = f" (did you mean {', '.join(near)}?)" if near else ""
        verb = "is not a column" if len(absent) == 1 else "are not columns"
        raise AuditInputError(f"{path!r}: {asked} {verb}{meant}; the columns are: {listed(names, MOST)}.{hint}")
    twice = [name for name in wanted.columns if list(names).count(name) > 1]
    if twice:
        raise AuditInputError(f"{path!r}: the column {shown(twice[0])} occurs twice; rename or remove one of them.")


def nearest(name: str, names: Sequence[str]) -> str | None:
    """The column that differs only by spaces, case or the coding of accents, else the one spelled most alike."""
    for found in names[:MANY]:
        if alike(found) == alike(name):
            return found
    close = difflib.get_close_matches(name[:200], [found for found in names[:MANY] if len(found) < 200], 1, 0.75)
    return close[0] if close else None


def alike(name: str) -> str:
    """A name without what is easily overlooked.

    >>> alike(" Sex ") == alike("sex")
    True
    """
    return unicodedata.normalize("NFKC", name).strip("\ufeff \t\u00a0").casefold()
