"""Intervals from bootstrap replicates: percentile, and a band simultaneous over thresholds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import xarray as xr
from scipy.stats import norm

from auditlib.errors import AuditInputError
from auditlib.intervals.effective import check_cells
from auditlib.metrics import Metric, find_dim, parts, pick, sensitivity

MOVED = 2  # events, and as many non-events, added to a rate before its standard error is taken
Rate = tuple[xr.Variable, xr.Variable]  # with its variance, or a gap with its standard error
BEYOND = 5  # replicates that a band needs beyond c: 100 in all at 95%


def check_level(level: float) -> float:
    """``level`` inside (0, 1), or an error."""
    if isinstance(level, bool) or not isinstance(level, int | float | np.number) or not 0 < level < 1:
        raise AuditInputError(f"level must lie between 0 and 1, such as 0.95, not {level!r}.")
    return float(level)


def interval(replicates: xr.DataArray, level: float = 0.95, estimate: xr.DataArray | float | None = None) -> xr.Dataset:
    """Percentile interval of bootstrap replicates, with the share of replicates that are undefined.

    Parameters
    ----------
    replicates : DataArray with a ``replicate`` dim
        Any metric, gap or spread of resampled counts.
    level : float
        Coverage aimed at.
    estimate : DataArray or number, optional
        The same of the counts that were resampled, to stand beside the limits (for ``tidy`` and figures).

    Returns
    -------
    Dataset of ``low``, ``high`` (quantiles of the defined replicates; NaN if there is none) and ``undefined`` (share);
    with ``estimate`` that first, and no coordinates but those of dims.

    Raises
    ------
    AuditInputError
        Without a ``replicate`` dim, for values that are no numbers (text, truth values), a level outside (0, 1), or an
        estimate over other dims or levels.

    References
    ----------
    Efron B, Tibshirani R. An Introduction to the Bootstrap, 1993, §13.3.

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> found = interval(xr.DataArray(np.arange(101.0), dims="replicate"))
    >>> round(float(found.low), 6), round(float(found.high), 6), float(found.undefined)
    (2.5, 97.5, 0.0)

    A gap of PPV at the pooled prevalence, with its interval:

    >>> import auditlib as al
    >>> from auditlib import studies
    >>> counts = studies.comparison_counts("gap-cdc_diabetes-sex").cut(0.3)
    >>> def gap(table):
    ...     return al.gap(al.ppv(al.standardize(table)), "Male", "Female")
    >>> again = counts.resample(200, strata="sex", seed=1)
    >>> al.tidy(al.interval(gap(again.at(0.3)), estimate=gap(counts.at(0.3))))
      estimate    low   high  undefined
        -0.031 -0.047 -0.016        0.0
    """
    if isinstance(replicates, xr.Dataset):
        raise AuditInputError(
            f"interval() takes a DataArray of replicates, and this is a Dataset of {', '.join(map(str, replicates))}: "
            'take one of them, or .to_dataarray("part") of it.'
        )
    if not isinstance(replicates, xr.DataArray) or "replicate" not in replicates.dims:
        raise AuditInputError(
            "interval() takes a DataArray of replicates over a dim 'replicate': a metric of counts.resample(…).at(…), "
            "or a gap, spread or part of one."
        )
    if replicates.dtype.kind not in "iuf":
        raise AuditInputError(f"interval(): the replicates must be numbers, but hold {replicates.dtype}.")
    tail = (1 - check_level(level)) / 2
    axis = replicates.get_axis_num("replicate")
    values = np.moveaxis(replicates.values.astype(np.float64), axis, 0)
    low, high = quantiles(values, [tail, 1 - tail])
    rest = replicates.isel(replicate=0, drop=True)
    found = xr.Dataset(
        {
            "low": rest.copy(data=low),
            "high": rest.copy(data=high),
            "undefined": rest.copy(data=(~np.isfinite(values)).mean(axis=0)),
        }
    )
    return found if estimate is None else _beside(found, estimate)


def _beside(found: xr.Dataset, estimate: Any) -> xr.Dataset:
    """An interval with the estimate before it, both without coordinates of no dim."""
    found, held = found.reset_coords(drop=True), xr.DataArray(estimate).reset_coords(drop=True)
    alike = set(held.dims) == set(found["low"].dims) and held.dtype.kind in "iuf"
    if not alike or any(held.coords[dim].values.tolist() != found[dim].values.tolist() for dim in held.coords):
        raise AuditInputError(
            f"interval(): the estimate ({', '.join(map(str, held.dims)) or 'one value'}) is not of the same dims and "
            f"levels as the replicates ({', '.join(map(str, found['low'].dims)) or 'one value each'}): take both from "
            "the same counts in the same way."
        )
    return xr.Dataset({"estimate": held, **found})


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
    metric: Metric = sensitivity,
    *,
    over: str = "threshold",
    level: float = 0.95,
    dim: str | None = None,
    where: xr.DataArray | None = None,
) -> xr.Dataset:
    """Band for the gap of a rate that contains the whole curve over ``over`` with probability ``level``.

    ``gap_curve`` makes this band from counts, with the interval at each threshold and where groups are small beside
    it, as ``plots.thresholds.curve`` draws it. ``sign_runs`` takes either.

    The band is gap ± c·SE, cut off at −1 and 1, c being the ``level`` quantile over replicates of max |gap* − gap| /
    SE*, and at least the normal quantile that one point alone would need (1.96 at 95%): with few positives replicates
    can repeat the data, and c would be 0. SE comes from rates moved towards ½, (x + 2)/(m + 4), in the data and in
    every replicate: the plain SE is 0 wherever a group is all flagged or not at all, and there the band would have no
    width, or the replicate no say.

    Coverage is in ``data/studies/band_coverage.csv``: 93% to 95.5% of audits in settings of 25 to 300 positives a
    group, but 88% with 5 v 5 and 89% with 5 v 300, where SE and c are learnt from too few. The SE takes rows as
    independent, and c makes up for clusters by being larger. That is enough with dozens of patients with the outcome in
    each group; with ten or so it covers 91% (design effects learnt from so few patients made it worse).

    Parameters
    ----------
    table : Dataset of Counts.at([…]), not resampled
    replicates : Dataset of Counts.resample(…).at([…])
        The same thresholds and groups; at least 5/(1 − ``level``) replicates, 100 at 95%, because fewer leave c to
        the one or two that lie furthest out.
    a, b : str
        Levels of one group dim.
    metric : a rate of ``auditlib.metrics``
    over : str
        The dim over which the band is simultaneous.
    level : float
    dim : str, optional
        The group dim, when both levels occur in several.
    where : DataArray of bool, optional
        Points the band is for, such as those with enough people, over dims of the gap and with their coordinates; the
        others are NaN and have no part in c.

    Returns
    -------
    Dataset of ``estimate``, ``low``, ``high`` and ``undefined`` (share of replicates that are) over ``over``, and the
    scalar ``c``.

    Raises
    ------
    AuditInputError
        If a table is none of counts (or of expected ones, ``standardize``), ``over`` or ``replicate`` is missing, both
        tables do not have the same thresholds and groups, there are too few replicates, ``where`` does not fit, or the
        replicates cannot be of this table: somewhere all of them lie more than a standard error to one side of it.

    Examples
    --------
    >>> import auditlib as al
    >>> from auditlib import studies
    >>> counts, points = studies.comparison_counts("gap-cdc_diabetes-sex"), [0.1, 0.3, 0.5]
    >>> again = counts.cut(points).resample(1000, strata="sex", seed=1).at(points)
    >>> found = band(counts.at(points), again, "Male", "Female")
    >>> found.estimate.round(3).values, al.sign_runs(found)["sign"].tolist()
    (array([-0.016, -0.067, -0.041]), ['−'])
    """
    for held in (table, replicates):
        check_cells(held)
    over_both = over in table.dims and over in replicates.dims
    if not over_both or "replicate" not in replicates.dims or "replicate" in table.dims:
        raise AuditInputError(f"a band needs a table over {over!r} and its replicates: pass counts.at([…]) of both.")
    _check_same(table, replicates)
    dim = find_dim(table["tp"], a, b, dim)
    if dim == over:
        raise AuditInputError(f"the gap is one of levels of {dim!r}, so there is no curve over it; name another dim.")
    check_enough(replicates.sizes["replicate"], level)
    rates, rates_again = (_rates(held, metric, dim, (a, b)) for held in (table, replicates))
    _check_around(rates, rates_again)
    (gaps, errors), (again, again_errors) = _gap_of(*rates), _gap_of(*rates_again)
    undefined = again.isnull().mean("replicate")
    if where is not None:
        kept = _fitting(where, table, gaps)
        gaps, undefined = gaps.where(kept), undefined.where(kept)
    largest = abs((again - gaps) / again_errors).max(over).transpose("replicate", ...)
    c = largest.isel(replicate=0).copy(data=quantiles(largest.values, [level])[0])
    c = c.clip(min=norm.ppf((1 + level) / 2))
    found = {"estimate": gaps, "low": (gaps - c * errors).clip(min=-1), "high": (gaps + c * errors).clip(max=1)}
    coords = {name: table[name].variable for name in gaps.dims if name in table.coords}
    return xr.Dataset(found | {"undefined": undefined, "c": c}, coords)


def check_enough(replicates: int, level: float) -> None:
    """An error unless ``BEYOND`` replicates or more lie beyond the quantile that c is.

    >>> check_enough(100, 0.95)
    """
    need = math.ceil(round(BEYOND / (1 - check_level(level)), 6))
    if replicates < need:
        raise AuditInputError(f"a band at level {level:g} needs at least {need:,} replicates, but has {replicates:,}.")


def _fitting(where: Any, table: Any, gaps: xr.Variable) -> xr.Variable:
    """``where`` as a variable, or an error: positions are combined, so its coordinates must be those of the gap."""
    held = where if isinstance(where, xr.DataArray) and where.dtype == bool else None
    if held is None or not all(
        dim in gaps.dims and dim in held.coords and np.array_equal(held[dim].values, table[dim].values)
        for dim in held.dims
    ):
        raise AuditInputError(
            f"where must be a DataArray of truth values over {' and '.join(map(repr, gaps.dims))} with the coordinates "
            "of the table in its order, such as a comparison of its counts."
        )
    return held.variable


def _check_around(rates: list[Rate], again: list[Rate]) -> None:
    """An error where no replicate comes near the data: these cannot be replicates of them."""
    for (rate, _), (rate_again, variance) in zip(rates, again, strict=True):
        away = (rate_again - rate) / variance**0.5
        if bool(((away.min("replicate") > 1) | (away.max("replicate") < -1)).any()):
            raise AuditInputError(
                "in one group all replicates lie more than a standard error to one side of the table, so they are "
                "replicates of other data: take both from the same counts."
            )


def _check_same(table: Any, replicates: Any) -> None:
    """An error unless both have the same levels in the same order: positions are combined below."""
    for name in set(table["tp"].dims) | set(replicates["tp"].dims) - {"replicate"}:
        held = [part[name].values.tolist() if name in part.dims else None for part in (table, replicates)]
        if held[0] != held[1]:
            raise AuditInputError(
                f"a band needs a table and replicates of it, but their levels of {name!r} differ: take both from the "
                "same counts with the same .at([…])."
            )


def _rates(table: Any, metric: Metric, dim: str, levels: tuple[str, str]) -> list[Rate]:
    """Both levels' rates, as variables: xarray would compare coordinates at each of many steps."""
    found = []
    for level in levels:
        events, trials = (pick(part, dim, level).variable.astype(np.float64) for part in parts(table, metric))
        trials = trials.where(trials > 0)
        moved = (events + MOVED) / (trials + 2 * MOVED)
        found.append((events / trials, moved * (1 - moved) / trials))
    return found


def _gap_of(a: Rate, b: Rate) -> Rate:
    """The gap of two rates, and its standard error."""
    return a[0] - b[0], (a[1] + b[1]) ** 0.5
