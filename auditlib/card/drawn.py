"""How the figures of a card are drawn. Each is read on a phone, at 340 px, and in print, at 85 mm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from auditlib.audits.choices import COUNTED
from auditlib.audits.names import labels
from auditlib.audits.said import UNDEFINED, shown
from auditlib.card.readings import SHORT, groups
from auditlib.plots import style, thresholds
from auditlib.plots.multiverse import SIDES, ordered, sides

Results = Mapping[str, Any]
MOST = 8  # groups in a figure
NAMED = 12  # specifications that have their names in the figure
BESIDE = 0.08  # of what is drawn, on both sides: neither zero nor the end of an interval lies on the frame
LIMITS = ("estimate", "low", "high")
A, B, OTHER = style.GROUPS[0], style.GROUPS[1], style.GROUPS[5]


def there(results: Results, name: str) -> bool:
    """Whether there is anything to draw of a question."""
    if name == "benefit":
        return bool(results["benefit"])
    found = results["questions"][name]
    if not found.get("available", True):
        return False
    lines = {"thresholds": "points", "choices": "rows"}.get(name)
    held = found[lines] if lines else [found["gap"] if name == "chance" else found["raw"]]
    return name == "chance" or any(line["estimate"] is not None for line in held)


def _figure(height: float) -> Figure:
    return Figure(figsize=(style.WIDTH, round(height, 2)))


def _first(results: Results, lines: Sequence[Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any], str]]:
    """At most eight groups, those compared first: label, line and colour."""
    names = groups(results)
    found, held = labels(names, SHORT), {line["group"]: line for line in lines}
    colours = dict(zip(names, (A, B), strict=False))
    return [(found[name], held[name], colours.get(name, OTHER)) for name in names[:MOST] if name in held]


def _interval(ax: Axes, found: Mapping[str, Any], place: float, colour: str, scale: float = 100) -> None:
    """An estimate and its interval along the axis; the word "undefined" where there is none."""
    if found["estimate"] is None:
        _undefined(ax, place)
        return
    if found["low"] is not None:
        ends = [scale * found["low"], scale * found["high"]]
        ax.plot(ends, [place] * 2, color=colour, lw=3, solid_capstyle="butt")
    ax.plot(scale * found["estimate"], place, "o", color=colour, ms=8)


def _undefined(ax: Axes, place: float) -> None:
    ax.text(0.02, place, UNDEFINED, transform=ax.get_yaxis_transform(), va="center", color=style.MUTED, fontsize=11)


def _rows(ax: Axes, texts: Sequence[str], label: str) -> None:
    ax.set_yticks(range(len(texts)), [style.plain(text) for text in texts])
    ax.set_ylim(len(texts) - 0.4, -0.6)
    ax.margins(x=BESIDE)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    ax.xaxis.set_major_locator(MaxNLocator(5, min_n_ticks=3))
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.5g}".replace("-", "−"))
    ax.set_xlabel(label)


def _zero(ax: Axes) -> None:
    ax.axvline(0, color=style.REFERENCE, lw=1, ls="--")


def chance(results: Results) -> Figure:
    """Sensitivity of each group, those compared first, and below their gap."""
    name = results["comparison"]["attribute"]
    lines = _first(results, [line for line in results["groups"] if line["attribute"] == name])
    rows = len(lines)
    figure = _figure(_height(results))
    top, below = figure.subplots(2, 1, height_ratios=[0.1 + 0.18 * rows, 0.22])
    for place, (_, line, colour) in enumerate(lines):
        _interval(top, line["sensitivity"], place, colour)
    texts = [f"{text} ({shown(line['sensitivity']['n'], 'count')})" for text, line, _ in lines]
    _rows(top, texts, "Sensitivity, %")
    _zero(below)
    _interval(below, results["questions"]["chance"]["gap"], 0, style.INK)
    _rows(below, ["gap, points"], "")
    if results["questions"]["chance"]["gap"]["estimate"] is None:
        below.set_xlim(-1, 1)
        below.set_xticks([0])
    return figure


def _height(results: Results) -> float:
    """Of the first two figures, which stand side by side."""
    return 1.15 + 0.18 * max(3, min(MOST, len(groups(results))))


def _flat(results: Results) -> float:
    """Height of the other two; with many groups the tables need the room on paper."""
    return 2.9 if len(groups(results)) <= 4 and not results["sites"] else 2.3


def prevalence(results: Results) -> Figure:
    """The gap in PPV as it is and at one prevalence; and, hollow, what prevalence and the model make of it."""
    found = results["questions"]["prevalence"]
    figure = _figure(max(1.75, min(2.3, _height(results))))
    ax = figure.subplots()
    _zero(ax)
    _interval(ax, found["raw"], 0, style.INK)
    parts = [(name, found["split"][name]) for name in ("prevalence", "performance")]
    for place, (_, value) in enumerate(parts, start=1):
        if value is None:
            _undefined(ax, place)
        else:
            ax.plot(100 * value, place, "D", color=OTHER, mfc=style.PAPER, ms=7, mew=1.6)
    _interval(ax, found["standardized"], 3, A)
    level = shown(found["target"], "percent")
    texts = ["as it is", "of which prevalence", "of which the rates", f"both at {level}"]
    _rows(ax, texts, "Gap in PPV, points")
    return figure


def along(results: Results) -> Figure:
    """The gap along thresholds; the one in use, and those that flag half to twice as many people."""
    found = results["questions"]["thresholds"]
    lines = pd.DataFrame(found["points"])
    names = ("estimate", "low", "high", "band_low", "band_high")
    held = {name: ("threshold", lines[name].to_numpy(float)) for name in names}
    held["small"] = ("threshold", lines["small"].to_numpy(bool))
    curve = xr.Dataset(held, {"threshold": lines["threshold"].to_numpy(float)})
    figure = _figure(_flat(results))
    ax = figure.subplots()
    first, last = found["range"]
    if first < last:
        ax.axvspan(first, last, **style.region(style.GROUPS[4], 0.18), label="half to twice as many")
    thresholds.curve(curve, marks={"in use": results["threshold"]["value"]}, label="Gap, points", ax=ax)
    ax.set_xlim(*np.array([-0.01, 0.01]) + lines["threshold"].iloc[[0, -1]].to_numpy(float))
    handles, texts = ax.get_legend_handles_labels()
    short = {thresholds.BAND: "band, whole curve", thresholds.POINTWISE: "interval, one threshold"}
    short["on fewer than 30 people"] = "fewer than 30 people"
    figure.legend(
        handles, [short.get(text, text) for text in texts], loc="outside upper center", ncols=2,
        columnspacing=1.0, handlelength=1.4, labelspacing=0.25, borderpad=0,
    )  # fmt: skip
    return figure


def choices(results: Results) -> Figure:
    """All specifications in the order of their estimates, coloured by the side on which their intervals lie."""
    found = results["questions"]["choices"]
    rows = pd.DataFrame(found["rows"])
    rows[list(LIMITS)] = rows[list(LIMITS)].astype(float)
    held = ordered(rows, LIMITS)
    return _named(held, found) if len(held) <= NAMED else _curve(held, found, _flat(results))


def _named(held: pd.DataFrame, found: Mapping[str, Any]) -> Figure:
    figure = _figure(0.6 + 0.17 * max(8, len(held)))
    ax = figure.subplots()
    _zero(ax)
    for place, (line, side) in enumerate(zip(held.to_dict("records"), sides(held), strict=True)):
        _interval(ax, {name: line[name] for name in LIMITS}, place, SIDES[side])
    texts = [called(line, found) for line in held.to_dict("records")]
    short = labels(texts, 24)
    _rows(ax, [short[text] for text in texts], "Gap, points")
    return figure


def called(line: Mapping[Any, Any], found: Mapping[str, Any]) -> str:
    """A specification by what is not as usual in it."""
    usual = found["default"]
    other = [str(line[axis]) for axis in found["axes"] if line[axis] != usual[axis]]
    return ", ".join(other) or usually(found)


def usually(found: Mapping[str, Any]) -> str:
    """What the default among the rows is called: what is in use, or the book's default specification.

    >>> usually({"source": "counts"})
    'as in use'
    """
    return "as in use" if found["source"] == COUNTED else "the book's default"


def _curve(held: pd.DataFrame, found: Mapping[str, Any], height: float) -> Figure:
    figure = _figure(height)
    ax = figure.subplots()
    x, side = np.arange(len(held)) + 0.5, sides(held)
    width = float(np.clip(220 / len(held), 0.3, 5))
    for name, colour in SIDES.items():
        part = held[side == name]
        if len(part):
            gap = np.full(len(part), np.nan)  # one path: one a specification would weigh ten times as much
            at = np.column_stack([x[side == name], x[side == name], gap]).ravel()
            ends = 100 * np.column_stack([part["low"], part["high"], gap]).ravel()
            ax.plot(at, ends, color=colour, lw=width, alpha=0.7, solid_capstyle="butt")
            ax.plot([], [], color=colour, lw=4, label=f"interval {name}: {len(part):,}")
    ax.plot(x, 100 * held["estimate"], color=style.INK, lw=1.6, label="estimate")
    usual = np.all([held[axis] == choice for axis, choice in found["default"].items()], axis=0)
    if usual.sum() == 1:
        ax.plot(x[usual], 100 * held["estimate"][usual], "o", color=style.INK, ms=8, label=usually(found))
    ax.axhline(0, color=style.REFERENCE, lw=1, ls="--")
    ax.grid(axis="x", visible=False)
    ax.set_xlim(-0.01 * len(held), 1.01 * len(held))
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}".replace("-", "−"))
    ax.set(xlabel="In the order of their estimates", ylabel="Gap, points")
    figure.legend(
        loc="outside upper center", ncols=2, columnspacing=1.0, handlelength=1.4, labelspacing=0.25, borderpad=0
    )
    return figure


def benefit(results: Results) -> Figure:
    """Net benefit of each group with its interval; a bar where it would be with nobody treated."""
    lines = _first(results, results["benefit"]["groups"])
    figure = _figure(0.9 + 0.22 * len(lines))
    ax = figure.subplots()
    for place, (_, line, colour) in enumerate(lines):
        _interval(ax, line["snb"], place, colour, 10_000)
        if line["untreated"] is not None:
            ax.plot(10_000 * line["untreated"], place, "|", color=style.INK, ms=15, mew=2)
    _rows(ax, [f"{text} ({shown(line['snb']['n'], 'count')})" for text, line, _ in lines], "True negatives per 10,000")
    return figure


DRAWN: dict[str, Callable[[Results], Figure]] = {
    "chance": chance, "prevalence": prevalence, "thresholds": along, "choices": choices, "benefit": benefit,
}  # fmt: skip
