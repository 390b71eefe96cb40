"""The capacity frontier against brute force over all pairs of thresholds, and points judged on other people."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import auditlib as al
from auditlib.benefit import frontier
from auditlib.benefit.frontier import capacity_frontier, check_capacity, judge, points_table

GROUPS = ("A", "B", "C")
LAM = {"A": 0.3, "B": 0.6, "C": 0.15}
BURDEN = {"A": 1.0, "B": 0.5, "C": 0.9}


def cohort(seed, n=None, decimals=None, groups=GROUPS):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 201)) if n is None else n
    group = np.r_[list(groups), rng.choice(groups, n - len(groups))]
    score = rng.beta(1.5, 4, n)
    label = (rng.random(n) < np.clip(score + rng.normal(0, 0.2, n), 0.02, 0.98)).astype(int)
    return pd.DataFrame({"y": label, "g": group, "p": score if decimals is None else score.round(decimals)})


def count(frame, **options):
    return al.count(frame, **{"label": "y", "score": "p", "by": "g", "bins": None, **options})


def snb_of_rows(frame, flagged, t, lam, burden):
    """sNB of each group from rows, flagged being (pairs, rows): 1 − r(π − λ(TP − w·FP)/N)."""
    w, y = t / (1 - t), frame["y"].to_numpy()
    found = {}
    for g in GROUPS:
        mine = (frame["g"] == g).to_numpy()
        gain = flagged[:, mine] @ np.where(y[mine] == 1, 1, -w)
        found[g] = 1 - burden[g] * (y[mine].mean() - lam[g] * gain / mine.sum())
    return found


def all_pairs(frame, level, cap, t, lam, burden):
    """Overall and named sNB, and the number flagged, of every pair of thresholds that flags at most ``cap``."""
    score, own = frame["p"].to_numpy(), (frame["g"] == level).to_numpy()
    edges = np.append(np.inf, np.unique(score))
    first, second = (np.repeat(edges, len(edges)), np.tile(edges, len(edges)))
    flagged = np.where(own, score >= first[:, None], score >= second[:, None])
    flagged = flagged[flagged.sum(axis=1) <= cap]
    snb = snb_of_rows(frame, flagged, t, lam, burden)
    share = frame["g"].value_counts(normalize=True)
    return sum(share[g] * snb[g] for g in GROUPS), snb[level], flagged.sum(axis=1)


@pytest.mark.parametrize("decimals", [None, 2, 1])
@pytest.mark.parametrize("seed", range(34))
def test_equals_brute_force_over_all_pairs_of_thresholds(seed, decimals):
    frame = cohort(seed, decimals=decimals)
    rng = np.random.default_rng(1000 + seed)
    capacity, t = float(rng.choice([0.05, 0.1, 0.3, 1.0])), float(rng.choice([0.05, 0.1, 0.25]))
    lam, burden = (LAM, BURDEN) if seed % 2 else (dict.fromkeys(GROUPS, 0.4), dict.fromkeys(GROUPS, 1.0))
    found = capacity_frontier(count(frame), "B", capacity, t, lam, burden)
    cap, n = found.attrs["capacity"], len(frame)
    overall, own, flagged = all_pairs(frame, "B", cap, t, lam, burden)
    mine, ours = found["overall"].values[:, None], found["snb_level"].values[:, None]
    e = 1e-9 / n  # a patient's unit, as a share of everybody
    # Every pair is matched or beaten by a point, and no point is beaten by a pair: the sets of values are equal.
    assert ((mine >= overall - e) & (ours >= own - e)).any(axis=0).all()
    assert not (((overall > mine + e) & (own >= ours - e)) | ((own > ours + n * e) & (overall >= mine - e))).any()
    # Each point flags as few as any pair of its value, and leaves the rest of the capacity.
    equal = (np.abs(mine - overall) < e) & (np.abs(ours - own) < n * e)
    least = np.where(equal, flagged, n + 1).min(axis=1)
    total = (found["flagged_level"] + found["flagged_rest"]).values
    assert (total == least).all()
    assert (found["unused"].values == cap - total).all()


@pytest.mark.parametrize("seed", range(12))
def test_a_point_is_what_its_thresholds_give(seed):
    frame = cohort(seed, decimals=2 if seed % 2 else None)
    counts = count(frame)
    found = capacity_frontier(counts, "C", 0.2, 0.1, LAM, BURDEN)
    limit = np.where(
        (frame["g"] == "C").to_numpy(),
        found["threshold_level"].values[:, None],
        found["threshold_rest"].values[:, None],
    )
    flagged = frame["p"].to_numpy() >= limit
    snb = snb_of_rows(frame, flagged, 0.1, LAM, BURDEN)
    assert found["snb"].transpose("point", "g").values == pytest.approx(np.stack([snb[g] for g in GROUPS], axis=1))
    assert found["snb_level"].values == pytest.approx(snb["C"])
    assert (flagged.sum(axis=1) == (found["flagged_level"] + found["flagged_rest"]).values).all()
    assert (flagged.sum(axis=1) <= int(0.2 * len(frame) + 1e-9)).all()
    lowest = np.array(GROUPS)[np.argmin([snb[g] for g in GROUPS], axis=0)]
    assert found["lowest"].values.tolist() == lowest.tolist()
    table = points_table(counts, found)
    assert (table["tp"].sum("g").values == (flagged & (frame["y"] == 1).to_numpy()).sum(axis=1)).all()
    assert (sum(table[cell] for cell in ("tp", "fp", "fn", "tn")).sum("g") == len(frame)).all()


def test_points_run_from_the_best_overall_to_the_best_for_the_group():
    found = capacity_frontier(count(cohort(3, n=200)), "A", 0.1, 0.1, 0.4)
    assert found.sizes["point"] > 3
    assert (np.diff(found["overall"]) < 0).all()
    assert (np.diff(found["snb_level"]) > 0).all()
    assert found.attrs | {"lowest_untreated": "?"} == {
        "level": "A", "dim": "g", "capacity": 20, "people": 200, "threshold": 0.1, "lowest_untreated": "?",
    }  # fmt: skip
    untreated = 1 - cohort(3, n=200).groupby("g")["y"].mean()
    assert found.attrs["lowest_untreated"] == untreated.idxmin()


def test_a_block_of_ties_larger_than_the_cap_is_left_out_whole():
    frame = pd.DataFrame(
        {"y": [1] * 6 + [1, 0, 0, 0], "g": ["A"] * 6 + ["B"] * 4, "p": [0.9] * 6 + [0.8, 0.4, 0.3, 0.2]}
    )
    found = capacity_frontier(count(frame), "A", 0.5, 0.1, 0.5)
    assert found["flagged_level"].values.tolist() == [0]
    assert found["flagged_rest"].values.tolist() == [1]
    assert found["unused"].values.tolist() == [4]
    assert found["threshold_level"].values.tolist() == [np.inf]
    whole = capacity_frontier(count(frame), "A", 0.6, 0.1, 0.5)
    assert whole["flagged_level"].values.tolist() == [6]
    assert whole["unused"].values.tolist() == [0]


def test_nobody_is_flagged_when_nobody_can_gain():
    """With w = 9 a flag pays only where nine in ten have the outcome."""
    frame = pd.DataFrame({"y": [1, 0, 0, 0], "g": list("AABB"), "p": [0.1, 0.9, 0.8, 0.7]})
    found = capacity_frontier(count(frame), "A", 1.0, 0.9, 0.5)
    assert found["threshold_level"].values.tolist() == [np.inf]
    assert found["threshold_rest"].values.tolist() == [np.inf]
    assert found["unused"].values.tolist() == [4]
    assert found["overall"].item() == pytest.approx(0.75)
    assert (judge(count(frame), found, 0.9, 0.5)["flagged_overall"] == 0).all()


def test_the_threshold_of_net_benefit_need_not_be_an_edge_and_does_not_move():
    """A point's sNB is weighed at t wherever its thresholds are."""
    counts = count(cohort(5, n=150))
    found = capacity_frontier(counts, "A", 0.08, 0.123456, 0.4)
    expected = al.subgroup_net_benefit(points_table(counts, found), 0.123456, 0.4)
    assert found["snb"].values == pytest.approx(expected.values)


