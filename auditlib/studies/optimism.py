"""What a model looks like on the rows it was fitted to, and what is left elsewhere: diabetes by race, 20,000 rows.

Four estimates of the same subgroup net benefit, on a budget of rows that a single hospital may have:

- ``apparent``: the model judged on its own rows;
- ``corrected``: apparent minus Harrell's optimism over bootstrap refits, rows drawn within race (the propensity
  weights of ``MultiSA`` are computed once and travel with their rows). Done for every LASSO, and for two boosted models
  to show that it fails there;
- ``cross-validated``: each row judged by a model fitted to the other four of five folds;
- ``held-out``: the model judged on all respondents it was not fitted to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from tqdm.auto import tqdm

from auditlib import models
from auditlib.benefit import benefit_interval, subgroup_net_benefit
from auditlib.counts import confusion
from auditlib.counts.merge import check_whole
from auditlib.errors import AuditInputError
from auditlib.intervals import optimism_interval
from auditlib.jobs import check_jobs
from auditlib.studies.benefit import LAM, RACES, SEED, THRESHOLD, DiabetesCohort, diabetes_cohort, predicted

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
FOLDS = 5
OWN, CROSSED = -2, -1  # jobs beside the refits 0, 1, …
REFITTED = (*((s, "lasso") for s in models.STRATEGIES), ("SingleSA", "boosting"), ("OneEach", "boosting"))
PAIRS = tuple((strategy, learner) for learner in models.LEARNERS for strategy in models.STRATEGIES)
GROUPS = ["all", *RACES.values()]
COLUMNS = ["strategy", "learner", "race", "method", "estimate", "low", "high", "n", "refits"]


def diabetes_optimism(
    budget: int = 20_000,
    refits: int = 200,
    boosted_refits: int = 50,
    *,
    max_rows: int | None = None,
    seed: int = SEED,
    n_jobs: int = 1,
    progress: bool = False,
) -> pd.DataFrame:
    """Apparent, corrected, cross-validated and held-out subgroup net benefit at t = 0.15 and λ = 0.58.

    Parameters
    ----------
    budget : int
        Rows to fit on, a sample stratified by race and outcome; all others are held out.
    refits, boosted_refits : int
        Bootstrap refits of each LASSO and of each boosted model that is corrected.
    max_rows : int, optional
        A random part of the cohort, budget and held-out rows together.
    seed : int
    n_jobs : int
        Processes, −1 for one a core; results do not depend on it.
    progress : bool

    Returns
    -------
    DataFrame
        One row a strategy, learner, race ("all" too) and method: ``estimate``, ``low`` and ``high`` of sNB (not per
        10,000), ``n`` rows judged, ``refits`` (0 where there is none). Intervals are 95%: normal ones of a mean over
        the judged rows (cross-validated: over the folds' predictions as if of one model), and ``optimism_interval``.

    Raises
    ------
    AuditInputError
        When the cohort is not at hand, the budget leaves nobody to hold out or is too small to stratify or to fit every
        race on, or ``seed`` or ``n_jobs`` is no such number.

    References
    ----------
    Harrell FE, Lee KL, Mark DB. Stat Med 1996;15:361–387. Noma H et al. Stat Med 2021;40:5691–5701.
    """
    for name, value in (("budget", budget), ("refits", refits), ("boosted_refits", boosted_refits)):
        check_whole(value, name)
    models.check_seed(seed)
    check_jobs(n_jobs)
    cohort = diabetes_cohort(max_rows, seed)
    fit, held = sampled(cohort, budget, seed)
    inside, outside = part(cohort, fit), part(cohort, held)
    enough(inside, seed)
    weights = models.propensity_weights(inside.matrix, inside.group)
    times = {"lasso": refits, "boosting": boosted_refits}
    jobs = [(pair, k) for pair in PAIRS for k in range(OWN, times[pair[1]] if pair in REFITTED else 0)]
    pool = Parallel(n_jobs=n_jobs, return_as="generator", pre_dispatch="2 * n_jobs")
    done = pool(delayed(_run)(pair, k, inside, outside if k == OWN else inside, weights, seed) for pair, k in jobs)
    tables = list(tqdm(done, total=len(jobs), disable=not progress, desc="fits"))
    by_pair: dict[tuple[str, str], list[Any]] = {pair: [] for pair in PAIRS}
    for (pair, _), table in zip(jobs, tables, strict=True):
        by_pair[pair].append(table)
    rows = (line for pair, found in by_pair.items() for line in _lines(pair, *found))
    return pd.DataFrame(list(rows), columns=COLUMNS)


def sampled(cohort: DiabetesCohort, budget: int, seed: int) -> tuple[Indices, Indices]:
    """Rows to fit on, stratified by race and outcome, and all others."""
    strata = cohort.race.codes.astype(int) * 2 + cohort.y
    try:
        fit, held = train_test_split(np.arange(len(strata)), train_size=budget, random_state=seed, stratify=strata)
    except ValueError as error:
        raise AuditInputError(
            f"budget = {budget}: no such sample of {len(strata):,} rows (all, or max_rows of them): {error}"
        ) from error
    return np.sort(fit), np.sort(held)


def enough(inside: DiabetesCohort, seed: int) -> None:
    """Raise AuditInputError unless models can be fitted, and each race met in the fit rows of each fold."""
    said = f"budget = {len(inside.y)}: too few rows to fit on; take more (and more of max_rows)."
    try:
        rests = [np.arange(len(inside.y)), *(rest for rest, _ in models.folds(inside.y, n_splits=FOLDS, seed=seed))]
    except AuditInputError as error:
        raise AuditInputError(f"{said} ({error})") from error
    for race, name in enumerate(RACES.values()):
        if not all((inside.race.codes[rest] == race).any() for rest in rests):
            raise AuditInputError(f"{said} (In one of {FOLDS} folds nobody of the group {name} is left to fit on.)")


def part(cohort: DiabetesCohort, rows: Indices) -> DiabetesCohort:
    """Some rows of the cohort, in order."""
    return DiabetesCohort(cohort.x.iloc[rows].reset_index(drop=True), cohort.y[rows], cohort.race[rows])


def redrawn(cohort: DiabetesCohort, rng: np.random.Generator) -> Indices:
    """Positions of a bootstrap sample, as many of each race as there are."""
    places = [np.flatnonzero(cohort.race.codes == k) for k in range(len(RACES))]
    return np.concatenate([rng.choice(place, len(place)) if len(place) else place for place in places])


def judged(cohort: DiabetesCohort, risk: Floats, rows: Indices | None = None) -> xr.Dataset:
    """Confusion table at t = 0.15 of these rows, everybody and by race."""
    taken = slice(None) if rows is None else rows
    y, code, flag = cohort.y[taken], cohort.race.codes[taken].astype(np.intp), risk[taken] >= THRESHOLD
    cells = np.bincount(code * 4 + 2 * flag + y, minlength=4 * len(RACES)).reshape(-1, 4)
    tn, fn, fp, tp = np.vstack([cells.sum(axis=0), cells]).T
    return confusion(tp=tp, fp=fp, fn=fn, tn=tn, race=GROUPS)


def _run(
    pair: tuple[str, str], k: int, inside: DiabetesCohort, outside: DiabetesCohort, weights: pd.DataFrame, seed: int
) -> tuple[xr.Dataset, ...]:
    """OWN: the model on its own rows and on the others; CROSSED: each row by its fold's model; k: refit k on its own
    sample and on the original rows."""
    strategy, learner = pair
    given = weights if strategy == "MultiSA" else None
    x, y, group = inside.matrix, inside.y, inside.group
    if k == CROSSED:
        return (judged(inside, _crossed(pair, inside, seed)),)
    rows = None if k == OWN else redrawn(inside, np.random.default_rng([seed, k]))
    fitted = models.fit_strategy(strategy, learner, x, y, group, weights=given, rows=rows, seed=seed)
    risk = fitted.predict(x, group)
    if k == OWN:
        return judged(inside, risk), judged(outside, fitted.predict(outside.matrix, outside.group))
    return judged(inside, risk, rows), judged(inside, risk)


def _crossed(pair: tuple[str, str], inside: DiabetesCohort, seed: int) -> Floats:
    """Risk of each row from the fold it was not in; propensities are those of the fold's own fit rows."""
    risk = np.empty(len(inside.y))
    for rest, held in models.folds(inside.y, n_splits=FOLDS, seed=seed):
        risk[held] = predicted(*pair, inside, rest, held, seed)
    return risk


def _lines(
    pair: tuple[str, str],
    first: tuple[xr.Dataset, ...],
    second: tuple[xr.Dataset, ...],
    *refits: tuple[xr.Dataset, ...],
) -> Iterator[dict[str, Any]]:
    apparent, held = first
    found = {
        "apparent": benefit_interval(apparent, THRESHOLD, LAM),
        "cross-validated": benefit_interval(second[0], THRESHOLD, LAM),
        "held-out": benefit_interval(held, THRESHOLD, LAM),
    }
    if refits:
        own, original = (xr.concat([_benefit(pairs[k]) for pairs in refits], "replicate") for k in (0, 1))
        corrected = optimism_interval(_benefit(apparent), own, original)
        found["corrected"] = corrected.assign(n=found["apparent"]["n"])
    for method, values in found.items():
        for race in GROUPS:
            at = values.sel(race=race)
            numbers = {name: round(float(at[name]), 8) for name in ("estimate", "low", "high")}
            facts = dict(zip(COLUMNS, (*pair, race, method), strict=False))
            yield {**facts, **numbers, "n": int(at["n"]), "refits": int(at.get("refits", 0))}


def _benefit(table: xr.Dataset) -> xr.DataArray:
    return subgroup_net_benefit(table, THRESHOLD, LAM)
