"""How many patients settle a verdict: by repetition, by precision, by the expected flip rate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from auditlib.counts import Counts
from auditlib.counts.cells import wide
from auditlib.counts.draws import generator
from auditlib.counts.levels import check_names
from auditlib.counts.merge import check_whole
from auditlib.counts.thresholds import Thresholds
from auditlib.errors import AuditInputError
from auditlib.verdicts.closed import expected_flip_rate
from auditlib.verdicts.judged import Limits
from auditlib.verdicts.metrics import confusion_of, verdict_metrics

SIZES = (1_000, 2_000, 5_000, 10_000, 25_000, 50_000, 100_000)
PER_DECADE, SMALLEST, LARGEST = 20, 100, 10**8  # the sizes among which ``settling_size`` looks
LEAST = 30  # with the outcome and without it in each group: below, it is a small group and its rates are not normal
UNDEFINED = 0.05  # of the repetitions: from a metric that more of them lack, those that have it are no sample
RESULTS = (
    *("metric", "size", "mean", "sd", "undefined", "cv", "cv_corrected"),
    *("n_star", "n_star_corrected", "n_precision", "n_settled", "p_pass", "vfr"),
)
Z = 1.959964


def audit_size(
    counts: Counts,
    dim: str,
    *,
    threshold: Thresholds,
    sizes: int | Iterable[int] = SIZES,
    repetitions: int = 30,
    strata: str | Sequence[str] = "label",
    cv: float = 0.05,
    precision: float = 0.05,
    flip: float = 0.10,
    limits: Limits | None = None,
    seed: int | np.random.Generator | None = None,
) -> xr.Dataset:
    """Audits of several sizes, repeated; and the size at which each metric, or its verdict, counts as settled.

    Parameters
    ----------
    counts : Counts
        Of one audit of N patients, by `dim` (others summed over beforehand: ``counts.by(dim)``).
    dim, threshold : as ``verdict_metrics``
    sizes : patients of the smaller audits
        Those of N or more are left out: drawn without replacement, an audit of all is always the same audit, and its
        CV of 0 says nothing.
    repetitions : audits drawn of each size, at least 2
    strata : as ``Counts.resample``
    cv : what the coefficient of variation SD/mean has to fall below
    precision : half-width of a 95% interval, in the metric's unit, that counts as precise
    flip : expected flip rate that counts as settled
    limits, seed

    Returns
    -------
    Dataset over ``metric`` and ``size``: ``mean``, ``sd``, ``cv`` of the repetitions in which the metric is defined,
    ``undefined`` (share), and ``cv_corrected`` = CV/√(1 − n/N), about what it would be were patients endless: exact
    for the SD of a mean, rough for a spread near a tie. Over ``metric`` alone, NaN for "not among these sizes" or
    "never":

    - ``n_star``, ``n_star_corrected``: the first size whose CV, or corrected CV, is below `cv`, and at which at most
      5% of the repetitions leave the metric undefined
    - ``n_precision`` = N·(1.96·SD/precision)², SD being that of a metric of N patients drawn with replacement; NaN
      where over 5% of these draws leave it undefined
    - ``n_settled``: ``settling_size``, with every group at ``LEAST`` or more

    Raises
    ------
    AuditInputError
        For counts that are resampled, or of patients with several rows; fewer than 2 repetitions; no size below N; a
        `cv`, `precision` or `flip` outside its range; a dim called as a part of the result.

    References
    ----------
    Joy et al., arXiv 2608.30846 (repetition, CV < 5%); Cochran WG. Sampling Techniques, 3rd ed. 1977, §2.6 (finite
    population correction).

    Examples
    --------
    >>> from auditlib.simulate import RiskCohort
    >>> import auditlib as al
    >>> people = RiskCohort.example().frame(20_000, seed=1)
    >>> counts = al.count(people, label="label", score="true_risk", by="group", thresholds=[0.2])
    >>> found = audit_size(counts, "group", threshold=0.2, sizes=[1_000, 5_000], seed=1)
    >>> found.cv.dims, bool((found.cv_corrected > found.cv).all())
    (('metric', 'size'), True)
    """
    check_whole(repetitions, "repetitions")
    if repetitions < 2:
        raise AuditInputError(
            "repetitions = 1: one audit of each size does not show how much they vary; take 2 or more."
        )
    _between("cv", cv, np.inf)
    _between("precision", precision, np.inf)
    few, rng = _below(counts, sizes), generator(seed)
    check_names(counts.dims, RESULTS, "audit_size")
    drawn = [_spread_out(counts.resample(repetitions, strata, n, replace=False, seed=rng), dim, threshold) for n in few]
    table = xr.concat(drawn, xr.DataArray(few, dims="size", name="size")).transpose("metric", "size", ...)
    share = xr.DataArray(few, {"size": few}, ["size"]) / counts.n_rows
    table["cv"] = (table["sd"] / table["mean"]).where(table["mean"] > 0)
    table["cv_corrected"] = table["cv"] / (1 - share) ** 0.5
    defined = table["undefined"] <= UNDEFINED
    table["n_star"] = _first(defined & (table["cv"] < cv))
    table["n_star_corrected"] = _first(defined & (table["cv_corrected"] < cv))
    whole = _spread_out(counts.resample(500, strata, seed=rng), dim, threshold)
    needed = np.ceil(counts.n_rows * (Z * whole["sd"] / precision) ** 2)
    table["n_precision"] = needed.where((whole["sd"] > 0) & (whole["undefined"] <= UNDEFINED))
    table["n_settled"] = settling_size(counts, dim, threshold=threshold, flip=flip, limits=limits)
    return table


def _between(name: str, value: object, high: float) -> None:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not 0 < float(value) < high:  # type: ignore[arg-type]
        words = "above 0" if np.isinf(high) else f"between 0 and {high:g}"
        raise AuditInputError(f"{name} must be a number {words}, not {value!r}.")


def _below(counts: Any, sizes: Any) -> list[int]:
    if not isinstance(counts, Counts):
        raise AuditInputError(f"audit_size takes Counts, not {type(counts).__name__}.")
    if counts.clustered:
        raise AuditInputError(
            "audit_size takes rows as patients; these are patients with several rows: see .as_rows()."
        )
    if counts.resampled:
        raise AuditInputError("audit_size draws its audits itself: give the counts that are not resampled.")
    sizes = [sizes] if np.ndim(sizes) == 0 and isinstance(sizes, int | float | str | np.generic) else sizes
    if not isinstance(sizes, Iterable):
        raise AuditInputError(f"sizes must be numbers of patients, such as {[*SIZES[:3]]}, not {sizes!r}.")
    sizes = list(sizes)
    for size in sizes:
        check_whole(size, "sizes")
    few = sorted({int(size) for size in sizes if size < counts.n_rows})
    if not few:
        raise AuditInputError(f"no size is below the {counts.n_rows:,} patients there are; give smaller ones.")
    return few


def _spread_out(replicates: Counts, dim: str, threshold: Thresholds) -> xr.Dataset:
    values = verdict_metrics(replicates, dim, threshold=threshold).to_dataarray("metric")
    return xr.Dataset(
        {
            "mean": values.mean("replicate"),
            "sd": values.std("replicate", ddof=1),
            "undefined": values.isnull().mean("replicate"),
        }
    )


def _first(settled: xr.DataArray) -> xr.DataArray:
    """The first size at which it holds; NaN where it does at none."""
    sizes = settled["size"].astype(np.float64)
    return sizes.where(settled).min("size")


def settling_size(
    source: Counts | xr.Dataset,
    dim: str,
    *,
    threshold: Thresholds | None = None,
    scores: Counts | None = None,
    flip: float = 0.10,
    limits: Limits | None = None,
    least: float = LEAST,
) -> xr.DataArray:
    """Smallest audit from which on the expected flip rate stays at most ``flip``, by ``expected_flip_rate``.

    An audit in which groups, outcomes and rates are as here, and in which every group has at least `least` patients
    with the outcome and as many without it, on average. It is looked for among 20 sizes a factor of ten from 100
    to 100 million, and interpolated on the logarithm between the two that enclose it. NaN where even the largest
    does not settle the verdict (the metric is very near its limit), the metric is undefined, or a group lacks one of
    the outcomes altogether.

    Two audits of a settled verdict disagree with a chance of up to 2·flip·(1 − flip), 18% for the default. A verdict
    may settle on the wrong side: the size is that at which audits agree were the rates exactly those observed. Near a
    limit it says little, and less with several groups: the spread found lies above the true one on average.

    Parameters
    ----------
    source, dim, threshold, scores, limits : as ``expected_flip_rate``
    flip : float
        Above 0, below 0.5.
    least : float
        0 lets groups be as small as they come, for a size of 100 at the smallest; the normal law does not hold there.

    Returns
    -------
    DataArray over ``metric`` and the other dims: patients.

    Examples
    --------
    >>> from auditlib.counts import parse_confusion
    >>> table = parse_confusion("A:160,100,300,40; B:150,100,300,50")
    >>> found = settling_size(table, "group")  # one in six is of A and has the outcome: 180 patients for 30 of them
    >>> int(found.sel(metric="EOpp")), int(found.sel(metric="TI"))
    (1372, 180)
    >>> int(settling_size(table, "group", least=0).sel(metric="TI"))
    100
    """
    _between("flip", flip, 0.5)
    if isinstance(least, bool) or not isinstance(least, int | float | np.number) or not 0 <= least < np.inf:
        raise AuditInputError(f"least must be a number of patients from 0 on, not {least!r}.")
    decades = round(np.log10(LARGEST / SMALLEST))
    tried = np.unique(np.geomspace(SMALLEST, LARGEST, PER_DECADE * decades + 1).round().astype(int)).tolist()
    options: dict[str, Any] = {"threshold": threshold, "scores": scores, "limits": limits}
    check_names(getattr(source, "dims", ()), ["metric", "size"], "settling_size")
    vfr = expected_flip_rate(source, dim, size=tried, **options)["vfr"].transpose(..., "size")
    values = vfr.values.reshape(-1, len(tried))
    found = [_crossing(np.log(tried), one, flip) for one in values]
    size = vfr.isel(size=0, drop=True).copy(data=np.reshape(found, vfr.shape[:-1])).rename("settling_size")
    if least == 0:
        return size
    floor: xr.DataArray = least / _rarest(confusion_of(source, dim, threshold, scores)[0], dim)
    floor = floor.where(np.isfinite(floor)).broadcast_like(size).transpose(*size.dims)
    return size.copy(data=np.maximum(size.values, np.ceil(floor.values)))


def _rarest(table: xr.Dataset, dim: str) -> xr.DataArray:
    """Share of all patients who are in a group and have, or lack, the outcome: the smallest such share."""
    tp, fp, fn, tn = (wide(table[cell]).astype(np.float64).reset_coords(drop=True) for cell in ("tp", "fp", "fn", "tn"))
    fewer = np.minimum(tp + fn, fp + tn)
    rarest: xr.DataArray = fewer.min(dim) / (tp + fp + fn + tn).sum(dim)
    return rarest


def _crossing(log_size: np.ndarray, vfr: np.ndarray, flip: float) -> float:
    above = np.flatnonzero(vfr > flip)
    if np.isnan(vfr).any() or (above.size and above[-1] == len(vfr) - 1):
        return float("nan")
    if not above.size:
        return float(SMALLEST)
    k = above[-1]
    part = (vfr[k] - flip) / (vfr[k] - vfr[k + 1])
    return float(np.ceil(np.exp(log_size[k] + part * (log_size[k + 1] - log_size[k]))))
