"""Which label counts as positive, decided in the engine and checked here."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from auditlib.counts.edges import round_to
from auditlib.counts.scored import all_missing, column, computed
from auditlib.counts.tally import objects
from auditlib.errors import AuditInputError

MISSING, OTHER = -1, -2


@dataclass(frozen=True)
class LabelCode:
    """An expression that gives 1, 0, −1 (missing) or −2 (neither), and what to say of the last two."""

    name: str
    expression: nw.Expr
    positive: str
    named: bool
    data: Any

    def check(self, codes: np.ndarray, n: np.ndarray) -> str:
        """The positive value's name, or an error with the number of rows."""
        total, absent, other = int(n.sum()), int(n[codes == MISSING].sum()), int(n[codes == OTHER].sum())
        if absent:
            raise AuditInputError(_absent(self.name, absent, total))
        if other:
            raise AuditInputError(
                f"label {self.name!r}: {other:,} of {total:,} rows are neither 0 nor 1 (values: {self.values()}); "
                "say which value counts, with positive=…"
            )
        if self.named and not (codes == 1).any():
            raise AuditInputError(
                f"label {self.name!r}: no row has the value positive={self.positive!r}; the values are {self.values()}."
            )
        return self.positive

    def values(self) -> str:
        """Up to ten values of the label, for a message."""
        return shown_values(self.data, self.name)


def _absent(name: str, absent: int, total: int) -> str:
    return (
        f"label {name!r}: {absent:,} of {total:,} rows have no value; labels are never filled. "
        "Drop those rows knowingly."
    )


def shown_values(data: Any, name: str) -> str:
    """Up to ten distinct values of a column, sorted by their spelling."""
    asked = data.select(column(data, name).alias("value"))
    local = computed(asked.unique().head(11).collect)["value"].to_list()
    values = sorted((value for value in local if not pd.isna(value)), key=str)
    return ", ".join(repr(value) for value in values[:10]) or "all missing"


def label_code(data: Any, name: str, dtype: Any, positive: Any) -> LabelCode:
    """How to read the label column, from its type and ``positive``."""
    values, wanted = column(data, name), positive
    if dtype == nw.Object and data.implementation.is_pandas():  # Python values: only what is there can tell
        return _object_code(data, name, positive)
    if dtype == nw.Boolean:
        wanted = True if positive is None else positive
        _expect(isinstance(wanted, bool | np.bool_), data, name, positive, "true and false")
        return _code(data, name, values == bool(wanted), values.is_null(), positive)
    if dtype.is_numeric():
        absent = values.is_null()
        if dtype.is_float():
            values = values.cast(nw.Float64)
            absent = absent | values.is_nan().fill_null(True)
        if positive is None:
            zero_one = nw.when(values == 1).then(1).otherwise(nw.when(values == 0).then(0).otherwise(OTHER))
            return LabelCode(name, nw.when(absent).then(MISSING).otherwise(zero_one), "1", False, data)
        number = _number(positive)
        _expect(number is not None, data, name, positive, "numbers")
        if dtype == nw.Float32 and number is not None:  # 0.1 names the float32 that was written as 0.1
            number = float(round_to(float(number), "float32"))
        return _code(data, name, values == number, absent, positive)
    if dtype == nw.Categorical and positive is not None:  # categories may be numbers: compared by their spelling
        return _code(data, name, values.cast(nw.String) == str(positive), values.is_null(), positive)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        _expect(isinstance(positive, str), data, name, positive, "text")
        return _code(data, name, values.cast(nw.String) == positive, values.is_null(), positive)
    _refuse_absent(data, name)
    raise AuditInputError(f"label {name!r} has type {dtype}; use true/false, 0/1, or text with positive=…")


def _number(positive: Any) -> int | float | None:
    """``positive`` as a plain number that every engine can compare, or None if it is none."""
    value = positive.item() if isinstance(positive, np.generic) else positive
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return None
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _refuse_absent(data: Any, name: str) -> None:
    if rows := all_missing(data, name):
        raise AuditInputError(_absent(name, rows, rows))


def _code(data: Any, name: str, match: nw.Expr, absent: nw.Expr, positive: Any) -> LabelCode:
    code = nw.when(absent).then(MISSING).otherwise(nw.when(match).then(1).otherwise(0))
    return LabelCode(name, code, "True" if positive is None else str(positive), positive is not None, data)


def _expect(fits: bool, data: Any, name: str, positive: Any, kind: str) -> None:
    if not fits:
        _refuse_absent(data, name)
        given = "positive= says which value counts" if positive is None else f"positive={positive!r} is of another type"
        raise AuditInputError(
            f"label {name!r} holds {kind} ({shown_values(data, name)}); {given}: pass positive= one of the values."
        )


def _object_code(data: Any, name: str, positive: Any) -> LabelCode:
    """A pandas object column of booleans or numbers, as a boolean or float column; anything else is refused."""
    values = computed(data.select(nw.col(name)).collect)[name].to_list()
    present = [value for value, gone in zip(values, pd.isna(objects(values)), strict=True) if not gone]
    if len(present) < len(values):
        raise AuditInputError(_absent(name, len(values) - len(present), len(values)))
    for kinds, dtype in ((bool | np.bool_, nw.Boolean()), (bool | np.bool_ | Real | Decimal, nw.Float64())):
        if present and all(isinstance(value, kinds) for value in present):
            return label_code(data.with_columns(nw.col(name).cast(dtype)), name, dtype, positive)
    shown = ", ".join(list(dict.fromkeys(map(repr, sorted(present, key=str))))[:10])
    raise AuditInputError(
        f"label {name!r} holds values of several types ({shown}); make them 0/1, or text with positive=…"
    )
