"""The headline: the most surprising finding by fixed rules, tried in this order.

1. ``both signs``: more than 2.5% of the specifications (the tail of a 95% interval; half of 1 − level), and at least
   two, have an interval above zero; and as many one below. Specifications share their people, so these shares describe
   the choices made and are no test.
2. ``PPV turns``: the gap in PPV excludes zero, and excludes it on the other side at a common prevalence.
3. ``threshold turns`` or ``threshold loses``: the gap excludes zero at the threshold in use, and among thresholds that
   flag between half and twice as many people there is one where the simultaneous band lies on the other side; or one
   where the interval contains zero, and the gap differs from the one in use beyond chance.
4. ``survives``: the gap excludes zero, and so do the intervals at all of those thresholds and under all specifications,
   on the same side (each is a test of its own, so that all together need no correction).
5. ``some survive``: the gap excludes zero, but not at all of those thresholds, or not under all specifications.
6. ``chance``: the interval contains zero. ``undefined``: there is no gap, because a group has nobody with the outcome.

``alone`` stands for 4 and 5 where no choices were varied (confusion matrices, or as asked).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from auditlib.audits.plain import side
from auditlib.audits.said import Said, say

FEW = 2  # specifications on a side
GAP = "/questions/chance/gap"
ESTIMATE = (f"{GAP}/estimate", "points")


def headline(results: Mapping[str, Any]) -> tuple[str, Said]:
    """The rule that applies first, and its sentence of one or two numbers."""
    for rule in (_undefined, _both_signs, _ppv_turns, _threshold_turns, _survives):
        if found := rule(results):
            return found
    return _chance(results)


def _names(results: Mapping[str, Any]) -> dict[str, str]:
    return {"a": results["comparison"]["a"], "b": results["comparison"]["b"]}


def _gap(results: Mapping[str, Any]) -> dict[str, Any]:
    return results["questions"]["chance"]["gap"]


def who(results: Mapping[str, Any]) -> str:
    """What is counted: people, or rows where a person may have several."""
    return "people" if results["input"]["unit"] == "row" else "rows"


def _undefined(results: Mapping[str, Any]) -> tuple[str, Said] | None:
    if _gap(results)["estimate"] is not None:
        return None
    attribute = results["comparison"]["attribute"]
    places = {line["group"]: n for n, line in enumerate(results["groups"]) if line["attribute"] == attribute}
    names = _names(results)
    sizes = {f"n_{key}": (f"/groups/{places[name]}/n", "count") for key, name in names.items()}
    empty = [key for key in "ab" if not _gap(results)[f"n_{key}"]]
    many = {key: _many(results, places[name]) for key, name in names.items()}
    if len(empty) == 2:
        text = f"neither “{{a}}” ({{n_a}} {many['a']}) nor “{{b}}” ({{n_b}} {many['b']}) has anybody with the outcome."
    else:
        (key,) = empty
        text = f"“{{{key}}}” has nobody with the outcome among its {{n_{key}}} {many[key]}."
        sizes = {f"n_{key}": sizes[f"n_{key}"]}
    return "undefined", say(results, f"There is no gap to judge: {text}", names, **sizes)


def _many(results: Mapping[str, Any], place: int) -> str:
    """People or rows, as many as a group has."""
    several = who(results)
    return several if results["groups"][place]["n"] != 1 else {"people": "person", "rows": "row"}[several]


def _both_signs(results: Mapping[str, Any]) -> tuple[str, Said] | None:
    found, many = results["questions"]["choices"], (1 - results["options"]["level"]) / 2
    if not found["available"] or min(found["above"], found["below"]) < FEW:
        return None
    if min(found["share_above"], found["share_below"]) <= many:
        return None
    whose = "between “{a}” and “{b}”" if found["of"] is None else f"({found['of']})"
    text = (
        f"The analyst's choices disagree about the sign: the gap {whose} has an interval above zero under {{above}} of "
        "the {kind}, and one below under {below}."
    )
    path = "/questions/choices/share_"
    numbers = {name: (path + name, "share") for name in ("above", "below")}
    return "both signs", say(results, text, _names(results) | {"kind": kind_of(found)}, **numbers)


def _ppv_turns(results: Mapping[str, Any]) -> tuple[str, Said] | None:
    found = results["questions"]["prevalence"]
    if not found["available"]:
        return None
    raw, standardized = found["raw"], found["standardized"]
    if not side(raw) or side(standardized) != -side(raw):
        return None
    text = (
        "The gap in PPV between “{a}” and “{b}” changes sign once both have one prevalence: "
        "{raw} points become {level}."
    )
    path = "/questions/prevalence/{}/estimate"
    numbers = {"raw": (path.format("raw"), "points"), "level": (path.format("standardized"), "points")}
    return "PPV turns", say(results, text, _names(results), **numbers)


def _threshold_turns(results: Mapping[str, Any]) -> tuple[str, Said] | None:
    found = results["questions"]["thresholds"]
    if not side(_gap(results)) or not found["available"]:
        return None
    start = "The gap in sensitivity of {gap} points between “{a}” and “{b}” "
    numbers: dict[str, tuple[str, str]] = {"gap": (f"{GAP}/estimate", "points")}
    if found["turns_at"]:
        numbers["t"] = ("/questions/thresholds/turns_at/threshold", "risk")
        text = start + "points the other way at a threshold of {t}."
        return "threshold turns", say(results, text, _names(results), **numbers)
    if found["lost"]:
        numbers["t"] = ("/questions/thresholds/lost_at/threshold", "risk")
        text = start + "hangs on the threshold: at {t} it is another, and its interval contains zero."
        return "threshold loses", say(results, text, _names(results), **numbers)
    return None


def _survives(results: Mapping[str, Any]) -> tuple[str, Said] | None:
    sign = side(_gap(results))
    if not sign:
        return None
    found, near = results["questions"]["choices"], results["questions"]["thresholds"]
    whole = near["available"] and near["same_side"] == near["thresholds"]
    start = "The gap in sensitivity of {gap} points between “{a}” and “{b}” "
    if not found["available"]:
        return _alone(results, start, near["available"], whole)
    names, kind = _names(results) | {"kind": kind_of(found)}, "above" if sign > 0 else "below"
    if found[kind] == found["specifications"]:
        numbers = {"gap": ESTIMATE, "n": ("/questions/choices/specifications", "count")}
        if whole:
            return "survives", say(results, start + "keeps its side of zero under all {n} {kind}.", names, **numbers)
        text = start + "keeps its side of zero under all {n} {kind}, but not at all thresholds near."
        return "some survive", say(results, text, names, **numbers)
    text = start + "excludes zero on the same side under {share} of the {kind}"
    text += (
        "; all estimates have that sign."
        if found["positive" if sign > 0 else "negative"] == found["specifications"]
        else "."
    )
    numbers = {"gap": ESTIMATE, "share": (f"/questions/choices/share_{kind}", "share")}
    return "some survive", say(results, text, names, **numbers)


def _alone(results: Mapping[str, Any], start: str, tried: bool, whole: bool) -> tuple[str, Said]:
    """Where no choices were varied: what the thresholds say."""
    if not tried:
        return "alone", say(
            results,
            start + "excludes zero; other thresholds or choices could not be tried.",
            _names(results),
            gap=ESTIMATE,
        )
    if not whole:
        text = start + "excludes zero, but not at all thresholds near."
        return "alone", say(results, text, _names(results), gap=ESTIMATE)
    number = ("/questions/thresholds/thresholds", "count")
    text = start + "excludes zero, at all {n} thresholds near the one in use."
    return "alone", say(results, text, _names(results), gap=ESTIMATE, n=number)


def _chance(results: Mapping[str, Any]) -> tuple[str, Said]:
    text = (
        "The gap in sensitivity of {gap} points between “{a}” and “{b}” cannot be told from zero; the group with fewer "
        "has {n} {who} with the outcome."
    )
    gap = _gap(results)
    least = "a" if gap["n_a"] <= gap["n_b"] else "b"
    numbers = {"gap": (f"{GAP}/estimate", "points"), "n": (f"{GAP}/n_{least}", "count")}
    return "chance", say(results, text, _names(results) | {"who": who(results)}, **numbers)


def kind_of(found: Mapping[str, Any]) -> str:
    """What the rows of the fourth question are called: fitted specifications, or variations that counts allow."""
    if found["source"] != "counts":
        return "specifications"
    return "variations" if len(found["axes"]["people"]) > 1 else "thresholds"


#: What each tile shows: its question, its results' place, and its sentence.
Tile = tuple[str, Callable[[Mapping[str, Any]], Said]]


def tiles(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One tile a question: a number with its interval, or why there is none."""
    parts: tuple[Tile, ...] = (
        ("Could chance have made it?", _tile_chance),
        ("Is it prevalence?", _tile_prevalence),
        ("Does it depend on the threshold?", _tile_thresholds),
        ("Does it depend on the analyst?", _tile_choices),
    )
    return [{"question": question, **tell(results).plain()} for question, tell in parts]


