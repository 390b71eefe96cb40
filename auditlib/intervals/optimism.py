"""Performance judged on the rows a model was fitted to: Harrell's correction, and an interval for what is left."""

from __future__ import annotations

import numpy as np
import xarray as xr
from scipy import stats

from auditlib.errors import AuditInputError
from auditlib.intervals.replicates import check_level, quantiles

AXIS = "replicate"


def optimism_interval(
    apparent: xr.DataArray,
    refitted: xr.DataArray,
    original: xr.DataArray,
    level: float = 0.95,
    spread: xr.DataArray | None = None,
) -> xr.Dataset:
    """Performance of a fitted model, corrected for optimism by refits on bootstrap samples, with its interval.

    optimism = mean over refits k of (θ_k − φ_k), θ_k being the performance of refit k on its own bootstrap sample and
    φ_k that of the same refit on the original sample; estimate = apparent − optimism. The interval is that of the
    apparent performance, moved by the optimism:

    - by default estimate ± t·√(s² + d²/R), s the standard deviation of θ_k, d that of θ_k − φ_k (d²/R is what is not
      known of the optimism after R refits) and t the quantile of Student's law with R − 1 degrees of freedom;
    - with ``spread``, the percentiles of these replicates minus the optimism.

    Percentiles of θ_k themselves, as first proposed, want many refits: of 50, their expected coverage is 91%, and θ_k
    lies above the apparent performance, so that the interval keeps a part of the optimism. ``spread`` leaves out what
    refitting adds, which matters for the difference of two models: there the default covered 98%, ``spread`` 87%; for
    one model 93% and 92% (``data/studies/optimism.csv``: subgroup net benefit, LASSO, 2,000 rows).

    The correction is good where a refit resembles the fit. It leaves optimism where rows are remembered (boosting), and
    where a group's model has about as many coefficients as events: of a group's own LASSO with 8 slopes and 8 events it
    left more than a third (``data/studies/optimism_sizes.csv``).

    Parameters
    ----------
    apparent : DataArray
        Performance on the rows the model was fitted to; any dims, no ``replicate``.
    refitted, original : DataArrays with a ``replicate`` dim
        θ_k and φ_k: the same refits in the same order, over the same groups as ``apparent``. Every step that learns
        from the outcome must be repeated in each refit.
    level : float
        Coverage aimed at.
    spread : DataArray with a ``replicate`` dim, optional
        The apparent performance under resampling of the rows with the model held fixed, for example of
        ``counts.resample(1000)``: cheap, as nothing is refitted.

    Returns
    -------
    Dataset of ``estimate``, ``low``, ``high``, ``optimism``, ``mc_error`` (d/√R), ``apparent``, ``refits`` (pairs
    defined, R) and ``undefined`` (share of pairs that are not, and are left out). NaN where no pair is defined, and no
    limits where only one is.

    Raises
    ------
    AuditInputError
        Without a ``replicate`` dim, for values that are no numbers (text, True and False), for unequal dims or groups,
        or when no pair is defined anywhere.

    References
    ----------
    Harrell FE, Lee KL, Mark DB. Multivariable prognostic models. Stat Med 1996;15:361–387 (the correction). Noma H et
    al. Confidence intervals of prediction accuracy measures for multivariable prediction models based on the
    bootstrap-based optimism correction methods. Stat Med 2021;40:5691–5701 (the location-shifted interval, with
    percentiles of θ_k). The t law is this package's choice. For boosting and whatever else remembers single rows the
    correction fails (``data/studies/optimism_boosting.csv``): φ_k is judged on rows of which the refit has seen 63%.

    Examples
    --------
    >>> refitted = xr.DataArray([0.82, 0.84, 0.83, 0.83], dims="replicate")
    >>> original = xr.DataArray([0.80, 0.80, 0.81, 0.79], dims="replicate")
    >>> found = optimism_interval(xr.DataArray(0.82), refitted, original)
    >>> [round(float(found[name]), 4) for name in ("optimism", "estimate", "low", "high")]
    [0.03, 0.79, 0.7582, 0.8218]
    """
    check_level(level)
    _check_pairs(apparent, refitted, original)
    refitted, original = (values.transpose(AXIS, ...).astype(np.float64) for values in (refitted, original))
    difference = refitted - original.transpose(*refitted.dims)
    defined = abs(difference) < np.inf
    if not bool(defined.any()):
        raise AuditInputError(
            f"refitted, original: not one of {refitted.sizes[AXIS]} refits has both values; "
            "look at how often the groups have any row, or the metric any denominator."
        )
    refits = defined.sum(AXIS)
    optimism = difference.where(defined).mean(AXIS)
    error = _deviation(difference.where(defined)) / np.sqrt(refits.where(refits > 0))
    estimate = apparent - optimism
    if spread is None:
        t = xr.apply_ufunc(stats.t.ppf, (1 + level) / 2, (refits - 1).where(refits > 1))
        half = t * np.sqrt(_deviation(refitted.where(defined)) ** 2 + error**2)
        low, high = estimate - half, estimate + half
    else:
        low, high = (limit - optimism for limit in _percentiles(apparent, spread, level))
    found = {"estimate": estimate, "low": low, "high": high, "optimism": optimism, "mc_error": error}
    found |= {"apparent": apparent.where(refits > 0), "refits": refits, "undefined": 1 - defined.mean(AXIS)}
    return xr.Dataset({name: values.reset_coords(drop=True) for name, values in found.items()})


