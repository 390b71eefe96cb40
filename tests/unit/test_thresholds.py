"""Gaps over thresholds and thresholds that meet a rate: against direct calls, brute force and hand-made curves."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import assume, given
from hypothesis import strategies as st

import auditlib as al
from auditlib.thresholds import enough
from tests.unit.frames import PROPERTY, cohort, count, frames
from tests.unit.test_intervals import bad, clustered

POINTS = [0.1, 0.2, 0.4, 0.6]
AT_MOST = {"selection_rate": al.selection_rate, "false_positive_rate": al.false_positive_rate}
AT_LEAST = {"sensitivity": al.sensitivity, "specificity": al.specificity}


def by_sex(rows=1500, **options):
    return count(cohort(rows), by="sex", **options)


# -- curves ------------------------------------------------------------------------------------------------------


def test_a_curve_is_newcombe_at_each_threshold_and_the_band_over_all():
    counts = by_sex()
    found = al.gap_curve(counts, "F", "M", thresholds=POINTS, replicates=200, seed=3)
    alone = al.gap_interval(counts.at(POINTS), "F", "M")
    again = counts.cut(POINTS).resample(200, strata="sex", seed=3).at(POINTS)
    whole = al.band(counts.at(POINTS), again, "F", "M")
    assert found.threshold.values.tolist() == POINTS
    for name in ("estimate", "low", "high", "n_a", "n_b"):
        assert np.allclose(found[name], alone[name])
    for name, other in (("band_low", "low"), ("band_high", "high"), ("c", "c"), ("estimate", "estimate")):
        assert np.allclose(found[name], whole[other])
    assert found.n_a.values.tolist() == [int(counts.sel(sex="F").to_frame().query("label == 1")["n"].sum())] * 4
    assert int(found.left_out) == 0
    assert found.attrs == {"metric": "sensitivity", "a": "F", "b": "M", "level": 0.95, "min_flagged": 10}


@pytest.mark.parametrize(("metric", "cells"), [(al.ppv, ("tp", "fp")), (al.npv, ("tn", "fn"))])
def test_predictive_values_are_left_out_where_few_are_flagged_or_not_flagged(metric, cells):
    frame = cohort(700)
    frame = frame[(frame["sex"] == "F") | (frame.index % 4 == 0)]
    counts = count(frame, by="sex")
    every = counts.edges.lower[1:].tolist()
    found = al.gap_curve(counts, "F", "M", metric=metric, thresholds=every, replicates=100, seed=1)
    table = counts.at(every)
    trials = table[cells[0]] + table[cells[1]]
    kept = (trials >= 10).all("sex").values
    assert 0 < kept.sum() < len(every)
    assert int(found.left_out) == (~kept).sum()
    for name in ("estimate", "low", "high", "band_low", "band_high"):
        assert np.array_equal(np.isfinite(found[name].values), kept)
    assert np.array_equal(found.n_a.values, trials.sel(sex="F").values)  # said everywhere
    some = [t for t, keep in zip(every, kept, strict=True) if keep]
    again = counts.cut(every).resample(100, strata="sex", seed=1).at(every).sel(threshold=some)
    alone = al.band(table[["tp", "fp", "fn", "tn"]].sel(threshold=some), again, "F", "M", metric=metric)
    assert float(found.c) == pytest.approx(float(alone.c))
    assert np.allclose(found.band_low.values[kept], alone.low)
    more = al.gap_curve(counts, "F", "M", metric=metric, thresholds=every, replicates=100, seed=1, min_flagged=30)
    assert int(more.left_out) == int((~(trials >= 30).all("sex")).sum()) > int(found.left_out)


def test_few_flagged_matter_to_predictive_values_alone():
    counts = by_sex(60)
    table = counts.at([0.1, 0.9])
    assert enough(table, al.ppv, "sex", ("F", "M"), 10).values.tolist() == [True, False]
    assert enough(table, al.npv, "sex", ("F", "M"), 10).values.tolist() == [False, True]
    for metric in (al.sensitivity, al.selection_rate, al.specificity):
        assert enough(table, metric, "sex", ("F", "M"), 10).all()


def test_a_group_without_the_outcome_has_no_curve():
    frame = cohort(600)
    frame.loc[frame["sex"] == "F", "y"] = 0
    found = al.gap_curve(count(frame, by="sex"), "F", "M", thresholds=POINTS, replicates=100, seed=1)
    assert np.isnan(found.estimate).all()
    assert np.isnan(found.band_low).all()
    assert np.isnan(float(found.c))
    assert found.n_a.values.tolist() == [0] * 4
    assert int(found.left_out) == 4


@pytest.mark.parametrize("metric", [al.sensitivity, al.false_positive_rate, al.ppv, al.selection_rate])
def test_thresholds_at_which_a_rate_rests_on_few_people_are_marked(metric):
    frame = cohort(900)
    frame = frame[(frame["sex"] == "M") | (frame.index % 4 == 0)]
    counts = count(frame, by="sex")
    every = counts.edges.lower[1:].tolist()
    found = al.gap_curve(counts, "F", "M", metric=metric, thresholds=every, replicates=100, seed=1)
    people = {
        "sensitivity": lambda t: t["tp"] + t["fn"],
        "false_positive_rate": lambda t: t["fp"] + t["tn"],
        "ppv": lambda t: t["tp"] + t["fp"],
        "selection_rate": lambda t: t["tp"] + t["fn"] + t["fp"] + t["tn"],
    }[metric.__name__](counts.at(every))
    assert np.array_equal(found.small.values, (people < 30).any("sex").values)
    assert found.small.any() == (metric is al.ppv)
    few = al.gap_curve(count(cohort(80), by="sex"), "F", "M", thresholds=POINTS, replicates=100, seed=1)
    assert few.small.all()


def test_replicates_without_a_rate_are_told():
    """Four positives in F: a replicate has none of them with a known chance."""
    frame = pd.DataFrame({"y": [1] * 4 + [0] * 4 + [1, 0] * 50, "sex": ["F"] * 8 + ["M"] * 100})
    frame["p"] = np.linspace(0.05, 0.95, len(frame)).round(2)
    found = al.gap_curve(count(frame, by="sex"), "F", "M", thresholds=[0.04, 0.5], replicates=4000, seed=1)
    assert found.undefined.values == pytest.approx([0.5**8] * 2, abs=0.003)


def test_patients_are_drawn_with_all_their_rows():
    counts = count(clustered(900), by="sex", cluster="patient")
    found, rows = (al.gap_curve(held, "F", "M", thresholds=POINTS, seed=1) for held in (counts, counts.as_rows()))
    assert np.allclose(found.estimate, rows.estimate)
    assert float(found.c) > 1.2 * float(rows.c)
    assert (found.high - found.low > rows.high - rows.low).all()


def test_every_other_group_and_model_has_a_curve_of_its_own():
    counts = count(cohort(1500), score=["p", "fine"])
    found = al.gap_curve(counts, "F", "M", thresholds=POINTS, replicates=100, seed=1)
    assert set(found.estimate.dims) == {"race", "model", "threshold"}
    assert set(found.c.dims) == {"race", "model"}
    one = al.gap_interval(counts.sel(race="B").at(POINTS), "F", "M")
    for name in ("estimate", "low", "high"):
        assert np.allclose(found[name].sel(race="B"), one[name])
    assert (found.band_low <= found.estimate).all()


def test_by_default_all_thresholds_above_zero_that_flag_somebody():
    frame = cohort(300).assign(p=lambda f: f["p"].clip(upper=0.62))
    found = al.gap_curve(count(frame, by="sex", bins=10, thresholds=[0.25]), "F", "M", replicates=100, seed=1)
    assert found.threshold.values.tolist() == [0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6]


def test_thresholds_come_once_and_in_order():
    found = al.gap_curve(by_sex(), "F", "M", thresholds=np.array([0.3, 0.1, 0.1 * 3]), replicates=100, seed=1)
    assert found.threshold.values.tolist() == [0.1, 0.3]
    zero = al.gap_curve(by_sex(), "F", "M", thresholds=[-0.0, 0.3], replicates=100, seed=1).threshold.values
    assert [str(place) for place in zero.tolist()] == ["0.0", "0.3"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"thresholds": [0.123]}, "0.123 is not an edge of this table; the nearest edges are 0.12 and 0.125"),
        ({"thresholds": []}, "no threshold was given"),
        ({"thresholds": [1.2]}, "between 0 and 1"),
        ({"thresholds": 0.3}, "thresholds must be a list"),
        ({"thresholds": {"F": 0.1, "M": 0.2}}, "thresholds must be a list"),
        ({"thresholds": xr.DataArray([0.1, 0.2], {"sex": ["F", "M"]}, ["sex"])}, "thresholds must be a list"),
        ({"metric": al.auroc}, "auroc is not a rate of one table"),
        ({"metric": "precision"}, "precision is not a rate of one table"),
        ({"b": "X"}, "'F' and 'X' are not levels of one dim"),
        ({"b": "F"}, "are one level"),
        ({"dim": "age"}, "'age' is not a dim"),
        ({"replicates": 0}, "replicates must be a whole number of at least 1"),
        ({"replicates": 1}, "a band at level 0.95 needs at least 100 replicates, but has 1"),
        ({"level": 0.99}, "a band at level 0.99 needs at least 500 replicates, but has 100"),
        ({"min_flagged": 0}, "min_flagged must be a whole number of at least 1"),
        ({"min_flagged": 2.5}, "min_flagged must be a whole number of at least 1"),
        ({"level": 95}, "level must lie between 0 and 1"),
        ({"seed": -1}, "seed must be a whole number"),
    ],
)
def test_a_curve_that_cannot_be(options, said):
    with bad(said):
        al.gap_curve(by_sex(), **{"a": "F", "b": "M", "thresholds": POINTS, "replicates": 100, "seed": 1, **options})


def test_a_curve_needs_counts_of_people_that_somebody_is_flagged_of():
    counts = by_sex()
    with bad("a curve is found on counts, as count"):
        al.gap_curve(counts.at(POINTS), "F", "M")
    with bad("not resampled; pass the original counts"):
        al.gap_curve(counts.resample(3), "F", "M")
    with bad("no threshold above 0 flags anybody"):
        al.gap_curve(count(cohort(p=0.0), by="sex"), "F", "M")
    with bad("judged on the same patients"):
        al.gap_curve(count(cohort(), by=[], score=["p", "fine"]), "p", "fine", thresholds=POINTS)


# -- runs --------------------------------------------------------------------------------------------------------

CURVE = xr.Dataset(
    {
        "estimate": ("threshold", [-0.1, -0.1, 0.0, 0.2, np.nan, 0.3, 0.3]),
        "band_low": ("threshold", [-0.2, -0.2, -0.1, 0.1, np.nan, 0.1, -0.1]),
        "band_high": ("threshold", [0.1, -0.1, 0.1, 0.3, np.nan, 0.5, 0.7]),
        "low": ("threshold", [-0.15, -0.15, -0.05, 0.15, np.nan, 0.2, 0.1]),
        "high": ("threshold", [-0.05, -0.1, 0.05, 0.25, np.nan, 0.4, 0.5]),
    },
    {"threshold": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]},
)


@pytest.mark.parametrize(
    ("by", "rows"),
    [
        ("band", [("−", 0.2, 0.2, 1), ("+", 0.4, 0.4, 1), ("+", 0.6, 0.6, 1)]),
        ("pointwise", [("−", 0.1, 0.2, 2), ("+", 0.4, 0.4, 1), ("+", 0.6, 0.7, 2)]),
        ("estimate", [("−", 0.1, 0.2, 2), ("+", 0.4, 0.4, 1), ("+", 0.6, 0.7, 2)]),
    ],
)
def test_runs_end_at_zero_at_a_change_of_sign_and_at_what_was_left_out(by, rows):
    assert [tuple(row) for row in al.sign_runs(CURVE, by).itertuples(index=False)] == rows


def test_a_change_of_sign_between_neighbours_is_two_runs():
    curve = CURVE.isel(threshold=[1, 3])
    assert al.sign_runs(curve)["sign"].tolist() == ["−", "+"]
    nothing = al.sign_runs(CURVE.isel(threshold=[2]))
    assert nothing.empty
    assert nothing.columns.tolist() == ["sign", "first", "last", "thresholds"]


def test_runs_of_what_is_no_curve():
    with bad("by must be one of 'band', 'pointwise', 'estimate', not 'interval'"):
        al.sign_runs(CURVE, "interval")
    for other in (CURVE.expand_dims(race=["A"]), CURVE["estimate"], CURVE.drop_vars("band_low")):
        with bad("runs are told of one gap_curve over threshold"):
            al.sign_runs(other)
    for by in (["band"], {}, None):
        with bad("by must be one of 'band'"):
            al.sign_runs(CURVE, by)


def test_runs_of_a_band_are_those_of_the_curve_it_belongs_to():
    counts, every = count(cohort(700), by="sex"), [0.1, 0.2, 0.3, 0.4]
    again = counts.cut(every).resample(200, strata="sex", seed=3).at(every)
    held = al.band(counts.at(every), again, "F", "M", metric=al.selection_rate)
    curve = al.gap_curve(counts, "F", "M", al.selection_rate, thresholds=every, replicates=200, seed=3)
    for by in ("band", "estimate"):
        pd.testing.assert_frame_equal(al.sign_runs(held, by), al.sign_runs(curve, by))
    far = held.assign(low=held["low"] * 0 + 0.1, high=held["high"] * 0 + 0.2)
    assert al.sign_runs(far).values.tolist() == [["+", 0.1, 0.4, 4]]
    with bad("runs are told of one gap_curve over threshold, but low is absent here"):
        al.sign_runs(held, "pointwise")


def test_what_is_wrong_with_a_curve_is_said():
    with bad("this one lies over race as well: select one"):
        al.sign_runs(CURVE.expand_dims(race=["A"]))
    with bad("but band_low is absent here"):
        al.sign_runs(CURVE.drop_vars("band_low"))
    with bad("not of a DataArray"):
        al.sign_runs(CURVE["estimate"])
    with bad("but this has no thresholds"):
        al.sign_runs(CURVE.isel(threshold=0))


def test_runs_need_thresholds_in_order():
    for other in (
        CURVE.isel(threshold=[]),
        CURVE.isel(threshold=[2, 0, 1]),
        CURVE.isel(threshold=[0, 0, 1]),
        CURVE.drop_vars("threshold"),
        CURVE.assign_coords(threshold=list("abcdefg")),
    ):
        with bad("a curve needs a rising coordinate threshold"):
            al.sign_runs(other)
    shuffled = CURVE.isel(threshold=[2, 0, 1]).sortby("threshold")
    assert al.sign_runs(shuffled).equals(al.sign_runs(CURVE.isel(threshold=[0, 1, 2])))


# -- thresholds that meet a rate ---------------------------------------------------------------------------------


def met(counts, metric, value):
    """By brute force: the flagged at every edge, and which edges satisfy the bound."""
    edges = counts.edges.lower.tolist()
    table = counts.at(edges)
    rate, flagged = metric(table).values, (table["tp"] + table["fp"]).values
    bound = rate <= value + 1e-12 if metric.__name__ in AT_MOST else rate >= value - 1e-12
    return edges, flagged, bound


@PROPERTY
@given(
    frame=frames(),
    name=st.sampled_from([*AT_MOST, *AT_LEAST]),
    value=st.one_of(st.floats(0.01, 0.99), st.sampled_from([0.2, 0.25, 0.5])),
)
def test_the_threshold_is_the_best_of_all_edges(frame, name, value):
    assume(frame["y"].nunique() == 2)
    counts = count(frame, by=[], bins=20)
    metric = (AT_MOST | AT_LEAST)[name]
    edges, flagged, bound = met(counts, metric, value)
    if name != "sensitivity":
        bound &= flagged > 0
    if not bound.any():
        with bad(f"no edge of these counts meets a {name.replace('_', ' ')} of"):
            al.threshold_at(counts, metric, value)
        return
    best = flagged[bound].min() if name == "sensitivity" else flagged[bound].max()
    wanted = max(t for t, k, ok in zip(edges, flagged, bound, strict=True) if ok and k == best)
    found = al.threshold_at(counts, metric, value)
    assert found == wanted
    assert isinstance(found, float)
    met_rate = float(metric(counts.at(found)))
    assert met_rate <= value + 1e-12 if name in AT_MOST else met_rate >= value - 1e-12


def test_known_thresholds():
    frame = pd.DataFrame({"y": [1, 0, 1, 0, 0, 1, 0, 0, 0, 0], "p": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.3, 0.3, 0.1]})
    counts = count(frame, by=[], bins=10)
    assert al.threshold_at(counts, al.selection_rate, 0.2) == 0.8
    assert al.threshold_at(counts, al.selection_rate, 0.8) == 0.4  # three of 0.3 come together: 9 of 10 are too many
    assert al.threshold_at(counts, al.selection_rate, 0.9) == 0.3
    assert al.threshold_at(counts, al.sensitivity, 2 / 3) == 0.7
    assert al.threshold_at(counts, al.sensitivity, 1) == 0.4
    assert al.threshold_at(counts, al.false_positive_rate, 1 / 7) == 0.7  # not 0.8, which flags fewer with the same FPR
    assert al.threshold_at(counts, al.specificity, 6 / 7) == 0.7
    assert al.threshold_at(counts, al.false_positive_rate, 0) == 0.9
    assert al.threshold_at(counts, al.selection_rate, 0) == 1.0  # flags nobody, as asked
    assert al.threshold_at(counts, al.specificity, 1) == 0.9
    assert al.threshold_at(counts, al.sensitivity, 0) == 1.0
    assert al.threshold_at(counts, al.selection_rate, 1) == 0.1


def test_one_threshold_a_group_serves_at():
    counts = count(cohort(1500))
    found = al.threshold_at(counts, al.sensitivity, 0.8, dim="sex")
    assert found.dims == ("sex",)
    for level in ("F", "M"):
        assert float(found.sel(sex=level)) == al.threshold_at(counts.sel(sex=level), al.sensitivity, 0.8)
    table = counts.at(found)
    assert (al.sensitivity(table.sum("race")) >= 0.8).all()
    assert al.threshold_at(counts, al.sensitivity, 0.8) == al.threshold_at(counts.by(), al.sensitivity, 0.8)


def test_every_model_has_its_threshold_and_patients_count_by_row():
    counts = count(cohort(1500), by="sex", score=["p", "fine"])
    found = al.threshold_at(counts, al.selection_rate, 0.2, dim="sex")
    assert found.dims == ("sex", "model")
    rates = al.selection_rate(counts.at(found))
    assert ((rates <= 0.2) & (rates > 0.15)).all()
    assert al.threshold_at(counts, al.selection_rate, 0.2).dims == ("model",)
    frame = clustered(600)
    held = count(frame, by="sex", cluster="patient")
    xr.testing.assert_identical(
        al.threshold_at(held, al.sensitivity, 0.6, dim="sex"),
        al.threshold_at(count(frame, by="sex"), al.sensitivity, 0.6, dim="sex"),
    )


def test_a_rate_that_nobody_meets():
    """In F three of four share the topmost score; in M nobody has the outcome."""
    frame = pd.DataFrame({"y": [1, 1, 0, 0, 0, 0], "p": [0.9, 0.9, 0.9, 0.1, 0.5, 0.2], "sex": list("FFFFMM")})
    counts = count(frame, by="sex")
    with bad("no edge of these counts meets a selection rate of 0.3 for F, M: .* the nearest is 0.75, 0.5, because"):
        al.threshold_at(counts, al.selection_rate, 0.3, dim="sex")
    with bad("selection rate of 0.6 for F: with anybody flagged the nearest is 0.75, because"):
        al.threshold_at(counts, al.selection_rate, 0.6, dim="sex")
    with bad("selection rate of 0.2: with anybody flagged the nearest is 0.5"):
        al.threshold_at(counts, al.selection_rate, 0.2)
    with bad("specificity of 0.9 for F, M: with anybody flagged the nearest is 0.5, 0.5"):
        al.threshold_at(counts, al.specificity, 0.9, dim="sex")
    with bad("sensitivity is undefined for M: nobody there counts towards it"):
        al.threshold_at(counts, al.sensitivity, 0.5, dim="sex")
    coarse = counts.cut([0.5])
    assert al.threshold_at(coarse, al.selection_rate, 0.7) == 0.5
    with bad("selection rate of 0 for F, M: with anybody flagged the nearest is 0.75, 0.5"):
        al.threshold_at(coarse, al.selection_rate, 0, dim="sex")


def test_a_share_is_the_decimal_that_was_written():
    """Seven of ten people share a score: 0.7 as float32 is a little less than 7/10."""
    frame = pd.DataFrame({"y": [0, 1] * 5, "p": [0.9] * 7 + [0.1] * 3})
    counts = count(frame, by=[])
    assert float(np.float32(0.7)) < 0.7
    assert al.threshold_at(counts, al.selection_rate, np.float32(0.7)) == 0.9
    assert al.threshold_at(counts, al.selection_rate, 0.7) == 0.9
    assert str(al.threshold_at(counts, al.sensitivity, -0.0)) == str(al.threshold_at(counts, al.sensitivity, 0.0))
    with bad(r"selection rate of 0\.69999: .* nearest is 0\.7, because"):
        al.threshold_at(counts, al.selection_rate, 0.69999)
    thirds = count(pd.DataFrame({"y": [1, 0, 0], "p": [0.9, 0.5, 0.1]}), by=[])
    with bad(r"selection rate of 0\.3333: with anybody flagged the nearest is 0\.3333333333, because"):
        al.threshold_at(thirds, al.selection_rate, 0.3333)


@pytest.mark.parametrize(
    "value", [-0.1, 1.5, np.nan, True, np.bool_(True), "0.2", None, [0.2], 0.2 + 0j, np.complex64(1)]
)
def test_a_value_that_is_no_share(value):
    with bad("value must be a share from 0 to 1"):
        al.threshold_at(by_sex(60), al.selection_rate, value)


@pytest.mark.parametrize("metric", [al.ppv, al.npv, al.accuracy, al.prevalence, "sensitivity", None])
def test_a_rate_that_does_not_rise_or_fall(metric):
    with bad("need not rise or fall with the threshold; use one of selection_rate"):
        al.threshold_at(by_sex(60), metric, 0.5)


def test_thresholds_are_found_on_counts_of_people():
    counts = by_sex(60)
    with bad("a threshold is found on counts, as count"):
        al.threshold_at(counts.at(0.2), al.selection_rate, 0.2)
    with bad("not resampled"):
        al.threshold_at(counts.resample(2), al.selection_rate, 0.2)
    with bad("'age' is not a group here"):
        al.threshold_at(counts, al.selection_rate, 0.2, dim="age")
