"""One specification of the multiverse: which rows, which fit, which threshold, and the gap that follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from auditlib import datasets, models
from auditlib.counts import count
from auditlib.counts.edges import snap
from auditlib.errors import AuditInputError
from auditlib.intervals import gap_interval
from auditlib.metrics import gap, sensitivity
from auditlib.multiverse.grid import Specification
from auditlib.multiverse.weights import resampled_table, resampling_weights
from auditlib.studies.budget import thin
from auditlib.studies.comparisons import comparison_of
from auditlib.studies.gap import group_of, predictors

#: Discharged dead, or to a hospice: nobody of these can be readmitted as others can.
NO_RETURN = (11, 13, 14, 19, 20, 21)
#: What the short set of predictors keeps: of a stay, what is known at admission; of a survey, no medical history.
SHORT = {
    "diabetes130": (
        *("race", "admission_type_id", "admission_source_id"),
        *("number_outpatient", "number_emergency", "number_inpatient"),
    ),
    "cdc_diabetes": (
        *("BMI", "Smoker", "PhysActivity", "Fruits", "Veggies", "HvyAlcoholConsump"),
        *("GenHlth", "MentHlth", "PhysHlth", "DiffWalk", "Education", "Income"),
    ),
}


@dataclass(frozen=True)
class Prepared:
    """What specifications that differ in ONCE alone share.

    Attributes
    ----------
    held : one row a held-out row of the two groups: ``label``, ``age``, ``unit`` (the patient).
    scores : for each way to calibrate, the scores of these rows, one column a family.
    weights : how often each of these rows' patients is in each resampling of the cohort's patients.
    train_prevalence, n_train : of the rows the models were fitted on.
    cluster : column of the patient, where a patient may have several rows.
    """

    held: pd.DataFrame
    scores: Mapping[str, pd.DataFrame]
    weights: np.ndarray
    train_prevalence: float
    n_train: int
    cluster: str | None


def prepare(settings: Mapping[str, Any], specifications: list[Specification]) -> Prepared:
    """Split, thin, fit every family asked for, and score everyone held out."""
    spec, dataset = specifications[0], settings["dataset"]
    comparison = comparison_of(dataset, "age", str(spec["age_bands"]).split(" v "))
    cohort, seed = comparison.cohort, int(spec["seed"])
    rows = included(_loaded(dataset), spec)
    group = group_of(rows, comparison)
    if spec.get("trained_on", "two groups") == "two groups":
        rows, group = rows[group.notna()], group[group.notna()]
    label = (rows[cohort.outcome] == cohort.positive).astype("int64")
    patient = rows[cohort.cluster] if cohort.cluster else None
    train, test = models.split(label, cluster=patient, seed=seed)
    held = test[group.iloc[test].notna()]
    strata = group.astype(object).fillna("neither").iloc[train]
    whose = None if patient is None else patient.iloc[train]
    kept = train[thin(strata, label.iloc[train], whose, settings["max_rows"], [seed, settings["draw"]])]
    x = predictors(rows, comparison)
    x = x if spec["predictors"] == "full" else x[list(SHORT[dataset])]
    fit = models.cross_fit(
        x.iloc[kept],
        label.iloc[kept],
        x.iloc[held],
        families=list(dict.fromkeys(str(each["family"]) for each in specifications)),
        cluster=None if patient is None else patient.iloc[kept],
        seed=seed,
    )
    weights = _weights(dataset, cohort.cluster, settings["replicates"], settings["seed"])
    unit = _units(dataset, cohort.cluster)[rows.index[held]]
    return Prepared(
        pd.DataFrame({"label": label.iloc[held], "age": group.iloc[held], "unit": unit}),
        {"isotonic": fit.scores, "none": fit.uncalibrated},
        weights[rows.index[held]],
        float(label.iloc[kept].mean()),
        len(kept),
        cohort.cluster,
    )


def included(frame: pd.DataFrame, spec: Mapping[str, Any]) -> pd.DataFrame:
    """The rows a specification admits: first encounters are taken before anybody is dropped."""
    if spec.get("encounters") == "first":
        frame = frame.loc[np.sort(frame.groupby("patient_nbr")["encounter_id"].idxmin())]
    if spec.get("hospice") == "dropped":
        frame = frame[~frame["discharge_disposition_id"].isin(NO_RETURN)]
    return frame[frame["race"].notna()] if spec.get("missing_race") == "dropped" else frame


def judge(spec: Specification, prepared: Prepared) -> dict[str, Any]:
    """Flag at the specification's threshold; the gap, its interval and its replicates."""
    score = prepared.scores[str(spec["calibration"])][str(spec["family"])]
    t = snap(threshold_of(spec["threshold"], score.to_numpy(), prepared.train_prevalence))  # as count() would
    frame = prepared.held.assign(score=score)
    unit = "unit" if prepared.cluster else None
    table = count(frame, label="label", score="score", by="age", thresholds=[t], bins=1, cluster=unit).at(t)
    a, b = (str(level) for level in frame["age"].cat.categories)
    found = gap_interval(table, a, b)
    cells = {
        f"{cell}_{k}": int(table[cell].sel(age=g)) for k, g in (("a", a), ("b", b)) for cell in ("tp", "fp", "fn", "tn")
    }
    return {
        **{name: float(found[name]) for name in ("estimate", "low", "high")},
        **{name: int(found[name]) for name in ("n_a", "n_b")},
        **cells,
        "tau": t,
        "auroc": float(roc_auc_score(frame["label"], score)),
        "n_train": prepared.n_train,
        "n_test": len(frame),
        "replicates": replicated(frame, t, prepared.weights, a, b),
    }


def threshold_of(rule: Any, score: np.ndarray, train_prevalence: float) -> float:
    """τ by its rule; "top20" is the lowest score from which at most a fifth of the held-out rows are flagged.

    Raises
    ------
    AuditInputError
        When the highest score alone is held by more than a fifth: equal scores are not divided.

    Examples
    --------
    >>> threshold_of("top20", np.array([0.1, 0.2, 0.3, 0.3, 0.4]), 0.5)
    0.4
    """
    if rule == "train_prevalence":
        return train_prevalence
    if rule != "top20":
        return float(rule)
    values, rows = np.unique(score, return_counts=True)
    fits = np.cumsum(rows[::-1])[::-1] <= np.floor(0.2 * len(score) + 1e-9)
    if not fits.any():
        raise AuditInputError(f"top20: the highest score is held by {rows[-1]:,} of {len(score):,} rows, over a fifth.")
    return float(values[fits][0])


def replicated(frame: pd.DataFrame, t: float, weights: np.ndarray, a: str, b: str) -> list[float]:
    """The gap in each resampling, to four decimals; NaN where a group has no positive."""
    again = resampled_table(frame, weights, label="label", score="score", by="age", threshold=t)
    return [float(value) for value in np.round(gap(sensitivity(again), a, b), 4)]


@lru_cache(maxsize=1)
def _loaded(dataset: str) -> pd.DataFrame:
    return datasets.load(dataset)


@lru_cache(maxsize=1)
def _units(dataset: str, cluster: str | None) -> np.ndarray:
    """Number of each row's patient, by position in the cohort."""
    frame = _loaded(dataset)
    return np.arange(len(frame)) if cluster is None else pd.factorize(frame[cluster])[0]


@lru_cache(maxsize=1)
def _weights(dataset: str, cluster: str | None, replicates: int, seed: int) -> np.ndarray:
    """How often each row's patient is drawn, by position in the cohort."""
    return resampling_weights(_loaded(dataset), replicates, cluster=cluster, seed=seed)
