"""A cohort with two partitions and unlike groups, and brute force, for the tests of mitigation."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

import auditlib as al

ATTRIBUTES = ("sex", "age")


def people(rows: int = 3000, seed: int = 0, ages: tuple[str, ...] = ("old", "young")) -> pd.DataFrame:
    """Rows whose outcome is rarer, and whose scores are lower, in the later age groups."""
    rng = np.random.default_rng(seed)
    age, sex = rng.choice(ages, rows), rng.choice(["F", "M"], rows, p=[0.6, 0.4])
    logit = 0.6 - 1.2 * np.searchsorted(ages, age) / (len(ages) - 1) + 0.3 * (sex == "F") + rng.normal(0, 1, rows)
    outcome = rng.random(rows) < 1 / (1 + np.exp(-logit))
    score = 1 / (1 + np.exp(-logit - rng.normal(0, 0.4, rows)))
    part = rng.choice(["selection", "audit"], rows)
    return pd.DataFrame({"y": outcome.astype(int), "p": score, "sex": sex, "age": age, "partition": part})


def counted(frame: pd.DataFrame, bins: int = 20, by: Any = ATTRIBUTES, **options: Any) -> al.Counts:
    return al.count(frame, label="y", score="p", by=list(by), bins=bins, **options)


def brute_force(frame: pd.DataFrame, bins: int, by: tuple[str, ...], edges: Any = None) -> pd.DataFrame:
    """Correct decisions, true positives and DI under every choice of one edge a joint group, from rows."""
    edges = np.arange(bins + 1) / bins if edges is None else np.asarray(edges)
    group = frame[list(by)].agg(", ".join, axis=1)
    names = sorted(group.unique())
    flagged = frame["p"].to_numpy()[:, None] >= edges  # (rows, edges)
    y = frame["y"].to_numpy()[:, None]
    levels = {(dim, level): (frame[dim] == level).to_numpy() for dim in ATTRIBUTES for level in frame[dim].unique()}
    inside = [(group == name).to_numpy() for name in names]
    correct = np.array([(flagged == y)[mask].sum(axis=0) for mask in inside])
    caught = np.array([(flagged & (y == 1))[mask].sum(axis=0) for mask in inside])
    chosen = np.array([[flagged[mask & own].sum(axis=0) for own in levels.values()] for mask in inside])
    combos = np.array(list(product(range(len(edges)), repeat=len(names))))
    at = np.arange(len(names))
    counts = chosen[at[None], :, combos].sum(axis=1)  # (combos, levels)
    rates = counts / np.array([own.sum() for own in levels.values()])
    found = {"correct": correct[at[None], combos].sum(axis=1), "tp": caught[at[None], combos].sum(axis=1)}
    with np.errstate(invalid="ignore"):
        for dim in ATTRIBUTES:
            mine = rates[:, [key[0] == dim for key in levels]]
            found[dim] = mine.min(axis=1) / mine.max(axis=1)
    return pd.DataFrame(found).assign(**{name: edges[combos[:, k]] for k, name in enumerate(names)})


def public_ratio(counts: al.Counts, thresholds: Any, dim: str) -> float:
    table = counts.at(thresholds)
    return float(al.ratio(al.selection_rate(table.sum([name for name in counts.dims if name != dim])), dim))
