"""Score-based intervals of rates, of the gap of two and of the spread of several."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from scipy import stats

from auditlib.counts.table import MAX_BYTES
from auditlib.errors import AuditInputError
from auditlib.intervals.effective import check_independent, effective, limits
from auditlib.intervals.replicates import check_level
from auditlib.metrics import Metric, check_dim, find_dim, pick, sensitivity


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
    low, high = limits(found, stats.norm.ppf((1 + check_level(level)) / 2))
    return xr.Dataset(
        {"estimate": found.estimate, "low": low, "high": high, "n": found.n, "n_effective": found.n_effective}
    )


def _newcombe(one: xr.Dataset, two: xr.Dataset, z: float) -> tuple[xr.DataArray, xr.DataArray]:
    """Hybrid score limits of one.estimate − two.estimate."""
    (low1, high1), (low2, high2) = (limits(group, z) for group in (one, two))
    p1, p2 = one.estimate, two.estimate
    below = np.sqrt((p1 - low1) ** 2 + (high2 - p2) ** 2)
    above = np.sqrt((high1 - p1) ** 2 + (p2 - low2) ** 2)
    return p1 - p2 - below, p1 - p2 + above


def gap_interval(
    table: Any, a: str, b: str, metric: Metric = sensitivity, *, dim: str | None = None, level: float = 0.95
) -> xr.Dataset:
    """Newcombe's hybrid score interval of the gap of a rate, level ``a`` minus level ``b``.

    d − √((p_a − l_a)² + (u_b − p_b)²) to d + √((u_a − p_a)² + (p_b − l_b)²), l and u being Wilson's limits; where
    rows are clustered, with n/deff for n and the t law for few patients (``limits``). Groups are taken as independent:
    patients who change group make the interval too wide when they behave alike in both, too narrow when oppositely.
    Where a few patients hold most rows of a group, or a rate near 0 or 1 meets one of a far larger group, it may cover
    a few points less than it says (``data/studies/few_patients.csv``).

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
        For an unknown level or metric, two models, or a table whose clusters were lost.

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
    check_independent(table, dim)
    one, two = pick(found, dim, a), pick(found, dim, b)
    low, high = _newcombe(one, two, stats.norm.ppf((1 + check_level(level)) / 2))
    return xr.Dataset({"estimate": one.estimate - two.estimate, "low": low, "high": high, "n_a": one.n, "n_b": two.n})


def spread_interval(table: Any, dim: str, metric: Metric = sensitivity, *, level: float = 0.95) -> xr.Dataset:
    """Interval of the largest minus the smallest of several groups' rates, valid at a true spread of 0 too.

    A resampled spread is at least 0, and 0 only when all groups tie, so the percentile interval of three or more groups
    of usual size contains 0 practically never. Here the lower limit is the largest, over ordered pairs of groups, of
    Newcombe's lower limits at z = q(level; G, ∞)/√2, which hold for all pairs together, and at least 0. The upper limit
    is the largest of the unadjusted upper limits: only the truly extreme pair need be covered. The argument is one of
    large samples: a few points of coverage may be missing where rates near 1 meet very unequal groups, or where fewer
    than about ten patients hold a group's rows (``data/studies/few_patients.csv``).

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
    check_independent(table, dim)
    z = stats.norm.ppf((1 + check_level(level)) / 2)
    joint = stats.studentized_range.ppf(level, found.sizes[dim], np.inf) / np.sqrt(2)
    pairs = found.estimate.size * found.sizes[dim]
    if pairs * 8 > MAX_BYTES:
        raise AuditInputError(
            f"a spread over {found.sizes[dim]:,} groups of {dim!r} compares {pairs:,} pairs, more than 512 MB hold; "
            "merge groups with .regroup(…), or select some."
        )
    copy = f"{dim} (other)"
    while copy in found.dims:
        copy += "'"
    other = found.rename({dim: copy})
    low = _newcombe(found, other, joint)[0].max([dim, copy])
    themselves = xr.DataArray(np.eye(found.sizes[dim], dtype=bool), dims=[dim, copy])  # no pair of two groups
    high = _newcombe(found, other, z)[1].where(~themselves).max([dim, copy])
    known = found.estimate.notnull().all(dim)
    estimate = found.estimate.max(dim) - found.estimate.min(dim)
    limits = {"estimate": estimate, "low": low.clip(min=0.0), "high": high}
    return xr.Dataset({name: values.where(known) for name, values in limits.items()})
