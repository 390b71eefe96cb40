"""A finished multiverse: one row a specification, in the order of its grid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from auditlib.multiverse.grid import Grid

Row = dict[str, Any]


@dataclass(frozen=True)
class Multiverse:
    """What ``run_multiverse`` found.

    Attributes
    ----------
    grid : Grid
    rows : pandas.DataFrame
        One row a specification, in the order of the grid: a column an axis, what the judge returned, and ``error``
        (empty where there was none; the other results are then NaN).
    replicates : pandas.DataFrame or None
        One row a specification and one column a replicate, where the judge returned ``replicates``.
    """

    grid: Grid
    rows: pd.DataFrame
    replicates: pd.DataFrame | None = None

    @property
    def failed(self) -> pd.DataFrame:
        """The rows with an error."""
        return self.rows[self.rows["error"] != ""]


def assemble(grid: Grid, done: Mapping[int, Row]) -> Multiverse:
    """Rows in the order of the grid, however they were made.

    Examples
    --------
    >>> assemble(Grid("g", {"x": [1, 2]}), {1: {"estimate": 0.5, "error": ""}, 0: {"error": "no"}}).rows.values.tolist()
    [[1, nan, 'no'], [2, 0.5, '']]
    """
    held = _alike([done[k] for k in range(len(grid))])
    names = dict.fromkeys(name for row in held for name in row if name not in ("error", "replicates"))
    columns: dict[str, Any] = {axis: axis_column(grid, axis) for axis in grid.axes}
    columns |= {name: [np.nan if row.get(name) is None else row[name] for row in held] for name in names}
    rows = pd.DataFrame({**columns, "error": [row["error"] for row in held]})
    draws = next((len(row["replicates"]) for row in held if "replicates" in row), 0)
    if not draws:
        return Multiverse(grid, rows)
    again = pd.DataFrame([row.get("replicates", [None] * draws) for row in held], dtype=np.float64)
    return Multiverse(grid, rows, again)


def axis_column(grid: Grid, axis: str) -> pd.Series:
    """The choice of each specification; pandas would turn whole numbers beside fractions into fractions.

    >>> axis_column(Grid("g", {"t": [0, 0.5]}), "t").tolist()
    [0, 0.5]
    """
    one_kind = len({type(choice) for choice in grid.axes[axis]}) == 1
    return pd.Series([each[axis] for each in grid], dtype=None if one_kind else object)


def _alike(rows: list[Row]) -> list[Row]:
    """Rows of another number of replicates than most are errors: their columns would mean other resamples."""
    sizes = Counter(len(row["replicates"]) for row in rows if "replicates" in row)
    if len(sizes) < 2:
        return rows
    usual = max(sizes, key=lambda size: (sizes[size], size))
    return [
        {"error": f"judge returned {len(row['replicates'])} replicates, and mostly {usual}."}
        if len(row.get("replicates", [None] * usual)) != usual
        else row
        for row in rows
    ]
