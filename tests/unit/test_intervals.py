"""Intervals: against direct formulas, and NaN where there is nothing to say."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

import auditlib as al
from auditlib.intervals import wilson
from auditlib.metrics import RATES
from auditlib.plots.words import points
from tests.unit.frames import PROPERTY, brute, cohort, count, frames

METRICS = {name: getattr(al, name) for name in RATES}
POINTS = [0.1, 0.3, 0.5]
ZERO = "A:0,5,45,0; B:20,10,60,10; C:30,10,60,10"


def bad(said):
    return pytest.raises(al.AuditInputError, match=said)


def clustered(rows=600, seed=0):
    """Patients of 1–6 encounters that are alike."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(rows), rng.integers(1, 7, rows))[:rows]
    ill = rng.random(rows) < 0.5
    score = np.clip(rng.beta(3, 3, rows)[patient] + rng.normal(0, 0.05, rows), 0, 1).round(2)
    return pd.DataFrame(
        {"y": ill[patient].astype(int), "p": score, "sex": np.where(patient % 3 == 0, "F", "M"), "patient": patient}
    )


# -- effective n -------------------------------------------------------------------------------------------------


def direct(frame, level, name, threshold):
    """Rate, trials and design effect, patient by patient."""
    part = frame[frame["sex"] == level]
    per = [brute(rows, threshold, ["sex"]).loc[level] for _, rows in part.groupby("patient")]
    above, below = RATES[name]
    x = np.array([sum(c[cell] for cell in above) for c in per], dtype=float)
    m = np.array([sum(c[cell] for cell in below) for c in per], dtype=float)
    if not m.sum():
        return np.nan, 0, np.nan
    p, n = x.sum() / m.sum(), m.sum()
    alike = (m**2).sum() / n
    worth = n / alike
    if p in (0, 1) or worth <= 1:
        return p, n, max(alike, 1)
    variance = ((x - p * m) ** 2).sum() / n**2 * worth / (worth - 1)
    return p, n, max(variance / (p * (1 - p) / n), 1)


@pytest.mark.parametrize("name", METRICS)
def test_design_effect_is_the_cluster_robust_variance(name):
    frame = clustered(240)
    found = al.effective(count(frame, by="sex", cluster="patient").at(0.5), METRICS[name])
    for level in ("F", "M"):
        p, n, deff = direct(frame, level, name, 0.5)
        one = found.sel(sex=level)
        assert float(one.estimate) == pytest.approx(p, rel=1e-12)
        assert float(one.n) == n
        assert float(one.deff) == pytest.approx(deff, rel=1e-9)
        assert float(one.n_effective) == pytest.approx(n / deff, rel=1e-9)
    assert float(found.deff.max()) > 1.3  # the test would show a design effect that is always 1


@PROPERTY
@given(frame=frames(), name=st.sampled_from(sorted(METRICS)))
def test_design_effect_of_any_cohort(frame, name):
    found = al.effective(count(frame, by="sex", cluster="patient").at(0.3), METRICS[name])
    for level in frame["sex"].unique():
        p, n, deff = direct(frame, level, name, 0.3)
        one = found.sel(sex=level)
        assert float(one.estimate) == pytest.approx(p, nan_ok=True)
        assert float(one.n) == n
        assert float(one.deff) == pytest.approx(deff, rel=1e-9, nan_ok=True)


def test_patients_of_one_row_have_no_design_effect_to_speak_of():
    frame = cohort(600).assign(patient=np.arange(600))
    by_patient = al.effective(count(frame, by="sex", cluster="patient").at(0.2))
    n = by_patient.n
    assert np.allclose(by_patient.deff, (n / (n - 1)).clip(min=1))
    assert (al.effective(count(frame, by="sex").at(0.2)).deff == 1).all()


def test_a_table_that_lost_its_clusters():
    counts = count(cohort(), cluster="patient")
    for table in (counts.at(0.2).sum("race"), counts.resample(3).by("sex").at(0.2)):
        with bad("rows that belong together by 'patient'.*use counts.by"):
            al.gap_interval(table, "F", "M")
    assert al.gap_interval(counts.by("sex").at(0.2), "F", "M").low < 1


