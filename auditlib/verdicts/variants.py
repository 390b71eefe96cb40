"""Versions of TI and of Cal in the public scripts of Joy et al., which disagree in value and in verdict.

The scripts (repository MdJoy31/Length-of-stay-prediction-using-Texas100x--Fairness; ``COMMITS``) compute both metrics
in at least four ways each; which one gave which published verdict is not said. Each is written here anew, from counts,
by its formula. What cannot be computed is 0 or 1 in the scripts and NaN here.

They differ in the side of the limit, too: most let it fail (<), two let it pass (≤), as this package does. And one has
other limits: 0.20 for EOpp and EOD and 0.10 for Cal, where the rest have 0.10 and 0.05.

Notation: in group g, n_g people, r_g flagged, b a person's benefit, s the score, y the label; N people in all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import xlogy

from auditlib.counts import Counts
from auditlib.counts.thresholds import Thresholds
from auditlib.errors import AuditInputError
from auditlib.metrics import check_dim, selection_rate, theil
from auditlib.scores import calibration_gap, mean_score

_CIKM = "research question 1 version 3 final result and output/Final_Notebook/SHARE_WITH_PROFESSOR/cikm/"
_AXES, _AXES_AGAIN = f"{_CIKM}compute_real_axis2_axis3.py", f"{_CIKM}compute_real_axis2_axis3_canonical.py"
_BEFORE_AFTER = f"{_CIKM}compute_per_model_before_after.py"
_JOURNAL = f"{_CIKM}full_journal_paper/scripts/journal_rerun.py"
_AUDITS, _SHIFT = f"{_CIKM}compute_baseline_audit_extension.py", f"{_CIKM}compute_threshold_shift_only.py"
_SITES, _EXPORT = f"{_CIKM}_scripts/fair_cross_site.py", f"{_CIKM}# %% [markdown].py"  # the second is so named
_NOTEBOOK = "SHARE_WITH_PROFESSOR/scripts/build_notebook_v4.py"

#: The commit at which each file was read.
COMMITS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            (_AXES, _AXES_AGAIN, _BEFORE_AFTER, _AUDITS, _SHIFT), "543d9d2dd5c54de67e63fa86d622b64a02162975"
        ),
        _JOURNAL: "34c806e8311c6d34be5197e9a1c5d15fc1b7875c",
        _SITES: "9eacc3e8b8b7754eed2231c6e52420adfa401709",
        _EXPORT: "174a2602367fcbc023bc3127822b048a168f01a8",
        _NOTEBOOK: "c74e64e7162f2f8fe250d7c31700195faa4a9401",
    }
)
_NOISE = 1e-9


@dataclass(frozen=True)
class Version:
    """One way to compute TI or Cal: call it with what it `takes`, and the group dim.

    Parameters
    ----------
    of : callable
        (table or counts, dim) → DataArray over the other dims.
    takes : {"table", "counts"}
        A confusion table, or Counts with score bins.
    formula : str
    source : mapping of str to str
        Files of the repository that hold it, each with its comparison: "<" (the limit fails), "≤" (it passes), or ""
        (values only).
    limit : float
    exact : bool
        False where the script's value is no function of counts.

    >>> from auditlib.counts import parse_confusion
    >>> round(float(TI_VERSIONS["selection rates"](parse_confusion("A:8,2,8,2; B:14,2,2,2"), "group")), 4)
    0.0269
    """

    of: Callable[[Any, str], xr.DataArray]
    takes: str
    formula: str
    source: Mapping[str, str]
    limit: float
    exact: bool = True

    def __call__(self, source: Any, dim: str) -> xr.DataArray:
        return self.of(source, dim)

    def passes(self, values: xr.DataArray, comparison: str | None = None) -> xr.DataArray:
        """1 pass, 0 fail, NaN undefined, by the comparison of the first source, or by the one given.

        >>> at_limit = xr.DataArray(0.1)
        >>> version = TI_VERSIONS["selection rates"]
        >>> float(version.passes(at_limit)), float(version.passes(at_limit, "≤"))
        (0.0, 1.0)
        """
        if comparison not in ("<", "≤", None):
            raise AuditInputError(f'comparison must be "<" or "≤", not {comparison!r}.')
        strict = (comparison or next(iter(self.source.values()))) == "<"
        within = values < self.limit - _NOISE if strict else values <= self.limit + _NOISE
        return within.astype(np.float64).where(values.notnull())


def _selection_theil(table: Any, dim: str) -> xr.DataArray:
    """Theil index of the groups' selection rates, every group counting the same."""
    rates = selection_rate(table)
    check_dim(rates, dim)
    mean = rates.mean(dim, skipna=False)
    relative = rates / mean.where(mean > 0)
    return relative.copy(data=xlogy(relative, relative)).mean(dim, skipna=False)


