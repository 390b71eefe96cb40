"""Counting: every engine the same, labels, levels, and what cannot be counted."""

import datetime
import decimal
import warnings

import dask
import dask.dataframe as dd
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import auditlib as al
from auditlib import datasets
from auditlib.counts.engine import tallied
from tests.unit.frames import ENGINES, PROPERTY, brute, cohort, count, duck, frames, same

BY = ["sex", "race"]
HUGE = "1e99999999999999999999"  # an exponent of more digits than a Decimal holds
TINY = {"y": [0, 1, 1, 0], "p": [0.1, 0.9, 0.5, 0.2], "sex": ["F", "M", "F", "M"]}


def tiny(**columns):
    return pd.DataFrame({**TINY, **columns})


def tp(frame, **options):
    """True positives at 0.5 of the tiny frame: F 1, M 1."""
    return count(frame, **{"by": "sex", **options}).at(0.5)["tp"].values.tolist()


# -- one answer from every engine ----------------------------------------------------------------------------


def test_by_hand():
    table = count(pd.DataFrame(TINY), by="sex").at(0.5)
    assert {cell: table[cell].values.tolist() for cell in table} == {
        "tp": [1, 1], "fp": [0, 0], "fn": [0, 0], "tn": [1, 1]
    }  # fmt: skip
    assert table["sex"].values.tolist() == ["F", "M"]
    assert all(table[cell].dtype == np.int64 for cell in table)


@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "pandas"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"score": "fine", "thresholds": [0.112, 1 / 3, 0.1 * 3]},
        {"score": "q", "thresholds": [0.07, 1 / 3]},
        {"score": ["p", "q"], "thresholds": [0.112]},
        {"score": ["fine", "q"], "bins": None},
        {"bins": 7},
        {"cluster": "patient", "thresholds": [0.112]},
        {"by": []},
    ],
    ids=str,
)
def test_engines_agree(engine, options):
    frame = cohort()
    assert same(count(ENGINES[engine](frame), **options), count(frame, **options))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_two_decimal_scores_at_every_two_decimal_threshold(engine, dtype):
    """floor(p * 200) puts 0.29 and 0.57 into the bin below."""
    frame = cohort(600).astype({"p": dtype})
    thresholds = [k / 100 for k in range(101)]
    table = count(ENGINES[engine](frame)).at(thresholds)
    for threshold in thresholds:
        right = brute(frame, threshold, BY)
        found = table.sel(threshold=threshold).to_dataframe()
        assert found.loc[right.index, right.columns].equals(right)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@settings(PROPERTY, max_examples=10)  # of each engine and type
