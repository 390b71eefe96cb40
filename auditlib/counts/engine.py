"""One pass over the data, in whatever engine holds it.

The engine is asked for one aggregation: rows by (cluster, groups, label code, score bin). Labels and bins are
computed there as small integers, so that what comes back is as long as the table of counts, not the data. Where
``positive`` names the label that counts, the other labels are counted, too, in a pass over that column.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from auditlib.counts.edges import Edges, check_bins, check_threshold, distinct_edges, make_edges, round_to
from auditlib.counts.labels import LabelCode, label_code
from auditlib.counts.levels import check_name, group_levels
from auditlib.counts.patterns import collapse
from auditlib.counts.scored import as_floats, bin_of, check_scores, column, computed, score_dtype
from auditlib.counts.table import Counts
from auditlib.counts.tally import tally, tally_parts
from auditlib.errors import AuditInputError


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
    frame : pandas, Polars (eager or lazy), PyArrow, DuckDB, Dask, Spark, or anything else narwhals accepts
        One row a patient or encounter. The engine that holds the rows counts them, and only a table as long as the
        counts comes here (with ``cluster``, one line for each patient and cell). Workers of a Dask cluster need this
        package.
    label : str
        Column of outcomes: boolean, 0/1, or anything when ``positive`` names the value that counts.
    score : str or list of str
        Column(s) of predicted risks in [0, 1]. Several are counted jointly for each patient and give a ``model``
        dim, so that differences between models are paired.
    by : str or list of str
        Group columns (a site is a group like any other); values become strings.
    thresholds : float or list of float
        Edges beyond those of the grid. One within 1e-15 of a decimal of at most 10 places is that decimal, unless
        (with ``bins=None``) it is itself a score that occurs.
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
        Naming the column, the values and how many: missing or non-binary labels, labels that differ from ``positive``
        only in spaces, capitals, the coding of letters or the spelling of a number or truth value, scores missing or
        outside 0–1, missing groups, an empty frame, reserved or duplicate names, group values with one spelling.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"y": [1, 0, 1], "risk": [0.7, 0.2, 0.4], "sex": ["F", "M", "M"]})
    >>> count(frame, label="y", score="risk", by="sex", thresholds=[0.5]).at(0.5)["tp"].values
    array([1, 0])
    """
    asked: dict[str, Any] = {"thresholds": thresholds, "bins": bins, "cluster": cluster, "positive": positive}
    return tallied(frame, label=label, score=score, by=by, missing=missing, **asked)[0]


def tallied(
    frame: Any, *, label: str, score: str | Sequence[str], by: str | Sequence[str],
    thresholds: float | Sequence[float] = (), bins: int | None = 200, cluster: str | None = None, positive: Any = None,
    missing: str = "raise", look: bool = True,
) -> tuple[Counts, dict[str, int] | None]:  # fmt: skip
    """What ``count`` gives, and rows of each label value but the positive one where that was named.

    ``look=False`` leaves these out, because they were looked at before.
    """
    if missing not in ("raise", "category"):
        raise AuditInputError(f"missing must be 'raise' or 'category', not {missing!r}.")
    asked = [check_threshold(t) for t in np.atleast_1d(np.asarray(thresholds, dtype=object))]
    grid = None if bins is None else check_bins(bins)
    data = open_frame(frame)
    schema = computed(data.collect_schema)
    question = check_question(schema, label, score, by, cluster)
    check_groups(schema, question, data.implementation.is_pandas())
    if data.implementation.is_dask():  # it makes up example values of every column, and of some it cannot
        data = data.drop(name for name in schema if name not in {label, *question.scores, *question.by, cluster})
    data = computed(lambda: as_floats(data, schema, (label, *question.scores)))
    schema = data.collect_schema()
    dtypes = tuple(score_dtype(data, name, schema[name]) for name in question.scores)
    code = label_code(data, label, schema[label], positive)
    edges = None if grid is None else make_edges(grid, asked, dtypes)
    table = aggregate(code.data, question, code, edges)
    if not len(table["n"]):
        raise AuditInputError("the frame has no rows; there is nothing to count.")
    positive_name = code.check(table["label"], table["n"])
    others = others_of(code) if look else None
    check_scores(question.scores, table)
    if edges is None:
        edges = distinct_edges([table[f"bin{i}"] for i in range(len(dtypes))], asked, dtypes)
    return build(table, question, edges, positive_name, missing), others


