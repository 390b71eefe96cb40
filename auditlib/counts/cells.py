"""The cells of a confusion table, whatever holds them, and their sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from auditlib.errors import AuditInputError


def total(table: Any, cells: tuple[str, ...]) -> Any:
    """The sum of some cells."""
    arrays = [wide(cell_of(table, cell)) for cell in cells]
    if aligned(table, arrays):
        return like(arrays[0], sum(array.data for array in arrays))
    return sum(arrays)


def cell_of(table: Any, cell: str) -> Any:
    """One cell of a confusion table, or an error that says what a table is."""
    try:
        return table[cell]
    except (KeyError, IndexError, TypeError):
        raise AuditInputError(
            f"a confusion table holds tp, fp, fn and tn (counts.at(threshold), or a dict of arrays), "
            f"but this {type(table).__name__} has no {cell!r}."
        ) from None


def check_counts(table: xr.Dataset) -> None:
    """An error unless tp, fp, fn and tn are there and hold numbers of people, of at least 0 (or NaN)."""
    for cell in ("tp", "fp", "fn", "tn"):
        held = cell_of(table, cell)
        if held.dtype.kind not in "iufb":
            raise AuditInputError(f"{cell} must be counts, but holds values of type {held.dtype}.")
        if held.dtype.kind in "if" and held.size and bool((held.values < 0).any() | np.isinf(held.values).any()):
            wrong = held.values[(held.values < 0) | np.isinf(held.values)]
            raise AuditInputError(
                f"{cell} must be counts, finite and at least 0, but {wrong.size:,} of its values are not, such as "
                f"{wrong[0].item()!r}."
            )


def wide(array: Any) -> Any:
    """Whole numbers of few bits as int64, so that their sums do not overflow."""
    dtype = getattr(array, "dtype", None)
    return array.astype(np.int64) if dtype is not None and dtype.kind in "iub" and dtype != np.int64 else array


def aligned(table: Any, arrays: list[Any]) -> bool:
    """Whether arrays may be combined by position: those of one Dataset share coordinates, which xarray would
    compare and copy at every operation (most of the time of a bootstrap)."""
    return isinstance(table, xr.Dataset) and len({array.dims for array in arrays}) == 1


def like(array: xr.DataArray, data: Any) -> xr.DataArray:
    """Other data under the same coordinates."""
    found = array.copy(deep=False, data=data)
    found.name = None
    return found
