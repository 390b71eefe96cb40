"""Flip rates of replicates, what theory says of them, and audit sizes."""

from math import ceil

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, studentized_range

import auditlib as al
from auditlib.simulate import RiskCohort
from auditlib.studies.reproduced.lines import pass_counts
from auditlib.verdicts import (
    METRICS,
    audit_size,
    expected_flip_rate,
    flip_rate,
    range_probability,
    settling_size,
    verdict_metrics,
)


def replicates(n_pass, k, value=0.1, other=0.2):
    return xr.DataArray([value] * n_pass + [other] * (k - n_pass), dims="replicate")


def test_published_pass_counts():
    """FACTS of the published run: 28 cells of 500 resamples."""
    rates = [
        float(flip_rate(replicates(int(passed), 500), "SPD").vfr) for passed in pass_counts().to_numpy().reshape(-1)
    ]
    rates = np.array(rates)
    assert len(rates) == 28
    assert rates.mean() == pytest.approx(0.0809, abs=5e-5)
    assert rates.max() == pytest.approx(0.476)
    assert (rates > 0).sum() == 11
    assert (rates <= 0.10).sum() == 21


def test_every_part_by_hand():
    found = flip_rate(replicates(116, 500), "SPD", point=xr.DataArray(0.1))
    assert float(found.p_pass) == pytest.approx(0.232)
    assert float(found.vfr) == pytest.approx(0.232)
    assert found.dominant.item() == "fail"
    assert float(found.mc_error) == pytest.approx((0.232 * 0.768 / 500) ** 0.5)
    assert float(found.replication_flip) == pytest.approx(norm.cdf(norm.ppf(0.232) / 2**0.5))
    assert np.isnan(found.bound)
    assert found.verdict.item() == "pass"
    assert found.disagrees.item() == 1  # the estimate passes while most replicates fail
    values = np.array([0.1] * 116 + [0.2] * 384)
    assert float(found.margin) == pytest.approx(abs(values.mean() - 0.1) / values.std(ddof=1))


def test_no_flip_is_bounded_and_ten_percent_is_eighteen():
    found = flip_rate(replicates(500, 500), "SPD")
    assert float(found.vfr) == 0
    assert float(found.bound) == pytest.approx(0.006)
    assert np.isnan(found.replication_flip)
    assert float(found.replication_bound) == pytest.approx(0.0378, abs=1e-4)
    assert float(found.margin) == 0 or np.isnan(float(found.margin)) or np.isinf(float(found.margin))
    assert float(flip_rate(replicates(450, 500), "SPD").replication_flip) == pytest.approx(0.182, abs=5e-4)


def test_undefined_replicates_are_left_out_and_counted():
    values = xr.DataArray([0.05, 0.2, np.nan, np.nan], dims="replicate")
    found = flip_rate(values, "SPD")
    assert float(found.vfr) == 0.5
    assert found.dominant.item() == "tie"
    assert (int(found.n), float(found.undefined)) == (2, 0.5)
    nothing = flip_rate(values * np.nan, "SPD", point=xr.DataArray(0.05))
    assert np.isnan(nothing.vfr)
    assert nothing.dominant.item() == "undefined"
    assert np.isnan(nothing.disagrees)
    one = flip_rate(values[:1], "SPD")
    assert np.isnan(one.margin)


def test_errors():
    with pytest.raises(al.AuditInputError, match="replicates"):
        flip_rate(xr.DataArray([0.1], dims="site"), "SPD")
    with pytest.raises(al.AuditInputError, match="replicates"):
        flip_rate(xr.DataArray(np.empty(0), dims="replicate"), "SPD")
    with pytest.raises(al.AuditInputError, match="point has dims site"):
        flip_rate(replicates(3, 5), "SPD", point=xr.DataArray([0.1], dims="site"))


@given(st.integers(1, 400), st.data())
def test_vfr_exceeds_a_fortieth_exactly_when_the_limit_is_in_the_interval(k, data):
    """VFR repackages the percentile interval of the same replicates, up to one replicate of interpolation."""
    values = np.array(data.draw(st.lists(st.floats(0, 1), min_size=k, max_size=k)))
    found = flip_rate(xr.DataArray(values, dims="replicate"), "SPD")
    held = al.interval(xr.DataArray(values, dims="replicate"))
    inside = float(held.low) <= 0.1 <= float(held.high)
    if float(found.vfr) > 0.025 + 1 / k:
        assert inside
    if float(found.vfr) < 0.025 - 1 / k:
        assert not inside or np.isclose([float(held.low), float(held.high)], 0.1).any()


