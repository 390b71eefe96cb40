"""Figures of the chapter on thresholds show the numbers they are given."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.integrate import trapezoid

import auditlib as al
from auditlib.plots import operating, style, thresholds
from auditlib.simulate import RiskGroup
from tests.unit.frames import cohort, count
from tests.unit.test_intervals import bad

POINTS = [0.1, 0.2, 0.3, 0.4]
VALUES = {
    "estimate": [0.1, 0.0, np.nan, -0.1],
    "low": [0.05, -0.1, np.nan, -0.2],
    "high": [0.15, 0.1, np.nan, 0.05],
    "band_low": [0.0, -0.2, np.nan, -0.3],
    "band_high": [0.2, 0.2, np.nan, 0.1],
    "small": [False, False, True, True],
}
FOUND = xr.Dataset({name: ("threshold", held) for name, held in VALUES.items()}, {"threshold": POINTS})


def filled(collection):
    """Lowest and highest value filled at each threshold."""
    corners = np.concatenate([path.vertices for path in collection.get_paths()])
    return {x: (min(corners[corners[:, 0] == x, 1]), max(corners[corners[:, 0] == x, 1])) for x in set(corners[:, 0])}


def test_a_curve_shows_the_band_behind_the_pointwise_interval_and_leaves_gaps():
    ax = thresholds.curve(FOUND, marks={"τ": 0.15, "top $20": 0.25}, label="Gap in PPV")
    band, pointwise = ax.collections
    assert filled(band) == {0.1: (0.0, 0.2), 0.2: (-0.2, 0.2), 0.4: (-0.3, 0.1)}
    assert filled(pointwise) == {0.1: (0.05, 0.15), 0.2: (-0.1, 0.1), 0.4: (-0.2, 0.05)}
    assert (band.get_label(), pointwise.get_label()) == (thresholds.BAND, thresholds.POINTWISE)
    assert band.get_linestyle() != pointwise.get_linestyle()  # told apart where tints are not
    for held in (band, pointwise):
        assert mpl.colors.to_hex(held.get_edgecolor()[0]) == style.GROUPS[0]
    (line,) = [held for held in ax.lines if held.get_label() == "gap"]
    assert np.array_equal(line.get_ydata(), VALUES["estimate"], equal_nan=True)
    (few,) = [held for held in ax.lines if held.get_label() == "on fewer than 30 people"]
    assert [held.tolist() for held in few.get_data()] == [[0.4], [-0.1]]  # not where the gap is left out
    plain = thresholds.curve(FOUND.assign(small=FOUND.small & False))
    assert plain.get_legend_handles_labels()[1] == [thresholds.BAND, thresholds.POINTWISE, "gap"]
    assert [text.get_text() for text in ax.texts] == ["τ", r"top \$20"]
    assert [held.get_xdata()[0] for held in ax.lines[-2:]] == [0.15, 0.25]
    assert ax.texts[0].get_position()[1] != ax.texts[1].get_position()[1]
    assert ax.get_ylabel() == "Gap in PPV"


def test_runs_in_words():
    values = {"estimate": [0.1, 0.2, -0.1, -0.1, 0.0, -0.2], "band_low": [0.1, 0.1, -0.3, -0.3, -0.1, -0.4]}
    values |= {"band_high": [0.3, 0.3, -0.1, 0.1, 0.1, -0.1]}
    places = {"threshold": [0.005, 0.1, 0.125, 0.2, 0.3, 1.0]}
    found = xr.Dataset({name: ("threshold", held) for name, held in values.items()}, places)
    assert thresholds.words(found) == "from 0.5% to 10% and at 12.5% and at 100%"
    assert thresholds.words(found, "estimate", "−") == "from 12.5% to 20% and at 100%"
    assert thresholds.words(found, signs="+") == "from 0.5% to 10%"
    assert thresholds.words(found.isel(threshold=[4])) == "at no threshold"
    with bad("by must be one of"):
        thresholds.words(found, "interval")


def test_curves_have_a_panel_a_metric_with_the_marks_and_one_legend():
    low = (FOUND - 1).assign(small=FOUND.small)
    every = FOUND.assign(small=FOUND.small & False)
    figure = thresholds.curves({"Sensitivity": every, "PPV": low, "NPV": every}, marks={"τ": 0.15})
    assert [ax.get_title("left") for ax in figure.axes] == ["Sensitivity", "PPV", "NPV"]
    assert filled(figure.axes[1].collections[0])[0.1] == (-1.0, -0.8)
    assert all(ax.lines[-1].get_xdata()[0] == 0.15 for ax in figure.axes)
    words = [thresholds.BAND, thresholds.POINTWISE, "gap", "on fewer than 30 people"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == words
    assert [ax.xaxis.get_tick_params()["labelbottom"] for ax in figure.axes[1:]] == [True, True]
    assert figure.get_supxlabel() == "Threshold"
    assert figure.axes[0].yaxis.get_major_formatter()(-0.05, 0) == "−5"
    cut = thresholds.curves({"PPV": every, "NPV": every}, within={"PPV": 0.1}).axes
    assert [ax.get_title("left") for ax in cut] == ["PPV, cut at ±10", "NPV"]
    assert cut[0].get_ylim() == (-0.1, 0.1)
    assert cut[1].get_ylim() != (-0.1, 0.1)


def test_curves_that_cannot_be_drawn():
    with bad("must lie over 'threshold' alone"):
        thresholds.curve(FOUND.expand_dims(race=["A"]))
    with bad("band_low must lie over 'threshold' alone, but is absent"):
        thresholds.curve(FOUND.drop_vars("band_low"))
    with bad("small must lie over 'threshold' alone, but is absent"):
        thresholds.curve(FOUND.drop_vars("small"))
    for other in (FOUND.isel(threshold=[1, 0, 2, 3]), FOUND.isel(threshold=[])):
        with bad("a curve needs a rising coordinate threshold"):
            thresholds.curve(other)
    with bad("marks must be numbers"):
        thresholds.curve(FOUND, marks={"τ": "high"})
    with bad("at least one gap_curve is needed"):
        thresholds.curves({})
    with bad(r"give them by name, as {'a name': gap_curve\(…\)}, not a bare Dataset"):
        thresholds.curves(FOUND)
    with bad("band has no interval at each threshold to draw; gap_curve has both, from counts"):
        thresholds.curve(FOUND[["estimate", "low", "high"]].assign(c=2.5))
    for within in ({"NPV": 0.1}, {"PPV": 0.0}):
        with bad("within names panels of PPV and sizes above 0"):
            thresholds.curves({"PPV": FOUND}, within=within)


def test_rules_have_a_panel_a_metric():
    rows = [
        [metric, rule, group, value, value - 0.1, value + 0.1]
        for metric, start in {"PPV": 0.3, "Flagged": 0.5}.items()
        for rule in ("one threshold", "one flag rate")
        for group, value in {"A": start, "B": start + 0.2}.items()
    ]
    figure = thresholds.rules(pd.DataFrame(rows, columns=thresholds.RULES))
    assert [ax.get_xlabel() for ax in figure.axes] == ["PPV", "Flagged"]
    for ax, start in zip(figure.axes, (0.3, 0.5), strict=True):
        for line, value in zip(ax.lines, (start, start + 0.2), strict=True):
            assert line.get_xdata().tolist() == [value] * 2
        assert ax.get_xlim() == pytest.approx((start - 0.1 - 0.032, start + 0.3 + 0.032))
        lengths = [np.ptp([end[0] for end in bar]) for held in ax.collections for bar in held.get_segments()]
        assert lengths == pytest.approx([0.2] * 4)
        assert ax.get_legend() is None
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["one threshold", "one flag rate"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["A", "B"]
    below = pd.DataFrame([["Net benefit", "one threshold", "A", 0.1, -0.1, 0.3]], columns=thresholds.RULES)
    assert thresholds.rules(below).axes[0].lines[0].get_xdata() == [0, 0]  # zero is shown where it matters
    with bad("is not defined for one threshold"):
        thresholds.rules(below.assign(low=np.nan))
    with bad("the table lacks series"):
        thresholds.rules(pd.DataFrame(rows, columns=thresholds.RULES).drop(columns="series"))
    with bad("the table lacks rows"):
        thresholds.rules(pd.DataFrame([], columns=thresholds.RULES))


@pytest.mark.parametrize("threshold", [0.3, 0.31])  # on and off the edges of the bars
def test_filled_bars_are_the_people_flagged(threshold):
    counts = count(cohort(900), by="sex", thresholds=[0.31])
    figure = operating.operating_point(counts, "sex", threshold, bars=20)
    table = counts.at(threshold)
    for ax, level in zip(figure.axes, ("F", "M"), strict=False):
        held = table.sel(sex=level)
        n = int(held.to_array().sum())
        assert ax.get_title("left") == f"{level} (n = {n:,})"
        low_fp, low_tp, fp, tp = [area(patch) for patch in ax.patches[:4]]
        for found, cell in ((fp, "fp"), (tp, "tp"), (low_fp, "tn"), (low_tp, "fn")):
            assert found == pytest.approx(10_000 * int(held[cell]) / n)
        assert ax.lines[0].get_xdata()[0] == threshold
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["without the outcome", "with the outcome"]
    cut = operating.operating_point(counts, "sex", threshold, bars=20, upto=0.7, top=50)
    assert [(ax.get_xlim(), ax.get_ylim()) for ax in cut.axes[:-1]] == [((0, 0.7), (0, 50))] * 2
    rates = figure.axes[-1]
    assert [text.get_text() for text in rates.get_yticklabels()] == list(operating.RATES)
    shown = [line.get_xdata() for line in rates.lines[1:]]
    for found, level in zip(shown, ("F", "M"), strict=True):
        wanted = [float(metric(table).sel(sex=level)) for metric in operating.RATES.values()]
        assert found.tolist() == pytest.approx(wanted)


def test_the_rates_at_a_threshold_in_words():
    counts = count(cohort(900), by="sex")
    said = operating.words(counts, "sex", 0.3)
    assert said.startswith("Threshold 0.3; in per cent with 95% intervals: sensitivity F ")
    table = counts.at(0.3)
    for name, metric in operating.RATES.items():
        found = al.rate_interval(table, metric)
        texts = [
            f"{level} {100 * h.estimate:.0f} ({100 * h.low:.0f} to {100 * h.high:.0f})"
            for level, h in ((level, found.sel(sex=level)) for level in ("F", "M"))
        ]
        assert f"{name} {texts[0]} and {texts[1]}" in said
    nobody = operating.words(counts, "sex", 1.0)
    assert "PPV F undefined and M undefined" in nobody


def area(patch):
    """People per 10,000 in a stair: heights are for each hundredth of score."""
    held = patch.get_data()
    base = 0 if held.baseline is None else held.baseline
    return float(((held.values - base) * np.diff(held.edges)).sum() * 100)


def test_scores_that_cannot_be_drawn():
    counts = count(cohort(200), by="sex")
    with bad("0.333 is not an edge"):
        operating.operating_point(counts, "sex", 0.333)
    with bad("'age' is not a group here"):
        operating.operating_point(counts, "age", 0.3)
    with bad("bars must be a whole number"):
        operating.operating_point(counts, "sex", 0.3, bars=0)
    several = count(cohort(200), by="sex", score=["p", "fine"])
    for other in (count(cohort(200)), counts.cut([0.3]), counts.resample(2), several):
        for show in (operating.operating_point, operating.words):
            with bad("scores are drawn for one model by 'sex' alone"):
                show(other, "sex", 0.3)


def test_the_filled_part_of_a_risk_distribution_is_the_share_at_or_above_the_threshold():
    group = RiskGroup.at(0.15, (0.6,))
    mean, sd = group.predictor()
    figure = operating.risks({"A": (mean, sd), "B": (mean, 2 * sd)}, 0.15)
    ax = figure.axes[0]
    x, y = ax.lines[0].get_data()
    assert trapezoid(y, x) * 100 == pytest.approx(1, abs=0.01)
    assert trapezoid(x * y, x) * 100 == pytest.approx(0.15, abs=0.002)
    assert min(filled(ax.collections[0])) == 0.15
    assert [held.get_title("left") for held in figure.axes] == ["A", "B"]
    assert ax.lines[0].get_color() == style.GROUPS[0]
    assert ax.get_ylim()[1] > max(held.lines[0].get_ydata().max() for held in figure.axes)


@pytest.mark.parametrize(
    "bad_input", [({}, 0.2), ({"A": (0.0, 0.0)}, 0.2), ({"A": (0.0, 1.0)}, 1.0), ({"A": (0, 1)}, 0)]
)
def test_risks_that_cannot_be_drawn(bad_input):
    with bad("risks: give a group, standard deviations above 0, and a threshold between 0 and 1"):
        operating.risks(*bad_input)


def test_calibration_shows_shares_with_intervals_against_scores():
    table = al.confusion(
        tp=[[5, 40], [10, 80]], fp=[[0, 0]] * 2, fn=[[0, 0]] * 2, tn=[[45, 10], [90, 20]], sex=["F", "M"], score=[0, 1]
    )
    found = al.rate_interval(table, al.prevalence)
    ax = operating.calibration(found, "sex", [0.1, 0.8], mark=0.3)
    assert ax.lines[0].get_data()[1].tolist() == [0, 0.8]  # the diagonal
    for container, level in zip(ax.containers, ("F", "M"), strict=True):
        held = found.sel(sex=level)
        assert container.lines[0].get_ydata().tolist() == held.estimate.values.tolist() == [0.1, 0.8]
        (bars,) = container.lines[2]
        ends = np.array(bars.get_segments())[:, :, 1]
        assert np.allclose(ends, np.stack([held.low, held.high], axis=1))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["F (n = 100)", "M (n = 200)"]
    assert ax.lines[-1].get_xdata()[0] == 0.3
    plt.close()
    with bad("one score a bin is needed, but there are 1 for"):
        operating.calibration(found, "sex", [0.1])
    with bad("must lie over"):
        operating.calibration(found, "age", [0.1, 0.8])
