"""Coverage of the intervals of ``site_agreement``: what its docstring says, and a short run like the whole."""

from __future__ import annotations

import numpy as np
import pytest

from auditlib.sites import agreement
from auditlib.studies import study_table
from tests.studies import agreement_coverage as study

KEYS = ["setting", "sites", "coefficient"]


@pytest.mark.parametrize("name", study.SETTINGS)
def test_the_truth_is_that_of_very_many_sites(name):
    chances = np.array(study.SETTINGS[name], dtype=float)
    passed = study.audits(chances, 200_000, 1, np.random.default_rng(1)).isel(audit=0).sum("site")
    found = agreement(passed.values, 200_000)
    for coefficient, exact in study.truth(chances).items():
        assert found[coefficient] == pytest.approx(exact, abs=0.005)


def test_a_short_run_agrees_with_the_committed_table():
    short = study.study(number=120, sizes=(10, 20), replicates=300).set_index(KEYS)
    both = short.join(study_table("agreement_coverage").set_index(KEYS), rsuffix="_full")
    assert len(both) == 2 * 2 * len(study.SETTINGS)
    error = 4 * np.hypot(both["coverage_se"], both["coverage_se_full"])
    assert ((both["coverage"] - both["coverage_full"]).abs() < error).all()


def test_the_committed_table_is_what_the_docstring_says():
    table = study_table("agreement_coverage")
    assert (table["audits"] == study.AUDITS).all()
    assert len(table) == len(study.SETTINGS) * len(study.SIZES) * 2
    held = table.set_index(KEYS)["coverage"].sort_index()
    plain, unanimous = ["middling", "far apart"], ["near unanimous", "all but one unanimous"]
    assert held.loc[plain, [20, 54]].between(0.93, 0.96).all()
    assert held.loc[plain, 10].between(0.81, 0.91).all()
    assert held.loc[unanimous, [20, 54]].between(0.81, 0.93).all()
    assert held.loc[unanimous, 10].between(0.60, 0.95).all()
    kappa = held.xs("kappa", level="coefficient")
    assert kappa["two kinds of sites"].between(0.70, 0.80).all()
    assert kappa["two opposite kinds"].between(0.35, 0.45).all()
    sides = table.set_index(KEYS)
    for name in ("near unanimous", "two kinds of sites", "two opposite kinds"):
        missed = sides.loc[name].xs("kappa", level="coefficient")
        assert (missed["too_low"] > 10 * missed["too_high"]).all()
    one = sides.loc["all but one unanimous"]
    assert (one["too_high"] > 4 * one["too_low"]).all()
