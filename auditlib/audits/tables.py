"""Counts of confusion matrices: eight numbers are a table of two score bins."""

from __future__ import annotations

import numpy as np
import xarray as xr

from auditlib.counts import Counts
from auditlib.counts.edges import Edges
from auditlib.counts.patterns import Lines
from auditlib.errors import AuditInputError
from auditlib.intervals.effective import check_cells

FLAGGED = 0.5  # the edge between those flagged and not, whatever the risk was
MOST = 10**12  # people in all: squares of these are still exact enough


def counts_of(table: xr.Dataset) -> Counts:
    """A confusion table over named groups as Counts with one threshold, 0.5, which stands for "flagged".

    Raises
    ------
    AuditInputError
        For a table with replicates, thresholds or models, one without named groups, or more than 10**12 people.

    Examples
    --------
    >>> from auditlib.counts import parse_confusion
    >>> counts_of(parse_confusion("Women:80,40,800,30; Men:120,90,700,25")).at(0.5)["fn"].values
    array([30, 25])
    """
    check_cells(table)
    dims = [str(dim) for dim in table["tp"].dims]
    if not dims or any(dim in ("replicate", "threshold", "model") or dim not in table.coords for dim in dims):
        raise AuditInputError(
            f"a confusion table of named groups is needed, such as confusion(…) makes; this one lies over "
            f"{', '.join(dims) or 'nothing'}."
        )
    if "unit_moments" in table.coords:
        raise AuditInputError("this table was made from counts with a cluster: pass the counts, and the threshold.")
    groups = {dim: tuple(str(level) for level in table[dim].values) for dim in dims}
    lines: list[tuple[int, ...]] = []
    people: list[int] = []
    for cell, label, flagged in (("tp", 1, 1), ("fp", 0, 1), ("fn", 1, 0), ("tn", 0, 0)):
        held = table[cell].transpose(*dims).values
        for place in np.argwhere(held):
            lines.append((*map(int, place), label, flagged))
            people.append(int(held[tuple(place)]))
    if not lines:
        raise AuditInputError("the confusion matrices hold nobody; there is nothing to audit.")
    if sum(people) > MOST:
        raise AuditInputError(f"the confusion matrices hold {sum(people):,} people; more than {MOST:,} is no audit.")
    order = sorted(range(len(lines)), key=lambda at: lines[at])
    cells = np.array([lines[at] for at in order], dtype=np.int64)
    units = np.array([people[at] for at in order], dtype=np.int64)
    patterns = Lines(np.arange(len(cells)), cells, np.ones(len(cells), np.int64), units)
    edges = Edges(np.array([0.0, FLAGGED]), None, "cut", ("float64",))
    return Counts(groups, edges, (), "outcome", "1", "row", patterns)
