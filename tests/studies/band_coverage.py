"""Does the band around a gap's curve over thresholds contain the whole true curve in 95 of 100 audits?

Two groups of independent rows, a prevalence of 30%, twenty thresholds. Each audit goes the whole way a reader goes:
rows, ``count``, ``resample`` within groups, ``at`` all thresholds, ``band``. Beside it stand the percentile intervals
of the same replicates, one a threshold, which promise 95% at each threshold and not for the curve.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from tqdm import tqdm

import auditlib as al
from auditlib.simulate import Cohort, Group
from tests.studies.tools import binomial_se

AUDITS, REPLICATES, SEED = 1_000, 500, 20_242
PREVALENCE = 0.30
POSITIVES = (25, 75, 300)
THRESHOLDS = [k / 20 for k in range(1, 20)] + [0.97]
CURVES = {"equal": (1.0, 1.0), "apart": (1.0, 0.5)}  # mean latent of the positives of each group


def one_audit(cohort: Cohort, rows: int, n: int, rng: np.random.Generator) -> tuple[xr.Dataset, xr.Dataset]:
    """Band and pointwise percentile intervals of the sensitivity gap of one simulated audit."""
    frame = cohort.frame(rows, rng)
    counts = al.count(frame, label="label", score="score", by="group", thresholds=THRESHOLDS, bins=20).cut(THRESHOLDS)
    again = counts.resample(n, strata="group", seed=rng).at(THRESHOLDS)
    found = al.band(counts.at(THRESHOLDS), again, "a", "b")
    return found, al.interval(al.gap(al.sensitivity(again), "a", "b"))


def inside(limits: xr.Dataset, truth: xr.DataArray) -> np.ndarray:
    """At which thresholds the truth lies inside; an undefined limit holds nothing."""
    return ((limits["low"] <= truth) & (truth <= limits["high"])).values


def setting(name: str, positives: int, audits: int, n: int, seed: list[int]) -> list[dict[str, object]]:
    """Coverage of whole curves, and the mean over thresholds of pointwise coverage, of both methods."""
    rng = np.random.default_rng(seed)
    means = dict(zip("ab", CURVES[name], strict=True))
    cohort = Cohort({group: Group(PREVALENCE, positive=mean) for group, mean in means.items()})
    truth = al.gap(cohort.truth(THRESHOLDS)["sensitivity"], "a", "b")
    rows = round(2 * positives / PREVALENCE)
    held = {"band": np.zeros((audits, len(THRESHOLDS)), bool), "percentile": np.zeros((audits, len(THRESHOLDS)), bool)}
    widths = dict.fromkeys(held, 0.0)
    for audit in range(audits):
        for method, limits in zip(held, one_audit(cohort, rows, n, rng), strict=True):
            held[method][audit] = inside(limits, truth)
            widths[method] += float((limits["high"] - limits["low"]).mean()) / audits
    lines: list[dict[str, object]] = []
    for method, hits in held.items():
        whole = float(hits.all(axis=1).mean())
        line = {"curves": name, "positives": positives, "thresholds": len(THRESHOLDS), "method": method}
        line |= {"audits": audits, "replicates": n, "coverage": whole, "coverage_se": binomial_se(whole, audits)}
        lines.append({**line, "pointwise": float(hits.mean()), "width": widths[method]})
    return lines


def study(audits: int = AUDITS, n: int = REPLICATES, positives: tuple[int, ...] = POSITIVES) -> pd.DataFrame:
    """One line a setting and method."""
    settings = [(name, each) for name in CURVES for each in positives]
    lines = []
    for number, (name, each) in enumerate(tqdm(settings, desc="band_coverage")):
        lines += setting(name, each, audits, n, [SEED, number])
    return pd.DataFrame(lines)


def run() -> pd.DataFrame:
    """The study in full."""
    return study()