def test_clusters_survive_selection_and_several_thresholds():
    counts = count(clustered(), by="sex", cluster="patient")
    several = al.gap_interval(counts.at([0.4, 0.6]), "F", "M")
    for threshold in (0.4, 0.6):
        one = al.gap_interval(counts.at(threshold), "F", "M")
        assert float(several.low.sel(threshold=threshold)) == pytest.approx(float(one.low), abs=1e-12)
        assert float(al.gap_interval(counts.at([0.4, 0.6]).sel(threshold=threshold), "F", "M").low) == pytest.approx(
            float(one.low)
        )


def test_clusters_widen_the_interval():
    frame = clustered()
    rows = al.gap_interval(count(frame, by="sex").at(0.5), "F", "M")
    patients = al.gap_interval(count(frame, by="sex", cluster="patient").at(0.5), "F", "M")
    assert float(rows.estimate) == float(patients.estimate)
    assert float(patients.high - patients.low) > 1.15 * float(rows.high - rows.low)


# -- one rate, two rates -----------------------------------------------------------------------------------------


def limits(x, n, z):
    """Wilson's limits as roots of (x/n − p)² = z² p(1 − p)/n."""
    return sorted(np.roots([1 + z**2 / n, -(2 * x / n + z**2 / n), (x / n) ** 2]).real)


@PROPERTY
@given(n=st.integers(1, 10**5), share=st.floats(0, 1), level=st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_solves_its_equation(n, share, level):
    x, z = round(n * share), stats.norm.ppf((1 + level) / 2)
    low, high = wilson(x / n, n, z)
    assert (low, high) == pytest.approx(limits(x, n, z), abs=1e-7)
    assert -1e-12 <= low <= x / n + 1e-12
    assert x / n - 1e-12 <= high <= 1 + 1e-12


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [  # Newcombe 1998, Stat Med 17:873, Table II, method 10, examples (a) to (h)
        ("a:56,0,0,14; b:48,0,0,32", 0.0524, 0.3339),
        ("a:9,0,0,1; b:3,0,0,7", 0.1705, 0.8090),
        ("a:6,0,0,1; b:2,0,0,5", 0.0582, 0.8062),
        ("a:5,0,0,51; b:0,0,0,29", -0.0381, 0.1926),
        ("a:0,0,0,10; b:0,0,0,20", -0.1611, 0.2775),
        ("a:0,0,0,10; b:0,0,0,10", -0.2775, 0.2775),
        ("a:10,0,0,0; b:0,0,0,20", 0.6791, 1.0000),
        ("a:10,0,0,0; b:0,0,0,10", 0.6075, 1.0000),
    ],
)
def test_newcombes_own_examples(text, low, high):
    found = al.gap_interval(al.parse_confusion(text), "a", "b")
    assert float(found.low) == pytest.approx(low, abs=5.1e-5)
    assert float(found.high) == pytest.approx(high, abs=5.1e-5)


@pytest.mark.parametrize("name", METRICS)
def test_gap_intervals_of_every_rate(name):
    table = al.parse_confusion("A:8,5,45,2; B:20,10,60,10")
    found, other = (al.gap_interval(table, *pair, metric=METRICS[name]) for pair in ("AB", "BA"))
    assert float(found.estimate) == pytest.approx(float(al.gap(METRICS[name](table), "A", "B")))
    assert float(found.low) == pytest.approx(-float(other.high))
    assert float(found.high) == pytest.approx(-float(other.low))
    assert -1 <= float(found.low) < float(found.estimate) < float(found.high) <= 1
    assert float(found.n_a) == float(other.n_b)
    wider = al.gap_interval(table, "A", "B", metric=METRICS[name], level=0.99)
    assert wider.low < found.low
    assert wider.high > found.high


def test_rate_interval_brackets_the_rate():
    table = count(cohort()).at([0.2, 0.5])
    found = al.rate_interval(table, al.specificity)
    assert found.low.dims == ("sex", "race", "threshold")
    assert ((found.low <= found.estimate) & (found.estimate <= found.high)).all()
    assert found.estimate.equals(al.specificity(table).reset_coords(drop=True))


