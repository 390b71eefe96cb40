"""The frontier of limited capacity by the book-keeping of a public code: who counts twice, and whose benefit counts."""

from __future__ import annotations

import numpy as np
import xarray as xr

from auditlib.benefit.core import UNIT
from auditlib.benefit.frontier import check_capacity
from auditlib.counts import Counts
from auditlib.errors import AuditInputError
from auditlib.values import given


def as_published(counts: Counts, level: str, capacity: float, threshold: float, lam: float) -> xr.Dataset:
    """The frontier by the book-keeping of the paper's public code, for comparison; not to be used.

    There "the rest" is everybody: the named group counts twice against the capacity, and the benefit reported for all
    is that of everybody flagged at the threshold of the rest.

    Returns a Dataset over ``point``: ``threshold_level``, ``threshold_rest``, ``counted`` (against the capacity),
    and ``overall`` and ``level``, the gains per 10,000 over treating nobody as reported; ``points_table`` takes it too.

    Raises
    ------
    AuditInputError
        When ``counts`` are not of one model over one dim, or are resampled; for an unknown ``level``, and for a
        capacity, threshold or λ that is no number in its range.

    References
    ----------
    Benitez-Aurioles J et al. Epidemiology 2026;37:386–396, public code ``FairSubgroupBenefit``.

    Examples
    --------
    >>> from auditlib.studies import benefit_counts
    >>> counts = benefit_counts("snb-heart-income").sel(half="choose")
    >>> int(as_published(counts, "under 15k", 0.03, 0.10, 0.22)["counted"].max())
    2283
    """
    dim = _dim_of(counts, level)
    cap, t, gain = check_capacity(capacity, counts.n_rows), given("threshold", threshold, None), given("lam", lam, None)
    if isinstance(t, xr.DataArray) or isinstance(gain, xr.DataArray):
        raise AuditInputError("threshold and lam must be one number each: the paper's code has one of either.")
    w = t / (1 - t)
    edges = counts.edges.lower[::-1].tolist()
    sides = []
    for held in (counts.sel(**{dim: level}), counts.by()):
        table = held.at(edges)
        flagged, net = (table["tp"] + table["fp"]).values, (table["tp"] - w * table["fp"]).values
        fits = flagged <= cap
        sides.append((np.append(0, flagged[fits]), np.append(0.0, gain * net[fits] / held.n_rows)))
    (first, own), (second, overall) = sides
    best = np.maximum.accumulate(overall)
    partner = np.searchsorted(best, best[np.searchsorted(second, cap - first, side="right") - 1])
    order = np.lexsort((first, -best[partner], -own))  # the best for the group first: others must be better for all
    reported = best[partner[order]]
    kept = order[np.append(True, reported[1:] > np.maximum.accumulate(reported)[:-1])][::-1]
    limits = np.append(np.inf, edges)
    data = {
        "threshold_level": limits[kept],
        "threshold_rest": limits[partner[kept]],
        "counted": first[kept] + second[partner[kept]],
        "overall": UNIT * overall[partner[kept]],
        "level": UNIT * own[kept],
    }
    return xr.Dataset({name: ("point", values) for name, values in data.items()}, attrs={"level": level, "dim": dim})


def _dim_of(counts: object, level: object) -> str:
    """The one dim of the counts, which has the level."""
    if not isinstance(counts, Counts) or counts.resampled or counts.models:
        raise AuditInputError("as_published() takes unresampled Counts of one model.")
    if len(counts.groups) != 1:
        known = ", ".join(counts.groups) or "none"
        raise AuditInputError(f"as_published() takes counts over one dim, not {known}: counts.by(…) or .sel(…) first.")
    ((dim, levels),) = counts.groups.items()
    if level not in levels:
        raise AuditInputError(f"level {level!r} is no level of {dim!r}: {', '.join(levels)}.")
    return dim
