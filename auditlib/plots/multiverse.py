"""Multiverses: the curve of all specifications, which choices move it, and what is left when some are held."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from auditlib.errors import AuditInputError
from auditlib.multiverse.shares import REST
from auditlib.multiverse.summaries import check_ran
from auditlib.plots import checks, style

LIMITS = ("estimate", "low", "high")
STRIPS, BARS = 54, 30  # of the choices under the curve (on a phone 4 px wide each), and of a distribution
ANY = "any"
SIDES = {"above zero": style.GROUPS[0], "contains zero": style.MUTED, "below zero": style.GROUPS[1]}
Names = Mapping[str, str]


def specification_curve(
    rows: pd.DataFrame,
    axes: Iterable[str],
    default: Mapping[str, Any] | None = None,
    *,
    label: str = "Sensitivity gap",
    names: Names | None = None,
) -> Figure:
    """All estimates in order, a hairline for each interval, and underneath which choices stand where.

    The specification curve of Simonsohn, Simmons and Nelson 2020. Thousands of specifications are narrower than a
    pixel. Every interval is drawn all the same, those of one side of zero as one path; the choices are summed up in
    strips of neighbouring specifications, the bar of a choice being as high as the share of the strip's specifications
    that have it (full height: all of them).

    Parameters
    ----------
    rows : DataFrame
        One row a specification: a column an axis, ``estimate``, ``low``, ``high``; those without an estimate are left
        out.
    axes : names of columns
        In the order in which they stand below the curve; an axis of a single choice is not shown.
    default : mapping of axis to choice, optional
        Marked, where it has an estimate.
    names : mapping, optional
        How an axis or a choice (as text) is called in the figure.

    Raises
    ------
    AuditInputError
        For missing columns, or without an estimate.

    Examples
    --------
    >>> import auditlib as al
    >>> def judge(specification):
    ...     gap = {"a": -0.1, "b": 0.3}[specification["family"]] + specification["seed"] / 10
    ...     return {"estimate": gap, "low": gap - 0.2, "high": gap + 0.2}
    >>> grid = al.Grid("example", {"family": ["a", "b"], "seed": [1, 2]})
    >>> figure = specification_curve(al.run_multiverse(grid, judge).rows, grid.axes, grid.default)
    >>> [text.get_text() for text in figure.axes[1].get_yticklabels()]
    ['family', 'a', 'b', 'seed', '1', '2']
    """
    axes = list(axes)
    held = ordered(rows, [*axes, *LIMITS])
    known = {axis: list(dict.fromkeys(rows[axis])) for axis in axes}
    lines = _lines([(axis, one) for axis, some in known.items() if len(some) > 1 for one in some], names or {})
    size = (style.WIDTH, 2.9 + 0.2 * len(lines))
    figure, (top, below) = plt.subplots(2, 1, sharex=True, height_ratios=[2.4, 0.2 * len(lines) + 0.1], figsize=size)
    _curve(top, held, label)
    _strips(below, held, lines)
    below.set_xlim(-0.01 * len(held), 1.01 * len(held))
    below.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    below.set_xlabel(f"{len(held):,} specifications in the order of their estimates")
    if default is not None and (place := _place(held, axes, default)) is not None:
        for ax in (top, below):
            ax.axvline(place + 0.5, color=style.INK, lw=1, ls=":")
        top.plot(place + 0.5, held["estimate"].iloc[place], "o", color=style.INK, ms=7, label="default")
    legend = figure.legend(loc="outside upper center", ncols=2, handlelength=1.2, columnspacing=1.2)
    for line in legend.get_lines():
        line.set_linewidth(max(line.get_linewidth(), 2.5))  # a hairline has no colour to see
    return figure


def shares(found: Mapping[str, pd.DataFrame] | pd.DataFrame, *, names: Names | None = None) -> Axes:
    """Shares of the variance of the estimates by axis: net of the patients' noise with intervals; a tick with it.

    Parameters
    ----------
    found : DataFrame of ``variance_shares`` with replicates, or mapping of a series' name to it
        Axes stand in the order of the last one's net shares.

    Raises
    ------
    AuditInputError
        For a table without these columns, axes that differ, or more series than there are colours.

    Examples
    --------
    >>> from auditlib import studies
    >>> import auditlib as al
    >>> one = studies.committed_multiverse("cdc_diabetes")
    >>> found = al.variance_shares(one.rows, one.grid.axes, one.replicates)
    >>> shares(found).get_legend_handles_labels()[1]
    ['by itself', 'with the luck of the patients']
    """
    if isinstance(found, pd.DataFrame):
        found = {"by itself" if REST in found.index else "with interactions": found}
    checks.by_name(found, "variance_shares(…)")
    colours, step = style.group_colours(found), 0.3
    for table in found.values():
        checks.columns(table, ("share", "net", "low", "high"), "variance_shares with replicates (resampling_weights)")
    tables = {name: table.drop(index=REST, errors="ignore") for name, table in found.items()}
    if len({frozenset(table.index) for table in tables.values()}) != 1:
        raise AuditInputError("shares: give tables of variance_shares of the same axes, at least one.")
    last = list(tables.values())[-1]
    order = last["net"].fillna(last["share"]).sort_values(kind="stable").index
    ax = plt.subplots(figsize=(style.WIDTH, 1.5 + 0.22 * len(order) * (1 + len(tables)) / 1.5))[1]
    for k, (name, table) in enumerate(tables.items()):
        rows, place = table.loc[order], np.arange(len(order)) + step * ((len(tables) - 1) / 2 - k)
        ax.hlines(place, rows["low"], rows["high"], color=colours[name], lw=2.5)
        ax.plot(rows["net"], place, "osD^"[k % 4], color=colours[name], ms=5.5, label=style.plain(name))
        luck = "with the luck of the patients" if table is last else None
        ax.plot(rows["share"], place, "|", color=style.INK, ms=9, mew=1.6, label=luck)
    ax.set_yticks(range(len(order)), [style.plain((names or {}).get(axis, axis)) for axis in order])
    ax.set(xlim=(-0.02, 1.02), xlabel="Share of the variance")
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    ax.grid(axis="y", visible=False)
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=1, framealpha=0)
    return ax


def shifts(
    found: Mapping[str, pd.DataFrame],
    *,
    label: str = "Shift of the mean sensitivity gap, points",
    names: Names | None = None,
) -> Figure:
    """Which way each choice moves the mean estimate, in percentage points, with intervals of patients; a panel a table.

    Parameters
    ----------
    found : mapping of a panel's title to the DataFrame of ``choice_means``, with replicates
        With its ``default`` the shifts are from the default's choices, which have no line.

    Raises
    ------
    AuditInputError
        For no table, missing columns, or nothing to draw.

    Examples
    --------
    >>> means = pd.DataFrame({"axis": "seed", "choice": [1, 2], "shift": [0.0, 0.1], "shift_low": [0.0, 0.05],
    ...                       "shift_high": [0.0, 0.2], "default": [True, False]})
    >>> [text.get_text() for text in shifts({"stays": means}).axes[0].get_yticklabels()]
    ['seed: 2']
    """
    checks.by_name(found, "choice_means(…)")
    limits = ["shift", "shift_low", "shift_high"]
    panels, called = {}, names or {}
    for title, means in found.items():
        checks.columns(means, ("axis", "choice", *limits), "choice_means with replicates (resampling_weights)")
        panels[title] = means[~means["default"]] if "default" in means else means
    values = 100 * np.concatenate([np.zeros(1), *(means[limits].to_numpy(float).ravel() for means in panels.values())])
    heights = [len(means) for means in panels.values()]
    if not sum(heights):
        raise AuditInputError("shifts: give a table of choice_means, with a choice that is not the default's.")
    size = (style.WIDTH, 0.7 + 0.4 * len(panels) + 0.21 * sum(heights))
    figure, axes = plt.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=heights, figsize=size)
    for ax, (title, means) in zip(axes[:, 0], panels.items(), strict=True):
        ax.axvline(0, color=style.REFERENCE, lw=1, ls="--")
        shift, low, high = (100 * means[name].to_numpy(float) for name in limits)
        ax.hlines(range(len(means)), low, high, color=style.GROUPS[0], lw=2.5)
        ax.plot(shift, range(len(means)), "o", color=style.GROUPS[0], ms=5)
        pairs = means[["axis", "choice"]].to_numpy().tolist()
        told = [f"{called.get(axis, axis)}: {called.get(str(choice), str(choice))}" for axis, choice in pairs]
        ax.set_yticks(range(len(told)), [style.plain(text) for text in told])
        ax.set(ylim=(len(told) - 0.4, -0.6), title=style.plain(title))
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="y", visible=False)
    ticks = MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(np.nanmin(values), np.nanmax(values))
    axes[-1, 0].set_xticks(ticks)
    axes[-1, 0].set(xlim=(ticks[0], ticks[-1]), xlabel=label)
    return figure


def ordered(rows: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """What has an estimate, in the order of estimates."""
    if isinstance(rows, pd.DataFrame) and len(rows) and "estimate" not in rows:
        check_ran(rows)
    checks.columns(rows, names, "run_multiverse(…).rows")
    held = rows[np.isfinite(rows["estimate"].to_numpy(float))]
    if held.empty:
        raise AuditInputError(f"none of {len(rows)} specifications has an estimate to draw.")
    return held.sort_values("estimate", kind="stable")


def sides(held: pd.DataFrame) -> np.ndarray:
    return np.select([held["low"] > 0, held["low"].le(0) & held["high"].ge(0), held["high"] < 0], list(SIDES), "")


def _lines(choices: Iterable[Iterable[Any]], names: Names) -> list[tuple[str, Any, str]]:
    """Axis, choice (None: the heading) and text of every line, from pairs of axis and choice."""
    found: list[tuple[str, Any, str]] = []
    for axis, choice in choices:
        if not found or found[-1][0] != axis:
            found.append((axis, None, names.get(axis, axis)))
        found.append((axis, choice, names.get(str(choice), str(choice))))
    return found


def _label(ax: Axes, lines: list[tuple[str, Any, str]]) -> None:
    ax.set_yticks(range(len(lines)), [style.plain(text) for *_, text in lines])
    for tick, (_, choice, _) in zip(ax.get_yticklabels(), lines, strict=True):
        tick.set_fontweight("bold" if choice is None else "normal")
    ax.set_ylim(len(lines) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)


def _curve(ax: Axes, held: pd.DataFrame, label: str) -> None:
    x, side = np.arange(len(held)) + 0.5, sides(held)
    width = float(np.clip(200 / len(held), 0.35, 4))
    for name, colour in SIDES.items():
        part = held[side == name]
        gap = np.full(len(part), np.nan)  # one path: a line a specification would weigh ten times as much
        at = np.column_stack([x[side == name], x[side == name], gap]).ravel()
        ends = np.column_stack([part["low"], part["high"], gap]).ravel()
        if len(part):
            ax.plot(at, ends, color=colour, lw=width, alpha=0.7, solid_capstyle="butt", label=f"interval {name}")
    few: dict[str, Any] = {"marker": "o", "ls": "", "ms": 4} if len(held) <= STRIPS else {}
    ax.plot(x, held["estimate"], color=style.INK, lw=1.6, label="estimate", **few)
    ax.axhline(0, color=style.REFERENCE, lw=1, ls="--")
    ax.grid(axis="x", visible=False)
    ax.set_ylabel(label)


def _strips(ax: Axes, held: pd.DataFrame, lines: list[tuple[str, Any, str]]) -> None:
    edges = np.linspace(0, len(held), min(len(held), STRIPS) + 1).round()
    for place, (axis, choice, _) in enumerate(lines):
        if choice is not None:
            share = np.histogram(np.flatnonzero(held[axis] == choice) + 0.5, edges)[0] / np.diff(edges)
            ax.stairs(place + 0.42 - 0.84 * share, edges, baseline=place + 0.42, fill=True, color=style.GROUPS[5])
    _label(ax, lines)
    ax.grid(visible=False)
    ax.spines[["left", "bottom"]].set_visible(False)


def _place(held: pd.DataFrame, axes: list[str], default: Mapping[str, Any]) -> int | None:
    """Where the default stands in the order; None without an estimate."""
    if unknown := [axis for axis in default if axis not in axes]:
        raise AuditInputError(f"default: {unknown[0]!r} is none of the axes {', '.join(axes)}.")
    places = np.flatnonzero(np.all([held[axis] == choice for axis, choice in default.items()], axis=0))
    return int(places[0]) if len(places) == 1 else None