@pytest.mark.parametrize("name", METRICS)
def test_undefined_is_nan_in_every_interval(name):
    """A has nobody at all."""
    table = al.parse_confusion("A:0,0,0,0; B:20,10,60,10; C:30,10,60,10")
    metric = METRICS[name]
    one, gap, spread = al.rate_interval(table, metric), al.gap_interval(table, "A", "B", metric=metric), None
    spread = al.spread_interval(table, "group", metric=metric)
    assert np.isnan([one[k].sel(group="A") for k in ("estimate", "low", "high")]).all()
    assert np.isfinite([one[k].sel(group="B") for k in ("estimate", "low", "high")]).all()
    assert np.isnan([gap[k] for k in ("estimate", "low", "high")]).all()
    assert (float(gap.n_a), float(gap.n_b) > 0) == (0, True)
    assert np.isnan([spread[k] for k in ("estimate", "low", "high")]).all()
    assert np.isfinite(float(al.gap_interval(table, "B", "C", metric=metric).low))


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, "0.95", None, True, np.nan])
def test_level(level):
    table = al.parse_confusion(ZERO)
    reps = xr.DataArray(np.arange(9.0), dims="replicate")
    for call in (
        lambda: al.gap_interval(table, "B", "C", level=level),
        lambda: al.rate_interval(table, level=level),
        lambda: al.spread_interval(table, "group", level=level),
        lambda: al.interval(reps, level),
    ):
        with bad("level must lie between 0 and 1, such as 0.95, not"):
            call()


def test_what_has_no_interval():
    table = al.parse_confusion(ZERO)
    with bad("auroc is not a rate of one table; the rates are"):
        al.gap_interval(table, "A", "B", metric=al.auroc)
    with bad("'A' and 'X' are not levels of one dim. There is group: A, B, C"):
        al.gap_interval(table, "A", "X")
    with bad("'sex' is not a dim of these values; they have: group"):
        al.spread_interval(table, "sex")
    with bad("intervals take a table of tp, fp, fn, tn over named dims"):
        al.gap_interval({"tp": 1}, "A", "B")
    with bad("intervals take a table of tp, fp, fn, tn over named dims"):
        al.rate_interval(al.sensitivity(table))


# -- spread ------------------------------------------------------------------------------------------------------


@PROPERTY
@given(rows=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 60)), min_size=2, max_size=5))
def test_spread_interval_pair_by_pair(rows):
    hits, misses = np.array(rows).T
    zeros = np.zeros(len(rows), dtype=int)
    names = [f"g{k}" for k in range(len(rows))]
    table = al.confusion(tp=hits, fn=misses, fp=zeros, tn=zeros, group=names)
    found = al.spread_interval(table, "group")
    joint = stats.studentized_range.ppf(0.95, len(rows), np.inf) / np.sqrt(2)
    z = stats.norm.ppf(0.975)
    low, high = 0.0, 0.0
    for a in range(len(rows)):
        for b in range(len(rows)):
            p, q, n, m = hits[a] / sum(rows[a]), hits[b] / sum(rows[b]), sum(rows[a]), sum(rows[b])
            strict, plain = [(limits(hits[a], n, k), limits(hits[b], m, k)) for k in (joint, z)]
            low = max(low, p - q - np.sqrt((p - strict[0][0]) ** 2 + (strict[1][1] - q) ** 2))
            high = max(high, p - q + np.sqrt((plain[0][1] - p) ** 2 + (q - plain[1][0]) ** 2))
    assert float(found.low) == pytest.approx(low, abs=1e-6)
    assert float(found.high) == pytest.approx(high, abs=1e-6)
    assert float(found.estimate) == pytest.approx(float(al.spread(al.sensitivity(table), "group")))
    assert 0 <= found.low <= found.estimate <= found.high


def test_spread_of_two_groups_agrees_with_their_gap():
    table = al.parse_confusion("A:50,0,0,50; B:80,0,0,20")
    gap, spread = al.gap_interval(table, "B", "A"), al.spread_interval(table, "group")
    assert float(spread.low) == pytest.approx(float(gap.low), abs=1e-6)  # q(.95; 2)/√2 is 1.96
    assert float(spread.high) == pytest.approx(float(gap.high), abs=1e-9)


def test_spread_keeps_other_dims():
    found = al.spread_interval(count(cohort(), score=["p", "q"]).at([0.2, 0.5]), "race")
    assert found.low.dims == ("sex", "model", "threshold")


# -- replicates --------------------------------------------------------------------------------------------------


def test_percentiles_and_the_share_undefined():
    values = xr.DataArray([np.arange(101.0), [*range(50), *[np.nan] * 51], [np.nan] * 101], dims=["group", "replicate"])
    found = al.interval(values, 0.9)
    assert np.allclose(found.low, [5, *np.quantile(range(50), [0.05]), np.nan], equal_nan=True)
    assert np.allclose(found.high, [95, *np.quantile(range(50), [0.95]), np.nan], equal_nan=True)
    assert found.undefined.values.tolist() == [0.0, 51 / 101, 1.0]
    assert found.low.dims == ("group",)


