"""Results once more from ``counts.csv``: all that it holds what is needed for.

What it does not hold: the input's name and checksum, the number of score bins, the replicates of verdicts (their shares
are compared but for chance), calibration (whose verdict must go with its value), and variations at thresholds, or
without groups of other attributes, that are not in the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from auditlib.audits import Options, questions
from auditlib.audits.benefit import benefit, capacity
from auditlib.audits.questions import Asked, asked_of
from auditlib.audits.result import _attribute, _comparison, _threshold, outcome_share
from auditlib.audits.shared import counts_named, edge_of, thresholds_of
from auditlib.audits.source import Source, chosen, source_of
from auditlib.audits.tables import FLAGGED
from auditlib.card.compare import UNKNOWN, differences, worded
from auditlib.card.recount_rest import choices_of, published_of, sites_of, verdicts_of
from auditlib.counts import Counts
from auditlib.metrics import selection_rate
from auditlib.thresholds import gap_curve

NAMES = ("estimate", "low", "high", "band_low", "band_high", "n_a", "n_b")
#: Names in ``input`` that only some kinds of results have.
OF_KINDS = {"score": ("rows", "estimator"), "comparison": ("gap",), "fitted": ("gap",), "hospitals": ("counts",)}


def recounted(folder: Path, results: Mapping[str, Any]) -> Iterator[str]:
    """Where the results are not those of the count tables beside them, in words."""
    yield from _kind(results)
    options = Options(**{name: value for name, value in results["options"].items() if name != "error"})
    sources = []
    for file, name in counts_named(results).items():
        counts = Counts.read_csv(folder / file)
        yield from _edges(counts, file, results)
        sources.append(_source(counts, name, results))
    found = again(sources, options, results)
    for path, ours, theirs in differences(found, results):
        yield f"the counts give {worded(ours)} for {path}, the results {worded(theirs)}"


def again(sources: list[Source], options: Options, results: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the results that the sources, one an attribute, give again."""
    asked = asked_of(sources[0], options)
    return {
        "input": _input(sources, results),
        "options": {"error": options.plain()["error"]},
        "threshold": _threshold(sources[0]) | {"rule": _rule(sources[0], options, results)},
        "comparison": _comparison(asked),
        "groups": [line for one in sources for line in questions.groups_of(one, one.attributes[0], options.level)],
        "attributes": [_attribute(one, one.attributes[0], options.level) for one in sources],
        "questions": {
            "chance": questions.chance(asked),
            "prevalence": questions.common_prevalence(asked),
            "thresholds": _along(asked, results["questions"]["thresholds"]),
            "choices": choices_of(asked, results),
        },
        "benefit": benefit(asked),
        "capacity": capacity(asked),
        "verdicts": verdicts_of(sources, options, results),
        "sites": sites_of(sources, options),
        "published": published_of(results),
    }


def _kind(results: Mapping[str, Any]) -> Iterator[str]:
    """Whether the kind of the results goes with what they hold."""
    kind, held = results["kind"], results["input"]
    yield from (f"/kind is {kind!r}, but /input has {name}" for name, kinds in OF_KINDS.items()
                if name in held and kind not in kinds)  # fmt: skip
    needed = {"rows": "score", "estimator": "model", "gap": "comparison"}.get(kind)
    if needed is not None and needed not in held:
        yield f"/kind is {kind!r}, but /input has no {needed}"
    if kind == "rows" and "model" in held:
        yield "/kind is 'rows', but /input has a model"
    if (kind == "confusion") != (results["threshold"]["value"] is None):
        yield f"/kind is {kind!r}, which does not go with /threshold/value"


def _edges(counts: Counts, file: str, results: Mapping[str, Any]) -> Iterator[str]:
    """The table is cut to the thresholds of the results, no more and no fewer."""
    wanted = {edge_of(counts, value) for value in thresholds_of(results)}
    if more := sorted({*map(float, counts.edges.lower)} - wanted - {0.0}):
        yield f"{file} has the threshold {more[0]:g}, of which the results say nothing"


def _source(counts: Counts, name: str, results: Mapping[str, Any]) -> Source:
    held, found = results["input"], results["threshold"]["value"]
    threshold = edge_of(counts, FLAGGED if found is None else found)
    return source_of(results["kind"], counts, [name], held["site"], threshold, results["threshold"]["rule"], {})


def _input(sources: list[Source], results: Mapping[str, Any]) -> dict[str, Any]:
    counts = sources[0].original
    held: dict[str, Any] = {"label": counts.label, "unit": counts.unit, "rows": counts.n_rows, "units": counts.n_units}
    held["people"] = counts.n_units if counts.clustered else counts.n_rows
    held |= {"prevalence": outcome_share(sources[0]), "small_cells": counts.small_cells()}
    if results["kind"] != "estimator":  # whose outcomes were made 0 and 1
        held["positive"] = counts.positive
    held["groups"] = {each.names["by0"]: list(each.counts.groups["by0"]) for each in sources}
    return held


def _rule(source: Source, options: Options, results: Mapping[str, Any]) -> Any:
    """How the threshold was chosen, where the options say it."""
    asked = options.threshold
    if results["kind"] == "confusion" or isinstance(asked, int | float):
        return "given"
    if results["kind"] == "counts" or (results["kind"] == "gap" and not str(asked).startswith("top")):
        return UNKNOWN  # a table may bring its own threshold
    return chosen(source.first, asked)[1]


def _along(asked: Asked, held: Mapping[str, Any]) -> dict[str, Any]:
    """The gap along the thresholds of the results, as ``questions.along_thresholds`` finds it at its own."""
    source, options = asked.source, asked.options
    if not held["available"]:
        return {"available": True} if source.scored else questions.along_thresholds(asked)
    points = [edge_of(source.first, line["threshold"]) for line in held["points"]]
    counts = source.first.cut(points)
    curve = gap_curve(
        counts, asked.a, asked.b, thresholds=points, replicates=options.replicates, seed=options.seed,
        level=options.level, dim=asked.dim,
    )  # fmt: skip
    share = selection_rate(counts.by().at(points)[["tp", "fp", "fn", "tn"]]).values
    apart = questions._differs(asked, counts, points, share)
    lines = [
        {"threshold": questions.number(point), "flagged": questions.number(share[place])}
        | {name: questions.number(curve[name][place]) for name in NAMES}
        | {"small": bool(curve["small"][place]), "differs": bool(apart[place])}
        for place, point in enumerate(points)
    ]
    found = {"available": True, "points": lines, "multiplier": questions.number(curve["c"])}
    return found | questions._near(lines, source.threshold)