def test_cap_is_the_floor_of_the_share():
    assert check_capacity(0.03, 100) == 3  # 0.03 · 100 is 3.0000000000000004 or 2.9999999999999996 elsewhere
    assert check_capacity(0.29, 100) == 29
    assert check_capacity(0.01, 199) == 1
    assert check_capacity(1, 7) == 7
    assert check_capacity(np.float32(0.5), 3) == 1


def test_equal_benefits_take_the_fewest_people():
    """With w = 1/4 four false positives undo one true positive: the first flag already gains all there is."""
    frame = pd.DataFrame(
        {"y": [1, 0, 0, 0, 0, 1, 0, 0], "g": ["B"] * 6 + ["A"] * 2, "p": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]}
    )
    found = capacity_frontier(count(frame), "A", 1.0, 0.2, 0.37)
    assert found["flagged_rest"].values.tolist() == [1]
    assert found["unused"].values.tolist() == [7]


def test_records_within_the_tolerance_are_equal():
    values = np.array([0.0, 1.0, 1.0 + 1e-12, 0.5, 1.0 + 1.5e-9, 2.0])
    assert frontier._records(values).tolist() == [0, 1, 4, 5]
    steps = np.arange(10) * 0.9e-9  # small steps add up: compared with the last one kept
    assert frontier._records(steps).tolist() == [0, 2, 4, 6, 8]


