"""Who gains when a diabetes model is used: BRFSS 2022 by race and ethnicity, as counts of a test set.

The outcome is a diagnosis of diabetes that a respondent reports (``HadDiabetes`` = "Yes"); it stands in for diabetes
to come, which no survey at one time can see. "No, pre-diabetes or borderline diabetes" and "Yes, but only during
pregnancy (female)" count as no. Every row is kept.

Predictors are those of a published risk score that needs no blood test (such as QDiabetes or the Leicester score), as
far as the survey asks for them: sex, age, body mass index, smoking, physical activity, alcohol, sleep, cardiovascular
disease (heart attack, angina, stroke), and the chronic conditions lung disease, depressive disorder and arthritis.
Kidney disease, difficulties in daily life and rated health are left out: they follow from diabetes more than they
foretell it. The state is no predictor, and race is one only where a strategy says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

import auditlib
from auditlib import datasets, models
from auditlib.benefit import threshold_for
from auditlib.counts import Counts, count
from auditlib.counts.merge import check_whole
from auditlib.datasets import counts_path
from auditlib.errors import AuditInputError
from auditlib.simulate.parameters import generator
from auditlib.studies.gap import OPERATING
from auditlib.studies.rows import enough

DATASET = "brfss2022_heart"
THRESHOLD, LAM = 0.15, 0.58  # t, and λ of lifestyle advice (Knowler 2002)
SEED = 42
LAMS = [k / 100 for k in range(20, 85, 5)]
RACES = {
    "White only, Non-Hispanic": "White",
    "Black only, Non-Hispanic": "Black",
    "Hispanic": "Hispanic",
    "Other race only, Non-Hispanic": "Other",
    "Multiracial, Non-Hispanic": "Multiracial",
}
YES = {
    "PhysicalActivities": "active",
    "AlcoholDrinkers": "alcohol",
    "HadHeartAttack": "heart_attack",
    "HadAngina": "angina",
    "HadStroke": "stroke",
    "HadCOPD": "copd",
    "HadDepressiveDisorder": "depression",
    "HadArthritis": "arthritis",
}
TABLES = ("snb-diabetes-race", "snb-diabetes-race-models", "snb-heart-income")


@dataclass(frozen=True)
class DiabetesCohort:
    """Respondents as the models see them.

    Attributes
    ----------
    x : predictors, numbers only.
    y : 0/1, a reported diagnosis of diabetes.
    race : categorical, short names in ``RACES``' order.
    """

    x: pd.DataFrame
    y: NDArray[np.int64]
    race: pd.Categorical[Any]

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The predictors as an array."""
        return np.ascontiguousarray(self.x, dtype=float)

    @cached_property
    def group(self) -> NDArray[Any]:
        """Short name of each row's race."""
        return np.asarray(self.race, dtype=object)


def diabetes_cohort(max_rows: int | None = None, seed: int = SEED) -> DiabetesCohort:
    """BRFSS 2022 as 14 numbers, an outcome and a race.

    Age is the first year of its band; "Yes" is 1; smoking is two indicators (current, former).

    Parameters
    ----------
    max_rows : int, optional
        A random part of the rows.
    seed : int
        Of that part.

    Raises
    ------
    AuditInputError
        When the cohort is not at hand, or ``max_rows`` is no whole number of at least 1.

    Examples
    --------
    >>> if datasets.available("brfss2022_heart"):
    ...     cohort = diabetes_cohort()
    ...     assert (len(cohort.y), cohort.y.sum(), cohort.x.shape[1]) == (246_022, 33_813, 14)
    """
    frame = datasets.load(DATASET)
    if max_rows is not None:
        check_whole(max_rows, "max_rows")
        frame = frame.iloc[np.sort(generator(seed).permutation(len(frame))[:max_rows])]
    x = pd.DataFrame(
        {
            "male": frame["Sex"] == "Male",
            "age": frame["AgeCategory"].str.extract(r"(\d+)", expand=False),
            "bmi": frame["BMI"],
            "smoker": frame["SmokerStatus"].str.startswith("Current"),
            "former_smoker": frame["SmokerStatus"].str.startswith("Former"),
            "sleep": frame["SleepHours"],
            **{name: frame[column] == "Yes" for column, name in YES.items()},
        }
    ).astype(float)
    race = pd.Categorical(frame["RaceEthnicityCategory"].map(RACES), categories=list(RACES.values()), ordered=True)
    y = (frame["HadDiabetes"] == "Yes").to_numpy().astype(np.int64)
    return DiabetesCohort(x.reset_index(drop=True), y, race)


