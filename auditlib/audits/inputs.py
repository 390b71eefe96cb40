"""The ways in: rows, counts, confusion matrices, or a classifier, each made a source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.audits.options import Options
from auditlib.audits.source import Source, chosen, counted, nearest_edge, source_of
from auditlib.audits.tables import FLAGGED, counts_of
from auditlib.counts import Counts, parse_confusion
from auditlib.errors import AuditInputError


@dataclass(frozen=True)
class Columns:
    """What the columns of rows mean."""

    label: str | None
    score: str | None
    site: str | None
    cluster: str | None
    positive: Any
    missing: str


def source_from(data: Any, X: Any, y: Any, by: Any, known: Columns, options: Options, facts: dict[str, Any]) -> Source:
    """The source that ``al.audit`` was given, whichever it is; see there."""
    if isinstance(data, Path):
        return _file_source(data, by, known, options, facts)
    if isinstance(data, str):
        data = parse_confusion(data)
    if isinstance(data, list | tuple) and data and all(isinstance(each, Counts) for each in data):
        facts, data = facts | {"hospitals": len(data)}, added(data)
    if isinstance(data, xr.Dataset):
        return confusion_source(data, by, options, facts)
    if isinstance(data, Counts):
        return counts_source(data, by, known.site, options, facts)
    if hasattr(data, "predict_proba"):
        return _estimator_source(data, X, y, by, known, options, facts)
    if X is not None or y is not None:
        raise AuditInputError(
            f"X and y go with a fitted classifier that has predict_proba; {type(data).__name__} has none."
        )
    _check_named(by, known)
    return rows_source(data, _names(by), asdict(known), options, facts)


def _check_named(by: Any, known: Columns) -> None:
    missing = [role for role in ("label", "score") if getattr(known, role) is None] + ["by"] * (by is None)
    if missing:
        raise AuditInputError(f"rows need {', '.join(f'{role}=…' for role in missing)}: name the columns.")


def _file_source(path: Path, by: Any, known: Columns, options: Options, facts: dict[str, Any]) -> Source:
    from auditlib.audits.files import file_source

    _check_named(by, known)
    return file_source(path, _names(by), asdict(known), options, facts=facts)


def added(tables: Sequence[Counts]) -> Counts:
    """Counts of several hospitals added; levels that not all of them have in one order stand in order of their names.

    >>> from auditlib.counts import confusion
    >>> cells = {"tp": [1, 2], "fp": [1, 2], "fn": [1, 2], "tn": [1, 2]}
    >>> added([counts_of(confusion(**cells, ward=["b", "a"])), counts_of(confusion(**cells, ward=["a", "c"]))]).groups
    {'ward': ('a', 'b', 'c')}
    """
    total = sum(tables[1:], tables[0])
    mixed = {
        dim: sorted(levels, key=_sorting(levels))
        for dim, levels in total.groups.items()
        if any(tuple(table.groups[dim]) != levels for table in tables)
    }
    return total.sel(**mixed) if mixed else total


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
    counts, threshold, rule = counted(frame, options, by=by, **known)
    more = {"score": known["score"]}
    return source_of(kind, counts, by, known["site"], threshold, rule, {**facts, **more}, notes)


def counts_source(counts: Counts, by: Any, site: str | None, options: Options, facts: Mapping[str, Any]) -> Source:
    """Counts as a source, at the threshold named, that of their provenance, or the edge nearest the prevalence."""
    if counts.resampled:
        raise AuditInputError("replicates cannot be audited; pass the counts before .resample(…).")
    names = [dim for dim in counts.dims if dim != site] if by is None else _names(by)
    for name in [*names, *([site] if site else [])]:
        counts.column(name)
    rule = options.threshold
    if rule is None and isinstance(counts.provenance.get("threshold"), int | float):
        threshold, words = counts.edges.find(counts.provenance["threshold"])[0], "given"
    elif rule is None and len(counts.thresholds) == 1:
        threshold, words = counts.thresholds[0], "given"
    else:
        threshold, words = chosen(counts, rule)
        if not isinstance(rule, int | float) and threshold not in counts.edges.lower:
            threshold, words = nearest_edge(counts, threshold), f"the edge nearest the {words}"
    return source_of("counts", counts, names, site, threshold, words, facts)


def confusion_source(table: xr.Dataset, by: Any, options: Options, facts: Mapping[str, Any]) -> Source:
    """Confusion matrices as a source."""
    if options.threshold is not None:
        raise AuditInputError("threshold: confusion matrices hold one threshold already; leave it out.")
    counts = counts_of(table)
    names = list(counts.dims) if by is None else _names(by)
    for name in names:
        counts.column(name)
    return source_of("confusion", counts, names, None, FLAGGED, "given", facts)


def _estimator_source(
    model: Any, X: Any, y: Any, by: Any, known: Columns, options: Options, facts: dict[str, Any]
) -> Source:
    """A classifier's predicted risks of the positive class, with the outcomes and groups beside."""
    if X is None or y is None or by is None:
        raise AuditInputError("a classifier needs X, y and by: al.audit(model, X, y, by).")
    groups = _groups(X, by)
    outcome = pd.Series(np.asarray(y)).reset_index(drop=True)
    classes = list(getattr(model, "classes_", ()))
    if len(classes) != 2:
        raise AuditInputError(f"the classifier knows {len(classes)} classes; an audit needs a fitted one with two.")
    positive = classes[1] if known.positive is None else known.positive
    if positive not in classes:
        raise AuditInputError(f"positive={positive!r} is no class of the model: {', '.join(map(repr, classes))}.")
    risks = np.asarray(model.predict_proba(X))[:, classes.index(positive)]
    if not len(groups) == len(outcome) == len(risks):
        raise AuditInputError(f"X, y and by have {len(risks):,}, {len(outcome):,} and {len(groups):,} rows.")
    strange = sorted({str(value) for value in pd.unique(outcome.dropna()) if value not in classes})
    if strange:
        raise AuditInputError(f"y holds {', '.join(map(repr, strange[:5]))}, which the model does not know.")
    if outcome.isna().any():
        raise AuditInputError(f"y: {int(outcome.isna().sum()):,} of {len(outcome):,} outcomes are missing.")
    label = _free(groups, known.label or getattr(y, "name", None) or "outcome")
    score = _free(groups, "score")
    frame = groups.assign(**{label: (outcome == positive).astype("int64"), score: risks})
    columns = asdict(known) | {"label": label, "score": score, "positive": None}
    for column in (known.cluster, known.site):
        if column is not None and column not in frame:
            frame[column] = _column(X, column)
    by_names = [str(name) for name in groups if name not in (known.cluster, known.site)]
    return rows_source(frame, by_names, columns, options, facts | {"model": type(model).__name__}, kind="estimator")


def _groups(X: Any, by: Any) -> pd.DataFrame:
    """Groups as a frame: named columns of X, a Series, a DataFrame, or an array."""
    if isinstance(by, pd.DataFrame):
        return by.reset_index(drop=True)
    if isinstance(by, pd.Series):
        return pd.DataFrame({str(by.name or "group"): by.to_numpy()})
    if isinstance(by, str) or (isinstance(by, list | tuple) and all(isinstance(each, str) for each in by)):
        names = _names(by)
        if len(names) != len(X) or isinstance(by, str):
            return pd.DataFrame({name: _column(X, name) for name in names})
    return pd.DataFrame({"group": np.asarray(by)})


def _column(X: Any, name: str) -> Any:
    if not isinstance(X, pd.DataFrame) or name not in X:
        raise AuditInputError(f"{name!r} is no column of X; pass the groups themselves, as a Series or DataFrame.")
    return X[name].to_numpy()


def _free(frame: pd.DataFrame, name: Any) -> str:
    """A column name that no group has."""
    found = str(name)
    while found in frame:
        found += "_"
    return found


def _names(by: Any) -> list[str]:
    return [by] if isinstance(by, str) else list(by)
