"""One pass over the data, in whatever engine holds it.

The engine is asked for one aggregation: rows by (cluster, groups, label code, score bin). Labels and bins are
computed there as small integers, so that what comes back is as long as the table of counts, not the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from auditlib.counts.edges import (
    Edges,
    check_bins,
    check_threshold,
    distinct_edges,
    grid_edges,
    make_edges,
    round_to,
)
from auditlib.counts.labels import LabelCode, label_code
from auditlib.counts.levels import check_name, group_levels
from auditlib.counts.patterns import collapse
from auditlib.counts.table import Counts
from auditlib.errors import AuditInputError

MISSING, OUTSIDE = -1, -2


@dataclass(frozen=True)
class Question:
    """The columns asked for, checked against the frame."""

    label: str
    scores: tuple[str, ...]
    by: tuple[str, ...]
    cluster: str | None


def count(
    frame: Any,
    *,
    label: str,
    score: str | Sequence[str],
    by: str | Sequence[str],
    thresholds: float | Sequence[float] = (),
    bins: int | None = 200,
    cluster: str | None = None,
    positive: Any = None,
    missing: str = "raise",
) -> Counts:
    """Count patients by group, label and score bin: the one pass over the data.

    A patient is flagged at threshold t when score >= t. Bins begin at k/bins and at each of ``thresholds``.

    Parameters
    ----------
    frame : pandas, Polars (eager or lazy), PyArrow, DuckDB, or anything else narwhals accepts
        One row a patient or encounter.
    label : str
        Column of outcomes: boolean, 0/1, or anything when ``positive`` names the value that counts.
    score : str or list of str
        Column(s) of predicted risks in [0, 1]. Several are counted jointly for each patient and give a ``model``
        dim, so that differences between models are paired.
    by : str or list of str
        Group columns (a site is a group like any other); values become strings.
    thresholds : float or list of float
        Edges beyond those of the grid. One within 1e-15 of a decimal of at most 10 places is that decimal.
    bins : int or None
        Number of equal bins; None makes every score that occurs an edge.
    cluster : str, optional
        Column naming the unit to resample (a patient with several encounters).
    positive : optional
        The label value that counts as positive.
    missing : {"raise", "category"}
        What to do with a missing group: an error, or a level called ``missing``. Labels and scores are never filled.

    Returns
    -------
    Counts

    Raises
    ------
    AuditInputError
        Naming the column, the values and how many: missing or non-binary labels, scores missing or outside 0–1,
        missing groups, an empty frame, reserved or duplicate names, group values with one spelling.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"y": [1, 0, 1], "risk": [0.7, 0.2, 0.4], "sex": ["F", "M", "M"]})
    >>> count(frame, label="y", score="risk", by="sex", thresholds=[0.5]).at(0.5)["tp"].values
    array([1, 0])
    """
    if missing not in ("raise", "category"):
        raise AuditInputError(f"missing must be 'raise' or 'category', not {missing!r}.")
    asked = [check_threshold(t) for t in np.atleast_1d(np.asarray(thresholds, dtype=object))]
    grid = None if bins is None else check_bins(bins)
    data = open_frame(frame)
    schema = data.collect_schema()
    question = check_question(schema, label, score, by, cluster)
    dtypes = tuple(score_dtype(name, schema[name]) for name in question.scores)
    code = label_code(data, label, schema[label], positive)
    edges = None if grid is None else make_edges(grid, asked, dtypes)
    table = aggregate(data, question, code, edges)
    if not len(table["n"]):
        raise AuditInputError("the frame has no rows; there is nothing to count.")
    positive_name = code.check(table["label"], table["n"])
    check_scores(question.scores, table)
    if edges is None:
        edges = distinct_edges([table[f"bin{i}"] for i in range(len(dtypes))], asked, dtypes)
    return build(table, question, edges, positive_name, missing)


def open_frame(frame: Any) -> nw.LazyFrame[Any]:
    """The frame as a narwhals LazyFrame, or an error that says what can be counted."""
    names = [*getattr(frame, "columns", ())] if hasattr(frame, "iloc") else []  # pandas allows any names, even twice
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise AuditInputError(f"column names occur twice: {', '.join(map(repr, twice))}; rename them.")
    other = [name for name in names if not isinstance(name, str)]
    if other:
        shown = ", ".join(map(repr, other[:10]))
        raise AuditInputError(f"column names must be text; rename those that are numbers or tuples ({shown}).")
    try:
        data = nw.from_native(frame)
    except (TypeError, nw.exceptions.NarwhalsError) as error:
        raise AuditInputError(
            f"cannot count a {type(frame).__name__}; pass a pandas, Polars, PyArrow or DuckDB table ({error})."
        ) from None
    return data.lazy()


def check_question(
    schema: Any, label: str, score: str | Sequence[str], by: str | Sequence[str], cluster: str | None
) -> Question:
    """Every column exists and plays one part; no group has a reserved name."""
    scores, groups = column_names(score), column_names(by)
    units = () if cluster is None else (cluster,)
    if not scores:
        raise AuditInputError("score names no column.")
    for role, names in (("label", (label,)), ("score", scores), ("by", groups), ("cluster", units)):
        for name in names:
            if not isinstance(name, str) or name not in schema:
                near = ", ".join(map(repr, list(schema)[:20])) or "none"
                raise AuditInputError(f"{role}={name!r} is not a column; the columns are: {near}.")
    parts = [label, *scores, *groups]
    if len(set(parts)) < len(parts):
        twice = next(name for name in parts if parts.count(name) > 1)
        raise AuditInputError(f"column {twice!r} is used twice; label, score and by must be different columns.")
    if cluster == "row":
        raise AuditInputError("cluster='row' says nothing, since every row is a row; rename the column.")
    if cluster in (label, *scores):
        raise AuditInputError(f"cluster={cluster!r} is the label or a score; name the column that tells units apart.")
    for name in groups:
        check_name(name)
    return Question(label, scores, groups, cluster)


def column_names(names: Any) -> tuple[Any, ...]:
    """One name or several, as a tuple."""
    return tuple(names) if isinstance(names, list | tuple | set | np.ndarray) else (names,)


def score_dtype(name: str, dtype: Any) -> str:
    """Type in which scores are compared with edges."""
    if dtype == nw.Float32:
        return "float32"
    if dtype.is_numeric() or dtype == nw.Boolean:
        return "float64"
    kind = "no known type (is every value missing?)" if dtype == nw.Unknown else f"type {dtype}, not numbers"
    raise AuditInputError(f"score {name!r} has {kind}; convert it to floats between 0 and 1.")


def bin_of(name: str, dtype: str, edges: Edges | None) -> nw.Expr:
    """Bin number of a score (the score itself where edges are its values), or a code for missing or outside."""
    score = nw.col(name).cast(nw.Float64)
    inside = ((score >= 0.0) & (score <= 1.0)).fill_null(False)
    # A NaN is greater than everything for some engines and not comparable for others, so it is asked for by name.
    absent = nw.col(name).is_null() | score.is_nan().fill_null(True)
    if edges is None:
        found = score
    else:
        bins = float(edges.grid or 0)
        nearest = (score * bins + 0.5).floor()
        # Divided by a column, not a number: Polars turns x / 200.0 into x * (1 / 200.0), which misses the edge.
        edge = nearest / (nearest * 0.0 + bins)
        if dtype == "float32":
            edge = edge.cast(nw.Float32).cast(nw.Float64)
        found = nearest - (score < edge).cast(nw.Float64)
        grid = set(grid_edges(edges.grid or 1).tolist())
        for threshold in (t for t in edges.lower.tolist() if t not in grid):
            found = found + (score >= float(round_to(threshold, dtype))).cast(nw.Float64)
    code = nw.when(absent).then(float(MISSING)).otherwise(nw.when(inside).then(found).otherwise(float(OUTSIDE)))
    return code if edges is None else code.cast(nw.Int32)  # engines group whole numbers faster


def aggregate(data: Any, question: Question, code: LabelCode, edges: Edges | None) -> dict[str, np.ndarray]:
    """The engine's one aggregation, brought here as columns (``group0`` …, ``unit``, ``label``, ``bin0`` …, ``n``)."""
    columns = [nw.col(name).alias(f"group{i}") for i, name in enumerate(question.by)]
    if question.cluster:
        columns.append(nw.col(question.cluster).alias("unit"))
    columns.append(code.expression.alias("label"))
    dtypes = edges.dtypes if edges else ("float64",) * len(question.scores)
    for i, (name, dtype) in enumerate(zip(question.scores, dtypes, strict=True)):
        columns.append(bin_of(name, dtype, edges).alias(f"bin{i}"))
    selected = data.select(*columns)
    keys = selected.collect_schema().names()
    if data.implementation.is_pandas():
        local = nw.from_native(tally(selected.collect().to_native()), eager_only=True)
    else:
        options = {"engine": "streaming"} if data.implementation.is_polars() else {}
        local = selected.group_by(*keys).agg(nw.len().alias("n")).collect(**options)
    table = {name: local[name].to_numpy() for name in keys if not name.startswith("group")}
    table["n"] = local["n"].to_numpy().astype(np.int64)
    for i in range(len(question.by)):
        table[f"group{i}"] = local[f"group{i}"]
    return table


