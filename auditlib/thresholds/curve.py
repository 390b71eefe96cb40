"""The gap of a rate over a model's thresholds, and where it can be told from zero."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.counts import Counts
from auditlib.counts.merge import check_whole
from auditlib.counts.thresholds import all_thresholds
from auditlib.errors import AuditInputError
from auditlib.intervals import band, gap_interval
from auditlib.metrics import Metric, find_dim, npv, parts, pick, ppv, sensitivity
from auditlib.thresholds.meeting import check_counts

#: Rates whose trials are the flagged, or those not flagged: few of them at one end of the thresholds.
THINNING = (ppv.__name__, npv.__name__)
FEW = 30  # people, under which a rate is marked as small (as positives and negatives are by metrics.small)
SIGNS = {"band": ("band_low", "band_high"), "pointwise": ("low", "high"), "estimate": ("estimate", "estimate")}


def gap_curve(
    counts: Counts,
    a: str,
    b: str,
    metric: Metric = sensitivity,
    *,
    thresholds: Sequence[float] | np.ndarray | None = None,
    replicates: int = 1000,
    seed: int | np.random.Generator | None = None,
    min_flagged: int = 10,
    level: float = 0.95,
    dim: str | None = None,
) -> xr.Dataset:
    """The gap of a rate, level ``a`` minus level ``b``, over thresholds, with a pointwise and a simultaneous band.

    At one threshold named beforehand the pointwise interval (Newcombe's, of ``gap_interval``) holds with probability
    ``level``. The simultaneous band (``band``, from replicates of units drawn within groups) holds for all thresholds
    together: it is the one to read where one looks along the curve. Both hold the model fixed.

    PPV rests on the flagged and NPV on those not flagged. These metrics are given only at thresholds where both groups
    have at least ``min_flagged`` of them in the data; elsewhere they are NaN, and the band is simultaneous over the
    thresholds kept. A replicate takes part at all thresholds kept, also where it has fewer of them (its standard error
    is then large), but at none where it has nobody.

    Parameters
    ----------
    counts : Counts
        Not resampled.
    a, b : str
        Levels of one group dim.
    metric : a rate of ``auditlib.metrics``
    thresholds : list of float, optional
        Edges of the counts; all above 0 that flag somebody unless given.
    replicates : int
        For the simultaneous band; at least 100 at 95% (``band``). Where a run of thresholds begins and ends depends on
        them too: take 10,000 for one that is reported.
    seed : int or Generator
        Give one: without it the band, and where its runs end, change from call to call.
    min_flagged : int
        For PPV and NPV alone.
    level : float
    dim : str, optional
        The group dim, when both levels occur in several.

    Returns
    -------
    Dataset over ``threshold`` (and any other group or ``model``) of ``estimate``; ``low`` and ``high``, pointwise;
    ``band_low`` and ``band_high``, simultaneous; ``undefined``, the share of replicates that are; ``n_a`` and ``n_b``,
    the people each rate rests on (also where it is left out); ``small``, where these are fewer than 30 in either group
    and neither interval should be leant on (``band`` says how often it then fails). Without ``threshold``: ``c``, the
    standard errors to either side of the band, and ``left_out``, the number of thresholds with fewer than
    ``min_flagged``. Metric and levels are in ``attrs``.

    Raises
    ------
    AuditInputError
        For thresholds that are no edges (the nearest are named), unknown levels or metric, resampled counts, or too few
        replicates.

    References
    ----------
    Newcombe RG. Stat Med 1998;17:873–890. The band is this package's; its coverage is in
    ``data/studies/band_coverage.csv``.

    Examples
    --------
    >>> from auditlib import studies
    >>> counts = studies.comparison_counts("gap-cdc_diabetes-sex")
    >>> found = gap_curve(counts, "Male", "Female", thresholds=[0.1, 0.3, 0.5], seed=1)
    >>> found.estimate.round(3).values
    array([-0.016, -0.067, -0.041])
    >>> bool((found.band_low < found.low).all())
    True
    """
    check_counts(counts, "a curve")
    check_whole(replicates, "replicates")
    check_whole(min_flagged, "min_flagged")
    points = _points(counts, thresholds)
    counts = counts.cut(points)
    table = counts.at(points)
    dim = find_dim(table["tp"], a, b, dim)
    around = gap_interval(table, a, b, metric=metric, dim=dim, level=level)
    kept = enough(table, metric, dim, (a, b), min_flagged)
    again = counts.resample(replicates, strata=dim, seed=seed).at(points)
    whole = band(table, again, a, b, metric=metric, level=level, dim=dim, where=kept)
    found = {"estimate": around["estimate"].where(kept), "low": around["low"].where(kept)}
    found |= {"high": around["high"].where(kept), "band_low": whole["low"], "band_high": whole["high"]}
    found |= {"undefined": whole["undefined"], "small": (around["n_a"] < FEW) | (around["n_b"] < FEW)}
    found |= {"n_a": around["n_a"].astype(np.int64), "n_b": around["n_b"].astype(np.int64)}
    found |= {"c": whole["c"], "left_out": (~kept).sum("threshold")}
    attrs = {
        "metric": getattr(metric, "__name__", metric),
        "a": str(a),
        "b": str(b),
        "level": level,
        "min_flagged": min_flagged,
    }
    return xr.Dataset(found, attrs=attrs)


def enough(table: xr.Dataset, metric: Metric, dim: str, levels: tuple[str, str], least: int) -> xr.DataArray:
    """Where a rate has trials in both levels: at least ``least`` where it is PPV or NPV, one otherwise.

    Examples
    --------
    >>> from auditlib.counts import confusion
    >>> table = confusion(tp=[[5, 2], [9, 9]], fp=[[9, 2], [9, 9]], fn=[[0] * 2] * 2, tn=[[5] * 2] * 2,
    ...                   sex=["F", "M"], threshold=[0.1, 0.5])
    >>> enough(table, ppv, "sex", ("F", "M"), 10).values
    array([ True, False])
    """
    trials = parts(table, metric)[1].reset_coords(drop=True)
    need = least if getattr(metric, "__name__", metric) in THINNING else 1
    return (pick(trials, dim, levels[0]) >= need) & (pick(trials, dim, levels[1]) >= need)


def sign_runs(curve: xr.Dataset, by: str = "band") -> pd.DataFrame:
    """Runs of neighbouring thresholds at which the gap, or all of its interval, lies on one side of zero.

    Parameters
    ----------
    curve : Dataset of ``gap_curve``, or of ``band``
        Over ``threshold`` alone.
    by : {"band", "pointwise", "estimate"}
        What must not contain zero: the simultaneous band, the pointwise interval (``gap_curve`` has it, ``band`` does
        not), or the estimate itself.

    Returns
    -------
    DataFrame, one row a run: ``sign`` (+ or −), ``first`` and ``last`` threshold, and ``thresholds``, how many. A
    threshold that was left out ends a run: what holds on both sides of it is not known to hold there.

    Raises
    ------
    AuditInputError
        For a curve of another kind, with more dims, without thresholds or with some out of order, or an unknown ``by``.

    Examples
    --------
    >>> import auditlib as al
    >>> from auditlib import studies
    >>> counts = studies.comparison_counts("gap-cdc_diabetes-sex")
    >>> found = gap_curve(counts, "Male", "Female", metric=al.selection_rate, thresholds=[0.02, 0.1, 0.3, 0.5], seed=1)
    >>> sign_runs(found)
      sign  first  last  thresholds
    0    +   0.02   0.1           2
    1    −   0.50   0.5           1
    """
    if not isinstance(by, str) or by not in SIGNS:
        raise AuditInputError(f"by must be one of {', '.join(map(repr, SIGNS))}, not {by!r}.")
    curve = _curve(curve, by)
    check_rising(curve)
    low, high = (curve[name].values for name in SIGNS[by])
    sign = np.where(low > 0, 1, np.where(high < 0, -1, 0))
    place = curve["threshold"].values
    starts = np.flatnonzero(np.diff(sign, prepend=9))  # 9 is no sign: the first threshold starts a run
    ends = np.append(starts[1:], len(sign))
    runs = [
        ("+" if sign[i] > 0 else "−", float(place[i]), float(place[j - 1]), int(j - i))
        for i, j in zip(starts, ends, strict=True)
        if sign[i]
    ]
    return pd.DataFrame(runs, columns=["sign", "first", "last", "thresholds"])


def _curve(found: object, by: str) -> xr.Dataset:
    """What runs are told of: a curve over thresholds with the limits asked for, those of ``band`` renamed."""
    if not isinstance(found, xr.Dataset):
        raise AuditInputError(f"runs are told of one gap_curve over threshold, not of a {type(found).__name__}.")
    if is_band(found):
        found = found.rename(low="band_low", high="band_high")
    if missing := [name for name in SIGNS[by] if name not in found]:
        raise AuditInputError(f"runs are told of one gap_curve over threshold, but {missing[0]} is absent here.")
    if more := [str(dim) for dim in found[SIGNS[by][0]].dims if dim != "threshold"]:
        raise AuditInputError(
            f"runs are told of one gap_curve over threshold; this one lies over {', '.join(more)} as well: select one."
        )
    if found[SIGNS[by][0]].dims != ("threshold",):
        raise AuditInputError("runs are told of one gap_curve over threshold, but this has no thresholds.")
    return found


def is_band(found: xr.Dataset) -> bool:
    """Whether this is of ``band``, whose low and high are simultaneous, not of ``gap_curve``, whose are pointwise.

    >>> is_band(xr.Dataset({"low": 0.1, "high": 0.2, "c": 2.5}))
    True
    """
    return {"low", "high", "c"} <= set(found) and "band_low" not in found


def check_rising(curve: xr.Dataset) -> None:
    """An error unless a curve has thresholds, each above the one before it: neighbours are read together.

    >>> check_rising(xr.Dataset(coords={"threshold": [0.1, 0.2]}))
    """
    place = curve["threshold"].values if "threshold" in curve.coords else np.array([])
    if not place.size or place.dtype.kind not in "iuf" or not (np.diff(place) > 0).all():
        raise AuditInputError("a curve needs a rising coordinate threshold: take it from gap_curve, or .sortby it.")


def _points(counts: Counts, thresholds: Sequence[float] | np.ndarray | None) -> list[float]:
    """The thresholds of a curve, each once and in order; by default all above 0 at which somebody is flagged."""
    if thresholds is None:
        held = counts.histogram()
        last = np.flatnonzero(held.sum([dim for dim in held.dims if dim != "bin"]).values).max(initial=0)
        found = counts.edges.lower[1 : last + 1].tolist()
        if not found:
            raise AuditInputError("no threshold above 0 flags anybody in these counts.")
        return found
    listed = isinstance(thresholds, Sequence | np.ndarray) and not isinstance(thresholds, str)
    if not listed or np.ndim(thresholds) != 1:
        raise AuditInputError(f"thresholds must be a list, the same for every group, not {thresholds!r}.")
    return sorted({counts.edges.find(value)[0] + 0.0 for value in all_thresholds(thresholds)})  # −0 + 0 is 0
