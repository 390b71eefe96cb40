"""The gap audit's procedure (Ghorbanpourbaboli et al., SMASH 2026): two groups, one shared model, one threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from sklearn.metrics import roc_auc_score

import auditlib
from auditlib import datasets, models
from auditlib.counts import Counts, count
from auditlib.counts.merge import check_whole
from auditlib.errors import AuditInputError
from auditlib.simulate.parameters import generator
from auditlib.studies.comparisons import Cohort, Comparison, comparison_of
from auditlib.studies.rows import enough

# Patients' patterns multiply with the number of bins, so cohorts of patients are cut to these (and to τ).
OPERATING = [k / 50 for k in range(1, 26)]


@dataclass(frozen=True)
class Predictions:
    """A fitted comparison, before counting.

    Attributes
    ----------
    comparison : which groups of which cohort.
    frame : one row a test row: the outcome (0/1), the group, the patient where there is one, ``risk`` of the
        selected family, and one column for each family fitted.
    threshold : τ.
    provenance : what goes into the header of the counts.
    """

    comparison: Comparison
    frame: pd.DataFrame
    threshold: float
    provenance: Mapping[str, Any]

    def counts(self) -> Counts:
        """The comparison's table: 200 bins and τ; for patients with several rows, the operating thresholds and τ."""
        cohort = self.comparison.cohort
        found = count(
            self.frame,
            label=cohort.label,
            score="risk",
            by=[self.comparison.attribute],
            thresholds=[self.threshold],
            cluster=cohort.cluster,
        )
        if cohort.cluster is not None:
            found = found.cut([*OPERATING, self.threshold])
        return found.with_provenance(**self.provenance)


def gap_audit(
    dataset: str,
    attribute: str,
    *,
    model: str = "auto",
    threshold: str | float = "train_prevalence",
    age_bands: Sequence[str] | None = None,
    seed: int = 42,
    max_rows: int | None = None,
    n_jobs: int = 1,
    progress: bool = False,
) -> Counts:
    """One comparison of the gap audit, from a cohort's rows to counts of its test set.

    Rows of the two groups are split 70/30 (by patient where there are patients); the family with the best mean
    AUC over 5 training folds is calibrated by an isotonic fold ensemble and applied to the test rows.

    Parameters
    ----------
    dataset : str
        A cohort of ``auditlib.datasets``.
    attribute : {"sex", "age", "race"}
        What the groups differ in.
    model : str
        "auto" to select, or one of ``auditlib.models.FAMILIES``.
    threshold : "train_prevalence" or float
        τ, the risk from which a patient is flagged, in both groups; it becomes an edge of the counts.
    age_bands : two strings, optional
        Other bands for an age comparison, such as ("18–24", "80+") or ("<50", "70+"); the gap is first minus second.
    seed : int
        Of the split, the folds and the fits.
    max_rows : int, optional
        A random part of the two groups, for a quick look; whole patients where there are patients.
    n_jobs : int
        Processes; the result does not depend on it.
    progress : bool
        Whether to draw a bar.

    Returns
    -------
    Counts
        Over `attribute`, the groups in the order of the comparison, with where they come from in ``provenance``.

    Raises
    ------
    AuditInputError
        When the comparison, family, threshold or bands are unknown, the cohort cannot be had, or ``max_rows`` is no
        whole number or leaves too few rows to fit and test.

    Examples
    --------
    >>> if datasets.available("cdc_diabetes"):
    ...     counts = gap_audit("cdc_diabetes", "sex", model="shallow_tree", max_rows=5_000)
    ...     assert counts.groups["sex"] == ("Male", "Female")
    """
    return gap_predictions(
        dataset,
        attribute,
        model=model,
        threshold=threshold,
        age_bands=age_bands,
        seed=seed,
        max_rows=max_rows,
        n_jobs=n_jobs,
        progress=progress,
    ).counts()