def tally(frame: pd.DataFrame) -> pd.DataFrame:
    """Distinct rows and how often each occurs, ``n``; pandas' own ``groupby(…).size()`` takes twice as long."""
    key, size = np.zeros(len(frame), dtype=np.int64), 1
    for name in frame.columns:
        codes, levels = pd.factorize(frame[name], use_na_sentinel=False)
        if size * len(levels) >= 2**62:
            key, size = pd.factorize(key)[0], len(frame)
        key, size = key * len(levels) + codes, size * len(levels)
    code, found = pd.factorize(key)
    first = np.empty(len(found), dtype=np.int64)
    first[code[::-1]] = np.arange(len(frame))[::-1]  # of repeated places the last one written stays
    return frame.iloc[first].assign(n=np.bincount(code, minlength=len(found)))


def check_scores(scores: Sequence[str], table: dict[str, Any]) -> None:
    """No score is missing or outside 0–1."""
    n, total = table["n"], int(table["n"].sum())
    for i, name in enumerate(scores):
        codes = table[f"bin{i}"]
        absent, outside = int(n[codes == MISSING].sum()), int(n[codes == OUTSIDE].sum())
        if outside:
            raise AuditInputError(
                f"score {name!r}: {outside:,} of {total:,} values lie outside 0–1; a score is a predicted risk. "
                "Divide percentages by 100, or turn logits into probabilities."
            )
        if absent:
            raise AuditInputError(
                f"score {name!r}: {absent:,} of {total:,} rows have no value; scores are never filled. "
                "Drop those rows knowingly, or predict for them."
            )


def build(table: dict[str, Any], question: Question, edges: Edges, positive: str, missing: str) -> Counts:
    """The engine's table as Counts."""
    n = table["n"]
    columns, groups = [], {}
    for i, name in enumerate(question.by):
        groups[name], code = group_levels(name, table[f"group{i}"], n, missing)
        columns.append(code)
    columns.append(table["label"].astype(np.int64))
    for i in range(len(question.scores)):
        found = table[f"bin{i}"]
        if edges.kind == "distinct":
            found = np.searchsorted(round_to(edges.lower, edges.dtypes[i]), found, side="right") - 1
        columns.append(found.astype(np.int64))
    cells = np.stack(columns, axis=1)
    if question.cluster is None:
        lines = collapse(np.arange(len(n)), cells, np.ones(len(n), np.int64), n)
    else:
        units = group_levels(question.cluster, table["unit"], n, "raise", what="cluster")[1]
        lines = collapse(units, cells, n, np.ones(int(units.max()) + 1, np.int64))
    models = question.scores if len(question.scores) > 1 else ()
    return Counts(groups, edges, models, question.label, positive, question.cluster or "row", lines)