def _disagreement(table: Any, dim: str) -> xr.DataArray:
    """Mean over pairs of groups of the chance that a random member of one is flagged and one of the other is not."""
    rates = selection_rate(table)
    check_dim(rates, dim)
    held = [rates.isel({dim: g}, drop=True) for g in range(rates.sizes[dim])]
    pairs = [one * (1 - two) + two * (1 - one) for one, two in combinations(held, 2)]
    return sum(pairs[1:], pairs[0]) / len(pairs)


def _within_theil(counts: Counts, dim: str) -> xr.DataArray:
    """Largest minus smallest Theil index of 1 − |label − score| within a group, over groups of at least 10."""
    held, score = _bins(counts, dim)
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
    held, _ = _bins(counts, dim)
    people = held.sum(["label", "bin"])
    return abs(mean_score(counts) - held.sel(label=1, drop=True).sum("bin") / people.where(people > 0))


def _largest_error(counts: Counts, dim: str) -> xr.DataArray:
    return _errors(counts, dim).max(dim, skipna=False)


def _spread_of_errors(counts: Counts, dim: str) -> xr.DataArray:
    errors = _errors(counts, dim)
    return errors.max(dim, skipna=False) - errors.min(dim, skipna=False)


def _bin_error(least: int, group_least: int = 0) -> Callable[[Counts, str], xr.DataArray]:
    """Largest |mean score − mean label| over groups and ten equal bins that hold at least ``least`` of a group."""

    def of(counts: Counts, dim: str) -> xr.DataArray:
        held, score = _bins(counts, dim)
        tenth = np.minimum((counts.edges.lower * 10 + _NOISE).astype(int), 9)
        if counts.edges.kind == "grid" and np.unique(tenth).size < 10:
            raise AuditInputError(
                "this version of Cal has ten score bins, which the grid of these counts does not divide."
            )
        people = held.sum("label")
        error = people * score - held.sel(label=1, drop=True)
        people, error = (
            part.assign_coords(tenth=("bin", tenth)).groupby("tenth").sum("bin") for part in (people, error)
        )
        used = (people >= max(least, 1)) & (people.sum("tenth") >= group_least)
        return (abs(error) / people.where(used)).max(["tenth", dim])

    return of


def _bins(counts: Any, dim: str) -> tuple[xr.DataArray, xr.DataArray]:
    """People by label and score bin, and the score that stands for each bin."""
    if not isinstance(counts, Counts):
        raise AuditInputError(f"this version needs Counts with score bins, not {type(counts).__name__}.")
    if counts.edges.kind == "cut":
        raise AuditInputError("this version needs the score bins; use the counts from before .cut(…).")
    counts.column(dim)
    held = counts.histogram()
    check_dim(held, dim)
    return held, xr.DataArray(counts.edges.representative(), dims="bin", coords={"bin": held["bin"]})


#: TI. "benefit" is the one of this package (``theil``); two scripts take its absolute value, which changes nothing.
TI_VERSIONS: Mapping[str, Version] = MappingProxyType(
    {
        "benefit": Version(
            theil,
            "table",
            "Σ_g (n_g/N)(b̄_g/b̄) ln(b̄_g/b̄), b = 1 + flagged − y",
            {_AUDITS: "<", _SHIFT: "<", _JOURNAL: "≤"},
            0.10,
        ),
        "selection rates": Version(
            _selection_theil,
            "table",
            "mean over g of (r_g/r̄) ln(r_g/r̄), r_g here the share flagged and r̄ the plain mean of these",
            {_AXES: "<", _AXES_AGAIN: "<", _BEFORE_AFTER: ""},
            0.10,
        ),
        "within groups": Version(
            _within_theil,
            "counts",
            "max − min over g of mean_g[(b/b̄_g) ln(b/b̄_g)], b = 1 − |y − s|; groups of under 10 left out",
            {_NOTEBOOK: "<"},
            0.10,
        ),
        # The scripts pair the first people of two groups in file order (at most 5,000 of each), so their value is not
        # one of counts; this is its mean over all orders.
        "disagreement": Version(
            _disagreement,
            "table",
            "mean over pairs g, h of the share of rows flagged differently: on average r_g(1 − r_h) + r_h(1 − r_g)",
            {_SITES: "<", _EXPORT: "≤"},
            0.10,
            exact=False,
        ),
    }
)