def diabetes_counts(*, seed: int = SEED, max_rows: int | None = None) -> Counts:
    """``snb-diabetes-race``: two logistic LASSOs, race left out and in, counted jointly on the test rows by race.

    Rows are split 70/30 within outcome. Thresholds are 0.02, 0.04 … 0.50, t = 0.15, and for λ = 0.2, 0.25 … 0.8 the
    threshold at which the harm of a false positive is what it is at t = 0.15 and λ = 0.58, to four decimals.

    Examples
    --------
    >>> if datasets.available("brfss2022_heart"):
    ...     found = diabetes_counts(max_rows=5_000)
    ...     assert found.models == ("NoSA", "SingleSA")
    """
    models.check_seed(seed)
    cohort = diabetes_cohort(max_rows, seed)
    with enough(len(cohort.y), max_rows):
        train, test = models.split(cohort.y, seed=seed)
        risk = {name: predicted(name, "lasso", cohort, train, test, seed) for name in ("NoSA", "SingleSA")}
    thresholds = sorted({*OPERATING, THRESHOLD, *harm_thresholds()})
    return _counted(cohort, train, test, risk, thresholds, seed, max_rows, learner="lasso")


def diabetes_models_counts(*, seed: int = SEED, max_rows: int | None = None) -> Counts:
    """``snb-diabetes-race-models``: eight models, four strategies by two learners, counted jointly at t = 0.15.

    The same split and the same test rows as ``diabetes_counts``. ``half`` parts the test rows at random, within
    outcome: "choose" to pick a model for each group, "judge" to judge what was picked.

    Examples
    --------
    >>> if datasets.available("brfss2022_heart"):
    ...     found = diabetes_models_counts(max_rows=2_000)
    ...     assert len(found.models) == 8 and found.groups["half"] == ("choose", "judge")
    """
    models.check_seed(seed)
    cohort = diabetes_cohort(max_rows, seed)
    with enough(len(cohort.y), max_rows):
        train, test = models.split(cohort.y, seed=seed)
        judged = models.split(cohort.y[test], test=0.5, seed=seed)[1]
        weights = models.propensity_weights(cohort.matrix[train], cohort.group[train])
        risk = {
            f"{strategy} {learner}": predicted(strategy, learner, cohort, train, test, seed, weights)
            for strategy in models.STRATEGIES
            for learner in models.LEARNERS
        }
    half = pd.Categorical(np.where(np.isin(np.arange(len(test)), judged), "judge", "choose"), ordered=True)
    return _counted(cohort, train, test, risk, [THRESHOLD], seed, max_rows, half=half, learner=list(models.LEARNERS))


def benefit_counts(name: str) -> Counts:
    """A committed table of the chapters on subgroup net benefit.

    Parameters
    ----------
    name : {"snb-diabetes-race", "snb-diabetes-race-models", "snb-heart-income"}

    Raises
    ------
    AuditInputError
        When no such table is committed.

    Examples
    --------
    >>> benefit_counts("snb-diabetes-race").groups["race"]
    ('White', 'Black', 'Hispanic', 'Other', 'Multiracial')
    """
    if name not in TABLES:
        raise AuditInputError(f"no table named {name!r}: choose one of {', '.join(TABLES)}.")
    return Counts.read_csv(counts_path(name))


def harm_thresholds() -> list[float]:
    """Thresholds with the harm of a false positive held at its value for t = 0.15 and λ = 0.58, one for each λ.

    >>> harm_thresholds()[0], harm_thresholds()[-1]
    (0.3385, 0.1134)
    """
    return [round(float(threshold_for(THRESHOLD, lam, LAM)), 4) for lam in LAMS]


def predicted(
    strategy: str,
    learner: str,
    cohort: DiabetesCohort,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    seed: int = SEED,
    weights: pd.DataFrame | None = None,
) -> NDArray[np.float64]:
    """Risks of the test rows under a strategy fitted to the training rows (``weights`` are those of these)."""
    x, group = cohort.matrix, cohort.group
    fitted = models.fit_strategy(strategy, learner, x[train], cohort.y[train], group[train], weights=weights, seed=seed)
    return fitted.predict(x[test], group[test])


def _counted(
    cohort: DiabetesCohort,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    risk: dict[str, NDArray[np.float64]],
    thresholds: list[float],
    seed: int,
    max_rows: int | None,
    *,
    learner: str | list[str],
    half: pd.Categorical[Any] | None = None,
) -> Counts:
    """The test rows' counts at the thresholds, with their provenance."""
    y = cohort.y[test]
    frame = pd.DataFrame({"diabetes": y, "race": cohort.race[test], **risk})
    by = ["race"]
    if half is not None:
        frame["half"], by = half, ["race", "half"]
    found = count(frame, label="diabetes", score=list(risk), by=by, thresholds=thresholds).cut(thresholds)
    return found.with_provenance(
        study="subgroup net benefit",
        dataset=DATASET,
        outcome="HadDiabetes = Yes",
        learner=learner,
        penalty=models.PENALTY,
        recalibrated=False,
        predictors=list(cohort.x.columns),
        threshold=THRESHOLD,
        lam=LAM,
        test_auroc={name: round(float(roc_auc_score(y, values)), 6) for name, values in risk.items()},
        mean_risk={name: round(float(values.mean()), 6) for name, values in risk.items()},
        n_train=len(train),
        n_test=len(test),
        positives_train=int(cohort.y[train].sum()),
        positives_test=int(y.sum()),
        seed=seed,
        max_rows=max_rows,
        source_sha256=datasets.checksum(DATASET),
        auditlib=auditlib.__version__,
        scikit_learn=sklearn.__version__,
    )
