"""Net benefit, sNB, policies and their intervals: against arithmetic patient by patient, and closed forms."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import auditlib as al
from auditlib.benefit import UNIT
from tests.unit.frames import PROPERTY
from tests.unit.test_intervals import clustered

TABLE = "A:300,400,8900,400; B:100,100,9300,500; C:30,250,700,20"
CELLS = ("tp", "fp", "fn", "tn")
tables = st.lists(st.integers(0, 400), min_size=8, max_size=8)
shares = st.floats(0.01, 1)
risks = st.floats(0, 0.99)


def bad(said):
    return pytest.raises(al.AuditInputError, match=said)


def table_of(numbers):
    return al.confusion(**{c: [numbers[k], numbers[4 + k]] for k, c in enumerate(CELLS)}, group=["A", "B"])


# -- levels ------------------------------------------------------------------------------------------------------


@PROPERTY
@given(tables, risks, shares, shares)
def test_snb_is_the_mean_utility_of_patients(numbers, t, lam, r):
    """Utilities with d = 1, c = 1 − r, a = c + λr, and b fixed by the threshold: d − b = w·(a − c)."""
    table, w = table_of(numbers), t / (1 - t)
    d, c = 1.0, 1 - r
    a = c + lam * (d - c)
    b = d - w * (a - c)
    found = al.subgroup_net_benefit(table, t, lam, r)
    for group in "AB":
        tp, fp, fn, tn = (int(table[cell].sel(group=group)) for cell in CELLS)
        n = tp + fp + fn + tn
        value = float(found.sel(group=group))
        if n == 0:
            assert np.isnan(value)
        else:
            assert value == pytest.approx((a * tp + b * fp + c * fn + d * tn) / n, abs=1e-9 * (1 + w))


@PROPERTY
@given(tables, risks, shares)
def test_snb_of_all_is_the_weighted_mean_of_the_groups(numbers, t, lam):
    table = table_of(numbers)
    people = sum(table[cell] for cell in CELLS)
    if int(people.sum()) == 0 or int(people.min()) == 0:
        return
    pooled = al.subgroup_net_benefit(table.sum("group"), t, lam)
    mean = (al.subgroup_net_benefit(table, t, lam) * people).sum() / people.sum()
    assert float(pooled) == pytest.approx(float(mean), abs=1e-9 / (1 - t))


def test_net_benefit_by_hand_and_its_threshold():
    table = al.parse_confusion(TABLE)
    assert float(al.net_benefit(table, 0.2).sel(group="A")) == pytest.approx((300 - 0.25 * 400) / 10_000, abs=1e-15)
    assert al.net_benefit(table, 0.1 * 3).equals(al.net_benefit(table, 0.3))
    by_group = xr.DataArray([0.5, 0.2, 0.1], {"group": ["C", "A", "B"]}, ["group"])  # another order
    found = al.net_benefit(table, by_group)
    assert found.group.values.tolist() == ["A", "B", "C"]
    assert float(found.sel(group="C")) == pytest.approx((30 - 250) / 1000)
    assert float(found.sel(group="A")) == pytest.approx(0.02)


def test_arrays_without_names_work_too():
    table = {"tp": np.array([8, 0]), "fp": np.array([4, 0]), "fn": np.array([2, 0]), "tn": np.array([6, 0])}
    np.testing.assert_allclose(al.net_benefit(table, 0.5), [0.2, np.nan])
    np.testing.assert_allclose(al.standardized_net_benefit(table, 0.5), [0.4, np.nan])
    np.testing.assert_allclose(al.subgroup_net_benefit(table, 0.5, 0.5), [0.6, np.nan])
    np.testing.assert_allclose(al.treat(table, "perfect")["fp"], [0, 0])


def test_a_group_without_events_has_snb_but_no_standardized_benefit():
    table = al.parse_confusion("A:0,5,45,0; B:20,10,60,10")
    assert float(al.subgroup_net_benefit(table, 0.2, 0.5).sel(group="A")) == pytest.approx(1 - 0.5 * 0.25 * 5 / 50)
    assert np.isnan(al.standardized_net_benefit(table, 0.2).sel(group="A"))


def test_nobody_flagged_is_treating_nobody():
    table = al.parse_confusion("A:0,0,40,10; B:0,0,30,20")
    assert (al.net_benefit(table, 0.99) == 0).all()
    np.testing.assert_allclose(al.subgroup_net_benefit(table, 0.99, 0.5), [0.8, 0.6])
    for found in (al.benefit_interval(table, 0.99, 0.5), al.benefit_interval(table, 0.99, 0.5, a="A", b="B")):
        assert bool(found.estimate.notnull().all())


def test_a_grid_of_lambda_and_of_replicates_broadcast():
    frame = clustered()
    counts = al.count(frame, label="y", score="p", by="sex", thresholds=[0.4])
    again = counts.resample(7, strata="sex", seed=1).at(0.4)
    grid = xr.DataArray([0.2, 0.5, 0.8], {"lam": [0.2, 0.5, 0.8]}, ["lam"])
    found = al.subgroup_net_benefit(again, 0.4, grid)
    assert found.sizes == {"replicate": 7, "sex": 2, "lam": 3}
    one = al.subgroup_net_benefit(again, 0.4, 0.5)
    np.testing.assert_allclose(found.sel(lam=0.5), one)


LAM_ERRORS = {
    "number of groups": ({"A": 0.2, "B": 0.3}, "no value for 'C'"),
    "unknown group": ({"A": 0.2, "B": 0.3, "C": 0.1, "D": 0.1}, "unknown: 'D'"),
    "array lacks a group": (xr.DataArray([0.2], {"group": ["A"]}, ["group"]), "no value for 'B', 'C'"),
    "array of another dim": (xr.DataArray([0.2], {"race": ["A"]}, ["race"]), "no dim of the table"),
    "array without names": (xr.DataArray([0.2, 0.2, 0.2], dims="group"), "no coordinate for 'group'"),
    "list": ([0.2, 0.3, 0.4], "a dict of one number a group"),
    "text": ("0.2", "a dict of one number a group"),
    "text inside": ({"A": "0.2", "B": 0.3, "C": 0.1}, "one number a group"),
    "boolean": (True, "must be a number"),
    "too large": (1.2, r"above 0 and at most 1 .* not 1\.2"),
    "zero": (0, "above 0"),
    "negative": (-0.1, "above 0"),
    "NaN": (float("nan"), "not nan"),
    "infinite": (float("inf"), "not inf"),
    "one of several": ({"A": 0.2, "B": 1.3, "C": 0.1}, r"not 1\.3"),
}


@pytest.mark.parametrize("name", ["lam", "burden"])
@pytest.mark.parametrize("case", LAM_ERRORS)
def test_lam_and_burden_must_fit(name, case):
    value, said = LAM_ERRORS[case]
    options = {"lam": 0.5, "burden": 1.0} | {name: value}
    table = al.parse_confusion(TABLE)
    calls = {
        "level": lambda: al.subgroup_net_benefit(table, 0.2, **options),
        "interval": lambda: al.benefit_interval(table, 0.2, **options),
        "split": lambda: al.decompose_gap(table, 0.2, options["lam"], "A", "B", options["burden"]),
    }
    if name == "burden":
        calls["tipping"] = lambda: al.tipping_lambda(table, 0.2, "A", "B", value)
    else:
        calls["pooled"] = lambda: al.pooled_lambda(table, 0.2, value, "group")
    for call in calls.values():
        with bad(said) as caught:
            call()
        assert name in str(caught.value)


THRESHOLD_ERRORS = [1, 1.0, 1.5, -0.1, float("nan"), float("inf"), "0.2", None, [0.2], True]


@pytest.mark.parametrize("threshold", THRESHOLD_ERRORS)
def test_threshold_must_lie_below_one(threshold):
    table = al.parse_confusion(TABLE)
    for call in (
        lambda: al.net_benefit(table, threshold),
        lambda: al.standardized_net_benefit(table, threshold),
        lambda: al.subgroup_net_benefit(table, threshold, 0.5),
        lambda: al.benefit_interval(table, threshold, 0.5),
        lambda: al.decompose_gap(table, threshold, 0.5, "A", "B"),
        lambda: al.tipping_lambda(table, threshold, "A", "B"),
        lambda: al.lambda_ratio_bound(table, threshold, "A", "B"),
        lambda: al.threshold_for(threshold, 0.5, 0.5),
    ):
        with bad("threshold"):
            call()


# -- policies ----------------------------------------------------------------------------------------------------


@PROPERTY
@given(tables, st.floats(0, 0.95), st.floats(0, 1), shares, shares)
def test_policies_have_their_closed_forms(numbers, t, q, lam, r):
    table, w = table_of(numbers), t / (1 - t)
    people = sum(table[cell] for cell in CELLS)
    if int(people.min()) == 0:
        return
    pi = al.prevalence(table)
    everybody = pi - w * (1 - pi)
    benefit = {"none": 0 * pi, "all": everybody, "perfect": pi, q: q * everybody}
    for policy, expected in benefit.items():
        held = al.treat(table, policy)
        np.testing.assert_allclose(al.net_benefit(held, t), expected, atol=1e-12 * (1 + w))
        snb = al.subgroup_net_benefit(held, t, lam, r)
        np.testing.assert_allclose(snb, 1 - r * (pi - lam * expected), atol=1e-12 * (1 + w))
        np.testing.assert_allclose(sum(held[cell] for cell in CELLS), people)


def test_policies_are_what_relabelled_patients_give():
    frame = clustered()
    options = {"label": "y", "by": "sex", "thresholds": [0.5], "cluster": "patient"}
    table = al.count(frame, score="p", **options).at(0.5)
    for policy, score in {"none": 0.0 * frame["p"], "all": 0 * frame["p"] + 0.9, "perfect": 0.9 * frame["y"]}.items():
        direct = al.count(frame.assign(q=score), score="q", **options).at(0.5)
        held = al.treat(table, policy)
        for cell in CELLS:
            assert (held[cell] == direct[cell]).all()
            assert held[cell].dtype == direct[cell].dtype
        assert (held["unit_moments"] == direct["unit_moments"]).all()
        one, two = (al.benefit_interval(x, 0.3, 0.5) for x in (held, direct))
        xr.testing.assert_allclose(one, two, atol=1e-14)


@pytest.mark.parametrize("policy", ["some", -0.1, 1.1, float("nan"), True, None, [0.1]])
def test_what_is_no_policy(policy):
    with bad("policy must be"):
        al.treat(al.parse_confusion(TABLE), policy)


def test_random_policy_keeps_clusters_readable():
    table = al.count(clustered(), label="y", score="p", by="sex", thresholds=[0.5], cluster="patient").at(0.5)
    for q in (0.05, 1 / 3, 0.1):
        found = al.benefit_interval(al.treat(table, q), 0.3, 0.5)
        assert bool((found.low < found.high).all())


# -- intervals ---------------------------------------------------------------------------------------------------


def values_of(frame, t, lam, r, cut):
    w, flagged = t / (1 - t), frame["p"] >= cut
    ill = frame["y"] == 1
    return np.select([ill & flagged, ~ill & flagged, ill & ~flagged], [1 - r * (1 - lam), 1 - r * lam * w, 1 - r], 1.0)


def test_interval_is_that_of_a_mean_of_patients():
    frame = clustered()
    frame["v"] = values_of(frame, 0.3, 0.5, 0.8, 0.5)
    table = al.count(frame, label="y", score="p", by="sex", thresholds=[0.5]).at(0.5)
    found = al.benefit_interval(table, 0.3, 0.5, 0.8)
    for sex, part in frame.groupby("sex"):
        mean, se = part["v"].mean(), part["v"].std(ddof=0) / np.sqrt(len(part))
        held = found.sel(sex=sex)
        assert float(held.estimate) == pytest.approx(mean, abs=1e-12)
        assert float(held.se) == pytest.approx(se, abs=1e-12)
        assert float(held.low) == pytest.approx(mean - 1.959963984540054 * se, abs=1e-12)
        assert int(held.n) == len(part)


def test_clustered_interval_is_that_of_patients_sums():
    frame = clustered()
    frame["v"] = values_of(frame, 0.3, 0.5, 0.8, 0.5)
    table = al.count(frame, label="y", score="p", by="sex", thresholds=[0.5], cluster="patient").at(0.5)
    found = al.benefit_interval(table, 0.3, 0.5, 0.8)
    for sex, part in frame.groupby("sex"):
        sums = part.groupby("patient")["v"].agg(["sum", "size"])
        residual = sums["sum"] - part["v"].mean() * sums["size"]
        k = sums["size"].sum() ** 2 / (sums["size"] ** 2).sum()
        se = np.sqrt((residual**2).sum() * k / (k - 1)) / len(part)
        assert float(found.se.sel(sex=sex)) == pytest.approx(se, abs=1e-12)
    wide = found.high - found.low
    rows = al.benefit_interval(al.count(frame, label="y", score="p", by="sex", thresholds=[0.5]).at(0.5), 0.3, 0.5, 0.8)
    assert bool((wide > 1.3 * (rows.high - rows.low)).all())  # patients of about 3.5 like rows


def test_gap_interval_agrees_with_the_bootstrap():
    counts = al.count(clustered(), label="y", score="p", by="sex", thresholds=[0.5], cluster="patient")
    found = al.benefit_interval(counts.at(0.5), 0.3, 0.5, a="F", b="M")
    again = counts.resample(4000, seed=3).at(0.5)
    replicates = al.gap(al.subgroup_net_benefit(again, 0.3, 0.5), "F", "M")
    assert float(found.se) == pytest.approx(float(replicates.std()), rel=0.06)
    levels = al.subgroup_net_benefit(counts.at(0.5), 0.3, 0.5)
    assert float(found.estimate) == pytest.approx(float(al.gap(levels, "F", "M")), abs=1e-15)


@pytest.mark.parametrize(("events", "low", "high"), [(10, 0.90, 0.94), (30, 0.93, 0.95), (100, 0.94, 0.957)])
def test_coverage_is_what_the_docstring_says(events, low, high):
    rng, pi, se, fpr, t, lam = np.random.default_rng(events), 0.1, 0.6, 0.2, 0.15, 0.58
    shares = [pi * se, (1 - pi) * fpr, pi * (1 - se), (1 - pi) * (1 - fpr)]
    cells = rng.multinomial(10 * events, shares, size=8000)
    table = xr.Dataset({cell: ("audit", cells[:, k]) for k, cell in enumerate(CELLS)})
    truth = 1 - pi + lam * (pi * se - t / (1 - t) * (1 - pi) * fpr)
    found = al.benefit_interval(table, t, lam)
    assert low <= float(((found.low <= truth) & (truth <= found.high)).mean()) <= high


def test_interval_needs_both_levels_and_whole_clusters():
    table = al.parse_confusion(TABLE)
    for options in ({"a": "A"}, {"b": "A"}):
        with bad("needs both levels"):
            al.benefit_interval(table, 0.2, 0.5, **options)
    lost = al.count(clustered(), label="y", score="p", by="sex", cluster="patient").at(0.5).sum("sex")
    with bad("belong together"):
        al.benefit_interval(lost, 0.2, 0.5)
    with bad("level"):
        al.benefit_interval(table, 0.2, 0.5, level=95)


def test_models_are_not_independent_groups():
    frame = clustered().assign(q=lambda t: 1 - t["p"])
    table = al.count(frame, label="y", score=["p", "q"], by="sex", thresholds=[0.5]).at(0.5)
    for call in (
        lambda: al.benefit_interval(table, 0.2, 0.5, a="p", b="q"),
        lambda: al.gap_interval(table, "p", "q"),
        lambda: al.spread_interval(table, "model"),
        lambda: al.tipping_lambda(table, 0.2, "p", "q"),
        lambda: al.lambda_ratio_bound(table, 0.2, "p", "q"),
    ):
        with bad("same patients"):
            call()
    assert al.benefit_interval(table, 0.2, 0.5, a="F", b="M").estimate.dims == ("model",)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8])
def test_narrow_integers_do_not_overflow(dtype):
    numbers = np.array([100, 90]) if dtype != np.int32 else np.array([1_500_000_000, 1_400_000_000])
    narrow = xr.Dataset({c: ("group", numbers.astype(dtype)) for c in CELLS}, {"group": ["A", "B"]})
    wide = narrow.astype(np.float64)
    for call in (
        lambda t: al.benefit_interval(t, 0.2, 0.5).estimate,
        lambda t: al.benefit_interval(t, 0.2, 0.5).n,
        lambda t: al.standardized_net_benefit(t, 0.2),
        lambda t: al.subgroup_net_benefit(t, 0.2, 0.5),
        lambda t: al.subgroup_net_benefit(al.treat(t, "all"), 0.2, 0.5),
        lambda t: al.lambda_ratio_bound(t, 0.2, "A", "B").low,
    ):
        np.testing.assert_allclose(call(narrow), call(wide), rtol=1e-12)


def test_cells_of_unequal_dims_meet_by_name():
    sizes = {"g": ["a", "b"], "h": ["c", "d"]}
    table = xr.Dataset(
        {
            "tp": ("g", [10, 90]), "fn": ("g", [190, 10]),
            "fp": (("g", "h"), [[1, 2], [3, 4]]), "tn": (("g", "h"), [[99, 98], [97, 96]]),
        },
        sizes,
    )  # fmt: skip
    found = al.standardized_net_benefit(table, 0.2)
    np.testing.assert_allclose(found, [[9.75 / 200, 9.5 / 200], [89.25 / 100, 89 / 100]])


def test_grids_of_one_name_must_agree():
    table = al.parse_confusion(TABLE)
    steps = [0.2, 0.3, 0.4, 0.5]
    other = np.arange(0.2, 0.55, 0.1)  # 0.30000000000000004
    lam = xr.DataArray(other, {"lam": other}, ["lam"])
    threshold = xr.DataArray([al.threshold_for(0.15, v, 0.58) for v in steps], {"lam": steps}, ["lam"])
    for call in (
        lambda: al.subgroup_net_benefit(table, threshold, lam),
        lambda: al.benefit_interval(table, threshold, lam),
        lambda: al.decompose_gap(table, 0.2, lam, "A", "B", lam.assign_coords(lam=steps)),
        lambda: al.pooled_lambda(table, threshold, lam, "group"),
        lambda: al.tipping_lambda(table, threshold, "A", "B", lam),
    ):
        with bad("different coordinates"):
            call()
    same = al.subgroup_net_benefit(table, threshold, lam.assign_coords(lam=steps))
    assert same.sizes == {"group": 3, "lam": 4}
    with bad("no coordinate for 'lam'"):
        al.subgroup_net_benefit(table, 0.2, xr.DataArray(steps, dims="lam"))


def test_a_grid_of_thresholds_on_a_table_made_at_one():
    table = al.count(clustered(), label="y", score="p", by="sex", thresholds=[0.5]).at(0.5)
    grid = xr.DataArray([0.1, 0.5], {"threshold": [0.1, 0.5]}, ["threshold"])
    found = al.net_benefit(table, grid)
    np.testing.assert_allclose(found.sel(threshold=0.5), al.net_benefit(table, 0.5))


def test_a_series_that_names_a_group_twice():
    twice = pd.Series([0.2, 0.4, 0.9, 0.3], index=["A", "B", "B", "C"])
    with bad("named twice"):
        al.subgroup_net_benefit(al.parse_confusion(TABLE), 0.15, twice)


def test_people_all_in_one_cell_give_no_limits():
    table = al.parse_confusion("A:0,0,3,0; B:20,10,900,30")
    found = al.benefit_interval(table, 0.15, 0.5)
    assert float(found.estimate.sel(group="A")) == 1
    assert np.isnan(found.low.sel(group="A"))
    assert np.isfinite(found.low.sel(group="B"))
    assert np.isnan(al.benefit_interval(table, 0.15, 0.5, a="A", b="B").high)


def test_thresholds_and_points_share_their_patients():
    table = al.count(clustered(), label="y", score="p", by="sex").at([0.3, 0.5])
    grid = xr.DataArray([0.2, 0.5], {"lam": [0.2, 0.5]}, ["lam"])
    with bad("same patients"):
        al.benefit_interval(table, 0.3, 0.5, a=0.3, b=0.5)
    with bad("same patients"):
        al.gap_interval(table, 0.3, 0.5)
    with bad("same patients|not levels"):
        al.benefit_interval(table, 0.3, grid, a=0.2, b=0.5)


def test_confusion_keeps_thresholds_as_numbers():
    table = al.confusion(tp=[2, 1], fp=[1, 0], fn=[0, 1], tn=[1, 2], threshold=[0.2, 0.5])
    assert al.decision_curve(table).net_benefit.values == pytest.approx([(2 - 0.25) / 4, 0.25])
    with bad("threshold must be a number"):
        al.confusion(tp=[2], fp=[1], fn=[0], tn=[1], threshold=["low"])


# -- curves and summaries ----------------------------------------------------------------------------------------


def test_decision_curve_flags_and_weighs_at_one_threshold():
    frame = clustered()
    at = [0.1, 0.3, 0.6]
    found = al.decision_curve(al.count(frame, label="y", score="p", by="sex", thresholds=at).at(at))
    for sex, part in frame.groupby("sex"):
        for t in at:
            w, flagged = t / (1 - t), part["p"] >= t
            expected = ((part["y"] == 1) & flagged).mean() - w * ((part["y"] == 0) & flagged).mean()
            point = found.sel(sex=sex, threshold=t)
            assert float(point.net_benefit) == pytest.approx(expected, abs=1e-12)
            assert float(point["all"]) == pytest.approx(part["y"].mean() - w * (1 - part["y"].mean()), abs=1e-12)
            assert float(point.none) == 0
    two = al.count(frame.assign(q=1 - frame["p"]), label="y", score=["p", "q"], by="sex", thresholds=at).at(at)
    np.testing.assert_allclose(al.decision_curve(two).net_benefit.sel(model="p"), found.net_benefit, atol=1e-15)
    with bad("runs over thresholds"):
        al.decision_curve(al.parse_confusion(TABLE))


def test_worst_off_and_mean_gap():
    values = xr.DataArray([[0.9, 0.8, 0.95], [0.7, 0.8, np.nan]], {"group": list("ABC")}, ["replicate", "group"])
    found = al.worst_off(values, "group")
    assert found.value.values[0] == 0.8
    assert np.isnan(found.value.values[1])
    assert found.level.values.tolist() == ["B", ""]
    np.testing.assert_allclose(al.mean_gap(values, "A", "group"), [(0.8 + 0.95) / 2 - 0.9, np.nan])
    twice = values.assign_coords(group=["A", "B", "B"])
    for call in (lambda: al.mean_gap(twice, "A", "group"), lambda: al.worst_off(twice, "group")):
        with bad("each its own"):
            call()
    with bad("one metric"):
        al.worst_off(values.to_dataset(name="x"), "group")
    with bad("no level of 'group'"):
        al.mean_gap(values, "D", "group")
    for call in (lambda: al.worst_off(values, "race"), lambda: al.mean_gap(values, "A", "race")):
        with bad("is not a dim"):
            call()


def test_per_ten_thousand():
    assert UNIT == 10_000


def test_series_and_integer_levels_name_groups():
    table = al.parse_confusion(TABLE)
    lam = pd.Series({"C": 0.3, "A": 0.1, "B": 0.2})
    found = al.subgroup_net_benefit(table, 0.2, lam)
    for group, value in lam.items():
        one = al.subgroup_net_benefit(table, 0.2, value).sel(group=group)
        assert float(found.sel(group=group)) == float(one)
