"""How metrics, verdicts and needed sizes change with the number of patients audited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from scipy.stats import chi2

from auditlib.errors import AuditInputError
from auditlib.plots import checks, style
from auditlib.verdicts import LIMITS

STROKES = ("-", "--", "-.", (0, (5, 1, 1, 1, 1, 1)))  # dotted lines are limits
Z = 1.959964
NEVER = "never"
CLOSE = "too\u00a0close"  # on one line of a narrow cell
OFF = 2  # points by which the planner lets the gap be off
TOP = 0.58  # of the planner's axis: a flip rate is at most a half, and above it stands a word
FAR = 0.6  # of the axis, beyond which no words fit to the right of a circle


def short(size: float, _position: int = 0) -> str:
    """A number of patients as axes show it; a dash for never.

    >>> short(2000), short(2_500_000), short(100), short(float("nan"))
    ('2k', '2.5M', '100', '–')
    """
    if not np.isfinite(size):
        return "–"
    for unit, word in ((1e6, "M"), (1e3, "k")):
        if size >= unit:
            return f"{size / unit:g}{word}"
    return f"{size:g}"


def about(size: float, digits: int = 2) -> str:
    """A planned number of patients, with no more digits than a plan has.

    >>> about(1372), about(18_533_967), about(363_977, 1), about(float("inf"))
    ('1,400', '19 million', '400,000', 'never')
    """
    if not np.isfinite(size):
        return NEVER
    held = _rounded(size, digits)
    return f"{held / 1e6:g} million" if held >= 1e6 else f"{held:,.0f}"


def _rounded(size: float, digits: int) -> float:
    return round(float(size), digits - 1 - int(np.floor(np.log10(size))))


def plan_table(found: pd.DataFrame, *, other: float = 0.10) -> pd.DataFrame:
    """Settling sizes in words, a row a metric and a column an attribute, with what other planning audits would say.

    Parameters
    ----------
    found : DataFrame by metric and attribute, as in ``data/studies/settling_plans.csv``
        ``settled``; ``q2.5`` and ``q97.5``, infinite for never; ``p_pass``, the share of audits that plan a pass.
    other : share of planning audits with the rarer verdict above which it is "too close"

    Examples
    --------
    >>> row = {"settled": [1_372.0], "q2.5": [904.0], "q97.5": [float("inf")], "p_pass": [0.97]}
    >>> plan_table(pd.DataFrame(row, [("EOpp", "sex")])).loc["EOpp", "sex"]
    '1.4k (900–never)'
    """
    checks.columns(found, ["settled", "q2.5", "q97.5", "p_pass"], "the study settling_plans")
    words: dict[str, dict[str, str]] = {}
    for key, row in found.iterrows():
        metric, attribute = map(str, key)  # type: ignore[call-overload]
        three = row[["settled", "q2.5", "q97.5"]]
        size, low, high = (short(_rounded(value, 2)) if np.isfinite(value) else NEVER for value in three)
        close = min(row["p_pass"], 1 - row["p_pass"]) > other
        words.setdefault(attribute, {})[metric] = f"{CLOSE if close else size} ({low}–{high})"
    return pd.DataFrame(words).rename_axis("metric")


def over_sizes(ax: Axes, sizes: np.ndarray | list[float], label: str = "Patients in the audit") -> None:
    """A logarithmic axis of patients, with ticks at powers of ten and none between."""
    low, high = float(np.min(sizes)), float(np.max(sizes))
    ticks = [10.0**k for k in range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)]
    ax.set_xscale("log")
    ax.set_xlim(low / 1.2, high * 1.2)
    ax.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if low / 1.2 <= tick <= high * 1.2]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(short))
    ax.set_xlabel(label)


def cv_limits(cv: xr.DataArray, repetitions: int, level: float = 0.95) -> tuple[xr.DataArray, xr.DataArray]:
    """Interval of a coefficient of variation from so many audits: that of their SD, were the metric normal.

    SD·√((K − 1)/χ²): the mean, known K^½ times as well as a single audit knows it, is taken as exact.

    >>> low, high = cv_limits(xr.DataArray(0.05), 30)
    >>> round(float(low), 3), round(float(high), 3)
    (0.04, 0.067)
    """
    free, tail = repetitions - 1, (1 - level) / 2
    low, high = ((free / chi2.ppf(one, free)) ** 0.5 for one in (1 - tail, tail))
    return cv * low, cv * high


def reported(shares: pd.DataFrame, true: Mapping[str, float], sweeps: int) -> Figure:
    """How often sweeps report each N*, a panel a cell, with Monte-Carlo intervals; the true need is filled.

    Parameters
    ----------
    shares : DataFrame
        A row a cell, a column an N* ("never" the last), shares of sweeps.
    true : mapping of cell to its true need
    sweeps : how many there were
    """
    checks.columns(shares, list(shares.columns), "the share of sweeps that report each size")
    if set(true) != set(shares.index):
        raise AuditInputError(f"true has {', '.join(map(str, true))}, but the rows are {', '.join(shares.index)}.")
    down = -(-len(shares) // 2)  # rounded up
    figure, axes = plt.subplots(
        down, 2, figsize=(style.WIDTH, 0.7 + 1.75 * down), sharex=True, sharey=True, squeeze=False
    )
    for ax, (cell, row) in zip(axes.flat, shares.iterrows(), strict=False):
        values = row.to_numpy(dtype=float)
        error = Z * np.sqrt(values * (1 - values) / sweeps)
        bars = ax.bar(range(len(row)), values, yerr=error, fc=style.PAPER, ec=style.GROUPS[0], ecolor=style.INK, lw=1.4)
        for bar, size in zip(bars, row.index, strict=True):
            if size == true[str(cell)]:
                bar.set_facecolor(style.GROUPS[0])
        ax.set_title(style.plain(cell), loc="left")
        ax.set_xticks(range(len(row)), [name if name == NEVER else short(name) for name in row.index], rotation=90)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.0f}%"))
        ax.tick_params(labelbottom=True)
    for spare in axes.flat[len(shares) :]:
        spare.remove()
    figure.supxlabel("N* reported", size=12, color=style.INK)
    figure.supylabel("Share of sweeps", size=12, color=style.INK)
    return figure


def drift(found: xr.Dataset, truth: Mapping[str, float]) -> Figure:
    """Mean of metrics by audit size with the middle 95% of audits, a panel each; dashed the truth, dotted the limit.

    Parameters
    ----------
    found : Dataset over ``metric`` and ``size``
        ``mean``, ``low``, ``high``.
    truth : mapping of metric to what an endless audit finds
    """
    checks.over(found, ["metric", "size"], ["mean", "low", "high"])
    names = found["metric"].values.tolist()
    if set(truth) != set(names):
        raise AuditInputError(f"truth is of {', '.join(truth)}, but the metrics are {', '.join(names)}.")
    down = -(-len(names) // 2)
    figure, axes = plt.subplots(down, 2, figsize=(style.WIDTH, 0.9 + 1.8 * down), sharex=True, squeeze=False)
    for ax, name in zip(axes.flat, names, strict=False):
        one = found.sel(metric=name)
        drawn = style.region(style.GROUPS[0], 0.2)
        ax.fill_between(one["size"], one["low"], one["high"], **drawn, label="middle 95% of audits")
        ax.plot(one["size"], one["mean"], "o-", ms=4, lw=1.6, color=style.INK, label="mean of audits")
        ax.axhline(truth[name], color=style.GROUPS[1], lw=1.6, ls="--", label="truth")
        ax.axhline(LIMITS[name].value, color=style.REFERENCE, lw=1.2, ls=":", label="limit")
        ax.set_title(name, loc="left")
        over_sizes(ax, one["size"].values, "")
        ax.set_ylim(0, min(1.0, float(one["high"].max()) * 1.05))
        ax.tick_params(labelbottom=True)
    for spare in axes.flat[len(names) :]:
        spare.remove()
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    figure.supxlabel("Patients in the audit", size=12, color=style.INK)
    return figure


def flips(
    curves: Mapping[str, xr.DataArray],
    *,
    settled: float = 0.10,
    marks: Mapping[str, float] | None = None,
    audits: int | None = None,
    label: str = "Expected flip rate",
    ax: Axes | None = None,
) -> Axes:
    """Curves over audit size, one a metric, and the level at which a verdict counts as settled.

    Parameters
    ----------
    curves : mapping of name to DataArray over ``size``
        At most four.
    settled : flip rate drawn as a dotted line
    marks : mapping of name to size, optional
        Drawn as lines up, named above the axes.
    audits : int, optional
        How many were drawn of each size, for 95% Monte-Carlo intervals of shares.
    label : name of the vertical axis

    Examples
    --------
    >>> flips({"DI": xr.DataArray([0.4, 0.1], {"size": [100, 10_000]}, ["size"])}).get_ylabel()
    'Expected flip rate'
    """
    if not curves or len(curves) > len(STROKES):
        raise AuditInputError(f"curves: give one to {len(STROKES)}, by name, not {len(curves)}.")
    ax = ax or plt.subplots(figsize=(style.WIDTH, 3.9))[1]
    ax.axhline(settled, color=style.REFERENCE, lw=1, ls=":")
    for (name, held), colour, stroke in zip(curves.items(), style.GROUPS, STROKES, strict=False):
        checks.over(xr.Dataset({"curve": held}), ["size"], ["curve"])
        ax.plot(held["size"], held, color=colour, ls=stroke, label=style.plain(name))
        if audits is not None:
            error = Z * (held * (1 - held) / audits) ** 0.5
            ax.errorbar(held["size"], held, error, fmt="none", color=colour, lw=1.4)
    for name, size in (marks or {}).items():
        ax.axvline(size, color=style.INK, lw=1, ls=":")
        place = ax.get_xaxis_transform()
        ax.text(size, 1.01, style.plain(name), transform=place, ha="center", va="bottom", fontsize=11)
    sizes = np.concatenate([held["size"].values for held in curves.values()])
    over_sizes(ax, sizes)
    ax.set_ylim(-0.01, None)
    ax.set_ylabel(label)
    ax.legend(loc="best", ncols=1)
    return ax


def plan_words(needed: float, precise: float, *, ill: float, between: tuple[float, float]) -> str:
    """What ``plan`` shows, in words.

    >>> plan_words(float("nan"), 4000, ill=0.01, between=(4_000, float("inf")))
    'The verdict never settles (were the gap 2 points off: 4,000 to never); 4,000 patients make the gap precise.'
    """
    said = "The verdict never settles"
    if np.isfinite(needed):
        said = f"The flip rate stays at most 10% from {about(needed)} patients on"
    said += f" (were the gap {OFF} points off: {about(between[0])} to {about(between[1])})"
    if np.isfinite(needed):
        said += f", of whom {about(needed * ill)} are of the smaller group and have the outcome"
    return f"{said}; {about(precise)} patients make the gap precise."


def plan(
    vfr: xr.DataArray,
    needed: float,
    precise: float,
    *,
    between: tuple[float, float],
    field: float = 5_000,
    settled: float = 0.10,
) -> Figure:
    """Frame of the planner: flip rate by audit size, where it settles, and the size for a precise metric.

    Parameters
    ----------
    vfr : DataArray over ``size``
    needed : size that settles the verdict, NaN for never
    precise : size at which the metric is known within its half-width
    between : smallest and largest size were the gap a little smaller or larger; infinite for never
    field : size of the audits that there are, marked
    """
    needed, precise = float(needed), float(precise)
    figure, ax = plt.subplots(figsize=(style.WIDTH, 3.4))
    flips({"flip rate": vfr}, settled=settled, marks={short(field): field}, ax=ax)
    if legend := ax.get_legend():
        legend.remove()
    ax.axvline(precise, color=style.GROUPS[2], lw=1.6, ls="--")
    boxed: dict[str, Any] = {"bbox": {"fc": style.PAPER, "ec": "none", "pad": 1.5}, "fontsize": 11, "zorder": 4}
    ax.text(1.12 * precise, TOP - 0.005, "precise", color=style.GROUPS[2], va="top", **boxed)
    edge = float(vfr["size"].max())
    ax.plot([between[0], min(between[1], edge)], [settled] * 2, color=style.GROUPS[1], lw=4, solid_capstyle="butt")
    if between[1] > edge:
        ax.plot(edge, settled, ">", color=style.GROUPS[1], ms=9, clip_on=False)
    if np.isfinite(needed):
        ax.plot(min(needed, edge), settled, "o", color=style.GROUPS[1], ms=8, clip_on=False)
    ax.set_ylim(0, TOP)
    word = f"settles at {about(needed)}" if np.isfinite(needed) else "never settles"
    # Right of its circle the curve lies below the level, far left of it above.
    at = min(needed, edge) if np.isfinite(needed) else edge
    low = float(vfr["size"].min())
    early = np.log(at / low) < FAR * np.log(edge / low)
    above = early or not np.isfinite(needed)
    ax.text(
        *(1.15 * at if early else at, settled + 0.02 if above else settled - 0.02),
        f"{word}\n({about(between[0])} to {about(between[1])})",
        ha="left" if early else "right",
        va="bottom" if above else "top",
        color=style.GROUPS[1],
        **boxed,
    )
    return figure
