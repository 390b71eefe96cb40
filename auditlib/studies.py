"""Each paper's procedure, from a cohort to a table of counts.

The gap audit (Ghorbanpourbaboli et al., SMASH 2026): two groups of one cohort, one shared model, one threshold.
``python -m auditlib.studies`` (``make counts``) writes every comparison to ``data/counts/``.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from sklearn.metrics import roc_auc_score
from tqdm.auto import tqdm

import auditlib
from auditlib import datasets, models
from auditlib.counts import Counts, count
from auditlib.errors import AuditInputError

# Patients' patterns multiply with the number of bins, so cohorts of patients are cut to these (and to τ).
OPERATING = [k / 50 for k in range(1, 26)]

MEDICATIONS = [
    *("metformin", "repaglinide", "nateglinide", "chlorpropamide", "glimepiride", "acetohexamide", "glipizide"),
    *("glyburide", "tolbutamide", "pioglitazone", "rosiglitazone", "acarbose", "miglitol", "troglitazone"),
    *("tolazamide", "examide", "citoglipton", "insulin", "glyburide-metformin", "glipizide-metformin"),
    *("glimepiride-pioglitazone", "metformin-rosiglitazone", "metformin-pioglitazone"),
]
HOSPITAL_CODES = ["admission_type_id", "discharge_disposition_id", "admission_source_id"]
HOSPITAL_COUNTS = [
    *("time_in_hospital", "num_lab_procedures", "num_procedures", "num_medications"),
    *("number_outpatient", "number_emergency", "number_inpatient", "number_diagnoses"),
]
FIVE_YEARS = [(18, 24), *((low, low + 4) for low in range(25, 80, 5)), (80, 120)]


@dataclass(frozen=True)
class Cohort:
    """How one cohort enters a gap audit.

    Attributes
    ----------
    outcome, positive : the column of the outcome and the value that counts as an event.
    label : name of the 0/1 outcome in the counts.
    columns : column of each attribute.
    ages : first and last year of each level of the age column; a level left out takes part in no age comparison.
    cluster : column of the patient, where one patient may have several rows.
    predictors : columns a model may use; empty for all but the outcome and `never`.
    codes : whole numbers that are names, not amounts.
    """

    outcome: str
    positive: Any
    label: str
    columns: Mapping[str, str]
    ages: Mapping[Any, tuple[int, int]]
    cluster: str | None = None
    predictors: Sequence[str] = ()
    never: Sequence[str] = ()
    codes: Sequence[str] = ()


COHORTS = {
    "diabetes130": Cohort(
        outcome="readmitted",
        positive="<30",
        label="readmitted",
        columns={"sex": "gender", "age": "age", "race": "race"},
        ages={f"[{low}-{low + 10})": (low, low + 9) for low in range(10, 100, 10)},
        cluster="patient_nbr",
        predictors=[
            *("age", "race", *HOSPITAL_CODES, *HOSPITAL_COUNTS, *MEDICATIONS),
            *("max_glu_serum", "A1Cresult", "change", "diabetesMed"),
        ],
        codes=HOSPITAL_CODES,
    ),
    "cdc_diabetes": Cohort(
        outcome="Diabetes_binary",
        positive=1,
        label="diabetes",
        columns={"sex": "Sex", "age": "Age"},
        ages=dict(enumerate(FIVE_YEARS, start=1)),
    ),
    "brfss2022_heart": Cohort(
        outcome="HadHeartAttack",
        positive="Yes",
        label="heart_attack",
        columns={"sex": "Sex", "age": "AgeCategory", "race": "RaceEthnicityCategory"},
        ages={
            "Age 80 or older" if low == 80 else f"Age {low} to {high}": (low, high) for low, high in FIVE_YEARS
        },
        never=["State"],  # the sites of a later chapter
    ),
}


@dataclass(frozen=True)
class Comparison:
    """Two groups of one cohort; the gap is the first group minus the second.

    Attributes
    ----------
    dataset, attribute : cohort, and what the groups differ in.
    groups : name of each group and the levels of the attribute's column in it; for age, bands such as "18–44",
        "65+" or "<50", which ``bands`` turns into levels.
    drop : columns that leave the predictors; the attribute's own column always does.
    """

    dataset: str
    attribute: str
    groups: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    bands: tuple[str, str] | None = None
    drop: Sequence[str] = ()

    @property
    def name(self) -> str:
        """Name of its table in ``data/counts``."""
        return f"gap-{self.dataset}-{self.attribute}"


COMPARISONS = {
    c.name: c
    for c in (
        # Three rows of sex "Unknown/Invalid" belong to neither group; they stay in the other comparisons.
        Comparison("diabetes130", "sex", {"Male": ["Male"], "Female": ["Female"]}),
        Comparison("diabetes130", "age", bands=("10–29", "60+")),
        Comparison(
            "diabetes130",
            "race",
            {"AfricanAmerican": ["AfricanAmerican"], "Caucasian": ["Caucasian"]},
        ),
        Comparison("cdc_diabetes", "sex", {"Male": [1], "Female": [0]}),
        Comparison("cdc_diabetes", "age", bands=("18–44", "65+"), drop=["Sex"]),
        Comparison("brfss2022_heart", "sex", {"Male": ["Male"], "Female": ["Female"]}),
        Comparison("brfss2022_heart", "age", bands=("18–44", "65+")),
        Comparison(
            "brfss2022_heart",
            "race",
            {"Black": ["Black only, Non-Hispanic"], "White": ["White only, Non-Hispanic"]},
        ),
    )
}


def band_levels(cohort: Cohort, band: str) -> list[Any]:
    """Levels of a cohort's age column inside a band such as "18–44", "65+" or "<50".

    Raises
    ------
    AuditInputError
        When the band cannot be read, holds no level, or would cut a level in two.

    Examples
    --------
    >>> band_levels(COHORTS["diabetes130"], "10–29")
    ['[10-20)', '[20-30)']
    """
    known = ", ".join(f"{low}–{high}" for low, high in cohort.ages.values())
    match = re.fullmatch(r"(?:(\d+)[–-](\d+)|(\d+)\+|<(\d+))", band.strip())
    if match is None:
        raise AuditInputError(f"age band {band!r}: write it as 18–44, 65+ or <50.")
    first, last, above, below = (None if part is None else int(part) for part in match.groups())
    low = first if first is not None else above or 0
    high = last if last is not None else below - 1 if below is not None else 120
    inside = [level for level, (a, b) in cohort.ages.items() if low <= a and b <= high]
    cut = [f"{a}–{b}" for a, b in cohort.ages.values() if a <= high and b >= low and not (low <= a and b <= high)]
    if cut or not inside:
        raise AuditInputError(f"age band {band!r} cuts or misses the ages recorded ({', '.join(cut) or known}).")
    return inside


@dataclass(frozen=True)
class Predictions:
    """Test rows of one comparison: label, group, patient where there is one, `risk`, and every family's risk."""

    comparison: Comparison
    frame: pd.DataFrame
    threshold: float
    provenance: dict[str, Any]


