"""Places instead of thresholds: a division of a capacity carried to other people, whose scores fill the same places."""

from __future__ import annotations

import numpy as np
import xarray as xr

from auditlib.benefit.frontier import points_table
from auditlib.counts import Counts
from auditlib.errors import AuditInputError


def filling(counts: Counts, places: object) -> np.ndarray:
    """The threshold at which as many are flagged as there are places for; infinity where not even one fits.

    Of thresholds that flag the same people the highest. Who has the outcome plays no part in it: a service knows the
    scores before it calls anybody.

    Raises
    ------
    AuditInputError
        For resampled counts, or places that are no numbers from 0 on.

    Examples
    --------
    >>> from auditlib.studies import benefit_counts
    >>> counts = benefit_counts("snb-heart-income").sel(half="judge")
    >>> filling(counts, [2283, 0]).round(3).tolist()
    [0.452, inf]
    """
    wanted = np.asarray(places)
    if wanted.dtype.kind not in "iuf" or not np.all(wanted >= 0):
        raise AuditInputError(f"places must be numbers of people from 0 on, not {places!r}.")
    if not isinstance(counts, Counts) or counts.resampled:
        raise AuditInputError("places are filled on unresampled Counts.")
    edges = counts.edges.lower[::-1]
    table = counts.by().at(edges.tolist())
    flagged = np.append(0, (table["tp"] + table["fp"]).values)
    fits = flagged[np.searchsorted(flagged, wanted, side="right") - 1]
    return np.append(np.inf, edges)[np.searchsorted(flagged, fits)]


def same_places(counts: Counts, points: xr.Dataset) -> xr.Dataset:
    """Points of a frontier on other people: each side calls in order of risk until its places are gone.

    The places of either side are those of ``points``, so that all points have one capacity, which thresholds chosen
    on other people do not keep. ``counts`` must be of about as many people. People of one score are not divided.

    Raises
    ------
    AuditInputError
        For counts of another size than the points were found on (by more than 1%), and as ``points_table``.

    Examples
    --------
    >>> from auditlib.benefit.frontier import capacity_frontier
    >>> from auditlib.studies import benefit_counts
    >>> counts = benefit_counts("snb-heart-income")
    >>> points = capacity_frontier(counts.sel(half="choose"), "under 15k", 0.03, 0.10, 0.22).isel(point=[0, -1])
    >>> judge = counts.sel(half="judge")
    >>> tables = [points_table(judge, held).sum("income") for held in (points, same_places(judge, points))]
    >>> [(table["tp"] + table["fp"] - 2283).values.tolist() for table in tables]
    [[75, 39], [0, -16]]
    """
    points_table(counts, points)  # its errors: points from elsewhere, counts of several models
    if not 0.99 < counts.n_rows / points.attrs["people"] < 1.01:
        raise AuditInputError(
            f"places for {points.attrs['people']:,} people are not those for {counts.n_rows:,}: find the frontier anew."
        )
    dim, level = points.attrs["dim"], points.attrs["level"]
    others = [name for name in counts.groups[dim] if name != level]
    sides = {"level": [level], "rest": others}
    return points.assign(
        {
            f"threshold_{side}": ("point", filling(counts.sel(**{dim: names}), points[f"flagged_{side}"].values))
            for side, names in sides.items()
        }
    )
