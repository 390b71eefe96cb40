"""Figures of prevalence show the people, the curve and the intervals they are given."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_hex
from scipy.special import logit

import auditlib as al
from auditlib.plots import common_prevalence as at
from auditlib.plots import prevalence as pictures
from auditlib.plots import style

TABLE = al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
LEVELS = [0.01, 0.1, 0.2, 0.5, 0.9]
GRID = xr.DataArray(LEVELS, {"prevalence": LEVELS}, ["prevalence"])
EXPECTED = al.standardize(TABLE, GRID)


def around(values, half=0.02):
    return xr.Dataset({"estimate": values, "low": values - half, "high": values + half})


VALUES = around(al.ppv(EXPECTED))
GAP = around(al.gap(al.ppv(EXPECTED), "Women", "Men"))
COUNTED = around(al.gap(al.ppv(TABLE), "Women", "Men"))


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def bad(said):
    return pytest.raises(al.AuditInputError, match=said)


def bars(ax):
    """(row, colour) to (start, length)."""
    return {
        (round(bar.get_y() + bar.get_height() / 2), to_hex(bar.get_facecolor())): (bar.get_x(), bar.get_width())
        for bar in ax.patches
    }


def labelled(ax, label):
    return [line for line in ax.lines if line.get_label() == label]


def test_people_are_of_a_thousand_and_the_flagged_stand_apart():
    figure = pictures.people(TABLE, "group")
    for ax, level in zip(figure.axes, ("Women", "Men"), strict=True):
        one = TABLE.sel(group=level)
        tp, fp, fn, tn = (float(one[cell]) for cell in ("tp", "fp", "fn", "tn"))
        n = (tp + fp + fn + tn) / 1000
        drawn = bars(ax)
        assert drawn[1, pictures.RIGHT] == pytest.approx((0, tp / n))
        assert drawn[1, style.GRID] == pytest.approx((tp / n, fn / n))
        assert drawn[0, pictures.WRONG] == pytest.approx((0, fp / n))
        assert drawn[0, style.GRID] == pytest.approx((fp / n, tn / n))
        assert drawn[-1, pictures.RIGHT] == pytest.approx((0, tp / n))
        assert drawn[-1, pictures.WRONG] == pytest.approx((tp / n, fp / n))
        assert ax.texts[0].get_text() == f"{round(tp / n)} of {round(tp / n) + round(fp / n)}"
        assert ax.get_title("left") == f"{level}: PPV {tp / (tp + fp):.0%}"


def test_people_with_intervals_in_any_order_of_groups():
    found = around(al.ppv(TABLE)).isel(group=[1, 0])
    figure = pictures.people(TABLE, "group", found)
    assert [ax.get_title("left") for ax in figure.axes] == [
        "Women: PPV 66.7% (64.7–68.7%)",
        "Men: PPV 57.1% (55.1–59.1%)",
    ]


def test_people_that_cannot_be_drawn():
    with bad("tp must lie over 'group' alone"):
        pictures.people(EXPECTED, "group")
    for table in (al.standardize(al.parse_confusion("A:0,5,45,0; B:20,10,60,10"), 0.1), TABLE * [0, 1]):
        with bad("leave it out"):
            pictures.people(table, "group")
    with bad("it lacks 'Men'"):
        pictures.people(TABLE, "group", around(al.ppv(TABLE)).isel(group=[0]))
    with bad("estimate must lie over 'group' alone"):
        pictures.people(TABLE, "group", GAP)


def test_the_words_stay_in_the_picture():
    few, many = (pictures.people(al.parse_confusion(f"A:{k},0,{1000 - k},0; B:1,1,1,1"), "group") for k in (740, 990))
    for figure, side in ((few, "left"), (many, "right")):
        figure.canvas.draw()
        ax = figure.axes[0]
        assert ax.texts[0].get_ha() == side
        assert ax.texts[0].get_window_extent().x1 <= ax.get_window_extent().x1


def test_a_name_with_dollars_is_no_formula():
    figure = pictures.people(TABLE.assign_coords(group=["$10k", "$20k"]), "group")
    assert figure.axes[0].get_title("left").startswith(r"\$10k")


def test_pairs_stand_in_two_panels_in_points():
    keys = ["sex", "age", "race"]
    gap = xr.DataArray([[0.07, -0.03], [-0.15, 0.22], [0.02, 0.01]], {"comparison": keys, "way": ["counted", "pooled"]})
    titles = {"sex": "men − women", "age": "young − old", "race": "A − B"}
    figure = pictures.pairs(around(gap).transpose("way", "comparison"), titles, lambda name: name == "age")
    upper, lower = figure.axes
    assert [t.get_text() for t in upper.get_yticklabels()] == ["men − women", "A − B"]
    assert [t.get_text() for t in lower.get_yticklabels()] == ["young − old"]
    for ax, part in ((upper, ["sex", "race"]), (lower, ["age"])):
        for way in ("counted", "pooled"):
            (dots,) = labelled(ax, way)
            np.testing.assert_allclose(dots.get_xdata(), 100 * gap.sel(comparison=part, way=way))
    assert [t.get_text() for t in upper.get_legend().get_texts()] == ["counted", "pooled"]
    assert lower.get_legend() is None
    alone = pictures.pairs(around(gap.sel(way=["pooled"])), titles, lambda name: name == "age")
    assert len(alone.axes[1].lines) == 2


def test_pairs_that_cannot_be_drawn():
    gap = around(xr.DataArray([[0.1], [0.2]], {"comparison": ["sex", "age"], "way": ["counted"]}))
    with bad("each comparison needs a title"):
        pictures.pairs(gap, {"sex": "men − women"}, lambda name: name == "age")
    for some in (True, False):
        with bad("yes to some and not to all"):
            pictures.pairs(gap, {"sex": "s", "age": "a"}, lambda name, some=some: some)
    with bad("must lie over 'comparison' and 'way' alone"):
        pictures.pairs(GAP, {}, bool)


def test_curves_lie_over_log_odds_with_their_band_and_marks():
    figure = pictures.curves({"sex": GAP, "again": GAP}, {"sex": {"pooled": 0.1, "a clinic": 0.5}})
    upper, lower = figure.axes
    line = upper.lines[1]
    np.testing.assert_allclose(line.get_xdata(), logit(LEVELS))
    np.testing.assert_allclose(line.get_ydata(), 100 * GAP["estimate"])
    assert upper.get_ylabel() == "PPV gap, in points"
    heights = upper.collections[0].get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(100 * float(GAP["low"].min()))
    assert heights.max() == pytest.approx(100 * float(GAP["high"].max()))
    for name, level in (("pooled", 0.1), ("a clinic", 0.5)):
        (dot,) = labelled(upper, name)
        at = GAP.sel(prevalence=level)
        assert (dot.get_xdata()[0], dot.get_ydata()[0]) == pytest.approx((logit(level), 100 * float(at["estimate"])))
        bar = upper.lines[list(upper.lines).index(dot) - 1]
        np.testing.assert_allclose(bar.get_ydata(), [100 * float(at["low"]), 100 * float(at["high"])])
    assert len(lower.lines) == 2  # zero and the curve
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["pooled", "a clinic"]
    figure.canvas.draw()
    ticks = dict(zip(lower.get_xticks(), (t.get_text() for t in lower.get_xticklabels()), strict=True))
    assert {round(1 / (1 + np.exp(-place)), 6): text for place, text in ticks.items()} == {
        0.001: "0.1%", 0.01: "1%", 0.05: "5%", 0.2: "20%", 0.5: "50%", 0.8: "80%", 0.95: "95%", 0.99: "99%",
    }  # fmt: skip
    assert not pictures.curves({"sex": GAP}).legends


def test_a_mark_looks_the_same_in_every_panel():
    marks = {"sex": {"pooled": 0.1, "the men's": 0.2, "a clinic": 0.5}, "again": {"a clinic": 0.5, "ours": 0.9}}
    figure = pictures.curves({"sex": GAP, "again": GAP}, marks)
    (first,), (second,) = (labelled(ax, "a clinic") for ax in figure.axes)
    assert (first.get_color(), first.get_marker()) == (second.get_color(), second.get_marker())
    assert not labelled(figure.axes[1], "pooled")
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert told == ["pooled", "the men's", "a clinic", "ours"]
    (ours,) = labelled(figure.axes[1], "ours")
    assert ours.get_color() not in [labelled(figure.axes[0], name)[0].get_color() for name in told[:3]]


def test_curves_that_cannot_be_drawn():
    with bad("at least one comparison"):
        pictures.curves({})
    with bad("must lie over 'prevalence' alone"):
        pictures.curves({"sex": VALUES})
    with bad("in rising order"):
        pictures.curves({"sex": GAP.isel(prevalence=[1, 0])})
    with bad("in rising order"):
        pictures.curves({"sex": GAP.assign_coords(prevalence=[0.0, 0.1, 0.2, 0.5, 0.9])})
    with bad("pooled = 0.11 is not in the grid"):
        pictures.curves({"sex": GAP}, {"sex": {"pooled": 0.11}})
    with bad("only 6 colours"):
        pictures.curves({"sex": GAP}, {"sex": {str(k): 0.1 for k in range(7)}})


def test_one_prevalence_shows_its_people_and_its_place_on_the_curve():
    figure = at.at_prevalence(EXPECTED, VALUES, GAP, COUNTED, "group", 0.2)
    women, men, below = figure.axes
    assert women.get_title("left") == "Women: PPV {:.1%} ({:.1%}–{:.1%})".format(
        *(float(VALUES[name].sel(prevalence=0.2, group="Women")) for name in ("estimate", "low", "high"))
    ).replace("%–", "–")
    one = EXPECTED.sel(prevalence=0.2, group="Men")
    people = sum(float(one[cell]) for cell in ("tp", "fp", "fn", "tn"))
    assert bars(men)[1, pictures.RIGHT][1] == pytest.approx(10_000 * float(one["tp"]) / people)
    assert men.get_xlabel() == "People, of 10,000"
    (here,) = labelled(below, "at one prevalence")
    assert here.get_xdata()[0] == pytest.approx(logit(0.2))
    assert here.get_ydata()[0] == pytest.approx(100 * float(GAP["estimate"].sel(prevalence=0.2)))
    (counted,) = labelled(below, "as counted")
    assert counted.get_ydata()[0] == pytest.approx(100 * float(COUNTED["estimate"]))
    ticks = dict(zip(below.get_xticks(), (t.get_text() for t in below.get_xticklabels()), strict=True))
    assert ticks[counted.get_xdata()[0]] == "each\nits own"
    assert counted.get_xdata()[0] < logit(LEVELS[0])
    assert ticks[logit(0.5)] == "50%"
    assert below.get_ylabel() == "Gap, in points"


def test_whole_people_and_their_gap_have_one_sign_where_prevalence_is_low():
    table = al.parse_confusion("Men:2079,7106,25766,441; Women:1118,6028,30876,393")
    low = xr.DataArray([0.002, 0.01], {"prevalence": [0.002, 0.01]}, ["prevalence"])
    expected = al.standardize(table, low)
    values, gap = around(al.ppv(expected)), around(al.gap(al.ppv(expected), "Men", "Women"))
    assert (gap["estimate"] < 0).all()
    for level in low.values:
        figure = at.at_prevalence(expected, values, gap, gap.isel(prevalence=0), "group", float(level))
        men, women = (ax.texts[0].get_text().replace(",", "").split(" of ") for ax in figure.axes[:2])
        assert int(men[0]) / int(men[1]) < int(women[0]) / int(women[1])


def test_frames_share_their_axes():
    limits = set()
    for level in LEVELS:
        axes = at.at_prevalence(EXPECTED, VALUES, GAP, COUNTED, "group", level).axes
        limits.add((axes[0].get_xlim(), axes[2].get_xlim(), axes[2].get_ylim()))
    assert len(limits) == 1


def test_one_prevalence_in_words():
    told = at.at_words(VALUES, GAP, "group", 0.2)
    women, men = (100 * float(VALUES["estimate"].sel(prevalence=0.2, group=group)) for group in ("Women", "Men"))
    assert f"PPV Women {women:.1f}% ({women - 2:.1f}–{women + 2:.1f}%), Men {men:.1f}%" in told
    assert f"gap +{women - men:.1f} (+{women - men - 2:.1f} to +{women - men + 2:.1f}) points" in told
    assert told.startswith("Both at a prevalence of 20%")


def test_one_prevalence_that_cannot_be_shown():
    with bad("0.3 is not in the grid"):
        at.at_prevalence(EXPECTED, VALUES, GAP, COUNTED, "group", 0.3)
    with bad("the gap as counted: estimate must be one value"):
        at.at_prevalence(EXPECTED, VALUES, GAP, GAP, "group", 0.2)
    with bad("of the prevalences of the table it lacks"):
        at.at_prevalence(EXPECTED, VALUES.isel(prevalence=[0, 2]), GAP, COUNTED, "group", 0.2)
    with bad("not defined at a prevalence of 0.2"):
        at.at_words(VALUES, GAP.where(GAP["prevalence"] != 0.2), "group", 0.2)
    with bad("must lie over 'group' and 'prevalence' alone"):
        at.at_words(GAP, GAP, "group", 0.2)
