"""The committed tables of audit sizes: what they say, and a short run like them."""

from __future__ import annotations

import numpy as np
import pytest

from auditlib.studies import study_table
from tests.studies import audit_sweeps, settling, settling_plans


def test_planned_sizes_of_two_groups_are_those_of_a_short_run() -> None:
    table = study_table("settling_plans").set_index(["cohort", "attribute", "metric"])
    assert len(table) == 29
    for line in settling_plans.long_stays(60, ("sex",)):
        held = table.loc[(line["cohort"], line["attribute"], line["metric"])]
        assert line["estimate"] == pytest.approx(held["estimate"], rel=1e-3)
        assert line["settled"] == pytest.approx(held["settled"], rel=1e-3)
        assert line["q50"] == pytest.approx(held["q50"], rel=0.1)
        assert line["p_pass"] == pytest.approx(held["p_pass"], abs=0.1)


def test_plans_near_a_limit_are_no_plans() -> None:
    table = study_table("settling_plans").set_index(["cohort", "attribute", "metric"])
    assert (table["audits"] >= 490).all()
    near, texas = table.loc[("long stays", "race", "EOpp")], table.loc[("hospitals", "race", "EOpp")]
    assert near["q97.5"] > 100 * near["q2.5"]
    assert near["p_pass"] == pytest.approx(0.25, abs=0.06)
    assert texas["settled"] == pytest.approx(364_000, rel=0.01)
    assert texas["p_pass"] == pytest.approx(0.62, abs=0.06)  # of planning audits; in truth it passes
    assert texas["within_2"] < 0.30


def test_sweeps_hit_the_true_need_in_half_to_three_quarters() -> None:
    table = study_table("audit_sweeps")
    shares = table.groupby(["attribute", "metric"])["share"].sum()
    assert shares.to_numpy() == pytest.approx(np.ones(4))
    hits = table[table["cv"] < audit_sweeps.LIMIT].groupby(["attribute", "metric"]).first()
    assert hits["share"].between(0.5, 0.8).all()


def test_the_closed_form_is_within_five_percent_of_the_bisections() -> None:
    table = study_table("settling")
    assert [tuple(cell) for cell in table[["model", "attribute", "metric"]].to_numpy()] == list(settling.CELLS)
    assert table["ratio"].between(0.95, 1.05).all()
