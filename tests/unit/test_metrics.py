"""Metrics: exact fractions, NaN where undefined, and how they move together."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import auditlib as al
from auditlib.metrics import RATES, parts
from tests.unit.frames import PROPERTY, cohort, count

METRICS = {name: getattr(al, name) for name in RATES}
SWAPPED = {
    "sensitivity": "specificity",
    "ppv": "npv",
    "accuracy": "accuracy",
    "specificity": "sensitivity",
    "npv": "ppv",
}
whole = st.integers(0, 6) | st.integers(0, 10**6)
tables = st.lists(st.tuples(whole, whole, whole, whole), min_size=2, max_size=4)


def table_of(rows):
    tp, fp, fn, tn = (np.array(column) for column in zip(*rows, strict=True))
    return al.confusion(tp=tp, fp=fp, fn=fn, tn=tn, group=[f"g{k}" for k in range(len(rows))])


def right(name, row):
    """The rate as a fraction, or None where undefined."""
    tp, fp, fn, tn = row
    above, below = {
        "sensitivity": (tp, tp + fn),
        "specificity": (tn, tn + fp),
        "ppv": (tp, tp + fp),
        "npv": (tn, tn + fn),
        "selection_rate": (tp + fp, sum(row)),
        "false_positive_rate": (fp, fp + tn),
        "accuracy": (tp + tn, sum(row)),
        "prevalence": (tp + fn, sum(row)),
    }[name]
    return Fraction(above, below) if below else None


def bad(said):
    return pytest.raises(al.AuditInputError, match=said)


@pytest.mark.parametrize("name", METRICS)
@PROPERTY
@given(rows=tables)
def test_a_rate_is_its_fraction_and_nan_where_there_is_none(name, rows):
    table = table_of(rows)
    found = METRICS[name](table)
    assert found.dims == ("group",)
    for value, row in zip(found.values, rows, strict=True):
        fraction = right(name, row)
        assert np.isnan(value) if fraction is None else value == float(fraction)
    plain = METRICS[name]({cell: table[cell].values for cell in table})
    assert np.array_equal(plain, found.values, equal_nan=True)


@pytest.mark.parametrize("name", METRICS)
def test_one_table_of_plain_numbers(name):
    row = (7, 3, 2, 11)
    assert float(METRICS[name](dict(zip(("tp", "fp", "fn", "tn"), row, strict=True)))) == float(right(name, row))
    assert np.isnan(METRICS[name]({"tp": 0, "fp": 0, "fn": 0, "tn": 0}))


@PROPERTY
@given(rows=tables)
def test_swapping_the_labels_swaps_the_metrics(rows):
    table, other = table_of(rows), table_of([(tn, fn, fp, tp) for tp, fp, fn, tn in rows])
    for name, partner in SWAPPED.items():
        assert METRICS[name](table).equals(METRICS[partner](other))
    assert np.allclose(al.false_positive_rate(table), 1 - al.specificity(table), equal_nan=True)
    assert np.allclose(al.prevalence(table), 1 - al.prevalence(other), equal_nan=True)


@PROPERTY
@given(rows=tables)
def test_gap_spread_ratio(rows):
    for metric in METRICS.values():
        values = metric(table_of(rows))
        names = values["group"].values.tolist()
        gaps = {(a, b): float(al.gap(values, a, b)) for a in names for b in names if a != b}
        widest, least = float(al.spread(values, "group")), float(al.ratio(values, "group"))
        for (a, b), found in gaps.items():
            assert found == -gaps[b, a] or np.isnan(found)
            assert np.isnan(found) == (np.isnan(values.sel(group=a)) or np.isnan(values.sel(group=b)))
        if np.isnan(values).any():
            assert np.isnan(widest)
            assert np.isnan(least)
        else:
            assert widest == max(gaps.values())
            assert 0 <= widest <= 1
            assert np.isnan(least) if values.max() == 0 else least == float(values.min() / values.max())
            assert np.isnan(least) or 0 <= least <= 1


def test_dims_beyond_the_group_are_kept():
    counts = count(cohort(), score=["p", "q"])
    table = counts.resample(3, seed=0).at([0.2, 0.5])
    values = al.sensitivity(table)
    assert values.dims == ("replicate", "sex", "race", "model", "threshold")
    assert al.gap(values, "F", "M").dims == ("replicate", "race", "model", "threshold")
    assert al.spread(values, "race").dims == ("replicate", "sex", "model", "threshold")
    assert al.ratio(values, "race").dims == ("replicate", "sex", "model", "threshold")
    assert al.theil(table, "race").dims == ("replicate", "sex", "model", "threshold")
    models = al.gap(values, "p", "q")
    assert models.equals(values.sel(model="p", drop=True) - values.sel(model="q", drop=True))


def test_gap_needs_two_levels_of_one_dim():
    values = al.sensitivity(count(cohort()).at(0.2))
    with bad("'F' and 'X' are not levels of one dim. There is sex: F, M; race: A, B, C"):
        al.gap(values, "F", "X")
    with bad("'F' and 'A' are not levels of one dim"):
        al.gap(values, "F", "A")
    with bad("'F' and 'F' are one level"):
        al.gap(values, "F", "F")
    with bad("'age' is not a dim of these values; they have: sex, race"):
        al.gap(values, "F", "M", dim="age")
    with bad("'A' and 'B' are not levels of one dim. There is sex: F, M"):
        al.gap(values, "A", "B", dim="sex")
    with bad("pass a metric of counts.at"):
        al.gap(np.array([1, 2]), "F", "M")


def test_gap_where_two_dims_have_the_levels():
    ones = np.ones((2, 2), dtype=int)
    values = al.sensitivity(
        al.confusion(tp=[[1, 2], [3, 4]], fp=ones, fn=ones, tn=ones, mother=["a", "b"], father=["a", "b"])
    )
    with bad("'a' and 'b' are in several dims, so say dim="):
        al.gap(values, "a", "b")
    assert al.gap(values, "a", "b", dim="father").values.tolist() == pytest.approx([1 / 2 - 2 / 3, 3 / 4 - 4 / 5])


@pytest.mark.parametrize("reduce", [al.spread, al.ratio], ids=["spread", "ratio"])
def test_reductions_over_an_unknown_dim(reduce):
    table = count(cohort()).at(0.2)
    with bad("'age' is not a dim of these values; they have: sex, race"):
        reduce(al.sensitivity(table), "age")
    with bad("'age' is not a dim of these values; they have: sex, race"):
        al.theil(table, "age")


def test_ratio_of_zeros_is_undefined():
    values = xr.DataArray([[0.0, 0.0], [0.0, 0.5]], dims=["x", "group"])
    assert np.array_equal(al.ratio(values, "group"), [np.nan, 0.0], equal_nan=True)


def theil_by_hand(rows):
    n = np.array([sum(row) for row in rows], dtype=float)
    if (n == 0).any():
        return np.nan
    benefit = np.array([1 + (tp + fp) / sum(row) - (tp + fn) / sum(row) for row in rows for tp, fp, fn, tn in [row]])
    overall = (n * benefit).sum() / n.sum()
    if overall == 0:
        return np.nan
    share = [m / n.sum() * b / overall * np.log(b / overall) if b > 0 else 0.0 for m, b in zip(n, benefit, strict=True)]
    return sum(share)


@PROPERTY
@given(rows=tables)
def test_theil(rows):
    found = float(al.theil(table_of(rows), "group"))
    assert found == pytest.approx(theil_by_hand(rows), abs=1e-9, nan_ok=True)
    assert np.isnan(found) or found > -1e-9


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A:0,0,0,10; B:5,5,5,5", np.log(1.5)),  # A's benefit is 0 and contributes 0
        ("A:0,0,0,10; B:0,0,0,5", np.nan),  # nobody has any benefit
        ("A:0,0,0,0; B:5,5,5,5", np.nan),  # an empty group
        ("A:5,5,5,5; B:50,50,50,50", 0.0),  # alike
    ],
)
def test_theil_at_the_edges(text, value):
    assert float(al.theil(al.parse_confusion(text), "group")) == pytest.approx(value, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("row", "few"),
    [
        ((25, 25, 5, 25), False),
        ((24, 25, 5, 25), True),  # 29 positives
        ((25, 5, 5, 24), True),  # 29 negatives
        ((26, 50, 4, 50), True),
        ((4, 50, 50, 50), True),
        ((50, 4, 50, 50), True),
        ((50, 50, 50, 4), True),
        ((0, 0, 0, 0), True),
    ],
)
def test_small(row, few):
    assert bool(al.small(dict(zip(("tp", "fp", "fn", "tn"), row, strict=True)))) is few


def test_parts_by_name_or_function_and_nothing_else():
    table = {"tp": 8, "fp": 4, "fn": 2, "tn": 6}
    assert parts(table, "ppv") == parts(table, al.ppv) == (8, 12)
    for thing in (al.auroc, "gini", None):
        with bad("is not a rate of one table; the rates are sensitivity, specificity"):
            parts(table, thing)


# -- tables that are typed ---------------------------------------------------------------------------------------


def test_confusion_of_several_dims():
    ones = np.ones((2, 3), dtype=int)
    table = al.confusion(tp=ones, fp=2 * ones, fn=3 * ones, tn=4 * ones, sex=["F", "M"], site=[1, 2, 3])
    assert table["tn"].sel(sex="F", site="3").item() == 4
    assert table["tp"].dtype == np.int64
    assert al.confusion(tp=1, fp=2, fn=3, tn=4)["fn"].item() == 3


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tp": [1, np.nan]}, "tp must be whole numbers of at least 0, not nan"),
        ({"fp": [1, -2]}, "fp must be whole numbers of at least 0, not -2.0"),
        ({"fn": [1, 2.5]}, "fn must be whole numbers of at least 0, not 2.5"),
        ({"tn": [1, np.inf]}, "tn must be whole numbers of at least 0, not inf"),
        ({"tn": [1, 1e300]}, "tn must be whole numbers"),
        ({"tp": ["a", 1]}, "tp must be counts, not"),
        ({"tp": [1 + 1j, 1]}, "tp must be counts, not"),
        ({"tp": [True, False]}, "tp must be counts, not"),
        ({"tp": np.array([1, 2], dtype="M8[s]")}, "tp must be counts, not"),
        ({"tp": np.ma.array([1, 2], mask=[False, True])}, "tp has masked values"),
        ({"tp": [10**400, 1]}, r"tp must be whole numbers of at least 0 and below 2\*\*53"),
        ({"tp": pd.Series([1, 2], index=["b", "a"])}, "tp names other levels, or another order, than the dims"),
        ({"tp": xr.DataArray([1, 2], coords={"g": ["b", "a"]}, dims="g")}, "tp names other levels, or another order"),
        ({"tp": xr.DataArray([1, 2], dims="h")}, "tp names other levels, or another order"),
        ({"tp": [None, 1]}, "tp must be whole numbers of at least 0, not nan"),
        ({"tp": [1]}, r"tp has shape \(1,\), but the dims \['g'\] have \(2,\)"),
        ({"g": ["a", "a"]}, "'g' names a level twice: a, a"),
        ({"g": [1, "1"]}, "'g' names a level twice: 1, 1"),
        ({"g": 2}, "g= must list the levels of that dim, not 2"),
        ({"g": "ab"}, "g= must list the levels of that dim, not 'ab'"),
    ],
    ids=str,
)
def test_confusion_of_what_are_no_counts(changes, said):
    given_values = {"tp": [1, 1], "fp": [1, 1], "fn": [1, 1], "tn": [1, 1], "g": ["a", "b"]}
    with bad(said):
        al.confusion(**given_values | changes)


def test_confusion_of_labelled_counts_in_order():
    ones = [1, 1]
    for tp in (pd.Series([3, 4], index=["a", "b"]), pd.Series([3, 4]), xr.DataArray([3, 4], {"g": ["a", "b"]}, "g")):
        assert al.confusion(tp=tp, fp=ones, fn=ones, tn=ones, g=["a", "b"])["tp"].values.tolist() == [3, 4]


@pytest.mark.parametrize("text", ["A:-1,2,3,4 B:1,2,3,4;C:1,2,3,4", "A:1.5,2,3,4 B:1,2,3,4;C:1,2,3,4"])
def test_groups_glued_together(text):
    with bad("is not 'Group:TP,FP,TN,FN'"):
        al.parse_confusion(text)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
def test_small_integers_do_not_overflow(dtype):
    cell = np.iinfo(dtype).max // 2 + 20
    table = al.confusion(tp=[cell] * 2, fp=[cell] * 2, fn=[cell] * 2, tn=[cell] * 2, g=["a", "b"])
    small, plain = table.astype(dtype), {name: table[name].values.astype(dtype) for name in table}
    for name, metric in METRICS.items():
        share = float(metric(table)[0])
        assert share == 0.5, name
        assert metric(small).values.tolist() == metric(plain).tolist() == [share] * 2
    assert float(al.theil(small, "g")) == float(al.theil(table, "g"))


def test_what_is_no_table():
    for table in ({"fp": 1}, count(cohort()), None, 5):
        with bad(f"a confusion table holds tp, fp, fn and tn .* but this {type(table).__name__} has no 'tp'"):
            al.sensitivity(table)
    arrays = dict.fromkeys(("tp", "fp", "fn", "tn"), np.array([1, 2]))
    for call in (lambda: al.theil(arrays, "g"), lambda: al.spread(np.ones(2), "g"), lambda: al.ratio(np.ones(2), "g")):
        with bad("comparing over 'g' needs named levels: pass a metric of counts.at.*not ndarray"):
            call()
    with bad(r"\['sex'\] is not a dim of these values"):
        al.spread(al.sensitivity(count(cohort()).at(0.2)), ["sex"])


def test_gap_of_numbered_levels_and_of_names_given_twice():
    values = xr.DataArray([1.0, 3.0], coords={"site": [1, 2]}, dims="site")
    assert al.gap(values, "1", "2").item() == al.gap(values, 1, 2).item() == -2
    with bad("'g' names the level 'a' twice"):
        al.gap(xr.DataArray([1.0, 2.0, 3.0], coords={"g": list("aab")}, dims="g"), "a", "b")


@pytest.mark.parametrize("name", ["low", "estimate", "n", "cell"])
def test_confusion_with_reserved_dims(name):
    with bad(f"'{name}' cannot name a group"):
        al.confusion(tp=[1], fp=[1], fn=[1], tn=[1], **{name: ["a"]})
