"""What one model and one split leave out: the same comparison refitted on other splits."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed
from tqdm.auto import tqdm

from auditlib.datasets import root
from auditlib.intervals import gap_interval
from auditlib.studies.gap import gap_audit


def split_path() -> Path:
    """Where the committed result is."""
    return root() / "data" / "studies" / "split_seeds.csv"


def refit(dataset: str, attribute: str, model: str, seed: int) -> dict[str, Any]:
    """One split, one fit: the gap in sensitivity at that split's τ, with Newcombe's interval."""
    counts = gap_audit(dataset, attribute, model=model, seed=seed)
    a, b = counts.groups[attribute]
    found = gap_interval(counts.at(counts.provenance["threshold"]), a, b)
    return {
        "dataset": dataset,
        "attribute": attribute,
        "model": model,
        "seed": seed,
        "threshold": round(float(counts.provenance["threshold"]), 6),
        "auroc": counts.provenance["test_auroc"],
        "n_a": int(found.n_a),
        "n_b": int(found.n_b),
        **{name: round(float(found[name]), 6) for name in ("estimate", "low", "high")},
    }


def split_study(
    dataset: str = "diabetes130",
    attribute: str = "sex",
    model: str = "logistic",
    seeds: Iterable[int] = range(42, 62),
    n_jobs: int = 1,
    progress: bool = False,
) -> pd.DataFrame:
    """Refit one comparison on several random splits; the seed moves the split, the folds and the fit.

    Returns
    -------
    DataFrame
        One row a seed: gap, Newcombe's interval, trials, AUROC, τ.
    """
    seeds = list(seeds)
    pool = Parallel(n_jobs=n_jobs, return_as="generator")
    jobs = pool(delayed(refit)(dataset, attribute, model, seed) for seed in seeds)
    return pd.DataFrame(list(tqdm(jobs, total=len(seeds), disable=not progress, desc="splits")))
