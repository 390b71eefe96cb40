"""How far is each way of judging a model from what the model is worth, when nothing but its training rows is at hand?

Samples of `RiskCohort.example`, whose true risks are known. On each, every strategy is fitted and its subgroup net
benefit is taken

- ``apparent``: on the rows it was fitted to;
- ``corrected``: the same less the optimism of bootstrap refits (Harrell), with four intervals: ``t law`` is the default
  of ``optimism_interval``, ``percentile of rows`` its other form, ``percentile of refits`` the published one, and
  ``normal of values`` the interval of the apparent value, moved;
- ``held-out``: on 30% of the rows, of a model fitted to the other 70%;
- ``cross-validated``: on five folds, each predicted by a model fitted to the other four.

The truth beside each is the benefit under the true risk of the fitted model: the one fitted to 70% for ``held-out``,
the one fitted to all rows for the others. Strategies see the same resamples, splits and folds, so that the difference
of two is judged in the same ways. ``controlled`` is the error less that of flagging by the true risk on the same rows,
whose mean is 0: the same mean error, known more closely.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy import stats
from tqdm import tqdm

from auditlib.benefit import UNIT
from auditlib.intervals import optimism_interval
from auditlib.models import folds, split
from auditlib.models.strategies import STRATEGIES, Fitted, fit_strategy, propensity_weights
from auditlib.simulate import RiskCohort
from auditlib.simulate.risks import OVERALL
from tests.studies.tools import binomial_se

Floats = NDArray[np.float64]
SEED, SEEDS, REFITS, RESAMPLES = 20_260, 100, 50, 1_000
THRESHOLD, LAM = 0.15, 0.58
POPULATION = 200_000
SIZES = {500: 40, 1_000: 40, 2_000: 40, 5_000: 20, 10_000: 20}  # rows: samples
COHORT = RiskCohort.example()
GROUPS = [*COHORT.groups, OVERALL]
KEYS = ["strategy", "group", "method", "interval"]
Z = stats.norm.ppf(0.975)


@dataclass(frozen=True)
class Sample:
    """Rows to fit and judge on."""

    x: Floats
    y: NDArray[np.int64]
    group: NDArray[np.str_]
    risk: Floats

    @classmethod
    def draw(cls, n: int, rng: np.random.Generator) -> Sample:
        frame = COHORT.frame(n, rng)
        return cls(
            frame[COHORT.covariates].to_numpy(),
            frame["label"].to_numpy(),
            frame["group"].to_numpy(str),
            frame["true_risk"].to_numpy(),
        )

    def values(self, risk: Floats) -> Floats:
        """What each person adds to sNB when flagged by `risk`; its mean is sNB."""
        if np.isnan(risk).any():
            raise RuntimeError("a group had no row in a refit: the study needs larger samples")
        return 1 - self.y + LAM * (risk >= THRESHOLD) * (self.y - (1 - self.y) * THRESHOLD / (1 - THRESHOLD))

    def members(self, rows: NDArray[np.intp] | slice = slice(None)) -> Floats:
        """Who belongs to each group, and to all together: (groups, rows)."""
        return np.array([*(self.group[rows] == g for g in GROUPS[:-1]), np.ones(len(self.y[rows]))], dtype=float)


@dataclass(frozen=True)
class Judged:
    """What a strategy, or the difference of two, comes to: values of people, means by group, the truth."""

    own: Floats  # of each refit on its resample: (refits, groups)
    original: Floats  # of each refit on the sample
    apparent: Floats  # of each person
    crossed: Floats
    held: Floats  # of each person of the test part
    truth: Floats  # by group
    truth_held: Floats

    def __sub__(self, other: Judged) -> Judged:
        return Judged(**{name: value - getattr(other, name) for name, value in vars(self).items()})


def means(values: Floats, members: Floats) -> Floats:
    """Mean by group; `values` may have leading axes."""
    return values @ members.T / members.sum(axis=1)


def plain(values: Floats, members: Floats) -> xr.Dataset:
    """Mean of people's values by group, with limits that take the model as given."""
    estimate = means(values, members)
    error = np.sqrt((means(values**2, members) - estimate**2) / members.sum(axis=1))
    return xr.Dataset({name: _array(estimate + z * error) for name, z in (("estimate", 0), ("low", -Z), ("high", Z))})


def _array(values: Floats) -> xr.DataArray:
    return xr.DataArray(values, {"group": GROUPS}, ("replicate", "group")[-values.ndim :])


def corrected(it: Judged, members: Floats, drawn: Floats) -> Iterator[tuple[str, xr.Dataset]]:
    """Harrell's estimate with each of its intervals; `drawn` counts people in resamples of the rows."""
    naive, pairs = plain(it.apparent, members), (_array(it.own), _array(it.original))
    again = (drawn * it.apparent) @ members.T / (drawn @ members.T)
    ours = optimism_interval(naive["estimate"], *pairs)
    yield "t law", ours
    yield "percentile of rows", optimism_interval(naive["estimate"], *pairs, spread=_array(again))
    yield "percentile of refits", optimism_interval(naive["estimate"], *pairs, spread=pairs[0])
    yield "normal of values", naive - ours["optimism"]


class Trial:
    """One sample, and the resamples, split and folds that every strategy is judged on."""

    def __init__(self, n: int, seed: Sequence[int], learner: str, refits: int) -> None:
        rng = np.random.default_rng(seed)
        self.sample, self.learner = Sample.draw(n, rng), learner
        self.weights = propensity_weights(self.sample.x, self.sample.group)
        self.resamples = [rng.integers(0, n, n) for _ in range(refits)]
        self.drawn = rng.multinomial(n, np.full(n, 1 / n), RESAMPLES)
        order = int(rng.integers(2**31))
        self.train, self.test = split(self.sample.y, seed=order)
        self.folds = folds(self.sample.y, seed=order)

    def fit(self, strategy: str, rows: NDArray[np.intp] | None = None) -> Fitted:
        s, weights = self.sample, self.weights if strategy == "MultiSA" else None
        return fit_strategy(strategy, self.learner, s.x, s.y, s.group, weights=weights, rows=rows)

    def value(self, fitted: Fitted) -> Floats:
        return self.sample.values(fitted.predict(self.sample.x, self.sample.group))

    def judge(self, strategies: Sequence[str]) -> dict[str, Judged]:
        """All strategies, and each minus the first."""
        models = {name: (self.fit(name), self.fit(name, self.train)) for name in strategies}
        rules = {f"{name} {k}": partial(_risk, model) for name, pair in models.items() for k, model in enumerate(pair)}
        truth = COHORT.benefit(rules, THRESHOLD, LAM, n=POPULATION, seed=SEED)["estimate"]
        found = {}
        for name, (fitted, part) in models.items():
            crossed = np.empty(len(self.sample.y))
            for rest, held in self.folds:
                crossed[held] = self.value(self.fit(name, rest))[held]
            refits = [(self.value(self.fit(name, rows)), rows) for rows in self.resamples]
            found[name] = Judged(
                np.array([means(value[rows], self.sample.members(rows)) for value, rows in refits]),
                means(np.array([value for value, _ in refits]), self.sample.members()),
                self.value(fitted),
                crossed,
                self.value(part)[self.test],
                *(truth.sel(model=f"{name} {k}").values for k in (0, 1)),
            )
        first = strategies[0]
        return found | {f"{name} − {first}": found[name] - found[first] for name in strategies[1:]}

    def lines(self, strategies: Sequence[str]) -> pd.DataFrame:
        """A line a strategy, group, method and interval: estimate, limits, truth, and what chance did."""
        members, test = self.sample.members(), self.sample.members(self.test)
        best, right = COHORT.best(THRESHOLD, LAM).values, self.sample.values(self.sample.risk)
        chance, chance_held = means(right, members) - best, means(right[self.test], test) - best
        lines = []
        for name, it in self.judge(strategies).items():
            found = {("apparent", "values"): plain(it.apparent, members)}
            found |= {("corrected", kind): limits for kind, limits in corrected(it, members, self.drawn)}
            found |= {("cross-validated", "values"): plain(it.crossed, members)}
            found |= {("held-out", "values"): plain(it.held, test)}
            for (method, interval), limits in found.items():
                part = method == "held-out"
                line = limits[["estimate", "low", "high"]].to_dataframe().reset_index()
                luck = (chance_held if part else chance) * ("−" not in name)  # a difference has none
                line = line.assign(truth=it.truth_held if part else it.truth, chance=luck)
                lines.append(line.assign(strategy=name, method=method, interval=interval))
        return pd.concat(lines, ignore_index=True)


def _risk(fitted: Fitted, people: pd.DataFrame) -> Floats:
    return fitted.predict(people[COHORT.covariates].to_numpy(), people["group"].to_numpy())


def samples(
    n: int, seeds: int, strategies: Sequence[str], learner: str = "lasso", refits: int = REFITS
) -> pd.DataFrame:
    """The lines of `seeds` samples of `n`."""
    parts = [
        Trial(n, [SEED, n, k], learner, refits).lines(strategies).assign(n=n, seed=k)
        for k in tqdm(range(seeds), desc=f"optimism: {learner}, n = {n:,}")
    ]
    return pd.concat(parts, ignore_index=True)


def summary(lines: pd.DataFrame) -> pd.DataFrame:
    """Mean errors per 10,000 with their Monte-Carlo errors, and coverage, of each method."""
    held = lines.assign(
        error=UNIT * (lines["estimate"] - lines["truth"]),
        width=UNIT * (lines["high"] - lines["low"]),
        covered=(lines["low"] <= lines["truth"]) & (lines["truth"] <= lines["high"]),
    )
    held["controlled"] = held["error"] - UNIT * held["chance"]
    found = (
        held.groupby(KEYS, sort=False)
        .agg(
            n=("n", "first"),
            seeds=("seed", "size"),
            estimate=("estimate", lambda v: UNIT * v.mean()),
            truth=("truth", lambda v: UNIT * v.mean()),
            truth_se=("truth", lambda v: UNIT * v.sem()),
            error=("error", "mean"),
            error_se=("error", "sem"),
            controlled=("controlled", "mean"),
            controlled_se=("controlled", "sem"),
            rmse=("error", lambda v: float(np.sqrt((v**2).mean()))),
            coverage=("covered", "mean"),
            width=("width", "mean"),
        )
        .reset_index()
    )
    best = UNIT * COHORT.best(THRESHOLD, LAM).to_series()
    single = ~found["strategy"].str.contains("−")
    found.insert(found.columns.get_loc("truth"), "best", found["group"].map(best).where(single))
    found.insert(found.columns.get_loc("error_se") + 1, "error_in_se", found["error"] / found["error_se"])
    found["coverage_se"] = [binomial_se(c, k) for c, k in zip(found["coverage"], found["seeds"], strict=True)]
    return found


def run() -> pd.DataFrame:
    """LASSO on samples of 2,000, summed up."""
    return summary(samples(2_000, SEEDS, STRATEGIES))


def run_boosting() -> pd.DataFrame:
    """Boosting on samples of 1,000 and of 2,000, line by line."""
    found = pd.concat([samples(n, 20, ["NoSA"], "boosting") for n in (1_000, 2_000)], ignore_index=True)
    return found[found["interval"].isin(["values", "t law"])].reset_index(drop=True)


def run_sizes() -> pd.DataFrame:
    """LASSO on samples of 500 to 10,000, summed up: what an explorer shows."""
    found = pd.concat([summary(samples(n, seeds, STRATEGIES)) for n, seeds in SIZES.items()], ignore_index=True)
    return found[found["interval"].isin(["values", "t law"])].reset_index(drop=True)