def _limits(path: str) -> dict[str, tuple[str, str]]:
    return {name: (f"{path}/{name}", "points") for name in ("estimate", "low", "high")}


def _tile_chance(results: Mapping[str, Any]) -> Said:
    gap = _gap(results)
    if gap["estimate"] is None:
        return say(results, "The gap in sensitivity is undefined.")
    text = "Gap in sensitivity {estimate} points ({low} to {high}); {n_a} and {n_b} {who} with the outcome."
    numbers = _limits(GAP) | {name: (f"{GAP}/{name}", "count") for name in ("n_a", "n_b")}
    return say(results, text, {"who": who(results)}, **numbers)


def _tile_prevalence(results: Mapping[str, Any]) -> Said:
    found, path = results["questions"]["prevalence"], "/questions/prevalence"
    if not found["available"]:
        return say(results, found["why"])
    if found["raw"]["estimate"] is None:
        return say(results, "The gap in PPV is undefined: a group has nobody flagged.")
    if found["raw"]["low"] is None:
        return say(results, "Gap in PPV {estimate} points, on too few flagged for an interval ({n} in a group).",
                   estimate=(f"{path}/raw/estimate", "points"), n=(f"{path}/flagged", "count"))  # fmt: skip
    raw = say(results, "Gap in PPV {estimate} points ({low} to {high})", **_limits(f"{path}/raw"))
    if found["standardized"]["estimate"] is None:
        return Said(raw.text + "; at one prevalence it is undefined.", raw.numbers)
    text = "; at one prevalence ({target}) for both, {estimate} ({low} to {high})."
    level = say(results, text, target=(f"{path}/target", "percent"), **_limits(f"{path}/standardized"))
    return Said(raw.text + level.text, raw.numbers + level.numbers)


def _tile_thresholds(results: Mapping[str, Any]) -> Said:
    found, path = results["questions"]["thresholds"], "/questions/thresholds"
    if not found["available"]:
        return say(results, found["why"])
    numbers = {
        "first": (f"{path}/range/0", "risk"),
        "last": (f"{path}/range/1", "risk"),
        "n": (f"{path}/thresholds", "count"),
    }
    start = "Of {n} thresholds from {first} to {last}, "
    if side(_gap(results)):
        text = start + "the interval keeps to this side of zero at {same}."
        return say(results, text, **numbers, same=(f"{path}/same_side", "count"))
    text = start + "the band excludes zero at {excluding}."
    return say(results, text, **numbers, excluding=(f"{path}/excluding", "count"))


def _tile_choices(results: Mapping[str, Any]) -> Said:
    found, path = results["questions"]["choices"], "/questions/choices"
    if not found["available"]:
        return say(results, found["why"])
    text = f"Of {{n}} {kind_of(found)}, {{above}} have an interval above zero, {{below}} one below."
    return say(results, text, n=(f"{path}/specifications", "count"), above=(f"{path}/above", "count"),
               below=(f"{path}/below", "count"))  # fmt: skip
