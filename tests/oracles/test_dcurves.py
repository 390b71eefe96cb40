"""Net benefit against MSKCC's dcurves."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import auditlib as al

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from dcurves import dca

THRESHOLDS = [k / 100 for k in range(1, 100)]


@pytest.mark.parametrize("seed", range(20))
def test_net_benefit_of_a_random_cohort(seed):
    """dca(frame, "y", ["p"], thresholds)["net_benefit"]; scores lie between thresholds, because it flags at > or ≥."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(50, 3000))
    p = rng.integers(0, 1000, n) / 1000 + 0.0005
    y = (rng.random(n) < p ** rng.uniform(0.5, 3)).astype(int)
    frame = pd.DataFrame({"y": y, "p": p})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = dca(frame, "y", ["p"], thresholds=THRESHOLDS).set_index(["model", "threshold"])["net_benefit"]
    table = al.count(frame, label="y", score="p", by=[], thresholds=THRESHOLDS).at(THRESHOLDS)
    curve = al.decision_curve(table)
    for ours, name in {"net_benefit": "p", "all": "all", "none": "none"}.items():
        assert abs(curve[ours].values - theirs[name].to_numpy()).max() <= 1e-12
    assert abs(al.net_benefit(table, table["threshold"]).values - theirs["p"].to_numpy()).max() <= 1e-12
