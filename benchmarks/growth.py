"""What an audit costs as patients grow a thousandfold: seconds to count them, and seconds for all that follows.

The audit is the seven verdict metrics of four attributes in 500 replicates and their flip rates, from tables with score
bins. Rows are drawn off the clock, a million at a time, and counted a million at a time: tables add up.
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import xarray as xr

import auditlib as al
from auditlib.verdicts import flip_rate, verdict_metrics
from benchmarks.clock import Result, judged, side_by_side
from benchmarks.data import ATTRIBUTES, BLOCK, THRESHOLD, draw

ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
BINS = 20  # few enough for a cell of every attribute to be met among 10,000 rows


def counted(n: int, seed: int = 3) -> tuple[al.Counts, float]:
    """Counts of ``n`` rows, and the CPU seconds they took."""
    rng, found, spent = np.random.default_rng(seed), [], 0.0
    for start in range(0, n, BLOCK):
        rows = pd.DataFrame(draw(min(BLOCK, n - start), rng))
        began = time.process_time()
        by = list(ATTRIBUTES)
        found.append(al.count(rows, label="label", score="score", by=by, thresholds=[THRESHOLD], bins=BINS))
        spent += time.process_time() - began
    began = time.process_time()
    return sum(found[1:], start=found[0]), spent + time.process_time() - began


def audit(counts: al.Counts, n: int) -> dict[str, xr.Dataset]:
    """Flip rates of every attribute's metrics over ``n`` replicates drawn within labels."""
    found = {}
    for number, dim in enumerate(ATTRIBUTES):
        own = counts.by(dim)
        again = own.resample(n, strata="label", seed=number)
        point = verdict_metrics(own, dim, threshold=THRESHOLD)
        found[dim] = flip_rate(verdict_metrics(again, dim, threshold=THRESHOLD), point=point)
    return found


def run(rows: tuple[int, ...] = ROWS, n: int = 500, rounds: int = 5) -> list[Result]:
    """CPU seconds of counting and of the audit for each size, and the audit's relative to the smallest."""
    name, tables = f"growth: 7 metrics x 4 attributes x {n} replicates", {size: counted(size) for size in rows}
    least = side_by_side({str(size): lambda size=size: audit(tables[size][0], n) for size in rows}, rounds)
    found = []
    for size in rows:
        counts, spent = tables[size]
        case, own = f"{size:,} rows", least[str(size)]
        cells = sum(len(counts.by(dim).lines.n) for dim in ATTRIBUTES)
        found.append(Result(name, case, "cells of the attributes' tables", cells))
        found.append(Result(name, case, "CPU seconds to count", spent))
        found.append(Result(name, case, "CPU seconds to audit", own))
        if size > rows[0]:
            measure = f"times the audit's CPU time at {rows[0]:,} rows"
            found.append(judged(name, case, measure, own / least[str(rows[0])], most=1.5))
    return found
