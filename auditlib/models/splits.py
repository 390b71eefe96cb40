"""Training, test and folds: by row, or by patient where a patient has several rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GroupShuffleSplit, StratifiedGroupKFold, StratifiedKFold, train_test_split

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


def folds(label: ArrayLike, *, cluster: ArrayLike | None = None, n_splits: int = 5, seed: int = 42) -> list[Fold]:
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
