"""Pass or fail, and how often resampling the patients would turn the one into the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from scipy.stats import norm

from auditlib.errors import AuditInputError
from auditlib.verdicts.metrics import LIMITS, METRICS, Limit

NOISE = 1e-9  # 0.1 and 0.3 − 0.2 are one number
RULE_OF_THREE = 3  # −ln .05: what was never seen in K draws has a chance of at most 3/K, with 95% confidence
Limits = Mapping[str, float | Limit]


def limits_of(limits: Limits | None) -> dict[str, Limit]:
    """The limits in force: those given, and ``LIMITS`` for the rest.

    Raises
    ------
    AuditInputError
        For an unknown metric, a limit that is no number of its metric's range (DI above 0 and at most 1, the others
        from 0; all but TI at most 1), or one that reverses the direction of its metric.

    Examples
    --------
    >>> limits_of({"Cal": 0.1})["Cal"].value, limits_of(None)["DI"].at_least
    (0.1, True)
    """
    if limits is None:
        return dict(LIMITS)
    if not isinstance(limits, Mapping):
        raise AuditInputError(f"limits must map metrics to numbers, such as {{'DI': 0.8}}, not {limits!r}.")
    found = dict(LIMITS)
    for name, limit in limits.items():
        if name not in LIMITS:
            raise AuditInputError(f"limits: no metric {name!r}; there are {', '.join(METRICS)}.")
        value, at_least = limit if isinstance(limit, Limit) else (limit, LIMITS[name].at_least)
        found[name] = Limit(_in_range(name, value), LIMITS[name].at_least)
        if bool(at_least) != LIMITS[name].at_least:
            side = "at least" if LIMITS[name].at_least else "at most"
            raise AuditInputError(f"limits: {name} passes when it is {side} its limit; it cannot be turned round.")
    return found


def _in_range(name: str, value: Any) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    low_open, high = name == "DI", np.inf if name == "TI" else 1.0
    if not number or not (value > 0 if low_open else value >= 0) or not value <= high or not np.isfinite(value):
        words = "above 0 and at most 1" if low_open else "at least 0" + ("" if name == "TI" else " and at most 1")
        raise AuditInputError(f"limits: the limit of {name} must be {words}, not {value!r}.")
    return float(value)


def stacked(values: Any, metric: str | None, limits: Limits | None) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray]:
    """Values of one metric, or of several over a ``metric`` dim; their limits; and where at least that is asked.

    >>> import xarray as xr
    >>> values, limit, at_least = stacked(xr.Dataset({"DI": 0.9, "SPD": 0.2}), None, None)
    >>> values.dims, limit.values.tolist(), at_least.values.tolist()
    (('metric',), [0.8, 0.1], [True, False])
    """
    known = limits_of(limits)
    if isinstance(values, xr.Dataset):
        if metric is not None:
            values = values[_known(metric)]
        else:
            values = values[[_known(str(name)) for name in values.data_vars]].to_dataarray("metric")
    if not isinstance(values, xr.DataArray) or values.dtype.kind not in "iuf":
        raise AuditInputError(
            "verdicts are given on numbers with named dims: pass what verdict_metrics(…) returns, or a metric of it."
        )
    if metric is None and "metric" in values.coords and "metric" in values.dims:
        names = [_known(str(name)) for name in values["metric"].values]
        over: dict[str, Any] = {"dims": "metric", "coords": {"metric": values["metric"]}}
        found = [known[name] for name in names]
        return (
            values,
            xr.DataArray([limit.value for limit in found], **over),
            xr.DataArray([limit.at_least for limit in found], **over),
        )
    limit = known[_known(metric if metric is not None else values.name)]
    return values, xr.DataArray(limit.value), xr.DataArray(limit.at_least)


def _known(metric: Any) -> str:
    if metric not in LIMITS:
        raise AuditInputError(f"which metric is this? {metric!r} is none of {', '.join(METRICS)}; say metric=….")
    return str(metric)


def passes(values: xr.DataArray | xr.Dataset, metric: str | None = None, limits: Limits | None = None) -> xr.DataArray:
    """1 where a metric is within its limit, 0 where it is not, NaN where it is undefined.

    Limits are inclusive; a distance of 1e-9, which is rounding noise, does not fail.

    Parameters
    ----------
    values : Dataset of ``verdict_metrics``, or a DataArray of one metric
    metric : str, optional
        Which one a DataArray holds, if its name does not say so.
    limits : mapping, optional
        Other limits, such as ``{"DI": 0.9}``.

    Returns
    -------
    DataArray of floats over the dims of `values`, with a ``metric`` dim when several are given.

    Examples
    --------
    >>> import xarray as xr
    >>> passes(xr.DataArray([0.3 - 0.2, 0.11, float("nan")]), "SPD").values.tolist()
    [1.0, 0.0, nan]
    """
    held, limit, at_least = stacked(values, metric, limits)
    within = xr.where(at_least, held >= limit - NOISE, held <= limit + NOISE)
    return within.astype(np.float64).where(held.notnull()).transpose(*held.dims).reset_coords(drop=True)


def verdict(values: xr.DataArray | xr.Dataset, metric: str | None = None, limits: Limits | None = None) -> xr.DataArray:
    """``passes`` in words: "pass", "fail" or "undefined".

    >>> import xarray as xr
    >>> verdict(xr.Dataset({"DI": 0.8, "PP": float("nan")})).values.tolist()
    ['pass', 'undefined']
    """
    found = passes(values, metric, limits)
    words = np.where(found.isnull(), "undefined", np.where(found == 1, "pass", "fail"))
    return found.copy(data=words.astype(object))


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
        The metrics of the data themselves, to be set beside the dominant verdict.

    Returns
    -------
    Dataset over the other dims:

    - ``p_pass`` share of passes; ``vfr``; ``dominant`` verdict ("pass", "fail", "tie", "undefined")
    - ``margin`` |mean − limit| in standard deviations of the replicates (infinite where these do not vary)
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
        Without a ``replicate`` dim or with none of it, and as ``passes``.

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
    """
    held, limit, _ = stacked(replicates, metric, limits)
    if "replicate" not in held.dims or not held.sizes["replicate"]:
        raise AuditInputError(
            "flip_rate takes replicates: the verdict_metrics(…) of counts.resample(n, …) with n of at least 1."
        )
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
    return found if point is None else found.merge(_beside(point, metric, limits, found), join="exact")


