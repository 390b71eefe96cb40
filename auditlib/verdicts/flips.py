"""Pass or fail, and how often resampling the patients would turn the one into the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from scipy.stats import norm

from auditlib.counts.edges import snap
from auditlib.counts.levels import check_names
from auditlib.errors import AuditInputError
from auditlib.verdicts.metrics import LIMITS, METRICS, Limit

NOISE = 1e-9  # 0.1 and 0.3 − 0.2 are one number
RULE_OF_THREE = 3  # −ln .05: what was never seen in K draws has a chance of at most 3/K, with 95% confidence
Limits = Mapping[str, float | Limit]
RESULTS = (
    *("p_pass", "vfr", "dominant", "margin", "mc_error", "replication_flip", "bound", "replication_bound"),
    *("undefined", "n", "estimate", "verdict", "disagrees"),
)


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
    low_open, high = name == "DI", np.finfo(np.float64).max if name == "TI" else 1.0
    if not number or not (value > 0 if low_open else value >= 0) or not value <= high or not np.isfinite(value):
        words = "above 0 and at most 1" if low_open else "at least 0" + ("" if name == "TI" else " and at most 1")
        raise AuditInputError(f"limits: the limit of {name} must be {words}, not {value!r}.")
    # A float32 is the decimal it is written as, and 0.1·3 is 0.3, as thresholds are.
    return float(str(value)) if isinstance(value, np.floating) and value.dtype != np.float64 else snap(value)


def noise(values: xr.DataArray) -> float:
    """What a value may be off its limit by rounding: 1e-9, and more where its type has fewer digits.

    >>> noise(xr.DataArray(0.1)), noise(xr.DataArray(np.float32(0.1))) < 1e-6
    (1e-09, True)
    """
    kind = values.dtype
    return max(NOISE, 2 * float(np.finfo(kind).eps)) if kind.kind == "f" else NOISE


def stacked(values: Any, metric: str | None, limits: Limits | None) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray]:
    """Values of one metric, or of several over a ``metric`` dim; their limits; and where at least that is asked.

    >>> import xarray as xr
    >>> values, limit, at_least = stacked(xr.Dataset({"DI": 0.9, "SPD": 0.2}), None, None)
    >>> values.dims, limit.values.tolist(), at_least.values.tolist()
    (('metric',), [0.8, 0.1], [True, False])
    """
    known = limits_of(limits)
    values = _array_of(values, metric)
    if "metric" not in values.dims:
        one = known[_metric_of(values, metric)]
        return values.reset_coords(drop=True), xr.DataArray(one.value), xr.DataArray(one.at_least)
    found = [known[_known(str(name))] for name in values["metric"].values]
    over: dict[str, Any] = {"dims": "metric", "coords": {"metric": values["metric"].values}}
    return (
        values.reset_coords(drop=True),
        xr.DataArray([limit.value for limit in found], **over),
        xr.DataArray([limit.at_least for limit in found], **over),
    )


def _array_of(values: Any, metric: str | None) -> xr.DataArray:
    """The values of ``metric``, or of all there are over a ``metric`` dim."""
    if metric is not None:
        _known(metric)
    if isinstance(values, xr.Dataset):
        check_names(values.dims, ["metric"], "a verdict on a Dataset of metrics")
        names = [_known(str(name)) for name in values.data_vars] if metric is None else [metric]
        if not names:
            raise AuditInputError("there is no metric in this Dataset: pass what verdict_metrics(…) returns.")
        if metric is not None and metric not in values.data_vars:
            raise AuditInputError(_absent(metric, values.data_vars))
        values = values[names].to_dataarray("metric") if metric is None else values[metric]
    if not isinstance(values, xr.DataArray) or values.dtype.kind not in "iuf":
        raise AuditInputError(
            "verdicts are given on numbers with named dims: pass what verdict_metrics(…) returns, or a metric of it."
        )
    if "metric" not in values.dims:
        return values
    if "metric" not in values.coords:
        raise AuditInputError("the dim 'metric' does not say which metrics it is over; give it coordinates.")
    names = [str(name) for name in values["metric"].values]
    if len(set(names)) < len(names) or not names:
        raise AuditInputError("the dim 'metric' must name at least one metric, each once.")
    if metric is None:
        return values
    if metric not in names:
        raise AuditInputError(_absent(metric, names))
    return values.isel(metric=names.index(metric))


def _absent(metric: str, names: Any) -> str:
    return f"there is no {metric} here, only {', '.join(map(str, names)) or 'nothing'}."


def _metric_of(values: xr.DataArray, metric: str | None) -> str:
    """Which metric values are of, by ``metric``, by their name, or by where they were selected from several."""
    label = values.coords["metric"].item() if "metric" in values.coords and not values.coords["metric"].ndim else None
    said = [str(name) for name in (metric, values.name, label) if isinstance(name, str) and name in LIMITS]
    if len(set(said)) > 1:
        raise AuditInputError(f"which metric is this? It is called {' and '.join(dict.fromkeys(said))}.")
    return said[0] if said else _known(metric if metric is not None else values.name)


def _known(metric: Any) -> str:
    if not isinstance(metric, str) or metric not in LIMITS:
        raise AuditInputError(f"which metric is this? {metric!r} is none of {', '.join(METRICS)}; say metric=….")
    return str(metric)


def passes(values: xr.DataArray | xr.Dataset, metric: str | None = None, limits: Limits | None = None) -> xr.DataArray:
    """1 where a metric is within its limit, 0 where it is not, NaN where it is undefined.

    Limits are inclusive; a distance of 1e-9, which is rounding noise, does not fail (2e-7 where values are float32).

    Parameters
    ----------
    values : Dataset of ``verdict_metrics``, or a DataArray of one metric
    metric : str, optional
        Which one a DataArray holds, if its name does not say so; or the one meant, of several.
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
    off, held = noise(held), held.astype(np.float64)
    within = xr.where(at_least, held >= limit - off, held <= limit + off)
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
    name = metric if "metric" in held.dims else _metric_of(_array_of(replicates, metric), metric)
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