@given(data=st.data())
def test_at_is_a_mask(engine, dtype, data):
    frame = data.draw(frames(dtype=dtype, most=12))
    asked = data.draw(st.lists(st.sampled_from([0.3, 0.1 * 3, 1 / 3, 0.112, *frame["p"].astype(float)]), max_size=3))
    bins = data.draw(st.sampled_from([200, 10, 7, 1, None]))
    counts = count(ENGINES[engine](frame), thresholds=asked, bins=bins)
    grid = [k / bins for k in range(bins + 1)][:: max(bins // 10, 1)] if bins else []
    for threshold in [*asked, *grid, 0.0]:
        near = abs(round(threshold, 10) - threshold) <= 1e-15 and threshold not in counts.edges.lower
        snapped = round(threshold, 10) if near else threshold
        right = brute(frame, snapped, BY)
        found = counts.at(threshold).to_dataframe()[right.columns]
        assert found.loc[right.index].equals(right)
        assert found.sum().equals(right.sum())


@pytest.mark.parametrize("engine", ENGINES)
def test_scores_equal_to_the_threshold_are_flagged(engine):
    """0.1 * 3 is 0.3 as a threshold; as a score it is the double just above, so flagged at 0.3, and 0.3 is too."""
    frame = pd.DataFrame({"y": [1, 1, 1], "p": [0.3, 0.1 * 3, np.nextafter(0.3, 0)], "sex": ["F", "F", "F"]})
    for asked in (0.3, 0.1 * 3):
        assert tp(ENGINES[engine](frame), thresholds=[asked]) == [0]
        assert count(ENGINES[engine](frame), by="sex", thresholds=[asked]).at(asked)["tp"].item() == 2
        assert count(ENGINES[engine](frame), by="sex", bins=7, thresholds=[asked]).at(0.3)["tp"].item() == 2


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("bins", [200, None, 7])
def test_float32_is_flagged_at_the_decimal_it_was_written_as(engine, bins):
    frame = pd.DataFrame({"y": [1], "p": np.array([0.7], dtype="float32"), "sex": ["F"]})
    assert float(frame["p"].iloc[0]) < 0.7
    assert count(ENGINES[engine](frame), by="sex", bins=bins, thresholds=[0.7]).at(0.7)["tp"].item() == 1


def test_models_of_different_types_with_every_score_an_edge():
    """A float64 model once lost its digits when another model was float32."""
    frame = cohort(200)
    counts = count(frame, score=["fine", "q"], by="sex", bins=None)
    for score in ("fine", "q"):
        for threshold in frame[score].unique()[:20]:
            # a float32 score names its edge by the decimal it was written as
            asked = float(str(threshold))
            right = brute(frame, threshold, ["sex"], score)
            assert counts.at(asked)["tp"].sel(model=score).values.tolist() == right["tp"].tolist()


def test_models_are_counted_jointly():
    frame = cohort()
    table = count(frame, score=["p", "q"], by="sex").at([0.2, 0.5])
    assert table["tp"].dims == ("sex", "model", "threshold")
    for score in ("p", "q"):
        for threshold in (0.2, 0.5):
            right = brute(frame, threshold, ["sex"], score)
            for cell in table:
                assert table[cell].sel(model=score, threshold=threshold).values.tolist() == right[cell].tolist()


def test_a_single_score_in_a_list_is_one_model():
    assert same(count(cohort(), score=["p"]), count(cohort(), score="p"))


def test_narwhals_frames_and_decimals():
    frame = cohort()
    assert same(count(nw.from_native(pl.from_pandas(frame).lazy())), count(frame))
    money = [decimal.Decimal(str(value)) for value in TINY["p"]]
    assert tp(pl.DataFrame({**TINY, "p": money})) == [1, 1]
    assert tp(duck(pd.DataFrame(TINY)).project("y, p::DECIMAL(3, 2) AS p, sex")) == [1, 1]


@pytest.mark.parametrize("index", [[3, 3, 1, 0], [9, 2, 5, 1], ["b", "a", "b", "a"]])
def test_the_index_of_a_pandas_frame_is_ignored(index):
    assert same(count(tiny().set_axis(index), by="sex"), count(tiny(), by="sex"))


def test_a_multiindex_is_ignored():
    index = pd.MultiIndex.from_tuples([(1, 2), (1, 2), (0, 1), (0, 0)])
    assert tp(tiny().set_index(index)) == [1, 1]


# -- labels --------------------------------------------------------------------------------------------------

LABELS = {
    "int": ([0, 1, 1, 0], None),
    "float": ([0.0, 1.0, 1.0, 0.0], None),
    "bool": ([False, True, True, False], None),
    "bool, positive=False": ([True, False, False, True], False),
    "1/2": ([1, 2, 2, 1], 2),
    "1.0/2.0": ([1.0, 2.0, 2.0, 1.0], 2),
    "0/1 as 1/0": ([1, 0, 0, 1], 0),
    "text": (["no", "yes", "yes", "no"], "yes"),
    "three values": ([">30", "<30", "<30", "NO"], "<30"),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", LABELS)
def test_labels(engine, kind):
    values, positive = LABELS[kind]
    assert tp(ENGINES[engine](tiny(y=values)), positive=positive) == [1, 1]


NUMBERS = ["int8", "uint8", "Int64", "UInt8", "Float64", "int64[pyarrow]", "double[pyarrow]"]
BOOLEANS = ["boolean", "bool[pyarrow]", "object"]
TEXTS = ["object", "string", "string[pyarrow]", "category", pd.CategoricalDtype(["yes", "no", "never"], ordered=True)]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_number_labels(dtype):
    assert tp(tiny(y=pd.Series([0, 1, 1, 0], dtype=dtype))) == [1, 1]
    assert tp(tiny(y=pd.Series([1, 2, 2, 1], dtype=dtype)), positive=2) == [1, 1]


@pytest.mark.parametrize("dtype", BOOLEANS)
def test_boolean_labels(dtype):
    assert tp(tiny(y=pd.Series([False, True, True, False], dtype=dtype))) == [1, 1]
    assert tp(tiny(y=pd.Series([False, True, True, False], dtype=dtype)), positive=True) == [1, 1]


@pytest.mark.parametrize("dtype", TEXTS, ids=str)
def test_text_labels(dtype):
    labels = pd.Series(["no", "yes", "yes", "no"], dtype=dtype)
    assert tp(tiny(y=labels), positive="yes") == [1, 1]
    with pytest.raises(al.AuditInputError, match=r"label 'y' holds text \('no', 'yes'\).*positive="):
        tp(tiny(y=labels))
    with pytest.raises(al.AuditInputError, match=r"no row has the value positive='maybe'; the values are 'no', 'yes'"):
        tp(tiny(y=labels), positive="maybe")


def test_number_categories():
    labels = pd.Series([0, 1, 1, 0], dtype="category")
    assert tp(tiny(y=labels), positive=1) == [1, 1]
    assert tp(tiny(y=labels), positive="1") == [1, 1]


def test_polars_categories():
    for kind in (pl.Categorical, pl.Enum(["never", "yes", "no"])):
        frame = pl.DataFrame({**TINY, "y": ["no", "yes", "yes", "no"]}, schema_overrides={"y": kind})
        assert tp(frame, positive="yes") == [1, 1]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1, 2, 2, 1], "2 of 4 rows are neither 0 nor 1 (values: 1, 2)"),
        ([0, 1, 2, 0], "1 of 4 rows are neither 0 nor 1 (values: 0, 1, 2)"),
        ([0.0, 0.5, 1.0, 1.0], "1 of 4 rows are neither 0 nor 1 (values: 0.0, 0.5, 1.0)"),
        ([0.0, 1.0, np.inf, 1.0], "1 of 4 rows are neither 0 nor 1"),
    ],
    ids=str,
)
def test_labels_that_are_neither(engine, values, said):
    with pytest.raises(al.AuditInputError) as error:
        tp(ENGINES[engine](tiny(y=values)))
    assert said in str(error.value)
    assert "'y'" in str(error.value)
    assert "positive=" in str(error.value)


