"""Published numbers beside ours: every headline has a line, and every line an answer or a reason."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from statsmodels.stats.inter_rater import fleiss_kappa

from auditlib import studies
from auditlib.benefit.frontier import capacity_frontier
from auditlib.errors import AuditInputError
from auditlib.studies import reproduced
from auditlib.studies.capacity import gains
from auditlib.studies.reproduced import (
    RULES,
    Estimate,
    accepted,
    benefit,
    criteria,
    lines,
    pass_rates,
    table,
    verdicts,
)
from auditlib.studies.reproduced.agreement import Z, same_digits
from auditlib.studies.reproduced.lines import FULL, KINDS, cells, digits, groups_of, number, published_lines

#: What the papers and their public code print, and what was worked out from them by hand.
HEADLINES = {
    "snb": {
        "snb-asian-white": "48 32 66", "snb-mean-white": "24 13 33", "snb-asian-single": "32 16 49",
        "snb-deprived": "5.0 4.2 5.8", "snb-asian-white-lam20": "16.6 11.0 22.8", "snb-asian-white-lam80": "66 44 91",
        "snb-harm-held": "0.34", "snb-random-script": "9629.4", "snb-random-right": "9659.1",
        "snb-no-constraint": "0.10", "snb-bands": "0.90", "snb-rest": "", "snb-ties": "",
        "snb-frontiers": "under 1", "snb-error-bars": "",
        "snb-setting-t-diabetes": "0.15", "snb-setting-lam-diabetes": "0.58", "snb-setting-years-diabetes": "5",
        "snb-setting-t-lung": "0.015", "snb-setting-lam-lung": "0.20", "snb-setting-years-lung": "6",
        "snb-setting-bootstraps": "500", "snb-setting-caps": "3% and 1%",
    },
    "gap_audit": {
        "gap-cdc_diabetes-sex": "-0.033 -0.048 -0.019", "gap-diabetes130-sex": "-0.049 -0.084 -0.011",
        "gap-cdc_diabetes-age": "-0.207 -0.241 -0.170", "gap-diabetes130-age": "0.104 -0.070 0.232",
        "gap-diabetes130-race": "-0.040 -0.090 0.006", "gap-brfss-sex": "-0.022 -0.037 -0.008",
        "gap-brfss-age": "-0.379", "gap-nhanes-age": "-0.311", "gap-cchs-age": "-0.474",
        "gap-comparisons": "13", "gap-excluding-all": "7", "gap-excluding-sex": "3", "gap-excluding-age": "4",
        "gap-excluding-race": "0", "gap-ppv-brfss-sex-raw": "0.101", "gap-ppv-brfss-sex-standardized": "0.016",
        "gap-ppv-brfss-race-raw": "-0.051", "gap-ppv-brfss-race-standardized": "-0.009",
        "gap-ppv-cchs-sex-raw": "0.053", "gap-ppv-cchs-sex-standardized": "-0.005",
        "gap-setting-replicates": "1000", "gap-setting-share": "0.30", "gap-setting-folds": "5",
        "gap-setting-seed": "42",
    },
    "vfr_audit": {
        "vfr-flips": "11", "vfr-stable": "21", "vfr-mean": "0.0809", "vfr-max": "0.476", "vfr-mean-se": "0.0020",
        "vfr-max-se": "0.022", "vfr-mean-drop": "0.0054", "vfr-max-drop": "0.014", "vfr-age-di-fails": "384",
        "vfr-cells": "336", "vfr-baseline-flips": "146", "vfr-baseline-stable": "259", "vfr-test-size": "185026",
        "vfr-base-rate-age": "0.399", "vfr-los-old": "0.606", "vfr-los-young": "0.207", "vfr-base-rate-race": "0.189",
        "vfr-cv-field": "11", "vfr-cv-full": "8", "vfr-ti-limit": "0.10", "vfr-kappa-one": "-0.0127",
        "vfr-ac1-one": "0.9744", "vfr-kappa-ti": "1.000", "vfr-kappa-eopp": "0.465", "vfr-kappa-eod": "0.587",
        "vfr-kappa-di": "-0.035", "vfr-kappa-spd": "0.117", "vfr-kappa-pp": "0.315", "vfr-kappa-cal": "0.003",
        "vfr-accuracy": "0.8352", "vfr-accuracy-loss": "-4.24", "vfr-f1-loss": "-4.64", "vfr-auroc": "0.9528",
        "vfr-shift-mean": "0.0863", "vfr-shift-max": "0.490", "vfr-shift-accuracy": "0.8316",
        "vfr-race-di-base": "0.644", "vfr-race-di-reweighed": "0.575", "vfr-age-di-best": "0.283",
        "vfr-base-race-eopp": "0.480", "vfr-base-race-eod": "0.386", "vfr-base-race-pp": "0.458",
        "vfr-cv-exploding": "17", "vfr-race-di-1k": "0.557", "vfr-race-di-10k": "0.771", "vfr-race-di-all": "0.826",
        "vfr-versions": "4", "vfr-none-mean": "0.0658", "vfr-records": "925128", "vfr-hospitals": "441",
        "vfr-columns": "12", "vfr-setting-k": "500", "vfr-setting-drawn": "10000", "vfr-setting-models": "12",
        "vfr-setting-grid": "8", "vfr-setting-folds": "20", "vfr-setting-repeats": "30", "vfr-setting-cv": "5%",
        "vfr-setting-quarterly": "5000", "vfr-setting-tier-vfr": "0.10", "vfr-setting-tier-n": "50000",
        "vfr-setting-tier-kappa": "0.40", "vfr-setting-di": "0.80", "vfr-setting-others": "0.10",
        "vfr-setting-cal": "0.05",
    },
}  # fmt: skip
#: What comes of the numbers that can be recomputed; all others are equal.
NOT_EQUAL = {
    "possible": ["gap-comparisons", "gap-excluding-sex", "gap-excluding-age", "gap-excluding-race"],
    "differs": ["vfr-cv-field", "vfr-cv-full", "vfr-cv-exploding", "vfr-kappa-ti"],
    "two runs": [
        *("vfr-base-race-eopp", "vfr-base-race-eod", "vfr-base-race-pp", "vfr-race-di-base", "vfr-auroc"),
        *("vfr-accuracy", "vfr-accuracy-loss", "vfr-kappa-eopp", "vfr-kappa-eod", "vfr-kappa-di", "vfr-kappa-spd"),
        *("vfr-kappa-pp", "vfr-kappa-cal"),
    ],
    "copied": [
        *("vfr-hospitals", "vfr-shift-accuracy", "vfr-race-di-reweighed", "vfr-age-di-best", "vfr-race-di-1k"),
        *("vfr-race-di-10k", "vfr-race-di-all"),
    ],
}


@pytest.fixture(scope="module")
def tables():
    return {paper: reproduced.reproduction_table(paper) for paper in reproduced.PAPERS}


@pytest.fixture(scope="module")
def every(tables):
    return pd.concat(tables.values())


@pytest.mark.parametrize("paper", reproduced.PAPERS)
def test_every_headline_has_its_line_and_no_line_is_more(paper):
    lines = reproduced.published_lines(paper)
    printed = lines[["value", "low", "high"]].apply(lambda line: " ".join(line).strip(), axis=1)
    assert printed.to_dict() == HEADLINES[paper]
    assert lines.index.is_unique
    assert lines["what"].is_unique


def test_every_line_has_an_answer_or_a_reason(every):
    assert set(every["kind"]) == set(KINDS)
    answered = every["ours"].notna() | every["ours_low"].notna() | (every.index == "vfr-kappa-ti")
    assert answered[every["kind"].isin(["same data", "recomputed", "other data"])].all()
    assert not answered[every["kind"] == "not tried"].any()
    excused = every[every["kind"].isin(["not tried", "other data", "setting"])]
    assert set(excused["reason"]) == set(reproduced.reasons())  # none empty, none unknown, none unused
    assert (every.loc[~every["kind"].isin(["not tried", "other data", "setting"]), "why"] != "").all()
    assert every["what"].drop("gap-diabetes130-race").str.len().max() <= 43  # a phone is narrow


def test_estimates_have_an_interval_and_an_n(every):
    estimates = every[every["kind"].isin(["same data", "other data"]) & (every.index != "snb-ties")]
    assert (estimates["ours_low"] < estimates["ours"]).all()
    assert (estimates["ours"] < estimates["ours_high"]).all()
    assert estimates["ours_n"].str.fullmatch(r"[\d,]+( / [\d,]+)*").all()


def test_every_function_belongs_to_a_line(every):
    assert set(table.OURS) < set(every.index)
    assert set(every["tag"]) == {"paper", "public code", "worked out"}
    assert ((every["tag"] == "worked out") == (every["kind"] == "worked out")).all()
    assert not every.loc[every["where"].str.contains(r"\.R"), "tag"].isin(["paper"]).any()


def test_printed_intervals_hold_their_estimates(every):
    known = every[every["low"] != ""][["value", "low", "high"]].astype(float)
    assert ((known["low"] < known["value"]) & (known["value"] < known["high"])).all()


def test_what_comes_of_the_recomputed_numbers(every):
    recomputed = every[every["kind"] == "recomputed"]
    unequal = {name: judged for judged, names in NOT_EQUAL.items() for name in names}
    assert recomputed["judged"].to_dict() == {name: unequal.get(name, "equal") for name in recomputed.index}
    counted = recomputed["judged"].value_counts().to_dict()
    assert counted == {"equal": 19, "two runs": 13, "copied": 7, "possible": 4, "differs": 4}
    assert set(every.loc[every["kind"] == "worked out", "judged"]) == {"equal"}
    assert every["kind"].value_counts().to_dict() == {
        "recomputed": 47, "setting": 26, "other data": 13, "worked out": 13, "not tried": 8, "same data": 5,
    }  # fmt: skip


def test_settings_are_used_where_numbers_of_ours_are_computed_with_them(every, monkeypatch):
    asked = set()
    plain = verdicts.printed
    monkeypatch.setattr(verdicts, "printed", lambda paper, name: asked.add(name) or plain(paper, name))
    for make in verdicts.OURS.values():
        make()
    used = every[every["reason"] == "used"].index
    assert {name for name in asked if "setting" in name} == set(used) - {"snb-setting-caps"}
    assert benefit.ROOM == 0.03
    assert every.loc["vfr-setting-drawn", "judged"] == "as given"


def test_flip_rates_follow_from_the_pass_counts(every):
    passes = reproduced.pass_counts()
    assert passes.shape == (7, 4)
    assert passes.to_numpy().min() >= 0
    assert passes.to_numpy().max() <= 500
    flips = [min(n, 500 - n) for n in passes.to_numpy().ravel()]
    assert every.loc["vfr-mean", "ours"] == pytest.approx(sum(flips) / 14_000, abs=1e-15)
    assert sum(flips) == 1133
    errors = [n / 500 * (1 - n / 500) / 500 for n in passes.to_numpy().ravel()]
    assert every.loc["vfr-mean-se", "ours"] == pytest.approx(sum(errors) ** 0.5 / 28)
    assert every.loc["vfr-max-se", "ours"] == pytest.approx((0.476 * 0.524 / 500) ** 0.5)
    shift = [n / 500 for n in reproduced.pass_counts("threshold shifting").to_numpy().ravel()]
    drop = every.loc["vfr-mean-drop", ["ours", "ours_low", "ours_high"]].astype(float)
    assert drop["ours"] == pytest.approx(sum(min(p, 1 - p) for p in shift) / 28 - 1133 / 14_000)
    half = 1.96 * (sum(errors) + sum(p * (1 - p) / 500 for p in shift)) ** 0.5 / 28
    assert drop["ours_high"] - drop["ours"] == pytest.approx(half)
    assert drop.round(4).tolist() == [0.0054, -0.0001, 0.0108]  # its interval ends at zero


def test_the_runs_have_the_means_of_their_summary():
    runs = {"no intervention": 0.0658, "reweighing": 0.0621, "threshold shifting": 0.0863, "VFR-Audit": 0.0809}
    largest = {"no intervention": 0.498, "reweighing": 0.426, "threshold shifting": 0.490, "VFR-Audit": 0.476}
    flipping = {"no intervention": 12, "reweighing": 10, "threshold shifting": 11, "VFR-Audit": 11}
    for run, mean in runs.items():
        rates = verdicts.flip_rates(reproduced.pass_counts(run))
        assert [round(rates.mean(), 4), rates.max(), (rates > 0).sum()] == [mean, largest[run], flipping[run]]


def test_interventions_share_their_resamples():
    """A calibrated score is the same whatever the thresholds: so are its passes, if the resamples are."""
    runs = ("no intervention", "threshold shifting", "VFR-Audit")
    assert [reproduced.pass_counts(run).loc["Cal"].tolist() for run in runs] == [[0, 29, 25, 0]] * 3


def test_baseline_cells_and_the_runs_they_are_from(every):
    baseline = cells("passes", "twelve models").to_numpy()
    rates = np.minimum(baseline, 500 - baseline) / 500
    assert baseline.size == 336
    assert ((rates > 0).sum(), (rates <= 0.1).sum(), (rates == 0).sum(), rates.max()) == (146, 259, 190, 0.474)
    race = every.loc[["vfr-base-race-eopp", "vfr-base-race-eod", "vfr-base-race-pp"]]
    assert race["other"].tolist() == [0.464, 0.436, 0.470]
    assert race["ours"].tolist() == race["value"].astype(float).tolist()
    third = reproduced.pass_counts("no intervention").loc[["EOpp", "EOD", "PP"], ["race"]]
    assert verdicts.flip_rates(third).ravel().tolist() == [0.498, 0.398, 0.462]


def test_what_was_read_in_the_public_tables(every):
    by_race, by_age = groups_of("race"), groups_of("age")
    assert by_race["n"].sum() == by_age["n"].sum() == 925_128
    assert every.loc["vfr-base-rate-race", "ours"] == pytest.approx(0.523 - 0.334)
    assert every.loc["vfr-los-old", "ours"] == pytest.approx(240_523 / 397_070)
    assert every.loc["vfr-accuracy-loss", ["ours", "other"]].astype(float).round(2).tolist() == [-4.24, -4.31]
    folds = cells("folds of 20 that pass", "VFR-Audit, another run").loc["XGBoost"]
    assert folds.loc["TI"].tolist() == [19, 20, 20, 20]  # one dissent, as in the worked example
    table = [[n, 20 - n] for n in folds.loc["DI"]]
    assert every.loc["vfr-kappa-di", "other"] == pytest.approx(fleiss_kappa(table, method="fleiss"))
    names = pd.read_csv(lines._path("vfr_sources"))
    assert names["source"].is_unique
    assert names["commit"].str.fullmatch(r"[0-9a-f]{40}").all()
    read = [pd.read_csv(lines._path(name))["source"] for name in ("vfr_cells", "vfr_lookups", "vfr_groups")]
    assert set(pd.concat(read)) <= set(names["source"])


def test_published_flip_rates_are_whole_numbers_of_500(every):
    rates = every[every.index.str.match("vfr-(base-race|max$|shift-max)")]["value"].astype(float) * 500
    assert rates.round(9).tolist() == [238.0, 245.0, 240.0, 193.0, 229.0]


def test_no_audit_size_gives_eleven_or_eight():
    sizes = reproduced.audit_sizes().to_numpy()
    assert set(sizes.ravel()) <= {1_000, 2_000, 5_000, 10_000, 25_000, 50_000, 100_000, FULL}
    settled = [int((sizes <= size).sum()) for size in sorted(set(sizes.ravel()))]
    assert settled == [2, 4, 6, 9, 14, 28]
    assert int((sizes == FULL).sum()) == 14
    runs = ("no intervention", "reweighing", "threshold shifting", "VFR-Audit", "before, another run")
    assert [int((reproduced.audit_sizes(run) <= 50_000).to_numpy().sum()) for run in runs] == [7, 7, 10, 9, 6]
    counts = {
        int((reproduced.audit_sizes(run) <= size).to_numpy().sum()) for run in runs for size in set(sizes.ravel())
    }
    assert 11 not in counts
    assert 8 not in {int((reproduced.audit_sizes(run) == FULL).to_numpy().sum()) for run in runs}


def test_cells_with_a_large_or_a_small_coefficient_of_variation():
    again = "VFR-Audit, another run"
    assert int((cells("CV at 1,000", again) > 0.5).to_numpy().sum()) == 15
    assert int((cells("CV across hospitals", "before, another run") > 0.5).to_numpy().sum()) == 17
    late = cells("CV at 50,000", again).to_numpy()
    assert [int((late <= limit).sum()) for limit in (0.03, 0.05, 0.10)] == [4, 9, 13]  # the authors' own count


def test_agreement_of_verdicts_against_statsmodels():
    passes = np.array([19, 20, 11, 3])
    ours = verdicts.agreement(passes, 20)
    assert ours["kappa"] == pytest.approx(fleiss_kappa(np.column_stack([passes, 20 - passes]), method="fleiss"))
    one = verdicts.agreement(np.array([19, 20, 20, 20]), 20)
    assert one["kappa"] == pytest.approx(fleiss_kappa([[19, 1], [20, 0], [20, 0], [20, 0]], method="fleiss"))
    all_pass = verdicts.agreement(np.array([20] * 4), 20)
    assert np.isnan(all_pass["kappa"])
    assert (all_pass["raw"], all_pass["ac1"]) == (1.0, 1.0)


def test_closed_forms(every):
    w = 0.15 / 0.85
    lottery = 0.05 * (0.03 - w * 0.97)
    assert every.loc["snb-random-script", "ours"] == pytest.approx(10_000 * (0.97 + lottery))
    assert every.loc["snb-random-right", "ours"] == pytest.approx(10_000 * (0.97 + 0.58 * lottery))
    rescaled = every.loc["snb-asian-white-lam20", ["ours", "ours_low", "ours_high"]].tolist()
    assert rescaled == pytest.approx([48 * 0.2 / 0.58, 32 * 0.2 / 0.58, 66 * 0.2 / 0.58])
    odds = w * 0.58 / 0.2
    assert every.loc["snb-harm-held", "ours"] == pytest.approx(odds / (1 + odds))
    theil = 0.5 * (0.56 * np.log(0.56) + 1.44 * np.log(1.44))
    assert every.loc["vfr-ti-limit", "ours"] == pytest.approx(theil)


def test_gaps_on_the_same_data_agree_and_are_those_of_chapter_2(tables):
    same = tables["gap_audit"].query("kind == 'same data'")
    assert same["judged"].tolist() == ["agrees"] * 5
    known = studies.gap_table().set_index("comparison").loc[same.index]
    assert same[["ours", "ours_low", "ours_high"]].to_numpy(float) == pytest.approx(known[["gap", "low", "high"]])
    theirs = Estimate(*same[["value", "low", "high"]].to_numpy(float).T)
    run = reproduced.independent_run().loc[same.index]
    again = Estimate(*run[["gap", "low", "high"]].to_numpy().T)
    assert RULES["the last three"](theirs, again).all()


def test_the_ends_of_the_drawn_curve_are_no_price(tables):
    rest = tables["snb"].loc["snb-rest"]
    ends = rest[["ours", "ours_low", "ours_high"]].astype(float)
    assert ends.round(1).tolist() == [-0.5, -2.5, 1.8]
    assert rest["note"].startswith("−21.9 ")
    price = reproduced.price_of_places()
    assert [round(value, 1) for value in price[:3]] == [-13.0, -15.2, -10.8]  # with the same places, as in chapter 6
    choose, judge = (benefit._heart(half) for half in ("choose", "judge"))
    exact = capacity_frontier(choose, "under 15k", 0.03, 0.10, 0.22).isel(point=[0, -1])
    for half, expected in ((choose, [-11.0, -13.2, -8.9]), (judge, [-13.2, -15.4, -11.0])):  # at the thresholds
        last = gains(half, exact, 0.10, 0.22, over=0).iloc[-1]
        assert last[["overall", "overall_low", "overall_high"]].tolist() == pytest.approx(expected, abs=0.06)


def test_other_resamples_move_the_limits_by_about_three_tenths_of_a_point():
    """By sex on the hospital records, as the page says."""
    rows = [studies.gap_row("gap-diabetes130-sex", seed=seed) for seed in range(1, 7)]
    spread = np.ptp([[row["low"], row["high"]] for row in rows], axis=0) / 2
    assert ((spread > 0.001) & (spread < 0.0045)).all()


def test_what_is_said_of_other_people(tables):
    judged = pd.concat(tables.values()).query("kind == 'other data'")["judged"].to_dict()
    other_side = {name for name, said in judged.items() if said == "other side"}
    assert other_side == {"gap-brfss-sex", "gap-ppv-brfss-sex-standardized"}
    assert {name for name, said in judged.items() if said == "shown"} == {
        "snb-no-constraint", "snb-rest", "snb-ties",
    }  # fmt: skip
    assert set(judged.values()) == {"same side", "other side", "shown"}


def test_a_side_needs_an_interval_of_ours():
    theirs = Estimate(-0.3, np.nan, np.nan)
    assert table._sides(theirs, Estimate(-0.1, -0.2, -0.05)) == "same side"
    assert table._sides(theirs, Estimate(-0.1, -0.2, 0.05)) == "open"
    assert table._sides(Estimate(-0.3, -0.4, 0.1), Estimate(-0.1, -0.2, -0.05)) == "open"


def test_criteria_by_hand():
    found = criteria(Estimate(-0.2, -0.24, -0.16), Estimate(-0.13, -0.15, -0.11))
    assert [bool(found[name]) for name in ("overlap", "side", "contains")] == [False, True, False]
    assert float(found["z"]) == pytest.approx(0.07 / np.hypot(0.04 / Z, 0.02 / Z))
    crossing = criteria(Estimate(0.05, -0.05, 0.15), Estimate(0.1, 0.0, 0.2))
    assert [bool(crossing[name]) for name in ("overlap", "side", "contains")] == [True, True, True]  # 0 is contained
    apart = criteria(Estimate(0.05, -0.05, 0.15), Estimate(0.1, 0.01, 0.19))
    assert not apart["side"]


def test_how_often_a_faultless_repetition_fails(tables):
    """Recomputed elsewhere: 16, 41, 16, 43 and 49 per cent; half of them at 1.96 standard errors."""
    same = tables["gap_audit"].query("kind == 'same data'")
    found = reproduced.failing(same)
    assert found["rule fails"].round(2).tolist() == [0.16, 0.41, 0.16, 0.43, 0.49]
    far, edge = pass_rates((-0.033, -0.033), (0.0075, 0.0075)), pass_rates((1.96, 1.96), (1, 1))
    assert 1 - far["the last three"] == pytest.approx(0.168, abs=0.004)
    assert 1 - edge["the last three"] == pytest.approx(0.514, abs=0.005)
    one = norm.cdf([1.96 - 1.96, -1.96 - 1.96])  # a study at the edge: beyond zero on the right, on the left
    right, left = 1 - one[0], one[1]
    assert edge["same side of zero"] == pytest.approx(right**2 + left**2 + (1 - right - left) ** 2, abs=0.005)


def test_rates_of_passing_in_closed_form():
    rates = pass_rates((0.1, 0.1), (0.01, 0.02))
    assert rates["|z| below 1.96"] == pytest.approx(0.95, abs=0.004)
    contained = 2 * norm.cdf(1.96 * 0.02 / np.hypot(0.01, 0.02)) - 1
    assert rates["ours contains it"] == pytest.approx(contained, abs=0.004)
    apart = pass_rates((0.0, 3.0), (1.0, 1.0))["intervals overlap"]
    assert apart == pytest.approx(norm.cdf((2 * 1.96 - 3) / 2**0.5) - norm.cdf((-2 * 1.96 - 3) / 2**0.5), abs=0.005)


numbers = st.floats(-1, 1).map(lambda x: round(x, 6))
halves = st.floats(0.001, 1)


@given(numbers, halves, numbers, halves)
def test_what_is_contained_has_a_small_z_when_intervals_are_symmetric(theirs, first, ours, second):
    found = criteria(Estimate(theirs, theirs - first, theirs + first), Estimate(ours, ours - second, ours + second))
    if bool(found["contains"]):
        assert abs(float(found["z"])) <= Z + 1e-9
        assert bool(found["overlap"])


@pytest.mark.parametrize("rule", RULES)
def test_accepted_values_one_by_one(rule):
    theirs, ours = Estimate(-0.2, -0.24, -0.17), Estimate(-0.18, -0.21, -0.14)
    values = np.linspace(-0.4, 0.4, 81)
    found = accepted(theirs, ours, rule, values)
    for value, passed in zip(values, found, strict=True):
        assert bool(RULES[rule](Estimate(value, value - 0.04, value + 0.03), ours)) == bool(passed)
    assert 0 < found.sum() < 81


def test_the_rule_of_the_book_is_the_last_three_together():
    rng = np.random.default_rng(1)
    value, half = rng.normal(0, 0.1, (2, 500)), rng.uniform(0.02, 0.2, (2, 500))
    theirs, ours = (Estimate(v, v - h, v + h) for v, h in zip(value, half, strict=True))
    *_, side, contains, z, together = (rule(theirs, ours) for rule in RULES.values())
    assert (together == (side & contains & z)).all()
    assert 0 < together.sum() < 500


def test_a_printed_number_is_met_at_its_digits():
    assert same_digits("16.6", 16.551724)
    assert not same_digits("16.6", 16.66)
    assert same_digits("48", 48.49)
    assert not same_digits("11", 9.0)
    assert [digits(text) for text in ("0.0809", "48", "-4.24")] == [4, 0, 2]
    assert np.isnan(number("3% and 1%"))


def test_splits_by_hand(tables):
    refits = studies.study_table("split_seeds").query("what == 'split' and dataset == 'cdc_diabetes'")
    found = reproduced.among_splits(tables["gap_audit"]).loc["gap-cdc_diabetes-age"]
    mean, sd = refits["estimate"].mean(), refits["estimate"].std()
    assert found["t"] == pytest.approx((-0.207 - mean) / (sd * (1 + 1 / 20) ** 0.5))
    assert found["least"] < -0.207 < found["most"]  # one of our own splits is farther out
    rows = refits[["estimate", "low", "high"]].to_numpy()
    z = [
        (rows[j, 0] - rows[i, 0]) / (np.hypot(rows[i, 2] - rows[i, 1], rows[j, 2] - rows[j, 1]) / (2 * Z))
        for i in range(20)
        for j in range(i + 1, 20)
    ]
    pairs = reproduced.split_pairs().loc["gap-cdc_diabetes-age"]
    assert pairs["sd"] == pytest.approx(np.sqrt(np.mean(np.square(z))))
    assert pairs["beyond"] == pytest.approx(np.mean(np.abs(z) > 1.96))
    both = reproduced.split_pairs()
    assert both[["sd_low", "sd_high"]].round(2).to_numpy().tolist() == [[0.86, 1.65], [0.79, 1.52]]
    assert both["agree"].round(2).tolist() == [0.56, 0.80]
    by_sex = reproduced.among_splits(tables["gap_audit"]).loc["gap-diabetes130-sex"]
    assert by_sex["rank"] == 6  # of 20: the split with the published seed
    gaps = reproduced.split_gaps("gap-diabetes130-sex")
    assert (gaps[0] - gaps.mean()) / gaps.std(ddof=1) == pytest.approx(-0.91, abs=0.01)


def test_the_table_as_a_page_shows_it(tables):
    for found in tables.values():
        page = reproduced.readable(found)
        assert page.columns.tolist()[:3] == ["printed", "ours", "judged"]
        text = " ".join(page.to_numpy().ravel())
        assert not re.search(r"nan|-\d|\b0\.0+ \[−0|−0\.0+\b", text)
    page = reproduced.readable(pd.concat(tables.values()))
    page.index = page.index.str.replace("\u00a0", " ").str.replace("\u2060", "")
    assert page.loc["κ over 20 folds: TI", "ours"] == "0/0"
    assert page.loc["Rows of the test partition", "printed"] == "185,026 (code)"
    assert page.loc["Excluding zero, by age", "ours"] == "1\u00a0to\u00a04"
    assert page.loc["Baseline, race, EOD: flip rate", "ours"] == "0.386 or 0.436"
    cdc = page.loc["Sensitivity, 2015 survey: men − women"]
    assert cdc.tolist() == ["−0.033 [−0.048, −0.019]", "−0.031 [−0.046, −0.015]", "agrees", "5,045 / 5,559"]
    assert page.loc["Sensitivity, 2022 survey: men − women", "judged"] == "other side"


def test_numbers_of_people_are_left_out_where_they_say_nothing(tables):
    flips = tables["vfr_audit"].loc[["vfr-mean", "vfr-cells"]]  # 500 resamples, and nothing known
    assert "n" not in reproduced.readable(flips)
    assert "n" in reproduced.readable(tables["gap_audit"].query("kind == 'same data'"))


def test_reasons_and_explanations_name_their_numbers(tables):
    whole = reproduced.by_reason(*tables.values())
    missed = pd.concat(tables.values()).query("kind == 'not tried'")["what"]
    assert all(what in whole for what in missed)
    assert "Settings without ours: *Lung cancer: threshold t; Lung cancer: λ.*" in whole
    assert "Only beside ours: *Asian − White gap, none → SingleSA; Mean gap" in whole
    assert whole.count("\n- ") + 1 == len(reproduced.reasons()) - 2  # choices need none
    said = reproduced.explained(tables["gap_audit"])
    assert said.count("Neither the split, nor the settings inside each family") == 1  # said once of five
    assert "The same seed gives the same split only" in said
    assert "−21.9 as the script reports it" in reproduced.explained(tables["snb"])


def test_what_is_not_there_is_said():
    with pytest.raises(AuditInputError, match="no paper named 'smash'"):
        reproduced.published_lines("smash")
    with pytest.raises(AuditInputError, match="no table of 'passes' for run 'another'"):
        reproduced.pass_counts("another")
    with pytest.raises(AuditInputError, match="no rule 'close'"):
        accepted(Estimate(0, -1, 1), Estimate(0, -1, 1), "close", np.array([0.0]))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "recomputd"}, "the kind is none of"),
        ({"reason": "nobody knows"}, "the reason is not in reasons.csv"),
        ({"value": "0,0809"}, "must be plain numbers"),
        ({"value": "8.09%"}, "must be plain numbers"),
        ({"value": "−0.0809"}, "must be plain numbers"),
        ({"value": " 0.0809 "}, "must be plain numbers"),
        ({"value": ""}, "must be plain numbers"),
        ({"low": "x"}, "must be plain numbers"),
    ],
)
def test_a_slip_in_a_file_of_published_numbers_is_named(tmp_path, monkeypatch, change, said):
    folder = tmp_path / "data" / "published"
    shutil.copytree(lines.root() / "data" / "published", folder)
    monkeypatch.setattr(lines, "root", lambda: tmp_path)
    table = pd.read_csv(folder / "vfr_audit.csv", dtype=str, keep_default_na=False).set_index("id")
    table.loc["vfr-mean", list(change)] = list(change.values())
    table.to_csv(folder / "vfr_audit.csv")
    with pytest.raises(AuditInputError, match=f"'vfr-mean': .*{said}"):
        published_lines("vfr_audit")
    pd.concat([table, table.tail(1)]).assign(kind="setting", reason="").to_csv(folder / "vfr_audit.csv")
    with pytest.raises(AuditInputError, match="stands twice"):
        published_lines("vfr_audit")
    table.drop(columns="why").to_csv(folder / "vfr_audit.csv")
    with pytest.raises(AuditInputError, match="no column why"):
        published_lines("vfr_audit")


def test_an_undefined_interval_is_on_no_side_of_zero():
    nan = float("nan")
    assert not criteria(Estimate(0.1, -0.1, 0.3), Estimate(nan, nan, nan))["side"]
    assert not any(rule(Estimate(0.1, -0.1, 0.3), Estimate(nan, nan, nan)) for rule in RULES.values())
