"""``auditlib gap``: the gap audit of a cohort of the book, or of the matrices that a file of parameters brings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from auditlib.audits import Gap, Options, gap_choices, gap_published, gap_source, results_of
from auditlib.audits.options import PREVALENCE
from auditlib.card import Audit
from auditlib.card.entry import finished
from auditlib.command import values
from auditlib.command.audit import confusions, refuse, told_of
from auditlib.command.params import with_params
from auditlib.command.parser import Given
from auditlib.command.spell import speller
from auditlib.command.told import say
from auditlib.errors import AuditInputError
from auditlib.studies.comparisons import comparison_of

OF_FITS = ("dataset", "attribute", "age_bands", "model", "max_rows", "refit", "jobs")


def plan(given: Given) -> tuple[Gap | None, Options]:
    """What is asked of which cohort, checked without loading anything; no cohort where matrices were given.

    Raises
    ------
    AuditInputError
    """
    asked = dict(given.options)
    if "confusion" in asked:
        refuse(given, OF_FITS, "goes with a cohort, not with confusion matrices")
        return None, values.options_of(asked)
    for name in ("dataset", "attribute"):
        if name not in asked:
            raise AuditInputError(
                f"say which comparison: {values.flag(name)} is missing (auditlib gap --help lists them)."
            )
    bands = values.bands(asked["age_bands"]) if "age_bands" in asked else None
    known = list(comparison_of(asked["dataset"], asked["attribute"], bands).levels())
    for name in ("group_a", "group_b"):
        if name in asked:
            asked[name] = _group(asked[name], known, name, asked)
    if asked.get("threshold") == PREVALENCE:
        raise AuditInputError(
            f"threshold: write {values.TRAINING} (of the training set), top20, or a risk such as 0.3."
        )
    if asked.get("threshold") == values.TRAINING:
        del asked["threshold"]
    fit = {"model": asked["model"]} if "model" in asked else {}
    gap = Gap(
        asked["dataset"], asked["attribute"], bands, refit=asked.get("refit", False), max_rows=_rows(asked),
        n_jobs=_jobs(asked), **fit,
    )  # fmt: skip
    return gap, values.options_of(asked)


def _group(text: str, known: list[str], name: str, asked: Mapping[str, Any]) -> str:
    """A group of the comparison; a band may be typed with a hyphen."""
    found = next((each for each in known if text in (each, each.replace("–", "-"))), None)
    if found is None:
        raise AuditInputError(
            f"{values.flag(name)} {text[:60]!r} is no group of {asked['dataset']} by {asked['attribute']}: "
            f"{known[0]!r} or {known[1]!r}."
        )
    return found


def _rows(asked: Mapping[str, Any]) -> int | None:
    text = asked.get("max_rows")
    if text is None:
        return int(Gap.max_rows)  # type: ignore[arg-type]
    return None if text == "all" else values.whole("max_rows", text)


def _jobs(asked: Mapping[str, Any]) -> int:
    jobs = values.whole("jobs", asked.get("jobs", "1"))
    if jobs == 0:
        raise AuditInputError("--jobs 0: give a number of processes, or -1 for one a core.")
    return jobs


def run(given: Given, quiet: bool) -> Audit:
    """The audit that a command line, or its file of parameters, asks for."""
    given = with_params(given)
    gap, options = plan(given)
    if gap is None:
        source = confusions(given.options["confusion"], options, "byo_confusion")
        return told_of(source, options, Given("audit", (), given.options), quiet)
    if gap.fits:
        most = "all" if gap.max_rows is None else f"at most {gap.max_rows:,}"
        say(f"fitting {gap.model} on {most} rows of {gap.dataset} …", quiet)
    else:
        say(f"reading the counts of {gap.dataset} by {gap.attribute} …", quiet)
    source = gap_source(_watched(gap, quiet), options)
    say(f"{options.replicates:,} replicates …", quiet)
    results = results_of(source, options, gap_choices(gap, options))
    results["published"] = gap_published(gap, results)
    return finished(results, source, speller(given))


def _watched(gap: Gap, quiet: bool) -> Gap:
    return Gap(**{**gap.__dict__, "progress": not quiet})
