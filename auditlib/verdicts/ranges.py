"""The chance that the range of independent normals stays within a limit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from auditlib.errors import AuditInputError

NOISE = 1e-9  # what constants may differ by, and be equal
CONSTANT = 1e-12  # a standard deviation up to here is none
REACH = 7.5  # standard deviations beyond which a normal is not found
PANELS = 6  # of the integral, in each half
MANY = 20  # normals: the smallest of more lies so narrowly that a panel takes twice the nodes
CHUNK = 64 * 1024**2  # bytes
Array = NDArray[np.float64]


def range_probability(mean: Array, sd: Array, limit: Array | float) -> Array:
    """P(max − min ≤ L) of independent normals, their number on the last axis.

    ∫ Σ_g f_g(x) Π_{h≠g} [F_h(x + L) − F_h(x)] dx, f and F being densities and distribution functions: the sum runs
    over which of them is the smallest. Those with a standard deviation of 0 are constants, and compared as such (up
    to 1e-9). Time grows with the number of normals, memory does not.

    Parameters
    ----------
    mean, sd : arrays (…, G)
    limit : array (…) or number

    Returns
    -------
    Array (…); NaN where a mean, standard deviation or limit is.

    Raises
    ------
    AuditInputError
        For values that are no numbers, shapes that do not fit each other, or a standard deviation below 0.

    References
    ----------
    David HA, Nagaraja HN. Order Statistics, 3rd ed. 2003 (the range; ch. 5, variables that differ in distribution).

    Examples
    --------
    >>> round(float(range_probability(np.zeros(2), np.ones(2), 1.96 * 2**0.5)), 4)
    0.95
    """
    mean, sd, limit = _fitting(mean, sd, limit)
    shape, groups = limit.shape, mean.shape[-1]
    mean, sd, limit = mean.reshape(-1, groups), sd.reshape(-1, groups), limit.reshape(-1)
    found = np.empty(len(limit))
    step = max(CHUNK // (8 * 8 * (2 * PANELS * _nodes(groups) + groups)), 1)  # some eight arrays at once
    for at in range(0, len(limit), step):
        part = slice(at, at + step)
        found[part] = _within(mean[part], sd[part], limit[part])
    return found.reshape(shape)


def _nodes(groups: int) -> int:
    """Nodes a panel: errors stay below 1e-6 up to 500 normals (against four times as many nodes)."""
    return 24 if groups <= MANY else 48


def _fitting(mean: Any, sd: Any, limit: Any) -> tuple[Array, Array, Array]:
    """All three as numbers: means and deviations (…, G) and limits (…)."""
    try:
        mean, sd, limit = (np.asarray(values, dtype=np.float64) for values in (mean, sd, limit))
        if not max(mean.ndim, sd.ndim):
            raise ValueError
        shape = np.broadcast_shapes(mean.shape, sd.shape, (*limit.shape, 1))
    except (TypeError, ValueError):
        shapes = ", ".join(str(np.shape(values)) for values in (mean, sd, limit))
        raise AuditInputError(
            "range_probability takes numbers: means and standard deviations (…, groups) and limits (…), whose shapes "
            f"fit each other, but these have {shapes}."
        ) from None
    if (sd < 0).any():
        raise AuditInputError("range_probability: standard deviations must be at least 0.")
    if not shape[-1]:
        raise AuditInputError("range_probability: there is no normal; the last axis is empty.")
    return np.broadcast_to(mean, shape), np.broadcast_to(sd, shape), np.broadcast_to(limit, shape[:-1])


def _within(mean: Array, sd: Array, limit: Array) -> Array:
    """``range_probability`` of (cells, groups): what is certain, and of the rest the integral."""
    known = np.isfinite(mean).all(axis=1) & np.isfinite(sd).all(axis=1) & ~np.isnan(limit)
    fixed = sd <= CONSTANT
    low = np.where(fixed, mean, np.inf).min(axis=1)
    high = np.where(fixed, mean, -np.inf).max(axis=1)
    possible = (high <= low + limit + NOISE) & (limit >= -NOISE)  # without constants, −∞ ≤ L
    reach = REACH * np.where(fixed, 0.0, sd)
    with np.errstate(invalid="ignore"):  # infinite means
        certain = fixed.all(axis=1) | ((mean + reach).max(axis=1) - (mean - reach).min(axis=1) <= limit)
    found = np.where(known, (possible & certain).astype(np.float64), np.nan)
    rest = known & possible & ~certain
    if rest.any():
        chance = _of_two if mean.shape[1] == 2 else _integral
        found[rest] = np.clip(chance(mean[rest], np.where(fixed, 0.0, sd)[rest], limit[rest]), 0.0, 1.0)
    return found


def _of_two(mean: Array, sd: Array, limit: Array) -> Array:
    """No integral is needed: −L ≤ difference ≤ L."""
    gap, error = mean[:, 0] - mean[:, 1], np.hypot(sd[:, 0], sd[:, 1])
    return np.asarray(ndtr((limit - gap) / error) - ndtr((-limit - gap) / error))


def _integral(mean: Array, sd: Array, limit: Array) -> Array:
    """Where the smallest may be, panel by panel; and the chance that it is a constant.

    All lie in [x, x + L] only for x between the highest lower end of a normal, less L, and the lowest upper end. There,
    no normal changes faster than in proportion to the distance from the nearer end; so panels shrink towards both.
    """
    fixed = sd == 0
    end = (mean + REACH * sd).min(axis=1)
    begin = np.minimum((mean - REACH * sd).max(axis=1) - limit, end)
    half = (end - begin) / 2
    narrowest = np.where(fixed, np.inf, sd).min(axis=1)
    with np.errstate(divide="ignore"):
        shrink = np.minimum((narrowest / half) ** (1 / (PANELS - 1)), 0.5)
    edges = half[:, None] * np.hstack([shrink[:, None] ** np.arange(PANELS), np.zeros((len(half), 1))])
    node, weight = np.polynomial.legendre.leggauss(_nodes(mean.shape[1]))
    widths = (edges[:, :-1] - edges[:, 1:])[:, :, None]
    away = (edges[:, 1:, None] + widths * (node + 1) / 2).reshape(len(half), -1)
    weights = np.tile((widths * weight / 2).reshape(len(half), -1), 2)
    x = np.hstack([end[:, None] - away, begin[:, None] + away])
    smallest, inside = np.zeros_like(x), np.ones_like(x)  # Σ_g f_g Π_{h≠g}, and Π, of the groups so far
    constant = np.where(fixed, mean, np.inf).min(axis=1)
    least = fixed.any(axis=1).astype(np.float64)
    start = np.where(least > 0, constant, 0.0)
    for g in range(mean.shape[1]):
        mu, scale = mean[:, g], np.where(fixed[:, g], 1.0, sd[:, g])
        z, wide = (x - mu[:, None]) / scale[:, None], (limit / scale)[:, None]
        part, density = ndtr(z + wide) - ndtr(z), np.exp(-(z**2) / 2) / (scale[:, None] * np.sqrt(2 * np.pi))
        part[fixed[:, g]], density[fixed[:, g]] = 1.0, 0.0  # x keeps to where constants are inside
        smallest *= part
        smallest += density * inside
        inside *= part
        at = (start - mu) / scale
        least *= np.where(fixed[:, g], 1.0, ndtr(at + limit / scale) - ndtr(at))
    return np.asarray((smallest * weights).sum(axis=1) + least)
