"""Resamples that are common to all specifications are those of resampled counts, and give the shares they should."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import auditlib as al
from auditlib.errors import AuditInputError
from auditlib.simulate import Cohort, Group


def people(n=400, seed=3):
    cohort = Cohort({"F": Group(0.3), "M": Group(0.4)}, encounters={1: 0.5, 3: 0.5})
    return cohort.frame(n, seed=seed)


COLUMNS = {"label": "label", "score": "score", "by": "group"}


def test_every_resample_draws_as_many_patients_as_there_are_with_all_of_their_rows():
    frame = people()
    patients = frame["patient"].nunique()
    drawn = al.resampling_weights(frame, 50, cluster="patient", seed=1)
    assert drawn.shape == (len(frame), 50)
    by_patient = pd.DataFrame(drawn).groupby(frame["patient"].to_numpy())
    assert (by_patient.min() == by_patient.max()).all(axis=None)
    assert (by_patient.first().sum() == patients).all()
    assert (al.resampling_weights(len(frame), 50, seed=1).sum(axis=0) == len(frame)).all()
    rows = al.resampling_weights(len(frame), 50, seed=1)
    np.testing.assert_array_equal(al.resampling_weights(frame, 50, seed=1), rows)
    np.testing.assert_array_equal(drawn, al.resampling_weights(pl.from_pandas(frame), 50, cluster="patient", seed=1))
    assert not np.array_equal(drawn, al.resampling_weights(frame, 50, cluster="patient", seed=2))


def test_weights_are_drawn_as_often_as_the_bootstrap_says():
    drawn = al.resampling_weights(500, 400, seed=7).astype(float)
    assert drawn.mean() == 1
    assert drawn.var() == pytest.approx(1 - 1 / 500, abs=0.02)  # multinomial: nearly Poisson
    assert np.corrcoef(drawn[:2])[0, 1] == pytest.approx(-1 / 499, abs=0.2)


@pytest.mark.parametrize("threshold", [0.5, 0.1 * 3, 0.0])
def test_a_resampled_table_is_the_count_of_rows_repeated_as_often_as_they_are_drawn(threshold):
    frame = people().assign(score=lambda f: f["score"].round(1))  # many scores at the threshold
    drawn = al.resampling_weights(frame, 5, cluster="patient", seed=1)
    found = al.resampled_table(frame, drawn, threshold=threshold, **COLUMNS)
    assert float(found["threshold"]) == round(threshold, 1)
    for k in range(5):
        again = frame.loc[np.repeat(frame.index, drawn[:, k])]
        one = al.count(again, thresholds=[threshold], **COLUMNS).at(threshold)
        xr.testing.assert_equal(
            found.isel(replicate=k)[["tp", "fp", "fn", "tn"]].reset_coords(drop=True),
            one[["tp", "fp", "fn", "tn"]].reset_coords(drop=True),
        )


def test_float32_scores_are_flagged_as_count_flags_them():
    frame = pd.DataFrame({"label": [1, 0, 1], "score": np.array([0.7, 0.7, 0.2], np.float32), "group": [1.0, 1.0, 2.0]})
    found = al.resampled_table(frame, np.ones((3, 1), int), threshold=0.7, **COLUMNS)
    counted = al.count(frame, thresholds=[0.7], **COLUMNS).at(0.7)
    assert found["group"].values.tolist() == counted["group"].values.tolist() == ["1", "2"]
    assert found["tp"].values.tolist() == [[1, 0]]
    assert found["fp"].values.tolist() == [[1, 0]]


def test_intervals_are_those_of_resampled_counts():
    frame = people(4_000)
    drawn = al.resampling_weights(frame, 1_000, cluster="patient", seed=1)
    counts = al.count(frame, thresholds=[0.5], cluster="patient", **COLUMNS)
    tables = al.resampled_table(frame, drawn, threshold=0.5, **COLUMNS), counts.cut(0.5).resample(1_000, seed=2).at(0.5)
    mine, theirs = (al.interval(al.gap(al.sensitivity(table), "F", "M")) for table in tables)
    assert float(mine.high - mine.low) == pytest.approx(float(theirs.high - theirs.low), rel=0.1)
    assert float(mine.low) == pytest.approx(float(theirs.low), abs=0.01)


def test_shares_are_net_of_luck_with_common_resamples_and_not_with_others():
    """Two seeds hold out different people and nothing else: all of what they move is luck."""
    frame = people(3_000)
    rng = np.random.default_rng(5)
    parts = [rng.permutation(len(frame))[: len(frame) // 2] for _ in range(6)]
    common = al.resampling_weights(frame, 200, cluster="patient", seed=1)

    def judge(specification):
        rows, t = parts[specification["seed"]], specification["threshold"]
        held = frame.iloc[rows]
        again = al.resampled_table(held, common[rows], threshold=t, **COLUMNS)
        table = al.count(held, thresholds=[t], cluster="patient", **COLUMNS).at(t)
        gap = al.gap(al.sensitivity(table), "F", "M")
        return {"estimate": gap, "replicates": al.gap(al.sensitivity(again), "F", "M")}

    grid = al.Grid("luck", {"seed": list(range(6)), "threshold": [0.4, 0.6]})
    found = al.run_multiverse(grid, judge)
    assert (found.rows["error"] == "").all()
    np.testing.assert_allclose(found.replicates.mean(axis=1), found.rows["estimate"], atol=0.02)
    shares = al.variance_shares(found.rows, grid.axes, found.replicates)
    assert shares.loc["seed", "low"] == 0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda f, w: al.resampling_weights(f, 0), "n must be a whole number of at least 1"),
        (lambda f, w: al.resampling_weights(0, 5), "people must be a whole number of at least 1"),
        (lambda f, w: al.resampling_weights(f, 5, cluster="ward"), "no column 'ward'; there are "),
        (lambda f, w: al.resampling_weights(10, 5, cluster="patient"), "cluster names a column: give the frame"),
        (lambda f, w: al.resampling_weights(f.assign(patient=None), 5, cluster="patient"), "values are missing"),
        (lambda f, w: al.resampling_weights(f.iloc[:0], 5), "people has no rows"),
        (lambda f, w: al.resampling_weights([1, 2], 5), "give a frame in memory (rows keep their order), not list"),
        (lambda f, w: al.resampling_weights(pl.from_pandas(f).lazy(), 5), "not LazyFrame"),
        (lambda f, w: al.resampling_weights(10**6, 10**6), "more than 512 MB: ask for fewer resamples"),
        (lambda f, w: al.resampling_weights(10, 5, seed="x"), "seed must be a whole number"),
        (lambda f, w: al.resampled_table(f, w[:5], threshold=0.5, **COLUMNS), "one a row of the frame, are needed"),
        (lambda f, w: al.resampled_table(f, w / 2, threshold=0.5, **COLUMNS), "got float64"),
        (lambda f, w: al.resampled_table(f, w[:, 0], threshold=0.5, **COLUMNS), "whole numbers of at least 0"),
        (
            lambda f, w: al.resampled_table(f, w.astype(int) - 9, threshold=0.5, **COLUMNS),
            "whole numbers of at least 0",
        ),
        (lambda f, w: al.resampled_table(f, w, threshold=1.5, **COLUMNS), "threshold must lie between 0 and 1"),
        (lambda f, w: al.resampled_table(f.assign(label=2), w, threshold=0.5, **COLUMNS), "labels must be 0 and 1"),
        (lambda f, w: al.resampled_table(f.assign(score="x"), w, threshold=0.5, **COLUMNS), "scores must be numbers"),
        (lambda f, w: al.resampled_table(f.assign(score=np.nan), w, threshold=0.5, **COLUMNS), "values are missing"),
        (
            lambda f, w: al.resampled_table(f, w, label="label", score="score", by="label", threshold=0.5),
            "'label' cannot name a group",
        ),
    ],
)
def test_what_cannot_be_resampled_is_said(call, said):
    frame = people(20)
    with pytest.raises(AuditInputError, match=re.escape(said)):
        call(frame, al.resampling_weights(frame, 3, seed=1))
