"""Fieller sets, which may be unbounded: pieces of an axis, and rays in the plane of two λs."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from auditlib.errors import AuditInputError
from auditlib.plots import checks, style


def rays(bound: xr.Dataset, ax: Axes) -> Axes:
    """The limits of ``lambda_ratio_bound(table, t, a, b)`` on a plane with λ_a across and λ_b up: λ_b = λ_a/ρ.

    Raises AuditInputError when the bound has dims: select one.

    Examples
    --------
    >>> import auditlib as al
    >>> bound = al.lambda_ratio_bound(al.parse_confusion("A:300,400,8900,400; B:100,100,9300,500"), 0.15, "A", "B")
    >>> ax = plt.subplots()[1]
    >>> [round(float(line.get_ydata()[1] / line.get_xdata()[1]), 2) for line in rays(bound, ax).lines]
    [3.79, 2.13]
    """
    checks.single(bound, ("low", "high"), "the bound")
    limits = ax.get_xlim(), ax.get_ylim()
    for value in (float(bound["low"]), float(bound["high"])):
        if np.isfinite(value) and value > 0:
            end = max(limits[0][1], value * limits[1][1])
            ax.plot([0, end], [0, end / value], color=style.INK, lw=1, ls="--", label="_ray")
    ax.set(xlim=limits[0], ylim=limits[1])
    return ax


def sets(
    found: Mapping[str, xr.Dataset],
    *,
    limits: tuple[float, float],
    label: str,
    reference: float | None = None,
    possible: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Fieller sets one below the other; a piece that goes on beyond the axis ends in an arrow.

    Parameters
    ----------
    found : mapping of a name to a Dataset of ``tipping_lambda``, ``lambda_ratio_bound`` or ``fieller``
    limits : (float, float)
        The ends of the axis.
    label : str
    reference : float, optional
        Where a dashed line stands.
    possible : (float, float), optional
        The values that are possible: they are shaded, and the dot of an estimate beyond them is hollow.

    Raises
    ------
    AuditInputError
        Without any set, or for one with dims.

    Examples
    --------
    >>> import auditlib as al
    >>> table = al.parse_confusion("A:300,400,8900,400; B:100,100,9300,500")
    >>> ax = sets({"A, B": al.lambda_ratio_bound(table, 0.15, "A", "B")}, limits=(0, 2), label="λ_A/λ_B")
    >>> ax.get_yticklabels()[0].get_text()
    'A, B'
    """
    checks.by_name(found, "tipping_lambda(…)")
    if not found:
        raise AuditInputError("found: no set to draw; give a mapping of names to sets.")
    for name, one in found.items():
        checks.single(one, ("estimate", "low", "high", "form"), f"the set {name!r}")
    ax = ax or plt.subplots(figsize=(style.WIDTH, 1.2 + 0.5 * len(found)))[1]
    if possible is not None:
        ax.axvspan(*possible, **style.region(style.MUTED, 0.15), zorder=0, label="_possible")
    if reference is not None:
        ax.axvline(reference, color=style.REFERENCE, lw=1, ls="--", label="_reference")
    places = range(len(found))[::-1]
    for place, one in zip(places, found.values(), strict=True):
        low, high, form = float(one["low"]), float(one["high"]), str(one["form"].item())
        outside, everything = [(-np.inf, low), (high, np.inf)], [(-np.inf, np.inf)]
        pieces = {"bounded": [(low, high)], "outside": outside, "all": everything}.get(form, [])
        for start, stop in pieces:
            inside = max(start, limits[0]), min(stop, limits[1])
            if inside[0] > inside[1]:
                continue
            ax.plot(inside, [place] * 2, color=style.GROUPS[0], lw=3, solid_capstyle="butt", label=f"_{form}")
            for end, mark, beyond in ((inside[0], "<", start < limits[0]), (inside[1], ">", stop > limits[1])):
                if beyond:
                    ax.plot(end, place, mark, color=style.GROUPS[0], ms=9, clip_on=False, label="_arrow")
        estimate = float(one["estimate"])
        if limits[0] <= estimate <= limits[1]:
            beyond = possible is not None and not possible[0] <= estimate <= possible[1]
            inner = style.PAPER if beyond else style.GROUPS[0]
            ax.plot(estimate, place, "o", color=style.GROUPS[0], mfc=inner, ms=8, label="_estimate")
    ax.set_yticks(list(places), [style.plain(name) for name in found])
    ax.tick_params(axis="y", pad=9)
    ax.set(xlim=limits, ylim=(-0.6, len(found) - 0.4), xlabel=label)
    ax.grid(axis="y", visible=False)
    return ax
