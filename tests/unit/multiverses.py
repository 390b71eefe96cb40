"""A multiverse made from known effects, for tests: rows as a judge's, and replicates under shared noise."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

AXES = {
    "family": ("logistic", "shallow_tree", "gradient_boosting"),
    "threshold": ("train_prevalence", "top20", "0.3"),
    "bands": ("10–29 v 60+", "<50 v 70+"),
    "seed": (42, 43),
}
DEFAULT = {axis: choices[0] for axis, choices in AXES.items()}
EFFECTS = {"family": (-0.03, 0.0, 0.03), "threshold": (-0.06, 0.06, 0.0), "bands": (0.01, -0.01), "seed": (0.0, 0.0)}
MEAN = 0.015


def made(axes=AXES, effects=EFFECTS, half=0.05, seed=0, noise=0.0):
    """Rows of the full factorial: MEAN + effects + noise, with intervals of ± ``half``."""
    rows = pd.DataFrame(list(product(*axes.values())), columns=list(axes))
    parts = [rows[axis].map(dict(zip(axes[axis], effects[axis], strict=True))) for axis in axes]
    estimate = MEAN + sum(parts) + noise * np.random.default_rng(seed).normal(size=len(rows))
    limits = {"estimate": estimate, "low": estimate - half, "high": estimate + half}
    return rows.assign(**limits, n_a=90, n_b=900, error="")


def again(rows, n=100, sd=0.02, seed=1):
    """Replicates: noise common to all specifications, noise of each seed, and a little of each specification."""
    rng = np.random.default_rng(seed)
    common, own = rng.normal(size=n), rng.normal(size=(len(rows), n))
    of_seed = rng.normal(size=(2, n))[(rows["seed"] == 43).to_numpy().astype(int)]
    noise = sd * (common + of_seed + 0.3 * own)
    return pd.DataFrame(rows["estimate"].to_numpy()[:, None] + noise, index=rows.index)


def broken(rows, *places, message="ValueError: nobody is in 10–29"):
    """The same with some specifications that failed."""
    found = rows.copy()
    found.loc[list(places), ["estimate", "low", "high"]] = np.nan
    found.loc[list(places), "error"] = message
    return found
