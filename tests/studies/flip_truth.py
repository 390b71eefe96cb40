"""Is the verdict flip rate the chance that another sample disagrees? 2,000 fresh audits a setting.

The true verdict is that of endless patients. In each setting the truth lies a given number of standard errors (the
margin) from the limit, on the passing or the failing side, and every audit is of the same size:

- ``near-normal``: SPD of two groups of 2,000 people, selection rates around .35 and .25;
- ``range``: EOpp of five groups with 353 positives each, four with a sensitivity of .70, one lower; the largest
  passing margin is that of five tied groups;
- ``range, few``: the same with 100 positives.

A standard error is that of the difference of two groups' rates. Each audit is resampled 500 times within groups (and
within the outcome, for EOpp), which is a binomial draw a group. Tabulated:

- ``true_flip``: share of fresh audits whose verdict is not the true one;
- ``disagree``: chance that two fresh audits disagree, 2p(1 − p);
- ``mean_vfr`` and ``looks_stable``: mean flip rate, and the share of audits in which it is at most .10;
- ``mean_replication``: mean of Φ(Φ⁻¹(VFR)/√2), to be compared with ``disagree``;
- ``theory_…``: the same were the metric normal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from scipy.integrate import quad
from scipy.stats import norm
from tqdm import tqdm

from auditlib.verdicts import LIMITS, flip_rate, passes, verdict_metrics
from tests.studies.tools import binomial_se

AUDITS, K, SEED, STABLE = 2_000, 500, 20_261, 0.10
MARGINS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)


class Setting(NamedTuple):
    """Rates of the groups, people each rate is of, and what is judged."""

    kind: str
    metric: str
    side: str
    margin: float
    rates: tuple[float, ...]
    n: int

    def tables(self, events: np.ndarray, dims: list[str]) -> xr.Dataset:
        """Events of each group, on the last axis, as confusion tables; nobody else is in them."""
        rest, none = self.n - events, np.zeros_like(events)
        cells = (events, none, rest, none) if self.metric == "EOpp" else (none, events, none, rest)
        names = dict(zip(("tp", "fp", "fn", "tn"), cells, strict=True))
        coords = {"group": [str(g) for g in range(len(self.rates))]}
        return xr.Dataset({name: ([*dims, "group"], cell) for name, cell in names.items()}, coords)

    def judged(self, events: np.ndarray, dims: list[str]) -> xr.DataArray:
        """The one metric of these tables."""
        return verdict_metrics(self.tables(events, dims), "group")[self.metric]


def settings() -> Iterator[Setting]:
    """The truth at each margin, on either side of the limit."""
    for kind, metric, n, base, groups in (
        ("near-normal", "SPD", 2_000, 0.35, 2),
        ("range", "EOpp", 353, 0.70, 5),
        ("range, few", "EOpp", 100, 0.70, 5),
    ):
        limit = LIMITS[metric].value
        for side, sign in (("fail", 1), ("pass", -1)):
            for margin in MARGINS if side == "fail" else MARGINS[1:]:
                low = base - limit
                for _ in range(20):  # the standard error depends on the rate that it places
                    se = np.sqrt((base * (1 - base) + low * (1 - low)) / n)
                    low = base - max(limit + sign * margin * se, 0.0)
                yield Setting(kind, metric, side, margin, (*[base] * (groups - 1), low), n)


def judge(setting: Setting, audits: int, rng: np.random.Generator) -> dict[str, float]:
    """Fresh audits and their replicates; the true verdict at the limit itself is a pass."""
    truth = 1.0 if setting.side == "pass" or setting.margin == 0 else 0.0
    events = rng.binomial(setting.n, setting.rates, (audits, len(setting.rates)))
    passed = passes(setting.judged(events, ["audit"]), setting.metric).values
    vfr, replication = [], []
    for part in np.array_split(events, max(1, audits // 200)):
        again = rng.binomial(setting.n, part[:, None, :] / setting.n, (len(part), K, part.shape[1]))
        found = flip_rate(setting.judged(again, ["audit", "replicate"]), setting.metric)
        vfr.append(found.vfr.values)
        replication.append(norm.cdf(norm.ppf(found.vfr.values) / np.sqrt(2)))  # 0 where no replicate flips
    rates, p = np.concatenate(vfr), passed.mean()
    flip = float((passed != truth).mean())
    return {
        "audits": audits,
        "true_flip": flip,
        "true_flip_se": binomial_se(flip, audits),
        "disagree": float(2 * p * (1 - p)),
        "mean_vfr": float(rates.mean()),
        "looks_stable": float((rates <= STABLE).mean()),
        "mean_replication": float(np.concatenate(replication).mean()),
        **theory(setting.margin),
    }


def theory(margin: float) -> dict[str, float]:
    """Of a normal estimate ``margin`` standard errors from the limit, resampled without end."""
    flip = norm.sf(margin)

    def mean(of: float) -> float:  # E[Φ(−|margin + Z|/of)]
        return float(quad(lambda z: norm.pdf(z - margin) * norm.cdf(-abs(z) / of), -9, 12, points=[0])[0])

    return {
        "theory_true_flip": float(flip),
        "theory_disagree": float(2 * flip * (1 - flip)),
        "theory_vfr": mean(1.0),
        "theory_replication": mean(np.sqrt(2)),
    }


def study(audits: int = AUDITS, chosen: tuple[Setting, ...] | None = None, seed: int = SEED) -> pd.DataFrame:
    """One row a setting."""
    asked = tuple(settings()) if chosen is None else chosen
    seeds = np.random.SeedSequence(seed).spawn(len(asked))
    rows = [
        {
            **{name: getattr(each, name) for name in ("kind", "metric", "side", "margin", "n")},
            "groups": len(each.rates),
            "truth": float(np.ptp(each.rates)),
            **judge(each, audits, np.random.default_rng(own)),
        }
        for each, own in tqdm(list(zip(asked, seeds, strict=True)), desc="flip truth")
    ]
    return pd.DataFrame(rows)


def run() -> pd.DataFrame:
    """The study in full (two minutes of one core)."""
    return study()
