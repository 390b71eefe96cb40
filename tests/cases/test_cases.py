"""Inputs that break tools of this kind, and the right answers (numbers as in the project's list of cases)."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import auditlib as al
from auditlib.metrics import RATES
from tests.unit.frames import ENGINES

METRICS = {name: getattr(al, name) for name in RATES}
LIMITS = ("estimate", "low", "high")


def bad(said):
    return pytest.raises(al.AuditInputError, match=said)


def rows_of(text):
    """Patients whose counts at 0.5 are those of the text."""
    table = al.parse_confusion(text)
    parts = []
    for group in table["group"].values:
        for cell, (label, score) in {"tp": (1, 0.9), "fp": (0, 0.9), "fn": (1, 0.1), "tn": (0, 0.1)}.items():
            n = int(table[cell].sel(group=group))
            parts.append(pd.DataFrame({"y": [label] * n, "p": [score] * n, "group": [group] * n}))
    return pd.concat(parts, ignore_index=True).assign(patient=lambda frame: frame.index)


def entries(text):
    """The table by every road: typed, counted, counted with clusters, read back, as text."""
    frame = rows_of(text)
    counts = al.count(frame, label="y", score="p", by="group")
    return {
        "typed": al.parse_confusion(text),
        "counted": counts.at(0.5),
        "clustered": al.count(frame, label="y", score="p", by="group", cluster="patient").at(0.5),
        "cut": counts.cut(0.5).at(0.5),
        "one of several thresholds": counts.at([0.5, 0.2]).isel(threshold=0),
    }


ROADS = ["typed", "counted", "clustered", "cut", "one of several thresholds"]

# -- 1: a group without positives --------------------------------------------------------------------------------

CASE1 = "A:0,5,45,0; B:20,10,60,10"


@pytest.mark.parametrize("road", ROADS)
def test_case_1_sensitivity_of_a_group_without_positives(road):
    table = entries(CASE1)[road]
    values = al.sensitivity(table)
    assert np.isnan(values.sel(group="A"))
    assert float(values.sel(group="B")) == pytest.approx(2 / 3)
    assert np.isnan(al.gap(values, "A", "B"))
    assert np.isnan(al.gap(values, "B", "A"))
    assert np.isnan(al.spread(values, "group"))
    assert np.isnan(al.ratio(values, "group"))
    for found in (
        al.gap_interval(table, "A", "B"),
        al.spread_interval(table, "group"),
        al.rate_interval(table).sel(group="A"),
    ):
        assert np.isnan([float(found[name]) for name in LIMITS]).all()
    assert bool(al.small(table).sel(group="A"))
    # what A does have is there
    assert float(al.specificity(table).sel(group="A")) == 0.9
    assert float(al.ppv(table).sel(group="A")) == 0
    assert float(al.prevalence(table).sel(group="A")) == 0
    assert np.isfinite(float(al.theil(table, "group")))


def test_case_1_equalized_odds_difference_is_undefined():
    """EOD = max of two spreads, one of them NaN; one public tool says .667."""
    table = al.parse_confusion(CASE1)
    spreads = xr.concat(
        [al.spread(al.sensitivity(table), "group"), al.spread(al.false_positive_rate(table), "group")], "part"
    )
    assert np.isnan(spreads.max("part", skipna=False))
    assert float(spreads[1]) == pytest.approx(10 / 70 - 5 / 50)


def test_case_1_in_every_replicate():
    counts = al.count(rows_of(CASE1), label="y", score="p", by="group")
    gaps = al.gap(al.sensitivity(counts.resample(50, strata="group", seed=0).at(0.5)), "A", "B")
    assert np.isnan(gaps).all()
    found = al.interval(gaps)
    assert np.isnan([float(found.low), float(found.high)]).all()
    assert float(found.undefined) == 1.0
    assert np.isnan(al.auroc(counts).sel(group="A"))
    assert al.auroc(counts).sel(group="B") > 0.5


# -- 2: nobody flagged -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("road", ROADS)
def test_case_2_nobody_flagged(road):
    table = entries("A:0,0,40,10; B:0,0,30,20")[road]
    assert np.isnan(al.ppv(table)).all()
    assert np.isnan(al.spread(al.ppv(table), "group"))
    assert np.isnan(al.ratio(al.selection_rate(table), "group"))  # 0/0
    for metric in (al.selection_rate, al.sensitivity, al.false_positive_rate):
        assert metric(table).values.tolist() == [0, 0]
        assert float(al.spread(metric(table), "group")) == 0
        assert float(al.gap(metric(table), "A", "B")) == 0
        interval = al.gap_interval(table, "A", "B", metric=metric)
        assert float(interval.low) < 0 < float(interval.high)
        assert float(al.spread_interval(table, "group", metric=metric).low) == 0
    assert np.isnan(float(al.gap_interval(table, "A", "B", metric=al.ppv).low))
    assert float(al.npv(table).sel(group="A")) == 0.8


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("text", ["A:0,0,0,0; B:1,1,1,1", "A:9,0,0,0; B:0,9,0,0", "A:0,0,9,0; B:0,0,0,9"])
def test_case_1_and_2_whole_kind(name, text):
    """A rate is NaN exactly where its denominator is 0, never 0 or 1 instead."""
    table = al.parse_confusion(text)
    below = sum(table[cell] for cell in RATES[name][1])
    assert (np.isnan(METRICS[name](table)) == (below == 0)).all()


# -- 3: labels that need positive= -------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_case_3_text_labels(engine):
    frame = ENGINES[engine](pd.DataFrame({"y": ["yes", "no", "yes"], "p": [0.9, 0.2, 0.1], "sex": ["F", "F", "F"]}))
    with bad(r"label 'y' holds text \('no', 'yes'\); positive= says which value counts"):
        al.count(frame, label="y", score="p", by="sex")
    table = al.count(frame, label="y", score="p", by="sex", positive="yes").at(0.5).sel(sex="F")
    assert [int(table[cell]) for cell in ("tp", "fp", "fn", "tn")] == [1, 0, 1, 1]


# -- 4: missing values -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("column", "what"), [("y", "label"), ("p", "score"), ("sex", "group")])
def test_case_4_missing_values(engine, column, what):
    frame = pd.DataFrame({"y": [1.0, 0, 1, 0], "p": [0.9, 0.2, 0.1, 0.6], "sex": ["F", "M", "F", "M"]})
    frame.loc[1:2, column] = None
    given = ENGINES[engine](frame)
    with bad(f"{what} '{column}': 2 of 4 rows have no value"):
        al.count(given, label="y", score="p", by="sex")
    if what != "group":
        with bad(f"{what} '{column}': 2 of 4 rows .*{what}s are never filled"):
            al.count(given, label="y", score="p", by="sex", missing="category")
        return
    table = al.count(given, label="y", score="p", by="sex", missing="category").at(0.5)
    assert table["sex"].values.tolist() == ["F", "M", "missing"]
    assert table["fn"].values.tolist() == [0, 0, 1]
    assert table["tn"].values.tolist() == [0, 0, 1]


# -- 5: scores outside 0–1 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("values", [[0.2, 1.3], [0.2, np.inf], [-0.1, 0.5]], ids=str)
@pytest.mark.parametrize("bins", [200, None])
def test_case_5_scores_outside(engine, values, bins):
    frame = pd.DataFrame({"y": [0, 1], "p": values, "sex": ["F", "M"]})
    with bad("score 'p': 1 of 2 values lie outside 0–1"):
        al.count(ENGINES[engine](frame), label="y", score="p", by="sex", bins=bins)


# -- 6: a level no patient has -----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["pandas", "polars", "polars-lazy", "pyarrow", "duckdb"])
def test_case_6_unused_level(engine):
    values = ["F", "M", "F", "M"]
    frame = pd.DataFrame({"y": [1, 1, 0, 0], "p": [0.9, 0.9, 0.1, 0.9]}).assign(
        sex=pd.Categorical(values, ["F", "M", "X"])
    )
    given = ENGINES[engine](frame)
    if engine.startswith("polars"):
        given = given.with_columns(pl.col("sex").cast(pl.String).cast(pl.Enum(["F", "M", "X"])))
    counts = al.count(given, label="y", score="p", by="sex")
    assert counts.groups == {"sex": ("F", "M")}
    table = counts.at(0.5)
    assert al.sensitivity(table).values.tolist() == [1, 1]
    assert float(al.spread(al.selection_rate(table), "sex")) == 0.5
    assert float(al.ratio(al.selection_rate(table), "sex")) == 0.5
    assert np.isfinite(float(al.spread_interval(table, "sex").high))
    assert np.isfinite(float(al.theil(table, "sex")))


# -- 7: thresholds 0 and 1 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("bins", [200, 7, None])
def test_case_7_thresholds_0_and_1(engine, bins):
    scores = [0.0, 1.0, np.nextafter(1, 0), 0.5]
    frame = ENGINES[engine](pd.DataFrame({"y": [1, 1, 0, 0], "p": scores, "sex": ["F"] * 4}))
    counts = al.count(frame, label="y", score="p", by="sex", bins=bins, thresholds=[0, 1])
    everybody, nobody = counts.at(0).sel(sex="F"), counts.at(1).sel(sex="F")
    assert float(al.selection_rate(everybody)) == 1  # so TP/N is the prevalence: net benefit of treating all
    assert int(everybody["tp"]) / 4 == float(al.prevalence(everybody)) == 0.5
    assert (int(nobody["tp"]), int(nobody["fp"])) == (1, 0)  # only a score of 1 itself
    assert counts.cut([0, 1]).at([1, 0]).equals(counts.at([1, 0]))
    with bad("must lie between 0 and 1, not 1.5"):
        counts.at(1.5)


# -- 12: the spread interval covers ------------------------------------------------------------------------------


@pytest.mark.parametrize("spread", [0.0, 0.05, 0.10, 0.20])
def test_case_12_coverage_of_the_spread_interval(spread):
    """Short form: 1,000 simulated audits; at 95% their coverage has a standard error of .7 points."""
    audits, positives = 1000, 100
    truth = np.array([0.7, 0.7 + spread / 2, 0.7 + spread])
    rng = np.random.default_rng(20260412)
    hits = rng.binomial(positives, truth, size=(audits, 3))
    none = np.zeros_like(hits)
    table = al.confusion(tp=hits, fn=positives - hits, fp=none, tn=none, audit=range(audits), group=list("ABC"))
    found = al.spread_interval(table, "group")
    covered = float(((found.low <= spread + 1e-12) & (spread <= found.high)).mean())
    assert covered >= 0.93

    again = rng.binomial(positives, hits / positives, size=(400, audits, 3)) / positives
    reps = xr.DataArray(again.max(-1) - again.min(-1), dims=["replicate", "audit"])
    percentile = al.interval(reps)
    share = float(((percentile.low <= spread) & (spread <= percentile.high)).mean())
    if spread == 0:
        assert share < 0.1  # why the percentile interval is not used for a spread
    if spread >= 0.10:
        ratio = float((found.high - found.low).mean() / (percentile.high - percentile.low).mean())
        assert 0.8 < ratio <= 1.4


# -- 13: two positives in a group --------------------------------------------------------------------------------


@pytest.mark.parametrize("cluster", [None, "patient"])
def test_case_13_bootstrap_of_two_positives(cluster):
    counts = al.count(rows_of("A:1,5,42,1; B:20,10,60,10"), label="y", score="p", by="group", cluster=cluster)
    reps = counts.resample(2000, strata="group", seed=1).at(0.5)
    values = al.sensitivity(reps).sel(group="A")
    without = (reps["tp"] + reps["fn"]).sel(group="A") == 0
    assert (np.isnan(values) == without).all()
    found = al.interval(al.gap(al.sensitivity(reps), "A", "B"))
    assert float(found.undefined) == float(without.mean())
    # (1 − 2/49)⁴⁹ = .130, within five Monte-Carlo standard errors
    assert float(found.undefined) == pytest.approx((1 - 2 / 49) ** 49, abs=5 * np.sqrt(0.13 * 0.87 / 2000))
    assert np.isfinite([float(found.low), float(found.high)]).all()
    # and what is there instead
    newcombe = al.gap_interval(counts.at(0.5), "A", "B")
    assert np.isfinite([float(newcombe[name]) for name in LIMITS]).all()
    assert bool(al.small(counts.at(0.5)).sel(group="A"))
    assert al.interval(al.ppv(reps)).undefined.sel(group="B") == 0


# -- 14: confusion text ------------------------------------------------------------------------------------------


def test_case_14_confusion_text():
    table = al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
    assert table["group"].values.tolist() == ["Women", "Men"]
    assert al.sensitivity(table).round(3).values.tolist() == [0.727, 0.828]
    assert al.ppv(table).round(3).values.tolist() == [0.667, 0.571]
    assert table["tn"].values.tolist() == [800, 700]
    assert table["fn"].values.tolist() == [30, 25]


@pytest.mark.parametrize(
    "text",
    ["Women:80,40,800,30;Men:120,90,700,25", " Women : 80, 40, 800, 30 ;; Men: 120,90 ,700,25 ; ",
     "Women:80,40,800,30\nMen:120,90,700,25", "Women:80,40,800,30;\nMen:120,90,700,25\n",
     "Women:080,40,800,30;Men:120,90,700,25"],
)  # fmt: skip
def test_case_14_spaces_and_lines_do_not_matter(text):
    assert al.parse_confusion(text).equals(al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25"))


def test_case_14_names_are_taken_as_they_are():
    names = ["18–44", "<script>", "a:b", "=1+1", "a,b", "日本"]
    table = al.parse_confusion("; ".join(f"{name}:1,2,3,4" for name in names))
    assert table["group"].values.tolist() == names


NOT_FOUR = "is not 'Group:TP,FP,TN,FN' with four whole numbers of at least 0"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A:1,2,3; B:1,2,3,4", f"'A:1,2,3' {NOT_FOUR}"),
        ("A:1,2,3,; B:1,2,3,4", f"'A:1,2,3,' {NOT_FOUR}"),
        ("A:1,,3,4; B:1,2,3,4", f"'A:1,,3,4' {NOT_FOUR}"),
        ("A:1,2,3,4,5; B:1,2,3,4", NOT_FOUR),
        ("A:1,2,-3,4; B:1,2,3,4", f"'A:1,2,-3,4' {NOT_FOUR}"),
        ("A:1,2,3.5,4; B:1,2,3,4", f"'A:1,2,3.5,4' {NOT_FOUR}"),
        ("A:1,2,3,x; B:1,2,3,4", NOT_FOUR),
        ("A:nan,2,3,4; B:1,2,3,4", NOT_FOUR),
        ("A:1e3,2,3,4; B:1,2,3,4", NOT_FOUR),
        ("A:+1,2,3,4; B:1,2,3,4", NOT_FOUR),
        ("A:1_0,2,3,4; B:1,2,3,4", NOT_FOUR),
        ("A:٣,2,3,4; B:1,2,3,4", NOT_FOUR),
        ("A:1234567890123456,2,3,4; B:1,2,3,4", NOT_FOUR),
        ("A 1,2,3,4; B:1,2,3,4", NOT_FOUR),
        (":1,2,3,4; B:1,2,3,4", NOT_FOUR),
        ("A:1,2,3,4 B:5,6,7,8; C:1,2,3,4", f"'A:1,2,3,4 B:5,6,7,8' {NOT_FOUR}"),
        ("A:1,2,3,4, B:5,6,7,8; C:1,2,3,4", NOT_FOUR),
        ("A:1,2,3,4; A:5,6,7,8", "the group 'A' is named twice"),
        ("A:1,2,3,4; A :5,6,7,8", "the group 'A' is named twice"),
        ("A:1,2,3,4", "needs at least two groups, but 1 was given"),
        ("A:1,2,3,4;", "needs at least two groups, but 1 was given"),
        ("", "needs at least two groups, but 0 was given"),
        (" ;\n; ", "needs at least two groups, but 0 was given"),
        (None, "expected text such as 'Women:80,40,800,30; Men:120,90,700,25', not None"),
        (["A:1,2,3,4"], "expected text such as"),
    ],
)
def test_case_14_what_is_no_confusion_text(text, said):
    with bad(said):
        al.parse_confusion(text)


# -- 7, 8, 15, 16: net benefit ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("road", ROADS)
def test_case_7_net_benefit_at_0_and_at_1(road):
    table = al.treat(entries("A:8,5,45,2; B:20,10,60,10")[road], "all")
    np.testing.assert_allclose(al.net_benefit(table, 0), al.prevalence(table), rtol=1e-15)
    np.testing.assert_allclose(al.subgroup_net_benefit(table, 0, 1.0), 1.0, rtol=1e-15)
    for threshold in (1, 1.0, 1 - 1e-17):
        for call in (al.net_benefit, al.standardized_net_benefit):
            with bad("threshold must be .* below 1"):
                call(table, threshold)
    curve = al.count(rows_of("A:8,5,45,2; B:20,10,60,10"), label="y", score="p", by="group").at([0, 0.5, 1])
    with bad("threshold must be .* below 1"):
        al.decision_curve(curve)
    assert np.isfinite(al.decision_curve(curve.isel(threshold=[0, 1])).to_array()).all()


def test_case_8_standardized_net_benefit_divides_by_prevalence():
    table = al.confusion(tp=70, fp=230, fn=30, tn=670)  # prevalence .10, flagged .30
    threshold = 0.03 / 0.26  # odds 3/23, so that net benefit is .04
    assert float(al.selection_rate(table)) == 0.3
    assert float(al.net_benefit(table, threshold)) == pytest.approx(0.04)
    assert float(al.standardized_net_benefit(table, threshold)) == pytest.approx(0.4)


@pytest.mark.parametrize("value", [1.2, float("nan"), 0, -0.2, float("inf")])
def test_case_15_lambda_and_threshold_outside(value):
    table = al.parse_confusion("A:8,5,45,2; B:20,10,60,10")
    with bad("lam must be above 0 and at most 1"):
        al.subgroup_net_benefit(table, 0.2, value)
    with bad("lam must be above 0 and at most 1"):
        al.benefit_interval(table, 0.2, {"A": value, "B": 0.5})
    with bad("burden must be above 0 and at most 1"):
        al.subgroup_net_benefit(table, 0.2, 0.5, value)
    with bad("threshold must be at least 0 and below 1"):
        al.subgroup_net_benefit(table, 1.5, 0.5)


@pytest.mark.parametrize("capacity", [0, 1.2, -0.1, float("nan"), "3%", True])
def test_case_15_capacity_outside(capacity):
    counts = al.count(rows_of("A:8,5,45,2; B:20,10,60,10"), label="y", score="p", by="group")
    with bad("capacity"):
        al.capacity_frontier(counts, "A", capacity, 0.2, 0.5)


def test_case_16_random_policy_includes_lambda():
    table = al.confusion(tp=20, fp=100, fn=10, tn=870)
    snb = al.subgroup_net_benefit(al.treat(table, 0.05), 0.015, 0.20)
    assert float(snb) == pytest.approx(0.97 + 0.2 * 0.05 * (0.03 - 0.015 / 0.985 * 0.97), abs=1e-15)
    assert round(10_000 * float(snb), 1) == 9701.5
    other = al.subgroup_net_benefit(al.treat(table, 0.05), 0.15, 0.58)  # the public code's 9629.4 leaves λ out
    assert round(10_000 * float(other), 1) == 9659.1
