"""Select, calibrate and apply in one pass.

Each fold's preprocessing and estimators are fitted once and serve three ends: the cross-validated AUC that selects
the family, the isotonic calibration, and the scores of the test rows, whose labels are never seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from tqdm.auto import tqdm

from auditlib.errors import AuditInputError
from auditlib.jobs import check_jobs
from auditlib.models.families import FAMILIES, MEMBERS, family, preprocessor
from auditlib.models.splits import Fold, check_index, check_seed, checked, folds

Floats = NDArray[np.float64]
FOLDS = 5


@dataclass(frozen=True)
class CrossFit:
    """What ``cross_fit`` found.

    Attributes
    ----------
    cv_auc : dict of str to float
        Mean AUC over the training folds, by family.
    scores : pandas.DataFrame
        Calibrated risks of the test rows, one column a family.
    uncalibrated : pandas.DataFrame
        The mean over the folds' models of the probabilities they give themselves.
    """

    cv_auc: dict[str, float]
    scores: pd.DataFrame
    uncalibrated: pd.DataFrame

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
        Processes; −1 for one a core.
    progress : bool
        Whether to draw a bar.

    Raises
    ------
    AuditInputError
        When a family is unknown, `label` or `cluster` do not fit the training rows or are too few for five folds,
        a predictor is absent, empty, infinite or of mixed types, or `seed` or `n_jobs` is no such number.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": np.arange(200) % 10})
    >>> y = (frame["x"] > 4).astype(int)
    >>> fit = cross_fit(frame, y, frame.head(10), families=["logistic", "shallow_tree"])
    >>> fit.cv_auc, fit.scores["logistic"].round(2).tolist()[3:7]
    ({'logistic': 1.0, 'shallow_tree': 1.0}, [0.0, 0.0, 1.0, 1.0])
    """
    _check_predictors(train, test)
    check_index("label", label, "train", train)
    check_jobs(n_jobs)
    check_seed(seed)
    y = _check(label, cluster, len(train), families)
    splits = folds(y, cluster=cluster, seed=seed)
    voting = MEMBERS if "soft_voting" in families else ()
    fitted = [m for m in FAMILIES if m != "soft_voting" and (m in families or m in voting)]
    jobs = _jobs(train, y, test, splits, fitted, seed)
    pool = Parallel(n_jobs=n_jobs, return_as="generator", pre_dispatch="2 * n_jobs")
    total = len(splits) * len(fitted)
    raw = list(tqdm(pool(jobs), total=total, disable=not progress, desc="models", leave=False))
    if voting:
        raw += [_vote(raw, k) for k in range(len(splits))]
    return _combine(raw, y, splits, families, test.index)


def _check(label: ArrayLike, cluster: ArrayLike | None, rows: int, families: Sequence[str]) -> NDArray[np.int64]:
    """The label as an array; what does not fit stops here, not after minutes of fitting."""
    if isinstance(families, str) or not np.iterable(families) or not len(families):
        raise AuditInputError(f"families: at least one is needed, of {', '.join(FAMILIES)}.")
    for name in families:
        family(name)
    y, patient = checked(label, cluster)
    if len(y) != rows:
        raise AuditInputError(f"label: {len(y)} values for {rows} training rows; give one a row.")
    values, held = np.unique(y, return_counts=True)
    if len(values) < 2 or held.min() < FOLDS:
        found = dict(zip(values.tolist(), held.tolist(), strict=True))
        raise AuditInputError(f"label: five folds need at least 5 rows each of 0 and 1; found {found}.")
    if patient is not None and (n := pd.Series(patient).nunique()) < FOLDS:
        raise AuditInputError(f"cluster: five folds need at least 5 patients; found {n}.")
    return y


def _check_predictors(train: pd.DataFrame, test: pd.DataFrame) -> None:
    for name, frame in {"train": train, "test": test}.items():
        if not isinstance(frame, pd.DataFrame) or frame.empty:
            raise AuditInputError(f"{name}: a DataFrame with at least one row and one predictor is needed.")
    # By number, scikit-learn would take columns by their place.
    odd = [c for c in train if not isinstance(c, str)] + train.columns[train.columns.duplicated()].tolist()
    if odd:
        raise AuditInputError(f"train: columns {odd[:5]} are not named by text, each its own; rename them.")
    absent = [c for c in train if c not in test]
    if absent:
        raise AuditInputError(f"test: columns {absent[:5]} of train are absent ({len(absent)}).")
    for column in train:
        if train[column].isna().all():
            raise AuditInputError(f"train: column {column} holds no value; drop it.")
        if infinite := sum(int(part[column].isin([np.inf, -np.inf]).sum()) for part in (train, test)):
            raise AuditInputError(f"train, test: column {column} is infinite in {infinite} rows.")


def _jobs(
    train: pd.DataFrame, y: NDArray[Any], test: pd.DataFrame, splits: list[Fold], names: list[str], seed: int
) -> Iterator[Any]:
    for k, (rest, held) in enumerate(splits):
        parts = _prepared(train.iloc[rest], train.iloc[held], test)
        for name in names:
            yield delayed(_fit_one)(k, name, seed, y[rest], *parts)


def _prepared(rest: pd.DataFrame, held: pd.DataFrame, test: pd.DataFrame) -> list[NDArray[np.float32]]:
    try:
        prepare = preprocessor(rest).fit(rest)
        return [prepare.transform(part).astype(np.float32) for part in (rest, held, test)]
    except (TypeError, ValueError) as error:  # numbers in one part and text in another, or both in one column
        raise AuditInputError(f"train, test: the predictors cannot be prepared ({error})") from error


def _fit_one(fold: int, name: str, seed: int, y: NDArray[Any], rest: Any, held: Any, test: Any) -> _Raw:
    with threadpool_limits(1):  # sums in another order differ in the last bit, and bits move patients between bins
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
    plain: dict[str, Floats] = {}
    for name in families:
        mine = sorted((r for r in raw if r.name == name), key=lambda r: r.fold)
        held_labels = [y[held] for _, held in splits]
        auc[name] = float(np.mean([roc_auc_score(t, r.held) for t, r in zip(held_labels, mine, strict=True)]))
        scores[name] = np.mean([_isotonic(r.held, t, r.test) for t, r in zip(held_labels, mine, strict=True)], axis=0)
        plain[name] = np.mean([r.test_probability for r in mine], axis=0)
    return CrossFit(auc, pd.DataFrame(scores, index=index), pd.DataFrame(plain, index=index))


def _isotonic(held: Floats, y: NDArray[Any], test: Floats) -> Floats:
    return IsotonicRegression(out_of_bounds="clip", y_min=0, y_max=1).fit(held, y).predict(test)
