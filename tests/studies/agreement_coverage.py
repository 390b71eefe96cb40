"""How often do the intervals of ``site_agreement`` contain the agreement of the sites that these are a sample of?

Four items. Sites judge each by chance: with chances that are the same at all sites (items independent of each other),
or with chances that depend on the kind of site, each kind having half of them (items then go together). The truth is
what two sites drawn anew would have: with p_i the chance that a site drawn passes item i, raw = mean of
p_i² + (1 − p_i)², and κ = V/(p(1 − p)), with p and V the mean and the variance of the p_i.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import xarray as xr
from tqdm import tqdm

from auditlib.sites import site_agreement
from tests.studies.tools import coverage

AUDITS, REPLICATES, SEED = 500, 1_000, 51_207
SIZES = (10, 20, 54)
#: Chances to pass, a row a kind of site.
SETTINGS = {
    "middling": [[0.2, 0.4, 0.6, 0.8]],
    "far apart": [[0.9, 0.1, 0.5, 0.7]],
    "near unanimous": [[1, 0.78, 1, 0.95]],
    "all but one unanimous": [[1, 1, 0.9, 0]],
    "two kinds of sites": [[1, 0.9, 0.95, 0.8], [0.4, 0.3, 0.35, 0.2]],
    "two opposite kinds": [[0.9, 0.9, 0.9, 0.8], [0.1, 0.1, 0.1, 0.2]],
}


def audits(chances: np.ndarray, sites: int, number: int, rng: np.random.Generator) -> xr.DataArray:
    """Verdicts of ``number`` audits at ``sites`` sites, the kind of each drawn at random."""
    kind = rng.integers(0, len(chances), size=(number, sites))
    passed = rng.random((number, sites, chances.shape[1])) < chances[kind]
    return xr.DataArray(passed.astype(np.float64), dims=("audit", "site", "attribute"))


def truth(chances: np.ndarray) -> dict[str, float]:
    """Raw agreement and κ of endlessly many sites."""
    p = chances.mean(axis=0)
    raw, by_chance = float((p**2 + (1 - p) ** 2).mean()), p.mean() ** 2 + (1 - p.mean()) ** 2
    return {"raw": raw, "kappa": float((raw - by_chance) / (1 - by_chance))}


def study(number: int = AUDITS, sizes: tuple[int, ...] = SIZES, replicates: int = REPLICATES) -> pd.DataFrame:
    """One line a setting, number of sites and coefficient.

    ``too_low`` and ``too_high`` are shares of the intervals that lie so; ``undefined`` the share of audits without one.
    """
    rows = []
    settings = list(product(SETTINGS.items(), sizes))
    for code, ((name, rates), sites) in enumerate(tqdm(settings, desc="agreement_coverage")):
        rng, chances = np.random.default_rng([SEED, code]), np.array(rates, dtype=float)
        found = site_agreement(audits(chances, sites, number, rng), replicates=replicates, seed=rng)
        for coefficient, exact in truth(chances).items():
            low, high = found[f"{coefficient}_low"], found[f"{coefficient}_high"]
            defined = low.notnull().sum()
            rows.append(
                {
                    "setting": name,
                    "sites": sites,
                    "coefficient": coefficient,
                    "truth": exact,
                    **coverage(xr.Dataset({"low": low, "high": high}), exact),
                    "too_low": float((high < exact - 1e-12).sum() / defined),
                    "too_high": float((low > exact + 1e-12).sum() / defined),
                }
            )
    return pd.DataFrame(rows)


def run() -> pd.DataFrame:
    """The study in full."""
    return study()
