"""Tiers: how many of three conditions on a verdict's stability are violated."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from auditlib.counts.levels import check_names
from auditlib.errors import AuditInputError
from auditlib.values import same_levels

#: By the number of conditions violated, 0 to 3.
TIERS = ("Practical-Stability", "Caution-Required", "High-Variance", "Catastrophic-Instability")
UNDEFINED = "undefined"
_SLACK = 1e-9


def tier(
    vfr: Any,
    n_star: Any,
    kappa: Any,
    *,
    vfr_limit: float = 0.10,
    n_limit: float = 50_000,
    kappa_limit: float = 0.40,
) -> xr.Dataset:
    """Which of the four tiers of Joy et al. a verdict falls into: the number of violated conditions, 0 to 3.

    Conditions: VFR ≤ `vfr_limit`; N* ≤ `n_limit`; κ ≥ `kappa_limit`. Limits are inclusive. A tier says nothing about
    pass or fail: a verdict that always fails is as stable as one that always passes.

    Parameters
    ----------
    vfr : number or DataArray
        Verdict flip rate of each cell (metric, attribute), 0 to 0.5. NaN, undefined, makes the tier undefined.
    n_star : number or DataArray
        Patients at which the metric settles. NaN, never settled at any size tried, violates.
    kappa : number, DataArray, or the Dataset of ``site_agreement``
        κ of each metric, which serves all its cells. NaN is either 0/0, because all sites gave the same verdicts, or
        not known; a Dataset tells which by ``unanimous``, or by ``raw`` of 1 over two or more ``items`` (of a single
        item κ says nothing, however its sites agree). Unanimous verdicts satisfy the condition and are flagged; any
        other NaN, and any given without a Dataset, makes the tier undefined.
    vfr_limit, n_limit, kappa_limit : float

    Returns
    -------
    Dataset over the dims of all three: ``tier`` (a name of ``TIERS``, or "undefined"), ``violated`` (0 to 3; NaN where
    undefined), ``flag`` ("", "κ 0/0: unanimous", "κ undefined", "VFR undefined"; several joined by "; ").

    Raises
    ------
    AuditInputError
        For a flip rate outside 0–0.5, N* not above 0, κ outside −1–1, limits outside these ranges, a Dataset without
        ``kappa`` and one of ``unanimous`` and ``raw``, a dim named like what is returned, DataArrays whose coordinates
        differ.

    References
    ----------
    Joy et al., arXiv 2608.30846.

    Examples
    --------
    >>> found = tier(0.476, float("nan"), -0.035)
    >>> found["tier"].item(), int(found["violated"])
    ('Catastrophic-Instability', 3)
    >>> all_pass = xr.Dataset({"kappa": float("nan"), "unanimous": True})
    >>> found = tier(0.0, 2_000, all_pass)
    >>> found["tier"].item(), found["flag"].item()
    ('Practical-Stability', 'κ 0/0: unanimous')
    """
    limits = [_limit(vfr_limit, "vfr_limit", 0, 0.5), _limit(n_limit, "n_limit", 0, np.inf)]
    limits.append(_limit(kappa_limit, "kappa_limit", -1, 1))
    coefficient, alike = _coefficient(kappa)
    held = [_checked(vfr, "vfr", 0, 0.5), _checked(n_star, "n_star", 0, np.inf), coefficient, alike]
    check_names([dim for part in held for dim in part.dims], ("tier", "violated", "flag"), "tier")
    if bool((held[1] <= 0).any()):
        raise AuditInputError("n_star must be above 0 (a number of patients), or NaN where nothing settled.")
    rates, sizes, coefficient, alike = xr.broadcast(
        *same_levels(**dict(zip(("vfr", "n_star", "kappa", "unanimous"), held, strict=True)))
    )
    unanimous = coefficient.isnull() & (alike == 1)
    violated = (
        (rates > limits[0] + _SLACK).astype(np.float64)
        + ~(sizes <= limits[1] + _SLACK)  # NaN is violated
        + (coefficient < limits[2] - _SLACK)
    )
    flags = {
        "VFR undefined": rates.isnull(),
        "κ undefined": coefficient.isnull() & ~unanimous,
        "κ 0/0: unanimous": unanimous,
    }
    violated = violated.where(~flags["VFR undefined"] & ~flags["κ undefined"])
    found = {"tier": _named(violated), "violated": violated, "flag": _joined(flags)}
    return xr.Dataset({name: part.reset_coords(drop=True) for name, part in found.items()})


def _named(violated: xr.DataArray) -> xr.DataArray:
    names = np.array([*TIERS, UNDEFINED], dtype=object)
    return violated.copy(data=names[violated.fillna(len(TIERS)).astype(int).values])


def _joined(flags: dict[str, xr.DataArray]) -> xr.DataArray:
    first = next(iter(flags.values()))
    text = np.full(first.shape, "", dtype=object)
    for name, where in flags.items():
        here = where.transpose(*first.dims).values
        text = np.where(here, np.where(text == "", name, text + f"; {name}"), text)
    return first.copy(data=text)


def _coefficient(kappa: Any) -> tuple[xr.DataArray, xr.DataArray]:
    """κ, and where all verdicts of two or more items are known to be the same: 1, elsewhere 0."""
    if not isinstance(kappa, xr.Dataset):
        found = _checked(kappa, "kappa", -1, 1)
        return found, xr.zeros_like(found)
    if "kappa" not in kappa or not {"unanimous", "raw"} & set(kappa):
        wanting = "'kappa'" if "kappa" not in kappa else "'unanimous' and no 'raw'"
        raise AuditInputError(f"kappa: the Dataset has no {wanting}; pass what site_agreement(…) returns.")
    found = _checked(kappa["kappa"], "kappa", -1, 1)
    if "unanimous" in kappa:
        told = kappa["unanimous"].astype(np.float64) if kappa["unanimous"].dtype.kind == "b" else kappa["unanimous"]
        return found, _checked(told, "unanimous", 0, 1)
    if "items" not in kappa:
        return found, xr.zeros_like(found)
    raw, items = _checked(kappa["raw"], "raw", 0, 1), _checked(kappa["items"], "items", 0, np.inf)
    return found, ((raw >= 1 - _SLACK) & (items > 1)).astype(np.float64)


def _checked(values: Any, name: str, low: float, high: float) -> xr.DataArray:
    """Numbers from ``low`` to ``high``, or NaN."""
    held = values if isinstance(values, xr.DataArray) else None
    if held is None:
        if isinstance(values, bool) or not isinstance(values, int | float | np.number):
            raise AuditInputError(f"{name} must be a number or a DataArray, not {type(values).__name__}.")
        held = xr.DataArray(values if isinstance(values, np.number) else float(values))
    if held.dtype.kind not in "iuf":
        raise AuditInputError(f"{name} must be numbers, but holds {held.dtype}.")
    held = held.copy(data=_doubles(held.values)).reset_coords(drop=True)
    wrong = held.values[(held.values < low - _SLACK) | (held.values > high + _SLACK)]
    if wrong.size:
        raise AuditInputError(f"{name} must lie between {low:g} and {high:g}, not {float(wrong.flat[0])!r}.")
    return held


def _limit(value: Any, name: str, low: float, high: float) -> float:
    number = not isinstance(value, bool) and isinstance(value, int | float | np.number)
    if not number or not low <= float(value) <= high:
        raise AuditInputError(f"{name} must be a number between {low:g} and {high:g}, not {value!r}.")
    return float(_doubles(value))


def _doubles(values: Any) -> np.ndarray:
    """As float64 what is written: 0.1 in single precision is the number 0.1, and not 0.1 + 1.5e-9."""
    held = np.asarray(values)
    narrow = held.dtype.kind == "f" and held.dtype.itemsize < 8
    return (held.astype(str) if narrow else held).astype(np.float64)
