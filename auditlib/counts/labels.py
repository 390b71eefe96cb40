"""Which label counts as positive, decided in the engine and checked here."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
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
MOST = 10  # values named in a message
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII)
TRUTHS = {"true": Decimal(1), "false": Decimal(0)}


@dataclass(frozen=True)
class LabelCode:
    """An expression that gives 1, 0, −1 (missing) or −2 (neither), and what to say of the last two."""

    name: str
    expression: nw.Expr
    positive: str
    named: bool
    data: Any
    kind: str = "number"  # "truth", "number" or "text"

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

    def values_to_count(self) -> Any:
        """The column of labels, whose values other than the positive one are worth a look; None if they are not."""
        if not self.named or self.kind == "truth":
            return None
        return self.data.select(column(self.data, self.name).alias("value"), self.expression.alias("code"))

    def others(self, values: Sequence[Any], codes: Sequence[int], n: Sequence[int]) -> dict[str, int]:
        """Rows of each value that is not the positive one; an error if one of them nearly is."""
        found = {_spelled(value): (code, times) for value, code, times in zip(values, codes, n, strict=True)}
        if self.kind == "text":
            check_near(self.name, self.positive, {value: times for value, (_, times) in found.items()})
        return {value: times for value, (code, times) in found.items() if code != 1}

    def values(self) -> str:
        """Up to ten values of the label, for a message."""
        return shown_values(self.data, self.name)


def text_key(text: str) -> str:
    """A text without what is easily overlooked: spaces, capitals, invisible signs, the coding of letters.

    >>> text_key(" Yes\u200b") == text_key("yes"), text_key("e\u0301") == text_key("\u00e9")
    (True, True)
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    seen = "".join(letter for letter in folded if unicodedata.category(letter) != "Cf")
    return " ".join(seen.split())


def value_key(text: str) -> str | Decimal:
    """What a label's value says: a number, the truth as a number, or its ``text_key``.

    >>> value_key("TRUE") == value_key("1.0") == 1, value_key("Yes ")
    (True, 'yes')
    """
    key = text_key(text)
    if not NUMBER.fullmatch(key):
        return TRUTHS.get(key, key)
    try:
        return Decimal(key)
    except InvalidOperation:  # an exponent of more digits than a Decimal holds: the spelling is all there is
        return key


def check_near(name: str, positive: str, found: Mapping[str, int]) -> None:
    """An error if a value that is not ``positive`` says the same: it would count as no outcome.

    Raises
    ------
    AuditInputError
        Naming the values and how many rows hold each.
    """
    key = value_key(positive)
    near = {value: n for value, n in found.items() if value != positive and value_key(value) == key}
    if near:
        held = sorted(near.items(), key=lambda item: (-item[1], item[0]))
        said = ", ".join(f"{value[:60]!r} ({n:,} rows)" for value, n in held[:MOST])
        more = f" and {len(held) - MOST:,} more" if len(held) > MOST else ""
        raise AuditInputError(
            f"label {name!r}: {said}{more} would count as no outcome beside {positive[:60]!r} "
            f"({found.get(positive, 0):,} rows), though they seem to say the same; write them alike."
        )


def _spelled(value: Any) -> str:
    """A value as ``positive`` is spelled: a whole number has no decimals."""
    return str(int(value)) if isinstance(value, float | np.floating) and float(value).is_integer() else str(value)


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
        return _code(data, name, values == bool(wanted), values.is_null(), positive, "truth")
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
        return _code(data, name, values.cast(nw.String) == str(positive), values.is_null(), positive, "text")
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        _expect(isinstance(positive, str), data, name, positive, "text")
        return _code(data, name, values.cast(nw.String) == positive, values.is_null(), positive, "text")
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


def _code(data: Any, name: str, match: nw.Expr, absent: nw.Expr, positive: Any, kind: str = "number") -> LabelCode:
    code = nw.when(absent).then(MISSING).otherwise(nw.when(match).then(1).otherwise(0))
    called = "True" if positive is None else _spelled(positive)
    return LabelCode(name, code, called, positive is not None, data, kind)


def _expect(fits: bool, data: Any, name: str, positive: Any, kind: str) -> None:
    if not fits:
        _refuse_absent(data, name)
        given = "positive= says which value counts" if positive is None else f"positive={positive!r} is of another type"
        held, advice = shown_values(data, name), "pass positive= one of the values"
        if positive is not None and kind == "text" and repr(_spelled(positive)) in held:
            advice = f"pass it as text, positive={_spelled(positive)!r}"
        raise AuditInputError(f"label {name!r} holds {kind} ({held}); {given}: {advice}.")


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
