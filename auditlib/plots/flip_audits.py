"""Fresh audits of two groups at a known distance from the limit: how often they are wrong, and what VFR says."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import norm

from auditlib.counts.merge import check_whole
from auditlib.errors import AuditInputError
from auditlib.plots import style
from auditlib.plots.flips import FAIL, PASS, STABLE
from auditlib.verdicts import LIMITS
from auditlib.verdicts.judged import NOISE

LIMIT, HIGHER = LIMITS["EOpp"].value, 0.70
BARS = {
    "wrong": "a fresh audit is wrong",
    "disagree": "two fresh audits disagree",
    "vfr": "mean VFR of such audits",
    "stable": "audits with VFR ≤ .10",
}
COLOURS = dict(zip(BARS, ("vermilion", "green", "blue", "slate"), strict=True))


def chances(distance: float, size: int) -> dict[str, float]:
    """What is in store for audits of EOpp in two equal groups, a quarter of the people in each with the outcome.

    One group has a sensitivity of .70, the other one that is lower by the limit and ``distance``. The difference of the
    sensitivities observed is taken as normal, resampling as normal around it. Each rests on an eighth of the people.

    Parameters
    ----------
    distance : float
        True EOpp minus its limit, in percentage points, from −10 to 50; 0 or less is a pass.
    size : int
        People in the audit.

    Returns
    -------
    dict of ``se``, and the chances ``wrong`` (of a fresh audit's verdict), ``disagree`` (of two fresh audits),
    ``vfr`` (the mean of the flip rates that audits of this size report) and ``stable`` (a flip rate of at most .10).

    Raises
    ------
    AuditInputError
        For a distance or a size outside these.

    Examples
    --------
    >>> {name: round(value, 2) for name, value in chances(0, 10_000).items()}
    {'se': 0.02, 'wrong': 0.5, 'disagree': 0.5, 'vfr': 0.25, 'stable': 0.2}
    """
    true, se = _setting(distance, size)
    passing = float(_inside(true, se))
    wrong = 1 - passing if distance <= 0 else passing
    d = true + se * np.linspace(-7, 7, 2001)
    weight = norm.pdf((d - true) / se)
    weight /= weight.sum()
    again = _inside(d, se)
    vfr = np.minimum(again, 1 - again)
    found = {"se": se, "wrong": wrong, "disagree": 2 * wrong * (1 - wrong)}
    return found | {"vfr": float(weight @ vfr), "stable": float(weight @ (vfr <= STABLE))}


def _setting(distance: float, size: int) -> tuple[float, float]:
    """The true difference and its standard error."""
    check_whole(size, "size")
    if isinstance(distance, bool) or not isinstance(distance, int | float) or not -10 <= distance <= 50:
        raise AuditInputError(f"distance must lie between −10 and 50 points, not {distance!r}.")
    true = LIMIT + distance / 100
    lower = HIGHER - true
    return true, float(np.sqrt((HIGHER * (1 - HIGHER) + lower * (1 - lower)) / (size / 8)))  # a quarter of half of them


def _inside(d: NDArray[np.float64] | float, se: float) -> NDArray[np.float64]:
    """Chance that a difference around ``d`` is observed within the limit, on either side of zero."""
    within: NDArray[np.float64] = ndtr((LIMIT - d) / se) - ndtr((-LIMIT - d) / se)
    return within


def fresh(rates: Sequence[float], n: int, *, audits: int = 2_000, replicates: int = 500, seed: int = 1) -> pd.DataFrame:
    """Simulated audits of EOpp in independent groups with known rates, each resampled within groups and outcomes.

    Parameters
    ----------
    rates : sequence of float
        True sensitivity of each group, two at least.
    n : int
        People with the outcome in each group.
    audits, replicates : int
        How many audits, and resamples of each.
    seed : int

    Returns
    -------
    DataFrame, a row an audit: ``estimate``, the mean of its ``replicates``, whether its verdict is ``wrong`` (not that
    of the true rates), and its ``vfr``.

    Raises
    ------
    AuditInputError
        For fewer than two rates, rates that are no shares, or numbers below 1.

    Examples
    --------
    >>> found = fresh([0.7, 0.7, 0.7, 0.7, 0.601], 353, audits=200, replicates=100)
    >>> bool(found["estimate"].mean() < found["replicates"].mean()), bool(found["wrong"].mean() > found["vfr"].mean())
    (True, True)
    """
    true = np.asarray(rates, dtype=np.float64)
    if true.ndim != 1 or true.size < 2 or not ((true >= 0) & (true <= 1)).all():
        raise AuditInputError(f"rates must be two shares or more, not {rates!r}.")
    for number, name in ((n, "n"), (audits, "audits"), (replicates, "replicates")):
        check_whole(number, name)
    rng = np.random.default_rng(seed)
    found = rng.binomial(n, true, (audits, true.size))
    again = np.ptp(rng.binomial(n, found[..., None] / n, (audits, true.size, replicates)), axis=1) / n
    estimate = np.ptp(found, axis=1) / n
    p_pass = (again <= LIMIT + NOISE).mean(axis=1)
    wrong = (estimate <= LIMIT + NOISE) != (np.ptp(true) <= LIMIT + NOISE)
    vfr = np.minimum(p_pass, 1 - p_pass)
    return pd.DataFrame({"estimate": estimate, "replicates": again.mean(axis=1), "wrong": wrong, "vfr": vfr})


def audits(distance: float, size: int) -> Figure:
    """What fresh audits find, the wrong verdicts filled, and below four chances; see ``chances``.

    Examples
    --------
    >>> len(audits(2, 5000).axes)
    2
    """
    true, se = _setting(distance, size)
    found = chances(distance, size)
    # a fixed layout: to compute one for each of 49 frames takes as long as to draw them
    figure, (ax, below) = plt.subplots(2, 1, figsize=(style.WIDTH, 5.2), height_ratios=[1.2, 1], layout="none")
    figure.subplots_adjust(left=0.05, right=0.95, top=0.98, bottom=0.1, hspace=0.28)
    x = np.linspace(0, 0.3, 151)
    height = norm.pdf((x - true) / se) + norm.pdf((x + true) / se)
    ax.plot(x, height, color=style.MUTED, lw=1.4)
    for side, colour, label in ((x <= LIMIT + 1e-9, PASS, "pass"), (x >= LIMIT - 1e-9, FAIL, "fail")):
        wrong = (label == "pass") != (distance <= 0)
        options = style.region(colour, 0.65 if wrong else 0.15)
        said = f"{label}: {'wrong' if wrong else 'right'}"
        ax.fill_between(x[side], height[side], **options, label=said)
    ax.axvline(LIMIT, color=style.INK, lw=1.5, ls="--")
    ax.axvline(true, color=style.INK, lw=1.2, ls=":")
    ax.set(xlim=(0, 0.3), ylim=(0, 1.08 * height.max()), yticks=[], xlabel="EOpp found; dashed: limit, dotted: truth")
    ax.legend(loc="upper right")
    for k, (name, label) in enumerate(BARS.items()):
        below.barh([k], [found[name]], 0.35, color=style.PALETTE[COLOURS[name]].light)
        below.text(0.01, k - 0.25, label, va="bottom", color=style.INK, size=11)
        below.text(found[name] + 0.02, k, f"{found[name]:.3f}", va="center", color=style.INK, size=11)
    below.set(
        xlim=(0, 1.12), xticks=[0, 0.25, 0.5, 0.75, 1], yticks=[], ylim=(3.4, -0.85), xlabel="Chance, mean or share"
    )
    below.grid(axis="y", visible=False)
    return figure


def words(distance: float, size: int) -> str:
    """The figure of ``audits`` in words.

    >>> words(0, 10_000)[:78]
    'True EOpp 10 points, limit 10, 10,000 people: a fresh audit is wrong with a ch'
    """
    found = chances(distance, size)
    return (
        f"True EOpp {100 * LIMIT + distance:g} points, limit {100 * LIMIT:g}, {size:,} people: a fresh audit is wrong "
        f"with a chance of {found['wrong']:.3f}, two disagree with {found['disagree']:.3f}; such "
        f"audits report a VFR of {found['vfr']:.3f} on average, and {found['stable']:.0%} of them at most .10."
    )
