"""If the audit were repeated, would it pass again? Verdicts with their flip rates, and whether sites agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from auditlib.audits.options import Options
from auditlib.audits.plain import number
from auditlib.audits.questions import affordable
from auditlib.audits.source import Source
from auditlib.errors import AuditInputError
from auditlib.sites import site_agreement, site_passes
from auditlib.verdicts import flip_rate, verdict_metrics
from auditlib.verdicts.judged import limits_of

SHARES = ("p_pass", "vfr", "replication_flip", "bound", "undefined")


def verdicts(source: Source, options: Options) -> list[dict[str, Any]]:
    """Seven metrics of every attribute, their verdicts, and how often resampling turns these round.

    Rows are resampled within the outcome, patients with several rows as they are. The chance that the next audit
    disagrees (``replication_flip``) is one of near-normal metrics: it is left out for the spread of several groups, and
    where most replicates contradict the verdict.
    """
    lines, limits = [], limits_of(options.limits)
    for dim in source.attributes:
        counts = source.counts.by(dim)
        if not affordable(counts, options.replicates):
            counts = counts.cut(source.threshold)  # which costs Cal
        strata = () if counts.clustered else "label"
        point = verdict_metrics(counts, dim, threshold=source.threshold)
        draws = counts.resample(options.replicates, strata=strata, seed=options.seed)
        again = verdict_metrics(draws, dim, threshold=source.threshold)
        found = flip_rate(again, limits=options.limits, point=point)
        for metric in found["metric"].values:
            one = found.sel(metric=metric)
            line = {"attribute": source.names[dim], "metric": str(metric), "value": number(one["estimate"])}
            line |= {"limit": number(limits[metric].value), "at_least": limits[metric].at_least}
            line |= {"verdict": str(one["verdict"].item()), "dominant": str(one["dominant"].item())}
            line |= {name: number(one[name]) for name in SHARES}
            if len(source.counts.groups[dim]) > 2 or line["verdict"] != line["dominant"]:
                line["replication_flip"] = None
            lines.append(line)
    return lines


def sites(source: Source, options: Options) -> dict[str, Any] | None:
    """Agreement of the sites on each metric's verdicts over the attributes audited; None without sites."""
    if source.site is None:
        return None
    held: dict[str, Any] = {"sites": len(source.counts.groups[source.site]), "metrics": []}
    passed = site_passes(
        source.counts, list(source.attributes), threshold=source.threshold, dim=source.site, limits=options.limits
    )
    held["metrics"] = [agreement(passed.sel(metric=one), str(one), source.site) for one in passed["metric"].values]
    return held


def agreement(passed: xr.DataArray, metric: str, dim: str) -> dict[str, Any]:
    """Agreement of sites on one metric; of one attribute, which is one item, the share of pairs alike and no more."""
    one = passed.transpose("attribute", ..., dim)
    line: dict[str, Any] = {"metric": metric, "undefined": number(1 - float(one.notnull().mean()))}
    line |= dict.fromkeys(("raw", "ac1", "kappa"))
    line["passed"] = number(one.mean()) if bool(one.notnull().any()) else None
    try:
        found = site_agreement(one.drop_vars("metric"), dim=dim, replicates=0)
    except AuditInputError:
        if one.sizes["attribute"] == 1:
            line["raw"] = number(_alike(one.values))
        return line
    return line | {name: number(found[name]) for name in ("raw", "ac1", "kappa")}


def _alike(verdicts: np.ndarray) -> float:
    """Share of pairs of sites with one verdict; NaN for fewer than two.

    >>> _alike(np.array([[1.0, 1.0, 0.0, np.nan]]))
    0.3333333333333333
    """
    held = verdicts[np.isfinite(verdicts)]
    n, passed = held.size, held.sum()
    same = passed * (passed - 1) + (n - passed) * (n - passed - 1)
    return float(same / (n * (n - 1))) if n > 1 else float("nan")
