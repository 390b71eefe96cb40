"""The counts that go with results wherever these go: a table an attribute, cut to the thresholds that they show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from auditlib.audits.tables import FLAGGED
from auditlib.counts import Counts
from auditlib.errors import AuditInputError

COUNTS = "counts.csv"
ROUNDED = 1e-11  # thresholds lie between 0 and 1, and results have twelve digits


def shared_counts(results: Mapping[str, Any], counts: Counts) -> dict[str, Counts]:
    """The tables by the names of their files, each of one attribute (by site, where given)."""
    return {file: shared_table(results, counts, name) for file, name in counts_named(results).items()}


def shared_table(results: Mapping[str, Any], counts: Counts, name: str) -> Counts:
    """The table of one attribute."""
    site, found = results["input"]["site"], results["threshold"]["value"]
    edges = sorted({edge_of(counts, value) for value in thresholds_of(results)})
    known = {} if found is None else {"threshold": edge_of(counts, found)}
    return counts.by(name, *([site] if site is not None else [])).cut(edges).with_provenance(**known)


def thresholds_of(results: Mapping[str, Any]) -> list[float]:
    """The thresholds of the results, the one in use first: all that ``counts.csv`` is cut to."""
    curve, found = results["questions"]["thresholds"], results["threshold"]["value"]
    wanted = [FLAGGED if found is None else found]
    wanted += [line["threshold"] for line in curve["points"]] if curve["available"] else []
    return wanted + ([] if results["capacity"] is None else [results["capacity"]["threshold"]])


def counts_named(results: Mapping[str, Any]) -> dict[str, str]:
    """The count tables of results, and the attribute that each is of.

    >>> counts_named({"input": {"groups": {"sex": ["F", "M"], "ward": ["a", "b"]}}})
    {'counts.csv': 'sex', 'counts-2.csv': 'ward'}
    """
    names = results["input"]["groups"]
    return {COUNTS if place == 1 else f"counts-{place}.csv": name for place, name in enumerate(names, start=1)}


def edge_of(counts: Counts, value: float) -> float:
    """The edge that a threshold of the results, which are rounded to twelve digits, stands for.

    Raises
    ------
    AuditInputError
        When there is none.
    """
    edges = counts.edges.lower
    near = float(edges[np.abs(edges - value).argmin()])
    if abs(near - value) > ROUNDED:
        raise AuditInputError(f"the counts have no edge at the threshold {value!r}; the nearest is {near!r}.")
    return near
