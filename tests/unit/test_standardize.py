"""Predictive values at a common prevalence, and the split of their gap: against Bayes in fractions, people drawn one
by one, closed forms, and what must hold for every table."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import assume, given
from hypothesis import strategies as st

import auditlib as al
from auditlib import simulate
from auditlib.standardization.split import ORDERS
from tests.unit.frames import PROPERTY
from tests.unit.test_benefit import CELLS, bad, table_of
from tests.unit.test_intervals import clustered

TABLE = al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
UNKNOWN = al.parse_confusion("A:0,5,45,0; B:20,10,60,10; C:5,0,0,5")  # A without positives, C without negatives
full = st.lists(st.integers(1, 400), min_size=8, max_size=8).map(table_of)
prevalences = st.floats(0.001, 0.999)
METRICS = {"ppv": (al.ppv, al.ppv_at), "npv": (al.npv, al.npv_at)}


def curve(values):
    return xr.DataArray(values, {"prevalence": values}, ["prevalence"])


def likelihood_ratios(table):
    return al.sensitivity(table) / al.false_positive_rate(table), (1 - al.sensitivity(table)) / al.specificity(table)


# -- at a prevalence -----------------------------------------------------------------------------------------------


@PROPERTY
@given(st.lists(st.integers(0, 60), min_size=4, max_size=4), st.integers(1, 99))
def test_bayes_in_fractions(numbers, percent):
    tp, fp, fn, tn = numbers
    assume(tp + fn and fp + tn)
    se, sp, pi = Fraction(tp, tp + fn), Fraction(tn, fp + tn), Fraction(percent, 100)
    flagged, spared = se * pi + (1 - sp) * (1 - pi), (1 - se) * pi + sp * (1 - pi)
    found = [rule(float(se), float(sp), float(pi)) for _, rule in METRICS.values()]
    for value, above, below in ((found[0], se * pi, flagged), (found[1], sp * (1 - pi), spared)):
        if below:
            assert float(value) == pytest.approx(float(above / below), abs=1e-13)
        else:
            assert np.isnan(value)


def test_altman_and_bland_kind_of_example():
    """1,000 people: Se 9/10, Sp 4/5, π 1/4 are 225 true and 150 false positives, 600 true and 25 false negatives."""
    assert al.ppv_at(0.9, 0.8, 0.25) == pytest.approx(225 / 375)
    assert al.npv_at(0.9, 0.8, 0.25) == pytest.approx(600 / 625)


def test_arrays_and_named_arrays():
    pi = np.array([0.1, 0.5])
    np.testing.assert_allclose(al.ppv_at(0.8, 0.9, pi), [0.8 / 1.7, 0.8 / 0.9])
    np.testing.assert_allclose(al.ppv_at([0.8, 0.6], [0.9, 0.9], 0.5), [0.8 / 0.9, 0.6 / 0.7])
    rates = al.sensitivity(TABLE), al.specificity(TABLE)
    found = al.ppv_at(*rates, curve([0.1, 0.5]))
    assert set(found.dims) == {"group", "prevalence"}
    at = al.ppv(al.standardize(TABLE, curve([0.1, 0.5])))
    np.testing.assert_allclose(found.transpose(*at.dims), at, rtol=0, atol=1e-15)
    np.testing.assert_allclose(al.ppv_at(*rates, al.prevalence(TABLE)), al.ppv(TABLE), rtol=0, atol=1e-15)


def test_nobody_flagged_and_undefined_rates_are_nan():
    with np.errstate(all="raise"):
        assert np.isnan(al.ppv_at(0.0, 1.0, 0.1))
        assert np.isnan(al.npv_at(1, 0, 0.1))
        assert np.isnan(al.ppv_at(np.nan, 0.9, 0.1))
        assert al.ppv_at(0.0, 0.9, 0.1) == 0
        assert al.ppv_at(0.5, 1.0, 0.1) == 1


@pytest.mark.parametrize("rule", [al.ppv_at, al.npv_at])
def test_what_is_no_rate_or_no_prevalence(rule):
    for pi in (0, 1, -0.1, 1.2, np.nan, [0.1, 0.0], curve([0.1, 1.0])):
        with bad("prevalence must be above 0 and below 1"):
            rule(0.8, 0.9, pi)
    for se in (-0.1, 1.01, [0.5, 2.0]):
        with bad("sensitivity must be from 0 to 1"):
            rule(se, 0.9, 0.1)
        with bad("specificity must be from 0 to 1"):
            rule(0.9, se, 0.1)
    for value in ("0.1", True, {"A": 0.1}, None):
        with bad("prevalence must be numbers"):
            rule(0.8, 0.9, value)
    with bad("holds no value"):
        rule(0.8, 0.9, [])
    with bad("do not fit each other: sensitivity"):
        rule([0.1, 0.2, 0.3], 0.9, [0.1, 0.2])
    with bad("do not fit each other"):
        rule(al.sensitivity(TABLE), 0.9, [0.1, 0.2])
    with bad("index of a table would be ignored"):
        rule(pd.Series([0.8, 0.9], ["A", "B"]), 0.9, 0.1)
    with bad("different coordinates"):
        rule(al.sensitivity(TABLE), 0.9, al.prevalence(table_of(range(1, 9))))


# -- a table at a common prevalence --------------------------------------------------------------------------------


@PROPERTY
@given(full, prevalences)
def test_se_sp_and_people_stay_and_prevalence_moves(table, pi):
    found = al.standardize(table, pi)
    people = sum(table[cell] for cell in CELLS)
    np.testing.assert_allclose(sum(found[cell] for cell in CELLS), people, rtol=1e-14)
    for metric, expected in (
        (al.sensitivity, al.sensitivity(table)),
        (al.specificity, al.specificity(table)),
        (al.prevalence, xr.full_like(people, pi, float)),
        (al.ppv, al.ppv_at(al.sensitivity(table), al.specificity(table), pi)),
        (al.npv, al.npv_at(al.sensitivity(table), al.specificity(table), pi)),
    ):
        np.testing.assert_allclose(metric(found), expected, rtol=1e-12)
    again = al.standardize(al.standardize(found, 0.3), pi)
    np.testing.assert_allclose(again.to_dataarray(), found.to_dataarray(), rtol=1e-11)
    own = al.standardize(table, al.prevalence(table))
    np.testing.assert_allclose(own.to_dataarray(), table.to_dataarray(), rtol=1e-12)


@pytest.mark.parametrize("pi", [0.02, 0.1, 0.4])
def test_closed_form_against_people_at_the_target_prevalence(pi):
    """A simulated population whose scores depend on the label alone, once at its own and once at the target prevalence:
    exactly in shares of an infinite one, and in a large sample within five standard errors."""
    kinds = {"A": (0.15, 0.8, 0.7), "B": (0.05, 0.7, 0.85)}
    t = 0.3
    own, target = (
        simulate.Cohort(
            {
                name: simulate.Group.at(t, prevalence=pi if moved else base, sensitivity=se, specificity=sp)
                for name, (base, se, sp) in kinds.items()
            }
        )
        for moved in (False, True)
    )
    shares = al.standardize(own.truth(t), pi)
    for metric in (al.ppv, al.npv):
        np.testing.assert_allclose(metric(shares), metric(target.truth(t)), rtol=1e-13)
    counts = [
        al.count(cohort.frame(200_000, seed=7), label="label", score="score", by="group", thresholds=[t]).at(t)
        for cohort in (own, target)
    ]
    for metric, trials in ((al.ppv, ("tp", "fp")), (al.npv, ("tn", "fn"))):
        closed, drawn = metric(al.standardize(counts[0], pi)), metric(counts[1])
        for group in "AB":  # the closed form comes from a sample as well: twice the variance of the drawn one is ample
            p, n = float(drawn.sel(group=group)), sum(int(counts[1][c].sel(group=group)) for c in trials)
            se = float(np.sqrt(p * (1 - p) * sum(1 / k for k in (n, *rows_behind(counts[0], group)))))
            assert float(closed.sel(group=group)) == pytest.approx(p, abs=5 * se)


def rows_behind(table, group):
    return [int(table[cell].sel(group=group)) for cell in CELLS]


@PROPERTY
@given(st.lists(st.integers(1, 12), min_size=8, max_size=8).map(table_of), st.integers(1, 4), st.integers(1, 4))
def test_expected_shares_are_those_of_people_remixed(table, p, q):
    """Everybody of one label as often as it takes for p people with the outcome to q without: counted one by one."""
    found = al.standardize(table, p / (p + q))
    for group in "AB":
        tp, fp, fn, tn = rows_behind(table, group)
        ill = np.repeat([1] * tp + [0] * fn, (fp + tn) * p)  # flags of those with the outcome
        well = np.repeat([1] * fp + [0] * tn, (tp + fn) * q)
        label, flag = np.repeat([1, 0], [len(ill), len(well)]), np.concatenate([ill, well])
        assert label.mean() == pytest.approx(p / (p + q))
        expected = [(flag[label == one] == is_).sum() / len(flag) for is_ in (1, 0) for one in (1, 0)]
        one = found.sel(group=group)
        shares = [float(one[cell]) / (tp + fp + fn + tn) for cell in ("tp", "fp", "fn", "tn")]
        assert shares == pytest.approx(expected)
        assert float(al.ppv(one)) == pytest.approx(label[flag == 1].mean())
        assert float(al.npv(one)) == pytest.approx(1 - label[flag == 0].mean())


def test_pooled_prevalence_is_that_of_the_people_of_the_table():
    whole = float(al.prevalence(TABLE.sum("group")))
    pooled, fixed = al.standardize(TABLE), al.standardize(TABLE, whole)
    np.testing.assert_allclose(pooled.to_dataarray(), fixed.to_dataarray(), rtol=1e-15)
    np.testing.assert_allclose(al.prevalence(pooled), whole, rtol=1e-12)
    assert not np.isclose(whole, al.prevalence(TABLE).mean())  # the groups weighted equally are another choice


def test_pooling_within_and_over_dims():
    rng = np.random.default_rng(3)
    cells = {cell: rng.integers(5, 50, (3, 2)) for cell in CELLS}
    table = al.confusion(**cells, site=list("XYZ"), sex=["F", "M"])
    within = al.standardize(table, dim="sex")
    for site in "XYZ":
        one = al.standardize(table.sel(site=site, drop=True))
        np.testing.assert_allclose(within.sel(site=site).to_dataarray(), one.to_dataarray(), rtol=1e-14)
    for dim in (None, "age"):
        with bad("site|'age' is not a dim"):
            al.standardize(table, dim=dim)
    with bad("there is no group dim"):
        al.standardize(TABLE.sum("group"))
    models = xr.concat([TABLE, TABLE], pd.Index(["p", "q"], name="model"))
    with bad("over which dim= people are pooled; there is group"):
        al.standardize(models, dim="model")
    both = al.standardize(models)
    np.testing.assert_allclose(both["tp"].sel(model="q"), al.standardize(TABLE)["tp"])


def test_one_a_group_and_another_order_of_groups():
    given_ = {"Men": 0.3, "Women": 0.1}
    found = al.standardize(TABLE, given_)
    np.testing.assert_allclose(al.prevalence(found), [0.1, 0.3])
    named = xr.DataArray([0.3, 0.1], {"group": ["Men", "Women"]}, ["group"])
    np.testing.assert_allclose(al.standardize(TABLE, named).to_dataarray(), found.to_dataarray())
    with bad("no value for 'Men'"):
        al.standardize(TABLE, {"Women": 0.1})


def test_dicts_of_arrays_take_a_number():
    cells = {cell: TABLE[cell].values for cell in CELLS}
    found = al.standardize(cells, 0.1)
    assert set(found) == set(CELLS)
    np.testing.assert_allclose(al.ppv(found), al.ppv(al.standardize(TABLE, 0.1)))
    plain = al.standardize({"tp": 8, "fp": 4, "fn": 2, "tn": 6}, 0.5)
    assert al.ppv(plain) == pytest.approx(0.8 / 1.2)
    with bad("pooling needs named groups"):
        al.standardize(cells)
    with bad("one number where the table has no named groups"):
        al.standardize(cells, curve([0.1, 0.2]))
    with bad("the table has no named groups"):
        al.standardize(cells, {"A": 0.1})
    with bad("a confusion table holds"):
        al.standardize({"tp": 1}, 0.1)


def test_what_is_no_prevalence():
    for value in (0, 1, -0.1, 1.5, np.nan, curve([0.1, 0.0]), {"Women": 0.1, "Men": 1.0}):
        with bad("prevalence must be above 0 and below 1"):
            al.standardize(TABLE, value)
    for value in ("polled", True, None, [0.1, 0.2]):
        with bad("prevalence must be"):
            al.standardize(TABLE, value)
    with bad("name a grid of values"):
        al.standardize(TABLE, xr.DataArray([0.1], {"x": [1]}, ["x"]))
    many = xr.Dataset({cell: ("group", np.ones(2**13, int)) for cell in CELLS}, {"group": np.arange(2**13)})
    with bad("more than 512 MB"):
        al.standardize(many, curve(np.linspace(0.1, 0.9, 2**13 + 1)))


def test_a_group_without_one_label_is_nan_and_stays_so():
    with np.errstate(all="raise"):
        found = al.standardize(UNKNOWN, 0.2)
    np.testing.assert_array_equal(np.isnan(al.ppv(found)), [True, False, True])
    np.testing.assert_array_equal(np.isnan(al.npv(found)), [True, False, True])
    assert np.isnan(al.gap(al.ppv(found), "A", "B"))
    np.testing.assert_array_equal(np.isnan(al.specificity(found)), [False, False, True])
    nobody = al.standardize(al.parse_confusion("A:0,0,40,10; B:20,10,60,10"), 0.2)
    assert np.isnan(al.ppv(nobody).sel(group="A"))
    assert float(al.npv(nobody).sel(group="A")) == pytest.approx(0.8)
    one_label = al.standardize(al.parse_confusion("A:0,5,45,0; B:0,10,60,0"))
    assert bool(al.ppv(one_label).isnull().all())


# -- replicates, clusters, and what cannot have an interval from counts --------------------------------------------


@pytest.fixture(scope="module")
def patients():
    return al.count(clustered(900), label="y", score="p", by="sex", thresholds=[0.5], cluster="patient")


def test_replicates_pool_anew_or_keep_the_prevalence_given(patients):
    reps, own = patients.resample(40, seed=1).at(0.5), al.prevalence(patients.by().at(0.5))
    each = al.prevalence(reps.sum("sex"))
    pooled, held = al.standardize(reps), al.standardize(reps, float(own))
    np.testing.assert_allclose(al.prevalence(pooled), xr.broadcast(each, pooled["tp"])[0], rtol=1e-12)
    np.testing.assert_allclose(al.prevalence(held), float(own), rtol=1e-12)
    np.testing.assert_allclose(al.standardize(reps, each).to_dataarray(), pooled.to_dataarray(), rtol=1e-13)
    for k in (0, 39):
        one = al.standardize(reps.isel(replicate=k))
        np.testing.assert_allclose(pooled.isel(replicate=k).to_dataarray(), one.to_dataarray(), rtol=1e-14)
    mean = al.standardize(reps, al.prevalence(reps).mean("sex"))
    np.testing.assert_allclose(al.prevalence(mean).isel(sex=0), al.prevalence(reps).mean("sex"), rtol=1e-12)
    with bad("prevalence has 7 replicates, the table 40"):
        al.standardize(reps, each[:7])
    with bad("prevalence has 40 replicates, the table 0"):
        al.standardize(reps.isel(replicate=0), each)
    with bad("prevalence must be above 0"):
        al.standardize(reps, each - 1)


def test_a_replicate_of_one_label_is_nan():
    cells = {"tp": [[5, 5], [0, 0]], "fp": [[5, 5], [5, 5]], "fn": [[5, 5], [0, 0]], "tn": [[5, 5], [5, 5]]}
    table = al.confusion(**cells, replicate=[0, 1], group=["A", "B"])
    pi = xr.DataArray([0.3, 0.0], dims="replicate")
    for found in (al.standardize(table), al.standardize(table, pi), al.standardize(table, pi.where(pi > 0))):
        np.testing.assert_array_equal(al.ppv(found).isnull().all("group"), [False, True])
    held = al.interval(al.gap(al.ppv(al.standardize(table)), "A", "B"))
    assert float(held.undefined) == 0.5
    named = pi.assign_coords(replicate=[1, 0])  # by name, where both have names
    np.testing.assert_array_equal(al.ppv(al.standardize(table, named)).isnull().all("group"), [True, True])


@pytest.mark.parametrize(
    "ask",
    [
        lambda table, **options: al.gap_interval(table, "F", "M", metric=al.ppv),
        lambda table, **options: al.spread_interval(table, "sex"),
        lambda table, **options: al.rate_interval(table),
        lambda table, **options: al.effective(table),
        lambda table, **options: al.benefit_interval(table, 0.2, 0.5),
    ],
)
def test_intervals_of_counts_refuse_expected_counts(patients, ask):
    for counts in (patients, patients.as_rows()):
        table = counts.at(0.5)
        ask(table)
        for prevalence in ("pooled", 0.2):
            found = al.standardize(table, prevalence)
            assert "unit_moments" not in found.coords
            words = "the pooled prevalence" if prevalence == "pooled" else "a prevalence of 0.2"
            with bad(f"to be expected at {words}, made by standardize"):
                ask(found)
            with bad("not counts of patients"):
                ask(al.treat(found, "all"))
    grid = curve([0.1, 0.2])
    with bad("not counts of patients"):
        al.rate_interval(al.standardize(patients.at(0.5), grid).sum("sex"))
    both = (al.standardize(one.at(0.5), grid) for one in (patients, patients.resample(20, seed=1)))
    with bad("not counts of patients"):  # its standard errors would take expected people for people
        al.band(*both, "F", "M", metric=al.ppv, over="prevalence")


def test_the_interval_of_replicates_is_that_of_the_quantiles_of_each(patients):
    reps = patients.resample(300, seed=5).at(0.5)
    found = al.interval(al.gap(al.ppv(al.standardize(reps, 0.1)), "F", "M"))
    by_hand = []
    for k in range(300):
        tp, fp, fn, tn = (reps[cell].isel(replicate=k).values for cell in CELLS)
        odds = 0.1 / 0.9 * (tp / (tp + fn)) / (fp / (fp + tn))
        by_hand.append(np.subtract(*(odds / (1 + odds))))
    np.testing.assert_allclose([found.low, found.high], np.quantile(by_hand, [0.025, 0.975]), rtol=1e-12)


# -- the sign of a gap at a common prevalence ----------------------------------------------------------------------


@PROPERTY
@given(full, st.lists(prevalences, min_size=2, max_size=6, unique=True))
def test_the_sign_is_that_of_likelihood_ratios_at_every_prevalence(table, grid):
    at = al.standardize(table, curve(grid))
    above, below = (al.gap(np.log(ratio), "A", "B") for ratio in likelihood_ratios(table))
    for metric, apart in ((al.ppv, above), (al.npv, -below)):
        gap, apart = al.gap(metric(at), "A", "B"), float(apart)
        if abs(apart) > 1e-9:
            assert (np.sign(gap) == np.sign(apart)).all()
        assert (abs(gap) <= np.tanh(abs(apart) / 4) + 1e-12).all()
    peak = float(1 / (1 + np.exp(np.log(likelihood_ratios(table)[0]).mean())))
    if 1e-6 < peak < 1 - 1e-6:  # odds of one over the geometric mean of the ratios
        largest = float(al.gap(al.ppv(al.standardize(table, peak)), "A", "B"))
        assert largest == pytest.approx(np.tanh(float(above) / 4), abs=1e-12)


def test_an_interval_leaves_out_zero_everywhere_or_nowhere(patients):
    reps = patients.resample(400, seed=2).at(0.5)
    grid = curve([0.001, 0.01, 0.1, 0.5, 0.9, 0.999])
    signs = np.sign(al.gap(al.ppv(al.standardize(reps, grid)), "F", "M"))
    assert (signs == signs.isel(prevalence=0)).all()
    np.testing.assert_array_equal(np.sign(al.gap(al.ppv(al.standardize(reps)), "F", "M")), signs.isel(prevalence=0))
    ends = al.gap(al.ppv(al.standardize(patients.at(0.5), curve([1e-9, 1 - 1e-9]))), "F", "M")
    np.testing.assert_allclose(ends, 0, atol=1e-7)


# -- the split -----------------------------------------------------------------------------------------------------


@PROPERTY
@given(full, st.sampled_from(["ppv", "npv"]))
def test_split_adds_up_and_changes_sign(table, name):
    metric, rule = METRICS[name]
    found, swapped = (al.split_gap(table, *pair, metric) for pair in ("AB", "BA"))
    total = float(al.gap(metric(table), "A", "B"))
    assert float(found["total"]) == total
    np.testing.assert_allclose(found["prevalence"] + found["performance"], total, rtol=0, atol=1e-12)
    back = {"prevalence first": "performance first", "performance first": "prevalence first", "average": "average"}
    assert tuple(back) == ORDERS
    for part in ("prevalence", "performance"):
        for one, two in back.items():
            assert float(swapped[part].sel(order=two)) == pytest.approx(-float(found[part].sel(order=one)), abs=1e-15)
    pi, se, sp = (
        dict(zip("AB", x(table).values, strict=True)) for x in (al.prevalence, al.sensitivity, al.specificity)
    )
    by_hand = {
        ("prevalence", "prevalence first"): rule(se["B"], sp["B"], pi["A"]) - rule(se["B"], sp["B"], pi["B"]),
        ("performance", "prevalence first"): rule(se["A"], sp["A"], pi["A"]) - rule(se["B"], sp["B"], pi["A"]),
        ("prevalence", "performance first"): rule(se["A"], sp["A"], pi["A"]) - rule(se["A"], sp["A"], pi["B"]),
        ("performance", "performance first"): rule(se["A"], sp["A"], pi["B"]) - rule(se["B"], sp["B"], pi["B"]),
    }
    for (part, order), value in by_hand.items():
        assert float(found[part].sel(order=order)) == pytest.approx(value, abs=1e-12)
    for order, group in (("prevalence first", "A"), ("performance first", "B")):
        level = float(al.prevalence(table).sel(group=group))
        common = al.gap(metric(al.standardize(table, level)), "A", "B")
        assert float(found["performance"].sel(order=order)) == pytest.approx(float(common), abs=1e-12)


@PROPERTY
@given(full)
def test_split_on_the_logit_scale(table):
    pi, (above, below) = al.prevalence(table), likelihood_ratios(table)
    odds = np.log(pi / (1 - pi))
    for metric, ratio, sign in ((al.ppv, above, 1), (al.npv, below, -1)):
        found, swapped = (al.split_gap(table, *pair, metric, "logit") for pair in ("AB", "BA"))
        value = metric(table)
        for part, log in (
            ("total", np.log(value / (1 - value))),
            ("prevalence", sign * odds),
            ("performance", sign * np.log(ratio)),
        ):
            assert float(found[part]) == pytest.approx(float(al.gap(log, "A", "B")), abs=1e-11)
            assert float(swapped[part]) == -float(found[part])
        assert float(found["prevalence"] + found["performance"]) == pytest.approx(float(found["total"]), abs=1e-12)


@PROPERTY
@given(st.lists(st.integers(1, 40), min_size=8, max_size=8))
def test_what_is_equal_has_no_part(numbers):
    hit, miss, alarm, quiet, p, n, q, m = numbers
    alike = al.confusion(
        tp=[hit * p, hit * q],
        fn=[miss * p, miss * q],
        fp=[alarm * n, alarm * m],
        tn=[quiet * n, quiet * m],
        group=["A", "B"],
    )  # one Se and one Sp
    ill, well = (hit + miss) * p, (alarm + quiet) * n
    equal = al.confusion(
        tp=[hit * p, 1], fn=[miss * p, 2 * ill - 1], fp=[alarm * n, 1], tn=[quiet * n, 2 * well - 1], group=["A", "B"]
    )  # one prevalence
    for metric in (al.ppv, al.npv):
        for scale in ("probability", "logit"):
            assert (al.split_gap(alike, "A", "B", metric, scale)["performance"] == 0).all()
            assert (al.split_gap(equal, "A", "B", metric, scale)["prevalence"] == 0).all()


def test_split_of_replicates_and_intervals_of_parts(patients):
    reps = patients.resample(200, seed=9).at(0.5)
    for scale in ("probability", "logit"):
        found = al.split_gap(reps, "F", "M", scale=scale)
        np.testing.assert_allclose(found["prevalence"] + found["performance"] - found["total"], 0, atol=1e-12)
        one = al.split_gap(reps.isel(replicate=7), "F", "M", scale=scale)
        xr.testing.assert_allclose(found.isel(replicate=7), one)
        held = al.interval(found["performance"])
        assert (held.low < al.split_gap(patients.at(0.5), "F", "M", scale=scale)["performance"]).all()


def test_a_split_is_at_the_threshold_of_its_table(patients):
    for scale in ("probability", "logit"):
        one = al.split_gap(patients.at(0.5), "F", "M", scale=scale)
        assert float(one["threshold"]) == 0.5
        several = al.split_gap(patients.at([0.3, 0.5]), "F", "M", scale=scale)
        xr.testing.assert_allclose(several.sel(threshold=0.5), one)
    own = al.split_gap(patients.at({"F": 0.3, "M": 0.5}), "F", "M")
    assert "threshold" not in own.coords  # one a group is that of no gap


def test_counts_are_told_to_be_made_a_table(patients):
    for prevalence in ((), (0.1,), ({"F": 0.1, "M": 0.2},)):
        with bad(r"\(counts\.at\(threshold\), or a dict of arrays\), but this Counts has no 'tp'"):
            al.standardize(patients, *prevalence)


def test_split_that_is_undefined_says_so():
    table = al.parse_confusion("A:0,5,45,0; B:20,10,60,10; C:0,0,40,10; D:5,0,40,10")
    with np.errstate(all="raise"):
        found = al.split_gap(table, "A", "B")
    assert bool(found[["prevalence", "performance"]].to_dataarray().isnull().all())
    assert float(found["total"]) == pytest.approx(-2 / 3)  # PPV is known: nobody who is flagged has the outcome
    assert "has a prevalence of 0 or 1, or an undefined ppv" in found.attrs["undefined"]
    assert np.isnan(al.split_gap(table, "C", "B")["total"])
    assert "undefined" not in al.split_gap(table, "C", "B", al.npv).attrs
    logit = al.split_gap(table, "D", "B", scale="logit")  # no false positive in D: PPV 1
    assert bool(logit.to_dataarray().isnull().all())
    assert "'D' or 'B' has no logit of ppv" in logit.attrs["undefined"]
    assert "undefined" not in al.split_gap(table, "D", "B").attrs


def test_what_cannot_be_split():
    with bad("metric must be ppv or npv"):
        al.split_gap(TABLE, "Women", "Men", al.sensitivity)
    with bad("metric must be ppv or npv"):
        al.split_gap(TABLE, "Women", "Men", lambda table: 0)
    with bad('scale must be "probability" or "logit"'):
        al.split_gap(TABLE, "Women", "Men", scale="log")
    with bad("not levels of one dim"):
        al.split_gap(TABLE, "Women", "Others")
    with bad("a gap needs named levels"):
        al.split_gap({cell: TABLE[cell].values for cell in CELLS}, "Women", "Men")
    for name in ("order", "performance", "total"):
        with bad(f"dim named '{name}'"):
            al.split_gap(TABLE.rename(group=name), "Women", "Men")
    curve = al.standardize(TABLE, xr.DataArray([0.1, 0.2], {"prevalence": [0.1, 0.2]}, ["prevalence"]))
    for scale in ("probability", "logit"):
        with bad("dim named 'prevalence'"):  # the part would be lost to the coordinate
            al.split_gap(curve, "Women", "Men", scale=scale)
    with bad("scale must be"):
        al.split_gap(TABLE, "Women", "Men", scale=np.array(["logit", "x"]))
    with bad("a confusion table holds"):
        al.split_gap(TABLE[["tp"]], "Women", "Men")


def test_small_numbers_of_bits_do_not_overflow():
    small = TABLE.map(lambda cell: (cell // 7).astype(np.int8))
    wide = small.astype(np.int64)
    for scale in ("probability", "logit"):
        xr.testing.assert_allclose(
            al.split_gap(small, "Women", "Men", scale=scale), al.split_gap(wide, "Women", "Men", scale=scale)
        )
    xr.testing.assert_allclose(al.standardize(small), al.standardize(wide))


def test_what_would_be_read_as_other_numbers_is_refused():
    masked = np.ma.array([0.8, 0.5], mask=[False, True])
    for value in (np.ma.masked, masked):
        with bad("masked values would be read as numbers"):
            al.ppv_at(value, 0.9, 0.1)
    for value in (pd.DataFrame({"a": [0.8]}), xr.Dataset({"a": 0.8}), pd.Series([0.8])):
        with bad("the index of a table would be ignored"):
            al.npv_at(0.8, value, 0.1)
    with bad("not a ragged list"):
        al.ppv_at([[0.1], [0.1, 0.2]], 0.9, 0.1)
    with bad("too large for a float"):
        al.standardize(TABLE, 10**400)


def test_a_group_dim_may_be_named_like_a_grid_when_it_is_said():
    table = TABLE.rename(group="burden_group")
    expected = al.ppv(al.standardize(TABLE, "pooled")).values
    assert al.ppv(al.standardize(table, "pooled", dim="burden_group")).values == pytest.approx(expected)
