"""A number of ours, beside a published one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import xarray as xr

from auditlib.intervals import interval

NAN = float("nan")


class Ours(NamedTuple):
    """Our value with its 95% limits and what they rest on; without a value, limits that the value must lie between.

    ``other`` is the value by another public table of the same thing; ``copied`` says that a public table has the number
    itself, so that nothing was computed.

    >>> Ours(11.0).n
    ''
    """

    value: float = NAN
    low: float = NAN
    high: float = NAN
    n: str = ""
    note: str = ""
    other: float = NAN
    copied: bool = False


Registry = dict[str, Callable[[], Ours]]


def with_interval(estimate: xr.DataArray, replicates: xr.DataArray, *people: float, note: str = "") -> Ours:
    """An estimate with the percentile interval of its replicates, and how many people are behind it, group by group.

    >>> with_interval(xr.DataArray(0.5), xr.DataArray([0.4, 0.6], dims="replicate"), 1200, 30).n
    '1,200 / 30'
    """
    found = interval(replicates)
    return Ours(float(estimate), float(found.low), float(found.high), numbers(*people), note)


def numbers(*people: float) -> str:
    """Numbers of people, to read.

    >>> numbers(1486, 1807)
    '1,486 / 1,807'
    """
    return " / ".join(f"{int(n):,}" for n in people)
