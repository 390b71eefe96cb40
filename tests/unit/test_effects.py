"""The split of a gap, and what hangs on λ: against orders by hand, closed forms and brute force."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import auditlib as al
from auditlib.benefit import fieller, words
from tests.unit.test_benefit import CELLS, TABLE, bad
from tests.unit.test_intervals import clustered

PARTS = ("prevalence", "effect", "burden", "performance")


def random_tables(n, seed=0):
    """Tables of two groups whose cells are all at least 1."""
    rng = np.random.default_rng(seed)
    cells = 1 + rng.integers(0, 2_000, (4, n, 2))
    coords = {"audit": np.arange(n), "group": ["A", "B"]}
    return xr.Dataset({c: (("audit", "group"), cells[k]) for k, c in enumerate(CELLS)}, coords=coords)


def random_values(n, seed=1):
    rng = np.random.default_rng(seed)
    lam, burden = (rng.uniform(0.01, 1, (n, 2)) for _ in range(2))
    return rng.uniform(0, 0.9, n), lam, burden


def facts(table, k, lam, burden):
    one = table.isel(audit=k)
    pi, se, f = (x(one).values for x in (al.prevalence, al.sensitivity, al.false_positive_rate))
    columns = {"pi": pi, "lam": lam[k], "r": burden[k], "se": se, "f": f}
    return [{key: float(values[side]) for key, values in columns.items()} for side in (0, 1)]


def snb(w, pi, lam, r, se, f):
    return 1 - r * (pi - lam * (se * pi - w * f * (1 - pi)))


def by_orders(w, a, b):
    """Mean over the 24 orders of the change at each factor's turn."""
    keys = {"prevalence": ("pi",), "effect": ("lam",), "burden": ("r",), "performance": ("se", "f")}
    parts = dict.fromkeys(keys, 0.0)
    for order in permutations(keys):
        state = dict(b)
        for factor in order:
            before = snb(w, **state)
            state |= {key: a[key] for key in keys[factor]}
            parts[factor] += (snb(w, **state) - before) / 24
    return parts


def by_closed_form(w, a, b):
    """Das Gupta's three-factor form, for one burden of 1."""

    def s(x, y):
        return (2 * a[x] * a[y] + a[x] * b[y] + b[x] * a[y] + 2 * b[x] * b[y]) / 6

    for side in (a, b):
        side["rho"] = 1 - side["pi"]
    d = {key: a[key] - b[key] for key in a}
    return {
        "prevalence": d["pi"] * (-1 + s("lam", "se") + w * s("lam", "f")),
        "effect": d["lam"] * (s("pi", "se") - w * s("rho", "f")),
        "burden": 0.0,
        "performance": d["se"] * s("pi", "lam") - w * d["f"] * s("rho", "lam"),
    }


def split(table, t, lam, burden, a="A", b="B"):
    lam, burden = (xr.DataArray(v, table["tp"].coords, table["tp"].dims) for v in (lam, burden))
    return al.decompose_gap(table, xr.DataArray(t, {"audit": table["audit"]}, ["audit"]), lam, a, b, burden)


def test_split_of_a_thousand_random_gaps():
    n = 1000
    table = random_tables(n)
    t, lam, burden = random_values(n)
    found, swapped = split(table, t, lam, burden), split(table, t, lam, burden, "B", "A")
    np.testing.assert_allclose(sum(found[part] for part in PARTS), found["total"], rtol=0, atol=1e-12)
    for part in (*PARTS, "total"):
        np.testing.assert_allclose(swapped[part], -found[part], rtol=0, atol=1e-13)
    for k in range(n):
        for part, value in by_orders(t[k] / (1 - t[k]), *facts(table, k, lam, burden)).items():
            assert float(found[part][k]) == pytest.approx(value, abs=1e-12)


def test_split_with_one_burden_is_the_closed_form():
    table = random_tables(200, seed=5)
    t, lam, burden = random_values(200, seed=6)
    burden[:] = 1.0
    found = split(table, t, lam, burden)
    for k in range(200):
        for part, value in by_closed_form(t[k] / (1 - t[k]), *facts(table, k, lam, burden)).items():
            assert float(found[part][k]) == pytest.approx(value, abs=1e-12)


