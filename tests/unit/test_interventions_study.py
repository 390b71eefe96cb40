"""The study of interventions: what is committed is what its parts give."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import auditlib as al
from auditlib import studies
from auditlib.plots.interventions import summaries
from auditlib.studies import intervention_flips, intervention_runs, intervention_words, interventions
from auditlib.verdicts.judged import NOISE
from tests.unit.test_intervals import bad

XGBOOST = "stays-xgboost"


@pytest.fixture(scope="module")
def found():
    return studies.study_table("interventions_thresholds")


@pytest.fixture(scope="module")
def prices():
    return studies.study_table("interventions").fillna({"attribute": ""})


def test_every_table_was_searched_over_every_joint_group(found):
    assert list(dict.fromkeys(found["table"])) == list(studies.STAYS_TABLES)
    for name, rows in found.groupby("table"):
        counts = studies.stays_table(name).sel(partition="selection")
        assert rows["people"].sum() == counts.n_rows
        kept = rows["why"].notna()
        assert kept.equals(rows["people"] < 30)
        assert (rows.loc[kept, list(interventions.POLICIES)] == 0.5).all(axis=None)
        assert (rows["start"] == 0.5).all()


def test_every_rule_reaches_the_target_where_it_was_chosen(prices):
    for policy, target in (("shifted", 0.8), ("stabilised", 0.8), ("margin", 0.85)):
        ratios = prices[prices["policy"] == policy].query("measure == 'DI' and partition == 'selection'")
        assert len(ratios) == 4 * len(studies.STAYS_TABLES)
        assert (ratios["estimate"] >= target - 1e-6).all()


def test_the_control_is_the_most_accurate_where_it_was_chosen(prices):
    right = prices.query("measure == 'accuracy' and partition == 'selection'")
    right = right.set_index(["table", "policy"])["estimate"].unstack()  # noqa: PD010
    assert (right["control"] == right.max(axis=1)).all()
    assert (right["control"] > right["start"]).all()


def test_prices_are_whole(prices):
    assert len(prices) == 16 * 5 * 2 * 32
    assert not prices.duplicated(["table", "policy", "partition", "measure", "attribute"]).any()
    assert not prices[["estimate", "low", "high"]].isna().any(axis=None)
    areas = prices.query("measure == 'AUROC'").groupby(["table", "partition"])["estimate"].nunique()
    assert (areas == 1).all()  # thresholds do not enter AUROC


def test_committed_prices_are_those_of_the_committed_thresholds(found, prices):
    again = interventions.intervention_prices(["stays-decision_tree"], found)
    committed = prices[prices["table"] == "stays-decision_tree"].reset_index(drop=True)
    words = ["table", "policy", "partition", "measure", "attribute", "verdict"]
    pd.testing.assert_frame_equal(again[words], committed[words].fillna({"verdict": ""}))
    numbers = ["estimate", "low", "high", "n", "p_pass", "vfr"]
    pd.testing.assert_frame_equal(again[numbers], committed[numbers], atol=2e-6)


def test_a_committed_rule_is_the_best_found_for_its_counts(found):
    """Another version of SciPy may end at other thresholds, but not at clearly fewer people classified correctly."""
    counts = studies.stays_table(XGBOOST).sel(partition="selection")
    shifted = al.shift_thresholds(counts, interventions.ATTRIBUTES)
    kept = interventions.found_thresholds(XGBOOST, "shifted", found)
    right = float(al.accuracy(counts.at(kept).reset_coords(drop=True).sum(counts.dims)))
    assert right == pytest.approx(shifted.accuracy, rel=6e-4)
    assert right <= shifted.bound + NOISE


def test_a_small_search_moves_its_thresholds_and_prices_them():
    rows = interventions.intervention_thresholds(["stays-adaboost"])
    assert list(rows.columns) == ["table", *interventions.ATTRIBUTES, "people", *interventions.POLICIES, "why"]
    committed = studies.study_table("interventions_thresholds").query("table == 'stays-adaboost'")
    assert rows["people"].tolist() == committed["people"].tolist()
    assert (rows["shifted"] != 0.5).any()


def test_thresholds_of_a_table(found):
    at = interventions.found_thresholds(XGBOOST, "stabilised", found)
    assert at.dims == interventions.ATTRIBUTES
    for row in found[found["table"] == XGBOOST].to_dict("records"):
        assert float(at.sel({dim: row[dim] for dim in at.dims})) == row["stabilised"]
    assert float(at.sel(race="Caucasian", sex="Male", ethnicity="Hispanic", age="70+")) == 0.5  # nobody
    with bad("no thresholds of 'other'"):
        interventions.found_thresholds("other", "start", found)
    with bad("policy = 'moved'"):
        interventions.found_thresholds(XGBOOST, "moved", found)


def test_the_minority_of_each_cell_is_its_flip_rate():
    counts = studies.stays_table(XGBOOST).sel(partition="audit")
    at = interventions.found_thresholds(XGBOOST, "shifted")
    held = intervention_flips.minority(counts.resample(500, strata="label", seed=42), at)
    vfr = (
        al.price(counts, at, interventions.ATTRIBUTES, seed=42).dropna(subset="vfr").set_index(["measure", "attribute"])
    )
    means = held.mean("replicate")
    for (metric, attribute), value in vfr["vfr"].items():
        assert float(means.sel(metric=metric, attribute=attribute)) == pytest.approx(value)
    with bad("again must be replicates"):
        intervention_flips.minority(counts, 0.5)


def test_rounds_end_where_the_search_did():
    rng = np.random.default_rng(0)
    risk, sex = rng.beta(2, 3, 600), rng.choice(["F", "M"], 600)
    frame = pd.DataFrame({"y": rng.random(600) < risk, "risk": risk, "sex": sex, "ward": rng.choice(["A", "B"], 600)})
    counts = al.count(frame, label="y", score="risk", by=["sex", "ward"], bins=50)
    first = al.shift_thresholds(counts, ["sex", "ward"])
    last = al.stabilize_verdicts(counts, first, ["sex", "ward"], seed=1, replicates=100)
    steps = intervention_flips.each_round(first, last)
    assert len(steps) == len(last.history) > 1
    assert steps[0].equals(first.thresholds)
    assert steps[-1].values == pytest.approx(last.thresholds.values)
    changed = [int((a != b).sum()) for a, b in pairwise(steps)]
    assert changed == [1] * (len(steps) - 1)


def test_a_replicates_share_of_minority_verdicts_averages_to_the_mean_flip_rate(prices):
    counts = studies.stays_table(XGBOOST).sel(partition="audit")
    again = counts.resample(500, strata="label", seed=42)
    at = interventions.found_thresholds(XGBOOST, "stabilised")
    one = intervention_flips.mean_flips(again, at)
    held = prices.query("table == @XGBOOST and policy == 'stabilised' and partition == 'audit'")
    assert float(one.mean()) == pytest.approx(held["vfr"].mean())
    passed = intervention_flips.passed(again, at).mean("replicate")
    wanted = held.dropna(subset="p_pass").set_index(["measure", "attribute"])["p_pass"].sort_index()
    for (metric, attribute), value in wanted.items():
        assert float(passed.sel(metric=metric, attribute=attribute)) == pytest.approx(value)


def test_paired_changes_are_those_of_the_prices(prices):
    counts = studies.stays_table(XGBOOST).sel(partition="audit")
    again = counts.resample(100, strata="label", seed=1)
    at, base = (interventions.found_thresholds(XGBOOST, name) for name in ("shifted", "control"))
    found = intervention_flips.paired(counts, again, at, base)
    held = prices.query("table == @XGBOOST and partition == 'audit' and attribute == ''")
    held = held.set_index(["policy", "measure"])["estimate"].sort_index()
    for measure in ("accuracy", "F1"):
        change = held["shifted", measure] - held["control", measure]
        assert float(found["estimate"].sel(measure=measure)) == pytest.approx(change, abs=2e-6)
    assert (found["low"] < found["high"]).all()


def test_two_fits_are_compared_as_if_on_different_people(prices):
    first, other = (studies.stays_table(name).sel(partition="audit") for name in (XGBOOST, f"{XGBOOST}-reweighed"))
    found = intervention_flips.unpaired(first, other, replicates=50)
    held = prices.query("measure == 'DI' and policy == 'start' and partition == 'audit'")
    held = held.set_index(["table", "attribute"])["estimate"].sort_index()
    for name in interventions.ATTRIBUTES:
        change = held[f"{XGBOOST}-reweighed", name] - held[XGBOOST, name]
        assert float(found["estimate"].sel(attribute=name)) == pytest.approx(change, abs=2e-6)
    same = intervention_flips.unpaired(first, first, replicates=50)
    assert ((same["low"] < 0) & (same["high"] > 0)).all()  # each has its own replicates


def test_what_cannot_be_reached_on_these_people():
    """As the chapter says."""
    counts = studies.stays_table(XGBOOST).sel(partition="selection")
    for how in ({"min_n": 100}, {"edges": [k / 100 for k in range(40, 61)]}):
        found = al.shift_thresholds(counts, interventions.ATTRIBUTES, gap=0.01, **how)
        assert not found.ok
        with bad("start must have every DI at least 0.8"):
            al.stabilize_verdicts(counts, found, interventions.ATTRIBUTES, seed=1)


def test_committed_flip_checks_are_of_the_rules_of_the_table():
    """A short run of the study: the same rows, and means within their Monte-Carlo errors."""
    committed = studies.study_table("interventions_flips").fillna({"search": ""})
    short = intervention_flips.flip_checks(replicates=500)
    keys = ["partition", "size", "search", "policy"]
    assert short[keys].to_numpy().tolist() == committed[keys].to_numpy().tolist()
    apart = (short["vfr"] - committed["vfr"]).abs() / np.hypot(short["error"], committed["error"])
    assert apart.max() < 5
    assert (committed["error"] < 0.001).all()
    assert (committed.query("policy == 'start'")["change"] == 0).all()
    with bad("a multiple of 500"):
        intervention_flips.flip_checks(replicates=100)


def test_what_the_published_drop_consists_of():
    said = intervention_runs.published()
    assert [said[name] for name in ("drop-di-age", "drop-spd-age", "drop-race", "drop-rest")] == [
        "−0.180", "−0.198", "+0.258", "−0.030",
    ]  # fmt: skip
    assert (said["drop-sum"], said["drop-all"]) == ("−0.150", "−0.0054")
    assert [said[f"se-{name}"] for name in ("apart", "together", "paired")] == ["0.0028", "0.0051", "0.0013"]


def test_words_of_the_study_are_its_numbers(prices):
    whole = summaries(prices)
    said = intervention_runs.twelve(whole, prices, [f"stays-{name}" for name in studies.STAYS_MODELS])
    assert (said["twelve-ok-sel"], said["twelve-ok-aud"], said["twelve-down-aud"]) == ("12", "0", "5")
    assert (said["twelve-rank"], said["moved-low"], said["moved-high"]) == ("2", "−0.065", "+0.031")
    assert said["twelve-f1-aud"].endswith("(−15.4)")
    found = intervention_words.searches(studies.study_table("interventions_flips").fillna({"search": ""}))
    assert float(found["small-start"]) < float(found["small-shifted"]) < float(found["small-stabilised"])
    one = {"policy": "real-only", "measure": "DI", "attribute": "sex"}
    with bad("no price of F1"):
        intervention_words.at({("real-only", "audit"): pd.DataFrame([one])}, "real-only", "audit", "F1")
