"""Levels found, merged and united; tables added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from auditlib.counts.patterns import collapse
from auditlib.errors import AuditInputError

if TYPE_CHECKING:
    from auditlib.counts.table import Counts


def check_whole(value: object, name: str, most: int | None = None) -> None:
    """An error unless ``value`` is a whole number of at least 1, and at most ``most``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise AuditInputError(f"{name} must be a whole number of at least 1, not {value!r}.")
    if most is not None and value > most:
        raise AuditInputError(f"{name} must be at most {most:,}.")


def positions(dim: str, names: Sequence[str], levels: Sequence[str]) -> list[int]:
    """Where ``names`` stand among ``levels``; an error naming those that do not."""
    known = {level: at for at, level in enumerate(levels)}
    unknown = [name for name in names if name not in known]
    if unknown or not names or len(set(names)) < len(names):
        said = f"unknown: {', '.join(map(repr, unknown))}" if unknown else "name at least one level, each once"
        raise AuditInputError(f"{dim!r}: {said}. The levels are {', '.join(map(repr, levels))}.")
    return [known[name] for name in names]


def regrouping(
    dim: str, parts: Mapping[str, Iterable[str]], levels: tuple[str, ...]
) -> tuple[tuple[str, ...], np.ndarray]:
    """New levels (merged ones first) and the new code of every old level."""
    if not isinstance(parts, Mapping):
        raise AuditInputError(
            f"{dim!r}: say which levels go where, as {{'new name': ['level', 'level']}}, not {parts!r}."
        )
    code = np.full(len(levels), -1)
    for number, (name, members) in enumerate(parts.items()):
        if isinstance(members, str):
            raise AuditInputError(f"{dim!r}: the members of {name!r} must be a list, not the text {members!r}.")
        if not isinstance(members, Iterable):
            raise AuditInputError(f"{dim!r}: the members of {name!r} must be a list, not {members!r}.")
        for old in positions(dim, [str(member) for member in members], levels):
            if code[old] >= 0:
                raise AuditInputError(f"{dim!r}: {levels[old]!r} is put into two groups.")
            code[old] = number
    rest = np.flatnonzero(code < 0)
    names = (*map(str, parts), *(levels[old] for old in rest))
    if len(set(names)) < len(names):
        raise AuditInputError(f"{dim!r}: a merged group has the name of a level that stays: {', '.join(names)}.")
    code[rest] = len(parts) + np.arange(len(rest))
    return names, code


def add(left: Counts, right: object) -> Counts:
    """Counts of both tables; see ``Counts.__add__``."""
    from auditlib.counts.table import Counts

    if not isinstance(right, Counts):
        return NotImplemented
    if left.resampled or right.resampled:
        raise AuditInputError("replicates are not added; add the counts, then resample.")
    for what in ("dims", "models", "edges", "unit", "label", "positive"):
        mine, theirs = getattr(left, what), getattr(right, what)
        if set(mine) != set(theirs) if what == "dims" else mine != theirs:
            said = f" ({mine!r} and {theirs!r})" if what != "edges" else _types(left, right)
            hint = "count both with the same bins and thresholds, or .cut both to the same thresholds"
            raise AuditInputError(
                f"these counts cannot be added: their {what} differ{said}; "
                f"{hint if what == 'edges' else 'make them agree first'}."
            )
    right = right.by(*left.dims)
    groups = {
        dim: (*levels, *(level for level in right.groups[dim] if level not in levels))
        for dim, levels in left.groups.items()
    }
    cells = right.lines.cells.copy()
    for column, (dim, levels) in enumerate(groups.items()):
        code = np.array([levels.index(level) for level in right.groups[dim]], dtype=np.int64)
        cells[:, column] = code[cells[:, column]] if len(code) else cells[:, column]
    lines = collapse(
        np.concatenate([left.lines.pattern, right.lines.pattern + left.lines.units.shape[0]]),
        np.concatenate([left.lines.cells, cells]),
        np.concatenate([left.lines.n, right.lines.n]),
        np.concatenate([left.lines.units, right.lines.units]),
    )
    origin = {"sum_of": [*_origins(left), *_origins(right)]}
    return Counts(groups, left.edges, left.models, left.label, left.positive, left.unit, lines, origin)


def _types(left: Counts, right: Counts) -> str:
    mine, theirs = ("/".join(counts.edges.dtypes) for counts in (left, right))
    return "" if mine == theirs else f" (scores of {mine} and of {theirs})"


def _origins(counts: Counts) -> list[object]:
    return list(counts.provenance.get("sum_of", [dict(counts.provenance)]))
