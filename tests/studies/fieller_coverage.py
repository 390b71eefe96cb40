"""Do Fieller's 95% sets of the ratio NB_b/NB_a and of the tipping λ contain the truth in 95 of 100 audits?

Such a set is hard to get right where its denominator is close to 0. In group a, or in the difference of the two
groups, the true denominator is 1, 2 and 4 of its standard errors from 0. Each audit is a confusion table of two
groups, drawn from a multinomial law at a threshold of .15, and is analysed by

- ``fieller``: ``lambda_ratio_bound`` or ``tipping_lambda``, whose set may be unbounded;
- ``delta``: the estimate ± 1.96 standard errors of a ratio (delta method), which never is.

Group b has 10,000 people; group a has ``people_a``, of whom ``events_a`` are expected to have the outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
import xarray as xr

import auditlib as al
from auditlib.benefit.core import ALL, odds
from auditlib.benefit.uncertainty import covariance, mean_of
from tests.studies.tools import binomial_se

AUDITS, SEED = 4_000, 30_416
THRESHOLD, LEVEL_Z = 0.15, 1.959963984540054
PEOPLE_A, PEOPLE_B = (500, 2_000, 8_000), 10_000
DISTANCES = (1.0, 2.0, 4.0)  # of the true denominator from 0, in standard errors
TIPPING = 0.8  # the true λ* of the second quantity
NAMES = ("ratio", "tipping")


@dataclass(frozen=True)
class Side:
    """A group's true prevalence, sensitivity and false positive rate."""

    prevalence: float
    sensitivity: float
    alarms: float

    @property
    def cells(self) -> np.ndarray:
        ill, well = self.prevalence, 1 - self.prevalence
        caught, alarmed = self.sensitivity * ill, self.alarms * well
        return np.array([caught, alarmed, ill - caught, well - alarmed])

    @property
    def values(self) -> np.ndarray:
        """What a patient of each cell adds to net benefit."""
        return np.array([1.0, -float(odds(THRESHOLD, {})), 0.0, 0.0])

    @property
    def benefit(self) -> float:
        return float(self.cells @ self.values)

    def variance(self, people: int) -> float:
        return float(self.cells @ (self.values - self.benefit) ** 2 / people)

    def with_benefit(self, benefit: float, prevalence: float) -> Side:
        """The group of this sensitivity and prevalence whose false positive rate gives that net benefit."""
        w = float(odds(THRESHOLD, {}))
        alarms = (self.sensitivity * prevalence - benefit) / (w * (1 - prevalence))
        if not 0 <= alarms <= 1:
            raise ValueError(f"no false positive rate gives a net benefit of {benefit:.4f}")
        return Side(prevalence, self.sensitivity, alarms)


WHOLE = Side(prevalence=0.13, sensitivity=0.70, alarms=0.25)


def sides(quantity: str, distance: float, people: int) -> tuple[Side, Side, float]:
    """Groups a and b whose denominator is so many standard errors from 0, and the true ratio."""
    one, size = WHOLE, 0.0
    for _ in range(200):  # the standard error moves a little with the group
        spread = one.variance(people) + (0 if quantity == "ratio" else WHOLE.variance(PEOPLE_B))
        size = distance * np.sqrt(spread)
        if quantity == "ratio":
            one = WHOLE.with_benefit(size, WHOLE.prevalence)
        else:
            one = WHOLE.with_benefit(WHOLE.benefit + size, WHOLE.prevalence + TIPPING * size)
    return one, WHOLE, WHOLE.benefit / size if quantity == "ratio" else TIPPING


def tables(one: Side, two: Side, people: int, audits: int, rng: np.random.Generator) -> xr.Dataset:
    """Confusion tables of the audits: (audit, group)."""
    drawn = np.stack([rng.multinomial(n, side.cells, audits) for side, n in ((one, people), (two, PEOPLE_B))], axis=1)
    levels = {"audit": np.arange(audits), "group": ["a", "b"]}
    return al.confusion(**{cell: drawn[..., k] for k, cell in enumerate(ALL)}, **levels)


def delta(table: xr.Dataset, quantity: str) -> xr.Dataset:
    """The estimated ratio ± z of its first-order standard errors."""
    events, benefit = {"tp": 1.0, "fn": 1.0}, {"tp": 1.0, "fp": -odds(THRESHOLD, table)}
    level = {name: {"group": name} for name in "ab"}
    if quantity == "ratio":
        mean, variance = mean_of(table, benefit), covariance(table, benefit, benefit)
        top, bottom = mean.sel(level["b"], drop=True), mean.sel(level["a"], drop=True)
        v_top, v_bottom, shared = variance.sel(level["b"], drop=True), variance.sel(level["a"], drop=True), 0.0
    else:
        top, bottom = (al.gap(mean_of(table, weights), "a", "b") for weights in (events, benefit))
        pairs = ((events, events), (benefit, benefit), (events, benefit))
        v_top, v_bottom, shared = (covariance(table, *pair).sum("group") for pair in pairs)
    ratio = top / bottom.where(bottom != 0)
    half = LEVEL_Z * np.sqrt((v_top - 2 * ratio * shared + ratio**2 * v_bottom) / bottom**2)
    form = xr.full_like(ratio, "bounded", dtype="U9")
    return xr.Dataset({"low": ratio - half, "high": ratio + half, "form": form})


def facts(found: xr.Dataset, truth: float) -> dict[str, float]:
    """Share of sets that contain the truth, its Monte-Carlo SE, shares of each unbounded form, median width."""
    low, high, form = (found[name].values for name in ("low", "high", "form"))
    inside = np.where(form == "outside", (truth <= low) | (truth >= high), (truth >= low) & (truth <= high))
    share, bounded = float(inside.mean()), form == "bounded"
    return {
        "audits": len(form),
        "coverage": share,
        "coverage_se": binomial_se(share, len(form)),
        "outside": float((form == "outside").mean()),
        "all": float((form == "all").mean()),
        "undefined": float((form == "undefined").mean()),
        "median_width": float(np.nanmedian((high - low)[bounded])) if bounded.any() else float("nan"),
    }


def sets(quantity: str, table: xr.Dataset) -> dict[str, xr.Dataset]:
    """The sets of each method on the same audits."""
    of_package = al.lambda_ratio_bound if quantity == "ratio" else al.tipping_lambda
    return {"fieller": of_package(table, THRESHOLD, "a", "b"), "delta": delta(table, quantity)}


def study(audits: int = AUDITS, people: tuple[int, ...] = PEOPLE_A) -> pd.DataFrame:
    """One line a setting and method."""
    lines = []
    for number, (quantity, size, distance) in enumerate(product(NAMES, people, DISTANCES)):
        one, two, truth = sides(quantity, distance, size)
        table = tables(one, two, size, audits, np.random.default_rng([SEED, number]))
        setting = {
            "quantity": quantity,
            "people_a": size,
            "events_a": round(size * one.prevalence),
            "distance": distance,
            "truth": truth,
        }
        for method, found in sets(quantity, table).items():
            lines.append({**setting, "method": method, **facts(found, truth)})
    return pd.DataFrame(lines)


def run() -> pd.DataFrame:
    """The study in full."""
    return study()
