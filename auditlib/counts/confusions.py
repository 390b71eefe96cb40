"""From patterns to named arrays: confusion counts at thresholds, and the score histogram."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from auditlib.counts.thresholds import Resolved

if TYPE_CHECKING:
    from auditlib.counts.table import Counts

CELLS = ("tp", "fp", "fn", "tn")


def confusion_at(counts: Counts, thresholds: Resolved) -> xr.Dataset:
    """Confusion counts of every group (and model) at the resolved thresholds."""
    several = isinstance(thresholds.values, list)
    count = len(thresholds.index) if several else 1
    shape = group_shape(counts)
    moments = counts.clustered and not counts.resampled
    models = range(max(len(counts.models), 1))
    per_model = replicates(counts) * prod(shape) * 4 * count
    counts.check_bytes(len(models) * per_model * (7 if moments else 1))
    tables = [_one_model(counts, thresholds, model) for model in models]
    dims, coords = frame_of(counts)
    if counts.models:
        dims, coords = [*dims, "model"], {**coords, "model": list(counts.models)}
    if several:
        dims, coords = [*dims, "threshold"], {**coords, "threshold": thresholds.values}
    elif not isinstance(thresholds.values, xr.DataArray):
        coords["threshold"] = thresholds.values
    place = len(shape) + counts.resampled
    arrays = [np.stack([table[cell] for table in tables], axis=place) for cell in range(4)]
    axes = tuple(([] if counts.models else [place]) + ([] if several else [-1]))
    data = {name: (dims, np.squeeze(array, axis=axes)) for name, array in zip(CELLS, arrays, strict=True)}
    if moments:
        held = np.stack([_moments(counts, thresholds, model) for model in models], axis=place)
        stacked = np.squeeze(held, axis=tuple(axis - 2 if axis < 0 else axis for axis in axes))
        coords["unit_moments"] = ([*dims, "cell", "cell_"], stacked)
    if counts.clustered:  # a coordinate without dims outlives sums, which attrs may not
        coords["clustered_by"] = counts.unit
    if isinstance(thresholds.values, xr.DataArray):
        coords["threshold"] = thresholds.values
    return xr.Dataset(data, coords=coords, attrs={"unit": counts.unit})


def histogram(counts: Counts) -> xr.DataArray:
    """Rows by label and score bin."""
    shape, bins = group_shape(counts), len(counts.edges)
    size = prod(shape) * 2 * bins
    counts.check_bytes(replicates(counts) * size * max(len(counts.models), 1))
    first, parts = len(counts.groups) + 1, []
    for model in range(max(len(counts.models), 1)):
        key = (group_key(counts) * 2 + counts.lines.cells[:, first - 1]) * bins + counts.lines.cells[:, first + model]
        parts.append(_shaped(counts, counts.lines.sums(key, size), (*shape, 2, bins)))
    dims, coords = frame_of(counts)
    data = np.stack(parts, axis=len(shape) + counts.resampled) if counts.models else parts[0]
    if counts.models:
        dims, coords = [*dims, "model"], {**coords, "model": list(counts.models)}
    coords |= {"label": [0, 1], "bin": counts.edges.lower}
    return xr.DataArray(data, coords=coords, dims=[*dims, "label", "bin"], name="n")


def group_shape(counts: Counts) -> tuple[int, ...]:
    """Number of levels of each group dimension."""
    return tuple(len(levels) for levels in counts.groups.values())


def replicates(counts: Counts) -> int:
    """Replicates, 1 where not resampled."""
    return counts.lines.units.shape[0] if counts.resampled else 1


def group_key(counts: Counts) -> np.ndarray:
    """The joint group of each line as one integer."""
    key = np.zeros(len(counts.lines.n), dtype=np.int64)
    for column, size in enumerate(group_shape(counts)):
        key = key * size + counts.lines.cells[:, column]
    return key


def frame_of(counts: Counts) -> tuple[list[str], dict[str, Any]]:
    """Leading dims and their coordinates."""
    dims = (["replicate"] if counts.resampled else []) + list(counts.groups)
    return dims, {dim: list(levels) for dim, levels in counts.groups.items()}


def _shaped(counts: Counts, flat: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return flat.reshape((len(flat), *shape) if counts.resampled else shape)


def _step(counts: Counts, thresholds: Resolved, model: int) -> tuple[np.ndarray, np.ndarray]:
    """For each line, at how many of the sorted thresholds it is flagged; and where each sits in that order."""
    bins = counts.lines.cells[:, len(counts.groups) + 1 + model]
    if not isinstance(thresholds.values, xr.DataArray):
        order = np.unique(thresholds.index)
        return np.searchsorted(order, bins, side="right"), np.searchsorted(order, thresholds.index)
    where: list[Any] = []
    for dim in thresholds.values.dims:
        where.append(model if dim == "model" else counts.lines.cells[:, list(counts.groups).index(str(dim))])
    return (bins >= thresholds.index[tuple(where)]).astype(np.int64), np.zeros(1, dtype=np.int64)


def _one_model(counts: Counts, thresholds: Resolved, model: int) -> list[np.ndarray]:
    """tp, fp, fn, tn of shape (replicates, *groups, thresholds)."""
    step, place = _step(counts, thresholds, model)
    shape, label = group_shape(counts), counts.lines.cells[:, len(counts.groups)]
    steps = int(place.max()) + 2
    size = prod(shape) * 2 * steps
    sums = counts.lines.sums((group_key(counts) * 2 + label) * steps + step, size)
    held = _shaped(counts, sums, (*shape, 2, steps))
    flagged = np.flip(np.cumsum(np.flip(held, -1), -1), -1)[..., 1:][..., place]
    total = held.sum(axis=-1)[..., None]
    missed = total - flagged
    return [flagged[..., 1, :], flagged[..., 0, :], missed[..., 1, :], missed[..., 0, :]]


def _moments(counts: Counts, thresholds: Resolved, model: int) -> np.ndarray:
    """Σ over units of c cᵀ, c = a unit's (tp, fp, fn, tn, 1) in one group: (*groups, thresholds, 5, 5).

    The 1 makes the last row the counts themselves, by which a table and its moments can be seen to belong together.
    """
    step, place = _step(counts, thresholds, model)
    shape, label = group_shape(counts), counts.lines.cells[:, len(counts.groups)]
    groups = prod(shape)
    visits, visit = np.unique(counts.lines.pattern * groups + group_key(counts), return_inverse=True)
    units = counts.lines.units[visits // groups]
    result = np.zeros((groups, len(place), 5, 5), dtype=np.int64)
    for number, position in enumerate(place):
        cell = np.where(step > position, 1 - label, 3 - label)  # tp 0, fp 1, fn 2, tn 3
        held = np.bincount(visit * 4 + cell, weights=counts.lines.n, minlength=4 * len(visits)).reshape(-1, 4)
        held = np.column_stack([held, np.ones(len(visits))])
        outer = units[:, None, None] * held[:, :, None] * held[:, None, :]
        np.add.at(result[:, number], visits % groups, outer.astype(np.int64))
    return result.reshape(*shape, len(place), 5, 5)
