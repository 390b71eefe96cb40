"""What a reader of the card must know before leaning on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from auditlib.audits.choices import COUNTED
from auditlib.audits.questions import FLAGGED
from auditlib.audits.said import Said, say, short, shown
from auditlib.verdicts.judged import limits_of

MOST_UNDEFINED = 0.05
#: On paper, too, whatever else has no room there.
ZERO = "An interval that contains zero does not show that the groups are alike."
SURVEYS = ("cdc_diabetes", "brfss2022_heart")


def caveats(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Sentences in the order in which they matter, numbers with their place in the results."""
    parts = (_most, _limits, _small, _undefined, _few, _fit, _threshold, _given, _clusters, _survey, _capacity, _weight)
    found = [sentence.plain() for part in (*parts, _committed, _sites, _zero, _looks) if (sentence := part(results))]
    found += [{"text": note, "numbers": []} for note in results["input"]["notes"]]
    return found + [{"text": text, "numbers": []} for text in _always(results)]


def _most(results: Mapping[str, Any]) -> Said | None:
    """Most people have the outcome: seldom so, and what comes of TN and FN in each other's place."""
    if results["kind"] != "confusion" or results["input"]["prevalence"] <= 0.5:
        return None
    text = (
        "More than half of the people, {share}, have the outcome. The order of the numbers is TP, FP, TN, FN; swapping "
        "TN and FN would give this."
    )
    return say(results, text, share=("/input/prevalence", "percent"))


def _limits(results: Mapping[str, Any]) -> Said | None:
    """Verdicts against other limits than the usual ones, with both."""
    usual, changed = limits_of(None), results["options"]["limits"]
    told, numbers = [], {}
    for metric, limit in usual.items():
        now = changed.get(metric, limit.value)
        if now == limit.value:
            continue
        alike = shown(now, "risk") == shown(limit.value, "risk")
        side = "" if not alike else "just over " if now > limit.value else "just under "
        told.append(f"{metric} {side}{{{metric}}} instead of {shown(limit.value, 'risk')}")
        numbers[metric] = (f"/options/limits/{metric}", "risk")
    return say(results, f"Limits were changed: {', '.join(told)}.", **numbers) if told else None


def _small(results: Mapping[str, Any]) -> Said | None:
    named = [short(line["group"], 24) for line in results["groups"] if line["small"]]
    if not named:
        return None
    names = ", ".join(f"“{name}”" for name in named[:4]) + (f" and {len(named) - 4} more" if len(named) > 4 else "")
    verb = "is" if len(named) == 1 else "are"
    reason = "under 30 people with or without the outcome, or under 5 in a cell"
    return Said(f"{names} {verb} small ({reason}): intervals may fail there.", ())


def _undefined(results: Mapping[str, Any]) -> Said | None:
    lost = [
        line for line in results["verdicts"] if line["undefined"] is not None and line["undefined"] > MOST_UNDEFINED
    ]
    lost = [line for line in lost if line["metric"] != "Cal"]
    if not lost:
        return None
    names = ", ".join(sorted({line["metric"] for line in lost}))
    return say(results, f"In more than 5% of the replicates {names} could not be computed; the shares leave those out.")


def _few(results: Mapping[str, Any]) -> Said | None:
    """A verdict on PPVs of which one rests on so few flagged that its gap has no interval."""
    judged = [line["attribute"] for line in results["verdicts"] if line["metric"] == "PP" and line["value"] is not None]
    few = {line["attribute"] for line in results["groups"] if 0 < line["tp"] + line["fp"] < FLAGGED}
    named = [short(name, 24) for name in judged if name in few]
    if not named:
        return None
    by = ""
    if len(judged) > 1:
        more = f" and {len(named) - 4} more" if len(named) > 4 else ""
        by = " by " + ", ".join(f"“{name}”" for name in named[:4]) + more
    return Said(f"PP{by} rests on under ten flagged people in a group.", ())


