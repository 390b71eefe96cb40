"""Verdicts, sites, variations and published numbers once more: what of them can be told from count tables."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.audits import Gap, Options, choices, gap_choices, gap_published, verdicts
from auditlib.audits.choices import COUNTED
from auditlib.audits.plain import number
from auditlib.audits.questions import Asked
from auditlib.audits.source import Source
from auditlib.card.compare import UNKNOWN, About
from auditlib.intervals import gap_interval
from auditlib.sites import site_passes
from auditlib.verdicts import flip_rate
from auditlib.verdicts.judged import limits_of

CAL = "Cal"  # needs all score bins
SIGMAS = 6  # by which the shares of two sets of replicates may differ
BINS = 1_000  # up to so many, four digits tell an edge
LIMITS = ("estimate", "low", "high")
_IN_BRACKETS = re.compile(r"\(([\d.e-]+)\)$")


def verdicts_of(sources: Sequence[Source], options: Options, results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Values and verdicts again; shares of replicates but for chance, and what follows from these exactly.

    Replicates of a table cut to one threshold are others than those of the table that was audited, with the same
    distribution. Only confusion matrices have been cut that far before.
    """
    cut = [replace(one, counts=one.counts.cut(one.threshold)) for one in sources]
    found = [line for one in cut for line in verdicts.verdicts(one, options)]
    if results["kind"] == "confusion" or len(found) != len(results["verdicts"]):
        return found
    levels = {one.names["by0"]: len(one.counts.groups["by0"]) for one in sources}
    return [
        line | _by_chance(line, held, options) | _follows(line, held, options, levels[line["attribute"]])
        for line, held in zip(found, results["verdicts"], strict=True)
    ]


def _by_chance(line: Mapping[str, Any], held: Mapping[str, Any], options: Options) -> dict[str, Any]:
    """The shares of our own replicates, with what chance leaves open."""
    if line["metric"] == CAL:
        return {"value": UNKNOWN, "p_pass": UNKNOWN, "undefined": UNKNOWN}
    found: dict[str, Any] = {}
    for name in ("p_pass", "undefined"):
        if line[name] is None or held[name] is None:  # hardly any replicate has the metric
            found[name] = UNKNOWN if (line["undefined"] or 0) > 0.9 else line[name]
            continue
        n = options.replicates * (1 - line["undefined"] if name == "p_pass" else 1)
        share = (n * (line[name] + held[name]) / 2 + 1) / (n + 2)
        found[name] = About(line[name], SIGMAS * math.sqrt(2 * share * (1 - share) / n) + 2 / n)
    return found


def _follows(line: Mapping[str, Any], held: Mapping[str, Any], options: Options, groups: int) -> dict[str, Any]:
    """What ``flip_rate`` makes of as many passes as the results claim."""
    known = limits_of(options.limits)[line["metric"]]
    value = xr.DataArray(math.nan if held["value"] is None else float(held["value"]))
    k = round(options.replicates * (1 - (held["undefined"] or 0)))
    passed = 0 if held["p_pass"] is None else round(k * held["p_pass"])
    failing = known.value + (-0.5 if known.at_least else 0.5)
    draws = np.full(options.replicates, math.nan)
    draws[:k], draws[:passed] = failing, known.value
    one = flip_rate(xr.DataArray(draws, dims="replicate"), line["metric"], limits=options.limits, point=value)
    found: dict[str, Any] = {name: number(one[name]) for name in ("vfr", "replication_flip", "bound")}
    found |= {name: str(one[name].item()) for name in ("verdict", "dominant")}
    if groups > 2 or found["verdict"] != found["dominant"]:
        found["replication_flip"] = None
    return found


def sites_of(sources: Sequence[Source], options: Options) -> dict[str, Any] | None:
    """Agreement of sites over attributes whose counts lie in several tables."""
    if sources[0].site is None:
        return None
    parts = [
        site_passes(one.counts, ["by0"], threshold=one.threshold, dim="site", limits=options.limits).assign_coords(
            attribute=[name]
        )
        for one in sources
        for name in one.names.values()
        if name != one.names["site"]
    ]
    passed = xr.concat(parts, "attribute", join="exact")
    lines = [_site(passed.sel(metric=metric), str(metric)) for metric in passed["metric"].values]
    return {"sites": len(sources[0].counts.groups["site"]), "metrics": lines}


def _site(passed: xr.DataArray, metric: str) -> dict[str, Any]:
    """As a line of ``verdicts.sites``."""
    if metric == CAL:
        return {"metric": metric} | dict.fromkeys(("undefined", "raw", "ac1", "kappa", "passed"), UNKNOWN)
    return verdicts.agreement(passed, metric, "site")


def choices_of(asked: Asked, results: Mapping[str, Any]) -> Any:
    """The committed multiverse; or variations at thresholds of the table; and all of them counted by sign."""
    held = results["questions"]["choices"]
    if (gap := _gap_of(results)) is not None and (found := gap_choices(gap, asked.options)) is not None:
        return dict(found)
    if not asked.options.multiverse:
        return choices.from_counts(asked)
    if not held["available"]:
        return {"available": True} if asked.source.scored else choices.from_counts(asked)
    lines = _rows(asked, results)
    rows = pd.DataFrame(lines)
    rows[list(LIMITS)] = rows[list(LIMITS)].astype(float)
    return {"of": None, "rows": lines} | choices.summary(rows, held["axes"], held["default"], COUNTED)


def _rows(asked: Asked, results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows at a threshold of the table, for everybody or without one site; the others as they are."""
    held, options = results["questions"]["choices"], results["options"]
    lines = [dict(line) for line in held["rows"]]
    known = {held["axes"]["threshold"][0]: asked.source.threshold}
    if results["kind"] in ("rows", "estimator") and options["bins"] <= BINS:
        for name in held["axes"]["threshold"][1:]:
            said = _IN_BRACKETS.search(name)
            near = [edge for edge in asked.source.first.edges.lower if said and f"{edge:.4g}" == said[1]]
            known |= {name: float(near[0])} if len(near) == 1 else {}
    for who, counts in choices._people(asked).items():
        table = counts.at(list(known.values()))
        found = gap_interval(table, asked.a, asked.b, dim=asked.dim, level=options["level"])
        for line in lines:
            if line["people"] == who and line["threshold"] in known:
                one = found.isel(threshold=list(known).index(line["threshold"]))
                line |= {name: number(one[name]) for name in LIMITS} | {name: int(one[name]) for name in ("n_a", "n_b")}
    return lines


def published_of(results: Mapping[str, Any]) -> Any:
    """The paper's gap of this comparison."""
    gap = _gap_of(results)
    return None if gap is None else gap_published(gap, results)


def _gap_of(results: Mapping[str, Any]) -> Gap | None:
    """The gap audit that results of a cohort are of."""
    held = results["input"]
    if results["kind"] != "gap":
        return None
    attribute, bands = results["comparison"]["attribute"], held["age_bands"]
    return Gap(
        held["name"], attribute, None if bands is None else tuple(bands), held["asked_model"],
        refit=held["fitted"] == "anew", max_rows=held["max_rows"],
    )  # fmt: skip
