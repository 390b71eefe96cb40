"""The fourth question: does it depend on the analyst? Choices that counts allow to vary, or a committed multiverse."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import pandas as pd

from auditlib.audits.plain import LIMITS, number
from auditlib.audits.questions import Asked
from auditlib.audits.source import nearest_edge
from auditlib.counts import Counts
from auditlib.errors import AuditInputError
from auditlib.intervals import gap_interval
from auditlib.metrics import selection_rate
from auditlib.multiverse import sign_counts
from auditlib.thresholds import threshold_at

SHARES = (0.1, 0.2, 0.3)
EVERYONE, COUNTED, COMMITTED = "everyone", "counts", "committed multiverse"
MOST = 400  # levels left out, one at a time
SIGNS = {
    "positive": "positive", "negative": "negative", "zero": "zero", "interval above zero": "above",
    "interval below zero": "below", "interval contains zero": "contains", "undefined": "undefined", "failed": "failed",
}  # fmt: skip


def unavailable(why: str) -> dict[str, Any]:
    """A question that this input cannot answer, and why.

    >>> unavailable("no scores")
    {'available': False, 'why': 'no scores'}
    """
    return {"available": False, "why": why}


def from_counts(asked: Asked) -> dict[str, Any]:
    """Thresholds by several rules × everybody, or everybody but one site or one group of another attribute."""
    if not asked.options.multiverse:
        return unavailable("Left out as asked (multiverse off).")
    if not asked.source.scored:
        if asked.source.kind != "confusion":
            return unavailable("These counts hold one threshold; cut them to more to vary it.")
        return unavailable("Confusion matrices leave no choice of threshold, of people or of model to vary.")
    thresholds, people, lines = _thresholds(asked), _people(asked), []
    for who, counts in people.items():
        table = counts.at(list(thresholds.values()))
        found = gap_interval(table, asked.a, asked.b, dim=asked.dim, level=asked.options.level)
        for place, rule in enumerate(thresholds):
            one = found.isel(threshold=place)
            line: dict[str, Any] = {"threshold": rule, "people": who}
            line |= {name: number(one[name]) for name in ("estimate", "low", "high")}
            lines.append(line | {name: int(one[name]) for name in ("n_a", "n_b")})
    axes = {"threshold": list(thresholds), "people": list(people)}
    default = {"threshold": next(iter(thresholds)), "people": EVERYONE}
    rows = pd.DataFrame(lines).astype(dict.fromkeys(LIMITS, float))  # also where all are undefined
    return summary(rows, axes, default, COUNTED) | {"of": None}


def _apart(name: str, taken: Container[str]) -> str:
    """The name, with a number where it is taken: "a" of "b c" and "a b" of "c" read alike."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name} ({number})"
    return found


def summary(rows: pd.DataFrame, axes: dict[str, list[Any]], default: dict[str, Any], source: str) -> dict[str, Any]:
    """Specifications counted by sign, and their rows."""
    signs = sign_counts(rows)
    held: dict[str, Any] = {"available": True, "source": source, "specifications": len(rows)}
    held |= {short: int(signs["n"].to_dict()[name]) for name, short in SIGNS.items()}
    held |= {f"share_{short}": number(signs["share"].to_dict()[name]) for name, short in SIGNS.items()}
    held |= {"axes": {name: [_plain(value) for value in values] for name, values in axes.items()}}
    held |= {"default": {name: _plain(value) for name, value in default.items()}}
    kept = [*axes, "estimate", "low", "high", "n_a", "n_b"]
    held["rows"] = [{name: _plain(value) for name, value in line.items()} for line in rows[kept].to_dict("records")]
    return held


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else number(value)


def _thresholds(asked: Asked) -> dict[str, float]:
    """Rules by name, the one in use first; those that come to a threshold already there are left out."""
    counts = asked.source.first
    found = {f"in use ({asked.source.threshold:.4g})": asked.source.threshold}
    table = counts.by().at(0.0)
    people = int(table["tp"]) + int(table["fp"])
    rules = {"the prevalence": nearest_edge(counts, int(table["tp"]) / people)}
    for share in SHARES:
        try:
            rules[f"flags {100 * share:g}%"] = threshold_at(counts, selection_rate, share)
        except AuditInputError:  # the topmost bin is larger than that
            continue
    for name, value in rules.items():
        if value not in found.values():
            found[f"{name} ({value:.4g})"] = value
    return found


def _people(asked: Asked) -> dict[str, Counts]:
    """Everybody, and everybody but one site or one group of another attribute; by the attribute asked about."""
    source, found = asked.source, {EVERYONE: asked.source.first}
    others = [dim for dim in source.counts.groups if dim != asked.dim]
    if sum(len(source.counts.groups[dim]) for dim in others) > MOST:
        others = []
    for dim in others:
        levels = source.counts.groups[dim]
        for gone in levels if len(levels) > 1 else ():
            rest = [level for level in levels if level != gone]
            found[_apart(f"without {source.names[dim]} {gone}", found)] = source.counts.sel(**{dim: rest}).by(asked.dim)
    return found