def test_range_probability_of_equals_is_the_studentized_range():
    for groups in (2, 3, 5, 8):
        for q in (0.5, 1.5, 3.0, 4.5):
            found = range_probability(np.zeros(groups), np.ones(groups), q)
            assert float(found) == pytest.approx(studentized_range.cdf(q, groups, np.inf), abs=2e-6)


def test_range_probability_against_draws_and_bounds():
    rng = np.random.default_rng(1)
    mean, sd = np.array([0.5, 0.55, 0.62, 0.58]), np.array([0.03, 0.01, 0.05, 0.02])
    drawn = np.ptp(rng.normal(mean, sd, (400_000, 4)), axis=1)
    for limit in (0.05, 0.10, 0.20):
        assert float(range_probability(mean, sd, limit)) == pytest.approx((drawn <= limit).mean(), abs=0.003)
    assert float(range_probability(mean, 0 * sd, 0.13)) == pytest.approx(1)
    assert float(range_probability(mean, 0 * sd, 0.11)) == pytest.approx(0)
    assert np.isnan(range_probability(np.array([0.1, np.nan]), np.ones(2), 1.0))


def by_definition(mean, sd, limit, points=40_001):
    """Σ over which is the smallest, each on a grid of its own."""
    z = np.linspace(-9, 9, points)
    weight, total = norm.pdf(z) / norm.pdf(z).sum(), 0.0
    for g in range(len(mean)):
        x, inside = mean[g] + sd[g] * z, np.ones(points)
        for h in (h for h in range(len(mean)) if h != g):
            inside *= norm.cdf((x + limit - mean[h]) / sd[h]) - norm.cdf((x - mean[h]) / sd[h])
        total += inside @ weight
    return total


def test_range_probability_of_unequal_normals_is_the_sum_over_the_smallest():
    rng = np.random.default_rng(2)
    for case in range(40):
        groups, limit = rng.integers(3, 9), rng.choice([0.02, 0.05, 0.1, 0.3])
        sd = 10 ** (rng.uniform(-3, 0, groups) if case % 2 else rng.uniform(-2, -1, groups))
        mean = rng.normal(0.5, 0.1, groups) if case % 3 else np.full(groups, 0.5)
        found = float(range_probability(mean, sd, limit))
        assert found == pytest.approx(by_definition(mean, sd, limit), abs=1e-5)


def test_range_probability_of_many_groups():
    for groups in (20, 21, 100, 441):
        q = np.array([3.0, 5.0, 6.0, 8.0, 12.0, 14.9, 20.0])
        found = range_probability(np.zeros((len(q), groups)), np.ones(groups), q)
        np.testing.assert_allclose(found, studentized_range.cdf(q, groups, np.inf), atol=1e-5)
    assert range_probability(np.zeros((7, 1)), np.ones(1), np.arange(7.0)) == pytest.approx(np.ones(7), abs=1e-9)


def test_range_probability_with_constants():
    within = norm.cdf([1.0, 2.0]) - norm.cdf([-1.0, -2.0])
    # two constants .1 apart, and one normal that has to lie between them; or one constant, and L either side of it
    assert float(range_probability(np.array([0.0, 0.1, 0.05]), np.array([0, 0, 0.05]), 0.1)) == pytest.approx(within[0])
    assert float(range_probability(np.array([0.0, 0.0, 0.0]), np.array([0, 0, 0.05]), 0.1)) == pytest.approx(within[1])
    assert float(range_probability(np.array([0.0, 0.1, 0.05]), np.array([0, 0, 0.05]), 0.09)) == 0
    assert float(range_probability(np.array([0.3, 0.2]), np.zeros(2), 0.1)) == 1
    assert float(range_probability(np.array([0.8, 0.7]), np.zeros(2), 0.1)) == 1  # .1 + 1e-16
    drawn = np.random.default_rng(1).normal([0.4, 0.45, 0.5], [0.05, 0, 0.04], (400_000, 3))
    found = float(range_probability(np.array([0.4, 0.45, 0.5]), np.array([0.05, 0, 0.04]), 0.12))
    assert found == pytest.approx((np.ptp(drawn, axis=1) <= 0.12).mean(), abs=0.003)


def test_range_probability_at_the_ends():
    for groups in (2, 3):
        zeros, ones = np.zeros(groups), np.ones(groups)
        assert float(range_probability(zeros, ones, -1.0)) == 0
        assert float(range_probability(zeros, ones, np.inf)) == 1
        for values in (([np.inf, *zeros[1:]], ones, 1.0), (zeros, ones, np.nan), (zeros, np.inf, 1.0)):
            assert np.isnan(range_probability(*values))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((0.0, 1.0, 1.0), "shapes fit"),
        ((np.zeros((3, 2)), np.ones(3), 1.0), r"\(3, 2\), \(3,\), \(\)"),
        ((np.zeros((3, 2)), np.ones(2), np.ones(2)), "shapes fit"),
        ((["a", "b"], [1, 1], 1.0), "takes numbers"),
        ((np.zeros(2), -np.ones(2), 1.0), "at least 0"),
        ((np.zeros(0), np.zeros(0), 1.0), "no normal"),
    ],
)
def test_range_probability_of_what_does_not_fit(values, words):
    with pytest.raises(al.AuditInputError, match=words):
        range_probability(*values)


