"""The same Parquet file counted by every engine, beside NumPy on columns that are already in memory.

Every engine runs in a process of its own, reads the columns it needs from the file and counts three kinds of score; all
must find NumPy's counts. Peak memory is that of the process and its children: Spark works in a Java machine.
``python -m benchmarks.scale`` prints a table.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from tqdm import tqdm

import auditlib as al
from benchmarks.clock import Result, in_its_own_process, judged, peak_mb, timed
from benchmarks.counting import BINS, BY, by_numpy
from benchmarks.data import ATTRIBUTES, BLOCK, THRESHOLD, draw
from benchmarks.engines import here, spark

LEVELS = {name: [f"{name} {code}" for code in range(ATTRIBUTES[name])] for name in BY}
SCORES = {"score": "any float64", "rounded": "two decimals", "single": "float32"}
ENGINES = ("pandas", "Polars", "Polars, lazy", "PyArrow", "DuckDB", "Dask", "Spark")


def block(n: int, rng: np.random.Generator) -> pa.Table:
    """``n`` rows: two groups as text, a label, and one score as three kinds of number."""
    columns = draw(n, rng)
    groups = {name: pa.array(LEVELS[name]).take(pa.array(columns[name])) for name in BY}
    score = columns["score"]
    numbers = {"score": score, "rounded": score.round(2), "single": score.astype(np.float32)}
    return pa.table({**groups, "label": columns["label"], **numbers})


def parquet(n: int, seed: int = 4) -> Path:
    """A Parquet file of ``n`` rows, written block by block, and once."""
    path = Path(tempfile.gettempdir()) / "auditlib-benchmarks" / f"scale-{n}-{seed}.parquet"
    if path.exists():
        return path
    path.parent.mkdir(exist_ok=True)
    partial, rng = path.with_suffix(".partial"), np.random.default_rng(seed)
    with pq.ParquetWriter(partial, block(1, np.random.default_rng(0)).schema) as writer:
        for start in tqdm(range(0, n, BLOCK), desc=f"writing {n:,} rows", unit="block"):
            writer.write_table(block(min(BLOCK, n - start), rng))
    return partial.rename(path)


def held(engine: str, path: str, columns: list[str]) -> Any:
    """The file in an engine: read by those that hold rows in memory, opened by the others."""
    if engine == "pandas":
        return pd.read_parquet(path, columns=columns)
    if engine == "PyArrow":
        return pq.read_table(path, columns=columns)
    if engine == "DuckDB":
        import duckdb

        return duckdb.read_parquet(path)
    if engine == "Dask":
        import dask.dataframe as dd

        return dd.read_parquet(path, columns=columns, split_row_groups=True)
    if engine == "Spark":
        return spark({}).read.parquet(path)
    import polars as pl

    return pl.scan_parquet(path) if engine == "Polars, lazy" else pl.read_parquet(path, columns=columns)


def by_engine(engine: str, path: str, score: str) -> np.ndarray:
    """Counts from the file: (race, sex, label, bin)."""
    frame = held(engine, path, [*BY, "label", score])
    counts = al.count(frame, label="label", score=score, by=BY, thresholds=[THRESHOLD], bins=BINS)
    return counts.histogram().transpose(*BY, "label", "bin").values


def codes(path: str, score: str) -> dict[str, np.ndarray]:
    """The columns as NumPy takes them: groups as small numbers."""
    table = pq.read_table(path, columns=[*BY, "label", score])
    groups = {name: pc.index_in(table[name], pa.array(LEVELS[name])).to_numpy().astype(np.int8) for name in BY}
    return {**groups, "label": table["label"].to_numpy(), "score": table[score].to_numpy()}


def measure(engine: str, path: str, rounds: str) -> dict[str, Any]:
    """Seconds and a digest for each kind of score, seconds to start, and peak memory."""
    start = time.perf_counter()
    if engine == "Spark":
        spark({})
    found: dict[str, Any] = {"start": time.perf_counter() - start, "wall": {}, "digest": {}}
    for score in SCORES:
        if engine == "NumPy":
            columns = codes(path, score)
            spent, counts = timed(lambda columns=columns: by_numpy(columns, len(columns["label"])), int(rounds))  # type: ignore[misc]
        else:
            spent, counts = timed(lambda score=score: by_engine(engine, path, score), int(rounds))  # type: ignore[misc]
        found["wall"][score] = spent["wall"]
        found["digest"][score] = hashlib.sha256(np.ascontiguousarray(counts).tobytes()).hexdigest()
    return found | {"peak_mb": tree_peak_mb()}


def tree_peak_mb() -> float:
    """Peak memory of this process and of its children that still run, each at its own peak, added."""
    parents, peaks = {}, {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            said = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except OSError:  # ended meanwhile
            continue
        process = int(said["Pid"])
        parents[process] = int(said["PPid"])
        peaks[process] = int(said.get("VmHWM", "0 kB").split()[0]) / 1024
    own = int(Path("/proc/self").readlink().name) if peaks else 0
    tree = {own}
    while more := {process for process, parent in parents.items() if parent in tree} - tree:
        tree |= more
    return sum(peaks[process] for process in tree) if peaks else peak_mb()


def run(n_rows: int = 20_000_000, rounds: int = 2) -> list[Result]:
    """Wall time of every engine that runs here as a multiple of NumPy's, in seconds, and its peak memory."""
    path = str(parquet(n_rows))
    name, found = f"the same {n_rows:,} Parquet rows", []
    peer = in_its_own_process(__name__, "NumPy", path, rounds)
    for engine in [engine for engine in ENGINES if engine in here()]:
        seen = in_its_own_process(__name__, engine, path, rounds)
        again = in_its_own_process(__name__, "NumPy", path, rounds)  # before and after: the same machine for both
        peer["wall"] = {score: min(peer["wall"][score], again["wall"][score]) for score in SCORES}
        equal = sum(seen["digest"][score] == peer["digest"][score] for score in SCORES)
        found.append(judged(name, engine, f"kinds of score of {len(SCORES)} with NumPy's counts", equal, least=3))
        for score, kind in SCORES.items():
            found.append(Result(name, engine, f"seconds to read and count, {kind}", seen["wall"][score]))
            ratio = seen["wall"][score] / peer["wall"][score]
            found.append(Result(name, engine, f"times the wall time of NumPy, {kind}", ratio))
        if engine == "Spark":
            found.append(Result(name, engine, "seconds to start", seen["start"]))
        found.append(Result(name, engine, "peak memory, MB", seen["peak_mb"]))
    for score, kind in SCORES.items():
        found.append(Result(name, "NumPy", f"seconds to count columns in memory, {kind}", peer["wall"][score]))
    return [*found, Result(name, "NumPy", "peak memory, MB", peer["peak_mb"])]


def table(found: list[Result]) -> pd.DataFrame:
    """Engines by measures."""
    wide = pd.DataFrame(found).pivot_table(index="case", columns="measure", values="value", sort=False)
    return wide.reindex(list(dict.fromkeys(result.case for result in found)))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(*sys.argv[1:4])))
    else:
        print(table(run()).to_string(float_format=lambda value: f"{value:.3g}", na_rep=""))
