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
from auditlib.intervals.replicates import interval
from auditlib.metrics import check_dim
from auditlib.plots import gaps, style

CELLS = {"tp": "true positive", "fp": "false positive", "fn": "false negative", "tn": "true negative"}
PER = f"per {UNIT:,}"


def weighed(table: xr.Dataset, threshold: float, lam: float, dim: str, burden: float = 1.0) -> Figure:
    """Each level's people as blocks: as wide as the share of people in a cell, filled as high as the cell counts.

    A true negative counts 1, an untreated case 1 − r; the filled share of the panel is the subgroup net benefit, which
    stands above it with its interval.

    Parameters
    ----------
    table : confusion table over ``dim`` alone
        A group or a policy a level.
    threshold, lam, burden : numbers
        As in ``subgroup_net_benefit``.
    dim : str

    Raises
    ------
    AuditInputError
        For other dims, and as ``benefit_interval``.

    Examples
    --------
    >>> import auditlib as al
    >>> table = al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
    >>> weighed(table, 0.15, 0.58, "group").axes[0].get_title("left")
    'Women: 9,287 (9,157 to 9,417) of 10,000'
    """
    style.check_over(table, dim, CELLS)
    found = UNIT * benefit_interval(table, threshold, lam, burden)
    worth = weights_of(table, threshold, lam, burden)
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
        ``estimate``, ``low``, ``high`` and ``n`` over ``dim`` alone, the same levels in each.
    dim : str
        The group dim.
    scale : float
        Values are drawn times this.

    Raises
    ------
    AuditInputError
        For other dims, no series, or too many.

    Examples
    --------
    >>> import auditlib as al
    >>> table = al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
    >>> ax = levels({"model": al.benefit_interval(table, 0.15, 0.58)}, "group")
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['Women (n = 950)', 'Men (n = 935)']
    """
    if not found:
        raise AuditInputError("levels: give at least one series of intervals.")
    colours = style.group_colours(found)
    for one in found.values():
        style.check_over(one, dim, ("estimate", "low", "high", "n"))
    first = next(iter(found.values()))
    names = [f"{style.plain(g)} (n = {int(n):,})" for g, n in zip(first[dim].values, first["n"].values, strict=True)]
    ax = ax or plt.subplots(figsize=(style.WIDTH, 1.3 + 0.15 * len(names) * (1 + len(found))))[1]
    step = 0.7 / max(len(found), 2)
    for k, (name, one) in enumerate(found.items()):
        place = len(names) - 1 - np.arange(len(names)) + step * ((len(found) - 1) / 2 - k)
        one = one.sel({dim: first[dim]})
        ax.hlines(place, scale * one["low"], scale * one["high"], color=colours[name], lw=2.5)
        ax.plot(scale * one["estimate"], place, "osD^vP"[k], color=colours[name], ms=5.5, label=style.plain(name))
    ax.set_yticks(np.arange(len(names))[::-1], names)
    ax.set_ylim(-0.6, len(names) - 0.4)
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(label)
    if len(found) > 1:
        ax.legend(loc="lower center", bbox_to_anchor=(0.3, 1.0), ncols=3, handletextpad=0.3, columnspacing=1.2)
    return ax


def curves(curve: xr.Dataset, replicates: xr.Dataset, dim: str, *, level: float = 0.95, low: float = -0.03) -> Figure:
    """Decision curves, one panel a group: the model and treating everybody with pointwise bands, nobody at 0.

    Parameters
    ----------
    curve, replicates : Datasets of ``decision_curve``
        Of the table, and of its resampled counts; dims ``threshold``, ``dim`` and, for the latter, ``replicate``.
    dim : str
        The group dim.
    low : float
        Where the axis begins: treating everybody falls without end.

    Raises
    ------
    AuditInputError
        For an unknown dim or without replicates.

    Examples
    --------
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [1, 0] * 8, "risk": [0.9, 0.3, 0.3, 0.1] * 4, "sex": ["F", "M", "M", "F"] * 4})
    >>> counts = al.count(frame, label="y", score="risk", by="sex")
    >>> again = counts.resample(50, seed=1).at([0.2, 0.5])
    >>> figure = curves(al.decision_curve(counts.at([0.2, 0.5])), al.decision_curve(again), "sex")
    >>> [ax.get_title("left") for ax in figure.axes]
    ['F', 'M']
    """
    check_dim(curve, dim)
    groups, across = curve[dim].values, min(3, curve.sizes[dim])
    down = -(-len(groups) // across)  # rounded up
    size = (5.6, 0.9 + 1.75 * down)
    figure, axes = plt.subplots(down, across, sharex=True, sharey=True, figsize=size, squeeze=False)
    bands = {name: interval(replicates[name], level) for name in ("all", "net_benefit")}
    x = curve["threshold"].values
    for ax, group in zip(axes.flat, groups, strict=False):
        ax.axhline(0, color=style.REFERENCE, lw=1.2, ls="--", label="nobody")
        for name, colour in (("all", style.GROUPS[1]), ("net_benefit", style.GROUPS[0])):
            limits = bands[name].sel({dim: group})
            ax.fill_between(x, limits["low"], limits["high"], color=colour, alpha=0.25, lw=0)
            shown = "everybody" if name == "all" else "by the model"
            ax.plot(x, curve[name].sel({dim: group}), color=colour, lw=1.6, label=shown)
        ax.set_title(style.plain(group), loc="left")
    axes[0, 0].set(xlim=(0, x.max()), ylim=(low, 1.05 * float(bands["net_benefit"]["high"].max())))
    for spare in axes.flat[len(groups) :]:
        spare.remove()
    for ax in axes.flat[len(groups) - across : len(groups)]:  # above an empty place, too
        ax.tick_params(labelbottom=True)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=3, title="treated:")
    figure.supxlabel("Threshold t", size=12, color=style.INK)
    figure.supylabel("Net benefit", size=12, color=style.INK)
    return figure


def splits(tables: Mapping[str, pd.DataFrame], *, label: str = f"Part of the gap, {PER}") -> Figure:
    """Several splits of the same gaps, one above the other on one axis.

    Parameters
    ----------
    tables : mapping of title to DataFrame
        Each as ``gaps.forest`` takes it: ``name``, ``series``, ``estimate``, ``low``, ``high``.

    Raises
    ------
    AuditInputError
        Without a table, and as ``gaps.forest``.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["A − B"], "series": "model", "estimate": [10.0], "low": [-15.0], "high": [37.0]})
    >>> figure = splits({"one": table, "other": table})
    >>> [ax.get_title("left") for ax in figure.axes]
    ['one', 'other']
    """
    if not tables:
        raise AuditInputError("splits: give at least one table.")
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


def gain_table(
    curve: xr.Dataset, replicates: xr.Dataset, lam: float, dim: str, burden: float = 1.0, level: float = 0.95
) -> pd.DataFrame:
    """What the model adds to sNB at each threshold, over treating nobody and everybody: what ``gains`` draws.

    The gain is r·λ·(NB of the model − NB of the other policy), per 10,000; intervals from paired replicates.
    ``curve`` and ``replicates`` as in ``curves``, ``lam`` and ``burden`` numbers as in ``subgroup_net_benefit``.

    Examples
    --------
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [1, 0] * 8, "risk": [0.9, 0.3, 0.3, 0.1] * 4, "sex": ["F", "M", "M", "F"] * 4})
    >>> counts = al.count(frame, label="y", score="risk", by="sex")
    >>> again = al.decision_curve(counts.resample(50, seed=1).at([0.2, 0.5]))
    >>> table = gain_table(al.decision_curve(counts.at([0.2, 0.5])), again, 0.58, "sex")
    >>> len(table), table.columns.tolist()
    (8, ['threshold', 'name', 'series', 'estimate', 'low', 'high'])
    """
    check_dim(curve, dim)
    parts, columns = [], ["threshold", "name", "series", "estimate", "low", "high"]
    for policy, series in (("none", "over treating nobody"), ("all", "over treating everybody")):
        gain = UNIT * burden * lam * (curve["net_benefit"] - curve[policy])
        limits = interval(UNIT * burden * lam * (replicates["net_benefit"] - replicates[policy]), level)
        found = xr.Dataset({"estimate": gain, "low": limits["low"], "high": limits["high"]})
        rows = found.reset_coords(drop=True).to_dataframe().reset_index().rename(columns={dim: "name"})
        parts.append(rows.assign(series=series))
    return pd.concat(parts, ignore_index=True)[columns]


def gains(table: pd.DataFrame, threshold: float) -> Figure:
    """The rows of ``gain_table`` at one threshold, on an axis that all thresholds share.

    Raises
    ------
    AuditInputError
        For a threshold that is not in the table.

    Examples
    --------
    >>> table = pd.DataFrame({"threshold": [0.1, 0.2], "name": "A", "series": "over treating nobody",
    ...                       "estimate": [30.0, 10.0], "low": [20.0, -5.0], "high": [40.0, 25.0]})
    >>> [float(limit) for limit in gains(table, 0.2).axes[0].get_xlim()]
    [-8.0, 43.0]
    """
    rows = _at(table, threshold)
    figure, ax = plt.subplots(figsize=(style.WIDTH, 1.4 + 0.5 * rows["name"].nunique()))
    gaps.forest(rows, label=f"sNB gained {PER}", ax=ax)
    low, high = min(table["low"].min(), 0), table["high"].max()
    ax.set_xlim(np.floor(low - 0.06 * (high - low)), np.ceil(high + 0.06 * (high - low)))
    return figure


def gain_words(table: pd.DataFrame, threshold: float) -> str:
    """The rows of ``gain_table`` at one threshold, in words.

    >>> table = pd.DataFrame({"threshold": [0.2], "name": "A", "series": "over treating nobody",
    ...                       "estimate": [10.0], "low": [-5.0], "high": [25.0]})
    >>> gain_words(table, 0.2)
    'Threshold 20%, sNB gained per 10,000. A over treating nobody: +10 (−5 to +25).'
    """
    columns = ["name", "series", "estimate", "low", "high"]
    told = [
        "{} {}: {} ({} to {})".format(name, series, *(f"{round(value):+,}".replace("-", "−") for value in values))
        for name, series, *values in _at(table, threshold)[columns].values.tolist()
    ]
    return f"Threshold {threshold:.0%}, sNB gained {PER}. {'; '.join(told)}."


def _at(table: pd.DataFrame, threshold: float) -> pd.DataFrame:
    rows = table[table["threshold"] == threshold]
    if rows.empty:
        known = ", ".join(f"{t:g}" for t in sorted(set(table["threshold"])))
        raise AuditInputError(f"threshold {threshold!r} is not in the table; there is {known}.")
    return rows
