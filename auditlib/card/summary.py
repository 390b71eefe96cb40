"""``summary.md``: the findings as text that can be pasted anywhere, at most 6,000 letters of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from auditlib.audits.names import clean
from auditlib.audits.said import short, shown
from auditlib.card.facts import small_cells

LONGEST = 6_000
#: How many groups, letters of a command, and caveats, from the most to the least that is tried.
SIZES = ((12, 700, 12), (8, 500, 10), (4, 300, 8), (2, 160, 6), (2, 0, 4), (0, 0, 2))
_MARKS = re.compile(r"([\\`*_\[\]|~$#])")
NONE = "–"


def summary(results: Mapping[str, Any]) -> str:
    """The summary of an audit as Markdown.

    Parameters
    ----------
    results : as in ``results.json``

    Examples
    --------
    >>> import auditlib as al
    >>> text = summary(al.audit("Women:80,40,800,30; Men:120,90,700,25").results)
    >>> print(text.splitlines()[0])
    # The gap in sensitivity of −10.0 points between “Women” and “Men” cannot be told from zero; the group with fewer has 110 people with the outcome.
    """  # noqa: E501
    for groups, command, caveats in SIZES:
        text = _summary(results, groups, command, caveats)
        if len(text) <= LONGEST:
            break
    return text


def _summary(results: Mapping[str, Any], groups: int, command: int, caveats: int) -> str:
    parts = [f"# {escaped(results['headline']['text'])}", _audited(results), _tiles(results)]
    parts += [_groups(results, groups), _verdicts(results), _caveats(results, caveats)]
    parts += [_follow_ups(results, command), "All numbers are in results.json; the card is result_card.html."]
    return "\n\n".join(parts) + "\n"


def escaped(text: object) -> str:
    """Text that Markdown shows as it is: no table, link, code, formula or HTML comes of it.

    >>> print(escaped("a|b `c` <i> [d](e) www.f.org"))
    a\\|b \\`c\\` &lt;i&gt; \\[d\\](e) www\\.f.org
    """
    held = " ".join(clean(text).split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    held = _MARKS.sub(r"\\\1", held)
    return re.sub(r"(?i)\bwww\.", lambda found: found[0][:-1] + "\\.", held).replace("://", ":\\//")


def name(text: object) -> str:
    """A name as the summary has it: one short line."""
    return escaped(short(text)) or "(blank)"


def _audited(results: Mapping[str, Any]) -> str:
    held, pair = results["input"], results["comparison"]
    what = f"{name(held['name'])}: " if held["name"] else ""
    at = results["threshold"]
    rule = escaped(at["rule"])
    threshold = "" if at["value"] is None else f"; flagged from a risk of {shown(at['value'], 'risk')} ({rule})"
    flagged = "" if at["flagged"] is None else f"; {shown(at['flagged'], 'percent')} flagged"
    people = shown(held["people"], "count")
    outcome = "" if results["kind"] == "confusion" else f", outcome: {name(held['label'])}"
    compared = f"{name(pair['a'])} minus {name(pair['b'])}, by {name(pair['attribute'])} ({escaped(pair['rule'])})"
    return f"{what}{people} people{outcome}{threshold}{flagged}. Compared: {compared}. Audited {results['made']}."


def _tiles(results: Mapping[str, Any]) -> str:
    return "\n".join(f"- **{escaped(tile['question'])}** {escaped(tile['text'])}" for tile in results["tiles"])


def _rate(found: Mapping[str, Any]) -> str:
    limits = f" ({shown(found['low'], 'percent')} to {shown(found['high'], 'percent')})"
    return shown(found["estimate"], "percent") + (limits if found["low"] is not None else "")


def _groups(results: Mapping[str, Any], most: int) -> str:
    pair, lines = results["comparison"], []
    held = [line for line in results["groups"] if line["attribute"] == pair["attribute"]]
    held.sort(key=lambda line: line["group"] not in (pair["a"], pair["b"]))  # those compared first
    for line in held[:most]:
        cells = [name(line["group"]) + (" (small)" if line["small"] else ""), shown(line["n"], "count")]
        cells += [shown(line["tp"] + line["fn"], "count"), _rate(line["sensitivity"]), _rate(line["ppv"])]
        lines.append([*cells, shown(line["selection_rate"]["estimate"], "percent")])
    head = [name(pair["attribute"]), "people", "with the outcome", "sensitivity", "PPV", "flagged"]
    rest = len(results["groups"]) - len(held[:most])
    more = f"\n\n{rest:,} more group{'s are' if rest > 1 else ' is'} in results.json." if rest else ""
    return _table(head, lines) + more


def _verdicts(results: Mapping[str, Any]) -> str:
    first, lines, others = results["comparison"]["attribute"], [], []
    for line in results["verdicts"]:
        if line["attribute"] != first:
            continue
        rule = ("at least " if line["at_least"] else "at most ") + f"{line['limit']:g}"
        cells = [line["metric"], shown(line["value"], "value"), rule, line["verdict"]]
        lines.append(
            [*cells, _or_none(line["p_pass"], "percent"), flips(line), _or_none(line["replication_flip"], "percent")]
        )
    for other in dict.fromkeys(line["attribute"] for line in results["verdicts"] if line["attribute"] != first):
        failed = [
            line["metric"] for line in results["verdicts"] if line["attribute"] == other and line["verdict"] == "fail"
        ]
        others.append(f"By {name(other)}: {', '.join(failed) + ' fail' if failed else 'no verdict fails'}.")
    head = ["verdict on", "value", "limit", "verdict", "replicates passing", "flip rate", "next audit disagrees"]
    more = others[:4] + [f"{len(others) - 4} more attributes are in results.json."] * (len(others) > 4)
    return _table(head, lines) + ("\n\n" + " ".join(more) if more else "")


def flips(line: Mapping[str, Any]) -> str:
    """A verdict's flip rate; none seen is none up to a bound.

    >>> flips({"vfr": 0.0, "bound": 0.003}), flips({"vfr": 0.12, "bound": None}), flips({"vfr": None, "bound": None})
    ('0 (at most 0.3%)', '12.0%', '–')
    """
    if line["vfr"] == 0 and line["bound"] is not None:
        return f"0 (at most {shown(line['bound'], 'percent')})"
    return _or_none(line["vfr"], "percent")


def _or_none(value: Any, form: str) -> str:
    return NONE if value is None else shown(value, form)


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rule = "|".join(["---", *["---:"] * (len(head) - 1)])
    return "\n".join([f"| {' | '.join(head)} |", f"|{rule}|", *(f"| {' | '.join(line)} |" for line in lines)])


def _caveats(results: Mapping[str, Any], most: int) -> str:
    held = [escaped(line["text"]) for line in results["caveats"]]
    if results["input"]["small_cells"]:
        held.insert(0, small_cells(results))
    more = [f"{len(held) - most} more caveats are in results.json."] if len(held) > most else []
    return "Before leaning on it:\n\n" + "\n".join(f"- {line}" for line in [*held[:most], *more])


def _follow_ups(results: Mapping[str, Any], longest: int) -> str:
    parts = ["To ask next:"]
    for number, line in enumerate(results["follow_ups"], start=1):
        text = line["command"]
        mark = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
        block = f"\n{mark}sh\n{text}\n{mark}"
        if len(text) > longest or text != clean(text):
            block = "The command is in results.json."
        parts.append(f"{number}. {escaped(line['why']['text'])}\n{_indented(block)}")
    return "\n\n".join(parts)


def _indented(text: str) -> str:
    """As part of a numbered item; a line break inside a quoted name stays where it is."""
    return "\n".join(f"   {line}" if line else "" for line in text.split("\n"))
