"""Predictive values and prevalence: people in natural frequencies, and a gap over the common prevalence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, StrMethodFormatter
from scipy.special import logit

from auditlib.counts.confusions import CELLS
from auditlib.errors import AuditInputError
from auditlib.metrics import ppv
from auditlib.plots import checks, gaps, style
from auditlib.plots.words import LIMITS

PER = 1_000  # people, in the pictures
MANY = 10_000  # where prevalence may be low, and a thousand would round to a gap of the wrong sign
TICKS = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99)
FEWER = (0.001, 0.01, 0.1, 0.5, 0.9, 0.99)  # on a shorter axis
RIGHT, WRONG = style.GROUPS[:2]  # flagged, with and without the outcome


def people(table: xr.Dataset, dim: str, found: xr.Dataset | None = None) -> Figure:
    """Of 1,000 people of each group: with and without the outcome, those flagged filled, and who the flagged are.

    Parameters
    ----------
    table : confusion table over ``dim`` alone
        Counted, or expected (``standardize``).
    dim : str
        The group dim.
    found : Dataset, optional
        ``estimate``, ``low`` and ``high`` of PPV over ``dim``, for the titles.

    Raises
    ------
    AuditInputError
        When the table or ``found`` lies over other dims, or a cell is not defined.

    Examples
    --------
    >>> import auditlib as al
    >>> table = al.confusion(tp=[56, 32], fn=[14, 8], fp=[186, 192], tn=[744, 768], sex=["men", "women"])
    >>> [ax.get_title("left") for ax in people(table, "sex").axes]
    ['men: PPV 23%', 'women: PPV 14%']
    """
    checks.over(table, (dim,), CELLS)
    size = (style.WIDTH, 0.9 + 1.25 * table.sizes[dim])
    figure, axes = plt.subplots(table.sizes[dim], 1, sharex=True, squeeze=False, figsize=size)
    draw_people(axes[:, 0], table, dim, found, PER)
    figure.legend(
        handles=people_key(), loc="outside upper center", ncols=3, framealpha=0, columnspacing=0.8, handlelength=0.8
    )
    return figure


def people_key() -> list[Patch]:
    names = {"flagged, outcome": RIGHT, "flagged, no outcome": WRONG, "not flagged": style.GRID}
    return [Patch(fc=colour, ec=style.MUTED, lw=0.6, label=name) for name, colour in names.items()]


def draw_people(axes: Any, table: xr.Dataset, dim: str, found: xr.Dataset | None, per: int) -> None:
    cells = np.stack([table[cell].values.astype(np.float64) for cell in CELLS])
    if not np.isfinite(cells).all() or not (cells.sum(axis=0) > 0).all():
        raise AuditInputError("a group is empty, or some of its cells are not defined: leave it out.")
    shares = per * cells / cells.sum(axis=0)
    if found is not None:
        checks.over(found, (dim,), LIMITS)
        found = checks.aligned(table, found, [dim], "the predictive values", "the table")
    for k, (ax, level) in enumerate(zip(axes, table[dim].values, strict=True)):
        tp, fp, fn, tn = shares[:, k]
        for place, (left, right, colour, rest) in enumerate(((tp, fn, RIGHT, style.GRID), (fp, tn, WRONG, style.GRID))):
            ax.barh(1 - place, left, 0.7, color=colour)
            ax.barh(1 - place, right, 0.7, left=left, color=rest)
        ax.barh(-1, tp, 0.7, color=RIGHT)
        ax.barh(-1, fp, 0.7, left=tp, color=WRONG)
        tp, fp = round(tp), round(fp)
        words = f"{tp:,} of {tp + fp:,}"
        inside = tp + fp > (1 - 0.025 * len(words)) * per  # else the words would run out of the picture
        side, colour, step = ("right", style.PAPER, -0.015) if inside else ("left", style.INK, 0.015)
        place = tp + fp + step * per
        ax.text(place, -1, words, va="center", ha=side, color=colour, fontsize=11)
        ax.set_yticks([1, 0, -1], ["outcome", "no outcome", "flagged"])
        ax.set(xlim=(0, per), ylim=(-1.6, 1.6))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        ax.grid(axis="y", visible=False)
        value = ppv(table).isel({dim: k}) if found is None else found.isel({dim: k})
        ax.set_title(f"{style.plain(level)}: PPV {told(value)}", loc="left")
    axes[-1].set_xlabel(f"People, of {per:,}")


def told(value: xr.DataArray | xr.Dataset) -> str:
    """A share in percent, with its interval where there is one."""
    if isinstance(value, xr.DataArray):
        return f"{float(value):.0%}"
    estimate, low, high = (100 * float(value[name]) for name in LIMITS)
    return f"{estimate:.1f}% ({low:.1f}–{high:.1f}%)"


def pairs(found: xr.Dataset, titles: Mapping[str, str], wide: Callable[[str], bool]) -> Figure:
    """Gaps as counted and at one prevalence in points, one row a comparison; the wide ones below on their own axis.

    Parameters
    ----------
    found : Dataset
        ``estimate``, ``low`` and ``high`` over ``comparison`` and ``way``; a way is a series.
    titles : mapping of a comparison to its name on the page
    wide : callable
        Whether a comparison, by its key, belongs to the lower panel.

    Raises
    ------
    AuditInputError
        For other dims, a comparison without title, or when one of the panels would be empty.

    Examples
    --------
    >>> gap = xr.DataArray([[0.1, 0.0], [0.4, 0.3]], {"comparison": ["sex", "age"], "way": ["counted", "pooled"]})
    >>> found = xr.Dataset({"estimate": gap, "low": gap - 0.1, "high": gap + 0.1})
    >>> figure = pairs(found, {"sex": "men − women", "age": "young − old"}, lambda name: name == "age")
    >>> [ax.get_yticklabels()[0].get_text() for ax in figure.axes]
    ['men − women', 'young − old']
    """
    checks.over(found, ("comparison", "way"), LIMITS)
    keys = list(map(str, found["comparison"].values))
    parts = [[key for key in keys if bool(wide(key)) == below] for below in (False, True)]
    if not set(keys) <= set(titles) or not all(parts):
        raise AuditInputError("each comparison needs a title, and wide must say yes to some and not to all.")
    size, heights = (style.WIDTH, 1.4 + 0.65 * len(keys)), [len(part) for part in parts]
    figure, axes = plt.subplots(2, 1, figsize=size, height_ratios=heights)
    for ax, part in zip(axes, parts, strict=True):
        table = (100 * found[list(LIMITS)].sel(comparison=part)).to_dataframe().reset_index()
        table = table.assign(name=table["comparison"].map(titles), series=table["way"])
        gaps.forest(table, label="PPV gap, in points", ax=ax)
    if axes[1].get_legend():
        axes[1].get_legend().remove()
    return figure


def curves(
    found: Mapping[str, xr.Dataset],
    marks: Mapping[str, Mapping[str, float]] | None = None,
    *,
    label: str = "PPV gap, in points",
) -> Figure:
    """A gap over the common prevalence with its band in points, one panel a comparison, on a scale of odds.

    Parameters
    ----------
    found : mapping of a comparison to its Dataset
        ``estimate``, ``low`` and ``high`` over ``prevalence`` alone, in rising order; differences of shares.
    marks : mapping of a comparison to a mapping of name to prevalence, optional
        Prevalences of the grid at which the interval is drawn; one name has one look in all panels.

    Raises
    ------
    AuditInputError
        Without a comparison, for other dims, prevalences outside (0, 1) or not rising, or marks that are not in the
        grid or more than there are colours.

    Examples
    --------
    >>> import auditlib as al
    >>> grid = xr.DataArray([0.1, 0.5], {"prevalence": [0.1, 0.5]}, ["prevalence"])
    >>> table = al.standardize(al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25"), grid)
    >>> gap = al.gap(al.ppv(table), "Women", "Men")
    >>> figure = curves({"sex": xr.Dataset({"estimate": gap, "low": gap - 0.1, "high": gap + 0.1})})
    >>> figure.axes[0].get_ylabel()
    'PPV gap, in points'
    """
    checks.by_name(found, "interval(…, estimate=…)")
    if not found:
        raise AuditInputError("found: give at least one comparison by name.")
    size = (style.WIDTH, 1.2 + 1.9 * len(found))
    figure, axes = plt.subplots(len(found), 1, sharex=True, squeeze=False, figsize=size)
    of_panel = [dict((marks or {}).get(name, {})) for name in found]
    colours = style.group_colours(dict.fromkeys(name for one in of_panel for name in one))
    looks = {name: (colour, shape) for (name, colour), shape in zip(colours.items(), "osD^vP", strict=False)}
    for ax, (name, one), marked in zip(axes[:, 0], found.items(), of_panel, strict=True):
        draw_curve(ax, one, label)
        _mark(ax, one, marked, looks)
        ax.set_title(style.plain(name), loc="left")
    axes[-1, 0].set_xlabel("Common prevalence")
    shown = [zip(*ax.get_legend_handles_labels(), strict=True) for ax in axes[:, 0]]
    handles = {label: handle for each in shown for handle, label in each}
    if handles:
        figure.legend(handles=handles.values(), loc="outside upper center", ncols=2, framealpha=0, columnspacing=1)
    return figure


def _mark(ax: Axes, found: xr.Dataset, marks: Mapping[str, float], looks: Mapping[str, tuple[str, str]]) -> None:
    for name, value in marks.items():
        here = found.isel(prevalence=checks.on_grid(name, value, found["prevalence"]))
        draw_point(ax, float(logit(here["prevalence"])), here, *looks[name], name)


def draw_point(ax: Axes, x: float, found: xr.Dataset, colour: str, shape: str, label: str) -> None:
    """An estimate with its interval, in points."""
    at = [100 * float(found[limit]) for limit in LIMITS]
    ax.plot([x, x], at[1:], color=colour, lw=2)
    ax.plot(x, at[0], shape, color=colour, ms=8, label=style.plain(label))


def draw_curve(ax: Axes, found: xr.Dataset, label: str) -> None:
    checks.over(found, ("prevalence",), LIMITS)
    grid = found["prevalence"].values
    if not ((grid > 0) & (grid < 1)).all() or not (np.diff(grid) > 0).all():
        raise AuditInputError("prevalence must lie between 0 and 1, in rising order.")
    x = logit(grid)
    ax.axhline(0, color=style.REFERENCE, lw=1, ls="--")
    low, high = 100 * found["low"], 100 * found["high"]
    ax.fill_between(x, low, high, **style.region(style.MUTED, 0.25))
    ax.plot(x, 100 * found["estimate"], color=style.INK, lw=1.6)
    ax.set_xlim(x[0], x[-1])
    ax.xaxis.set_major_locator(FixedLocator(logit(TICKS)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda place, _: f"{100 / (1 + np.exp(-place)):.2g}%"))
    ax.set_ylabel(label)
