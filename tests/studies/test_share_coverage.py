"""The study of variance shares in a short form: fewer audits, fixed seeds, the same claims."""

from __future__ import annotations

import numpy as np
import pytest

from auditlib.multiverse.shares import variance_shares
from tests.studies import share_coverage
from tests.studies.share_coverage import CHOICES, PATTERNS, ROWS, plain_shares, true_gaps


def test_true_gaps_are_those_of_very_many_patients() -> None:
    effects = PATTERNS["all choices matter"]
    gaps = [share_coverage.audit(effects, 1_000, 2, np.random.default_rng([1, k]))[0] for k in range(50)]
    error = np.std(gaps, axis=0) / np.sqrt(len(gaps))
    assert (abs(np.mean(gaps, axis=0) - true_gaps(effects)) < 4 * error).all()
    assert len(set(true_gaps(PATTERNS["the threshold alone"]).round(12))) == 3


@pytest.mark.parametrize("quantity", ["share", "total"])
def test_plain_shares_are_those_of_the_package(quantity: str) -> None:
    gaps, replicates = share_coverage.audit(PATTERNS["hardly any"], 60, 3, np.random.default_rng(2))
    found = variance_shares(ROWS.assign(estimate=gaps), CHOICES, interactions=quantity == "total")["share"]
    np.testing.assert_allclose(plain_shares(gaps[:, None], quantity)[:, 0], found[list(CHOICES)], atol=1e-12)
    assert replicates.shape == (36, 3)


def test_the_net_share_is_covered_and_percentiles_of_plain_shares_do_not_cover_it() -> None:
    table = share_coverage.study(audits=100, n=200, positives=(60,), patterns=("all choices matter", "hardly any"))
    share = table[table["quantity"] != "shift"].set_index(["pattern", "quantity", "axis", "method"])
    ours = share.xs("net", level="method")
    assert (ours["coverage"] + 3 * ours["coverage_se"] > 0.95).all()
    nothing = share.xs("hardly any").xs("seed", level="axis").xs("percentile", level="method")
    assert (nothing["truth"] == 0).all()
    assert (nothing["coverage"] == 0).all()
    assert (nothing["coverage_expected"] > 0.9).all()  # they are intervals of something else
    assert (share.xs("basic", level="method")["coverage"] < 0.9).mean() > 0.5
    shift = table[table["quantity"] == "shift"]
    assert (shift["coverage"] + 3 * shift["coverage_se"] > 0.93).all()
    assert shift["mean"].to_numpy() == pytest.approx(shift["truth"].to_numpy(), abs=0.01)
