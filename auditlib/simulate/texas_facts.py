"""What has been published of the Texas cohort's groups, long stays and hospitals, and what cells these make.

From the public tables of the verdict audit (T3_descriptive.csv, T_age_group_analysis.csv, dataset_diagnostics.txt; its
age bands are bands of codes, <= 4, 9, 14 and above). Levels follow the recoding of the cohort's own code: two of the
tables exchange men with women, and Hispanic with not.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from auditlib.errors import AuditInputError
from auditlib.simulate.parameters import need

Floats = NDArray[np.float64]
STEPS, ROUNDING, FITTED = 100, 1e-12, 1e-9  # of Newton's method; as a share of all stays

STAYS, SITES = 925_128, 441
LEVELS: dict[str, tuple[str, ...]] = {
    "race": ("Native American", "Asian", "Black", "White", "Other"),
    "sex": ("Male", "Female"),
    "ethnicity": ("Hispanic", "Not Hispanic"),
    "age": ("<18", "18–39", "40–64", "65+"),
}
# Stays by race and ethnicity, by sex and by age. Nothing is known of how these three go together.
RACE_ETHNICITY = ((2_300, 1_174), (523, 15_881), (721, 114_491), (101_714, 501_654), (149_284, 37_386))
SEX, AGE = (339_288, 585_840), (38_121, 208_528, 281_409, 397_070)
LONG_BY_AGE = (15_374, 43_093, 117_737, 240_523)
#: Share of stays of more than three days. Of ages the numbers are published, of the rest percentages to one decimal.
RATES: dict[str, dict[str, float]] = {
    "race": dict(zip(LEVELS["race"], (0.334, 0.410, 0.523, 0.453, 0.404), strict=True)),
    "sex": dict(zip(LEVELS["sex"], (0.518, 0.411), strict=True)),
    "ethnicity": dict(zip(LEVELS["ethnicity"], (0.397, 0.471), strict=True)),
    "age": {name: k / n for name, k, n in zip(LEVELS["age"], LONG_BY_AGE, AGE, strict=True)},
}
# Size of the hospital of a rank, between ranks by the logarithm. The largest 10, 50, 100 and 200 hold 13.5, 46.5, 70.5
# and 93.2% of stays, as published, the middle one 670 stays instead of 686.
RANKS, SIZES = (0.5, 10.5, 50.5, 100.5, 200.5, 441.5), (13_560, 11_480, 4_766, 4_130, 888, 32.5)


def shares() -> Floats:
    """Share of each cell of race × sex × ethnicity × age: sex and age go with each other and the rest at random."""
    joint = np.einsum("re,s,a->rsea", *(np.array(held, dtype=float) for held in (RACE_ETHNICITY, SEX, AGE)))
    return joint / joint.sum()


def site_shares(sites: int) -> Floats:
    """Share of stays of each hospital, the largest first; of another number of hospitals as unequal as the 441."""
    ranks = 0.5 + (np.arange(sites) + 0.5) * SITES / sites
    size = np.exp(np.interp(ranks, RANKS, np.log(SIZES)))
    return np.asarray(size / size.sum())


def cell_rates(given: Mapping[str, Mapping[str, float]]) -> Floats:
    """Share of long stays in each cell: a logit that adds up over attributes, so that each attribute has its rates.

    The rates of ages say how many stays are long; those of other attributes are scaled to the same total, which moves
    a published percentage by less than its rounding.
    """
    share, rates = shares(), checked_rates(given)
    size = {name: share.sum(axis=tuple(np.delete(range(4), axis))) for axis, name in enumerate(LEVELS)}
    total = float(size["age"] @ [rates["age"][level] for level in LEVELS["age"]])
    columns, wanted = [np.ones(share.size)], [total]
    codes = np.indices(share.shape).reshape(4, -1)
    for axis, (name, levels) in enumerate(LEVELS.items()):
        long = size[name] * [rates[name][level] for level in levels]
        long *= total / long.sum()
        if not np.all(long < size[name]):
            raise AuditInputError(f"rates of {name}: they cannot have the total of those of age, {total:.3f}.")
        columns += [(codes[axis] == code).astype(float) for code in range(1, len(levels))]
        wanted += long[1:].tolist()
    return _logistic(np.stack(columns, axis=1), share.ravel(), np.array(wanted)).reshape(share.shape)


def checked_rates(given: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """The published rates with those given in their place, checked.

    >>> checked_rates({"sex": {"Male": 0.5, "Female": 0.4}})["sex"]
    {'Male': 0.5, 'Female': 0.4}
    """
    if not isinstance(given, Mapping) or not set(given) <= set(LEVELS):
        raise AuditInputError(f"rates = {given!r}: name attributes among {', '.join(LEVELS)}.")
    rates = {}
    for name, levels in LEVELS.items():
        own = given.get(name, RATES[name])
        if not isinstance(own, Mapping) or set(own) != set(levels):
            raise AuditInputError(f"rates of {name}: give one number for each of {', '.join(levels)}.")
        for level in levels:
            need(f"rate of {level}", own[level], 0, 1)
        rates[name] = {level: float(own[level]) for level in levels}
    return rates


def _logistic(design: Floats, weight: Floats, wanted: Floats) -> Floats:
    """Rates expit(design · b) whose weighted sums over each column are as wanted: Newton's method.

    They are where wanted · b − Σ weight · ln(1 + exp(design · b)) is largest; a step that lowers it is halved.
    """

    def height(effects: Floats) -> float:
        return float(wanted @ effects - weight @ np.logaddexp(0, design @ effects))

    effects = np.zeros(design.shape[1])
    effects[0] = logit(wanted[0])
    for _ in range(STEPS):
        rate = expit(design @ effects)
        miss = wanted - design.T @ (weight * rate)
        try:
            step = np.linalg.solve((design.T * (weight * rate * (1 - rate))) @ design, miss)
        except np.linalg.LinAlgError:
            break
        while not height(effects + step) >= height(effects) - ROUNDING and np.abs(step).max() > ROUNDING:
            step /= 2
        effects += step
        if np.abs(miss).max() < 1e-14:
            break
    rate = np.asarray(expit(design @ effects))
    if not np.abs(wanted - design.T @ (weight * rate)).max() < FITTED or not ((rate > 0) & (rate < 1)).all():
        raise AuditInputError(
            "rates: no shares of long stays in the cells add up to these and those of the other attributes; "
            "take rates nearer to the published ones."
        )
    return rate
