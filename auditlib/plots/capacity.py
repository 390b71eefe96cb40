"""Room for few: frontiers, what a point costs and buys, and what choosing on few people promises too much."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from auditlib.benefit.core import UNIT
from auditlib.errors import AuditInputError
from auditlib.plots import checks, style

PER = f"per {UNIT:,}"
LIMITS = [f"{value}{end}" for value in ("overall", "level") for end in ("", "_low", "_high")]
SOURCE = "auditlib.studies.capacity"


def frontier(
    judged: Mapping[str, pd.DataFrame],
    curves: Mapping[str, pd.DataFrame] | None = None,
    *,
    group: str = "the group",
    ax: Axes | None = None,
) -> Axes:
    """Gain of everybody against gain of one group: points judged with both intervals, over the curves they are from.

    Parameters
    ----------
    judged : mapping of name to DataFrame of ``studies.capacity.gains``
        ``overall`` and ``level`` with ``_low`` and ``_high``; one colour a name.
    curves : mapping of name to DataFrame, optional
        ``overall`` and ``level`` where points were chosen, a thin line in the colour of its name.
    group : str
        The group named, for the axis.

    Raises
    ------
    AuditInputError
        Without points, for missing columns, or for more names than there are colours.

    Examples
    --------
    >>> found = pd.DataFrame([[30, 28, 32, 70, 60, 80]], columns=LIMITS)
    >>> frontier({"3%": found}, group="low income").get_ylabel()
    'Gain of low income, per 10,000'
    """
    curves = curves or {}
    for found in judged.values():
        checks.columns(found, LIMITS, SOURCE)
    for curve in curves.values():
        checks.columns(curve, ("overall", "level"), SOURCE)
    if not judged:
        raise AuditInputError("frontier: give at least one series of judged points.")
    colours = style.group_colours(dict.fromkeys([*judged, *curves]))
    ax = ax or plt.subplots(figsize=(style.WIDTH, 3.9))[1]
    for name, curve in curves.items():
        shown = None if name in judged else style.plain(name)
        ax.plot(curve["overall"], curve["level"], color=colours[name], lw=1.2, label=shown)
    for k, (name, found) in enumerate(judged.items()):
        x, y = found["overall"], found["level"]
        across, up = (
            [x - found["overall_low"], found["overall_high"] - x],
            [y - found["level_low"], found["level_high"] - y],
        )
        ax.errorbar(
            x, y, np.maximum(up, 0), np.maximum(across, 0), "osD^"[k % 4],
            color=colours[name], ms=6, elinewidth=1.4, label=style.plain(name),
        )  # fmt: skip
    ax.set(xlabel=f"Gain of everybody, {PER}", ylabel=f"Gain of {style.plain(group)}, {PER}")
    if len(colours) > 1:
        ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=2, handletextpad=0.3, framealpha=0)
    return ax


def exchange(found: pd.DataFrame, x: pd.Series, *, label: str, group: str = "the group") -> Figure:
    """What each point buys for the group and costs everybody, against the best overall, with intervals.

    Parameters
    ----------
    found : DataFrame of ``studies.capacity.gains(…, over=0)``
    x : Series
        Where each point stands, such as the people of the group flagged; of the same points, in the same order.
    label : str
        What ``x`` is.

    Raises
    ------
    AuditInputError
        For missing columns, or when ``x`` has other points, or something else than numbers.

    Examples
    --------
    >>> found = pd.DataFrame([[0] * 6, [-2, -3, -1, 60, 50, 70]], columns=LIMITS)
    >>> [ax.get_ylabel() for ax in exchange(found, pd.Series([1, 2]), label="Flagged", group="low income").axes]
    ['Low income', 'Everybody']
    """
    checks.columns(found, LIMITS, SOURCE)
    where = np.asarray(x)
    if where.shape != (len(found),) or where.dtype.kind not in "iuf" or not np.isfinite(where).all():
        raise AuditInputError(f"x: one number a point is needed, {len(found)} in all; {label!r} has {_kind(where)}.")
    if isinstance(x, pd.Series) and not x.index.equals(found.index):
        raise AuditInputError("x: its index is not that of the points; bring it into their order with .loc[].")
    figure, axes = plt.subplots(2, 1, sharex=True, figsize=(style.WIDTH, 4.4))
    for ax, value, name, colour in zip(axes, ("level", "overall"), (group, "everybody"), style.GROUPS, strict=False):
        y = found[value]
        error = np.maximum([y - found[f"{value}_low"], found[f"{value}_high"] - y], 0)
        ax.axhline(0, color=style.REFERENCE, lw=1, ls="--")
        ax.errorbar(where, y, error, fmt="o-", color=colour, ms=6, lw=1.2, elinewidth=1.6)
        ax.set_ylabel(style.plain(name[:1].upper() + name[1:]))
    axes[0].set_title(f"Difference in sNB from the best overall, {PER}")
    axes[1].set_xlabel(label)
    return figure


def optimism(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """How much more points promise on the people they were chosen on than they keep, by how many these were.

    Parameters
    ----------
    table : DataFrame of the study ``capacity_optimism``
        Bars are 95% Monte-Carlo limits of the mean. Optimism is drawn as a share of what is kept.

    Raises
    ------
    AuditInputError
        For missing columns, more points than there are colours, or where nothing is kept: there is no share of it.

    Examples
    --------
    >>> rows = {"size": [500], "point": ["best overall"], "kept": [27.0], "optimism": [9.0], "se": [1.5]}
    >>> optimism(pd.DataFrame(rows)).get_xlabel()
    'People chosen on'
    """
    checks.columns(table, ("size", "point", "kept", "optimism", "se"), SOURCE)
    if len(lost := table[~(table["kept"] > 0)]):
        told = "; ".join(f"{row.point}, {row.size:,} people: {row.kept:.1f}" for row in lost.itertuples(index=False))
        raise AuditInputError(
            f"kept is not above 0, so that optimism is no share of it ({told}); leave these rows out."
        )
    style.group_colours(dict.fromkeys(table["point"]))  # no more than there are
    ax = ax or plt.subplots(figsize=(style.WIDTH, 3.4))[1]
    ax.axhline(0, color=style.REFERENCE, lw=1, ls="--")
    for k, (name, rows) in enumerate(table.groupby("point", sort=False)):
        share, error = (100 * rows[column] / rows["kept"] for column in ("optimism", "se"))
        x = rows["size"] * 1.04 ** (2 * k - 1)  # side by side
        ax.errorbar(x, share, 1.96 * error, fmt="osD^"[k % 4] + "-", color=style.GROUPS[k], ms=6, lw=1.2,
                    elinewidth=1.6, label=style.plain(name))  # fmt: skip
    ax.set_xscale("log")
    ax.set_xticks(sorted(set(table["size"])), [f"{size:,}" for size in sorted(set(table["size"]))])
    ax.minorticks_off()
    ax.set(xlabel="People chosen on", ylabel="Optimism, % of what is kept")
    ax.legend()
    return ax


def words(found: pd.DataFrame, group: str = "the group") -> str:
    """The two ends of a frontier with their intervals in words, for alt texts.

    Raises AuditInputError for missing columns, and where an end or a limit is NaN.

    Examples
    --------
    >>> words(pd.DataFrame([[30, 28, 32, 70, 60, 80]], columns=LIMITS), "low income")
    'the best overall gains everybody 30.0 (28.0 to 32.0) and low income 70 (60 to 80) per 10,000'
    """
    checks.columns(found, LIMITS, SOURCE)
    checks.defined(found.iloc[[0, -1]], LIMITS)
    ends = [("the best overall gains", found.iloc[0]), (f"the best for {group}", found.iloc[-1])]
    said = []
    for name, row in ends[: min(len(found), 2)]:
        overall, level = (_limits(row, value, digits) for value, digits in (("overall", 1), ("level", 0)))
        said.append(f"{name} everybody {overall} and {group} {level}")
    return f"{'; '.join(said)} {PER}"


def _limits(row: pd.Series, value: str, digits: int) -> str:
    estimate, low, high = (f"{row[f'{value}{end}']:.{digits}f}".replace("-", "−") for end in ("", "_low", "_high"))
    return f"{estimate} ({low} to {high})"


def _kind(values: np.ndarray) -> str:
    kind = "numbers" if values.dtype.kind in "iuf" and np.isfinite(values).all() else "other things than numbers"
    return f"shape {values.shape} and {kind}"
