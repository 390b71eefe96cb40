"""Peak memory of 2,000 replicates of an audit of 5 million rows: nothing of size replicates × rows exists."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

import auditlib as al
from benchmarks.clock import Result, in_its_own_process, judged, peak_mb, timed
from benchmarks.counting import lazily
from benchmarks.data import ATTRIBUTES, THRESHOLD, parquet


def measure(engine: str, path: str, n: int) -> dict[str, Any]:
    """Peak memory after counting, and after replicates over all four attributes jointly and each gap."""
    counts = al.count(
        lazily(engine, path), label="label", score="score", by=list(ATTRIBUTES), thresholds=[THRESHOLD]
    ).cut(THRESHOLD)
    counting = peak_mb()
    spent, found = timed(lambda: spreads(counts, n))
    if not all(np.isfinite(limit).all() for limit in found):
        raise AssertionError("an interval is undefined")
    return spent | {"counting_mb": counting}


def spreads(counts: al.Counts, n: int) -> list[np.ndarray]:
    """Intervals of the sensitivity spread of each attribute, from one joint resample within labels."""
    again = counts.resample(n, strata="label", seed=1)
    found = []
    for dim in ATTRIBUTES:
        limits = al.interval(al.spread(al.sensitivity(again.by(dim).at(THRESHOLD)), dim))
        found.append(np.array([limits["low"].item(), limits["high"].item()]))
    return found


def run(n_rows: int = 5_000_000, n: int = 2_000) -> list[Result]:
    """Peak memory in megabytes, of a process that counts the rows lazily and resamples."""
    path, name, found = parquet(n_rows), f"{n:,} replicates of {n_rows:,} rows", []
    for engine in ("Polars", "DuckDB"):
        seen = in_its_own_process(__name__, engine, path, n)
        found.append(judged(name, engine, "peak memory, MB", seen["peak_mb"], most=1024))
        found.append(Result(name, engine, "of which after counting, MB", seen["counting_mb"]))
    return found


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