def test_other_groups_are_summed_over():
    frame = cohort(7, n=180).assign(sex=lambda f: np.where(np.arange(len(f)) % 3 == 0, "F", "M"))
    both, alone = count(frame, by=["g", "sex"]), count(frame)
    xr.testing.assert_identical(
        capacity_frontier(both, "B", 0.1, 0.1, 0.4), capacity_frontier(alone, "B", 0.1, 0.1, 0.4)
    )
    by_sex = capacity_frontier(both, "F", 0.1, 0.1, 0.4)
    assert by_sex["snb"].dims == ("point", "sex") or by_sex["snb"].dims == ("sex", "point")
    points = capacity_frontier(alone, "B", 0.1, 0.1, 0.4)
    xr.testing.assert_identical(judge(both, points, 0.1, 0.4), judge(alone, points, 0.1, 0.4))


def test_grid_edges_give_the_frontier_of_the_binned_scores():
    frame = cohort(11, n=200)
    binned = frame.assign(p=np.floor(frame["p"] * 50) / 50)
    coarse, fine = count(frame, bins=50), count(binned)
    a, b = (capacity_frontier(held, "A", 0.15, 0.1, LAM) for held in (coarse, fine))
    assert a["overall"].values == pytest.approx(b["overall"].values)
    assert a["unused"].values.tolist() == b["unused"].values.tolist()


def test_judged_on_the_same_people_a_point_gives_what_it_promised():
    counts = count(cohort(13, n=200))
    points = capacity_frontier(counts, "A", 0.1, 0.1, LAM, BURDEN)
    seen = judge(counts, points, 0.1, LAM, BURDEN)
    for name in ("overall", "snb_level", "snb"):
        assert seen[name].transpose(*points[name].dims).values == pytest.approx(points[name].values)
    flagged = (points["flagged_level"] + points["flagged_rest"]) / 200
    assert seen["flagged_overall"].values == pytest.approx(flagged.values)
    table = counts.cut([0.0]).at(0.0)
    none = al.subgroup_net_benefit(al.treat(table, "none"), 0.1, LAM, BURDEN)
    assert seen["none"].values == pytest.approx(none.values)


def test_judged_on_others_with_brute_force():
    chosen, other = cohort(17, n=200, decimals=2), cohort(18, n=190, decimals=2)
    grid = {"bins": 100}
    points = capacity_frontier(count(chosen, **grid), "A", 0.1, 0.1, LAM, BURDEN)
    seen = judge(count(other, **grid), points, 0.1, LAM, BURDEN)
    limit = np.where(
        (other["g"] == "A").to_numpy(),
        points["threshold_level"].values[:, None],
        points["threshold_rest"].values[:, None],
    )
    flagged = other["p"].to_numpy() >= limit
    snb = snb_of_rows(other, flagged, 0.1, LAM, BURDEN)
    for g in GROUPS:
        assert seen["snb"].sel(g=g).values == pytest.approx(snb[g])
    share = other["g"].value_counts(normalize=True)
    assert seen["overall"].values == pytest.approx(sum(share[g] * snb[g] for g in GROUPS))
    assert seen["overall_none"].item() == pytest.approx(
        sum(share[g] * (1 - BURDEN[g] * other.loc[other["g"] == g, "y"].mean()) for g in GROUPS)
    )


