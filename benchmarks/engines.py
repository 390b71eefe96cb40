"""The same counts from every engine, on scores that sit on edges.

Two-decimal scores are where ``floor(score * bins)`` goes wrong, and float32 ones where engines compare in different
types; scores one step of the float below and above an edge are the hardest there are.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import auditlib as al
from benchmarks.clock import Result, judged

THRESHOLDS = (0.112, 0.1 * 3, 0.7, 0.335, 0.07)
BINS = 200


#: For a Java machine of short life: its second compiler would take longer than what it saves.
SHORT = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.adaptive.enabled": "false",
}


def spark(extra: Mapping[str, str] = SHORT) -> Any:
    """A quiet Spark session on two threads: the one there is, or a new one, which starts a Java machine."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        **extra,
    }
    return SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()


@cache
def folder() -> tempfile.TemporaryDirectory[str]:
    """Where tables are stored for engines that read files; it goes when the process ends."""
    return tempfile.TemporaryDirectory(prefix="auditlib-engines-")


def stored(table: pa.Table) -> str:
    """The table as a Parquet file in three parts."""
    path = Path(tempfile.mkdtemp(dir=folder().name)) / "rows.parquet"
    pq.write_table(table, path, row_group_size=len(table) // 3 + 1)
    return str(path)


def by_dask(table: pa.Table) -> Any:
    import dask.dataframe as dd

    return dd.read_parquet(stored(table), split_row_groups=True)


ENGINES: Mapping[str, Callable[[pa.Table], Any]] = {
    "pandas": lambda table: table.to_pandas(),
    "pandas on Arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": lambda table: pl.from_arrow(table),
    "Polars, lazy": lambda table: pl.from_arrow(table).lazy(),  # type: ignore[union-attr]
    "PyArrow": lambda table: table,
    "DuckDB": lambda table: duckdb.from_arrow(table),
    "Dask": by_dask,
    "Spark": lambda table: spark().read.parquet(stored(table)),
}


def here() -> list[str]:
    """The engines that run on this machine: Spark needs Java."""
    java = shutil.which("java") or os.environ.get("JAVA_HOME")
    return [engine for engine in ENGINES if engine != "Spark" or java]


def scores(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Scores of one kind."""
    decimal = rng.integers(0, 101, n) / 100
    edges = np.unique(np.append(np.arange(BINS + 1) / BINS, THRESHOLDS))
    beside = np.clip(np.nextafter(rng.choice(edges, n), rng.choice([-1.0, 2.0], n)), 0, 1)
    return {
        "two decimals": decimal,
        "two decimals, float32": decimal.astype(np.float32),
        "any, float32": rng.random(n).astype(np.float32),
        "a float beside an edge": beside,
    }[kind]


KINDS = ("two decimals", "two decimals, float32", "any, float32", "a float beside an edge")


def rows(kind: str, n: int, seed: int = 3) -> pa.Table:
    """``n`` rows with two text groups."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "sex": rng.choice(["F", "M"], n),
            "age": rng.choice(["18-44", "45-64", "65+"], n),
            "label": rng.integers(0, 2, n),
            "score": scores(kind, n, rng),
        }
    )


def counted(engine: str, table: pa.Table) -> al.Counts:
    """Counts of the rows by one engine."""
    held = ENGINES[engine](table)
    return al.count(held, label="label", score="score", by=["sex", "age"], thresholds=THRESHOLDS, bins=BINS)


def by_search(table: pa.Table) -> np.ndarray:
    """The same counts by sorting edges and searching: (sex, age, label, bin). Edges take the scores' own type."""
    score = table["score"].to_numpy()
    edges = np.unique(np.append(np.arange(BINS + 1) / BINS, np.round(THRESHOLDS, 10)))
    bins = np.searchsorted(edges.astype(score.dtype), score, side="right") - 1
    codes = [pd.factorize(table[name].to_pandas(), sort=True)[0] for name in ("sex", "age")]
    held = np.zeros((2, 3, 2, len(edges)), np.int64)
    np.add.at(held, (*codes, table["label"].to_numpy(), bins), 1)
    return held


def run(n_rows: int = 1_000_000) -> list[Result]:
    """How many of the engines agree with the search, to the last count."""
    found = []
    for kind in KINDS:
        table = rows(kind, n_rows)
        truth = by_search(table)
        same = [np.array_equal(counted(engine, table).histogram().values, truth) for engine in here()]
        measure = f"engines of {len(ENGINES)} with identical counts"
        found.append(judged(f"counts of {n_rows:,} rows", kind, measure, sum(same), least=len(ENGINES)))
    return found
