"""Who is seen when there is room for few: every best way to divide a capacity between one group and the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from auditlib.benefit.core import odds
from auditlib.benefit.points import judge, over, points_table, valued
from auditlib.counts import Counts
from auditlib.errors import AuditInputError
from auditlib.values import given

__all__ = ["capacity_frontier", "judge", "points_table"]
TOLERANCE = 1e-9  # patients' units: benefits closer than this are equal


@dataclass(frozen=True)
class _Side:
    """One side's people flagged and what they gain, at every edge that flags somebody more."""

    threshold: np.ndarray  # infinity (nobody) first
    flagged: np.ndarray
    benefit: np.ndarray  # Σ over groups of λr(TP − w·FP)


def capacity_frontier(
    counts: Counts, level: str, capacity: float, threshold: float, lam: Any, burden: Any = 1.0, dim: str | None = None
) -> xr.Dataset:
    """Every undominated way to divide a capacity between one group named beforehand and everybody else.

    One threshold on the score for the group ``level``, one for the rest; at most ⌊capacity·N⌋ people are flagged. A
    point is dominated if another is at least as good in the sNB of all and in that of ``level``, and better in one.
    The odds w = t/(1 − t) of net benefit stay those of the clinical threshold t, whoever there is room for.

    Exact over the edges of the table: for each k₁ of the group's people flagged, the best partner is the running
    maximum of the rest's benefit Σ λ_g r_g (TP_g − w·FP_g) over up to cap − k₁ people (observed benefit is not
    monotone), with the fewest flagged among equals. People of one score are never divided. O(E log E) for E edges.
    Not exact for the minimum over several groups. Points look better on the people they were found on than they are:
    choose on one half, and take estimates and intervals of the other from ``auditlib.benefit.judge``.

    Parameters
    ----------
    counts : Counts
        One model, not resampled. Other groups than ``dim`` are summed over.
    level : str
        The group whose sNB is weighed against that of all.
    capacity : float
        Largest share flagged, in (0, 1].
    threshold : float
        Clinical threshold t in [0, 1); need not be an edge.
    lam, burden : float, dict of level to float, or DataArray over ``dim``
        As in :func:`auditlib.subgroup_net_benefit`.
    dim : str, optional
        The group dim of ``level``; found where only one has it.

    Returns
    -------
    Dataset over ``point``, from the best overall to the best for ``level``
        ``threshold_level``, ``threshold_rest`` (infinity: nobody), ``flagged_level``, ``flagged_rest``, ``unused``
        (room left, because the next people of one score are too many, or gain nothing), ``overall`` and ``snb_level``
        (sNB), ``snb`` over (point, ``dim``), ``lowest`` (the group with the lowest sNB). Attributes: ``level``,
        ``dim``, ``capacity`` and ``people`` (numbers), ``threshold``, ``lowest_untreated`` (the lowest untreated).

    Raises
    ------
    AuditInputError
        For a capacity outside (0, 1] or smaller than one patient, an unknown level, several models, resampled
        counts, or a threshold, lam or burden out of range, missing or unknown for a group.

    References
    ----------
    Benitez-Aurioles J et al. Epidemiology 2026;37(3):386–396, the analysis under limited capacity.

    Examples
    --------
    >>> import pandas as pd
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"died": [1, 0, 1, 1], "risk": [0.9, 0.8, 0.7, 0.6], "sex": list("MMFF")})
    >>> counts = al.count(frame, label="died", score="risk", by="sex", bins=None)
    >>> found = capacity_frontier(counts, "F", capacity=0.5, threshold=0.1, lam=0.2)
    >>> found.threshold_level.values.tolist(), found.threshold_rest.values.tolist(), found.unused.values.tolist()
    ([0.6], [inf], [0])
    """
    held, dim = _checked(counts, level, dim)
    rows, own = held.lines.rows(), held.lines.cells[:, 0] == held.groups[dim].index(str(level))
    people = int(rows.sum())
    cap = check_capacity(capacity, people)
    weight, gain = _weights(held, dim, threshold, lam, burden)
    ours, rest = (_side(held, rows, side, gain, weight, cap) for side in (own, ~own))
    first, partner = _pairs(ours, rest, cap)
    points = xr.Dataset(
        {
            "threshold_level": ("point", ours.threshold[first]),
            "threshold_rest": ("point", rest.threshold[partner]),
            "flagged_level": ("point", ours.flagged[first]),
            "flagged_rest": ("point", rest.flagged[partner]),
            "unused": ("point", cap - ours.flagged[first] - rest.flagged[partner]),
        },
        coords={"point": np.arange(len(first))},
        attrs={"level": str(level), "dim": dim, "capacity": cap, "people": people, "threshold": float(threshold)},
    )
    values = valued(points_table(held, points), points, threshold, lam, burden)
    points.attrs["lowest_untreated"] = str(_lowest(values["none"], dim).item())
    return points.assign(values[["overall", "snb_level", "snb"]]).assign(lowest=_lowest(values["snb"], dim))


