"""Seven metrics of a fairness audit, each reduced over the groups of one attribute, and the limits they are held to."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from auditlib.counts import Counts
from auditlib.counts.cells import check_counts, wide
from auditlib.counts.edges import check_bins
from auditlib.counts.levels import check_names
from auditlib.counts.thresholds import Thresholds
from auditlib.errors import AuditInputError
from auditlib.metrics import (
    check_dim,
    false_positive_rate,
    ppv,
    ratio,
    selection_rate,
    sensitivity,
    spread,
    theil,
)
from auditlib.scores import calibration_gap


class Limit(NamedTuple):
    """What a metric must reach (``at_least``) or may not pass; the limit itself passes."""

    value: float
    at_least: bool = False


#: Limits of Joy et al. (arXiv 2608.30846).
LIMITS: Mapping[str, Limit] = MappingProxyType(
    {
        "DI": Limit(0.80, at_least=True),
        **{name: Limit(0.10) for name in ("SPD", "EOpp", "EOD", "PP", "TI")},
        "Cal": Limit(0.05),
    }
)
METRICS = tuple(LIMITS)
WIDE = "bin.wide"  # a name that no group has


def verdict_metrics(
    source: Counts | xr.Dataset,
    dim: str,
    *,
    threshold: Thresholds | None = None,
    scores: Counts | None = None,
) -> xr.Dataset:
    """The seven metrics over the groups of ``dim``.

    - DI = smallest / largest selection rate
    - SPD = largest − smallest selection rate
    - EOpp = largest − smallest sensitivity
    - EOD = the larger of EOpp and the spread of the false positive rate
    - PP = largest − smallest PPV
    - TI = between-group Theil index of benefit, ``theil``
    - Cal = largest − smallest mean of score − label, ``calibration_gap``

    Parameters
    ----------
    source : Counts, or a confusion table
        With other dims as there are: replicates, sites, models.
    dim : str
        The attribute, with at least two groups.
    threshold : as ``Counts.at`` takes it
        From which score on a patient is flagged; for Counts only, and needed there.
    scores : Counts, optional
        Where Cal is taken from when `source` is a table, such as one whose thresholds differ by joint group: of the
        same patients, groups, sites and replicates.

    Returns
    -------
    Dataset of DI, SPD, EOpp, EOD, PP, TI and Cal over the other dims; NaN where a group has no such rate. Cal is NaN
    where there are no score bins: a table without `scores`, counts that were cut.

    Raises
    ------
    AuditInputError
        For an unknown dim or one with a single group; Counts without a threshold; a table with one, or whose cells are
        no counts; scores of other patients; a dim called like a metric.

    References
    ----------
    Joy et al., arXiv 2608.30846. The limits and formulas of its public scripts differ among themselves; the variants
    are in ``auditlib.verdicts.variants``.

    Examples
    --------
    >>> from auditlib.counts import parse_confusion
    >>> found = verdict_metrics(parse_confusion("A:40,10,40,10; B:30,20,30,20"), "group")
    >>> {name: round(float(found[name]), 3) for name in ("DI", "SPD", "EOpp", "EOD", "PP")}
    {'DI': 1.0, 'SPD': 0.0, 'EOpp': 0.2, 'EOD': 0.2, 'PP': 0.2}
    """
    table, scores = confusion_of(source, dim, threshold, scores)
    sensitivities = spread(sensitivity(table), dim)
    found: dict[str, xr.DataArray] = {
        "DI": ratio(selection_rate(table), dim),
        "SPD": spread(selection_rate(table), dim),
        "EOpp": sensitivities,
        "EOD": xr.apply_ufunc(np.maximum, sensitivities, spread(false_positive_rate(table), dim)),
        "PP": spread(ppv(table), dim),
        "TI": theil(table, dim),
    }
    found = {name: values.reset_coords(drop=True) for name, values in found.items()}
    found["Cal"] = _calibration(scores, dim, like=found["SPD"])
    return xr.Dataset(found)


def confusion_of(
    source: Any, dim: str, threshold: Thresholds | None, scores: Counts | None
) -> tuple[xr.Dataset, Counts | None]:
    """The confusion table over ``dim`` at the threshold, and where its scores are; checked."""
    if scores is not None and not isinstance(scores, Counts):
        raise AuditInputError(f"scores must be Counts, not {type(scores).__name__}.")
    if not isinstance(source, Counts):
        if threshold is not None:
            raise AuditInputError("a confusion table has its threshold already; pass threshold= with Counts only.")
        if not isinstance(source, xr.Dataset):
            raise AuditInputError(
                f"verdict_metrics takes Counts or the Dataset of counts.at(…), not {type(source).__name__}."
            )
        check_counts(source)
        check_dim(source["tp"], dim)
        check_names(source["tp"].dims, METRICS, "verdict_metrics")
        if scores is not None:
            _check_scores(scores, source, dim)
        return source, scores
    if threshold is None:
        raise AuditInputError("say from which score on a patient is flagged: threshold=….")
    source.column(dim)
    check_names(source.dims, METRICS, "verdict_metrics")
    table = source.at(threshold)
    check_dim(table, dim)
    if scores is None:
        return table, source
    _check_scores(scores, table, dim)
    return table, scores


def _check_scores(scores: Counts, table: xr.Dataset, dim: str) -> None:
    """An error unless the scores are of the patients of the table: of the same groups, sites and replicates."""
    scores.column(dim)
    held = scores.at(0.0)  # of whom all are flagged: tp have the outcome, fp have not
    strange = [str(name) for name in held["tp"].dims if name not in table["tp"].dims]
    if strange:
        raise AuditInputError(f"scores have dims that the table lacks: {', '.join(strange)}; sum or select them first.")
    if "replicate" in table["tp"].dims and not scores.resampled:
        raise AuditInputError(
            "the table holds replicates, but the scores do not, so Cal would not vary: take both from one "
            "counts.resample(…), such as again.at(…) and scores=again."
        )
    for name in held["tp"].dims:
        ours, theirs = (_levels(part, str(name)) for part in (table, held))
        if sorted(ours) != sorted(theirs):
            raise AuditInputError(
                f"scores and the table differ in {name!r}: the table has {_named(ours)}, the scores {_named(theirs)}. "
                "Take both from the same counts."
            )
    if "expected_at" in table.variables:  # counts made to have another prevalence
        return
    for cell, other, words in (("tp", "fn", "with"), ("fp", "tn", "without")):
        people = (wide(table[cell]) + wide(table[other])).reset_coords(drop=True)
        off = abs(people - in_order(held[cell].reset_coords(drop=True), people))
        if bool((off > 1e-6 * people + 1e-6).any()):
            raise AuditInputError(
                f"scores are of other patients than the table: their numbers of people {words} the outcome differ by "
                f"up to {off.max().item():,}. Take both from the same counts (and the same replicates)."
            )


def _levels(part: xr.Dataset, name: str) -> list[str]:
    return [str(level) for level in part[name].values] if name in part.coords else [""] * part.sizes[name]


def _named(levels: list[str]) -> str:
    return ", ".join(levels[:10]) + ", …" * (len(levels) > 10) if any(levels) else f"{len(levels):,}"


def in_order(found: xr.DataArray, like: xr.DataArray) -> xr.DataArray:
    """What comes of scores, with levels in the order of the table's, and its coordinates."""
    for name in found.dims:
        if name in found.coords and name in like.coords:
            held = [str(level) for level in found[name].values]
            found = found.isel({name: [held.index(str(level)) for level in like[name].values]})
            found = found.assign_coords({name: like[name]})
    return found