def _threshold(results: Mapping[str, Any]) -> Said | None:
    threshold = results["threshold"]
    if threshold["value"] is None or threshold["rule"] in ("given", "training prevalence"):
        return None
    text = "The threshold, {t}, was taken from the people audited ({rule}); name one to keep it fixed."
    return say(results, text, {"rule": threshold["rule"]}, t=("/threshold/value", "risk"))


def _given(results: Mapping[str, Any]) -> Said | None:
    """A threshold that was named may have been found by looking."""
    if results["kind"] in ("gap", "confusion") or results["threshold"]["rule"] != "given":
        return None
    text = "If the threshold was looked for among others, its interval does not allow for that"
    band = results["questions"]["thresholds"]["available"]
    return say(results, f"{text}: use the band." if band else f"{text}.")


def _clusters(results: Mapping[str, Any]) -> Said | None:
    if results["input"]["unit"] == "row":
        if results["kind"] == "confusion":
            return say(
                results,
                "Every person is taken to be counted once: with several stays a person, intervals are too narrow.",
            )
        if results["kind"] == "gap":
            return None  # one row a respondent
        return say(results, "Rows are taken as independent: where one person has several, name the column (cluster).")
    text = (
        "People have several rows ({rows} rows of {units} people): they are resampled whole, and intervals count what "
        "they are worth."
    )
    return say(results, text, rows=("/input/rows", "count"), units=("/input/units", "count"))


def _committed(results: Mapping[str, Any]) -> Said | None:
    found = results["questions"]["choices"]
    if not found["available"] or found["source"] == COUNTED:
        return None
    text = (
        "The specifications are the book's: each fitted on at most 20,000 training rows, over three pairs of age bands."
    )
    if results["input"].get("fitted") == "anew":
        text += " They are not of the model fitted here, nor is a headline that counts them."
    return say(results, text)


def _fit(results: Mapping[str, Any]) -> Said | None:
    if results["input"].get("fitted") != "anew":
        return None
    if results["input"]["max_rows"] is None:
        return say(results, "The model was fitted anew, on all rows of the two groups.")
    text = "The model was fitted anew, on at most {n} rows of the two groups: the numbers are not those of the book."
    return say(results, text, n=("/input/max_rows", "count"))


def _survey(results: Mapping[str, Any]) -> Said | None:
    if results["kind"] != "gap" or results["input"]["name"] not in SURVEYS:
        return None
    return say(results, "The survey's rows are unweighted: they describe those who answered, not the population.")


def _capacity(results: Mapping[str, Any]) -> Said | None:
    if results["capacity"] is None:
        return None
    text = "The threshold that meets the capacity, {t}, was taken from the people audited."
    return say(results, text, t=("/capacity/threshold", "risk"))


def _weight(results: Mapping[str, Any]) -> Said | None:
    if results["benefit"] is None or results["options"]["benefit_threshold"] is not None:
        return None
    text = "No benefit threshold was named: a false positive is weighed by the odds at the threshold of the flag, {t}."
    return say(results, text, t=("/benefit/threshold", "risk"))


def _sites(results: Mapping[str, Any]) -> Said | None:
    if results["sites"] is None:
        return None
    return say(results, "Agreement of sites rests on few verdicts, and κ is low for identical sites, too.")


def _zero(results: Mapping[str, Any]) -> Said:
    return say(results, ZERO)


def _looks(results: Mapping[str, Any]) -> Said:
    text = "A card asks many questions: by chance alone, {share} of its intervals exclude zero."
    if len({line["attribute"] for line in results["groups"]}) > 1:
        text = "Several attributes and questions were asked: by chance alone, {share} of intervals exclude zero."
    return say(results, text, share=("/options/error", "share"))


def _always(results: Mapping[str, Any]) -> list[str]:
    found = ["All intervals hold the model fixed: another training sample would move them further."]
    if results["questions"]["choices"]["available"] and results["questions"]["choices"]["source"] == COUNTED:
        found.append("Only choices that counts can express were varied; other models, outcomes or exclusions were not.")
    return found
