"""Rows to count, made up once and kept in the temporary folder."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

THRESHOLD = 0.333  # off the grid of 200 bins
ATTRIBUTES = {"race": 5, "sex": 2, "ethnicity": 2, "age": 4}
BLOCK = 1_000_000


def draw(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Group codes, labels and scores of ``n`` rows."""
    columns: dict[str, np.ndarray] = {}
    for name, size in ATTRIBUTES.items():
        weight = np.arange(size, 0, -1.0)
        columns[name] = rng.choice(size, n, p=weight / weight.sum()).astype(np.int8)
    columns["label"] = (rng.random(n) < 0.3).astype(np.int8)
    columns["score"] = 1 / (1 + np.exp(1.0 - 1.2 * columns["label"] - rng.standard_normal(n)))
    return columns


def frame(n: int, seed: int = 1) -> pd.DataFrame:
    """``n`` rows as pandas."""
    return pd.DataFrame(draw(n, np.random.default_rng(seed)))


def parquet(n: int, seed: int = 2) -> Path:
    """A Parquet file of ``n`` rows, written block by block, and once."""
    path = Path(tempfile.gettempdir()) / "auditlib-benchmarks" / f"rows-{n}-{seed}.parquet"
    if path.exists():
        return path
    path.parent.mkdir(exist_ok=True)
    partial, rng = path.with_suffix(".partial"), np.random.default_rng(seed)
    schema = pa.table(draw(1, np.random.default_rng(0))).schema
    with pq.ParquetWriter(partial, schema) as writer:
        for start in tqdm(range(0, n, BLOCK), desc=f"writing {n:,} rows", unit="block"):
            writer.write_table(pa.table(draw(min(BLOCK, n - start), rng)))
    return partial.rename(path)
