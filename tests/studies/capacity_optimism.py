"""What frontiers promise on the few people they are chosen on, what they keep, and what choosing on half costs.

Samples are drawn with replacement from the half "choose" of the heart disease table. On each the frontier for room for
3% and incomes under 15,000 dollars is found. Its two ends are judged on the sample itself (``promised``) and on all
the people the sample was drawn from: at the sample's thresholds (``kept``, flagging ``flagged`` of 10,000) and with
each side's places filled in proportion, so that the capacity is 3% whatever the sample (``kept_places``). Gains are
per 10,000 over treating nobody, for those for whom that end is best; ``_se`` are Monte-Carlo standard errors.
Sizes double here and there: the row of half the people tells what it costs to keep the other half for judging.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr
from tqdm import tqdm

from auditlib.benefit.frontier import capacity_frontier
from auditlib.counts import Counts
from auditlib.studies import benefit_counts
from auditlib.studies.capacity import gains, samples
from auditlib.studies.places import filling

LEVEL, CAPACITY, THRESHOLD, LAM = "under 15k", 0.03, 0.10, 0.22
#: People chosen on, and how many samples of so many.
SIZES = {250: 1_000, 500: 1_000, 1_000: 800, 2_000: 800, 5_000: 400, 10_000: 400, 25_000: 200, 50_000: 200}
VALUES = ("promised", "kept", "kept_places", "flagged")


def in_proportion(counts: Counts, ends: xr.Dataset) -> xr.Dataset:
    """Ends of a sample's frontier with each side's places, scaled to all the people, filled from the top."""
    scale = np.floor(CAPACITY * counts.n_rows) / ends.attrs["capacity"]
    others = [name for name in counts.groups["income"] if name != LEVEL]
    sides = {"level": counts.sel(income=LEVEL), "rest": counts.sel(income=others)}
    return ends.assign(
        {
            f"threshold_{side}": ("point", filling(held, ends[f"flagged_{side}"].values * scale))
            for side, held in sides.items()
        }
    )


def ends_of(counts: Counts, sample: Counts) -> np.ndarray:
    """``VALUES`` of the best overall and of the best for the group, chosen on ``sample``: two by four."""
    ends = capacity_frontier(sample, LEVEL, CAPACITY, THRESHOLD, LAM).isel(point=[0, -1])
    judged = [(sample, ends), (counts, ends), (counts, in_proportion(counts, ends))]
    promised, kept, places = (gains(held, points, THRESHOLD, LAM, replicates=0) for held, points in judged)
    rows = []
    for k, who in enumerate(("overall", "level")):
        rows.append([*(found[who].iloc[k] for found in (promised, kept, places)), kept["flagged"].iloc[k]])
    return np.array(rows)


def study(sizes: Mapping[int, int], seed: int = 1) -> pd.DataFrame:
    """One line a size and end."""
    counts, lines = benefit_counts("snb-heart-income").sel(half="choose"), []
    for size, draws in sizes.items():
        bar = tqdm(samples(counts, size, draws, seed=seed), total=draws, desc=f"capacity_optimism {size}", leave=False)
        drawn = np.array([ends_of(counts, sample) for sample in bar])
        for k, name in enumerate(("best overall", f"best for {LEVEL}")):
            found = pd.DataFrame(drawn[:, k], columns=VALUES)
            found["optimism"] = found["promised"] - found["kept"]
            mean, se = found.mean(), found.std() / np.sqrt(draws)
            line = {"size": size, "point": name, "draws": draws} | mean.to_dict()
            lines.append(line | {"se": se["optimism"]} | {f"{value}_se": se[value] for value in VALUES[:3]})
    return pd.DataFrame(lines)


def run() -> pd.DataFrame:
    return study(SIZES)
