"""Decision curves by group, and what a model adds to benefit at one threshold."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from auditlib.benefit.core import UNIT
from auditlib.errors import AuditInputError
from auditlib.intervals.replicates import interval
from auditlib.metrics import check_dim
from auditlib.plots import checks, gaps, style
from auditlib.values import given

PER = f"per {UNIT:,}"
POLICIES = ("net_benefit", "all", "none")


def curves(curve: xr.Dataset, replicates: xr.Dataset, dim: str, *, level: float = 0.95, low: float = -0.03) -> Figure:
    """Decision curves, one panel a group: the model and treating everybody with pointwise bands, nobody at 0.

    Parameters
    ----------
    curve, replicates : Datasets of ``decision_curve``
        Of the table, and of its resampled counts; dims ``threshold``, ``dim`` and, for the latter, ``replicate``.
    dim : str
        The group dim.
    low : float
        Where the axis begins: treating everybody falls without end.

    Raises
    ------
    AuditInputError
        For an unknown dim, without replicates, or where these have other thresholds or groups than the curve.

    Examples
    --------
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [1, 0] * 8, "risk": [0.9, 0.3, 0.3, 0.1] * 4, "sex": ["F", "M", "M", "F"] * 4})
    >>> counts = al.count(frame, label="y", score="risk", by="sex")
    >>> again = counts.resample(50, seed=1).at([0.2, 0.5])
    >>> figure = curves(al.decision_curve(counts.at([0.2, 0.5])), al.decision_curve(again), "sex")
    >>> [ax.get_title("left") for ax in figure.axes]
    ['F', 'M']
    """
    replicates = _paired(curve, replicates, dim)
    groups, across = curve[dim].values, min(2, curve.sizes[dim])
    down = -(-len(groups) // across)  # rounded up
    size = (style.WIDTH, 1.0 + 1.75 * down)
    figure, axes = plt.subplots(down, across, sharex=True, sharey=True, figsize=size, squeeze=False)
    bands = {name: interval(replicates[name], level) for name in ("all", "net_benefit")}
    x, top = curve["threshold"].values, float(bands["net_benefit"]["high"].max())
    if not np.isfinite(top):
        raise AuditInputError("curves: the net benefit of the model is defined in no replicate.")
    for ax, group in zip(axes.flat, groups, strict=False):
        ax.axhline(0, color=style.REFERENCE, lw=1.2, ls="--", label="nobody")
        for name, colour in (("all", style.GROUPS[1]), ("net_benefit", style.GROUPS[0])):
            limits = bands[name].sel({dim: group})
            ax.fill_between(x, limits["low"], limits["high"], **style.region(colour, 0.25))
            shown = "everybody" if name == "all" else "by the model"
            ax.plot(x, curve[name].sel({dim: group}), color=colour, lw=1.6, label=shown)
        ax.set_title(style.plain(group), loc="left")
    axes[0, 0].set(xlim=(0, x.max()), ylim=(low, 1.05 * top))
    for spare in axes.flat[len(groups) :]:
        spare.remove()
    for ax in axes.flat[len(groups) - across : len(groups)]:  # above an empty place, too
        ax.tick_params(labelbottom=True)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=3, title="treated:")
    figure.supxlabel("Threshold t", size=12, color=style.INK)
    figure.supylabel("Net benefit", size=12, color=style.INK)
    return figure


def gain_table(
    curve: xr.Dataset, replicates: xr.Dataset, lam: Any, dim: str, burden: Any = 1.0, level: float = 0.95
) -> pd.DataFrame:
    """What the model adds to sNB at each threshold, over treating nobody and everybody: what ``gains`` draws.

    The gain is r·λ·(NB of the model − NB of the other policy), per 10,000; intervals from paired replicates.
    ``curve`` and ``replicates`` as in ``curves``, ``lam`` and ``burden`` as in ``subgroup_net_benefit``: one number, or
    one a group.

    Raises
    ------
    AuditInputError
        For λ or burden outside (0, 1] or over other dims than the curve's, and as ``curves``.

    Examples
    --------
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [1, 0] * 8, "risk": [0.9, 0.3, 0.3, 0.1] * 4, "sex": ["F", "M", "M", "F"] * 4})
    >>> counts = al.count(frame, label="y", score="risk", by="sex")
    >>> again = al.decision_curve(counts.resample(50, seed=1).at([0.2, 0.5]))
    >>> table = gain_table(al.decision_curve(counts.at([0.2, 0.5])), again, 0.58, "sex")
    >>> len(table), table.columns.tolist()
    (8, ['threshold', 'name', 'series', 'estimate', 'low', 'high'])
    """
    replicates = _paired(curve, replicates, dim)
    worth = UNIT * given("lam", lam, curve) * given("burden", burden, curve)
    if more := set(getattr(worth, "dims", ())) - set(curve.dims):
        raise AuditInputError(f"lam, burden: give one number, or one a group, and no grid over {', '.join(more)}.")
    parts, columns = [], ["threshold", "name", "series", "estimate", "low", "high"]
    for policy, series in (("none", "over treating nobody"), ("all", "over treating everybody")):
        gain = worth * (curve["net_benefit"] - curve[policy])
        limits = interval(worth * (replicates["net_benefit"] - replicates[policy]), level)
        found = xr.Dataset({"estimate": gain, "low": limits["low"], "high": limits["high"]})
        found = found.transpose("threshold", dim)
        rows = found.reset_coords(drop=True).to_dataframe().reset_index().rename(columns={dim: "name"})
        parts.append(rows.assign(series=series))
    return pd.concat(parts, ignore_index=True)[columns]


def gains(table: pd.DataFrame, threshold: float) -> Figure:
    """The rows of ``gain_table`` at one threshold, on an axis that all thresholds share.

    Raises
    ------
    AuditInputError
        For a threshold that is not in the table, missing columns, or a table without any limit.

    Examples
    --------
    >>> table = pd.DataFrame({"threshold": [0.1, 0.2], "name": "A", "series": "over treating nobody",
    ...                       "estimate": [30.0, 10.0], "low": [20.0, -5.0], "high": [40.0, 25.0]})
    >>> [float(limit) for limit in gains(table, 0.2).axes[0].get_xlim()]
    [-8.0, 43.0]
    """
    rows = _at(table, threshold)
    figure, ax = plt.subplots(figsize=(style.WIDTH, 1.4 + 0.5 * rows["name"].nunique()))
    gaps.forest(rows, label=f"sNB gained {PER}", ax=ax)
    low, high = min(table["low"].min(), 0), table["high"].max()
    if not np.isfinite([low, high]).all():
        raise AuditInputError("gains: low and high hold no number; were there any replicates?")
    ax.set_xlim(np.floor(low - 0.06 * (high - low)), np.ceil(high + 0.06 * (high - low)))
    return figure


def gain_words(table: pd.DataFrame, threshold: float) -> str:
    """The rows of ``gain_table`` at one threshold, in words; AuditInputError as ``gains``, and for a NaN.

    >>> table = pd.DataFrame({"threshold": [0.2], "name": "A", "series": "over treating nobody",
    ...                       "estimate": [10.0], "low": [-5.0], "high": [25.0]})
    >>> gain_words(table, 0.2)
    'Threshold 20%, sNB gained per 10,000. A over treating nobody: +10 (−5 to +25).'
    """
    rows, columns = _at(table, threshold), ["name", "series", "estimate", "low", "high"]
    checks.defined(rows, columns[2:])
    told = [
        "{} {}: {} ({} to {})".format(name, series, *map(_signed, values))
        for name, series, *values in rows[columns].values.tolist()
    ]
    return f"Threshold {threshold:.0%}, sNB gained {PER}. {'; '.join(told)}."


def _signed(value: float) -> str:
    """A signed whole number; no sign for 0."""
    return f"{round(value):+,}".replace("-", "−") if round(value) else "0"


def _at(table: pd.DataFrame, threshold: float) -> pd.DataFrame:
    checks.columns(table, ("threshold", "name", "series", "estimate", "low", "high"), "gain_table")
    rows = table[table["threshold"] == threshold]
    if rows.empty:
        known = ", ".join(f"{t:g}" for t in sorted(set(table["threshold"])))
        raise AuditInputError(f"threshold {threshold!r} is not in the table; there is {known}.")
    return rows


def _paired(curve: xr.Dataset, replicates: xr.Dataset, dim: str) -> xr.Dataset:
    """The replicates in the order of the curve, checked: xarray would drop or fill what does not match."""
    check_dim(curve, dim)
    checks.over(curve, ["threshold", dim], POLICIES)
    checks.over(replicates, ["replicate", "threshold", dim], POLICIES)
    return checks.aligned(curve, replicates, ["threshold", dim], "replicates", "the curve")
