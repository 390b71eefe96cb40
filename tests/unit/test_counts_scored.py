"""Score columns: decimals, coarse floats, many thresholds, and frames that cannot be computed."""

from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import auditlib as al
from tests.unit.frames import ENGINES, cohort, count

DECIMALS = pa.table(
    {
        "y": [1] * 1000,
        "p": pa.array([Decimal(k) / 1000 for k in range(1000)], pa.decimal128(18, 6)),
        "sex": ["F"] * 1000,
    }
)
TABLES = {
    "pyarrow": lambda: DECIMALS,
    "pandas": lambda: DECIMALS.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda: pl.from_arrow(DECIMALS),
    "duckdb": lambda: duckdb.connect().from_arrow(DECIMALS),
}


def bad(said):
    return pytest.raises(al.AuditInputError, match=said)


@pytest.mark.parametrize("engine", TABLES)
@pytest.mark.parametrize("bins", [200, None])
def test_decimals_are_the_nearest_floats(engine, bins):
    """Arrow's own cast is off by a bit: 0.025 fell below the threshold 0.025."""
    thresholds = [k / 1000 for k in range(1000)]
    found = count(TABLES[engine](), by="sex", thresholds=thresholds, bins=bins).at(thresholds)["tp"]
    assert found.values[0].tolist() == list(range(1000, 0, -1))


@pytest.mark.parametrize("make", [lambda f: f, lambda f: pa.Table.from_pandas(f)], ids=["pandas", "pyarrow"])
def test_float16_is_refused(make):
    frame = pd.DataFrame({"y": 1, "p": np.array([0.1, 0.3], dtype="float16"), "sex": "F"})
    with bad("score 'p' has type Float16, too coarse for thresholds to be told apart"):
        count(make(frame), by="sex")


@pytest.mark.parametrize("engine", ENGINES)
def test_hundreds_of_thresholds_off_the_grid(engine):
    frame = cohort(300)
    asked = np.sort(np.random.default_rng(0).random(1200)).tolist()
    found = count(ENGINES[engine](frame), score="fine", by=[], thresholds=asked).at(asked)
    assert (found["tp"] + found["fp"]).values.tolist() == [int((frame["fine"] >= t).sum()) for t in asked]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("bins", [200, None])
def test_scores_all_missing(engine, bins):
    frame = ENGINES[engine](cohort(60).assign(p=None))
    with bad("score 'p': 60 of 60 rows have no value; scores are never filled"):
        count(frame, bins=bins)


def test_python_objects_as_scores():
    frame = pl.DataFrame({"y": [1], "sex": ["F"], "p": pl.Series([object()], dtype=pl.Object)})
    with bad("score 'p' has type Object, not numbers"):
        count(frame, by="sex")
    with bad("group 'sex' holds values of type Object; make them text"):
        count(frame.rename({"p": "sex", "sex": "p"}).with_columns(p=pl.lit(0.5)), by="sex")


def test_frames_that_cannot_be_computed(tmp_path):
    with bad(r"the frame cannot be computed \(FileNotFoundError: .*absent\.parquet"):
        count(pl.scan_parquet(tmp_path / "absent.parquet"))
    words = pl.DataFrame({"y": [1, 0], "p": ["x", "0.5"], "sex": ["F", "M"]}).lazy()
    with bad(r"the frame cannot be computed \(InvalidOperationError: .*column 'p'"):
        count(words.with_columns(pl.col("p").cast(pl.Float64)), by="sex")
    with bad(r"the frame cannot be computed \(InvalidInputException: .*boom"):
        count(duckdb.connect().sql("SELECT error('boom') AS p, 1 AS y, 'F' AS sex"), by="sex")
