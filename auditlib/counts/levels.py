"""Group values as strings, in an order that does not depend on the engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa

from auditlib.counts.tally import factorize, objects
from auditlib.errors import AuditInputError

MISSING_LEVEL = "missing"
#: Names that tables and results use themselves, as dims, coordinates or variables.
RESERVED = (
    "label", "bin", "threshold", "replicate", "model", "pattern", "units", "n",
    "tp", "fp", "fn", "tn", "cell", "cell_", "unit_moments", "clustered_by", "expected_at",
    "estimate", "low", "high", "deff", "n_effective", "undefined", "c", "n_a", "n_b", "patients", "se", "form", "point",
    "band_low", "band_high", "left_out", "small",
    "net_benefit", "none", "prevalence", "effect", "burden", "performance", "total", "value",
    "overall", "overall_none", "snb", "snb_level", "flagged", "flagged_overall", "flagged_level", "flagged_rest",
    "threshold_level", "threshold_rest", "unused", "lowest", "optimism", "apparent", "refits", "mc_error",
)  # fmt: skip


def check_name(name: str) -> None:
    """An error if ``name`` cannot name a group."""
    if name in RESERVED or name.startswith("bin."):
        raise AuditInputError(f"{name!r} cannot name a group, because tables and results use it; rename the column.")


def check_names(dims: Iterable[Any], taken: Iterable[str], what: str) -> None:
    """An error if a dim of the input has a name that the results of ``what`` use themselves.

    Such names are not ``RESERVED``: a table may be counted by them, and all that does not use them works.

    >>> check_names(["sex", "race"], ["metric", "size"], "settling_size")
    """
    held = set(taken)
    if clash := [str(dim) for dim in dims if str(dim) in held]:
        names = " and ".join(map(repr, clash))
        raise AuditInputError(
            f"{what}: its results use the name {names} themselves, so no group can be called so; rename the column "
            "before counting, or the dim of a table with .rename(…)."
        )


def check_levels(what: str, each: str, dim: str, given: Sequence[str], levels: Sequence[str]) -> None:
    """An error unless ``given``, for which ``what`` has one ``each``, are the ``levels`` of ``dim``, in any order."""
    missing = [level for level in levels if level not in given]
    unknown = [level for level in given if level not in levels]
    twice = len(set(given)) < len(given)
    if missing or unknown or twice:
        parts = [f"no {each} for {', '.join(map(repr, missing))}"] if missing else []
        parts += [f"unknown: {', '.join(map(repr, unknown))}"] if unknown else []
        parts += ["a level is named twice"] if twice else []
        raise AuditInputError(f"{what} by {dim!r}: {'; '.join(parts)}. The levels are {', '.join(map(repr, levels))}.")


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
    _check_floats(what, name, distinct)
    spelled = [_spelled(value) for value in distinct]
    if what == "group" and (nul := [text for text in spelled if "\0" in text]):
        raise AuditInputError(f"group {name!r}: {nul[0]!r} holds a NUL and cannot be written as text; rename it.")
    if twice := _twice(distinct, [*spelled, MISSING_LEVEL] if absent.any() else spelled):
        raise AuditInputError(
            f"{what} {name!r}: different values have one spelling ({', '.join(map(repr, twice))}); make them one type."
        )
    order = np.array(_order(values, distinct, spelled), dtype=np.int64)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    levels = tuple(spelled[i] for i in order) + ((MISSING_LEVEL,) if absent.any() else ())
    code = np.where(absent, len(order), rank[codes]) if len(order) else np.zeros(len(codes), dtype=np.int64)
    return levels, code


def _spelled(value: Any) -> str:
    """A value as text, whatever else the column holds and whichever engine hands it over.

    A whole float is spelled as a whole number, an instant in UTC, bytes as the text they hold.
    """
    if isinstance(value, float | np.floating) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime) and value.tzinfo is not None:
        return str(value.astimezone(UTC))
    if isinstance(value, pa.MonthDayNano) and not value.months:  # DuckDB's interval
        return str(pd.Timedelta(days=value.days) + pd.Timedelta(value.nanoseconds))
    if isinstance(value, timedelta):
        return str(pd.Timedelta(value))
    if isinstance(value, bytes | bytearray):
        with suppress(UnicodeDecodeError):
            return value.decode()
    return str(value)


def _twice(distinct: np.ndarray, names: list[str]) -> list[str]:
    """Spellings shared by values, and those of values of different types that are equal (True and 1)."""
    spellings, equals = Counter(names), Counter(list(distinct))
    if len(spellings) == len(names) and len(equals) == len(distinct):
        return []
    alike = {text for value, text in zip(distinct, names, strict=False) if equals[value] > 1}
    return sorted(alike | {text for text, times in spellings.items() if times > 1})


def _check_floats(what: str, name: str, distinct: np.ndarray) -> None:
    """No float is so large that neighbouring whole numbers have become one."""
    merged = [value for value in distinct if _too_large(value)]
    if merged:
        raise AuditInputError(
            f"{what} {name!r}: {len(merged):,} values, such as {float(merged[0])!r}, are floats too large for "
            "neighbouring whole numbers to be told apart (a missing value turns whole numbers into floats in pandas); "
            "read the column as Int64 or as text."
        )


def _too_large(value: Any) -> bool:
    if not isinstance(value, float | np.floating) or not value.is_integer():
        return False
    return abs(float(value)) >= (2**24 if isinstance(value, np.float32) else 2**53)


def _factorize(values: Any) -> tuple[np.ndarray, np.ndarray]:
    """Code of each value (-1 where missing) and the distinct values as Python objects."""
    # Whole numbers without a gap are the one kind that NumPy holds as it is.
    if isinstance(values, nw.Series) and values.dtype.is_integer() and not values.is_null().any():
        codes, found = pd.factorize(values.to_numpy())
        return codes, found.astype(object)
    if isinstance(values, nw.Series) and values.dtype == nw.Float32:  # to_list would hide how few digits they have
        return factorize(objects(list(values.to_numpy())))
    return factorize(objects(values.to_list() if isinstance(values, nw.Series) else list(values)))


def _order(values: Any, distinct: np.ndarray, spelled: list[str]) -> list[int]:
    """Declared order of an ordered categorical, otherwise numbers by size and text by spelling."""
    declared = _declared(values)
    if declared is not None:
        place = {value: at for at, value in enumerate(declared)}
        return sorted(range(len(distinct)), key=lambda i: place[distinct[i]])
    if all(isinstance(value, int | float | np.number) for value in distinct):
        return sorted(range(len(distinct)), key=lambda i: distinct[i])
    return sorted(range(len(distinct)), key=spelled.__getitem__)


def _declared(values: Any) -> list[Any] | None:
    if not isinstance(values, nw.Series):
        return None
    native = values.to_native()
    if isinstance(native, pd.Series) and isinstance(native.dtype, pd.CategoricalDtype):
        return native.dtype.categories.tolist() if native.dtype.ordered else None
    return list(values.dtype.categories) if isinstance(values.dtype, nw.Enum) else None
