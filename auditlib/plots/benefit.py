"""Who gains: cells weighed, levels by group and policy, decision curves, and what a gap is made of."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from auditlib.benefit.core import UNIT
from auditlib.benefit.uncertainty import benefit_interval, weights_of
from auditlib.errors import AuditInputError
from auditlib.plots import checks, gaps, style
from auditlib.plots.decisions import PER, curves, gain_table, gain_words, gains

__all__ = ["CELLS", "PER", "curves", "gain_table", "gain_words", "gains", "levels", "splits", "weighed"]

CELLS = {"tp": "true positive", "fp": "false positive", "fn": "false negative", "tn": "true negative"}


def weighed(table: xr.Dataset, threshold: float, lam: float, dim: str, burden: float = 1.0) -> Figure:
    """Each level's people as blocks: as wide as the share of people in a cell, filled as high as the cell counts.

    A true negative counts 1, an untreated case 1 − r; the filled share of the panel is the subgroup net benefit, which
    stands above it with its interval.

    Parameters
    ----------
    table : confusion table over ``dim`` alone
        A group or a policy a level.
    threshold, lam, burden : numbers
        As in ``subgroup_net_benefit``, the same in every level.
    dim : str

    Raises
    ------
    AuditInputError
        For other dims, a level without people, a threshold, λ or burden by group, and as ``benefit_interval``.

    Examples
    --------
    >>> import auditlib as al
    >>> table = al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
    >>> weighed(table, 0.15, 0.58, "group").axes[0].get_title("left")
    'Women: 9,287 (9,157 to 9,417) of 10,000'
    """
    checks.over(table, [dim], CELLS)
    people = np.sum([table[cell].values for cell in CELLS], axis=0, dtype=float)
    if empty := [str(level) for level in table[dim].values[~(people > 0)]]:
        raise AuditInputError(f"{', '.join(empty)}: nobody is in this level of {dim!r}; leave it out.")
    worth = weights_of(table, threshold, lam, burden)
    if any(np.ndim(value) for value in worth.values()):
        raise AuditInputError("threshold, lam and burden must be one number each here; draw a figure a group.")
    found = UNIT * benefit_interval(table, threshold, lam, burden)
    size = (style.WIDTH, 1.0 + 1.6 * table.sizes[dim])
    figure, axes = plt.subplots(table.sizes[dim], 1, sharex=True, sharey=True, figsize=size, squeeze=False)
    for k, ax in enumerate(axes[:, 0]):
        level, shown = table.isel({dim: k}), found.isel({dim: k})
        _blocks(ax, level, worth)
        value, low, high = (f"{float(shown[key]):,.0f}" for key in ("estimate", "low", "high"))
        ax.set_title(f"{style.plain(level[dim].item())}: {value} ({low} to {high}) of {UNIT:,}", loc="left")
    axes[-1, 0].set_xlabel("People, %")
    handles, names = axes[0, 0].get_legend_handles_labels()
    for patch in figure.legend(handles, names, loc="outside lower center", ncols=2).get_patches():
        patch.set_linewidth(1.0)
    return figure


def _blocks(ax: Axes, level: xr.Dataset, worth: Mapping[str, float]) -> None:
    people = sum(float(level[cell]) for cell in CELLS)
    colours = dict(zip(("tp", "fp", "fn", "tn"), (*style.GROUPS[:3], style.MUTED), strict=True))
    left = 0.0
    for cell in ("tp", "fn", "fp", "tn"):
        width, name = 100 * float(level[cell]) / people, f"{CELLS[cell]}: {worth[cell]:.2f}"
        shown = colours[cell] if worth[cell] > 0 else "none"  # an empty block is empty in the legend, too
        ax.bar(left, 1, width, align="edge", color="none", edgecolor=style.MUTED, lw=1.0 if width else 0)
        ax.bar(left, worth[cell], width, align="edge", facecolor=shown, edgecolor=style.MUTED, lw=0, label=name)
        left += width
    ax.set(xlim=(0, 100), ylim=(0, 1.02), ylabel="Counts as")
    ax.grid(visible=False)


def levels(
    found: Mapping[str, xr.Dataset], dim: str, *, label: str = f"sNB {PER}", scale: float = UNIT, ax: Axes | None = None
) -> Axes:
    """Each group's value under several policies (or models), with intervals and the number of people.

    Parameters
    ----------
    found : mapping of name to Dataset
        ``estimate``, ``low``, ``high`` and ``n`` over ``dim`` alone, of the same levels and people.
    dim : str
        The group dim.
    scale : float
        Values are drawn times this.

    Raises
    ------
    AuditInputError
        For other dims, no series or too many, levels that are not those of the first series, or another ``n`` than
        there (or none).

    Examples
    --------
    >>> import auditlib as al
    >>> table = al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
    >>> ax = levels({"model": al.benefit_interval(table, 0.15, 0.58)}, "group")
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['Women (n = 950)', 'Men (n = 935)']
    """
    checks.by_name(found, "benefit_interval(…)")
    if not found:
        raise AuditInputError("levels: give at least one series of intervals.")
    colours = style.group_colours(found)
    for one in found.values():
        checks.over(one, [dim], ("estimate", "low", "high", "n"))
    (start, first), *_ = found.items()
    found = {name: checks.aligned(first, one, [dim], name, start) for name, one in found.items()}
    for name, one in found.items():
        if not np.array_equal(one["n"].values, first["n"].values):  # a missing n is no n
            raise AuditInputError(
                f"n of {name} is missing or not that of {start}; levels() shows policies on one group."
            )
    names = [f"{style.plain(g)} (n = {int(n):,})" for g, n in zip(first[dim].values, first["n"].values, strict=True)]
    ax = ax or plt.subplots(figsize=(style.WIDTH, 1.3 + 0.15 * len(names) * (1 + len(found))))[1]
    step = 0.7 / max(len(found), 2)
    for k, (name, one) in enumerate(found.items()):
        place = len(names) - 1 - np.arange(len(names)) + step * ((len(found) - 1) / 2 - k)
        ax.hlines(place, scale * one["low"], scale * one["high"], color=colours[name], lw=2)
        ax.plot(scale * one["estimate"], place, "osD^vP"[k], color=colours[name], ms=4, label=style.plain(name))
    ax.set_yticks(np.arange(len(names))[::-1], names)
    ax.set_ylim(-0.6, len(names) - 0.4)
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(label)
    if len(found) > 1:
        ax.legend(loc="lower center", bbox_to_anchor=(0.3, 1.0), ncols=3, handletextpad=0.3, columnspacing=1.2)
    return ax


def splits(tables: Mapping[str, pd.DataFrame], *, label: str = f"Part of the gap, {PER}") -> Figure:
    """Several splits of the same gaps, one above the other on one axis.

    Parameters
    ----------
    tables : mapping of title to DataFrame
        Each as ``gaps.forest`` takes it: ``name``, ``series``, ``estimate``, ``low``, ``high``.

    Raises
    ------
    AuditInputError
        Without a table, for one without these columns or a row, and as ``gaps.forest``.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["A − B"], "series": "model", "estimate": [10.0], "low": [-15.0], "high": [37.0]})
    >>> figure = splits({"one": table, "other": table})
    >>> [ax.get_title("left") for ax in figure.axes]
    ['one', 'other']
    """
    if not tables:
        raise AuditInputError("splits: give at least one table.")
    for table in tables.values():
        checks.columns(table, ("name", "series", "estimate", "low", "high"), "gaps.row")
    rows = max(table["name"].nunique() for table in tables.values())
    size = (style.WIDTH, 0.9 + len(tables) * (0.6 + 0.4 * rows))
    figure, axes = plt.subplots(len(tables), 1, sharex=True, figsize=size, squeeze=False)
    for ax, (title, table) in zip(axes[:, 0], tables.items(), strict=True):
        gaps.forest(table, label=label, ax=ax)
        ax.set_title(style.plain(title), loc="left")
        ax.label_outer()
        if ax.get_legend() is not None:
            ax.get_legend().remove()
    handles, names = axes[0, 0].get_legend_handles_labels()
    if len(names) > 1:
        figure.legend(handles, names, loc="outside upper center", ncols=len(names), handletextpad=0.3)
    return figure
