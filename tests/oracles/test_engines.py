"""Every engine gives the counts that a sorted search gives, the same levels and the same errors.

Dask and Spark read a Parquet file in three parts. One Spark session serves this module; without Java it is skipped.
"""

from __future__ import annotations

import datetime
from collections.abc import Generator
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import auditlib as al
from benchmarks.engines import ENGINES, KINDS, by_search, counted, here, rows, spark
from tests.unit.frames import cohort, count, same

NAN = float("nan")
SMALLER = 20_000  # rows for Spark


def _engine(name: str) -> object:
    java = pytest.mark.skipif(name not in here(), reason="Spark needs Java: apt-get install default-jre-headless")
    return pytest.param(name, marks=java)


each = pytest.mark.parametrize("engine", [_engine(name) for name in ENGINES])
large = pytest.mark.parametrize("engine", ["Dask", _engine("Spark")])


@pytest.fixture(scope="module", autouse=True)
def _one_session() -> Generator[None, None, None]:
    yield
    from pyspark.sql import SparkSession

    if session := SparkSession.getActiveSession():
        session.stop()


def four(**columns: pa.Array) -> pa.Table:
    """Four rows: true positives at 0.5 are one in group a, one in b."""
    held = {"y": [0, 1, 1, 0], "p": [0.1, 0.9, 0.5, 0.2], "g": ["a", "b", "a", "b"], "h": ["x", "x", "z", "z"]}
    return pa.table({**held, **columns})


def of(engine: str, table: pa.Table, **options: object) -> al.Counts:
    return al.count(ENGINES[engine](table), **{"label": "y", "score": "p", "by": "g", **options})  # type: ignore[arg-type]


def said(engine: str, table: pa.Table, **options: object) -> str:
    with pytest.raises(al.AuditInputError) as caught:
        of(engine, table, **options)
    return str(caught.value)


def positives(counts: al.Counts) -> list[int]:
    return counts.at(0.5)["tp"].values.tolist()


# -- scores --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@each
def test_identical_counts(engine, kind):
    table = rows(kind, SMALLER if engine == "Spark" else 200_000)
    counts = counted(engine, table)
    np.testing.assert_array_equal(counts.histogram().values, by_search(table))
    assert counts.to_csv() == counted("PyArrow", table).to_csv()


@pytest.mark.parametrize(
    "options",
    [
        {"score": ["fine", "q"], "thresholds": [0.112, 1 / 3]},
        {"score": ["fine", "q"], "bins": None},
        {"bins": 7, "cluster": "patient"},
        {"by": []},
    ],
    ids=str,
)
@large
def test_options(engine, options):
    frame = cohort()
    assert same(count(ENGINES[engine](pa.Table.from_pandas(frame)), **options), count(frame, **options))


@large
def test_two_parts_from_two_engines_are_the_whole(engine):
    frame = cohort()
    parts = [pa.Table.from_pandas(frame[frame["patient"] % 2 == odd], preserve_index=False) for odd in (0, 1)]
    added = count(ENGINES[engine](parts[0]), cluster="patient") + count(parts[1], cluster="patient")
    assert same(
        added.sel(**{dim: sorted(levels) for dim, levels in added.groups.items()}), count(frame, cluster="patient")
    )


@pytest.mark.parametrize("bins", [200, None])
@large
def test_float32_is_flagged_at_the_decimal_it_was_written_as(engine, bins):
    """Beside it, the floats one step below and above 0.7."""
    seven = np.float32(0.7)
    beside = pa.array([np.nextafter(seven, np.float32(0)), seven, np.nextafter(seven, np.float32(1))], pa.float32())
    table = pa.table({"y": [1, 1, 1], "p": beside, "g": ["below", "on", "above"]})
    assert of(engine, table, bins=bins, thresholds=[0.7]).at(0.7)["tp"].to_series().to_dict() == {
        "below": 0, "on": 1, "above": 1
    }  # fmt: skip


OUTSIDE = (
    "score 'p': {} of 4 values lie outside 0–1; a score is a predicted risk. "
    "Divide percentages by 100, or turn logits into probabilities."
)
DROP = "Drop those rows knowingly, or predict for them."
ABSENT = "score 'p': {} of 4 rows have no value; scores are never filled. " + DROP


@pytest.mark.parametrize(
    ("values", "bins", "expected"),
    [
        (pa.array([0.1, 1.3, -0.5, np.inf]), 200, OUTSIDE.format(3)),
        (pa.array([1e300, -1e300, -5e-324, np.nextafter(1, 2)]), None, OUTSIDE.format(4)),
        (pa.array([10, 90, 50, 0]), 200, OUTSIDE.format(3)),
        (pa.array([0.1, None, NAN, 0.2]), 200, ABSENT.format(2)),
        (pa.array([0.1, None, NAN, 0.2], pa.float32()), None, ABSENT.format(2)),
        (pa.array([0, None, 1, 0]), 200, ABSENT.format(1)),
        (pa.nulls(4, pa.string()), 200, ABSENT.format(4)),
        (pa.array(["0.1", "0.2", "0.3", "0.4"]), 200,
         "score 'p' has type String, not numbers; convert it to floats between 0 and 1."),
    ],
    ids=str,
)  # fmt: skip
@each
def test_scores_that_cannot_be_counted(engine, values, bins, expected):
    found = said(engine, four(p=values), bins=bins)
    assert found.replace("type Object", "type String") == expected  # pandas knows text as Object


