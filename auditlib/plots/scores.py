"""Score distributions by label and group, and what a threshold makes of them."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from auditlib.counts import Counts
from auditlib.counts.merge import check_whole
from auditlib.errors import AuditInputError
from auditlib.plots import style


def distributions(
    counts: Counts, dim: str, *, threshold: float | None = None, bins: int = 50, upto: float = 1.0
) -> Figure:
    """Score histogram of each group, split by label; the area of a histogram is 1, the flagged part filled.

    Parameters
    ----------
    counts : Counts
        With ``dim`` the only group, not cut.
    dim : str
        The group dim; one panel a level.
    threshold : float, optional
        Drawn as a line; a bar that it divides is drawn as two, so that the filled area is the share flagged.
    bins : int
        Bars over 0–1; must divide the grid.
    upto : float
        Where the axis ends.

    Raises
    ------
    AuditInputError
        When the counts have other groups, several models or replicates, or were cut; when ``bins`` does not divide
        the grid, or ``threshold`` is no edge of it.

    Examples
    --------
    >>> import pandas as pd
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [0, 1, 0, 1], "risk": [0.1, 0.7, 0.3, 0.9], "sex": list("FFMM")})
    >>> len(distributions(al.count(frame, label="y", score="risk", by="sex"), "sex").axes)
    2
    """
    if threshold is not None:
        threshold = float(counts.edges.lower[counts.edges.index(threshold)])
    _check(counts, dim, bins)
    held = counts.histogram()
    edges = np.unique([*(k / bins for k in range(bins + 1)), *([] if threshold is None else [threshold])])
    place = np.clip(np.searchsorted(edges, held["bin"].values, side="right") - 1, 0, len(edges) - 2)
    levels = list(counts.groups[dim])
    size = (style.WIDTH, 0.9 + 1.6 * len(levels))
    figure, axes = plt.subplots(len(levels), 1, sharex=True, sharey=True, figsize=size)
    for ax, level in zip(np.atleast_1d(axes), levels, strict=True):
        for label, colour, name in ((0, style.MUTED, "no outcome"), (1, style.GROUPS[1], "outcome")):
            rows = held.sel({dim: level, "label": label}).values
            share = np.bincount(place, rows, minlength=len(edges) - 1) / max(rows.sum(), 1)
            height = share / np.diff(edges) / 100  # a share for each point of risk
            ax.stairs(height, edges, color=colour, lw=1.8, label=f"{name} (n = {int(rows.sum()):,})")
            if threshold is not None:
                flagged = np.where(edges[:-1] >= threshold, height, 0)
                ax.stairs(flagged, edges, color=colour, fill=True, alpha=0.35)
        if threshold is not None:
            ax.axvline(threshold, color=style.REFERENCE, lw=1.5, ls="--")
        ax.set(title=style.plain(level), xlim=(0, upto))
        ax.legend(loc="upper right")
        ax.grid(axis="x", visible=False)
    figure.supylabel("Share per point of risk", fontsize=12)
    np.atleast_1d(axes)[-1].set_xlabel("Predicted risk")
    return figure


def _check(counts: Counts, dim: str, bins: int) -> None:
    counts.column(dim)
    if counts.dims != (dim,) or counts.models or counts.resampled:
        raise AuditInputError(
            f"a histogram is drawn for one score by {dim!r} alone, not for replicates; these counts have the groups "
            f"{', '.join(counts.dims)} and {len(counts.models) or 1} model(s). Use .by({dim!r}) and one score column."
        )
    if counts.edges.kind == "cut":
        raise AuditInputError("a histogram needs the score bins; use the counts from before .cut(…).")
    check_whole(bins, "bins")
    if counts.edges.grid is not None and counts.edges.grid % bins:
        raise AuditInputError(f"bins = {bins}: the counts have {counts.edges.grid} bins; choose a divisor of that.")


def squares(table: xr.Dataset, dim: str) -> Figure:
    """A confusion table as areas: one square a group, width by outcome, height by flagged; empty for nobody.

    Raises
    ------
    AuditInputError
        When the table lies over other dims than ``dim``.

    Examples
    --------
    >>> import auditlib as al
    >>> len(squares(al.parse_confusion("F:8,2,45,5; M:20,20,60,1"), "group").axes)
    2
    """
    style.check_over(table, dim, ("tp", "fp", "fn", "tn"))
    levels = table[dim].values
    figure, axes = plt.subplots(1, len(levels), figsize=(style.WIDTH, 3.2), sharey=True)
    for ax, level in zip(np.atleast_1d(axes), levels, strict=True):
        tp, fp, fn, tn = (int(table[cell].sel({dim: level})) for cell in ("tp", "fp", "fn", "tn"))
        n = tp + fp + fn + tn
        if n:
            _areas(ax, tp, fp, fn, tn)
        ax.set(title=f"{style.plain(level)} (n = {n:,})", xlim=(0, 1), ylim=(0, 1), xlabel="With | without outcome")
        ax.grid(visible=False)
    np.atleast_1d(axes)[0].set_ylabel("Share flagged")
    return figure


def _areas(ax: Axes, tp: int, fp: int, fn: int, tn: int) -> None:
    """Those with the outcome on the left, the flagged below."""
    n, left = tp + fp + fn + tn, 0.0
    for hit, miss, colour, names in (
        (tp, fn, style.GROUPS[1], ("TP", "FN")),
        (fp, tn, style.MUTED, ("FP", "TN")),
    ):
        width, up = (hit + miss) / n, hit / max(hit + miss, 1)
        ax.bar(left, up, width, align="edge", color=colour, alpha=0.55)
        ax.bar(left, 1 - up, width, bottom=up, align="edge", facecolor="none", edgecolor=colour, lw=1.2)
        turned = 90 if width < 0.3 else 0
        # What does not fit into a thin band stands above it.
        low = up / 2 if up > 0.1 or turned else up + 0.06
        for text, height in ((f"{names[0]} {hit:,}", low), (f"{names[1]} {miss:,}", max((1 + up) / 2, low + 0.1))):
            middle = min(height, 0.5 * (1 + up)) if turned else height
            ax.text(left + width / 2, middle, text, ha="center", va="center", rotation=turned, fontsize=10)
        left += width
