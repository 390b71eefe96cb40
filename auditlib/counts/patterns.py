"""Units collapsed to patterns.

A *unit* (a row, or a patient with all encounters) falls into cells (groups × label × score bins) so and so
often. Units with the same non-zero cells share a *pattern*; resampling units is drawing patterns, so nothing
here, or in anything built on it, grows with the number of patients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse


@dataclass(frozen=True, eq=False)
class Lines:
    """A long table of patterns: one line for each non-zero cell of each pattern.

    Parameters
    ----------
    pattern : (lines,) int64, non-decreasing from 0
    cells : (lines, columns) int64
        Group codes, label (0 or 1) and one score bin a model, in that order.
    n : (lines,) int64
        How many rows of one unit fall into the cell.
    units : (patterns,) or (replicates, patterns) int64
        How many units have the pattern.
    """

    pattern: np.ndarray
    cells: np.ndarray
    n: np.ndarray
    units: np.ndarray

    @property
    def simple(self) -> bool:
        """Whether every unit is one row in one cell."""
        return len(self.pattern) == self.units.shape[-1] and bool((self.n == 1).all())

    def rows(self) -> np.ndarray:
        """Rows behind each line, (lines,) or (replicates, lines)."""
        return self.units[..., self.pattern] * self.n

    def replace_cells(self, cells: np.ndarray, keep: np.ndarray | None = None) -> Lines:
        """The same units seen through other cells; lines outside ``keep`` and units left empty go."""
        pattern, n = self.pattern, self.n
        if keep is not None:
            pattern, cells, n = pattern[keep], cells[keep], n[keep]
        present, pattern = np.unique(pattern, return_inverse=True)
        return collapse(pattern, cells, n, self.units[..., present])

    def sums(self, key: np.ndarray, size: int) -> np.ndarray:
        """Rows summed over lines with one ``key`` in 0 … size − 1: (size,) or (replicates, size)."""
        if self.units.ndim == 1:  # float64 sums of integers are exact below 2**53
            return np.bincount(key, weights=self.rows(), minlength=size).astype(np.int64)
        spread = sparse.csr_array((self.n, (self.pattern, key)), shape=(self.units.shape[1], size))
        return np.asarray(self.units @ spread)


def codes_of(cells: np.ndarray) -> np.ndarray:
    """One integer a row of ``cells``, in the rows' lexicographic order."""
    if not cells.size:
        return np.zeros(len(cells), dtype=np.int64)
    sizes = cells.max(axis=0) + 1
    if np.prod(sizes.astype(np.float64)) < 2**62:
        return np.ravel_multi_index(tuple(cells.T), tuple(sizes))
    return np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1)


def add_columns(units: np.ndarray, target: np.ndarray, size: int) -> np.ndarray:
    """Units of old patterns summed into new ones."""
    if units.ndim == 1:
        return np.bincount(target, weights=units, minlength=size).astype(np.int64)
    ones = np.ones(len(target), dtype=np.int64)
    move = sparse.csr_array((ones, (np.arange(len(target)), target)), shape=(len(target), size))
    return np.asarray(units @ move)


def collapse(unit: np.ndarray, cells: np.ndarray, n: np.ndarray, units: np.ndarray) -> Lines:
    """Lines of units → lines of distinct patterns, in an order that depends on the content alone.

    ``unit`` numbers the units of ``units`` (their multiplicities, last axis). Lines of one unit that fall into
    one cell are merged first.
    """
    codes = codes_of(cells)
    distinct, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    cells = cells[first]
    if len(unit) == units.shape[-1] and (n == 1).all():  # one row a unit: a pattern is a cell
        size = len(distinct)
        return Lines(np.arange(size), cells, np.ones(size, np.int64), add_columns(units, codes[np.argsort(unit)], size))
    width = len(distinct)
    key, line = np.unique(unit * width + codes, return_inverse=True)
    n = np.bincount(line, weights=n).astype(np.int64)
    unit, codes = key // width, key % width
    lengths = np.bincount(unit, minlength=units.shape[-1])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    pattern_of = np.zeros(len(lengths), dtype=np.int64)
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    total = 0
    for length in np.unique(lengths):
        members = np.flatnonzero(lengths == length)
        at = starts[members, None] + np.arange(length)
        shapes, shape = np.unique(np.hstack([codes[at], n[at]]), axis=0, return_inverse=True)
        pattern_of[members] = total + shape.reshape(-1)
        numbers = np.repeat(total + np.arange(len(shapes)), length)
        parts.append((numbers, shapes[:, :length].reshape(-1), shapes[:, length:].reshape(-1)))
        total += len(shapes)
    pattern, cell, n = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Lines(pattern, cells[cell], n, add_columns(units, pattern_of, total))
