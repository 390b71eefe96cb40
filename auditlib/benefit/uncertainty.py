"""Means of per-patient values: their variances, intervals, and the set of ratios that data leave open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from scipy import stats

from auditlib.benefit.core import ALL, odds
from auditlib.counts.cells import wide
from auditlib.errors import AuditInputError
from auditlib.intervals.effective import check_independent, check_table
from auditlib.intervals.replicates import check_level
from auditlib.metrics import find_dim, pick
from auditlib.values import together

Weights = Mapping[str, Any]  # a patient's value by cell; a cell left out is 0


def mean_of(table: xr.Dataset, weights: Weights) -> xr.DataArray:
    """Mean over patients of a value that depends on their cell: Σ v_c·n_c / N.

    >>> from auditlib.counts import confusion
    >>> mean_of(confusion(tp=1, fp=1, fn=1, tn=1), {"tp": 1, "fp": -0.2}).item()
    0.2
    """
    plain = _plain(table)
    people = _people(plain)
    values = sum(weights.get(cell, 0.0) * plain[cell] for cell in ALL)
    return values / people.where(people > 0)


def _plain(table: xr.Dataset) -> xr.Dataset:
    """The cells alone, as numbers that do not overflow."""
    return xr.Dataset({cell: wide(table[cell].reset_coords(drop=True)) for cell in ALL})


def _people(plain: xr.Dataset) -> xr.DataArray:
    return plain["tp"] + plain["fp"] + plain["fn"] + plain["tn"]


def covariance(table: xr.Dataset, one: Weights, two: Weights) -> xr.DataArray:
    """Covariance of two such means: Σ over units of (x_u − x̄·n_u)(y_u − ȳ·n_u) / N², with k/(k − 1) for clusters.

    A unit is a row or, where the table is of clusters, a patient with all rows; k is the number of equally large
    patients the group is worth. Where rows are the units this is the plug-in variance of a mean.
    """
    plain = _plain(table)
    people = _people(plain)
    first, second = mean_of(table, one), mean_of(table, two)
    x = {cell: one.get(cell, 0.0) - first for cell in ALL}
    y = {cell: two.get(cell, 0.0) - second for cell in ALL}
    if "unit_moments" not in table.coords:
        return sum(plain[cell] * x[cell] * y[cell] for cell in ALL) / people.where(people > 0) ** 2
    moments = table["unit_moments"].reset_coords(drop=True)
    terms = (
        x[c] * y[d] * moments.isel(cell=i, cell_=j, drop=True) for i, c in enumerate(ALL) for j, d in enumerate(ALL)
    )
    patients = _patients(table)
    return sum(terms) / people.where(people > 0) ** 2 * patients / (patients - 1).where(patients > 1)


def _varied(table: xr.Dataset) -> xr.DataArray:
    """Whether a group's people are in more than one cell."""
    return (_plain(table).to_dataarray("cell") > 0).sum("cell") > 1


def _patients(table: xr.Dataset) -> xr.DataArray:
    """k = (Σ n_u)² / Σ n_u²; infinite where rows are the units."""
    people = _people(_plain(table)).astype(np.float64)
    if "unit_moments" not in table.coords:
        return xr.full_like(people, np.inf)
    moments = table["unit_moments"].reset_coords(drop=True).isel(cell=slice(4), cell_=slice(4))
    return people.where(people > 0) ** 2 / moments.sum(["cell", "cell_"])


def quantile(table: xr.Dataset, level: float) -> xr.DataArray:
    """The normal quantile, or Student's t with k − 1 degrees of freedom where patients have several rows."""
    freedom = (_patients(table) - 1).clip(min=0.5)
    return xr.apply_ufunc(stats.t.ppf, (1 + check_level(level)) / 2, freedom)


def widened(table: xr.Dataset, level: float) -> xr.DataArray:
    """What a group's variance is multiplied by where the normal quantile stands for Student's t: (t/z)², 1 for rows."""
    return (quantile(table, level) / stats.norm.ppf((1 + check_level(level)) / 2)) ** 2


def weights_of(table: xr.Dataset, threshold: Any, lam: Any, burden: Any) -> dict[str, Any]:
    """What each cell adds to sNB: 1 − r(1 − λ), 1 − rλw, 1 − r and 1 for a TP, FP, FN and TN."""
    t, lam, burden = together(table, threshold=threshold, lam=lam, burden=burden)
    w = odds(t, table)
    return {"tp": 1 - burden * (1 - lam), "fp": 1 - burden * lam * w, "fn": 1 - burden, "tn": 1.0}


