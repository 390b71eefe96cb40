"""The ways in: rows, counts, confusion matrices, or a classifier, each made a source."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.audits.options import Options
from auditlib.audits.source import Source, check_dims, check_one_model, chosen, counted, nearest_edge, source_of
from auditlib.audits.tables import FLAGGED, counts_of
from auditlib.counts import Counts, parse_confusion
from auditlib.errors import AuditInputError

WAYS = "a table of rows, counts, confusion matrices, a fitted classifier, or the Path of a file"


@dataclass(frozen=True)
class Columns:
    """What the columns of rows mean."""

    label: str | None = None
    score: str | None = None
    site: str | None = None
    cluster: str | None = None
    positive: Any = None
    missing: str = "raise"


def source_from(data: Any, X: Any, y: Any, by: Any, known: Columns, options: Options, facts: dict[str, Any]) -> Source:
    """The source that ``al.audit`` was given, whichever it is; see there."""
    known = _named(known)
    if hasattr(data, "predict_proba"):
        from auditlib.audits.estimator import estimator_source

        return estimator_source(data, X, y, by, known, options, facts)
    if X is not None or y is not None:
        raise AuditInputError(
            f"X and y go with a fitted classifier that has predict_proba; {type(data).__name__} has none."
        )
    if isinstance(data, str):
        data = _matrices(data)
    if isinstance(data, list | tuple):
        facts, data = facts | {"hospitals": len(data)}, _total(data)
    if isinstance(data, xr.Dataset):
        _refuse(known, ("label", "score", "site", "cluster", "positive", "missing"), "confusion matrices have none")
        return confusion_source(data, by, options, facts)
    if isinstance(data, Counts):
        _refuse(known, ("label", "score", "cluster", "positive", "missing"), "counts hold it already")
        return counts_source(data, by, known.site, options, facts)
    if data is None:
        raise AuditInputError(f"there is nothing to audit: None; pass {WAYS}.")
    _check_named(by, known)
    if isinstance(data, Path):
        from auditlib.audits.files import file_source

        return file_source(data, names_of(by), asdict(known), options, facts=facts)
    return rows_source(data, names_of(by), asdict(known), options, facts)


def _named(known: Columns) -> Columns:
    """The columns, each named by text."""
    score = known.score
    if isinstance(score, list | tuple) and len(score) == 1:
        known = replace(known, score=score[0])
    elif isinstance(score, list | tuple):
        raise AuditInputError(f"score names {len(score)} columns; an audit is of one model.")
    for role in ("label", "score", "site", "cluster"):
        name = getattr(known, role)
        if name is not None and not (isinstance(name, str) and name):
            what = "empty text" if isinstance(name, str) else f"a {type(name).__name__}"
            raise AuditInputError(f"{role} must be the name of a column, not {what}.")
    return known


def _refuse(known: Columns, roles: Sequence[str], why: str) -> None:
    """An error for what goes with rows and says nothing here."""
    for role in roles:
        if getattr(known, role) != Columns.__dataclass_fields__[role].default:
            raise AuditInputError(f"{role}= goes with rows; {why}, so leave it out.")


def _matrices(text: str) -> xr.Dataset:
    """Confusion matrices from text; what looks like a path is said to be one."""
    try:
        return parse_confusion(text)
    except AuditInputError:
        if ":" in text and not re.search(r"\.[a-z][a-z0-9]{1,7}$", text.strip().lower()) and not os.path.exists(text):
            raise
    raise AuditInputError(
        f"{text[:60]!r} is no confusion matrices, which are written 'Women:80,40,800,30; Men:120,90,700,25' "
        "(TP,FP,TN,FN); for a file pass pathlib.Path(…)."
    )


def _total(data: Sequence[Any]) -> Counts:
    """A list of counts, added; an error for a list of anything else."""
    if not data:
        raise AuditInputError(f"there is nothing to audit: an empty list; pass {WAYS}.")
    if all(isinstance(each, Counts) for each in data):
        return added(data)
    other = next(each for each in data if not isinstance(each, Counts))
    if isinstance(other, str | Path):
        raise AuditInputError(
            f"a list of {len(data):,} names: audit one file, or count each hospital's and pass the list of counts."
        )
    raise AuditInputError(f"a list with a {type(other).__name__} in it cannot be audited; pass {WAYS}.")


def _check_named(by: Any, known: Columns) -> None:
    missing = [role for role in ("label", "score") if getattr(known, role) is None] + ["by"] * (by is None)
    if missing:
        raise AuditInputError(f"rows need {', '.join(f'{role}=…' for role in missing)}: name the columns.")


def added(tables: Sequence[Counts], names: Sequence[str] = ()) -> Counts:
    """Counts of several hospitals added; levels that not all of them have in one order stand in order of their names.

    >>> from auditlib.counts import confusion
    >>> cells = {"tp": [1, 2], "fp": [1, 2], "fn": [1, 2], "tn": [1, 2]}
    >>> added([counts_of(confusion(**cells, ward=["b", "a"])), counts_of(confusion(**cells, ward=["a", "c"]))]).groups
    {'ward': ('a', 'b', 'c')}

    Raises
    ------
    AuditInputError
        When a table is there twice, whatever it is called and however its groups are ordered; or tables do not fit.
    """
    held: dict[Any, int] = {}
    for place, table in enumerate(tables):
        if (other := held.setdefault(content_of(table), place)) != place:
            called = [repr(names[at]) if names else f"table {at + 1}" for at in (place, other)]
            raise AuditInputError(f"{' and '.join(called)} are the same table; its people would count twice.")
    total = sum(tables[1:], tables[0])
    mixed = {
        dim: sorted(levels, key=_sorting(levels))
        for dim, levels in total.groups.items()
        if any(tuple(table.groups[dim]) != levels for table in tables)
    }
    return total.sel(**mixed) if mixed else total


def content_of(counts: Counts) -> tuple[Any, ...]:
    """What a table counts, the same for any order of its groups and wherever it comes from."""
    if counts.resampled:
        raise AuditInputError("replicates are not added; add the counts, then resample.")
    dims = sorted(counts.dims)
    frame = counts.by(*dims).as_rows().to_frame()
    keys = [name for name in frame if name != "n"]
    cells = frame.groupby(keys)["n"].sum() if len(frame) else frame["n"]
    facts = (*dims, *counts.models, counts.label, counts.positive, counts.unit, counts.n_units)
    return (*facts, counts.edges.lower.tobytes(), tuple(cells.index), tuple(cells))


def _sorting(levels: Sequence[str]) -> Any:
    """Numbers by size, other names by spelling."""
    try:
        numbers = {level: float(level) for level in levels}
    except ValueError:
        return str
    return numbers.__getitem__


def rows_source(
    frame: Any, by: Sequence[str], known: Mapping[str, Any], options: Options, facts: Mapping[str, Any],
    notes: Sequence[str] = (), kind: str = "rows",
) -> Source:  # fmt: skip
    """Counts of the rows as a source; ``known`` has label, score, site, cluster, positive and missing."""
    if not by:
        raise AuditInputError("say which groups are compared: by=….")
    counts, threshold, rule, more = counted(frame, options, by=by, **known)
    held = {**facts, "score": known["score"]}
    return source_of(kind, counts, by, known["site"], threshold, rule, held, [*notes, *more])


def counts_source(counts: Counts, by: Any, site: str | None, options: Options, facts: Mapping[str, Any]) -> Source:
    """Counts as a source, at the threshold named, that of their provenance, or the edge nearest the prevalence."""
    if counts.resampled:
        raise AuditInputError("replicates cannot be audited; pass the counts before .resample(…).")
    check_one_model(counts)
    names = [dim for dim in counts.dims if dim != site] if by is None else names_of(by)
    check_dims(counts, [*(("by", name) for name in names), *([("site", site)] if site is not None else [])])
    rule = options.threshold
    known, notes = (None, []) if rule is not None else known_threshold(counts)
    if known is not None:
        threshold, words = counts.edges.find(known)[0], "given"
    elif rule is None and [0 < value < 1 for value in counts.thresholds] == [True]:
        threshold, words = counts.thresholds[0], "given"
    else:
        threshold, words = chosen(counts, rule)
        if not isinstance(rule, int | float) and threshold not in counts.edges.lower:
            threshold, words = nearest_edge(counts, threshold), f"the edge nearest the {words}"
    return source_of("counts", counts, names, site, threshold, words, facts, notes)


def known_threshold(counts: Counts) -> tuple[float | None, list[str]]:
    """The threshold that the tables were made for, if all of them name one and the same; else a note."""
    held = counts.provenance
    found = [each.get("threshold") for each in held.get("sum_of", [held]) if isinstance(each, Mapping)]
    named = {
        float(value)
        for value in found
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1
    }
    if len(named) == 1 and len({str(value) for value in found}) == 1:
        return named.pop(), []
    if not named:
        return None, []
    said = " and ".join(f"{value:g}" for value in sorted(named))
    what = "different thresholds" if len(named) > 1 else "a threshold in some of them only"
    return None, [f"The counts that were added name {what} ({said}), so none of these is the one in use."]


def confusion_source(table: xr.Dataset, by: Any, options: Options, facts: Mapping[str, Any]) -> Source:
    """Confusion matrices as a source."""
    if options.threshold is not None:
        raise AuditInputError("threshold: confusion matrices hold one threshold already; leave it out.")
    counts = counts_of(table)
    names = list(counts.dims) if by is None else names_of(by)
    check_dims(counts, [("by", name) for name in names])
    return source_of("confusion", counts, names, None, FLAGGED, "given", facts)


def names_of(by: Any) -> list[str]:
    """Names of groups as a list; the first is what the questions are asked of.

    >>> names_of("sex"), names_of(("sex", "race"))
    (['sex'], ['sex', 'race'])
    """
    names = [by] if isinstance(by, str) else by
    if not isinstance(names, list | tuple | pd.Index | np.ndarray):
        raise AuditInputError(f"by must be the name of a column or a list of names, not a {type(by).__name__}.")
    if wrong := [each for each in names if not isinstance(each, str)]:
        raise AuditInputError(f"by must name columns by text, not {str(wrong[0])[:60]!r} ({type(wrong[0]).__name__}).")
    return [str(name) for name in names]
