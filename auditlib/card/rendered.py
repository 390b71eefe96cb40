"""What results give once more: their sentences, figures, summary and card, against the files, to the byte.

Another version may word, draw or decide otherwise, so only results of this very version are made again. A date, the
name and the checksum of the input are taken as they stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import matplotlib as mpl

import auditlib
from auditlib.audits.caveats import caveats
from auditlib.audits.follow_ups import follow_ups
from auditlib.audits.headline import headline, tiles
from auditlib.audits.shared import ROUNDED
from auditlib.card.compare import differences, worded
from auditlib.card.figures import Picture, figures
from auditlib.card.folder import CARD, FIGURES, SUMMARY
from auditlib.card.page import page
from auditlib.card.summary import summary

AROUND = 30  # letters shown before and after the first that differs


def other_version(results: Mapping[str, Any]) -> str | None:
    """What a check says of results that another version wrote; None for those of this one.

    >>> other_version({"auditlib": "0.0.1"}) is None, other_version({"auditlib": auditlib.__version__})
    (False, None)
    """
    if results["auditlib"] == auditlib.__version__:
        return None
    return (
        f"written by auditlib {results['auditlib'][:20]}, and this is {auditlib.__version__}: card, figures, summary "
        "and sentences were not made again; check with the version that wrote them"
    )


def sentence_faults(results: Mapping[str, Any]) -> Iterator[str]:
    """Headline, tiles and caveats that are not those of the numbers."""
    if other_version(results) is not None:
        return
    rule, said = headline(results)
    found = {"headline": {"rule": rule, **said.plain()}, "tiles": tiles(results), "caveats": caveats(results)}
    for path, ours, theirs in differences(found, results):
        yield f"these results give {worded(ours)} for {path}, not {worded(theirs)}"


def changed_faults(results: Mapping[str, Any]) -> Iterator[str]:
    """Follow-ups that are not those of the numbers."""
    if other_version(results) is not None:
        return
    found = [{"parameters": line["parameters"], "why": line["why"]} for line in follow_ups(results)]
    for ours, theirs in zip(found, results["follow_ups"], strict=False):
        threshold = theirs["parameters"].get("threshold")
        near = isinstance(threshold, int | float) and "threshold" in ours["parameters"]
        if near and abs(threshold - ours["parameters"]["threshold"]) <= ROUNDED:  # there it is an edge to the bit
            ours["parameters"]["threshold"] = threshold
        if [*ours["parameters"]] != [*theirs["parameters"]]:
            ours["parameters"] = [*ours["parameters"]]  # told by their names
    for path, ours, theirs in differences(found, results["follow_ups"], "/follow_ups"):
        yield f"these results give {worded(ours)} for {path}, not {worded(theirs)}"


def summary_again(folder: Path, results: Mapping[str, Any]) -> Iterator[str]:
    """A summary that is not that of the results."""
    if other_version(results) is None:
        yield from _differing(SUMMARY, (folder / SUMMARY).read_bytes(), summary(results))


def card_again(folder: Path, results: Mapping[str, Any]) -> Iterator[str]:
    """Figures and a card that are not those of the results.

    The card is made with the figures as they are in their files, so that a figure that another matplotlib draws
    otherwise is one fault and not two.
    """
    if other_version(results) is not None:
        return
    pictures, held = figures(results), {}
    for name, picture in pictures.items():
        path = folder / FIGURES / f"{name}.svg"
        if not path.is_file():  # which the files' check says
            held[name] = picture
            continue
        found = path.read_bytes()
        held[name] = _with(picture, found)
        for fault in _differing(f"{FIGURES}/{name}.svg", found, picture.svg):
            yield f"{fault} (drawn with matplotlib {mpl.__version__})"
    yield from _differing(CARD, (folder / CARD).read_bytes(), page(results, held))


def _with(picture: Picture, svg: bytes) -> Picture:
    return replace(picture, svg=svg.decode("utf-8", "replace"))


def _differing(name: str, found: bytes, made: str) -> Iterator[str]:
    """The first line of a file that is not as it would be made."""
    if found == made.encode():
        return
    pairs = zip_longest(found.decode("utf-8", "replace").split("\n"), made.split("\n"))
    for number, (there, ours) in enumerate(pairs, start=1):
        if there != ours:
            at = _first(there or "", ours or "")
            yield f"{name}, line {number}: {_excerpt(there, at)}, where the results give {_excerpt(ours, at)}"
            return
    yield f"{name} is not UTF-8 as the results give it"


def _first(one: str, other: str) -> int:
    """The place of the first letter that differs."""
    same = (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(same, min(len(one), len(other)))


def _excerpt(line: str | None, at: int) -> str:
    if line is None:
        return "nothing"
    start, end = max(0, at - AROUND), at + AROUND
    return repr("…" * (start > 0) + line[start:end] + "…" * (end < len(line)))
