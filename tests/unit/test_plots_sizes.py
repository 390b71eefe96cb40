"""Figures of the chapter on audit sizes show the numbers they are given."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import chi2

from auditlib.plots import sizes, style
from tests.unit.test_intervals import bad

AT = {"size": [1_000, 10_000]}


def over(*values):
    return xr.DataArray(list(values), AT, ["size"])


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_limits_of_a_cv_hold_95_of_100_normal_sds():
    low, high = sizes.cv_limits(over(0.05, 0.1), 30)
    assert low.values == pytest.approx(np.array([0.05, 0.1]) * (29 / chi2.ppf(0.975, 29)) ** 0.5)
    draws = np.random.default_rng(1).normal(1, 0.05, (4_000, 30))
    low, high = sizes.cv_limits(xr.DataArray(draws.std(axis=1, ddof=1)), 30)
    assert float(((low < 0.05) & (high > 0.05)).mean()) == pytest.approx(0.95, abs=0.015)


def test_reports_have_a_panel_a_cell_and_the_true_need_is_filled():
    shares = pd.DataFrame({1_000: [0.6, 0.0], 2_000: [0.4, 0.1], "never": [0.0, 0.9]}, ["DI, sex", "a $ b $"])
    figure = sizes.reported(shares, {"DI, sex": 1_000, "a $ b $": 2_000}, 100)
    first, second = figure.axes
    assert [bar.get_height() for bar in first.patches] == [0.6, 0.4, 0.0]
    filled = [bar.get_facecolor()[:3] != (1, 1, 1) for bar in first.patches]
    assert filled == [True, False, False]
    assert [bar.get_facecolor()[:3] != (1, 1, 1) for bar in second.patches] == [False, True, False]
    assert [text.get_text() for text in first.get_xticklabels()] == ["1k", "2k", "never"]
    assert second.get_title("left") == r"a \$ b \$"
    (bars,) = [held for held in first.containers if hasattr(held, "has_yerr")]
    ends = bars[2][0].get_segments()[0][:, 1]
    assert ends == pytest.approx(0.6 + np.array([-1, 1]) * 1.959964 * (0.24 / 100) ** 0.5)
    with bad("but the rows are"):
        sizes.reported(shares, {"DI, sex": 1_000}, 100)


def test_drift_shows_mean_middle_truth_and_limit():
    one = xr.Dataset({"mean": over(0.4, 0.6), "low": over(0.1, 0.5), "high": over(0.8, 0.7)})
    found = xr.concat([one, one / 2], pd.Index(["DI", "EOpp"], name="metric"))
    figure = sizes.drift(found, {"DI": 0.61, "EOpp": 0.05})
    first, second = figure.axes
    assert first.lines[0].get_ydata().tolist() == [0.4, 0.6]
    assert [line.get_ydata()[0] for line in first.lines[1:]] == [0.61, 0.8]  # truth, limit of DI
    assert [line.get_ydata()[0] for line in second.lines[1:]] == [0.05, 0.1]
    corners = first.collections[0].get_paths()[0].vertices
    assert corners[:, 1].max() == 0.8
    assert corners[:, 1].min() == 0.1
    assert len(figure.legends[0].get_texts()) == 4
    with bad("but the metrics are"):
        sizes.drift(found, {"DI": 0.61})


def test_flip_rates_are_told_apart_by_stroke_and_colour():
    ax = sizes.flips({"DI": over(0.4, 0.1), "PP": over(0.1, 0.3)}, marks={"5k": 5_000}, audits=100)
    limit, first, second, mark = ax.lines
    assert (limit.get_ydata()[0], mark.get_xdata()[0]) == (0.1, 5_000)
    assert first.get_ydata().tolist() == [0.4, 0.1]
    assert first.get_linestyle() != second.get_linestyle()
    assert first.get_color() != second.get_color()
    ends = ax.collections[0].get_segments()[0][:, 1]
    assert ends == pytest.approx(0.4 + np.array([-1, 1]) * 1.959964 * (0.24 / 100) ** 0.5)
    assert [text.get_text() for text in ax.texts] == ["5k"]
    strokes = {line.get_linestyle() for line in sizes.flips({k: over(0.1, 0.1) for k in "abcd"}).lines[1:]}
    assert ":" not in strokes, "dotted lines are limits"
    with bad("one to 4"):
        sizes.flips({k: over(0.1, 0.1) for k in "abcde"})
    with bad("'size'"):
        sizes.flips({"DI": xr.DataArray([0.1], dims="n")})


def test_a_plan_marks_where_it_settles_or_says_never():
    figure = sizes.plan(over(0.4, 0.05), 4_321, 2_000, between=(1_500, 9_876))
    ax = figure.axes[0]
    (mark,) = [line for line in ax.lines if line.get_marker() == "o"]
    assert (list(mark.get_xdata()), list(mark.get_ydata())) == ([4_321], [0.1])
    precise, told = ax.texts[-2:]
    assert told.get_text() == "settles at 4,300\n(1,500 to 9,900)"
    assert (told.get_position(), told.get_ha()) == ((4_321, pytest.approx(0.08)), "right")  # late on this axis
    assert precise.get_text() == "precise"
    assert precise.get_position()[0] > 2_000
    assert all(text.get_bbox_patch() for text in (precise, told)), "no line runs through the words"
    (dashed,) = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert dashed.get_xdata()[0] == 2_000
    assert dashed.get_color() == style.GROUPS[2]
    (bar,) = [line for line in ax.lines if line.get_linewidth() == 4]
    assert list(bar.get_xdata()) == [1_500, 9_876]
    assert not [line for line in ax.lines if line.get_marker() == ">"]
    never = sizes.plan(over(0.5, 0.5), float("nan"), 2_000, between=(3_000, np.inf)).axes[0]
    assert never.texts[-1].get_text() == "never settles\n(3,000 to never)"
    early = sizes.plan(over(0.4, 0.05), 1_500, 2_000, between=(1_200, 1_800)).axes[0].texts[-1]
    assert early.get_ha() == "left"
    assert early.get_position() == (pytest.approx(1.15 * 1_500), pytest.approx(0.12))
    assert not [line for line in never.lines if line.get_marker() == "o"]
    (arrow,) = [line for line in never.lines if line.get_marker() == ">"]
    assert list(arrow.get_xdata()) == [10_000]  # the end of the axis


def test_a_plan_in_words_has_its_range_and_the_people_it_rests_on():
    said = sizes.plan_words(5_021, 1_234, ill=0.01, between=(2_345, np.inf))
    assert "from 5,000 patients on (were the gap 2 points off: 2,300 to never), of whom 50 are" in said
    assert said.endswith("1,200 patients make the gap precise.")


def test_sizes_have_the_digits_of_a_plan():
    assert [sizes.about(n) for n in (30, 999, 849_637, 999_999, 4.4e7)] == [
        "30",
        "1,000",
        "850,000",
        "1 million",
        "44 million",
    ]
    assert [sizes.short(n) for n in (25_000, np.nan, np.inf)] == ["25k", "–", "–"]
    assert sizes.about(np.nan) == sizes.about(np.inf) == "never"


def test_a_table_of_plans_has_ranges_and_says_where_there_is_no_plan():
    rows = {"settled": [462.0, 849_637.0], "q2.5": [371.0, 100.0], "q97.5": [604.0, np.inf], "p_pass": [1.0, 0.27]}
    cells = pd.MultiIndex.from_tuples([("EOpp", "sex"), ("EOpp", "race")], names=["metric", "attribute"])
    words = sizes.plan_table(pd.DataFrame(rows, cells))
    assert words.loc["EOpp"].to_dict() == {
        "sex": "460 (370–600)",
        "race": "too\u00a0close (100–never)",
    }
    with bad("q97.5"):
        sizes.plan_table(pd.DataFrame({"settled": [1.0], "q2.5": [1.0]}))