def open_frame(frame: Any) -> nw.LazyFrame[Any]:
    """The frame as a narwhals LazyFrame, or an error that says what can be counted."""
    names = names_of(frame)
    if twice := sorted(str(name) for name, times in Counter(names).items() if times > 1):
        spark = " (to Spark, which tells no capitals apart)" if hasattr(frame, "sparkSession") else ""
        raise AuditInputError(f"column names occur twice{spark}: {', '.join(map(repr, twice))}; rename them.")
    other = [name for name in names if not isinstance(name, str)]
    if other:
        shown = ", ".join(map(repr, other[:10]))
        raise AuditInputError(f"column names must be text; rename those that are numbers or tuples ({shown}).")
    try:
        with warnings.catch_warnings():  # of a package for Dask that is still to come
            warnings.filterwarnings("ignore", "Dask support is moving out of Narwhals", FutureWarning)
            data = nw.from_native(frame)
    except (TypeError, nw.exceptions.NarwhalsError) as error:
        kind, said = type(frame).__name__, str(error).strip().partition("\n")[0]
        raise AuditInputError(
            f"cannot count a {kind}; pass a pandas, Polars, PyArrow, DuckDB, Dask or Spark table ({said})."
        ) from None
    return data.lazy()


def names_of(frame: Any) -> list[Any]:
    """Column names, of those frames that may hold one twice, or names that are no text."""
    if hasattr(frame, "iloc"):  # pandas, Dask
        return list(getattr(frame, "columns", ()))
    if hasattr(frame, "column_names"):  # PyArrow
        return list(frame.column_names)
    if not hasattr(frame, "sparkSession"):
        return []
    exact = frame.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
    return [name if exact else name.lower() for name in frame.columns]


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
            if name == "*" or (name.startswith("^") and name.endswith("$")):
                raise AuditInputError(f"column {name!r}: engines read this name as a pattern; rename the column.")
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


def check_groups(schema: Any, question: Question, local: bool) -> None:
    """No group or cluster holds lists, or Python objects that only pandas can compare."""
    units = [("cluster", question.cluster)] if question.cluster else []
    for what, name in [*(("group", name) for name in question.by), *units]:
        dtype = schema[name]
        if dtype.is_nested() or (dtype == nw.Object and not local):
            raise AuditInputError(f"{what} {name!r} holds values of type {dtype}; make them text.")


def column_names(names: Any) -> tuple[Any, ...]:
    """One name or several, as a tuple."""
    return tuple(names) if isinstance(names, list | tuple | set | np.ndarray) else (names,)


def aggregate(data: Any, question: Question, code: LabelCode, edges: Edges | None) -> dict[str, Any]:
    """The engine's one aggregation, brought here as columns (``group0`` …, ``unit``, ``label``, ``bin0`` …, ``n``)."""
    columns = [column(data, name).alias(f"group{i}") for i, name in enumerate(question.by)]
    if question.cluster:
        columns.append(column(data, question.cluster).alias("unit"))
    columns.append(code.expression.alias("label"))
    dtypes = edges.dtypes if edges else ("float64",) * len(question.scores)
    for i, (name, dtype) in enumerate(zip(question.scores, dtypes, strict=True)):
        columns.append(bin_of(column(data, name), dtype, edges).alias(f"bin{i}"))
    selected = computed(lambda: data.select(*columns))
    keys = selected.collect_schema().names()
    names = {f"group{i}": f"group {name!r}" for i, name in enumerate(question.by)}
    names["unit"] = f"cluster {question.cluster!r}"
    local = distinct_rows(selected, keys, names)
    whole = set(names)  # groups and units: their types matter, and what is missing
    table = {name: local[name] if name in whole else local[name].to_numpy() for name in keys}
    return table | {"n": local["n"].to_numpy().astype(np.int64)}


def distinct_rows(selected: Any, keys: Sequence[str], names: dict[str, str]) -> Any:
    """Distinct rows and how often each occurs, counted by the engine and brought here."""
    if selected.implementation.is_pandas():
        return nw.from_native(computed(lambda: tally(selected.collect().to_native(), names)), eager_only=True)
    if selected.implementation.is_dask():
        return nw.from_native(computed(lambda: tally_parts(selected.to_native(), names)), eager_only=True)
    options = {"engine": "streaming"} if selected.implementation.is_polars() else {}
    return computed(lambda: selected.group_by(*keys).agg(nw.len().alias("n")).collect(**options))


def others_of(code: LabelCode) -> dict[str, int]:
    """Rows of each label but the positive one, where that was named; a pass over one column."""
    asked = code.values_to_count()
    if asked is None:
        return {}
    local = distinct_rows(asked, ["value", "code"], {"value": f"label {code.name!r}"})
    return code.others(*(local[name].to_list() for name in ("value", "code", "n")))


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
