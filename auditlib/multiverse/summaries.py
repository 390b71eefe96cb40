"""What a multiverse shows: on which side of zero its estimates lie, and the shortest ways to either side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from auditlib.errors import AuditInputError
from auditlib.metrics import small

LIMITS = ("estimate", "low", "high")


def sign_counts(rows: pd.DataFrame) -> pd.DataFrame:
    """How many specifications have an estimate, and an interval, on either side of zero.

    Specifications are not a sample of anything: these counts describe the grid, change with it (counting one choice
    twice changes them), and give no p-value.

    Parameters
    ----------
    rows : DataFrame
        One row a specification: ``estimate``, ``low``, ``high`` and, where some may have failed, ``error`` ("" or the
        message).

    Returns
    -------
    DataFrame of ``n``, ``of`` and ``share`` = n/of (NaN of 0). Estimates ``positive``, ``negative`` and ``zero`` are
    counted of those defined; ``interval above zero``, ``below`` and ``contains`` of those with an interval;
    ``undefined`` (ran, but has no estimate) and ``failed`` of all.

    Raises
    ------
    AuditInputError
        For missing columns, no row, or estimates that are no numbers.

    References
    ----------
    Steegen et al. 2016; Simonsohn, Simmons, Nelson 2020.

    Examples
    --------
    >>> rows = pd.DataFrame({"estimate": [0.1, -0.2, np.nan], "low": [-0.1, -0.3, np.nan], "high": [0.3, -0.1, np.nan],
    ...                      "error": ["", "", "no positives"]})
    >>> sign_counts(rows).loc[["positive", "interval below zero", "failed"]].values.tolist()
    [[1.0, 2.0, 0.5], [1.0, 2.0, 0.5], [1.0, 3.0, 0.3333333333333333]]
    """
    held = checked(rows, LIMITS)
    estimate, low, high = (held[name].to_numpy(float) for name in LIMITS)
    failed, defined = _failed(held), defined_rows(held)
    limited = defined & np.isfinite(low) & np.isfinite(high)
    everything = np.ones(len(held), dtype=bool)
    lines = {
        "positive": (estimate > 0, defined),
        "negative": (estimate < 0, defined),
        "zero": (estimate == 0, defined),
        "interval above zero": (low > 0, limited),
        "interval below zero": (high < 0, limited),
        "interval contains zero": ((low <= 0) & (high >= 0), limited),
        "undefined": (~defined & ~failed, everything),
        "failed": (failed, everything),
    }
    counts = {name: (int((which & among).sum()), int(among.sum())) for name, (which, among) in lines.items()}
    found = pd.DataFrame.from_dict(counts, orient="index", columns=["n", "of"])
    return found.assign(share=found["n"] / found["of"].where(found["of"] > 0))


def small_groups(rows: pd.DataFrame) -> pd.Series:
    """Which specifications rest on a small group: under 30 positives or negatives, or a confusion count under 5.

    Parameters
    ----------
    rows : DataFrame
        One row a specification: ``tp_a``, ``fp_a``, ``fn_a``, ``tn_a`` and the same of group ``b``. One without counts
        (it failed) is not small.

    Raises
    ------
    AuditInputError
        For missing columns, or no row.

    Examples
    --------
    >>> cells = {"tp_a": [40, 40], "fp_a": [40, 40], "fn_a": [40, 4], "tn_a": [40, 40]}
    >>> rows = pd.DataFrame(cells | {"tp_b": 40, "fp_b": 40, "fn_b": 40, "tn_b": 40})
    >>> small_groups(rows).tolist()
    [False, True]
    """
    cells = ("tp", "fp", "fn", "tn")
    held = checked(rows, [f"{cell}_{group}" for group in "ab" for cell in cells])
    tables = [{cell: held[f"{cell}_{group}"].to_numpy(float) for cell in cells} for group in "ab"]
    return pd.Series(np.any([small(table) for table in tables], axis=0), index=held.index)


def forks(rows: pd.DataFrame, default: Mapping[str, Any]) -> pd.DataFrame:
    """The shortest ways from the default to an estimate of either sign, and to an interval that excludes zero.

    Parameters
    ----------
    rows : DataFrame
        One row a specification: a column an axis, ``estimate``, ``low``, ``high`` (and ``error``).
    default : mapping of every axis to its choice
        Such as ``grid.default``.

    Returns
    -------
    DataFrame with a row for each specification that has the ``sign`` ("positive" or "negative") and the ``interval``
    ("any", or "excludes zero") with the fewest ``changes`` from the default: which ones (``changed``, "" for the
    default itself), ``estimate``, ``low``, ``high``; all of them where several tie. The index is that of ``rows``. What
    no specification has, has no row.

    Raises
    ------
    AuditInputError
        For missing columns, an unknown axis, a choice that no row has, several rows of one specification, or no defined
        estimate.

    References
    ----------
    Gelman & Loken 2014 (forking paths).

    Examples
    --------
    >>> rows = pd.DataFrame({"family": list("aabb"), "seed": [1, 2, 1, 2], "estimate": [0.1, -0.1, 0.3, -0.4],
    ...                      "low": [-0.1, -0.3, 0.1, -0.5], "high": [0.3, 0.1, 0.5, -0.3]})
    >>> forks(rows, {"family": "a", "seed": 1})[["sign", "interval", "changes", "changed"]].values.tolist()[2:]
    [['negative', 'any', 1, 'seed: 2'], ['negative', 'excludes zero', 2, 'family: b, seed: 2']]
    """
    if not isinstance(default, Mapping):
        raise AuditInputError(f"default: give the choice of every axis, such as grid.default, not {default!r}.")
    axes = check_axes(default)
    held = checked(rows, [*axes, *LIMITS])
    if absent := [axis for axis in axes if not (held[axis] == default[axis]).any()]:
        raise AuditInputError(f"default: no row has {absent[0]} = {default[absent[0]]!r}.")
    if twice := int(held.duplicated(axes).sum()):
        raise AuditInputError(
            f"default: {twice} rows have the same choices as another; name every axis, keep one each."
        )
    if not (defined := defined_rows(held)).any():
        raise AuditInputError(f"none of {len(held)} specifications has an estimate: no path leads to a sign.")
    changed = pd.DataFrame({axis: held[axis] != default[axis] for axis in axes})
    changes, side = changed.sum(axis=1), np.sign(held["estimate"]).where(defined, 0)
    apart = np.sign(held["low"]).eq(side) & np.sign(held["high"]).eq(side)
    parts = []
    for sign, where in {"positive": side > 0, "negative": side < 0}.items():
        for interval, has in {"any": where, "excludes zero": where & apart}.items():
            nearest = held[has & (changes == changes[has].min())]
            ways = [_way(held.loc[k, axes], changed.loc[k]) for k in nearest.index]
            head = {"sign": sign, "interval": interval, "changes": changes[nearest.index], "changed": ways}
            parts.append(nearest[list(LIMITS)].assign(**head))
    return pd.concat(parts)[["sign", "interval", "changes", "changed", *LIMITS]]


def _way(choices: pd.Series, changed: pd.Series) -> str:
    return ", ".join(f"{axis}: {choices[axis]}" for axis in choices.index if changed[axis])


def check_axes(axes: Any) -> list[str]:
    if isinstance(axes, str) or not isinstance(axes, Iterable) or not (names := list(axes)):
        raise AuditInputError(f"axes: give the names of the columns with choices, as a list, not {axes!r}.")
    if len(set(names)) < len(names):
        raise AuditInputError("axes: an axis is named twice; name each once.")
    return names


def checked(rows: Any, names: Iterable[str]) -> pd.DataFrame:
    if not isinstance(rows, pd.DataFrame) or rows.empty:
        raise AuditInputError("rows: give a DataFrame with one row a specification, such as run_multiverse(…).rows.")
    if missing := [str(name) for name in names if name not in rows]:
        check_ran(rows)
        raise AuditInputError(f"rows: no column {', '.join(missing)}; there are {', '.join(map(str, rows))}.")
    if rows.index.has_duplicates:
        raise AuditInputError("rows: several rows have one label; number them with .reset_index(drop=True).")
    if text := [name for name in LIMITS if name in rows and rows[name].dtype.kind not in "iuf"]:
        raise AuditInputError(f"rows: {text[0]} must hold numbers, NaN where there is none, not {rows[text[0]].dtype}.")
    return rows


def check_ran(rows: pd.DataFrame) -> None:
    """An error with the first message where every specification failed: a table of errors has no estimates."""
    if (failed := _failed(rows)).all():
        raise AuditInputError(f"rows: all {len(failed)} specifications failed, the first: {rows['error'].iloc[0]}")


def _failed(rows: pd.DataFrame) -> np.ndarray:
    """Rows with a message; a table read back may hold NaN for none."""
    said = rows["error"].fillna("") if "error" in rows else pd.Series("", rows.index)
    return (said.astype(str).str.strip() != "").to_numpy()


def defined_rows(rows: pd.DataFrame) -> np.ndarray:
    return np.isfinite(rows["estimate"].to_numpy(float)) & ~_failed(rows)
