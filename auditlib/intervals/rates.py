"""Score-based intervals of rates, of the gap of two and of the spread of several."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats

from auditlib.errors import AuditInputError
from auditlib.intervals.replicates import check_level
from auditlib.metrics import Metric, check_dim, find_dim, parts, sensitivity


def effective(table: Any, metric: Metric = sensitivity) -> xr.Dataset:
    """A rate, its trials, and the trials it is worth once rows of one patient are seen to be alike.

    With unit moments in the table (clusters), the variance of the ratio p = Σx/Σm is Σ(x_u − p·m_u)² / (Σm)² times
    k/(k − 1), with k = (Σm)²/Σm_u² clusters' worth; the design effect ``deff`` is that over p(1 − p)/Σm, at least 1.
    At p = 0 or 1 no residual shows how alike rows are, and rows of a unit count as one: deff = Σm_u²/Σm.

    Parameters
    ----------
    table : Dataset of Counts.at, or of ``confusion``
        Any dims.
    metric : a rate of ``auditlib.metrics``

    Returns
    -------
    Dataset of ``estimate``, ``n`` (trials), ``deff`` and ``n_effective`` = n/deff.

    Raises
    ------
    AuditInputError
        If the table is of clusters but was summed or changed after ``.at``, so that its moments are lost.

    References
    ----------
    Rao JNK, Scott AJ. A simple method for the analysis of clustered binary data. Biometrics 1992;48:577–585.
    """
    if not isinstance(table, xr.Dataset):
        raise AuditInputError(f"an interval needs a table of counts.at(…) or confusion(…), not {type(table).__name__}.")
    events, trials = parts(table, metric)
    n = trials.astype(np.float64).reset_coords(drop=True)
    events = events.astype(np.float64).reset_coords(drop=True)
    p = events / n.where(n > 0)
    deff = xr.ones_like(p).where(p.notnull())
    if "unit_moments" in table.coords:
        deff = _design_effect(table["unit_moments"].reset_coords(drop=True), p, n, metric)
    elif table.attrs.get("unit", "row") != "row":
        raise AuditInputError(
            f"this table counts rows that belong together by {table.attrs['unit']!r}, but was summed after .at(…) or "
            "holds replicates, so what the interval needs is lost: use counts.by(…) before .at(…), or interval(…)."
        )
    return xr.Dataset({"estimate": p, "n": n, "deff": deff, "n_effective": n / deff})


def _design_effect(moments: xr.DataArray, p: xr.DataArray, n: xr.DataArray, metric: Metric) -> xr.DataArray:
    cells = {"tp": [1, 0, 0, 0], "fp": [0, 1, 0, 0], "fn": [0, 0, 1, 0], "tn": [0, 0, 0, 1]}
    above, below = parts({name: np.array(unit) for name, unit in cells.items()}, metric)
    x, m = (xr.DataArray(np.asarray(v, dtype=np.float64), dims="cell") for v in (above, below))
    residual = x - p * m
    squares = xr.dot(xr.dot(moments, residual.rename(cell="cell_"), dim="cell_"), residual, dim="cell")
    sizes = xr.dot(xr.dot(moments, m.rename(cell="cell_"), dim="cell_"), m, dim="cell")
    alike = sizes / n.where(n > 0)
    worth = n / alike
    binomial = (p * (1 - p) * n).where(p * (1 - p) > 0)
    seen = squares * (worth / (worth - 1).where(worth > 1)) / binomial
    return seen.fillna(alike).clip(min=1.0).where(p.notnull())


def wilson(p: Any, n: Any, z: float) -> tuple[Any, Any]:
    """Wilson's score limits of a proportion ``p`` out of ``n`` (not necessarily whole).

    >>> [round(float(limit), 4) for limit in wilson(0.8, 10, 1.959964)]
    [0.4902, 0.9433]
    """
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return centre - half, centre + half


def rate_interval(table: Any, metric: Metric = sensitivity, level: float = 0.95) -> xr.Dataset:
    """Wilson's interval of a rate in each group; effective n where clustered.

    Returns
    -------
    Dataset of ``estimate``, ``low``, ``high``, ``n`` and ``n_effective``; NaN where there is no trial.

    References
    ----------
    Wilson EB. Probable inference, the law of succession, and statistical inference. JASA 1927;22:209–212.

    Examples
    --------
    >>> from auditlib.counts import parse_confusion
    >>> found = rate_interval(parse_confusion("A:8,0,10,2; B:80,0,10,20"))
    >>> found.low.round(3).values, found.high.round(3).values
    (array([0.49 , 0.711]), array([0.943, 0.867]))
    """
    found = effective(table, metric)
    low, high = wilson(found.estimate, found.n_effective, stats.norm.ppf((1 + check_level(level)) / 2))
    return xr.Dataset(
        {"estimate": found.estimate, "low": low, "high": high, "n": found.n, "n_effective": found.n_effective}
    )


def _newcombe(one: xr.Dataset, two: xr.Dataset, z: float) -> tuple[xr.DataArray, xr.DataArray]:
    """Hybrid score limits of one.estimate − two.estimate."""
    (low1, high1), (low2, high2) = (wilson(group.estimate, group.n_effective, z) for group in (one, two))
    p1, p2 = one.estimate, two.estimate
    below = np.sqrt((p1 - low1) ** 2 + (high2 - p2) ** 2)
    above = np.sqrt((high1 - p1) ** 2 + (p2 - low2) ** 2)
    return p1 - p2 - below, p1 - p2 + above


def gap_interval(
    table: Any, a: str, b: str, *, metric: Metric = sensitivity, dim: str | None = None, level: float = 0.95
) -> xr.Dataset:
    """Newcombe's hybrid score interval of the gap of a rate, level ``a`` minus level ``b``.

    d − √((p_a − l_a)² + (u_b − p_b)²) to d + √((u_a − p_a)² + (p_b − l_b)²), l and u being Wilson's limits; where
    rows are clustered, with n/deff for n. Groups are taken as independent (patients who change group make the
    interval a little too wide, when they behave alike in both).

    Parameters
    ----------
    table : Dataset of Counts.at, or of ``confusion``
    a, b : str
        Levels of one group dim.
    metric : a rate of ``auditlib.metrics``
    dim : str, optional
        The group dim, when both levels occur in several.
    level : float

    Returns
    -------
    Dataset of ``estimate``, ``low``, ``high``, and ``n_a``, ``n_b`` (trials); NaN where a group has no trial.

    Raises
    ------
    AuditInputError
        For an unknown level or metric, or a table whose clusters were lost.

    References
    ----------
    Newcombe RG. Interval estimation for the difference between independent proportions. Stat Med 1998;17:873–890,
    method 10.

    Examples
    --------
    >>> from auditlib.counts import parse_confusion
    >>> found = gap_interval(parse_confusion("a:56,1,1,14; b:48,1,1,32"), "a", "b")
    >>> [round(float(found[name]), 4) for name in ("estimate", "low", "high")]
    [0.2, 0.0524, 0.3339]
    """
    found = effective(table, metric)
    dim = find_dim(found.estimate, a, b, dim)
    one, two = found.sel({dim: a}, drop=True), found.sel({dim: b}, drop=True)
    low, high = _newcombe(one, two, stats.norm.ppf((1 + check_level(level)) / 2))
    return xr.Dataset({"estimate": one.estimate - two.estimate, "low": low, "high": high, "n_a": one.n, "n_b": two.n})


def spread_interval(table: Any, dim: str, *, metric: Metric = sensitivity, level: float = 0.95) -> xr.Dataset:
    """Interval of the largest minus the smallest of several groups' rates, valid at a true spread of 0 too.

    Resampled spreads are never below 0 and mostly above the observed one's truth, so a percentile interval misses
    a spread of 0 always. Here the lower limit is the largest, over ordered pairs of groups, of Newcombe's lower
    limits at z = q(level; G, ∞)/√2 (simultaneous for all pairs, hence valid whichever is extreme), at least 0.
    The upper limit is the largest of the unadjusted upper limits: only the truly extreme pair need be covered.

    Parameters
    ----------
    table : Dataset of Counts.at, or of ``confusion``
    dim : str
        The group dim, with at least two levels.
    metric : a rate of ``auditlib.metrics``
    level : float

    Returns
    -------
    Dataset of ``estimate``, ``low``, ``high``; NaN if any group has no trial.

    Raises
    ------
    AuditInputError
        For an unknown dim or metric, or fewer than two groups.

    References
    ----------
    Tukey's studentized range q; Newcombe 1998 as in ``gap_interval``. The combination is this package's; its
    coverage is studied in ``data/studies/spread_coverage.csv``.

    Examples
    --------
    >>> from auditlib.counts import parse_confusion
    >>> found = spread_interval(parse_confusion("A:70,0,1,30; B:70,0,1,30; C:75,0,1,25"), "group")
    >>> [round(float(found[name]), 3) for name in ("estimate", "low", "high")]
    [0.05, 0.0, 0.171]
    """
    found = effective(table, metric)
    check_dim(found.estimate, dim)
    z = stats.norm.ppf((1 + check_level(level)) / 2)
    joint = stats.studentized_range.ppf(level, found.sizes[dim], np.inf) / np.sqrt(2)
    copy = f"{dim} (other)"
    other = found.rename({dim: copy})
    low = _newcombe(found, other, joint)[0].max([dim, copy])
    high = _newcombe(found, other, z)[1].max([dim, copy])
    known = found.estimate.notnull().all(dim)
    estimate = found.estimate.max(dim) - found.estimate.min(dim)
    limits = {"estimate": estimate, "low": low.clip(min=0.0), "high": high}
    return xr.Dataset({name: values.where(known) for name, values in limits.items()})


def auroc_interval(area: float, positives: int, negatives: int, level: float = 0.95) -> tuple[float, float]:
    """Hanley and McNeil's interval of an area under the ROC curve, from the area and the numbers alone.

    SE² = [A(1 − A) + (P − 1)(A/(2 − A) − A²) + (N − 1)(2A²/(1 + A) − A²)] / (P·N). Rows are taken as independent.

    Raises
    ------
    AuditInputError
        For an area outside 0–1 or fewer than one positive or negative.

    References
    ----------
    Hanley JA, McNeil BJ. The meaning and use of the area under a ROC curve. Radiology 1982;143:29–36.

    Examples
    --------
    >>> [round(limit, 3) for limit in auroc_interval(0.8, 50, 100)]
    [0.719, 0.881]
    """
    if not 0 <= area <= 1 or positives < 1 or negatives < 1:
        raise AuditInputError(
            f"an area of {area!r} with {positives!r} positives and {negatives!r} negatives: give an "
            "area in 0–1 and at least one of each."
        )
    above, below = area / (2 - area) - area**2, 2 * area**2 / (1 + area) - area**2
    variance = (area * (1 - area) + (positives - 1) * above + (negatives - 1) * below) / (positives * negatives)
    half = float(stats.norm.ppf((1 + check_level(level)) / 2) * np.sqrt(variance))
    return area - half, area + half


def tidy(found: xr.Dataset, digits: int = 3) -> pd.DataFrame:
    """Intervals as a table to read: one row a group, numbers of people whole.

    Examples
    --------
    >>> from auditlib.counts import parse_confusion
    >>> tidy(gap_interval(parse_confusion("a:56,1,1,14; b:48,1,1,32"), "a", "b"))
      estimate    low   high  n_a  n_b
           0.2  0.052  0.334   70   80
    """
    plain = found.reset_coords(drop=True)
    table = plain.to_dataframe() if plain.dims else pd.DataFrame(plain.to_pandas()).T.set_axis([""])
    people = [name for name in table if name in ("n", "n_a", "n_b")]
    return table.round(digits).astype(dict.fromkeys(people, "int64"))
