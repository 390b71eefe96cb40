"""Does the interval of the largest minus the smallest sensitivity contain the true spread, 0 included?

G groups with a fixed number of positives each; the lowest sensitivity is .70. ``even``: the others stand at equal
steps up to .70 + spread; ``one apart``: one group stands at .70 + spread, all others tie at .70. The percentile
bootstrap draws positives within groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
import xarray as xr
from tqdm import tqdm

import auditlib as al
from tests.studies.tools import coverage

AUDITS, REPLICATES, SEED = 4_000, 1_000, 20_241
LOWEST = 0.70
GROUPS, POSITIVES, SPREADS, SHAPES = (3, 2, 5, 8), (100, 30, 300), (0.0, 0.05, 0.10, 0.20), ("even", "one apart")
CHUNK = 500


def truths(groups: int, spread: float, shape: str) -> np.ndarray:
    """True sensitivity of each group."""
    step = np.linspace(0, 1, groups) if shape == "even" else np.arange(groups) == groups - 1
    return LOWEST + spread * step


def table_of(events: np.ndarray, positives: int, dims: tuple[str, ...]) -> xr.Dataset:
    """Confusion tables of positives only; groups are the last axis."""
    tp = xr.DataArray(events, {"group": [f"g{i}" for i in range(events.shape[-1])]}, dims)
    nobody = xr.zeros_like(tp)
    return xr.Dataset({"tp": tp, "fp": nobody, "fn": positives - tp, "tn": nobody})


def percentile(events: np.ndarray, positives: int, n: int, rng: np.random.Generator) -> xr.Dataset:
    """Percentile intervals of the spread, one an audit."""
    parts = []
    for start in range(0, len(events), CHUNK):
        seen = events[start : start + CHUNK]
        again = rng.binomial(positives, seen / positives, size=(n, *seen.shape))
        table = table_of(again, positives, ("replicate", "audit", "group"))
        parts.append(al.interval(al.spread(al.sensitivity(table), "group")))
    return xr.concat(parts, "audit")


def intervals(
    rates: np.ndarray, positives: int, audits: int, n: int, seed: list[int]
) -> Iterator[tuple[str, xr.Dataset]]:
    """Both methods on the same audits; without the bootstrap where ``n`` is 0."""
    rng = np.random.default_rng(seed)
    events = rng.binomial(positives, rates, size=(audits, len(rates)))
    yield "spread_interval", al.spread_interval(table_of(events, positives, ("audit", "group")), "group")
    if n:
        yield "percentile", percentile(events, positives, n, rng)


def study(
    audits: int = AUDITS,
    n: int = REPLICATES,
    groups: tuple[int, ...] = GROUPS,
    positives: tuple[int, ...] = POSITIVES,
    shapes: tuple[str, ...] = SHAPES,
) -> pd.DataFrame:
    """One line a setting and method, with each width over the percentile interval's."""
    lines = []
    settings = [
        setting
        for setting in product(groups, positives, shapes, SPREADS)
        # Two groups, or no spread, have one shape.
        if setting[2] == shapes[0] or (setting[0] > 2 and setting[3] > 0)
    ]
    for number, (count, each, shape, spread) in enumerate(tqdm(settings, desc="spread_coverage")):
        found = dict(intervals(truths(count, spread, shape), each, audits, n, [SEED, number]))
        setting = {"groups": count, "positives": each, "shape": shape, "spread": spread}
        widths = {method: float((limits["high"] - limits["low"]).mean()) for method, limits in found.items()}
        for method, limits in found.items():
            relative = widths[method] / widths.get("percentile", np.nan)
            drawn = n if method == "percentile" else 0
            line = {"method": method, "replicates": drawn, **coverage(limits, spread), "relative_width": relative}
            lines.append({**setting, **line})
    return pd.DataFrame(lines)


def run() -> pd.DataFrame:
    """The study in full."""
    return study()
