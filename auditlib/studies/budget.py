"""A row budget: part of the rows, in proportion to groups and outcomes, whole patients."""

from __future__ import annotations

import numpy as np
import pandas as pd

from auditlib.counts.draws import shares
from auditlib.counts.merge import check_whole


def thin(
    group: pd.Series, label: pd.Series, patient: pd.Series | None, max_rows: int | None, seed: int | list[int]
) -> np.ndarray:
    """Positions of at most ``max_rows`` rows, stratified by group and outcome; all of them when there are no more.

    A patient belongs to the group of the first row, and to those with the outcome if any row has it. Each stratum's
    share of the budget is its share of the rows, and is filled with whole patients in random order.

    Raises
    ------
    AuditInputError
        When ``max_rows`` is no whole number.

    Examples
    --------
    >>> group, label = pd.Series(list("aaaaaabbbb")), pd.Series([0, 1] * 5)
    >>> kept = thin(group, label, None, 5, 42)
    >>> group[kept].value_counts().to_dict()
    {'a': 3, 'b': 2}
    """
    if max_rows is None or len(label) <= max_rows:
        return np.arange(len(label))
    check_whole(max_rows, "max_rows")
    unit = np.arange(len(label)) if patient is None else pd.factorize(patient)[0]
    rows = pd.DataFrame({"unit": unit, "group": np.asarray(group), "label": np.asarray(label)})
    units = rows.groupby("unit").agg(group=("group", "first"), label=("label", "max"), rows=("label", "size"))
    stratum = units.groupby(["group", "label"]).ngroup().to_numpy()
    sizes = units["rows"].to_numpy()
    quota = shares(np.bincount(stratum, weights=sizes).astype(np.int64), int(max_rows))
    order = np.random.default_rng(seed).permutation(len(units))
    kept = np.zeros(len(units), dtype=bool)
    for number, most in enumerate(quota):
        mine = order[stratum[order] == number]
        kept[mine[np.cumsum(sizes[mine]) <= most]] = True
    return np.flatnonzero(kept[unit])
