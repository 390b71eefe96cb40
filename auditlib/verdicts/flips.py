"""Pass or fail, and how often resampling the patients would turn the one into the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from scipy.stats import norm

from auditlib.counts.levels import check_names
from auditlib.errors import AuditInputError
from auditlib.verdicts.judged import Limits, array_of, metric_of, noise, passes, stacked, verdict

RULE_OF_THREE = 3  # −ln .05: what was never seen in K draws has a chance of at most 3/K, with 95% confidence
RESULTS = (
    *("p_pass", "vfr", "dominant", "margin", "mc_error", "replication_flip", "bound", "replication_bound"),
    *("undefined", "n", "estimate", "verdict", "disagrees"),
)


def flip_rate(
    replicates: xr.DataArray | xr.Dataset,
    metric: str | None = None,
    *,
    limits: Limits | None = None,
    point: xr.DataArray | xr.Dataset | None = None,
) -> xr.Dataset:
    """Verdict flip rate: the share of replicates whose verdict is the rarer one.

    VFR = min(n_pass, K − n_pass)/K over the K replicates in which the metric is defined.

    Parameters
    ----------
    replicates : Dataset of ``verdict_metrics`` of resampled counts, or a DataArray of one metric
        With a ``replicate`` dim.
    metric, limits : as ``passes``
    point : as `replicates`, without the ``replicate`` dim, optional
        The metrics of the data themselves, to be set beside the dominant verdict: of the same metrics, sites and so
        on, in any order.

    Returns
    -------
    Dataset over the other dims:

    - ``p_pass`` share of passes; ``vfr``; ``dominant`` verdict ("pass", "fail", "tie", "undefined")
    - ``margin`` |mean − limit| in standard deviations of the replicates (where these do not vary, infinite, and NaN at
      the limit itself)
    - ``mc_error`` √(VFR(1 − VFR)/K), what the number of replicates leaves open
    - ``replication_flip`` Φ(Φ⁻¹(VFR)/√2): the chance that the next audit of this size disagrees with this one's
      dominant verdict, averaged over truths (all equally likely beforehand), for metrics that are nearly normal with a
      spread that does not depend on the truth; NaN where VFR is 0
    - ``bound`` 3/K where VFR is 0: up to there the flip rate of endless resampling may lie (95% confidence); and
      ``replication_bound`` Φ(Φ⁻¹(bound)/√2)
    - ``undefined`` share of replicates without the metric; ``n`` = K
    - with `point`: ``estimate``, its ``verdict``, and ``disagrees``: 1 where that is not the dominant one

    All NaN or "undefined" where no replicate has the metric.

    Raises
    ------
    AuditInputError
        Without a ``replicate`` dim or with none of it; for a `point` of another metric or other levels; for a dim
        called as a part of the result; and as ``passes``.

    References
    ----------
    Joy et al., arXiv 2608.30846 (VFR, margin). Hanley JA, Lippman-Hand A. If nothing goes wrong, is everything all
    right? JAMA 1983;249:1743–1745 (3/K).

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> found = flip_rate(xr.DataArray(np.linspace(0.06, 0.11, 500), dims="replicate"), "SPD")
    >>> round(float(found.vfr), 3), str(found.dominant.item()), round(float(found.replication_flip), 3)
    (0.2, 'pass', 0.276)

    From counts, with the verdict of the data beside:

    >>> import pandas as pd
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [0, 1] * 200, "p": [0.1, 0.8, 0.6, 0.7] * 100, "sex": list("FFMMF") * 80})
    >>> counts = al.count(frame, label="y", score="p", by="sex", bins=10)
    >>> point = al.verdict_metrics(counts, "sex", threshold=0.5)
    >>> again = al.verdict_metrics(counts.resample(500, seed=1), "sex", threshold=0.5)
    >>> found = flip_rate(again, point=point).sel(metric="SPD")
    >>> str(found.verdict.item()), round(float(found.vfr), 2)
    ('pass', 0.01)
    """
    held, limit, _ = stacked(replicates, metric, limits)
    if "replicate" not in held.dims or not held.sizes["replicate"]:
        raise AuditInputError(
            "flip_rate takes replicates: the verdict_metrics(…) of counts.resample(n, …) with n of at least 1."
        )
    check_names(held.dims, RESULTS, "flip_rate")
    passed = passes(replicates, metric, limits)
    n = passed.notnull().sum("replicate")
    some = n > 0
    p_pass = passed.sum("replicate") / n.where(some)
    vfr = p_pass.where(p_pass <= 0.5, 1 - p_pass)
    bound = (RULE_OF_THREE / n.where(some)).clip(max=0.5).where(vfr == 0)  # no flip rate is above one half
    found = xr.Dataset(
        {
            "p_pass": p_pass,
            "vfr": vfr,
            "dominant": _dominant(p_pass),
            "margin": _margin(held, limit),
            "mc_error": (vfr * (1 - vfr) / n.where(some)) ** 0.5,
            "replication_flip": _replicated(vfr.where(vfr > 0)),
            "bound": bound,
            "replication_bound": _replicated(bound),
            "undefined": passed.isnull().mean("replicate"),
            "n": n,
        }
    ).reset_coords(drop=True)
    if point is None:
        return found
    name = metric if "metric" in held.dims else metric_of(array_of(replicates, metric), metric)
    return found.merge(_beside(point, name, limits, found), join="exact")


def _replicated(vfr: xr.DataArray) -> xr.DataArray:
    """Of estimates that differ by twice the variance that one of them has."""
    return vfr.copy(data=norm.cdf(norm.ppf(vfr) / np.sqrt(2)))


def _dominant(p_pass: xr.DataArray) -> xr.DataArray:
    words = np.select([p_pass > 0.5, p_pass < 0.5, p_pass == 0.5], ["pass", "fail", "tie"], "undefined")
    return p_pass.copy(data=words.astype(object))


def _margin(held: xr.DataArray, limit: xr.DataArray) -> xr.DataArray:
    """In standard deviations (ddof 1) of what is defined; NaN for one replicate, and for equal ones at the limit."""
    off, held = noise(held), held.astype(np.float64)
    mean = held.mean("replicate", skipna=True)
    several = held.notnull().sum("replicate") > 1
    deviations = ((held - mean) ** 2).sum("replicate") / (held.notnull().sum("replicate") - 1).where(several)
    away = abs(mean - limit)
    equal = several & (held.max("replicate") - held.min("replicate") <= off)  # of which only rounding varies
    with np.errstate(divide="ignore", invalid="ignore"):
        return (away / deviations**0.5).where(~equal, (away * np.inf).where(away > off))


def _beside(point: Any, metric: str | None, limits: Limits | None, found: xr.Dataset) -> xr.Dataset:
    estimate = _like(stacked(point, metric, limits)[0], found["vfr"])
    said = verdict(estimate, metric if "metric" not in estimate.dims else None, limits)
    known = (said != "undefined") & ~found["dominant"].isin(["undefined"])
    other = (said != found["dominant"]).astype(np.float64).where(known)
    return xr.Dataset({"estimate": estimate, "verdict": said, "disagrees": other})


def _like(estimate: xr.DataArray, found: xr.DataArray) -> xr.DataArray:
    """The estimate with its levels in the order of the replicates'."""
    if set(estimate.dims) != set(found.dims):
        raise AuditInputError(
            f"point has dims {', '.join(map(str, estimate.dims)) or 'none'}, but the replicates, without their own, "
            f"have {', '.join(map(str, found.dims)) or 'none'}."
        )
    for dim in estimate.dims:
        ours, theirs = (part[dim].values.tolist() for part in (found, estimate))  # positions, without coordinates
        if sorted(map(str, ours)) != sorted(map(str, theirs)):
            raise AuditInputError(
                f"point has {dim} {', '.join(map(str, theirs))}, but the replicates have {', '.join(map(str, ours))}: "
                "take both from the same counts in the same way."
            )
        if dim in found.coords and dim in estimate.coords:
            estimate = estimate.isel({dim: [theirs.index(level) for level in ours]})
    return estimate
