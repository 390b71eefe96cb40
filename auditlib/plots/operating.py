"""Scores of two groups at one threshold, the true risks behind decisions, and scores beside what they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.patches import Patch
from scipy.special import logit
from scipy.stats import norm

from auditlib.counts import Counts
from auditlib.counts.merge import check_whole
from auditlib.errors import AuditInputError
from auditlib.intervals import rate_interval
from auditlib.metrics import Metric, false_positive_rate, ppv, selection_rate, sensitivity
from auditlib.plots import checks, gaps, style
from auditlib.plots.words import points

RATES: dict[str, Metric] = {
    "sensitivity": sensitivity, "false positive rate": false_positive_rate, "PPV": ppv, "flagged": selection_rate,
}  # fmt: skip


def operating_point(
    counts: Counts, dim: str, threshold: float, *, bars: int = 40, upto: float = 1.0, top: float | None = None
) -> Figure:
    """Each group's scores as people per 10,000, the flagged part filled, and below the rates at this threshold.

    Those with the outcome stand on top of those without. Height is people for each hundredth of risk; a bar that the
    threshold divides is drawn as two. Rates come with Wilson's intervals.

    Parameters
    ----------
    counts : Counts
        With ``dim`` the only group, not cut.
    dim : str
    threshold : float
        An edge of the counts.
    bars : int
        Bars over 0–1.
    upto : float
        Where the axis of scores ends.
    top : float, optional
        Where the axes of people end, the same for all groups: taller bars are cut off.

    Raises
    ------
    AuditInputError
        For other groups, replicates or several models, counts that were cut, or a threshold that is no edge.

    Examples
    --------
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [0, 1, 0, 1], "risk": [0.1, 0.7, 0.3, 0.9], "sex": list("FFMM")})
    >>> len(operating_point(al.count(frame, label="y", score="risk", by="sex"), "sex", 0.5).axes)
    3
    """
    heights, edges, threshold = _heights(counts, dim, threshold, bars)
    table, levels = counts.at(threshold), list(counts.groups[dim])
    colours = style.group_colours(levels)
    size = (style.WIDTH, 2.9 + 1.35 * len(levels))
    figure, axes = plt.subplots(len(levels) + 1, 1, figsize=size, height_ratios=[1.0] * len(levels) + [1.5])
    for ax, level in zip(axes, levels, strict=False):
        without, every = heights[level]
        for flagged, strong in ((False, 0.15), (True, 0.6)):
            here = (edges[:-1] >= threshold) == flagged
            ax.stairs(np.where(here, without, 0), edges, color=style.MUTED, fill=True, alpha=strong)
            both = (np.where(here, every, 0), np.where(here, without, 0))
            ax.stairs(both[0], edges, baseline=both[1], color=colours[level], fill=True, alpha=0.25 + strong)
        ax.stairs(every, edges, color=colours[level], lw=1.2)
        ax.axvline(threshold, color=style.REFERENCE, lw=1.5, ls="--")
        ax.set(xlim=(0, upto), ylim=(0, top), ylabel="per 10,000")
        ax.set_title(f"{style.plain(level)} (n = {int(table.sel({dim: level}).to_array().sum()):,})", loc="left")
    for ax in axes[:-2]:
        ax.tick_params(labelbottom=False)
    axes[-2].set_xlabel("Score")
    found = {name: rate_interval(table, metric) for name, metric in RATES.items()}
    rows = [gaps.row(name, held.sel({dim: level}), level) for name, held in found.items() for level in levels]
    gaps.forest(pd.concat(rows), label="Rate", ax=axes[-1]).set_xlim(0, 1)
    axes[-1].get_legend().remove()  # the titles above have the colours' names
    grey, *others = (Patch(color=colour, alpha=0.6) for colour in (style.MUTED, *colours.values()))
    said = ["without the outcome", "with the outcome"]
    shown: list[Any] = [grey, tuple(others)]
    spread = {tuple: HandlerTuple(ndivide=None)}  # the colours of the groups side by side
    figure.legend(shown, said, loc="outside upper center", ncols=2, handler_map=spread)
    return figure


def words(counts: Counts, dim: str, threshold: float) -> str:
    """The rates of ``operating_point`` in words, with Wilson's intervals, in per cent; AuditInputError as there.

    Examples
    --------
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [0, 1] * 50, "risk": [0.1, 0.7] * 50, "sex": ["F"] * 50 + ["M"] * 50})
    >>> print(words(al.count(frame, label="y", score="risk", by="sex"), "sex", 0.5)[:90])
    Threshold 0.5; in per cent with 95% intervals: sensitivity F 100 (87 to 100) and M 100 (87
    """
    _check_scores(counts, dim)
    threshold, table = counts.edges.find(threshold)[0], counts.at(threshold)
    said = []
    for name, metric in RATES.items():
        found = points(rate_interval(table, metric), ".0f")
        said.append(f"{name} {' and '.join(f'{level} {text}' for level, text in found.items())}")
    return f"Threshold {threshold:g}; in per cent with 95% intervals: {'; '.join(said)}."


def _check_scores(counts: Counts, dim: str) -> None:
    counts.column(dim)
    if counts.dims != (dim,) or counts.models or counts.resampled or counts.edges.kind == "cut":
        raise AuditInputError(
            f"scores are drawn for one model by {dim!r} alone, from counts that were not cut or resampled; "
            f"use .by({dim!r}) of such counts."
        )


def _heights(
    counts: Counts, dim: str, threshold: float, bars: int
) -> tuple[dict[str, tuple[np.ndarray, np.ndarray]], np.ndarray, float]:
    """Of each group, people without the outcome and all, per 10,000 and hundredth of risk; the bars' edges."""
    _check_scores(counts, dim)
    check_whole(bars, "bars")
    threshold = counts.edges.find(threshold)[0]
    held = counts.histogram()
    edges = np.unique([*(k / bars for k in range(bars + 1)), threshold])
    place = np.clip(np.searchsorted(edges, held["bin"].values, side="right") - 1, 0, len(edges) - 2)
    found = {}
    for level in counts.groups[dim]:
        rows = held.sel({dim: level})
        unit = 10_000 / max(int(rows.sum()), 1) / np.diff(edges) / 100
        labels = (rows.sel(label=0), rows.sum("label"))
        without, every = (unit * np.bincount(place, part.values, minlength=len(edges) - 1) for part in labels)
        found[level] = (without, every)
    return found, edges, threshold


def risks(predictors: Mapping[str, tuple[float, float]], threshold: float, *, upto: float = 1.0) -> Figure:
    """Distributions of true risk whose logit is normal, a panel a group, the part at or above a threshold filled.

    Parameters
    ----------
    predictors : mapping of group to (mean, standard deviation) of the logit
    threshold : float
        Strictly between 0 and 1.
    upto : float
        Where the axis of risk ends.

    Raises
    ------
    AuditInputError
        Without a group, for a standard deviation that is not above 0, or a threshold outside (0, 1).

    Examples
    --------
    >>> len(risks({"A": (-2.0, 1.0), "B": (-1.0, 1.5)}, 0.15).axes)
    2
    """
    if not predictors or not all(sd > 0 for _, sd in predictors.values()) or not 0 < threshold < 1:
        raise AuditInputError("risks: give a group, standard deviations above 0, and a threshold between 0 and 1.")
    size = (style.WIDTH, 0.9 + 1.3 * len(predictors))
    figure, axes = plt.subplots(len(predictors), 1, sharex=True, sharey=True, figsize=size, squeeze=False)
    x = np.unique([*np.linspace(0.002, upto, 400), threshold])
    colours = style.group_colours(predictors)
    for ax, (name, (mean, sd)) in zip(axes.flat, predictors.items(), strict=True):
        inside = x[x < 1]
        height = norm.pdf(logit(inside), mean, sd) / (inside * (1 - inside)) / 100
        ax.plot(inside, height, color=colours[name], lw=1.6)
        flagged = inside >= threshold
        ax.fill_between(inside[flagged], height[flagged], color=colours[name], alpha=0.4, lw=0)
        ax.axvline(threshold, color=style.REFERENCE, lw=1.5, ls="--")
        ax.set_title(style.plain(name), loc="left")
        ax.set_xlim(0, upto)
    axes[0, 0].set_ylim(0)  # of all, once all are drawn
    axes[-1, 0].set_xlabel("True risk")
    figure.supylabel("Share per point of risk", size=12, color=style.INK)
    return figure


def calibration(
    found: xr.Dataset, dim: str, scores: Sequence[float] | np.ndarray, *, mark: float | None = None
) -> Axes:
    """Share with the outcome by score, of each group, with intervals; on the diagonal a score is a risk.

    Parameters
    ----------
    found : Dataset of ``rate_interval``
        ``estimate``, ``low``, ``high`` and ``n`` over ``dim`` and one other dim, the bins of scores.
    dim : str
        The group dim.
    scores : sequence of float
        A score for each bin, such as its middle.
    mark : float, optional
        A threshold, drawn as a line up.

    Raises
    ------
    AuditInputError
        For other dims, or another number of scores.

    Examples
    --------
    >>> import auditlib as al
    >>> table = al.confusion(tp=[[5, 9]], fp=[[0, 0]], fn=[[0, 0]], tn=[[5, 1]], sex=["F"], score=[0, 1])
    >>> calibration(al.rate_interval(table, al.prevalence), "sex", [0.4, 0.8]).get_xlabel()
    'Score'
    """
    other = [str(name) for name in found.dims if name != dim]
    checks.over(found, [dim, *other[:1]], ("estimate", "low", "high", "n"))
    if len(other) != 1 or found.sizes[other[0]] != len(scores):
        raise AuditInputError(f"calibration: one score a bin is needed, but there are {len(scores)} for {other}.")
    ax = plt.subplots(figsize=(style.WIDTH, 3.6))[1]
    x = np.asarray(scores, dtype=float)
    ax.plot([0, x.max()], [0, x.max()], color=style.REFERENCE, lw=1, ls="--")
    for k, (level, colour) in enumerate(style.group_colours(found[dim].values).items()):
        y, low, high = (found[name].sel({dim: level}).values for name in ("estimate", "low", "high"))
        place = x + 0.004 * (k - 0.5)  # side by side
        error = np.maximum([y - low, high - y], 0)
        name = f"{style.plain(level)} (n = {int(found['n'].sel({dim: level}).sum()):,})"
        ax.errorbar(place, y, error, fmt="osD^"[k % 4] + "-", color=colour, ms=6, lw=1.2, elinewidth=1.8, label=name)
    if mark is not None:
        ax.axvline(mark, color=style.INK, lw=1, ls=":")
    ax.set(xlabel="Score", ylabel="Share with the outcome")
    ax.legend()
    return ax
