"""What a figure asks of its input before it draws: columns, dims, levels that fit each other, and single values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.errors import AuditInputError


def columns(table: object, names: Iterable[str], source: str) -> None:
    """Raise AuditInputError unless `table` is a DataFrame with these columns and a row; `source` says what makes one.

    Examples
    --------
    >>> columns(pd.DataFrame({"n": [3]}), ["n"], "studies.capacity.gains")
    """
    if not isinstance(table, pd.DataFrame):
        raise AuditInputError(f"the table must be a DataFrame, not a {type(table).__name__}; see {source}.")
    missing = [str(name) for name in names if name not in table]
    if missing or not len(table):
        raise AuditInputError(f"the table lacks {', '.join(missing) or 'rows'}; see {source}.")


def over(found: object, dims: Sequence[str], names: Iterable[str]) -> None:
    """Raise AuditInputError unless `found` is a Dataset in which each of `names` lies over `dims` alone, in any order.

    Examples
    --------
    >>> over(xr.Dataset({"n": ("sex", [3, 4])}), ["sex"], ["n"])
    """
    if not isinstance(found, xr.Dataset):
        raise AuditInputError(f"a Dataset with {', '.join(names)} is needed, not a {type(found).__name__}.")
    where = f"lie over {' and '.join(map(repr, dims))} alone" if dims else "be one value"
    for name in names:
        if name not in found:
            raise AuditInputError(f"{name} must {where}, but is absent; there is {', '.join(map(str, found))}.")
        if set(found[name].dims) != set(dims):
            raise AuditInputError(f"{name} must {where}, but is {found[name].dims}; sum over or select from the rest.")


def by_name(found: object, source: str) -> None:
    """Raise AuditInputError unless `found` names what is to be drawn: one bare table would be taken for its columns.

    Examples
    --------
    >>> by_name({"PPV": xr.Dataset()}, "gap_curve(…)")
    """
    if isinstance(found, xr.Dataset) or not isinstance(found, Mapping):
        raise AuditInputError(f"give them by name, as {{'a name': {source}}}, not a bare {type(found).__name__}.")


def single(found: Mapping[Any, Any], names: Iterable[str], what: str) -> None:
    """Raise AuditInputError unless each of `names` is there as one value.

    Examples
    --------
    >>> single(xr.Dataset({"low": 0.1}), ["low"], "the interval")
    """
    for name in names:
        if name not in found:
            raise AuditInputError(f"{what} has no {name}.")
        if np.ndim(found[name]):
            over_ = ", ".join(map(str, getattr(found[name], "dims", ()))) or "several values"
            raise AuditInputError(f"{what}: {name} must be one value, but lies over {over_}; select one.")


def defined(rows: pd.DataFrame, names: Sequence[str], label: str = "name") -> None:
    """Raise AuditInputError where a number to be told is missing; what cannot be known is not put into words.

    Examples
    --------
    >>> defined(pd.DataFrame({"name": ["A"], "low": [0.1]}), ["low"])
    """
    missing = rows[~np.isfinite(rows[list(names)].to_numpy(float)).all(axis=1)]
    if len(missing):
        whom = ", ".join(map(str, missing.get(label, missing.index)))
        raise AuditInputError(f"{' or '.join(names)} is not defined for {whom}: leave these rows out.")


def aligned(found: xr.Dataset, other: xr.Dataset, dims: Iterable[str], name: str, of: str) -> xr.Dataset:
    """`other` in the order of `found`; AuditInputError unless both have the same levels of `dims`, each once.

    Examples
    --------
    >>> one = xr.Dataset({"n": ("sex", [3, 4])}, {"sex": ["F", "M"]})
    >>> aligned(one, one.isel(sex=[1, 0]), ["sex"], "the second", "the first")["n"].values.tolist()
    [3, 4]
    """
    for dim in dims:
        here, there = (held[dim].values.tolist() for held in (found, other))
        lacking, more = [x for x in here if x not in there], [x for x in there if x not in here]
        if lacking or more or len(set(here)) < len(here) or len(there) != len(here):
            said = [f"lacks {', '.join(map(_said, lacking[:5]))}"] if lacking else []
            said += [f"has {', '.join(map(_said, more[:5]))} beside them"] if more else []
            said += [] if said else ["names some twice, or they are named twice there"]
            raise AuditInputError(f"{name}: of the {dim}s of {of} it {' and '.join(said)}; use the same in both.")
        if here != there:
            other = other.isel({dim: [there.index(x) for x in here]})
    return other


def on_grid(name: str, value: object, grid: xr.DataArray) -> int:
    """Where `value` is in `grid`, to rounding; AuditInputError where it is not.

    Examples
    --------
    >>> on_grid("lam", 0.1 * 3, xr.DataArray([0.2, 0.3]))
    1
    """
    held = np.asarray(grid.values, dtype=float)
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise AuditInputError(f"{name} must be a number, not {value!r}.")
    near = np.flatnonzero(abs(held - value) < 1e-9)
    if not len(near):
        some = ", ".join(f"{x:g}" for x in held[:12]) + (", …" if len(held) > 12 else "")
        raise AuditInputError(f"{name} = {value!r} is not in the grid; there is {some}.")
    return int(near[0])


def _said(level: object) -> str:
    return f"{level:g}" if isinstance(level, float) else repr(level)
