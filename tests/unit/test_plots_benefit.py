"""Figures of benefit show the numbers they are given, with their intervals."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import auditlib as al
from auditlib.plots import benefit, gaps, style


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


TABLE = al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
STEPS = [0.1, 0.2, 0.3, 0.4]


@pytest.fixture(scope="module")
def curves():
    rng = np.random.default_rng(3)
    risk = rng.beta(1, 5, 4000)
    frame = pd.DataFrame({"y": rng.random(4000) < risk, "risk": risk, "g": np.repeat(list("ABCD"), 1000)})
    counts = al.count(frame, label="y", score="risk", by="g").cut(STEPS)
    again = counts.resample(200, strata="g", seed=4).at(STEPS)
    return al.decision_curve(counts.at(STEPS)), al.decision_curve(again)


def segments(ax):
    return [part for held in ax.collections if hasattr(held, "get_segments") for part in held.get_segments()]


def test_weighed_blocks_are_as_wide_as_shares_and_as_high_as_worth():
    figure = benefit.weighed(TABLE, 0.15, 0.58, "group")
    w = 0.15 / 0.85
    for ax, (tp, fp, fn, tn) in zip(figure.axes, [(80, 40, 30, 800), (120, 90, 25, 700)], strict=True):
        n, bars = tp + fp + fn + tn, ax.patches
        filled = bars[1::2]
        assert [bar.get_width() for bar in filled] == pytest.approx([100 * x / n for x in (tp, fn, fp, tn)])
        assert [bar.get_height() for bar in filled] == pytest.approx([0.58, 0, 1 - 0.58 * w, 1])
        assert [bar.get_height() for bar in bars[::2]] == [1] * 4
        area = sum(bar.get_width() * bar.get_height() for bar in filled) / 100
        assert area == pytest.approx(1 - (tp + fn) / n + 0.58 * (tp - w * fp) / n)


def test_weighed_says_the_filled_area_with_its_interval():
    figure = benefit.weighed(TABLE, 0.15, 0.58, "group")
    found = 10_000 * al.benefit_interval(TABLE, 0.15, 0.58).sel(group="Men")
    estimate, low, high = (round(float(found[key])) for key in ("estimate", "low", "high"))
    assert figure.axes[1].get_title("left") == f"Men: {estimate:,} ({low:,} to {high:,}) of 10,000"


def test_weighed_fills_untreated_cases_where_they_keep_something():
    figure = benefit.weighed(TABLE, 0.15, 0.58, "group", burden=0.4)
    heights = [bar.get_height() for bar in figure.axes[0].patches[1::2]]
    assert heights == pytest.approx([1 - 0.4 * 0.42, 0.6, 1 - 0.4 * 0.58 * 0.15 / 0.85, 1])


def test_weighed_takes_a_random_share():
    stacked = xr.concat([al.treat(TABLE, 0.5), TABLE], pd.Index(["lot", "model"], name="policy"))
    figure = benefit.weighed(stacked.sel(group="Men", drop=True), 0.15, 0.58, "policy")
    assert figure.axes[0].patches[1].get_width() == pytest.approx(100 * 72.5 / 935)


def test_weighed_wants_one_dim():
    with pytest.raises(al.AuditInputError, match="group"):
        benefit.weighed(TABLE.isel(group=0), 0.15, 0.58, "group")


def test_levels_draws_every_series_with_its_interval_and_n():
    model = al.benefit_interval(TABLE, 0.15, 0.58)
    nobody = al.benefit_interval(al.treat(TABLE, "none"), 0.15, 0.58)
    ax = benefit.levels({"nobody": nobody, "model": model}, "group")
    ends = [tuple(part[:, 0]) for part in segments(ax)]
    want = [(10_000 * float(held.low[k]), 10_000 * float(held.high[k])) for held in (nobody, model) for k in (0, 1)]
    assert ends == [pytest.approx(pair) for pair in want]
    assert [line.get_xdata() for line in ax.lines] == [
        pytest.approx(10_000 * held.estimate.values) for held in (nobody, model)
    ]
    heights = [part[0, 1] for part in segments(ax)]
    assert heights[0] > heights[2] > heights[1] > heights[3]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["Women (n = 950)", "Men (n = 935)"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["nobody", "model"]


def test_levels_goes_by_the_names_of_groups_not_by_their_order():
    model = al.benefit_interval(TABLE, 0.15, 0.58)
    ax = benefit.levels({"one": model, "turned": model.isel(group=[1, 0])}, "group")
    assert ax.lines[0].get_xdata() == pytest.approx(ax.lines[1].get_xdata())


def test_levels_refuses_no_series_too_many_and_other_dims():
    found = al.benefit_interval(TABLE, 0.15, 0.58)
    with pytest.raises(al.AuditInputError, match="at least one"):
        benefit.levels({}, "group")
    with pytest.raises(al.AuditInputError, match="7 groups"):
        benefit.levels({str(k): found for k in range(7)}, "group")
    with pytest.raises(al.AuditInputError, match="lie over"):
        benefit.levels({"model": found}, "sex")


def test_curves_draw_three_policies_and_two_bands_a_group(curves):
    curve, again = curves
    figure = benefit.curves(curve, again, "g")
    assert [ax.get_title("left") for ax in figure.axes] == list("ABCD")
    for ax, group in zip(figure.axes, "ABCD", strict=True):
        nobody, everybody, model = ax.lines
        assert list(nobody.get_ydata()) == [0, 0]
        assert everybody.get_ydata() == pytest.approx(curve["all"].sel(g=group).values)
        assert model.get_ydata() == pytest.approx(curve["net_benefit"].sel(g=group).values)
        for band, name in zip(ax.collections, ("all", "net_benefit"), strict=True):
            limits = al.interval(again[name].sel(g=group))
            corners = band.get_paths()[0].vertices[:, 1]
            assert corners.min() == pytest.approx(float(limits.low.min()))
            assert corners.max() == pytest.approx(float(limits.high.max()))


def test_curves_of_an_unknown_dim_are_refused(curves):
    with pytest.raises(al.AuditInputError, match="sex"):
        benefit.curves(*curves, "sex")


def test_splits_share_one_axis_and_one_legend():
    one = pd.DataFrame({
        "name": ["A", "B", "A", "B"], "series": ["prevalence"] * 2 + ["model"] * 2,
        "estimate": [-300.0, -100.0, 10.0, 40.0], "low": [-350.0, -160.0, -15.0, 10.0],
        "high": [-250.0, -40.0, 35.0, 70.0],
    })  # fmt: skip
    figure = benefit.splits({"first": one, "second": one.assign(estimate=one["estimate"] / 2)})
    upper, lower = figure.axes
    assert upper.get_xlim() == lower.get_xlim()
    assert [tuple(part[:, 0]) for part in segments(upper)] == list(zip(one["low"], one["high"], strict=True))
    drawn = [value for line in lower.lines[1:] for value in line.get_xdata()]
    assert drawn == pytest.approx((one["estimate"] / 2).tolist())
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["prevalence", "model"]
    assert [ax.get_legend() for ax in figure.axes] == [None, None]
    with pytest.raises(al.AuditInputError, match="at least one"):
        benefit.splits({})


def test_gains_are_paired_differences_times_the_effect(curves):
    curve, again = curves
    table = benefit.gain_table(curve, again, 0.58, "g", burden=0.5)
    row = table.query("threshold == 0.2 and name == 'C' and series == 'over treating everybody'").iloc[0]
    at = {"threshold": 0.2, "g": "C"}
    want = 10_000 * 0.5 * 0.58 * (curve["net_benefit"] - curve["all"]).sel(at)
    limits = al.interval(10_000 * 0.5 * 0.58 * (again["net_benefit"] - again["all"]).sel(at))
    assert row[["estimate", "low", "high"]].tolist() == pytest.approx([float(want), *map(float, limits.values())][:3])
    assert len(table) == 4 * 4 * 2


def test_gains_equal_the_difference_of_levels():
    rng = np.random.default_rng(5)
    cells = {cell: rng.integers(5, 90, (2, 1)) for cell in ("tp", "fp", "fn", "tn")}
    tables = al.confusion(**cells, g=["A", "B"], threshold=["0.2"]).assign_coords(threshold=[0.2])
    curve = al.decision_curve(tables)
    table = benefit.gain_table(curve, curve.expand_dims(replicate=3), 0.4, "g")
    level = al.subgroup_net_benefit(tables, 0.2, 0.4)
    for policy, series in (("none", "over treating nobody"), ("all", "over treating everybody")):
        rise = 10_000 * (level - al.subgroup_net_benefit(al.treat(tables, policy), 0.2, 0.4))
        found = table[table["series"] == series]
        assert found["estimate"].tolist() == pytest.approx(rise.values.ravel().tolist())
        assert found["low"].tolist() == pytest.approx(found["high"].tolist())


def test_gains_keep_one_axis_over_all_thresholds(curves):
    table = benefit.gain_table(*curves, 0.58, "g")
    limits = {benefit.gains(table, t).axes[0].get_xlim() for t in STEPS}
    assert len(limits) == 1
    ((low, high),) = limits
    assert low < table["low"].min()
    assert high > table["high"].max()
    ax = benefit.gains(table, 0.3).axes[0]
    rows = table[table["threshold"] == 0.3]
    assert [tuple(part[:, 0]) for part in segments(ax)] == list(zip(rows["low"], rows["high"], strict=True))


def test_gain_words_say_every_row_and_keep_hyphens_of_names():
    table = pd.DataFrame({
        "threshold": 0.1, "name": ["Afro-X", "B"], "series": "over treating nobody",
        "estimate": [-12.4, -0.2], "low": [-1500.0, np.pi], "high": [3.0, 4.0],
    })  # fmt: skip
    assert benefit.gain_words(table, 0.1) == (
        "Threshold 10%, sNB gained per 10,000. Afro-X over treating nobody: −12 (−1,500 to +3); "
        "B over treating nobody: +0 (+3 to +4)."
    )
    with pytest.raises(al.AuditInputError, match=r"0\.15 is not in the table; there is 0\.1"):
        benefit.gain_words(table, 0.15)


def test_every_colour_follows_the_page(curves):
    table = benefit.gain_table(*curves, 0.58, "g")
    figures = [
        benefit.weighed(TABLE, 0.15, 0.58, "group"),
        benefit.levels({"m": al.benefit_interval(TABLE, 0.15, 0.58)}, "group").figure,
        benefit.curves(*curves, "g"),
        benefit.splits({"one": gaps.row("a", al.benefit_interval(TABLE, 0.15, 0.58, a="Women", b="Men"), "s")}),
        benefit.gains(table, 0.2),
    ]
    style.use()
    for figure in figures:
        text = style.svg_text(figure)
        assert "var(--blue)" in text
