"""Weights that make group and label independent in the training data (Kamiran and Calders)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from auditlib.counts import Counts
from auditlib.counts.levels import check_names, group_levels
from auditlib.errors import AuditInputError
from auditlib.values import listed

NAMED = 10  # empty cells named in a message
CELLS = 10_000  # up to so many are looked at one by one
RESULTS = ("n", "weight")  # columns of the table


def reweigh(frame: pd.DataFrame, label: str, groups: str | Sequence[str]) -> pd.Series:
    """A weight a row, w(g, y) = P(g)·P(y) / P(g, y), under which group and label are independent.

    The group g is joint over the columns ``groups``. Weights add up to the number of rows, and the weighted shares of
    each group, and of each label, are those of the data. They are meant for a learner's ``sample_weight``; many
    learners take them, but what follows for the verdicts of the model has to be audited.

    Parameters
    ----------
    frame : pandas DataFrame
        One row a training record.
    label : str
        Column of the label; any number of values.
    groups : str or list of str
        Columns of the groups.

    Returns
    -------
    Series
        Float weights named ``weight``, with the frame's index. ``reweighing_table`` gives the few different ones.

    Raises
    ------
    AuditInputError
        For a column that is not there or misses values, a single group or label, or a group without some label.

    References
    ----------
    Kamiran F, Calders T. Data preprocessing techniques for classification without discrimination. Knowl Inf Syst
    2012;33:1–33, algorithm 3.

    Examples
    --------
    >>> frame = pd.DataFrame({"sex": list("FFFMMM"), "long": [1, 0, 0, 1, 1, 0]})
    >>> reweigh(frame, "long", "sex").tolist()
    [1.5, 0.75, 0.75, 0.75, 0.75, 1.5]
    """
    _, _, weights, group, outcome = _weighed(frame, label, groups)
    return pd.Series(weights[group, outcome], index=frame.index, name="weight")


def reweighing_table(
    source: pd.DataFrame | Counts, label: str | None = None, groups: str | Sequence[str] | None = None
) -> pd.DataFrame:
    """The weights of ``reweigh`` by cell: one row a joint group and label, with the people in it.

    Parameters
    ----------
    source : pandas DataFrame, or Counts
        Counts bring their own label; its values are 0 and 1.
    label, groups : as ``reweigh``
        For Counts, ``groups`` are all group dims unless named.

    Returns
    -------
    DataFrame of the group columns, the label, ``n`` (whole) and ``weight``; groups that nobody is in are left out.

    Raises
    ------
    AuditInputError
        As ``reweigh``; for resampled counts, for another ``label`` than that of Counts, and for a column named ``n`` or
        ``weight``.

    Examples
    --------
    >>> frame = pd.DataFrame({"sex": list("FFFMMM"), "long": [1, 0, 0, 1, 1, 0]})
    >>> reweighing_table(frame, "long", "sex")
      sex  long  n  weight
    0   F     0  2    0.75
    1   F     1  1    1.50
    2   M     0  1    1.50
    3   M     1  2    0.75
    """
    if isinstance(source, Counts):
        return _of_counts(source, label, groups)
    if label is None or groups is None:
        raise AuditInputError("name the label column and the group columns: reweighing_table(frame, label, groups).")
    columns = _columns(source, label, groups)
    check_names([*columns, label], RESULTS, "reweighing_table")
    cells, n, weights, _, _ = _weighed(source, label, columns)
    return cells.assign(n=n.reshape(-1), weight=weights.reshape(-1))


def cell_weights(n: np.ndarray, names: Sequence[str], labels: Sequence[str]) -> np.ndarray:
    """n_g·n_y / (N·n_gy) of people by group and label, (groups, labels); an error if a cell is empty.

    >>> cell_weights(np.array([[2, 1], [1, 2]]), ["F", "M"], ["0", "1"]).tolist()
    [[0.75, 1.5], [1.5, 0.75]]
    """
    for what, found in (("group", names), ("label", labels)):
        if len(found) < 2:
            raise AuditInputError(
                f"reweighing needs at least two {what}s, but there is {len(found)}"
                f"{': ' + repr(found[0]) if len(found) else ''}."
            )
    empty = [f"{names[g]} × {labels[y]}" for g, y in np.argwhere(n == 0)]
    if empty:
        more = f" and {len(empty) - NAMED} more" if len(empty) > NAMED else ""
        raise AuditInputError(
            f"reweighing needs every group to hold every label, but nobody is in {'; '.join(empty[:NAMED])}{more}. "
            "Merge groups, or reweigh over fewer columns."
        )
    return n.sum(axis=1, keepdims=True) * (n.sum(axis=0, keepdims=True) / n.sum()) / n


Weighed = tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _weighed(frame: pd.DataFrame, label: str, groups: str | Sequence[str]) -> Weighed:
    """Cells, people and weights by group and label, and each row's group and label."""
    columns = _columns(frame, label, groups)
    codes = {name: _codes(frame, name) for name in [*columns, label]}
    group = codes[columns[0]]
    for name in columns[1:]:  # one column at a time: the product of all levels may pass any whole number
        group = np.unique(group * (int(codes[name].max()) + 1) + codes[name], return_inverse=True)[1].reshape(-1)
    present, first, group = np.unique(group, return_index=True, return_inverse=True)
    outcome = codes[label]
    at = np.unique(outcome, return_index=True)[1]  # where each label is met first
    if len(present) * len(at) > max(len(frame), CELLS):
        raise AuditInputError(
            f"reweighing needs every group to hold every label, but {len(present):,} groups × {len(at):,} labels are "
            f"more cells than there are rows ({len(frame):,}). Merge groups or labels, or reweigh over fewer columns."
        )
    n = np.bincount(group * len(at) + outcome, minlength=len(present) * len(at)).reshape(len(present), len(at))
    held = frame[columns].iloc[first].reset_index(drop=True)
    labels = frame[label].iloc[at].reset_index(drop=True)
    names = [", ".join(map(str, row)) for row in held.itertuples(index=False)]
    weights = cell_weights(n, names, [f"{label} {value}" for value in labels])
    cells = held.loc[np.repeat(np.arange(len(held)), len(labels))].reset_index(drop=True)
    cells[label] = labels.iloc[np.tile(np.arange(len(labels)), len(held))].to_numpy()
    return cells, n, weights, group, outcome


