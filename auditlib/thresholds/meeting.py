"""Thresholds that meet a rate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import xarray as xr

from auditlib.counts import Counts
from auditlib.errors import AuditInputError
from auditlib.metrics import Metric, false_positive_rate, selection_rate, sensitivity, specificity

AT_MOST = (selection_rate.__name__, false_positive_rate.__name__)
MEETING = (*AT_MOST, sensitivity.__name__, specificity.__name__)
ROUNDING = 1e-12  # a share written as a decimal may miss that of whole numbers by this


def check_counts(counts: object, what: str) -> None:
    """An error unless these are Counts that are not resampled."""
    if not isinstance(counts, Counts):
        raise AuditInputError(f"{what} is found on counts, as count(…) makes them, not on {type(counts).__name__}.")
    if counts.resampled:
        raise AuditInputError(f"{what} is found on counts that are not resampled; pass the original counts.")


def threshold_at(counts: Counts, metric: Metric, value: float, dim: str | None = None) -> Any:
    """The threshold, among the edges of the counts, at which a rate meets ``value``: one for all or one a group.

    - selection rate and false positive rate: never more than ``value``, and as many flagged as that allows;
    - specificity: never less than ``value``, and as many flagged as that allows;
    - sensitivity: never less than ``value``, and as few flagged as that needs.

    Of thresholds that flag the same people, the highest. People of one score bin are flagged together, so a rate is met
    only as nearly as the bins allow, and a share below that of the topmost bin that is not empty cannot be met by
    flagging anybody: that is an error, not a threshold that flags nobody (which only ``value`` = 0 asks for, or a
    specificity of 1). A threshold chosen on some people meets the rate on these; on others it will miss it by chance.

    Parameters
    ----------
    counts : Counts
        Not resampled. Groups other than ``dim`` are summed over.
    metric : selection_rate, false_positive_rate, sensitivity or specificity
        PPV, NPV and accuracy need not rise or fall with the threshold.
    value : float in [0, 1]
    dim : str, optional
        A group: a threshold for each of its levels.

    Returns
    -------
    float, or a DataArray over ``dim`` (and ``model``, where there are several) as ``counts.at`` takes it.

    Raises
    ------
    AuditInputError
        For another metric, a value outside 0–1, resampled counts, a group without anybody the rate is of, or a value
        that no threshold meets while flagging somebody.

    Examples
    --------
    >>> from auditlib import studies
    >>> counts = studies.comparison_counts("gap-cdc_diabetes-sex")
    >>> threshold_at(counts, selection_rate, 0.2)
    0.26
    >>> threshold_at(counts, sensitivity, 0.7, dim="sex").values
    array([0.17 , 0.195])
    """
    check_counts(counts, "a threshold")
    name = getattr(metric, "__name__", repr(metric))
    if name not in MEETING:
        raise AuditInputError(f"{name} need not rise or fall with the threshold; use one of {', '.join(MEETING)}.")
    value = _share(value)
    table = _at_every_edge(counts.by(*([] if dim is None else [dim])))
    rate = metric(table)
    _check_people(rate, name)
    found = xr.apply_ufunc(
        lambda rates, flagged: _edge(counts.edges.lower, rates, flagged, name, value),
        rate, table["tp"] + table["fp"], input_core_dims=[["threshold"]] * 2, vectorize=True,
    )  # fmt: skip
    if bool(found.isnull().any()):
        raise AuditInputError(_unmet(table, rate, found, value, name))
    return found if found.ndim else float(found)


def _share(value: object) -> float:
    """``value`` as a share; a float32 as the decimal it was written as, because 0.7 is less as float32."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:  # type: ignore[operator]
        raise AuditInputError(f"value must be a share from 0 to 1, not {value!r}.")
    return float(str(value)) + 0.0  # −0 + 0 is 0


def _at_every_edge(counts: Counts) -> xr.Dataset:
    """Confusion counts at every edge, without the moments that ``at`` would compute for clusters."""
    held = counts.histogram().rename(bin="threshold")
    above = held.isel(threshold=slice(None, None, -1)).cumsum("threshold").isel(threshold=slice(None, None, -1))
    below = held.sum("threshold") - above
    cells = {"tp": (above, 1), "fp": (above, 0), "fn": (below, 1), "tn": (below, 0)}
    return xr.Dataset({cell: part.sel(label=label, drop=True) for cell, (part, label) in cells.items()})


def _check_people(rate: xr.DataArray, name: str) -> None:
    """An error where a rate is undefined: at every threshold if at one, as these metrics rest on fixed people."""
    if lost := _named(rate.isel(threshold=0).isnull()):
        raise AuditInputError(f"{name} is undefined{_for(lost)}: nobody there counts towards it, at any threshold.")


def _named(lost: xr.DataArray) -> dict[str, int]:
    """Names of the levels at which something is so, and their place; one without a name where there are no levels."""
    keys = lost.to_series().index if lost.ndim else [()]
    names = [" and ".join(map(str, key if isinstance(key, tuple) else (key,))) for key in keys]
    return {name: place for place, (name, so) in enumerate(zip(names, lost.values.reshape(-1), strict=True)) if so}


def _for(names: Iterable[str]) -> str:
    return f" for {', '.join(names)}" if any(names) else ""


def _edge(edges: np.ndarray, rates: np.ndarray, flagged: np.ndarray, name: str, value: float) -> float:
    """The edge at which a rate meets ``value``; NaN where none does."""
    most = name in AT_MOST
    meets = rates <= value + ROUNDING if most else rates >= value - ROUNDING
    if (most and value > 0) or (name == specificity.__name__ and value < 1):
        meets &= flagged > 0
    if not meets.any():
        return np.nan
    place = np.flatnonzero(meets)[-1 if name == sensitivity.__name__ else 0]
    return float(edges[np.flatnonzero(flagged == flagged[place])[-1]])


def _unmet(table: xr.Dataset, rate: xr.DataArray, found: xr.DataArray, value: float, name: str) -> str:
    some = rate.where(table["tp"] + table["fp"] > 0)
    nearest = (some.min("threshold") if name in AT_MOST else some.max("threshold")).values.reshape(-1)
    lost = _named(found.isnull())
    rates = ", ".join(f"{nearest[place]:.10g}" for place in lost.values())
    return (
        f"no edge of these counts meets a {name.replace('_', ' ')} of {value:.10g}{_for(lost)}: with anybody flagged "
        f"the nearest is {rates}, because people of one score bin are flagged together."
    )