def test_replicates_are_paired_and_centre_on_the_estimate():
    counts = count(cohort(19, n=200))
    points = capacity_frontier(counts, "A", 0.1, 0.1, 0.4)
    again = judge(counts, points, 0.1, 0.4, replicates=4000, seed=1)
    assert again["overall"].dims == ("replicate", "point")
    assert again["snb"].sizes == {"replicate": 4000, "g": 3, "point": points.sizes["point"]}
    se = again["overall"].std("replicate") / np.sqrt(4000)
    assert (np.abs(again["overall"].mean("replicate") - points["overall"]) < 4 * se).all()
    ends = again["overall"].isel(point=0, drop=True) - again["overall"].isel(point=-1, drop=True)
    assert float(ends.std()) < float(again["overall"].isel(point=0).std())  # the same patients on both sides
    same = judge(counts, points.isel(point=[0, -1]), 0.1, 0.4, replicates=50, seed=1)
    assert same["overall"].sizes == {"replicate": 50, "point": 2}
    assert (al.interval(again["overall"]).low < points["overall"]).all()


def test_strata_hold_the_groups_fixed():
    counts = count(cohort(19, n=200))
    points = capacity_frontier(counts, "A", 0.1, 0.1, 0.4)
    free, held = (judge(counts, points, 0.1, 0.4, replicates=300, seed=2, strata=s) for s in ((), "g"))
    weights = counts.at(0.0)
    n = (weights["tp"] + weights["fp"] + weights["fn"] + weights["tn"]) / 200
    assert held["overall"].values == pytest.approx((n * held["snb"]).sum("g").transpose("replicate", "point").values)
    assert not np.allclose(free["overall"], (n * free["snb"]).sum("g"))


def test_clusters_are_resampled_whole_and_not_forgotten():
    once = cohort(23, n=60)
    frame = pd.concat([once.assign(patient=range(60))] * 4, ignore_index=True)  # four equal rows of each patient
    counts = count(frame, cluster="patient")
    points = capacity_frontier(counts, "A", 0.1, 0.1, 0.4)
    xr.testing.assert_identical(points.drop_vars("clustered_by"), capacity_frontier(count(frame), "A", 0.1, 0.1, 0.4))
    with pytest.raises(al.AuditInputError, match="patient"):  # no interval that takes rows for independent
        al.rate_interval(points_table(counts, points))
    spread = [
        float(judge(held, points, 0.1, 0.4, replicates=4000, seed=3)["overall"].std("replicate").isel(point=0))
        for held in (counts, counts.as_rows())
    ]
    assert spread[0] / spread[1] == pytest.approx(2, rel=0.1)  # a quarter of the independent units


def wrong(counts, level="A", capacity=0.1, threshold=0.1, lam=0.4, **more):
    return lambda: capacity_frontier(counts, level, capacity, threshold, lam, **more)


@pytest.mark.parametrize("capacity", [0, 1.2, -0.1, np.nan, "3%", True, None, [0.1]])
def test_a_capacity_outside_its_range(capacity):
    with pytest.raises(al.AuditInputError, match=r"capacity must be a share of the people in \(0, 1\]"):
        capacity_frontier(count(cohort(1)), "A", capacity, 0.1, 0.4)


def test_a_capacity_of_less_than_one_patient():
    with pytest.raises(al.AuditInputError, match=r"capacity: 0.004 of 200 people is less than one patient"):
        capacity_frontier(count(cohort(1, n=200)), "A", 0.004, 0.1, 0.4)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"level": "Z"}, "'Z' is no level here. There is g: A, B, C"),
        ({"level": "A", "dim": "sex"}, "'sex' is not a group here"),
        ({"threshold": 1.5}, "threshold must be at least 0 and below 1"),
        ({"threshold": 1.0}, "threshold"),
        ({"lam": 1.2}, "lam must be above 0 and at most 1"),
        ({"lam": np.nan}, "lam"),
        ({"lam": {"A": 0.2, "B": 0.3}}, "no value for 'C'"),
        ({"lam": {"A": 0.2, "B": 0.3, "C": 0.1, "D": 0.4}}, "unknown: 'D'"),
        ({"burden": {"A": 0.2, "B": 0.3}}, "no value for 'C'"),
        ({"burden": 0}, "burden"),
        ({"lam": xr.DataArray([0.1, 0.2], {"lam": [0.1, 0.2]}, ["lam"])}, "lam and burden one number"),
        (
            {"threshold": xr.DataArray([0.1, 0.2], {"threshold": [0.1, 0.2]}, ["threshold"])},
            "threshold must be one number",
        ),
    ],
)
def test_what_cannot_be_meant(change, said):
    with pytest.raises(al.AuditInputError, match=said.replace("(", r"\(")):
        wrong(count(cohort(1, n=100)), **change)()


