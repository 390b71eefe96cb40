"""Formulas of TI and Cal in the public scripts of Joy et al.; ``variants`` says which script has which."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import xlogy

from auditlib.counts import Counts
from auditlib.errors import AuditInputError
from auditlib.metrics import check_dim, selection_rate
from auditlib.scores import mean_score
from auditlib.verdicts.judged import NOISE
from auditlib.verdicts.metrics import WIDE


def selection_theil(table: Any, dim: str) -> xr.DataArray:
    """Theil index of the groups' selection rates, every group counting the same."""
    rates = selection_rate(table)
    check_dim(rates, dim)
    mean = rates.mean(dim, skipna=False)
    relative = rates / mean.where(mean > 0)
    return relative.copy(data=xlogy(relative, relative)).mean(dim, skipna=False)


def disagreement(table: Any, dim: str) -> xr.DataArray:
    """Mean over pairs of groups of the chance that a random member of one is flagged and one of the other is not."""
    rates = selection_rate(table)
    check_dim(rates, dim)
    held = [rates.isel({dim: g}, drop=True) for g in range(rates.sizes[dim])]
    pairs = [one * (1 - two) + two * (1 - one) for one, two in combinations(held, 2)]
    return sum(pairs[1:], pairs[0]) / len(pairs)


def within_theil(counts: Counts, dim: str) -> xr.DataArray:
    """Largest minus smallest Theil index of 1 − |label − score| within a group, over groups of at least 10."""
    held, score = score_bins(counts, dim)
    benefit = xr.concat([1 - score, score], pd.Index([0, 1], name="label"))
    people = held.sum(["label", "bin"])
    mean = (held * benefit).sum(["label", "bin"]) / people.where(people >= 10)
    relative = benefit / mean.where(mean > 0)
    terms = relative.copy(data=xlogy(relative, relative))
    within = (held * terms).sum(["label", "bin"], skipna=True) / people.where(mean.notnull())
    enough = within.notnull().sum(dim) >= 2
    return (within.max(dim) - within.min(dim)).where(enough)


def _errors(counts: Counts, dim: str) -> xr.DataArray:
    """|mean score − mean label| of each group."""
    held, _ = score_bins(counts, dim)
    people = held.sum(["label", "bin"])
    return abs(mean_score(counts) - held.sel(label=1, drop=True).sum("bin") / people.where(people > 0))


def largest_error(counts: Counts, dim: str) -> xr.DataArray:
    """Largest |mean score − mean label| of a group."""
    return _errors(counts, dim).max(dim, skipna=False)


def spread_of_errors(counts: Counts, dim: str) -> xr.DataArray:
    """Largest minus smallest |mean score − mean label|; errors of opposite sign cancel."""
    errors = _errors(counts, dim)
    return errors.max(dim, skipna=False) - errors.min(dim, skipna=False)


def _tenths(counts: Counts, dim: str) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray]:
    """People, sum of scores and sum of labels in each group and ten equal score bins."""
    held, score = score_bins(counts, dim)
    tenth = np.minimum((counts.edges.lower * 10 + NOISE).astype(int), 9)
    if counts.edges.kind == "grid" and np.unique(tenth).size < 10:
        raise AuditInputError("this version of Cal has ten score bins, which the grid of these counts does not divide.")
    people = held.sum("label")
    sums = (people, people * score, held.sel(label=1, drop=True))
    found = [one.assign_coords({WIDE: ("bin", tenth)}).groupby(WIDE).sum("bin") for one in sums]
    return found[0], found[1], found[2]


def bin_error(least: int, group_least: int = 0) -> Callable[[Counts, str], xr.DataArray]:
    """Largest |mean score − mean label| over groups and ten equal bins that hold at least ``least`` of a group."""

    def of(counts: Counts, dim: str) -> xr.DataArray:
        people, scores, labels = _tenths(counts, dim)
        used = (people >= max(least, 1)) & (people.sum(WIDE) >= group_least)
        return (abs(scores - labels) / people.where(used)).max([WIDE, dim])

    return of


def mean_bin_error(counts: Counts, dim: str) -> xr.DataArray:
    """Mean |mean label − middle of the bin| over groups and ten equal bins that hold at least 10 of a group."""
    people, _, labels = _tenths(counts, dim)
    return abs(labels / people.where(people >= 10) - (people[WIDE] + 0.5) / 10).mean([WIDE, dim])


def score_bins(counts: Any, dim: str) -> tuple[xr.DataArray, xr.DataArray]:
    """People by label and score bin, and the score that stands for each bin."""
    if not isinstance(counts, Counts):
        raise AuditInputError(f"this version needs Counts with score bins, not {type(counts).__name__}.")
    if counts.edges.kind == "cut":
        raise AuditInputError("this version needs the score bins; use the counts from before .cut(…).")
    counts.column(dim)
    held = counts.histogram()
    check_dim(held, dim)
    return held, xr.DataArray(counts.edges.representative(), dims="bin", coords={"bin": held["bin"]})
