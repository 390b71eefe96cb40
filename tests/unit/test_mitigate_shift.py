"""Threshold shifting against brute force, through the public metrics, and at its limits."""

from time import monotonic

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import auditlib as al
from auditlib.mitigate import program, shift, shift_thresholds
from auditlib.mitigate.shift import reaches
from tests.unit.frames import PROPERTY, same
from tests.unit.mitigations import ATTRIBUTES, brute_force, counted, people, public_ratio

NOISE = 1e-9


def satisfying(brute, target):
    return brute[(brute[list(ATTRIBUTES)] >= target - NOISE).all(axis=1)]


@pytest.mark.parametrize("target", [0.8, 0.95, 1.0])
@pytest.mark.parametrize("seed", range(6))
def test_as_accurate_as_the_best_of_all_combinations(seed, target):
    frame = people(int(np.random.default_rng(seed).integers(40, 400)), seed)
    best = satisfying(brute_force(frame, 6, ATTRIBUTES), target)["correct"].max()
    found = shift_thresholds(counted(frame, 6), list(ATTRIBUTES), target=target, min_n=0, gap=0.0)
    assert found.ok
    assert found.accuracy * len(frame) == pytest.approx(best)
    assert found.accuracy <= found.bound <= found.accuracy + 1 / len(frame)
    assert (found.di >= target - NOISE).all()


@pytest.mark.parametrize("seed", range(4))
def test_thresholds_of_one_attribute_that_must_serve_two(seed):
    frame = people(300, seed)
    brute = satisfying(brute_force(frame, 10, ("age",)), 0.8)
    found = shift_thresholds(counted(frame, 10), list(ATTRIBUTES), by="age", min_n=0, gap=0.0)
    assert found.thresholds.dims == ("age",)
    assert found.accuracy * len(frame) == pytest.approx(brute["correct"].max())
    alone = shift_thresholds(counted(frame, 10), "age", min_n=0, gap=0.0)
    assert alone.thresholds.dims == ("age",)
    assert alone.attributes == ("age",)
    assert alone.accuracy >= found.accuracy


def test_the_default_gap_costs_less_than_it_says():
    frame = people(2000, 3, ("a", "b", "c"))
    exact, quick = (shift_thresholds(counted(frame, 50), list(ATTRIBUTES), gap=gap) for gap in (0.0, 1e-3))
    assert exact.accuracy * (1 - 1e-3) <= quick.accuracy <= exact.accuracy
    assert exact.accuracy <= quick.bound


@PROPERTY
@given(
    st.integers(0, 10_000),
    st.sampled_from([0.7, 0.8, 0.9]),
    st.sampled_from(["accuracy", "balanced_accuracy", "changes"]),
)
def test_what_it_says_is_what_the_public_metrics_say(seed, target, metric):
    frame = people(400, seed, ("a", "b", "c"))
    counts = counted(frame, 10)
    before = counts.to_frame()
    found = shift_thresholds(counts, list(ATTRIBUTES), target=target, metric=metric, min_n=0)
    assert found.ok
    assert counts.to_frame().equals(before)
    for dim in ATTRIBUTES:
        ratio = public_ratio(counts, found.thresholds, dim)
        assert float(found.di.sel(attribute=dim)) == ratio
        assert ratio >= target - NOISE
    table = counts.at(found.thresholds).sum(ATTRIBUTES)
    assert found.accuracy == pytest.approx(float(al.accuracy(table)))
    assert set(found.thresholds.values.flat) <= set(counts.edges.lower.tolist())


def test_changes_are_the_fewest_decisions_that_can_differ():
    frame = people(250, 1)
    counts, joint = counted(frame, 6), frame["age"] + ", " + frame["sex"]
    brute = satisfying(brute_force(frame, 6, ("age", "sex")), 0.8)
    start = frame["p"] >= 0.5
    score = frame["p"].to_numpy()
    differ = sum(
        ((score[None] >= brute[name].to_numpy()[:, None]) != start.to_numpy())[:, (joint == name).to_numpy()].sum(
            axis=1
        )
        for name in joint.unique()
    )
    found = shift_thresholds(counts, list(ATTRIBUTES), metric="changes", min_n=0, gap=0.0)
    mine = sum(
        ((frame["p"] >= float(found.thresholds.sel(age=age, sex=sex))) != start)[own.index].sum()
        for (age, sex), own in frame.groupby(["age", "sex"])
    )
    assert mine == differ.min()
    assert found.bound == pytest.approx(1 - mine / len(frame), abs=1 / len(frame))


