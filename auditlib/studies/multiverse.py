"""The multiverses of the book: two cohorts by age, the choices of a gap audit, one row a specification."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import sklearn
from joblib import Parallel, delayed
from tqdm.auto import tqdm

import auditlib
from auditlib import datasets, models
from auditlib.counts.merge import check_whole
from auditlib.errors import AuditInputError
from auditlib.jobs import check_jobs
from auditlib.multiverse import Grid, Multiverse, read_multiverse, run_multiverse
from auditlib.studies.specifications import judge, prepare

BUDGET, REPLICATES, SEED = 20_000, 200, 42
#: Axes in which specifications share one preparation of the data and one pass over the folds.
ONCE = ("family", "calibration", "threshold")
_JUDGED = {"calibration": ("isotonic", "none"), "threshold": ("train_prevalence", "top20", 0.3)}
AXES: dict[str, dict[str, tuple[Any, ...]]] = {
    "diabetes130": {
        "family": ("logistic", "shallow_tree", "gradient_boosting"),
        **_JUDGED,
        "age_bands": ("10–29 v 60+", "<50 v 70+", "10–29 v 80+"),
        "encounters": ("all", "first"),
        "hospice": ("kept", "dropped"),
        "missing_race": ("level", "dropped"),
        "predictors": ("full", "short"),
        "seed": (42, 43),
    },
    "cdc_diabetes": {
        "family": ("logistic", "shallow_tree", "random_forest", "gradient_boosting"),
        **_JUDGED,
        "age_bands": ("18–44 v 65+", "18–24 v 80+", "18–34 v 70+"),
        "trained_on": ("two groups", "everyone"),
        "predictors": ("full", "short"),
        "seed": (42, 43, 44),
    },
}


def multiverse_grid(dataset: str, max_rows: int | None = BUDGET, replicates: int = REPLICATES, draw: int = 0) -> Grid:
    """The declared grid of a cohort's age comparison.

    Parameters
    ----------
    dataset : {"diabetes130", "cdc_diabetes"}
    max_rows : int, optional
        Row budget: training rows a model is fitted on, a random part stratified by group and outcome, whole patients.
        Everyone held out is judged. None for all training rows.
    replicates : int
        Resamplings of the cohort's patients, the same for all specifications.
    draw : int
        Which random part of the training rows the budget takes.

    Raises
    ------
    AuditInputError
        For another dataset, and for numbers that are no whole ones.

    Examples
    --------
    >>> len(multiverse_grid("cdc_diabetes")), len(multiverse_grid("diabetes130"))
    (864, 1728)
    """
    if not isinstance(dataset, str) or dataset not in AXES:
        raise AuditInputError(f"no multiverse of {dataset!r}: choose one of {', '.join(AXES)}.")
    if max_rows is not None:
        check_whole(max_rows, "max_rows")
    check_whole(replicates, "replicates")
    models.check_seed(draw)
    settings = {
        "dataset": dataset,
        "attribute": "age",
        "max_rows": max_rows,
        "replicates": replicates,
        "seed": SEED,
        "draw": draw,
        "auditlib": auditlib.__version__,
        "scikit_learn": sklearn.__version__,
    }
    return Grid(f"{dataset} by age", AXES[dataset], settings=settings)


def gap_multiverse(
    grid: Grid, path: str | Path | None = None, n_jobs: int | None = None, progress: bool = False
) -> Multiverse:
    """The gap in sensitivity, younger minus older, under every specification of (a part of) a declared grid.

    Parameters
    ----------
    grid : Grid
        ``multiverse_grid(…)``, or ``.only(…)`` of it.
    path, n_jobs, progress
        As in ``run_multiverse``.

    Returns
    -------
    Multiverse
        In ``rows``, beside the choices: ``estimate``, ``low``, ``high`` (Newcombe, 95%, effective n where patients have
        several rows), the positives ``n_a`` and ``n_b``, the confusion counts ``tp_a`` … ``tn_b`` of both groups, the
        threshold ``tau``, the test ``auroc``, ``n_train`` and ``n_test`` rows. ``replicates``: the gap when the
        cohort's patients are resampled, fits and thresholds held fixed.

    Raises
    ------
    AuditInputError
        When the grid is not one of these (any seeds will do, other choices must be declared ones), the cohort cannot be
        had, or the file at ``path`` is of another grid.

    References
    ----------
    Ghorbanpourbaboli et al., SMASH 2026 (the choices of the default specification).

    Examples
    --------
    >>> if datasets.available("cdc_diabetes"):
    ...     grid = multiverse_grid("cdc_diabetes", max_rows=2_000)
    ...     part = grid.only(family="shallow_tree", age_bands="18–44 v 65+", trained_on="everyone", seed=42)
    ...     assert (gap_multiverse(part).rows["n_train"] <= 2_000).all()
    """
    dataset = _checked(grid)
    datasets.load(dataset)  # a cohort that is not at hand is one error, not a row each
    return run_multiverse(
        grid, judge, prepare=partial(prepare, grid.settings), once=ONCE, path=path, n_jobs=n_jobs, progress=progress
    )


def _checked(grid: Grid) -> str:
    """The grid's cohort, or an error: an unknown choice would be taken for another, a wrong setting fail every row."""
    settings = grid.settings if isinstance(grid, Grid) else {}
    try:
        declared = multiverse_grid(*(settings[name] for name in ("dataset", "max_rows", "replicates", "draw")))
    except KeyError:
        raise AuditInputError("grid: give multiverse_grid(…), or a part of it by .only(…).") from None
    if list(grid.axes) != list(declared.axes) or dict(settings) != dict(declared.settings):
        raise AuditInputError(
            "grid: its axes or settings are not those of multiverse_grid(…); give that, or .only(…) of it."
        )
    for axis, choices in grid.axes.items():
        if axis == "seed":
            for seed in choices:
                models.check_seed(seed)
        else:
            declared.only(**{axis: choices})
    return str(settings["dataset"])


def multiverse_path(dataset: str) -> Path:
    """Where a cohort's committed rows are; replicates stand beside them."""
    return datasets.root() / "data" / "multiverse" / f"{dataset}.csv"


def committed_multiverse(dataset: str) -> Multiverse:
    """The committed rows of a cohort's multiverse, its grid and its replicates.

    Examples
    --------
    >>> len(committed_multiverse("cdc_diabetes").rows)
    864
    """
    return read_multiverse(multiverse_path(dataset))


#: Axes that the study of the budget varies; the others keep their default.
VARIED = ("family", "threshold")


def budget_study(draws: int = 10, n_jobs: int = 1, progress: bool = False) -> pd.DataFrame:
    """What the row budget costs: ``draws`` random parts of the training rows, and all of them, for every family.

    Everything but family and threshold keeps its default; on all rows also the grid's other seeds are tried.

    Returns
    -------
    DataFrame
        One row a specification and fit: dataset, family, threshold, seed, ``max_rows`` (missing: all), ``draw``, what
        ``gap_multiverse`` returns, and ``patient_sd``, the standard deviation of its replicates.
    """
    check_whole(draws, "draws")
    check_jobs(n_jobs)
    asked: list[tuple[str, int | None, int, int]] = []
    for dataset, axes in AXES.items():
        asked += [(dataset, BUDGET, draw, axes["seed"][0]) for draw in range(draws)]
        asked += [(dataset, None, 0, seed) for seed in axes["seed"]]
    pool = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(_near_default)(*each) for each in asked)
    return pd.concat(tqdm(pool, total=len(asked), disable=not progress, desc="budget"), ignore_index=True)


def budget_cost(found: pd.DataFrame) -> pd.DataFrame:
    """What the row budget moves, beside what the patients judged do.

    Parameters
    ----------
    found : DataFrame of ``budget_study``

    Returns
    -------
    DataFrame by dataset, family and threshold: ``gap``, the mean over the random parts of the training rows; ``gap, all
    rows``, of the grid's first seed, which the parts have too; ``budget_sd``, the standard deviation of the gap over
    the parts; ``patient_sd``, that over resamplings of the patients, parts averaged; the ``ratio`` of the first to the
    second; and ``apart``, how many standard errors of the first gap (``budget_sd`` by the root of the number of parts)
    lie between the two gaps.

    Raises
    ------
    AuditInputError
        For missing columns.

    Examples
    --------
    >>> found = {"dataset": "d", "family": "f", "threshold": "t", "max_rows": [100.0, 100.0, None],
    ...          "estimate": [0.1, 0.2, 0.3], "patient_sd": 0.1}
    >>> budget_cost(pd.DataFrame(found))[["gap", "gap, all rows", "ratio", "apart"]].round(3).values.tolist()
    [[0.15, 0.3, 0.707, -3.0]]
    """
    keys = ["dataset", "family", "threshold"]
    if missing := [name for name in (*keys, "max_rows", "estimate", "patient_sd") if name not in found]:
        raise AuditInputError(f"found: no column {', '.join(missing)}; give the table of budget_study.")
    parts = found[found["max_rows"].notna()].groupby(keys, sort=False)
    cost = parts.agg(gap=("estimate", "mean"), budget_sd=("estimate", "std"), patient_sd=("patient_sd", "mean"))
    whole = found[found["max_rows"].isna()].drop_duplicates(keys).set_index(keys)["estimate"]
    cost.insert(1, "gap, all rows", whole)
    error = cost["budget_sd"] / parts.size() ** 0.5
    return cost.assign(ratio=cost["budget_sd"] / cost["patient_sd"], apart=(cost["gap"] - whole) / error)


def _near_default(dataset: str, max_rows: int | None, draw: int, seed: int) -> pd.DataFrame:
    grid = multiverse_grid(dataset, max_rows, draw=draw)
    kept = {axis: choice for axis, choice in grid.default.items() if axis not in VARIED}
    found = gap_multiverse(grid.only(**(kept | {"seed": seed})), n_jobs=1)
    assert found.replicates is not None  # every specification of these has them
    rows = found.rows.drop(columns=[axis for axis in grid.axes if axis not in (*VARIED, "seed")])
    facts = {"dataset": dataset, "max_rows": max_rows, "draw": draw}
    return rows.assign(patient_sd=found.replicates.std(axis=1).round(6), **facts)
