"""Which N* thirty audits a size report, on simulated hospitals whose true coefficients of variation are known.

Five hundred sweeps, each audit of new patients (drawn with replacement from 100 million); the CV of all 15,000 audits
of a size stands for the true one. Cells chosen because a true CV lies near 5% at some size.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from tqdm import tqdm

from auditlib.simulate import Hospitals
from auditlib.verdicts import SIZES, verdict_metrics

THRESHOLD, SWEEPS, REPETITIONS, LIMIT, SEED = 0.5, 500, 30, 0.05, 20_265
CELLS = (("sex", "DI"), ("sex", "SPD"), ("age", "DI"), ("age", "EOpp"))


def run(sweeps: int = SWEEPS) -> pd.DataFrame:
    """One line a cell and size, and one for never (size infinite): the CV, and the share of sweeps with that N*."""
    rng, texas, cvs = np.random.default_rng(SEED), Hospitals(), {}
    for name in sorted({attribute for attribute, _ in CELLS}):
        many = texas.counts(10**8, seed=1, by=name).cut(THRESHOLD)
        for size in tqdm(SIZES, desc=name):
            again = many.resample(REPETITIONS * sweeps, "label", size, seed=rng)
            found = verdict_metrics(again, name, threshold=THRESHOLD)
            for metric in (held for attribute, held in CELLS if attribute == name):
                values = found[metric].values.reshape(sweeps, REPETITIONS)
                every = values.std(axis=1, ddof=1) / values.mean(axis=1)
                cvs[name, metric, size] = every, values.std(ddof=1) / values.mean()
    rows = []
    for attribute, metric in CELLS:
        below = np.array([cvs[attribute, metric, size][0] < LIMIT for size in SIZES])
        first = np.where(below.any(axis=0), below.argmax(axis=0), len(SIZES))
        share = np.bincount(first, minlength=len(SIZES) + 1) / sweeps
        for size, part in zip((*SIZES, np.inf), share, strict=True):
            cv = cvs[attribute, metric, size][1] if np.isfinite(size) else np.nan
            rows.append(
                {"attribute": attribute, "metric": metric, "size": size, "cv": cv, "share": part, "sweeps": sweeps}
            )
    return pd.DataFrame(rows)
