"""Risk models for a gap audit: six families, one preprocessing, calibrated scores for a test set.

Everything here looks at training data only. Each fold's preprocessing and estimators are fitted once and serve
three ends: the cross-validated AUC that selects the family, the isotonic calibration, and the test scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupShuffleSplit, StratifiedGroupKFold, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

from auditlib.errors import AuditInputError

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Fold = tuple[Indices, Indices]

MEMBERS = ("random_forest", "gradient_boosting", "logistic")  # of the soft vote; the slow ones first
FAMILIES = (*MEMBERS, "l1_logistic", "shallow_tree", "soft_voting")


def family(name: str, seed: int = 42) -> ClassifierMixin:
    """An unfitted estimator of one of the six families, small enough for two cores and 180,000 rows.

    Boosting does not stop early: that would hold out rows at random, and so split patients.

    Parameters
    ----------
    name : str
        One of ``FAMILIES``.
    seed : int
        For what is random in it (the forest's draws, liblinear's order).

    Raises
    ------
    AuditInputError
        When no family has that name.

    Examples
    --------
    >>> family("shallow_tree").max_depth
    5
    """
    if name == "soft_voting":
        return VotingClassifier([(m, family(m, seed)) for m in MEMBERS], voting="soft")
    makers = {
        "logistic": lambda: LogisticRegression(max_iter=500, tol=1e-5),
        "l1_logistic": lambda: LogisticRegression(
            l1_ratio=1, solver="liblinear", C=0.1, tol=1e-3, random_state=seed
        ),
        "random_forest": lambda: RandomForestClassifier(
            200, min_samples_leaf=20, max_features="sqrt", random_state=seed
        ),
        "shallow_tree": lambda: DecisionTreeClassifier(max_depth=5, min_samples_leaf=50, random_state=seed),
        "gradient_boosting": lambda: HistGradientBoostingClassifier(
            learning_rate=0.06, max_iter=200, max_leaf_nodes=16, min_samples_leaf=50, early_stopping=False
        ),
    }
    if name not in makers:
        raise AuditInputError(f"no model family named {name!r}: choose one of {', '.join(FAMILIES)}.")
    return makers[name]()


def preprocessor(frame: pd.DataFrame) -> ColumnTransformer:
    """Scale the numbers, one indicator a level for everything else.

    A missing number becomes the training median, a missing category a level of its own. Levels held by fewer than
    20 rows share one indicator, as do all beyond the 50 most frequent; so does a level first met in the test set.

    Parameters
    ----------
    frame : pandas.DataFrame
        Decides which columns are numbers; nothing is fitted.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [40.0, None, 60.0], "sex": ["F", "M", None]})
    >>> preprocessor(frame).fit_transform(frame).shape
    (3, 2)
    """
    numbers = [c for c in frame if pd.api.types.is_numeric_dtype(frame[c]) and frame[c].dtype != bool]
    rest = [c for c in frame if c not in numbers]
    levels = OneHotEncoder(
        min_frequency=20, max_categories=50, handle_unknown="infrequent_if_exist", sparse_output=False
    )
    scaled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    return ColumnTransformer([("numbers", scaled, numbers), ("levels", levels, rest)])


def split(
    label: ArrayLike, *, cluster: ArrayLike | None = None, test: float = 0.3, seed: int = 42
) -> tuple[Indices, Indices]:
    """Positions of the training and the test rows.

    Rows are drawn within label; with `cluster`, whole patients are drawn, and none is on both sides.

    Parameters
    ----------
    label : array-like of 0 and 1
    cluster : array-like, optional
        Patient of each row.
    test : float
        Share of rows (of patients, with `cluster`) in the test set.
    seed : int

    Examples
    --------
    >>> train, held = split([0, 1] * 50)
    >>> len(train), len(held)
    (70, 30)
    """
    label = np.asarray(label)
    positions = np.arange(len(label))
    if cluster is None:
        train, held = train_test_split(positions, test_size=test, random_state=seed, stratify=label)
    else:
        splitter = GroupShuffleSplit(1, test_size=test, random_state=seed)
        train, held = next(splitter.split(positions, label, np.asarray(cluster)))
    return np.sort(train), np.sort(held)


def folds(
    label: ArrayLike, *, cluster: ArrayLike | None = None, n_splits: int = 5, seed: int = 42
) -> list[Fold]:
    """Cross-validation folds with like shares of positives; with `cluster`, a patient is in one fold only.

    Examples
    --------
    >>> [len(held) for _, held in folds([0, 1] * 50)]
    [20, 20, 20, 20, 20]
    """
    label = np.asarray(label)
    if cluster is None:
        rows = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
        return list(rows.split(label, label))
    patients = StratifiedGroupKFold(n_splits, shuffle=True, random_state=seed)
    return list(patients.split(label, label, np.asarray(cluster)))


def calibrated(
    name: str, frame: pd.DataFrame, splits: Iterable[Fold], seed: int = 42
) -> CalibratedClassifierCV:
    """The model an audit judges, as one scikit-learn estimator: an isotonic fold ensemble, unfitted.

    Its score is the mean over folds k of isotonic_k(model_k(x)): model_k is fitted on all folds but k, isotonic_k on
    fold k. ``cross_fit`` computes the same without fitting anything twice; this is its definition.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": np.arange(100) % 10})
    >>> y = (frame["x"] > 4).astype(int)
    >>> model = calibrated("shallow_tree", frame, folds(y)).fit(frame, y)
    >>> model.predict_proba(frame.head(1))[0, 1].item()
    0.0
    """
    pipeline = make_pipeline(preprocessor(frame), family(name, seed))
    return CalibratedClassifierCV(pipeline, method="isotonic", cv=list(splits), ensemble=True)


@dataclass(frozen=True)
class CrossFit:
    """What ``cross_fit`` found.

    Attributes
    ----------
    cv_auc : dict of str to float
        Mean AUC over the training folds, by family.
    scores : pandas.DataFrame
        Calibrated risks of the test rows, one column a family.
    """

    cv_auc: dict[str, float]
    scores: pd.DataFrame

    @property
    def selected(self) -> str:
        """Family with the highest cross-validated AUC."""
        return max(self.cv_auc, key=lambda name: self.cv_auc[name])


@dataclass(frozen=True)
class _Raw:
    """One estimator's outputs for one fold: what calibration reads, and probabilities for the soft vote."""

    fold: int
    name: str
    held: Floats
    test: Floats
    held_probability: Floats
    test_probability: Floats


