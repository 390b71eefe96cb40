"""Signs counted and ways to either sign: against counts and searches by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditlib import AuditInputError
from auditlib.multiverse.summaries import forks, sign_counts, small_groups
from tests.unit.multiverses import AXES, DEFAULT, broken, made

ROWS = made()


def test_counts_of_a_table_written_down():
    rows = pd.DataFrame(
        {
            "estimate": [0.2, 0.1, -0.1, 0.0, np.nan, np.nan, -0.3],
            "low": [0.1, -0.1, -0.2, -0.1, np.nan, np.nan, np.nan],
            "high": [0.3, 0.2, -0.05, 0.1, np.nan, np.nan, np.nan],
            "error": ["", "", "", "", "", "no fit", ""],
        }
    )
    found = sign_counts(rows)
    assert found["n"].to_dict() == {
        "positive": 2,
        "negative": 2,
        "zero": 1,
        "interval above zero": 1,
        "interval below zero": 1,
        "interval contains zero": 2,
        "undefined": 1,
        "failed": 1,
    }
    assert found["of"].tolist() == [5, 5, 5, 4, 4, 4, 7, 7]  # defined, with an interval, all
    np.testing.assert_allclose(found["share"], found["n"] / found["of"])
    missing = sign_counts(rows.assign(error=rows["error"].replace("", np.nan)))  # as a CSV brings them back
    pd.testing.assert_frame_equal(missing, found)
    assert sign_counts(rows.drop(columns="error")).loc["undefined", "n"] == 2


def test_a_limit_of_zero_belongs_to_the_interval():
    touching = pd.DataFrame({"estimate": [0.1, -0.1], "low": [0.0, -0.2], "high": [0.2, 0.0]})
    assert sign_counts(touching).loc["interval contains zero", "n"] == 2
    assert set(forks(touching.assign(x=[1, 2]), {"x": 1})["interval"]) == {"any"}


def test_when_all_failed_there_is_no_share_of_none():
    found = sign_counts(broken(ROWS, *ROWS.index))
    assert found.loc["failed", "share"] == 1
    assert found.loc["positive":"interval contains zero", "share"].isna().all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 0.5)), min_size=1, max_size=30))
def test_counts_add_up_and_mirror(drawn):
    estimate, half = np.array(drawn).T
    rows = pd.DataFrame({"estimate": estimate, "low": estimate - half, "high": estimate + half})
    n = sign_counts(rows)["n"]
    assert n["positive"] + n["negative"] + n["zero"] == len(rows)
    assert n.filter(like="interval").sum() == len(rows)
    flipped = pd.DataFrame({"estimate": -estimate, "low": -rows["high"], "high": -rows["low"]})
    mirror = sign_counts(flipped)["n"]
    assert mirror["positive"] == n["negative"]
    assert mirror["interval above zero"] == n["interval below zero"]


def by_search(rows, default, sign, apart):
    """Fewest changes, trying every set of axes to change, smallest first."""
    for k in range(len(default) + 1):
        found = set()
        for which in itertools.combinations(default, k):
            for row in rows.to_dict("records"):
                differs = {axis for axis in default if row[axis] != default[axis]}
                side = row["low" if sign > 0 else "high"] if apart else row["estimate"]
                if differs == set(which) and sign * side > 0:
                    found.add(tuple(row[axis] for axis in default))
        if found:
            return k, found
    return None, set()


@pytest.mark.parametrize("seed", range(4))
def test_forks_are_what_a_search_finds(seed):
    rows = made(seed=seed, noise=0.05)
    rows = broken(rows, *rows.sample(6, random_state=seed).index)
    default = dict(rows.loc[rows["estimate"].notna(), list(AXES)].sample(random_state=seed).iloc[0])
    found = forks(rows, default)
    for sign, interval in itertools.product(("positive", "negative"), ("any", "excludes zero")):
        changes, specs = by_search(rows, default, 1 if sign == "positive" else -1, interval != "any")
        part = found[(found["sign"] == sign) & (found["interval"] == interval)]
        assert set(map(tuple, rows.loc[part.index, list(AXES)].to_numpy())) == specs
        assert set(part["changes"]) == ({changes} if specs else set())
    np.testing.assert_array_equal(found["estimate"], rows.loc[found.index, "estimate"])


def test_forks_name_what_was_changed():
    found = forks(ROWS, DEFAULT)
    default = found[found["changes"] == 0]
    assert default["sign"].tolist() == ["negative", "negative"]  # .015 − .03 − .06 + .01 = −.065, ± .05
    assert default["changed"].tolist() == ["", ""]
    nearest = found[(found["sign"] == "positive") & (found["interval"] == "any")]
    assert nearest["changed"].tolist() == ["threshold: top20"]  # .015 − .03 + .06 + .01
    apart = found[(found["sign"] == "positive") & (found["interval"] == "excludes zero")]
    assert apart["changed"].tolist() == ["threshold: top20"]
    assert apart["estimate"].tolist() == pytest.approx([0.055])


def test_a_sign_that_no_specification_has_has_no_row():
    rows = ROWS.assign(estimate=0.1, low=-0.1, high=0.3)
    found = forks(rows, DEFAULT)
    assert found[["sign", "interval", "changes"]].values.tolist() == [["positive", "any", 0]]
    zero = ROWS.assign(estimate=0.0, low=-0.1, high=0.1)
    assert forks(zero, DEFAULT).empty
    assert list(forks(zero, DEFAULT)) == list(found)


FAILED = broken(ROWS, *ROWS.index).drop(columns=["estimate", "low", "high"])  # as run_multiverse gives them
BAD = [
    (lambda: sign_counts(FAILED), "all 36 specifications failed, the first: ValueError: nobody is in 10–29"),
    (lambda: forks(FAILED, DEFAULT), "all 36 specifications failed"),
    (lambda: small_groups(FAILED), "all 36 specifications failed"),
    (lambda: sign_counts(FAILED.assign(error=["", *FAILED["error"][1:]])), "rows: no column estimate, low, high"),
    (lambda: sign_counts(ROWS.drop(columns="low")), "rows: no column low"),
    (lambda: sign_counts(ROWS.iloc[:0]), "give a DataFrame with one row a specification"),
    (lambda: sign_counts(None), "give a DataFrame with one row a specification"),
    (lambda: sign_counts(ROWS.assign(low="−0.1")), "low must hold numbers"),
    (lambda: sign_counts(pd.concat([ROWS, ROWS])), "several rows have one label"),
    (lambda: forks(ROWS, ["family"]), "give the choice of every axis"),
    (lambda: forks(ROWS, {}), "give the names of the columns with choices"),
    (lambda: forks(ROWS, DEFAULT | {"site": "A"}), "rows: no column site"),
    (lambda: forks(ROWS, DEFAULT | {"family": "forest"}), "no row has family = 'forest'"),
    (lambda: forks(ROWS, {"family": "logistic"}), "33 rows have the same choices as another"),
    (lambda: forks(broken(ROWS, *ROWS.index), DEFAULT), "none of 36 specifications has an estimate"),
]


@pytest.mark.parametrize(("call", "said"), BAD)
def test_wrong_input_is_answered_in_words(call, said):
    with pytest.raises(AuditInputError, match=said):
        call()


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, False),
        ({"tp_a": 5, "fn_a": 25}, False),  # 30 positives
        ({"tp_a": 5, "fn_a": 24}, True),
        ({"fp_b": 5, "tn_b": 24}, True),
        ({"tp_b": 4}, True),
        ({"tn_a": 0}, True),
        ({"tp_a": np.nan}, False),  # it failed
    ],
)
def test_a_group_is_small_by_its_cells_or_its_margins(changed, expected):
    cells = {f"{cell}_{group}": 40 for cell in ("tp", "fp", "fn", "tn") for group in "ab"}
    found = small_groups(pd.DataFrame([cells, cells | changed], index=[7, 3]))
    assert found.to_dict() == {7: False, 3: expected}


def test_small_groups_need_the_counts():
    with pytest.raises(AuditInputError, match="no column tp_a"):
        small_groups(ROWS)
