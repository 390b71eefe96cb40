"""Predictive values at a prevalence, by Bayes' rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.errors import AuditInputError
from auditlib.values import in_range, same_levels


def ppv_at(sensitivity: Any, specificity: Any, prevalence: Any) -> Any:
    """Positive predictive value at a prevalence, Se·π / (Se·π + (1 − Sp)(1 − π)).

    Parameters
    ----------
    sensitivity, specificity : number, array, or DataArray, in [0, 1]
        Se and Sp; NaN where undefined.
    prevalence : number, array, or DataArray, in (0, 1)
        π.

    Returns
    -------
    A number, an array of the common shape, or a DataArray over all dims; NaN where nobody is flagged (Se = 0, Sp = 1)
    or Se or Sp is.

    Raises
    ------
    AuditInputError
        For a value outside its range (a prevalence of 0 or 1, too), arrays that do not fit each other, or a Series.

    References
    ----------
    Altman DG, Bland JM. Diagnostic tests 2: predictive values. BMJ 1994;309:102.

    Examples
    --------
    >>> round(float(ppv_at(0.9, 0.8, 0.25)), 6)
    0.6
    """
    se, sp, pi = _rates(sensitivity=sensitivity, specificity=specificity, prevalence=prevalence)
    return ppv_of(se, 1 - sp, pi)


def npv_at(sensitivity: Any, specificity: Any, prevalence: Any) -> Any:
    """Negative predictive value at a prevalence, Sp(1 − π) / (Sp(1 − π) + (1 − Se)π); as ``ppv_at``.

    >>> round(float(npv_at(0.9, 0.8, 0.25)), 6)
    0.96
    """
    se, sp, pi = _rates(sensitivity=sensitivity, specificity=specificity, prevalence=prevalence)
    return npv_of(se, 1 - sp, pi)


def ppv_of(caught: Any, alarmed: Any, prevalence: Any) -> Any:
    """PPV from Se, the false positive rate and π, unchecked."""
    return _share(caught * prevalence, alarmed * (1 - prevalence))


def npv_of(caught: Any, alarmed: Any, prevalence: Any) -> Any:
    """NPV from Se, the false positive rate and π, unchecked."""
    return _share((1 - alarmed) * (1 - prevalence), (1 - caught) * prevalence)


def _share(part: Any, rest: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is NaN, on purpose
        return np.true_divide(part, part + rest)


def _rates(**values: Any) -> list[Any]:
    """Numbers, arrays or DataArrays that fit each other, each inside its range."""
    if any(isinstance(value, pd.Series | pd.DataFrame | xr.Dataset) for value in values.values()):
        raise AuditInputError(f"{', '.join(values)}: the index of a table would be ignored; pass DataArrays of it.")
    if masked := [name for name, value in values.items() if isinstance(value, np.ma.MaskedArray)]:
        raise AuditInputError(f"{masked[0]}: masked values would be read as numbers; pass .filled(np.nan) of it.")
    held = {name: in_range(name, _numbers(name, value)) for name, value in values.items()}
    named = [isinstance(value, xr.DataArray) for value in held.values() if np.ndim(value)]
    if any(named) and all(named):
        numbers = {n: v.reset_coords(drop=True) if isinstance(v, xr.DataArray) else float(v) for n, v in held.items()}
        return same_levels(**numbers)
    try:
        if any(named):
            raise ValueError
        np.broadcast_shapes(*map(np.shape, held.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {np.shape(value)}" for name, value in held.items())
        raise AuditInputError(
            f"these do not fit each other: {shapes}; give numbers, arrays of one shape, or DataArrays."
        ) from None
    return [np.asarray(value, dtype=np.float64) for value in held.values()]


def _numbers(name: str, value: Any) -> Any:
    if isinstance(value, xr.DataArray | np.ndarray):
        return value
    try:
        return np.asarray(value)
    except ValueError:
        raise AuditInputError(f"{name} must be a number or numbers of one shape, not a ragged list.") from None
