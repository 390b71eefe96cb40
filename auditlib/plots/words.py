"""Estimates with their intervals in words, for tables and running text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.errors import AuditInputError
from auditlib.plots import checks

LIMITS = ("estimate", "low", "high")


def points(found: xr.Dataset, form: str = "+.1f", scale: float = 100) -> Any:
    """Estimates with their intervals in words, in percentage points unless ``scale`` is another.

    Parameters
    ----------
    found : Dataset
        ``estimate``, ``low`` and ``high``, over at most two dims.
    form : str
        Format of one number.
    scale : float
        What numbers are multiplied by.

    Returns
    -------
    str, or a Series over the one dim, or a DataFrame over two, the second in columns; "undefined" where a number is.

    Raises
    ------
    AuditInputError
        When one of the three is missing, or they lie over more dims or others than each other.

    Examples
    --------
    >>> gap = xr.DataArray([-0.1, 0.25], {"sex": ["F", "M"]}, ["sex"])
    >>> points(xr.Dataset({"estimate": gap, "low": gap - 0.1, "high": gap + 0.1})).tolist()
    ['−10.0 (−20.0 to +0.0)', '+25.0 (+15.0 to +35.0)']
    """
    if isinstance(found, xr.Dataset) and "estimate" not in found:
        raise AuditInputError(
            f"points: there is no estimate beside {', '.join(map(str, found))}; interval(…, estimate=…) puts it there."
        )
    dims = list(map(str, found["estimate"].dims)) if isinstance(found, xr.Dataset) else []
    checks.over(found, dims, LIMITS)
    if len(dims) > 2:
        raise AuditInputError(f"points are a table over two dims at most, not {', '.join(dims)}; select.")
    numbers = [scale * found[name].transpose(*dims).values for name in LIMITS]
    texts = np.vectorize(lambda *one: _words(form, *one), otypes=[object])(*numbers)
    named = [pd.Index(found[dim].values, name=dim) for dim in dims]
    return pd.DataFrame(texts, *named) if len(dims) > 1 else pd.Series(texts, *named) if dims else texts.item()


def _words(form: str, *numbers: float) -> str:
    if not np.isfinite(numbers).all():
        return "undefined"
    texts = (format(number, form) for number in numbers)
    mid, low, high = (format(0.0, form) if float(text) == 0 else text.replace("-", "−") for text in texts)  # no −0.0
    return f"{mid} ({low} to {high})"
