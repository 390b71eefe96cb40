"""Does the band around a gap's curve over thresholds contain the whole true curve in 95 of 100 audits?

Two groups, a prevalence of 30%, twenty thresholds (199 in one setting). Each audit goes the whole way a reader goes:
rows, ``count``, ``resample`` within groups, ``at`` all thresholds. The gap in sensitivity is judged at all thresholds,
that in PPV or NPV where at least 10 are flagged, or not flagged, in both groups. Every audit is analysed by

- ``band``: ``auditlib.band``;
- ``naive``: the same with standard errors of the plain rates, replicates left out where theirs is 0;
- ``naive, SE > 0``: the same curve judged only where the standard error in the data is not 0;
- ``percentile``: percentile intervals of the same replicates, one a threshold;
- ``newcombe``: ``gap_interval``, one a threshold.

The last two promise 95% at each threshold and not for the curve. Rows are independent, or belong to patients of 1 to 6
encounters whose scores and labels are alike; then replicates are drawn by patients. Coverage is of the audits in which
a curve is defined anywhere: a group may have nobody with the outcome where 5 are expected.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
import xarray as xr
from tqdm import tqdm

import auditlib as al
from auditlib.metrics import Metric, parts
from auditlib.simulate import Cohort, Group
from auditlib.thresholds import enough
from tests.studies.tools import binomial_se

AUDITS, REPLICATES, SEED = 2_000, 500, 20_242
PREVALENCE = 0.30
THRESHOLDS = [k / 20 for k in range(1, 20)] + [0.97]
FINE = [k / 200 for k in range(1, 200)]
CURVES = {  # mean latent of the positives of each group
    "equal": (1.0, 1.0), "apart": (1.0, 0.5), "near": (1.0, 0.9), "high": (2.5, 2.0),
}  # fmt: skip
METRICS = {"sensitivity": al.sensitivity, "ppv": al.ppv, "npv": al.npv}
FLAGGED = 10
LARGEST, RHO, RHO_LABEL = 6, 0.6, 0.8


@dataclass(frozen=True)
class Setting:
    """Two groups, the rows with the outcome expected in each, whether rows belong to patients, and the thresholds."""

    curves: str
    positives: tuple[int, int]
    clustered: bool = False
    fine: bool = False

    @property
    def thresholds(self) -> list[float]:
        return FINE if self.fine else THRESHOLDS

    def cohort(self) -> Cohort:
        means = zip(CURVES[self.curves], self.positives, strict=True)
        groups = {name: Group(PREVALENCE, mean, share=size) for name, (mean, size) in zip("ab", means, strict=True)}
        if not self.clustered:
            return Cohort(groups)
        return Cohort(groups, encounters=dict.fromkeys(range(1, LARGEST + 1), 1.0), rho=RHO, rho_label=RHO_LABEL)

    def patients(self) -> int:
        return round(sum(self.positives) / PREVALENCE / ((1 + LARGEST) / 2 if self.clustered else 1))

    def counts(self, cohort: Cohort, rng: np.random.Generator) -> al.Counts:
        frame = cohort.frame(self.patients(), rng)
        cluster, points = "patient" if self.clustered else None, self.thresholds
        held = al.count(frame, label="label", score="score", by="group", thresholds=points, bins=20, cluster=cluster)
        return held.cut(points)


SETTINGS = (
    *(Setting(*each) for each in product(("equal", "apart"), [(25, 25), (75, 75), (300, 300), (30, 300)])),
    Setting("equal", (75, 75), clustered=True),
    Setting("equal", (30, 300), clustered=True),
    Setting("near", (75, 75)),
    Setting("near", (75, 75), fine=True),
    Setting("high", (30, 300)),
    Setting("equal", (5, 5)),
    Setting("equal", (5, 300)),
)


def naive(table: xr.Dataset, again: xr.Dataset, metric: Metric, where: xr.DataArray) -> xr.Dataset:
    """Gap ± c·SE with SE from plain rates; a replicate has no say where its SE is 0."""

    def gap_and_error(held: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
        events, trials = (
            part.transpose("group", ..., "threshold").values.astype(float) for part in parts(held, metric)
        )
        rate = np.divide(events, trials, out=np.full_like(events, np.nan), where=trials > 0)
        error = np.sqrt((rate * (1 - rate) / np.where(trials > 0, trials, np.nan)).sum(axis=0))
        return rate[0] - rate[1], error

    (gap, error), (gaps, errors) = gap_and_error(table), gap_and_error(again)
    largest = np.divide(abs(gaps - gap), errors, out=np.zeros_like(gaps), where=where.values & (errors > 0)).max(
        axis=-1
    )
    half = np.quantile(largest, 0.95) * error
    coords = {"threshold": table["threshold"]}
    values = {"low": gap - half, "high": gap + half, "error": error}
    return xr.Dataset({name: ("threshold", value) for name, value in values.items()}, coords)


def from_replicates(table: xr.Dataset, again: xr.Dataset, metric: Metric) -> dict[str, xr.Dataset]:
    """Limits of the methods that need the replicates of one audit, NaN where a method is not judged."""
    kept = enough(table, metric, "group", ("a", "b"), FLAGGED)
    plain = naive(table, again, metric, kept)
    found = {
        "band": al.band(table, again, "a", "b", metric=metric, where=kept),
        "naive": plain.where(kept),
        "naive, SE > 0": plain.where(kept & (plain["error"] > 0)),
        "percentile": al.interval(al.gap(metric(again), "a", "b")).where(kept),
    }
    return {method: limits[["low", "high"]] for method, limits in found.items()}


def audited(setting: Setting, audits: int, n: int, seed: list[int]) -> dict[tuple[str, str], np.ndarray]:
    """Limits (low and high, audit, threshold) by metric and method."""
    rng, cohort = np.random.default_rng(seed), setting.cohort()
    held: dict[tuple[str, str], list[np.ndarray]] = {}
    tables, points = [], setting.thresholds
    for _ in range(audits):
        counts = setting.counts(cohort, rng)
        table, again = counts.at(points), counts.resample(n, strata="group", seed=rng).at(points)
        tables.append(table)
        for name, metric in METRICS.items():
            for method, limits in from_replicates(table, again, metric).items():
                held.setdefault((name, method), []).append(np.stack([limits["low"].values, limits["high"].values]))
    found = {key: np.stack(limits, axis=1) for key, limits in held.items()}
    every = xr.concat(tables, "audit", coords="different", compat="equals", join="exact")
    for name, metric in METRICS.items():  # at once: a call costs more than two thousand intervals
        kept = enough(every, metric, "group", ("a", "b"), FLAGGED)
        limits = al.gap_interval(every, "a", "b", metric=metric).where(kept).transpose("audit", "threshold")
        found[name, "newcombe"] = np.stack([limits["low"].values, limits["high"].values])
    return found


def lines_of(setting: Setting, audits: int, n: int, seed: list[int]) -> Iterator[dict[str, object]]:
    """Coverage of whole curves, and the share of single thresholds covered, of every metric and method."""
    truths = setting.cohort().truth(setting.thresholds)
    for (name, method), (low, high) in audited(setting, audits, n, seed).items():
        truth = al.gap(METRICS[name](truths), "a", "b").values
        judged = np.isfinite(low)
        # 1e-12: a limit may be exactly the truth, to rounding.
        inside = (low <= truth + 1e-12) & (truth <= high + 1e-12)
        defined = judged.any(axis=1)
        share = float((inside | ~judged)[defined].all(axis=1).mean())
        yield {
            "curves": setting.curves, "unit": "patient" if setting.clustered else "row",
            "positives_a": setting.positives[0], "positives_b": setting.positives[1], "metric": name, "method": method,
            "audits": audits, "replicates": n, "undefined": float(1 - defined.mean()), "grid": len(setting.thresholds),
            "thresholds": float(judged[defined].sum(axis=1).mean()), "coverage": share,
            "coverage_se": binomial_se(share, int(defined.sum())), "pointwise": float(inside[judged].mean()),
            "width": float((high - low)[judged].mean()),
        }  # fmt: skip


def study(audits: int = AUDITS, n: int = REPLICATES, settings: tuple[Setting, ...] = SETTINGS) -> pd.DataFrame:
    """One line a setting, metric and method."""
    numbered = enumerate(tqdm(settings, desc="band_coverage"))
    return pd.DataFrame([line for k, each in numbered for line in lines_of(each, audits, n, [SEED, k])])


def run() -> pd.DataFrame:
    """The study in full."""
    return study()
