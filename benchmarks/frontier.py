"""The capacity frontier over every score that occurs: seconds as rows grow tenfold, twice."""

from __future__ import annotations

import numpy as np
import xarray as xr

import auditlib as al
from auditlib.benefit.frontier import capacity_frontier
from benchmarks.clock import Result, judged, side_by_side
from benchmarks.data import frame

ROWS = (25_000, 250_000, 2_500_000)
LAM = {"0": 0.30, "1": 0.20, "2": 0.25, "3": 0.21, "4": 0.22}  # one a group: no two sum to one


def run(rows: tuple[int, ...] = ROWS, rounds: int = 5) -> list[Result]:
    """CPU seconds for each size, counting left out, and their ratio; n log n gives 12 from 250,000 to 2,500,000."""
    name, counts = "capacity frontier, a bin for every score", {n: counted(n) for n in rows}
    least = side_by_side({str(n): lambda n=n: frontier(counts[n]) for n in rows}, rounds)
    found = []
    for before, n in zip((0, *rows), rows, strict=False):
        points = frontier(counts[n]).sizes["point"]
        found.append(Result(name, f"{n:,} rows", "CPU seconds", least[str(n)]))
        found.append(Result(name, f"{n:,} rows", "points", points))
        if before:
            allowed = n * np.log(n) / (before * np.log(before))
            measure, ratio = f"times the CPU time of {before:,} rows", least[str(n)] / least[str(before)]
            found.append(judged(name, f"{n:,} rows", measure, ratio, most=round(1.25 * allowed, 1)))
    return found


def counted(n: int) -> al.Counts:
    """Every score of ``n`` rows an edge, by race."""
    return al.count(frame(n), label="label", score="score", by="race", bins=None)


def frontier(counts: al.Counts) -> xr.Dataset:
    """One group of five against the rest, 3% of everybody."""
    return capacity_frontier(counts, "4", capacity=0.03, threshold=0.1, lam=LAM)
