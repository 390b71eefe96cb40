"""Replicates beside a limit, flip rates of many verdicts, and flip rates beside the truth."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from auditlib.errors import AuditInputError
from auditlib.plots import checks, style
from auditlib.verdicts import LIMITS, passes

STABLE = 0.10  # "practically stable", Joy et al.
PASS, FAIL = style.PALETTE["blue"].light, style.PALETTE["vermilion"].light
#: Flip rates of a heat map: upper end of each class, and how opaque it is.
CLASSES = ((0.0, 0.0, "0"), (0.1, 0.25, "to .10"), (0.25, 0.55, "to .25"), (0.5, 1.0, "to .50"))
SHADE = style.PALETTE["purple"].light
MODELS = {
    "logistic": "Logistic", "decision_tree": "Tree", "random_forest": "Forest", "gradient_boosting": "Boosting",
    "adaboost": "AdaBoost", "xgboost": "XGBoost", "lightgbm": "LightGBM", "catboost": "CatBoost",
    "hist_gradient_boosting": "Hist. boosting", "bagging": "Bagging", "extra_trees": "Extra trees",
    "stacking": "Stacking",
}  # fmt: skip
#: Column of the table ``flip_truth``, what it is called, colour, marker and line.
LINES = (
    ("true_flip", "an audit is wrong", "vermilion", "s", "-"),
    ("disagree", "two audits disagree", "green", "D", "-"),
    ("mean_vfr", "VFR, mean", "blue", "o", "--"),
    ("mean_replication", "replication_flip, mean", "purple", "^", ":"),
)


def replicates(cells: Mapping[str, tuple[xr.DataArray, float]], *, bins: int = 40) -> Figure:
    """Histograms of replicates, a panel a cell: passing and failing sides of the limit, the estimate, the interval.

    Parameters
    ----------
    cells : mapping of title to (replicates, estimate)
        Replicates over ``replicate`` alone, named by their metric.

    Raises
    ------
    AuditInputError
        Without a cell, for other dims, an unknown metric, or replicates that are all undefined.

    Examples
    --------
    >>> values = xr.DataArray(np.linspace(0.05, 0.15, 500), dims="replicate", name="SPD")
    >>> len(replicates({"by sex": (values, 0.1)}).axes)
    1
    """
    if not cells:
        raise AuditInputError("cells: give at least one title with its replicates and estimate.")
    figure, axes = plt.subplots(len(cells), 1, figsize=(style.WIDTH, 0.6 + 1.9 * len(cells)), squeeze=False)
    for ax, (title, (held, estimate)) in zip(axes.flat, cells.items(), strict=True):
        if not isinstance(held, xr.DataArray) or held.dims != ("replicate",) or held.name not in LIMITS:
            raise AuditInputError(f"{title}: replicates of one metric over 'replicate' alone are needed, named by it.")
        _histogram(ax, held, float(estimate), bins)
        ax.set_title(style.plain(title), loc="left")
    handles = [
        Patch(**style.region(PASS, 0.35), label="pass"),
        Patch(**style.region(FAIL, 0.35), label="fail"),
        Line2D([], [], color=style.INK, ls="--", lw=1.5, label="limit"),
        Line2D([], [], color=style.INK, marker="o", ms=6, lw=2, label="estimate, percentile interval"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def _histogram(ax: Axes, held: xr.DataArray, estimate: float, bins: int) -> None:
    values = held.values[np.isfinite(held.values)]
    if not len(values):
        raise AuditInputError(f"{held.name} is undefined in every replicate: there is nothing to draw.")
    limit = LIMITS[str(held.name)]
    step = max(np.ptp(values), 1e-6) / bins
    below, above = np.floor((values.min() - limit.value) / step), np.ceil((values.max() - limit.value) / step)
    edges = limit.value + step * np.arange(min(below, 0), max(above, 0) + 1)
    passed = passes(xr.DataArray(values), str(held.name)).values == 1
    top = 0
    for side, colour in ((passed, PASS), (~passed, FAIL)):
        heights = np.histogram(np.clip(values[side], edges[0], edges[-1]), edges)[0]
        top = max(top, heights.max(initial=0))
        ax.stairs(heights, edges, fill=True, **style.region(colour, 0.35))
    ax.axvline(limit.value, color=style.INK, ls="--", lw=1.5)
    low, high = np.quantile(values, [0.025, 0.975])
    ax.plot([low, high], [1.15 * top] * 2, color=style.INK, lw=2)
    ax.plot([estimate], [1.15 * top], "o", color=style.INK, ms=6)
    ax.set(ylabel="Replicates", ylim=(0, 1.3 * top), xlabel=str(held.name))


def heat(found: xr.Dataset) -> Figure:
    """Flip rates of models by metrics, a panel an attribute; a dot where most replicates fail.

    Parameters
    ----------
    found : Dataset of ``flip_rate``
        ``vfr`` and ``dominant`` over ``model``, ``metric`` and ``attribute``. Undefined cells are crossed out.

    Raises
    ------
    AuditInputError
        For other dims.

    Examples
    --------
    >>> over = {"attribute": ["sex"], "model": ["a"], "metric": ["DI", "SPD"]}
    >>> vfr = xr.DataArray([[[0.0, 0.3]]], over)
    >>> one = xr.Dataset({"vfr": vfr, "dominant": vfr.copy(data=[[["pass", "fail"]]])})
    >>> heat(one).axes[0].get_title("left")
    'sex'
    """
    checks.over(found, ["model", "metric", "attribute"], ["vfr", "dominant"])
    attributes, models = found["attribute"].values, found["model"].values
    rows = -(-len(attributes) // 2)
    size = (5.6, 1.5 + rows * (0.7 + 0.22 * len(models)))
    figure, axes = plt.subplots(rows, min(2, len(attributes)), figsize=size, sharex=True, sharey=True, squeeze=False)
    for ax, attribute in zip(axes.flat, attributes, strict=False):
        _panel(ax, found.sel(attribute=attribute).transpose("model", "metric", ...))
        ax.set_title(style.plain(attribute), loc="left")
    for ax in list(axes.flat)[len(attributes) :]:
        ax.set_visible(False)
    handles: list[Artist] = [
        Patch(facecolor=(SHADE, alpha), edgecolor=style.MUTED, lw=0.8, label=f"VFR {label}")
        for _, alpha, label in CLASSES
    ]
    handles.append(Line2D([], [], ls="", marker="o", mfc=style.INK, mec=style.PAPER, ms=6, label="most fail"))
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _panel(ax: Axes, found: xr.Dataset) -> None:
    rates, dominant = found["vfr"].values, found["dominant"].values
    for (row, column), rate in np.ndenumerate(rates):
        alpha = next((alpha for upto, alpha, _ in CLASSES if rate <= upto), 0.0)
        box = Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=(SHADE, alpha), edgecolor=style.MUTED, lw=0.8)
        ax.add_patch(box)
        if not np.isfinite(rate):
            ax.plot([column], [row], "x", color=style.MUTED, ms=6)
        elif dominant[row, column] == "fail":
            ax.plot([column], [row], "o", mfc=style.INK, mec=style.PAPER, ms=6)
    names = [MODELS.get(str(model), style.plain(model)) for model in found["model"].values]
    ax.set(xlim=(-0.5, rates.shape[1] - 0.5), ylim=(rates.shape[0] - 0.5, -0.5))
    ax.set_xticks(range(rates.shape[1]), list(found["metric"].values), rotation=90)
    ax.set_yticks(range(rates.shape[0]), names)
    ax.tick_params(length=0)
    ax.grid(False)


def truth(table: pd.DataFrame) -> Figure:
    """What happens to fresh audits, and what flip rates say, against the true spread; a panel a kind, an axis each.

    Parameters
    ----------
    table : DataFrame
        The study ``flip_truth``.

    Raises
    ------
    AuditInputError
        For missing columns.

    Examples
    --------
    >>> row = {"kind": "range", "metric": "EOpp", "groups": 5, "n": 353, "audits": 9}
    >>> row |= {name: 0.1 for name, *_ in LINES} | {"truth": 0.1}
    >>> len(truth(pd.DataFrame([row])).axes)
    1
    """
    names = ["kind", "metric", "groups", "n", "audits", "truth", *(name for name, *_ in LINES)]
    checks.columns(table, names, 'studies.study_table("flip_truth")')
    kinds = list(dict.fromkeys(table["kind"]))
    size = (style.WIDTH, 1.0 + 2.3 * len(kinds))
    figure, axes = plt.subplots(len(kinds), 1, figsize=size, squeeze=False, sharey=True)
    for ax, kind in zip(axes.flat, kinds, strict=True):
        rows = table[table["kind"] == kind].drop_duplicates("truth").sort_values("truth")
        first = rows.iloc[0]
        limit = LIMITS[first["metric"]].value
        whom = "people" if first["metric"] in ("DI", "SPD") else "with the outcome"
        ax.set_title(f"{first['metric']}, {first['groups']} groups, each {first['n']:,} {whom}", loc="left")
        ax.axvline(limit, color=style.INK, lw=1, ls="--")
        sides = [rows["truth"] <= limit + 1e-9, rows["truth"] > limit + 1e-9]
        for name, label, colour, marker, line in LINES:
            look = {"color": style.PALETTE[colour].light, "marker": marker, "ms": 5, "ls": line, "lw": 1.6}
            for side in sides if name == "true_flip" else [sides[0] | sides[1]]:  # who is wrong changes at the limit
                held = rows[side]
                error = _half_width(held, name) if name in ("true_flip", "disagree") else None
                ax.errorbar(held["truth"], held[name], error, elinewidth=1.4, **look, label=label)
        ax.set(ylim=(-0.02, 0.9), ylabel="Share")
    axes[-1, 0].set_xlabel("True spread (dashed: limit)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    figure.legend(once.values(), once.keys(), loc="outside lower center", ncols=2, frameon=False)
    return figure


def _half_width(rows: pd.DataFrame, name: str) -> np.ndarray:
    """Of a 95% interval; two audits disagree in 2p(1 − p), whose slope in p is 2(1 − 2p)."""
    p = rows["true_flip"].to_numpy(float)
    half = 1.96 * np.sqrt(p * (1 - p) / rows["audits"].to_numpy(float))
    return half if name == "true_flip" else half * abs(2 * (1 - 2 * p))


def formulas(table: pd.DataFrame) -> Figure:
    """Two formulas against the flip rate of many replicates, a panel a formula; on the diagonal they agree.

    Parameters
    ----------
    table : DataFrame
        The study ``flip_closed_form``: ``vfr``, ``closed``, ``plain``, ``attribute``.

    Raises
    ------
    AuditInputError
        For missing columns.

    Examples
    --------
    >>> row = {"vfr": 0.2, "closed": 0.2, "plain": 0.1, "attribute": "sex"}
    >>> [ax.get_title("left") for ax in formulas(pd.DataFrame([row])).axes]
    ['range integral', 'plain Φ']
    """
    checks.columns(table, ["vfr", "closed", "plain", "attribute"], 'studies.study_table("flip_closed_form")')
    figure, axes = plt.subplots(1, 2, figsize=(5.6, 3.6), sharex=True, sharey=True)
    colours = style.group_colours(dict.fromkeys(table["attribute"]))
    for ax, (name, title) in zip(axes, (("closed", "range integral"), ("plain", "plain Φ")), strict=True):
        ax.plot([0, 0.5], [0, 0.5], color=style.REFERENCE, lw=1, ls="--")
        for (attribute, colour), marker in zip(colours.items(), "osD^v<", strict=False):
            rows = table[table["attribute"] == attribute]
            look = {"color": colour, "mfc": "none", "mew": 1.2, "ms": 5, "ls": ""}
            none = max(rows["vfr"].max(), rows["closed"].max(), rows["plain"].max()) < 1e-3  # under the others' markers
            label = style.plain(attribute) + (" (all 0)" if none else "")
            ax.plot(rows["vfr"], rows[name], marker=marker, **look, label=label)
        ax.set_title(title, loc="left")
    axes[0].set_ylabel("Formula")
    figure.supxlabel("VFR of 20,000 replicates", size=12, color=style.INK)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    return figure
