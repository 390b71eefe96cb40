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
from auditlib.verdicts.judged import Limits, limits_of
from auditlib.verdicts.metrics import METRICS, confusion_of, in_order
from auditlib.verdicts.ranges import CONSTANT, NOISE, range_probability

SAME = 1e-13  # a variance below this share of the mean square is rounding
Array = NDArray[np.float64]


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

    Below about 30 patients with and 30 without the outcome in a group, the normal law does not hold, and an audit may
    look settled only because so small a one nearly always fails. ``settling_size`` leaves such sizes out (its `least`).

    Examples
    --------
    >>> from auditlib.counts import parse_confusion
    >>> table = parse_confusion("A:160,100,300,40; B:150,100,300,50")
    >>> found = expected_flip_rate(table, "group").sel(metric="EOpp")
    >>> round(float(found.p_pass), 3), round(float(found.vfr), 3)
    (0.885, 0.115)

    Of ten patients less than one is of B, and most audits fail: that settles nothing.

    >>> rare = parse_confusion("A:160,100,300,40; B:15,10,30,5")
    >>> found = expected_flip_rate(rare, "group", size=[10, 1000, 10_000]).sel(metric="EOpp")
    >>> found.p_pass.round(2).values.tolist(), found.vfr.round(2).values.tolist()
    ([0.1, 0.7, 0.97], [0.1, 0.3, 0.03])
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
