"""What follows from another treatment effect λ: values over λ, planes of two λs, and sets that may be unbounded."""

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
from auditlib.plots import gaps, style

STROKES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))  # beside the colours, for those who see none
LIMITS = ("estimate", "low", "high")
TICKS = [0.2, 0.5, 0.8]


def _check(found: xr.Dataset, dims: Sequence[str]) -> None:
    for name in LIMITS:
        held = found[name].dims if name in found else "absent"
        if set(held) != set(dims):
            raise AuditInputError(f"{name} must lie over {' and '.join(map(repr, dims))} alone, but is {held}.")


def _rows(found: xr.Dataset, dims: Sequence[str], **where: float) -> pd.DataFrame:
    """Rows of a forest, per 10,000, at the place of the grid nearest to ``where``; the first dim gives the names."""
    _check(found, dims)
    held = UNIT * found[list(LIMITS)].sel(where, method="nearest").drop_vars(list(where))
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
    _check(found, (dim, "lam"))
    ax = ax or plt.subplots()[1]
    names = [str(level) for level in found[dim].values]
    known = style.group_colours(names) if colours is None else dict(colours)
    if absent := [name for name in names if name not in known]:
        raise AuditInputError(f"colours: none for {', '.join(map(repr, absent))}.")
    if found["estimate"].min() < 0 < found["estimate"].max():
        ax.axhline(0, color=style.REFERENCE, lw=1, ls="--", label="_zero")
    for name in names:
        held = UNIT * found[list(LIMITS)].sel({dim: name}, drop=True)
        stroke = STROKES[list(known).index(name) % len(STROKES)]
        ax.fill_between(held["lam"], held["low"], held["high"], color=known[name], alpha=0.2, lw=0)
        ax.plot(held["lam"], held["estimate"], color=known[name], ls=stroke, label=style.plain(name))
    ax.set(xlabel="λ", ylabel=label)
    if legend:
        ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=min(3, len(names)), framealpha=0)
    return ax


def readings(fixed: xr.Dataset, moved: xr.Dataset, dim: str, **options: object) -> Figure:
    """Two readings of a changing λ side by side: the threshold held, and the harm of a false positive held.

    ``fixed`` and ``moved`` are Datasets as for ``over_lambda``, which takes the ``options`` and raises what is wrong.

    Examples
    --------
    >>> import auditlib as al
    >>> lam = xr.DataArray([0.2, 0.8], {"lam": [0.2, 0.8]}, ["lam"])
    >>> found = al.benefit_interval(al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25"), 0.15, lam)
    >>> [ax.get_title() for ax in readings(found, found, "group").axes]
    ['threshold held', 'harm held']
    """
    figure, axes = plt.subplots(1, 2, sharey=True, figsize=(6.2, 3.9))
    for ax, found, title in zip(axes, (fixed, moved), ("threshold held", "harm held"), strict=True):
        over_lambda(found, dim, ax=ax, legend=False, **options)  # type: ignore[arg-type]
        ax.set_title(title)
    axes[1].set_ylabel("")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(3, len(labels)), framealpha=0)
    return figure


