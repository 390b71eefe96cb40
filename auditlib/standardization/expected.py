"""Confusion tables to be expected at a common prevalence."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import xarray as xr

from auditlib.counts.cells import cell_of, total
from auditlib.counts.confusions import CELLS
from auditlib.counts.table import MAX_BYTES
from auditlib.errors import AuditInputError
from auditlib.intervals.effective import SHARED
from auditlib.metrics import check_dim, false_positive_rate, sensitivity
from auditlib.metrics import prevalence as share_ill
from auditlib.values import GRIDS, given


def standardize(table: Any, prevalence: Any = "pooled", dim: str | None = None) -> Any:
    """The confusion table to be expected if every group had the same prevalence, and its own Se and Sp.

    Of the N people of a group, Nπ have the outcome: TP = Nπ·Se, FN = Nπ(1 − Se), FP = N(1 − π)(1 − Sp),
    TN = N(1 − π)Sp. Every metric applies; ``small`` should be asked of the counted table. That Se and Sp stay when
    prevalence changes is an assumption: the people with the outcome are then of the same kind as before, only more or
    fewer of them, and those without it likewise.

    Parameters
    ----------
    table : mapping of arrays ``tp``, ``fp``, ``fn``, ``tn``
        Any dims, replicates too; for anything but one number a Dataset.
    prevalence : "pooled", number in (0, 1), dict of one a group, or DataArray
        π. "pooled" is that of the table's people over ``dim``, in replicates each time anew. A DataArray over a new dim
        whose name begins with ``prevalence`` gives a curve. One a group is that of another population with prevalences
        of its own: nothing is then common. A replicate in which π is 0, 1 or NaN is NaN.
    dim : str, optional
        The group dim that is pooled, when there are several.

    Returns
    -------
    A table of the same kind, of expected counts, not whole in general, so that a gap of zero may come out as 1e-16; NaN
    where a group's Se or Sp is undefined. The intervals that need counts of patients (``gap_interval`` and its like)
    refuse it: take ``interval`` of replicates that were standardized, with the ``estimate`` from the counts.

    Raises
    ------
    AuditInputError
        For a prevalence of 0, 1 or outside, an unknown group, no or several dims to pool over, or a result above
        512 MB.

    References
    ----------
    Ghorbanpourbaboli et al., SMASH 2026 (PPV at the pooled prevalence of the test set).

    Examples
    --------
    >>> import auditlib as al
    >>> table = al.parse_confusion("Women:20,40,160,5; Men:40,40,160,10")
    >>> al.ppv(table).round(3).values, al.ppv(standardize(table)).round(3).values
    (array([0.333, 0.5  ]), array([0.429, 0.429]))

    At one number, at one a group, and along a curve (intervals: ``interval``):

    >>> al.ppv(standardize(table, 0.1)).round(3).values
    array([0.308, 0.308])
    >>> al.ppv(standardize(table, {"Women": 0.1, "Men": 0.2})).round(3).values
    array([0.308, 0.5  ])
    >>> along = xr.DataArray([0.1, 0.2, 0.5], {"prevalence": [0.1, 0.2, 0.5]}, ["prevalence"])
    >>> al.ppv(standardize(table, along)).sel(group="Men").round(3).values
    array([0.308, 0.5  , 0.8  ])
    """
    target, words = _target(table, prevalence, dim)
    caught, alarmed = sensitivity(table), false_positive_rate(table)
    people = total(table, CELLS)
    size = prod({**getattr(people, "sizes", {}), **getattr(target, "sizes", {})}.values())
    if size * 8 > MAX_BYTES:
        raise AuditInputError(f"{size:,} values a cell are more than 512 MB hold: fewer prevalences or replicates.")
    ill, well = people * target, people * (1 - target)
    found = {"tp": ill * caught, "fp": well * alarmed, "fn": ill * (1 - caught), "tn": well * (1 - alarmed)}
    if not isinstance(table, xr.Dataset):
        return found
    return xr.Dataset(found, attrs=table.attrs).assign_coords(expected_at=words)


def _target(table: Any, prevalence: Any, dim: str | None) -> tuple[Any, str]:
    """π as a number or a DataArray, and what to call it."""
    held = cell_of(table, "tp")  # an error that says what a table is, before any about prevalences
    if dim is not None:
        check_dim(held, dim)
    if isinstance(prevalence, str):
        if prevalence != "pooled":
            raise AuditInputError(f'prevalence must be "pooled", a number, a dict or a DataArray, not {prevalence!r}.')
        return _pooled(table, dim), "the pooled prevalence"
    if isinstance(prevalence, xr.DataArray) and "replicate" in prevalence.dims:
        return _by_replicate(table, prevalence), "given prevalences"
    target = given("prevalence", prevalence, table)
    if isinstance(target, xr.DataArray) and not isinstance(table, xr.Dataset):
        raise AuditInputError("prevalence must be one number where the table has no named groups.")
    return target, "given prevalences" if np.ndim(target) else f"a prevalence of {float(target):.4g}"


def _pooled(table: Any, dim: str | None) -> xr.DataArray:
    if not isinstance(table, xr.Dataset):
        raise AuditInputError(
            "pooling needs named groups: pass the Dataset of counts.at(…) or confusion(…), or a number as prevalence."
        )
    cells = {cell: cell_of(table, cell).reset_coords(drop=True) for cell in CELLS}
    groups = [d for d in map(str, cells["tp"].dims) if d not in SHARED and (d == dim or not d.startswith(GRIDS))]
    if dim is None and len(groups) == 1:
        dim = groups[0]
    if dim not in groups:
        raise AuditInputError(f"say over which dim= people are pooled; there is {', '.join(groups) or 'no group dim'}.")
    pooled = share_ill(xr.Dataset({cell: held.sum(dim, skipna=False) for cell, held in cells.items()}))
    return pooled.where((pooled > 0) & (pooled < 1))


def _by_replicate(table: Any, prevalence: xr.DataArray) -> xr.DataArray:
    """One a replicate (known by its position, where it has no name); NaN where a replicate has one label only."""
    here, there = prevalence.sizes["replicate"], getattr(table, "sizes", {}).get("replicate", 0)
    if here != there:
        raise AuditInputError(f"prevalence has {here:,} replicates, the table {there:,}; take both from one resample.")
    named = "replicate" in prevalence.coords and "replicate" in table.coords
    names = {} if named else {"replicate": np.arange(here)}
    known = ~(prevalence.isnull() | prevalence.isin([0, 1]))

    def fitted(values: xr.DataArray) -> xr.DataArray:
        return given("prevalence", values.assign_coords(names), table.assign_coords(names))

    found = fitted(prevalence.where(known, 0.5)).where(fitted(known * 0.5 + 0.25) > 0.5)
    return found if named else found.drop_vars("replicate")