@pytest.mark.parametrize(
    ("values", "positive"), [([0, 1, 1, 0], "1"), ([True, False, True, False], 1), (["a", "b", "a", "b"], 1)]
)
def test_positive_of_another_type(values, positive):
    with pytest.raises(al.AuditInputError, match=r"label 'y'.*positive=.*is of another type.*one of the values"):
        tp(tiny(y=values), positive=positive)


LOOKED = {**ENGINES, "dask": lambda frame: dd.from_pandas(frame, npartitions=2)}


@pytest.mark.parametrize("engine", LOOKED)
@pytest.mark.parametrize(
    ("values", "positive", "near"),
    [
        (["yes", "no", "Yes", "yes"], "yes", "'Yes' (1 rows) would count as no outcome beside 'yes' (2 rows)"),
        (["1", "0", "TRUE", "1.0"], "1", "'1.0' (1 rows), 'TRUE' (1 rows) would count as no outcome beside '1'"),
        (["caf\u00e9", "cafe\u0301", "x", "x"], "caf\u00e9", "(1 rows) would count as no outcome"),
        ([HUGE, HUGE.upper(), "x", "x"], HUGE, f"'{HUGE.upper()}' (1 rows) would count as no outcome beside '{HUGE}'"),
    ],
)
def test_labels_that_say_the_same(engine, values, positive, near):
    with pytest.raises(al.AuditInputError) as error:
        tp(LOOKED[engine](tiny(y=values)), positive=positive)
    assert near in str(error.value)


@pytest.mark.parametrize("engine", LOOKED)
@pytest.mark.parametrize(
    ("values", "positive", "expected"),
    [
        (["yes", "no", "unknown", "no"], "yes", {"no": 2, "unknown": 1}),
        ([1, 0, 9, 9], 1, {"0": 1, "9": 2}),
        ([1.0, 0.5, 0.0, 0.0], 1.0, {"0": 2, "0.5": 1}),
        (["9007199254740993", "9007199254740992", "x", "x"], "9007199254740993", {"9007199254740992": 1, "x": 2}),
        (["yes", "no", HUGE, "no"], "yes", {"no": 2, HUGE: 1}),
        ([HUGE, "1", HUGE, "1"], "1", {HUGE: 2}),
        ([True, False, False, True], True, {}),
    ],
)
def test_values_that_are_no_outcome(engine, values, positive, expected):
    frame = LOOKED[engine](tiny(y=values))
    asked = {"label": "y", "score": "p", "by": "sex", "positive": positive}
    assert tallied(frame, **asked)[1] == expected
    assert tallied(frame, **asked, look=False)[1] is None


def test_positive_of_a_number_that_is_text_there():
    with pytest.raises(al.AuditInputError, match=r"positive=1.0 is of another type: pass it as text, positive='1'"):
        tp(tiny(y=["0", "1", "1", "0"]), positive=1.0)


@pytest.mark.parametrize("absent", [None, np.nan, pd.NA, pd.NaT], ids=str)
def test_missing_labels_among_python_objects(absent):
    labels = pd.Series([True, absent, False, absent], dtype=object)
    with pytest.raises(al.AuditInputError, match=r"label 'y': 2 of 4 rows have no value; labels are never filled"):
        tp(tiny(y=labels))


@pytest.mark.parametrize("dtype", ["float64", "Int64", "Float64", "boolean", "int64[pyarrow]", "bool[pyarrow]"])
@pytest.mark.parametrize("missing", ["raise", "category"])
def test_missing_labels_are_counted_and_never_filled(dtype, missing):
    labels = pd.Series([0, 1, None, 1], dtype=dtype)
    with pytest.raises(al.AuditInputError, match=r"label 'y': 1 of 4 rows have no value.*Drop those rows knowingly"):
        tp(tiny(y=labels), missing=missing)


