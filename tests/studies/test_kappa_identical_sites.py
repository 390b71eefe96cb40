"""κ of identical sites: the population is what it says, a short run agrees with the committed table."""

from __future__ import annotations

import numpy as np
import pytest

from auditlib.studies import study_table
from auditlib.verdicts import METRICS
from tests.studies import kappa_identical_sites as study


def test_populations_have_the_stated_metrics():
    texas, near, far = (study.truth(name) for name in study.POPULATIONS)
    assert texas.loc["DI", "age"] < 0.4
    times = np.array(list(study.NEAR_TIMES.values()))
    for name in ("SPD", "EOpp", "EOD"):
        np.testing.assert_allclose(near.loc[name], 0.10 * times, atol=0.001)
    assert (near.loc["DI"] > 0.8).tolist() == (times < 1).tolist()
    spreads = far.drop(index=["DI", "TI"])
    assert (spreads[["sex", "ethnicity"]] < 1e-9).all(axis=None)
    assert (spreads[["race", "age"]] > 0.12).all(axis=None)
    groups, cells, shares = study.population("like Texas")
    assert shares.sum() == pytest.approx(1)
    for column, (name, gap) in {3: ("age", 0.407), 0: ("race", 0.122)}.items():
        held = [shares[cells[:, column] == code] for code in range(len(groups[name]))]
        long = [shares[(cells[:, column] == code) & (cells[:, 4] == 1)] for code in range(len(groups[name]))]
        risk = [some.sum() / every.sum() for some, every in zip(long, held, strict=True)]
        assert max(risk) - min(risk) == pytest.approx(gap, abs=0.001)


def test_identical_sites_have_low_kappa_unless_verdicts_are_far_from_their_limits():
    found = study.study(audits=20, sizes=(500, 9_000)).set_index(["population", "size", "metric"])
    table = study_table("kappa_identical_sites").set_index(["population", "size", "metric"])
    both = found.join(table, rsuffix="_full")
    error = 5 * np.hypot(both["kappa_se"], both["kappa_se_full"]) + 0.01
    compared = both[(both["kappa_undefined"] < 0.5) & (both["kappa_undefined_full"] < 0.5)]
    assert len(compared) > 25
    assert ((compared["kappa"] - compared["kappa_full"]).abs() < error[compared.index]).all()


def test_the_committed_table():
    table = study_table("kappa_identical_sites")
    assert len(table) == 3 * 3 * len(METRICS)
    assert (table["audits"] == study.AUDITS).all()
    held = table.set_index(["population", "size", "metric"])["kappa"].sort_index()
    near = held["near limits"]
    for metric in ("DI", "SPD", "EOpp", "EOD"):
        assert near[500, metric] < 0.05
        assert near[500, metric] < near[2_000, metric] < 0.2 < near[9_000, metric] < 0.45
    assert near[9_000, "EOpp"] == pytest.approx(0.38, abs=0.005)
    far = held["far from limits", 9_000]
    assert (far.drop("TI") > 0.96).all()
    assert held.xs("TI", level="metric").isna().all()  # nearly always a pass: 0/0
    texas = held["like Texas"]
    assert texas[500, "PP"] > 0.5 > 0.2 > texas[2_000, "PP"] > 0.1 > texas[9_000, "PP"]  # all pass: κ falls with size