def test_nothing_defined_at_all():
    """Once a crash: not one replicate in which the metric exists."""
    found = al.interval(xr.DataArray([np.nan] * 5, dims="replicate"))
    assert np.isnan([found.low, found.high]).all()
    assert float(found.undefined) == 1.0
    nobody = count(cohort(y=0), by="sex").resample(20, seed=0).at(0.2)
    found = al.interval(al.gap(al.sensitivity(nobody), "F", "M"))
    assert (np.isnan(float(found.low)), float(found.undefined)) == (True, 1.0)


def test_infinite_counts_as_undefined():
    found = al.interval(xr.DataArray([1.0, 2.0, np.inf, 3.0], dims="replicate"))
    assert float(found.undefined) == 0.25
    assert np.isfinite(float(found.high))


def test_interval_of_what_is_not_resampled():
    for thing in (al.sensitivity(count(cohort()).at(0.2)), np.arange(9.0), 0.5):
        with bad(r"takes a DataArray of replicates"):
            al.interval(thing)


def test_interval_of_a_dataset_says_which_part_to_take():
    table = count(cohort()).by("sex").resample(20, seed=0).at(0.2)
    parts = al.split_gap(table, "F", "M")
    said = r"a Dataset of prevalence, performance, total: take one of them, or \.to_dataarray\(\"part\"\) of it"
    with bad(said):
        al.interval(parts)
    whole, one = al.interval(parts.to_dataarray("part")), al.interval(parts["prevalence"])
    np.testing.assert_array_equal(whole.low.sel(part="prevalence"), one.low)


def test_the_estimate_stands_beside_the_limits():
    counts = count(cohort(), by="sex")
    again, table = counts.cut(0.2).resample(300, strata="sex", seed=0).at(0.2), counts.at(0.2)
    alone, found = (
        al.interval(al.sensitivity(again), 0.9, **given) for given in ({}, {"estimate": al.sensitivity(table)})
    )
    assert list(found) == ["estimate", "low", "high", "undefined"]
    assert set(found.coords) == {"sex"}
    np.testing.assert_array_equal(found["estimate"], al.sensitivity(table))
    np.testing.assert_array_equal(found["low"], alone["low"])
    one = al.interval(al.gap(al.sensitivity(again), "F", "M"), estimate=al.gap(al.sensitivity(table), "F", "M"))
    assert al.tidy(one).columns.tolist() == ["estimate", "low", "high", "undefined"]
    expected = float(al.gap_interval(table, "F", "M")["estimate"])
    assert float(al.tidy(one)["estimate"].iloc[0]) == round(expected, 3)
    assert points(one).startswith(f"{100 * expected:+.1f} (".replace("-", "−"))
    assert float(al.interval(al.gap(al.sensitivity(again), "F", "M"), estimate=0.25)["estimate"]) == 0.25


def test_an_estimate_of_something_else_is_refused():
    counts = count(cohort(), by="sex")
    again, rate = al.sensitivity(counts.resample(20, seed=0).at(0.2)), al.sensitivity(counts.at(0.2))
    for other in (0.1, rate.rename(sex="gender"), rate.isel(sex=[1, 0]), rate.isel(sex=[0]), again, rate.astype(str)):
        with bad(r"is not of the same dims and levels as the replicates \(sex\): take both from the same counts"):
            al.interval(again, estimate=other)


def test_metrics_may_be_given_by_position():
    counts = count(cohort(), by="sex")
    table, again = counts.at([0.2, 0.4]), counts.cut([0.2, 0.4]).resample(100, strata="sex", seed=0).at([0.2, 0.4])
    for call in (
        lambda *metric, **named: al.gap_interval(table, "F", "M", *metric, **named),
        lambda *metric, **named: al.spread_interval(table, "sex", *metric, **named),
        lambda *metric, **named: al.band(table, again, "F", "M", *metric, **named),
        lambda *metric, **named: al.gap_curve(
            counts, "F", "M", *metric, thresholds=[0.2, 0.4], replicates=100, seed=1, **named
        ),
    ):
        xr.testing.assert_identical(call(al.specificity), call(metric=al.specificity))
        assert not call(al.specificity).equals(call())


@pytest.mark.parametrize("kind", [str, bool, object])
def test_interval_of_what_are_no_numbers(kind):
    with bad(r"the replicates must be numbers, but hold"):
        al.interval(xr.DataArray([0.0, 1.0], dims="replicate").astype(kind))