def _columns(frame: pd.DataFrame, label: str, groups: str | Sequence[str]) -> list[str]:
    if not isinstance(frame, pd.DataFrame):
        raise AuditInputError(f"reweighing takes a pandas DataFrame, not {type(frame).__name__}; use .to_pandas().")
    columns = listed("groups", groups, "columns")
    if not isinstance(label, Hashable):
        raise AuditInputError(f"label must be the name of a column, not {label!r}.")
    if not columns or len({label, *columns}) <= len(columns):
        raise AuditInputError(f"groups must name at least one column, each once and none the label, not {columns!r}.")
    for name in [label, *columns]:
        if (list(frame.columns).count(name)) != 1:
            why = "is there more than once" if name in frame.columns else "is not a column"
            raise AuditInputError(f"{name!r} {why}; the columns are {', '.join(map(str, frame.columns))}.")
    if not len(frame):
        raise AuditInputError("the frame has no rows to reweigh.")
    return columns


def _codes(frame: pd.DataFrame, name: str) -> np.ndarray:
    """A column as codes, with the checks of ``count``: nothing missing, no two values of one spelling."""
    values = frame[name].astype(object).tolist()
    return group_levels(name, values, np.ones(len(values), dtype=np.int64), "raise", "column")[1]


def _of_counts(counts: Counts, label: str | None, groups: str | Sequence[str] | None) -> pd.DataFrame:
    if label is not None and label != counts.label:
        raise AuditInputError(f"these counts are of {counts.label!r}, not of {label!r}; leave label out.")
    if counts.resampled:
        raise AuditInputError("these counts are replicates; reweigh the original counts.")
    dims = list(counts.dims) if groups is None else listed("groups", groups)
    if not dims or len(set(dims)) < len(dims):
        raise AuditInputError("groups must name at least one group dimension, each once.")
    check_names([*dims, counts.label], RESULTS, "reweighing_table")
    held = counts.by(*dims).cut([0.0]).to_frame()
    held = held.assign(n=held["n"] * held.get("units", 1))
    n = held.pivot_table(index=dims, columns="label", values="n", aggfunc="sum", fill_value=0, sort=False)
    names = [", ".join(key) if isinstance(key, tuple) else key for key in n.index]
    weights = cell_weights(n.to_numpy(), names, [f"{counts.label} {value}" for value in n.columns])
    cells = n.index.to_frame(index=False).loc[np.repeat(np.arange(len(n)), len(n.columns))].reset_index(drop=True)
    cells[counts.label] = np.tile(n.columns.to_numpy(), len(n))
    return cells.assign(n=n.to_numpy().reshape(-1), weight=weights.reshape(-1))
