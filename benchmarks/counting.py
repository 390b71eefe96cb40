"""Counting Parquet rows lazily, against NumPy on the same columns in memory.

Every side runs in a process of its own and must find the same counts. NumPy is given the columns as arrays, off the
clock, and builds its keys on whole columns, or block by block, so that they stay in the processor's cache; the engines
read the file.
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

BINS = 200
NUMPY = {"NumPy": 0, "NumPy in blocks": 1 << 17}  # rows at a time; 0 is all
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


def by_numpy(columns: dict[str, np.ndarray], block: int) -> np.ndarray:
    """The same counts by key building and ``bincount``, ``block`` rows at a time: (race, sex, label, bin)."""
    shape = (*(ATTRIBUTES[name] for name in BY), 2, BINS + 2)
    total = np.zeros(int(np.prod(shape)), np.int64)
    for start in range(0, len(columns["label"]), block):
        part = {name: column[start : start + block] for name, column in columns.items()}
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
    if engine in NUMPY:
        table = pq.read_table(path, columns=COLUMNS)
        columns = {name: table[name].to_numpy() for name in COLUMNS}
        spent, found = timed(lambda: by_numpy(columns, NUMPY[engine] or len(columns["label"])), rounds=2)
    else:
        spent, counts = timed(lambda: by_engine(engine, path), rounds=2)
        found = counts.histogram().transpose(*BY, "label", "bin").values
    return spent | {"digest": hashlib.sha256(np.ascontiguousarray(found).tobytes()).hexdigest()}


def run(n_rows: int = 20_000_000) -> list[Result]:
    """Ratios of wall and CPU time to NumPy's, and peak memory."""
    path = str(parquet(n_rows))
    name = f"counting {n_rows:,} Parquet rows"
    found, peers = [], {peer: in_its_own_process(__name__, peer, path) for peer in NUMPY}
    for engine in ("Polars", "DuckDB"):
        seen = in_its_own_process(__name__, engine, path)
        for peer, least in peers.items():
            again = in_its_own_process(__name__, peer, path)  # before and after: the same machine for both
            least |= {clock: min(least[clock], again[clock]) for clock in ("wall", "cpu")}
            if seen["digest"] != least["digest"]:
                raise AssertionError(f"{engine} counts differently from {peer}")
            measure, ratio = f"times the wall time of {peer}", seen["wall"] / least["wall"]
            found.append(
                judged(name, engine, measure, ratio, most=4)
                if peer == "NumPy"
                else Result(name, engine, measure, ratio)
            )
            found.append(Result(name, engine, f"times the CPU time of {peer}", seen["cpu"] / least["cpu"]))
        found.append(judged(name, engine, "peak memory, MB", seen["peak_mb"], most=1024))
    found += [Result(name, peer, "peak memory, MB", least["peak_mb"]) for peer, least in peers.items()]
    return found


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:3])))