@pytest.mark.parametrize("dtype", ["object", "string", "string[pyarrow]", "category"])
def test_missing_text_labels(dtype):
    labels = pd.Series(["yes", None, "no", None], dtype=dtype)
    with pytest.raises(al.AuditInputError, match=r"label 'y': 2 of 4 rows have no value"):
        tp(tiny(y=labels), positive="yes")


@pytest.mark.parametrize("values", [[None, 1, 0, 1], [float("nan"), 1.0, 0.0, 1.0], [None, float("nan"), 0.0, 1.0]])
def test_missing_labels_polars_null_and_nan(values):
    lost = 2 if values[1] != values[1] else 1
    with pytest.raises(al.AuditInputError, match=f"label 'y': {lost} of 4 rows have no value"):
        tp(pl.DataFrame({**TINY, "y": values}, strict=False))


def test_labels_of_no_known_type():
    with pytest.raises(al.AuditInputError, match=r"label 'y' holds values of several types \(0, 1, 'a'\)"):
        tp(tiny(y=pd.Series([0, 1, "a", 1], dtype=object)))
    with pytest.raises(al.AuditInputError, match="label 'y' has type Datetime"):
        tp(tiny(y=pd.Timestamp("2020-01-01")))
    with pytest.raises(al.AuditInputError, match="label 'y' has type Object"):
        tp(pl.DataFrame({**TINY, "y": pl.Series([object()] * 4, dtype=pl.Object)}))
    for values in ([[0], [1], [1], [0]], [{"a": 1}] * 4):
        for make in (pd.DataFrame, pl.DataFrame, pa.table):
            with pytest.raises(al.AuditInputError, match=r"label 'y' (has type|holds values of several types)"):
                tp(make({**TINY, "y": values}))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("positive", [1j, True, "1", [1], np.datetime64("2020")], ids=str)
def test_positive_that_is_no_number(engine, positive):
    with pytest.raises(al.AuditInputError, match=r"label 'y' holds numbers \(0, 1\); positive=.*another type"):
        tp(ENGINES[engine](tiny()), positive=positive)


@pytest.mark.parametrize("engine", ENGINES)
def test_positive_of_every_number_type(engine):
    frame = ENGINES[engine](tiny())
    for positive in (np.float16(1), np.int8(1), 1.0, decimal.Decimal(1)):
        assert tp(frame, positive=positive) == [1, 1]
    for positive in (10**30, 10**400, float("nan")):
        with pytest.raises(al.AuditInputError, match="no row has the value positive="):
            tp(frame, positive=positive)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("positive", [None, "yes"])
def test_labels_all_missing(engine, positive):
    frame = ENGINES[engine](tiny(y=None))
    with pytest.raises(al.AuditInputError, match=r"label 'y': 4 of 4 rows have no value; labels are never filled"):
        tp(frame, positive=positive)


def test_decimal_labels():
    values = [decimal.Decimal(k) for k in (0, 1, 1, 0)]
    for make in (pd.DataFrame, pl.DataFrame, pa.table, lambda data: duck(pd.DataFrame(data))):
        assert tp(make({**TINY, "y": values})) == [1, 1]
        assert tp(make({**TINY, "y": values}), positive=decimal.Decimal(1)) == [1, 1]


# -- scores --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("bins", [200, None])
@pytest.mark.parametrize(
    ("values", "outside"),
    [([0.2, 1.3], 1), ([0.2, np.inf], 1), ([-0.1, 0.5], 1), ([0.2, -np.inf], 1), ([20.0, 99.0], 2), ([2, 1], 1)],
    ids=str,
)
def test_scores_outside(engine, bins, values, outside):
    frame = pd.DataFrame({"y": [0, 1], "p": values, "sex": ["F", "M"]})
    with pytest.raises(al.AuditInputError, match=f"score 'p': {outside} of 2 values lie outside 0–1.*Divide"):
        tp(ENGINES[engine](frame), bins=bins)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_scores_missing(engine, dtype):
    frame = tiny(p=pd.Series([0.1, np.nan, np.nan, 0.2], dtype=dtype))
    with pytest.raises(al.AuditInputError, match=r"score 'p': 2 of 4 rows have no value; scores are never filled"):
        tp(ENGINES[engine](frame), missing="category")


def test_polars_nan_scores_are_missing_too():
    with pytest.raises(al.AuditInputError, match="score 'p': 2 of 4 rows have no value"):
        tp(pl.DataFrame({**TINY, "p": [0.1, None, float("nan"), 0.2]}))


@pytest.mark.parametrize("dtype", ["Float64", "Float32", "double[pyarrow]", "float[pyarrow]"])
def test_nullable_scores(dtype):
    assert tp(tiny(p=pd.Series(TINY["p"], dtype=dtype))) == [1, 1]
    with pytest.raises(al.AuditInputError, match="score 'p': 1 of 4 rows have no value"):
        tp(tiny(p=pd.Series([0.1, None, 0.5, 0.2], dtype=dtype)))


