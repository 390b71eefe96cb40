"""Who stays longer than three days: twelve published classifiers, one table of counts each.

The verdict audit (Joy et al.) predicts long stays in Texas-100X, which its users must obtain themselves. Here the same
twelve classifiers, hyper-parameters as published, predict long stays of patients with diabetes (Diabetes-130); a copy
of Texas-100X goes the same way with ``dataset="texas100x"``. Models are fitted on one part of the patients; thresholds
may be chosen on another, the selection part, and are audited on a third.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import auditlib
from auditlib import datasets, models
from auditlib.counts import Counts, count
from auditlib.datasets import counts_path
from auditlib.errors import AuditInputError
from auditlib.jobs import check_jobs
from auditlib.mitigate.reweigh import reweigh
from auditlib.models.twelve import CLASSIFIERS, PARALLEL, classifier, package_versions
from auditlib.studies.stay_cohorts import LONG, STAY_COHORTS, StayCohort

THRESHOLD, BINS = 0.5, 100
FEWEST = 5  # long stays, and others, from which each part gets some
PARTS = ("train", "selection", "audit")
SHARES = (0.4, 0.2, 0.4)
SPLITS = ("random", "in_order")
STAYS_MODELS = CLASSIFIERS
WEIGHTED = ("race", "age")
#: What makes each committed table.
STAYS_TABLES: Mapping[str, Mapping[str, Any]] = {
    **{f"stays-{name}": {"model": name} for name in STAYS_MODELS},
    "stays-xgboost-reweighed": {"model": "xgboost", "weights": WEIGHTED},
    "stays-xgboost-admission": {"model": "xgboost", "predictors": "admission"},
    "stays-xgboost-seed43": {"model": "xgboost", "seed": 43},
    "stays-xgboost-in_order": {"model": "xgboost", "split": "in_order"},
}
#: The same of a user's own copy of Texas-100X, by the names ``stays-texas100x-…``; its stays have no order in time.
TEXAS_TABLES: Mapping[str, Mapping[str, Any]] = {
    name.replace("stays-", "stays-texas100x-"): {**how, "dataset": "texas100x"}
    for name, how in STAYS_TABLES.items()
    if how.get("split") != "in_order"
}


def stays_counts(
    model: str,
    *,
    predictors: str = "end",
    seed: int = 42,
    split: str = "random",
    weights: Sequence[str] | None = None,
    dataset: str = "diabetes130",
    site: bool = False,
    rows: pd.DataFrame | None = None,
    n_jobs: int = 1,
) -> Counts:
    """Counts of long stays (more than three days) by one classifier, on patients it was not fitted on.

    40% of the patients fit the model, 20% are for selection (of thresholds, say) and 40% for the audit. Nothing is
    recalibrated. Every patient takes part with the first recorded stay.

    Parameters
    ----------
    model : str
        One of ``STAYS_MODELS``.
    predictors : {"end", "admission"}
        All that is known by the end of the stay but how long it was, or what is known at admission.
    seed : int
        Of the split and the fit.
    split : {"random", "in_order"}
        Patients drawn within label; or the earliest 40% to fit, the next 20% to select, the latest 40% to audit.
    weights : names of attributes, optional
        Training rows are weighted so that their joint groups are independent of the label (Kamiran and Calders).
    dataset : {"diabetes130", "texas100x"}
        The cohort.
    site : bool
        Whether the hospital becomes a dim ``site``, where the cohort has one.
    rows : DataFrame, optional
        Records in the cohort's columns to use instead of the cohort, such as ``auditlib.simulate.texas_file`` makes.
    n_jobs : int
        Processes for models of independent trees; the result does not depend on it.

    Returns
    -------
    Counts
        Over ``partition`` ("selection", "audit"), ``race``, ``sex``, ``ethnicity``, ``age`` (and ``site``), with 100
        score bins. ``provenance`` has the sizes, what was left out, and from the rows, by part: AUROC, accuracy and
        F1 at 0.5, and the calibration gap of each attribute (largest minus smallest mean score − mean label).

    Raises
    ------
    AuditInputError
        When an argument is none of those above, the cohort or the package of the model cannot be had, a group of
        ``weights`` lacks a label in training, or ``rows`` lack columns, have one twice, hold lengths of stay that are
        no numbers of days, codes of no group or infinite amounts, or are too few for long and other stays in each part.

    References
    ----------
    Joy MI et al. VFR-Audit, arXiv 2608.30846. Strack B et al. BioMed Res Int 2014;781670 (the records).

    Examples
    --------
    >>> if datasets.available("diabetes130"):
    ...     counts = stays_counts("decision_tree", predictors="admission")
    ...     assert counts.groups["partition"] == ("selection", "audit")
    """
    cohort, estimator = _checked(dataset, model, seed, split, site, n_jobs)
    stays, facts = cohort.kept(datasets.load(dataset) if rows is None else _given(rows, cohort))
    x, label = cohort.features(stays, predictors), cohort.label(stays)
    part = _parts(label, split, seed)
    _check_parts(part, label)
    train, held = np.flatnonzero(part == "train"), np.flatnonzero(part != "train")
    weight = None if weights is None else training_weights(cohort, stays.iloc[train], label.iloc[train], weights)
    risk = scored(estimator, x.iloc[train], label.iloc[train], x.iloc[held], weight, n_jobs if model in PARALLEL else 1)
    groups = {name: cohort.group(stays, name).iloc[held] for name in cohort.attributes}
    where = pd.Categorical(part[held], categories=PARTS[1:], ordered=True)
    frame = pd.DataFrame({"partition": where, **groups, "long_stay": label.iloc[held], "risk": risk})
    if site:
        frame["site"] = stays[str(cohort.site)].iloc[held]
    by = ["partition", *groups, *(["site"] if site else [])]
    found = count(frame, label="long_stay", score="risk", by=by, thresholds=[THRESHOLD], bins=BINS)
    return found.with_provenance(
        study="long stays",
        dataset=dataset,
        outcome=f"{cohort.stay} > {LONG}",
        model=model,
        predictors=predictors,
        predictor_columns=list(x.columns),
        split=split,
        weights=None if weights is None else list(weights),
        threshold=THRESHOLD,
        **_sizes(part, label, facts),
        **_performance(frame, list(groups)),
        seed=int(seed),
        source_sha256=datasets.checksum(dataset) if rows is None else None,
        auditlib=auditlib.__version__,
        scikit_learn=sklearn.__version__,
        **package_versions(model),
    )


def stays_table(name: str) -> Counts:
    """A committed table of long stays: ``stays-`` and a classifier's name, or a variant of XGBoost.

    Names that begin with ``stays-texas100x-`` are those of your own copy of Texas-100X, once you have made them
    (``python -m auditlib.studies stays-texas100x-xgboost``); none is committed.

    Raises
    ------
    AuditInputError
        When no table has that name, or it has not been made.

    Examples
    --------
    >>> stays_table("stays-xgboost").groups["partition"]
    ('selection', 'audit')
    """
    if not isinstance(name, str) or (name not in STAYS_TABLES and name not in TEXAS_TABLES):
        raise AuditInputError(f"no table named {name!r}: choose one of {', '.join(STAYS_TABLES)}.")
    path = counts_path(name)
    if not path.exists():
        raise AuditInputError(f"{path.name} has not been made: python -m auditlib.studies {name}")
    return Counts.read_csv(path)


def scored(
    estimator: Any,
    train: pd.DataFrame,
    label: pd.Series,
    held: pd.DataFrame,
    weight: NDArray[np.float64] | None = None,
    n_jobs: int = 1,
) -> NDArray[np.float64]:
    """Risks of the rows held out, by an estimator fitted behind the book's preprocessing.

    Sums run on one thread: in another order they differ in the last bit, and bits move patients between bins.
    """
    prepare = models.preprocessor(train).fit(train)
    x, new = (prepare.transform(part).astype(np.float32) for part in (train, held))
    given = {} if weight is None else {"sample_weight": weight}
    with threadpool_limits(1):
        if n_jobs != 1:
            estimator.set_params(n_jobs=n_jobs)
        estimator.fit(x, label.to_numpy(), **given)
        if n_jobs != 1:
            estimator.set_params(n_jobs=1)  # trees would be added up in the order in which they finish
        return np.asarray(estimator.predict_proba(new)[:, 1], dtype=float)


def training_weights(
    cohort: StayCohort, rows: pd.DataFrame, label: pd.Series, attributes: Sequence[str]
) -> NDArray[np.float64]:
    """Kamiran and Calders' weight of each training row, over the joint groups of some attributes."""
    groups = cohort.weighed(rows, attributes)
    return reweigh(groups.assign(long_stay=label), "long_stay", list(attributes)).to_numpy()


