"""The short form of how often each headline applies: where nothing differs, nearly always none but chance."""

from __future__ import annotations

import pytest

from auditlib.studies import study_table
from tests.studies.headline_rates import RULES, study


def shares(table, setting):
    return table[table["setting"] == setting].set_index("rule")["share"]


@pytest.mark.parametrize("setting", ["alike", "unequal", "prevalence"])
def test_nothing_there(setting):
    """Headlines other than chance in at most 5% of audits, but for three Monte-Carlo standard errors."""
    found = shares(study(60, 200, settings=(setting,)), setting)
    assert 1 - found["chance"] <= 0.05 + 3 * (0.05 * 0.95 / 60) ** 0.5


def test_a_gap_everywhere_is_found():
    found = shares(study(30, 200, settings=("gap",)), "gap")
    assert found["chance"] < 0.35
    assert found["both signs"] == found["threshold turns"] == 0


def test_the_full_study():
    """The committed table: 1,000 audits a setting, every audit with one of the rules."""
    table = study_table("headline_rates")
    assert set(table["rule"]) == set(RULES)
    assert (table.groupby("setting")["share"].sum().round(6) == 1).all()
    assert (table["audits"] == 1000).all()
    for setting in ("alike", "few", "unequal"):
        assert shares(table, setting)["chance"] > 0.94
        assert shares(table, setting)[["both signs", "PPV turns", "threshold turns"]].max() < 0.01
    # A PPV gap that is prevalence alone lies, at one prevalence, on the wrong side by chance in 2.5% of audits.
    assert 0.90 < shares(table, "prevalence")["chance"] < 0.95
    assert shares(table, "prevalence")["PPV turns"] < 0.04
    assert shares(table, "crossing")[["both signs", "threshold turns", "threshold loses"]].sum() > 0.9
    assert shares(table, "crossing far")["threshold turns"] == 0
    assert shares(table, "gap")[["survives", "some survive"]].sum() > 0.9
