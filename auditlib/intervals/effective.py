"""What rows are worth when they belong together, and score limits of a rate."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from scipy import stats

from auditlib.counts.confusions import CELLS
from auditlib.errors import AuditInputError
from auditlib.metrics import Metric, parts, sensitivity

#: Dims whose levels hold the same patients.
SHARED = ("model", "threshold", "point", "replicate")


def effective(table: Any, metric: Metric = sensitivity) -> xr.Dataset:
    """A rate, its trials, and the trials it is worth once rows of one patient are seen to be alike.

    With clusters, the variance of the ratio p = Σx/Σm is Σ(x_u − p·m_u)² / (Σm)² times k/(k − 1), where
    k = (Σm)²/Σm_u² is the number of equally large patients that the group is worth (a small-sample factor of this
    package). The design effect ``deff`` is that variance over p(1 − p)/Σm, at least 1. At p = 0 or 1 no residual shows
    how alike rows are, and the rows of a patient count as one: deff = Σm_u²/Σm.

    Parameters
    ----------
    table : Dataset of Counts.at, or of ``confusion``
        Any dims.
    metric : a rate of ``auditlib.metrics``

    Returns
    -------
    Dataset of ``estimate``, ``n`` (trials), ``deff``, ``n_effective`` = n/deff and ``patients`` = k (infinite where
    rows are the units: nothing has to be learnt about how alike they are).

    Raises
    ------
    AuditInputError
        If the table is of clusters but was summed or changed after ``.at``, so that its moments are lost or stale.

    References
    ----------
    Rao JNK, Scott AJ. A simple method for the analysis of clustered binary data. Biometrics 1992;48:577–585.

    Examples
    --------
    >>> from auditlib.counts import parse_confusion
    >>> effective(parse_confusion("A:8,0,10,2; B:80,0,10,20")).n_effective.values
    array([ 10., 100.])
    """
    check_table(table)
    events, trials = parts(table, metric)
    n = trials.astype(np.float64).reset_coords(drop=True)
    events = events.astype(np.float64).reset_coords(drop=True)
    p = events / n.where(n > 0)
    deff, patients = xr.ones_like(p).where(p.notnull()), xr.full_like(p, np.inf).where(p.notnull())
    if "unit_moments" in table.coords:
        deff, patients = _design_effect(table["unit_moments"].reset_coords(drop=True), p, n, metric)
    return xr.Dataset({"estimate": p, "n": n, "deff": deff, "n_effective": n / deff, "patients": patients})


def check_independent(table: xr.Dataset, dim: str) -> None:
    """An error unless ``dim`` is a group dim of the table: models, thresholds, points and replicates share patients."""
    if dim in SHARED or dim not in table.dims:
        raise AuditInputError(
            f"levels of {dim!r} are judged on the same patients, which this interval would take for different ones: "
            f"al.interval(al.gap(metric(counts.resample(…).at(…)), a, b, dim={dim!r})) pairs them."
        )


def check_counted(table: xr.Dataset) -> None:
    """An error if the table holds expected counts, which say nothing of how many patients they rest on."""
    if "expected_at" in table.variables:
        raise AuditInputError(
            f"this table holds the counts to be expected at {table['expected_at'].item()}, made by standardize(…), not "
            "counts of patients; its interval is one of replicates: "
            "al.interval(al.gap(metric(al.standardize(counts.resample(…).at(…), …)), a, b))."
        )


def check_cells(table: Any) -> None:
    """An error unless ``table`` holds counts of patients."""
    if not isinstance(table, xr.Dataset) or not all(cell in table for cell in CELLS):
        raise AuditInputError(
            "intervals take a table of tp, fp, fn, tn over named dims: the Dataset of counts.at(…) or of confusion(…)."
        )
    check_counted(table)
    if not all(table[cell].dtype.kind in "iuf" and not (table[cell].values < 0).any() for cell in CELLS):
        raise AuditInputError("tp, fp, fn and tn must be counts of at least 0.")


def check_table(table: Any) -> None:
    """An error unless ``table`` holds counts of patients, with moments of its own where its rows are clustered."""
    check_cells(table)
    cells = [table[cell].reset_coords(drop=True) for cell in CELLS]
    moments = table.coords.get("unit_moments")
    if moments is None:
        if "clustered_by" in table.variables or table.attrs.get("unit", "row") != "row":
            name = str(table["clustered_by"].values.flat[0]) if "clustered_by" in table else table.attrs["unit"]
            raise AuditInputError(
                f"this table counts rows that belong together by {name!r}, but was summed after .at(…) or resampled, "
                "which loses what the interval needs: use counts.by(…) before .at(…), and counts not resampled."
            )
        return
    if not all(np.allclose(moments.isel(cell=4, cell_=k), cell, rtol=1e-9, atol=0) for k, cell in enumerate(cells)):
        raise AuditInputError(
            "this table was changed after .at(…), so that what it says of patients no longer fits its counts: "
            "change, add or select the counts, and call .at(…) after that."
        )


def _design_effect(
    moments: xr.DataArray, p: xr.DataArray, n: xr.DataArray, metric: Metric
) -> tuple[xr.DataArray, xr.DataArray]:
    """deff, and k, the number of equally large patients a group is worth."""
    cells = {name: np.eye(5, dtype=np.int64)[k] for k, name in enumerate(CELLS)}
    above, below = parts(cells, metric)
    x, m = (xr.DataArray(np.asarray(v, dtype=np.float64), dims="cell") for v in (above, below))
    residual = x - p * m
    squares = xr.dot(xr.dot(moments, residual.rename(cell="cell_"), dim="cell_"), residual, dim="cell")
    sizes = xr.dot(xr.dot(moments, m.rename(cell="cell_"), dim="cell_"), m, dim="cell")
    alike = sizes / n.where(n > 0)
    worth = n / alike
    binomial = (p * (1 - p) * n).where(p * (1 - p) > 0)
    seen = squares * (worth / (worth - 1).where(worth > 1)) / binomial
    return seen.fillna(alike).clip(min=1.0).where(p.notnull()), worth.where(p.notnull())


def wilson(p: Any, n: Any, z: float) -> tuple[Any, Any]:
    """Wilson's score limits of a proportion ``p`` out of ``n`` (not necessarily whole).

    >>> [round(float(limit), 4) for limit in wilson(0.8, 10, 1.959964)]
    [0.4902, 0.9433]
    """
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return centre - half, centre + half


def limits(group: xr.Dataset, z: float) -> tuple[xr.DataArray, xr.DataArray]:
    """Wilson's limits of a Dataset of ``effective``, for few patients with the t law in place of the normal.

    A design effect learnt from few patients is itself uncertain, so n_effective is reduced by (z/t)², t being the same
    quantile of the t law with k − 1 degrees of freedom.

    References
    ----------
    Korn EL, Graubard BI. Confidence intervals for proportions with small expected number of positive counts estimated
    from survey data. Survey Methodology 1998;24:193–201 (the correction of the effective sample size).
    """
    freedom = (group.patients - 1).clip(min=0.5)
    t = xr.apply_ufunc(stats.t.ppf, stats.norm.cdf(z), freedom)
    worth = (group.n_effective * (z / t) ** 2).clip(min=1e-6)
    return wilson(group.estimate, worth, z)
