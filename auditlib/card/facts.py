"""What stands at the head and the foot of a card: what was audited, and how the numbers were made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from auditlib.audits.headline import who
from auditlib.audits.names import labels
from auditlib.audits.said import shown
from auditlib.card.names import named
from auditlib.card.readings import level, pair
from auditlib.counts.table import SMALL

Results = Mapping[str, Any]
LONG = 40  # letters of a file's or a column's name
KINDS = {
    "rows": "Rows", "counts": "Counts", "confusion": "Confusion matrices", "estimator": "A classifier",
    "gap": "A cohort of the book",
}  # fmt: skip
Fact = tuple[str, str | Markup]


def audited(results: Results) -> list[Fact]:
    """Name and text of what was audited, whom it compares, and when."""
    given, threshold = results["input"], results["threshold"]
    found: list[Fact] = [("Audited", _name(given["name"]) if given["name"] else KINDS[results["kind"]])]
    found += [("People", _people(given)), ("Outcome", _outcome(results))]
    if model := _model(results):
        found.append(("Model", model))
    flagged = f"flags {shown(threshold['flagged'], 'percent')}"
    if threshold["value"] is None:
        found.append(("Threshold", f"that of the matrices, {flagged}"))
    else:
        found.append(("Threshold", f"{shown(threshold['value'], 'risk')} ({threshold['rule']}), {flagged}"))
    if results.get("made"):
        found.append(("Date", results["made"]))
    return [*found, ("Compared", _compared(results))]


def _name(name: object) -> Markup:
    return named(name, labels([name], LONG)[str(name)])


def _people(given: Mapping[str, Any]) -> str:
    people = shown(given["people"], "count")
    return people if given["unit"] == "row" else f"{people} with {shown(given['rows'], 'count')} rows"


def _outcome(results: Results) -> str | Markup:
    given = results["input"]
    if results["kind"] == "confusion":
        return "as in the matrices"
    if given.get("outcome"):
        return _name(given["outcome"])
    return Markup("{} = {}").format(_name(given["label"]), _name(given["positive"]))


def _model(results: Results) -> str | Markup:
    given = results["input"]
    if results["kind"] == "gap":
        return f"{str(given['model']).replace('_', ' ')}, fitted {given['fitted']}"
    if given.get("model"):
        return _name(given["model"])
    return Markup("score {}").format(_name(given["score"])) if given.get("score") else ""


def _compared(results: Results) -> Markup:
    comparison = results["comparison"]
    a, b = (named(comparison[key], text) for key, text in zip("ab", pair(results), strict=True))
    by = _name(comparison["attribute"])
    return Markup("{} minus {}, by {} ({})").format(a, b, by, comparison["rule"])


def made(results: Results) -> list[str]:
    """How the numbers were made, for the foot of the card."""
    given, options = results["input"], results["options"]
    found = [f"auditlib {results['auditlib']}", f"seed {options['seed']}"]
    found += [f"{shown(options['replicates'], 'count')} replicates", f"{level(results)} intervals"]
    return [*found, f"SHA-256 of the input {given['sha256']}"] if given["sha256"] else found


def small_cells(results: Results) -> str:
    """How many lines of ``counts.csv`` are small, the number in its header, and what that means."""
    cells, further = results["input"]["small_cells"], len(results["input"]["groups"]) > 1
    lines = f"{cells or 'No'} line of counts.csv holds" if cells < 2 else f"{cells:,} lines of counts.csv hold"
    text = f"{lines} fewer than {SMALL} {who(results)}"
    text += ": who knows these people may recognise them, so think before sharing it." if cells else "."
    return f"{text} Further tables say theirs in their headers (small)." if further else text