def readings_at(fixed: xr.Dataset, moved: xr.Dataset, dim: str, lam: float, limits: tuple[float, float]) -> Figure:
    """Both readings at the λ nearest to ``lam``, as two series of a forest, per 10,000.

    Raises AuditInputError when either lies over other dims than ``dim`` and ``lam``.

    Examples
    --------
    >>> import auditlib as al
    >>> grid = xr.DataArray([0.2, 0.8], {"lam": [0.2, 0.8]}, ["lam"])
    >>> found = al.benefit_interval(al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25"), 0.15, grid)
    >>> readings_at(found, found, "group", 0.8, (9000, 10000)).axes[0].get_xlabel()
    'Gap in sNB per 10,000'
    """
    figure, ax = plt.subplots(figsize=(style.WIDTH, 3.4), layout="none")
    figure.subplots_adjust(left=0.22, right=0.97, bottom=0.16, top=0.86)
    both = {"threshold held": fixed, "harm held": moved}
    rows = [_rows(found, (dim, "lam"), lam=lam).assign(series=series) for series, found in both.items()]
    gaps.forest(pd.concat(rows, ignore_index=True), label="Gap in sNB per 10,000", ax=ax).set_xlim(*limits)
    return figure


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
        When ``found`` lies over other dims.

    Examples
    --------
    >>> grid = [0.2, 0.5, 0.8]
    >>> value = xr.DataArray(np.subtract.outer(grid, grid), {"lam_a": grid, "lam_b": grid}, ["lam_a", "lam_b"])
    >>> found = xr.Dataset({"estimate": value, "low": value - 0.1, "high": value + 0.1})
    >>> plane(found, a="women", b="men").get_xlabel()
    'λ, women'
    """
    _check(found, ("lam_a", "lam_b"))
    ax = ax or plt.subplots(figsize=(style.WIDTH, 4.3))[1]
    x, y = found["lam_a"].values, found["lam_b"].values
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


def rays(bound: xr.Dataset, ax: Axes) -> Axes:
    """The limits of ``lambda_ratio_bound(table, t, a, b)`` on a plane with λ_a across and λ_b up: λ_b = λ_a/ρ.

    Examples
    --------
    >>> import auditlib as al
    >>> bound = al.lambda_ratio_bound(al.parse_confusion("A:300,400,8900,400; B:100,100,9300,500"), 0.15, "A", "B")
    >>> ax = plt.subplots()[1]
    >>> [round(float(line.get_ydata()[1] / line.get_xdata()[1]), 2) for line in rays(bound, ax).lines]
    [3.79, 2.13]
    """
    limits = ax.get_xlim(), ax.get_ylim()
    for value in (float(bound["low"]), float(bound["high"])):
        if np.isfinite(value) and value > 0:
            end = max(limits[0][1], value * limits[1][1])
            ax.plot([0, end], [0, end / value], color=style.INK, lw=1, ls="--", label="_ray")
    ax.set(xlim=limits[0], ylim=limits[1])
    return ax


def sets(
    found: Mapping[str, xr.Dataset],
    *,
    limits: tuple[float, float],
    label: str,
    reference: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Fieller sets one below the other; a piece that goes on beyond the axis ends in an arrow.

    Parameters
    ----------
    found : mapping of a name to a Dataset of ``tipping_lambda``, ``lambda_ratio_bound`` or ``fieller``
    limits : (float, float)
        The ends of the axis.
    label : str
    reference : float, optional
        Where a dashed line stands.

    Raises
    ------
    AuditInputError
        Without any set.

    Examples
    --------
    >>> import auditlib as al
    >>> table = al.parse_confusion("A:300,400,8900,400; B:100,100,9300,500")
    >>> ax = sets({"A, B": al.lambda_ratio_bound(table, 0.15, "A", "B")}, limits=(0, 2), label="λ_A/λ_B")
    >>> ax.get_yticklabels()[0].get_text()
    'A, B'
    """
    if not found:
        raise AuditInputError("found: no set to draw; give a mapping of names to sets.")
    ax = ax or plt.subplots(figsize=(style.WIDTH, 1.2 + 0.5 * len(found)))[1]
    if reference is not None:
        ax.axvline(reference, color=style.REFERENCE, lw=1, ls="--", label="_reference")
    places = range(len(found))[::-1]
    for place, one in zip(places, found.values(), strict=True):
        low, high, form = float(one["low"]), float(one["high"]), str(one["form"].item())
        outside, everything = [(-np.inf, low), (high, np.inf)], [(-np.inf, np.inf)]
        pieces = {"bounded": [(low, high)], "outside": outside, "all": everything}.get(form, [])
        for start, stop in pieces:
            inside = max(start, limits[0]), min(stop, limits[1])
            if inside[0] > inside[1]:
                continue
            ax.plot(inside, [place] * 2, color=style.GROUPS[0], lw=3, solid_capstyle="butt", label=f"_{form}")
            for end, mark, beyond in ((inside[0], "<", start < limits[0]), (inside[1], ">", stop > limits[1])):
                if beyond:
                    ax.plot(end, place, mark, color=style.GROUPS[0], ms=9, clip_on=False, label="_arrow")
        estimate = float(one["estimate"])
        if limits[0] <= estimate <= limits[1]:
            ax.plot(estimate, place, "o", color=style.GROUPS[0], ms=8, label="_estimate")
    ax.set_yticks(list(places), [style.plain(name) for name in found])
    ax.tick_params(axis="y", pad=9)
    ax.set(xlim=limits, ylim=(-0.6, len(found) - 0.4), xlabel=label)
    ax.grid(axis="y", visible=False)
    return ax


def two_lambdas(
    found: xr.Dataset, regions: xr.Dataset, *, a: str, b: str, lam_a: float, lam_b: float, limits: tuple[float, float]
) -> Figure:
    """Gaps of several policies at one pair of treatment effects, per 10,000, and where the pair lies in the plane.

    ``found`` has ``estimate``, ``low`` and ``high`` over ``policy``, ``lam_a`` and ``lam_b``, ``regions`` is as for
    ``plane``; AuditInputError when either lies over other dims. ``limits`` are the ends of the axis of gaps.

    Examples
    --------
    >>> grid = [0.2, 0.5, 0.8]
    >>> value = xr.DataArray(np.subtract.outer(grid, grid), {"lam_a": grid, "lam_b": grid}, ["lam_a", "lam_b"])
    >>> one = xr.Dataset({"estimate": value, "low": value - 0.1, "high": value + 0.1})
    >>> pair = {"lam_a": 0.2, "lam_b": 0.8, "limits": (-9000, 9000)}
    >>> len(two_lambdas(one.expand_dims(policy=["model"]), one, a="women", b="men", **pair).axes)
    2
    """
    figure, (left, right) = plt.subplots(1, 2, width_ratios=[1.2, 1], figsize=(6.2, 3.2), layout="none")
    figure.subplots_adjust(left=0.2, right=0.98, bottom=0.19, top=0.95, wspace=0.4)  # many frames: no layout to solve
    rows = _rows(found, ("policy", "lam_a", "lam_b"), lam_a=lam_a, lam_b=lam_b)
    gaps.forest(rows, label="per 10,000", ax=left).set_xlim(*limits)
    left.locator_params(axis="x", nbins=3)
    plane(regions, a=a, b=b, point=(lam_a, lam_b), legend=False, ax=right).set(xticks=TICKS, yticks=TICKS)
    return figure
