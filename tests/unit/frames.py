"""Small cohorts, every engine, and brute force, for the tests beside this file."""

import io
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import auditlib as al

PROPERTY = settings(
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


def duck(frame: pd.DataFrame) -> Any:
    return duckdb.connect().from_arrow(pa.Table.from_pandas(frame, preserve_index=False))


ENGINES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "polars-lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "duckdb": duck,
}


def cohort(rows: int = 400, seed: int = 0, **columns: Any) -> pd.DataFrame:
    """Patients with two-decimal, double and float32 scores, two groups, and encounters of one patient."""
    rng = np.random.default_rng(seed)
    score = rng.beta(1.2, 3, rows)
    frame = pd.DataFrame(
        {
            "y": (rng.random(rows) < score).astype(int),
            "p": score.round(2),
            "fine": score,
            "q": rng.random(rows).round(2).astype("float32"),
            "sex": rng.choice(["F", "M"], rows),
            "race": rng.choice(["A", "B", "C"], rows, p=[0.6, 0.3, 0.1]),
            "patient": rng.integers(0, rows // 3, rows),
        }
    )
    return frame.assign(**columns)


def count(frame: Any, **options: Any) -> al.Counts:
    return al.count(frame, **{"label": "y", "score": "p", "by": ["sex", "race"], **options})


def brute(frame: pd.DataFrame, threshold: float, by: list[str], score: str = "p") -> pd.DataFrame:
    """tp, fp, fn, tn of each group by pandas masks; the threshold in the score's own type."""
    flagged = frame[score] >= frame[score].dtype.type(threshold)
    positive = frame["y"] == 1
    cells = {
        "tp": flagged & positive,
        "fp": flagged & ~positive,
        "fn": ~flagged & positive,
        "tn": ~flagged & ~positive,
    }
    return pd.DataFrame(cells).groupby([frame[name] for name in by]).sum()


def read(text: str) -> al.Counts:
    return al.Counts.read_csv(io.StringIO(text, newline=""))


def same(left: al.Counts, right: al.Counts) -> bool:
    """Whether two Counts hold the same table, levels and edges."""
    what = ("groups", "edges", "models", "label", "positive", "unit")
    return left.to_frame().equals(right.to_frame()) and all(getattr(left, it) == getattr(right, it) for it in what)


scores = st.one_of(
    st.integers(0, 100).map(lambda k: k / 100),
    st.integers(0, 200).map(lambda k: k / 200),
    st.floats(0, 1),
    st.sampled_from([0.1 * 3, 0.3, 1 / 3, 0.0, 1.0, -0.0, 0.7, 0.1 + 0.7, np.nextafter(0.5, 0), np.nextafter(0.5, 1)]),
)


@st.composite
def frames(draw: Any, dtype: str = "float64", most: int = 30) -> pd.DataFrame:
    """Frames of 1 to ``most`` rows whose scores sit on and beside edges."""
    rows = draw(
        st.lists(
            st.tuples(st.booleans(), scores, scores, st.sampled_from("FM"), st.sampled_from("ABC"), st.integers(0, 5)),
            min_size=1,
            max_size=most,
        )
    )
    frame = pd.DataFrame(rows, columns=["y", "p", "q", "sex", "race", "patient"])
    return frame.astype({"y": int, "p": dtype, "q": dtype})
