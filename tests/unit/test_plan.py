"""The table of an audit that has not taken place."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import auditlib as al
from auditlib import planned_table
from auditlib.verdicts.plan import PATIENTS
from tests.unit.test_intervals import bad

RATES = {"prevalence": 0.5, "sensitivity": {"B": 0.65, "A": 0.7}, "false_positive_rate": 0.2}


def test_the_table_has_the_shares_and_rates_asked_for():
    table = planned_table({"A": 0.9, "B": 0.1}, **RATES | {"prevalence": {"A": 0.4, "B": 0.25}})
    people = sum(table[cell] for cell in ("tp", "fp", "fn", "tn"))
    assert (people / PATIENTS).values.tolist() == pytest.approx([0.9, 0.1])
    assert al.prevalence(table).values.tolist() == pytest.approx([0.4, 0.25], abs=1e-6)
    assert al.sensitivity(table).values.tolist() == pytest.approx([0.7, 0.65], abs=1e-6)  # by name, not by order
    assert al.false_positive_rate(table).values.tolist() == pytest.approx([0.2, 0.2], abs=1e-6)


def test_two_groups_settle_where_the_formula_of_two_normals_says():
    table = planned_table({"A": 0.9, "B": 0.1}, **RATES | {"sensitivity": {"A": 0.7, "B": 0.55}})
    v = 0.7 * 0.3 / 0.45 + 0.55 * 0.45 / 0.05
    assert float(al.settling_size(table, "group").sel(metric="EOpp")) == pytest.approx(
        v * (1.28155 / 0.05) ** 2, rel=0.01
    )
    assert float(al.settling_size(table, "group").sel(metric="TI")) == 600  # 30 of B with the outcome


def test_other_dims_keep_their_coordinates():
    part = xr.DataArray([0.1, 0.5], {"share": [0.1, 0.5]}, ["share"])
    shares = xr.concat([1 - part, part], "group").assign_coords(group=["A", "B"])
    table = planned_table(shares, **RATES)
    assert table["share"].values.tolist() == [0.1, 0.5]
    assert set(table.dims) == {"group", "share"}
    assert np.isfinite(al.settling_size(table, "group").sel(metric="EOpp")).all()


def test_bad_plans_are_refused():
    for shares in ({"A": 0.9, "B": 0.2}, {"A": 1.0, "B": 0.0}, {"A": np.nan, "B": 0.5}):
        with bad("add up to 1"):
            planned_table(shares, **RATES)
    for shares in ({"A": 1.0}, 0.5):
        with bad("at least two groups"):
            planned_table(shares, **RATES)
    with bad("shares must be numbers"):
        planned_table({"A": "many", "B": 0.5}, **RATES)
    with bad("but the groups are"):
        planned_table({"A": 0.5, "C": 0.5}, **RATES)
    with bad("prevalence must lie in"):
        planned_table({"A": 0.5, "B": 0.5}, **RATES | {"prevalence": 1.2})


def test_rates_and_shares_go_by_name_in_any_order():
    wanted = planned_table({"A": 0.9, "B": 0.1}, **RATES)
    rate = pd.Series({"B": 0.65, "A": 0.7})
    for shares in (pd.Series({"A": 0.9, "B": 0.1}), pd.Series({"A": 0.9, "B": 0.1}).rename_axis("sex")):
        for given in (rate, rate.to_dict(), xr.DataArray(rate.values, {"group": ["B", "A"]}, ["group"])):
            assert planned_table(shares, **RATES | {"sensitivity": given}).identical(wanted)
    numbered = planned_table(pd.Series([0.9, 0.1], [1, 2]), **RATES | {"sensitivity": pd.Series([0.65, 0.7], [2, 1])})
    assert numbered["tp"].values.tolist() == wanted["tp"].values.tolist()


def test_numbers_without_names_are_refused():
    shares = {"A": 0.9, "B": 0.1}
    for given in ([0.7, 0.65], (0.7, 0.65), np.array([0.7, 0.65])):
        with bad("give a number, a mapping or Series by group, or a DataArray over 'group'"):
            planned_table(shares, **RATES | {"sensitivity": given})
        with bad("shares: .* does not say which group"):
            planned_table(given, **RATES)
    with bad("no coordinate for 'group'"):
        planned_table(shares, **RATES | {"sensitivity": xr.DataArray([0.7, 0.65], dims="group")})
    with bad("but the groups are"):
        planned_table(shares, **RATES | {"sensitivity": pd.Series({"A": 0.7})})
    with bad("names a group twice"):
        planned_table(shares, **RATES | {"sensitivity": pd.Series([0.7, 0.6, 0.5], ["A", "B", "A"])})
