"""Group values as strings, in an order that does not depend on the engine."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from auditlib.errors import AuditInputError

MISSING_LEVEL = "missing"
#: Names that tables and results use themselves, as dims, coordinates or variables.
RESERVED = (
    "label", "bin", "threshold", "replicate", "model", "pattern", "units", "n",
    "tp", "fp", "fn", "tn", "cell", "cell_", "unit_moments", "clustered_by",
    "estimate", "low", "high", "deff", "n_effective", "undefined",
)  # fmt: skip


def check_name(name: str) -> None:
    """An error if ``name`` cannot name a group."""
    if name in RESERVED or name.startswith("bin."):
        raise AuditInputError(f"{name!r} cannot name a group (reserved: {', '.join(RESERVED)}); rename the column.")


def group_levels(
    name: str, values: Any, n: np.ndarray, missing: str, what: str = "group"
) -> tuple[tuple[str, ...], np.ndarray]:
    """Levels of a group column that occur, and the code of each row of the aggregated table."""
    try:
        codes, distinct = _factorize(values)
    except TypeError:
        kind = getattr(values, "dtype", "list")
        raise AuditInputError(f"{what} {name!r} holds values of type {kind}; make them text.") from None
    absent = codes < 0
    if absent.any() and missing == "raise":
        hint = " or pass missing='category' to keep them as a group of their own" if what == "group" else ""
        raise AuditInputError(
            f"{what} {name!r}: {int(n[absent].sum()):,} of {int(n.sum()):,} rows have no value. "
            f"Drop those rows knowingly{hint}."
        )
    spelled = _spelled(distinct)
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


def _spelled(distinct: np.ndarray) -> list[str]:
    """Values as text. Whole numbers that a missing value turned into floats are spelled as whole numbers."""
    if len(distinct) and all(isinstance(value, float) and value.is_integer() for value in distinct):
        return [str(int(value)) for value in distinct]
    return [str(value) for value in distinct]


def _factorize(values: Any) -> tuple[np.ndarray, np.ndarray]:
    """Code of each value (-1 where missing) and the distinct values as Python objects."""
    # Whole numbers without a gap are the one kind that NumPy holds as it is.
    if isinstance(values, nw.Series) and values.dtype.is_integer() and not values.is_null().any():
        codes, found = pd.factorize(values.to_numpy())
        return codes, found.astype(object)
    raw = values.to_list() if isinstance(values, nw.Series) else list(values)
    return pd.factorize(np.array([*raw, None], dtype=object)[:-1], use_na_sentinel=True)


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
    native = values.to_native()
    if isinstance(native, pd.Series) and isinstance(native.dtype, pd.CategoricalDtype):
        return native.dtype.categories.tolist() if native.dtype.ordered else None
    return list(values.dtype.categories) if isinstance(values.dtype, nw.Enum) else None
