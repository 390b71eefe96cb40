"""Distinct values: to the last character, and never two types for one."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import auditlib as al
from auditlib.counts.tally import factorize, objects
from tests.unit.frames import ENGINES, count

NUL = ["a", "a\0b", "a\0c"]


def bad(said):
    return pytest.raises(al.AuditInputError, match=said)


def frame(values, dtype=object):
    return pd.DataFrame({"y": 1, "p": 0.5, "sex": pd.Series(objects(values), dtype=dtype), "all": "all"})


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (NUL, [0, 1, 2]),
        ([*NUL, None, "a"], [0, 1, 2, -1, 0]),
        ([True, 1, 1.0, True], [0, 1, 2, 0]),
        ([1, 2, None, np.nan, 1], [0, 1, -1, -1, 0]),
        ([Decimal("1.0"), 1, Decimal("1.00")], [0, 1, 0]),
        ([(1, 2), (3, 4), (1, 2)], [0, 1, 0]),
        ([], []),
    ],
    ids=str,
)
def test_factorize(values, codes):
    found, distinct = factorize(objects(values))
    assert found.tolist() == codes
    assert len(distinct) == len({code for code in codes if code >= 0})


@pytest.mark.parametrize("engine", ENGINES)
def test_text_is_compared_beyond_a_nul(engine):
    with bad(r"group 'sex': 'a\\x00b' holds a NUL and cannot be written as text; rename it"):
        count(ENGINES[engine](frame(NUL)), by="sex")
    assert count(ENGINES[engine](frame(NUL)), by="all", cluster="sex").n_units == 3


def test_text_is_compared_beyond_a_nul_in_pandas_own_strings():
    for dtype in ("string[python]", "string[pyarrow]"):
        assert count(frame(NUL, dtype), by="all", cluster="sex").n_units == 3


@pytest.mark.parametrize("values", [[True, 1, 1.0], [True, 1], [Decimal("1.0"), 1], [1, 1.0], [1, "1"]], ids=str)
@pytest.mark.parametrize("what", ["group", "cluster"])
def test_equal_values_of_different_types_are_not_merged(values, what):
    options = {"by": "sex"} if what == "group" else {"by": "all", "cluster": "sex"}
    with bad(f"{what} 'sex': different values have one spelling .*make them one type"):
        count(frame(values), **options)


@pytest.mark.parametrize("values", [[[1], [2]], [{"a": 1}, {"a": 2}], [{1}, {2}], [{"a": 1}, 2]], ids=str)
@pytest.mark.parametrize("what", ["group", "cluster"])
def test_lists_sets_and_dicts(values, what):
    options = {"by": "sex"} if what == "group" else {"by": "all", "cluster": "sex"}
    with bad(f"{what} 'sex' holds lists, sets or dicts; make them text"):
        count(frame(values), **options)
    if isinstance(values[-1], list | dict):
        columns = {"y": [1, 1], "p": [0.5, 0.5], "sex": values, "all": ["a", "b"]}
        for make in (pl.DataFrame, pa.table):
            with bad(f"{what} 'sex' holds values of type (List|Struct).*make them text"):
                count(make(columns), **options)


def test_whole_floats_are_spelled_as_whole_numbers_whatever_else_there_is():
    """The spelling once hung on the other values of the column, so that adding split a group."""
    one, two = (count(frame(values, "float64"), by="sex") for values in ([1.0, 2.0], [1.0, 2.5]))
    assert (one + two).groups == {"sex": ("1", "2", "2.5")}


@pytest.mark.parametrize(
    ("values", "dtype"),
    [([2**53, 2**53 + 1, None], "float64"), ([2.0**60], "float64"), ([2**24, 2**24 + 1], "float32")],
)
def test_floats_that_stand_for_several_whole_numbers(values, dtype):
    present = [value for value in values if value]
    for held, options in ((values, {"by": "sex"}), (present, {"by": "all", "cluster": "sex"})):
        with bad("floats too large for neighbouring whole numbers to be told apart.*Int64 or as text"):
            count(frame(held, dtype), missing="category", **options)


def test_large_whole_numbers_without_a_float_are_told_apart():
    assert count(frame([2**53, 2**53 + 1], "int64"), by="all", cluster="sex").n_units == 2
    assert count(frame([2**53, 2**53 + 1], "Int64"), by="sex").groups["sex"] == (str(2**53), str(2**53 + 1))


def test_spellings_are_compared_in_one_pass():
    """Once in the square of the identifiers: 40,000 took 36 s, these would take minutes."""
    ids = frame([*range(100_000), "5"])
    with bad(r"different values have one spelling \('5'\)"):
        count(ids, by="all", cluster="sex")
