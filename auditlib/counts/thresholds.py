"""What ``.at`` and ``.cut`` take: one threshold, several, or one for each group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from auditlib.counts.edges import check_number
from auditlib.counts.levels import check_levels
from auditlib.errors import AuditInputError

if TYPE_CHECKING:
    from auditlib.counts.table import Counts

Thresholds = float | Sequence[float] | np.ndarray | xr.DataArray | Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Resolved:
    """Thresholds as bin positions.

    ``values`` is a float, a list (both: the same for every group), or a DataArray over group dims and ``model``.
    """

    values: float | list[float] | xr.DataArray
    index: np.ndarray  # (thresholds,), or an array over ``values.dims``


def all_thresholds(threshold: Thresholds) -> list[float]:
    """Every distinct threshold named."""
    _check_no_result(threshold)
    if isinstance(threshold, xr.DataArray):
        values: Iterable[object] = threshold.values.reshape(-1).tolist()
    elif isinstance(threshold, Mapping):
        values = threshold.values()
    elif isinstance(threshold, str) or np.ndim(threshold) == 0:
        values = [threshold]
    else:
        values = list(threshold)  # type: ignore[arg-type]
    found = sorted({check_number(value) for value in values})
    if not found:
        raise AuditInputError("no threshold was given.")
    return found


def as_thresholds(counts: Counts, threshold: Thresholds) -> Resolved:
    """``threshold`` checked against the table's groups and edges."""
    _check_no_result(threshold)
    if isinstance(threshold, Mapping):
        threshold = _per_level(counts, threshold)
    if isinstance(threshold, xr.DataArray) and threshold.ndim:
        return _per_group(counts, threshold)
    if isinstance(threshold, str) or np.ndim(threshold) == 0:
        value, index = counts.edges.find(threshold)
        return Resolved(value, np.array([index]))
    found = [counts.edges.find(value) for value in threshold]  # type: ignore[union-attr]
    if not found:
        raise AuditInputError("no threshold was given.")
    return Resolved([value for value, _ in found], np.array([index for _, index in found]))


def _check_no_result(threshold: object) -> None:
    """An error for what a search returned (``Shift``) in place of the thresholds in it."""
    if isinstance(getattr(threshold, "thresholds", None), xr.DataArray):
        raise AuditInputError(f"this is a {type(threshold).__name__}, not thresholds: pass its .thresholds.")


def _per_level(counts: Counts, threshold: Mapping[str, float]) -> xr.DataArray:
    if len(counts.groups) != 1:
        raise AuditInputError(
            f"a dict of thresholds needs one group dimension, but there are {len(counts.groups)} "
            f"({', '.join(counts.groups) or 'none'}); use .by(…) first, or a DataArray over the dimensions."
        )
    ((dim, levels),) = counts.groups.items()
    check_levels("thresholds", "threshold", dim, list(threshold), levels)
    return xr.DataArray([threshold[level] for level in levels], coords={dim: list(levels)}, dims=dim)


def _per_group(counts: Counts, threshold: xr.DataArray) -> Resolved:
    known = {**counts.groups, **({"model": counts.models} if counts.models else {})}
    for name in threshold.dims:
        dim = str(name)
        if dim not in known:
            raise AuditInputError(
                f"the thresholds run over {dim!r}, which is not a group here; there are: "
                f"{', '.join(known) or 'none'}. For several thresholds for everybody pass a list."
            )
        if dim not in threshold.coords:
            raise AuditInputError(f"the thresholds have no coordinate for {dim!r}; give the level names.")
        levels = [str(value) for value in threshold[dim].values]
        check_levels("thresholds", "threshold", dim, levels, known[dim])
        threshold = threshold.assign_coords({dim: levels}).sel({dim: list(known[dim])})
    order = [dim for dim in known if dim in threshold.dims]
    threshold = threshold.transpose(*order)
    index = np.array([counts.edges.index(value) for value in threshold.values.reshape(-1)])
    return Resolved(threshold, index.reshape(threshold.shape))
