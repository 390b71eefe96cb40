"""Other policies on the same people, as confusion tables: every metric applies to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from auditlib.counts.cells import cell_of
from auditlib.errors import AuditInputError

CELLS = ("tp", "fp", "fn", "tn")
_FIXED = {"none": (0.0, 0.0), "all": (1.0, 1.0), "perfect": (1.0, 0.0)}


def treat(table: Any, policy: str | float) -> Any:
    """The confusion table of another policy on the same people.

    Parameters
    ----------
    table : mapping of arrays ``tp``, ``fp``, ``fn``, ``tn``
        Any dims; who was flagged in it does not matter.
    policy : {"none", "all", "perfect"} or a share in [0, 1]
        Treat nobody, everybody, exactly those with the outcome, or a random share q of everybody. A random share gives
        expected counts, not whole numbers in general: replicates of it leave the lot itself out, while the interval of
        ``benefit_interval`` holds it where rows are the units.

    Returns
    -------
    A table of the same kind and dims; clusters are kept. Net benefit of "none" is 0, of "all" π − w(1 − π), of
    "perfect" π and of a share q that of "all" times q.

    Raises
    ------
    AuditInputError
        For an unknown policy or a share outside [0, 1].

    References
    ----------
    Vickers & Elkin 2006 (none, all); Benitez-Aurioles et al. 2026 (random, perfect).

    Examples
    --------
    >>> from auditlib.benefit import subgroup_net_benefit
    >>> from auditlib.counts import confusion
    >>> table = confusion(tp=20, fp=100, fn=10, tn=870)
    >>> round(10_000 * float(subgroup_net_benefit(treat(table, 0.05), 0.015, 0.20)), 1)
    9701.5
    """
    flagged = np.diag(_shares(policy))  # of those with and without the outcome
    kind = np.array([[1, 0, 1, 0], [0, 1, 0, 1]], dtype=np.float64)  # which cells hold them
    matrix = np.vstack([flagged @ kind, (np.eye(2) - flagged) @ kind])
    cells = [cell_of(table, cell) for cell in CELLS]
    whole = policy in _FIXED
    found = {name: _mixed(row, cells, whole) for name, row in zip(CELLS, matrix, strict=True)}
    if not isinstance(table, xr.Dataset):
        return found
    held = table.assign(found)
    if "unit_moments" in table.coords:
        held = held.assign_coords(unit_moments=_moments(table["unit_moments"], matrix, whole))
    return held


def _shares(policy: Any) -> tuple[float, float]:
    if isinstance(policy, str) and policy in _FIXED:
        return _FIXED[policy]
    if isinstance(policy, str | bool) or not isinstance(policy, int | float | np.number) or not 0 <= policy <= 1:
        raise AuditInputError(
            f'policy must be "none", "all", "perfect" or the share treated at random, from 0 to 1, not {policy!r}.'
        )
    return float(policy), float(policy)


def _mixed(row: np.ndarray, cells: list[Any], whole: bool) -> Any:
    weights = row.astype(np.int64) if whole else row
    parts = [weight * cell for weight, cell in zip(weights, cells, strict=True)]
    return sum(parts[1:], parts[0])


def _moments(moments: xr.DataArray, matrix: np.ndarray, whole: bool) -> xr.DataArray:
    """Moments of a patient's (tp, fp, fn, tn, 1) after the linear change of cells: A·M·Aᵀ."""
    change = np.eye(5)
    change[:4, :4] = matrix
    values = np.einsum("ij,...jk,lk->...il", change, moments.values, change)
    return moments.copy(data=np.rint(values).astype(np.int64) if whole else values)
