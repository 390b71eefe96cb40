"""The tables of a card as rows of text: every number in one of the forms of the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from auditlib.audits.headline import who
from auditlib.audits.names import labels
from auditlib.audits.said import UNDEFINED, shown
from auditlib.card.names import named
from auditlib.card.readings import SHORT, groups, level, limits, tipping
from auditlib.card.summary import flips

Results = Mapping[str, Any]
MOST, HEAD = 8, 14  # groups on the card; letters of an attribute over a column
NONE = "–"
KEY = (
    "Over all groups: DI, lowest share flagged over the highest; SPD, their difference; EOpp, spread of the "
    "sensitivities; EOD, of these or of the false positive rates; PP, of the PPVs; TI, Theil index of flags against "
    "outcomes; Cal, spread of mean risk less share with the outcome. Pass: share of replicates that pass; flips: of "
    "the rarer verdict."
)
PASSING = Markup('<abbr title="Share of the replicates that pass">Pass</abbr>')


@dataclass(frozen=True)
class Table:
    """A table: its caption, heads (the first of the rows' names) and rows; what is below it in words.

    Columns at the places in ``screen`` are left out on paper, for want of room.
    """

    name: str
    caption: str
    heads: Sequence[str | Markup]
    rows: Sequence[Sequence[str | Markup]]
    note: str = ""
    key: str = ""
    screen: tuple[int, ...] = ()


def tables(results: Results) -> list[Table]:
    """All that the results have, in the order of the card."""
    made = [_groups(results), _benefit(results), _verdicts(results), _sites(results)]
    return [table for table in made if table is not None]


def _groups(results: Results) -> Table:
    comparison, names = results["comparison"], groups(results)
    held = {line["group"]: line for line in results["groups"] if line["attribute"] == comparison["attribute"]}
    short = labels(names, SHORT)
    rows = [_group(held[name], short[name]) for name in names[:MOST]]
    notes = [f"{len(names) - MOST} more groups are in results.json."] if len(names) > MOST else []
    if any(held[name]["small"] for name in names[:MOST]):
        notes.append("* small: under 30 people with or without the outcome, or under 5 in a cell.")
    if results["input"]["unit"] != "row":
        notes.append("n counts rows, of which a person may have several.")
    heads = [clean_head(comparison["attribute"]), "n", "With outcome", "Sensitivity, %", "PPV, %", "Flagged, %"]
    return Table("groups", f"Groups, with {level(results)} intervals", heads, rows, " ".join(notes))


def clean_head(name: object) -> str:
    """An attribute's name as the head of a column."""
    return labels([name], HEAD)[str(name)]


def _group(line: Mapping[str, Any], label: str) -> list[str | Markup]:
    head = named(line["group"], label) + (Markup('<abbr title="small group">*</abbr>') if line["small"] else "")
    outcome = shown(line["tp"] + line["fn"], "count")
    sensitivity, ppv = line["sensitivity"], line["ppv"]
    return [
        head,
        shown(line["n"], "count"),
        outcome,
        _rate(sensitivity, "nobody with the outcome"),
        _rate(ppv, "nobody flagged"),
        limits(line["selection_rate"], "width"),
    ]


def _rate(found: Mapping[str, Any], why: str) -> str:
    return f"{UNDEFINED} ({why})" if found["estimate"] is None else limits(found, "width")


def _benefit(results: Results) -> Table | None:
    found = results["benefit"]
    if not found:
        return None
    names, comparison = groups(results), results["comparison"]
    held, short = {line["group"]: line for line in found["groups"]}, labels(names, SHORT)
    people = {line["group"]: line for line in results["groups"] if line["attribute"] == comparison["attribute"]}
    capped = {line["group"]: line["snb"] for line in (results["capacity"] or {}).get("groups") or []}
    several = isinstance(found["lam"], Mapping)
    heads = [clean_head(comparison["attribute"]), "λ" if several else "n", "With this model", "Nobody treated"]
    heads.append("Gained by use")
    heads += ["At capacity"] if capped else []
    rows: list[list[str | Markup]] = []
    for name in names[:MOST]:
        line = held[name]
        beside = shown(line["lam"], "risk") if several else shown(line["snb"]["n"], "count")
        row: list[str | Markup] = [named(name, short[name]), beside]
        row += [limits(each, "ten thousand") for each in (line["snb"], _untreated(people[name]))]
        row.append(limits(line["gain"], "per ten thousand"))
        rows.append(row + ([limits(capped[name], "ten thousand")] if capped else []))
    effect = "one λ a group" if several else f"λ = {shown(found['lam'], 'risk')}"
    weight = f"a false positive weighs the odds of {shown(found['threshold'], 'risk')}"
    note = f"Net benefit in true negatives; {weight}. Gained: over nobody treated. {_gap_in_benefit(results)}"
    caption = f"Who ends better off, and who gains (per 10,000, {effect})"
    # n stands above, and who gains over nobody treated tells how well these are.
    screen = ((3,) if several else (1, 3)) if capped else ()
    return Table("benefit", caption, heads, rows, note, screen=screen)


def _untreated(line: Mapping[str, Any]) -> dict[str, Any]:
    """The share without the outcome, which is what net benefit is with nobody treated."""
    found = line["prevalence"]
    if found["estimate"] is None:
        return {"estimate": None, "low": None, "high": None}
    return {"estimate": 1 - found["estimate"], "low": 1 - found["high"], "high": 1 - found["low"]}


def _gap_in_benefit(results: Results) -> str:
    gap = results["benefit"]["gap"]
    if gap["estimate"] is None:
        return "Gap undefined."
    return f"Gap {limits(gap, 'per ten thousand')}; {tipping(results)}."


def capacity(results: Results) -> str:
    """What a capacity leaves, in a sentence; empty without one."""
    found = results["capacity"]
    if not found:
        return ""
    gap = found["gap"]
    cap, flagged = (shown(found[name], "percent") for name in ("capacity", "flagged"))
    limit = f"With at most {cap} flagged, a threshold of {shown(found['threshold'], 'risk')} flags {flagged}."
    people = " and ".join(shown(gap[name], "count") for name in ("n_a", "n_b"))
    return f"{limit} Gap in sensitivity {limits(gap, unit=' points')}; {people} {who(results)} with the outcome."


def _verdicts(results: Results) -> Table:
    name = results["comparison"]["attribute"]
    lines = [line for line in results["verdicts"] if line["attribute"] == name]
    lost = any(line["undefined"] for line in lines if line["verdict"] != UNDEFINED)
    heads: list[str | Markup] = [
        "Metric",
        "Value",
        "Limit",
        "Verdict",
        PASSING,
        "Flips",
        "Next\xa0audit disagrees",
    ]
    heads += [Markup('<abbr title="Share of the replicates in which it is undefined">Undef.</abbr>')] if lost else []
    rows = [_verdict(line, lost) for line in lines]
    caption = f"Verdicts by {clean_head(name)} and how often they flip"
    notes = (
        ["Next audit: about, for metrics of two groups that are nearly normal."] if len(groups(results)) == 2 else []
    )
    if any("†" in str(row[4]) for row in rows):
        notes.append("† most replicates contradict the verdict.")
    return Table("verdicts", caption, heads, rows, " ".join(notes), KEY)


def _verdict(line: Mapping[str, Any], lost: bool) -> list[str | Markup]:
    mark = "≥" if line["at_least"] else "≤"
    row: list[str | Markup] = [line["metric"], _value(line), f"{mark}\xa0{shown(line['limit'], 'risk')}"]
    row += [
        line["verdict"],
        _passing(line),
        flips(line).replace("at most", "at\xa0most"),
        _agreed(line["replication_flip"], "percent"),
    ]
    return row + ([shown(line["undefined"], "share")] if lost else [])


def _passing(line: Mapping[str, Any]) -> str:
    """The share of replicates that pass; marked where most contradict the verdict."""
    text = _agreed(line["p_pass"], "percent")
    return f"{text} †" if line["verdict"] != UNDEFINED and line["verdict"] != line["dominant"] else text


def _value(line: Mapping[str, Any]) -> str:
    """The value; that it lies beyond its limit is said where three decimals do not show it."""
    value, limit = line["value"], line["limit"]
    if value is None:
        return NONE  # the verdict beside it says so
    text = shown(value, "value")
    if value == limit or text != shown(limit, "value"):
        return text
    return f"{'over' if value > limit else 'under'} {text}"


def attributes(results: Results) -> list[str]:
    """A line for each further attribute: its spread, and which verdicts fail."""
    first, names = results["comparison"]["attribute"], [line["attribute"] for line in results["attributes"]]
    short, said = labels(names, SHORT), []
    for line in results["attributes"]:
        if line["attribute"] == first:
            continue
        lines = [one for one in results["verdicts"] if one["attribute"] == line["attribute"]]
        failed = ", ".join(one["metric"] for one in lines if one["verdict"] == "fail")
        unknown = ", ".join(one["metric"] for one in lines if one["verdict"] == UNDEFINED)
        found = line["spread"]
        spread = "an undefined range" if found["estimate"] is None else f"{limits(found, 'width')} points"
        text = f"“{short[line['attribute']]}”: {found['groups']} groups, sensitivities spread over {spread}; "
        text += f"fails {failed}" if failed else "no verdict fails"
        said.append(text + (f"; undefined: {unknown}." if unknown else "."))
    return said


def _sites(results: Results) -> Table | None:
    found = results["sites"]
    if not found:
        return None
    heads = ["Metric", *(line["metric"] for line in found["metrics"])]
    kinds = {"passed": "Pass", "raw": "Agree", "ac1": "AC1", "kappa": "κ"}
    rows: list[list[str | Markup]] = []
    for key, word in kinds.items():
        rows.append([word, *(_agreed(line[key], "share" if key == "passed" else "value") for line in found["metrics"])])
    note = "Pass: share of the sites’ verdicts; agree: of pairs of sites, and beyond chance (AC1, κ)."
    if all(line["ac1"] is None for line in found["metrics"]):
        note = "Pass: share of the sites’ verdicts; agree: of pairs of sites. AC1 and κ need a second attribute."
    lost = [line for line in found["metrics"] if line["undefined"]]
    if lost:
        told = ", ".join(f"{line['metric']} {shown(line['undefined'], 'share')}" for line in lost)
        note += f" Undefined at sites, and left out: {told}."
    return Table("sites", f"Do {shown(found['sites'], 'count')} sites agree?", heads, rows, note)


def _agreed(value: float | None, form: str) -> str:
    return NONE if value is None else shown(value, form)


def published(results: Results) -> str:
    """The published gap beside this one; empty where there is none."""
    found, ours = results["published"], results["questions"]["chance"]["gap"]
    if not found:
        return ""
    text = f"{limits(found, unit=' points')}, percentile, in {found['source']}; here {limits(ours, unit=' points')}"
    text += ", Newcombe"
    if not found["same_question"]:
        first, second = found["groups"]
        return (
            f"{text}. There “{first}” minus “{second}”, with another model, threshold or rows: no difference is taken."
        )
    apart = UNDEFINED if found["difference"] is None else shown(found["difference"], "points")
    return f"{text}; difference {apart}, of much the same people. Chapter 15 says why they differ."
