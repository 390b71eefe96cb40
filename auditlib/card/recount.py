"""Whether ``counts.csv`` gives the gap and the groups of the results again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from auditlib.audits.source import Source, source_of
from auditlib.audits.tables import FLAGGED
from auditlib.card.folder import COUNTS, edge_of
from auditlib.counts import Counts
from auditlib.intervals import gap_interval

CELLS = ("tp", "fp", "fn", "tn")
SAME = 1e-9  # results have twelve digits


def recounted(folder: Path, results: Mapping[str, Any]) -> Iterator[str]:
    """What differs, in words."""
    for place, name in enumerate(results["input"]["groups"], start=1):
        file = COUNTS if place == 1 else f"counts-{place}.csv"
        counts = Counts.read_csv(folder / file)
        found = results["threshold"]["value"]
        threshold = edge_of(counts, FLAGGED if found is None else found)
        source = source_of("counts", counts, [name], None, threshold, "given", {})
        yield from _groups(source, name, file, results)
        if name == results["comparison"]["attribute"]:
            yield from _gap(source, file, results)


def _groups(source: Source, attribute: str, file: str, results: Mapping[str, Any]) -> Iterator[str]:
    dim = source.attributes[0]
    table = source.first.at(source.threshold)
    for line in results["groups"]:
        if line["attribute"] != attribute:
            continue
        found = {cell: int(table[cell].sel({dim: line["group"]})) for cell in CELLS}
        if found != {cell: line[cell] for cell in CELLS}:
            yield f"{file} has {found} for {line['group'][:40]!r}, the results have other counts"


def _gap(source: Source, file: str, results: Mapping[str, Any]) -> Iterator[str]:
    pair, held = results["comparison"], results["questions"]["chance"]["gap"]
    dim, level = source.attributes[0], results["options"]["level"]
    again = gap_interval(source.first.at(source.threshold), pair["a"], pair["b"], dim=dim, level=level)
    for name in ("estimate", "low", "high", "n_a", "n_b"):
        if not _same(float(again[name]), held[name]):
            yield f"{file} gives {float(again[name]):.12g} for the gap's {name}, the results {held[name]}"


def _same(found: float, held: float | None) -> bool:
    """Whether two numbers are the same to the digits of the results, undefined being NaN and None.

    >>> _same(0.1, 0.1 + 1e-13), _same(float("nan"), None), _same(0.0, None)
    (True, True, False)
    """
    if held is None or math.isnan(found):
        return held is None and math.isnan(found)
    return math.isclose(found, held, rel_tol=SAME, abs_tol=SAME)
