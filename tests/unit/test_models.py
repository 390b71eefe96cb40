"""Splits, preprocessing and the one-pass fit, against scikit-learn doing the same the long way."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from auditlib import AuditInputError, models
from auditlib.models import crossfit


def cohort(n=1_200, seed=1, patients=None):
    """Rows with a number, a gap in it, a category with a rare level, and a label that depends on both."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    ward = rng.choice(["A", "B", "C"], n, p=[0.5, 0.4, 0.1]).astype(object)
    label = (rng.random(n) < 1 / (1 + np.exp(1.5 - x - (ward == "B")))).astype(int)
    frame = pd.DataFrame({"x": np.where(rng.random(n) < 0.05, np.nan, x), "noise": rng.normal(size=n), "ward": ward})
    frame.loc[rng.random(n) < 0.05, "ward"] = None
    return frame, label, rng.integers(0, patients or n, n)


def test_split_of_rows_is_70_30_within_label():
    label = np.repeat([0, 1], [900, 100])
    train, test = models.split(label)
    assert (len(train), len(test)) == (700, 300)
    assert (label[train].sum(), label[test].sum()) == (70, 30)
    assert sorted([*train, *test]) == list(range(1_000))
    again = models.split(label)
    assert np.array_equal(train, again[0])
    assert not np.array_equal(train, models.split(label, seed=43)[0])


@given(st.integers(0, 10_000), st.integers(40, 200))
@settings(deadline=None, max_examples=25)
def test_no_patient_is_on_both_sides(seed, patients):
    _, label, patient = cohort(600, seed, patients)
    train, test = models.split(label, cluster=patient, seed=seed)
    assert not set(patient[train]) & set(patient[test])
    assert sorted([*train, *test]) == list(range(600))
    share = len(set(patient[test])) / len(set(patient))
    assert share == pytest.approx(0.3, abs=1.01 / len(set(patient)))
    for rest, held in models.folds(label, cluster=patient, seed=seed):
        assert not set(patient[rest]) & set(patient[held])


def test_folds_hold_every_row_once_and_like_shares_of_positives():
    _, label, patient = cohort(2_000, patients=700)
    for cluster, slack in ((None, 0.0026), (patient, 0.03)):
        splits = models.folds(label, cluster=cluster)
        assert sorted(np.concatenate([held for _, held in splits])) == list(range(2_000))
        shares = [label[held].mean() for _, held in splits]
        assert np.ptp(shares) < slack


def test_preprocessing_learns_from_training_rows_only():
    train = pd.DataFrame({"x": [0.0, 2.0, np.nan, 4.0] * 30, "ward": ["A", "B", np.nan, "A"] * 30})
    train.loc[:4, "ward"] = "rare"
    prepared = models.preprocessor(train).fit(train)
    test = pd.DataFrame({"x": [np.nan, 1_000.0], "ward": ["never seen", "rare"]})
    numbers = prepared.transform(test)
    assert numbers[0, 0] == pytest.approx(0)  # the training median, which is also the training mean here
    assert np.array_equal(numbers[0, 1:], numbers[1, 1:])  # both in the shared level of the rare
    assert numbers[0, 1:].sum() == 1
    names = list(prepared.get_feature_names_out())
    assert names == [
        "numbers__x",
        "levels__ward_A",
        "levels__ward_B",
        "levels__ward_nan",
        "levels__ward_infrequent_sklearn",
    ]


def test_many_levels_stay_few_columns():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"diagnosis": rng.integers(0, 700, 50_000).astype(str)})
    assert models.preprocessor(frame).fit_transform(frame).shape[1] == 50


