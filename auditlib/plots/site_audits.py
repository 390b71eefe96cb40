"""Twenty sites that do not differ: raw agreement, κ and AC1 of their verdicts."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import norm

from auditlib.counts.merge import check_whole
from auditlib.errors import AuditInputError
from auditlib.plots import style
from auditlib.plots.flips import FAIL, PASS
from auditlib.sites.coefficients import coefficients
from auditlib.verdicts import LIMITS

LIMIT, HIGHER, SITES, SETS, SEED = LIMITS["EOpp"].value, 0.70, 20, 1000, 12
#: How many of four attributes truly pass.
PATTERNS = {"four pass": 4, "three pass, one fails": 3, "two pass, two fail": 2}
NAMES = {"raw": ("raw agreement", "slate", "s"), "kappa": ("κ", "blue", "o"), "ac1": ("AC1", "vermilion", "D")}


def pass_chance(distance: float, positives: int) -> float:
    """Chance that one site passes EOpp over two groups, whose true sensitivities differ by the limit and ``distance``.

    The higher sensitivity is .70; the difference observed is taken as normal.

    Parameters
    ----------
    distance : float
        True EOpp minus the limit, in percentage points, from −10 to 10.
    positives : int
        In each group of the site.

    Raises
    ------
    AuditInputError
        For a distance or a number outside these.

    Examples
    --------
    >>> round(pass_chance(0, 1000), 2), round(pass_chance(-5, 1000), 2)
    (0.5, 0.99)
    """
    true, se = _setting(distance, positives)
    return float(ndtr((LIMIT - true) / se) - ndtr((-LIMIT - true) / se))


def _setting(distance: float, positives: int) -> tuple[float, float]:
    check_whole(positives, "positives")
    if isinstance(distance, bool) or not isinstance(distance, int | float) or not -10 <= distance <= 10:
        raise AuditInputError(f"distance must lie between −10 and 10 points, not {distance!r}.")
    true = LIMIT + distance / 100
    lower = HIGHER - true
    return true, float(np.sqrt((HIGHER * (1 - HIGHER) + lower * (1 - lower)) / positives))


def many_sites(chances: NDArray[np.float64]) -> dict[str, float]:
    """Raw agreement, κ and AC1 of endlessly many identical sites, from the chance that each item passes.

    With p the mean chance and V their variance, raw = 1 − 2·mean(p_i(1 − p_i)) and κ = V/(p(1 − p)).

    >>> round(many_sites(np.array([0.9, 0.9, 0.9, 0.1]))["kappa"], 4)
    0.5714
    >>> many_sites(np.array([0.9, 0.9, 0.9, 0.9]))["kappa"]
    0.0
    """
    p = float(chances.mean())
    raw = 1 - 2 * float((chances * (1 - chances)).mean())
    gwet = 2 * p * (1 - p)
    kappa = float(chances.var()) / (p * (1 - p)) if 0 < p < 1 else float("nan")
    return {"raw": raw, "kappa": kappa, "ac1": (raw - gwet) / (1 - gwet)}


def agreements(distance: float, positives: int) -> pd.DataFrame:
    """Coefficients of 1,000 sets of twenty identical sites that judge four attributes, for three patterns of truths.

    Parameters
    ----------
    distance : float
        How far the true EOpp of every attribute is from the limit, in points, 0 to 10; below it where it passes.
    positives : int
        As ``pass_chance``.

    Returns
    -------
    DataFrame, a row a pattern and coefficient: ``mean``, ``low`` and ``high`` (95% of the sets in which it is defined),
    ``undefined`` (share of sets) and ``limit`` (``many_sites``).

    Examples
    --------
    >>> found = agreements(5, 400).set_index(["pattern", "name"])["mean"].unstack()
    >>> found.loc[list(PATTERNS), ["raw", "kappa", "ac1"]].round(2).to_numpy().tolist()
    [[0.88, -0.01, 0.86], [0.88, 0.69, 0.79], [0.87, 0.75, 0.75]]
    """
    if distance < 0:
        raise AuditInputError(f"distance must be 0 or more, not {distance!r}: it counts for both sides of the limit.")
    inside, outside = pass_chance(-distance, positives), pass_chance(distance, positives)
    rng, rows = np.random.default_rng(SEED), []
    for pattern, number in PATTERNS.items():
        chances = np.array([inside] * number + [outside] * (4 - number))
        drawn = coefficients(rng.binomial(SITES, chances, size=(SETS, 4)).astype(float), np.full((SETS, 4), SITES))
        exact = many_sites(chances)
        for name in NAMES:
            held = drawn[name][np.isfinite(drawn[name])]
            mean, (low, high) = (
                (held.mean(), np.quantile(held, [0.025, 0.975])) if len(held) else (np.nan, [np.nan] * 2)
            )
            row = {"pattern": pattern, "name": name, "mean": mean, "low": low, "high": high}
            rows.append(row | {"undefined": 1 - len(held) / SETS, "limit": exact[name]})
    return pd.DataFrame(rows)


def identical_sites(distance: float, positives: int) -> Figure:
    """What one site finds, and below the agreement of twenty such sites; see ``agreements``.

    Examples
    --------
    >>> len(identical_sites(2, 100).axes)
    2
    """
    figure, (ax, below) = plt.subplots(2, 1, figsize=(style.WIDTH, 5.8), height_ratios=[1, 2.2])
    _found(ax, distance, positives)
    table = agreements(distance, positives)
    for k, pattern in enumerate(PATTERNS):
        below.text(-0.3, 4 * k - 0.35, pattern, color=style.INK, size=11, weight="bold")
        for row, (name, (label, colour, marker)) in enumerate(NAMES.items()):
            one = table[(table["pattern"] == pattern) & (table["name"] == name)].iloc[0]
            shade, y = style.PALETTE[colour].light, 4 * k + row + 0.2
            below.plot([one["low"], one["high"]], [y, y], color=shade, lw=3, alpha=0.6)
            below.plot([one["mean"]], [y], marker, color=shade, ms=6, label=label if k == 0 else None)
            if np.isnan(one["mean"]):
                below.text(0, y, "κ is 0/0", va="center", color=shade, size=11)
    below.axvline(0.4, color=style.INK, ls="--", lw=1, zorder=0)
    below.set(xlim=(-0.3, 1.05), ylim=(10.9, -1.3), yticks=[], xlabel="Of twenty identical sites; dashed: κ = .40")
    below.grid(axis="y", visible=False)
    figure.legend(*below.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def _found(ax: Axes, distance: float, positives: int) -> None:
    x, top = np.linspace(0, 0.3, 121), 0.0
    for side, colour, line, label in ((-1, PASS, "-", "truly passes"), (1, FAIL, "--", "truly fails")):
        true, se = _setting(side * distance, positives)
        height = norm.pdf((x - true) / se) + norm.pdf((x + true) / se)
        ax.plot(x, height, line, color=colour, lw=1.8, label=label)
        ax.fill_between(x, height, where=(x - LIMIT) * side <= 1e-9, color=colour, alpha=0.3, lw=0)
        top = max(top, float(height.max()))
    ax.axvline(LIMIT, color=style.INK, ls="--", lw=1.5)
    ax.set(xlim=(0, 0.3), ylim=(0, 1.1 * top), yticks=[], xlabel="EOpp that a site finds; filled: wrong verdict")
    ax.legend(loc="upper right")


def words(distance: float, positives: int) -> str:
    """The figure of ``identical_sites`` in words.

    >>> words(5, 400)[:78]
    'True EOpp 5 points from the limit, 400 positives in each group of a site: a si'
    """
    table = agreements(distance, positives)
    parts = []
    for pattern, held in table.groupby("pattern", sort=False):
        raw, kappa, ac1 = held.set_index("name")["mean"].loc[list(NAMES)]
        said = "undefined" if np.isnan(kappa) else f"{kappa:.2f}".replace("-", "−")
        parts.append(f"{pattern}: raw agreement {raw:.2f}, κ {said}, AC1 {ac1:.2f}".replace("-", "−"))
    return (
        f"True EOpp {distance:g} points from the limit, {positives:,} positives in each group of a site: a site that "
        f"should pass does so with a chance of {pass_chance(-distance, positives):.2f}. On average of twenty sites, "
        + "; ".join(parts)
        + "."
    )
