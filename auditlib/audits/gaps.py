"""The gap audit of a public cohort: from committed counts where they answer, from a new fit where they cannot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from auditlib.audits.choices import COMMITTED, summary, unavailable
from auditlib.audits.options import PREVALENCE, Options
from auditlib.audits.plain import number
from auditlib.audits.source import Source, chosen, source_of
from auditlib.counts import Counts
from auditlib.counts.merge import check_whole
from auditlib.errors import AuditInputError
from auditlib.models import FAMILIES, check_seed
from auditlib.studies import COMPARISONS, committed_multiverse, comparison_counts, comparison_of, gap_audit, published
from auditlib.studies.multiverse import AXES

AUTO, TRAINING, TRAINED = "auto", "train_prevalence", "training prevalence"
BOOK_LEVEL = 0.95
ROWS = 50_000  # of the two groups, that a new fit uses unless told otherwise
MODELS = (AUTO, *FAMILIES)


@dataclass(frozen=True)
class Gap:
    """What a gap audit of a cohort is asked.

    Attributes
    ----------
    dataset, attribute : a comparison of the book
    age_bands : two bands such as ("18–24", "80+"), for an age comparison
    model : "auto", or a family of ``auditlib.models.FAMILIES``
    refit : fit anew although the book's counts would answer
    max_rows : rows of the two groups that a new fit uses
    n_jobs, progress : of the fit
    """

    dataset: str
    attribute: str
    age_bands: tuple[str, str] | None = None
    model: str = AUTO
    refit: bool = False
    max_rows: int | None = ROWS
    n_jobs: int = 1
    progress: bool = False

    def __post_init__(self) -> None:
        comparison_of(self.dataset, self.attribute, self.age_bands)
        if self.model not in MODELS:
            raise AuditInputError(f"model must be one of {', '.join(MODELS)}, not {self.model!r}.")
        if self.max_rows is not None:
            check_whole(self.max_rows, "max_rows")

    @property
    def fits(self) -> bool:
        """Whether a model has to be fitted: other bands or another model than the book's, or as asked."""
        usual = comparison_of(self.dataset, self.attribute).bands
        other = self.age_bands is not None and tuple(self.age_bands) != tuple(usual)
        return self.refit or other or self.model != AUTO


def gap_source(asked: Gap, options: Options) -> Source:
    """Counts of the comparison's test set, with the threshold in force.

    A threshold that is no edge of the book's counts, such as .137, needs a new fit as well.
    """
    rule = TRAINING if options.threshold in (None, PREVALENCE, TRAINING) else options.threshold
    if not asked.fits:
        counts = comparison_counts(f"gap-{asked.dataset}-{asked.attribute}")
        if not isinstance(rule, int | float) or rule in counts.edges.lower:
            return _sourced(counts, asked, rule, options, refitted=False)
    check_seed(options.seed)
    counts = gap_audit(
        asked.dataset,
        asked.attribute,
        model=asked.model,
        threshold=rule if isinstance(rule, int | float) else TRAINING,
        age_bands=asked.age_bands,
        max_rows=asked.max_rows,
        n_jobs=asked.n_jobs,
        progress=asked.progress,
    )
    return _sourced(counts, asked, rule, options, refitted=True)


def _sourced(counts: Counts, asked: Gap, rule: Any, options: Options, refitted: bool) -> Source:
    known = counts.provenance
    if rule == TRAINING:
        threshold, words = float(known["threshold"]), TRAINED
    else:
        threshold, words = chosen(counts, rule)
    facts = {
        "name": asked.dataset,
        "sha256": known["source_sha256"],
        "comparison": f"gap-{asked.dataset}-{asked.attribute}",
        "outcome": known["outcome"],
        "model": known["model"],
        "auroc": number(known["test_auroc"]),
        "fitted": "anew" if refitted else "for the book",
        "max_rows": asked.max_rows if refitted else None,
        "n_train": known["n_train"],
        "study_seed": known["seed"],
        "age_bands": list(asked.age_bands) if asked.age_bands else None,
        "asked_model": asked.model,
    }
    return source_of("gap", counts, [asked.attribute], None, threshold, words, facts)


def gap_choices(asked: Gap, options: Options) -> Mapping[str, Any] | None:
    """The committed multiverse of an age comparison, or None where the book has none.

    It is of the younger minus the older, over three pairs of age bands among its choices, whatever the threshold, bands
    and model asked for: all of these are choices there.
    """
    if not options.multiverse or asked.attribute != "age" or asked.dataset not in AXES:
        return None
    if options.level != BOOK_LEVEL:
        return unavailable("The book's specifications have 95% intervals: leave the level at .95 to see them.")
    found = committed_multiverse(asked.dataset)
    older = list(comparison_of(asked.dataset, "age", asked.age_bands).levels())[1]
    turned = options.group_a == older or (options.group_b is not None and options.group_b != older)
    axes = {name: list(values) for name, values in found.grid.axes.items()}
    held = summary(_turned(found.rows) if turned else found.rows, axes, dict(found.grid.default), COMMITTED)
    return held | {"of": "the older minus the younger" if turned else "the younger minus the older"}


def _turned(rows: pd.DataFrame) -> pd.DataFrame:
    """The same specifications with the groups exchanged."""
    other = {"low": -rows["high"], "high": -rows["low"], "n_a": rows["n_b"], "n_b": rows["n_a"]}
    return rows.assign(estimate=-rows["estimate"], **other)


def gap_published(asked: Gap, results: Mapping[str, Any]) -> dict[str, Any] | None:
    """The paper's gap of this comparison beside this one, and the difference; None where it states none."""
    table = published()
    name = f"gap-{asked.dataset}-{asked.attribute}"
    if name not in table.index:
        return None
    usual = COMPARISONS[name]
    pair = list(usual.levels())
    same = [results["comparison"]["a"], results["comparison"]["b"]] == pair
    alike = same and results["input"]["fitted"] == "for the book" and results["threshold"]["rule"] == TRAINED
    row, ours = table.loc[name], results["questions"]["chance"]["gap"]
    held: dict[str, Any] = {"estimate": number(row["gap"]), "low": number(row["low"]), "high": number(row["high"])}
    held |= {"source": "Ghorbanpourbaboli et al., SMASH 2026", "groups": pair, "same_question": alike}
    apart = None if not alike or ours["estimate"] is None else number(ours["estimate"] - held["estimate"])
    return held | {"difference": apart}


def params_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a JSON file, blanks left to their defaults; an error for an unknown key or value.

    >>> params_of({"dataset": "cdc_diabetes", "attribute": "sex", "model": "", "multiverse": None})
    {'dataset': 'cdc_diabetes', 'attribute': 'sex'}
    """
    if not isinstance(given, Mapping):
        raise AuditInputError('the parameters must be one JSON object, such as {"dataset": "cdc_diabetes"}.')
    unknown = [str(key) for key in given if key not in KEYS]
    if unknown:
        raise AuditInputError(f"unknown parameter {unknown[0][:60]!r}; the allowed ones are {', '.join(KEYS)}.")
    return {key: value for key, value in given.items() if value is not None and value != "" and value != []}


KEYS = (
    *("dataset", "attribute", "age_bands", "group_a", "group_b", "threshold", "target_prevalence"),
    *("model", "multiverse", "byo_confusion"),
)