def test_counts_that_have_no_frontier():
    frame = cohort(1, n=100)
    twice = count(frame.assign(q=frame["p"] / 2), score=["p", "q"])
    with pytest.raises(al.AuditInputError, match="several models"):
        wrong(twice)()
    with pytest.raises(al.AuditInputError, match="not resampled"):
        wrong(count(frame).resample(3, seed=1))()
    with pytest.raises(al.AuditInputError, match="not resampled"):
        wrong(frame)()
    with pytest.raises(al.AuditInputError, match="everybody"):
        wrong(count(frame[frame["g"] == "A"]))()
    with pytest.raises(al.AuditInputError, match="nobody"):
        wrong(al.Counts(**empty_level(count(frame))))()
    doubled = count(frame.assign(h=frame["g"]), by=["g", "h"])
    with pytest.raises(al.AuditInputError, match="say dim="):
        wrong(doubled)()
    assert wrong(doubled, dim="h")().attrs["dim"] == "h"


def empty_level(counts):
    """The same counts with nobody in A."""
    lines = counts.lines.replace_cells(counts.lines.cells, counts.lines.cells[:, 0] != 0)
    return {**counts.__dict__, "lines": lines}


def test_tiny_effects_are_compared_in_their_own_units():
    held = count(cohort(5, n=150))
    usual, tiny = (capacity_frontier(held, "A", 0.2, 0.1, lam) for lam in (0.5, 1e-12))
    for name in ("flagged_level", "flagged_rest", "unused"):
        assert tiny[name].values.tolist() == usual[name].values.tolist()


def test_some_points_one_point_and_none():
    held = count(cohort(5, n=150))
    points = capacity_frontier(held, "A", 0.2, 0.1, 0.5)
    every = judge(held, points, 0.1, 0.5)
    one = judge(held, points.isel(point=0), 0.1, 0.5)
    assert float(one.overall.squeeze()) == float(every.overall[0])
    dropped = points.where(points["point"] == 0)
    other = points.assign_attrs(level="Z")
    for wrong_points in (points.isel(point=[]), dropped, points.drop_vars("threshold_level"), other):
        with pytest.raises(al.AuditInputError, match="point"):
            judge(held, wrong_points, 0.1, 0.5)
    with pytest.raises(al.AuditInputError, match="have that level"):
        judge(held.sel(g=["B", "C"]), points, 0.1, 0.5)
    with pytest.raises(al.AuditInputError, match="Counts"):
        judge(cohort(5, n=150), points, 0.1, 0.5)


def test_strata_may_be_another_group():
    frame = cohort(6, n=300).assign(h=np.arange(300) % 2)
    held = count(frame, by=["g", "h"])
    points = capacity_frontier(held, "A", 0.2, 0.1, 0.5, dim="g")
    drawn = judge(held, points, 0.1, 0.5, replicates=20, strata=["g", "h"], seed=1)
    assert drawn.overall.sizes["replicate"] == 20
    with pytest.raises(al.AuditInputError, match="'z' is not a group"):
        judge(held, points, 0.1, 0.5, replicates=20, strata="z")


def test_points_from_elsewhere_or_for_other_edges():
    counts = count(cohort(1, n=100))
    points = capacity_frontier(counts, "A", 0.2, 0.1, 0.4)
    with pytest.raises(al.AuditInputError, match="capacity_frontier"):
        judge(counts, points.drop_attrs(), 0.1, 0.4)
    with pytest.raises(al.AuditInputError, match="capacity_frontier"):
        points_table(counts, counts.at(0.0))
    with pytest.raises(al.AuditInputError, match="is not an edge"):
        judge(count(cohort(2, n=100)), points, 0.1, 0.4)
    with pytest.raises(al.AuditInputError, match="replicates"):
        judge(counts, points, 0.1, 0.4, replicates=-1)
    with pytest.raises(al.AuditInputError, match="pass unresampled"):
        judge(counts.resample(2, seed=1), points, 0.1, 0.4)