def _check_pairs(apparent: xr.DataArray, refitted: xr.DataArray, original: xr.DataArray) -> None:
    """An error unless the refits are paired with each other and lie over what the apparent performance lies over."""
    given = {"apparent": apparent, "refitted": refitted, "original": original}
    for name, values in given.items():
        _check_numbers(name, values)
    if AXIS in apparent.dims:
        raise AuditInputError(f"apparent: one value of the fitted model is needed, but it has a {AXIS!r} dim.")
    for name in ("refitted", "original"):
        _check_replicates(name, given[name], apparent)
    if refitted.sizes[AXIS] != original.sizes[AXIS]:
        raise AuditInputError(
            f"refitted has {refitted.sizes[AXIS]} replicates, original {original.sizes[AXIS]}: "
            "give both performances of each refit, in one order."
        )
    named = [values[AXIS].values.tolist() for values in (refitted, original) if AXIS in values.coords]
    if len(named) == 2 and named[0] != named[1]:
        raise AuditInputError(
            f"refitted and original name their {AXIS}s differently: give one order of the same refits."
        )


def _check_numbers(name: str, values: object) -> None:
    if not isinstance(values, xr.DataArray) or values.dtype.kind not in "iuf":
        held = f" that holds {values.dtype}" if isinstance(values, xr.DataArray) else ""
        raise AuditInputError(f"{name}: a DataArray of numbers is needed, not {_kind(values)}{held}.")


def _check_replicates(name: str, values: xr.DataArray, apparent: xr.DataArray) -> None:
    """An error unless ``values`` are replicates over the dims and levels of ``apparent``."""
    if not isinstance(values, xr.DataArray) or AXIS not in values.dims:
        raise AuditInputError(f"{name}: a DataArray with a {AXIS!r} dim is needed, not {_kind(values)}.")
    if not values.sizes[AXIS]:
        raise AuditInputError(f"{name}: there is no replicate.")
    sizes = {dim: size for dim, size in values.sizes.items() if dim != AXIS}
    if sizes != dict(apparent.sizes):
        raise AuditInputError(f"{name} lies over {_said(sizes)}, apparent over {_said(dict(apparent.sizes))}.")
    for dim in sizes:
        one, two = (held[dim].values.tolist() for held in (values, apparent))
        if one != two:
            raise AuditInputError(f"{name} has the {dim}s {one}, apparent {two}: select the same, in one order.")


def _percentiles(apparent: xr.DataArray, spread: xr.DataArray, level: float) -> list[xr.DataArray]:
    """Limits of the replicated apparent performance."""
    _check_replicates("spread", spread, apparent)
    _check_numbers("spread", spread)
    values = spread.transpose(AXIS, *apparent.dims).values.astype(np.float64)
    return [apparent.copy(data=limit) for limit in quantiles(values, [(1 - level) / 2, (1 + level) / 2])]


def _deviation(values: xr.DataArray) -> xr.DataArray:
    """Standard deviation over what is defined; NaN for one value or none."""
    enough = values.count(AXIS) > 1
    return values.where(enough, 0.0).std(AXIS, ddof=1).where(enough)


def _kind(values: object) -> str:
    return f"one over {_said(dict(values.sizes))}" if isinstance(values, xr.DataArray) else type(values).__name__


def _said(sizes: dict) -> str:
    return ", ".join(f"{dim} ({size})" for dim, size in sizes.items()) or "no dim"
