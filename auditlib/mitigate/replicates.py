"""Cells with their replicates: what a candidate's verdicts are, without resampling again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from auditlib.counts import Counts
from auditlib.mitigate.cells import NEGATIVE, POSITIVE, Cells, cumulated
from auditlib.mitigate.levels import MOVABLE, flip_rates, level_metrics, passed
from auditlib.scores import calibration_gap
from auditlib.verdicts import METRICS, Limit
from auditlib.verdicts.judged import NOISE


@dataclass(frozen=True, eq=False)
class Replicates:
    """Cells with their replicates.

    ``flagged`` is (replicates, cells, 2, edges); ``people`` (2, levels, replicates); ``cal_pass`` and ``cal_n`` are
    the replicates in which Cal passes, and is defined, by attribute; ``undefined`` what the start leaves undefined.
    """

    cells: Cells
    flagged: np.ndarray
    people: np.ndarray
    limits: Mapping[str, Limit]
    cal_pass: np.ndarray
    cal_n: np.ndarray
    undefined: np.ndarray

    def levels_at(self, at: np.ndarray) -> np.ndarray:
        """People flagged by label, level and replicate."""
        held = self.flagged[:, np.arange(len(self.cells.unit)), :, at[self.cells.unit]]  # (cells, replicates, 2)
        return np.einsum("ckt,cl->tlk", held, self.cells.member)

    def change(self, unit: int, old: int, new: np.ndarray) -> np.ndarray:
        """What moving a unit adds to the flagged: (2, levels, candidates, replicates)."""
        mine = np.flatnonzero(self.cells.unit == unit)
        moved = self.flagged[:, mine][..., new] - self.flagged[:, mine][..., [old]]
        return np.einsum("kctm,cl->tlmk", moved, self.cells.member[mine])

    def judged(self, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Replicates that pass, and that are defined, of (2, levels, …, replicates): (metrics, attributes, …)."""
        people = np.expand_dims(self.people, tuple(range(2, levels.ndim - 1)))
        values = level_metrics(
            levels[POSITIVE], levels[NEGATIVE], people[POSITIVE], people[NEGATIVE], self.cells.slices
        )
        return passed(values, self.limits)

    def all_rates(self, n_pass: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """VFR and p_pass with those of Cal: (7, attributes, …)."""
        shape = (1, len(self.cal_n), *n.shape[2:])
        rest = tuple(range(1, n.ndim - 1))
        more, times = (
            np.broadcast_to(np.expand_dims(held, rest)[None] if rest else held[None], shape)
            for held in (self.cal_pass, self.cal_n)
        )
        n_pass, n = np.concatenate([n_pass, more]), np.concatenate([n, times])
        with np.errstate(invalid="ignore"):
            return flip_rates(n_pass, n), n_pass / n

    def verdicts(self, at: np.ndarray) -> xr.Dataset:
        """p_pass and VFR of the seven metrics."""
        vfr, p_pass = self.all_rates(*self.judged(self.levels_at(at)))
        coords = {"metric": list(METRICS), "attribute": list(self.cells.attributes)}
        dims = ("metric", "attribute")
        return xr.Dataset({"p_pass": (dims, p_pass), "vfr": (dims, vfr)}, coords=coords)


assert (*MOVABLE, "Cal") == METRICS  # the order in which verdicts are put together


def draw_replicates(
    cells: Cells,
    at: np.ndarray,
    limits: Mapping[str, Limit],
    replicates: int,
    size: int | None,
    strata: str | Sequence[str],
    seed: int | np.random.Generator | None,
) -> Replicates:
    """The cells resampled once, with what the start leaves undefined."""
    again = cells.counts.resample(replicates, strata=strata, size=size, seed=seed)
    flagged = cumulated(again, cells.place)
    flagged = flagged.astype(np.int32) if flagged.max() < 2**31 else flagged
    people = np.einsum("kct,cl->tlk", flagged[..., 0].astype(np.int64), cells.member)
    cal_pass, cal_n = _calibration(cells, again, limits["Cal"])
    bare = Replicates(cells, flagged, people, limits, cal_pass, cal_n, np.zeros(0))
    n = bare.judged(bare.levels_at(at))[1]
    return Replicates(cells, flagged, people, limits, cal_pass, cal_n, replicates - n)


def _calibration(cells: Cells, again: Counts, limit: Limit) -> tuple[np.ndarray, np.ndarray]:
    """Replicates in which Cal passes, and is defined, by attribute; it has no value where scores were cut."""
    if again.edges.kind == "cut":
        none = np.zeros(len(cells.attributes), dtype=np.int64)
        return none, none
    values = np.stack([calibration_gap(again.by(name), name).values for name in cells.attributes])
    return (values <= limit.value + NOISE).sum(axis=1), (~np.isnan(values)).sum(axis=1)