@pytest.mark.parametrize("name", models.FAMILIES)
def test_one_pass_equals_scikit_learn_fitting_twice(name):
    """The same scores as CalibratedClassifierCV and the same AUC as cross_val_score, on the same patients' folds."""
    frame, label, patient = cohort(900, patients=400)
    train, test = models.split(label, cluster=patient)
    rows, y, p = frame.iloc[train], label[train], patient[train]
    splits = models.folds(y, cluster=p)
    ours = models.cross_fit(rows, y, frame.iloc[test], families=[name], cluster=p)
    with threadpool_limits(1):  # threads that wait for one another would take minutes on a busy machine
        theirs = models.calibrated(name, rows, splits).fit(rows, y)
        plain = make_pipeline(models.preprocessor(rows), models.family(name))
        auc = cross_val_score(plain, rows, y, cv=splits, scoring="roc_auc").mean()
    # 32-bit features here, 64-bit there: a row may fall on the other side of a tree's cut or an isotonic step
    difference = np.abs(ours.scores[name] - theirs.predict_proba(frame.iloc[test])[:, 1])
    assert np.quantile(difference, 0.95) < 0.004
    assert ours.cv_auc[name] == pytest.approx(auc, abs=0.002)
    with threadpool_limits(1):
        parts = [
            make_pipeline(models.preprocessor(rows), models.family(name)).fit(rows.iloc[rest], y[rest])
            for rest, _ in splits
        ]
    plain = np.mean([part.predict_proba(frame.iloc[test])[:, 1] for part in parts], axis=0)
    assert np.quantile(np.abs(ours.uncalibrated[name] - plain), 0.95) < 0.004


def test_soft_vote_is_the_mean_of_its_members():
    raw = [
        crossfit._Raw(0, name, *(np.array([v]) for v in (9.0, 9.0, p, p)))
        for name, p in zip(models.MEMBERS, (0.1, 0.2, 0.6), strict=True)
    ]
    other = crossfit._Raw(0, "shallow_tree", *(np.array([v]) for v in (0.9, 0.9, 0.9, 0.9)))
    vote = crossfit._vote([*raw, other], 0)
    assert vote.held.item() == vote.test.item() == pytest.approx(0.3)


def test_results_do_not_depend_on_processes_or_on_company():
    frame, label, patient = cohort(600, patients=250)
    run = {"cluster": patient[:400], "families": models.FAMILIES}
    one = models.cross_fit(frame[:400], label[:400], frame[400:], n_jobs=1, **run)
    two = models.cross_fit(frame[:400], label[:400], frame[400:], n_jobs=2, **run)
    pd.testing.assert_frame_equal(one.scores, two.scores, check_exact=True)
    assert one.cv_auc == two.cv_auc
    alone = models.cross_fit(frame[:400], label[:400], frame[400:], families=["soft_voting"], cluster=patient[:400])
    assert list(alone.scores) == ["soft_voting"]
    assert alone.scores["soft_voting"].equals(one.scores["soft_voting"])
    assert one.scores.index.equals(frame.index[400:])


def test_selection_is_by_training_folds_and_test_labels_are_not_asked_for():
    frame, label, _ = cohort(1_000)
    fit = models.cross_fit(frame[:700], label[:700], frame[700:], families=["logistic", "shallow_tree"])
    assert fit.selected == max(fit.cv_auc, key=fit.cv_auc.get)
    assert fit.scores.to_numpy().min() >= 0
    assert fit.scores.to_numpy().max() <= 1


def test_calibrated_scores_mean_what_they_say():
    frame, label, _ = cohort(12_000)
    fit = models.cross_fit(frame[:8_000], label[:8_000], frame[8_000:], families=["logistic"])
    score, held = fit.scores["logistic"], label[8_000:]
    assert score.mean() == pytest.approx(held.mean(), abs=3 * np.sqrt(0.2 / 4_000))
    assert roc_auc_score(held, score) == pytest.approx(fit.cv_auc["logistic"], abs=0.03)


@pytest.mark.parametrize(
    ("label", "families", "words"),
    [
        (np.zeros(50), models.FAMILIES, "at least 5 rows each of 0 and 1; found {0: 50}"),
        (np.repeat([0, 1], [46, 4]), models.FAMILIES, "found {0: 46, 1: 4}"),
        (np.repeat([1, 2], 25), models.FAMILIES, "label: 25 rows hold neither 0 nor 1 but [2]"),
        (np.repeat([0, 1], 25), [["logistic"]], "no model family named ['logistic']"),
        (np.repeat([0, 1], 25), None, "families: at least one"),
        (np.repeat([0, 1], 25), "logistic", "families: at least one"),
        (np.repeat([0, 1], 25), ["xgboost"], "no model family named 'xgboost': choose one of random_forest"),
        (np.repeat([0, 1], 25), [], "families: at least one"),
    ],
)
def test_bad_input(label, families, words):
    frame = pd.DataFrame({"x": np.arange(50.0)})
    with pytest.raises(AuditInputError) as raised:
        models.cross_fit(frame, label, frame, families=families)
    assert words in str(raised.value)