def test_equal_sensitivity_and_fpr_give_a_model_part_of_nothing():
    rng = np.random.default_rng(3)
    for _ in range(60):
        a, b, c, d = (int(v) for v in rng.integers(1, 60, 4))
        se, f = (a, b), (c, d)  # odds of being flagged, the same in both groups
        p, n, q, m = (int(v) for v in rng.integers(1, 50, 4))
        table = al.confusion(
            tp=[se[0] * p, se[0] * q],
            fn=[se[1] * p, se[1] * q],
            fp=[f[0] * n, f[0] * m],
            tn=[f[1] * n, f[1] * m],
            group=["A", "B"],
        )
        found = al.decompose_gap(table, 0.2, {"A": 0.3, "B": 0.7}, "A", "B", {"A": 0.9, "B": 0.4})
        assert float(found["performance"]) == pytest.approx(0, abs=1e-16)
        none = al.decompose_gap(table, 0.2, 0.5, "A", "B")
        assert float(none["effect"]) == 0
        assert float(none["burden"]) == 0
        assert float(none["prevalence"]) == pytest.approx(float(none["total"]), abs=1e-14)


def test_split_of_the_published_kind_of_example():
    """Se .6 and FPR .10 in both groups, π .06 v .03, t .15, λ .58: −193 and 0, where an RU split says −269 and 77."""
    table = al.confusion(tp=[360, 180], fp=[940, 970], fn=[240, 120], tn=[8460, 8730], group=["A", "B"])
    found = 10_000 * al.decompose_gap(table, 0.15, 0.58, "A", "B")
    assert float(found["prevalence"]) == pytest.approx(-192.53, abs=0.005)
    assert float(found["performance"]) == pytest.approx(0, abs=1e-9)
    ru, pi = al.standardized_net_benefit(table, 0.15), al.prevalence(table)
    gap_pi, gap_ru = (float(al.gap(x, "A", "B")) for x in (pi, ru))
    tempting = -gap_pi * (1 - 0.58 * float(ru.mean())), 0.58 * gap_ru * float(pi.mean())
    assert 10_000 * tempting[0] == pytest.approx(-269, abs=0.6)
    assert 10_000 * tempting[1] == pytest.approx(77, abs=0.6)
    assert sum(tempting) == pytest.approx(float(found["total"]) / 10_000, abs=1e-12)


def test_split_of_replicates_and_of_a_group_without_events():
    counts = al.count(clustered(), label="y", score="p", by="sex", thresholds=[0.5])
    single = al.decompose_gap(counts.at(0.5), 0.3, 0.5, "F", "M")
    again = counts.resample(50, strata="sex", seed=1).at(0.5)
    found = al.decompose_gap(again, 0.3, 0.5, "F", "M")
    np.testing.assert_allclose(sum(found[part] for part in PARTS), found["total"], atol=1e-12)
    none = al.decompose_gap(al.parse_confusion("A:0,5,45,0; B:20,10,60,10"), 0.2, 0.5, "A", "B")
    assert np.isnan(none["performance"])
    assert np.isnan(none["prevalence"])
    assert float(none["total"]) == pytest.approx((1 - 0.5 * 0.025) - (0.7 + 0.5 * (0.2 - 0.025)))
    assert "cannot be split" in none.attrs["undefined"]
    assert "undefined" not in found.attrs
    models = al.count(
        clustered().assign(q=lambda t: 1 - t["p"]), label="y", score=["p", "q"], by="sex", thresholds=[0.5]
    ).at(0.5)
    grid = xr.DataArray([0.2, 0.5], {"lam": [0.2, 0.5]}, ["lam"])
    both = al.decompose_gap(models, 0.3, grid, "F", "M")
    np.testing.assert_allclose(both["performance"].sel(model="p", lam=0.5), single["performance"], atol=1e-15)
    with bad("rename a grid"):
        al.decompose_gap(models, 0.3, 0.5, "F", "M", grid.rename(lam="burden"))
    with bad("one threshold for both"):
        al.decompose_gap(
            al.parse_confusion(TABLE), xr.DataArray([0.1, 0.2, 0.3], {"group": list("ABC")}, ["group"]), 0.5, "A", "B"
        )


# -- where a gap changes sign --------------------------------------------------------------------------------------


