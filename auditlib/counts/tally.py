"""Distinct values and distinct rows of pandas columns, told apart by type and to the last character."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from auditlib.errors import AuditInputError

#: Kinds of Python objects of which pandas takes no two for one value.
PURE = ("string", "boolean", "integer", "floating", "bytes", "date", "datetime", "datetime64", "empty")

#: Tables of partitions that are joined in one step.
TOGETHER = 16


def factorize(values: pd.Series | np.ndarray) -> tuple[np.ndarray, Any]:
    """Code of each value (-1 where missing) and the distinct values.

    pandas alone ends text at a NUL ("a" and "a\\0b" are one to it), and takes True, 1 and 1.0 for one value.
    """
    text = isinstance(values.dtype, pd.StringDtype) and values.dtype.storage == "python"
    if values.dtype != object and not text:
        return pd.factorize(values)
    held = np.asarray(values, dtype=object)
    if _plain_text(held):
        return pd.factorize(held)
    if pd.api.types.infer_dtype(held, skipna=True) not in PURE:
        return _by_type(held)
    codes, found = pd.factorize(np.concatenate([held, [None]]))  # what is not all text is compared whole
    return codes[:-1], found


def _plain_text(values: np.ndarray) -> bool:
    """Whether all are text without a NUL, the common case, in which pandas is right and fastest."""
    try:
        return "\0" not in "".join(values)
    except TypeError:
        return False


def _by_type(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    found: dict[tuple[type, Any], int] = {}
    codes = np.full(len(values), -1, dtype=np.int64)
    for place in np.flatnonzero(~pd.isna(values)):
        value = values[place].item() if isinstance(values[place], np.generic) else values[place]
        codes[place] = found.setdefault((type(value), value), len(found))
    return codes, objects([value for _, value in found])


def objects(values: Sequence[Any]) -> np.ndarray:
    """Values as a one-dimensional array of Python objects, whatever they are."""
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):  # at once, lists of one length would become rows
        array[place] = value
    return array


def tally(frame: pd.DataFrame, names: Mapping[str, str], times: np.ndarray | None = None) -> pd.DataFrame:
    """Distinct rows and how often each occurs, ``n``; pandas' own ``groupby(…).size()`` takes twice as long.

    ``names`` says what to call a column whose values cannot be compared; ``times`` how often each row is there.
    """
    key, size = np.zeros(len(frame), dtype=np.int64), 1
    for name in frame.columns:
        try:
            codes, levels = factorize(frame[name])
        except TypeError:
            raise AuditInputError(f"{names[name]} holds lists, sets or dicts; make them text.") from None
        width = len(levels) + 1
        if size * width >= 2**62:
            key, size = pd.factorize(key)[0], len(frame)
        key, size = key * width + codes + 1, size * width
    code, found = pd.factorize(key)
    first = np.empty(len(found), dtype=np.int64)
    first[code[::-1]] = np.arange(len(frame))[::-1]  # of repeated places the last one written stays
    n = np.bincount(code, weights=times, minlength=len(found))  # sums of whole floats are exact below 2**53
    return frame.iloc[first].assign(n=n.astype(np.int64))


def tally_parts(frame: Any, names: Mapping[str, str]) -> pd.DataFrame:
    """``tally`` of a Dask dataframe: of each partition where it lies, then of a few tables at a time; one comes here.

    Dask's own ``groupby`` loses rows whose category is missing, and takes True, 1 and 1.0 for one value.
    """
    from dask import compute, delayed

    tables = [delayed(tally)(part, names) for part in frame.to_delayed()]
    while len(tables) > 1:
        tables = [delayed(_joined)(tables[at : at + TOGETHER], names) for at in range(0, len(tables), TOGETHER)]
    found: pd.DataFrame = compute(tables[0])[0]
    return found


def _joined(parts: Sequence[pd.DataFrame], names: Mapping[str, str]) -> pd.DataFrame:
    tables = [table for table in parts if len(table)] or parts[:1]
    # Column by column, because pandas warns where one is missing throughout a part.
    whole = {name: pd.concat([table[name] for table in tables], ignore_index=True) for name in tables[0].columns}
    times = whole.pop("n").to_numpy()
    return tally(pd.DataFrame(whole), names, times)
