"""Gaps along thresholds, and what rules of flagging do to two groups."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from auditlib.errors import AuditInputError
from auditlib.plots import checks, gaps, style
from auditlib.thresholds.curve import FEW, check_rising, is_band, sign_runs

LIMITS = ("estimate", "low", "high", "band_low", "band_high")
LABEL = "Gap, percentage points"
BAND, POINTWISE = "band for the whole curve", "interval at one threshold"
RULES = ("metric", "name", "series", "estimate", "low", "high")


def curve(
    found: xr.Dataset, *, marks: Mapping[str, float] | None = None, label: str = LABEL, ax: Axes | None = None
) -> Axes:
    """A gap over thresholds: the estimate, the interval at each threshold and, dashed, the band for the whole curve.

    The axis counts percentage points. Circles mark the thresholds at which a rate rests on fewer than 30 people in
    either group.

    Parameters
    ----------
    found : Dataset of ``gap_curve``
        Over ``threshold`` alone; left empty where the gap is.
    marks : mapping of name to threshold, optional
        Drawn as lines up, named above the axes.
    label : str
        Name of the gap, for the axis.

    Raises
    ------
    AuditInputError
        For a curve with other dims or thresholds out of order, or a mark that is no number.

    Examples
    --------
    >>> import auditlib as al
    >>> from auditlib import studies
    >>> counts = studies.comparison_counts("gap-cdc_diabetes-sex")
    >>> found = al.gap_curve(counts, "Male", "Female", thresholds=[0.1, 0.3, 0.5], replicates=100, seed=1)
    >>> curve(found, marks={"fixed": 0.3}).get_xlabel()
    'Threshold'
    """
    checks.over(found, ["threshold"], ["estimate"])
    if is_band(found):
        raise AuditInputError("curve: band has no interval at each threshold to draw; gap_curve has both, from counts.")
    style.check_over(found, "threshold", (*LIMITS, "small"))
    check_rising(found)
    if wrong := {name: t for name, t in (marks or {}).items() if not isinstance(t, int | float | np.number)}:
        raise AuditInputError(f"marks must be numbers, one a name, not {wrong!r}.")
    ax = ax or plt.subplots(figsize=(style.WIDTH, 3.6))[1]
    x, (estimate, low, high, below, above) = found["threshold"].values, (found[name].values for name in LIMITS)
    ax.axhline(0, color=style.REFERENCE, lw=1, ls="--")
    ax.fill_between(x, below, above, **style.region(style.GROUPS[0], 0.14, "--"), label=BAND)
    ax.fill_between(x, low, high, **style.region(style.GROUPS[0], 0.35), label=POINTWISE)
    ax.plot(x, estimate, color=style.INK, lw=1.6, label="gap")
    few = found["small"].values & np.isfinite(estimate)
    if few.any():
        said = f"on fewer than {FEW} people"
        ax.plot(x[few], estimate[few], "o", color=style.INK, mfc=style.PAPER, ms=4, label=said)
    for k, (name, t) in enumerate((marks or {}).items()):
        ax.axvline(t, color=style.INK, lw=1, ls=":")
        place = (t, 1.01 + 0.07 * (k % 2))  # neighbours at two heights
        ax.text(*place, style.plain(name), transform=ax.get_xaxis_transform(), ha="center", va="bottom", fontsize=11)
    ax.set(xlabel="Threshold", ylabel=label)
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda gap, _: f"{100 * gap:.3g}".replace("-", "−")))
    return ax


def curves(
    found: Mapping[str, xr.Dataset],
    *,
    marks: Mapping[str, float] | None = None,
    within: Mapping[str, float] | None = None,
) -> Figure:
    """Gaps of several metrics over thresholds, a panel each on a scale of its own.

    Parameters
    ----------
    found : mapping of name to Dataset of ``gap_curve``
    marks : mapping of name to threshold, optional
        As in ``curve``, here without their names.
    within : mapping of name to gap, optional
        Panels that show gaps up to this size alone: what lies further out is cut off, and their titles say so.

    Raises
    ------
    AuditInputError
        Without a curve, for a panel that is none of them or a size that is not above 0, and as ``curve``.

    Examples
    --------
    >>> limits = dict.fromkeys((*LIMITS, "small"), ("threshold", [0, 0]))
    >>> held = xr.Dataset(limits, {"threshold": [0.1, 0.2]})
    >>> [ax.get_title("left") for ax in curves({"PPV": held, "NPV": held}).axes]
    ['PPV', 'NPV']
    """
    checks.by_name(found, "gap_curve(…)")
    if not found:
        raise AuditInputError("curves: at least one gap_curve is needed, by name.")
    within = within or {}
    if not set(within) <= set(found) or not all(size > 0 for size in within.values()):
        raise AuditInputError(f"within names panels of {', '.join(found)} and sizes above 0, not {dict(within)}.")
    down = -(-len(found) // 2)  # rounded up
    size = (style.WIDTH, 0.9 + 1.7 * down)
    figure, axes = plt.subplots(down, min(2, len(found)), sharex=True, figsize=size, squeeze=False)
    for ax, (name, held) in zip(axes.flat, found.items(), strict=False):
        curve(held, ax=ax, label="")
        for t in (marks or {}).values():
            ax.axvline(t, color=style.INK, lw=1, ls=":")
        cut = f", cut at ±{100 * within[name]:g}" if name in within else ""
        ax.set_title(style.plain(name) + cut, loc="left")
        ax.set_xlabel("")
        ax.yaxis.set_major_locator(MaxNLocator(4))
        if name in within:
            ax.set_ylim(-within[name], within[name])
    for spare in axes.flat[len(found) :]:
        spare.remove()
    for ax in axes.flat[: len(found)][-2:]:  # above an empty place, too
        ax.tick_params(labelbottom=True)
    shown = {name: handle for ax in figure.axes for handle, name in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(shown.values(), shown, loc="outside upper center", ncols=2)
    figure.supxlabel("Threshold", size=12, color=style.INK)
    figure.supylabel(LABEL, size=12, color=style.INK)
    return figure


def words(found: xr.Dataset, by: str = "band", signs: str = "+−") -> str:
    """Where a curve lies on one side of zero (``sign_runs``), in words; AuditInputError as there.

    Examples
    --------
    >>> limits = {"band_low": [0.1, 0.2, -0.1, 0.1], "band_high": [0.3, 0.4, 0.1, 0.2]}
    >>> places = {"threshold": [0, 0.1, 0.2, 0.3]}
    >>> found = xr.Dataset({name: ("threshold", held) for name, held in limits.items()}, places)
    >>> words(found), words(found, signs="−")
    ('from 0% to 10% and at 30%', 'at no threshold')
    """
    runs = sign_runs(found, by)
    ends = runs[runs["sign"].isin(list(signs))][["first", "last"]].itertuples(index=False)
    told = [f"at {100 * a:.3g}%" if a == b else f"from {100 * a:.3g}% to {100 * b:.3g}%" for a, b in ends]
    return " and ".join(told) or "at no threshold"


def rules(table: pd.DataFrame) -> Figure:
    """What rules of flagging do to each group, a panel a metric.

    Parameters
    ----------
    table : DataFrame
        Columns ``metric``, ``name`` (of the rule), ``series`` (the group), ``estimate``, ``low`` and ``high``.

    Raises
    ------
    AuditInputError
        For missing columns, no row, or a value that is missing.

    Examples
    --------
    >>> table = pd.DataFrame([["PPV", "one threshold", "A", 0.3, 0.2, 0.4]], columns=RULES)
    >>> [ax.get_xlabel() for ax in rules(table).axes]
    ['PPV']
    """
    checks.columns(table, RULES, "gaps.row")
    checks.defined(table, ["estimate", "low", "high"])
    metrics = list(dict.fromkeys(table["metric"]))
    down = -(-len(metrics) // 2)
    size = (style.WIDTH, 0.5 + (0.9 + 0.32 * table["name"].nunique()) * down)
    figure, axes = plt.subplots(down, min(2, len(metrics)), sharey=True, figsize=size, squeeze=False)
    for ax, metric in zip(axes.flat, metrics, strict=False):
        rows = table[table["metric"] == metric]
        gaps.forest(rows, label=style.plain(metric), ax=ax)
        low, high = rows["low"].min(), rows["high"].max()
        if not low < 0 < high:
            ax.lines[0].remove()  # the line at 0, of which most rates are far
        ax.set_xlim(low - 0.08 * (high - low), high + 0.08 * (high - low))
        ax.xaxis.set_major_locator(MaxNLocator(3))
        handles, names = ax.get_legend_handles_labels()
        if ax.get_legend():
            ax.get_legend().remove()
    for spare in axes.flat[len(metrics) :]:
        spare.remove()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names))
    return figure
