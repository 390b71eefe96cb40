"""A declared grid: its order, its parts, and what it refuses."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditlib.errors import AuditInputError
from auditlib.multiverse import Grid

AXES = {"family": ["logistic", "tree"], "threshold": ["top20", 0.3], "seed": [42, 43, 44]}


def test_every_combination_once_with_the_last_axis_changing_fastest():
    found = Grid("g", AXES).specifications()
    assert len(found) == len(Grid("g", AXES)) == 12
    assert len({tuple(each.items()) for each in found}) == 12
    assert [each["seed"] for each in found[:4]] == [42, 43, 44, 42]
    assert found[0] == {"family": "logistic", "threshold": "top20", "seed": 42}
    assert found[-1] == {"family": "tree", "threshold": 0.3, "seed": 44}


def test_default_is_the_first_choice_unless_named():
    grid = Grid("g", AXES, {"seed": 43})
    assert grid.default == {"family": "logistic", "threshold": "top20", "seed": 43}
    assert grid.only(seed=[44, 42]).default["seed"] == 42  # in the order of the grid
    assert grid.only(seed=[43, 44]).default["seed"] == 43


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.data())
def test_a_part_is_the_specifications_with_these_choices_in_order(sizes, data):
    grid = Grid("g", {f"a{k}": list(range(size)) for k, size in enumerate(sizes)})
    wanted = {
        axis: data.draw(st.lists(st.sampled_from(choices), min_size=1, unique=True))
        for axis, choices in grid.axes.items()
    }
    kept = [each for each in grid if all(each[axis] in wanted[axis] for axis in wanted)]
    assert grid.only(**wanted).specifications() == kept


def test_the_declaration_changes_with_whatever_decides_or_numbers_the_results():
    grid = Grid("g", AXES, settings={"max_rows": 20_000})
    others = [
        Grid("h", AXES, settings={"max_rows": 20_000}),
        Grid("g", AXES, settings={"max_rows": 10_000}),
        Grid("g", AXES, {"seed": 43}, {"max_rows": 20_000}),
        Grid("g", dict(reversed(AXES.items())), settings={"max_rows": 20_000}),
        grid.only(seed=42),
    ]
    assert len({json.dumps(each.declaration) for each in [grid, *others]}) == 6
    assert Grid("g", AXES, settings={"max_rows": 20_000}).declaration == grid.declaration


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        ({}, "at least one axis"),
        ({"family": []}, "family: an axis without choices"),
        ({"family": ["logistic", "logistic"]}, "one choice"),
        ({"seed": [1, "1"]}, "one choice"),
        ({"seed": [1, 1.0]}, "one choice"),
        ({"seed": [1, True]}, "one choice"),
        ({"family": "logistic"}, "family: give its choices as a list"),
        ({"family": [None]}, "None is no choice that a table can hold"),
        ({"family": [None, 1]}, r"for None a text, such as 'no limit', which the judge turns back into None\)"),
        ({"threshold": [float("nan")]}, "nan is no choice"),
        ({"threshold": [float("inf")]}, "inf is no choice"),
        ({"seed": [2**53 + 1]}, "is no choice"),
        ({"seed": [10**5000]}, "is no choice"),
        ({"family": ["a", ""]}, "'' is no choice"),
        ({"family": ["a\rb"]}, "is no choice"),
        ({"family": ["a\0b"]}, "is no choice"),
        ({"family": ["\ud800"]}, "is no choice"),
        ({"a\nb": ["x"]}, "names an axis"),
        ({f"a{k}": [0, 1] for k in range(64)}, "18,446,744,073,709,551,616 specifications"),
        ({"error": ["a"]}, "column of the results"),
        ({"": ["a"]}, "names an axis"),
        ({3: ["a"]}, "names an axis"),
        ({f"a{k}": list(range(100)) for k in range(4)}, "100,000,000 specifications"),
    ],
)
def test_what_is_no_grid_is_refused(axes, said):
    with pytest.raises(AuditInputError, match=said):
        Grid("g", axes)


def test_unknown_axes_and_choices_are_refused_by_name():
    with pytest.raises(AuditInputError, match="'forest' is no choice of this grid; there are logistic, tree"):
        Grid("g", AXES, {"family": "forest"})
    with pytest.raises(AuditInputError, match="'model' is no axis of this grid; the axes are family"):
        Grid("g", AXES).only(model="logistic")
    with pytest.raises(AuditInputError, match="seed: 45 is no choice"):
        Grid("g", AXES).only(seed=[42, 45])
    with pytest.raises(AuditInputError, match="name at least one choice of 42, 43, 44"):
        Grid("g", AXES).only(seed=[])
    with pytest.raises(AuditInputError, match="give plain values"):
        Grid("g", AXES, settings={"x": object()})
    with pytest.raises(AuditInputError, match="names must be texts"):
        Grid("g", AXES, settings={1: "x", "1": "y"})
    with pytest.raises(AuditInputError, match="no choice"):
        Grid("g", {"seed": [1, 2]}).only(seed=True)
    with pytest.raises(AuditInputError, match="no choice"):
        Grid("g", AXES, {"seed": np.array([42, 43])})


def test_parts_may_be_named_by_arrays_and_an_axis_may_be_called_self():
    for choices in (np.array([42, 43]), pd.Series([42, 43]), {42, 43}, range(42, 44)):
        assert Grid("g", AXES).only(seed=choices).axes["seed"] == (42, 43)
    assert len(Grid("g", {"self": [1, 2]}).only(**{"self": 1})) == 1


def test_a_long_axis_is_checked_in_time():
    assert len(Grid("g", {"seed": range(100_000)})) == 100_000
