"""The table of an audit that has not taken place, from what an analyst expects of its groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.counts import confusion
from auditlib.errors import AuditInputError

PATIENTS = 10**9  # rounding to whole patients moves a rate by less than 1e-6 where a group holds one in a thousand


def planned_table(
    shares: Mapping[str, float] | pd.Series | xr.DataArray,
    *,
    prevalence: Any,
    sensitivity: Any,
    false_positive_rate: Any,
    dim: str = "group",
) -> xr.Dataset:
    """Confusion table of a billion patients with these shares and rates, for ``settling_size`` and the like.

    Parameters
    ----------
    shares : mapping or Series of group to share, or DataArray over ``dim`` (and others)
        Of all patients; over ``dim`` they add up to 1.
    prevalence, sensitivity, false_positive_rate : number, mapping or Series of group to number, or DataArray
        Of each group, in [0, 1]; by name, in any order.
    dim : str
        What the attribute is called.

    Returns
    -------
    Dataset of tp, fp, fn, tn. It has no scores: Cal is NaN in what is made of it.

    Raises
    ------
    AuditInputError
        For shares that are not above 0 or do not add up to 1, a single group, rates outside [0, 1] or of other groups;
        and for lists and arrays, which do not say whose numbers they hold.

    Examples
    --------
    >>> from auditlib.verdicts import settling_size
    >>> rates = {"prevalence": 0.5, "false_positive_rate": 0.2, "sensitivity": {"A": 0.7, "B": 0.65}}
    >>> table = planned_table({"A": 0.9, "B": 0.1}, **rates)
    >>> int(settling_size(table, "group").sel(metric="EOpp"))
    3300
    """
    share = _numbers("shares", shares, dim)
    groups = share[dim].values.tolist() if dim in share.dims else []
    if len(groups) < 2:
        raise AuditInputError(f"shares: give those of at least two groups over {dim!r}, not {shares!r}.")
    if not bool((share > 0).all()) or not np.allclose(share.sum(dim), 1, rtol=0, atol=1e-6):
        raise AuditInputError(
            f"shares must be above 0 and add up to 1 over {dim}; they add up to {share.sum(dim).values}."
        )
    given = {"prevalence": prevalence, "sensitivity": sensitivity, "false_positive_rate": false_positive_rate}
    rate = {name: _rate(name, value, dim, groups) for name, value in given.items()}
    ill, well = share * rate["prevalence"], share * (1 - rate["prevalence"])
    cells = {
        "tp": ill * rate["sensitivity"],
        "fn": ill * (1 - rate["sensitivity"]),
        "fp": well * rate["false_positive_rate"],
        "tn": well * (1 - rate["false_positive_rate"]),
    }
    whole = {name: (PATIENTS * cell).round().astype(np.int64) for name, cell in cells.items()}
    held = xr.broadcast(*whole.values())
    dims = {str(name): held[0][name].values for name in held[0].dims}
    table = confusion(**{name: cell.values for name, cell in zip(whole, held, strict=True)}, **dims)
    return table.assign_coords({name: held[0][name] for name in dims if name != dim})  # which confusion makes texts


def _numbers(name: str, given: Any, dim: str) -> xr.DataArray:
    if isinstance(given, pd.Series):
        given = _by_group(name, given.index.tolist(), given.tolist(), dim)
    elif isinstance(given, Mapping):
        given = _by_group(name, list(given), list(given.values()), dim)
    elif not isinstance(given, xr.DataArray) and np.ndim(given):
        raise AuditInputError(
            f"{name}: {type(given).__name__} does not say which group each number is of; give a number, a mapping or "
            f"Series by group, or a DataArray over {dim!r}."
        )
    try:
        found = xr.DataArray(given).astype(np.float64)
    except (TypeError, ValueError):
        raise AuditInputError(f"{name} must be numbers, one or one a group, not {given!r}.") from None
    if dim in found.dims and dim not in found.coords:
        raise AuditInputError(f"{name} has no coordinate for {dim!r}; give the names of the groups.")
    return found.assign_coords({dim: list(map(str, found[dim].values))}) if dim in found.dims else found


def _by_group(name: str, groups: list[Any], values: list[Any], dim: str) -> xr.DataArray:
    levels = list(map(str, groups))
    if len(set(levels)) < len(levels):
        raise AuditInputError(f"{name} names a group twice: {levels}.")
    return xr.DataArray(values, {dim: levels}, [dim])


def _rate(name: str, given: Any, dim: str, groups: list[str]) -> xr.DataArray:
    found = _numbers(name, given, dim)
    if dim in found.dims and set(found[dim].values.tolist()) != set(groups):
        raise AuditInputError(f"{name} is of {found[dim].values.tolist()}, but the groups are {groups}.")
    if not bool(((found >= 0) & (found <= 1)).all()):
        raise AuditInputError(f"{name} must lie in [0, 1], not {found.values.tolist()}.")
    return found.sel({dim: groups}) if dim in found.dims else found
