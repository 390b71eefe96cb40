"""Verdicts site by site, one metric of every fold, κ beside that of random folds and of identical sites, and tiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from auditlib.errors import AuditInputError
from auditlib.plots import checks, style
from auditlib.plots.flips import FAIL, PASS
from auditlib.sites import TIERS
from auditlib.verdicts import LIMITS, verdict

KAPPA = 0.40  # of the tiers of Joy et al.
SIZES = {"o": style.GROUPS[4], "s": style.GROUPS[0], "D": style.GROUPS[3]}  # marker and colour, smallest size first
SHADES = (0.0, 0.2, 0.5, 0.9)  # of tiers, by conditions violated


def verdicts(passes: xr.DataArray, dim: str, positives: Sequence[int]) -> Figure:
    """Verdicts of all sites, a panel an attribute, a row a metric and a column a site, in the order given.

    Parameters
    ----------
    passes : DataArray of ``site_passes``
        1, 0 and NaN over ``metric``, ``attribute`` and `dim`; undefined verdicts are crossed.
    dim : str
        The sites.
    positives : whole number of each site
        Told below the first, the middle and the last column.

    Raises
    ------
    AuditInputError
        For other dims, or as many numbers as there are no sites.

    Examples
    --------
    >>> held = xr.DataArray([[[1.0, 0.0, np.nan]]], dims=("metric", "attribute", "site"))
    >>> held = held.assign_coords(metric=["DI"], attribute=["sex"])
    >>> verdicts(held, "site", [30, 20, 10]).axes[0].get_title("left")
    'sex'
    """
    checks.over(xr.Dataset({"passes": passes}), ["metric", "attribute", dim], ["passes"])
    sites, metrics, attributes = (passes.sizes[name] for name in (dim, "metric", "attribute"))
    if len(positives) != sites:
        raise AuditInputError(f"positives: {len(positives)} numbers for {sites} sites; give one a site.")
    size = (style.WIDTH, 1.1 + attributes * (0.35 + 0.19 * metrics))
    figure, axes = plt.subplots(attributes, 1, figsize=size, sharex=True, squeeze=False)
    for ax, attribute in zip(axes.flat, passes["attribute"].values, strict=True):
        held = passes.sel(attribute=attribute).transpose("metric", dim).values
        ax.add_patch(Rectangle((-0.5, -0.5), sites, metrics, fc=(PASS, 0.15), ec="none"))
        for row, column, length in _runs(held == 0):
            ax.add_patch(Rectangle((column - 0.5, row - 0.42), length, 0.84, fc=FAIL, ec="none"))
        where = np.argwhere(np.isnan(held))
        ax.plot(where[:, 1], where[:, 0], "x", color=style.INK, ms=4, mew=1.3)
        ax.set_yticks(range(metrics), passes["metric"].values)
        ax.set(xlim=(-0.5, sites - 0.5), ylim=(metrics - 0.5, -0.5))
        ax.set_title(style.plain(attribute), loc="left")
        ax.tick_params(length=0)
        ax.grid(visible=False)
    told = sorted({0, (sites - 1) // 2, sites - 1})
    axes[-1, 0].set_xticks(told, [f"{positives[k]:,}" for k in told])
    axes[-1, 0].set_xlabel("Sites, by positives")
    handles = [Patch(fc=(PASS, 0.15), ec=style.MUTED, label="pass"), Patch(fc=FAIL, label="fail")]
    handles.append(Line2D([], [], ls="", marker="x", color=style.INK, ms=5, label="undefined"))  # type: ignore[arg-type]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _runs(held: NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """Row, first column and length of what stands side by side."""
    found = []
    for row, line in enumerate(held):
        steps = np.diff(np.concatenate([[False], line, [False]]).astype(int))
        for start, stop in zip(np.flatnonzero(steps == 1), np.flatnonzero(steps == -1), strict=True):
            found.append((row, int(start), int(stop - start)))
    return found


def caterpillar(cells: Mapping[str, tuple[xr.Dataset, str, float]]) -> Figure:
    """One metric of every site with its interval, in the order of the estimates, a panel a title, beside the limit.

    Parameters
    ----------
    cells : mapping of title to (``estimate``, ``low`` and ``high`` over one dim; metric; value of all sites together)
        Undefined estimates come last, crossed.

    Raises
    ------
    AuditInputError
        Without a cell, for an unknown metric or other dims.

    Examples
    --------
    >>> found = xr.Dataset({"estimate": ("site", [0.2, 0.05])})
    >>> found = found.assign(low=found.estimate - 0.05, high=found.estimate + 0.05)
    >>> caterpillar({"by sex": (found, "SPD", 0.1)}).axes[0].get_xlabel()
    'SPD'
    """
    if not cells:
        raise AuditInputError("cells: give at least one title with its intervals, metric and value.")
    most = max(held["estimate"].size for held, _, _ in cells.values())
    figure, axes = plt.subplots(1, len(cells), figsize=(style.WIDTH, 1.6 + 0.17 * most), squeeze=False)
    for ax, (title, (found, metric, whole)) in zip(axes.flat, cells.items(), strict=True):
        if metric not in LIMITS or len(found["estimate"].dims) != 1:
            raise AuditInputError(f"{title}: a metric of {', '.join(LIMITS)} and intervals over one dim are needed.")
        checks.over(found, [str(found["estimate"].dims[0])], ("estimate", "low", "high"))
        _worm(ax, found, metric)
        ax.axvline(LIMITS[metric].value, color=style.INK, ls="--", lw=1.5)
        ax.axvline(whole, color=style.MUTED, ls=":", lw=1.8)
        ax.set(xlabel=metric, yticks=[], ylim=(-0.8, most - 0.2))
        ax.set_xlim(left=0)
        ax.grid(axis="y", visible=False)
        ax.set_title(style.plain(title), loc="left")
    handles = [
        Line2D([], [], color=PASS, marker="o", ms=5, lw=1.5, label="passes"),
        Line2D([], [], color=FAIL, marker="s", ms=5, lw=1.5, label="fails"),
        Line2D([], [], color=style.INK, ls="--", lw=1.5, label="limit"),
        Line2D([], [], color=style.MUTED, ls=":", lw=1.8, label="all together"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
    return figure


def _worm(ax: Axes, found: xr.Dataset, metric: str) -> None:
    estimates = found["estimate"].values
    order = np.argsort(estimates, kind="stable")  # NaN last
    said = verdict(xr.DataArray(estimates), metric).values
    for name, colour, marker in (("pass", PASS, "o"), ("fail", FAIL, "s")):
        rows = [row for row, k in enumerate(order) if said[k] == name]
        held = found.isel({found["estimate"].dims[0]: order[rows]})
        ax.hlines(rows, held["low"].values, held["high"].values, color=colour, lw=1.5)
        ax.plot(held["estimate"].values, rows, marker, color=colour, ms=4.5)
    rows = [row for row, k in enumerate(order) if said[k] == "undefined"]
    if rows:
        ax.plot(np.zeros(len(rows)), rows, "x", color=style.INK, ms=5, clip_on=False)


def identical(table: pd.DataFrame, metrics: Sequence[str]) -> Figure:
    """κ of sites that do not differ, by metric and size, a panel a population: means and 95% ranges over audits.

    Parameters
    ----------
    table : the study ``kappa_identical_sites``
        ``population``, ``size``, ``metric``, ``kappa``, ``kappa_low`` and ``kappa_high``; where κ is undefined nothing
        is drawn.
    metrics : list of str

    Raises
    ------
    AuditInputError
        For missing columns, more than three sizes.

    Examples
    --------
    >>> table = pd.DataFrame({"population": ["x"], "size": [500], "metric": ["DI"], "kappa": [0.4]})
    >>> len(identical(table.assign(kappa_low=0.2, kappa_high=0.6), ["DI"]).axes)
    1
    """
    names = ("population", "size", "metric", "kappa", "kappa_low", "kappa_high")
    checks.columns(table, names, "tests/studies/kappa_identical_sites.py")
    populations, sizes = table["population"].unique(), sorted(table["size"].unique())
    if len(sizes) > len(SIZES):
        raise AuditInputError(f"{len(sizes)} sizes, but only {len(SIZES)} can be told apart; select.")
    height = 1.3 + len(populations) * (0.35 + 0.36 * len(metrics))
    figure, axes = plt.subplots(len(populations), 1, figsize=(style.WIDTH, height), sharex=True, squeeze=False)
    for ax, population in zip(axes.flat, populations, strict=True):
        for k, (size, (marker, colour)) in enumerate(zip(sizes, SIZES.items(), strict=False)):
            one = table[(table["population"] == population) & (table["size"] == size)].set_index("metric")
            held = one.reindex(list(metrics)).assign(y=np.arange(len(metrics)) + 0.24 * (k - 1)).dropna(subset="kappa")
            ax.hlines(held["y"], held["kappa_low"], held["kappa_high"], color=colour, lw=1.6)
            ax.plot(held["kappa"], held["y"], marker, color=colour, ms=5, label=f"{size:,} a site")
        ax.axvline(KAPPA, color=style.INK, ls="--", lw=1.2)
        ax.set(yticks=range(len(metrics)), ylim=(len(metrics) - 0.5, -0.5), xlim=(-0.1, 1.04))
        ax.set_yticklabels(metrics)
        ax.set_title(style.plain(population), loc="left")
    axes[-1, 0].set_xlabel("κ of twenty identical sites; dashed: .40")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def beside(found: xr.Dataset, within: xr.Dataset | None = None) -> Figure:
    """κ of the sites with its interval, above the range of random folds of the same sizes, a row a metric.

    Parameters
    ----------
    found : Dataset of ``agreement_beside_random``
        Over ``metric`` alone. Metrics without κ say so.
    within : Dataset, optional
        The same, dealt within groups, so that each fold keeps its residents'.

    Examples
    --------
    >>> names = [f"kappa{end}" for end in ("", "_low", "_high", "_random", "_random_low", "_random_high")]
    >>> beside(xr.Dataset({name: ("metric", [0.3]) for name in names}, {"metric": ["DI"]})).axes[0].get_xlabel()
    'κ; dashed: .40'
    """
    parts = [(found, "", style.GROUPS[0], "o", "folds of sites, interval over folds")]
    parts.append((found, "_random", style.GROUPS[1], "D", "random folds, 95% of them"))
    if within is not None:
        parts.append((within, "_random", style.GROUPS[3], "s", "random within groups, 95% of them"))
    for held, part, *_ in parts:
        checks.over(held, ["metric"], [f"kappa{part}{end}" for end in ("", "_low", "_high")])
    metrics = found["metric"].values
    figure, ax = plt.subplots(figsize=(style.WIDTH, 1.6 + (0.28 + 0.1 * len(parts)) * len(metrics)))
    rows = np.arange(len(metrics))
    for k, (held, part, colour, marker, label) in enumerate(parts):
        value, low, high = (held[f"kappa{part}{end}"].sel(metric=metrics).values for end in ("", "_low", "_high"))
        at = rows + 0.25 * (k - (len(parts) - 1) / 2)
        ax.hlines(at, low, high, color=colour, lw=2)
        ax.plot(value, at, marker, color=colour, ms=6, label=label)
    for row in np.flatnonzero(np.isnan(found["kappa"].values)).tolist():
        ax.text(0.02, row, "all verdicts the same: κ is 0/0", va="center", color=style.INK, size=11)
    ax.axvline(KAPPA, color=style.INK, ls="--", lw=1.2, zorder=0)
    ax.set_yticks(rows, metrics)
    ax.set(ylim=(len(metrics) - 0.5, -0.5), xlim=(-0.15, 1.05), xlabel="κ; dashed: .40")
    figure.legend(loc="outside lower center", frameon=False)
    return figure


def tiers(audits: Mapping[str, xr.Dataset]) -> Figure:
    """How many of three conditions each cell violates, a panel an audit; a dot where the verdict is a fail.

    Parameters
    ----------
    audits : mapping of title to Dataset of ``tier``
        ``violated`` over ``metric`` and ``attribute``, and ``fails`` (True for a fail) likewise.

    Raises
    ------
    AuditInputError
        Without an audit, or for other dims.

    Examples
    --------
    >>> over = {"metric": ["DI"], "attribute": ["sex"]}
    >>> one = xr.Dataset({"violated": xr.DataArray([[1.0]], over), "fails": xr.DataArray([[True]], over)})
    >>> [text.get_text() for text in tiers({"ours": one}).axes[0].texts]
    ['1']
    """
    if not audits:
        raise AuditInputError("audits: give at least one title with its tiers.")
    for held in audits.values():
        checks.over(held, ["metric", "attribute"], ["violated", "fails"])
    rows = max(held.sizes["metric"] for held in audits.values())
    figure, axes = plt.subplots(1, len(audits), figsize=(5.6, 2.6 + 0.32 * rows), squeeze=False)
    for ax, (title, found) in zip(axes.flat, audits.items(), strict=True):
        violated = found["violated"].transpose("metric", "attribute").values
        fails = found["fails"].transpose("metric", "attribute").values
        for (row, column), count in np.ndenumerate(violated):
            _tile(ax, column, row, count, bool(fails[row, column]))
        ax.set_xticks(range(violated.shape[1]), found["attribute"].values, rotation=45, ha="right")
        ax.set_yticks(range(violated.shape[0]), found["metric"].values)
        ax.set(xlim=(-0.5, violated.shape[1] - 0.5), ylim=(violated.shape[0] - 0.5, -0.5))
        ax.set_title(style.plain(title), loc="left")
        ax.grid(visible=False)
        ax.tick_params(length=0)
    handles = [
        Patch(fc=(style.GROUPS[3], shade), ec=style.MUTED, label=f"{k} {name}")
        for k, (name, shade) in enumerate(zip(TIERS, SHADES, strict=True))
    ]
    handles.append(Line2D([], [], ls="", marker="o", color=style.INK, ms=5, label="most replicates fail"))  # type: ignore[arg-type]
    figure.legend(handles=handles, loc="outside lower center", ncols=1, frameon=False)
    return figure


def _tile(ax: Axes, column: int, row: int, count: float, fails: bool) -> None:
    known = np.isfinite(count)
    colour = (style.GROUPS[3], SHADES[int(count)]) if known else "none"
    ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fc=colour, ec=style.GRID))
    dark = known and count == len(SHADES) - 1
    said = f"{count:.0f}" if known else "?"
    ax.text(column - 0.12, row, said, ha="center", va="center", color=style.PAPER if dark else style.INK, size=11)
    if fails:
        ax.plot([column + 0.28], [row], "o", color=style.PAPER if dark else style.INK, ms=4.5)
