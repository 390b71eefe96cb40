"""What an intervention does: thresholds a group, what tuning claimed beside the audit, and the same across models."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from auditlib.errors import AuditInputError
from auditlib.plots import checks, style
from auditlib.plots.flips import MODELS
from auditlib.verdicts import LIMITS

BLUE, VERMILION, GREEN = (style.PALETTE[name].light for name in ("blue", "vermilion", "green"))
MARKERS = "osD^v<>Phx"
#: Partition, what it is called, colour, marker, fill.
PARTS = (
    ("selection", "selection (thresholds chosen here)", VERMILION, "s", style.PAPER),
    ("audit", "audit", BLUE, "o", BLUE),
)
#: Policy, what it is called, colour and marker.
POLICIES = (
    ("start", "real-only", style.PALETTE["slate"].light, "s"),
    ("shifted", "shifted", VERMILION, "D"),
    ("stabilised", "stabilised", BLUE, "o"),
)


def thresholds(cells: pd.DataFrame, *, row: str = "age", panel: str = "sex", colour: str = "race") -> Figure:
    """Threshold of each joint group; hollow where it was left at the start.

    Parameters
    ----------
    cells : DataFrame
        ``Shift.cells``: the levels, ``people``, ``start``, ``threshold``, ``why``.
    row, panel, colour : str
        Dims of the groups. Markers grow with the number of people.

    Raises
    ------
    AuditInputError
        For missing columns.

    Examples
    --------
    >>> cell = {"age": "70+", "sex": "F", "race": "A", "people": 50, "start": 0.5, "threshold": 0.7, "why": ""}
    >>> [ax.get_title("left") for ax in thresholds(pd.DataFrame([cell])).axes]
    ['F']
    """
    checks.columns(cells, [row, panel, colour, "people", "start", "threshold", "why"], "shift_thresholds(…).cells")
    rows, panels, levels = (list(dict.fromkeys(cells[name])) for name in (row, panel, colour))
    size = (style.WIDTH, 1.0 + 2.3 * len(panels))
    figure, axes = plt.subplots(len(panels), 1, figsize=size, sharex=True, sharey=True, squeeze=False)
    colours, step = style.group_colours(levels), 0.7 / max(len(levels), 1)
    for ax, level in zip(axes.flat, panels, strict=True):
        ax.axvline(float(cells["start"].iloc[0]), color=style.REFERENCE, ls="--", lw=1.2)
        for cell in cells[cells[panel] == level].to_dict("records"):
            k = levels.index(cell[colour])
            look = {"marker": MARKERS[k % len(MARKERS)], "color": colours[cell[colour]]}
            fill = style.PAPER if cell["why"] else colours[cell[colour]]
            height = rows.index(cell[row]) + (k - (len(levels) - 1) / 2) * step
            ax.plot([cell["threshold"]], [height], ms=4 + 6 * min(cell["people"] / 1000, 1), mfc=fill, **look)
        ax.set_title(style.plain(level), loc="left")
        ax.set_yticks(range(len(rows)), [style.plain(name) for name in rows])
        ax.set(xlim=(0, 1), ylim=(len(rows) - 0.5, -0.5), ylabel=row.capitalize())
    axes[-1, 0].set_xlabel("Flagged from this risk on (dashed: start)")
    handles = [
        Line2D([], [], ls="", marker=MARKERS[k % len(MARKERS)], color=colours[name], label=style.plain(name))
        for k, name in enumerate(levels)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    return figure


def rounds(table: pd.DataFrame) -> Axes:
    """Mean flip rate after each round of a search, on the replicates searched on and on others.

    Parameters
    ----------
    table : DataFrame
        ``where``, ``round``, ``vfr`` and its Monte-Carlo standard error ``error``.

    Raises
    ------
    AuditInputError
        For missing columns.

    Examples
    --------
    >>> row = {"where": "audit", "round": 0, "vfr": 0.1, "error": 0.01}
    >>> rounds(pd.DataFrame([row])).get_ylabel()
    'Mean VFR'
    """
    checks.columns(table, ["where", "round", "vfr", "error"], "a row a round and where it was judged")
    ax = plt.subplots(figsize=(style.WIDTH, 4.0))[1]
    places = list(dict.fromkeys(table["where"]))
    for k, (place, colour) in enumerate(style.group_colours(places).items()):
        held = table[table["where"] == place]
        ax.errorbar(
            held["round"] + 0.08 * (k - 1), held["vfr"], 1.96 * held["error"], color=colour, marker=MARKERS[k], ms=5,
            lw=1.6, elinewidth=1.2, label=style.plain(place),
        )  # fmt: skip
    ax.set(xlabel="Round", ylabel="Mean VFR", ylim=(0, None))
    ax.xaxis.set_major_locator(plt.MaxNLocator(integer=True))
    ax.figure.legend(loc="outside lower center", ncols=1, frameon=False)
    return ax


def claims(prices: pd.DataFrame, policies: Mapping[str, str], *, measure: str = "DI") -> Figure:
    """One measure of each attribute under each policy, on the people it was tuned on and on others.

    Parameters
    ----------
    prices : DataFrame
        Rows of ``price`` with ``policy`` and ``partition`` ("selection" or "audit").
    policies : mapping of policy to what it is called, from the top.
    measure : str
        One of the seven metrics, whose limit is drawn.

    Raises
    ------
    AuditInputError
        For missing columns, or a policy and partition that has no row.

    Examples
    --------
    >>> row = {"policy": "a", "attribute": "sex", "measure": "DI", "estimate": 0.9, "low": 0.8, "high": 1.0}
    >>> table = pd.DataFrame([row | {"partition": part} for part in ("selection", "audit")])
    >>> claims(table, {"a": "before"}).axes[0].get_title("left")
    'sex'
    """
    names = ["policy", "partition", "attribute", "measure", "estimate", "low", "high"]
    checks.columns(prices, names, "price(…)")
    held = prices[prices["measure"] == measure]
    attributes = list(dict.fromkeys(held["attribute"]))
    if not attributes:
        raise AuditInputError(f"prices: there is no row of {measure!r}.")
    rows = -(-len(attributes) // 2)
    size = (5.6, 1.1 + rows * (0.7 + 0.34 * len(policies)))
    figure, axes = plt.subplots(rows, min(2, len(attributes)), figsize=size, sharex=True, sharey=True, squeeze=False)
    for ax, attribute in zip(axes.flat, attributes, strict=False):
        ax.axvline(LIMITS[measure].value, color=style.INK, ls="--", lw=1.2)
        for part, label, colour, marker, fill in PARTS:
            found = held[(held["attribute"] == attribute) & (held["partition"] == part)].set_index("policy")
            if missing := [name for name in policies if name not in found.index]:
                raise AuditInputError(f"prices: no {measure} of {attribute} on {part} under {', '.join(missing)}.")
            found = found.loc[list(policies)]
            y = np.arange(len(policies)) + (0.16 if part == "audit" else -0.16)
            ax.hlines(y, found["low"], found["high"], color=colour, lw=1.6)
            ax.plot(found["estimate"], y, ls="", marker=marker, ms=6, color=colour, mfc=fill, label=label)
        ax.set_title(style.plain(attribute), loc="left")
        ax.set_yticks(range(len(policies)), [style.plain(name) for name in policies.values()])
        ax.set(ylim=(len(policies) - 0.5, -0.5))
        ax.grid(axis="y", visible=False)
    for ax in list(axes.flat)[len(attributes) :]:
        ax.set_visible(False)
    figure.supxlabel(f"{measure} (dashed: limit)", size=12, color=style.INK)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    return figure


def summaries(prices: pd.DataFrame) -> pd.DataFrame:
    """Accuracy, lowest DI and mean VFR of each table, policy and partition, with low and high.

    The interval of a mean VFR is that of its Monte-Carlo error, from the errors of the cells as if they went together,
    which is the widest they can make it. That of the lowest DI is of the attribute that has it.

    Parameters
    ----------
    prices : DataFrame
        The study ``interventions``, or rows of ``price`` with ``table``, ``policy`` and ``partition``.

    Returns
    -------
    DataFrame by table, policy and partition: ``accuracy``, ``lowest DI``, ``mean VFR`` (each also with " low" and
    " high"), ``of`` (the attribute with the lowest DI), ``passes``, ``flips`` and ``stable``.

    Examples
    --------
    >>> from auditlib.studies import study_table
    >>> summaries(study_table("interventions")).loc[("stays-xgboost", "start", "audit"), "of"]
    'age'
    """
    names = ["table", "policy", "partition", "measure", "attribute", "estimate", "low", "high", "verdict", "vfr"]
    checks.columns(prices, names, 'studies.study_table("interventions")')
    rows = {key: _summary(held) for key, held in prices.groupby(["table", "policy", "partition"], sort=False)}
    return pd.DataFrame(rows).T.rename_axis(["table", "policy", "partition"]).infer_objects()


def _summary(held: pd.DataFrame) -> pd.Series:
    right = held[held["measure"] == "accuracy"].iloc[0]
    ratios = held[held["measure"] == "DI"]
    lowest = ratios.sort_values("estimate", kind="stable").iloc[0]
    cells = held[held["vfr"].notna()]
    vfr = cells["vfr"]
    half = 1.96 * float(np.sqrt(vfr * (1 - vfr) / 500).mean())
    found: dict[str, object] = {}
    for name, row in (("accuracy", right), ("lowest DI", lowest)):
        found |= {name: row["estimate"], f"{name} low": row["low"], f"{name} high": row["high"]}
    found |= {"mean VFR": vfr.mean(), "mean VFR low": max(vfr.mean() - half, 0.0), "mean VFR high": vfr.mean() + half}
    found |= {"of": lowest["attribute"], "passes": int((cells["verdict"] == "pass").sum())}
    return pd.Series(found | {"flips": int((vfr > 0).sum()), "stable": int((vfr <= 0.10 + 1e-9).sum())}, dtype=object)


def across(prices: pd.DataFrame, tables: Mapping[str, str] | None = None) -> Figure:
    """Accuracy, lowest DI and mean flip rate of many models on the audit partition, before and after.

    Parameters
    ----------
    prices : DataFrame
        As ``summaries``; rows on the audit partition are drawn.
    tables : mapping of table to what it is called, optional
        The twelve classifiers by default.

    Raises
    ------
    AuditInputError
        For missing columns or tables.

    Examples
    --------
    >>> from auditlib.studies import study_table
    >>> len(across(study_table("interventions"), {"stays-xgboost": "XGBoost"}).axes)
    3
    """
    names = {f"stays-{name}": label for name, label in MODELS.items()} if tables is None else dict(tables)
    found = summaries(prices)
    if missing := [name for name in names if name not in found.index.get_level_values("table")]:
        raise AuditInputError(f"prices: there is no table {', '.join(missing)}.")
    figure, axes = plt.subplots(1, 3, figsize=(5.8, 1.5 + 0.42 * len(names)), sharey=True)
    for ax, column in zip(axes, ("accuracy", "lowest DI", "mean VFR"), strict=True):
        for k, (policy, label, colour, marker) in enumerate(POLICIES):
            held = found.loc[[(name, policy, "audit") for name in names]]
            y = np.arange(len(names)) + 0.24 * (k - 1)
            ax.hlines(
                y, held[f"{column} low"].astype(float), held[f"{column} high"].astype(float), color=colour, lw=1.4
            )
            ax.plot(held[column].astype(float), y, ls="", marker=marker, ms=4.5, color=colour, label=label)
        ax.set_title(column[0].upper() + column[1:], loc="left")
        ax.xaxis.set_major_locator(plt.MaxNLocator(3))
        ax.grid(axis="y", visible=False)
    axes[1].axvline(LIMITS["DI"].value, color=style.INK, ls="--", lw=1.2)
    axes[0].set_yticks(range(len(names)), [style.plain(name) for name in names.values()])
    axes[0].set_ylim(len(names) - 0.5, -0.5)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure
