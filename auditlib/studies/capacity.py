"""Heart disease by income under limited capacity: one model, one half to choose on, one to judge on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import sklearn
import xarray as xr
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import Pipeline, make_pipeline
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import auditlib
from auditlib import datasets, models
from auditlib.benefit.core import UNIT
from auditlib.benefit.frontier import judge
from auditlib.counts import Counts, count
from auditlib.counts.merge import check_whole
from auditlib.errors import AuditInputError
from auditlib.intervals import interval
from auditlib.simulate.parameters import generator
from auditlib.studies.bookkeeping import as_published
from auditlib.studies.rows import enough

__all__ = ["as_published", "fitted", "gains", "heart_counts", "income_of", "samples"]

DATASET, OUTCOME, FAMILY = "cdc_diabetes", "HeartDiseaseorAttack", "l1_logistic"
#: Household income a year in dollars, asked as 1 to 8, in five groups, lowest first.
INCOMES = {"under 15k": (1, 2), "15–25k": (3, 4), "25–50k": (5, 6), "50–75k": (7,), "75k and over": (8,)}
#: What can be known at a visit. Income is not asked, nor what stands in for it: schooling, insurance, cost of care.
PREDICTORS = (
    *("Age", "Sex", "BMI", "HighBP", "HighChol", "CholCheck", "Smoker", "Stroke", "Diabetes_binary", "PhysActivity"),
    *("Fruits", "Veggies", "HvyAlcoholConsump", "GenHlth", "MentHlth", "PhysHlth", "DiffWalk"),
)
FIT, HALVES = 0.4, ("choose", "judge")
#: Fine where capacity ends (some people in 10,000 between two edges), coarse where nobody would be flagged.
EDGES = [
    *(k / 100 for k in range(1, 10)),
    *(k / 1_000 for k in range(100, 200)),
    *(k / 10_000 for k in range(2_000, 10_000)),
]


def heart_counts(seed: int = 42, max_rows: int | None = None) -> Counts:
    """Counts of heart disease over income and two halves, by one logistic LASSO fitted on other people.

    Of the 253,680 answers of 2015, drawn within outcome, 40% fit the model, 30% are for choosing thresholds (half
    "choose") and 30% for judging them ("judge"). The penalty is fixed beforehand; neither half has a part in the fit.

    Parameters
    ----------
    seed : int
        Of the split and the fit.
    max_rows : int, optional
        A random part of the cohort, for a quick look.

    Returns
    -------
    Counts
        Over ``income`` and ``half``, at ``EDGES``, with where they come from in ``provenance``.

    Raises
    ------
    AuditInputError
        When the cohort cannot be had, or ``max_rows`` is no whole number or leaves too few people to split.

    Examples
    --------
    >>> if datasets.available("cdc_diabetes"):
    ...     assert heart_counts(max_rows=5_000).groups["half"] == ("choose", "judge")
    """
    rows = datasets.load(DATASET)
    if max_rows is not None:
        check_whole(max_rows, "max_rows")
        rows = rows.iloc[np.sort(generator(seed).permutation(len(rows))[: int(max_rows)])]
    label = rows[OUTCOME].astype("int64")
    models.check_seed(seed)
    with enough(len(label), max_rows):
        fit, held = models.split(label, test=1 - FIT, seed=seed)
        halves = [held[part] for part in models.split(label.iloc[held], test=0.5, seed=seed)]
    place = np.concatenate(halves)
    model, risk = fitted(rows.iloc[fit], rows.iloc[place], seed)
    frame = pd.DataFrame(
        {
            "heart_disease": label.iloc[place].to_numpy(),
            "income": income_of(rows["Income"].iloc[place]).array,
            "half": pd.Categorical(np.repeat(HALVES, [len(half) for half in halves]), categories=HALVES),
            "risk": risk,
        }
    )
    found = count(frame, label="heart_disease", score="risk", by=["income", "half"], bins=10_000)
    return found.cut(EDGES).with_provenance(**_facts(frame, model, label.iloc[fit], seed, max_rows))


def income_of(codes: pd.Series) -> pd.Series:
    """The five income groups, lowest first, of the eight codes of the survey.

    Raises
    ------
    AuditInputError
        For a code that is none of 1 to 8.

    Examples
    --------
    >>> income_of(pd.Series([1, 8])).tolist()
    ['under 15k', '75k and over']
    """
    where = {code: name for name, mine in INCOMES.items() for code in mine}
    groups = codes.map(where)
    if groups.isna().any():
        wrong = sorted(set(codes[groups.isna()]), key=str)[:5]
        raise AuditInputError(f"Income: {int(groups.isna().sum())} rows hold none of 1 to 8 but {wrong}.")
    return pd.Series(pd.Categorical(groups, categories=list(INCOMES), ordered=True), index=codes.index)


def fitted(train: pd.DataFrame, others: pd.DataFrame, seed: int) -> tuple[Pipeline, np.ndarray]:
    """The model and the risks of others, on one thread: sums in another order differ in the last bit."""
    x = train[list(PREDICTORS)]
    with threadpool_limits(1):
        model = make_pipeline(models.preprocessor(x), models.family(FAMILY, seed)).fit(x, train[OUTCOME])
        return model, model.predict_proba(others[list(PREDICTORS)])[:, 1]


def gains(
    counts: Counts, points: xr.Dataset, threshold: float, lam: Any, *,
    over: int | None = None, replicates: int = 1000, seed: int = 42,
) -> pd.DataFrame:  # fmt: skip
    """What each point of a frontier gains per 10,000, for all and for the named group, over treating nobody.

    Parameters
    ----------
    counts, points, threshold, lam
        As ``judge`` takes them.
    over : int, optional
        Place of the point to compare with, from 0; nobody treated where unsaid. Intervals are of the paired difference.
    replicates, seed
        Bootstrap samples of the people; 0 gives no limits.

    Returns
    -------
    DataFrame
        One row a point: ``overall`` and ``level`` with ``_low`` and ``_high`` (95% percentile limits), and ``flagged``,
        the people flagged of 10,000.

    Raises
    ------
    AuditInputError
        When ``over`` is no place of a point, and as ``judge``.

    Examples
    --------
    >>> from auditlib.benefit.frontier import capacity_frontier
    >>> from auditlib.studies import benefit_counts
    >>> counts = benefit_counts("snb-heart-income")
    >>> points = capacity_frontier(counts.sel(half="choose"), "under 15k", 0.03, 0.10, 0.22).isel(point=[0, -1])
    >>> gains(counts.sel(half="judge"), points, 0.10, 0.22, over=0, replicates=50).round(1)["level"].tolist()
    [0.0, 136.3]
    """
    seen = judge(counts, points, threshold, lam)
    places = seen.sizes["point"]
    if over is not None and (
        isinstance(over, bool) or not isinstance(over, int | np.integer) or not 0 <= over < places
    ):
        raise AuditInputError(f"over = {over!r}: give the place of a point, a whole number from 0 to {places - 1}.")
    found: dict[str, Any] = {"flagged": UNIT * seen["flagged_overall"].values}
    again = judge(counts, points, threshold, lam, replicates=replicates, seed=seed) if replicates != 0 else None
    for name, value in (("overall", "overall"), ("level", "snb_level")):
        found[name] = UNIT * _above(seen, value, points, over).values
        if again is not None:
            limits = interval(UNIT * _above(again, value, points, over))
            found |= {f"{name}_low": limits.low.values, f"{name}_high": limits.high.values}
    return pd.DataFrame(found, index=seen["point"].values)


def _above(seen: xr.Dataset, value: str, points: xr.Dataset, over: int | None) -> xr.DataArray:
    """sNB of each point minus that of point ``over``, or of treating nobody."""
    if over is not None:
        return seen[value] - seen[value].isel(point=over, drop=True)
    if value == "overall":
        return seen[value] - seen["overall_none"]
    return seen[value] - seen["none"].sel({points.attrs["dim"]: points.attrs["level"]}, drop=True)


def samples(counts: Counts, size: int, draws: int, seed: int = 1) -> Iterator[Counts]:
    """Samples of ``size`` people drawn with replacement, each as counts of its own, to choose points on.

    Examples
    --------
    >>> from auditlib.studies import benefit_counts
    >>> [part.n_rows for part in samples(benefit_counts("snb-heart-income"), 500, 3)]
    [500, 500, 500]
    """
    lines = counts.resample(draws, size=size, seed=seed).lines
    for units in lines.units:
        yield replace(counts, lines=replace(lines, units=units))


def _facts(frame: pd.DataFrame, model: Pipeline, train: pd.Series, seed: int, max_rows: int | None) -> dict[str, Any]:
    parts = {str(name): part for name, part in frame.groupby("half", observed=True)}
    lasso = model[-1]
    return {
        "study": "capacity",
        "dataset": DATASET,
        "outcome": f"{OUTCOME} = 1",
        "model": FAMILY,
        "penalty_C": lasso.C,
        "predictors": list(PREDICTORS),
        "coefficients_not_zero": int((lasso.coef_ != 0).sum()),
        "income_codes": {name: list(codes) for name, codes in INCOMES.items()},
        "n_train": len(train),
        "positives_train": int(train.sum()),
        "n": {name: len(part) for name, part in parts.items()},
        "positives": {name: int(part["heart_disease"].sum()) for name, part in parts.items()},
        "auroc": {name: _auroc(part) for name, part in parts.items()},
        "auroc_by_income_judge": {
            str(name): _auroc(part) for name, part in parts["judge"].groupby("income", observed=True)
        },
        "seed": seed,
        "max_rows": max_rows,
        "source_sha256": datasets.checksum(DATASET),
        "auditlib": auditlib.__version__,
        "scikit_learn": sklearn.__version__,
    }


def _auroc(part: pd.DataFrame) -> float | None:
    """From the scores before any binning; undefined (None, JSON's null) when one label is missing."""
    label = part["heart_disease"]
    return round(float(roc_auc_score(label, part["risk"])), 6) if label.nunique() == 2 else None
