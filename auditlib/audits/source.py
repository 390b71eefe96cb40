"""What is audited: counts, which of their dims are attributes, and where they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from auditlib.audits.options import PREVALENCE, Options, share_of
from auditlib.audits.said import short
from auditlib.counts import Counts
from auditlib.counts.engine import open_frame, tallied
from auditlib.counts.labels import text_key
from auditlib.counts.scored import column, computed
from auditlib.errors import AuditInputError
from auditlib.metrics import selection_rate
from auditlib.reading.names import Parts, check_once, lacking, parts_named
from auditlib.reading.values import LOOKED, is_missing_word, like_outcomes, like_risks, swapped
from auditlib.reading.words import counted as listed
from auditlib.reading.words import rows_of, shown
from auditlib.thresholds import threshold_at

MOST_GROUPS, MOST_SITES = 60, 2_000
MOST = 5  # values or groups named in a note
MOST_NOTE = 300  # letters of a note


@dataclass(frozen=True)
class Source:
    """What is audited, whichever way it came in.

    Attributes
    ----------
    kind : "rows", "counts", "confusion", "estimator" or "gap"
    counts : over internal dims (``by0``, ``by1``, …, ``site``), so that no column's name can clash with a result's
    names : what each dim is called by the user
    attributes : the dims audited, the first being the one the questions are asked of
    site : the dim of sites, or None
    threshold, rule : from which score on people are flagged, and how that was chosen; ``None`` for matrices
    original : the counts with the user's names, for ``counts.csv``
    facts : what is known of the input (name, checksum, model, …)
    notes : sentences that belong on the card
    """

    kind: str
    counts: Counts
    names: Mapping[str, str]
    attributes: tuple[str, ...]
    site: str | None
    threshold: float
    rule: str
    original: Counts
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def scored(self) -> bool:
        """Whether other thresholds than the one in use can be tried."""
        return self.kind != "confusion" and len(self.counts.edges) > 2

    @cached_property
    def first(self) -> Counts:
        """Counts over the attribute that the questions are asked of."""
        return self.counts.by(self.attributes[0])


def source_of(
    kind: str,
    counts: Counts,
    by: Sequence[str],
    site: str | None,
    threshold: float,
    rule: str,
    facts: Mapping[str, Any],
    notes: Sequence[str] = (),
) -> Source:
    """A checked Source: attributes with at least two groups and not too many, one model, not resampled."""
    if counts.resampled:
        raise AuditInputError("replicates cannot be audited; pass the counts before .resample(…).")
    check_one_model(counts)
    if not by:
        raise AuditInputError("say which groups are compared: by=….")
    counts = counts.by(*by, *([site] if site is not None else []))
    check_groups(counts, by, site)
    notes = list(dict.fromkeys(short(note, MOST_NOTE) for note in [*notes, *group_notes(counts)]))
    inner = {name: f"by{place}" for place, name in enumerate(by)} | ({site: "site"} if site is not None else {})
    renamed = replace(counts, groups={inner[name]: levels for name, levels in counts.groups.items()})
    names = {dim: name for name, dim in inner.items()}
    attributes = tuple(inner[name] for name in by)
    dim = None if site is None else "site"
    return Source(kind, renamed, names, attributes, dim, threshold, rule, counts, dict(facts), tuple(notes))


def check_one_model(counts: Counts) -> None:
    """An error for counts of several models."""
    if counts.models:
        raise AuditInputError(
            f"these counts hold several models ({', '.join(counts.models)}); count one score column for an audit."
        )


def group_notes(counts: Counts) -> list[str]:
    """Sentences on groups that may mean missing, and on groups that differ only in what is easily overlooked."""
    notes = []
    for name, levels in counts.groups.items():
        people = counts.by(name).at(0.0)
        for level in [each for each in levels if is_missing_word(each)][:MOST]:
            one = people.sel({name: level})
            n = int(one["tp"]) + int(one["fp"])
            notes.append(f"The value {level!r} in {name!r} was taken as a group of its own ({rows_of(n)}).")
        alike: dict[str, list[str]] = {}
        for level in levels:
            alike.setdefault(text_key(level), []).append(level)
        same = [" and ".join(map(shown, found)) for found in alike.values() if len(found) > 1]
        if same:
            more = f", and {len(same) - MOST:,} more such" if len(same) > MOST else ""
            notes.append(
                f"In {name!r}, {'; '.join(same[:MOST])}{more} differ only in spaces, capitals or the coding of "
                "letters; they are groups of their own."
            )
    return notes


def other_note(label: str, positive: str, others: Mapping[str, int]) -> list[str]:
    """A sentence on the values that were taken as "no outcome" when there are several.

    >>> other_note("died", "yes", {"no": 1200, "unknown": 100})
    ["Every value of 'died' but 'yes' was taken as no outcome: 'no' (1,200), 'unknown' (100)."]
    >>> other_note("died", "yes", {"no": 1200})
    []
    """
    if len(others) < 2:
        return []
    return [f"Every value of {label!r} but {positive!r} was taken as no outcome: {listed(others, MOST)}."]


def check_groups(counts: Counts, by: Sequence[str], site: str | None) -> None:
    """An error for an attribute with one group, or with so many that it is no attribute."""
    for name in by:
        levels = counts.groups[name]
        if len(levels) < 2:
            only = f"only {levels[0][:60]!r}" if levels else "nobody"
            raise AuditInputError(f"by {name!r}: a gap needs two groups, but there is {only}.")
        if len(levels) > MOST_GROUPS:
            raise AuditInputError(
                f"by {name!r}: {len(levels):,} different values are no groups that can be compared (at most "
                f"{MOST_GROUPS}); merge them, such as ages into bands."
            )
    if site is not None and not 2 <= len(counts.groups[site]) <= MOST_SITES:
        raise AuditInputError(
            f"site {site!r}: {len(counts.groups[site]):,} different values; "
            f"between 2 and {MOST_SITES:,} sites can be compared."
        )


def check_columns(frame: Any, parts: Parts) -> None:
    """An error for a column that two arguments name, or that is not there, by the argument that named it."""
    check_once(parts)
    if said := lacking(parts, computed(open_frame(frame).collect_schema).names()):
        raise AuditInputError(f"{said}.")


def check_dims(counts: Counts, parts: Parts) -> None:
    """The same for groups of counts."""
    check_once(parts)
    if said := lacking(parts, counts.dims, "is not a group here", "are not groups here", "there are"):
        raise AuditInputError(f"{said}.")


def look_swapped(frame: Any, label: str, score: str) -> bool:
    """Whether a column named as label holds risks, and the one named as score outcomes; False if it cannot be told."""
    with suppress(AuditInputError):
        data = open_frame(frame)
        for name, like in ((score, like_outcomes), (label, like_risks)):
            asked = data.select(column(data, name).alias("value")).unique().head(LOOKED)
            if not like(computed(asked.collect)["value"].to_list()):
                return False
        return True
    return False


def counted(frame: Any, options: Options, *, label: str, score: str, by: Sequence[str], site: str | None,
            cluster: str | None, positive: Any, missing: str) -> tuple[Counts, float, str, list[str]]:  # fmt: skip
    """Counts of the rows, with the threshold asked for among their edges; that threshold, its rule, and notes."""
    check_columns(frame, parts_named(label, [score], by, site, cluster))
    groups = [*by, *([site] if site is not None else [])]
    asked: dict[str, Any] = {"label": label, "score": score, "by": groups, "cluster": cluster, "positive": positive}
    asked |= {"bins": options.bins, "missing": missing}
    rule = options.threshold
    given = [rule] if isinstance(rule, int | float) else []
    try:
        counts, others = tallied(frame, thresholds=given, **asked)
    except AuditInputError:
        if look_swapped(frame, label, score):
            raise swapped(label, score) from None
        raise
    check_one_model(counts)
    notes = other_note(counts.label, counts.positive, others or {})
    threshold, words = chosen(counts, rule)
    if threshold not in counts.edges.lower and not given:
        counts = tallied(frame, thresholds=[threshold], look=False, **asked)[0]
    return counts, threshold, words, notes


def chosen(counts: Counts, rule: str | float | None) -> tuple[float, str]:
    """The threshold of a rule, and the rule in words.

    >>> from auditlib import studies
    >>> chosen(studies.comparison_counts("gap-cdc_diabetes-sex"), "top20")
    (0.26, 'at most 20% of people flagged')
    """
    if isinstance(rule, int | float):
        return counts.edges.find(rule)[0], "given"
    check_one_model(counts)
    share = None if rule is None else share_of(rule)
    if share is not None:
        return threshold_at(counts, selection_rate, share), f"at most {100 * share:g}% of people flagged"
    table = counts.by().at(0.0)
    people = int(table["tp"]) + int(table["fp"])
    exact = int(table["tp"]) / people if people else 0.0
    if not 0 < exact < 1:
        raise AuditInputError(
            f"threshold: the prevalence of {counts.label!r} is {exact:g}, which is no threshold; give a number."
        )
    found = float(f"{exact:.4g}")  # digits, not places: a rare outcome has a prevalence, too
    return found if found < 1 else exact, f"{PREVALENCE} of the outcome"


def nearest_edge(counts: Counts, value: float) -> float:
    """The edge above 0 and below 1 that is nearest to a value.

    Raises
    ------
    AuditInputError
        When there is none.
    """
    held = counts.edges.lower
    edges = held[(held > 0) & (held < 1)]
    if not len(edges):
        raise AuditInputError(
            "these counts have no edge above 0 and below 1, so nobody can be told from anybody by a threshold; "
            "count with more bins, or with thresholds=[…]."
        )
    return float(edges[np.argmin(np.abs(edges - value))])
