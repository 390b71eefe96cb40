"""Training, test and folds: by row, or by patient where a patient has several rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GroupShuffleSplit, StratifiedGroupKFold, StratifiedKFold, train_test_split

from auditlib.errors import AuditInputError

Indices = NDArray[np.intp]
Fold = tuple[Indices, Indices]


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

    Raises
    ------
    AuditInputError
        When the label is not 0 or 1 in each row, `cluster` is missing in one or of another length or index, there are
        too few rows or patients to split, or `seed` is no whole number.

    Examples
    --------
    >>> train, held = split([0, 1] * 50)
    >>> len(train), len(held)
    (70, 30)
    """
    y, patient = checked(label, cluster)
    check_seed(seed)
    positions = np.arange(len(y))
    with _explained():
        if patient is None:
            train, held = train_test_split(positions, test_size=test, random_state=seed, stratify=y)
        else:
            splitter = GroupShuffleSplit(1, test_size=test, random_state=seed)
            train, held = next(splitter.split(positions, y, patient))
    return np.sort(train), np.sort(held)


def folds(label: ArrayLike, *, cluster: ArrayLike | None = None, n_splits: int = 5, seed: int = 42) -> list[Fold]:
    """Cross-validation folds with like shares of positives; with `cluster`, a patient is in one fold only.

    Raises
    ------
    AuditInputError
        As ``split``, and when a fold would hold rows of one label alone.

    Examples
    --------
    >>> [len(held) for _, held in folds([0, 1] * 50)]
    [20, 20, 20, 20, 20]
    """
    y, patient = checked(label, cluster)
    check_seed(seed)
    with _explained():
        if patient is None:
            found = list(StratifiedKFold(n_splits, shuffle=True, random_state=seed).split(y, y))
        else:
            splitter = StratifiedGroupKFold(n_splits, shuffle=True, random_state=seed)
            found = list(splitter.split(y, y, patient))
    if any(len(np.unique(y[held])) < 2 for _, held in found):
        whom = "rows" if patient is None else "patients"
        raise AuditInputError(f"label: too few {whom} of 0 or of 1 for {n_splits} folds that each hold both.")
    return found


def checked(label: ArrayLike, cluster: ArrayLike | None) -> tuple[NDArray[np.int64], NDArray[Any] | None]:
    """Label and patient of each row as arrays, or an error: unequal lengths and gaps would be cut or merged in silence.

    Examples
    --------
    >>> checked([True, False], ["a", "b"])
    (array([1, 0]), array(['a', 'b'], dtype='<U1'))
    """
    y = np.asarray(label)
    if y.ndim != 1 or not len(y):
        raise AuditInputError(f"label: one value a row is needed, and at least one row; its shape is {y.shape}.")
    wrong = pd.Series(y)[~pd.Series(y, dtype=object).isin([0, 1])]
    if len(wrong):
        raise AuditInputError(f"label: {len(wrong)} rows hold neither 0 nor 1 but {wrong.unique()[:5].tolist()}.")
    if cluster is None:
        return y.astype(np.int64), None
    check_index("cluster", cluster, "label", label)
    patient = np.asarray(cluster)
    if patient.shape != y.shape:
        raise AuditInputError(f"cluster: its shape is {patient.shape}, that of label {y.shape}; give one value a row.")
    if missing := int(pd.isna(patient).sum()):
        raise AuditInputError(f"cluster: missing in {missing} rows; name each row's patient.")
    return y.astype(np.int64), patient


def check_index(name: str, given: object, other: str, held: object) -> None:
    """An error where two pandas objects name their rows differently: they are put together by position.

    Examples
    --------
    >>> check_index("y", pd.Series([0, 1]), "X", pd.DataFrame({"age": [40, 50]}))
    """
    both = isinstance(given, pd.Series | pd.DataFrame) and isinstance(held, pd.Series | pd.DataFrame)
    if both and len(given) == len(held) and not given.index.equals(held.index):  # type: ignore[attr-defined, arg-type]
        raise AuditInputError(
            f"{name}: its index is not that of {other}; bring both into one order with .loc[], or pass "
            f"{name}.to_numpy() if they are in one order already."
        )


def check_seed(seed: object) -> None:
    """An error unless `seed` is a whole number that scikit-learn can take.

    Examples
    --------
    >>> check_seed(42)
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**32:
        raise AuditInputError(f"seed = {seed!r}: give a whole number from 0 to {2**32 - 1:,}.")


@contextmanager
def _explained() -> Iterator[None]:
    """What scikit-learn cannot split, as an error of the input."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise AuditInputError(f"label, cluster, test, n_splits or seed: no such split ({error})") from error
