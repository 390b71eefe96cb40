"""Points of a frontier, on any people: who is flagged, and what that gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from auditlib.benefit.core import ALL, subgroup_net_benefit
from auditlib.counts import Counts
from auditlib.counts.cells import total
from auditlib.counts.merge import check_whole
from auditlib.errors import AuditInputError
from auditlib.metrics import pick, prevalence, selection_rate
from auditlib.values import given


def points_table(counts: Counts, points: xr.Dataset) -> xr.Dataset:
    """Confusion table over (replicate, ``dim``, point) of points of a frontier, on any people counted at its edges.

    Every metric applies to it. To resample, cut ``counts`` to the thresholds of ``points`` first, as :func:`judge`
    does. Raises AuditInputError if ``points`` come from elsewhere, or a threshold is no edge of ``counts``.

    >>> from auditlib.benefit import capacity_frontier
    >>> from auditlib.studies import comparison_counts
    >>> counts = comparison_counts("gap-cdc_diabetes-sex")
    >>> points = capacity_frontier(counts, "Male", capacity=0.1, threshold=0.15, lam=0.58)
    >>> bool((selection_rate(points_table(counts, points).sum("sex")) <= 0.1).all())
    True
    """
    points, (level, dim) = _points(points), _named(points)
    if not isinstance(counts, Counts) or level not in counts.groups.get(dim, ()):
        raise AuditInputError(f"points of {level!r} ({dim}) are judged on Counts over {dim!r} that have that level.")
    held, edges = over(counts, dim), _thresholds(points)
    table = (held.as_rows() if held.clustered and not held.resampled else held).at(edges)
    place = dict(zip([*edges, np.inf], range(len(edges) + 1), strict=True))
    named, rest = ([place[t] for t in points[f"threshold_{side}"].values.tolist()] for side in ("level", "rest"))
    where = np.array([named if name == level else rest for name in held.groups[dim]])
    where = where[(np.newaxis,) * (table["tp"].ndim - 2)]
    dims, data = [*table["tp"].dims[:-1], "point"], {}
    for cell, missed in (("tp", "fn"), ("fp", "tn")):
        flagged = table[cell].values
        flagged = np.concatenate([flagged, np.zeros_like(flagged[..., :1])], axis=-1)  # at infinity: nobody
        data[cell] = np.take_along_axis(flagged, where, axis=-1)
        data[missed] = flagged[..., :1] + table[missed].values[..., :1] - data[cell]
    coords = {dim: list(held.groups[dim]), "point": points["point"].values}
    coords |= {"clustered_by": held.unit} if held.clustered else {}  # intervals of rows must not be had by mistake
    return xr.Dataset({cell: (dims, data[cell]) for cell in ALL}, coords)


def judge(
    counts: Counts, points: xr.Dataset, threshold: float, lam: Any, burden: Any = 1.0, *,
    replicates: int = 0, strata: Any = (), seed: Any = None,
) -> xr.Dataset:  # fmt: skip
    """What points of a frontier give on other people, counted at the same edges.

    Points chosen and judged on the same people look better than they are: choose on one half, judge on the other. All
    points share the replicates, so that differences between points are paired.

    Parameters
    ----------
    counts : Counts
        The people to judge on; one model, not resampled.
    points : Dataset of :func:`capacity_frontier`, or some of its points
    threshold, lam, burden, strata, seed
        As for the frontier, and as in :meth:`auditlib.Counts.resample`.
    replicates : int
        Bootstrap samples of these people, for :func:`auditlib.interval`; 0 gives the estimate.

    Returns
    -------
    Dataset over (replicate, point)
        ``overall``, ``snb_level``, and over ``dim`` too ``snb`` and ``flagged`` (share); ``flagged_overall``; without
        ``point`` the sNB when nobody is flagged, ``none`` and ``overall_none``. Errors are those of the frontier.

    Examples
    --------
    >>> from auditlib.benefit import capacity_frontier
    >>> from auditlib.studies import comparison_counts
    >>> counts = comparison_counts("gap-cdc_diabetes-sex")
    >>> points = capacity_frontier(counts, "Male", capacity=0.1, threshold=0.15, lam=0.58)
    >>> judge(counts, points, 0.15, 0.58, replicates=5, seed=1).overall.dims
    ('replicate', 'point')
    """
    points, dim = _points(points), _named(points)[1]
    if not isinstance(counts, Counts) or counts.resampled:
        raise AuditInputError("judge() draws its own replicates: pass unresampled Counts and replicates=….")
    held = counts.cut(_thresholds(points))
    if replicates != 0:
        check_whole(replicates, "replicates")
        held = held.resample(replicates, strata=strata, seed=seed)
    table = points_table(held, points)
    shares = {"flagged": selection_rate(table), "flagged_overall": selection_rate(table.sum(dim))}
    return valued(table, points, threshold, lam, burden).assign(shares)


def over(counts: Counts, dim: str) -> Counts:
    """Counts of one model over one dim."""
    if counts.models:
        raise AuditInputError(f"counts of several models ({', '.join(counts.models)}): count one score at a time.")
    return counts if counts.dims == (dim,) else counts.by(dim)


def _named(points: xr.Dataset) -> tuple[str, str]:
    """Level and dim of a frontier's points."""
    named = {"level", "dim"} <= set(getattr(points, "attrs", {}))
    if not named or not {"threshold_level", "threshold_rest"} <= set(points):
        raise AuditInputError("points must be those of capacity_frontier(…), with their attributes level and dim.")
    return points.attrs["level"], points.attrs["dim"]


def _points(points: xr.Dataset) -> xr.Dataset:
    """Some points of a frontier, one of them too, over ``point``."""
    _named(points)
    points = points if "point" in points.dims else points.expand_dims("point")
    held = [points[f"threshold_{side}"] for side in ("level", "rest")]
    if not points.sizes["point"] or not all(bool((values >= 0).all()) and values.ndim == 1 for values in held):
        raise AuditInputError("points must be at least one point of capacity_frontier(…), none of them dropped to NaN.")
    return points


def _thresholds(points: xr.Dataset) -> list[float]:
    """Finite thresholds of the points; 0 where there is none."""
    values = np.concatenate([points["threshold_level"].values, points["threshold_rest"].values])
    return sorted(set(values[np.isfinite(values)].tolist())) or [0.0]


def valued(table: xr.Dataset, points: xr.Dataset, threshold: Any, lam: Any, burden: Any) -> xr.Dataset:
    """sNB of all, of the named group and of every group, flagged as in ``table`` and not at all."""
    level, dim = _named(points)
    people, one = total(table, ALL), table.isel(point=0, drop=True)
    share = people / people.sum(dim)
    snb = subgroup_net_benefit(table, threshold, lam, burden)
    none = 1 - given("burden", burden, one) * prevalence(one)
    found = {"overall": (share * snb).sum(dim), "snb_level": pick(snb, dim, level), "snb": snb}
    return xr.Dataset(found | {"none": none, "overall_none": (share.isel(point=0, drop=True) * none).sum(dim)})
