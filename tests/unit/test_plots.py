"""Figures show the numbers they are given, with their intervals."""

import dataclasses
import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import auditlib as al
from auditlib.plots import gaps, scores, style


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


TABLE = al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25")


def spans(ax):
    """Ends of the horizontal bars drawn as lines, from the top."""
    lines = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2 and line.get_linestyle() == "-"]
    return [tuple(map(float, ends)) for ends in lines]


def test_rates_draws_each_interval_and_says_n():
    found = al.rate_interval(TABLE)
    ax = gaps.rates(found, "group")
    expected = np.stack([found.low.values, found.high.values], axis=1)
    assert np.array(spans(ax)) == pytest.approx(expected)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["Women (n = 110)", "Men (n = 145)"]


def test_forest_puts_the_second_series_under_the_first():
    found = al.gap_interval(TABLE, "Women", "Men")
    both = pd.concat([gaps.row("gap", found, "one"), gaps.row("gap", found, "two")])
    ax = gaps.forest(both)
    segments = [part for collection in ax.collections for part in collection.get_segments()]
    assert [tuple(part[:, 0]) for part in segments] == [(float(found.low), float(found.high))] * 2
    heights = [part[0, 1] for part in segments]
    assert heights[0] > heights[1]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]


def test_forest_shows_an_undefined_gap_as_a_name_without_a_bar():
    undefined = gaps.row("A", al.gap_interval(al.parse_confusion("A:0,5,45,0; B:20,10,60,10"), "A", "B"))
    ax = gaps.forest(undefined)
    assert ax.get_yticklabels()[0].get_text() == "A"
    assert not any(len(part) for part in ax.collections[0].get_segments())


def test_replicates_counts_the_defined_ones_and_draws_each_interval():
    values = xr.DataArray([np.nan, *np.linspace(0.0, 1.0, 100)], dims="replicate")
    found = al.interval(values)
    other = xr.Dataset({"low": 0.2, "high": 0.4})
    ax = gaps.replicates(values, {"percentile": found, "other": other}, 0.5)
    assert sum(bar.get_height() for bar in ax.patches) == 100
    assert spans(ax)[0] == pytest.approx((float(found.low), float(found.high)))
    assert (0.2, 0.4) in spans(ax)
    assert min(ax.get_yticks()) == 0


def test_coverage_bars_are_monte_carlo_limits():
    table = pd.DataFrame({"x": [12, 25], "coverage": [0.9, 0.95], "audits": [1000, 1000], "series": "ours"})
    ax = gaps.coverage(table)
    segments = ax.collections[0].get_segments()
    half = [1.96 * np.sqrt(p * (1 - p) / 1000) for p in (0.9, 0.95)]
    assert [float(s[1, 1] - s[0, 1]) / 2 for s in segments] == pytest.approx(half)


def test_distributions_fill_what_is_flagged():
    frame = pd.DataFrame({"y": [0, 1, 0, 1], "risk": [0.1, 0.7, 0.3, 0.9], "sex": list("FFMM")})
    counts = al.count(frame, label="y", score="risk", by="sex", thresholds=[0.512])
    figure = scores.distributions(counts, "sex", threshold=0.512, bins=10)
    assert [ax.get_title() or ax.get_title("left") for ax in figure.axes] == ["F", "M"]
    filled = [patch.get_data() for patch in figure.axes[0].patches if patch.get_fill()]
    areas = [float((data.values * np.diff(data.edges)).sum() * 100) for data in filled]
    assert areas == pytest.approx(
        [0.0, 1.0]
    )  # of those without the outcome, and with it: the area is the share flagged
    assert 0.512 in filled[0].edges


def test_squares_have_the_sensitivity_as_height():
    figure = scores.squares(TABLE, "group")
    heights = [ax.patches[0].get_height() for ax in figure.axes]
    assert heights == pytest.approx([80 / 110, 120 / 145])


def test_more_groups_than_colours_still_show():
    many = al.confusion(tp=[5] * 9, fp=[5] * 9, fn=[5] * 9, tn=[5] * 9, group=[f"g{k}" for k in range(9)])
    assert len(spans(gaps.rates(al.rate_interval(many), "group"))) == 9
    with pytest.raises(al.AuditInputError, match="9 groups"):
        style.group_colours([f"g{k}" for k in range(9)])


def shown(figure):
    """Every text of a figure as the SVG says it."""
    root = ET.fromstring(style.svg_text(figure))
    return ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("}text")]


ODD = ["Income $10k-$20k", "odd \\$ name", "x: #0068b0", "half \ud800 a pair", "bell \x07"]
SAID = [*ODD[:3], "half � a pair", "bell �"]
CELLS = {"tp": [5] * 5, "fp": [4] * 5, "fn": [3] * 5, "tn": [2] * 5}


def odd_counts():
    frame = pd.DataFrame({"y": [0, 1] * 10, "p": [0.2, 0.7] * 10, "g": np.repeat(SAID, 4)})
    counts = al.count(frame, label="y", score="p", by="g")
    return dataclasses.replace(counts, groups={"g": tuple(ODD)})


def odd_series(**columns):
    return pd.DataFrame({"name": "a", "series": ODD, "estimate": 0.5, "low": 0.4, "high": 0.6, **columns})


