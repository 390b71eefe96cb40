"""Figures about λ show the numbers they are given, with their intervals and the forms of their sets."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_hex

import auditlib as al
from auditlib.benefit import fieller
from auditlib.plots import effects, style

TABLE = al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
GRID = [0.2, 0.5, 0.8]
LAM = xr.DataArray(GRID, {"lam": GRID}, ["lam"])
FOUND = al.benefit_interval(TABLE, 0.15, LAM)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def labelled(ax, label):
    return [line for line in ax.lines if line.get_label() == label]


def over_plane(function, half=0.1, grid=GRID):
    a, b = (xr.DataArray(grid, {name: grid}, [name]) for name in ("lam_a", "lam_b"))
    value = function(a, b).transpose("lam_a", "lam_b")
    return xr.Dataset({"estimate": value, "low": value - half, "high": value + half})


def covered(ax, colour, x, y):
    """Whether a filled region of that colour contains the point."""
    for filled in ax.collections:
        if len(filled.get_facecolor()) and to_hex(filled.get_facecolor()[0]) == colour:
            paths = filled.get_paths()
            if any(path.contains_point((x, y)) for path in paths if len(path.vertices)):
                return True
    return False


def test_over_lambda_draws_estimates_and_bands_per_ten_thousand_in_a_panel_a_group():
    figure = effects.over_lambda({"model": FOUND}, "group")
    for ax, name in zip(figure.axes, ("Women", "Men"), strict=True):
        held, (band,) = FOUND.sel(group=name), ax.collections
        (line,) = labelled(ax, "model")
        assert ax.get_title("left") == name
        np.testing.assert_allclose(line.get_xdata(), GRID)
        np.testing.assert_allclose(line.get_ydata(), 10_000 * held.estimate)
        heights = band.get_paths()[0].vertices[:, 1]
        assert heights.min() == pytest.approx(10_000 * float(held.low.min()))
        assert heights.max() == pytest.approx(10_000 * float(held.high.max()))
        assert not labelled(ax, "_zero")  # levels are far from 0
    assert not figure.legends


def test_over_lambda_marks_zero_and_a_stretch():
    gap = al.benefit_interval(TABLE, 0.15, LAM, a="Women", b="Men").expand_dims(group=["Women"])
    gap = gap.assign(estimate=gap.estimate - gap.estimate.sel(lam=0.5))
    (ax,) = effects.over_lambda({"gap": gap}, "group", shaded=(0.48, 0.66)).axes
    assert len(labelled(ax, "_zero")) == 1
    (stretch,) = [patch for patch in ax.patches if patch.get_label() == "_shaded"]
    assert (stretch.get_x(), stretch.get_x() + stretch.get_width()) == pytest.approx((0.48, 0.66))


def test_over_lambda_wants_a_few_series():
    for found in ({}, {str(k): FOUND for k in range(5)}):
        with pytest.raises(al.AuditInputError, match=f"give one to 4 series by name, not {len(found)}"):
            effects.over_lambda(found, "group")


def test_three_groups_leave_one_place_empty():
    three = xr.concat([FOUND, FOUND.isel(group=[0]).assign_coords(group=["Other"])], "group")
    figure = effects.over_lambda({"model": three}, "group")
    assert [ax.get_title("left") for ax in figure.axes] == ["Women", "Men", "Other"]


def test_other_dims_are_refused():
    with pytest.raises(al.AuditInputError, match="'group' and 'lam'"):
        effects.over_lambda({"one": FOUND.isel(lam=0)}, "group")
    with pytest.raises(al.AuditInputError, match="low must lie over"):
        effects.over_lambda({"one": FOUND[["estimate"]]}, "group")
    with pytest.raises(al.AuditInputError, match="lam_a"):
        effects.plane(FOUND, a="x", b="y")
    with pytest.raises(al.AuditInputError, match="'policy'"):
        effects.two_lambdas(over_plane(lambda a, b: a - b), FOUND, a="x", b="y", lam_a=0.2, lam_b=0.2, limits=(0, 1))


def test_series_lie_in_the_panel_of_their_group():
    both = {"threshold held": FOUND, "harm held": FOUND + 0.01}
    figure = effects.over_lambda(both, "group")
    for ax, group in zip(figure.axes, ("Women", "Men"), strict=True):
        for name, stroke in zip(both, ("-", "--"), strict=True):
            (line,) = labelled(ax, name)
            np.testing.assert_allclose(line.get_ydata(), 10_000 * both[name].estimate.sel(group=group))
            assert line.get_linestyle() == stroke
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(both)


def test_readings_at_one_lambda_show_both_series():
    other = FOUND + 0.01
    (ax,) = effects.readings_at(FOUND, other, "group", 0.1 * 8, (0, 10_000)).axes
    for label, found in (("threshold held", FOUND), ("harm held", other)):
        (dots,) = labelled(ax, label)
        np.testing.assert_allclose(dots.get_xdata(), 10_000 * found.estimate.sel(lam=0.8))
    ends = [bar.get_segments()[0][:, 0] for bar in ax.collections]
    expected = [[10_000 * float(f[k].sel(lam=0.8)[0]) for k in ("low", "high")] for f in (FOUND, other)]
    np.testing.assert_allclose(ends, expected)
    assert ax.get_xlim() == (0, 10_000)


@pytest.mark.parametrize(("lam", "said"), [(5.0, "lam = 5.0"), (0.81, "lam = 0.81"), (np.nan, "lam = nan")])
def test_another_lambda_than_those_of_the_grid_is_not_drawn(lam, said):
    with pytest.raises(al.AuditInputError, match=f"{said} is not in the grid; there is 0.2, 0.5, 0.8"):
        effects.readings_at(FOUND, FOUND, "group", lam, (0, 10_000))
    found = over_plane(lambda a, b: a - b).expand_dims(policy=["model"])
    with pytest.raises(al.AuditInputError, match=said.replace("lam", "lam_b")):
        effects.two_lambdas(found, found.isel(policy=0), a="a", b="b", lam_a=0.2, lam_b=lam, limits=(0, 1))


def test_a_lambda_is_a_number():
    for lam in ("0.2", None, True, [0.2]):
        with pytest.raises(al.AuditInputError, match="lam must be a number"):
            effects.readings_at(FOUND, FOUND, "group", lam, (0, 10_000))


def over_both(fixed, moved, dim):
    return effects.over_lambda({"that with the threshold held": fixed, "the reading with the harm held": moved}, dim)


@pytest.mark.parametrize("draw", [over_both, lambda *given: effects.readings_at(*given, 0.2, (0, 10_000))])
def test_two_readings_are_of_the_same_groups(draw):
    with pytest.raises(
        al.AuditInputError, match=r"the reading with the harm held: of the groups of that .* lacks 'Men'"
    ):
        draw(FOUND, FOUND.isel(group=[0]), "group")
    with pytest.raises(al.AuditInputError, match="has 'Men' beside them"):
        draw(FOUND.isel(group=[0]), FOUND, "group")
    with pytest.raises(al.AuditInputError, match="'group' and 'lam'"):
        draw(FOUND, FOUND.isel(lam=0), "group")
    ordered, turned = (draw(FOUND, held, "group").axes[-1].lines for held in (FOUND, FOUND.isel(group=[1, 0])))
    for one, two in zip(ordered, turned, strict=True):
        assert np.array_equal(one.get_xydata(), two.get_xydata())


def test_a_plane_has_two_values_of_each_lambda():
    for grid in ([0.5], [0.8, 0.2], [0.2, 0.2]):
        with pytest.raises(al.AuditInputError, match="lam_a: a plane needs at least two values of it, in rising order"):
            effects.plane(over_plane(lambda a, b: a - b, grid=grid), a="a", b="b")


def test_a_set_is_one_set():
    bound = al.lambda_ratio_bound(TABLE, 0.15, "Women", "Men")
    many = bound.expand_dims(model=["m", "n"])
    with pytest.raises(al.AuditInputError, match="the set 'ratio': estimate must be one value, but lies over model"):
        effects.sets({"ratio": many}, limits=(0, 2), label="λ")
    with pytest.raises(al.AuditInputError, match="the set 'ratio' has no form"):
        effects.sets({"ratio": bound.drop_vars("form")}, limits=(0, 2), label="λ")
    with pytest.raises(al.AuditInputError, match="the bound: low must be one value"):
        effects.rays(many, plt.subplots()[1])


def test_a_plane_is_coloured_where_the_interval_excludes_zero():
    found = over_plane(lambda a, b: a - b)
    ax = effects.plane(found, a="women", b="men", point=(0.58, 0.4))
    above, below = style.GROUPS[:2]
    assert covered(ax, above, 0.7, 0.3)
    assert covered(ax, below, 0.3, 0.7)
    assert not covered(ax, above, 0.5, 0.45)  # 0.05 apart, the half width is 0.1
    assert not covered(ax, below, 0.5, 0.45)
    assert not covered(ax, above, 0.5, 0.55)
    (point,) = labelled(ax, "_point")
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (0.58, 0.4)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("λ, women", "λ, men")
    assert [key.get_text() for key in ax.get_legend().get_texts()] == ["above 0", "below 0", "not settled"]


def test_lam_a_runs_across_and_lam_b_up():
    ax = effects.plane(over_plane(lambda a, b: a + 0 * b - 0.5), a="a", b="b")
    assert covered(ax, style.GROUPS[0], 0.7, 0.3)
    assert covered(ax, style.GROUPS[0], 0.7, 0.7)
    assert covered(ax, style.GROUPS[1], 0.3, 0.7)


def test_a_plane_with_one_answer_has_one_colour():
    ax = effects.plane(over_plane(lambda a, b: a + b), a="a", b="b", legend=False)
    assert covered(ax, style.GROUPS[0], 0.5, 0.5)
    assert not covered(ax, style.GROUPS[1], 0.5, 0.5)
    assert ax.get_legend() is None
    unsettled = effects.plane(over_plane(lambda a, b: 0 * (a + b)), a="a", b="b")
    assert not unsettled.collections
    assert [key.get_text() for key in unsettled.get_legend().get_texts()] == ["not settled"]


def test_the_legend_of_a_plane_names_what_is_there():
    settled = effects.plane(over_plane(lambda a, b: a + b), a="a", b="b", above="$+", below="minus")
    assert [key.get_text() for key in settled.get_legend().get_texts()] == [r"\$+"]
    partly = effects.plane(over_plane(lambda a, b: a - b + 0.7), a="a", b="b")
    assert [key.get_text() for key in partly.get_legend().get_texts()] == ["above 0", "not settled"]
    assert partly.get_xticks().tolist() == partly.get_yticks().tolist()


def test_rays_have_the_slopes_of_the_limits_and_leave_the_axes_alone():
    table = al.parse_confusion("A:300,400,8900,400; B:100,100,9300,500")
    bound = al.lambda_ratio_bound(table, 0.15, "A", "B")
    ax = effects.plane(over_plane(lambda a, b: a - b), a="A", b="B")
    before = ax.get_xlim(), ax.get_ylim()
    lines = labelled(effects.rays(bound, ax), "_ray")
    slopes = [line.get_ydata()[1] / line.get_xdata()[1] for line in lines]
    np.testing.assert_allclose(slopes, [1 / float(bound.low), 1 / float(bound.high)])
    assert (ax.get_xlim(), ax.get_ylim()) == before
    nothing = bound.assign(low=-np.inf, high=np.inf)
    assert len(labelled(effects.rays(nothing, ax), "_ray")) == 2  # none more


def test_sets_of_every_form():
    values = {
        "bounded": fieller(*map(xr.DataArray, (2.0, 4.0, 0.1, 0.1))),
        "outside": fieller(*map(xr.DataArray, (2.0, 0.1, 0.1, 0.1))),
        "all": fieller(*map(xr.DataArray, (0.1, 0.1, 0.1, 0.1))),
        "undefined": fieller(*map(xr.DataArray, (0.0, 0.0, 0.0, 0.0))),
    }
    assert [str(found.form.item()) for found in values.values()] == list(values)
    ax = effects.sets(values, limits=(-8, 8), label="ratio", reference=1)
    bounded, outside = values["bounded"], values["outside"]
    (bar,) = labelled(ax, "_bounded")
    np.testing.assert_allclose(bar.get_xdata(), [float(bounded.low), float(bounded.high)])
    low, high = labelled(ax, "_outside")
    np.testing.assert_allclose(low.get_xdata(), [-8, float(outside.low)])
    np.testing.assert_allclose(high.get_xdata(), [float(outside.high), 8])
    (whole,) = labelled(ax, "_all")
    np.testing.assert_allclose(whole.get_xdata(), [-8, 8])
    assert not labelled(ax, "_undefined")
    arrows = [(mark.get_xdata()[0], mark.get_ydata()[0], mark.get_marker()) for mark in labelled(ax, "_arrow")]
    assert sorted(arrows) == [(-8, 1, "<"), (-8, 2, "<"), (8, 1, ">"), (8, 2, ">")]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == list(values)
    dots = [dot.get_xdata()[0] for dot in labelled(ax, "_estimate")]
    np.testing.assert_allclose(dots, [0.5, 1.0])  # 20 lies beyond the axis


def test_a_piece_wholly_beyond_the_axis_is_not_drawn():
    far = xr.Dataset({"estimate": np.nan, "low": -70.0, "high": 1.2, "form": "outside"})
    ax = effects.sets({"far": far}, limits=(-0.5, 2.5), label="λ")
    (piece,) = labelled(ax, "_outside")
    np.testing.assert_allclose(piece.get_xdata(), [1.2, 2.5])
    assert [mark.get_marker() for mark in labelled(ax, "_arrow")] == [">"]
    assert not labelled(ax, "_estimate")
    with pytest.raises(al.AuditInputError, match="no set"):
        effects.sets({}, limits=(0, 1), label="λ")


def test_an_estimate_beyond_what_is_possible_is_hollow():
    one = xr.Dataset({"estimate": 0.5, "low": 0.2, "high": 0.8, "form": "bounded"})
    found = {"inside": one, "beyond": one.assign(estimate=1.2)}
    ax = effects.sets(found, limits=(-0.5, 2.5), label="λ", possible=(0, 1))
    assert [dot.get_markerfacecolor() for dot in labelled(ax, "_estimate")] == [style.GROUPS[0], style.PAPER]
    (stretch,) = ax.patches
    assert (stretch.get_x(), stretch.get_width()) == (0, 1)
    assert not effects.sets(found, limits=(-0.5, 2.5), label="λ").patches


def test_two_lambdas_show_the_pair_in_both_panels():
    one = over_plane(lambda a, b: a - b)
    found = xr.concat([one, one + 0.05], "policy").assign_coords(policy=["none", "model"])
    figure = effects.two_lambdas(found, one, a="women", b="men", lam_a=0.8, lam_b=0.2, limits=(-9000, 9000))
    left, right = figure.axes
    assert left.get_position().y0 > right.get_position().y1  # one above the other
    assert [key.get_text() for key in right.get_legend().get_texts()] == ["above 0", "below 0", "not settled"]
    (bars,), (dots,) = left.collections, [line for line in left.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(dots.get_xdata(), [6000, 6500])
    np.testing.assert_allclose([bar[:, 0] for bar in bars.get_segments()], [[5000, 7000], [5500, 7500]])
    (point,) = labelled(right, "_point")
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (0.8, 0.2)
    assert left.get_xlim() == (-9000, 9000)
    assert [tick.get_text() for tick in left.get_yticklabels()] == ["none", "model"]