def _checked(dataset: str, model: str, seed: int, split: str, site: bool, n_jobs: int) -> tuple[StayCohort, Any]:
    """The cohort and the estimator, before anything is loaded."""
    if not isinstance(dataset, str) or dataset not in STAY_COHORTS:
        raise AuditInputError(f"dataset = {dataset!r}: choose one of {', '.join(STAY_COHORTS)}.")
    cohort = STAY_COHORTS[dataset]
    if split not in SPLITS:
        raise AuditInputError(f"split = {split!r}: choose one of {', '.join(SPLITS)}.")
    if split == "in_order" and cohort.order is None:
        raise AuditInputError(f"split = 'in_order': nothing says which stay of {dataset} came first; use 'random'.")
    if not isinstance(site, bool | np.bool_):
        raise AuditInputError(f"site must be True or False, not {site!r}.")
    if site and cohort.site is None:
        raise AuditInputError(f"site = True: {dataset} does not name the hospitals.")
    check_jobs(n_jobs)
    return cohort, classifier(model, seed)


def _given(rows: object, cohort: StayCohort) -> pd.DataFrame:
    """Records of the user's, with every column that may be asked for."""
    needed = [cohort.stay, cohort.patient, cohort.order, cohort.site, *cohort.columns()]
    if not isinstance(rows, pd.DataFrame):
        raise AuditInputError(f"rows: a pandas DataFrame is needed, not {type(rows).__name__}.")
    if absent := sorted({name for name in needed if name is not None and name not in rows}):
        raise AuditInputError(f"rows: columns {absent[:5]} are missing ({len(absent)}); give the cohort's columns.")
    if twice := sorted({str(name) for name in rows.columns[rows.columns.duplicated()]}):
        raise AuditInputError(f"rows: columns {twice[:5]} are there more than once; keep one of each.")
    if rows.empty:
        raise AuditInputError("rows: there are none; give at least one stay.")
    return rows