def cohort():
    people = RiskCohort.example().frame(6_000, seed=3)
    return al.count(people, label="label", score="true_risk", by="group", thresholds=[0.2])


def test_expected_flip_rate_is_that_of_many_replicates():
    counts = cohort()
    reps = verdict_metrics(counts.resample(20_000, strata="label", seed=1), "group", threshold=0.2)
    found = flip_rate(reps)
    closed = expected_flip_rate(counts, "group", threshold=0.2)
    assert found.vfr.max() > 0.05  # something flips
    np.testing.assert_allclose(closed.p_pass.values, found.p_pass.values, atol=0.012)


def test_expected_flip_rate_at_another_size():
    counts = cohort()
    reps = verdict_metrics(counts.resample(20_000, strata="label", size=1_500, seed=1), "group", threshold=0.2)
    closed = expected_flip_rate(counts, "group", threshold=0.2, size=[1_500, 6_000])
    np.testing.assert_allclose(closed.p_pass.sel(size=1_500), flip_rate(reps).p_pass, atol=0.02)
    whole = expected_flip_rate(counts, "group", threshold=0.2)
    np.testing.assert_allclose(closed.p_pass.sel(size=6_000), whole.p_pass)


def test_expected_flip_rate_where_rates_are_extreme():
    nobody = expected_flip_rate(al.parse_confusion("A:0,0,40,10; B:0,0,30,20"), "group")
    assert np.isnan(nobody.p_pass.sel(metric=["DI", "PP", "Cal"])).all()
    assert nobody.p_pass.sel(metric=["SPD", "EOpp", "EOD"]).values == pytest.approx([1, 1, 1])
    one = expected_flip_rate(al.parse_confusion("A:0,0,40,10; B:10,5,25,10"), "group")
    assert float(one.p_pass.sel(metric="DI")) == pytest.approx(0)
    undefined = expected_flip_rate(al.parse_confusion("A:0,5,45,0; B:20,10,60,10"), "group")
    assert np.isnan(undefined.p_pass.sel(metric=["EOpp", "EOD"])).all()
    assert undefined.p_pass.sel(metric="SPD").notnull()


def test_expected_flip_rate_refuses_patients_with_several_rows():
    import pandas as pd

    frame = pd.DataFrame({"y": [0, 1] * 4, "p": [0.2, 0.8] * 4, "g": list("aabb") * 2, "id": list("qqrrssqq")})
    counts = al.count(frame, label="y", score="p", by="g", thresholds=[0.5], cluster="id")
    with pytest.raises(al.AuditInputError, match="independent"):
        expected_flip_rate(counts, "g", threshold=0.5)
    with pytest.raises(al.AuditInputError, match="size"):
        expected_flip_rate(counts.as_rows(), "g", threshold=0.5, size=0)


def test_closed_form_is_sharper_than_the_normal_formula_near_a_tie():
    """Five groups of one true sensitivity, 100 positives each."""
    table = al.confusion(tp=[70, 72, 68, 71, 69], fp=[10] * 5, fn=[30, 28, 32, 29, 31], tn=[90] * 5, g=list("abcde"))
    reps = np.random.default_rng(1).binomial(100, np.array([0.70, 0.72, 0.68, 0.71, 0.69]), (200_000, 5)) / 100
    spread = np.ptp(reps, axis=1)
    truth = (spread <= 0.1 + 1e-9).mean()
    closed = float(expected_flip_rate(table, "g").p_pass.sel(metric="EOpp"))
    plain = norm.cdf((0.1 - 0.04) / spread.std())
    assert abs(plain - truth) > 0.3
    assert abs(closed - truth) < 0.05  # of which most is that counts are whole numbers


def test_audit_size_by_hand():
    counts = cohort()
    found = audit_size(counts, "group", threshold=0.2, sizes=[500, 2_000, 6_000], repetitions=40, seed=1)
    assert found["size"].values.tolist() == [500, 2_000]  # all 6,000 are no sample
    share = np.array([500, 2_000]) / 6_000
    np.testing.assert_allclose(found.cv_corrected, found.cv / np.sqrt(1 - share))
    for metric in METRICS:
        settled = [n for n in (500, 2_000) if float(found.cv.sel(metric=metric, size=n)) < 0.05]
        n_star = float(found.n_star.sel(metric=metric))
        assert n_star == settled[0] if settled else np.isnan(n_star)


