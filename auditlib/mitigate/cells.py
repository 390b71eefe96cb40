"""Counts as plain arrays for a search: how many of each cell and label are flagged at each edge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import xarray as xr

from auditlib.counts import Counts
from auditlib.counts.confusions import group_key, group_shape
from auditlib.counts.levels import check_names
from auditlib.counts.thresholds import Thresholds, as_thresholds
from auditlib.errors import AuditInputError

NEGATIVE, POSITIVE = 0, 1
PARTITION = "partition"


@dataclass(frozen=True, eq=False)
class Cells:
    """Joint cells of the attributes, the unit that sets each one's threshold, and the levels it belongs to.

    A *unit* is a joint group of the dims ``by``, which has one threshold. A *level* is one group of one attribute; the
    levels of all attributes stand one after the other.

    Parameters
    ----------
    counts : Counts
        Over all dims that matter, summed over the rest.
    by, attributes : tuple of str
        Dims of the thresholds, and dims whose groups are compared.
    place : (cells,) int
        Each cell's position in the full product of levels; cells that nobody is in are left out.
    unit : (cells,) int
        Which unit each cell belongs to.
    units : (units,) int
        Each unit's position in the full product of the levels of ``by``.
    flagged : (cells, 2, edges) int
        People of either label flagged at each edge.
    member : (cells, levels) int
        1 where a cell belongs to a level.
    """

    counts: Counts
    by: tuple[str, ...]
    attributes: tuple[str, ...]
    place: np.ndarray
    unit: np.ndarray
    units: np.ndarray
    flagged: np.ndarray
    member: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of levels of each dim of the thresholds."""
        return tuple(len(self.counts.groups[dim]) for dim in self.by)

    @property
    def slices(self) -> list[slice]:
        """Where each attribute's levels stand."""
        ends = np.cumsum([0, *(len(self.counts.groups[dim]) for dim in self.attributes)])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    @property
    def labelled(self) -> np.ndarray:
        """People of each cell and label, (cells, 2): everybody is flagged at the first edge, 0."""
        return self.flagged[:, :, 0]

    @property
    def unit_people(self) -> np.ndarray:
        """People of each unit."""
        return np.bincount(self.unit, self.labelled.sum(axis=1), len(self.units)).astype(np.int64)

    @property
    def people(self) -> int:
        """Everybody."""
        return int(self.labelled.sum())

    def index(self, threshold: Thresholds) -> np.ndarray:
        """Edge of each unit: (units,)."""
        index = as_thresholds(self.counts.by(*self.by), threshold)
        if isinstance(index.values, list):
            raise AuditInputError("one threshold a group is needed, not a list of them for everybody.")
        if isinstance(index.values, xr.DataArray):
            full = xr.DataArray(index.index, dims=index.values.dims).broadcast_like(self._empty()).transpose(*self.by)
            return full.values.reshape(-1)[self.units]
        return np.full(len(self.units), index.index[0])

    def thresholds(self, at: np.ndarray, start: Thresholds) -> xr.DataArray:
        """Thresholds over the dims ``by``; that of ``start`` where nobody is."""
        found = as_thresholds(self.counts.by(*self.by), start).values
        full = (self._empty() + found).transpose(*self.by) if not isinstance(found, list) else self._empty()
        flat = full.values.reshape(-1).copy()
        flat[self.units] = self.counts.edges.lower[at]
        return full.copy(data=flat.reshape(self.shape)).reset_coords(drop=True).rename("threshold")

    def _empty(self) -> xr.DataArray:
        coords = {dim: list(self.counts.groups[dim]) for dim in self.by}
        return xr.DataArray(np.zeros(self.shape), coords=coords, dims=self.by)

    def unit_names(self) -> list[str]:
        """Levels of each unit, joined."""
        codes = np.array(np.unravel_index(self.units, self.shape)).T
        levels = [self.counts.groups[dim] for dim in self.by]
        return [", ".join(names[code] for names, code in zip(levels, row, strict=True)) for row in codes]

    def flagged_at(self, at: np.ndarray) -> np.ndarray:
        """People flagged by cell and label at one edge a unit: (cells, 2)."""
        return self.flagged[np.arange(len(self.unit)), :, at[self.unit]]

    def rates(self, at: np.ndarray) -> np.ndarray:
        """Selection rate of each level."""
        return (self.flagged_at(at).sum(axis=1) @ self.member) / (self.labelled.sum(axis=1) @ self.member)

    def ratios(self, at: np.ndarray) -> np.ndarray:
        """DI of each attribute: smallest over largest selection rate; NaN when nobody is flagged."""
        return ratios_of(self.rates(at), self.slices)

    def correct(self, at: np.ndarray) -> int:
        """People classified correctly."""
        flagged = self.flagged_at(at)
        return int((flagged[:, POSITIVE] + self.labelled[:, NEGATIVE] - flagged[:, NEGATIVE]).sum())


