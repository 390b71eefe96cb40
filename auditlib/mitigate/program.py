"""The integer program of ``shift_thresholds``: one edge for each unit."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from auditlib.errors import AuditInputError
from auditlib.mitigate.cells import Cells

GAP, NODES = 5e-4, 20_000
# Of one solve. Nodes come first, so that an answer does not depend on the machine: the published tables take 1 to
# 9 seconds. Near DI 1, where rates must be equal to a person, one node alone may take minutes.
SECONDS = 60.0
SWAY = 0.4  # of a person, at most, for thresholds that stay near the start


@dataclass(frozen=True, eq=False)
class Program:
    """What is maximised, over which edges.

    Parameters
    ----------
    cells : Cells
    start : (units,) int
    allowed : (units, edges) bool
    gain : (units, edges) float
        In people.
    gap : float
    """

    cells: Cells
    start: np.ndarray
    allowed: np.ndarray
    gain: np.ndarray
    gap: float

    def __post_init__(self) -> None:
        if isinstance(self.gap, bool) or not isinstance(self.gap, int | float | np.number) or not 0 <= self.gap < 1:
            raise AuditInputError(f"gap must be a share from 0 to below 1, not {self.gap!r}.")

    def objective(self, edges: np.ndarray) -> float:
        """The gain of one edge a unit, in people."""
        return float(self.gain[np.arange(len(edges)), edges].sum())


class Answer(NamedTuple):
    """Edges of the best solution found, if any; the bound on any objective per person; how the search ended.

    ``complete``: it ran to its end, so that without edges there are none. ``late``: it ran out of time.
    """

    edges: np.ndarray | None
    bound: float
    complete: bool
    late: bool


def solve(program: Program, target: float, seconds: float = SECONDS) -> Answer:
    """The best edges found within limits on nodes and seconds.

    Variables: x_ue, 1 where unit u has edge e, and y_a, at most the smallest selection rate of attribute a. Then
    rate_l ≥ y_a and target·rate_l ≤ y_a for each group l of a, and somebody is flagged, since 0/0 is no DI.
    """
    cells = program.cells
    unit, edge = np.nonzero(program.allowed)
    count, attributes = len(unit), len(cells.attributes)
    rates = _rates(cells, unit, edge)
    owner = np.zeros((rates.shape[0], attributes))
    for number, part in enumerate(cells.slices):
        owner[part, number] = 1
    flagged = np.zeros((len(cells.units), program.allowed.shape[1]))
    np.add.at(flagged, cells.unit, cells.flagged.sum(axis=1).astype(np.float64))
    one = sparse.csr_array((np.ones(count), (unit, np.arange(count))), shape=(len(cells.units), count + attributes))
    somebody = np.append(flagged[unit, edge], np.zeros(attributes))
    constraints = [
        LinearConstraint(one, 1, 1),
        LinearConstraint(sparse.hstack([rates, -owner]).tocsr(), 0, np.inf),
        LinearConstraint(sparse.hstack([target * rates, -owner]).tocsr(), -np.inf, 0),
        LinearConstraint(somebody[None, :], 1, np.inf),
    ]
    sway = SWAY / (len(cells.units) * program.allowed.shape[1])
    gain = program.gain[unit, edge] - sway * np.abs(edge - program.start[unit])
    began = monotonic()
    answer = milp(
        -np.append(gain, np.zeros(attributes)),
        constraints=constraints,
        integrality=np.append(np.ones(count), np.zeros(attributes)),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": program.gap, "node_limit": NODES, "time_limit": seconds},
    )
    complete = answer.status in (0, 2)  # solved, or proven to have no solution
    late = not complete and monotonic() - began >= seconds
    if answer.x is None:
        return Answer(None, np.nan, complete, late)
    chosen = np.full(program.allowed.shape, -1.0)
    chosen[unit, edge] = answer.x[:count]
    bound = -float(answer.mip_dual_bound) + SWAY  # the sway towards the start can cost no more than this
    return Answer(chosen.argmax(axis=1), bound / cells.people, complete, late)


def _rates(cells: Cells, unit: np.ndarray, edge: np.ndarray) -> sparse.csr_array:
    """What each variable adds to the selection rate of each level: (levels, variables)."""
    people = cells.labelled.sum(axis=1) @ cells.member
    rates = np.zeros((cells.member.shape[1], len(unit)))
    flagged = cells.flagged.sum(axis=1)
    for cell, own in enumerate(cells.unit):
        mine = np.flatnonzero(unit == own)
        rates[np.ix_(cells.member[cell] == 1, mine)] += flagged[cell, edge[mine]]
    return sparse.csr_array(rates / people[:, None])
