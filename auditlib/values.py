"""What functions take beside a table: a threshold, a treatment effect, a burden, a prevalence, each checked."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.counts.edges import snap
from auditlib.counts.levels import check_levels
from auditlib.errors import AuditInputError

#: A DataArray may bring a dimension of its own that the table lacks, for a grid of values, if so named.
GRIDS = ("threshold", "lam", "burden", "prevalence")
_RANGES = {
    "lam": ("above 0 and at most 1 (a relative risk reduction)", lambda v: (v > 0) & (v <= 1)),
    "burden": ("above 0 and at most 1 (the chance of the bad outcome, untreated)", lambda v: (v > 0) & (v <= 1)),
    "threshold": ("at least 0 and below 1 (at 1 the odds are infinite)", lambda v: (v >= 0) & (v < 1)),
    "prevalence": ("above 0 and below 1 (at 0 and 1 only one kind of people is left)", lambda v: (v > 0) & (v < 1)),
    "sensitivity": ("from 0 to 1, or NaN where undefined", lambda v: ~(v < 0) & ~(v > 1)),
    "specificity": ("from 0 to 1, or NaN where undefined", lambda v: ~(v < 0) & ~(v > 1)),
}


def given(name: str, value: Any, table: Any) -> Any:
    """``value`` of lam, burden, threshold or prevalence as a float, or as a DataArray whose levels are the table's.

    Parameters
    ----------
    name : {"lam", "burden", "threshold", "prevalence"}
    value : number, mapping of level to number, Series, or DataArray
        A mapping names every level of one group dim. A DataArray has the table's levels in its dims; one more dim is
        allowed for a grid of values, when its name begins with that of a value.
    table : confusion table

    Raises
    ------
    AuditInputError
        For a value outside its range, a missing or unknown group, a dim the table lacks, or a bare list.

    Examples
    --------
    >>> from auditlib.counts import parse_confusion
    >>> table = parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
    >>> given("lam", {"Men": 0.2, "Women": 0.4}, table).sel(group="Men").item()
    0.2
    """
    if isinstance(value, pd.Series | Mapping):
        value = _by_level(name, value, table)
    if isinstance(value, xr.DataArray):
        return in_range(name, _fitted(name, value, table))
    if not _is_number(value):
        raise AuditInputError(
            f"{name} must be a number, a dict of one number a group, or a DataArray with named dims, not {value!r}."
        )
    try:
        return float(in_range(name, np.float64(value)))
    except OverflowError:
        raise AuditInputError(f"{name} must be {_RANGES[name][0]}, not a number too large for a float.") from None


def listed(name: str, value: Any, of: str = "names") -> list[Any]:
    """The values of a list, tuple or another collection; text is one value, and a bare number or None an error.

    >>> listed("over", "attribute"), listed("edges", (0.1, 0.2), "numbers")
    (['attribute'], [0.1, 0.2])
    """
    if isinstance(value, str):
        return [value]
    try:
        found = list(value)
    except TypeError:
        raise AuditInputError(f"{name} must be a list of {of}, not {value!r:.80}.") from None
    if nested := [each for each in found if not isinstance(each, Hashable)]:
        raise AuditInputError(f"{name} must be a list of {of}, but holds {nested[0]!r:.80}.")
    return found


def together(table: Any, **values: Any) -> list[Any]:
    """Several of them, each checked, whose grids have the same coordinates: xarray would keep what they share only.

    Raises
    ------
    AuditInputError
        As ``given``, and for two grids of one name with different coordinates.

    Examples
    --------
    >>> together({}, threshold=0.2, lam=0.5)
    [0.2, 0.5]
    """
    return same_levels(**{name: given(name, value, table) for name, value in values.items()})


def same_levels(**values: Any) -> list[Any]:
    """The values, or an error if two DataArrays among them have one dim with different coordinates.

    >>> same_levels(sensitivity=0.8, specificity=0.9)
    [0.8, 0.9]
    """
    try:
        xr.align(*(value for value in values.values() if isinstance(value, xr.DataArray)), join="exact", copy=False)
    except ValueError:
        raise AuditInputError(
            f"{', '.join(values)} run over dims of one name with different coordinates (0.1·3 and 0.3 differ in the "
            "last bit, too); make one array of coordinates and use it for all."
        ) from None
    return list(values.values())


def in_range(name: str, values: Any) -> Any:
    """The numbers, or an error that names the first outside the range of ``name``.

    >>> in_range("prevalence", 0.1)
    0.1
    """
    words, inside = _RANGES[name]
    numbers = np.asarray(values)
    if numbers.dtype.kind not in "iuf":
        raise AuditInputError(f"{name} must be numbers, but holds {numbers.dtype}.")
    numbers = numbers.astype(np.float64)
    if name == "threshold" and numbers.ndim == 0:  # 0.1·3 is 0.3, as in .at
        numbers = values = np.asarray(snap(float(numbers)))
    if not numbers.size:
        raise AuditInputError(f"{name} holds no value.")
    wrong = numbers[~inside(numbers)]
    if wrong.size:
        more = f" (and {wrong.size - 1} more)" if wrong.size > 1 else ""
        raise AuditInputError(f"{name} must be {words}, not {float(wrong.flat[0])!r}{more}.")
    return values


def _levels(table: Any) -> dict[str, list[str]]:
    if not isinstance(table, xr.Dataset | xr.DataArray):
        return {}
    dims = [str(d) for d in table.dims if d in table.coords and d not in ("replicate", "threshold", "point")]
    return {dim: [str(level) for level in table[dim].values] for dim in dims}


def _by_level(name: str, value: Any, table: Any) -> xr.DataArray:
    levels = _levels(table)
    keys = [str(key) for key in value.keys()]  # noqa: SIM118 (a Series runs over its values)
    if not levels:
        raise AuditInputError(
            f"{name} names groups ({', '.join(keys)}), but the table has no named groups: "
            "it must be the Dataset of counts.at(…) or of confusion(…)."
        )
    shared = {dim: len(set(names) & set(keys)) for dim, names in levels.items()}
    exact = [dim for dim, names in levels.items() if sorted(names) == sorted(keys)]
    if len(exact) > 1:
        raise AuditInputError(
            f"{name}: the groups {', '.join(keys)} are levels of {' and of '.join(map(repr, exact))}; "
            "pass a DataArray over the one meant."
        )
    dim = exact[0] if exact else max(shared, key=lambda d: shared[d])
    check_levels(name, "value", dim, keys, levels[dim])
    held = value.to_numpy() if isinstance(value, pd.Series) else value.values()
    numbers = dict(zip(keys, held, strict=True))
    bad = {key: number for key, number in numbers.items() if not _is_number(number)}
    if bad:
        raise AuditInputError(f"{name} must be one number a group, not {bad!r}.")
    return xr.DataArray([float(numbers[level]) for level in levels[dim]], {dim: levels[dim]}, [dim])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool | np.bool_)


def _fitted(name: str, value: xr.DataArray, table: Any) -> xr.DataArray:
    """The array with the levels of the table, in its order: xarray would drop what does not match, in silence."""
    for dim in map(str, value.dims):
        known = isinstance(table, xr.Dataset | xr.DataArray) and dim in table.dims
        if not known and not dim.startswith(GRIDS):
            raise AuditInputError(
                f"{name} runs over {dim!r}, which is no dim of the table; name a grid of values lam…, burden…, "
                "threshold… or prevalence…, and a group as in the table."
            )
        if dim not in value.coords:
            raise AuditInputError(f"{name} has no coordinate for {dim!r}; give the level names.")
        if not known:
            continue
        held, wanted = value[dim].values, table[dim].values
        if len(held) == len(wanted) and (held == wanted).all():
            continue
        check_levels(name, "value", dim, [str(level) for level in held], [str(level) for level in wanted])
        value = value.assign_coords({dim: [str(level) for level in held]}).sel({dim: [str(level) for level in wanted]})
        value = value.assign_coords({dim: wanted})
    return value.reset_coords(drop=True)
