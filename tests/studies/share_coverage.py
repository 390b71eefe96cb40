"""Does the interval of a variance share contain the share that infinitely many patients would show?

A multiverse of 36 specifications on simulated patients with the outcome: three families × three thresholds × two age
bands (the second holds half of the younger group) × two split seeds, each seed judging a third of the patients, drawn
anew. A patient's latent scores under two families correlate by .8; a patient is flagged where the latent reaches the
threshold. So the true gap of every specification is known, and with it the share of the variance of the true gaps that
goes with each choice (``truth``): by itself (``share``), and with the interactions it takes part in (``total``).
``expected`` is the mean, over audits, of the plain SS_axis/SS_total, which the luck of the patients moves: two seeds
with one and the same true gap still give two estimates.

Each audit resamples its patients, the same for all specifications, fits and thresholds held fixed. Intervals:

- ``net``: ``variance_shares``;
- ``percentile``, ``basic``, ``bias-corrected``: of the plain shares of the replicates.

``shift`` is another quantity: the mean estimate of a choice (the last one of the axis) minus that of all
specifications, with the percentile interval of ``choice_means``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from scipy.special import ndtr
from scipy.stats import norm
from tqdm import tqdm

from auditlib.multiverse.shares import choice_means, variance_shares
from tests.studies.tools import binomial_se

AUDITS, REPLICATES, SEED = 1_000, 200, 20_904
POSITIVES = (20, 60, 200, 600)  # of the younger group, judged in one seed; the older group has four times as many
CHOICES = {"family": 3, "threshold": 3, "band": 2, "seed": 2}
SIZES = tuple(CHOICES.values())
ROWS = pd.DataFrame(list(product(*map(range, SIZES))), columns=list(CHOICES))
CUTS, ALIKE, HELD_OUT, OLDER = np.array([-0.5, 0.0, 0.5]), 0.8, 1 / 3, 4
TAILS = np.array([0.025, 0.975])


@dataclass(frozen=True)
class Effects:
    """By how much the choices move the younger group's latent mean, beside −.3 for all of it."""

    family: float = 0.0
    threshold: float = 0.0  # how far the younger group's cuts lie from 0, relative to the older group's
    band: float = 0.0
    seed: float = 0.0

    def means(self) -> np.ndarray:
        """Latent mean over (group, half, family, seed)."""
        found = np.full((2, 2, SIZES[0], SIZES[3]), 0.3)
        found[0] -= 0.3
        found[0, 1] -= self.band
        found[0] += self.family * np.array([-1, 0, 1])[:, None]
        found[0] += self.seed * np.array([-0.5, 0.5])
        return found

    def cuts(self) -> np.ndarray:
        """Cuts over (group, threshold)."""
        return np.stack([CUTS * (1 + self.threshold), CUTS])


PATTERNS = {
    "all choices matter": Effects(family=0.15, threshold=0.6, band=0.5, seed=0.15),
    "the threshold alone": Effects(threshold=0.6),
    "hardly any": Effects(family=0.05, threshold=0.1, band=0.1),
}


def true_gaps(effects: Effects) -> np.ndarray:
    """The gap of every specification with infinitely many patients."""
    rates = ndtr(
        effects.means()[:, :, :, None, :] - effects.cuts()[:, None, None, :, None]
    )  # group half family cut seed
    gap = rates[0] - rates[1].mean(axis=0)
    return np.stack([gap.mean(axis=0), gap[1]], axis=2).reshape(-1)  # bands: both halves, the second


