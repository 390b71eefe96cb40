"""Intervals from bootstrap replicates: percentile, and a band simultaneous over thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from auditlib.errors import AuditInputError
from auditlib.metrics import Metric, find_dim, gap, parts, sensitivity


def check_level(level: float) -> float:
    """``level`` inside (0, 1), or an error."""
    if isinstance(level, bool) or not isinstance(level, int | float | np.number) or not 0 < level < 1:
        raise AuditInputError(f"level must lie between 0 and 1, such as 0.95, not {level!r}.")
    return float(level)


def interval(replicates: xr.DataArray, level: float = 0.95) -> xr.Dataset:
    """Percentile interval of bootstrap replicates, with the share of replicates that are undefined.

    Parameters
    ----------
    replicates : DataArray with a ``replicate`` dim
        Any metric, gap or spread of resampled counts.
    level : float
        Coverage aimed at.

    Returns
    -------
    Dataset of ``low``, ``high`` (quantiles of the defined replicates; NaN if there is none) and ``undefined`` (share).

    Raises
    ------
    AuditInputError
        Without a ``replicate`` dim, for values that are no numbers (text, truth values), or a level outside (0, 1).

    References
    ----------
    Efron B, Tibshirani R. An Introduction to the Bootstrap, 1993, §13.3.

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> found = interval(xr.DataArray(np.arange(101.0), dims="replicate"))
    >>> round(float(found.low), 6), round(float(found.high), 6), float(found.undefined)
    (2.5, 97.5, 0.0)
    """
    if not isinstance(replicates, xr.DataArray) or "replicate" not in replicates.dims:
        raise AuditInputError("interval() takes a DataArray of replicates: a metric of counts.resample(…).at(…).")
    if replicates.dtype.kind not in "iuf":
        raise AuditInputError(f"interval(): the replicates must be numbers, but hold {replicates.dtype}.")
    tail = (1 - check_level(level)) / 2
    axis = replicates.get_axis_num("replicate")
    values = np.moveaxis(replicates.values.astype(np.float64), axis, 0)
    low, high = quantiles(values, [tail, 1 - tail])
    rest = replicates.isel(replicate=0, drop=True)
    return xr.Dataset(
        {
            "low": rest.copy(data=low),
            "high": rest.copy(data=high),
            "undefined": rest.copy(data=(~np.isfinite(values)).mean(axis=0)),
        }
    )


def quantiles(values: np.ndarray, shares: list[float]) -> np.ndarray:
    """Quantiles over the first axis of what is defined, one a share; NaN where nothing is."""
    defined = np.isfinite(values)
    some = defined.any(axis=0)
    found = np.full((len(shares), *values.shape[1:]), np.nan)
    if some.any():
        found[:, some] = np.nanquantile(np.where(defined, values, np.nan)[:, some], shares, axis=0)
    return found


def band(
    table: Any,
    replicates: Any,
    a: str,
    b: str,
    *,
    metric: Metric = sensitivity,
    over: str = "threshold",
    level: float = 0.95,
) -> xr.Dataset:
    """Band for the gap of a rate that contains the whole curve over ``over`` with probability ``level``.

    The band is gap ± c·SE, c being the ``level`` quantile over replicates of max |gap* − gap| / SE*. SE comes from
    rates moved towards ½, (x + 1)/(m + 2), in the data and in every replicate: the plain SE is 0 wherever a
    replicate's group is all flagged, and dropping those points makes the band far too narrow. The SE takes rows as
    independent and c makes up for clusters only in part: with patients of several rows expect a point or two less. A
    band of zero width (few positives, all flagged) says that these data cannot give one.

    Parameters
    ----------
    table : Dataset of Counts.at([…]), not resampled
    replicates : Dataset of Counts.resample(…).at([…])
        The same thresholds and groups.
    a, b : str
        Levels of one group dim.
    metric : a rate of ``auditlib.metrics``
    over : str
        The dim over which the band is simultaneous.
    level : float

    Returns
    -------
    Dataset of ``estimate``, ``low``, ``high`` over ``over``, and the scalar ``c``.

    Raises
    ------
    AuditInputError
        If ``over`` or ``replicate`` is missing.
    """
    if over not in table.dims or over not in replicates.dims or "replicate" not in replicates.dims:
        raise AuditInputError(f"a band needs a table over {over!r} and its replicates: pass counts.at([…]) of both.")
    dim = find_dim(table["tp"], a, b)
    estimate = gap(_plain(table, metric)[0], a, b, dim)
    centre, error = _gap_of(_moved(table, metric), a, b, dim)
    again, errors = _gap_of(_moved(replicates, metric), a, b, dim)
    largest = abs((again - centre) / errors).max(over).transpose("replicate", ...)
    c = largest.isel(replicate=0, drop=True).copy(data=quantiles(largest.values, [check_level(level)])[0])
    return xr.Dataset({"estimate": estimate, "low": estimate - c * error, "high": estimate + c * error, "c": c})


def _plain(table: Any, metric: Metric) -> tuple[xr.DataArray, xr.DataArray]:
    events, trials = parts(table, metric)
    events, trials = events.reset_coords(drop=True), trials.reset_coords(drop=True)
    return events / trials.where(trials > 0), trials


def _moved(table: Any, metric: Metric) -> tuple[xr.DataArray, xr.DataArray]:
    p, trials = _plain(table, metric)
    moved = (p.fillna(0) * trials + 1) / (trials + 2)
    return p, moved * (1 - moved) / trials.where(trials > 0)


def _gap_of(moved: tuple[xr.DataArray, xr.DataArray], a: str, b: str, dim: str) -> tuple[xr.DataArray, xr.DataArray]:
    p, variance = moved
    return gap(p, a, b, dim), (variance.sel({dim: a}, drop=True) + variance.sel({dim: b}, drop=True)) ** 0.5
