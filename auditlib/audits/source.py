"""What is audited: counts, which of their dims are attributes, and where they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from auditlib.audits.options import PREVALENCE, Options, share_of
from auditlib.counts import Counts, count
from auditlib.errors import AuditInputError
from auditlib.metrics import selection_rate
from auditlib.thresholds import threshold_at

MOST_GROUPS, MOST_SITES = 60, 2_000


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
    if counts.models:
        raise AuditInputError(
            f"these counts hold several models ({', '.join(counts.models)}); count one score column for an audit."
        )
    if not by:
        raise AuditInputError("say which groups are compared: by=….")
    counts = counts.by(*by, *([site] if site is not None else []))
    check_groups(counts, by, site)
    inner = {name: f"by{place}" for place, name in enumerate(by)} | ({site: "site"} if site is not None else {})
    renamed = replace(counts, groups={inner[name]: levels for name, levels in counts.groups.items()})
    names = {dim: name for name, dim in inner.items()}
    attributes = tuple(inner[name] for name in by)
    dim = None if site is None else "site"
    return Source(kind, renamed, names, attributes, dim, threshold, rule, counts, dict(facts), tuple(notes))


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


def counted(frame: Any, options: Options, *, label: str, score: str, by: Sequence[str], site: str | None,
            cluster: str | None, positive: Any, missing: str) -> tuple[Counts, float, str]:  # fmt: skip
    """Counts of the rows, with the threshold asked for among their edges; and that threshold, with its rule."""
    groups = [*by, *([site] if site is not None else [])]
    asked: dict[str, Any] = {"label": label, "score": score, "by": groups, "cluster": cluster, "positive": positive}
    asked |= {"bins": options.bins, "missing": missing}
    rule = options.threshold
    if isinstance(rule, int | float):
        counts = count(frame, thresholds=[rule], **asked)
        return counts, counts.edges.find(rule)[0], "given"
    counts = count(frame, **asked)
    threshold, words = chosen(counts, rule)
    if threshold not in counts.edges.lower:
        counts = count(frame, thresholds=[threshold], **asked)
    return counts, threshold, words


def chosen(counts: Counts, rule: str | float | None) -> tuple[float, str]:
    """The threshold of a rule, and the rule in words.

    >>> from auditlib import studies
    >>> chosen(studies.comparison_counts("gap-cdc_diabetes-sex"), "top20")
    (0.26, 'at most 20% of people flagged')
    """
    if isinstance(rule, int | float):
        return counts.edges.find(rule)[0], "given"
    share = None if rule is None else share_of(rule)
    if share is not None:
        return threshold_at(counts, selection_rate, share), f"at most {100 * share:g}% of people flagged"
    table = counts.by().at(0.0)
    people = int(table["tp"]) + int(table["fp"])
    found = round(int(table["tp"]) / people, 4)
    if not 0 < found < 1:
        raise AuditInputError(
            f"threshold: the prevalence of {counts.label!r} is {found:g}, which is no threshold; give a number."
        )
    return found, f"{PREVALENCE} of the outcome"


def nearest_edge(counts: Counts, value: float) -> float:
    """The edge above 0 that is nearest to a value."""
    edges = counts.edges.lower[1:]
    return float(edges[np.argmin(np.abs(edges - value))])
