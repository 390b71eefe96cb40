"""What follows from another treatment effect λ: values over λ, planes of two λs, and (from ``fieller``) sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Patch
from matplotlib.ticker import MultipleLocator

from auditlib.benefit import UNIT
from auditlib.errors import AuditInputError
from auditlib.plots import checks, gaps, style
from auditlib.plots.fieller import rays, sets

__all__ = ["over_lambda", "plane", "rays", "readings_at", "sets", "two_lambdas"]

STROKES = ("-", "--", "-.", ":")  # beside the colours, for those who see none
LIMITS = ("estimate", "low", "high")


def _rows(found: xr.Dataset, dims: Sequence[str], **where: float) -> pd.DataFrame:
    """Rows of a forest, per 10,000, at the place ``where`` of the grid; the first dim gives the names."""
    checks.over(found, dims, LIMITS)
    at = {name: checks.on_grid(name, value, found[name]) for name, value in where.items()}
    held = UNIT * found[list(LIMITS)].isel(at).reset_coords(drop=True)
    return held.to_dataframe().rename_axis("name").reset_index()


def over_lambda(
    found: Mapping[str, xr.Dataset],
    dim: str,
    *,
    label: str = "Gap in sNB per 10,000",
    shaded: tuple[float, float] | None = None,
) -> Figure:
    """Values over the treatment effect, a panel a group, a line and a band of intervals a series, per 10,000.

    Parameters
    ----------
    found : mapping of a series to its Dataset
        ``estimate``, ``low`` and ``high`` over ``dim``, the groups, and ``lam``, as sNB: they are multiplied here. One
        series has no legend.
    shaded : (low, high), optional
        A stretch of λ to set off.

    Raises
    ------
    AuditInputError
        Without a series or with more than four, when one lies over other dims or has other groups than the first.

    Examples
    --------
    >>> import auditlib as al
    >>> table = al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
    >>> lam = xr.DataArray([0.2, 0.8], {"lam": [0.2, 0.8]}, ["lam"])
    >>> figure = over_lambda({"model": al.benefit_interval(table, 0.15, lam)}, "group", label="sNB per 10,000")
    >>> [ax.get_title("left") for ax in figure.axes]
    ['Women', 'Men']
    """
    checks.by_name(found, "benefit_interval(…)")
    if not 1 <= len(found) <= len(STROKES):
        raise AuditInputError(f"found: give one to {len(STROKES)} series by name, not {len(found)}.")
    for one in found.values():
        checks.over(one, (dim, "lam"), LIMITS)
    (start, first), *_ = found.items()
    held = {name: UNIT * checks.aligned(first, one, [dim], name, start)[list(LIMITS)] for name, one in found.items()}
    groups, colours = first[dim].values, style.group_colours(found)
    down = -(-len(groups) // 2)  # rounded up
    options: dict[str, Any] = {
        "figsize": (style.WIDTH, 1.1 + 1.9 * down),
        "layout": ConstrainedLayoutEngine(wspace=0.06),
    }
    figure, axes = plt.subplots(down, min(2, len(groups)), sharex=True, sharey=True, squeeze=False, **options)
    for ax, group in zip(axes.flat, groups, strict=False):
        if shaded is not None:
            ax.axvspan(*shaded, **style.region(style.MUTED, 0.15), zorder=0, label="_shaded")
        for (name, one), stroke in zip(held.items(), STROKES, strict=False):
            at = one.sel({dim: group})
            ax.fill_between(at["lam"], at["low"], at["high"], **style.region(colours[name], 0.25))
            ax.plot(at["lam"], at["estimate"], color=colours[name], ls=stroke, lw=1.6, label=style.plain(name))
        ax.set_title(style.plain(group), loc="left")
    low, high = axes[0, 0].get_ylim()
    if low < 0 < high:
        for ax in axes.flat[: len(groups)]:
            ax.axhline(0, color=style.REFERENCE, lw=1, ls="--", label="_zero")
    for spare in axes.flat[len(groups) :]:
        spare.remove()
    for ax in axes.flat[len(groups) - axes.shape[1] : len(groups)]:  # above an empty place, too
        ax.tick_params(labelbottom=True)
    figure.supxlabel("λ", size=12, color=style.INK)
    figure.supylabel(label, size=12, color=style.INK)
    if len(found) > 1:
        handles, names = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=2, framealpha=0)
    return figure


def readings_at(fixed: xr.Dataset, moved: xr.Dataset, dim: str, lam: float, limits: tuple[float, float]) -> Figure:
    """Both readings at one λ of their grids, as two series of a forest, per 10,000.

    Raises AuditInputError when either lies over other dims than ``dim`` and ``lam`` or lacks ``lam``, and for groups
    that are not the same in both.

    Examples
    --------
    >>> import auditlib as al
    >>> grid = xr.DataArray([0.2, 0.8], {"lam": [0.2, 0.8]}, ["lam"])
    >>> found = al.benefit_interval(al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25"), 0.15, grid)
    >>> readings_at(found, found, "group", 0.8, (9000, 10000)).axes[0].get_xlabel()
    'Gap in sNB per 10,000'
    """
    both = {"threshold held": fixed, "harm held": _same(fixed, moved, dim)}
    rows = [_rows(found, (dim, "lam"), lam=lam).assign(series=series) for series, found in both.items()]
    figure, ax = plt.subplots(figsize=(style.WIDTH, 3.4), layout="none")
    figure.subplots_adjust(left=0.22, right=0.97, bottom=0.16, top=0.86)
    gaps.forest(pd.concat(rows, ignore_index=True), label="Gap in sNB per 10,000", ax=ax).set_xlim(*limits)
    return figure


def _same(fixed: xr.Dataset, moved: xr.Dataset, dim: str) -> xr.Dataset:
    """The second reading with the groups in the order of the first."""
    for found in (fixed, moved):
        checks.over(found, (dim, "lam"), LIMITS)
    return checks.aligned(fixed, moved, [dim], "the reading with the harm held", "that with the threshold held")


def plane(
    found: xr.Dataset,
    *,
    a: str,
    b: str,
    above: str = "above 0",
    below: str = "below 0",
    point: tuple[float, float] | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Where a conclusion holds when two groups have treatment effects of their own.

    One colour where the interval lies above 0, another where it lies below, none where it contains 0. The solid line
    is where the estimate is 0, the dotted diagonal where both groups have one λ. The legend names what is there.

    Parameters
    ----------
    found : Dataset
        ``estimate``, ``low`` and ``high`` over ``lam_a`` and ``lam_b``.
    a, b : str
        What the axes are called, across and up.
    above, below : str
        What the two conclusions are called.
    point : (λ_a, λ_b), optional
        A dot.

    Raises
    ------
    AuditInputError
        When ``found`` lies over other dims, or has not at least two values of each λ, in rising order.

    Examples
    --------
    >>> grid = [0.2, 0.5, 0.8]
    >>> value = xr.DataArray(np.subtract.outer(grid, grid), {"lam_a": grid, "lam_b": grid}, ["lam_a", "lam_b"])
    >>> found = xr.Dataset({"estimate": value, "low": value - 0.1, "high": value + 0.1})
    >>> plane(found, a="women", b="men").get_xlabel()
    'λ, women'
    """
    checks.over(found, ("lam_a", "lam_b"), LIMITS)
    x, y = found["lam_a"].values, found["lam_b"].values
    for name, values in (("lam_a", x), ("lam_b", y)):
        if len(values) < 2 or not (np.diff(values) > 0).all():
            raise AuditInputError(f"{name}: a plane needs at least two values of it, in rising order.")
    ax = ax or plt.subplots(figsize=(style.WIDTH, 4.3))[1]
    estimate, low, high = (found[name].transpose("lam_b", "lam_a").values for name in LIMITS)
    keys = []
    for values, colour, name in ((low, style.GROUPS[0], above), (-high, style.GROUPS[1], below)):
        if (values > 0).any():
            ax.contourf(x, y, values, levels=[0, np.inf], colors=[colour], alpha=0.45)
            keys.append(Patch(fc=colour, ec=style.MUTED, alpha=0.45, label=style.plain(name)))
    if estimate.min() < 0 < estimate.max():
        ax.contour(x, y, estimate, levels=[0], colors=[style.INK], linewidths=1.5)
    ends = [max(x[0], y[0]), min(x[-1], y[-1])]
    ax.plot(ends, ends, color=style.INK, lw=1, ls=":", label="_common")
    if point is not None:
        ax.plot(*point, "o", color=style.INK, ms=8, label="_point")
    ax.grid(visible=False)
    ax.set(xlabel=f"λ, {style.plain(a)}", ylabel=f"λ, {style.plain(b)}", xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    ax.xaxis.set_major_locator(MultipleLocator(0.2))
    ax.yaxis.set_major_locator(MultipleLocator(0.2))
    if legend:
        if not ((low > 0) | (high < 0)).all():
            keys.append(Patch(fc=style.PAPER, ec=style.MUTED, alpha=0.45, label="not settled"))
        across = 3 if len(above + below) < 26 else 2  # a longer row would make the figure wider, its text smaller
        options = {"ncols": across, "framealpha": 0, "columnspacing": 1}
        ax.legend(handles=keys, loc="lower center", bbox_to_anchor=(0.45, 1.0), **options)
    return ax


def two_lambdas(
    found: xr.Dataset,
    regions: xr.Dataset,
    *,
    a: str,
    b: str,
    lam_a: float,
    lam_b: float,
    limits: tuple[float, float],
    names: tuple[str, str] = ("above 0", "below 0"),
) -> Figure:
    """Gaps of several policies at one pair of treatment effects, per 10,000, and below where the pair lies in a plane.

    ``found`` has ``estimate``, ``low`` and ``high`` over ``policy``, ``lam_a`` and ``lam_b``, ``regions`` and ``names``
    are as for ``plane``; AuditInputError when either lies over other dims, or the pair is not in the grid of ``found``.
    ``limits`` are the ends of the axis of gaps.

    Examples
    --------
    >>> grid = [0.2, 0.5, 0.8]
    >>> value = xr.DataArray(np.subtract.outer(grid, grid), {"lam_a": grid, "lam_b": grid}, ["lam_a", "lam_b"])
    >>> one = xr.Dataset({"estimate": value, "low": value - 0.1, "high": value + 0.1})
    >>> pair = {"lam_a": 0.2, "lam_b": 0.8, "limits": (-9000, 9000)}
    >>> len(two_lambdas(one.expand_dims(policy=["model"]), one, a="women", b="men", **pair).axes)
    2
    """
    rows = _rows(found, ("policy", "lam_a", "lam_b"), lam_a=lam_a, lam_b=lam_b)
    figure, (upper, lower) = plt.subplots(2, 1, height_ratios=[1, 2.4], figsize=(style.WIDTH, 5.6), layout="none")
    figure.subplots_adjust(left=0.22, right=0.97, bottom=0.1, top=0.98, hspace=0.5)  # many frames: no layout to solve
    gaps.forest(rows, label=f"Gap {style.plain(a)} − {style.plain(b)} per 10,000", ax=upper).set_xlim(*limits)
    plane(regions, a=a, b=b, above=names[0], below=names[1], point=(lam_a, lam_b), ax=lower)
    return figure