Y = np.repeat([0, 1], 50)
X = pd.DataFrame({"x": np.arange(100.0), "ward": ["A", "B"] * 50})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"label": Y[25:75]}, "label: 50 values for 100 training rows"),
        ({"label": Y[:, None]}, "its shape is (100, 1)"),
        ({"label": [None] * 100}, "label: 100 rows hold neither 0 nor 1 but [None]"),
        ({"label": np.where(Y == 1, np.nan, Y)}, "label: 50 rows hold neither 0 nor 1 but [nan]"),
        ({"label": Y.astype(str)}, "label: 100 rows hold neither 0 nor 1 but ['0', '1']"),
        ({"cluster": np.arange(50)}, "cluster: its shape is (50,), that of label (100,)"),
        ({"cluster": np.where(np.arange(100) < 3, np.nan, 1.0)}, "cluster: missing in 3 rows"),
        ({"cluster": np.arange(100) % 4}, "cluster: five folds need at least 5 patients; found 4"),
        ({"cluster": np.arange(100) // 20}, "label: too few patients of 0 or of 1 for 5 folds"),
        ({"cluster": np.array([*range(50), *map(str, range(50))], dtype=object)}, "no such split"),
        ({"train": X[[]]}, "train: a DataFrame with at least one row and one predictor"),
        ({"train": X.to_numpy()}, "train: a DataFrame"),
        ({"test": X.head(0)}, "test: a DataFrame"),
        ({"test": X[["ward"]]}, "test: columns ['x'] of train are absent"),
        ({"train": X.set_axis([1, 0], axis=1)}, "train: columns [1, 0] are not named by text"),
        ({"train": X.set_axis(["x", "x"], axis=1)}, "train: columns ['x'] are not named by text, each its own"),
        ({"train": X.assign(x=np.nan)}, "train: column x holds no value"),
        ({"test": X.assign(x=np.inf)}, "column x is infinite in 100 rows"),
        ({"train": X.assign(ward=["A", 1] * 50)}, "the predictors cannot be prepared"),
        ({"test": X.assign(x="A")}, "the predictors cannot be prepared"),
        ({"seed": "abc"}, "seed = 'abc': give a whole number from 0"),
        ({"n_jobs": 0}, "n_jobs = 0: give a whole number of processes, or -1 for one a core"),
        ({"n_jobs": 1.5}, "n_jobs = 1.5"),
        ({"n_jobs": True}, "n_jobs = True"),
        ({"label": pd.Series(Y)[::-1]}, "label: its index is not that of train"),
        ({"label": pd.Series(Y), "cluster": pd.Series(range(100))[::-1]}, "cluster: its index is not that of label"),
        ({"seed": -1}, "seed = -1: give a whole number from 0"),
    ],
)
def test_what_cannot_be_fitted_is_named(given, words):
    arguments = {"train": X, "label": Y, "test": X, "families": ["shallow_tree"]} | given
    with pytest.raises(AuditInputError) as raised:
        models.cross_fit(**arguments)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: models.split([]),
        lambda: models.split([0, 1]),
        lambda: models.split(["no", "yes"] * 20),
        lambda: models.split(Y, cluster=np.arange(50)),
        lambda: models.split(Y, cluster=np.zeros(100)),
        lambda: models.split(Y, cluster=[None] * 100),
        lambda: models.split(Y, test=2.0),
        lambda: models.split(Y, test="x"),
        lambda: models.split(Y, seed=1.5),
        lambda: models.folds(Y, n_splits=1),
        lambda: models.folds(Y, n_splits="x"),
        lambda: models.folds(Y, n_splits=200),
        lambda: models.folds([0] * 50),
        lambda: models.folds(Y, cluster=np.zeros(100)),
    ],
)
def test_splits_that_cannot_be_made(make):
    with pytest.raises(AuditInputError, match=r"label|cluster|seed"):
        make()


def test_labels_of_other_types_split_alike():
    expected = models.split(Y, cluster=np.arange(100))
    for label in (Y.astype(bool), Y.astype(float), pd.array(Y, dtype="Int64"), pd.Series(Y, index=range(100, 200))):
        assert all(map(np.array_equal, models.split(label, cluster=np.arange(100)), expected))