def test_whole_and_boolean_scores():
    assert tp(tiny(p=[0, 1, 1, 0])) == [1, 1]
    assert tp(tiny(p=[False, True, True, False])) == [1, 1]


@pytest.mark.parametrize("dtype", ["object", "string", "category"])
def test_scores_that_are_text(dtype):
    with pytest.raises(al.AuditInputError, match=r"score 'p' has type \w+, not numbers; convert it to floats"):
        tp(tiny(p=pd.Series(["0.1", "0.9", "0.5", "0.2"], dtype=dtype)))


def test_which_model_is_at_fault():
    with pytest.raises(al.AuditInputError, match="score 'q': 1 of 4 values lie outside"):
        tp(tiny(q=[0.1, 0.2, 3.0, 0.1]), score=["p", "q"])


# -- groups --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([2, 10, 2, 10], ("2", "10")),  # by size, not by spelling
        ([2.5, 10.0, 2.5, 10.0], ("2.5", "10")),
        ([True, False, True, False], ("False", "True")),
        (["b", "a", "C", "b"], ("C", "a", "b")),
        ([" a", "a", "NA", ""], ("", " a", "NA", "a")),
    ],
    ids=str,
)
@pytest.mark.parametrize("engine", ENGINES)
def test_levels(engine, values, levels):
    assert count(ENGINES[engine](tiny(sex=values)), by="sex").groups == {"sex": levels}


def test_declared_order_is_kept_and_unused_levels_are_not_groups():
    ordered = pd.CategoricalDtype(["young", "middle", "old"], ordered=True)
    values = ["old", "young", "old", "young"]
    frame = tiny(sex=pd.Series(values, dtype=ordered))
    counts = count(frame, by="sex")
    assert counts.groups == {"sex": ("young", "old")}
    enum = pl.DataFrame({**TINY, "sex": values}, schema_overrides={"sex": pl.Enum(["young", "middle", "old"])})
    assert count(enum, by="sex").groups["sex"] == ("young", "old")
    assert count(pa.Table.from_pandas(frame), by="sex").groups["sex"] == ("old", "young")  # Arrow knows no order
    assert count(tiny(sex=pd.Series(values, dtype=pd.CategoricalDtype(["young", "old", "x"]))), by="sex").groups == {
        "sex": ("old", "young")
    }


def test_dates_and_intervals():
    days = [datetime.date(2020, 1, 2), datetime.date(2020, 1, 1)] * 2
    assert count(pl.DataFrame({**TINY, "sex": days}), by="sex").groups["sex"] == ("2020-01-01", "2020-01-02")
    bands = pd.cut([1, 50, 9, 20], [0, 18, 65])
    assert count(tiny(sex=bands), by="sex").groups["sex"] == ("(0, 18]", "(18, 65]")


def test_mixed_types_are_strings_unless_they_spell_the_same():
    assert count(tiny(sex=pd.Series([1, "a", 1, "b"], dtype=object)), by="sex").groups["sex"] == ("1", "a", "b")
    with pytest.raises(al.AuditInputError, match=r"group 'sex': different values have one spelling \('1'\)"):
        count(tiny(sex=pd.Series([1, "1", 1, "b"], dtype=object)), by="sex")


@pytest.mark.parametrize("engine", ENGINES)
def test_missing_groups(engine):
    frame = ENGINES[engine](tiny(sex=["F", None, "F", None]))
    with pytest.raises(al.AuditInputError, match=r"group 'sex': 2 of 4 rows have no value.*missing='category'"):
        count(frame, by="sex")
    counts = count(frame, by="sex", missing="category")
    assert counts.groups["sex"] == ("F", "missing")
    assert counts.at(0.5)["tp"].values.tolist() == [1, 1]


@pytest.mark.parametrize("dtype", ["object", "string", "string[pyarrow]", "category"])
@pytest.mark.parametrize("absent", [None, np.nan, pd.NA], ids=str)
def test_missing_groups_of_every_kind(dtype, absent):
    frame = tiny(sex=pd.Series(["F", absent, "F", absent], dtype=object).astype(dtype))
    with pytest.raises(al.AuditInputError, match="group 'sex': 2 of 4 rows have no value"):
        count(frame, by="sex")
    assert count(frame, by="sex", missing="category").n_rows == 4


def test_a_level_called_missing_is_not_taken_for_it():
    with pytest.raises(al.AuditInputError, match=r"one spelling \('missing'\)"):
        count(tiny(sex=["missing", None, "F", "F"]), by="sex", missing="category")


def test_groups_that_are_lists():
    with pytest.raises(al.AuditInputError, match=r"group 'sex' holds values of type List.*make them text"):
        count(pl.DataFrame({**TINY, "sex": [[1], [2], [1], [2]]}), by="sex")


