"""Resamples of the patients that are common to all specifications, and the confusion tables that follow from them."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import xarray as xr

from auditlib.counts.draws import generator
from auditlib.counts.edges import check_threshold
from auditlib.counts.levels import check_name, group_levels
from auditlib.counts.merge import check_whole
from auditlib.counts.table import MAX_BYTES
from auditlib.errors import AuditInputError


def resampling_weights(
    people: Any, n: int, *, cluster: str | None = None, seed: int | np.random.Generator | None = None
) -> np.ndarray:
    """How often each row is in each of ``n`` resamples of everybody: as many patients as there are, with replacement.

    Drawn once, of *all* people and before any choice is made, these are the resamples that ``variance_shares`` needs:
    whoever a specification holds out, or drops, takes the rows of these weights, so that replicate 7 is the same world
    in all of them. ``counts.resample`` inside a judge draws for each specification anew; the noise would then be taken
    for the choices' own, and net shares mean nothing.

    Parameters
    ----------
    people : eager frame, or int
        One row a patient or encounter, or the number of rows.
    n : int
        Resamples; 200 do for shares.
    cluster : str, optional
        Column of the patient, drawn with all of the patient's rows.
    seed : int or Generator
        Give a number, and put it into ``grid.settings``: another run must draw the same.

    Returns
    -------
    Array of whole numbers (row × resample), in the order of the rows.

    Raises
    ------
    AuditInputError
        For no row, no whole number, a cluster that is no column or has missing values, or more than 512 MB.

    Examples
    --------
    From a grid to shares with the luck of the patients taken out. Models are fitted once a seed and judged, here with
    scikit-learn, at two thresholds:

    >>> import auditlib as al
    >>> from auditlib.simulate import RiskCohort
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import train_test_split
    >>> people = RiskCohort.example().frame(4_000, seed=5)
    >>> weights = al.resampling_weights(people, 100, seed=1)
    >>> axes = {"threshold": [0.1, 0.2], "seed": [1, 2]}
    >>> grid = al.Grid("example", axes, settings={"rows": 4_000, "replicates": 100, "weights": 1})
    >>> def prepare(specifications):
    ...     seed = specifications[0]["seed"]
    ...     train, test = train_test_split(people.index, stratify=people["label"], random_state=seed)
    ...     x = people.filter(regex="^x")
    ...     model = LogisticRegression().fit(x.loc[train], people.loc[train, "label"])
    ...     return people.loc[test].assign(risk=model.predict_proba(x.loc[test])[:, 1])
    >>> def judge(specification, held):
    ...     t, columns = specification["threshold"], {"label": "label", "score": "risk", "by": "group"}
    ...     table = al.count(held, thresholds=[t], **columns).at(t)
    ...     again = al.resampled_table(held, weights[held.index], threshold=t, **columns)
    ...     gap = al.gap_interval(table, "D", "A")
    ...     limits = {name: float(gap[name]) for name in ("estimate", "low", "high")}
    ...     return {**limits, "replicates": al.gap(al.sensitivity(again), "D", "A")}
    >>> found = al.run_multiverse(grid, judge, prepare=prepare, once=["threshold"])
    >>> shares = al.variance_shares(found.rows, grid.axes, found.replicates)
    >>> shares.columns.tolist(), shares.index.tolist()
    (['choices', 'share', 'net', 'low', 'high', 'replicates'], ['threshold', 'seed', 'interactions'])
    """
    check_whole(n, "n")
    unit = _units(people, cluster)
    if len(unit) * n > MAX_BYTES:
        raise AuditInputError(f"{len(unit):,} rows × {n:,} resamples are more than 512 MB: ask for fewer resamples.")
    units, rng = int(unit.max()) + 1, generator(seed)
    found = np.empty((units, n), dtype=np.uint8)  # more than 255 draws of one patient do not happen
    for k in range(n):
        found[:, k] = np.bincount(rng.integers(0, units, units), minlength=units)
    return found if cluster is None else found[unit]


def resampled_table(frame: Any, weights: Any, *, label: str, score: str, by: str, threshold: float) -> xr.Dataset:
    """The confusion table of each resample: ``count(…).at(threshold)`` of the rows, each as often as it was drawn.

    Parameters
    ----------
    frame : eager frame
        One row a patient or encounter.
    weights : array of whole numbers (row × resample)
        The rows of ``resampling_weights`` that belong to those of ``frame``, in its order.
    label : str
        Column of 0 and 1.
    score : str
        Column of scores.
    by : str
        Column of groups.
    threshold : float
        A row is flagged at or above it.

    Returns
    -------
    Dataset of ``tp``, ``fp``, ``fn`` and ``tn`` over ``replicate`` and the groups. Metrics, ``gap``, ``standardize``
    and ``interval`` apply as to resampled counts.

    Raises
    ------
    AuditInputError
        For a column that is not there or has missing values, labels other than 0 and 1, scores that are no numbers, or
        weights that do not fit.

    Examples
    --------
    >>> frame = pd.DataFrame({"y": [1, 1, 0], "risk": [0.9, 0.2, 0.8], "sex": ["F", "F", "M"]})
    >>> found = resampled_table(frame, [[1, 0], [1, 2], [1, 1]], label="y", score="risk", by="sex", threshold=0.5)
    >>> found["tp"].sel(sex="F").values, found["fn"].sel(sex="F").values
    (array([1, 0]), array([1, 2]))
    """
    held = _eager(frame, "frame")
    check_name(by)
    ill, risk = (_column(held, name) for name in (label, score))
    _column(held, by)
    if not np.isin(ill, [0, 1]).all():
        raise AuditInputError(f"{label}: labels must be 0 and 1; recode them.")
    if risk.dtype.kind not in "iuf":
        raise AuditInputError(f"{score}: scores must be numbers, not {risk.dtype}.")
    drawn = _weights(weights, len(held))
    t = check_threshold(threshold)
    flagged, ill = risk >= t, ill.astype(bool)
    levels, codes = group_levels(by, held[by], np.ones(len(held), dtype=np.int64), "raise")
    cells = {"tp": ill & flagged, "fp": ~ill & flagged, "fn": ill & ~flagged, "tn": ~ill & ~flagged}
    found = {
        cell: (
            ("replicate", by),
            np.stack([drawn[which & (codes == k)].sum(axis=0, dtype=np.int64) for k in range(len(levels))], axis=1),
        )
        for cell, which in cells.items()
    }
    return xr.Dataset(found, {by: list(levels), "threshold": t})


def _units(people: Any, cluster: str | None) -> np.ndarray:
    """Number of each row's patient, in the order in which patients appear."""
    if isinstance(people, int | np.integer) and not isinstance(people, bool):
        check_whole(people, "people")
        if cluster is not None:
            raise AuditInputError("cluster names a column: give the frame, not a number of rows.")
        return np.arange(people)
    held = _eager(people, "people")
    return np.arange(len(held)) if cluster is None else pd.factorize(_column(held, cluster))[0]


def _eager(frame: Any, name: str) -> Any:
    try:
        held = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise AuditInputError(
            f"{name}: give a frame in memory (rows keep their order), not {type(frame).__name__}."
        ) from None
    if not len(held):
        raise AuditInputError(f"{name} has no rows.")
    return held


def _column(held: Any, name: Any) -> np.ndarray:
    if not isinstance(name, str) or name not in held.columns:
        raise AuditInputError(f"no column {name!r}; there are {', '.join(map(str, held.columns))}.")
    values = held[name].to_numpy()
    if missing := int(pd.isna(values).sum()):
        raise AuditInputError(f"{name}: {missing:,} values are missing; say what they are, or leave these rows out.")
    return np.asarray(values)


def _weights(weights: Any, rows: int) -> np.ndarray:
    drawn = np.asarray(weights)
    if drawn.ndim != 2 or drawn.dtype.kind not in "iu" or len(drawn) != rows or not drawn.shape[1] or drawn.min() < 0:
        raise AuditInputError(
            f"weights: whole numbers of at least 0 in {rows:,} rows, one a row of the frame, are needed (take "
            f"weights[positions of its rows] of resampling_weights); got {drawn.dtype} in the shape {drawn.shape}."
        )
    return drawn