def test_percentile_interval_of_a_gap_is_numpys():
    reps = count(cohort()).by("sex").resample(300, strata="sex", seed=0).at(0.2)
    gaps = al.gap(al.sensitivity(reps), "F", "M")
    found = al.interval(gaps)
    assert [float(found.low), float(found.high)] == pytest.approx(np.quantile(gaps.values, [0.025, 0.975]).tolist())


# -- bands -------------------------------------------------------------------------------------------------------


def band(thresholds, frame=None, n=400, **options):
    counts = count(cohort(1500) if frame is None else frame, by="sex")
    return al.band(counts.at(thresholds), counts.resample(n, strata="sex", seed=0).at(thresholds), "F", "M", **options)


def test_band_by_hand():
    thresholds = [0.1, 0.3, 0.5]
    counts = count(cohort(1500), by="sex")
    table, reps = counts.at(thresholds), counts.resample(400, strata="sex", seed=0).at(thresholds)

    def gap_and_error(tab):
        x, m = tab["tp"], tab["tp"] + tab["fn"]
        moved = (x + 2) / (m + 4)
        error = np.sqrt((moved * (1 - moved) / m).sum("sex"))
        return (x / m).sel(sex="F", drop=True) - (x / m).sel(sex="M", drop=True), error

    (centre, error), (again, errors) = gap_and_error(table), gap_and_error(reps)
    c = float(np.quantile(abs((again - centre) / errors).max("threshold"), 0.95))
    found = al.band(table, reps, "F", "M")
    assert float(found.c) == pytest.approx(c)
    assert np.allclose(found.estimate, centre)
    assert np.allclose(found.low, centre - c * error)
    assert np.allclose(found.high, centre + c * error)
    assert found.undefined.values.tolist() == [0, 0, 0]


def few(a, b):
    """Counts of scores .9 (found), .5 and .1 (missed) of those with the outcome, and 30 people a group without it."""
    rows = [("F", 1, p) for p in a] + [("M", 1, p) for p in b] + [("F", 0, 0.1), ("M", 0, 0.1)] * 30
    return count(pd.DataFrame(rows, columns=["sex", "y", "p"]), by="sex")


def moved(*pairs):
    """The standard error of a gap of x of m and another, each moved by two events and two others."""
    moved = [((x + 2) / (m + 4), m) for x, m in pairs]
    return np.sqrt(sum(p * (1 - p) / m for p, m in moved))


def test_no_band_is_narrower_than_one_threshold_needs():
    """Where replicates can only repeat the data (3 v 3, all found or none) c would be 0."""
    counts = few([0.9] * 3, [0.1] * 3)
    found = al.band(counts.at([0.5, 0.8]), counts.resample(200, strata="sex", seed=1).at([0.5, 0.8]), "F", "M")
    z = stats.norm.ppf(0.975)
    assert float(found.c) == pytest.approx(z)
    assert found.low.values == pytest.approx([1 - z * moved((3, 3), (0, 3))] * 2)
    assert found.high.values.tolist() == [1, 1]  # no gap is larger
    wide = al.band(counts.at([0.5]), counts.resample(600, seed=1).at([0.5]), "F", "M", level=0.99)
    assert float(wide.c) == pytest.approx(stats.norm.ppf(0.995))


def test_one_person_against_a_hundred():
    counts = few([0.9], [0.9] * 50 + [0.1] * 50)
    found = al.gap_curve(counts, "F", "M", thresholds=[0.5], seed=1, replicates=500)
    assert float(found.c) == pytest.approx(stats.norm.ppf(0.975))
    assert float(found.band_low[0]) == pytest.approx(0.5 - 1.959964 * moved((1, 1), (50, 100)))
    assert float(found.band_low[0]) < 0 < float(found.band_high[0])
    assert bool(found.small[0])
    assert float(found.undefined[0]) == pytest.approx((30 / 31) ** 31, abs=0.07)  # nobody ill among 31 drawn


def test_ten_flagged_and_all_ill_against_ten_and_none():
    table = al.confusion(
        tp=[[10], [0]], fp=[[0], [10]], fn=[[0], [10]], tn=[[30], [30]], sex=["F", "M"], threshold=[0.5]
    )
    found = al.band(table, table.expand_dims(replicate=100), "F", "M", metric=al.ppv)
    assert float(found.low[0]) == pytest.approx(1 - 1.959964 * moved((10, 10), (0, 10)))
    assert float(found.high[0]) == 1


