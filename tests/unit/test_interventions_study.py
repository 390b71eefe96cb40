"""The study of interventions: what is committed is what its parts give."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import auditlib as al
from auditlib import studies
from auditlib.studies import interventions
from auditlib.verdicts.flips import NOISE
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
    ratios = prices.query("measure == 'DI' and partition == 'selection' and policy != 'start'")
    assert len(ratios) == 2 * 4 * len(studies.STAYS_TABLES)
    assert (ratios["estimate"] >= 0.8 - 1e-6).all()


def test_prices_are_whole(prices):
    assert len(prices) == 16 * 3 * 2 * 32
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
    held = interventions.minority(counts.resample(500, strata="label", seed=42), at)
    vfr = (
        al.price(counts, at, interventions.ATTRIBUTES, seed=42).dropna(subset="vfr").set_index(["measure", "attribute"])
    )
    means = held.mean("replicate")
    for (metric, attribute), value in vfr["vfr"].items():
        assert float(means.sel(metric=metric, attribute=attribute)) == pytest.approx(value)
    with bad("again must be replicates"):
        interventions.minority(counts, 0.5)


def test_rounds_end_where_the_search_did():
    rng = np.random.default_rng(0)
    risk, sex = rng.beta(2, 3, 600), rng.choice(["F", "M"], 600)
    frame = pd.DataFrame({"y": rng.random(600) < risk, "risk": risk, "sex": sex, "ward": rng.choice(["A", "B"], 600)})
    counts = al.count(frame, label="y", score="risk", by=["sex", "ward"], bins=50)
    first = al.shift_thresholds(counts, ["sex", "ward"])
    last = al.stabilize_verdicts(counts, first, ["sex", "ward"], seed=1, replicates=100)
    steps = interventions.each_round(first, last)
    assert len(steps) == len(last.history) > 1
    assert steps[0].equals(first.thresholds)
    assert steps[-1].values == pytest.approx(last.thresholds.values)
    changed = [int((a != b).sum()) for a, b in pairwise(steps)]
    assert changed == [1] * (len(steps) - 1)
