"""Whether the sentences of results are whole, short enough, and say what the numbers are.

Names and notes are a user's words, not the card's: a barred word is let pass where it stands in the name of a column,
a group or the input, or in a note (which quotes such names), and nothing here can tell a name from a sentence that
somebody put in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from auditlib.audits.names import clean, labels
from auditlib.audits.said import SHORT, UNDEFINED, at, short, shown
from auditlib.card.summary import LONGEST, escaped
from auditlib.card.words import barred

MOST_HEADLINE, MOST_SENTENCE = 240, 300
_BRACES = re.compile(r"\{[^{}]*\}")
#: A number that ends or begins inside a longer one is another number.
_BEFORE, _AFTER = r"(?<![\w.,+−-])(?<!\d )", r"(?![\d%]|[.,]\d)"


def names_of(results: Mapping[str, Any]) -> list[str]:
    """Everything in the results that a user named: columns, groups, files, and the notes that quote them."""
    held, found = results["input"], results["questions"]["choices"]
    known = [held.get(name) for name in ("name", "label", "positive", "unit", "score", "site", "outcome", "model")]
    known += [*held["groups"], *(group for groups in held["groups"].values() for group in groups), *held["notes"]]
    if found["available"]:
        known += [level for levels in found["axes"].values() for level in levels if isinstance(level, str)]
    known += [line["command"] for line in results["follow_ups"]]
    pairs = [results["comparison"], *(line["parameters"] for line in results["follow_ups"])]
    for pair in pairs:  # two names that are cut alike are told apart
        known += labels([pair[key] for key in ("a", "b", "group_a", "group_b") if key in pair], SHORT).values()
    return list(dict.fromkeys(name for name in known if name))


def _said(results: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], int]]:
    """Every sentence: where, its text with its numbers, and how long it may be."""
    yield "headline", results["headline"], MOST_HEADLINE
    for place, tile in enumerate(results["tiles"], start=1):
        yield f"tile {place}", tile, MOST_SENTENCE
    for place, caveat in enumerate(results["caveats"], start=1):
        yield f"caveat {place}", caveat, MOST_SENTENCE
    for place, line in enumerate(results["follow_ups"], start=1):
        yield f"follow-up {place}", line["why"], MOST_SENTENCE


def text_faults(results: Mapping[str, Any]) -> Iterator[str]:
    """Sentences that are empty, too long, unfinished, or that judge."""
    names = names_of(results)
    for where, said, most in _said(results):
        text = said["text"]
        if not text.strip() or text.strip()[-1] not in ".?!…)":
            yield f"{where} is no whole sentence: {text[:60]!r}"
        if len(text) > most:
            yield f"{where} has {len(text)} letters, more than {most}"
        yield from _wording(where, text, names)


def _wording(where: str, text: str, names: list[str]) -> Iterator[str]:
    if found := barred(text, names):
        yield f"{where} says {found[0]!r}"
    if found := _BRACES.findall(without(text, names)):
        yield f"{where} has an unfilled {found[0]}"


def without(text: str, names: list[str], bare: bool = True) -> str:
    """A text without the names a user gave, also where they are cut or escaped: in quotes, and ``bare`` ones.

    >>> without("“12” has 12 people.", ["12"], bare=False)
    '“” has 12 people.'
    """
    forms = {form for name in names for form in (name, clean(name), short(name), short(name, 24))}
    forms |= {escaped(form) for form in forms}
    for form in sorted(filter(None, forms), key=len, reverse=True):
        text = text.replace(f"“{form}”", "“”")
        text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", " ", text) if bare and len(form) > 1 else text
    return text


def summary_faults(text: str, results: Mapping[str, Any]) -> Iterator[str]:
    """A summary that is too long, judges, is unfinished, or is of other results."""
    if len(text) > LONGEST:
        yield f"the summary has {len(text):,} letters, more than {LONGEST:,}"
    for said in (results["headline"], *results["tiles"]):
        if escaped(said["text"]) not in text:
            yield f"the summary lacks {said['text'][:60]!r}"
    yield from _wording("the summary", text, names_of(results))


def number_faults(results: Mapping[str, Any]) -> Iterator[str]:
    """Numbers of sentences that are not those of the results; in headline and tiles there are no others.

    Names stand in quotes there: a group may well be called 12. Why a question has no answer is a fixed sentence, which
    is compared with the counts.
    """
    names, fixed = names_of(results), [part.get("why") for part in results["questions"].values()]
    for where, said, _ in _said(results):
        rest = without(said["text"], names, bare=False)
        for number in sorted(said["numbers"], key=lambda number: -len(number["text"])):
            if shown(at(results, number["pointer"]), number["form"]) != number["text"]:
                yield f"{where} says {number['text']!r}, but {number['pointer']} is another number"
            rest, times = re.subn(_BEFORE + re.escape(number["text"]) + _AFTER, " ", rest, count=1)
            if not times and number["text"] != UNDEFINED:
                yield f"{where} does not say its number {number['text']!r}"
        alone = (where == "headline" or where.startswith("tile")) and said["text"] not in fixed
        if alone and (found := re.search(r"\S*\d\S*", rest)):
            yield f"{where} says {found[0]!r}, which is no number of its own"
