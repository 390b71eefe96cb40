"""Edges: divided, snapped, compared in the score's own type."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditlib.counts.edges import (
    MAX_BINS,
    check_bins,
    check_threshold,
    distinct_edges,
    grid_edges,
    make_edges,
    round_to,
    snap,
)
from auditlib.errors import AuditInputError
from tests.unit.frames import PROPERTY


def test_grid_is_divided_not_a_linspace():
    edges = grid_edges(200)
    assert edges.tolist() == [k / 200 for k in range(201)]
    assert (np.linspace(0, 1, 201) != edges).any()  # what would go wrong


@pytest.mark.parametrize(
    ("given_value", "kept"),
    [
        (0.1 * 3, 0.3),
        (0.1 + 0.2, 0.3),
        (0.7, 0.7),
        (0.1 + 0.7, 0.8),
        (1 / 3, 1 / 3),
        (0.30000001, 0.30000001),
        (0.3 + 2e-15, 0.3 + 2e-15),  # beyond 1e-15: kept to the bit
        (0.12345678901, 0.12345678901),  # eleven places
        (0, 0.0),
        (1, 1.0),
    ],
)
def test_snap(given_value, kept):
    assert snap(given_value) == kept


@PROPERTY
@given(st.integers(0, 10**10))
def test_every_decimal_of_ten_places_is_kept(k):
    assert snap(k / 10**10) == float(f"0.{k:010d}") if k < 10**10 else snap(1.0) == 1.0


@pytest.mark.parametrize("bad", [-0.1, 1.0001, float("nan"), float("inf"), 1e-300 * -1])
def test_threshold_outside(bad):
    with pytest.raises(AuditInputError, match=r"threshold must lie between 0 and 1, not "):
        check_threshold(bad)


@pytest.mark.parametrize("bad", ["0.5", "x", None, True, np.True_, [0.5], {}, 1j])
def test_threshold_that_is_no_number(bad):
    with pytest.raises(AuditInputError, match=r"threshold must be a number between 0 and 1, not "):
        check_threshold(bad)


def test_threshold_takes_numpy_and_whole_numbers():
    assert check_threshold(np.float64(0.1) * 3) == 0.3
    assert check_threshold(1) == 1.0
    assert type(check_threshold(np.float64(0.25))) is float


@pytest.mark.parametrize("bad", [0, -1, 1.5, 200.0, True, "200", MAX_BINS + 1])
def test_bins_must_be_whole(bad):
    with pytest.raises(AuditInputError, match=f"whole number from 1 to {MAX_BINS:,}, or None"):
        check_bins(bad)


def test_make_edges_merges_and_sorts():
    edges = make_edges(4, [0.3, 0.25, 0.3, 1 / 3], ("float64",))
    assert edges.lower.tolist() == [0.0, 0.25, 0.3, 1 / 3, 0.5, 0.75, 1.0]
    assert edges.extra == [0.3, 1 / 3]
    assert len(edges) == 7


def test_index_finds_snapped_and_names_neighbours():
    edges = make_edges(10, [], ("float64",))
    assert edges.index(0.1 * 3) == 3
    assert edges.index(1) == 10
    with pytest.raises(
        AuditInputError, match=r"0.32 is not an edge .* nearest edges are 0.3 and 0.4.*thresholds=\[0.32\]"
    ):
        edges.index(0.32)


def test_index_of_float32_scores_takes_float32_thresholds():
    wide, narrow = make_edges(10, [], ("float64",)), make_edges(10, [], ("float32",))
    stored = float(np.float32(0.7))
    assert stored != 0.7
    assert narrow.index(stored) == narrow.index(0.7) == 7
    with pytest.raises(AuditInputError, match="not an edge"):
        wide.index(stored)
    with pytest.raises(AuditInputError, match="not an edge"):
        make_edges(10, [], ("float32", "float64")).index(stored)


def test_round_to():
    assert round_to(0.7, "float64") == 0.7
    assert round_to(0.7, "float32") == float(np.float32(0.7))


def test_distinct_edges_keep_each_model_in_its_type():
    fine = np.array([0.123456789012, 0.5])
    short = np.array([0.7, 0.1], dtype="float32").astype(float)
    edges = distinct_edges([fine, short], [0.2], ("float64", "float32"))
    assert edges.lower.tolist() == [0.0, 0.1, 0.123456789012, 0.2, 0.5, 0.7]


def test_cut_keeps_zero_and_says_where_bins_go():
    edges, bins = make_edges(4, [], ("float64",)).cut([2])
    assert edges.lower.tolist() == [0.0, 0.5]
    assert edges.kind == "cut"
    assert bins.tolist() == [0, 0, 1, 1, 1]


def test_representative_is_midpoint_or_score():
    assert make_edges(2, [], ("float64",)).representative().tolist() == [0.25, 0.75, 1.0]
    assert distinct_edges([np.array([0.2, 0.9])], [], ("float64",)).representative().tolist() == [0.0, 0.2, 0.9]


def test_equality_needs_the_type_too():
    assert make_edges(4, [0.3], ("float64",)) == make_edges(4, [0.3], ("float64",))
    assert make_edges(4, [0.3], ("float64",)) != make_edges(4, [0.3], ("float32",))
    assert make_edges(4, [0.3], ("float64",)) != make_edges(4, [], ("float64",))
