"""Predictors as one matrix of numbers, and groups as codes, for models that are refitted thousands of times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from auditlib.errors import AuditInputError
from auditlib.models.families import preprocessor
from auditlib.models.splits import Indices

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Encoder:
    """Predictors to a matrix: numbers as they are, medians where missing; ``preprocessor`` where there is text.

    Attributes
    ----------
    columns : names of the predictors; empty for an array.
    medians : of each column of numbers.
    prepare : the fitted ``preprocessor``, where some column is no number.
    """

    columns: tuple[str, ...]
    medians: Floats
    prepare: Any = None

    def transform(self, X: pd.DataFrame | ArrayLike) -> Floats:
        """The matrix of `X`, one row a row.

        Raises
        ------
        AuditInputError
            When `X` has other columns than those of the fit, or holds something that cannot be a number.
        """
        if isinstance(X, pd.DataFrame) != bool(self.columns):
            kind = "a DataFrame" if self.columns else "an array"
            raise AuditInputError(f"X: the fit was given {kind}; give {kind} again.")
        if isinstance(X, pd.DataFrame):
            if absent := [c for c in self.columns if c not in X]:
                raise AuditInputError(f"X: columns {absent[:5]} of the fit are absent ({len(absent)}).")
            X = X[list(self.columns)]
        if self.prepare is not None:
            try:
                return np.ascontiguousarray(self.prepare.transform(X), dtype=float)
            except (TypeError, ValueError) as error:
                raise AuditInputError(f"X: the predictors cannot be prepared ({error}).") from error
        x = matrix(X)
        if x.shape[1] != len(self.medians):
            raise AuditInputError(f"X: {x.shape[1]} columns, {len(self.medians)} in the fit; give the same predictors.")
        missing = np.isnan(x)
        return np.where(missing, self.medians, x) if missing.any() else x


def encoder(X: pd.DataFrame | ArrayLike) -> Encoder:
    """What turns `X` and frames like it into a matrix.

    Raises
    ------
    AuditInputError
        When there is no row or no column, a column holds no value or an infinite one, or names are not text.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [40.0, None, 60.0]})
    >>> encoder(frame).transform(frame).tolist()
    [[40.0], [50.0], [60.0]]
    """
    columns: tuple[str, ...] = ()
    if isinstance(X, pd.DataFrame):
        columns = tuple(X.columns)
        if len(set(columns)) < len(columns) or not all(isinstance(c, str) for c in columns):
            raise AuditInputError("X: its columns need names of text, each its own; rename them.")
    shape = np.shape(X)
    if len(shape) != 2 or 0 in shape:
        raise AuditInputError(f"X: a table with at least one row and one column is needed; its shape is {shape}.")
    if isinstance(X, pd.DataFrame) and not all(getattr(d, "kind", "O") in "biuf" for d in X.dtypes):
        return Encoder(columns, np.empty(0), _prepared(X))
    x = matrix(X)
    missing = np.isnan(x)
    if missing.any():
        if empty := [int(k) for k in np.flatnonzero(missing.all(axis=0))]:
            raise AuditInputError(f"X: columns at positions {empty[:5]} hold no value; drop them.")
        return Encoder(columns, np.nanmedian(x, axis=0))
    return Encoder(columns, np.median(x, axis=0))


def matrix(X: pd.DataFrame | ArrayLike) -> Floats:
    """Numbers as float64; an error where something is none, or infinite."""
    try:
        x = np.ascontiguousarray(X, dtype=float)  # sums over columns in another order differ in the last bit
    except (TypeError, ValueError) as error:
        raise AuditInputError(f"X: some values are no numbers ({error}); give text in a DataFrame.") from error
    if np.isinf(x).any():
        raise AuditInputError(f"X: {int(np.isinf(x).sum())} values are infinite.")
    return x


def grouped(group: ArrayLike | None, n: int, levels: Sequence[str] | None = None) -> tuple[Indices, tuple[str, ...]]:
    """Code of each row's group, and the groups, sorted (or `levels`, when given).

    Raises
    ------
    AuditInputError
        When groups are missing, or of another length, or not among `levels`, or two of them are spelled alike.

    Examples
    --------
    >>> grouped(["b", "a", "b"], 3)
    (array([1, 0, 1]), ('a', 'b'))
    """
    if group is None or np.shape(group) != (n,):
        said = "None" if group is None else f"of shape {np.shape(group)}"
        raise AuditInputError(f"group: one group a row is needed ({n}); it is {said}.")
    values = np.asarray(group, dtype=object)
    found, names = pd.factorize(values, sort=False)
    if (found < 0).any():
        raise AuditInputError(f"group: missing in {int((found < 0).sum())} rows; name each row's group.")
    spelled = [str(name) for name in names]
    if len(set(spelled)) < len(spelled) or len(_spellings(values, found)) > len(spelled):
        raise AuditInputError(
            "group: some names are equal or spelled alike, but of different types (such as 1 and '1', or 1 and True); "
            "spell each group in one way, as text."
        )
    known = tuple(sorted(set(spelled))) if levels is None else tuple(levels)
    if unknown := [name for name in spelled if name not in known]:
        raise AuditInputError(f"group: {unknown[:5]} were not in the fit; its groups are {', '.join(known)}.")
    return np.array([known.index(name) for name in spelled], dtype=np.intp)[found], known


def _spellings(values: NDArray[Any], code: Indices) -> set[tuple[int, str]]:
    """Each code with how it is spelled: pandas takes 1 and True as one. Only a mixture of types can do that."""
    if len(set(map(type, values))) < 2:
        return set()
    return set(zip(code.tolist(), map(str, values), strict=True))


def _prepared(X: pd.DataFrame) -> Any:
    try:
        return preprocessor(X).fit(X)
    except (TypeError, ValueError) as error:
        raise AuditInputError(f"X: the predictors cannot be prepared ({error}).") from error
