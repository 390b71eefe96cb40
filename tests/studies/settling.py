"""Audit sizes from the closed form against sizes found by resampling, for ten cells of the audits of long stays.

For each cell: the size at which ``settling_size`` says that the expected flip rate falls to .10, and the size at which
that of 20,000 replicates of that many patients, drawn with replacement, does, found by bisection.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from tqdm import tqdm

from auditlib.counts import Counts
from auditlib.studies import stays_table
from auditlib.verdicts import flip_rate, settling_size, verdict_metrics

THRESHOLD, FLIP, REPLICATES, STEPS, SEED = 0.5, 0.10, 20_000, 14, 20_263
CELLS = (
    ("xgboost", "race", "DI"),
    ("xgboost", "race", "SPD"),
    ("xgboost", "race", "EOpp"),
    ("xgboost", "race", "PP"),
    ("xgboost", "ethnicity", "DI"),
    ("xgboost", "ethnicity", "EOpp"),
    ("xgboost", "ethnicity", "Cal"),
    ("xgboost", "sex", "DI"),
    ("xgboost", "age", "PP"),
    ("logistic", "age", "PP"),
)


def simulated(counts: Counts, attribute: str, metric: str, start: float, replicates: int = REPLICATES) -> float:
    """Bisection on the logarithm of the size, between a twentieth and twenty times ``start``."""
    low, high = np.log(start / 20), np.log(start * 20)

    def vfr(log_size: float, step: int) -> float:
        size = max(round(float(np.exp(log_size))), 20)
        reps = counts.resample(replicates, strata="label", size=size, seed=SEED + step)
        return float(flip_rate(verdict_metrics(reps, attribute, threshold=THRESHOLD)[metric]).vfr)

    for step in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if vfr(middle, step) > FLIP else (low, middle)
    return float(np.exp((low + high) / 2))


def run() -> pd.DataFrame:
    """Ten cells (five minutes of one core)."""
    rows = []
    for model, attribute, metric in tqdm(CELLS, desc="settling"):
        counts = stays_table(f"stays-{model}").sel(partition="audit").by(attribute)
        closed = float(settling_size(counts, attribute, threshold=THRESHOLD).sel(metric=metric))
        found = simulated(counts, attribute, metric, closed) if np.isfinite(closed) else float("nan")
        point = float(verdict_metrics(counts, attribute, threshold=THRESHOLD)[metric])
        rows.append(
            {
                **{"model": model, "attribute": attribute, "metric": metric, "estimate": point},
                **{"closed": closed, "simulated": found, "ratio": closed / found},
            }
        )
    return pd.DataFrame(rows)
