"""One number from several groups: the worst-off one, and the mean of the others against a reference."""

from __future__ import annotations

import numpy as np
import xarray as xr

from auditlib.errors import AuditInputError
from auditlib.metrics import check_dim


def _levels(values: xr.DataArray, dim: str) -> list[str]:
    """Names of the levels, each once."""
    check_dim(values, dim)
    if not isinstance(values, xr.DataArray):
        raise AuditInputError("this takes one metric: a DataArray, not a Dataset of several.")
    levels = [str(level) for level in values[dim].values] if dim in values.coords else []
    if len(set(levels)) < values.sizes[dim]:
        raise AuditInputError(f"{dim!r} needs a name for each of its levels, each its own.")
    return levels


def worst_off(values: xr.DataArray, dim: str) -> xr.Dataset:
    """The smallest value over a group dim, and whose it is: what maximin compares.

    Parameters
    ----------
    values : DataArray
        sNB or another metric in which more is better.
    dim : str
        The group dim.

    Returns
    -------
    Dataset of ``value`` (NaN if any group's is) and ``level`` (the first of equals; "" where NaN).

    Raises
    ------
    AuditInputError
        For an unknown dim or a single group.

    Examples
    --------
    >>> values = xr.DataArray([0.97, 0.91], {"group": ["A", "B"]}, ["group"])
    >>> found = worst_off(values, "group")
    >>> found.value.item(), found.level.item()
    (0.91, 'B')
    """
    levels = _levels(values, dim)
    known = values.notnull().all(dim)
    place = values.fillna(np.inf).argmin(dim)
    names = xr.DataArray(levels, dims=dim)
    level = names.isel({dim: place.reset_coords(drop=True)}).drop_vars(dim, errors="ignore")
    return xr.Dataset({"value": values.min(dim, skipna=False), "level": xr.where(known, level, "")})


def mean_gap(values: xr.DataArray, reference: str, dim: str) -> xr.DataArray:
    """Unweighted mean of the other groups' values minus the reference group's; NaN if any is.

    Raises
    ------
    AuditInputError
        For an unknown dim or reference.

    References
    ----------
    Benitez-Aurioles et al. 2026: mean(Asian, Black, Other) − White.

    Examples
    --------
    >>> values = xr.DataArray([0.97, 0.91, 0.95], {"group": ["A", "B", "C"]}, ["group"])
    >>> round(mean_gap(values, "A", "group").item(), 3)
    -0.04
    """
    levels = _levels(values, dim)
    if str(reference) not in levels:
        raise AuditInputError(f"{reference!r} is no level of {dim!r}; the levels are {', '.join(map(repr, levels))}.")
    place = levels.index(str(reference))
    others = values.isel({dim: [k for k in range(len(levels)) if k != place]})
    return others.mean(dim, skipna=False) - values.isel({dim: place}, drop=True)
