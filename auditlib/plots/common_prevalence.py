"""Two groups at one common prevalence, beside the curve of their gap: as a picture and in words."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.special import logit

from auditlib.errors import AuditInputError
from auditlib.plots import checks, style
from auditlib.plots.prevalence import FEWER, MANY, draw_curve, draw_people, draw_point, people_key, told
from auditlib.plots.words import LIMITS, points


def at_prevalence(
    table: xr.Dataset, values: xr.Dataset, gap: xr.Dataset, counted: xr.Dataset, dim: str, prevalence: float
) -> Figure:
    """Of 10,000 people of each group at one common prevalence, and below their gap there, on its curve.

    The gap as counted, which is at no common prevalence, stands in a column of its own to the left of the curve.

    Parameters
    ----------
    table : Dataset of ``standardize``, over ``dim`` and ``prevalence``
    values, gap : Datasets of ``estimate``, ``low`` and ``high``
        Of PPV over ``dim`` and ``prevalence``, and of its gap over ``prevalence``.
    counted : Dataset of one ``estimate``, ``low`` and ``high``
        The gap as counted, each group at its own prevalence.
    dim : str
        The group dim.
    prevalence : float
        One of the grid.

    Raises
    ------
    AuditInputError
        For other dims or prevalences that differ, or one that is not in the grid.

    Examples
    --------
    >>> import auditlib as al
    >>> grid = xr.DataArray([0.1, 0.5], {"prevalence": [0.1, 0.5]}, ["prevalence"])
    >>> table = al.standardize(al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25"), grid)
    >>> values = xr.Dataset(dict.fromkeys(("estimate", "low", "high"), al.ppv(table)))
    >>> gap = values.sel(group="Women", drop=True) - values.sel(group="Men", drop=True)
    >>> figure = at_prevalence(table, values, gap, gap.isel(prevalence=0), "group", 0.5)
    >>> [ax.get_title("left") for ax in figure.axes]
    ['Women: PPV 93.9% (93.9–93.9%)', 'Men: PPV 87.9% (87.9–87.9%)', '']
    """
    one, there = _at(table, values, dim, prevalence)
    checks.single(counted, LIMITS, "the gap as counted")
    groups = table.sizes[dim]
    size = (style.WIDTH, 2.7 + 1.3 * groups)
    figure, axes = plt.subplots(groups + 1, 1, figsize=size, height_ratios=[1.0] * groups + [1.6], layout="none")
    figure.subplots_adjust(left=0.24, right=0.94, bottom=0.13, top=0.88, hspace=0.75)  # many frames: nothing to solve
    draw_people(axes[:-1], one, dim, there, MANY)
    for ax in axes[: groups - 1]:
        ax.tick_params(labelbottom=False)
    lower = axes[-1]
    draw_curve(lower, gap, "Gap, in points")
    here = gap.isel(prevalence=checks.on_grid("prevalence", prevalence, gap["prevalence"]))
    places = {"at one prevalence": (float(logit(prevalence)), here), "as counted": (_aside(lower), counted)}
    for (name, (x, found)), colour, shape in zip(places.items(), (style.INK, style.GROUPS[3]), "oD", strict=True):
        draw_point(lower, x, found, colour, shape, name)
    lower.set_xlabel("Common prevalence")
    lower.legend(loc="best", handletextpad=0.2)
    figure.legend(handles=people_key(), loc="upper center", ncols=3, framealpha=0, columnspacing=0.8, handlelength=0.8)
    return figure


def _aside(ax: Axes) -> float:
    """Make room to the left of a curve for what is at no common prevalence, and say where."""
    left, right = ax.get_xlim()
    place, ticks = left - 1.2, [tick for tick in logit(FEWER) if left <= tick <= right]
    names = [ax.xaxis.get_major_formatter()(tick) for tick in ticks]
    ax.set_xticks([place, *ticks], ["each\nits own", *names])
    ax.axvline(left - 0.2, color=style.MUTED, lw=0.8)
    ax.set_xlim(place - 1, right)
    return place


def at_words(values: xr.Dataset, gap: xr.Dataset, dim: str, prevalence: float) -> str:
    """What ``at_prevalence`` shows, in words; AuditInputError as there, and for values that are not defined.

    Examples
    --------
    >>> share = xr.DataArray([[0.4], [0.5]], {"sex": ["F", "M"], "prevalence": [0.1]}, ["sex", "prevalence"])
    >>> values = xr.Dataset({"estimate": share, "low": share - 0.1, "high": share + 0.1})
    >>> gap = values.sel(sex="F", drop=True) - values.sel(sex="M", drop=True)
    >>> at_words(values, gap, "sex", 0.1)
    'Both at a prevalence of 10%: PPV F 40.0% (30.0–50.0%), M 50.0% (40.0–60.0%); gap −10.0 (−10.0 to −10.0) points.'
    """
    checks.over(gap, ("prevalence",), LIMITS)
    _, there = _at(values, values, dim, prevalence)
    here = gap.isel(prevalence=checks.on_grid("prevalence", prevalence, gap["prevalence"]))
    if not all(np.isfinite(float(here[name])) for name in LIMITS):
        raise AuditInputError(f"the gap is not defined at a prevalence of {prevalence:g}.")
    each = ", ".join(f"{level} {told(there.isel({dim: k}))}" for k, level in enumerate(there[dim].values))
    return f"Both at a prevalence of {100 * prevalence:.3g}%: PPV {each}; gap {points(here)} points."


def _at(table: xr.Dataset, values: xr.Dataset, dim: str, prevalence: float) -> tuple[xr.Dataset, xr.Dataset]:
    """Table and predictive values at one prevalence of the grid that both have."""
    checks.over(values, (dim, "prevalence"), LIMITS)
    values = checks.aligned(table, values, ["prevalence"], "the predictive values", "the table")
    k = checks.on_grid("prevalence", prevalence, table["prevalence"])
    return table.isel(prevalence=k), values.isel(prevalence=k)
