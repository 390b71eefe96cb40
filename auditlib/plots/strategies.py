"""What a model looks like on the rows it was fitted to, and what it is worth: estimates beside the truth."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy import stats

from auditlib.benefit.core import UNIT
from auditlib.errors import AuditInputError
from auditlib.plots import checks, style

PER = f"per {UNIT:,}"
METHODS = ("apparent", "corrected", "cross-validated", "held-out", "true")  # each has its colour on all figures
LIMITS = ("estimate", "low", "high")
SHOWN = {"apparent": "apparent", "corrected": "corrected", "truth": "true"}


def lines(found: xr.Dataset, series: str, dim: str, truth: xr.DataArray | None = None) -> pd.DataFrame:
    """Rows of ``judged`` from the Dataset of an interval, per 10,000.

    Parameters
    ----------
    found : Dataset
        ``estimate``, ``low`` and ``high`` over ``dim`` alone.
    series : str
        How the estimate was made.
    dim : str
    truth : DataArray, optional
        Over ``dim``.

    Raises
    ------
    AuditInputError
        For other dims, or a truth of other groups.

    Examples
    --------
    >>> import auditlib as al
    >>> found = al.benefit_interval(al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25"), 0.15, 0.58)
    >>> lines(found, "held-out", "group").round().values.tolist()
    [['Women', 'held-out', 9287.0, 9157.0, 9417.0], ['Men', 'held-out', 9095.0, 8963.0, 9227.0]]
    """
    checks.over(found, [dim], LIMITS)
    held = found[list(LIMITS)]
    if truth is not None:
        true = truth.to_dataset(name="truth")
        checks.over(true, [dim], ["truth"])
        held = held.assign(truth=checks.aligned(held, true, [dim], "truth", "the interval")["truth"])
    table = UNIT * held.reset_coords(drop=True).to_dataframe()
    table.insert(0, "series", series)
    return table.rename_axis("name").reset_index()


def judged(table: pd.DataFrame, *, label: str = f"sNB {PER}", ax: Axes | None = None) -> Axes:
    """Estimates of the same thing in several ways, with intervals, and a bar where the truth is.

    Parameters
    ----------
    table : DataFrame of ``lines``
        Columns ``name``, ``series``, ``estimate``, ``low``, ``high`` and, where it is known, ``truth``. Series of
        ``METHODS`` stand in that order.
    label : str
        For the axis.

    Raises
    ------
    AuditInputError
        For missing columns or no row, or more series than there are colours.

    Examples
    --------
    >>> table = pd.DataFrame({"name": "A", "series": ["apparent", "corrected"], "estimate": [9300, 9200],
    ...                       "low": [9200, 9100], "high": [9400, 9300], "truth": 9210})
    >>> judged(table).get_legend_handles_labels()[1]
    ['apparent', 'corrected', 'truth']
    """
    checks.columns(table, ("name", "series", *LIMITS), "strategies.lines")
    names, series = list(dict.fromkeys(table["name"])), list(dict.fromkeys(table["series"]))
    known = METHODS if set(series) <= set(METHODS) else series
    series = [name for name in known if name in series]
    colours, step = style.group_colours(known), 0.72 / max(len(series), 2)
    ax = ax or plt.subplots(figsize=(style.WIDTH, 1.2 + 0.17 * len(names) * (1 + len(series))))[1]
    for k, name in enumerate(series):
        rows = table[table["series"] == name]
        place = len(names) - 1 - np.array([names.index(one) for one in rows["name"]])
        place = place + step * ((len(series) - 1) / 2 - k)
        ax.hlines(place, rows["low"], rows["high"], color=colours[name], lw=2.5)
        mark = "osD^vP"[known.index(name)]
        ax.plot(rows["estimate"], place, mark, color=colours[name], ms=5.5, label=style.plain(name))
        if "truth" in rows:
            said = "truth" if name == series[-1] else None
            ax.plot(rows["truth"], place, "|", color=style.INK, ms=11, mew=2, label=said)
    ax.set_yticks(np.arange(len(names))[::-1], [style.plain(name) for name in names])
    ax.set_ylim(-0.6, len(names) - 0.4)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(label)
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=3, handletextpad=0.3, columnspacing=1.2)
    return ax


def errors(table: pd.DataFrame, by: str, series: str = "method", *, controlled: bool = False) -> Axes:
    """Mean error of each way of judging a model, with 95% Monte-Carlo limits.

    Parameters
    ----------
    table : DataFrame
        Columns ``error`` and ``error_se`` per 10,000 (or ``controlled`` and ``controlled_se``), as in the table of the
        study ``optimism``; its ``seeds`` choose Student's law for the limits.
    by, series : str
        Columns that name the rows and the series.
    controlled : bool
        Draw ``controlled``.

    Raises
    ------
    AuditInputError
        For missing columns or no row, or more series than there are colours.

    Examples
    --------
    >>> table = pd.DataFrame({"strategy": "NoSA", "method": ["apparent", "corrected"], "error": [30.0, 2.0],
    ...                       "error_se": [4.0, 4.0]})
    >>> errors(table, "strategy").get_xlabel()
    'Estimate minus truth, per 10,000'
    """
    value = "controlled" if controlled else "error"
    checks.columns(table, (by, series, value, f"{value}_se"), "the study optimism")
    half = _quantile(table) * table[f"{value}_se"]
    shown = pd.DataFrame(
        {
            "name": table[by],
            "series": table[series],
            "estimate": table[value],
            "low": table[value] - half,
            "high": table[value] + half,
        }
    )
    ax = judged(shown, label=f"Estimate minus truth, {PER}")
    ax.axvline(0, color=style.REFERENCE, lw=1.2, ls="--", zorder=1)  # over the grid
    return ax


def by_size(table: pd.DataFrame, n: int, group: str) -> Figure:
    """What fitting to `n` people makes of each strategy in a group: apparent, corrected and true, below the best.

    Means over simulated samples, minus the benefit of the true risk, with 95% Monte-Carlo limits. The errors of the
    estimates are the controlled ones.

    Parameters
    ----------
    table : DataFrame
        Of the study ``optimism_sizes``.
    n : int
        A size in it.
    group : str
        A group in it.

    Raises
    ------
    AuditInputError
        For a size or a group that is not in the table, or a strategy without both methods there, once each.

    Examples
    --------
    >>> from auditlib import studies
    >>> figure = by_size(studies.study_table("optimism_sizes"), 2000, "D")
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['NoSA', 'SingleSA', 'OneEach', 'MultiSA']
    """
    rows = sizes(table, n, group)
    figure, ax = plt.subplots(figsize=(style.WIDTH, 3.8))
    ax.axvline(0, color=style.REFERENCE, lw=1.2, ls="--")
    judged(rows, label=f"sNB minus that of the true risk, {PER}", ax=ax)
    every = pd.concat([sizes(table, size, group) for size in sorted(set(table["n"]))])
    pad = 0.05 * (every["high"].max() - every["low"].min())
    ax.set_xlim(every["low"].min() - pad, max(every["high"].max(), 0) + pad)
    return figure


def sizes(table: pd.DataFrame, n: int, group: str) -> pd.DataFrame:
    """The rows that ``by_size`` draws.

    Examples
    --------
    >>> from auditlib import studies
    >>> sizes(studies.study_table("optimism_sizes"), 2000, "D")["series"].tolist()[:3]
    ['apparent', 'corrected', 'true']
    """
    needed = ("n", "group", "strategy", "method", "best", "truth", "truth_se", "controlled", "controlled_se")
    checks.columns(table, needed, "the study optimism_sizes")
    at = table[(table["n"] == n) & (table["group"] == group) & table["best"].notna()]  # not the differences
    if at.empty:
        known = f"n of {sorted(set(table['n']))} and group of {sorted(set(table['group']))}"
        raise AuditInputError(f"n = {n!r}, group = {group!r}: not in the table; there is {known}.")
    parts = []
    for strategy, held in at.groupby("strategy", sort=False):
        by = held.set_index("method")
        if sorted(set(SHOWN) & set(by.index)) != ["apparent", "corrected"] or by.index.has_duplicates:
            raise AuditInputError(
                f"{strategy}: one row for apparent and one for corrected are needed, not {[*by.index]}."
            )
        below = by["truth"] - by["best"]
        for key, name in SHOWN.items():
            row = by.loc["apparent" if key == "truth" else key]
            value, se = (0.0, row["truth_se"]) if key == "truth" else (row["controlled"], row["controlled_se"])
            value += below["apparent"]
            half = float(_quantile(by).iloc[0]) * se
            parts.append((strategy, name, value, value - half, value + half))
    return pd.DataFrame(parts, columns=["name", "series", "estimate", "low", "high"])


def _quantile(table: pd.DataFrame) -> pd.Series:
    """97.5% quantile for the mean of as many samples as ``seeds`` says; the normal one where it says nothing."""
    seeds = table["seeds"] if "seeds" in table else pd.Series(np.inf, table.index)
    return pd.Series(stats.t.ppf(0.975, seeds - 1), table.index)


def size_words(table: pd.DataFrame, n: int, group: str) -> str:
    """The same in words, with the limits; AuditInputError as there, and for a NaN.

    Examples
    --------
    >>> from auditlib import studies
    >>> size_words(studies.study_table("optimism_sizes"), 2000, "D")[:60]
    '2,000 people, group D, sNB minus that of the true risk per 1'
    """
    told, shown = [], sizes(table, n, group)
    checks.defined(shown, LIMITS)
    for strategy, rows in shown.groupby("name", sort=False):
        values = rows[["series", *LIMITS]].to_numpy().tolist()
        each = ", ".join(f"{way} {_whole(mid)} ({_whole(low)} to {_whole(high)})" for way, mid, low, high in values)
        told.append(f"{strategy}: {each}")
    text = f"{n:,} people, group {group}, sNB minus that of the true risk {PER}. {'; '.join(told)}."
    return text.replace("group overall", "all groups together").replace("-", "−")


def _whole(value: float) -> str:
    """Signed and rounded; zero has no sign."""
    return f"{round(value):+d}" if round(value) else "0"
