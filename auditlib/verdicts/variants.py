"""Versions of TI and of Cal in the public scripts of Joy et al., which disagree in value and in verdict.

The scripts (repository MdJoy31/Length-of-stay-prediction-using-Texas100x--Fairness; ``COMMITS``) hold four of TI and
six of Cal. Each is written here anew, from counts, by its formula. What cannot be computed is 0 or 1 in the scripts and
NaN here. Which one gave which published flip rates can be read off. TI is "benefit" in all of them; Cal is "mean bin
error" in the 336 cells of twelve models (``build_final_notebook.py`` writes cikm_vfr_all_metrics.csv), and "largest
bin error, over 5" in the 28 cells of each intervention (``compute_baseline_audit_extension.py`` writes
T13_axis1_vfr_config1.csv to …4.csv).

They differ in the side of the limit, too: most let it fail (<), two let it pass (≤), as this package does. And one has
other limits: 0.20 for EOpp and EOD and 0.10 for Cal, where the rest have 0.10 and 0.05.

Notation: in group g, n_g people, r_g flagged, b a person's benefit, s the score, y the label; N people in all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.counts import Counts
from auditlib.counts.levels import check_names
from auditlib.counts.thresholds import Thresholds
from auditlib.errors import AuditInputError
from auditlib.metrics import theil
from auditlib.scores import calibration_gap
from auditlib.verdicts.formulas import (
    bin_error,
    disagreement,
    largest_error,
    mean_bin_error,
    score_bins,
    selection_theil,
    spread_of_errors,
    within_theil,
)
from auditlib.verdicts.judged import NOISE

_CIKM = "research question 1 version 3 final result and output/Final_Notebook/SHARE_WITH_PROFESSOR/cikm/"
_AXES, _AXES_AGAIN = f"{_CIKM}compute_real_axis2_axis3.py", f"{_CIKM}compute_real_axis2_axis3_canonical.py"
_BEFORE_AFTER = f"{_CIKM}compute_per_model_before_after.py"
_JOURNAL = f"{_CIKM}full_journal_paper/scripts/journal_rerun.py"
_AUDITS, _SHIFT = f"{_CIKM}compute_baseline_audit_extension.py", f"{_CIKM}compute_threshold_shift_only.py"
_SITES, _EXPORT = f"{_CIKM}_scripts/fair_cross_site.py", f"{_CIKM}# %% [markdown].py"  # the second is so named
_FINAL, _NOTEBOOK = f"{_CIKM}build_final_notebook.py", "SHARE_WITH_PROFESSOR/scripts/build_notebook_v4.py"

#: The commit at which each file was read.
COMMITS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            (_AXES, _AXES_AGAIN, _BEFORE_AFTER, _AUDITS, _SHIFT, _FINAL), "543d9d2dd5c54de67e63fa86d622b64a02162975"
        ),
        _JOURNAL: "34c806e8311c6d34be5197e9a1c5d15fc1b7875c",
        _SITES: "9eacc3e8b8b7754eed2231c6e52420adfa401709",
        _EXPORT: "174a2602367fcbc023bc3127822b048a168f01a8",
        _NOTEBOOK: "c74e64e7162f2f8fe250d7c31700195faa4a9401",
    }
)


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
        within = values < self.limit - NOISE if strict else values <= self.limit + NOISE
        return within.astype(np.float64).where(values.notnull())


#: TI. "benefit" is the one of this package (``theil``); some scripts take its absolute value, which changes nothing.
TI_VERSIONS: Mapping[str, Version] = MappingProxyType(
    {
        "benefit": Version(
            theil,
            "table",
            "Σ_g (n_g/N)(b̄_g/b̄) ln(b̄_g/b̄), b = 1 + flagged − y",
            {_AUDITS: "<", _SHIFT: "<", _FINAL: "<", _JOURNAL: "≤"},
            0.10,
        ),
        "selection rates": Version(
            selection_theil,
            "table",
            "mean over g of (r_g/r̄) ln(r_g/r̄), r_g here the share flagged and r̄ the plain mean of these",
            {_AXES: "<", _AXES_AGAIN: "<", _BEFORE_AFTER: ""},
            0.10,
        ),
        "within groups": Version(
            within_theil,
            "counts",
            "max − min over g of mean_g[(b/b̄_g) ln(b/b̄_g)], b = 1 − |y − s|; groups of under 10 left out",
            {_NOTEBOOK: "<"},
            0.10,
        ),
        # The scripts pair the first people of two groups in file order (at most 5,000 of each), so their value is not
        # one of counts; this is its mean over all orders.
        "disagreement": Version(
            disagreement,
            "table",
            "mean over pairs g, h of the share of rows flagged differently: on average r_g(1 − r_h) + r_h(1 − r_g)",
            {_SITES: "<", _EXPORT: "≤"},
            0.10,
            exact=False,
        ),
    }
)

#: Cal. This package's own (``calibration_gap``) is in none of these scripts; nearest is "spread of absolute errors".
#: Bins differ at their edges: "over 5", "from 10" and "mean" leave a score of exactly 1 out in the scripts, and "any"
#: puts a score of exactly k/10 into the bin below. Here bins are [k/10, (k + 1)/10), with 1 in the last.
CAL_VERSIONS: Mapping[str, Version] = MappingProxyType(
    {
        "largest group error": Version(
            largest_error,
            "counts",
            "max over g of |s̄_g − ȳ_g|",
            {_AXES: "<", _AXES_AGAIN: "<", _BEFORE_AFTER: ""},
            0.05,
        ),
        "spread of absolute errors": Version(
            spread_of_errors, "counts", "max − min over g of |s̄_g − ȳ_g|", {_JOURNAL: "≤"}, 0.05
        ),
        "largest bin error, over 5": Version(
            bin_error(6),
            "counts",
            "max over g and ten score bins with over 5 people of |s̄ − ȳ|",
            {_AUDITS: "<", _SHIFT: "<"},
            0.05,
        ),
        "largest bin error, from 10": Version(
            bin_error(10),
            "counts",
            "max over g and ten score bins with 10 people or more of |s̄ − ȳ|",
            {_SITES: "<", _EXPORT: "≤"},  # the second with a limit of 0.10
            0.05,
        ),
        "largest bin error, any": Version(
            bin_error(1, group_least=10),
            "counts",
            "max over g with 10 people or more and ten score bins of |s̄ − ȳ|",
            {_NOTEBOOK: "<"},
            0.05,
        ),
        "mean bin error": Version(
            mean_bin_error,
            "counts",
            "mean over g and ten score bins with 10 people or more of |ȳ − middle of the bin|",
            {_FINAL: "<"},
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
    included; none of the scripts has it.

    Raises
    ------
    AuditInputError
        For another metric, counts that were cut, an unknown dim or one with a single group, or one called ``version``
        or ``passes``.

    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [0, 1] * 20, "p": [0.2, 0.8] * 10 + [0.4, 0.6] * 10, "g": ["a"] * 20 + ["b"] * 20})
    >>> counts = al.count(frame, label="y", score="p", by="g", bins=10)
    >>> found = compare_versions("TI", counts, "g", threshold=0.5)
    >>> found["value"].round(3).to_series().to_dict()
    {'benefit': 0.0, 'selection rates': 0.0, 'within groups': 0.002, 'disagreement': 0.5}
    """
    if metric not in ("TI", "Cal"):
        raise AuditInputError(f"there are versions of TI and of Cal, not of {metric!r}.")
    score_bins(counts, dim)
    check_names([name for name in counts.dims if name != dim], ["version", "value", "passes"], "compare_versions")
    ours = Version(calibration_gap, "counts", "max − min over g of s̄_g − ȳ_g", {"": "≤"}, 0.05)
    versions = dict(TI_VERSIONS) if metric == "TI" else {"spread of signed errors": ours, **CAL_VERSIONS}
    table = counts.at(threshold)
    values = {name: one(table if one.takes == "table" else counts, dim) for name, one in versions.items()}
    held = {name: value.reset_coords(drop=True) for name, value in values.items()}
    index = pd.Index(list(versions), name="version")
    within = [versions[name].passes(value) for name, value in held.items()]
    return xr.Dataset({"value": xr.concat(held.values(), index), "passes": xr.concat(within, index)})
