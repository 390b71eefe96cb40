"""The twelve classifiers of the verdict audit, with the hyper-parameters it froze beforehand.

Three of them come from packages that only a refit needs; these are imported when one is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from auditlib.errors import AuditInputError
from auditlib.models.splits import check_seed

CLASSIFIERS = (
    *("logistic", "decision_tree", "random_forest", "gradient_boosting", "adaboost", "xgboost"),
    *("lightgbm", "catboost", "hist_gradient_boosting", "bagging", "extra_trees", "stacking"),
)
#: Packages beyond the book's own, by classifier.
PACKAGES: Mapping[str, str] = {
    "xgboost": "xgboost", "lightgbm": "lightgbm", "catboost": "catboost", "stacking": "xgboost",
}  # fmt: skip
#: Members whose trees are independent: several may grow at once, and the forest is the same.
PARALLEL = ("random_forest", "bagging", "extra_trees")


def classifier(name: str, seed: int = 42) -> Any:
    """An unfitted estimator with the published hyper-parameters; it takes what ``preprocessor`` gives.

    What was not published (verbosity, threads) changes no result here: one thread, quiet, nothing written to disk.
    Histogram boosting stops early on a tenth of the rows, drawn at random, so give it one row a patient.

    Parameters
    ----------
    name : str
        One of ``CLASSIFIERS``.
    seed : int
        Of all that is random in it.

    Returns
    -------
    An estimator with ``fit(X, y, sample_weight=…)`` and ``predict_proba(X)``, as in scikit-learn.

    Raises
    ------
    AuditInputError
        When no classifier has that name, `seed` is no whole number, or the package it comes from is not installed.

    References
    ----------
    Joy MI et al. VFR-Audit, arXiv 2608.30846, and its public code (table of hyper-parameters).

    Examples
    --------
    >>> classifier("decision_tree").max_depth
    12
    """
    if not isinstance(name, str) or name not in _MAKERS:
        raise AuditInputError(f"no classifier named {name!r}: choose one of {', '.join(CLASSIFIERS)}.")
    check_seed(seed)
    return _MAKERS[name](int(seed))


def package_versions(name: str) -> dict[str, str]:
    """Version of the package a classifier comes from, where it is not scikit-learn.

    Examples
    --------
    >>> package_versions("decision_tree")
    {}
    """
    package = PACKAGES.get(name)
    return {} if package is None else {package: str(_package(package).__version__)}


def _package(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        raise AuditInputError(
            f"{package} cannot be imported ({error}); only a refit needs it: pip install -r requirements-refit.txt"
        ) from error


def _xgboost(seed: int, **published: Any) -> Any:
    return _package("xgboost").XGBClassifier(
        **published, tree_method="hist", eval_metric="logloss", random_state=seed, n_jobs=1, verbosity=0
    )


def _lightgbm(seed: int) -> Any:
    return _package("lightgbm").LGBMClassifier(
        n_estimators=300,
        num_leaves=63,
        max_depth=8,
        learning_rate=0.05,
        random_state=seed,
        n_jobs=1,
        deterministic=True,
        force_row_wise=True,  # or it times both ways first, and the choice may change the last bit
        verbosity=-1,
    )


def _catboost(seed: int) -> Any:
    return _package("catboost").CatBoostClassifier(
        iterations=200,
        depth=8,
        learning_rate=0.05,
        random_seed=seed,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
    )


def _stacking(seed: int) -> StackingClassifier:
    members = [
        ("logistic", _logistic(seed, max_iter=300)),
        ("random_forest", RandomForestClassifier(50, max_depth=12, random_state=seed)),
        ("xgboost", _xgboost(seed, n_estimators=100, max_depth=6, learning_rate=0.1)),
    ]
    return StackingClassifier(members, _logistic(seed, max_iter=200), cv=3, passthrough=False)


def _logistic(seed: int, max_iter: int) -> LogisticRegression:
    return LogisticRegression(C=1.0, solver="liblinear", max_iter=max_iter, random_state=seed)


_MAKERS: dict[str, Callable[[int], Any]] = {
    "logistic": partial(_logistic, max_iter=500),
    "decision_tree": lambda seed: DecisionTreeClassifier(max_depth=12, random_state=seed),
    "random_forest": lambda seed: RandomForestClassifier(100, max_depth=15, random_state=seed),
    "gradient_boosting": lambda seed: GradientBoostingClassifier(
        n_estimators=80, max_depth=4, learning_rate=0.1, random_state=seed
    ),
    "adaboost": lambda seed: AdaBoostClassifier(n_estimators=100, random_state=seed),
    "xgboost": partial(
        _xgboost,
        n_estimators=1500,
        max_depth=10,
        learning_rate=0.05,
        min_child_weight=3,
        subsample=0.85,
        colsample_bytree=0.85,
        reg_lambda=1.0,
        reg_alpha=0.0,
    ),
    "lightgbm": _lightgbm,
    "catboost": _catboost,
    "hist_gradient_boosting": lambda seed: HistGradientBoostingClassifier(
        max_iter=300, max_depth=8, learning_rate=0.05, early_stopping=True, random_state=seed
    ),
    "bagging": lambda seed: BaggingClassifier(n_estimators=30, random_state=seed),
    "extra_trees": lambda seed: ExtraTreesClassifier(100, max_depth=15, random_state=seed),
    "stacking": _stacking,
}