def _comparison(dataset: str, attribute: str, age_bands: Sequence[str] | None) -> Comparison:
    name = f"gap-{dataset}-{attribute}"
    if name not in COMPARISONS:
        raise AuditInputError(f"no comparison {name!r}: choose one of {', '.join(COMPARISONS)}.")
    found = COMPARISONS[name]
    if age_bands is None:
        return found
    if attribute != "age" or len(age_bands) != 2:
        raise AuditInputError(f"age_bands: two bands for an age comparison, not {age_bands!r} for {attribute}.")
    return Comparison(dataset, attribute, bands=(age_bands[0], age_bands[1]), drop=found.drop)


def _compared(frame: pd.DataFrame, comparison: Comparison) -> tuple[pd.DataFrame, pd.Series]:
    """Rows of the two groups, and the group of each. What is in neither group is in no part of the audit."""
    cohort = COHORTS[comparison.dataset]
    groups = comparison.groups or {band: band_levels(cohort, band) for band in comparison.bands or ()}
    where = {level: group for group, levels in groups.items() for level in levels}
    if len(where) < sum(map(len, groups.values())):
        raise AuditInputError(f"{comparison.name}: the groups {', '.join(groups)} overlap.")
    group = frame[cohort.columns[comparison.attribute]].map(where)
    kept = group.notna()
    return frame[kept].reset_index(drop=True), group[kept].reset_index(drop=True)