def _calibration(scores: Counts | None, dim: str, like: xr.DataArray) -> xr.DataArray:
    if scores is None or scores.edges.kind == "cut":
        return xr.full_like(like, np.nan)
    return in_order(calibration_gap(scores, dim).reset_coords(drop=True), like).broadcast_like(like)


def largest_bin_error(counts: Counts, dim: str, bins: int = 10) -> xr.DataArray:
    """Largest distance, over groups and equal score bins, of mean score and share with the outcome.

    Cal in another sense: max over g and k of |mean score − mean label| among group g's patients with score in
    [k/bins, (k + 1)/bins). Bins without patients do not count; a bin with one patient does, so the value is large
    in small groups whatever the model.

    Raises
    ------
    AuditInputError
        For what are no Counts, after ``.cut``, for an unknown dim, or when ``bins`` does not divide the grid of the
        counts.

    Examples
    --------
    >>> import pandas as pd
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [0, 1, 0, 1], "p": [0.2, 0.6, 0.4, 0.8], "g": list("aabb")})
    >>> counts = al.count(frame, label="y", score="p", by="g", bins=10)
    >>> round(float(largest_bin_error(counts, "g")), 2)
    0.45
    """
    if not isinstance(counts, Counts):
        raise AuditInputError(f"largest_bin_error takes Counts with score bins, not {type(counts).__name__}.")
    counts.column(dim)
    check_bins(bins)
    if counts.edges.kind == "cut":
        raise AuditInputError("largest_bin_error needs the score bins; use the counts from before .cut(…).")
    if counts.edges.grid is not None and counts.edges.grid % bins:
        raise AuditInputError(f"bins = {bins} does not divide the {counts.edges.grid} bins of these counts.")
    held = counts.histogram()
    middle = counts.edges.representative()
    tenth = np.minimum((counts.edges.lower * bins + 1e-9).astype(int), bins - 1)
    held = held.assign_coords({WIDE: ("bin", tenth)})
    score = xr.DataArray(middle, dims="bin", coords={"bin": held["bin"]})
    n = held.sum("label").groupby(WIDE).sum("bin")
    scores = (held.sum("label") * score).groupby(WIDE).sum("bin")
    labels = held.sel(label=1, drop=True).groupby(WIDE).sum("bin")
    error: xr.DataArray = abs(scores - labels) / n.where(n > 0)
    return error.max(WIDE).max(dim, skipna=False).rename("largest_bin_error")
