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
BY_GROUP = xr.DataArray([0.1, 0.2], {"group": ["Women", "Men"]}, ["group"])
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


@pytest.mark.parametrize(
    "options",
    [{"lam": {"Women": 0.5, "Men": 0.6}}, {"burden": {"Women": 0.5, "Men": 0.6}}, {"threshold": BY_GROUP}],
)
def test_weighed_wants_one_number_for_all_levels(options):
    with pytest.raises(al.AuditInputError, match="must be one number each here; draw a figure a group"):
        benefit.weighed(TABLE, **{"threshold": 0.15, "lam": 0.58, **options}, dim="group")


def test_weighed_wants_people_in_every_level():
    empty = TABLE.where(TABLE["group"] != "Men", 0)
    with pytest.raises(al.AuditInputError, match=r"^Men: nobody is in this level of 'group'"):
        benefit.weighed(empty, 0.15, 0.58, "group")
    with pytest.raises(al.AuditInputError, match=r"^Men: nobody"):
        benefit.weighed(TABLE.where(TABLE["group"] != "Men"), 0.15, 0.58, "group")
    with pytest.raises(al.AuditInputError, match="lam must be above 0 and at most 1"):
        benefit.weighed(TABLE, 0.15, 58, "group")


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
    with pytest.raises(al.AuditInputError, match="a Dataset with estimate, low, high, n is needed, not a DataArray"):
        benefit.levels({"model": found.estimate}, "group")


def test_levels_are_of_the_same_groups_and_people():
    found = al.benefit_interval(TABLE, 0.15, 0.58)
    for series in ({"a": found, "b": found.isel(group=[0])}, {"b": found.isel(group=[0]), "a": found}):
        with pytest.raises(al.AuditInputError, match=r"[ab]: of the groups of [ab] it (lacks 'Men'|has 'Men' beside)"):
            benefit.levels(series, "group")
    with pytest.raises(al.AuditInputError, match="b: of the groups of a it lacks 'Men' and has 'Other' beside them"):
        benefit.levels({"a": found, "b": found.assign_coords(group=["Women", "Other"])}, "group")
    with pytest.raises(al.AuditInputError, match="twice"):
        benefit.levels({"a": found.isel(group=[0, 0])}, "group")
    missing = found.assign(n=found["n"].where(found["group"] != "Men"))
    with pytest.raises(al.AuditInputError, match="n of a is missing or not that of a"):
        benefit.levels({"a": missing}, "group")
    with pytest.raises(al.AuditInputError, match="n of b is missing or not that of a"):
        benefit.levels({"a": found, "b": found.assign(n=found["n"] + 1)}, "group")


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


OTHERS = [
    (lambda again: again.isel(threshold=[0, 1, 2]), "replicates: of the thresholds of the curve it lacks 0.4"),
    (lambda again: again.assign_coords(threshold=[0.1, 0.2, 0.3, 0.5]), "it lacks 0.4 and has 0.5 beside them"),
    (lambda again: again.sel(g=["A", "B"]), "replicates: of the gs of the curve it lacks 'C', 'D'"),
    (lambda again: again.isel(replicate=0), "net_benefit must lie over 'replicate' and 'threshold' and 'g' alone"),
    (lambda again: again.expand_dims(model=["m", "n"]), "net_benefit must lie over"),
    (lambda again: again[["net_benefit", "all"]], "none must lie over .* but is absent"),
    (lambda again: again["all"], "a Dataset with net_benefit, all, none is needed, not a DataArray"),
]


@pytest.mark.parametrize("draw", [benefit.curves, lambda *given: benefit.gain_table(*given[:2], 0.58, given[2])])
@pytest.mark.parametrize(("change", "said"), OTHERS)
def test_replicates_of_something_else_are_refused(curves, draw, change, said):
    with pytest.raises(al.AuditInputError, match=said):
        draw(curves[0], change(curves[1]), "g")
    if "thresholds" in said:
        with pytest.raises(al.AuditInputError, match=r"has 0\.4 beside them"):
            draw(change(curves[0]), curves[1], "g")


def test_the_order_of_replicated_groups_and_thresholds_does_not_matter(curves):
    curve, again = curves
    turned = again.isel(g=[2, 0, 3, 1], threshold=[3, 1, 0, 2]).transpose("g", ...)
    table = benefit.gain_table(curve, again, 0.58, "g")
    pd.testing.assert_frame_equal(benefit.gain_table(curve, turned, 0.58, "g"), table)
    one, two = (benefit.curves(curve, held, "g").axes[2].collections[1].get_paths()[0] for held in (again, turned))
    assert np.array_equal(one.vertices, two.vertices)


