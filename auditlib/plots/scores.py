"""Score distributions by label and group, and what a threshold makes of them."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from auditlib.counts import Counts
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

    Examples
    --------
    >>> import pandas as pd
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [0, 1, 0, 1], "risk": [0.1, 0.7, 0.3, 0.9], "sex": list("FFMM")})
    >>> len(distributions(al.count(frame, label="y", score="risk", by="sex"), "sex").axes)
    2
    """
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
        ax.set(title=level, xlim=(0, upto))
        ax.legend(loc="upper right")
        ax.grid(axis="x", visible=False)
    figure.supylabel("Share per point of risk", fontsize=12)
    np.atleast_1d(axes)[-1].set_xlabel("Predicted risk")
    return figure


def squares(table: xr.Dataset, dim: str) -> Figure:
    """A confusion table as areas: one square a group, width by outcome, height by flagged.

    Examples
    --------
    >>> import auditlib as al
    >>> len(squares(al.parse_confusion("F:8,2,45,5; M:20,20,60,1"), "group").axes)
    2
    """
    levels = [str(level) for level in table[dim].values]
    figure, axes = plt.subplots(1, len(levels), figsize=(style.WIDTH, 3.2), sharey=True)
    for ax, level in zip(np.atleast_1d(axes), levels, strict=True):
        tp, fp, fn, tn = (int(table[cell].sel({dim: level})) for cell in ("tp", "fp", "fn", "tn"))
        n = tp + fp + fn + tn
        left = 0.0
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
        ax.set(title=f"{level} (n = {n:,})", xlim=(0, 1), ylim=(0, 1), xlabel="With | without outcome")
        ax.grid(visible=False)
    np.atleast_1d(axes)[0].set_ylabel("Share flagged")
    return figure
