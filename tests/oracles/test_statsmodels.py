"""auditlib's intervals against statsmodels'."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

import auditlib as al

#: Events and trials of two groups, the edges 0 and n among them.
PAIRS = [(56, 70, 48, 80), (9, 10, 3, 10), (0, 10, 0, 20), (10, 10, 0, 20), (5, 56, 0, 29), (1, 12, 11, 12)]


def table(x1: int, n1: int, x2: int, n2: int):
    return al.confusion(tp=[x1, x2], fn=[n1 - x1, n2 - x2], fp=[3, 4], tn=[5, 6], group=["a", "b"])


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_rate_interval_is_wilsons(pair, level):
    found = al.rate_interval(table(*pair), level=level)
    for group, (events, trials) in zip("ab", (pair[:2], pair[2:]), strict=True):
        expected = proportion_confint(events, trials, alpha=1 - level, method="wilson")
        limits = [float(found[name].sel(group=group)) for name in ("low", "high")]
        np.testing.assert_allclose(limits, expected, atol=1e-12)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_gap_interval_is_newcombes(pair, level):
    x1, n1, x2, n2 = pair
    expected = confint_proportions_2indep(x1, n1, x2, n2, method="newcomb", compare="diff", alpha=1 - level)
    found = al.gap_interval(table(*pair), "a", "b", level=level)
    np.testing.assert_allclose([float(found["low"]), float(found["high"])], expected, atol=1e-12)


def test_gap_interval_of_other_rates() -> None:
    held = al.confusion(tp=[20, 30], fp=[5, 9], fn=[7, 4], tn=[50, 40], group=["a", "b"])
    trials = {al.ppv: (20, 25, 30, 39), al.specificity: (50, 55, 40, 49), al.selection_rate: (25, 82, 39, 83)}
    for metric, (x1, n1, x2, n2) in trials.items():
        expected = confint_proportions_2indep(x1, n1, x2, n2, method="newcomb", compare="diff")
        found = al.gap_interval(held, "a", "b", metric=metric)
        np.testing.assert_allclose([float(found["low"]), float(found["high"])], expected, atol=1e-12)


def test_spread_interval_of_two_groups_holds_newcombes() -> None:
    """With two groups q(.95; 2, inf)/sqrt(2) is 1.96, so the spread's limits are those of the gap's size."""
    expected = confint_proportions_2indep(70, 80, 40, 80, method="newcomb", compare="diff")
    found = al.spread_interval(table(70, 80, 40, 80), "group")
    np.testing.assert_allclose([float(found["low"]), float(found["high"])], expected, atol=1e-6)
