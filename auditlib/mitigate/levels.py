"""The metrics of ``verdict_metrics`` for many replicates and candidates at once, on plain arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import xlogy

from auditlib.mitigate.cells import ratios_of
from auditlib.verdicts import LIMITS, Limit
from auditlib.verdicts.judged import NOISE

#: Those that thresholds change, in this order; Cal is left to the scores.
MOVABLE = ("DI", "SPD", "EOpp", "EOD", "PP", "TI")


def level_metrics(
    tp: np.ndarray, fp: np.ndarray, positives: np.ndarray, negatives: np.ndarray, slices: list[slice]
) -> np.ndarray:
    """DI, SPD, EOpp, EOD, PP and TI of each attribute: (metrics, attributes, …), NaN where undefined.

    Parameters
    ----------
    tp, fp, positives, negatives : arrays (levels, …)
        The levels of all attributes, one attribute after the other; broadcast against each other.
    slices : list of slice
        Where each attribute's levels stand.

    Examples
    --------
    >>> cells = [np.array(row) for row in ([40, 30], [10, 20], [50, 50], [50, 50])]
    >>> level_metrics(*cells, [slice(0, 2)])[:5, 0].round(3).tolist()
    [1.0, 0.0, 0.2, 0.2, 0.2]
    """
    people = positives + negatives
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is NaN, on purpose
        flagged = tp + fp
        selected, found = flagged / people, tp / flagged
        sensitivity, false_positive = tp / positives, fp / negatives
        opportunity = _spreads(sensitivity, slices)
        return np.stack(
            [
                ratios_of(selected, slices),
                _spreads(selected, slices),
                opportunity,
                np.maximum(opportunity, _spreads(false_positive, slices)),
                _spreads(found, slices),
                _theils(people + fp - positives + tp, people, slices),
            ]
        )


def _spreads(rates: np.ndarray, slices: list[slice]) -> np.ndarray:
    return np.stack([rates[part].max(axis=0) - rates[part].min(axis=0) for part in slices])


def _theils(benefit: np.ndarray, people: np.ndarray, slices: list[slice]) -> np.ndarray:
    """Σ (n_g/N)(b̄_g/b̄) ln(b̄_g/b̄), n_g·b̄_g being the sum of benefits."""
    found = []
    for part in slices:
        share = benefit[part] / benefit[part].sum(axis=0)
        relative = share * (people[part].sum(axis=0) / people[part])
        found.append(xlogy(share, relative).sum(axis=0))
    return np.stack(found)


def passed(values: np.ndarray, limits: Mapping[str, Limit] = LIMITS) -> tuple[np.ndarray, np.ndarray]:
    """Passing and defined replicates (last axis) of metrics on the first axis: two arrays of counts.

    >>> n_pass, n = passed(np.array([[0.9, 0.8, 0.7], [0.0, np.nan, 0.2]]))
    >>> n_pass.tolist(), n.tolist()
    ([2, 1], [3, 2])
    """
    within = np.empty(values.shape, dtype=bool)
    for row, name in enumerate(MOVABLE[: len(values)]):
        limit = limits[name]
        within[row] = values[row] >= limit.value - NOISE if limit.at_least else values[row] <= limit.value + NOISE
    return within.sum(axis=-1), values.shape[-1] - np.isnan(values).sum(axis=-1)


def flip_rates(n_pass: np.ndarray, n: np.ndarray) -> np.ndarray:
    """min(n_pass, n − n_pass)/n; NaN where no replicate is defined.

    >>> flip_rates(np.array([262, 0]), np.array([500, 0])).tolist()
    [0.476, nan]
    """
    with np.errstate(invalid="ignore"):
        return np.minimum(n_pass, n - n_pass) / n
