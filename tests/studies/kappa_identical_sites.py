"""How low is Fleiss' κ of twenty sites that do not differ at all, by their size and by how near verdicts are to limits?

One population of patients with four attributes, and twenty samples from it in every audit: whatever the sites disagree
about is chance. The score is calibrated in each joint group but for a shift: among those with and without the outcome
its logit is normal with the same variance, which makes it the prior log odds plus the log of the likelihood ratio.

``like Texas`` has the published gap in base rates by age (.41; published .40), a smaller one by race
(.12; published .19) and small ones between sexes and ethnicities.
``near limits``: four attributes of two groups, in which DI, SPD, EOpp and EOD lie 5% and 15% below and above their
limits. ``far from limits``: groups by race and by age differ so much, and sexes and ethnicities so little, that no
verdict is in doubt once sites are large. TI passes throughout: no population of this kind comes near its limit.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import expit, logit
from scipy.stats import norm
from tqdm import tqdm

from auditlib.counts import Counts
from auditlib.counts.edges import make_edges
from auditlib.counts.patterns import Lines
from auditlib.sites import site_agreement, site_passes
from auditlib.verdicts import METRICS, verdict_metrics

AUDITS, SITES, SEED = 200, 20, 20_312
SIZES = (500, 2_000, 9_000)
BINS, THRESHOLD, CHUNK = 20, 0.5, 20
SEPARATION = 2.3  # distance of the two normals: AUC .95
#: Levels of each attribute, their shares, and their log odds ratio of the outcome.
LIKE_TEXAS = {
    "race": {"White": (0.65, 0.0), "Black": (0.13, 0.25), "Other": (0.20, -0.15), "Asian": (0.02, -0.3)},
    "sex": {"Female": (0.6, 0.0), "Male": (0.4, 0.2)},
    "ethnicity": {"not Hispanic": (0.72, 0.0), "Hispanic": (0.28, -0.3)},
    "age": {"0–17": (0.15, -0.6), "18–39": (0.23, -1.0), "40–64": (0.27, 0.1), "65+": (0.35, 0.75)},
}
#: Half the log odds ratio of the outcome, and half the shift of the score, that put all four at their limits; and, by
#: attribute, what both are multiplied by.
HALF_ODDS, HALF_SHIFT, MIDDLE = 0.0231, 0.4884, -0.0470
NEAR_TIMES = {"race": 1.15, "sex": 0.95, "ethnicity": 0.85, "age": 1.05}
NEAR = {
    name: {f"{name} {side}": (0.5, MIDDLE + times * HALF_ODDS * sign) for side, sign in (("A", -1), ("B", 1))}
    for name, times in NEAR_TIMES.items()
}
FAR = {
    "race": {"White": (0.4, -2.3), "Black": (0.35, 2.3), "Other": (0.25, 0.0)},
    "sex": {"Female": (0.5, 0.0), "Male": (0.5, 0.0)},
    "ethnicity": {"not Hispanic": (0.5, 0.0), "Hispanic": (0.5, 0.0)},
    "age": {"0–39": (0.4, -2.3), "40–64": (0.35, 2.3), "65+": (0.25, 0.0)},
}
POPULATIONS = {"like Texas": LIKE_TEXAS, "near limits": NEAR, "far from limits": FAR}
#: Shift of the logit of the score, by level: what Cal is about.
SHIFTS = {
    "like Texas": {"Black": 0.1, "Other": -0.1, "65+": 0.1},
    "near limits": {
        f"{name} {side}": times * HALF_SHIFT * sign
        for name, times in NEAR_TIMES.items()
        for side, sign in (("A", -1), ("B", 1))
    },
    "far from limits": {"Other": 3.0, "65+": 3.0},
}


def population(name: str) -> tuple[dict[str, tuple[str, ...]], np.ndarray, np.ndarray]:
    """Group levels; cells (groups, label, bin), one a row; and the share of patients in each."""
    attributes, shifts = POPULATIONS[name], SHIFTS[name]
    edges = logit(np.arange(BINS + 1) / BINS)
    cells, shares = [], []
    for codes in product(*(range(len(levels)) for levels in attributes.values())):
        levels = [list(held)[code] for held, code in zip(attributes.values(), codes, strict=True)]
        values = [held[level] for held, level in zip(attributes.values(), levels, strict=True)]
        prior = sum(odds for _, odds in values)
        share, risk = np.prod([part for part, _ in values]), expit(prior)
        for label, chance in enumerate((1 - risk, risk)):
            middle = prior + sum(shifts.get(level, 0) for level in levels) + (label - 0.5) * SEPARATION**2
            in_bins = np.diff(norm.cdf((edges - middle) / SEPARATION))
            cells += [(*codes, label, number) for number in range(BINS)]
            shares += list(share * chance * in_bins)
    groups = {attribute: tuple(levels) for attribute, levels in attributes.items()}
    return groups, np.array(cells), np.array(shares) / np.sum(shares)


def sites(name: str, size: int, audits: int, rng: np.random.Generator) -> Counts:
    """``audits`` samples of twenty sites of ``size`` patients each, as replicates."""
    groups, cells, shares = population(name)
    drawn = rng.multinomial(size, shares, size=(audits, SITES)).reshape(audits, -1)
    site = np.repeat(np.arange(SITES), len(cells))
    held = np.column_stack([site, np.tile(cells, (SITES, 1))])
    names = {"site": tuple(f"site {number + 1}" for number in range(SITES)), **groups}
    edges = make_edges(BINS, [THRESHOLD], ("float64",))
    lines = Lines(np.arange(len(held)), held, np.ones(len(held), dtype=np.int64), drawn)
    return Counts(names, edges, (), "long_stay", "1", "row", lines)


def agreements(name: str, size: int, audits: int, rng: np.random.Generator) -> xr.Dataset:
    """Agreement in each audit, over metric and replicate."""
    parts = []
    for start in range(0, audits, CHUNK):
        counts = sites(name, size, min(CHUNK, audits - start), rng)
        verdicts = site_passes(counts, list(POPULATIONS[name]), threshold=THRESHOLD)
        parts.append(site_agreement(verdicts, replicates=0))
    return xr.concat(parts, "replicate")


def truth(name: str) -> pd.DataFrame:
    """The seven metrics of the population itself, by attribute."""
    groups, cells, shares = population(name)
    whole = np.round(shares * 1e12).astype(np.int64)
    lines = Lines(np.arange(len(cells)), cells, np.ones(len(cells), dtype=np.int64), whole)
    counts = Counts(groups, make_edges(BINS, [THRESHOLD], ("float64",)), (), "long_stay", "1", "row", lines)
    found = {name: verdict_metrics(counts.by(name), name, threshold=THRESHOLD) for name in groups}
    return pd.DataFrame({name: held.to_array().to_series() for name, held in found.items()})


def study(audits: int = AUDITS, sizes: tuple[int, ...] = SIZES) -> pd.DataFrame:
    """One line a population, size and metric; means over audits in which κ is defined."""
    rows = []
    settings = list(product(POPULATIONS, sizes))
    for number, (name, size) in enumerate(tqdm(settings, desc="kappa_identical_sites")):
        found = agreements(name, size, audits, np.random.default_rng([SEED, number]))
        for metric in METRICS:
            one = found.sel(metric=metric)
            kappa = one["kappa"].values[np.isfinite(one["kappa"].values)]
            some = len(kappa) > 1
            rows.append(
                {
                    "population": name,
                    "size": size,
                    "metric": metric,
                    "audits": audits,
                    "kappa": kappa.mean() if some else np.nan,
                    "kappa_se": kappa.std(ddof=1) / np.sqrt(len(kappa)) if some else np.nan,
                    "kappa_low": np.quantile(kappa, 0.025) if some else np.nan,
                    "kappa_high": np.quantile(kappa, 0.975) if some else np.nan,
                    "below_limit": (kappa < 0.4).mean() if some else np.nan,
                    "kappa_undefined": 1 - len(kappa) / audits,
                    "raw": float(one["raw"].mean()),
                    "ac1": float(one["ac1"].mean()),
                    "verdicts_undefined": float(one["undefined"].mean()),
                }
            )
    return pd.DataFrame(rows)


def run() -> pd.DataFrame:
    """The study in full."""
    return study()
