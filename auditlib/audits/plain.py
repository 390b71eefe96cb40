"""Results as plain values: what JSON can hold, undefined being null."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

NOTHING = 1e-15  # what rounding leaves of a limit that is 0
LIMITS = ("estimate", "low", "high")


def number(value: Any) -> float | int | None:
    """A number as JSON has it: twelve significant digits, whole numbers whole, None where undefined.

    >>> number(np.float64(0.1) * 3), number(np.int64(7)), number(float("nan")), number(float("inf"))
    (0.3, 7, None, None)
    """
    held = value.item() if isinstance(value, xr.DataArray | np.generic) else value
    if held is None or isinstance(held, bool):
        return held
    if isinstance(held, int):
        return held
    if not np.isfinite(held):
        return None
    if abs(held) < NOTHING:
        return 0.0
    return float(f"{held:.12g}")


def estimated(found: xr.Dataset, method: str, **people: Any) -> dict[str, Any]:
    """An estimate with its limits, how they were made and what they rest on.

    >>> estimated(xr.Dataset({"estimate": 0.1, "low": 0.0, "high": float("nan")}), "Newcombe", n=3)
    {'estimate': 0.1, 'low': 0.0, 'high': None, 'n': 3, 'method': 'Newcombe'}
    """
    held: dict[str, Any] = {name: number(found[name]) for name in LIMITS}
    if "undefined" in found:
        held["undefined"] = number(found["undefined"])
    return held | {name: number(value) for name, value in people.items()} | {"method": method}


def side(found: dict[str, Any]) -> int:
    """On which side of zero an interval lies: 1, −1, or 0 where it contains zero or is not known.

    >>> side({"low": 0.1, "high": 0.2}), side({"low": -0.1, "high": 0.2}), side({"low": None, "high": None})
    (1, 0, 0)
    """
    low, high = found["low"], found["high"]
    if low is None or high is None:
        return 0
    return 1 if low > 0 else -1 if high < 0 else 0
