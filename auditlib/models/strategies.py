"""How a model may use the attribute that defines the subgroups: four strategies, two learners.

- ``NoSA``: the attribute is left out.
- ``SingleSA``: the attribute is in, one indicator a group beside the other predictors.
- ``OneEach``: one model a group, fitted on that group's rows only.
- ``MultiSA``: one model a group, fitted on all rows with weights: the group's own rows count 1, every other row
  min(1, p/(1 − p) · (1 − s)/s), where s is the group's share of the rows and p the propensity of belonging to the
  group given the predictors without the attribute.

Source: Benitez-Aurioles et al., Epidemiology 2026;37(3):386–396, whose models NoSA, SingleSA and MultiSA these are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression

from auditlib.errors import AuditInputError
from auditlib.models.encoding import Encoder, Floats, encoder, grouped
from auditlib.models.learners import LEARNERS, PENALTY, fit_rows, one_thread
from auditlib.models.splits import Indices, check_index, check_seed, checked

STRATEGIES = ("NoSA", "SingleSA", "OneEach", "MultiSA")
RIDGE = 1e-6  # of the propensity model, on the same scale: keeps it finite where a group can be told for certain


@dataclass(frozen=True)
class Fitted:
    """A fitted strategy.

    Attributes
    ----------
    strategy, learner : str
    levels : tuple of str
        Groups, sorted.
    """

    strategy: str
    learner: str
    levels: tuple[str, ...]
    _encoder: Encoder
    _models: dict[str, Any]

    def predict(self, X: pd.DataFrame | ArrayLike, group: ArrayLike | None = None) -> Floats:
        """Risk of each row.

        Parameters
        ----------
        X : DataFrame or array
            The predictors it was fitted on.
        group : array-like of str
            Group of each row; not looked at by ``NoSA``.

        Returns
        -------
        array of float
            NaN for the rows of a group that had no row in the (re)sample of ``OneEach``.

        Raises
        ------
        AuditInputError
            When the predictors are others, a row's group was not among those of the fit, or a Series of groups has
            another index than the predictors.
        """
        x = self._encoder.transform(X)
        if self.strategy == "NoSA":
            return self._run("", x)
        check_index("group", group, "X", X)
        code = grouped(group, len(x), self.levels)[0]
        if self.strategy == "SingleSA":
            return self._run("", _with_indicators(x, code, len(self.levels)))
        risk = np.empty(len(x))
        for k, level in enumerate(self.levels):
            risk[code == k] = self._run(level, x[code == k])
        return risk

    def _run(self, name: str, x: Floats) -> Floats:
        with one_thread():
            return np.asarray(self._models[name].predict(x)) if len(x) else np.empty(0)


def propensity_weights(X: pd.DataFrame | ArrayLike, group: ArrayLike) -> pd.DataFrame:
    """Weights of ``MultiSA``: how much each row counts in each group's model.

    Own group 1, others min(1, p/(1 − p) · (1 − s)/s): the odds that a row with these predictors belongs to the group,
    relative to the group's odds in the cohort. p comes from one logistic regression a group (the group against all
    others), linear in the predictors. Compute it once, outside any bootstrap; a resampled row keeps its weights.

    Parameters
    ----------
    X : DataFrame or array
        Predictors without the attribute.
    group : array-like of str
        Group of each row.

    Returns
    -------
    DataFrame
        One row a row of `X`, one column a group (sorted), values from 0 to 1.

    Raises
    ------
    AuditInputError
        When there are fewer than two groups, or predictors or groups are missing or do not fit each other (a Series
        of groups with another index than a DataFrame of predictors does not).

    References
    ----------
    Benitez-Aurioles et al., Epidemiology 2026;37(3):386–396.

    Examples
    --------
    >>> X = pd.DataFrame({"older": [0, 0, 0, 0, 1, 1, 1, 1]})
    >>> weights = propensity_weights(X, ["A", "A", "A", "B", "A", "B", "B", "B"])
    >>> weights["A"].round(2).tolist()  # a young B counts 1, an older one as the odds 1/3 say
    [1.0, 1.0, 1.0, 1.0, 1.0, 0.33, 0.33, 0.33]
    """
    x = encoder(X).transform(X)
    check_index("group", group, "X", X)
    code, levels = grouped(group, len(x))
    if len(levels) < 2:
        raise AuditInputError(f"group: weights need at least two groups; all rows are {levels[0]!r}.")
    scale = x.std(axis=0)
    x = (x - x.mean(axis=0)) / np.where(scale > 0, scale, 1)
    columns = {}
    for k, level in enumerate(levels):
        own = code == k
        model = LogisticRegression(C=1 / (RIDGE * len(x)), solver="newton-cholesky", tol=1e-8, max_iter=200)
        with one_thread():
            log_odds = model.fit(x, own).decision_function(x)
        log_prior = np.log(own.sum()) - np.log((~own).sum())
        columns[level] = np.where(own, 1.0, np.exp(np.minimum(log_odds - log_prior, 0)))
    return pd.DataFrame(columns, index=X.index if isinstance(X, pd.DataFrame) else None)


def fit_strategy(
    strategy: str,
    learner: str,
    X: pd.DataFrame | ArrayLike,
    y: ArrayLike,
    group: ArrayLike | None = None,
    *,
    weights: pd.DataFrame | None = None,
    rows: ArrayLike | None = None,
    seed: int = 42,
    penalty: float = PENALTY,
) -> Fitted:
    """Fit one strategy with one learner.

    ``lasso`` minimises the mean log-loss plus `penalty` · Σ|β| over standardised columns (indicators too, as glmnet
    does), so that one penalty serves any number of rows: in scikit-learn's terms C = 1/(penalty · Σ weights).
    Mean, standard deviation and weights are those of the rows fitted. liblinear shrinks the intercept as well; at its
    scaling of 100 the mean risk moves by `penalty`/100. ``boosting`` is ``family("gradient_boosting")``, without early
    stopping. Neither is recalibrated. Everything runs on one thread, so that results reproduce to the bit.

    A model whose rows all have one label predicts their prevalence, 0 or 1, for everybody. A group of ``OneEach``
    without any row in `rows` has no model: its risks are NaN.

    Parameters
    ----------
    strategy : {"NoSA", "SingleSA", "OneEach", "MultiSA"}
    learner : {"lasso", "boosting"}
    X : DataFrame or array
        Predictors without the attribute. Numbers only (or an array) is the quick way; text goes through
        ``preprocessor``. A missing number becomes the median of the column in `X`.
    y : array-like of 0 and 1
        Rows go by their position; a Series must have the index of `X`, where that is a DataFrame.
    group : array-like of str
        Group of each row, as `y`; not looked at by ``NoSA``.
    weights : DataFrame, optional
        ``propensity_weights(X, group)`` for ``MultiSA``; computed when absent, which a bootstrap should not repeat.
        One column a group, numbers from 0 to 1, and 1 for the row's own group; where `X` is a DataFrame, its index.
    rows : array-like of int, optional
        Positions to fit on, with repeats: a bootstrap sample or a fold. Levels, medians and weights stay those of `X`.
    seed : int
        From 0 to 2³² − 1.
    penalty : float
        Of the LASSO, in (0, 1).

    Returns
    -------
    Fitted
        With ``.predict(X, group)``.

    Raises
    ------
    AuditInputError
        When a name is unknown, or an argument is missing, of another length or index, or out of its range.

    References
    ----------
    Benitez-Aurioles et al., Epidemiology 2026;37(3):386–396.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [40, 50, 60, 70] * 50})
    >>> y, group = [0, 0, 0, 1, 0, 1, 1, 1] * 25, ["A"] * 100 + ["B"] * 100
    >>> fitted = fit_strategy("OneEach", "lasso", X, y, group)
    >>> fitted.predict(X.head(4), group[:4]).round(1).tolist()
    [0.1, 0.3, 0.7, 0.9]
    """
    _named("strategy", strategy, STRATEGIES)
    _named("learner", learner, LEARNERS)
    check_seed(seed)
    if isinstance(penalty, bool) or not isinstance(penalty, Real) or not 0 < penalty < 1:
        raise AuditInputError(f"penalty = {penalty!r}: give a number between 0 and 1.")
    for name, given, other, held in (("y", y, "X", X), ("group", group, "X", X), ("y", y, "group", group)):
        if strategy != "NoSA" or "group" not in (name, other):
            check_index(name, given, other, held)
    prepared = encoder(X)
    x = prepared.transform(X)
    label = _label(y, len(x))
    taken = None if rows is None else _rows(rows, len(x))

    def fit(part: Floats, mask: NDArray[np.bool_] | None = None, weight: Floats | None = None) -> Any:
        used = _used(taken, mask)
        w = weight if weight is None else weight[used]
        return fit_rows(learner, part[used], label[used], w, int(seed), float(penalty))

    if strategy == "NoSA":
        return Fitted(strategy, learner, (), prepared, {"": fit(x)})
    code, levels = grouped(group, len(x))
    if strategy == "SingleSA":
        models = {"": fit(_with_indicators(x, code, len(levels)))}
    elif strategy == "OneEach":
        models = {level: fit(x, mask=code == k) for k, level in enumerate(levels)}
    else:
        table = propensity_weights(X, group) if weights is None else weights
        shares = _weights(table, X, code, levels)
        models = {level: fit(x, weight=shares[:, k]) for k, level in enumerate(levels)}
    return Fitted(strategy, learner, levels, prepared, models)


def _with_indicators(x: Floats, code: Indices, groups: int) -> Floats:
    return np.hstack([x, code[:, None] == np.arange(groups)])


def _used(taken: Indices | None, mask: NDArray[np.bool_] | None) -> Any:
    """Rows to fit on: those taken, within the group."""
    if taken is None:
        return slice(None) if mask is None else mask
    return taken if mask is None else taken[mask[taken]]


def _named(what: str, name: object, known: Sequence[str]) -> None:
    if not isinstance(name, str) or name not in known:
        raise AuditInputError(f"{what} = {name!r}: choose one of {', '.join(known)}.")


def _label(y: ArrayLike, n: int) -> NDArray[np.int64]:
    label = np.asarray(y)
    if label.shape != (n,):
        raise AuditInputError(f"y: its shape is {label.shape} for {n} rows of X; give one label a row.")
    quick = label.dtype.kind in "biuf" and bool(((label == 0) | (label == 1)).all())
    return label.astype(np.int64) if quick else checked(label, None)[0]


def _rows(rows: ArrayLike, n: int) -> Indices:
    taken = np.asarray(rows)
    if taken.ndim != 1 or not len(taken) or taken.dtype.kind not in "iu" or taken.min() < 0 or taken.max() >= n:
        raise AuditInputError(f"rows: give positions of rows of X as whole numbers from 0 to {n - 1}, at least one.")
    return taken.astype(np.intp)


def _weights(weights: pd.DataFrame, X: object, code: Indices, levels: Sequence[str]) -> Floats:
    """Weights by row and level: of these rows, numbers, and 1 for the own group."""
    again = "give propensity_weights(X, group)"
    known = isinstance(weights, pd.DataFrame) and set(weights.columns) == set(levels)
    if not known or len(weights.columns) != len(levels) or len(weights) != len(code):
        raise AuditInputError(
            f"weights: {again}, {len(code)} rows and one column for each of {', '.join(levels)}, each once."
        )
    check_index("weights", weights, "X", X)
    if odd := [name for name in levels if getattr(weights[name].dtype, "kind", "O") not in "iuf"]:
        raise AuditInputError(f"weights: {', '.join(odd)} hold no numbers; {again}.")
    table = weights[list(levels)].to_numpy(float, na_value=np.nan)
    if not ((table >= 0) & (table <= 1)).all():
        raise AuditInputError(f"weights: some are negative, above 1 or missing; {again}.")
    if wrong := int((abs(table[np.arange(len(code)), code] - 1) > 1e-9).sum()):
        raise AuditInputError(f"weights: in {wrong} rows that of the row's own group is not 1; {again}.")
    return table