def test_curves_without_any_defined_replicate(curves):
    with pytest.raises(al.AuditInputError, match="defined in no replicate"):
        benefit.curves(curves[0], curves[1] * np.nan, "g")


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
    with pytest.raises(al.AuditInputError, match="the table lacks low; see gaps"):
        benefit.splits({"first": one, "second": one.drop(columns="low")})
    with pytest.raises(al.AuditInputError, match="the table lacks rows"):
        benefit.splits({"first": one.iloc[:0]})


def test_gains_are_paired_differences_times_the_effect(curves):
    curve, again = curves
    table = benefit.gain_table(curve, again, 0.58, "g", burden=0.5)
    row = table.query("threshold == 0.2 and name == 'C' and series == 'over treating everybody'").iloc[0]
    at = {"threshold": 0.2, "g": "C"}
    want = 10_000 * 0.5 * 0.58 * (curve["net_benefit"] - curve["all"]).sel(at)
    limits = al.interval(10_000 * 0.5 * 0.58 * (again["net_benefit"] - again["all"]).sel(at))
    assert row[["estimate", "low", "high"]].tolist() == pytest.approx([float(want), *map(float, limits.values())][:3])
    assert len(table) == 4 * 4 * 2


def test_gains_take_an_effect_and_a_burden_a_group(curves):
    own = {"D": 0.2, "A": 0.4, "B": 0.6, "C": 0.8}
    table = benefit.gain_table(*curves, own, "g", burden={"A": 0.5, "B": 1, "C": 1, "D": 1})
    for group, lam in own.items():
        alone = benefit.gain_table(*curves, lam, "g", burden=0.5 if group == "A" else 1)
        mine, theirs = (held[held["name"] == group].reset_index(drop=True) for held in (table, alone))
        pd.testing.assert_frame_equal(mine, theirs)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lam": 58}, "lam must be above 0 and at most 1 .* not 58"),
        ({"lam": 0}, "lam must be above 0"),
        ({"lam": True}, "lam must be a number"),
        ({"lam": "0.58"}, "lam must be a number"),
        ({"lam": {"A": 0.5}}, "lam by 'g': no value for 'B', 'C', 'D'"),
        ({"lam": xr.DataArray([0.2, 0.3], {"lam": [0.2, 0.3]}, ["lam"])}, "no grid over lam"),
        ({"burden": 1.5}, "burden must be above 0"),
        ({"level": 95}, "level must lie between 0 and 1"),
    ],
)
def test_gains_of_an_effect_that_is_none(curves, options, said):
    with pytest.raises(al.AuditInputError, match=said):
        benefit.gain_table(*curves, **{"lam": 0.58, "dim": "g", **options})


def test_gains_equal_the_difference_of_levels():
    rng = np.random.default_rng(5)
    cells = {cell: rng.integers(5, 90, (2, 1)) for cell in ("tp", "fp", "fn", "tn")}
    tables = al.confusion(**cells, g=["A", "B"], threshold=[0.2])
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
        "B over treating nobody: 0 (+3 to +4)."
    )
    with pytest.raises(al.AuditInputError, match=r"0\.15 is not in the table; there is 0\.1"):
        benefit.gain_words(table, 0.15)
    for column in ("estimate", "low", "high"):
        with pytest.raises(al.AuditInputError, match="estimate or low or high is not defined for B: leave these rows"):
            benefit.gain_words(table.assign(**{column: [1.0, np.nan]}), 0.1)
    with pytest.raises(al.AuditInputError, match="the table lacks low; see gain_table"):
        benefit.gain_words(table.drop(columns="low"), 0.1)
    with pytest.raises(al.AuditInputError, match="low and high hold no number"):
        benefit.gains(table.assign(low=np.nan, high=np.nan), 0.1)
    with pytest.raises(al.AuditInputError, match="must be a DataFrame, not a dict"):
        benefit.gains({}, 0.1)


def test_every_colour_follows_the_page(curves):
    table = benefit.gain_table(*curves, 0.58, "g")
    figures = [
        benefit.weighed(TABLE, 0.15, 0.58, "group"),
        benefit.levels({"m": al.benefit_interval(TABLE, 0.15, 0.58)}, "group").figure,
        benefit.curves(*curves, "g"),
        benefit.splits({"one": gaps.row("a", al.benefit_interval(TABLE, 0.15, 0.58, a="Women", b="Men"), "s")}),
        benefit.gains(table, 0.2),
    ]
    with plt.rc_context():
        style.use()
        texts = [style.svg_text(figure) for figure in figures]
    assert all("var(--blue)" in text for text in texts)