# -- clusters ------------------------------------------------------------------------------------------------


def test_clusters_become_patterns():
    frame = tiny(patient=["x", "y", "x", "y"], p=[0.1, 0.1, 0.5, 0.5], y=[0, 0, 1, 1], sex="F")
    counts = count(frame, by="sex", cluster="patient")
    assert (counts.n_units, counts.n_rows, counts.lines.units.tolist()) == (2, 4, [2])
    assert counts.lines.n.tolist() == [1, 1]
    assert counts.unit == "patient"


def test_clusters_missing_misspelt_misused():
    with pytest.raises(al.AuditInputError, match=r"cluster 'patient': 1 of 4 rows have no value"):
        count(tiny(patient=[1, None, 2, 2]), by="sex", cluster="patient")
    with pytest.raises(al.AuditInputError, match=r"cluster 'patient': different values have one spelling \('1'\)"):
        count(tiny(patient=pd.Series([1, "1", 2, 2], dtype=object)), by="sex", cluster="patient")
    with pytest.raises(al.AuditInputError, match="cluster='y' is the label or a score"):
        count(tiny(), by="sex", cluster="y")
    with pytest.raises(al.AuditInputError, match="cluster='row' says nothing"):
        count(tiny(row=[1, 1, 2, 2]), by="sex", cluster="row")


def test_a_group_may_be_the_cluster():
    assert count(tiny(), by="sex", cluster="sex").n_units == 2


# -- the question --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_no_rows(engine):
    with pytest.raises(al.AuditInputError, match="the frame has no rows; there is nothing to count"):
        count(ENGINES[engine](cohort().iloc[:0]))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"label": "died"}, r"label='died' is not a column; the columns are: 'y', 'p', 'sex'"),
        ({"score": "risk"}, r"score='risk' is not a column"),
        ({"score": ["p", "risk"]}, r"score='risk' is not a column"),
        ({"by": ["sex", "age"]}, r"by='age' is not a column"),
        ({"cluster": "id"}, r"cluster='id' is not a column"),
        ({"label": None}, r"label=None is not a column"),
        ({"label": ["y"]}, r"label=\['y'\] is not a column"),
        ({"by": None}, r"by=None is not a column"),
        ({"by": 3}, r"by=3 is not a column"),
        ({"score": None}, r"score=None is not a column"),
        ({"score": []}, r"score names no column"),
        ({"score": "y"}, r"column 'y' is used twice"),
        ({"by": ["sex", "sex"]}, r"column 'sex' is used twice"),
        ({"score": ["p", "p"]}, r"column 'p' is used twice"),
        ({"missing": "drop"}, r"missing must be 'raise' or 'category', not 'drop'"),
        ({"bins": 0}, r"bins must be a whole number from 1 to 100,000"),
        ({"thresholds": [0.2, 1.5]}, r"threshold must lie between 0 and 1, not 1.5"),
        ({"thresholds": [float("nan")]}, r"threshold must lie between 0 and 1, not nan"),
        ({"thresholds": None}, r"threshold must be a number between 0 and 1, not None"),
        ({"thresholds": "0.2"}, r"threshold must be a number between 0 and 1, not '0.2'"),
        ({"thresholds": {0.2: 1}}, r"threshold must be a number"),
    ],
    ids=str,
)
def test_questions_that_cannot_be_asked(options, said):
    with pytest.raises(al.AuditInputError, match=said):
        count(tiny(), **{"by": "sex", **options})


def test_thresholds_unsorted_repeated_on_the_grid():
    counts = count(tiny(), by="sex", thresholds=[1 / 3, 0.5, 0.112, 1 / 3, 0, 1, 0.1 * 3])
    assert counts.thresholds == [0.112, 1 / 3]
    assert len(counts.edges) == 203
    assert count(tiny(), by="sex", thresholds=np.array([0.112])).thresholds == [0.112]
    assert count(tiny(), by="sex", thresholds=0.112).thresholds == [0.112]


@pytest.mark.parametrize(
    "name",
    ["label", "bin", "threshold", "replicate", "model", "pattern", "units", "n", "tp", "fn", "cell", "unit_moments",
     "estimate", "low", "high", "deff", "undefined", "c", "n_a", "n_b", "se", "point", "none", "value", "bin.p"],
)  # fmt: skip
def test_reserved_names(name):
    with pytest.raises(al.AuditInputError, match=rf"'{name}' cannot name a group.*rename the column"):
        count(tiny().rename(columns={"sex": name}), by=name)


