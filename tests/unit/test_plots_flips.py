"""Figures of the chapter on flip rates show the numbers they are given."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.patches import Rectangle
from scipy.stats import norm

from auditlib import studies
from auditlib.plots import flip_audits, flips, style
from tests.studies.flip_truth import theory
from tests.unit.test_intervals import bad

HELD = xr.DataArray([*[0.06] * 30, *[0.10] * 20, *[0.14] * 50, np.nan], dims="replicate", name="SPD")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_replicates_are_divided_at_the_limit_which_itself_passes():
    (ax,) = flips.replicates({"by $sex": (HELD, 0.08)}).axes
    passed, failed = ax.patches
    assert [held.get_data().values.sum() for held in (passed, failed)] == [50, 50]
    edges = passed.get_data().edges
    assert np.isclose(edges, 0.10).any()  # no bar straddles the limit
    assert edges[:-1][passed.get_data().values > 0].max() <= 0.10 + 1e-9
    assert edges[:-1][failed.get_data().values > 0].min() >= 0.10 - 1e-9
    limit, interval, dot = ax.lines
    assert limit.get_xdata() == [0.10, 0.10]
    assert np.asarray(interval.get_xdata()).tolist() == np.nanquantile(HELD, [0.025, 0.975]).tolist()
    assert list(dot.get_xdata()) == [0.08]
    assert (ax.get_title("left"), ax.get_xlabel()) == (r"by \$sex", "SPD")


def test_a_limit_far_from_all_replicates_is_in_the_picture():
    for name, values in {"DI": [0.3, 0.4], "SPD": [0.3, 0.4]}.items():
        held = xr.DataArray(values, dims="replicate", name=name)
        (ax,) = flips.replicates({"far": (held, 0.35)}).axes
        passed, failed = (held.get_data().values.sum() for held in ax.patches)
        assert (passed, failed) == (0, 2)
        low, high = ax.get_xlim()
        assert low <= ax.lines[0].get_xdata()[0] <= high


def test_replicates_that_cannot_be_drawn():
    with bad("at least one title"):
        flips.replicates({})
    for wrong in (HELD.rename("sex"), HELD.expand_dims(site=["A"]), HELD.values):
        with bad("by sex: replicates of one metric"):
            flips.replicates({"by sex": (wrong, 0.1)})
    with bad("SPD is undefined in every replicate"):
        flips.replicates({"by sex": (HELD[-1:], 0.1)})


def heated():
    over = {"attribute": ["race", "sex", "age"], "model": ["xgboost", "other"], "metric": ["DI", "SPD", "TI"]}
    rates = np.zeros((3, 2, 3))
    rates[0, 0] = [0.0, 0.1, 0.101]
    rates[0, 1] = [0.25, 0.5, np.nan]
    said = np.full((3, 2, 3), "pass", dtype=object)
    said[0] = [["fail", "pass", "fail"], ["pass", "tie", "undefined"]]
    vfr = xr.DataArray(rates, over)
    return xr.Dataset({"vfr": vfr, "dominant": vfr.copy(data=said)})


def test_the_heat_map_shades_flips_marks_fails_and_crosses_out_what_is_undefined():
    figure = flips.heat(heated().transpose("metric", "model", "attribute"))
    first, *others = figure.axes
    boxes = [held for held in first.patches if isinstance(held, Rectangle)]
    assert [box.get_facecolor()[3] for box in boxes] == [0.0, 0.25, 0.55, 0.55, 1.0, 0.0]
    shade = mpl.colors.to_rgb(flips.SHADE)
    assert all(box.get_facecolor()[:3] == shade for box in boxes)
    marks = [(line.get_marker(), line.get_xdata()[0], line.get_ydata()[0]) for line in first.lines]
    assert marks == [("o", 0, 0), ("o", 2, 0), ("x", 2, 1)]
    assert [text.get_text() for text in first.get_yticklabels()] == ["XGBoost", "other"]
    assert [text.get_text() for text in others[1].get_xticklabels()] == ["DI", "SPD", "TI"]
    assert first.get_ylim() == (1.5, -0.5)  # the first model on top
    assert [ax.get_title("left") for ax in figure.axes if ax.get_visible()] == ["race", "sex", "age"]
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["VFR 0", "VFR to .10", "VFR to .25", "VFR to .50", "most fail"]
    with bad("vfr must lie over 'model' and 'metric' and 'attribute' alone"):
        flips.heat(heated().expand_dims(site=["A"]))


def test_the_truth_has_a_panel_a_kind_and_breaks_at_the_limit():
    rows = [
        {"kind": kind, "metric": "EOpp", "groups": 5, "n": 353, "audits": 100, "truth": true, "true_flip": wrong}
        | {"disagree": 0.3, "mean_vfr": 0.2, "mean_replication": 0.25}
        for kind in ("near", "range")
        for true, wrong in ((0.12, 0.1), (0.10, 0.8), (0.05, 0.5), (0.05, 0.5))
    ]
    figure = flips.truth(pd.DataFrame(rows))
    assert [ax.get_title("left") for ax in figure.axes] == ["EOpp, 5 groups, each 353 with the outcome"] * 2
    spd = flips.truth(pd.DataFrame(rows).assign(metric="SPD", groups=2, n=2_000))
    assert spd.axes[0].get_title("left") == "SPD, 2 groups, each 2,000 people"
    ax, other = figure.axes
    assert not ax.get_shared_x_axes().joined(ax, other)  # one kind's truths do not squeeze another's
    lines = [held.lines[0] for held in ax.containers]
    drawn = [held.get_xydata().tolist() for held in lines]
    assert drawn[:2] == [[[0.05, 0.5], [0.10, 0.8]], [[0.12, 0.1]]]  # rising, one a truth, not joined over the limit
    assert drawn[3] == [[0.05, 0.2], [0.10, 0.2], [0.12, 0.2]]
    (bars,) = ax.containers[0].lines[2]
    half = 1.96 * (0.5 * 0.5 / 100) ** 0.5
    assert bars.get_segments()[0][:, 1].tolist() == pytest.approx([0.5 - half, 0.5 + half])
    (bars,) = ax.containers[2].lines[2]
    assert np.ptp(bars.get_segments()[0][:, 1]) == 0  # at one half disagreement has no slope
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [label for _, label, *_ in flips.LINES]
    with bad("the table lacks truth"):
        flips.truth(pd.DataFrame(rows).drop(columns="truth"))


def test_formulas_stand_against_the_flip_rate():
    table = pd.DataFrame({"vfr": [0.1, 0.4], "closed": [0.11, 0.41], "plain": [0.3, 0.2], "attribute": ["race", "age"]})
    figure = flips.formulas(table)
    for ax, name in zip(figure.axes, ("closed", "plain"), strict=True):
        assert [line.get_xydata().tolist() for line in ax.lines[1:]] == [
            [[x, y]] for x, y in zip(table["vfr"], table[name], strict=True)
        ]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["race", "age"]
    zeros = table.assign(attribute=["race", "sex"], vfr=[0.1, 0.0], closed=[0.1, 1e-7], plain=[0.2, 1e-7])
    legend = flips.formulas(zeros).legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["race", "sex (all 0)"]
    with bad("the table lacks plain"):
        flips.formulas(table.drop(columns="plain"))


@pytest.mark.parametrize("size", [10_000, 50_000])
def test_chances_are_those_of_normal_theory_where_groups_differ(size):
    for distance in (-2, 0, 1, 2):
        found = flip_audits.chances(distance, size)
        margin = abs(distance / 100) / found["se"]
        expected = theory(margin)
        for name, known in {"wrong": "true_flip", "disagree": "disagree", "vfr": "vfr"}.items():
            assert found[name] == pytest.approx(expected[f"theory_{known}"], abs=2e-4)
        stable = norm.sf(norm.isf(0.10) - margin) + norm.cdf(-norm.isf(0.10) - margin)
        assert found["stable"] == pytest.approx(stable, abs=4e-3)  # a step, on a grid
    lower = 0.70 - 0.12
    assert flip_audits.chances(2, size)["se"] == pytest.approx(((0.21 + lower * (1 - lower)) / (size / 8)) ** 0.5)


def test_chances_of_simulated_audits():
    rng, n = np.random.default_rng(5), 1_000 // 8
    found = abs(rng.binomial(n, 0.70, 100_000) - rng.binomial(n, 0.64, 100_000)) / n
    assert flip_audits.chances(-4, 1_000)["wrong"] == pytest.approx(
        (found > 0.1 + 1e-9).mean(), abs=0.03
    )  # rates are k/125


def test_fresh_audits_of_known_rates():
    """Two groups: against normal theory; five tied groups: against the study of 2,000 other audits."""
    for low, side in ((0.58, 2), (0.62, -2)):
        found = flip_audits.fresh([0.70, low], 1_250, audits=4_000, replicates=200, seed=3)
        expected = flip_audits.chances(side, 10_000)
        assert found["wrong"].mean() == pytest.approx(expected["wrong"], abs=0.03)
        assert found["vfr"].mean() == pytest.approx(expected["vfr"], abs=0.02)
        assert found["estimate"].mean() == pytest.approx(0.70 - low, abs=0.002)
    study = studies.study_table("flip_truth").query("kind == 'range' and truth == 0").iloc[0]
    found = flip_audits.fresh([0.70] * 5, 353)
    assert found["wrong"].mean() == pytest.approx(study["true_flip"], abs=4 * 2**0.5 * study["true_flip_se"])
    assert found["vfr"].mean() == pytest.approx(study["mean_vfr"], abs=0.02)
    assert (found["replicates"] > found["estimate"]).mean() > 0.9
    one = flip_audits.fresh([0.70, 0.65], 20, audits=1, replicates=1, seed=9)
    assert one["vfr"].tolist() == [0.0]
    assert one["replicates"].between(0, 1).all()


def test_fresh_audits_meet_their_limit_exactly():
    found = flip_audits.fresh([1.0, 0.9], 10, audits=500, replicates=3)  # one of ten too few is .1, and passes
    at_limit = np.isclose(found["estimate"], 0.1)
    assert at_limit.any()
    assert not found["wrong"][at_limit].any()
    for wrong in ([0.7], [[0.7, 0.6]], [0.7, 1.1], [0.7, float("nan")]):
        with bad("two shares or more"):
            flip_audits.fresh(wrong, 10)
    for name in ("audits", "replicates"):
        with bad(name):
            flip_audits.fresh([0.7, 0.6], 10, **{name: 0})


def test_the_explorer_fills_what_is_wrong():
    for distance, wrong in ((2, "pass: wrong"), (0, "fail: wrong")):
        ax, below = flip_audits.audits(distance, 5000).axes
        labels = [held.get_label() for held in ax.collections]
        strong = [held.get_facecolor()[0][3] for held in ax.collections]
        assert labels[int(np.argmax(strong))] == wrong
        found = flip_audits.chances(distance, 5000)
        assert [bar.get_width() for bar in below.patches] == [found[name] for name in flip_audits.BARS]
        texts = [text.get_text() for text in below.texts]
        assert [f"{found[name]:.3f}" for name in flip_audits.BARS] == texts[1::2]
    said = flip_audits.words(2, 5000)
    assert "limit 10, 5,000 people" in said
    assert f"{flip_audits.chances(2, 5000)['wrong']:.3f}" in said


def test_audits_that_cannot_be_asked_for():
    for distance in (-11, 51, True, "2", float("nan")):
        with bad("distance must lie between"):
            flip_audits.chances(distance, 5000)
    with bad("size"):
        flip_audits.chances(2, 0)


def test_models_have_names_that_fit():
    assert max(map(len, flips.MODELS.values())) <= 14
    assert {flips.PASS, flips.FAIL, flips.SHADE} <= {colour.light for colour in style.PALETTE.values()}