def _parts(label: pd.Series, split: str, seed: int) -> NDArray[Any]:
    """Part of each row; the rows are in the order of the stays."""
    part = np.full(len(label), PARTS[0], dtype=object)
    if split == "in_order":
        first, second = (int(len(label) * share) for share in np.cumsum(SHARES)[:2])
        part[first:second], part[second:] = PARTS[1:]
        return part
    if min(long := int(label.sum()), len(label) - long) < FEWEST:
        raise AuditInputError(
            f"rows: of {len(label):,} stays {long:,} are longer than {LONG} days; at least {FEWEST} longer and "
            f"{FEWEST} others are needed, to fit, select and audit on."
        )
    rest = models.split(label, test=SHARES[1] + SHARES[2], seed=seed)[1]
    last = models.split(label.iloc[rest], test=SHARES[2] / (SHARES[1] + SHARES[2]), seed=seed)[1]
    part[rest] = PARTS[1]
    part[rest[last]] = PARTS[2]
    return part


def _check_parts(part: NDArray[Any], label: pd.Series) -> None:
    """An error unless every part holds long stays and others."""
    for name in PARTS:
        held = label[part == name]
        if held.nunique() < 2:
            raise AuditInputError(
                f"rows: of the {len(held):,} stays of the part {name!r}, {int(held.sum()):,} are longer than {LONG} "
                "days; every part needs both kinds: give more rows."
            )


def _sizes(part: NDArray[Any], label: pd.Series, facts: dict[str, Any]) -> dict[str, Any]:
    return {
        **facts,
        "n_train": int((part == PARTS[0]).sum()),
        "n": {name: int((part == name).sum()) for name in PARTS},
        "positives": {name: int(label[part == name].sum()) for name in PARTS},
    }


def _performance(frame: pd.DataFrame, attributes: list[str]) -> dict[str, Any]:
    """From the rows, before any binning."""
    found: dict[str, Any] = {"auroc": {}, "accuracy": {}, "f1": {}, "calibration_gap": {}}
    for name, part in frame.groupby("partition", observed=True):
        y, flag = part["long_stay"], part["risk"] >= THRESHOLD
        found["auroc"][str(name)] = round(float(roc_auc_score(y, part["risk"])), 6)
        found["accuracy"][str(name)] = round(float(accuracy_score(y, flag)), 6)
        found["f1"][str(name)] = round(float(f1_score(y, flag)), 6)
        found["calibration_gap"][str(name)] = {
            dim: round(exact_calibration(part[dim], part["risk"] - y), 6) for dim in attributes
        }
    return found


def exact_calibration(group: pd.Series, error: pd.Series) -> float:
    """Largest minus smallest, over groups, of the mean of score − label, from the rows."""
    mean = error.groupby(group, observed=True).mean()
    return float(mean.max() - mean.min())
