"""Figures of the capacity chapter show the numbers they are given, with their intervals."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from auditlib import AuditInputError
from auditlib.plots import capacity, style


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


FOUND = pd.DataFrame(
    {
        "overall": [31.0, 24.0], "overall_low": [29.0, 23.0], "overall_high": [33.5, 26.0],
        "level": [70.0, 190.0], "level_low": [60.0, 170.0], "level_high": [82.0, 200.0],
    }
)  # fmt: skip


def bars(ax):
    """Ends of the error bars, across and up, as drawn."""
    return [np.array(part.get_segments()) for container in ax.containers for part in container.lines[2]]


def test_frontier_draws_both_intervals_of_every_point_over_its_curve():
    curve = pd.DataFrame({"overall": [30, 28, 20], "level": [80, 150, 220]})
    ax = capacity.frontier({"3%": FOUND}, {"3%": curve, "reported": curve - 5}, group="$10k–$15k")
    across, up = bars(ax)
    assert across[:, :, 0].tolist() == [[29.0, 33.5], [23.0, 26.0]]
    assert up[:, :, 1].tolist() == [[60.0, 82.0], [170.0, 200.0]]
    assert [line.get_xdata().tolist() for line in ax.lines[:2]] == [[30, 28, 20], [25, 23, 15]]
    assert ax.lines[0].get_color() == style.GROUPS[0]  # a curve has the colour of its points
    assert ax.lines[1].get_color() == style.GROUPS[1]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["reported", "3%"]
    assert ax.get_ylabel() == r"Gain of \$10k–\$15k, per 10,000"


def test_one_series_needs_no_legend():
    assert capacity.frontier({"3%": FOUND}).get_legend() is None


def test_a_point_compared_with_itself_has_no_bar():
    """Rounding may put a limit a hair on the wrong side; matplotlib refuses negative lengths."""
    same = FOUND.assign(overall_low=FOUND["overall"] + 1e-15, overall_high=FOUND["overall"] - 1e-15)
    across, _ = bars(capacity.frontier({"3%": same}))
    assert np.ptp(across[:, :, 0], axis=1) == pytest.approx([0, 0])


def test_exchange_has_the_group_above_and_everybody_below():
    against = pd.DataFrame([[0.0] * 6, [-7, -9, -4, 120, 110, 135]], columns=capacity.LIMITS)
    figure = capacity.exchange(against, pd.Series([400, 900]), label="Flagged", group="low income")
    top, bottom = figure.axes
    assert bars(top)[0][:, :, 1].tolist() == [[0, 0], [110, 135]]
    assert bars(bottom)[0][:, :, 1].tolist() == [[0, 0], [-9, -4]]
    assert bars(top)[0][:, 0, 0].tolist() == [400, 900]
    assert (top.get_ylabel(), bottom.get_ylabel(), bottom.get_xlabel()) == ("Low income", "Everybody", "Flagged")


def test_optimism_is_a_share_with_monte_carlo_limits():
    table = pd.DataFrame(
        {"size": [500, 500, 2000, 2000], "point": ["a", "b"] * 2, "kept": [20.0, 100.0, 25.0, 110.0],
         "optimism": [5.0, 30.0, 1.0, -2.0], "se": [1.0, 10.0, 0.5, 4.0]}
    )  # fmt: skip
    ax = capacity.optimism(table)
    first, second = bars(ax)
    assert first[0, :, 1] == pytest.approx([25 - 1.96 * 5, 25 + 1.96 * 5])
    assert second[1, :, 1] == pytest.approx([100 * (-2 - 1.96 * 4) / 110, 100 * (-2 + 1.96 * 4) / 110])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["500", "2,000"]


def test_words_name_both_ends():
    said = capacity.words(FOUND - [50, 50, 50, 0, 0, 0], "low income")
    assert said == (
        "the best overall gains everybody −19.0 (−21.0 to −16.5) and low income 70 (60 to 82); "
        "the best for low income everybody −26.0 (−27.0 to −24.0) and low income 190 (170 to 200) per 10,000"
    )
    assert "best for" not in capacity.words(FOUND.iloc[:1])


def exchange(x):
    return capacity.exchange(FOUND, x, label="x")


def lost(kept):
    return pd.DataFrame({"size": [500, 2000], "point": "best", "kept": [20.0, kept], "optimism": 5.0, "se": 1.0})


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda: capacity.frontier({}), "at least one series"),
        (lambda: capacity.frontier({"3%": FOUND.drop(columns="level_low")}), "lacks level_low"),
        (lambda: capacity.frontier({"3%": FOUND}, {"3%": FOUND[["overall"]]}), "lacks level"),
        (lambda: capacity.frontier({"3%": FOUND.iloc[:0]}), "lacks rows"),
        (lambda: capacity.frontier({str(k): FOUND for k in range(7)}), "7 groups"),
        (lambda: capacity.exchange(FOUND.drop(columns="overall"), pd.Series([1, 2]), label="x"), "lacks overall"),
        (lambda: capacity.optimism(FOUND), "lacks size, point"),
        (lambda: capacity.words(FOUND.iloc[:0]), "lacks rows"),
        (lambda: capacity.words(FOUND.to_xarray()), "must be a DataFrame, not a Dataset"),
        (lambda: capacity.words(FOUND.assign(level_low=[1.0, np.nan])), "is not defined for 1: leave these rows out"),
        (lambda: exchange(pd.Series([1])), r"x: one number a point is needed, 2 in all; 'x' has shape \(1,\)"),
        (lambda: exchange(pd.Series([1, 2, 3])), r"x: one number a point is needed, 2 in all"),
        (lambda: exchange(7), r"'x' has shape \(\) and numbers"),
        (lambda: exchange(["a", "b"]), r"'x' has shape \(2,\) and other things than numbers"),
        (lambda: exchange([1.0, np.nan]), "and other things than numbers"),
        (lambda: exchange(pd.Series([1, 2], index=[1, 0])), "x: its index is not that of the points"),
        (lambda: capacity.optimism(lost(0.0)), r"kept is not above 0, .* \(best, 2,000 people: 0.0\)"),
        (lambda: capacity.optimism(lost(-3.0)), r"\(best, 2,000 people: -3.0\); leave these rows out"),
        (lambda: capacity.optimism(lost(np.nan)), r"\(best, 2,000 people: nan\)"),
    ],
)
def test_tables_that_cannot_be_drawn(draw, said):
    with pytest.raises(AuditInputError, match=said):
        draw()
