"""Settling sizes as other planning audits would have given them, beside those of the audit that there is.

``long stays``: the audit partition resampled with replacement (within outcome), 28 verdicts. ``hospitals``: audits of
as many stays of the simulated hospitals, whose true rates are known; sensitivity by race. A size that is "never"
counts as infinite in quantiles.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from tqdm import tqdm

from auditlib.counts import Counts
from auditlib.simulate import Hospitals
from auditlib.studies import stays_table
from auditlib.verdicts import METRICS, passes, settling_size, verdict_metrics

THRESHOLD, AUDITS, CHUNK, SEED = 0.5, 500, 20, 20_264
ATTRIBUTES = ("race", "sex", "ethnicity", "age")
QUANTILES = (0.025, 0.25, 0.5, 0.75, 0.975)


def planned(counts: Counts, attribute: str, audits: int, size: int, seed: int) -> xr.Dataset:
    """Sizes and verdicts (1 a pass) that so many audits of ``size`` patients would have come to, over ``replicate``."""
    rng, parts = np.random.default_rng(seed), []
    for start in tqdm(range(0, audits, CHUNK), desc=attribute):
        again = counts.resample(min(CHUNK, audits - start), "label", size, seed=rng)
        sizes = settling_size(again, attribute, threshold=THRESHOLD)
        passed = passes(verdict_metrics(again, attribute, threshold=THRESHOLD))
        parts.append(xr.Dataset({"size": sizes, "passed": passed}))
    return xr.concat(parts, "replicate")


def line(cohort: str, attribute: str, estimate: float, closed: float, found: xr.Dataset) -> dict[str, object]:
    """One verdict: the size planned, and what the other audits plan."""
    defined = found["passed"].notnull()
    sizes = np.where(found["size"].isnull(), np.inf, found["size"])[defined.values]
    quantiles = np.quantile(sizes, QUANTILES, method="nearest")
    return {
        **{"cohort": cohort, "attribute": attribute, "estimate": estimate, "settled": closed},
        **{f"q{100 * q:g}": value for q, value in zip(QUANTILES, quantiles, strict=True)},
        **{"p_pass": float(found["passed"].mean()), "never": float(np.isinf(sizes).mean())},
        "within_2": float(((sizes >= closed / 2) & (sizes <= 2 * closed)).mean()),
        "audits": int(defined.sum()),
    }


def long_stays(audits: int, attributes: tuple[str, ...] = ATTRIBUTES) -> list[dict[str, object]]:
    """Seven verdicts an attribute."""
    table, rows = stays_table("stays-xgboost").sel(partition="audit"), []
    for attribute in attributes:
        counts = table.by(attribute)
        closed = settling_size(counts, attribute, threshold=THRESHOLD)
        point = verdict_metrics(counts, attribute, threshold=THRESHOLD)
        found = planned(counts, attribute, audits, counts.n_rows, SEED)
        for metric in METRICS:
            held = (float(point[metric]), float(closed.sel(metric=metric)), found.sel(metric=metric))
            rows.append({"metric": metric} | line("long stays", attribute, *held))
    return rows


def hospitals(audits: int) -> dict[str, object]:
    """Sensitivity by race, from audits as large as that of the long stays; beside the size that the truth gives."""
    texas, size = Hospitals(), stays_table("stays-xgboost").sel(partition="audit").n_rows
    closed = settling_size(texas.truth(THRESHOLD, by="race"), "race").sel(metric="EOpp")
    many = texas.counts(10**8, seed=1, by="race").cut(THRESHOLD)
    found = planned(many, "race", audits, size, SEED).sel(metric="EOpp")
    held = (float(texas.verdict_metrics(THRESHOLD, "race")["EOpp"]), float(closed), found)
    return {"metric": "EOpp"} | line("hospitals", "race", *held)


def run() -> pd.DataFrame:
    """Twenty-nine verdicts (three minutes of one core)."""
    return pd.DataFrame([*long_stays(AUDITS), hospitals(AUDITS)])
