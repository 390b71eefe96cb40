"""The ways into an audit: rows, counts, confusion matrices, an estimator, or a cohort of the book."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from auditlib.audits import (
    Columns,
    Gap,
    Options,
    Source,
    gap_choices,
    gap_published,
    gap_source,
    results_of,
    source_from,
    told,
)  # fmt: skip
from auditlib.audits.source import nearest_edge
from auditlib.counts import Counts
from auditlib.errors import AuditInputError
from auditlib.intervals.replicates import check_enough

OPTIONS = tuple(Options.__dataclass_fields__)


@dataclass(frozen=True)
class Audit:
    """The results of an audit: shows itself as a card in a notebook, and writes it with all that belongs to it.

    Attributes
    ----------
    results : dict
        Plain values, as in ``results.json``; undefined is None.
    counts : Counts
        What they were computed from.

    Examples
    --------
    >>> import auditlib as al
    >>> found = al.audit("Women:80,40,800,30; Men:120,90,700,25")
    >>> print(found.headline)
    The gap in sensitivity of −10.0 points between “Women” and “Men” cannot be told from zero; the group with fewer has 110 people with the outcome.
    """  # noqa: E501

    results: Mapping[str, Any]
    counts: Counts

    @property
    def headline(self) -> str:
        """The most surprising finding, by fixed rules (``auditlib.audits.headline``)."""
        return str(self.results["headline"]["text"])

    def to_html(self) -> str:
        """The card as one self-contained page."""
        from auditlib.card.page import page

        return page(self.results)

    def write(self, folder: str | Path) -> Path:
        """Write card, results, counts, figures and summary into a folder: all or nothing.

        The folder must not exist, be empty, or hold an earlier result, which is then replaced.

        Raises
        ------
        AuditInputError
            When the folder holds anything else, or cannot be written.
        """
        from auditlib.card.folder import write

        return write(self, folder)

    def __repr__(self) -> str:
        return f"<Audit: {self.headline}>"

    def _repr_html_(self) -> str:
        from auditlib.card.page import fragment

        return fragment(self.results)


def audit(
    data: Any,
    X: Any = None,
    y: Any = None,
    by: Any = None,
    *,
    label: str | None = None,
    score: str | None = None,
    site: str | None = None,
    cluster: str | None = None,
    positive: Any = None,
    missing: str = "raise",
    name: str | None = None,
    **options: Any,
) -> Audit:
    """Audit a model: the four questions, who gains, and how stable the verdicts are, from whatever you have.

    Parameters
    ----------
    data : one of
        - a table of rows (pandas, Polars, PyArrow, DuckDB, Dask, Spark), or the ``Path`` of a CSV or Parquet file, with
          ``label``, ``score`` and ``by``
        - Counts, or a list of them (several hospitals), which are added
        - confusion matrices: text as ``parse_confusion`` reads it, or the Dataset of ``confusion``
        - a fitted scikit-learn compatible classifier, with ``X``, ``y`` and ``by``
    X, y : predictors and outcomes, for a classifier
    by : str or list of str
        Group columns (dims of counts; all but the site by default); the first is what the questions are asked of. For
        a classifier also a Series, or a DataFrame of groups.
    label, score, cluster, positive, missing : as in ``count``
    site : str, optional
        Column (dim) of sites.
    name : str, optional
        What the card calls the input.
    **options
        ``threshold`` (a risk, "prevalence" or "top20"; for counts, an edge), ``group_a``, ``group_b``,
        ``target_prevalence``, ``lam``, ``benefit_threshold``, ``capacity``, ``limits``, ``replicates``, ``seed``,
        ``level``, ``bins``, ``multiverse``; see ``auditlib.audits.Options``.

    Returns
    -------
    Audit

    Raises
    ------
    AuditInputError
        For input that cannot be audited, naming what is wrong and what to do.

    Examples
    --------
    >>> import auditlib as al
    >>> from auditlib.simulate import RiskCohort
    >>> frame = RiskCohort.example().frame(4_000, seed=1)
    >>> found = al.audit(frame, label="label", score="true_risk", by="group", threshold=0.3, group_a="D", group_b="A")
    >>> round(found.results["questions"]["chance"]["gap"]["estimate"], 2)
    0.42
    """
    asked = _options(options)
    known = Columns(label=label, score=score, site=site, cluster=cluster, positive=positive, missing=missing)
    source = source_from(data, X, y, by, known, asked, {"name": name})
    return finished(results_of(source, asked), source, lambda changed: _called(changed))


def audit_gap(
    dataset: str,
    attribute: str,
    *,
    age_bands: Sequence[str] | None = None,
    model: str = "auto",
    refit: bool = False,
    max_rows: int | None = 50_000,
    n_jobs: int = 1,
    progress: bool = False,
    **options: Any,
) -> Audit:
    """The gap audit of one of the book's cohorts, as a card.

    The default options read the book's committed counts; other age bands, another model or ``refit`` fit anew on at
    most ``max_rows`` rows.

    Parameters
    ----------
    dataset : {"diabetes130", "cdc_diabetes", "brfss2022_heart"}
    attribute : {"sex", "age", "race"}
    age_bands : two strings, optional
    model : "auto" or a family of ``auditlib.models.FAMILIES``
    refit, max_rows, n_jobs, progress : of a new fit
    **options : as in ``audit``

    Examples
    --------
    >>> import auditlib as al
    >>> found = al.audit_gap("cdc_diabetes", "sex")
    >>> round(found.results["questions"]["chance"]["gap"]["estimate"], 3)
    -0.031
    """
    asked = _options(options)
    bands = None if age_bands is None else tuple(age_bands)
    gap = Gap(dataset, attribute, bands, model, refit, max_rows, n_jobs, progress)  # type: ignore[arg-type]
    source = gap_source(gap, asked)
    results = results_of(source, asked, gap_choices(gap, asked))
    results["published"] = gap_published(gap, results)
    given = f"{dataset!r}, {attribute!r}"
    return finished(results, source, lambda changed: _called(changed, "audit_gap", given))


def finished(results: dict[str, Any], source: Source, spell: Callable[[Mapping[str, Any]], str]) -> Audit:
    """Results with their sentences, the commands of the follow-ups, and the date."""
    told(results)
    for line in results["follow_ups"]:
        if "threshold" in line["parameters"]:  # results are rounded, but a threshold must be an edge to the bit
            line["parameters"]["threshold"] = nearest_edge(source.counts, line["parameters"]["threshold"])
        line["command"] = spell(enough(line["parameters"], results["options"]["replicates"]))
    results["made"] = made()
    return Audit(results, source.original)


def enough(changed: Mapping[str, Any], replicates: int) -> Mapping[str, Any]:
    """What changes, with more replicates where a wider level needs them.

    >>> enough({"level": 0.99}, 200), enough({"level": 0.99}, 1000)
    ({'level': 0.99, 'replicates': 1000}, {'level': 0.99})
    """
    try:
        check_enough(replicates, changed.get("level", 0.5))
    except AuditInputError:
        return {**changed, "replicates": Options().replicates}
    return changed


def made() -> str:
    """The date: today, or that of ``SOURCE_DATE_EPOCH``, which makes an audit the same to the byte on any day."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH")
    if fixed is None:
        return date.today().isoformat()
    try:
        return datetime.fromtimestamp(int(fixed), UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        raise AuditInputError(f"SOURCE_DATE_EPOCH must be seconds since 1970, not {fixed[:60]!r}.") from None


def _options(options: Mapping[str, Any]) -> Options:
    unknown = [name for name in options if name not in OPTIONS]
    if unknown:
        raise AuditInputError(f"unknown option {unknown[0]!r}; there are {', '.join(OPTIONS)}.")
    return Options(**options)


def _called(changed: Mapping[str, Any], function: str = "audit", given: str = "…") -> str:
    """A follow-up as a call.

    >>> _called({"threshold": 0.3})
    'al.audit(…, threshold=0.3)'
    """
    said = ", ".join(f"{name}={value!r}" for name, value in changed.items())
    return f"al.{function}({given}, {said})"