def ratios_of(rates: np.ndarray, slices: list[slice]) -> np.ndarray:
    """Smallest over largest rate of each attribute, levels on the first axis.

    >>> ratios_of(np.array([0.4, 0.5, 0.3, 0.6]), [slice(0, 2), slice(2, 4)]).tolist()
    [0.8, 0.5]
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is NaN, on purpose
        return np.stack([rates[part].min(axis=0) / rates[part].max(axis=0) for part in slices])


def cumulated(counts: Counts, place: np.ndarray) -> np.ndarray:
    """People flagged at each edge: (…, cells, 2, edges), replicates first where resampled."""
    position = np.full(int(np.prod(group_shape(counts))), -1)
    position[place] = np.arange(len(place))
    label, score = counts.lines.cells[:, len(counts.groups)], counts.lines.cells[:, len(counts.groups) + 1]
    shape = (len(place), 2, len(counts.edges))
    size = int(np.prod(shape))
    counts.check_bytes(size * (counts.lines.units.shape[0] if counts.resampled else 1))
    held = counts.lines.sums((position[group_key(counts)] * 2 + label) * shape[2] + score, size)
    held = held.reshape(*held.shape[:-1], *shape)
    return np.flip(np.cumsum(np.flip(held, -1), -1), -1)


def make_cells(counts: Counts, attributes: str | Sequence[str], by: str | Sequence[str] | None = None) -> Cells:
    """The arrays of a search, after its input has been checked.

    Raises
    ------
    AuditInputError
        Unless ``counts`` are Counts of one model and one partition, not resampled, and ``attributes`` are group dims
        of at least two levels none of which is empty.
    """
    names = check_attributes(counts, attributes)
    wanted = names if by is None else check_dims(counts, by, "by")
    dims = [dim for dim in counts.dims if dim in names or dim in wanted]
    held = counts.by(*dims)
    key, shape = group_key(held), group_shape(held)
    place = np.unique(key[held.lines.rows() > 0])
    codes = np.array(np.unravel_index(place, shape)).T
    inside = [dims.index(dim) for dim in dims if dim in wanted]
    joint = np.ravel_multi_index(tuple(codes[:, inside].T), tuple(shape[column] for column in inside))
    units, unit = np.unique(joint, return_inverse=True)
    member = np.hstack([np.eye(shape[column], dtype=np.int64)[codes[:, column]] for column in map(dims.index, names)])
    ordered = tuple(dims[column] for column in inside)
    check_names(ordered, ("people", "start", "threshold", "why"), "the table of thresholds")
    return Cells(held, ordered, names, place, unit.reshape(-1), units, cumulated(held, place), member)


def check_dims(counts: Counts, dims: str | Sequence[str], what: str) -> tuple[str, ...]:
    """``dims`` as a tuple of group dims, each once."""
    if not isinstance(dims, str | list | tuple):
        raise AuditInputError(f"{what} must be the name of a group, or a list of names, not {dims!r}.")
    names = (dims,) if isinstance(dims, str) else tuple(dims)
    for name in names:
        counts.column(name)
    if not names or len(set(names)) < len(names):
        raise AuditInputError(f"{what} must name at least one group, each once, not {list(names)!r}.")
    return names


def check_attributes(counts: Counts, attributes: str | Sequence[str]) -> tuple[str, ...]:
    """The attributes, after counts and attributes have been checked."""
    if not isinstance(counts, Counts):
        raise AuditInputError(f"counts must be Counts, before .at(…), not {type(counts).__name__}.")
    if counts.resampled:
        raise AuditInputError("these counts are replicates; pass the original counts, and say how many replicates.")
    if counts.models:
        raise AuditInputError(
            f"these counts hold {len(counts.models)} models ({', '.join(counts.models)}); count one score at a time."
        )
    if len(levels := counts.groups.get(PARTITION, ())) > 1:
        raise AuditInputError(
            f"these counts still hold the partitions {', '.join(levels)} together, so that thresholds would be chosen "
            f"and judged on the same people; select one: counts.sel({PARTITION}={levels[0]!r})."
        )
    names = check_dims(counts, attributes, "attributes")
    rows = counts.lines.rows()
    for name in names:
        levels, column = counts.groups[name], counts.column(name)
        held = np.bincount(counts.lines.cells[:, column], rows, len(levels))
        if empty := [level for level, n in zip(levels, held, strict=True) if not n]:
            raise AuditInputError(
                f"{name!r}: nobody is in {', '.join(map(repr, empty))}, whose selection rate is undefined; "
                f"leave it out with .sel({name}=[…])."
            )
        if len(levels) < 2:
            raise AuditInputError(f"attribute {name!r} has one group; comparing needs at least two.")
    return names
