"""Counting Parquet rows lazily, against NumPy on the same columns in memory.

Every side runs in a process of its own and must find the same counts. NumPy is given the columns as arrays, off the
clock, and builds its keys block by block, which is faster than on whole columns; the engines read the file.
"""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import auditlib as al
from benchmarks.clock import Result, in_its_own_process, judged, timed
from benchmarks.data import ATTRIBUTES, THRESHOLD, parquet

BINS, BLOCK = 200, 1 << 17
BY = ("race", "sex")
COLUMNS = [*BY, "label", "score"]


def lazily(engine: str, path: str) -> Any:
    """The file as a lazy table of ``engine``."""
    if engine == "Polars":
        import polars as pl

        return pl.scan_parquet(path)
    import duckdb

    return duckdb.read_parquet(path)


def by_engine(engine: str, path: str) -> al.Counts:
    """One pass over the file; exact bins and one threshold off the grid."""
    rows = lazily(engine, path)
    return al.count(rows, label="label", score="score", by=BY, thresholds=[THRESHOLD], bins=BINS)


def by_numpy(columns: dict[str, np.ndarray]) -> np.ndarray:
    """The same counts by key building and ``bincount``: (race, sex, label, bin)."""
    shape = (*(ATTRIBUTES[name] for name in BY), 2, BINS + 2)
    total = np.zeros(int(np.prod(shape)), np.int64)
    for start in range(0, len(columns["label"]), BLOCK):
        part = {name: column[start : start + BLOCK] for name, column in columns.items()}
        score = part["score"]
        nearest = np.floor(score * BINS + 0.5)
        bins = (nearest - (score < nearest / BINS) + (score >= THRESHOLD)).astype(np.int64)
        key = np.zeros(len(score), np.int64)
        for name, size in zip(COLUMNS, shape[:3], strict=False):
            key = key * size + part[name]
        total += np.bincount(key * shape[3] + bins, minlength=len(total))
    return total.reshape(shape)


def measure(engine: str, path: str) -> dict[str, Any]:
    """Seconds, peak memory and a digest of the counts."""
    if engine == "NumPy":
        table = pq.read_table(path, columns=COLUMNS)
        columns = {name: table[name].to_numpy() for name in COLUMNS}
        spent, found = timed(lambda: by_numpy(columns), rounds=2)
    else:
        spent, counts = timed(lambda: by_engine(engine, path), rounds=2)
        found = counts.histogram().transpose(*BY, "label", "bin").values
    return spent | {"digest": hashlib.sha256(np.ascontiguousarray(found).tobytes()).hexdigest()}


def run(n_rows: int = 20_000_000) -> list[Result]:
    """Ratios of wall and CPU time to NumPy's, and peak memory."""
    path = str(parquet(n_rows))
    name = f"counting {n_rows:,} Parquet rows"
    numpy, found = in_its_own_process(__name__, "NumPy", path), []
    for engine in ("Polars", "DuckDB"):
        seen = in_its_own_process(__name__, engine, path)
        again = in_its_own_process(__name__, "NumPy", path)  # before and after: the same machine for both
        numpy |= {clock: min(numpy[clock], again[clock]) for clock in ("wall", "cpu")}
        if seen["digest"] != numpy["digest"]:
            raise AssertionError(f"{engine} counts differently from NumPy")
        found.append(judged(name, engine, "times NumPy's wall time", seen["wall"] / numpy["wall"], most=4))
        found.append(Result(name, engine, "times NumPy's CPU time", seen["cpu"] / numpy["cpu"]))
        found.append(judged(name, engine, "peak memory, MB", seen["peak_mb"], most=1024))
    found.append(Result(name, "NumPy", "peak memory, MB", numpy["peak_mb"]))
    return found


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:3])))
