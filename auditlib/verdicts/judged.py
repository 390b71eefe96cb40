"""Limits, and pass or fail against them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from auditlib.counts.edges import snap
from auditlib.counts.levels import check_names
from auditlib.errors import AuditInputError
from auditlib.verdicts.metrics import LIMITS, METRICS, Limit

NOISE = 1e-9  # 0.1 and 0.3 − 0.2 are one number
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
    low_open, high = name == "DI", float(np.finfo(np.float64).max) if name == "TI" else 1.0
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
    values = array_of(values, metric)
    if "metric" not in values.dims:
        one = known[metric_of(values, metric)]
        return values.reset_coords(drop=True), xr.DataArray(one.value), xr.DataArray(one.at_least)
    found = [known[_known(str(name))] for name in values["metric"].values]
    over: dict[str, Any] = {"dims": "metric", "coords": {"metric": values["metric"].values}}
    return (
        values.reset_coords(drop=True),
        xr.DataArray([limit.value for limit in found], **over),
        xr.DataArray([limit.at_least for limit in found], **over),
    )


def array_of(values: Any, metric: str | None) -> xr.DataArray:
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


def metric_of(values: xr.DataArray, metric: str | None) -> str:
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
