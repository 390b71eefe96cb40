"""Confusion tables that are given, not counted: from arrays or from text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.counts.edges import check_number
from auditlib.counts.levels import check_name
from auditlib.errors import AuditInputError


def confusion(*, tp: Any, fp: Any, fn: Any, tn: Any, **dims: Any) -> xr.Dataset:
    """A confusion table from arrays; ``dims`` name the axes and their levels, in order.

    Raises
    ------
    AuditInputError
        If a count is missing, negative or not whole, or the shapes do not fit the dims.

    Examples
    --------
    >>> table = confusion(tp=[8, 5], fp=[1, 2], fn=[2, 5], tn=[9, 8], sex=["F", "M"])
    >>> table["tp"].sel(sex="M").item()
    5
    """
    for dim, names in dims.items():
        if isinstance(names, str) or np.ndim(names) != 1:
            raise AuditInputError(f"{dim}= must list the levels of that dim, not {names!r}.")
    shape = tuple(len(levels) for levels in dims.values())
    levels = {dim: _levels(dim, names) for dim, names in dims.items()}
    cells: Mapping[str, Any] = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    data = {}
    for name, given in cells.items():
        _check_labels(name, given, {dim: list(map(str, names)) for dim, names in levels.items()})
        values = _numbers(name, given)
        if values.shape != shape:
            raise AuditInputError(f"{name} has shape {values.shape}, but the dims {list(dims)} have {shape}.")
        bad = values[~((values >= 0) & (values == np.floor(values)) & (values < 2**53))]
        if bad.size:
            raise AuditInputError(f"{name} must be whole numbers of at least 0, not {float(bad[0])!r}.")
        data[name] = (list(dims), values.astype(np.int64))
    for dim, names in levels.items():
        if dim not in ("replicate", "threshold", "model"):
            check_name(dim)
        if len(set(names)) < len(names):
            raise AuditInputError(f"{dim!r} names a level twice: {', '.join(map(str, names))}.")
    return xr.Dataset(data, coords=levels, attrs={"unit": "row"})


def _levels(dim: str, names: Any) -> list[Any]:
    """Names of a dim's levels: text, but numbers for thresholds."""
    return [check_number(name) for name in names] if dim == "threshold" else [str(name) for name in names]


def _numbers(name: str, given: Any) -> np.ndarray:
    """Counts as float64; nothing that is no number is read as one."""
    if np.ma.is_masked(given):
        raise AuditInputError(f"{name} has masked values; a count that is not known cannot be in a table.")
    try:
        held = np.asarray(given)
        if held.dtype.kind not in "iufO":  # NumPy would read dates, and the real part of complex numbers
            raise TypeError
        return held.astype(np.float64)
    except (TypeError, ValueError):
        raise AuditInputError(f"{name} must be counts, not {given!r}.") from None
    except OverflowError:
        raise AuditInputError(f"{name} must be whole numbers of at least 0 and below 2**53.") from None


def _check_labels(name: str, given: Any, levels: Mapping[str, list[str]]) -> None:
    """Levels that a Series, DataFrame or DataArray names itself are those of the dims, in their order."""
    if isinstance(given, xr.DataArray):
        found = {str(dim): [str(level) for level in given[dim].values] for dim in given.dims if dim in given.coords}
        wrong = [str(dim) for dim in given.dims] != list(levels) or any(levels[dim] != found[dim] for dim in found)
    elif isinstance(given, pd.Series | pd.DataFrame):
        wrong = any(
            not isinstance(axis, pd.RangeIndex) and [str(level) for level in axis] != names
            for axis, names in zip(given.axes, levels.values(), strict=False)
        )
    else:
        return
    if wrong:
        raise AuditInputError(
            f"{name} names other levels, or another order, than the dims ({dict(levels)}); "
            "arrange it like them, or pass its values."
        )


def parse_confusion(text: str) -> xr.Dataset:
    """A confusion table over dim ``group`` from ``Group:TP,FP,TN,FN; Group:TP,FP,TN,FN`` (or a line a group).

    Raises
    ------
    AuditInputError
        If a group has no four whole numbers of at least 0, a name repeats, or there are fewer than two groups.

    Examples
    --------
    >>> table = parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
    >>> table["tn"].values
    array([800, 700])
    """
    if not isinstance(text, str):
        raise AuditInputError(f"expected text such as 'Women:80,40,800,30; Men:120,90,700,25', not {text!r}.")
    found: dict[str, list[int]] = {}
    for part in (piece for piece in re.split(r"[;\n]", text) if piece.strip()):
        name, colon, numbers = part.rpartition(":")
        fields = [field.strip() for field in numbers.split(",")]
        # isascii: other scripts' digits are digits for int(), but a reader may not see which.
        whole = all(field.isascii() and field.isdigit() and len(field) <= 15 for field in fields)
        glued = re.search(
            r":\s*[-+]?\d[\d.]*\s*,\s*[-+]?\d", name
        )  # another group's numbers: the separator was forgotten
        if not colon or not name.strip() or len(fields) != 4 or not whole or glued:
            raise AuditInputError(
                f"{part.strip()[:60]!r} is not 'Group:TP,FP,TN,FN' with four whole numbers of at least 0 "
                "(groups are separated by ';')."
            )
        if name.strip() in found:
            raise AuditInputError(f"the group {name.strip()!r} is named twice.")
        found[name.strip()] = [int(field) for field in fields]
    if len(found) < 2:
        raise AuditInputError(f"a gap needs at least two groups, but {len(found)} was given; separate them with ';'.")
    tp, fp, tn, fn = zip(*found.values(), strict=True)
    return confusion(tp=tp, fp=fp, fn=fn, tn=tn, group=list(found))
