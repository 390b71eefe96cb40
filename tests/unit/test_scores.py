"""AUROC and calibration, from bins."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn.metrics import roc_auc_score

import auditlib as al
from auditlib.scores import mean_score
from tests.unit.frames import PROPERTY, cohort, count, frames


def bad(said):
    return pytest.raises(al.AuditInputError, match=said)


def area(part, score="p"):
    return roc_auc_score(part["y"], part[score]) if part["y"].nunique() == 2 else np.nan


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@settings(PROPERTY, max_examples=12)
@given(frame=frames())
def test_auroc_with_every_score_an_edge_is_scikit_learns(dtype, frame):
    frame = frame.astype({"p": dtype, "q": dtype})
    for options in ({}, {"cluster": "patient"}):
        found = al.auroc(count(frame, bins=None, score=["p", "q"], **options).by("sex"))
        for sex, part in frame.groupby("sex"):
            for score in ("p", "q"):
                assert float(found.sel(sex=sex, model=score)) == pytest.approx(
                    area(part, score), abs=1e-12, nan_ok=True
                )


def test_auroc_of_grid_bins_is_that_of_binned_scores():
    frame = cohort(2000)
    found = al.auroc(count(frame, score="fine", bins=50, by="sex"))
    for sex, part in frame.groupby("sex"):
        binned = part.assign(p=np.floor(part["fine"] * 50))
        assert float(found.sel(sex=sex)) == pytest.approx(area(binned), abs=1e-12)
        assert float(found.sel(sex=sex)) == pytest.approx(area(part, "fine"), abs=2e-3)


def test_auroc_of_two_decimal_scores_needs_no_more_than_the_grid():
    frame = cohort()
    exact = al.auroc(count(frame, bins=None))
    assert np.allclose(al.auroc(count(frame)), exact, atol=1e-12)
    assert np.allclose(al.auroc(count(frame, thresholds=[0.112, 1 / 3])), exact, atol=1e-12)


def test_auroc_turned_round():
    frame = cohort()
    up, down = (al.auroc(count(frame.assign(p=p), bins=None)) for p in (frame["p"], 1 - frame["p"]))
    assert np.allclose(up, 1 - down)
    other = al.auroc(count(frame.assign(y=1 - frame["y"]), bins=None))
    assert np.allclose(up, 1 - other)


@pytest.mark.parametrize("label", [0, 1])
def test_auroc_of_one_label_is_undefined(label):
    frame = cohort()
    frame.loc[frame["sex"] == "F", "y"] = label
    found = al.auroc(count(frame, by="sex"))
    assert np.isnan(found.sel(sex="F"))
    assert 0.5 < found.sel(sex="M") < 1


def test_auroc_of_replicates():
    counts = count(cohort(), by="sex")
    found = al.auroc(counts.resample(400, strata=["sex", "label"], seed=0))
    assert found.dims == ("replicate", "sex")
    right = al.auroc(counts)
    assert (abs(found.mean("replicate") - right) < 5 * found.std("replicate") / 20).all()


def test_calibration_gap_with_every_score_an_edge():
    frame = cohort()
    errors = frame.groupby("race").apply(lambda part: part["fine"].mean() - part["y"].mean(), include_groups=False)
    counts = count(frame, score="fine", bins=None)
    assert float(al.calibration_gap(counts.by("race"), "race")) == pytest.approx(errors.max() - errors.min(), abs=1e-12)
    assert al.calibration_gap(counts, "race").dims == ("sex",)


@pytest.mark.parametrize("bins", [10, 50, 200])
def test_calibration_gap_of_grid_bins_is_within_a_bin(bins):
    frame = cohort(3000)
    exact = al.calibration_gap(count(frame, score="fine", bins=None, by="sex"), "sex")
    counts = count(frame, score="fine", bins=bins, by="sex")
    means = frame.groupby("sex")["fine"].mean()
    assert (abs(mean_score(counts) - means.to_xarray()) <= 1 / (2 * bins)).all()
    assert abs(al.calibration_gap(counts, "sex") - exact) <= 1 / bins


def test_a_group_without_rows_is_undefined():
    frame = cohort().query("not (sex == 'F' and race == 'C')")
    counts = count(frame)
    assert np.isnan(mean_score(counts).sel(sex="F", race="C"))
    assert np.isnan(al.calibration_gap(counts, "race").sel(sex="F"))
    assert not np.isnan(al.calibration_gap(counts, "race").sel(sex="M"))
    assert np.isnan(al.auroc(counts).sel(sex="F", race="C"))


def test_score_one_counts_as_one():
    frame = pd.DataFrame({"y": [1, 1], "p": [1.0, 1.0], "sex": ["F", "F"]})
    assert mean_score(count(frame, by="sex")).item() == 1.0


def test_after_cut_there_are_no_scores():
    cut = count(cohort()).cut([0.2, 0.5])
    with bad("auroc needs the score bins, but these counts were cut to 2 thresholds; use the counts from before"):
        al.auroc(cut)
    with bad("calibration_gap needs the score bins"):
        al.calibration_gap(cut, "sex")
    with bad("mean_score needs the score bins"):
        mean_score(cut)


def test_calibration_gap_over_an_unknown_dim():
    for dim in ("age", "model", "bin"):
        with bad(f"'{dim}' is not a group here; there are: sex, race"):
            al.calibration_gap(count(cohort()), dim)
    with bad(r"\['sex'\] is not a group here"):
        al.calibration_gap(count(cohort()), ["sex"])


def test_what_are_no_counts():
    for thing in (None, count(cohort()).at(0.2)):
        with bad(f"auroc needs counts, as count.* makes them, not {type(thing).__name__}"):
            al.auroc(thing)
        with bad("calibration_gap needs counts"):
            al.calibration_gap(thing, "sex")
