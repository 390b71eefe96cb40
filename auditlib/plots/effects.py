"""What follows from another treatment effect λ: values over λ, planes of two λs, and (from ``fieller``) sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from auditlib.benefit import UNIT
from auditlib.errors import AuditInputError
from auditlib.plots import checks, gaps, style
from auditlib.plots.fieller import rays, sets

__all__ = ["over_lambda", "plane", "rays", "readings", "readings_at", "sets", "two_lambdas"]

STROKES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))  # beside the colours, for those who see none
LIMITS = ("estimate", "low", "high")
TICKS = [0.2, 0.5, 0.8]


def _rows(found: xr.Dataset, dims: Sequence[str], **where: float) -> pd.DataFrame:
    """Rows of a forest, per 10,000, at the place ``where`` of the grid; the first dim gives the names."""
    checks.over(found, dims, LIMITS)
    at = {name: checks.on_grid(name, value, found[name]) for name, value in where.items()}
    held = UNIT * found[list(LIMITS)].isel(at).reset_coords(drop=True)
    return held.to_dataframe().rename_axis("name").reset_index()


def over_lambda(
    found: xr.Dataset,
    dim: str,
    *,
    label: str = "sNB per 10,000",
    colours: Mapping[str, str] | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Values over the treatment effect, one line and one band of intervals a group, per 10,000.

    Parameters
    ----------
    found : Dataset
        ``estimate``, ``low`` and ``high`` over ``dim``, the groups, and ``lam``, as sNB: they are multiplied here.
    colours : mapping of level to colour, optional
        So that a group keeps its colour from figure to figure.

    Raises
    ------
    AuditInputError
        When ``found`` lies over other dims, or a level has no colour.

    Examples
    --------
    >>> import auditlib as al
    >>> table = al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
    >>> lam = xr.DataArray([0.2, 0.8], {"lam": [0.2, 0.8]}, ["lam"])
    >>> ax = over_lambda(al.benefit_interval(table, 0.15, lam), "group")
    >>> [line.get_label() for line in ax.lines]
    ['Women', 'Men']
    """
    checks.over(found, (dim, "lam"), LIMITS)
    ax = ax or plt.subplots()[1]
    names = [str(level) for level in found[dim].values]
    known = style.group_colours(names) if colours is None else dict(colours)
    if absent := [name for name in names if name not in known]:
        raise AuditInputError(f"colours: none for {', '.join(map(repr, absent))}.")
    if found["estimate"].min() < 0 < found["estimate"].max():
        ax.axhline(0, color=style.REFERENCE, lw=1, ls="--", label="_zero")
    for k, name in enumerate(names):
        held = UNIT * found[list(LIMITS)].isel({dim: k}, drop=True)
        stroke = STROKES[list(known).index(name) % len(STROKES)]
        ax.fill_between(held["lam"], held["low"], held["high"], color=known[name], alpha=0.2, lw=0)
        ax.plot(held["lam"], held["estimate"], color=known[name], ls=stroke, label=style.plain(name))
    ax.set(xlabel="λ", ylabel=label)
    if legend:
        ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=min(3, len(names)), framealpha=0)
    return ax


def readings(fixed: xr.Dataset, moved: xr.Dataset, dim: str, **options: object) -> Figure:
    """Two readings of a changing λ side by side: the threshold held, and the harm of a false positive held.

    ``fixed`` and ``moved`` are Datasets of the same groups as for ``over_lambda``, which takes the ``options`` and
    raises what is wrong.

    Examples
    --------
    >>> import auditlib as al
    >>> lam = xr.DataArray([0.2, 0.8], {"lam": [0.2, 0.8]}, ["lam"])
    >>> found = al.benefit_interval(al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25"), 0.15, lam)
    >>> [ax.get_title() for ax in readings(found, found, "group").axes]
    ['threshold held', 'harm held']
    """
    moved = _same(fixed, moved, dim)
    figure, axes = plt.subplots(1, 2, sharey=True, figsize=(6.2, 3.9))
    for ax, found, title in zip(axes, (fixed, moved), ("threshold held", "harm held"), strict=True):
        over_lambda(found, dim, ax=ax, legend=False, **options)  # type: ignore[arg-type]
        ax.set_title(title)
    axes[1].set_ylabel("")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(3, len(labels)), framealpha=0)
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

    One colour where the interval lies above 0, another where it lies below, none where it contains 0. The line in
    ink is where the estimate is 0, the dotted diagonal where both groups have one λ.

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
    for values, colour in ((low, style.GROUPS[0]), (-high, style.GROUPS[1])):
        if (values > 0).any():
            ax.contourf(x, y, values, levels=[0, np.inf], colors=[colour], alpha=0.45)
    if estimate.min() < 0 < estimate.max():
        ax.contour(x, y, estimate, levels=[0], colors=[style.INK], linewidths=1.5)
    ends = [max(x[0], y[0]), min(x[-1], y[-1])]
    ax.plot(ends, ends, color=style.INK, lw=1, ls=":", label="_common")
    if point is not None:
        ax.plot(*point, "o", color=style.INK, ms=8, label="_point")
    ax.grid(visible=False)
    ax.set(xlabel=f"λ, {style.plain(a)}", ylabel=f"λ, {style.plain(b)}", xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    if legend:
        named = {above: style.GROUPS[0], below: style.GROUPS[1], "not settled": style.PAPER}
        keys = [Patch(fc=colour, ec=style.MUTED, alpha=0.45, label=style.plain(name)) for name, colour in named.items()]
        ax.legend(handles=keys, loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=3, framealpha=0, columnspacing=1)
    return ax


def two_lambdas(
    found: xr.Dataset, regions: xr.Dataset, *, a: str, b: str, lam_a: float, lam_b: float, limits: tuple[float, float]
) -> Figure:
    """Gaps of several policies at one pair of treatment effects, per 10,000, and where the pair lies in the plane.

    ``found`` has ``estimate``, ``low`` and ``high`` over ``policy``, ``lam_a`` and ``lam_b``, ``regions`` is as for
    ``plane``; AuditInputError when either lies over other dims, or the pair is not in the grid of ``found``. ``limits``
    are the ends of the axis of gaps.

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
    figure, (left, right) = plt.subplots(1, 2, width_ratios=[1.2, 1], figsize=(6.2, 3.2), layout="none")
    figure.subplots_adjust(left=0.2, right=0.98, bottom=0.19, top=0.95, wspace=0.4)  # many frames: no layout to solve
    gaps.forest(rows, label="per 10,000", ax=left).set_xlim(*limits)
    left.locator_params(axis="x", nbins=3)
    plane(regions, a=a, b=b, point=(lam_a, lam_b), legend=False, ax=right).set(xticks=TICKS, yticks=TICKS)
    return figure
