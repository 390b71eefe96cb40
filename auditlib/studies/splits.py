"""What one model and one split leave out: comparisons refitted on other splits, and on other training patients."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from joblib import Parallel, delayed
from tqdm.auto import tqdm

from auditlib import datasets, models
from auditlib.counts import count
from auditlib.counts.merge import check_whole
from auditlib.intervals import gap_interval
from auditlib.jobs import check_jobs
from auditlib.studies.comparisons import comparison_of
from auditlib.studies.gap import compared, gap_audit, predictors

SEED = 42
#: Comparison and family of each part of the study.
SPLITS = (("diabetes130", "sex", "logistic"), ("cdc_diabetes", "age", "gradient_boosting"))
RETRAINED = (("diabetes130", "sex", "logistic"),)


def split_path() -> Path:
    """Where the committed result is."""
    return datasets.root() / "data" / "studies" / "split_seeds.csv"


def resplit(dataset: str, attribute: str, model: str, seed: int) -> dict[str, Any]:
    """Another split, another fit: the gap in sensitivity at that split's τ, with Newcombe's interval."""
    counts = gap_audit(dataset, attribute, model=model, seed=seed)
    a, b = counts.groups[attribute]
    found = gap_interval(counts.at(counts.provenance["threshold"]), a, b)
    return line("split", dataset, attribute, model, seed, counts.provenance["threshold"], found)


def retrain(dataset: str, attribute: str, model: str, seed: int) -> dict[str, Any]:
    """The same test patients, training patients redrawn with replacement: what the fit alone contributes."""
    comparison = comparison_of(dataset, attribute)
    cohort = comparison.cohort
    rows, group = compared(datasets.load(dataset), comparison)
    label = (rows[cohort.outcome] == cohort.positive).astype("int64")
    patient = rows[cohort.cluster] if cohort.cluster else pd.Series(np.arange(len(rows)))
    train, test = models.split(label, cluster=patient if cohort.cluster else None, seed=SEED)
    redrawn = redraw(patient.iloc[train].to_numpy(), np.random.default_rng(seed))
    chosen, x = train[redrawn], predictors(rows, comparison)
    fit = models.cross_fit(
        x.iloc[chosen].reset_index(drop=True),
        label.iloc[chosen].reset_index(drop=True),
        x.iloc[test],
        families=[model],
        cluster=patient.iloc[chosen].reset_index(drop=True),
        seed=SEED,
    )
    tau = float(label.iloc[chosen].mean())
    held = pd.DataFrame({"label": label.iloc[test], attribute: group.iloc[test], "patient": patient.iloc[test]})
    frame = held.assign(risk=fit.scores[model])
    unit = "patient" if cohort.cluster else None
    counts = count(frame, label="label", score="risk", by=attribute, thresholds=[tau], cluster=unit)
    a, b = comparison.levels()
    return line("training", dataset, attribute, model, seed, tau, gap_interval(counts.at(tau), a, b))


def redraw(patients: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rows of as many patients as there are, drawn with replacement, each with all rows.

    >>> rows = redraw(np.array([7, 7, 8]), np.random.default_rng(1))
    >>> bool(np.isin(rows, [0, 1, 2]).all())
    True
    """
    order = np.argsort(patients, kind="stable")
    _, start, size = np.unique(patients[order], return_index=True, return_counts=True)
    drawn = rng.integers(0, len(start), len(start))
    return np.concatenate([order[start[k] : start[k] + size[k]] for k in drawn])


def line(
    what: str, dataset: str, attribute: str, model: str, seed: int, tau: float, found: xr.Dataset
) -> dict[str, Any]:
    """One line of the study."""
    numbers = {name: round(float(found[name]), 6) for name in ("estimate", "low", "high")}
    facts = {"what": what, "dataset": dataset, "attribute": attribute, "model": model, "seed": seed}
    return {**facts, "threshold": round(tau, 6), "n_a": int(found.n_a), "n_b": int(found.n_b), **numbers}


def split_study(draws: int = 20, n_jobs: int = 1, progress: bool = False) -> pd.DataFrame:
    """Refit the comparisons of SPLITS on ``draws`` random splits, and those of RETRAINED on redrawn training patients.

    Returns
    -------
    DataFrame
        One row a fit: what was varied (``split`` or ``training``), the comparison, gap, Newcombe's interval, trials, τ.
    """
    check_whole(draws, "draws")
    check_jobs(n_jobs)
    seeds = range(SEED, SEED + draws)
    jobs: list[tuple[Callable[..., dict[str, Any]], tuple[Any, ...]]] = [
        (resplit, (*setting, seed)) for setting in SPLITS for seed in seeds
    ]
    jobs += [(retrain, (*setting, seed)) for setting in RETRAINED for seed in seeds]
    pool = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(work)(*asked) for work, asked in jobs)
    return pd.DataFrame(list(tqdm(pool, total=len(jobs), disable=not progress, desc="splits")))