def _predictors(frame: pd.DataFrame, comparison: Comparison) -> pd.DataFrame:
    cohort = COHORTS[comparison.dataset]
    gone = {cohort.outcome, cohort.columns[comparison.attribute], *comparison.drop, *cohort.never}
    kept = frame[[c for c in cohort.predictors or frame.columns if c not in gone]]
    kept = kept.astype(dict.fromkeys(cohort.codes, str))
    age = cohort.columns["age"]
    if age in kept and not pd.api.types.is_numeric_dtype(kept[age]):
        kept = kept.assign(**{age: kept[age].str.extract(r"(\d+)", expand=False).astype(float)})
    return kept


def _sampled(frame: pd.DataFrame, cluster: str | None, max_rows: int | None, seed: int) -> pd.DataFrame:
    """At most `max_rows` rows, whole patients where there are patients."""
    if max_rows is None or len(frame) <= max_rows:
        return frame
    shuffled = np.random.default_rng(seed).permutation(len(frame))
    if cluster is None:
        return frame.iloc[np.sort(shuffled[:max_rows])]
    sizes = frame.iloc[shuffled].groupby(cluster, sort=False).size().cumsum()
    return frame[frame[cluster].isin(sizes.index[sizes <= max_rows])]


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
    """The gap audit up to the test rows and their calibrated risks; see ``gap_audit`` for the parameters.

    Examples
    --------
    >>> if datasets.available("cdc_diabetes"):
    ...     found = gap_predictions("cdc_diabetes", "sex", model="shallow_tree", max_rows=5_000)
    ...     assert list(found.frame.columns) == ["diabetes", "sex", "risk", "shallow_tree"]
    """
    comparison = _comparison(dataset, attribute, age_bands)
    cohort = COHORTS[dataset]
    rows, group = _compared(
        _sampled(datasets.load(dataset), cohort.cluster, max_rows, seed), comparison
    )
    label = (rows[cohort.outcome] == cohort.positive).astype("int64")
    patient = None if cohort.cluster is None else rows[cohort.cluster]
    train, test = models.split(label, cluster=patient, seed=seed)
    predictors = _predictors(rows, comparison)
    fit = models.cross_fit(
        predictors.iloc[train],
        label.iloc[train],
        predictors.iloc[test],
        families=models.FAMILIES if model == "auto" else [model],
        cluster=None if patient is None else patient.iloc[train],
        seed=seed,
        n_jobs=n_jobs,
        progress=progress,
    )
    tau = float(label.iloc[train].mean()) if threshold == "train_prevalence" else float(threshold)
    parts = {cohort.label: label.iloc[test], attribute: group.iloc[test], "risk": fit.scores[fit.selected]}
    if patient is not None:
        parts[str(cohort.cluster)] = patient.iloc[test]
    frame = pd.concat([pd.DataFrame(parts), fit.scores], axis=1).reset_index(drop=True)
    record = _provenance(comparison, frame, fit, label.iloc[train], tau, seed, predictors.shape[1])
    return Predictions(comparison, frame, tau, record)


def _provenance(
    comparison: Comparison,
    frame: pd.DataFrame,
    fit: models.CrossFit,
    train_label: pd.Series,
    tau: float,
    seed: int,
    n_predictors: int,
) -> dict[str, Any]:
    cohort = COHORTS[comparison.dataset]
    label = frame[cohort.label]
    by_group = {
        str(name): round(float(roc_auc_score(part[cohort.label], part["risk"])), 6)
        for name, part in frame.groupby(comparison.attribute)
        if part[cohort.label].nunique() == 2
    }
    return {
        "study": "gap audit",
        "dataset": comparison.dataset,
        "comparison": comparison.attribute,
        "outcome": f"{cohort.outcome} = {cohort.positive}",
        "model": fit.selected,
        "cv_auc": {name: round(value, 6) for name, value in fit.cv_auc.items()},
        "test_auroc": round(float(roc_auc_score(label, frame["risk"])), 6),
        "test_auroc_by_group": by_group,
        "threshold": tau,
        "predictors": n_predictors,
        "n_train": len(train_label),
        "n_test": len(frame),
        "positives_train": int(train_label.sum()),
        "positives_test": int(label.sum()),
        "seed": seed,
        "source_sha256": datasets.checksum(comparison.dataset),
        "auditlib": auditlib.__version__,
        "scikit_learn": sklearn.__version__,
    }