def cross_fit(
    train: pd.DataFrame,
    label: ArrayLike,
    test: pd.DataFrame,
    *,
    families: Sequence[str] = FAMILIES,
    cluster: ArrayLike | None = None,
    seed: int = 42,
    n_jobs: int = 1,
    progress: bool = False,
) -> CrossFit:
    """Select, calibrate and apply: every family's training AUC and its calibrated scores for the test rows.

    The soft vote is the mean of its members' probabilities, so it costs no fit of its own. Every fit and every
    prediction runs on one thread, so results do not depend on `n_jobs`.

    Parameters
    ----------
    train, test : pandas.DataFrame
        Predictors, the same columns in both.
    label : array-like of 0 and 1
        Outcome of the training rows; the test rows' is not needed.
    families : sequence of str
        Which to fit; members of the soft vote are fitted with it.
    cluster : array-like, optional
        Patient of each training row; folds then keep patients whole.
    seed : int
    n_jobs : int
        Processes.
    progress : bool
        Whether to draw a bar.

    Raises
    ------
    AuditInputError
        When a family is unknown or `label` does not hold both 0 and 1.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": np.arange(200) % 10})
    >>> y = (frame["x"] > 4).astype(int)
    >>> fit = cross_fit(frame, y, frame.head(10), families=["logistic", "shallow_tree"])
    >>> fit.cv_auc, fit.scores["logistic"].round(2).tolist()[3:7]
    ({'logistic': 1.0, 'shallow_tree': 1.0}, [0.0, 0.0, 1.0, 1.0])
    """
    y = np.asarray(label)
    if not np.array_equal(np.unique(y), [0, 1]):
        raise AuditInputError(f"label: expected 0 and 1, both present; found {np.unique(y)[:5].tolist()}.")
    for name in families:
        family(name)  # names are checked before hours are spent
    splits = folds(y, cluster=cluster, seed=seed)
    fitted = [m for m in FAMILIES if m in families or (m in MEMBERS and "soft_voting" in families)]
    jobs = _jobs(train, y, test, splits, [m for m in fitted if m != "soft_voting"], seed)
    pool = Parallel(n_jobs=n_jobs, return_as="generator", pre_dispatch=2 * n_jobs)
    total = len(splits) * len([m for m in fitted if m != "soft_voting"])
    raw = list(tqdm(pool(jobs), total=total, disable=not progress, desc="models", leave=False))
    if "soft_voting" in families:
        raw += [_vote(raw, k) for k in range(len(splits))]
    return _combine([r for r in raw if r.name in families], y, splits, families, test.index)


def _jobs(
    train: pd.DataFrame, y: NDArray[Any], test: pd.DataFrame, splits: list[Fold], names: list[str], seed: int
) -> Iterator[Any]:
    for k, (rest, held) in enumerate(splits):
        prepare = preprocessor(train).fit(train.iloc[rest])
        parts = [
            prepare.transform(part).astype(np.float32) for part in (train.iloc[rest], train.iloc[held], test)
        ]
        for name in names:
            yield delayed(_fit_one)(k, name, seed, y[rest], *parts)


def _fit_one(fold: int, name: str, seed: int, y: NDArray[Any], rest: Any, held: Any, test: Any) -> _Raw:
    with threadpool_limits(
        1
    ):  # sums in another order differ in the last bit, and bits move patients between bins
        model = family(name, seed).fit(rest, y)
        probability = [model.predict_proba(part)[:, 1].astype(float) for part in (held, test)]
        # As CalibratedClassifierCV: calibrate the decision function where the estimator has one.
        decide = getattr(model, "decision_function", None)
        output = [decide(part).astype(float) for part in (held, test)] if decide else probability
    return _Raw(fold, name, *output, *probability)


def _vote(raw: list[_Raw], fold: int) -> _Raw:
    members = [r for r in raw if r.fold == fold and r.name in MEMBERS]
    held = np.mean([r.held_probability for r in members], axis=0)
    test = np.mean([r.test_probability for r in members], axis=0)
    return _Raw(fold, "soft_voting", held, test, held, test)


def _combine(
    raw: list[_Raw], y: NDArray[Any], splits: list[Fold], families: Sequence[str], index: pd.Index
) -> CrossFit:
    auc: dict[str, float] = {}
    scores: dict[str, Floats] = {}
    for name in families:
        mine = sorted((r for r in raw if r.name == name), key=lambda r: r.fold)
        held_labels = [y[held] for _, held in splits]
        auc[name] = float(np.mean([roc_auc_score(t, r.held) for t, r in zip(held_labels, mine, strict=True)]))
        scores[name] = np.mean(
            [_isotonic(r.held, t, r.test) for t, r in zip(held_labels, mine, strict=True)], axis=0
        )
    return CrossFit(auc, pd.DataFrame(scores, index=index))


def _isotonic(held: Floats, y: NDArray[Any], test: Floats) -> Floats:
    return IsotonicRegression(out_of_bounds="clip", y_min=0, y_max=1).fit(held, y).predict(test)
