"""Heart attacks in 54 states and territories: one model of everyone, judged state by state (BRFSS 2022).

Half of the respondents fit one model, drawn within state and outcome; the other half are judged. The family is the
gap audit's gradient boosting behind its isotonic fold ensemble, τ the training prevalence in all states. Sex, age and
race are predictors here, the state is none. Groups are coarse (two races, three age bands), because in every state
some race or five-year band holds fewer than five heart attacks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import sklearn
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import train_test_split

import auditlib
from auditlib import datasets, models
from auditlib.counts import Counts, count
from auditlib.counts.merge import check_whole
from auditlib.datasets import counts_path
from auditlib.errors import AuditInputError
from auditlib.simulate.parameters import generator
from auditlib.studies.comparisons import COHORTS, band_levels
from auditlib.studies.stays import exact_calibration

DATASET, FAMILY, SEED = "brfss2022_heart", "gradient_boosting", 42
STATES_TABLE, BINS = "states-heart", 100
ATTRIBUTES = ("sex", "age", "race", "ethnicity")
AGES = ("18–44", "45–64", "65+")
RACES = ("White", "other")
#: The ten regions of the Department of Health and Human Services, as far as there are respondents.
REGIONS = """
Connecticut, Maine, Massachusetts, New Hampshire, Rhode Island, Vermont
New Jersey, New York, Puerto Rico, Virgin Islands
Delaware, District of Columbia, Maryland, Pennsylvania, Virginia, West Virginia
Alabama, Florida, Georgia, Kentucky, Mississippi, North Carolina, South Carolina, Tennessee
Illinois, Indiana, Michigan, Minnesota, Ohio, Wisconsin
Arkansas, Louisiana, New Mexico, Oklahoma, Texas
Iowa, Kansas, Missouri, Nebraska
Colorado, Montana, North Dakota, South Dakota, Utah, Wyoming
Arizona, California, Guam, Hawaii, Nevada
Alaska, Idaho, Oregon, Washington
"""
WHITE, HISPANIC = "White only, Non-Hispanic", "Hispanic"


def states_counts(*, seed: int = SEED, max_rows: int | None = None, n_jobs: int = 1) -> Counts:
    """Counts of heart attacks ever had, over the states, by one model fitted on other respondents.

    Parameters
    ----------
    seed : int
        Of the split, the folds and the fits.
    max_rows : int, optional
        A random part of the cohort, for a quick look.
    n_jobs : int
        Processes; the result does not depend on it.

    Returns
    -------
    Counts
        Over ``state``, ``sex``, ``age`` (18–44, 45–64, 65+), ``race`` ("White": white only and not Hispanic; "other")
        and ``ethnicity`` ("Hispanic", "not Hispanic"), with 100 score bins and τ. ``provenance`` has τ, the sizes, and
        from the rows AUROC, accuracy, F1 and the calibration gap of each attribute.

    Raises
    ------
    AuditInputError
        When the cohort cannot be had, or ``max_rows`` is no whole number or leaves too few respondents in a state.

    Examples
    --------
    >>> found = states_table()  # what states_counts() gives, in minutes
    >>> found.dims
    ('state', 'sex', 'age', 'race', 'ethnicity')
    """
    models.check_seed(seed)
    if max_rows is not None:
        check_whole(max_rows, "max_rows")
    cohort = COHORTS[DATASET]
    frame = datasets.load(DATASET)
    if max_rows is not None:
        frame = frame.iloc[np.sort(generator(seed).permutation(len(frame))[:max_rows])].reset_index(drop=True)
    label = (frame[cohort.outcome] == cohort.positive).astype("int64").rename(cohort.label)
    train, held = _halves(frame["State"], label, seed)
    x = respondents(frame)
    fit = models.cross_fit(x.iloc[train], label.iloc[train], x.iloc[held], families=[FAMILY], seed=seed, n_jobs=n_jobs)
    tau = float(label.iloc[train].mean())
    judged = pd.concat([state_groups(frame), label], axis=1).iloc[held].assign(risk=fit.scores[FAMILY])
    found = count(judged, label=cohort.label, score="risk", by=["state", *ATTRIBUTES], thresholds=[tau], bins=BINS)
    return found.with_provenance(
        study="states",
        dataset=DATASET,
        outcome=f"{cohort.outcome} = {cohort.positive}",
        model=FAMILY,
        calibration="isotonic, 5 folds",
        cv_auc=round(fit.cv_auc[FAMILY], 6),
        predictors=x.shape[1],
        threshold=tau,
        threshold_rule="training prevalence",
        n_train=len(train),
        n_test=len(held),
        positives_train=int(label.iloc[train].sum()),
        positives_test=int(label.iloc[held].sum()),
        **_performance(judged, cohort.label, tau),
        seed=seed,
        max_rows=max_rows,
        source_sha256=datasets.checksum(DATASET),
        auditlib=auditlib.__version__,
        scikit_learn=sklearn.__version__,
    )


def states_table(name: str = STATES_TABLE) -> Counts:
    """The committed table of the states.

    Examples
    --------
    >>> counts = states_table()
    >>> len(counts.groups["state"]), round(counts.provenance["threshold"], 4)  # from which score on it flags
    (54, 0.0546)
    """
    if name != STATES_TABLE:
        raise AuditInputError(f"no table named {name!r}: there is {STATES_TABLE}.")
    return Counts.read_csv(counts_path(name))


def regions() -> dict[str, list[str]]:
    """States of each of the ten HHS regions, as ``Counts.regroup`` takes them.

    >>> regions()["6"]
    ['Arkansas', 'Louisiana', 'New Mexico', 'Oklahoma', 'Texas']
    """
    return {str(number): line.split(", ") for number, line in enumerate(REGIONS.strip().splitlines(), start=1)}


def respondents(frame: pd.DataFrame) -> pd.DataFrame:
    """What the model sees: every answer but the outcome and the state; age as the first year of its band."""
    x = frame.drop(columns=[COHORTS[DATASET].outcome, "State"])
    return x.assign(AgeCategory=x["AgeCategory"].str.extract(r"(\d+)", expand=False).astype(float))


def state_groups(frame: pd.DataFrame) -> pd.DataFrame:
    """State and groups of each respondent, as ordered categories (states in alphabetical order)."""
    cohort, race = COHORTS[DATASET], frame["RaceEthnicityCategory"]
    bands = {level: band for band in AGES for level in band_levels(cohort, band)}
    white, hispanic = np.where(race == WHITE, *RACES), np.where(race == HISPANIC, "Hispanic", "not Hispanic")
    found: dict[str, tuple[Any, list[str]]] = {
        "state": (frame["State"], sorted(frame["State"].unique())),
        "sex": (frame["Sex"], ["Female", "Male"]),
        "age": (frame["AgeCategory"].map(bands), list(AGES)),
        "race": (white, list(RACES)),
        "ethnicity": (hispanic, ["Hispanic", "not Hispanic"]),
    }
    return pd.DataFrame(
        {name: pd.Categorical(values, levels, ordered=True) for name, (values, levels) in found.items()},
        index=frame.index,
    )


def _halves(state: pd.Series, label: pd.Series, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the respondents to fit on and of those to judge, half of each state's cases and of its others."""
    cell = state + label.map({0: ": no", 1: ": yes"})
    sizes = cell.value_counts()
    if sizes.min() < 2 or len(sizes) < 2 * state.nunique():
        raise AuditInputError(
            f"max_rows: {sizes.idxmin()!r} has {sizes.min()} respondents, too few to halve; take more."
        )
    train, held = train_test_split(np.arange(len(state)), test_size=0.5, random_state=seed, stratify=cell)
    return np.sort(train), np.sort(held)


def _performance(judged: pd.DataFrame, label: str, tau: float) -> dict[str, Any]:
    """From the rows, before any binning."""
    y, flag = judged[label], judged["risk"] >= tau
    return {
        "auroc": round(float(roc_auc_score(y, judged["risk"])), 6),
        "accuracy": round(float(accuracy_score(y, flag)), 6),
        "f1": round(float(f1_score(y, flag)), 6),
        "calibration_gap": {dim: round(exact_calibration(judged[dim], judged["risk"] - y), 6) for dim in ATTRIBUTES},
    }
