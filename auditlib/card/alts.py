"""Alternative texts and captions of the card's figures: what a reader would see, in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from auditlib.audits.headline import kind_of, who
from auditlib.audits.names import labels
from auditlib.audits.said import UNDEFINED, shown
from auditlib.card.readings import groups, limits, pair

Results = Mapping[str, Any]
MOST = 8


def captions(results: Results) -> dict[str, str]:
    """A line under each figure."""
    a, b = pair(results, 13)
    two = f"“{a}” minus “{b}”" if len(a + b) < 20 else "the first group minus the second"
    held, choices = results["questions"], results["questions"]["choices"]
    more = len(groups(results)) - MOST
    some = f"; {more} more groups are in results.json" if more > 0 else ""
    found = {
        "chance": f"Gap: {two}. In brackets: {who(results)} with the outcome{some}.",
        "prevalence": "Diamonds: the two parts of the gap as it is, without intervals." if _split(results) else "",
        "thresholds": "Dotted line: in use. Shaded: flags between half and twice as many people.",
        "choices": "",
        "benefit": "In brackets: n. Upright bar: nobody treated.",
    }
    if held["choices"]["available"]:
        n, kind = shown(choices["specifications"], "count"), kind_of(choices)
        found["choices"] = f"Gap with its interval under {n} {kind}, in the order of the estimates."
    return found


def _split(results: Results) -> bool:
    found = results["questions"]["prevalence"]
    return bool(found["available"]) and found["split"]["prevalence"] is not None


def alts(results: Results) -> dict[str, str]:
    """What stands in each figure, for those who do not see it."""
    told = {"chance": _chance(results), "prevalence": _prevalence(results)}
    told["thresholds"], told["choices"] = _thresholds(results), _choices(results)
    return told | {"benefit": _benefit(results)}


def _chance(results: Results) -> str:
    name, names = results["comparison"]["attribute"], groups(results)
    short = labels(names, 24)
    held = {line["group"]: line["sensitivity"] for line in results["groups"] if line["attribute"] == name}
    rates = "; ".join(f"{short[one]} {_rate(held[one])}" for one in names[:MOST])
    gap = results["questions"]["chance"]["gap"]
    return f"Sensitivity by group, {rates}. Gap {limits(gap, unit=' points')}."


def _rate(found: Mapping[str, Any]) -> str:
    if found["estimate"] is None:
        return UNDEFINED
    return f"{limits(found, 'width')}%, n = {shown(found['n'], 'count')}"


def _prevalence(results: Results) -> str:
    found = results["questions"]["prevalence"]
    if not found["available"]:
        return ""
    raw, same, split = found["raw"], found["standardized"], found["split"]
    parts = f"prevalence {shown(split['prevalence'], 'points')} and rates {shown(split['performance'], 'points')}"
    at = shown(found["target"], "percent")
    return f"Gap in PPV as it is: {limits(raw, unit=' points')}; of which {parts}; with both at {at}: {limits(same)}."


def _thresholds(results: Results) -> str:
    found = results["questions"]["thresholds"]
    if not found["available"]:
        return ""
    lines = [line for line in found["points"] if line["estimate"] is not None]
    if not lines:
        return "The gap is undefined at every threshold."
    lowest, highest = (pick(lines, key=lambda line: line["estimate"]) for pick in (min, max))
    said = [f"{limits(line, unit=' points')} at {shown(line['threshold'], 'risk')}" for line in (lowest, highest)]
    use = shown(results["threshold"]["value"], "risk")
    first, last = (shown(value, "risk") for value in found["range"])
    return (
        f"Gap along {len(found['points'])} thresholds, from {said[0]} to {said[1]}. "
        f"In use: {use}; half to twice as many people are flagged from {first} to {last}."
    )


def _choices(results: Results) -> str:
    found = results["questions"]["choices"]
    if not found["available"]:
        return ""
    lines = [line for line in found["rows"] if line["estimate"] is not None]
    if not lines:
        return "No estimate under any of the choices."
    lowest, highest = (pick(lines, key=lambda line: line["estimate"]) for pick in (min, max))
    words = {"above": "above zero", "contains": "containing it", "below": "below"}
    counts = [f"{shown(found[key], 'count')} {word}" for key, word in words.items()]
    return (
        f"Gaps under {shown(found['specifications'], 'count')} {kind_of(found)}, sorted, from {limits(lowest)} to "
        f"{limits(highest)} points; intervals: {', '.join(counts)}."
    )


def _benefit(results: Results) -> str:
    found = results["benefit"]
    if not found:
        return ""
    names, form = groups(results), "ten thousand"
    short, held = labels(names, 24), {line["group"]: line for line in found["groups"]}
    told = [
        f"{short[one]} {limits(held[one]['snb'], form)}, untreated {shown(held[one]['untreated'], form)}"
        for one in names[:MOST]
    ]
    return f"True negatives per 10,000 by group: {'; '.join(told)}."