def test_tipping_lambda_is_where_the_gap_is_zero():
    table = al.parse_confusion(TABLE)
    for burden in (1.0, {"A": 0.9, "B": 0.6, "C": 0.5}):
        found = al.tipping_lambda(table, 0.15, "A", "B", burden)
        value = float(found["estimate"])
        levels = al.subgroup_net_benefit(table, 0.15, value, burden) if 0 < value <= 1 else None
        if levels is not None:
            assert float(al.gap(levels, "A", "B")) == pytest.approx(0, abs=1e-14)
    assert 0 < float(al.tipping_lambda(table, 0.15, "A", "B")["estimate"]) < 1


def test_no_lambda_reverses_a_gap():
    table = al.parse_confusion("A:300,400,8900,400; B:310,100,9300,90")  # B has fewer events and more benefit
    found = al.tipping_lambda(table, 0.15, "A", "B")
    assert np.isnan(found["estimate"])


def test_fieller_limits_are_where_the_gap_is_just_settled():
    """At the ends of λ*'s interval the gap's own interval ends at 0."""
    table = al.parse_confusion(TABLE)
    found = al.tipping_lambda(table, 0.15, "A", "B")
    assert found["form"].item() == "bounded"
    ends = [float(found[name]) for name in ("low", "high")]
    assert 0 < ends[0] < float(found["estimate"]) < ends[1]
    for lam in [ends[0], min(ends[1], 1)]:
        gap = al.benefit_interval(table, 0.15, lam, a="A", b="B")
        nearest = min(abs(float(gap[name])) for name in ("low", "high"))
        if lam in ends:
            assert nearest == pytest.approx(0, abs=1e-12)


def test_fieller_limits_of_patients_are_those_of_their_gap():
    """With clusters too, where both use Student's t: few patients, so that it matters."""
    frame = clustered(120, seed=4).assign(sex=lambda t: np.where(t["patient"] % 2 == 0, "F", "M"))
    frame["y"] = np.where(
        frame["sex"] == "F", frame["y"] | (frame["patient"] % 4 == 0), frame["y"] & (frame["p"] > 0.5)
    )
    frame["p"] = np.where((frame["sex"] == "F") & (frame["y"] == 1), 0.9, frame["p"])
    table = al.count(frame, label="y", score="p", by="sex", thresholds=[0.5], cluster="patient").at(0.5)
    found = al.tipping_lambda(table, 0.3, "F", "M")
    inside = [lam for lam in np.linspace(0.001, 1, 400) if lam_open(table, lam)]
    low, high, form = float(found.low), float(found.high), found.form.item()
    assert form == "bounded"
    assert 0 < len(inside) < 400
    kept = {
        "bounded": lambda x: low <= x <= high,
        "outside": lambda x: x <= low or x >= high,
        "all": lambda x: True,
    }[form]
    assert [lam for lam in np.linspace(0.001, 1, 400) if kept(lam)] == inside


def lam_open(table, lam):
    gap = al.benefit_interval(table, 0.3, lam, a="F", b="M")
    return float(gap.low) <= 0 <= float(gap.high)


def brute(top, bottom, v_top, v_bottom, cov, grid):
    z = 1.959963984540054
    return (top - grid * bottom) ** 2 <= z**2 * (v_top + grid**2 * v_bottom - 2 * grid * cov)


@pytest.mark.parametrize("seed", range(40))
def test_fieller_set_is_what_a_scan_keeps(seed):
    rng = np.random.default_rng(seed)
    top, bottom = rng.normal(0, 2, 2)
    sd = rng.uniform(0.2, 1.5, 2)
    cov = rng.uniform(-0.9, 0.9) * sd.prod()
    values = (top, bottom, *(sd**2), cov)
    found = fieller(*(xr.DataArray(v) for v in values))
    grid = np.linspace(-50, 50, 20_001)
    kept = brute(*values, grid)
    low, high, form = float(found.low), float(found.high), found.form.item()
    inside = {
        "bounded": (grid >= low) & (grid <= high),
        "outside": (grid <= low) | (grid >= high),
        "all": np.ones(len(grid), bool),
    }[form]
    assert (kept == inside).mean() > 0.9998
    assert float(found.estimate) == pytest.approx(top / bottom)