def audit(effects: Effects, positives: int, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Estimates (36) and replicates (36 × n) of one simulated audit."""
    means, cuts, rates = effects.means(), effects.cuts(), []
    for group, size in enumerate((positives, OLDER * positives)):
        people = round(size / HELD_OUT)
        half, judged = rng.integers(0, 2, people), rng.random((people, 1, 1, 1, SIZES[3])) < HELD_OUT
        common, own = rng.normal(size=(people, 1)), rng.normal(size=(people, SIZES[0]))
        latent = means[group, half] + (np.sqrt(ALIKE) * common + np.sqrt(1 - ALIKE) * own)[..., None]
        flagged = latent[:, :, None, None] >= cuts[group][:, None, None]
        among = judged & np.stack([np.ones(people, bool), (half == 1) | (group == 1)], axis=1)[:, None, None, :, None]
        weights = np.vstack([np.ones(people), rng.multinomial(people, np.full(people, 1 / people), n)])
        counted = [
            weights.astype("f4") @ np.broadcast_to(held, (people, *SIZES)).reshape(people, -1).astype("f4")
            for held in (among & flagged, among)
        ]
        rates.append(counted[0] / np.where(counted[1] > 0, counted[1], np.nan))
    gaps = (rates[0] - rates[1]).T.astype(float)
    return gaps[:, 0], gaps[:, 1:]


def whole(replicates: np.ndarray) -> np.ndarray:
    """The replicates in which every group of every specification has a patient."""
    return replicates[:, np.isfinite(replicates).all(axis=0)]


def noise_share(estimates: np.ndarray, replicates: np.ndarray) -> float:
    """What resampling adds to the sum of squares of a replicate, over that of the estimates."""
    used = whole(replicates)
    added = used.var(axis=1, ddof=1).sum() - len(used) * used.mean(axis=0).var(ddof=1)
    return float(added / ((estimates - estimates.mean()) ** 2).sum())


def plain_shares(gaps: np.ndarray, quantity: str = "share") -> np.ndarray:
    """SS_axis/SS_total of each column in a full factorial: of means by choice, or (``total``) within all the others."""
    cube = gaps.reshape(*SIZES, -1)
    total = ((gaps - gaps.mean(axis=0)) ** 2).sum(axis=0)
    parts = []
    for axis, size in enumerate(SIZES):
        if quantity == "total":
            parts.append(((cube - cube.mean(axis=axis, keepdims=True)) ** 2).sum(axis=(0, 1, 2, 3)))
            continue
        means = cube.mean(axis=tuple(k for k in range(4) if k != axis))
        parts.append(((means - means.mean(axis=0)) ** 2).sum(axis=0) * len(gaps) / size)
    return np.array(parts) / np.where(total > 0, total, np.nan)


def intervals(estimates: np.ndarray, replicates: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
    """Estimate, low and high (3 × axis) of every quantity and method."""
    rows, found = ROWS.assign(estimate=estimates), {}
    for quantity in ("share", "total"):
        net = variance_shares(rows, CHOICES, replicates, interactions=quantity == "total").loc[list(CHOICES)]
        share, again = (plain_shares(gaps, quantity) for gaps in (estimates[:, None], whole(replicates)))
        share, (low, high) = share[:, 0], np.quantile(again, TAILS, axis=1)
        below = np.clip((again < share[:, None]).mean(axis=1), 0.5 / again.shape[1], 1 - 0.5 / again.shape[1])
        places = norm.cdf(2 * norm.ppf(below)[:, None] + norm.ppf(TAILS))
        corrected = np.array([np.quantile(values, place) for values, place in zip(again, places, strict=True)]).T
        found[quantity, "net"] = net[["net", "low", "high"]].to_numpy(float).T
        found[quantity, "percentile"] = np.stack([share, low, high])
        found[quantity, "basic"] = np.stack([share, 2 * share - high, 2 * share - low])
        found[quantity, "bias-corrected"] = np.stack([share, *corrected])
    means = choice_means(rows, CHOICES, replicates).groupby("axis", sort=False).last()
    found["shift", "percentile"] = means[["shift", "shift_low", "shift_high"]].to_numpy(float).T
    return found


def truths(gaps: np.ndarray) -> dict[str, np.ndarray]:
    """Every quantity of the true gaps, by axis."""
    means = choice_means(ROWS.assign(estimate=gaps), CHOICES).groupby("axis", sort=False)["shift"].last()
    shares = {quantity: plain_shares(gaps[:, None], quantity)[:, 0].round(12) for quantity in ("share", "total")}
    return shares | {"shift": means.to_numpy()}


def setting(name: str, positives: int, audits: int, n: int, seed: list[int]) -> list[dict[str, object]]:
    """One line a quantity, method and axis."""
    effects, rng = PATTERNS[name], np.random.default_rng(seed)
    truth, drawn, noise = truths(true_gaps(effects)), [], []
    for _ in range(audits):
        estimates, replicates = audit(effects, positives, n, rng)
        drawn.append(intervals(estimates, replicates))
        noise.append(noise_share(estimates, replicates))
    head = {"pattern": name, "positives": positives, "noise": float(np.mean(noise))}
    lines: list[dict[str, object]] = []
    for quantity, method in drawn[0]:
        found = np.array([each[quantity, method] for each in drawn])  # audit × (estimate, low, high) × axis
        mean = np.mean([each[quantity, "percentile"][0] for each in drawn], axis=0)
        for k, axis in enumerate(CHOICES):
            held, low, high = found[:, :, k].T
            inside = [float(((low <= v + 1e-9) & (high >= v - 1e-9)).mean()) for v in (truth[quantity][k], mean[k])]
            line = {**head, "quantity": quantity, "method": method, "axis": axis, "audits": audits, "replicates": n}
            line |= {"truth": truth[quantity][k], "expected": mean[k], "mean": float(np.nanmean(held))}
            line |= {"undefined": float(np.isnan(held).mean()), "coverage": inside[0]}
            line |= {"coverage_se": binomial_se(inside[0], audits), "coverage_expected": inside[1]}
            lines.append({**line, "width": float((high - low).mean())})
    return lines


def study(
    audits: int = AUDITS,
    n: int = REPLICATES,
    positives: tuple[int, ...] = POSITIVES,
    patterns: tuple[str, ...] = tuple(PATTERNS),
) -> pd.DataFrame:
    """One line a setting, quantity, method and axis."""
    lines = []
    for name, each in tqdm(list(product(patterns, positives)), desc="share_coverage"):
        lines += setting(name, each, audits, n, [SEED, list(PATTERNS).index(name), each])
    return pd.DataFrame(lines)


def run() -> pd.DataFrame:
    """The study in full."""
    return study()
