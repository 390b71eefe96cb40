"""What the card says of each question in a sentence: how to read its figure, never a number without its interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from auditlib.audits.headline import kind_of
from auditlib.audits.names import labels
from auditlib.audits.plain import side
from auditlib.audits.said import UNDEFINED, shown

Results = Mapping[str, Any]
NAMES = ("chance", "prevalence", "thresholds", "choices")
SHORT = 16  # letters of a name in the tables and sentences of a card
SIGNED = ("points", "per ten thousand")  # forms in which numbers show their sign


def pair(results: Results, width: int = SHORT) -> tuple[str, str]:
    """The two groups compared, short and told apart from all others of their attribute."""
    comparison = results["comparison"]
    found = labels(groups(results), width)
    return found[comparison["a"]], found[comparison["b"]]


def groups(results: Results) -> list[str]:
    """Groups of the attribute asked about, those compared first."""
    comparison = results["comparison"]
    held = [line["group"] for line in results["groups"] if line["attribute"] == comparison["attribute"]]
    first = [comparison["a"], comparison["b"]]
    return first + [name for name in held if name not in first]


def level(results: Results) -> str:
    """The level of intervals, as in "95%"."""
    return f"{100 * results['options']['level']:g}%"


def limits(found: Mapping[str, Any], form: str = "points", unit: str = "") -> str:
    """An estimate with its interval, or "undefined"; limits without a sign are joined by a dash.

    >>> limits({"estimate": -0.1, "low": -0.2, "high": 0.012}, unit=" points")
    '−10.0 points (−20.0 to +1.2)'
    >>> limits({"estimate": 0.727, "low": 0.6372, "high": 0.8016}, "width")
    '72.7 (63.7–80.2)'
    """
    if found["estimate"] is None:
        return UNDEFINED
    text = shown(found["estimate"], form) + unit
    if found["low"] is None:
        return f"{text} (no interval)"
    between = " to " if form in SIGNED else "–"
    return f"{text} ({shown(found['low'], form)}{between}{shown(found['high'], form)})"


def readings(results: Results) -> dict[str, str]:
    """A sentence for each question, and for the net benefit where it was asked for."""
    found = {"chance": _chance, "prevalence": _prevalence, "thresholds": _thresholds, "choices": _choices}
    asked = results["questions"]
    told = {
        name: tell(results) if asked[name].get("available", True) else asked[name]["why"]
        for name, tell in found.items()
    }
    if results["benefit"]:
        told["benefit"] = _benefit(results)
    return told


def _chance(results: Results) -> str:
    found = results["questions"]["chance"]
    gap, spread = found["gap"], found["spread"]
    if gap["estimate"] is None:
        empty = [f"“{name}”" for name, key in zip(pair(results), "ab", strict=True) if not gap[f"n_{key}"]]
        return f"Nobody in {' or '.join(empty)} has the outcome, so no sensitivity and no gap can be told."
    if side(gap):
        text = "The interval excludes zero: chance alone seldom makes a gap like this."
    else:
        text = "The interval contains zero: chance alone could have made this gap."
    if spread and spread["estimate"] is not None:
        text += f" All {spread['groups']} groups spread over {limits(spread, 'width')} points."
    return text


def _prevalence(results: Results) -> str:
    found = results["questions"]["prevalence"]
    raw, standardized, split = found["raw"], found["standardized"], found["split"]
    if raw["estimate"] is None:
        return "PPV needs somebody flagged in both groups; here a group has nobody flagged."
    if raw["low"] is None:
        return "Too few people are flagged in a group for an interval, and so for a judgement."
    if standardized["estimate"] is None:
        return "At one prevalence the gap in PPV is undefined: a rate that it needs rests on nobody."
    text = _turned(raw, standardized)
    if found["target_rule"] == "pooled":
        text = text.replace("At one prevalence", "At one prevalence (that of the two groups together)", 1)
    if split["prevalence"] is not None:
        parts = (shown(split[name], "points") for name in ("prevalence", "performance"))
        text += " Of the gap as it is, prevalence makes {} points, the model’s rates {}.".format(*parts)
    return text


def _turned(raw: dict[str, Any], level: dict[str, Any]) -> str:
    if not side(level):
        lost = "can no longer" if side(raw) else ", too, cannot"
        return f"At one prevalence the gap {lost} be told from zero.".replace(" ,", ",")
    if not side(raw):
        return "At one prevalence the gap can be told from zero; as it is, it cannot."
    return f"At one prevalence the gap {'keeps its' if side(raw) == side(level) else 'has the other'} sign."


def _thresholds(results: Results) -> str:
    found = results["questions"]["thresholds"]
    if found["turns_at"]:
        return _at(
            found["turns_at"], "Where half to twice as many are flagged, the gap can turn round: at {t} it is {gap}."
        )
    if found["lost_at"]:
        return _at(found["lost_at"], "Nearby, the interval does contain zero: at a threshold of {t} the gap is {gap}.")
    if found["least"]:
        return _at(
            found["least"], "Where half to twice as many are flagged, the gap is least at {t}: {gap} (looked for)."
        )
    if found["excluding"]:
        return "At some thresholds that flag half to twice as many people the band excludes zero."
    return "At no threshold that flags half to twice as many people does the band for the whole curve exclude zero."


def _at(line: Mapping[str, Any], text: str) -> str:
    return text.format(t=shown(line["threshold"], "risk"), gap=limits(line, unit=" points"))


def _choices(results: Results) -> str:
    found = results["questions"]["choices"]
    kind = kind_of(found)
    text = f"The intervals of {shown(found['share_contains'], 'share')} of the {kind} contain zero; "
    text += f"the estimate is above zero in {shown(found['share_positive'], 'share')}, "
    text += f"below in {shown(found['share_negative'], 'share')}."
    if found["undefined"] or found["failed"]:
        text += f" {shown(found['undefined'] + found['failed'], 'count')} have no estimate."
    return text


def _benefit(results: Results) -> str:
    found = results["benefit"]
    gap = found["gap"]
    text = f"The gap is {limits(gap, 'per ten thousand')} per 10,000 (n = {gap['n_a']:,} and {gap['n_b']:,})"
    if gap["estimate"] is None:
        text = "The gap is undefined"
    return f"{text}; {tipping(results)}."


def tipping(results: Results) -> str:
    """At which λ the gap in net benefit would change sign."""
    found = results["benefit"]["tipping"]
    if found is None:
        return "with one λ a group, no single λ is asked where it changes sign"
    low, high = (shown(found[name], "risk") for name in ("low", "high"))
    reach = f"{low} to {high}" if (found["high"] or 0) <= 1 else f"{low} and more"
    if found["form"] == "bounded" and (found["low"] or 0) > 1:
        reach = "none up to 1"
    if found["form"] == "outside" and (found["low"] or 0) <= 0:
        reach = f"from {high} on" if (found["high"] or 0) <= 1 else "none from 0 to 1"
        return f"{_changes(found)} (the data allow {reach})"
    allowed = {"bounded": reach, "outside": f"up to {low}, or from {high}", "all": "any λ"}
    text = _changes(found)
    known = allowed.get(found["form"])
    return f"{text} (the data allow {known})" if known else text


def _changes(found: Mapping[str, Any]) -> str:
    if found["estimate"] is None:
        return "its estimate changes sign at no λ up to 1"
    return f"it changes sign at λ = {shown(found['estimate'], 'value')}"