def gap_predictions(
    dataset: str,
    attribute: str,
    *,
    model: str = "auto",
    threshold: str | float = "train_prevalence",
    age_bands: Sequence[str] | None = None,
    seed: int = 42,
    max_rows: int | None = None,
    n_jobs: int = 1,
    progress: bool = False,
) -> Predictions:
    """``gap_audit`` up to the test rows and their calibrated risks; the same parameters.

    Examples
    --------
    >>> if datasets.available("cdc_diabetes"):
    ...     found = gap_predictions("cdc_diabetes", "sex", model="shallow_tree", max_rows=5_000)
    ...     assert list(found.frame.columns) == ["diabetes", "sex", "risk", "shallow_tree"]
    """
    comparison = comparison_of(dataset, attribute, age_bands)
    fixed = None if isinstance(threshold, str) and threshold == "train_prevalence" else _fixed(threshold)
    if max_rows is not None:
        check_whole(max_rows, "max_rows")
        max_rows = int(max_rows)
    cohort = comparison.cohort
    whole = datasets.load(dataset)
    everybody, groups = compared(whole, comparison)
    taken = _sampled(everybody, cohort.cluster, max_rows, seed).index
    rows, group = everybody.loc[taken].reset_index(drop=True), groups.loc[taken].reset_index(drop=True)
    label = (rows[cohort.outcome] == cohort.positive).astype("int64")
    patient = None if cohort.cluster is None else rows[cohort.cluster]
    models.check_seed(seed)
    with enough(len(rows), max_rows):
        train, test = models.split(label, cluster=patient, seed=seed)
    x = predictors(rows, comparison)
    fit = models.cross_fit(
        x.iloc[train],
        label.iloc[train],
        x.iloc[test],
        families=models.FAMILIES if model == "auto" else [model],
        cluster=None if patient is None else patient.iloc[train],
        seed=seed,
        n_jobs=n_jobs,
        progress=progress,
    )
    tau = float(label.iloc[train].mean()) if fixed is None else fixed
    held = {cohort.label: label.iloc[test], attribute: group.iloc[test]}
    if patient is not None:
        held[str(cohort.cluster)] = patient.iloc[test]
    held["risk"] = fit.scores[fit.selected]
    frame = pd.concat([pd.DataFrame(held), fit.scores], axis=1).reset_index(drop=True)
    facts = {
        "study": "gap audit",
        "dataset": dataset,
        "comparison": attribute,
        "outcome": f"{cohort.outcome} = {cohort.positive}",
        **_performance(fit, frame, cohort, attribute),
        "threshold": tau,
        "threshold_rule": "training prevalence" if fixed is None else "given",
        "predictors": x.shape[1],
        "n_train": len(train),
        "n_test": len(test),
        "positives_train": int(label.iloc[train].sum()),
        "positives_test": int(label.iloc[test].sum()),
        "rows_in_neither_group": len(whole) - len(everybody),
        "seed": seed,
        "max_rows": max_rows,
        "source_sha256": datasets.checksum(dataset),
        "auditlib": auditlib.__version__,
        "scikit_learn": sklearn.__version__,
    }
    return Predictions(comparison, frame, tau, facts)


def compared(frame: pd.DataFrame, comparison: Comparison) -> tuple[pd.DataFrame, pd.Series]:
    """Rows of the two groups, and the group of each. What is in neither takes no part, not even in training."""
    group = group_of(frame, comparison)
    kept = group.notna()
    return frame[kept].reset_index(drop=True), group[kept].reset_index(drop=True)


def group_of(frame: pd.DataFrame, comparison: Comparison) -> pd.Series:
    """Group of each row, in the order of the comparison; missing where a row is in neither."""
    levels = comparison.levels()
    where = {level: group for group, mine in levels.items() for level in mine}
    group = frame[comparison.cohort.columns[comparison.attribute]].map(where)
    ordered = pd.Categorical(group, categories=list(levels), ordered=True)
    return pd.Series(ordered, index=frame.index, name=comparison.attribute)


def predictors(frame: pd.DataFrame, comparison: Comparison) -> pd.DataFrame:
    """What the model may look at: codes as text, age as a number (the first year of its band)."""
    cohort = comparison.cohort
    gone = {cohort.outcome, cohort.columns[comparison.attribute], *comparison.drop, *cohort.never}
    kept = frame[[c for c in cohort.predictors or frame.columns if c not in gone]]
    kept = kept.astype(dict.fromkeys(cohort.codes, str))
    age = cohort.columns["age"]
    if age in kept and not pd.api.types.is_numeric_dtype(kept[age]):
        kept = kept.assign(**{age: kept[age].str.extract(r"(\d+)", expand=False).astype(float)})
    return kept


def _fixed(threshold: object) -> float:
    if isinstance(threshold, int | float) and 0 < threshold < 1:
        return float(threshold)
    raise AuditInputError(f"threshold = {threshold!r}: give 'train_prevalence' or a risk between 0 and 1.")


def _sampled(frame: pd.DataFrame, cluster: str | None, max_rows: int | None, seed: int) -> pd.DataFrame:
    """At most `max_rows` rows, whole patients where there are patients."""
    if max_rows is None or len(frame) <= max_rows:
        return frame
    rng = generator(seed)
    if cluster is None:
        return frame.iloc[np.sort(rng.permutation(len(frame))[:max_rows])]
    rows = frame.groupby(cluster).size()
    rows = rows.iloc[rng.permutation(len(rows))].cumsum()
    return frame[frame[cluster].isin(rows.index[rows <= max_rows])]


def _performance(fit: models.CrossFit, frame: pd.DataFrame, cohort: Cohort, attribute: str) -> dict[str, Any]:
    """Training AUC of every family; test AUROC of the selected one from the rows, before any binning."""
    parts = {str(name): part for name, part in frame.groupby(attribute, observed=True)}
    return {
        "model": fit.selected,
        "cv_auc": {name: round(value, 6) for name, value in fit.cv_auc.items()},
        "test_auroc": _auroc(frame[cohort.label], frame["risk"]),
        "test_auroc_by_group": {name: _auroc(part[cohort.label], part["risk"]) for name, part in parts.items()},
    }


def _auroc(label: pd.Series, score: pd.Series) -> float | None:
    """Undefined (None, JSON's null) when one label is missing."""
    return round(float(roc_auc_score(label, score)), 6) if label.nunique() == 2 else None