#: Cal. Bins differ at their edges: "over 5" and "from 10" leave a score of exactly 1 out in the scripts, and "any" puts
#: a score of exactly k/10 into the bin below. Here bins are [k/10, (k + 1)/10), with 1 in the last.
CAL_VERSIONS: Mapping[str, Version] = MappingProxyType(
    {
        "largest group error": Version(
            _largest_error,
            "counts",
            "max over g of |s̄_g − ȳ_g|",
            {_AXES: "<", _AXES_AGAIN: "<", _BEFORE_AFTER: ""},
            0.05,
        ),
        "spread of absolute errors": Version(
            _spread_of_errors, "counts", "max − min over g of |s̄_g − ȳ_g|", {_JOURNAL: "≤"}, 0.05
        ),
        "largest bin error, over 5": Version(
            _bin_error(6),
            "counts",
            "max over g and ten score bins with over 5 people of |s̄ − ȳ|",
            {_AUDITS: "<", _SHIFT: "<"},
            0.05,
        ),
        "largest bin error, from 10": Version(
            _bin_error(10),
            "counts",
            "max over g and ten score bins with 10 people or more of |s̄ − ȳ|",
            {_SITES: "<", _EXPORT: "≤"},  # the second with a limit of 0.10
            0.05,
        ),
        "largest bin error, any": Version(
            _bin_error(1, group_least=10),
            "counts",
            "max over g with 10 people or more and ten score bins of |s̄ − ȳ|",
            {_NOTEBOOK: "<"},
            0.05,
        ),
    }
)


def compare_versions(metric: str, counts: Counts, dim: str, *, threshold: Thresholds) -> xr.Dataset:
    """Every version of TI or of Cal on the same counts.

    Parameters
    ----------
    metric : {"TI", "Cal"}
    counts : Counts with score bins
    dim : str
        The attribute.
    threshold : as ``Counts.at`` takes it
        From which score on a patient is flagged.

    Returns
    -------
    Dataset of ``value`` and ``passes`` (1, 0, NaN; by each version's own comparison) over ``version`` and the other
    dims. For Cal the first version is this package's, largest minus smallest signed error (``calibration_gap``), limit
    included.

    Raises
    ------
    AuditInputError
        For another metric, counts that were cut, an unknown dim or one with a single group.

    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [0, 1] * 20, "p": [0.2, 0.8] * 10 + [0.4, 0.6] * 10, "g": ["a"] * 20 + ["b"] * 20})
    >>> counts = al.count(frame, label="y", score="p", by="g", bins=10)
    >>> found = compare_versions("TI", counts, "g", threshold=0.5)
    >>> found["value"].round(3).to_series().to_dict()
    {'benefit': 0.0, 'selection rates': 0.0, 'within groups': 0.002, 'disagreement': 0.5}
    """
    if metric not in ("TI", "Cal"):
        raise AuditInputError(f"there are versions of TI and of Cal, not of {metric!r}.")
    _bins(counts, dim)
    ours = Version(calibration_gap, "counts", "max − min over g of s̄_g − ȳ_g", {"": "≤"}, 0.05)
    versions = dict(TI_VERSIONS) if metric == "TI" else {"spread of signed errors": ours, **CAL_VERSIONS}
    table = counts.at(threshold)
    values = {name: one(table if one.takes == "table" else counts, dim) for name, one in versions.items()}
    held = {name: value.reset_coords(drop=True) for name, value in values.items()}
    index = pd.Index(list(versions), name="version")
    within = [versions[name].passes(value) for name, value in held.items()]
    return xr.Dataset({"value": xr.concat(held.values(), index), "passes": xr.concat(within, index)})