@pytest.mark.parametrize("name", ["self", "other", "dim", "row", "group0", "unit", "size", "index", "gap"])
def test_names_that_are_free(name):
    """Every entry point takes them; ``other`` and ``self`` once did not."""
    frame = cohort().rename(columns={"sex": name})
    counts = count(frame, by=[name, "race"], cluster="patient")
    table = counts.by(name).at(0.2)
    plain = count(cohort(), by=["sex", "race"], cluster="patient").by("sex").at(0.2)
    for found, right in (
        (al.gap_interval(table, "F", "M"), al.gap_interval(plain, "F", "M")),
        (al.spread_interval(table, name), al.spread_interval(plain, "sex")),
        (al.rate_interval(table), al.rate_interval(plain)),
    ):
        assert np.array_equal(found.low, right.low)
    assert counts.sel(**{name: "F"}).groups == {"race": ("A", "B", "C")}
    assert counts.regroup(**{name: {"all": ["F", "M"]}}).groups[name] == ("all",)


def test_column_names_twice_or_not_text():
    with pytest.raises(al.AuditInputError, match=r"column names occur twice: 'p', 'y'; rename them"):
        count(pd.concat([tiny(), tiny()[["y", "p"]]], axis=1), by="sex")
    with pytest.raises(al.AuditInputError, match=r"column names must be text; rename those .*\(3\)"):
        count(tiny().assign(**{"x": 1}).rename(columns={"x": 3}), by="sex")


@pytest.mark.parametrize(
    "thing",
    [
        pd.Series([1, 0]), pl.Series([1, 0]), [1, 0], {"y": [1]}, None, np.zeros((2, 2)), "data.csv", pa.array([1]),
        pd.DataFrame(TINY).groupby("sex"),
    ],
    ids=lambda thing: type(thing).__name__,
)  # fmt: skip
def test_what_is_no_frame(thing):
    with pytest.raises(al.AuditInputError, match=rf"cannot count a {type(thing).__name__}; pass a pandas, Polars"):
        count(thing)


def test_a_frame_without_columns():
    with pytest.raises(al.AuditInputError, match="label='y' is not a column; the columns are: none"):
        count(pd.DataFrame())


def test_one_group_is_counted_and_has_no_gap():
    table = count(tiny(sex="F"), by="sex").at(0.5)
    assert table["tp"].values.tolist() == [2]
    with pytest.raises(al.AuditInputError, match=r"'F' and 'M' are not levels of one dim\. There is sex: F"):
        al.gap(al.sensitivity(table), "F", "M")
    with pytest.raises(al.AuditInputError, match="needs at least two groups, but there is 1"):
        al.spread_interval(table, "sex")


def test_whole_numbers_are_spelled_alike_whether_or_not_a_value_is_missing():
    rows = pd.DataFrame({"y": [0, 1, 0], "p": [0.1, 0.2, 0.3], "g": [1, 2, None]})
    for frame in (rows, rows.convert_dtypes(), pl.from_pandas(rows.convert_dtypes())):
        found = al.count(frame, label="y", score="p", by="g", missing="category")
        assert found.groups["g"] == ("1", "2", "missing")


@pytest.mark.parametrize("name", ["*", "^p.*$"])
@pytest.mark.parametrize("role", ["y", "p", "sex"])
def test_names_that_engines_read_as_patterns(name, role):
    """DuckDB once counted by all columns where a group was called *, and put 0 and 2 for 1 and 1."""
    roles = {"y": "label", "p": "score", "sex": "by"}
    frame = tiny().rename(columns={role: name})
    with pytest.raises(al.AuditInputError, match=r"column '.+': engines read this name as a pattern; rename"):
        count(duck(frame), **{"by": "sex", roles[role]: name})


def test_names_twice_in_arrow():
    table = pa.Table.from_pandas(tiny())
    with pytest.raises(al.AuditInputError, match="column names occur twice: 'p'; rename them"):
        count(table.append_column("p", table["p"]), by="sex")


def test_a_missing_category_is_no_unit():
    """Arrow's dictionary once lost it on the way to NumPy, and its rows with it."""
    units = pa.array(["x", None, "y", "x"]).dictionary_encode()
    table = pa.Table.from_pandas(tiny()).append_column("unit", units)
    with pytest.raises(al.AuditInputError, match="cluster 'unit': 1 of 4 rows have no value"):
        count(table, by="sex", cluster="unit")


def test_spans_of_time_are_spelled_alike():
    spans = [datetime.timedelta(days=2), datetime.timedelta(days=1, seconds=5)] * 2
    for make in (lambda f: f, pl.from_pandas, pa.Table.from_pandas, duck):
        assert count(make(tiny(sex=spans)), by="sex").groups["sex"] == ("1 days 00:00:05", "2 days 00:00:00")


def test_bytes_that_are_no_text():
    table = pa.table({**TINY, "sex": [b"F", b"\xff", b"F", b"\xff"]})
    assert count(table, by="sex").groups["sex"] == ("F", "b'\\xff'")
    with pytest.raises(al.AuditInputError, match=r"one spelling \('F'\)"):
        count(tiny(sex=pd.Series([b"F", "F", b"F", "F"], dtype=object)), by="sex")