def test_audit_size_precision_is_the_square_law():
    counts = cohort()
    reps = verdict_metrics(counts.resample(4_000, strata="label", seed=2), "group", threshold=0.2)
    found = audit_size(counts, "group", threshold=0.2, sizes=[500], precision=0.02, seed=1)
    sd = float(reps["SPD"].std("replicate"))
    assert float(found.n_precision.sel(metric="SPD")) == pytest.approx(6_000 * (1.96 * sd / 0.02) ** 2, rel=0.15)


def test_settling_size_is_where_the_expected_flip_rate_crosses():
    counts = cohort()
    found = settling_size(counts, "group", threshold=0.2, least=0)
    some = found.dropna("metric").where(found > 100, drop=True)
    assert some.size
    for metric in some["metric"].values:
        n = ceil(float(found.sel(metric=metric)))
        near = expected_flip_rate(counts, "group", threshold=0.2, size=[ceil(0.9 * n), n, ceil(1.1 * n)])
        before, at, after = near.vfr.sel(metric=metric).values
        assert before > 0.1 > after
        assert at == pytest.approx(0.1, abs=0.003)


def test_a_metric_at_its_limit_never_settles():
    table = al.parse_confusion("A:160,100,300,40; B:140,100,300,60")  # sensitivity .8 and .7
    found = settling_size(table, "group")
    assert np.isnan(float(found.sel(metric="EOpp")))
    assert float(found.sel(metric="TI")) == 180  # 30 of 200 in 1,200 with the outcome
    assert float(settling_size(table, "group", least=0).sel(metric="TI")) == 100  # the smallest looked at


def test_every_group_has_thirty_with_and_without_the_outcome():
    table = al.parse_confusion("A:80,10,300,20; B:8,1,11,2")  # 410 and 22 of 432; 10 of B have the outcome, 12 have not
    found, small = settling_size(table, "group"), settling_size(table, "group", least=0)
    assert float(found.sel(metric="TI")) == ceil(432 * 30 / 10)
    assert (found.dropna("metric") == np.maximum(small.dropna("metric"), 1_296)).all()
    assert float(settling_size(table, "group", least=60).sel(metric="TI")) == 2 * 1_296
    stacked = xr.concat([table, 2 * table], "site")
    assert settling_size(stacked, "group").sel(metric="TI").values.tolist() == [1_296, 1_296]
    none = al.parse_confusion("A:80,10,300,20; B:0,1,11,0")  # of B, nobody has the outcome
    assert np.isnan(settling_size(none, "group")).all()
    assert np.isfinite(settling_size(none, "group", least=0).sel(metric="SPD"))
    for least in (-1, float("inf"), "30", True):
        with pytest.raises(al.AuditInputError, match="least"):
            settling_size(table, "group", least=least)


def test_several_groups_tied_at_the_limit_keep_one_flip_rate_at_any_size():
    """With n groups at the top and m at the bottom, 1 in C(n + m, n) orders has none of the one beyond the other."""
    for high, low, chance in ((1, 1, 1 / 2), (2, 1, 1 / 3), (3, 2, 1 / 10)):
        mean = np.array([0.1] * high + [0.0] * low)
        for sd in (1e-2, 1e-4):
            found = float(range_probability(mean, np.full(len(mean), sd), 0.1))
            assert found == pytest.approx(chance, abs=1e-4)


def test_two_groups_are_a_difference_of_normals():
    drawn = np.random.default_rng(1).normal([0.6, 0.55], [0.03, 0.06], (400_000, 2))
    for limit in (0.02, 0.10):
        found = float(range_probability(np.array([0.6, 0.55]), np.array([0.03, 0.06]), limit))
        assert found == pytest.approx((np.ptp(drawn, axis=1) <= limit).mean(), abs=0.003)
    assert np.isnan(range_probability(np.array([0.1, np.nan]), np.ones(2), 1.0))
    many = range_probability(np.zeros((3, 1, 2)), np.ones(2), np.array([0.5, 1.0]))
    assert many.shape == (3, 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"repetitions": 1}, "repetitions"),
        ({"repetitions": 0}, "repetitions"),
        ({"sizes": [10_000]}, "below the 6,000"),
        ({"sizes": [0.5]}, "sizes"),
        ({"sizes": [500], "cv": 0}, "cv"),
        ({"sizes": [500], "precision": -1}, "precision"),
        ({"sizes": [500], "flip": 0.5}, "flip"),
    ],
)
def test_audit_size_errors(options, words):
    with pytest.raises(al.AuditInputError, match=words):
        audit_size(cohort(), "group", threshold=0.2, **options)