@pytest.mark.parametrize("kind", [pa.decimal128(3, 2), pa.decimal128(38, 18)], ids=str)
@each
def test_decimals(engine, kind):
    table = four(p=pa.array([Decimal(value) for value in ("0.10", "0.90", "0.50", "0.20")], kind))
    if engine == "pandas":  # which holds them as Python objects
        assert "score 'p' has type Object, not numbers" in said(engine, table)
    else:
        assert positives(of(engine, table)) == [1, 1]


# -- labels --------------------------------------------------------------------------------------------------

LABELS = {
    "boolean": (pa.array([False, True, True, False]), None),
    "boolean, false": (pa.array([True, False, False, True]), False),
    "whole": (pa.array([0, 1, 1, 0], pa.int8()), None),
    "float": (pa.array([0.0, 1.0, 1.0, 0.0]), None),
    "number": (pa.array([3, 2, 2, 9]), 2),
    "float32": (pa.array([0.2, 0.1, 0.1, 0.7], pa.float32()), 0.1),
    "decimal": (pa.array([Decimal("0.5"), Decimal("1.5"), Decimal("1.5"), Decimal("0.0")]), 1.5),
    "text": (pa.array(["no", "yes", "yes", "unknown"]), "yes"),
    "category": (pa.array([">30", "<30", "<30", "NO"]).dictionary_encode(), "<30"),
}


@pytest.mark.parametrize("kind", LABELS)
@each
def test_labels(engine, kind):
    values, positive = LABELS[kind]
    assert positives(of(engine, four(y=values), positive=positive)) == [1, 1]


NO_LABEL = "label 'y': {} of 4 rows have no value; labels are never filled. Drop those rows knowingly."
LABEL_ERRORS = [
    (pa.array([0.0, None, NAN, 1.0]), None, NO_LABEL.format(2)),
    (pa.array([0, None, 1, 0]), 1, NO_LABEL.format(1)),
    (pa.array([False, None, True, False]), None, NO_LABEL.format(1)),
    (pa.array(["no", None, "yes", None]), "yes", NO_LABEL.format(2)),
    (pa.nulls(4, pa.int64()), None, NO_LABEL.format(4)),
    (pa.array([0, 1, 2, 5]), None,
     "label 'y': 2 of 4 rows are neither 0 nor 1 (values: 0, 1, 2, 5); say which value counts, with positive=…"),
    (pa.array(["no", "yes", "no", "no"]), "maybe",
     "label 'y': no row has the value positive='maybe'; the values are 'no', 'yes'."),
    (pa.array(["no", "yes", "no", "no"]), None,
     "label 'y' holds text ('no', 'yes'); positive= says which value counts: pass positive= one of the values."),
]  # fmt: skip


@pytest.mark.parametrize(("values", "positive", "expected"), LABEL_ERRORS, ids=str)
@each
def test_labels_that_cannot_be_counted(engine, values, positive, expected):
    found = said(engine, four(y=values), positive=positive)
    # Whole numbers with a gap are floats in pandas.
    assert found == expected or (engine in ("pandas", "Dask") and found == expected.replace("0, 1, 2", "0.0, 1.0, 2.0"))


# -- groups --------------------------------------------------------------------------------------------------

DAYS = [datetime.date(2020, 1, 2), datetime.date(2020, 1, 1), None, datetime.date(2020, 1, 2)]
TIMES = [datetime.datetime(2020, 1, 2, 3), datetime.datetime(2020, 1, 1), None, datetime.datetime(2020, 1, 2, 3)]
LEVELS = {  # each with its rows
    "whole": (pa.array([2, 10, None, 2]), {"2": 2, "10": 1, "missing": 1}),
    "large": (pa.array([2**53, 2**53 + 1, 2, 2]), {"2": 2, str(2**53): 1, str(2**53 + 1): 1}),
    "boolean": (pa.array([True, False, None, True]), {"False": 1, "True": 2, "missing": 1}),
    "float": (pa.array([-0.0, 2.5, NAN, None]), {"0": 1, "2.5": 1, "missing": 2}),
    "float32": (pa.array([0.1, 0.7, 0.1, 3.0], pa.float32()), {"0.1": 2, "0.7": 1, "3": 1}),
    "date": (pa.array(DAYS), {"2020-01-01": 1, "2020-01-02": 2, "missing": 1}),
    "time of day": (pa.array(TIMES), {"2020-01-01 00:00:00": 1, "2020-01-02 03:00:00": 2, "missing": 1}),
    "instant": (pa.array(TIMES, pa.timestamp("us", "Europe/Paris")),
                {"2020-01-01 00:00:00+00:00": 1, "2020-01-02 03:00:00+00:00": 2, "missing": 1}),
    "category": (pa.DictionaryArray.from_arrays(pa.array([0, 2, None, 2]), pa.array(["z", "unused", "a"])),
                 {"a": 2, "z": 1, "missing": 1}),
    "text": (pa.array([" a", "NaN", "", None]), {"": 1, " a": 1, "NaN": 1, "missing": 1}),
    "letters": (pa.array(["é", "e\u0301", "😀", "א"]), {"e\u0301": 1, "é": 1, "א": 1, "😀": 1}),
    "bytes": (pa.array([b"F", b"M", None, b"F"]), {"F": 2, "M": 1, "missing": 1}),
    "decimal": (pa.array([Decimal("1.50"), Decimal("2.00"), None, Decimal("1.50")]),
                {"1.50": 2, "2.00": 1, "missing": 1}),
    "nothing": (pa.nulls(4, pa.string()), {"missing": 4}),
}  # fmt: skip


