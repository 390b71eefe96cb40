"""κ against statsmodels, κ and AC1 against a count of pairs one by one."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa as oracle

from auditlib.sites import agreement, fleiss_kappa, gwet_ac1, raw_agreement


def by_pairs(ratings: np.ndarray) -> tuple[float, float, float]:
    """Raw, κ and AC1 without any formula of counts: ordered pairs of raters one by one, and shares of categories."""
    agree, passed = [], []
    for item in ratings:
        given = [value for value in item if not np.isnan(value)]
        if len(given) < 2:
            continue
        pairs = list(permutations(range(len(given)), 2))
        agree.append(sum(given[a] == given[b] for a, b in pairs) / len(pairs))
        passed.append(sum(given) / len(given))
    raw, share = float(np.mean(agree)), float(np.mean(passed))
    shares = (share, 1 - share)
    fleiss = sum(one**2 for one in shares)
    gwet = sum(one * (1 - one) for one in shares) / (len(shares) - 1)
    kappa = (raw - fleiss) / (1 - fleiss) if fleiss < 1 else float("nan")
    return raw, kappa, (raw - gwet) / (1 - gwet)


@pytest.mark.parametrize("seed", range(25))
def test_kappa_is_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    items, raters = rng.integers(2, 12), rng.integers(2, 60)
    ratings = (rng.random((items, raters)) < rng.random((items, 1))).astype(float)
    passes = ratings.sum(axis=1)
    expected = oracle(np.column_stack([passes, raters - passes]), method="fleiss")
    assert fleiss_kappa(ratings) == pytest.approx(expected, abs=1e-10, nan_ok=True)
    assert agreement(passes, int(raters))["kappa"] == pytest.approx(expected, abs=1e-10, nan_ok=True)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("undefined", [0.0, 0.3, 0.8])
def test_all_three_are_a_count_of_pairs(seed: int, undefined: float) -> None:
    rng = np.random.default_rng([seed, 1])
    ratings = (rng.random((7, 9)) < rng.random((7, 1))).astype(float)
    ratings[rng.random(ratings.shape) < undefined] = np.nan
    expected = by_pairs(ratings)
    assert raw_agreement(ratings) == pytest.approx(expected[0], abs=1e-10)
    assert fleiss_kappa(ratings) == pytest.approx(expected[1], abs=1e-10, nan_ok=True)
    assert gwet_ac1(ratings) == pytest.approx(expected[2], abs=1e-10)
    given = np.isfinite(ratings)
    found = agreement(np.nansum(ratings, axis=1), given.sum(axis=1))
    assert tuple(found.values()) == pytest.approx(expected, abs=1e-10, nan_ok=True)
