"""Which columns are needed, and whether a file has them."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from auditlib.errors import AuditInputError
from auditlib.reading.words import listed, shown

MOST = 20  # columns named in a message
MANY = 5_000  # columns among which one with nearly the same name is looked for
#: The arguments that name columns, each with a name it was given.
Parts: TypeAlias = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Needed:
    """The columns asked for, by the part they play; the site is one of the groups."""

    label: str
    scores: tuple[str, ...]
    by: tuple[str, ...]
    cluster: str | None
    site: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Each column once: label, scores, groups, cluster."""
        return tuple(dict.fromkeys((self.label, *self.scores, *self.by, *([self.cluster] if self.cluster else []))))

    def role(self, name: str) -> str:
        """The argument that named a column."""
        parts = {"label": (self.label,), "score": self.scores, "site": (self.site,), "by": self.by}
        return next((part for part, names in parts.items() if name in names), "cluster")


def needed(label: Any, scores: Any, by: Any, cluster: Any, site: Any = None) -> Needed:
    """The columns asked for, each of them text and in one part."""
    groups, risks = several(by), several(scores)
    if not risks:
        raise AuditInputError("scores names no column.")
    sites, units = (() if name is None else (name,) for name in (site, cluster))
    for role, names in (("label", (label,)), ("scores", risks), ("by", groups), ("site", sites), ("cluster", units)):
        for name in names:
            if not isinstance(name, str):
                raise AuditInputError(f"{role} must name columns by text, not {shown(repr(name))}.")
    check_once(parts_named(label, risks, groups, site, cluster))
    return Needed(label, risks, (*groups, *sites), cluster, site)


def parts_named(label: str, scores: Iterable[str], by: Iterable[str], site: str | None, cluster: str | None) -> Parts:
    """Each name with the argument that gave it.

    >>> parts_named("died", ["risk"], ["sex"], "ward", None)
    [('label', 'died'), ('score', 'risk'), ('by', 'sex'), ('site', 'ward')]
    """
    parts = [("label", label), *(("score", name) for name in scores), *(("by", name) for name in by)]
    return parts + [(part, name) for part, name in (("site", site), ("cluster", cluster)) if name is not None]


def check_once(parts: Parts) -> None:
    """An error for a column that two arguments name; only a group may be the unit, too."""
    held: dict[str, str] = {}
    for part, name in parts:
        if name in held and (part != "cluster" or held[name] in ("label", "score")):
            both = " and ".join(dict.fromkeys((held[name], part)))
            raise AuditInputError(f"column {shown(name)} is used twice ({both}); name another column for one of them.")
        held.setdefault(name, part)


def several(names: Any) -> tuple[Any, ...]:
    """One name or several, as a tuple."""
    return tuple(names) if isinstance(names, list | tuple) else (names,)


def check_names(path: str, names: Sequence[str], wanted: Needed, hint: str = "") -> None:
    """Every needed column is there, once."""
    if said := lacking([(wanted.role(name), name) for name in wanted.columns], names):
        raise AuditInputError(f"{path!r}: {said}.{hint}")
    twice = [name for name in wanted.columns if list(names).count(name) > 1]
    if twice:
        raise AuditInputError(f"{path!r}: the column {shown(twice[0])} occurs twice; rename or remove one of them.")


def lacking(
    parts: Parts, names: Sequence[str], one: str = "is not a column", several: str = "are not columns",
    there: str = "the columns are",
) -> str:  # fmt: skip
    """What a message says of names that are not there: who gave them and what was meant; empty if all are there.

    >>> lacking([("by", "sex"), ("site", "hosp")], ["sex", "hospital"])
    "site='hosp' is not a column (did you mean 'hospital'?); the columns are: 'sex', 'hospital'"
    """
    held = set(names)
    absent = [(part, name) for part, name in parts if name not in held]
    if not absent:
        return ""
    asked = ", ".join(f"{part}={shown(name)}" for part, name in absent[:MOST])
    near = dict.fromkeys(shown(found) for _, name in absent[:MOST] if (found := nearest(name, names)) is not None)
    meant = f" (did you mean {', '.join(near)}?)" if near else ""
    return f"{asked} {one if len(absent) == 1 else several}{meant}; {there}: {listed(names, MOST) or 'none'}"


def nearest(name: str, names: Sequence[str]) -> str | None:
    """The column that differs only by spaces, case or the coding of accents, else the one spelled most alike.

    >>> nearest("Sex", ["age", "sex"]), nearest("hosp", ["sex", "hospital"]), nearest("sex", ["gender"])
    ('sex', 'hospital', None)
    """
    for found in names[:MANY]:
        if alike(found) == alike(name):
            return found
    close = difflib.get_close_matches(name[:200], [found for found in names[:MANY] if len(found) < 200], 1)
    return close[0] if close else None


def alike(name: str) -> str:
    """A name without what is easily overlooked.

    >>> alike(" Sex ") == alike("sex")
    True
    """
    return unicodedata.normalize("NFKC", name).strip("\ufeff \t\u00a0").casefold()