def benefit_interval(
    table: xr.Dataset,
    threshold: Any,
    lam: Any,
    burden: Any = 1.0,
    *,
    a: str | None = None,
    b: str | None = None,
    dim: str | None = None,
    level: float = 0.95,
) -> xr.Dataset:
    """Interval of subgroup net benefit in each group, or of the gap of two: a mean of per-patient values ± z·SE.

    A patient adds 1 − r(1 − λ) to the sum if a true positive, 1 − rλw if a false positive, 1 − r if a false negative
    and 1 if a true negative; sNB is the mean, and its standard error that of a mean (of patients, where rows are
    clustered, with Student's t for z). Groups are taken as independent. A 95% interval covers 94–95% with 30 events in
    a group or more, about 92% with 10 and 89% with 5 (it then lies too high more often than too low). Where all people
    of a group are in one cell, such as none with the outcome and none flagged, nothing shows how much its sNB could
    have varied: no limits (NaN).

    Parameters
    ----------
    table : Dataset of Counts.at, or of ``confusion``
    threshold, lam, burden : as in ``subgroup_net_benefit``
    a, b : str, optional
        Levels of one group dim: the interval is then of a's sNB minus b's.
    dim : str, optional
        The group dim, when both levels occur in several.
    level : float

    Returns
    -------
    Dataset of ``estimate``, ``low``, ``high``, ``se`` and ``n`` (people; ``n_a`` and ``n_b`` for a gap).

    Raises
    ------
    AuditInputError
        As ``subgroup_net_benefit``; when only one of ``a`` and ``b`` is given, or they are models; for a table whose
        clusters were lost.

    Examples
    --------
    >>> from auditlib.counts import parse_confusion
    >>> table = parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
    >>> found = benefit_interval(table, 0.15, 0.58, a="Women", b="Men")
    >>> [round(10_000 * float(found[name])) for name in ("estimate", "low", "high")]
    [192, 7, 377]
    """
    check_table(table)
    weights = weights_of(table, threshold, lam, burden)
    mean = mean_of(table, weights)
    variance = covariance(table, weights, weights).where(_varied(table))
    people = _people(_plain(table))
    z = quantile(table, level)
    if a is None and b is None:
        se = np.sqrt(variance)
        return xr.Dataset({"estimate": mean, "low": mean - z * se, "high": mean + z * se, "se": se, "n": people})
    if a is None or b is None:
        raise AuditInputError("a gap needs both levels: give a= and b=, or neither.")
    dim = find_dim(mean, a, b, dim)
    check_independent(table, dim)
    estimate = pick(mean, dim, a) - pick(mean, dim, b)
    half = np.sqrt(sum(pick(z**2 * variance, dim, side) for side in (a, b)))
    se = np.sqrt(sum(pick(variance, dim, side) for side in (a, b)))
    return xr.Dataset(
        {
            "estimate": estimate,
            "low": estimate - half,
            "high": estimate + half,
            "se": se,
            "n_a": pick(people, dim, a),
            "n_b": pick(people, dim, b),
        }
    )


def fieller(top: Any, bottom: Any, v_top: Any, v_bottom: Any, covariance: Any = 0.0, level: float = 0.95) -> xr.Dataset:
    """Fieller's set of ratios ρ = top/bottom that the data leave open: (top − ρ·bottom)² ≤ z²·Var(top − ρ·bottom).

    It is an interval where ``bottom`` is clearly not 0. Where it is not, no bounded interval can be right: the set is
    then everything outside an interval, or every number.

    Parameters
    ----------
    top, bottom : DataArray or float
        Two estimates, nearly normal.
    v_top, v_bottom, covariance : DataArray or float
    level : float

    Returns
    -------
    Dataset of ``estimate``, ``low``, ``high`` and ``form``: "bounded" (low ≤ ρ ≤ high), "outside" (ρ ≤ low or
    ρ ≥ high), "all" (−∞ to ∞), "none" (NaN limits: no ρ, the denominator being exactly 0 without error and the
    numerator clearly not), or "undefined" (NaN limits: both are exactly 0, or missing).

    Raises
    ------
    AuditInputError
        For a negative variance.

    References
    ----------
    Fieller EC. Some problems in interval estimation. J R Stat Soc B 1954;16:175–185.

    Examples
    --------
    >>> found = fieller(2.0, 4.0, 0.1, 0.1)
    >>> found.form.item(), round(found.low.item(), 3), round(found.high.item(), 3)
    ('bounded', 0.337, 0.688)
    """
    z = float(stats.norm.ppf((1 + check_level(level)) / 2))
    top, bottom = xr.DataArray(top), xr.DataArray(bottom)
    if bool((xr.DataArray(v_top) < 0).any()) or bool((xr.DataArray(v_bottom) < 0).any()):
        raise AuditInputError("v_top and v_bottom are variances: at least 0.")
    a = bottom**2 - z**2 * v_bottom
    b = top * bottom - z**2 * covariance
    c = top**2 - z**2 * v_top
    # In this order the parts broadcast to one shape.
    a, b, c = xr.broadcast(*(xr.DataArray(part) for part in (a, b, c)))
    inside = b**2 - a * c
    root = np.sqrt(inside.clip(min=0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = xr.concat([(b - root) / a, (b + root) / a], "end")
        estimate = top / bottom
    known = np.isfinite(a) & np.isfinite(b) & np.isfinite(c) & ~((a == 0) & (b == 0) & (c == 0))
    empty = known & (a == 0) & (b == 0) & (c > 0)
    whole = known & ~empty & (a <= 0) & ((inside <= 0) | (a == 0))  # a = 0 leaves a half line: say all
    form = xr.where(a > 0, "bounded", "outside")
    form = xr.where(whole, "all", xr.where(empty, "none", xr.where(known, form, "undefined")))
    low = xr.where(whole, -np.inf, ends.min("end")).where(known & ~empty)
    high = xr.where(whole, np.inf, ends.max("end")).where(known & ~empty)
    return xr.Dataset({"estimate": estimate.where(np.isfinite(estimate)), "low": low, "high": high, "form": form})


def words(found: xr.Dataset, digits: int = 2) -> str:
    """A Fieller set in words: "0.34 to 0.69", "below −1.20 or above 0.40", "any value", "no value".

    Raises
    ------
    AuditInputError
        For several sets at once.

    Examples
    --------
    >>> words(fieller(2.0, 4.0, 0.1, 0.1))
    '0.34 to 0.69'
    """
    if not isinstance(found, xr.Dataset) or found["form"].ndim:
        raise AuditInputError("words() takes one set; select it first, with .sel or .isel.")
    low, high = (_written(float(found[name]), digits) for name in ("low", "high"))
    known = {"bounded": f"{low} to {high}", "outside": f"below {low} or above {high}"}
    known |= {"all": "any value", "none": "no value"}
    return known.get(str(found["form"].item()), "undefined")


def _written(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")