def test_band_is_wider_over_more_thresholds():
    one, many = band([0.3]), band([0.1, 0.2, 0.3, 0.4, 0.5])
    assert 1.7 < float(one.c) < 2.3
    assert float(many.c) > float(one.c)
    assert float(band([0.3], level=0.8).c) < float(one.c)


def test_band_where_a_gap_is_undefined():
    """PPV at 0.99: in one group nobody is flagged."""
    frame = cohort(1500)
    frame.loc[(frame["sex"] == "F") & (frame["p"] > 0.8), "p"] = 0.8
    found = band([0.3, 0.9], frame, metric=al.ppv)
    assert np.isnan([found[name].sel(threshold=0.9) for name in ("estimate", "low", "high")]).all()
    assert np.isfinite([found[name].sel(threshold=0.3) for name in ("estimate", "low", "high")]).all()
    nothing = band([0.3, 0.9], cohort(y=0))
    assert np.isnan(nothing.low).all()
    assert np.isnan(float(nothing.c))


def test_band_needs_both_tables():
    counts = count(cohort(), by="sex")
    for table, reps in (
        (counts.at(0.2), counts.resample(100).at(0.2)),
        (counts.at([0.2]), counts.at([0.2])),
        (counts.at([0.2]), counts.resample(100).at(0.2)),
        (counts.resample(100).at([0.2]), counts.resample(100).at([0.2])),
    ):
        with bad("a band needs a table over 'threshold' and its replicates"):
            al.band(table, reps, "F", "M")


def test_band_of_what_is_no_table():
    counts = count(cohort(900), by="sex")
    table, reps = counts.at(POINTS), counts.resample(100, strata="sex", seed=1).at(POINTS)
    for other in (None, {"tp": 1}, table["tp"], reps[["tp", "fp"]]):
        for pair in ((other, reps), (table, other)):
            with bad("intervals take a table of tp, fp, fn, tn over named dims"):
                al.band(*pair, "F", "M")
    for pair in ((table > 0, reps), (table, reps > 0), (table - 10**6, reps), (table, -reps)):
        with bad("must be counts of at least 0"):
            al.band(*pair, "F", "M")
    with bad("a band at level 0.95 needs at least 100 replicates, but has 99"):
        al.band(table, reps.isel(replicate=slice(99)), "F", "M")
    with bad("a band at level 0.951 needs at least 103 replicates, but has 100"):
        al.band(table, reps, "F", "M", level=0.951)
    for over in ("age", "replicate", None):
        with bad("a band needs a table over"):
            al.band(table, reps, "F", "M", over=over)
    with bad("the gap is one of levels of 'sex', so there is no curve over it"):
        al.band(table, reps, "F", "M", over="sex")
    for turned in (reps.isel(threshold=[1, 0, 2]), reps.isel(sex=[1, 0]), counts.resample(100).at([0.1, 0.3, 0.6])):
        with bad("a band needs a table and replicates of it, but their"):
            al.band(table, turned, "F", "M")


def test_replicates_of_other_data_are_told_where_none_comes_near():
    ours, theirs = count(cohort(2000), by="sex"), count(cohort(2000).assign(y=lambda f: 1 - f["y"]), by="sex")
    reps = theirs.resample(200, strata="sex", seed=1).at(POINTS)
    with bad("in one group all replicates lie more than a standard error to one side of the table"):
        al.band(ours.at(POINTS), reps, "F", "M", metric=al.ppv)
    assert np.isfinite(float(al.band(theirs.at(POINTS), reps, "F", "M", metric=al.ppv).c))