@pytest.mark.parametrize(
    "draw",
    [
        lambda: gaps.rates(al.rate_interval(xr.Dataset({k: ("g", v) for k, v in CELLS.items()}, {"g": ODD})), "g"),
        lambda: gaps.forest(odd_series()),
        lambda: gaps.forest(odd_series(name=ODD, series="")),
        lambda: gaps.coverage(odd_series(x=12, coverage=0.9, audits=1000)),
        lambda: gaps.replicates(np.linspace(0, 1, 50), {name: {"low": 0.1, "high": 0.9} for name in ODD}),
        lambda: scores.distributions(odd_counts(), "g"),
        lambda: scores.squares(xr.Dataset({k: ("g", v) for k, v in CELLS.items()}, {"g": ODD}), "g"),
    ],
    ids=["rates", "forest series", "forest names", "coverage", "replicates", "distributions", "squares"],
)
def test_names_are_shown_as_they_are(draw):
    drawn = draw()
    texts = shown(getattr(drawn, "figure", None) or drawn)
    for name in SAID:
        assert any(text.startswith(name) for text in texts), name


FRAME = pd.DataFrame(
    {"y": [0, 1, 0, 1], "p": [0.1, 0.7, 0.3, 0.9], "q": [0.2] * 4, "g": list("FFMM"), "h": list("ABAB")}
)
COUNTS = al.count(FRAME, label="y", score="p", by="g", thresholds=[0.512])
LIMITS = ("estimate", "low", "high")
SEVEN = [f"s{k}" for k in range(7)]


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: scores.distributions(COUNTS.cut(0.5), "g"), "before .cut"),
        (lambda: scores.distributions(COUNTS, "g", bins=7), "bins = 7: the counts have 200"),
        (lambda: scores.distributions(COUNTS, "g", bins=400), "bins = 400"),
        (lambda: scores.distributions(COUNTS, "g", bins=0), "bins must be a whole number"),
        (lambda: scores.distributions(COUNTS, "g", bins=2.5), "bins must be a whole number"),
        (lambda: scores.distributions(COUNTS, "g", threshold=0.1234), "0.1234 is not an edge"),
        (lambda: scores.distributions(COUNTS, "g", threshold="x"), "threshold must be a number"),
        (lambda: scores.distributions(COUNTS, "sex"), "'sex' is not a group"),
        (lambda: scores.distributions(COUNTS.resample(3, seed=1), "g"), "not for replicates"),
        (lambda: scores.distributions(al.count(FRAME, label="y", score="p", by=["g", "h"]), "g"), "groups g, h"),
        (lambda: scores.distributions(al.count(FRAME, label="y", score=["p", "q"], by="g"), "g"), "2 model"),
        (lambda: scores.squares(COUNTS.at([0.3, 0.5]), "g"), "tp must lie over 'g' alone"),
        (lambda: scores.squares(TABLE, "sex"), "tp must lie over 'sex' alone"),
        (lambda: gaps.rates(al.rate_interval(TABLE), "sex"), "estimate must lie over 'sex' alone"),
        (lambda: gaps.rates(xr.Dataset({"estimate": ("g", [0.5])}), "g"), "low must lie over 'g' alone, but is absent"),
        (lambda: gaps.forest(pd.DataFrame({"name": "a", "series": SEVEN, **dict.fromkeys(LIMITS, 0)})), "7 groups"),
        (lambda: gaps.forest(pd.DataFrame({"name": "a", "series": SEVEN, "estimate": 0})), "lacks low, high"),
        (lambda: gaps.words(al.rate_interval(TABLE)), "the interval: estimate must be one value, but lies over g"),
        (lambda: gaps.row("a", al.rate_interval(TABLE)), "the interval of 'a': estimate must be one value"),
        (lambda: gaps.coverage(pd.DataFrame({"x": 1, "series": SEVEN})), "7 groups"),
        (lambda: gaps.replicates(np.zeros(5), dict.fromkeys(SEVEN)), "7 groups"),
        (lambda: gaps.replicates(np.zeros(5), {}), "an interval are needed"),
        (lambda: gaps.replicates(np.zeros((5, 2)), {"a": None}), r"got \(5, 2\)"),
    ],
)
def test_what_cannot_be_drawn_is_named(draw, words):
    with pytest.raises(al.AuditInputError, match=words):
        draw()
    assert plt.get_fignums() == []  # no empty figure for the notebook to show


def test_distributions_of_distinct_scores_take_any_bars():
    distinct = al.count(FRAME, label="y", score="p", by="g", bins=None)
    assert len(scores.distributions(distinct, "g", threshold=0.7, bins=7).axes) == 2


def test_squares_of_an_empty_group():
    figure = scores.squares(al.confusion(tp=[0, 5], fp=[0, 1], fn=[0, 2], tn=[0, 3], group=["A", "B"]), "group")
    assert [ax.get_title("left") or ax.get_title() for ax in figure.axes] == ["A (n = 0)", "B (n = 11)"]
    assert [len(ax.patches) for ax in figure.axes] == [0, 4]


def test_redrawn_of_few_replicates():
    values = xr.DataArray(np.linspace(-0.1, 0.1, 11), dims="replicate")
    figure = gaps.redrawn(values, al.interval(values), 0.0, first=30)
    assert len(figure.axes[0].lines[0].get_xdata()) == 11
