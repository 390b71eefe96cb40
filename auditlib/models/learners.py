"""Two learners on a matrix of numbers, quick and single-threaded: a LASSO at a fixed penalty, and boosting."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from auditlib.models.encoding import Floats
from auditlib.models.families import family

LEARNERS = ("lasso", "boosting")
PENALTY = 1e-3  # of the LASSO, on the scale of the mean log-loss


@dataclass(frozen=True)
class Constant:
    """Where the fit rows hold one label only, or no row (NaN)."""

    risk: float

    def predict(self, x: Floats) -> Floats:
        return np.full(len(x), self.risk)


@dataclass(frozen=True)
class _Logistic:
    intercept: float
    slopes: Floats

    def predict(self, x: Floats) -> Floats:
        return np.asarray(expit(x @ self.slopes + self.intercept))


@dataclass(frozen=True)
class _Boosted:
    trees: HistGradientBoostingClassifier

    def predict(self, x: Floats) -> Floats:
        return np.asarray(self.trees.predict_proba(x)[:, 1], dtype=float)


def fit_rows(learner: str, x: Floats, y: NDArray[np.int64], weight: Floats | None, seed: int, penalty: float) -> Any:
    """A fitted model with ``.predict(matrix)``; see ``fit_strategy`` for what the learners are.

    Examples
    --------
    >>> fit_rows("lasso", np.zeros((3, 1)), np.array([1, 1, 1]), None, 42, PENALTY)
    Constant(risk=1.0)
    """
    if weight is not None and not weight.all():
        x, y, weight = x[weight > 0], y[weight > 0], weight[weight > 0]
    if not len(y):
        return Constant(np.nan)
    if y.min() == y.max():
        return Constant(float(y[0]))
    with one_thread():
        if learner == "boosting":
            trees = family("gradient_boosting").set_params(random_state=seed)
            return _Boosted(trees.fit(x, y, sample_weight=weight))
        return _lasso(x, y, weight, seed, penalty)


def _lasso(x: Floats, y: NDArray[np.int64], weight: Floats | None, seed: int, penalty: float) -> _Logistic:
    w = np.ones(len(y)) if weight is None else weight
    mean = np.average(x, axis=0, weights=w)
    scale = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=w))
    scale = np.where(scale > 1e-12 * (1 + np.abs(mean)), scale, np.inf)  # a constant column takes no part
    model = LogisticRegression(
        C=1 / (penalty * w.sum()),
        l1_ratio=1,
        solver="liblinear",
        intercept_scaling=100,
        tol=1e-6,
        max_iter=1000,
        random_state=seed,
    )
    model.fit((x - mean) / scale, y, sample_weight=weight)
    slopes = model.coef_[0] / scale
    return _Logistic(float(model.intercept_[0] - slopes @ mean), slopes)


def one_thread() -> AbstractContextManager[Any]:
    """Sums in another order differ in the last bit, so fits and predictions run on one thread."""
    return _controller().limit(limits=1)


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    """Looking for the libraries costs more than a fit does; once is enough."""
    return ThreadpoolController()
