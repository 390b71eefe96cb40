"""Who gains: subgroup net benefit when a treatment effect is given, and what a capacity leaves of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import xarray as xr

from auditlib.audits.plain import estimated, number
from auditlib.audits.questions import Asked
from auditlib.benefit import benefit_interval, tipping_lambda
from auditlib.counts.levels import check_levels
from auditlib.errors import AuditInputError
from auditlib.intervals import gap_interval
from auditlib.metrics import selection_rate
from auditlib.thresholds import threshold_at


def benefit(asked: Asked) -> dict[str, Any] | None:
    """sNB of each group in true negatives per 10,000, its gap, and the λ at which the gap would change sign."""
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
    untreated = 1 - _prevalence(asked.table)
    groups = []
    for group in source.first.groups[asked.dim]:
        one = found.sel({asked.dim: group})
        line: dict[str, Any] = {"group": group, "lam": number(lam[group] if isinstance(lam, dict) else lam)}
        line["snb"] = estimated(one, "normal", n=int(one["n"]))
        groups.append(line | {"untreated": number(untreated.sel({asked.dim: group}))})
    apart = benefit_interval(asked.table, clinical, lam, a=asked.a, b=asked.b, dim=asked.dim, level=options.level)
    held: dict[str, Any] = {"threshold": number(clinical), "lam": _lam(lam), "groups": groups}
    held["gap"] = estimated(apart, "normal", n_a=int(apart["n_a"]), n_b=int(apart["n_b"]))
    held["tipping"] = None if isinstance(lam, dict) else _tipping(asked, clinical)
    return held


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
