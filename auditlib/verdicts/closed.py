"""The flip rate to be expected, without resampling: chances that a range of independent normal rates stays small."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import ndtr

from auditlib.counts import Counts
from auditlib.counts.cells import wide
from auditlib.counts.levels import check_names
from auditlib.counts.merge import check_whole
from auditlib.counts.table import MAX_BYTES
from auditlib.counts.thresholds import Thresholds
from auditlib.errors import AuditInputError
from auditlib.intervals.effective import SHARED, check_counted
from auditlib.metrics import parts
from auditlib.verdicts.flips import Limits, limits_of
from auditlib.verdicts.metrics import METRICS, confusion_of, in_order

NOISE = 1e-9  # what constants may differ by, and be equal
CONSTANT = 1e-12  # a standard deviation up to here is none
REACH = 7.5  # standard deviations beyond which a normal is not found
PANELS = 6  # of the integral, in each half
MANY = 20  # normals: the smallest of more lies so narrowly that a panel takes twice the nodes
CHUNK = 64 * 1024**2  # bytes
SAME = 1e-13  # a variance below this share of the mean square is rounding
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


def expected_flip_rate(
    source: Counts | xr.Dataset,
    dim: str,
    *,
    threshold: Thresholds | None = None,
    scores: Counts | None = None,
    size: int | Sequence[int] | None = None,
    limits: Limits | None = None,
) -> xr.Dataset:
    """What ``flip_rate`` comes to when patients are resampled endlessly, from the counts alone.

    Rates of groups are taken as independent normals with variance p(1 − p)/n. SPD, EOpp, PP and Cal pass when the
    range of their rates stays within the limit (``range_probability``), DI when that of the logarithms of the
    selection rates stays within −ln(limit). EOD passes when both of its ranges do: the product of their chances. TI
    is taken as normal, with its variance by the delta method.

    Parameters
    ----------
    source, dim, threshold, scores : as ``verdict_metrics``
    size : int or list of int, optional
        Patients of another audit; a list gives a ``size`` dim. By default the size of the data.
    limits : mapping, optional

    Returns
    -------
    Dataset of ``p_pass`` and ``vfr`` over ``metric`` and the other dims; NaN where a metric is undefined.

    Raises
    ------
    AuditInputError
        As ``verdict_metrics``; for tables or scores of clusters, whose rows are not independent, and for expected
        counts; for models or thresholds compared, which share patients; for a size below 1, or more rates than 512 MB
        hold.

    Notes
    -----
    With `size`, ``vfr`` is the chance that an audit of so many patients comes to the rarer verdict if groups, outcomes
    and rates are as frequent as here. It is not the flip rate which that audit would find in itself: its own patients
    are spread out by chance already, and its resamples more.

    |θ̂ − limit|/SE and the normal law do not do for a largest minus a smallest rate: near a tie of several groups the
    replicates of a spread lie above its estimate.

    Examples
    --------
    >>> from auditlib.counts import parse_confusion
    >>> table = parse_confusion("A:160,100,300,40; B:150,100,300,50")
    >>> found = expected_flip_rate(table, "group").sel(metric="EOpp")
    >>> round(float(found.p_pass), 3), round(float(found.vfr), 3)
    (0.885, 0.115)
    """
    table, scores = confusion_of(source, dim, threshold, scores)
    _check_independent(table, scores, dim)
    taken = ["metric", "p_pass", "vfr", *(["size"] if size is not None and np.ndim(size) else [])]
    check_names(table["tp"].dims, taken, "expected_flip_rate")
    known, shrink = limits_of(limits), _shrink(table, dim, size)
    chances = {
        "DI": _range(_log_rates(table), dim, -np.log(known["DI"].value), shrink),
        "SPD": _range(_rates(table, "selection_rate"), dim, known["SPD"].value, shrink),
        "EOpp": _range(_rates(table, "sensitivity"), dim, known["EOpp"].value, shrink),
        "EOD": _range(_rates(table, "sensitivity"), dim, known["EOD"].value, shrink)
        * _range(_rates(table, "false_positive_rate"), dim, known["EOD"].value, shrink),
        "PP": _range(_rates(table, "ppv"), dim, known["PP"].value, shrink),
        "TI": _theil(table, dim, known["TI"].value, shrink),
    }
    like = chances["SPD"]
    chances["Cal"] = _calibration(scores, dim, known["Cal"].value, shrink, like)
    p_pass = xr.Dataset({name: chances[name] for name in METRICS}).to_dataarray("metric").rename("p_pass")
    return xr.Dataset({"p_pass": p_pass, "vfr": np.minimum(p_pass, 1 - p_pass)})


def _check_independent(table: xr.Dataset, scores: Counts | None, dim: str) -> None:
    """An error unless rows are counted, each of a patient of its own and in one group of ``dim``."""
    check_counted(table)
    lost = "clustered_by" in table.variables or "unit_moments" in table.variables
    if lost or table.attrs.get("unit", "row") != "row" or (scores is not None and scores.clustered):
        raise AuditInputError(
            "expected_flip_rate takes rows as independent, but these are rows of patients with several; "
            "resample patients, or see counts.as_rows()."
        )
    if dim in SHARED:
        raise AuditInputError(
            f"levels of {dim!r} are judged on the same patients, which expected_flip_rate would take for different "
            "ones: flip_rate(verdict_metrics(counts.resample(…), …)) pairs them."
        )


def _shrink(table: xr.Dataset, dim: str, size: Any) -> xr.DataArray:
    """Ratio of this audit's patients to those of the other: what its variances are multiplied by."""
    if size is None:
        return xr.DataArray(1.0)
    sizes = [size] if np.ndim(size) == 0 else list(size)
    if not sizes:
        raise AuditInputError("size: the list of sizes is empty; name at least one, or leave it out.")
    for one in sizes:
        check_whole(one, "size")
    people = xr.concat([wide(table[cell]) for cell in ("tp", "fp", "fn", "tn")], "cell").sum(["cell", dim])
    people = people.astype(np.float64).reset_coords(drop=True)
    wanted = xr.DataArray([float(one) for one in sizes], {"size": [int(one) for one in sizes]}, ["size"])
    return people / (wanted if np.ndim(size) else wanted.isel(size=0, drop=True))