def test_words_and_fieller_take_what_they_can_mean():
    several = fieller(xr.DataArray([1.0, 2.0], dims="g"), 4.0, 0.1, 0.1)
    with bad("one set"):
        words(several)
    assert words(several.isel(g=1)) == "0.34 to 0.69"
    with bad("variances"):
        fieller(1.0, 2.0, -0.1, 0.1)
    assert words(fieller(-0.001, 4.0, 1e-8, 1e-8)) == "0.00 to 0.00"  # no −0.00


def test_levels_that_are_numbers():
    table = xr.Dataset(
        {c: ("dose", np.array(v)) for c, v in zip(CELLS, ([30, 10], [40, 10], [40, 50], [890, 930]), strict=True)},
        {"dose": [1, 2]},
    )
    named = table.assign_coords(dose=["1", "2"])
    for call in (
        lambda t, a, b: al.benefit_interval(t, 0.15, 0.5, a=a, b=b),
        lambda t, a, b: al.tipping_lambda(t, 0.15, a, b),
        lambda t, a, b: al.lambda_ratio_bound(t, 0.15, a, b),
        lambda t, a, b: al.decompose_gap(t, 0.15, 0.5, a, b),
        lambda t, a, b: al.gap_interval(t, a, b),
    ):
        assert call(table, 1, 2).equals(call(named, "1", "2"))
        assert call(table, "1", "2").equals(call(named, 1, 2))


def test_fieller_forms_and_words():
    cases = {
        (2.0, 4.0, 0.1, 0.1): ("bounded", "0.34 to 0.69"),
        (4.0, 0.3, 0.1, 0.1): ("outside", "below −"),
        (0.1, 0.1, 0.1, 0.1): ("all", "any value"),
        (0.0, 0.0, 0.0, 0.0): ("undefined", "undefined"),
    }
    for values, (form, text) in cases.items():
        found = fieller(*(xr.DataArray(v) for v in values))
        assert found.form.item() == form
        assert words(found).startswith(text)


def test_ratio_bound_is_the_ratio_of_benefits_and_turns_the_change():
    table = al.parse_confusion(TABLE)
    found = al.lambda_ratio_bound(table, 0.15, "A", "B")
    ratio = float(found["estimate"])
    nb = al.net_benefit(table, 0.15)
    assert ratio == pytest.approx(float(nb.sel(group="B") / nb.sel(group="A")))
    none = al.subgroup_net_benefit(al.treat(table, "none"), 0.15, 0.5)
    for factor, sign in ((0.9, -1), (1.0, 0), (1.1, 1)):
        lam = {"A": factor * ratio * 0.6, "B": 0.6, "C": 0.5}
        change = al.gap(al.subgroup_net_benefit(table, 0.15, lam) - none, "A", "B")
        assert np.sign(np.round(float(change), 14)) == sign
    assert np.isnan(al.lambda_ratio_bound(table, 0.15, "A", "C")["estimate"])  # C's net benefit is negative
    assert al.lambda_ratio_bound(table, 0.15, "A", "C")["form"].item() == "bounded"


def test_nobody_flagged_in_one_or_both():
    table = al.parse_confusion("A:0,0,40,10; B:20,10,60,10; C:0,0,30,20")
    with np.errstate(all="raise"):
        one, both = (al.lambda_ratio_bound(table, 0.15, "A", other) for other in "BC")
    assert one["form"].item() == "none"  # −λ·NB_B for every ratio
    assert words(one) == "no value"
    assert np.isnan(one["low"])
    assert both["form"].item() == "undefined"
    assert words(both) == "undefined"


def test_nobody_flagged_leaves_no_lambda_at_which_a_settled_gap_turns():
    table = al.parse_confusion("A:0,0,9300,700; B:0,0,9600,400")
    found = al.tipping_lambda(table, 0.15, "A", "B")
    assert found["form"].item() == "none"
    assert all(float(al.benefit_interval(table, 0.15, lam, a="A", b="B").high) < 0 for lam in (0.01, 0.5, 1))
    close = al.parse_confusion("A:0,0,930,70; B:0,0,932,68")
    assert al.tipping_lambda(close, 0.15, "A", "B")["form"].item() == "all"


def test_ratio_bound_of_patients_is_wider():
    frame = clustered()
    options = {"label": "y", "score": "p", "by": "sex", "thresholds": [0.5]}
    rows = al.lambda_ratio_bound(al.count(frame, **options).at(0.5), 0.3, "F", "M")
    held = al.lambda_ratio_bound(al.count(frame, cluster="patient", **options).at(0.5), 0.3, "F", "M")
    assert float(held.high - held.low) > 1.2 * float(rows.high - rows.low)