@pytest.mark.parametrize("seed", range(3))
def test_balanced_accuracy_is_the_best_there_is(seed):
    frame = people(400, seed)
    frame = frame[(frame["y"] == 0) | (np.arange(len(frame)) % 4 == 0)]
    brute, positives = satisfying(brute_force(frame, 6, ATTRIBUTES), 0.8), int(frame["y"].sum())
    best = (brute["tp"] / positives + (brute["correct"] - brute["tp"]) / (len(frame) - positives)).max() / 2
    counts = counted(frame, 6)
    found = shift_thresholds(counts, list(ATTRIBUTES), metric="balanced_accuracy", min_n=0, gap=0.0)
    table = counts.at(found.thresholds).sum(ATTRIBUTES)
    assert float(al.sensitivity(table) + al.specificity(table)) / 2 == pytest.approx(best)
    assert found.accuracy <= shift_thresholds(counts, list(ATTRIBUTES), min_n=0, gap=0.0).accuracy


def test_a_start_that_is_already_best_stays():
    frame = people(2000, 5)
    found = shift_thresholds(counted(frame), list(ATTRIBUTES), metric="changes", target=0.2)
    assert (found.thresholds == 0.5).all()
    assert found.cells["why"].eq("").all()
    assert found.history["accuracy"].iloc[0] == found.history["accuracy"].iloc[1]


def test_the_same_input_gives_the_same_thresholds():
    counts = counted(people(1500, 8, ("a", "b", "c")), 50)
    one, two = (shift_thresholds(counts, list(ATTRIBUTES)) for _ in range(2))
    assert one.thresholds.identical(two.thresholds)


def test_small_and_protected_groups_keep_their_threshold():
    frame = pd.concat([people(1000, 4), people(40, 4).assign(age="few")])
    counts = counted(frame, 20)
    start = xr.DataArray([0.4, 0.5, 0.6], {"age": ["few", "old", "young"]}, ["age"])
    found = shift_thresholds(counts, "sex", start=start, by=["age", "sex"], min_n=60, protect={"sex": "M"}, target=0.9)
    cells = found.cells.set_index(["sex", "age"])
    assert cells["why"].to_dict() == {
        ("F", "few"): "under 60 people",
        ("F", "old"): "",
        ("F", "young"): "",
        **{("M", age): "protected" for age in ("few", "old", "young")},
    }
    kept = cells[cells["why"] != ""]
    assert (kept["threshold"] == kept["start"]).all()
    assert kept.loc[("M", "few"), "start"] == 0.4
    assert cells["people"].sum() == len(frame)


def test_joint_groups_that_nobody_is_in_have_the_start():
    frame = people(800, 6)
    frame = frame[(frame["sex"] != "M") | (frame["age"] != "old")]
    found = shift_thresholds(counted(frame), list(ATTRIBUTES), min_n=0)
    assert float(found.thresholds.sel(sex="M", age="old")) == 0.5
    assert len(found.cells) == 3
    assert found.ok


@pytest.mark.parametrize("seed", range(4))
def test_when_nothing_reaches_the_target_it_says_so_and_returns_the_nearest(seed):
    frame = people(400, seed)
    edges = [0.4, 0.5, 0.6]
    target = 0.99
    brute = brute_force(frame, 20, ATTRIBUTES, edges)
    lowest = brute[list(ATTRIBUTES)].min(axis=1)
    assert lowest.max() < target
    found = shift_thresholds(counted(frame), list(ATTRIBUTES), target=target, edges=edges, min_n=0)
    assert not found.ok
    assert "no thresholds reach DI 0.99" in found.stopped
    assert "NOT every" in repr(found)
    assert np.isnan(found.bound)
    assert lowest.max() - target / 4096 - 1e-6 <= float(found.di.min()) <= lowest.max() + 1e-12
    assert set(found.thresholds.values.flat) <= set(edges)


