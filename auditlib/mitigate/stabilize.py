"""Thresholds moved a little further, so that fewer verdicts flip when the patients are resampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.counts import Counts
from auditlib.counts.merge import check_whole
from auditlib.counts.thresholds import Thresholds
from auditlib.errors import AuditInputError
from auditlib.mitigate.cells import Cells, make_cells, ratios_of
from auditlib.mitigate.replicates import Replicates, draw_replicates
from auditlib.mitigate.result import Shift, ratio_array, thresholds_of, unit_table
from auditlib.mitigate.shift import MIN_N, check_share, frozen, reaches
from auditlib.values import listed
from auditlib.verdicts import Limit, limits_of

STEPS = (1, 2, 5)
DIGITS = 12  # objectives that agree to this are equal


def stabilize_verdicts(
    counts: Counts,
    start: Shift | Thresholds,
    attributes: str | Sequence[str],
    *,
    seed: int | np.random.Generator | None,
    target: float = 0.80,
    limits: Mapping[str, float | Limit] | None = None,
    replicates: int = 500,
    size: int | None = None,
    strata: str | Sequence[str] = "label",
    steps: Sequence[int] = STEPS,
    max_rounds: int = 200,
    min_n: int = MIN_N,
) -> Shift:
    """Greedy moves of one joint group's threshold at a time that lower the mean verdict flip rate.

    The people are resampled once. Each round tries to move the threshold of each joint group up or down by each of
    ``steps`` edges, keeps the candidates with every DI still at least ``target``, and makes the one that has the lowest
    mean VFR over 7 metrics × attributes; among equals the one with most people classified correctly, then the first in
    the order of the table. It ends when no move lowers the mean VFR, or leaves it and classifies more people correctly.
    All candidates are judged on the same replicates, so that differences between them are not differences between
    resamples; for the same reason the VFR reached is one of these replicates, lower than that of fresh ones.

    A verdict that fails in every replicate is as stable as one that always passes: moves that settle a failure are
    accepted like others. Read ``p_pass`` beside the VFR. Cal does not depend on thresholds and enters as a constant.
    A move that leaves any metric undefined in more replicates than at the start is refused.

    Parameters
    ----------
    counts : Counts
        Of the partition to choose on; one model, not resampled.
    start : Shift, or thresholds over joint groups as ``Counts.at`` takes them
        With every DI at least ``target``. A DataArray's dims are those that have thresholds of their own; a single
        number or a dict of levels begins all joint groups of ``attributes``.
    attributes : str or list of str
    seed : int or Generator
        Of the resampling.
    target : float
    limits : mapping, optional
        As ``auditlib.verdicts.passes``.
    replicates : int
    size : int, optional
        People in a replicate; all by default.
    strata : as ``Counts.resample``
        The outcome by default, as published.
    steps : list of int
        By how many edges a threshold may move at once.
    max_rounds : int
    min_n : int
        Joint groups of fewer people keep their threshold.

    Returns
    -------
    Shift
        ``history`` has a row a round: the group moved, from where to where, the objective (mean VFR), the mean of
        ``p_pass``, accuracy and the lowest DI. ``verdicts`` holds p_pass and VFR over (metric, attribute).

    Raises
    ------
    AuditInputError
        When the start does not reach the target; for counts that are resampled or hold several partitions; for unknown
        attributes, no replicate, or a step below 1.

    References
    ----------
    Joy et al., arXiv 2608.30846, the mitigation of VFR-Audit.

    Examples
    --------
    >>> import pandas as pd
    >>> import auditlib as al
    >>> rng = np.random.default_rng(0)
    >>> risk, sex = rng.beta(2, 3, 600), rng.choice(["F", "M"], 600)
    >>> frame = pd.DataFrame({"y": rng.random(600) < risk, "risk": risk, "sex": sex})
    >>> counts = al.count(frame, label="y", score="risk", by="sex", bins=50)
    >>> found = stabilize_verdicts(counts, 0.4, "sex", seed=1, replicates=100)
    >>> found.history["objective"].round(3).tolist(), found.ok, found.stopped
    ([0.123, 0.097], True, 'no move improves')
    """
    thresholds = thresholds_of(start)
    own = tuple(map(str, thresholds.dims)) if isinstance(thresholds, xr.DataArray) and thresholds.ndim else None
    cells = make_cells(counts, attributes, own)
    for name, value in (("replicates", replicates), ("max_rounds", max_rounds)):
        check_whole(value, name)
    check_share(target, "target")
    steps = listed("steps", steps, "whole numbers")
    for step in steps:
        check_whole(step, "steps")
    if not steps:
        raise AuditInputError("steps must name at least one step, in edges.")
    at = cells.index(thresholds)
    _check_start(cells, at, target)
    why = frozen(cells, min_n, None)
    search = draw_replicates(cells, at, limits_of(limits), replicates, size, strata, seed)
    moves = [sign * step for step in sorted(set(steps)) for sign in (-1, 1)]
    found, history, stopped = _descend(search, at, np.flatnonzero(why == ""), moves, target, max_rounds)
    return Shift(
        thresholds=cells.thresholds(found, thresholds),
        attributes=cells.attributes,
        target=float(target),
        ok=reaches(cells.ratios(found), target),
        di=ratio_array(cells, found),
        accuracy=cells.correct(found) / cells.people,
        bound=np.nan,
        cells=unit_table(cells, at, found, why),
        history=history,
        stopped=stopped,
        verdicts=search.verdicts(found),
    )


def _check_start(cells: Cells, at: np.ndarray, target: float) -> None:
    ratios = cells.ratios(at)
    if not reaches(ratios, target):
        said = ", ".join(f"{name} {value:.4f}" for name, value in zip(cells.attributes, ratios.tolist(), strict=True))
        raise AuditInputError(
            f"start must have every DI at least {target:g} on these counts, but has {said}; "
            "begin from shift_thresholds(…) with ok=True, or lower target."
        )


Key = tuple[float, int]  # mean VFR, and minus the people classified correctly: smaller is better


def _descend(
    search: Replicates, at: np.ndarray, free: np.ndarray, moves: list[int], target: float, max_rounds: int
) -> tuple[np.ndarray, pd.DataFrame, str]:
    """The best move of each round, until none improves."""
    at, levels, names = at.copy(), search.levels_at(at), search.cells.unit_names()
    lower = search.cells.counts.edges.lower
    vfr, p_pass = search.all_rates(*search.judged(levels))
    now: Key = (_mean(vfr), -search.cells.correct(at))
    rows, stopped = [_row(search, 0, "", np.nan, np.nan, now, p_pass, at)], "max_rounds"
    for number in range(1, max_rounds + 1):
        best = min((_best_of(search, at, levels, int(unit), moves, target) for unit in free), default=None)
        if best is None or best[0] >= now:
            stopped = "no move improves"
            break
        now, unit, edge = best
        old = int(at[unit])
        levels = levels + search.change(unit, old, np.array([edge]))[:, :, 0]
        at[unit] = edge
        p_pass = search.all_rates(*search.judged(levels))[1]
        rows.append(_row(search, number, names[unit], lower[old], lower[edge], now, p_pass, at))
    return at, pd.DataFrame(rows), stopped


def _mean(vfr: np.ndarray) -> float:
    """Over what is defined; infinity where nothing is."""
    return round(float(np.nanmean(vfr)), DIGITS) if not np.isnan(vfr).all() else np.inf


def _best_of(
    search: Replicates, at: np.ndarray, levels: np.ndarray, unit: int, moves: list[int], target: float
) -> tuple[Key, int, int]:
    """The best move of one unit as (key, unit, edge); a key of infinity where it has none."""
    cells, old = search.cells, int(at[unit])
    new = np.array([old + move for move in moves if 0 <= old + move < len(cells.counts.edges)])
    new = np.array([edge for edge in new if reaches(cells.ratios(_with(at, unit, edge)), target)], dtype=np.int64)
    nothing: tuple[Key, int, int] = ((np.inf, 0), unit, old)
    if not len(new):
        return nothing
    n_pass, n = search.judged(levels[:, :, None] + search.change(unit, old, new))
    vfr = search.all_rates(n_pass, n)[0]
    bad = (search.flagged.shape[0] - n > search.undefined[:, :, None]).any(axis=(0, 1))
    keys = [
        ((_mean(vfr[..., m]), -cells.correct(_with(at, unit, edge))), unit, int(edge))
        for m, edge in enumerate(new)
        if not bad[m]
    ]
    return min(keys, key=lambda found: found[0], default=nothing)


def _with(at: np.ndarray, unit: int, edge: int) -> np.ndarray:
    changed = at.copy()
    changed[unit] = edge
    return changed


def _row(
    search: Replicates, number: int, name: str, old: float, new: float, key: Key, p_pass: np.ndarray, at: np.ndarray
) -> dict[str, object]:
    rates = ratios_of(search.cells.rates(at), search.cells.slices)
    return {
        "round": number,
        "moved": name,
        "from": old,
        "to": new,
        "objective": key[0],
        "p_pass": float(np.nanmean(p_pass)) if not np.isnan(p_pass).all() else np.nan,
        "accuracy": -key[1] / search.cells.people,
        "lowest DI": float(rates.min()),
    }