def _replicated(vfr: xr.DataArray) -> xr.DataArray:
    """Of estimates that differ by twice the variance that one of them has."""
    return vfr.copy(data=norm.cdf(norm.ppf(vfr) / np.sqrt(2)))


def _dominant(p_pass: xr.DataArray) -> xr.DataArray:
    words = np.select([p_pass > 0.5, p_pass < 0.5, p_pass == 0.5], ["pass", "fail", "tie"], "undefined")
    return p_pass.copy(data=words.astype(object))


def _margin(held: xr.DataArray, limit: xr.DataArray) -> xr.DataArray:
    """In standard deviations (ddof 1) of what is defined; NaN for a single replicate that is at its limit."""
    mean = held.mean("replicate", skipna=True)
    several = held.notnull().sum("replicate") > 1
    deviations = ((held - mean) ** 2).sum("replicate") / (held.notnull().sum("replicate") - 1).where(several)
    with np.errstate(divide="ignore", invalid="ignore"):
        return abs(mean - limit) / deviations**0.5


def _beside(point: Any, metric: str | None, limits: Limits | None, found: xr.Dataset) -> xr.Dataset:
    estimate = stacked(point, metric, limits)[0].reset_coords(drop=True)
    if set(estimate.dims) != set(found["vfr"].dims):
        raise AuditInputError(
            f"point has dims {', '.join(map(str, estimate.dims)) or 'none'}, but the replicates, without their own, "
            f"have {', '.join(map(str, found['vfr'].dims)) or 'none'}."
        )
    said = verdict(point, metric, limits)
    known = (said != "undefined") & ~found["dominant"].isin(["undefined"])
    other = (said != found["dominant"]).astype(np.float64).where(known)
    return xr.Dataset({"estimate": estimate, "verdict": said, "disagrees": other})