Moments = tuple[xr.DataArray, xr.DataArray]  # means, and variances at the size of the data


def _rates(table: xr.Dataset, metric: str) -> Moments:
    events, trials = (part.astype(np.float64).reset_coords(drop=True) for part in parts(table, metric))
    n = trials.where(trials > 0)
    p = events / n
    return p, p * (1 - p) / n


def _log_rates(table: xr.Dataset) -> Moments:
    """Of ln p: variance (1 − p)/(np). A group in which nobody is flagged is at −1e3: DI is 0 and stays so."""
    p, variance = _rates(table, "selection_rate")
    none = p == 0
    mean: xr.DataArray = xr.apply_ufunc(np.log, p.where(~none, 1.0))
    return mean.where(~none, -1e3).where(p.notnull()), (variance / p.where(~none, 1.0) ** 2).where(p.notnull())


def _range(moments: Moments, dim: str, limit: float, shrink: xr.DataArray) -> xr.DataArray:
    mean, variance = moments
    cells = prod({**mean.sizes, **shrink.sizes}.values())
    if cells * 8 > MAX_BYTES:
        raise AuditInputError(
            f"these are {cells:,} rates (groups, times the other dims, times sizes), more than 512 MB hold; "
            "sum over dims, or ask for fewer sizes."
        )
    mean, variance = xr.broadcast(mean, variance * shrink)
    known = mean.notnull().all(dim)
    if mean.min() <= -1e3:  # nobody flagged in any group: 0/0
        known = known & (mean > -1e3).any(dim)
    mean, variance = (values.transpose(..., dim) for values in (mean, variance))
    found = range_probability(mean.values, np.sqrt(variance.values), limit)
    return mean.isel({dim: 0}, drop=True).copy(data=found).where(known)


def _theil(table: xr.Dataset, dim: str, limit: float, shrink: xr.DataArray) -> xr.DataArray:
    """T has gradient (n_g/N)(ln r_g − T)/b̄ in b̄_g, r_g = b̄_g/b̄; a patient's benefit is 0, 1 or 2."""
    tp, fp, fn, tn = (wide(table[cell]).astype(np.float64).reset_coords(drop=True) for cell in ("tp", "fp", "fn", "tn"))
    people = tp + fp + fn + tn
    n = people.where(people > 0)
    mean = 1 + (fp - fn) / n
    variance = ((fp + fn) / n - ((fp - fn) / n) ** 2) / n
    share = n / n.sum(dim, skipna=False)
    overall = (share * mean).sum(dim, skipna=False)
    relative = mean / overall.where(overall > 0)
    log = xr.apply_ufunc(np.log, relative.where(relative > 0, 1.0))
    theil = (share * relative * log).sum(dim, skipna=False)
    gradient = share * (log - theil) / overall
    sd = ((gradient**2 * variance).sum(dim, skipna=False) * shrink).clip(min=CONSTANT**2) ** 0.5
    z: xr.DataArray = (limit + NOISE - theil) / sd
    chance = z.copy(data=ndtr(z.values))
    return chance if limit > 0 else chance.where((variance == 0).all(dim) | chance.isnull(), 0.0)  # T > 0 unless equal


def _calibration(
    scores: Counts | None, dim: str, limit: float, shrink: xr.DataArray, like: xr.DataArray
) -> xr.DataArray:
    """Of score − label: its mean and variance in each group, from the score bins."""
    if scores is None or scores.edges.kind == "cut":
        return xr.full_like(like, np.nan)
    held = scores.histogram().astype(np.float64)
    middle = xr.DataArray(scores.edges.representative(), dims="bin", coords={"bin": held["bin"]})
    off = middle - xr.DataArray([0.0, 1.0], dims="label", coords={"label": held["label"]})
    n = held.sum(["label", "bin"])
    n = n.where(n > 0)
    mean = (held * off).sum(["label", "bin"]) / n
    square = (held * off**2).sum(["label", "bin"]) / n
    variance = (square - mean**2).where(lambda found: ~(found <= SAME * square), 0.0) / n
    return in_order(_range((mean, variance), dim, limit, shrink), like).broadcast_like(like)
