"""Rates, gaps and what resampling does to them; every estimate with its interval and its n."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from auditlib.errors import AuditInputError
from auditlib.plots import checks, style

OUTCOMES = {"diabetes130": "readmission", "cdc_diabetes": "diabetes", "brfss2022_heart": "heart attack"}


def rates(found: xr.Dataset, dim: str, *, label: str = "Sensitivity", ax: Axes | None = None) -> Axes:
    """Each group's rate with its interval, and how many people it rests on.

    Parameters
    ----------
    found : Dataset of ``rate_interval``
        ``estimate``, ``low``, ``high`` and ``n`` over ``dim`` alone.
    dim : str
        The group dim.
    label : str
        Name of the metric, for the axis.

    Raises
    ------
    AuditInputError
        When ``found`` lies over other dims.

    Examples
    --------
    >>> import auditlib as al
    >>> table = al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
    >>> rates(al.rate_interval(table), "group").get_xlabel()
    'Sensitivity'
    """
    style.check_over(found, dim, ("estimate", "low", "high", "n"))
    ax = ax or plt.subplots(figsize=(style.WIDTH, 0.9 + 0.6 * found.sizes[dim]))[1]
    levels = [style.plain(level) for level in found[dim].values]
    names = [f"{level} (n = {int(n):,})" for level, n in zip(levels, found["n"].values, strict=True)]
    places = np.arange(len(levels))[::-1]
    for place, colour, k in zip(places, style.GROUPS * len(levels), range(len(levels)), strict=False):
        ax.plot([found["low"].values[k], found["high"].values[k]], [place] * 2, color=colour, lw=3)
        ax.plot(found["estimate"].values[k], place, "o", color=colour, ms=9)
    ax.set_yticks(places, names)
    ax.set_ylim(-0.6, len(levels) - 0.4)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(label)
    return ax


def row(name: str, found: xr.Dataset, series: str = "") -> pd.DataFrame:
    """One line of ``forest`` from the Dataset of an interval; AuditInputError when it has dims.

    Examples
    --------
    >>> import auditlib as al
    >>> row("women − men", al.gap_interval(al.parse_confusion("W:8,1,9,2; M:9,1,9,1"), "W", "M")).columns.tolist()
    ['name', 'series', 'estimate', 'low', 'high']
    """
    checks.single(found, ("estimate", "low", "high"), f"the interval of {name!r}")
    limits = {key: [float(found[key])] for key in ("estimate", "low", "high")}
    return pd.DataFrame({"name": [name], "series": [series], **limits})


def words(found: xr.Dataset) -> str:
    """An estimate with its interval in words, for alt texts and titles; AuditInputError when it has dims.

    Examples
    --------
    >>> import auditlib as al
    >>> words(al.gap_interval(al.parse_confusion("W:8,1,9,2; M:9,1,9,1"), "W", "M"))
    '−0.10, 95% interval −0.42 to +0.24'
    """
    checks.single(found, ("estimate", "low", "high"), "the interval")
    estimate, low, high = (f"{float(found[key]):+.2f}".replace("-", "−") for key in ("estimate", "low", "high"))
    return f"{estimate}, 95% interval {low} to {high}"


def _broken(name: str) -> str:
    """A long name on two lines, broken after a colon or a minus."""
    if len(name) <= 20:
        return name
    mark = ": " if ": " in name else " − "
    head, found, tail = name.partition(mark)
    return f"{head}{found.rstrip()}\n{tail}" if found else name


def forest(table: pd.DataFrame, *, label: str = "Gap", ax: Axes | None = None) -> Axes:
    """Gaps with their intervals, one below the other; a second series stands just beneath the first.

    Parameters
    ----------
    table : DataFrame
        Columns ``name``, ``estimate``, ``low``, ``high`` and optionally ``series``; a NaN is left out.
    label : str
        Name of the gap, for the axis.

    Raises
    ------
    AuditInputError
        For missing columns or no row, or for more series than there are colours.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["sex"], "estimate": [-0.1], "low": [-0.2], "high": [0.0]})
    >>> forest(table).get_yticklabels()[0].get_text()
    'sex'
    """
    checks.columns(table, ("name", "estimate", "low", "high"), "gaps.row")
    names = list(dict.fromkeys(table["name"]))
    series = list(dict.fromkeys(table["series"])) if "series" in table else [""]
    colours = style.group_colours(series)
    ax = ax or plt.subplots(figsize=(style.WIDTH, 1.3 + 0.26 * len(names) * (0.5 + len(series))))[1]
    ax.axvline(0, color=style.REFERENCE, lw=1, ls="--")
    for k, name in enumerate(series):
        rows = table[table["series"] == name] if name else table
        place = len(names) - 1 - np.array([names.index(one) for one in rows["name"]]) - 0.26 * k
        place = place + 0.13 * (len(series) - 1)
        ax.hlines(place, rows["low"], rows["high"], color=colours[name], lw=3)
        label_ = style.plain(name) if name else None
        ax.plot(rows["estimate"], place, "osD^"[k % 4], color=colours[name], ms=7, label=label_)
    ax.set_yticks(np.arange(len(names))[::-1], [style.plain(_broken(name)) for name in names])
    ax.set_ylim(-0.7, len(names) - 0.3)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(label)
    if len(series) > 1:
        across = len(series) if len("".join(map(str, series))) < 40 else 1
        ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=across, handletextpad=0.3, framealpha=0)
    return ax


def names(table: pd.DataFrame) -> pd.Series:
    """What each comparison of ``studies.gap_table`` is called on a page: its outcome and its two groups.

    >>> table = pd.DataFrame({"comparison": ["gap-cdc_diabetes-age"], "groups": ["18–44 − 65+"]})
    >>> names(table).tolist()
    ['diabetes: 18–44 − 65+']
    >>> names(table.assign(comparison="gap-diabetes130-race", groups="AfricanAmerican − Caucasian")).tolist()
    ['readmission: African American − Caucasian']
    """
    outcome = table["comparison"].str.split("-").str[1].map(OUTCOMES)
    groups = table["groups"].str.replace(", Non-Hispanic", "").str.replace(" only", "")
    groups = groups.str.replace("AfricanAmerican", "African American")
    return outcome + ": " + groups


def reproduction(table: pd.DataFrame) -> Axes:
    """Every comparison of ``studies.gap_table``: Newcombe's interval, and the published one beside it.

    Parameters
    ----------
    table : DataFrame of ``auditlib.studies.gap_table``

    Examples
    --------
    >>> from auditlib import studies
    >>> reproduction(studies.gap_table(replicates=10)).get_xlabel()
    'Sensitivity gap'
    """
    columns = {"name": names(table), "series": "this book", "estimate": table["gap"]}
    ours = pd.DataFrame({**columns, "low": table["newcombe_low"], "high": table["newcombe_high"]})
    theirs = ours.assign(series="published", **{
        new: table[f"published_{old}"] for new, old in (("estimate", "gap"), ("low", "low"), ("high", "high"))
    })  # fmt: skip
    return forest(pd.concat([ours, theirs.dropna()]), label="Sensitivity gap")


def replicates(
    values: xr.DataArray | np.ndarray,
    intervals: Mapping[str, xr.Dataset],
    estimate: float | None = None,
    *,
    label: str = "Gap",
    bins: int | np.ndarray = 40,
    ax: Axes | None = None,
) -> Axes:
    """Histogram of bootstrap replicates, with one bar for each interval and the estimate underneath.

    Parameters
    ----------
    values : replicates, one dim
    intervals : mapping of name to Dataset
        Each with ``low`` and ``high``; the first also colours the histogram.
    estimate : float, optional
        The value in the data, a dot on each bar.
    bins : int or array of edges
        Values on a lattice (such as multiples of 0.01) want edges between them.

    Raises
    ------
    AuditInputError
        When ``values`` have several dims, without an interval, or for more intervals than there are colours.

    Examples
    --------
    >>> import auditlib as al
    >>> values = xr.DataArray(np.linspace(-0.1, 0.1, 101), dims="replicate")
    >>> replicates(values, {"percentile": al.interval(values)}, 0.0).get_ylabel()
    'Replicates'
    """
    checks.by_name(intervals, "interval(…)")
    if np.ndim(values) != 1 or not intervals:
        raise AuditInputError(
            f"replicates over one dim and an interval are needed; got {np.shape(values)}, {len(intervals)}"
        )
    series = style.group_colours(intervals)
    ax = ax or plt.subplots()[1]
    defined = np.asarray(values)[np.isfinite(values)]
    heights, edges = np.histogram(defined, bins=bins)
    middles, first = (edges[:-1] + edges[1:]) / 2, next(iter(intervals.values()))
    inside = (middles >= float(first["low"])) & (middles <= float(first["high"]))
    colours = np.where(inside, style.GROUPS[0], style.MUTED)
    ax.bar(edges[:-1], heights, np.diff(edges), align="edge", color=colours, edgecolor=style.PAPER, lw=0.4)
    for k, (name, found) in enumerate(intervals.items()):
        low, high, base = float(found["low"]), float(found["high"]), -0.08 * (k + 1) * heights.max()
        colour = style.INK if k == 0 else series[name]
        ax.plot([low, high], [base] * 2, color=colour, lw=4, solid_capstyle="butt", label=style.plain(name))
        if estimate is not None:
            ax.plot(estimate, base, "o", color=colour, ms=9)
    ax.axvline(0, color=style.REFERENCE, lw=1, ls="--")
    ax.grid(axis="x", visible=False)
    ax.set(xlabel=label, ylabel="Replicates")
    ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= heights.max()])
    if len(intervals) > 1:
        ax.legend()
    return ax


def redrawn(values: xr.DataArray, found: xr.Dataset, estimate: float, *, first: int = 30, label: str = "Gap") -> Figure:
    """The first replicates as dots, and all of them as a histogram with the interval underneath.

    Examples
    --------
    >>> import auditlib as al
    >>> values = xr.DataArray(np.linspace(-0.1, 0.1, 101), dims="replicate")
    >>> len(redrawn(values, al.interval(values), 0.0).axes)
    2
    """
    first = min(first, len(values))
    figure, (top, bottom) = plt.subplots(2, 1, sharex=True, height_ratios=[1, 4], figsize=(style.WIDTH, 4.0))
    top.plot(values[:first], np.zeros(first), "o", color=style.GROUPS[0], alpha=0.5)
    top.axvline(0, color=style.REFERENCE, lw=1, ls="--")
    top.set(yticks=[], title=f"The first {first} redrawn samples")
    replicates(values, {"percentile": found}, estimate, label=label, ax=bottom)
    bottom.xaxis.set_major_locator(MaxNLocator(6))
    return figure


def coverage(table: pd.DataFrame, *, nominal: float = 0.95, ax: Axes | None = None) -> Axes:
    """Share of simulated audits whose interval contains the truth, by positives a group.

    Parameters
    ----------
    table : DataFrame
        Columns ``x``, ``coverage``, ``audits`` and ``series``; bars are 95% Monte-Carlo limits.

    Raises
    ------
    AuditInputError
        For more series than there are colours.

    Examples
    --------
    >>> table = pd.DataFrame({"x": [12, 25], "coverage": [0.9, 0.95], "audits": 1000, "series": "ours"})
    >>> coverage(table).get_ylabel()
    'Coverage'
    """
    colours = list(style.group_colours(dict.fromkeys(table["series"])).values())
    ax = ax or plt.subplots()[1]
    x = sorted(set(table["x"]))
    ax.axhline(nominal, color=style.REFERENCE, lw=1, ls="--")
    for k, (name, rows) in enumerate(table.groupby("series", sort=False)):
        rows = rows.sort_values("x")
        place = np.array([x.index(value) for value in rows["x"]]) + 0.08 * (k - 0.5)
        error = 1.96 * np.sqrt(rows["coverage"] * (1 - rows["coverage"]) / rows["audits"])
        ax.errorbar(
            place, rows["coverage"], error, fmt="osD^"[k % 4] + "-", color=colours[k], ms=7, label=style.plain(name)
        )
    ax.set_xticks(range(len(x)), [f"{value:g}" for value in x])
    ax.set(ylabel="Coverage", xlabel="Positives in each group")
    ax.legend(loc="lower right")
    return ax