def test_pooled_lambda():
    table = al.parse_confusion(TABLE)
    lam = {"A": 0.2, "B": 0.6, "C": 0.9}
    pooled = float(al.pooled_lambda(table, 0.15, lam, "group"))
    people = sum(table[cell] for cell in CELLS)
    mean = (al.subgroup_net_benefit(table, 0.15, lam) * people).sum() / people.sum()
    whole = table.sum("group")
    expected = 1 - float(al.prevalence(whole)) + pooled * float(al.net_benefit(whole, 0.15))
    assert expected == pytest.approx(float(mean), abs=1e-14)
    signs = al.parse_confusion("A:50,0,50,0; B:0,40,60,0")  # NB .5 and −.4 at t = .5
    assert float(al.pooled_lambda(signs, 0.5, {"A": 0.9, "B": 0.1}, "group")) == pytest.approx(4.1)
    exact = al.parse_confusion("A:20,9,70,1; B:1,180,10,9")  # 19 − 19 at t = .1, where w = 1/9 is no float
    assert np.isnan(al.pooled_lambda(exact, 0.1, {"A": 0.6, "B": 0.2}, "group"))
    even = al.parse_confusion("A:40,0,60,0; B:0,40,60,0")
    assert np.isnan(al.pooled_lambda(even, 0.5, {"A": 0.9, "B": 0.1}, "group"))
    with bad("no value for 'B'"):
        al.pooled_lambda(even, 0.5, {"A": 0.9}, "group")


def array(levels):
    return xr.DataArray([0.2 + 0.1 * k for k in range(len(levels))], {"g": list(levels)}, ["g"])


def test_threshold_for_keeps_the_harm():
    assert al.threshold_for(0.15, 0.2, 0.58) == pytest.approx(0.3385, abs=5e-5)
    assert al.threshold_for(0.15, 0.58, 0.58) == pytest.approx(0.15, abs=1e-15)
    w = 0.15 / 0.85
    for lam, r in ((0.2, 0.5), (0.9, 1.0)):
        t = al.threshold_for(0.15, lam, 0.58, r, 0.8)
        assert t / (1 - t) * lam * r == pytest.approx(w * 0.58 * 0.8)
    by_group = al.threshold_for(0.15, {"A": 0.2, "B": 0.58}, 0.58)
    assert by_group == pytest.approx({"A": 0.33852140, "B": 0.15})
    grid = xr.DataArray([0.2, 0.58], {"lam": [0.2, 0.58]}, ["lam"])
    np.testing.assert_allclose(al.threshold_for(0.15, grid, 0.58), [0.33852140, 0.15])
    group = xr.DataArray([0.2, 0.58], {"race": ["x", "y"]}, ["race"])
    np.testing.assert_allclose(al.threshold_for(0.15, group, 0.58), [0.33852140, 0.15])
    turned = al.threshold_for(0.15, array("AB"), 0.58, array("BA"))
    assert turned.values.tolist() == pytest.approx(
        [al.threshold_for(0.15, *v) for v in ((0.2, 0.58, 0.3), (0.3, 0.58, 0.2))]
    )
    series = al.threshold_for(0.15, pd.Series([0.2, 0.58], index=[1, 2]), 0.58, {"1": 1.0, "2": 1.0})
    assert series == pytest.approx({1: 0.33852140, 2: 0.15})
    for options, said in (
        ({"lam": 0, "reference": 0.5}, "lam"),
        ({"lam": 0.5, "reference": 1.5}, "lam|reference"),
        ({"lam": 0.5, "reference": 0.5, "burden": 2}, "burden"),
        ({"lam": {"A": 0.5}, "reference": 0.5, "burden": {"B": 1.0}}, "no value for 'A'|unknown"),
        ({"lam": {"A": 0.5, "B": 3}, "reference": 0.5}, "lam"),
        ({"lam": array("AB"), "reference": 0.5, "burden": array("BC")}, "no value for 'A'|unknown"),
        ({"lam": array("AB"), "reference": 0.5, "burden": array("ABC")}, "unknown: 'C'"),
    ):
        with bad(said):
            al.threshold_for(0.15, **options)
