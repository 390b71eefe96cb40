"""Multiverses: what is left when some choices are held, as a picture and in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from auditlib.errors import AuditInputError
from auditlib.multiverse.summaries import sign_counts
from auditlib.plots import checks, style
from auditlib.plots.multiverse import ANY, BARS, LIMITS, SIDES, Names, ordered, sides


def holding(rows: pd.DataFrame, chosen: Mapping[str, Any], *, label: str = "Sensitivity gap") -> Figure:
    """The estimates of the specifications that have the chosen choices, by the side of zero on which intervals lie.

    How many estimates and intervals lie on either side stands under the axis.

    Parameters
    ----------
    rows : DataFrame
        As in ``specification_curve``.
    chosen : mapping of axis to a choice, or to "any"

    Raises
    ------
    AuditInputError
        For missing columns, a choice that no row has, or no estimate.

    Examples
    --------
    >>> rows = pd.DataFrame({"seed": [1, 2], "estimate": [0.1, -0.1], "low": [-0.1, -0.3], "high": [0.3, 0.1]})
    >>> print(holding(rows, {"seed": 2}).axes[0].get_xlabel())
    Sensitivity gap (1 of 2 specifications)
    0 positive, 0 zero, 1 negative
    intervals: 0 above zero, 1 contain it, 0 below
    """
    every, held = ordered(rows, [*chosen, *LIMITS]), ordered(_having(rows, chosen), LIMITS)
    low, high = every["estimate"].clip(upper=0).min(), every["estimate"].clip(lower=0).max()
    step = (high - low or 1.0) / BARS
    edges = step * np.arange(np.floor(low / step), np.ceil(high / step + 1e-9) + 1)  # none crosses zero
    figure, ax = plt.subplots(figsize=(style.WIDTH, 4.0))
    base: Any = 0
    for name, colour in SIDES.items():
        height = np.histogram(held.loc[sides(held) == name, "estimate"], edges)[0]
        ax.bar(edges[:-1], height, step, base, align="edge", color=colour, label=f"interval {name}")
        base = base + height
    ax.stairs(np.histogram(every["estimate"], edges)[0], edges, color=style.INK, lw=1, label="all specifications")
    ax.axvline(0, color=style.REFERENCE, lw=1, ls="--")
    n = sign_counts(held)["n"]
    ax.set_xlabel(
        f"{label} ({len(held):,} of {len(every):,} specifications)\n"
        f"{n['positive']:,} positive, {n['zero']:,} zero, {n['negative']:,} negative\n"
        f"intervals: {n['interval above zero']:,} above zero, {n['interval contains zero']:,} contain it, "
        f"{n['interval below zero']:,} below"
    )
    ax.set_ylabel("Specifications")
    ax.grid(axis="x", visible=False)
    ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=2, framealpha=0, columnspacing=1.2)
    return figure


def holding_words(rows: pd.DataFrame, chosen: Mapping[str, Any], names: Names | None = None) -> str:
    """The same in words: how many specifications, and how their estimates and intervals lie to zero.

    Examples
    --------
    >>> rows = pd.DataFrame({"seed": [1, 2], "estimate": [0.1, -0.1], "low": [-0.1, -0.3], "high": [0.3, 0.1]})
    >>> holding_words(rows, {"seed": 2})
    'seed 2: of 1 estimates 0 positive and 1 negative; intervals above zero 0, below 0, containing it 1.'
    """
    held = _having(rows, chosen)
    n = sign_counts(held)["n"]
    kept = [[(names or {}).get(str(x), str(x)) for x in pair] for pair in chosen.items() if pair[1] != ANY]
    told = ", ".join(map(" ".join, kept)) or "all choices"
    return (
        f"{told}: of {n[['positive', 'negative', 'zero']].sum():,} estimates {n['positive']:,} positive and "
        f"{n['negative']:,} negative; intervals above zero {n['interval above zero']:,}, below "
        f"{n['interval below zero']:,}, containing it {n['interval contains zero']:,}."
    )


def _having(rows: pd.DataFrame, chosen: Mapping[str, Any]) -> pd.DataFrame:
    checks.columns(rows, chosen, "run_multiverse(…).rows")
    for axis, choice in chosen.items():
        there = dict.fromkeys(rows[axis])
        if choice != ANY and choice not in there:
            raise AuditInputError(f"{axis} = {choice!r}: no row left has it; there is {', '.join(map(str, there))}.")
        rows = rows if choice == ANY else rows[rows[axis] == choice]
    return rows
