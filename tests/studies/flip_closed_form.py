"""Every cell of the twelve audits of long stays: flip rates of 500 and of 20,000 replicates, and two formulas.

``closed`` is ``expected_flip_rate``; ``plain`` is Φ(−|estimate − limit|/SD) with the standard deviation of the
replicates. 20,000 replicates leave a Monte-Carlo error of at most .0035, so that what remains is the formula's own.
"""

from __future__ import annotations

import pandas as pd
import xarray as xr
from scipy.stats import norm
from tqdm import tqdm

from auditlib.studies import STAYS_MODELS, stays_table
from auditlib.verdicts import LIMITS, expected_flip_rate, flip_rate, verdict_metrics

ATTRIBUTES = ("race", "sex", "ethnicity", "age")
THRESHOLD, FEW, MANY, SEED = 0.5, 500, 20_000, 20_262


def cells(model: str, attribute: str, many: int = MANY) -> pd.DataFrame:
    """The seven cells of one attribute of one model's audit."""
    counts = stays_table(f"stays-{model}").sel(partition="audit").by(attribute)
    point = verdict_metrics(counts, attribute, threshold=THRESHOLD)

    def resampled(n: int, seed: int) -> xr.Dataset:
        return verdict_metrics(counts.resample(n, strata="label", seed=seed), attribute, threshold=THRESHOLD)

    few, reps = flip_rate(resampled(FEW, SEED)), resampled(many, SEED + 1)
    found = flip_rate(reps, point=point)
    limit = xr.DataArray([each.value for each in LIMITS.values()], dims="metric")
    sd = reps.to_dataarray("metric").std("replicate", ddof=1)
    table = pd.DataFrame(
        {
            "estimate": found.estimate.values,
            "verdict": found.verdict.values,
            "dominant": found.dominant.values,
            "vfr_500": few.vfr.values,
            "vfr": found.vfr.values,
            "mc_error": found.mc_error.values,
            "margin": found.margin.values,
            "undefined": found.undefined.values,
            "closed": expected_flip_rate(counts, attribute, threshold=THRESHOLD).vfr.values,
            "plain": norm.cdf(-abs((found.estimate - limit) / sd)),
        }
    )
    table.insert(0, "metric", list(LIMITS))
    table.insert(0, "attribute", attribute)
    table.insert(0, "model", model)
    return table


def run() -> pd.DataFrame:
    """All 336 cells (three minutes of one core)."""
    asked = [(model, attribute) for model in STAYS_MODELS for attribute in ATTRIBUTES]
    return pd.concat([cells(*each) for each in tqdm(asked, desc="flip rates")], ignore_index=True)
