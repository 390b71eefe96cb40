"""From a source to results: plain values that the card, the JSON and the checks share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import auditlib
from auditlib.audits import benefit, choices, questions, verdicts
from auditlib.audits.caveats import caveats
from auditlib.audits.follow_ups import follow_ups
from auditlib.audits.headline import headline, tiles
from auditlib.audits.options import Options
from auditlib.audits.plain import number
from auditlib.audits.questions import Asked, asked_of
from auditlib.audits.shared import shared_table
from auditlib.audits.source import Source
from auditlib.metrics import prevalence, selection_rate

SCHEMA = "auditlib-results 1"


def results_of(source: Source, options: Options, multiverse: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """All results of an audit, without commands and date.

    Parameters
    ----------
    source, options
    multiverse : mapping, optional
        The answer to the fourth question from fitted specifications; choices that counts allow are varied without it.
    """
    asked = asked_of(source, options)
    results: dict[str, Any] = {
        "schema": SCHEMA,
        "auditlib": auditlib.__version__,
        "kind": source.kind,
        "input": _input(source),
        "options": options.plain(),
        "threshold": _threshold(source),
        "comparison": _comparison(asked),
        "groups": [line for dim in source.attributes for line in questions.groups_of(source, dim, options.level)],
        "attributes": [_attribute(source, dim, options.level) for dim in source.attributes],
        "questions": {
            "chance": questions.chance(asked),
            "prevalence": questions.common_prevalence(asked),
            "thresholds": questions.along_thresholds(asked),
            "choices": dict(multiverse) if multiverse is not None else choices.from_counts(asked),
        },
        "benefit": benefit.benefit(asked),
        "capacity": benefit.capacity(asked),
        "verdicts": verdicts.verdicts(source, options),
        "sites": verdicts.sites(source, options),
        "published": None,
    }
    first = shared_table(results, source.original, source.names[asked.dim])
    results["input"] |= {"small_cells": first.small_cells(), "notes": list(source.notes)}
    return results


def told(results: dict[str, Any]) -> dict[str, Any]:
    """Results with their sentences: headline, tiles, caveats, follow-ups."""
    rule, said = headline(results)
    results["headline"] = {"rule": rule, **said.plain()}
    results["tiles"] = tiles(results)
    results["caveats"] = caveats(results)
    results["follow_ups"] = follow_ups(results)
    return results


def _input(source: Source) -> dict[str, Any]:
    counts, names = source.original, source.names
    people = counts.n_units if counts.clustered else counts.n_rows
    held = {"name": None, "sha256": None, "max_rows": None, **source.facts}
    held |= {"label": counts.label, "positive": counts.positive, "unit": counts.unit}
    held |= {"rows": counts.n_rows, "units": counts.n_units, "people": people, "prevalence": outcome_share(source)}
    held["groups"] = {names[dim]: list(source.counts.groups[dim]) for dim in source.attributes}
    return held | {"site": None if source.site is None else names[source.site]}


def outcome_share(source: Source) -> float | int | None:
    """The share of all rows with the outcome."""
    table = source.first.by().at(source.threshold)
    return number(prevalence(table[["tp", "fp", "fn", "tn"]].reset_coords(drop=True)))


def _threshold(source: Source) -> dict[str, Any]:
    table = source.first.by().at(source.threshold)[["tp", "fp", "fn", "tn"]].reset_coords(drop=True)
    value = None if source.kind == "confusion" else number(source.threshold)
    return {"value": value, "rule": source.rule, "flagged": number(selection_rate(table))}


def _comparison(asked: Asked) -> dict[str, Any]:
    name = asked.source.names[asked.dim]
    return {"attribute": name, "a": asked.a, "b": asked.b, "rule": asked.pair_rule, "metric": "sensitivity"}


def _attribute(source: Source, dim: str, level: float) -> dict[str, Any]:
    table = source.counts.by(dim).at(source.threshold)
    return {"attribute": source.names[dim], "spread": questions.spread_of(table, dim, level)}
