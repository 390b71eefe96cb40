"""Three follow-ups that would give another result: what to ask next, and what the counts already say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from auditlib.audits.plain import side
from auditlib.audits.said import Said, say

Change = tuple[dict[str, Any], Said]
WANTED = 3
USUAL, WIDE = 0.95, 0.99
#: Options, by the names of the Python functions, that a follow-up may change.
KNOWN = (
    *("threshold", "group_a", "group_b", "target_prevalence", "lam", "benefit_threshold", "by"),
    *("model", "age_bands", "attribute", "level", "seed"),
)


def follow_ups(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The first three that apply: changed options and why. There are always three.

    None names another limit of a verdict: a limit is set before one looks, not after.
    """
    found: list[dict[str, Any]] = []
    kinds: list[Callable[[Mapping[str, Any]], Iterator[Change]]] = [_bands, _model, _threshold, _pair, _attribute]
    kinds += [_prevalence, _treatment, _level, _seed, _usual]
    for kind in kinds:
        for changed, why in kind(results):
            found.append({"parameters": changed, "why": why.plain()})
            break  # one of a kind
    return found[:WANTED]


def _bands(results: Mapping[str, Any]) -> Iterator[Change]:
    """Other age bands, where a committed multiverse says what they find."""
    found = results["questions"]["choices"]
    if results["kind"] != "gap" or not found["available"] or found["of"] != "the younger minus the older":
        return  # bands named anew are compared the usual way round
    usual, here = found["default"], {results["comparison"]["a"], results["comparison"]["b"]}
    for place, row in enumerate(found["rows"]):
        same = all(row[name] == value for name, value in usual.items() if name != "age_bands")
        if same and set(row["age_bands"].split(" v ")) != here and row["estimate"] is not None:
            text = "With the age bands {bands} the book's specification finds {gap} ({low} to {high}); fits anew."
            path = f"/questions/choices/rows/{place}"
            numbers = {"gap": (f"{path}/estimate", "points")} | _limits(path)
            yield (
                {"age_bands": row["age_bands"].split(" v ")},
                say(results, text, {"bands": row["age_bands"]}, **numbers),
            )


def _model(results: Mapping[str, Any]) -> Iterator[Change]:
    """The model family, of a committed multiverse, whose gap lies furthest from the one found."""
    found = results["questions"]["choices"]
    if results["kind"] != "gap" or not found["available"] or "family" not in found["axes"]:
        return
    usual, ours = found["default"], results["questions"]["chance"]["gap"]["estimate"]
    lines = [
        (abs(row["estimate"] - ours), place, row)
        for place, row in enumerate(found["rows"])
        if row["estimate"] is not None and ours is not None
        and row["family"] != results["input"]["model"]
        and all(row[name] == value for name, value in usual.items() if name != "family")
    ]  # fmt: skip
    if not lines:
        return
    _, place, row = max(lines, key=lambda line: line[:2])
    path = f"/questions/choices/rows/{place}"
    text = "The book's specification with {family}, furthest off, finds {gap} points ({low} to {high}); fits anew."
    numbers = {"gap": (f"{path}/estimate", "points")} | _limits(path)
    yield {"model": row["family"]}, say(results, text, {"family": row["family"].replace("_", " ")}, **numbers)


def _limits(path: str) -> dict[str, tuple[str, str]]:
    return {name: (f"{path}/{name}", "points") for name in ("low", "high")}


def _threshold(results: Mapping[str, Any]) -> Iterator[Change]:
    """The threshold nearby at which the gap is least (or, where there was none, largest).

    It was looked for, so what goes with it is the band for the whole curve.
    """
    found = results["questions"]["thresholds"]
    if not found["available"]:
        return
    first, last = found["range"]
    near = [
        (place, line)
        for place, line in enumerate(found["points"])
        if first <= line["threshold"] <= last and line["estimate"] is not None
        and line["threshold"] != results["threshold"]["value"]
    ]  # fmt: skip
    if not near:
        return
    sign = side(results["questions"]["chance"]["gap"])
    place, line = min(near, key=lambda one: sign * one[1]["estimate"] if sign else -abs(one[1]["estimate"]))
    path = f"/questions/thresholds/points/{place}"
    numbers = {"t": (f"{path}/threshold", "risk"), "gap": (f"{path}/estimate", "points")}
    numbers |= {name: (f"{path}/band_{name}", "points") for name in ("low", "high")}
    which = "smallest" if sign else "largest"
    text = f"At {{t}}, the threshold nearby with the {which} gap, it is {{gap}} points "
    text += "(simultaneous band {low} to {high})."
    yield {"threshold": line["threshold"]}, say(results, text, **numbers)