def test_a_search_cut_short_says_so_and_still_reaches_the_target(monkeypatch):
    counts = counted(people(6000, 11, ("a", "b", "c", "d", "e")), 100)
    monkeypatch.setattr(program, "NODES", 1)
    found = shift_thresholds(counts, list(ATTRIBUTES), gap=0.0)
    assert found.stopped == "stopped short of the optimum"
    assert found.ok
    assert found.accuracy < found.bound


HARD = counted(people(3000, 0, ("a", "b", "c")), 100)


def test_a_search_out_of_time_flags_everybody_and_says_so(monkeypatch):
    """Near DI 1 the search of this table takes minutes for its first node."""
    monkeypatch.setattr(program, "SECONDS", 0.0)
    found = shift_thresholds(HARD, list(ATTRIBUTES), target=1.0)
    assert found.ok
    assert found.di.values.tolist() == [1.0, 1.0]
    assert (found.thresholds == 0).all()
    assert found.stopped.startswith("everybody is flagged, as the search found nothing")
    assert "time ran out" in found.stopped


def test_a_search_is_ended_in_time(monkeypatch):
    monkeypatch.setattr(program, "SECONDS", 1.0)
    began = monotonic()
    found = shift_thresholds(HARD, list(ATTRIBUTES), target=1.0)
    assert monotonic() - began < 20
    assert found.ok
    assert (found.di >= 1 - NOISE).all()


def test_all_solves_together_have_a_limit(monkeypatch):
    monkeypatch.setattr(shift, "TOTAL", 0.0)
    found = shift_thresholds(HARD, list(ATTRIBUTES), protect={"sex": "F"}, start=0.9, target=0.95)
    assert not found.ok
    assert (found.thresholds == 0.9).all()
    assert "time ran out" in found.stopped


def test_the_start_is_kept_when_the_search_finds_nothing_and_it_will_do(monkeypatch):
    monkeypatch.setattr(program, "SECONDS", 0.0)
    found = shift_thresholds(HARD, list(ATTRIBUTES), edges=[0.05, 0.1], start=0.05, target=0.5)
    assert found.ok
    assert (found.thresholds == 0.05).all()
    assert found.stopped.startswith("the start is kept")


def test_ordinary_targets_never_meet_the_limit_on_time():
    for target in (0.8, 0.9, 0.95):
        assert shift_thresholds(HARD, list(ATTRIBUTES), target=target).stopped == "within 0.0005 of the optimum"


def test_dims_cannot_have_the_names_of_the_table_of_thresholds():
    frame = people(300)
    for name in ("people", "start", "why"):
        counts = counted(frame.rename(columns={"age": name}), by=("sex", name))
        with pytest.raises(al.AuditInputError, match=f"'{name}'"):
            shift_thresholds(counts, ["sex", name])
        assert shift_thresholds(counts, "sex").cells.columns.tolist() == ["sex", "people", "start", "threshold", "why"]


def test_flagging_everybody_always_reaches_the_target():
    frame = people(200, 7).assign(p=lambda f: np.where(f["age"] == "old", 0.9, 0.1))
    found = shift_thresholds(counted(frame), list(ATTRIBUTES), target=1.0, min_n=0)
    assert found.ok
    assert found.di.values.tolist() == [1.0, 1.0]


def test_when_nobody_can_be_flagged_the_start_comes_back():
    frame = people(200, 7).assign(p=0.1)
    found = shift_thresholds(counted(frame), list(ATTRIBUTES), edges=[0.5, 0.6], min_n=0)
    assert not found.ok
    assert found.di.isnull().all()
    assert (found.thresholds == 0.5).all()
    assert "nobody can be flagged" in found.stopped