def test_replicates_of_clusters_of_subsamples_and_without_strata_are_the_tables_own():
    """Patients of 100 rows each: replicates lie far apart, and the data still in their midst."""
    frame = clustered(4000).assign(patient=lambda f: f.index // 100)
    by_patient = frame.groupby("patient")[["y", "p", "sex"]].transform("first").assign(patient=frame["patient"])
    for held, options in (
        (count(by_patient, by="sex", cluster="patient"), {}),
        (count(frame, by="sex"), {"size": 60, "replace": False}),
        (count(frame, by="sex"), {"strata": "sex"}),
    ):
        for seed in range(5):
            reps = held.resample(100, seed=seed, **options).at(POINTS)
            assert float(al.band(held.at(POINTS), reps, "F", "M").c) >= 1.95


def test_points_a_band_is_for():
    counts = count(cohort(1500), by=["sex", "race"])
    table, reps = counts.at(POINTS), counts.resample(200, seed=1).at(POINTS)
    kept = xr.DataArray([True, False, True], {"threshold": POINTS}, ["threshold"])
    found = al.band(table, reps, "F", "M", where=kept)
    alone = al.band(table.sel(threshold=[0.1, 0.5]), reps.sel(threshold=[0.1, 0.5]), "F", "M")
    assert np.allclose(found.c, alone.c)
    assert np.allclose(found.low.sel(threshold=[0.1, 0.5]), alone.low)
    for name in ("estimate", "low", "high", "undefined"):
        assert found[name].sel(threshold=0.3).isnull().all()
    one = kept.expand_dims(race=list(table.race.values)).copy()
    one[{"race": 0}] = False
    assert np.isnan(float(al.band(table, reps, "F", "M", where=one).c[0]))
    none = al.band(table, reps, "F", "M", where=xr.zeros_like(kept))
    assert np.isnan(none.c).all()
    for other in (
        [True] * 3,
        np.array([True] * 3),
        "threshold",
        kept.astype(int),
        kept.astype(float),
        kept.drop_vars("threshold"),
        kept.isel(threshold=[2, 1, 0]),
        kept.isel(threshold=[0, 2]),
        kept.assign_coords(threshold=[0.1, 0.3, 0.6]),
        kept.rename(threshold="age"),
        xr.DataArray([True, False], {"sex": ["F", "M"]}, ["sex"]),
    ):
        with bad("where must be a DataArray of truth values over .* with the coordinates of the table"):
            al.band(table, reps, "F", "M", where=other)


@PROPERTY
@given(frame=frames(), name=st.sampled_from(sorted(METRICS)), options=st.sampled_from([{}, {"cluster": "patient"}]))
def test_no_interval_crashes_or_leaves_its_range(frame, name, options):
    assume(frame["sex"].nunique() == 2)
    table, metric = count(frame, by="sex", **options).at(0.3), METRICS[name]
    gap, spread = al.gap_interval(table, "F", "M", metric=metric), al.spread_interval(table, "sex", metric=metric)
    known = not np.isnan(float(gap.estimate))
    assert known == (not np.isnan(float(al.gap(metric(table), "F", "M"))))
    if known:
        assert -1 - 1e-9 <= gap.low <= gap.estimate + 1e-9 <= gap.high + 2e-9 <= 1 + 3e-9
        assert 0 <= spread.low <= spread.estimate + 1e-9 <= spread.high + 2e-9 <= 1 + 3e-9
    else:
        assert np.isnan([gap.low, gap.high, spread.low, spread.high, spread.estimate]).all()


def test_auroc_interval_is_that_of_hanley_and_mcneil():
    # By hand: [.16 + 49(2/3 − .64) + 99(.71111 − .64)] / 5000 = .0017013
    low, high = al.auroc_interval(0.8, 50, 100)
    assert (high - low) / 2 / 1.959964 == pytest.approx(0.0017013**0.5, abs=1e-5)
    for bad in ((1.2, 5, 5), (0.5, 0, 5), (0.5, 5, 0)):
        with pytest.raises(al.AuditInputError, match="area"):
            al.auroc_interval(*bad)


def test_auroc_interval_covers():
    rng = np.random.default_rng(3)
    positive, negative = rng.normal(1.0, 1, (400, 40)), rng.normal(0.0, 1, (400, 80))
    areas = (positive[:, :, None] > negative[:, None, :]).mean(axis=(1, 2))
    truth = 0.7602  # Φ(1/√2)
    limits = np.array([al.auroc_interval(area, 40, 80) for area in areas])
    assert ((limits[:, 0] <= truth) & (truth <= limits[:, 1])).mean() >= 0.93


def test_tidy_keeps_groups_and_whole_numbers():
    table = al.tidy(al.rate_interval(al.parse_confusion("A:8,0,10,2; B:80,0,10,20")))
    assert table["n"].tolist() == [10, 100]
    assert table["n"].dtype == "int64"
    assert table.loc["A", "estimate"] == 0.8
    assert table.index.name == "group"


@pytest.fixture(scope="module")
def straddled():
    """500 patients of 6 rows, over two groups g and two others h."""
    rng = np.random.default_rng(4)
    patient = np.repeat(np.arange(500), 6)
    risk = np.clip(np.repeat(rng.random(500), 6) + rng.normal(0, 0.1, 3000), 0, 1)
    frame = pd.DataFrame({
        "y": rng.integers(0, 2, 3000), "p": risk, "patient": patient,
        "g": np.where(patient % 2, "a", "b"), "h": rng.choice(["u", "v"], 3000),
    })  # fmt: skip
    return al.count(frame, label="y", score="p", by=["g", "h"], cluster="patient", thresholds=[0.5])


def test_the_clusters_of_a_table_are_never_lost_in_silence(straddled):
    whole, right = straddled.at(0.5), al.gap_interval(straddled.by("g").at(0.5), "a", "b")
    rows = al.gap_interval(straddled.by("g").as_rows().at(0.5), "a", "b")
    assert float(right.high - right.low) > 1.5 * float(rows.high - rows.low)
    group = straddled.by("g").at(0.5)
    changed = {
        "summed": whole.sum("h"),
        "summed without attributes": whole.sum("h", keep_attrs=False),
        "rebuilt from sums": xr.Dataset({cell: whole[cell].sum("h") for cell in ("tp", "fp", "fn", "tn")}),
        "cumulated": whole.cumsum("h").isel(h=-1),
        "through pandas": group.drop_vars("unit_moments").to_dataframe().to_xarray(),
        "doubled": group + group,
        "scaled": group * 4,
        "edited": group.assign(tp=group.tp * 10, fn=group.fn * 10),
        "pooled": xr.concat([group, group], "site").sum("site"),
    }
    for table in changed.values():
        with pytest.raises(al.AuditInputError, match=r"was (summed|changed) after \.at"):
            al.gap_interval(table, "a", "b")


def test_selecting_and_renaming_keep_the_clusters(straddled):
    group = straddled.by("g").at([0.4, 0.5]) if 0.4 in straddled.edges.lower else straddled.by("g").at([0.5])
    one = al.gap_interval(group.isel(threshold=-1), "a", "b")
    other = al.gap_interval(group.rename(g="sex").isel(threshold=-1).sel(sex=["b", "a"]), "a", "b")
    assert float(one.low) == float(other.low)


def test_few_patients_take_the_t_law():
    # 3 patients with 10 rows each: k = 3, so 2 degrees of freedom
    rows = pd.DataFrame({
        "y": 1, "p": np.repeat([0.9, 0.9, 0.1], 10), "g": "a", "patient": np.repeat([0, 1, 2], 10),
    })  # fmt: skip
    table = al.count(rows, label="y", score="p", by="g", cluster="patient").at(0.5)
    found = al.effective(table).sel(g="a")
    assert float(found.patients) == pytest.approx(3)
    z = stats.norm.ppf(0.975)
    p, worth = 2 / 3, float(found.n_effective) * (z / stats.t.ppf(0.975, 2)) ** 2
    centre, half = p + z**2 / 2 / worth, z * np.sqrt(p * (1 - p) / worth + z**2 / 4 / worth**2)
    limits = al.rate_interval(table).sel(g="a")
    assert float(limits.low) == pytest.approx((centre - half) / (1 + z**2 / worth))
    assert float(limits.high) == pytest.approx((centre + half) / (1 + z**2 / worth))


def test_one_patient_says_nothing():
    rows = pd.DataFrame({"y": 1, "p": 0.9, "g": "a", "patient": [1] * 50})
    limits = al.rate_interval(al.count(rows, label="y", score="p", by="g", cluster="patient").at(0.5)).sel(g="a")
    assert float(limits.low) < 0.25
    assert float(limits.high) == pytest.approx(1.0)


def test_a_spread_over_too_many_groups_is_refused():
    many = al.confusion(tp=np.ones(9000), fp=np.ones(9000), fn=np.ones(9000), tn=np.ones(9000), group=range(9000))
    with pytest.raises(al.AuditInputError, match="81,000,000 pairs"):
        al.spread_interval(many, "group")


def test_spread_of_two_groups_has_the_limits_of_their_gaps():
    """A group is no pair with itself: the upper limit is the larger of the two gaps' upper limits."""
    table = al.parse_confusion("A:8,10,10,2; B:800,10,10,200")
    upper = max(float(al.gap_interval(table, *pair)["high"]) for pair in (("A", "B"), ("B", "A")))
    assert float(al.spread_interval(table, "group")["high"]) == pytest.approx(upper, rel=1e-12)
    assert upper < 0.32
