"""Who gains: subgroup net benefit when a treatment effect is given, and what a capacity leaves of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from auditlib.audits.plain import estimated, number
from auditlib.audits.questions import Asked
from auditlib.benefit import benefit_interval, tipping_lambda
from auditlib.benefit.core import odds
from auditlib.benefit.uncertainty import covariance, mean_of, quantile
from auditlib.counts.levels import check_levels
from auditlib.errors import AuditInputError
from auditlib.intervals import gap_interval
from auditlib.metrics import selection_rate
from auditlib.thresholds import threshold_at
from auditlib.values import together


def benefit(asked: Asked) -> dict[str, Any] | None:
    """sNB of each group, what it gains by the model, the gap, and the λ at which the gap would change sign.

    All but λ are in true negatives per person.
    """
    options, source = asked.options, asked.source
    if options.lam is None:
        return None
    if isinstance(options.lam, Mapping):
        check_levels("lam", "value", source.names[asked.dim], [*map(str, options.lam)], source.first.groups[asked.dim])
    clinical = options.benefit_threshold
    if clinical is None:
        if source.kind == "confusion":
            raise AuditInputError(
                "lam needs benefit_threshold with confusion matrices: the risk from which treatment is worth its harm, "
                "which sets the weight of a false positive."
            )
        clinical = source.threshold
    lam = dict(options.lam) if isinstance(options.lam, Mapping) else options.lam
    found = benefit_interval(asked.table, clinical, lam, level=options.level)
    untreated, gained = 1 - _prevalence(asked.table), gain_interval(asked.table, clinical, lam, options.level)
    groups = []
    for group in source.first.groups[asked.dim]:
        one = found.sel({asked.dim: group})
        line: dict[str, Any] = {"group": group, "lam": number(lam[group] if isinstance(lam, dict) else lam)}
        line["snb"] = estimated(one, "normal", n=int(one["n"]))
        line["untreated"] = number(untreated.sel({asked.dim: group}))
        line["gain"] = estimated(gained.sel({asked.dim: group}), "normal", n=int(one["n"]))
        groups.append(line)
    apart = benefit_interval(asked.table, clinical, lam, a=asked.a, b=asked.b, dim=asked.dim, level=options.level)
    held: dict[str, Any] = {"threshold": number(clinical), "lam": _lam(lam), "groups": groups}
    held["gap"] = estimated(apart, "normal", n_a=int(apart["n_a"]), n_b=int(apart["n_b"]))
    held["tipping"] = None if isinstance(lam, dict) else _tipping(asked, clinical)
    return held


def gain_interval(table: xr.Dataset, threshold: Any, lam: Any, level: float = 0.95) -> xr.Dataset:
    """Interval of what a group gains by the model: its sNB less that of treating nobody, λ(TP − w·FP)/N ± z·SE.

    Both are of the same people, so the difference is a mean of one value a person: λ for a true positive, −λw for a
    false positive, 0 for the others. Its standard error is that of a mean (of patients, where rows are clustered, with
    Student's t for z). Where that value is the same for all people of a group, such as 0 where nobody is flagged,
    nothing shows how much it could have varied: no limits (NaN).

    Parameters
    ----------
    table : Dataset of Counts.at, or of ``confusion``
    threshold, lam : as in ``subgroup_net_benefit``
    level : float

    Returns
    -------
    Dataset of ``estimate``, ``low`` and ``high``, in true negatives per person.

    Examples
    --------
    >>> from auditlib.counts import parse_confusion
    >>> table = parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
    >>> found = gain_interval(table, 0.2, 0.5).sel(group="Women")  # 0.5 · (80 − 40/4)/950
    >>> [round(10_000 * float(found[name])) for name in ("estimate", "low", "high")]
    [368, 278, 459]
    """
    t, lam = together(table, threshold=threshold, lam=lam)
    w = odds(t, table)
    value = {"tp": lam, "fp": -lam * w}
    cells = table[["tp", "fp", "fn", "tn"]].reset_coords(drop=True)
    kinds = [cells["tp"], cells["fp"].where(w > 0, 0), cells["fn"] + cells["tn"] + cells["fp"].where(w == 0, 0)]
    varied = sum((one > 0).astype(int) for one in kinds) > 1
    mean = mean_of(table, value)
    half = quantile(table, level) * np.sqrt(covariance(table, value, value).where(varied))
    return xr.Dataset({"estimate": mean, "low": mean - half, "high": mean + half})


def _lam(lam: Any) -> Any:
    return {str(name): number(value) for name, value in lam.items()} if isinstance(lam, dict) else number(lam)


def _prevalence(table: xr.Dataset) -> xr.DataArray:
    cells = table[["tp", "fp", "fn", "tn"]].reset_coords(drop=True)
    ill = cells["tp"] + cells["fn"]
    return ill / (ill + cells["fp"] + cells["tn"])


def _tipping(asked: Asked, clinical: float) -> dict[str, Any]:
    found = tipping_lambda(asked.table, clinical, asked.a, asked.b, dim=asked.dim, level=asked.options.level)
    return {name: number(found[name]) for name in ("estimate", "low", "high")} | {"form": str(found["form"].item())}


def capacity(asked: Asked) -> dict[str, Any] | None:
    """The one threshold that flags at most the capacity, the gap there, and sNB where λ is given."""
    options, source = asked.options, asked.source
    if options.capacity is None:
        return None
    if not source.scored:
        what = "confusion matrices" if source.kind == "confusion" else "these counts"
        raise AuditInputError(f"capacity needs scores: {what} hold one threshold only.")
    threshold = threshold_at(source.first, selection_rate, options.capacity)
    table = source.first.at(threshold)
    pooled = source.first.by().at(threshold)
    found = gap_interval(table, asked.a, asked.b, dim=asked.dim, level=options.level)
    held: dict[str, Any] = {"capacity": number(options.capacity), "threshold": number(threshold)}
    held["flagged"] = number(selection_rate(pooled[["tp", "fp", "fn", "tn"]].reset_coords(drop=True)))
    held["gap"] = estimated(found, "Newcombe", n_a=int(found["n_a"]), n_b=int(found["n_b"]))
    held["groups"] = None
    if options.lam is not None:
        clinical = source.threshold if options.benefit_threshold is None else options.benefit_threshold
        lam = dict(options.lam) if isinstance(options.lam, Mapping) else options.lam
        snb = benefit_interval(table, clinical, lam, level=options.level)
        held["groups"] = [
            {"group": group, "snb": estimated(one, "normal", n=int(one["n"]))}
            for group in source.first.groups[asked.dim]
            for one in [snb.sel({asked.dim: group})]
        ]
    return held
