"""The twelve published classifiers: every hyper-parameter, and what happens where a package is missing."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from auditlib import AuditInputError, models
from auditlib.models import twelve

OURS = [name for name in twelve.CLASSIFIERS if name not in twelve.PACKAGES]
PUBLISHED = {
    "logistic": {"C": 1.0, "solver": "liblinear", "max_iter": 500, "random_state": 7},
    "decision_tree": {"max_depth": 12, "random_state": 7},
    "random_forest": {"n_estimators": 100, "max_depth": 15, "random_state": 7},
    "gradient_boosting": {"n_estimators": 80, "max_depth": 4, "learning_rate": 0.1, "random_state": 7},
    "adaboost": {"n_estimators": 100, "random_state": 7},
    "hist_gradient_boosting": {
        "max_iter": 300, "max_depth": 8, "learning_rate": 0.05, "early_stopping": True, "random_state": 7,
    },
    "bagging": {"n_estimators": 30, "estimator": None, "random_state": 7},
    "extra_trees": {"n_estimators": 100, "max_depth": 15, "random_state": 7},
}  # fmt: skip
BOOSTED = {
    "xgboost": {
        "n_estimators": 1500, "max_depth": 10, "learning_rate": 0.05, "min_child_weight": 3, "subsample": 0.85,
        "colsample_bytree": 0.85, "reg_lambda": 1.0, "reg_alpha": 0.0, "tree_method": "hist",
        "eval_metric": "logloss", "random_state": 7, "n_jobs": 1, "verbosity": 0,
    },
    "lightgbm": {
        "n_estimators": 300, "num_leaves": 63, "max_depth": 8, "learning_rate": 0.05, "random_state": 7, "n_jobs": 1,
        "deterministic": True, "force_row_wise": True, "verbosity": -1,
    },
    "catboost": {
        "iterations": 200, "depth": 8, "learning_rate": 0.05, "random_seed": 7, "thread_count": 1, "verbose": False,
        "allow_writing_files": False,
    },
}  # fmt: skip
CLASSES = {"xgboost": "XGBClassifier", "lightgbm": "LGBMClassifier", "catboost": "CatBoostClassifier"}


class Recorded(DecisionTreeClassifier):
    """A tree in the place of a package's classifier; it keeps what it was called with."""

    def __init__(self, called=None):
        super().__init__(max_depth=2, random_state=0)
        self.called = called


@pytest.fixture
def stand_ins(monkeypatch):
    """Modules in the place of the three packages, whether these are installed or not."""
    for package, name in CLASSES.items():
        module = SimpleNamespace(**{name: lambda **called: Recorded(called), "__version__": "9.8.7"})
        monkeypatch.setitem(sys.modules, package, module)


def small(n=240):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=n), "ward": rng.choice(["A", "B", "C"], n)})
    return frame, (frame["x"] + (frame["ward"] == "B") + rng.normal(size=n) > 0).astype(int)


def test_twelve_and_no_more():
    assert len(set(twelve.CLASSIFIERS)) == 12 == len(twelve._MAKERS)
    assert {*PUBLISHED, *BOOSTED, "stacking"} == set(twelve.CLASSIFIERS)
    assert set(twelve.PACKAGES) == {*BOOSTED, "stacking"}


@pytest.mark.parametrize("name", PUBLISHED)
def test_hyper_parameters(name):
    estimator = twelve.classifier(name, 7)
    found = estimator.get_params()
    assert {key: found[key] for key in PUBLISHED[name]} == PUBLISHED[name]
    fresh = type(estimator)()  # whatever is not published is the package's default
    changed = {key for key, value in found.items() if value != fresh.get_params()[key]}
    assert changed <= set(PUBLISHED[name])


@pytest.mark.parametrize("name", BOOSTED)
def test_hyper_parameters_of_what_only_a_refit_needs(name, stand_ins):
    assert twelve.classifier(name, 7).called == BOOSTED[name]
    assert twelve.package_versions(name) == {name: "9.8.7"}


def test_stacking_is_three_members_and_a_logistic(stand_ins):
    stack = twelve.classifier("stacking", 7)
    logistic, forest, boosted = (estimator for _, estimator in stack.estimators)
    assert [name for name, _ in stack.estimators] == ["logistic", "random_forest", "xgboost"]
    assert (stack.cv, stack.passthrough) == (3, False)
    assert (logistic.C, logistic.solver, logistic.max_iter, logistic.random_state) == (1.0, "liblinear", 300, 7)
    assert (forest.n_estimators, forest.max_depth, forest.random_state) == (50, 12, 7)
    shared = {key: BOOSTED["xgboost"][key] for key in ("tree_method", "eval_metric", "n_jobs", "verbosity")}
    assert boosted.called == {
        "n_estimators": 100, "max_depth": 6, "learning_rate": 0.1, "random_state": 7, **shared,
    }  # fmt: skip
    final = stack.final_estimator
    assert (final.C, final.solver, final.max_iter, final.random_state) == (1.0, "liblinear", 200, 7)
    assert twelve.package_versions("stacking") == {"xgboost": "9.8.7"}


@pytest.mark.parametrize("name", twelve.PACKAGES)
def test_a_missing_package_says_what_to_install(name, monkeypatch):
    for package in CLASSES:
        monkeypatch.setitem(sys.modules, package, None)  # how Python marks what cannot be imported
    for ask in (twelve.classifier, twelve.package_versions):
        with pytest.raises(AuditInputError) as raised:
            ask(name)
        assert f"{twelve.PACKAGES[name]} cannot be imported" in str(raised.value)
        assert "pip install -r requirements-refit.txt" in str(raised.value)


@pytest.mark.parametrize("name", OURS)
def test_each_of_ours_is_fitted_and_again_the_same(name):
    frame, label = small()
    x = models.preprocessor(frame).fit_transform(frame)
    risks = [twelve.classifier(name, 7).fit(x, label).predict_proba(x)[:, 1] for _ in range(2)]
    assert np.array_equal(*risks)
    assert ((risks[0] >= 0) & (risks[0] <= 1)).all()
    assert risks[0][label == 1].mean() > risks[0][label == 0].mean() + 0.1
    weighted = twelve.classifier(name, 7).fit(x, label, sample_weight=np.where(label == 1, 9.0, 1.0))
    assert weighted.predict_proba(x)[:, 1].mean() > risks[0].mean()  # weights are not ignored


def test_stacking_is_fitted(stand_ins, monkeypatch):
    # scikit-learn copies members, and a copy of the stand-in must be what the stand-in is
    monkeypatch.setattr(Recorded, "get_params", lambda self, deep=True: {"called": self.called})
    frame, label = small()
    x = models.preprocessor(frame).fit_transform(frame)
    risk = twelve.classifier("stacking", 7).fit(x, label).predict_proba(x)[:, 1]
    assert risk[label == 1].mean() > risk[label == 0].mean() + 0.1


@pytest.mark.parametrize(("name", "seed", "words"), [("tabpfn", 1, "no classifier"), (None, 1, "no classifier"),
                                                     ("adaboost", -1, "seed"), ("adaboost", 1.5, "seed")])  # fmt: skip
def test_what_is_no_classifier_or_no_seed(name, seed, words):
    with pytest.raises(AuditInputError, match=words):
        twelve.classifier(name, seed)


def test_nothing_but_a_refit_imports_the_packages():
    """What a reader installs does not have them, so what a reader imports must not ask for them."""
    package = Path(models.__file__).parents[1]
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not any(f"import {name}" in text or f"from {name}" in text for name in CLASSES), path.name