def check_capacity(capacity: object, people: int) -> int:
    """How many of ``people`` a share allows, ⌊capacity·N⌋, or an error.

    >>> check_capacity(0.29, 100)  # in floating point 0.29 · 100 is a little less than 29
    29
    """
    if isinstance(capacity, bool) or not isinstance(capacity, int | float | np.number) or not 0 < capacity <= 1:
        raise AuditInputError(f"capacity must be a share of the people in (0, 1], not {capacity!r}.")
    cap = int(np.floor(float(capacity) * people + 1e-9))
    if cap < 1:
        raise AuditInputError(f"capacity: {capacity!r} of {people:,} people is less than one patient; allow more.")
    return cap


def _checked(counts: Counts, level: object, dim: str | None) -> tuple[Counts, str]:
    """Counts over the one dim that has ``level``."""
    if not isinstance(counts, Counts) or counts.resampled:
        raise AuditInputError(
            "a frontier is found on Counts, before .at(…) and not resampled; judge(…) gives its intervals."
        )
    dims = counts.dims if dim is None else counts.dims[(at := counts.column(dim)) : at + 1]
    found = [name for name in dims if str(level) in counts.groups[name]]
    if len(found) != 1:
        known = "; ".join(f"{name}: {', '.join(levels)}" for name, levels in counts.groups.items()) or "no groups"
        why = f"is in {' and '.join(map(repr, found))}, so say dim=" if found else "is no level here"
        raise AuditInputError(f"level {level!r} {why}. There is {known}.")
    held = over(counts, found[0])
    own = held.lines.cells[held.lines.rows() > 0, 0] == held.groups[found[0]].index(str(level))
    if own.all() or not own.any():
        raise AuditInputError(f"level {level!r} has {'everybody' if own.any() else 'nobody'}: two sides are needed.")
    return held, found[0]


def _weights(counts: Counts, dim: str, threshold: Any, lam: Any, burden: Any) -> tuple[float, np.ndarray]:
    """w, and λr of each group."""
    groups = xr.DataArray(np.ones(len(counts.groups[dim])), {dim: list(counts.groups[dim])}, [dim])
    weight, gain = odds(threshold, groups), groups * given("lam", lam, groups) * given("burden", burden, groups)
    if np.ndim(weight) or gain.dims != (dim,):
        raise AuditInputError("threshold must be one number; lam and burden one number, or one a group.")
    return float(weight), gain.values / gain.values.max()  # only compared, in units of the group that gains most


def _side(counts: Counts, rows: np.ndarray, mask: np.ndarray, gain: np.ndarray, weight: float, cap: int) -> _Side:
    """One side at every edge where no more than ``cap`` are flagged; nothing is larger than the number of edges."""
    (group, label, at), rows, size = counts.lines.cells[mask].T, rows[mask], len(counts.edges)
    people = np.bincount(at, rows, size)
    bins = np.flatnonzero(people)[::-1]  # occupied, highest first
    flagged = np.append(0, np.cumsum(people[bins])).astype(np.int64)
    flagged = flagged[flagged <= cap]
    bins, factor, benefit = bins[: len(flagged) - 1], gain[group], np.zeros(len(flagged))
    for one in np.unique(factor):  # whole numbers are summed, then weighed: no rounding adds up
        mine = np.where(factor == one, rows, 0)
        tp, fp = (np.cumsum(np.bincount(at, mine * (label == y), size)[bins]) for y in (1, 0))
        benefit[1:] += one * (tp - weight * fp)
    return _Side(np.append(np.inf, counts.edges.lower[bins]), flagged, benefit)


def _records(values: np.ndarray) -> np.ndarray:
    """Positions that exceed everything before them by more than the tolerance."""
    risen = np.flatnonzero(values[1:] > np.maximum.accumulate(values)[:-1]) + 1
    kept, best = [0], values[0]
    for position, value in zip(risen.tolist(), values[risen].tolist(), strict=True):
        if value > best + TOLERANCE:
            kept.append(position)
            best = value
    return np.array(kept)


def _pairs(ours: _Side, rest: _Side, cap: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions on both sides of the undominated pairs, from the best overall to the best for the named group.

    To flag more of a side without gain leaves the other less room, so only records of either side can be on the
    frontier; such a pair stays unless one that is better for the named group is as good for all.
    """
    first, partner = _records(ours.benefit), _records(rest.benefit)
    partner = partner[np.searchsorted(rest.flagged[partner], cap - ours.flagged[first], side="right") - 1]
    together = ours.benefit[first] + rest.benefit[partner]
    kept = len(first) - 1 - _records(together[::-1])[::-1]
    return first[kept], partner[kept]


def _lowest(snb: xr.DataArray, dim: str) -> xr.DataArray:
    """Name of the group with the lowest sNB; the first of several."""
    return snb[dim][snb.fillna(np.inf).argmin(dim)].drop_vars(dim)