@pytest.mark.parametrize("kind", LEVELS)
@each
def test_levels(engine, kind):
    values, levels = LEVELS[kind]
    counts = of(engine, four(g=values), by=["h", "g"], missing="category")
    assert counts.groups == {"h": ("x", "z"), "g": tuple(levels)}
    assert counts.by("g").histogram().sum(["label", "bin"]).values.tolist() == list(levels.values())


@pytest.mark.parametrize("kind", ["float", "category", "text"])
@each
def test_missing_groups_and_clusters(engine, kind):
    values, lost = LEVELS[kind][0], 2 if kind == "float" else 1
    assert said(engine, four(g=values)) == (
        f"group 'g': {lost} of 4 rows have no value. "
        "Drop those rows knowingly or pass missing='category' to keep them as a group of their own."
    )
    expected = f"cluster 'g': {lost} of 4 rows have no value. Drop those rows knowingly."
    assert said(engine, four(g=values), by="h", cluster="g") == expected


@pytest.mark.parametrize("name", ["risk.30d", "a`b", " a, b ", "group0"])
@each
def test_names_of_columns(engine, name):
    for old, options in (("p", {"score": name}), ("y", {"label": name}), ("g", {"by": name}), ("h", {})):
        table = four().rename_columns([name if column == old else column for column in four().column_names])
        assert positives(of(engine, table, **options)) == [1, 1]


# -- one aggregation -----------------------------------------------------------------------------------------


def test_what_dask_brings_here_is_as_long_as_the_counts(monkeypatch):
    import dask

    brought, compute = [], dask.compute

    def spied(*tasks, **options):
        brought.append(compute(*tasks, **options))
        return brought[-1]

    monkeypatch.setattr(dask, "compute", spied)
    counts = counted("Dask", rows("two decimals", 200_000))
    assert [len(table) for tables in brought for table in tables] == [len(counts.lines.n)]


@pytest.mark.skipif("Spark" not in here(), reason="Spark needs Java: apt-get install default-jre-headless")
def test_what_spark_brings_here_is_as_long_as_the_counts(monkeypatch):
    from pyspark.sql.classic.dataframe import DataFrame

    brought, to_arrow = [], DataFrame.toArrow
    monkeypatch.setattr(DataFrame, "toArrow", lambda frame: brought.append(to_arrow(frame)) or brought[-1])
    counts = counted("Spark", rows("two decimals", SMALLER))
    assert [len(table) for table in brought] == [len(counts.lines.n)]
    frame = cohort()
    count(ENGINES["Spark"](pa.Table.from_pandas(frame)), cluster="patient", bins=10)
    cells = frame.assign(bin=(frame["p"] * 1000).round() // 100)[["patient", "sex", "race", "y", "bin"]]
    assert len(brought[-1]) == len(cells.drop_duplicates())


@pytest.mark.skipif("Spark" not in here(), reason="Spark needs Java: apt-get install default-jre-headless")
def test_what_only_spark_does():
    """Capitals, its own time zone, and the reason for an error, which stands deep in Java's."""
    from pyspark.sql import functions

    frame = ENGINES["Spark"](four(g=LEVELS["instant"][0]))
    spark().conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    levels = al.count(frame, label="y", score="p", by="g", missing="category").groups["g"]
    spark().conf.unset("spark.sql.session.timeZone")
    assert levels == tuple(LEVELS["instant"][1])
    for twice in (frame.withColumn("q", functions.lit(1)).toDF("y", "p", "g", "h", "P"), frame.selectExpr("*", "p")):
        with pytest.raises(al.AuditInputError, match=r"twice \(to Spark, which tells no capitals apart\): 'p'; rename"):
            al.count(twice, label="y", score="p", by="g")
    words = frame.withColumn("p", functions.concat("h", functions.lit("?")).cast("double"))
    with pytest.raises(al.AuditInputError, match=r"cannot be computed \(NumberFormatException: \[CAST_INVALID_INPUT\]"):
        al.count(words, label="y", score="p", by="h")