# -- Dask ----------------------------------------------------------------------------------------------------


def parts(frame, n=2):
    """Objects stay what they are, where Dask by itself would make them text."""
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_pandas(frame, npartitions=n, sort=False)


def test_dask_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tp(parts(tiny())) == [1, 1]


def test_dask_tells_types_apart_within_and_between_parts():
    """Its own groupby makes 1 of True and of 1.0, and ends text at a NUL."""
    for values in ([True, 1, "a", "a"], [True, "a", 1, "a"]):
        with pytest.raises(al.AuditInputError, match=r"different values have one spelling .*make them one type"):
            count(parts(tiny(sex=pd.Series(values, dtype=object))), by="sex")
    texts = tiny(unit=["a", "a\0b", "a\0c", "a"])
    assert count(parts(texts), by="sex", cluster="unit").n_units == 3
    with pytest.raises(al.AuditInputError, match="group 'sex' holds lists, sets or dicts; make them text"):
        count(parts(tiny(sex=[[1], [2], [1], [2]])), by="sex")


def test_dask_keeps_a_missing_category():
    """Its own groupby loses the row."""
    kind = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    frame = tiny(sex=pd.Series(["F", None, "M", "F"], dtype=kind))
    counts = count(parts(frame), by="sex", missing="category")
    assert (counts.groups["sex"], counts.n_rows) == (("F", "M", "missing"), 4)


@pytest.mark.parametrize("n", [1, 3, 60])
def test_dask_parts_that_are_empty_or_differ(n):
    frame = cohort(60).assign(sex=["F", None] * 30, race=pd.Categorical(["A", "B", "C"] * 20))
    whole = parts(frame, n)
    for held in (whole, whole[whole["patient"] < 3]):
        options = {"cluster": "patient", "missing": "category"}
        assert same(count(held, **options), count(held.compute(), **options))


def test_dask_beside_a_decimal_that_it_cannot_make_up():
    """It makes up values for a column nobody asked for, and 1 is no decimal of one place below 1."""
    money = pd.Series([decimal.Decimal("0.1")] * 4, dtype=pd.ArrowDtype(pa.decimal128(1, 1)))
    assert tp(parts(tiny(money=money))) == [1, 1]
    with pytest.raises(al.AuditInputError, match=r"cannot be computed \(ArrowInvalid: Decimal value does not fit"):
        count(parts(tiny(sex=money)), by="sex")


def test_dask_workers_in_processes_of_their_own():
    from dask.distributed import Client, LocalCluster

    frame = cohort()
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        assert same(count(parts(frame), cluster="patient"), count(frame, cluster="patient"))
        with pytest.raises(al.AuditInputError, match="group 'sex' holds lists, sets or dicts; make them text"):
            count(parts(tiny(sex=[[1], [2], [1], [2]])), by="sex")


# -- counts of parts, added ----------------------------------------------------------------------------------


def body(counts):
    """The table without its header, which says what was added."""
    return counts.to_csv().split("\n", 2)[2]


def halves(frame, first, **options):
    """The sum of the halves and the whole, levels in the whole's order: a sum has them as they come."""
    left, right = (count(ENGINES[engine](frame[half]), **options) for engine, half in
                   (("polars", first), ("pyarrow", ~first)))  # fmt: skip
    whole = count(frame, **options)
    return (left + right).sel(**whole.groups), whole


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("cluster", [None, "patient"])
@settings(PROPERTY, max_examples=40)
@given(data=st.data())
def test_two_halves_added_are_the_whole(dtype, cluster, data):
    frame = data.draw(frames(dtype=dtype))
    frame["race"] = frame["race"].mask(frame["race"] == "C")
    unit = frame["patient"] if cluster else pd.Series(range(len(frame)))
    chosen = data.draw(st.sets(st.sampled_from(sorted(set(unit)))))
    first = unit.isin(chosen)
    if not 0 < first.sum() < len(frame):
        return
    added, whole = halves(frame, first, cluster=cluster, score=["p", "q"], missing="category", thresholds=[0.3, 1 / 3])
    assert body(added) == body(whole)
    assert same(added, whole)


@pytest.mark.skipif(not datasets.available("diabetes130"), reason="diabetes130 is not at hand: set AUDITLIB_DATA")
def test_two_halves_of_real_encounters_split_by_patient():
    frame = datasets.load("diabetes130")
    frame = frame.assign(
        risk=frame["num_medications"] / 100, second=(frame["num_lab_procedures"] / 200).astype("float32")
    )
    first = frame["patient_nbr"] % 2 == 0
    added, whole = halves(
        frame, first, label="readmitted", positive="<30", score=["risk", "second"], by=["race", "gender", "age"],
        cluster="patient_nbr", missing="category", thresholds=[0.112],
    )  # fmt: skip
    assert (whole.n_rows, whole.n_units) == (101_766, 71_518)
    assert body(added) == body(whole)