def test_ratios_at_the_limit_reach_it_and_undefined_ones_do_not():
    assert reaches(np.array([0.8 - 1e-12]), 0.8)
    assert not reaches(np.array([0.8 - 1e-6]), 0.8)
    assert not reaches(np.array([np.nan]), 0.8)


COUNTS = counted(people(300), by=("partition", *ATTRIBUTES))
SELECTION = COUNTS.sel(partition="selection")


def test_partitions_are_separate_and_both_at_once_are_refused():
    audit = COUNTS.sel(partition="audit")
    assert SELECTION.n_rows + audit.n_rows == COUNTS.n_rows
    assert not same(SELECTION, audit)
    found = shift_thresholds(SELECTION, list(ATTRIBUTES))
    assert audit.at(found.thresholds)["tp"].dims == ATTRIBUTES
    with pytest.raises(al.AuditInputError, match=r"select one: counts.sel\(partition='audit'\)"):
        shift_thresholds(COUNTS, list(ATTRIBUTES))
    listed = shift_thresholds(COUNTS.sel(partition=["selection"]), list(ATTRIBUTES))
    assert listed.thresholds.identical(found.thresholds)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"attributes": "race"}, "'race' is not a group here"),
        ({"attributes": []}, "at least one group"),
        ({"attributes": ["sex", "sex"]}, "each once"),
        ({"attributes": 3}, "attributes must be the name"),
        ({"by": "race"}, "'race' is not a group here"),
        ({"target": 0}, "target must be a ratio above 0"),
        ({"target": 1.2}, "target must be a ratio above 0"),
        ({"target": True}, "target must be a ratio"),
        ({"start": 0.123}, "nearest edges"),
        ({"start": [0.4, 0.5]}, "not a list"),
        ({"edges": [0.123]}, "nearest edges"),
        ({"edges": []}, "names no threshold"),
        ({"edges": 0.5}, "edges must be a list of numbers, not 0.5"),
        ({"protect": {"sex": 5}}, "protect: 'sex' must be a list of levels, not 5"),
        ({"protect": {"sex": None}}, "protect: 'sex' must be a list"),
        ({"protect": {"sex": []}}, "at least one level"),
        ({"metric": "F1"}, "metric must be one of accuracy"),
        ({"min_n": -1}, "min_n must be a whole number"),
        ({"gap": -0.1}, "gap must be a share"),
        ({"protect": {"race": "A"}}, "'race' has no thresholds of its own"),
        ({"protect": {"sex": "X"}}, "unknown: 'X'"),
        ({"protect": "sex"}, "protect must map"),
        ({"counts": SELECTION.resample(3, seed=1)}, "replicates"),
        ({"counts": SELECTION.at(0.5)}, "must be Counts"),
        ({"counts": SELECTION.sel(sex=["F"])}, "has one group"),
        ({"counts": SELECTION.sel(sex="F")}, "'sex' is not a group"),
    ],
)
def test_bad_input_is_an_error_in_words(change, words):
    arguments = {"counts": SELECTION, "attributes": list(ATTRIBUTES), **change}
    with pytest.raises(al.AuditInputError, match=words):
        shift_thresholds(**arguments)


def test_a_group_with_nobody_and_several_models_are_errors():
    frame = people(300)
    empty = counted(frame[(frame["partition"] != "audit") | (frame["age"] == "old")], by=("partition", *ATTRIBUTES))
    with pytest.raises(al.AuditInputError, match="nobody is in 'young'"):
        shift_thresholds(empty.sel(partition="audit"), list(ATTRIBUTES))
    two = al.count(frame.assign(q=frame["p"]), label="y", score=["p", "q"], by=list(ATTRIBUTES), bins=10)
    with pytest.raises(al.AuditInputError, match="2 models"):
        shift_thresholds(two, list(ATTRIBUTES))
    one_label = counted(frame.assign(y=0))
    with pytest.raises(al.AuditInputError, match="both labels"):
        shift_thresholds(one_label, list(ATTRIBUTES), metric="balanced_accuracy")
