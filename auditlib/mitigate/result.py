"""What a search for thresholds returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.counts.thresholds import Thresholds
from auditlib.mitigate.cells import Cells


@dataclass(frozen=True, eq=False, repr=False)
class Shift:
    """Thresholds found on one partition, and how they fare *there*; ``price`` says how they fare on another.

    Parameters
    ----------
    thresholds : DataArray over the dims that have thresholds of their own
        As ``Counts.at`` takes it.
    attributes : tuple of str
        What was compared.
    target : float
        The DI that every attribute was to reach.
    ok : bool
        Whether they all do, on the people the thresholds were chosen on.
    di : DataArray over ``attribute``
    accuracy : float
    bound : float
        No thresholds that reach the target have a larger objective than this (per person; the objective is accuracy
        unless another was asked for). NaN where the search gives no bound.
    cells : DataFrame
        One row a unit that anybody is in: ``people``, ``start``, ``threshold``, and ``why`` it was not searched
        (empty where it was).
    history : DataFrame
        Steps, from the start.
    stopped : str
        Why the search ended.
    verdicts : Dataset over (metric, attribute), or None
        ``p_pass`` and ``vfr`` in the replicates searched on, from ``stabilize_verdicts``.
    """

    thresholds: xr.DataArray
    attributes: tuple[str, ...]
    target: float
    ok: bool
    di: xr.DataArray
    accuracy: float
    bound: float
    cells: pd.DataFrame
    history: pd.DataFrame
    stopped: str
    verdicts: xr.Dataset | None = field(default=None)

    def __repr__(self) -> str:
        values = ", ".join(
            f"{name} {value:.4f}" for name, value in zip(self.attributes, self.di.values.tolist(), strict=True)
        )
        moved = int((self.cells["threshold"] != self.cells["start"]).sum())
        met = "every" if self.ok else "NOT every"
        return (
            f"<Shift: {moved} of {len(self.cells)} thresholds moved; {met} DI at least {self.target:g} ({values}); "
            f"accuracy {self.accuracy:.4f}; {self.stopped}>"
        )


def thresholds_of(thresholds: Shift | Thresholds) -> Thresholds:
    """The thresholds of a Shift, or what was given."""
    return thresholds.thresholds if isinstance(thresholds, Shift) else thresholds


def ratio_array(cells: Cells, at: np.ndarray) -> xr.DataArray:
    """DI over ``attribute``."""
    return xr.DataArray(cells.ratios(at), {"attribute": list(cells.attributes)}, ["attribute"], name="DI")


def unit_table(cells: Cells, start: np.ndarray, at: np.ndarray, why: np.ndarray) -> pd.DataFrame:
    """One row a unit: its levels, people, thresholds before and after, and why it was left alone.

    The levels are those of the dims of the thresholds.
    """
    codes = np.unravel_index(cells.units, cells.shape)
    table = {
        dim: np.array(cells.counts.groups[dim], dtype=object)[code] for dim, code in zip(cells.by, codes, strict=True)
    }
    lower = cells.counts.edges.lower
    found = pd.DataFrame(table)
    return found.assign(people=cells.unit_people, start=lower[start], threshold=lower[at], why=why)
