"""Figures of the chapter on sites show the numbers they are given."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import norm

from auditlib.plots import site_audits, site_tables, sites, style
from auditlib.plots.flips import FAIL, PASS
from auditlib.sites import TIERS, agreement
from tests.unit.test_intervals import bad

VERDICTS = xr.DataArray(
    [[[1.0, 0.0, 0.0, np.nan]], [[0.0, 1.0, 0.0, 1.0]]],
    {"metric": ["DI", "SPD"], "attribute": ["sex"]},
    ["metric", "attribute", "site"],
)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def boxes(ax, colour):
    """Left edge, lower edge and width of the rectangles in this colour."""
    held = [one for one in ax.patches if mpl.colors.to_hex(one.get_facecolor()) == colour]
    return sorted((one.get_x(), round(one.get_y() + one.get_height() / 2, 9), one.get_width()) for one in held)


def bars(ax):
    """Height and ends of all intervals drawn as segments."""
    segments = [one for held in ax.collections for one in held.get_segments() if len(one)]
    return sorted((round(one[0, 1], 9), one[0, 0], one[1, 0]) for one in segments)


def dots(ax, marker):
    """Points with this marker."""
    return [point for line in ax.lines if line.get_marker() == marker for point in line.get_xydata().tolist()]


def test_fails_are_filled_site_by_site_and_undefined_verdicts_crossed():
    figure = sites.verdicts(VERDICTS.transpose("attribute", "site", "metric"), "site", [7, 80, 900, 1000])
    (ax,) = figure.axes
    assert boxes(ax, FAIL) == [(-0.5, 1.0, 1), (0.5, 0.0, 2), (1.5, 1.0, 1)]
    assert dots(ax, "x") == [[3.0, 0.0]]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["DI", "SPD"]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["7", "80", "1,000"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["pass", "fail", "undefined"]
    with bad("2 numbers for 4 sites"):
        sites.verdicts(VERDICTS, "site", [1, 2])
    with bad("select from the rest"):
        sites.verdicts(VERDICTS, "state", [1, 2])


def test_a_caterpillar_sorts_sites_and_marks_their_verdicts():
    values = {"estimate": [0.2, np.nan, 0.05, 0.1], "low": [0.1, np.nan, 0.0, 0.07], "high": [0.3, np.nan, 0.1, 0.2]}
    found = xr.Dataset({name: ("site", held) for name, held in values.items()})
    (ax, other) = sites.caterpillar({"by $sex": (found, "SPD", 0.08), "by age": (found, "DI", 0.9)}).axes
    assert ax.get_title("left") == r"by \$sex"
    assert bars(ax) == [(0, 0.0, 0.1), (1, 0.07, 0.2), (2, 0.1, 0.3)]
    assert dots(ax, "o") == [[0.05, 0.0], [0.1, 1.0]]  # the limit itself passes
    assert dots(ax, "s") == [[0.2, 2.0]]
    assert dots(ax, "x") == [[0.0, 3.0]]
    assert dots(other, "o") == []  # DI has to be at least .80
    upright = {line.get_linestyle(): line.get_xdata()[0] for line in ax.lines if len(set(line.get_xdata())) == 1}
    assert (upright["--"], upright[":"]) == (0.1, 0.08)
    assert other.get_xlabel() == "DI"
    assert mpl.colors.to_hex(ax.collections[0].get_color()[0]) == PASS
    with bad("a metric of"):
        sites.caterpillar({"x": (found, "F1", 0.1)})
    with bad("at least one title"):
        sites.caterpillar({})


def test_identical_sites_have_a_mean_and_a_range_and_none_where_kappa_is_undefined():
    rows = [
        ("near", 500, "DI", 0.1, 0.0, 0.2),
        ("near", 2000, "DI", 0.3, 0.2, 0.5),
        ("near", 500, "TI", np.nan, np.nan, np.nan),
        ("far", 500, "DI", 0.9, 0.8, 1.0),
    ]
    table = pd.DataFrame(rows, columns=["population", "size", "metric", "kappa", "kappa_low", "kappa_high"])
    figure = sites.identical(table, ["DI", "TI"])
    near, far = figure.axes
    assert [ax.get_title("left") for ax in figure.axes] == ["near", "far"]
    assert bars(near) == [(-0.24, 0.0, 0.2), (0.0, 0.2, 0.5)]
    assert dots(near, "o") == [[0.1, -0.24]]
    assert dots(near, "s") == [[0.3, 0.0]]
    assert bars(far) == [(-0.24, 0.8, 1.0)]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["500 a site", "2,000 a site"]
    with bad("4 sites|4 sizes"):
        sites.identical(pd.concat([table.assign(size=n) for n in (1, 2, 3, 4)]), ["DI"])
    with bad("lacks kappa_high"):
        sites.identical(table.drop(columns="kappa_high"), ["DI"])


def test_kappa_stands_above_that_of_random_folds():
    values = {"kappa": [0.3, np.nan], "kappa_low": [0.1, np.nan], "kappa_high": [0.5, np.nan]}
    values |= {"kappa_random": [0.6, np.nan], "kappa_random_low": [0.4, np.nan], "kappa_random_high": [0.7, np.nan]}
    found = xr.Dataset({name: ("metric", held) for name, held in values.items()}, {"metric": ["DI", "TI"]})
    (ax,) = sites.beside(found).axes
    assert bars(ax) == [(-0.125, 0.1, 0.5), (0.125, 0.4, 0.7)]
    assert [point for point in dots(ax, "o") if np.isfinite(point[0])] == [[0.3, -0.125]]
    assert [point for point in dots(ax, "D") if np.isfinite(point[0])] == [[0.6, 0.125]]
    assert [(text.get_text(), text.get_position()[1]) for text in ax.texts] == [("all verdicts the same: κ is 0/0", 1)]
    within = found.assign(kappa_random=("metric", [0.35, np.nan]), kappa_random_low=("metric", [0.2, np.nan]))
    (both,) = sites.beside(found, within.isel(metric=[1, 0])).axes  # by name, not by position
    assert bars(both) == [(-0.25, 0.1, 0.5), (0.0, 0.4, 0.7), (0.25, 0.2, 0.7)]
    assert [point for point in dots(both, "s") if np.isfinite(point[0])] == [[0.35, 0.25]]
    for wrong in ((found.drop_vars("kappa_random"),), (found, found.drop_vars("kappa_random"))):
        with bad("kappa_random must"):
            sites.beside(*wrong)


def test_tiers_are_tiles_with_the_number_violated_and_a_dot_for_a_fail():
    over = {"metric": ["DI", "SPD"], "attribute": ["sex", "age"]}
    found = xr.Dataset(
        {
            "violated": xr.DataArray([[0.0, 3.0], [np.nan, 1.0]], over),
            "fails": xr.DataArray([[True, False], [False, False]], over),
        }
    )
    figure = sites.tiers({"ours": found, "theirs": found.transpose()})
    for ax in figure.axes:
        assert [text.get_text() for text in ax.texts] == ["0", "3", "?", "1"]
        assert dots(ax, "o") == [[0.28, 0.0]]
        shades = [one.get_facecolor()[3] for one in ax.patches]
        assert shades == [sites.SHADES[0], sites.SHADES[3], 0.0, sites.SHADES[1]]
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    assert said == [*(f"{k} {name}" for k, name in enumerate(TIERS)), "most replicates fail"]
    with bad("at least one title"):
        sites.tiers({})
    with bad("fails must"):
        sites.tiers({"ours": found.drop_vars("fails")})


@pytest.mark.parametrize(("distance", "positives"), [(-5, 100), (0, 400), (3, 50)])
def test_the_chance_of_a_pass_is_that_of_two_binomials(distance, positives):
    rng = np.random.default_rng(1)
    lower = 0.6 - distance / 100
    found = rng.binomial(positives, [0.7, lower], size=(200_000, 2)) / positives
    # a tie with the limit passes: half of it beyond, as for a continuous metric
    gap = abs(found[:, 0] - found[:, 1])
    passed = (gap < 0.1 - 1e-9).mean() + (abs(gap - 0.1) < 1e-9).mean() / 2
    assert site_audits.pass_chance(distance, positives) == pytest.approx(passed, abs=0.01)


def test_pass_chance_takes_whole_positives_and_distances_within_ten_points():
    for distance in (-11, 10.5, True, "2"):
        with bad("between −10 and 10 points"):
            site_audits.pass_chance(distance, 100)
    with bad("positives"):
        site_audits.pass_chance(1, 2.5)
    with bad("0 or more"):
        site_audits.agreements(-1, 100)


@pytest.mark.parametrize("chances", [[0.9, 0.9, 0.9, 0.1], [0.2, 0.5, 0.8, 0.99], [0.5, 0.5, 0.5, 0.5]])
def test_many_identical_sites_are_the_limit_of_the_coefficients(chances):
    exact = site_audits.many_sites(np.array(chances))
    raters = 10_000_000
    found = agreement(np.round(np.array(chances) * raters), raters)
    assert [found[name] for name in exact] == pytest.approx(list(exact.values()), abs=1e-6)


def test_agreements_of_twenty_sites_lie_around_those_of_many():
    table = site_audits.agreements(3, 100).set_index(["pattern", "name"])
    assert ((table["low"] <= table["mean"]) & (table["mean"] <= table["high"])).all()
    assert abs(table["mean"] - table["limit"]).max() < 0.06
    raw = table.xs("raw", level="name")["mean"]
    assert raw.max() - raw.min() < 0.02  # the pattern does not matter to raw agreement
    sure = site_audits.agreements(8, 4000).set_index(["pattern", "name"])
    four = sure.loc[("four pass", "kappa")]
    assert np.isnan(four["mean"])
    assert four["undefined"] == 1
    assert sure.loc[("two pass, two fail", "kappa"), "mean"] == 1


def test_the_explorer_draws_what_it_says():
    figure = site_audits.identical_sites(8, 4000)
    top, below = figure.axes
    assert "κ is 0/0" in [text.get_text() for text in below.texts]
    (pass_curve, fail_curve, limit) = top.lines
    x, height = pass_curve.get_data()
    se = np.sqrt((0.7 * 0.3 + 0.68 * 0.32) / 4000)
    assert height == pytest.approx(norm.pdf((x - 0.02) / se) + norm.pdf((x + 0.02) / se))
    assert x[np.argmax(fail_curve.get_ydata())] == pytest.approx(0.18, abs=0.003)
    assert set(limit.get_xdata()) == {0.1}
    assert [text.get_text() for text in below.texts if text.get_weight() == "bold"] == list(site_audits.PATTERNS)
    said = site_audits.words(8, 4000)
    assert "four pass: raw agreement 1.00, κ undefined, AC1 1.00" in said
    assert "with a chance of 1.00" in said
    table = site_audits.agreements(3, 100).set_index(["pattern", "name"])["mean"]
    assert [point[0] for point in dots(site_audits.identical_sites(3, 100).axes[1], "o")] == pytest.approx(
        table.xs("kappa", level="name").to_list()
    )
    assert style.svg_text(figure).count("κ") >= 2


def test_tables_beside_random_folds_say_what_the_datasets_hold():
    over = {"metric": ["DI", "PP"], "attribute": ["sex", "age"]}
    cells = {
        "passes": [[3, 0], [20, 19]],
        "passes_random_low": [[4, 0], [18, 17.5]],
        "passes_random_high": [[6, 0], [20, 19]],
    }
    cells |= {"sd": [[0.3, 0.1], [0.0, np.nan]], "sd_random": [[0.1, 0.1], [0.1, 0.1]]}
    cells |= {"least": [[0.1, 0.2], [0.3, 0.4]], "most": [[0.5, 0.6], [0.7, 0.8]]}
    cells |= {"least_random": [[0.2, 0.3], [0.4, 0.45]], "most_random": [[0.4, 0.5], [0.6, 0.75]]}
    cells |= {"sd_random_above": [[0.0, 0.5], [1.0, np.nan]]}
    held = {name: xr.DataArray(np.array(value, dtype=float), over) for name, value in cells.items()}
    held |= {
        "raw": ("metric", [0.8, 0.9]),
        "kappa": ("metric", [-0.1, np.nan]),
        "kappa_random": ("metric", [0.5, np.nan]),
    }
    held |= {"raw_random_below": ("metric", [0.02, 0.4]), "kappa_random_below": ("metric", [0.01, np.nan])}
    found = xr.Dataset(held)
    other = found.assign(kappa_random=found["kappa_random"] / 2)
    table = site_tables.by_metric({"all": found, "like": other.isel(metric=[1, 0])}, ["DI", "PP"])
    assert table.columns.tolist() == ["raw", "κ", "all", "like"]
    assert table.loc["DI"].tolist() == ["0.80", "−0.10", "0.50 (1%)", "0.25 (1%)"]
    assert table.loc["PP"].tolist() == ["0.90", "undefined", "undefined", "undefined"]
    none = found.assign(kappa_random_below=("metric", [0.0, np.nan]), kappa_random=("metric", [0.5, 0.1]))
    table = site_tables.by_metric({"all": none}, ["DI", "PP"], deals=100)
    assert table["all"].tolist() == ["0.50 (< 3.0%)", "0.10"]  # none of 100; κ of deals alone
    table = site_tables.by_cell({"all": found, "like": found.assign(sd_random=found["sd"])}, ["PP", "DI"])
    assert table.columns.tolist() == ["pass", "all", "like", "÷ all", "÷ like"]
    assert table.loc["DI sex"].tolist() == ["3", "4–6", "4–6", "3.0*", "1.0*"]
    assert table.loc["DI age"].tolist() == ["0", "0–0", "0–0", "1.0", "1.0"]
    assert table.loc["PP age"].tolist() == ["19", "18–19", "18–19", "undefined", "undefined"]
    lost = found.assign(kappa_low=found["kappa"], kappa_high=found["kappa"] + 1)
    said = site_tables.told({"all": lost.assign(kappa_random_undefined=("metric", [0.5, 1.0]))}, [("PP", "sex")])
    assert "pp-kappa" not in said
    assert (said["di-interval"], said["all-di-low"]) == ("−0.10 to 0.90", "1% (0.2% to 5%)")  # of 100 with κ
    assert said["all-di-raw-low"] == "2% (0.8% to 5%)"
    assert [said[f"all-pp-sex-{k}"] for k in ("passes", "ratio", "high")] == ["18 to 20", "0.0", "100% (98% to 100%)"]
    assert (said["pp-sex-passes"], said["pp-sex-values"]) == ("20", "0.300 to 0.700")
    assert said["all-pp-sex-values"] == "0.400 to 0.600"
