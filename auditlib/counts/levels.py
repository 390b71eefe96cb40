"""Group values as strings, in an order that does not depend on the engine."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from auditlib.errors import AuditInputError

MISSING_LEVEL = "missing"


def group_levels(
    name: str, values: Any, n: np.ndarray, missing: str, what: str = "group"
) -> tuple[tuple[str, ...], np.ndarray]:
    """Levels of a group column that occur, and the code of each row of the aggregated table."""
    raw = values.to_list() if isinstance(values, nw.Series) else list(values)
    codes, distinct = pd.factorize(np.array([*raw, None], dtype=object)[:-1], use_na_sentinel=True)
    absent = codes < 0
    if absent.any() and missing == "raise":
        hint = " or pass missing='category' to keep them as a group of their own" if what == "group" else ""
        raise AuditInputError(
            f"{what} {name!r}: {int(n[absent].sum()):,} of {int(n.sum()):,} rows have no value. "
            f"Drop those rows knowingly{hint}."
        )
    spelled = [str(value) for value in distinct]
    names = [*spelled, MISSING_LEVEL] if absent.any() else spelled
    twice = sorted({text for text in names if names.count(text) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise AuditInputError(
            f"{what} {name!r}: different values have one spelling ({', '.join(map(repr, twice))}); make them one type."
        )
    order = np.array(_order(values, distinct), dtype=np.int64)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    levels = tuple(spelled[i] for i in order) + ((MISSING_LEVEL,) if absent.any() else ())
    code = np.where(absent, len(order), rank[codes]) if len(order) else np.zeros(len(codes), dtype=np.int64)
    return levels, code


def _order(values: Any, distinct: np.ndarray) -> list[int]:
    """Declared order of an ordered categorical, otherwise numbers by size and text by spelling."""
    declared = _declared(values)
    if declared is not None:
        return sorted(range(len(distinct)), key=lambda i: declared.index(distinct[i]))
    if all(isinstance(value, int | float | np.number) for value in distinct):
        return sorted(range(len(distinct)), key=lambda i: distinct[i])
    return sorted(range(len(distinct)), key=lambda i: str(distinct[i]))


def _declared(values: Any) -> list[Any] | None:
    if not isinstance(values, nw.Series):
        return None
    if values.dtype == nw.Enum:
        return values.cat.get_categories().to_list()
    native = values.to_native()
    if isinstance(native, pd.Series) and isinstance(native.dtype, pd.CategoricalDtype) and native.dtype.ordered:
        return native.dtype.categories.tolist()
    return None
