"""The seven metrics, their limits, and verdicts on them."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import auditlib as al
from auditlib.verdicts import LIMITS, METRICS, Limit, largest_bin_error, limits_of, passes, verdict, verdict_metrics


def rows(n=4_000, seed=1, groups=("a", "b", "c")):
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    label = rng.random(n) < 0.2 + 0.6 * score
    return pd.DataFrame({"y": label.astype(int), "p": score, "g": rng.choice(groups, n)})


def counted(frame, **options):
    return al.count(frame, label="y", score="p", by="g", thresholds=[0.5], **options)


def test_metrics_are_those_of_the_rows():
    frame = rows()
    found = verdict_metrics(counted(frame, bins=None), "g", threshold=0.5)
    frame["flag"] = frame["p"] >= 0.5
    by = frame.groupby("g")
    selection, base = by["flag"].mean(), by["y"].mean()
    recall = frame[frame["y"] == 1].groupby("g")["flag"].mean()
    fpr = frame[frame["y"] == 0].groupby("g")["flag"].mean()
    precision = frame[frame["flag"]].groupby("g")["y"].mean()
    benefit, share = 1 + selection - base, by.size() / len(frame)
    r = benefit / (share * benefit).sum()
    off = by["p"].mean() - base
    expected = {
        "DI": selection.min() / selection.max(),
        "SPD": np.ptp(selection),
        "EOpp": np.ptp(recall),
        "EOD": max(np.ptp(recall), np.ptp(fpr)),
        "PP": np.ptp(precision),
        "TI": (share * r * np.log(r)).sum(),
        "Cal": np.ptp(off),
    }
    assert list(found) == list(METRICS)
    for name, value in expected.items():
        assert float(found[name]) == pytest.approx(value, abs=1e-12)


def test_fairlearn_agrees_where_it_has_the_metric():
    fairlearn = pytest.importorskip("fairlearn.metrics")
    frame = rows()
    found = verdict_metrics(counted(frame), "g", threshold=0.5)
    given_, flag, g = frame["y"], frame["p"] >= 0.5, frame["g"]
    theirs = {
        "DI": fairlearn.demographic_parity_ratio,
        "SPD": fairlearn.demographic_parity_difference,
        "EOpp": fairlearn.equal_opportunity_difference,
        "EOD": fairlearn.equalized_odds_difference,
    }
    for name, function in theirs.items():
        assert float(found[name]) == pytest.approx(function(given_, flag, sensitive_features=g), abs=1e-12)


def test_case_1_no_positives_is_undefined():
    table = al.parse_confusion("A:0,5,45,0; B:20,10,60,10")
    said = verdict(verdict_metrics(table, "group"))
    assert said.sel(metric=["EOpp", "EOD", "Cal"]).values.tolist() == ["undefined"] * 3
    assert said.sel(metric="SPD").item() == "fail"


def test_case_2_nobody_flagged():
    table = al.parse_confusion("A:0,0,40,10; B:0,0,30,20")
    found = verdict_metrics(table, "group")
    said = verdict(found)
    assert said.sel(metric=["DI", "PP"]).values.tolist() == ["undefined", "undefined"]
    assert [float(found[name]) for name in ("SPD", "EOpp", "EOD")] == [0, 0, 0]
    assert said.sel(metric=["SPD", "EOpp", "EOD"]).values.tolist() == ["pass"] * 3


def test_case_9_theil():
    assert float(verdict_metrics(al.parse_confusion("A:0,0,0,10; B:5,5,5,5"), "group").TI) == pytest.approx(np.log(1.5))
    assert np.isnan(float(verdict_metrics(al.parse_confusion("A:0,0,0,10; B:0,0,0,5"), "group").TI))


def test_other_dims_stay_and_cut_counts_have_no_calibration():
    counts = counted(rows())
    reps = counts.resample(7, strata="label", seed=1)
    assert verdict_metrics(reps, "g", threshold=0.5)["DI"].sizes == {"replicate": 7}
    assert np.isnan(verdict_metrics(counts.cut(0.5), "g", threshold=0.5)["Cal"])
    table = verdict_metrics(counts.at(0.5), "g", scores=counts)
    assert table.identical(verdict_metrics(counts, "g", threshold=0.5))


def test_joint_thresholds_are_summed_first():
    frame = rows().assign(h=lambda f: np.where(f["p"] * 97 % 1 < 0.5, "u", "v"))
    counts = al.count(frame, label="y", score="p", by=["g", "h"], thresholds=[0.5])
    at = xr.DataArray([[0.5, 0.4], [0.5, 0.6], [0.3, 0.5]], {"g": ["a", "b", "c"], "h": ["u", "v"]}, ["g", "h"])
    found = verdict_metrics(counts.at(at).sum("h"), "g", scores=counts.by("g"))
    flag = frame["p"] >= at.to_series().reindex(pd.MultiIndex.from_frame(frame[["g", "h"]])).to_numpy()
    rate = flag.groupby(frame["g"]).mean()
    assert float(found.SPD) == pytest.approx(np.ptp(rate))


def test_largest_bin_error_by_hand():
    frame = pd.DataFrame({"y": [0, 1, 0, 1, 1], "p": [0.12, 0.13, 0.55, 0.58, 0.31], "g": list("aabba")})
    counts = al.count(frame, label="y", score="p", by="g", bins=100)
    # a: bin .1 has mean score .13 (midpoints .125 and .135) and half with the outcome; bin .3: .315 and 1
    assert float(largest_bin_error(counts, "g")) == pytest.approx(1 - 0.315)
    with pytest.raises(al.AuditInputError, match="does not divide"):
        largest_bin_error(counts, "g", bins=7)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: verdict_metrics(c, "g"), "threshold"),
        (lambda c: verdict_metrics(c.at(0.5), "g", threshold=0.5), "already"),
        (lambda c: verdict_metrics(c, "sex", threshold=0.5), "'sex' is not a group"),
        (lambda c: verdict_metrics(c.sel(g=["a"]), "g", threshold=0.5), "at least two"),
        (lambda c: verdict_metrics({"tp": 1}, "g"), "not dict"),
        (lambda c: verdict_metrics(c.at(0.5), "g", scores=3), "scores must be Counts"),
        (lambda c: passes(xr.DataArray([0.1])), "which metric"),
        (lambda c: passes(xr.DataArray([0.1]), "AUC"), "none of"),
        (lambda c: passes([0.1], "DI"), "numbers with named dims"),
    ],
)
def test_errors_say_what_to_do(call, words):
    with pytest.raises(al.AuditInputError, match=words):
        call(counted(rows()))


def test_limits_are_inclusive_and_free_of_noise():
    noisy = xr.DataArray([0.3 - 0.2, 0.1, np.nextafter(0.1, 1), 0.1001])
    assert passes(noisy, "SPD").values.tolist() == [1, 1, 1, 0]
    assert passes(xr.DataArray([0.8, 1 - 0.2, 0.7 + 0.1, 0.7999]), "DI").values.tolist() == [1, 1, 1, 0]


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"AUC": 0.1}, "no metric"),
        ({"DI": 1.25}, "above 0 and at most 1"),
        ({"DI": 0}, "above 0"),
        ({"SPD": -0.1}, "at least 0"),
        ({"SPD": float("nan")}, "at least 0"),
        ({"SPD": "0.1"}, "at least 0"),
        ({"SPD": True}, "at least 0"),
        ({"SPD": Limit(0.1, at_least=True)}, "turned round"),
        ([("SPD", 0.1)], "map metrics"),
    ],
)
def test_limits_that_cannot_be_meant(limits, words):
    with pytest.raises(al.AuditInputError, match=words):
        limits_of(limits)


def test_other_limits_change_verdicts():
    assert verdict(xr.DataArray(0.85), "DI", {"DI": 0.9}).item() == "fail"
    assert limits_of({"TI": 1.5})["TI"].value == 1.5
    assert limits_of({})["DI"] == LIMITS["DI"]


@given(st.lists(st.integers(0, 40), min_size=12, max_size=12))
def test_undefined_never_passes(cells):
    tp, fp, fn, tn = (cells[k : k + 3] for k in (0, 3, 6, 9))
    found = verdict_metrics(al.confusion(tp=tp, fp=fp, fn=fn, tn=tn, group=["a", "b", "c"]), "group")
    said = verdict(found)
    for name in METRICS:
        value = float(found[name])
        if np.isnan(value):
            assert said.sel(metric=name).item() == "undefined"
        else:
            limit = LIMITS[name]
            inside = value >= limit.value - 1e-9 if limit.at_least else value <= limit.value + 1e-9
            assert said.sel(metric=name).item() == ("pass" if inside else "fail")
    no_positive = any(p + n == 0 for p, n in zip(tp, fn, strict=True))
    assert np.isnan(float(found.EOpp)) == no_positive