def _pair(results: Mapping[str, Any]) -> Iterator[Change]:
    """The two groups, not small, whose sensitivities lie furthest apart."""
    if results["kind"] == "gap":
        return
    name = results["comparison"]["attribute"]
    lines = [
        (line["sensitivity"]["estimate"], place, line["group"])
        for place, line in enumerate(results["groups"])
        if line["attribute"] == name and not line["small"] and line["sensitivity"]["estimate"] is not None
    ]
    if len(lines) < 2:
        return
    (_, low, b), (_, high, a) = min(lines), max(lines)
    if {a, b} == {results["comparison"]["a"], results["comparison"]["b"]}:
        return
    text = "“{a}” and “{b}” lie furthest apart: sensitivities of {x} and {y} (looked for, so chance has a part in it)."
    numbers = {key: (f"/groups/{place}/sensitivity/estimate", "percent") for key, place in (("x", high), ("y", low))}
    yield {"group_a": a, "group_b": b}, say(results, text, {"a": a, "b": b}, **numbers)


def _attribute(results: Mapping[str, Any]) -> Iterator[Change]:
    """The next attribute audited, as the first question."""
    names = list(dict.fromkeys(line["attribute"] for line in results["groups"]))
    if len(names) < 2:
        return
    for place, line in enumerate(results["attributes"]):
        if line["attribute"] == names[1]:
            path = f"/attributes/{place}/spread"
            text = "By “{name}” sensitivities spread over {estimate} points ({low} to {high})."
            numbers = {name: (f"{path}/{name}", "width") for name in ("estimate", "low", "high")}
            yield {"by": [*names[1:], names[0]]}, say(results, text, {"name": names[1]}, **numbers)


def _prevalence(results: Mapping[str, Any]) -> Iterator[Change]:
    """A prevalence half as high: what the same model would look like where the outcome is rarer."""
    found = results["questions"]["prevalence"]
    if found["available"] and found["target"] and 0 < found["target"] < 1:
        target = float(f"{found['target'] / 2:.2g}")
        text = "What would the gap in PPV be where the outcome is half as common as {target}?"
        yield {"target_prevalence": target}, say(results, text, target=("/questions/prevalence/target", "percent"))


def _treatment(results: Mapping[str, Any]) -> Iterator[Change]:
    """Who gains, or whether that depends on the treatment effect."""
    found = results["benefit"]
    if found is None:
        changed: dict[str, Any] = {"lam": 0.3}
        if results["threshold"]["value"] is None:
            changed["benefit_threshold"] = 0.1
        yield changed, say(results, "Who gains, if treatment takes away a share of the risk?")
    elif (other := _beyond(found)) is not None:
        text = "The gap in net benefit changes sign at a treatment effect λ of {tipping}."
        yield {"lam": other}, say(results, text, tipping=("/benefit/tipping/estimate", "value"))
    else:
        lam = found["lam"]
        half = {name: _half(value) for name, value in lam.items()} if isinstance(lam, Mapping) else _half(lam)
        yield {"lam": half}, say(results, "Who gains, if treatment works half as well?")


def _beyond(found: Mapping[str, Any]) -> float | None:
    """A λ on the other side of that at which the gap changes sign; None where that is not known, or next to nothing."""
    tipping = (found["tipping"] or {}).get("estimate")
    if not tipping:
        return None
    other: float = round(min(1.0, tipping * 1.2) if tipping > found["lam"] else tipping * 0.8, 3)
    return other or None


def _half(lam: float) -> float:
    return float(f"{lam / 2:.3g}")


def _level(results: Mapping[str, Any]) -> Iterator[Change]:
    """Wider intervals, unless they are wide already."""
    if results["options"]["level"] < WIDE:
        yield {"level": WIDE}, say(results, "Which of these findings stand with wider intervals?")


def _seed(results: Mapping[str, Any]) -> Iterator[Change]:
    """Another seed."""
    seed = results["options"]["seed"] + 1
    yield {"seed": seed}, say(results, "Which of these findings stand with other replicates?")


def _usual(results: Mapping[str, Any]) -> Iterator[Change]:
    """The usual intervals where those asked for are wide: the rest of three where there is little else to ask."""
    if results["options"]["level"] >= WIDE:
        yield {"level": USUAL}, say(results, "What do intervals at the usual level, 95%, say?")
