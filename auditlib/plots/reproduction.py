"""Published estimates and ours side by side, and which published values a rule would have let pass."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from auditlib.errors import AuditInputError
from auditlib.plots import checks, gaps, style

PUBLISHED, OURS = "published", "this book"


def beside(table: pd.DataFrame, *, label: str = "Gap") -> Axes:
    """Each number several times: as published, by others and by us, with its interval, and what ours rests on.

    Parameters
    ----------
    table : DataFrame
        Columns ``name``, ``series``, ``estimate``, ``low``, ``high`` and ``n``, a text that stands under the name.
    label : str
        Of the axis.

    Raises
    ------
    AuditInputError
        For missing columns, or more series than there are colours.

    Examples
    --------
    >>> table = pd.DataFrame({"name": "sex", "series": ["published", "this book"], "estimate": [-0.1, -0.12],
    ...                       "low": -0.2, "high": 0.0, "n": "40 / 60"})
    >>> print(beside(table).get_yticklabels()[0].get_text())
    sex
    n = 40 / 60
    """
    checks.columns(table, ("name", "series", "estimate", "low", "high", "n"), "studies.reproduced")
    under = [f"{_lines(name)}\nn = {n}" for name, n in zip(table["name"], table["n"], strict=True)]
    return gaps.forest(table.assign(name=under), label=label)


def _lines(name: str) -> str:
    """A name with its outcome on one line and its groups below, on two where they are long."""
    head, mark, groups = name.rpartition(": ")
    groups = groups.replace(" − ", " −\n" if len(groups) > 20 else "\u00a0−\u00a0")
    return f"{head}:\n{groups}" if mark else groups


def passing(
    rows: pd.DataFrame,
    values: NDArray[np.float64],
    accepted: NDArray[np.bool_],
    splits: NDArray[np.float64] | None = None,
    *,
    title: str = "",
    label: str = "Gap",
) -> Figure:
    """Two intervals, estimates from other splits, and shaded the published values that a rule would have let pass.

    Parameters
    ----------
    rows : DataFrame
        One row for each of the series "published" and "this book": ``series``, ``estimate``, ``low``, ``high``.
    values, accepted : arrays
        Values that might have been published, in order, and whether the rule calls each of them agreement; the first
        and the last value end the axis.
    splits : array, optional
        Our estimates on other splits, in a row of their own.

    Raises
    ------
    AuditInputError
        For missing columns or series, or arrays that do not fit each other.

    Examples
    --------
    >>> rows = pd.DataFrame({"series": ["published", "this book"], "estimate": [-0.1, -0.12], "low": -0.2, "high": 0.0})
    >>> values = np.linspace(-0.3, 0.3, 61)
    >>> figure = passing(rows, values, abs(values) < 0.1)
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['published', 'this book']
    """
    given, ok = _by_series(rows), np.asarray(accepted, dtype=bool)
    if len(values) < 2 or len(values) != len(ok) or not (np.diff(values) > 0).all():
        raise AuditInputError("values must be two or more in rising order, with one truth value of accepted for each.")
    figure, ax = plt.subplots(figsize=(style.WIDTH, 2.7))
    for low, high in stretches(values, ok):
        ax.axvspan(low, high, color=style.GROUPS[2], alpha=0.18, lw=0)
        for end in {low, high} - {values[0], values[-1]}:  # the tint alone is pale, above all on a dark page
            ax.axvline(end, color=style.GROUPS[2], lw=1.5)
    ax.axvline(0, color=style.REFERENCE, lw=1, ls="--")
    for place, name, colour in ((2, PUBLISHED, style.GROUPS[1]), (1, OURS, style.GROUPS[0])):
        estimate, low, high = given[name]
        ax.hlines(place, low, high, color=colour, lw=3)
        ax.plot(estimate, place, "s" if place == 2 else "o", color=colour, ms=7)
    rows_drawn = {2: PUBLISHED, 1: OURS}
    if splits is not None:
        ax.plot(splits, np.zeros(len(splits)), "|", color=style.GROUPS[0], ms=14, mew=1.5)
        rows_drawn[0] = f"{len(splits)} splits"
    ax.set_yticks(list(rows_drawn), list(rows_drawn.values()))
    ax.set(ylim=(min(rows_drawn) - 0.6, 2.6), xlim=(values[0], values[-1]), xlabel=label)
    ax.set_title(style.plain(title), loc="left")
    ax.grid(axis="y", visible=False)
    return figure


def stretches(values: NDArray[np.float64], accepted: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """First and last value of each stretch that is accepted.

    >>> stretches(np.array([0.0, 0.1, 0.2, 0.3, 0.4]), np.array([True, True, False, True, False]))
    [(0.0, 0.1), (0.3, 0.3)]
    """
    steps = np.diff(np.concatenate([[0], np.asarray(accepted, dtype=int), [0]]))
    starts, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) - 1
    return [(float(values[a]), float(values[b])) for a, b in zip(starts, ends, strict=True)]


def words(
    rows: pd.DataFrame,
    values: NDArray[np.float64],
    accepted: NDArray[np.bool_],
    splits: NDArray[np.float64] | None = None,
) -> str:
    """What ``passing`` shows, in words: both estimates, other splits, and the published values that would have passed.

    >>> rows = pd.DataFrame({"series": ["published", "this book"], "estimate": [-0.1, -0.12], "low": -0.2, "high": 0.0})
    >>> values = np.linspace(-0.3, 0.3, 61)
    >>> words(rows, values, abs(values) < 0.095, np.array([-0.14, -0.08])).split(", ")[1:]
    ['this book −0.120 (−0.200 to 0.000)', '2 splits −0.140 to −0.080; passing: −0.090 to +0.090']
    """
    given = _by_series(rows)
    told = [f"{name} " + "{} ({} to {})".format(*map(_signed, given[name])) for name in (PUBLISHED, OURS)]
    ends = values[0], values[-1]
    if splits is not None:
        told.append(f"{len(splits)} splits {_signed(np.min(splits))} to {_signed(np.max(splits))}")
    spans = [
        " to ".join(("beyond " if value in ends else "") + _signed(value) for value in stretch)
        for stretch in stretches(values, accepted)
    ]
    return f"{', '.join(told)}; passing: {' and '.join(spans) or 'none'}"


def _signed(value: float) -> str:
    text = f"{value:+.3f}".replace("-", "−")
    return "0.000" if text[1:] == "0.000" else text


def _by_series(rows: pd.DataFrame) -> dict[str, tuple[float, float, float]]:
    """Estimate and limits of the two series."""
    checks.columns(rows, ("series", "estimate", "low", "high"), "studies.reproduced")
    if sorted(rows["series"]) != sorted((PUBLISHED, OURS)):
        raise AuditInputError(f"rows must be one of {PUBLISHED!r} and one of {OURS!r}, not {list(rows['series'])}.")
    numbers = rows[["estimate", "low", "high"]].astype(float).itertuples(index=False, name=None)
    return dict(zip(rows["series"], numbers, strict=True))
