"""Score edges: where bins begin, and which of them a threshold names.

A patient is flagged when ``score >= threshold``, so a threshold must be the lower edge of a bin.
Edges are kept as the decimals people write; scores and edges are compared as float64 after the
edges have been rounded to the score column's own type, so that 0.7 stored as float32 is flagged at 0.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from auditlib.errors import AuditInputError

MAX_BINS = 100_000


def snap(threshold: float) -> float:
    """The decimal of at most 10 places within 1e-15 of ``threshold``, otherwise ``threshold`` itself.

    Examples
    --------
    >>> snap(0.1 * 3), snap(1 / 3) == 1 / 3
    (0.3, True)
    """
    decimal = round(float(threshold), 10)
    return decimal if abs(decimal - threshold) <= 1e-15 else float(threshold)


def check_number(threshold: object) -> float:
    """``threshold`` as a float in [0, 1], to the bit, or an error that names it."""
    try:
        held = np.asarray(threshold)
        if held.ndim or held.dtype.kind not in "iufO":  # float() would read text and spans of time
            raise TypeError
        value = float(held.item())
    except (TypeError, ValueError):
        raise AuditInputError(f"threshold must be a number between 0 and 1, not {threshold!r}.") from None
    except OverflowError:
        raise AuditInputError("threshold must lie between 0 and 1, not a number too large for a float.") from None
    if not 0 <= value <= 1:
        raise AuditInputError(f"threshold must lie between 0 and 1, not {value!r}.")
    return value


def check_threshold(threshold: object) -> float:
    """``threshold`` as a snapped float in [0, 1], or an error that names it."""
    return snap(check_number(threshold))


def round_to(values: np.ndarray | float, dtype: str) -> np.ndarray:
    """``values`` rounded to the score column's type, as float64."""
    exact = np.asarray(values, dtype=np.float64)
    return exact.astype(np.float32).astype(np.float64) if dtype == "float32" else exact


@dataclass(frozen=True, eq=False)
class Edges:
    """The lower edges of the score bins, shared by all models of one table.

    Parameters
    ----------
    lower : float64 array, increasing, beginning with 0
        Lower edge of each bin, as written (0.7 even where scores are float32).
    grid : int or None
        Number of equal bins when the edges are k/grid plus extra thresholds.
    kind : {"grid", "distinct", "cut"}
        ``distinct``: every score that occurs is an edge; ``cut``: bins have been merged to a few
        thresholds, so that what needs the fine score (AUROC, calibration) can no longer be had.
    dtypes : tuple of {"float64", "float32"}
        Type of each model's score column.
    """

    lower: np.ndarray
    grid: int | None
    kind: str
    dtypes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.lower)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Edges)
            and (self.kind, self.grid, self.dtypes) == (other.kind, other.grid, other.dtypes)
            and np.array_equal(self.lower, other.lower)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def extra(self) -> list[float]:
        """Edges that the grid does not imply."""
        if self.grid is None:
            return self.lower.tolist()
        return sorted(set(self.lower.tolist()) - set(grid_edges(self.grid).tolist()))

    def index(self, threshold: object) -> int:
        """Position of the bin that begins at ``threshold``; an error naming the nearest edges if none does."""
        return self.find(threshold)[1]

    def find(self, threshold: object) -> tuple[float, int]:
        """The threshold and its position: that of the edge equal to it to the bit, else of its decimal (``snap``)."""
        value = check_number(threshold)
        at = int(np.searchsorted(self.lower, value))
        if at < len(self) and self.lower[at] == value:
            return value, at
        value = snap(value)
        # Only where every score is float32 do two spellings of one float32 number mean one edge.
        dtype = "float32" if set(self.dtypes) == {"float32"} else "float64"
        keys, key = round_to(self.lower, dtype), round_to(value, dtype)
        at = int(np.searchsorted(keys, key))
        if at < len(keys) and keys[at] == key:
            return value, at
        near = [repr(float(self.lower[i])) for i in (at - 1, at) if 0 <= i < len(keys)]
        raise AuditInputError(
            f"threshold {value!r} is not an edge of this table; the nearest edges are {' and '.join(near)}. "
            f"Use one of them, or count again with thresholds=[{value!r}]."
        )

    def representative(self) -> np.ndarray:
        """One score a bin: its midpoint, or the score itself where every distinct score is an edge."""
        if self.kind == "distinct":
            return self.lower.copy()
        return (self.lower + np.append(self.lower[1:], 1.0)) / 2

    def cut(self, keep: Sequence[int]) -> tuple[Edges, np.ndarray]:
        """The table's edges reduced to positions ``keep``, and the new bin of every old one."""
        kept = np.unique(np.append(keep, 0)).astype(np.int64)
        bins = np.searchsorted(kept, np.arange(len(self)), side="right") - 1
        return Edges(self.lower[kept], None, "cut", self.dtypes), bins


def grid_edges(bins: int) -> np.ndarray:
    """k/bins for k = 0 … bins: divided, because ``linspace`` misses the nearest float."""
    return np.arange(bins + 1, dtype=np.float64) / bins


def make_edges(bins: int, thresholds: Iterable[float], dtypes: tuple[str, ...]) -> Edges:
    """Edges of a grid of ``bins`` equal bins plus ``thresholds``."""
    lower = np.unique(np.concatenate([grid_edges(bins), np.array(list(thresholds), dtype=np.float64)]))
    return Edges(lower, bins, "grid", dtypes)


def distinct_edges(scores: Sequence[np.ndarray], thresholds: Iterable[float], dtypes: tuple[str, ...]) -> Edges:
    """Every score that occurs (an array a model), plus ``thresholds``, plus 0, as edges."""
    found = [
        # the decimal that a float32 score was written as
        np.array([float(str(value)) for value in np.unique(held.astype(np.float32))]) if dtype == "float32" else held
        for held, dtype in zip(scores, dtypes, strict=True)
    ]
    lower = np.unique(np.concatenate([[0.0], *found, np.array(list(thresholds), dtype=np.float64)]) + 0.0)
    return Edges(lower, None, "distinct", dtypes)


def check_bins(bins: object, name: str = "bins") -> int:
    """``bins`` as an int from 1 to MAX_BINS, or an error."""
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or not 1 <= bins <= MAX_BINS:
        raise AuditInputError(
            f"{name} must be a whole number from 1 to {MAX_BINS:,}, or None for every score, not {bins!r}."
        )
    return int(bins)
