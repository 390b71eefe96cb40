"""Figures of the chapter on interventions show the numbers they are given."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import auditlib as al
from auditlib.plots import group_rules, interventions, style
from auditlib.studies import study_table
from tests.unit.test_intervals import bad

CELLS = pd.DataFrame(
    [
        ["<30", "F", "A", 2000, 0.5, 0.2, ""],
        ["<30", "F", "B", 12, 0.5, 0.5, "under 30 people"],
        ["70+", "F", "A", 500, 0.5, 0.6, ""],
        ["70+", "M", "B", 40, 0.5, 0.7, ""],
    ],
    columns=["age", "sex", "race", "people", "start", "threshold", "why"],
)


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def markers(ax):
    """Lines of markers, without the dashed reference."""
    return [line for line in ax.lines if line.get_marker() not in ("None", "", None)]


def test_thresholds_stand_in_their_row_and_panel_and_are_hollow_where_kept():
    figure = interventions.thresholds(CELLS)
    women, men = figure.axes
    assert [ax.get_title("left") for ax in figure.axes] == ["F", "M"]
    assert [line.get_xdata()[0] for line in markers(women)] == [0.2, 0.5, 0.6]
    assert [line.get_xdata()[0] for line in markers(men)] == [0.7]
    assert [round(line.get_ydata()[0]) for line in markers(women)] == [0, 0, 1]
    assert [line.get_markerfacecolor() for line in markers(women)] == [style.GROUPS[0], style.PAPER, style.GROUPS[0]]
    sizes = [line.get_markersize() for line in markers(women)]
    assert sizes == [10, pytest.approx(4.072), 7]
    assert women.lines[0].get_xdata()[0] == 0.5
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["A", "B"]
    assert [tick.get_text() for tick in men.get_yticklabels()] == ["<30", "70+"]
    with bad("the table lacks why"):
        interventions.thresholds(CELLS.drop(columns="why"))


def test_rounds_have_a_line_a_place_with_its_error():
    table = pd.DataFrame({"where": ["here"] * 2 + ["there"] * 2, "round": [0, 1, 0, 1]})
    table = table.assign(vfr=[0.12, 0.09, 0.13, 0.14], error=[0.01, 0.02, 0.01, 0.01])
    ax = interventions.rounds(table)
    drawn = [held for held in ax.containers if isinstance(held, mpl.container.ErrorbarContainer)]
    assert [held.get_label() for held in drawn] == ["here", "there"]
    assert [held[0].get_ydata().tolist() for held in drawn] == [[0.12, 0.09], [0.13, 0.14]]
    assert np.round(drawn[0][0].get_xdata().astype(float)).tolist() == [0, 1]
    bars = drawn[0][2][0].get_segments()
    assert [np.ptp(bar[:, 1]) for bar in bars] == pytest.approx([2 * 1.96 * 0.01, 2 * 1.96 * 0.02])
    with bad("lacks error"):
        interventions.rounds(table.drop(columns="error"))


def prices():
    rows = []
    for policy, shift in (("start", 0.0), ("shifted", 0.1), ("stabilised", 0.2)):
        for part, less in (("selection", 0.0), ("audit", 0.05)):
            facts = {"table": "stays-xgboost", "policy": policy, "partition": part, "n": 100}
            right = {"measure": "accuracy", "attribute": np.nan, "estimate": 0.7 + shift - less, "vfr": np.nan}
            rows.append(facts | right | {"low": 0.6, "high": 0.9, "verdict": np.nan})
            for attribute, value, vfr in (("sex", 0.6, 0.0), ("age", 0.5, 0.5)):
                value += shift - less
                one = {"measure": "DI", "attribute": attribute, "estimate": value, "vfr": vfr, "verdict": "fail"}
                rows.append(facts | one | {"low": value - 0.1, "high": value + 0.1})
    return pd.DataFrame(rows)


def test_claims_stand_beside_the_audit_on_either_side_of_the_row():
    figure = interventions.claims(prices(), {"stabilised": "last", "start": "first"})
    assert [ax.get_title("left") for ax in figure.axes] == ["sex", "age"]
    tuned, audited = markers(figure.axes[1])
    assert tuned.get_xdata().tolist() == pytest.approx([0.7, 0.5])
    assert audited.get_xdata().tolist() == pytest.approx([0.65, 0.45])
    assert np.all(tuned.get_ydata() < audited.get_ydata())
    assert (tuned.get_markerfacecolor(), audited.get_markerfacecolor()) == (style.PAPER, style.GROUPS[0])
    spans = [segment[:, 0].tolist() for segment in figure.axes[1].collections[1].get_segments()]
    assert spans == [pytest.approx([0.55, 0.75]), pytest.approx([0.35, 0.55])]
    assert figure.axes[0].lines[0].get_xdata()[0] == 0.8
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["last", "first"]
    with bad("no DI of sex on selection under other"):
        interventions.claims(prices(), {"start": "first", "other": "x"})
    with bad("there is no row of 'SPD'"):
        interventions.claims(prices(), {"start": "first"}, measure="SPD")


def test_summaries_are_those_of_the_rows():
    found = interventions.summaries(prices())
    one = found.loc[("stays-xgboost", "shifted", "audit")]
    assert (one["accuracy"], one["lowest DI"], one["of"]) == (pytest.approx(0.75), pytest.approx(0.55), "age")
    assert (one["mean VFR"], one["flips"], one["stable"], one["passes"]) == (0.25, 1, 1, 0)
    half = 1.96 * np.sqrt(0.25 / 500) / 2  # one cell without error, one with the largest there is
    assert (one["mean VFR low"], one["mean VFR high"]) == (pytest.approx(0.25 - half), pytest.approx(0.25 + half))
    assert (one["lowest DI low"], one["lowest DI high"]) == (pytest.approx(0.45), pytest.approx(0.65))


def test_across_draws_the_audit_partition_of_every_policy():
    figure = interventions.across(prices(), {"stays-xgboost": "XGBoost"})
    right, ratio, vfr = figure.axes
    assert [line.get_xdata()[0] for line in markers(right)] == pytest.approx([0.65, 0.75, 0.85])
    assert [line.get_xdata()[0] for line in markers(ratio)] == pytest.approx([0.45, 0.55, 0.65])
    assert [line.get_xdata()[0] for line in markers(vfr)] == [0.25] * 3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["real-only", "shifted", "stabilised"]
    assert ratio.lines[-1].get_xdata()[0] == 0.8
    whole = interventions.across(study_table("interventions"))
    names = [tick.get_text() for tick in whole.axes[0].get_yticklabels()]
    assert (len(names), names[5]) == (12, "XGBoost")
    with bad("there is no table stays-other"):
        interventions.across(prices(), {"stays-other": "?"})


@pytest.fixture
def rule():
    rng = np.random.default_rng(3)
    risk = rng.random(900).round(2)
    age = np.repeat(["18–29", "30–69", "70+"], 300)
    frame = pd.DataFrame({"y": rng.random(900) < risk, "risk": risk, "age": age})
    counts = al.count(frame, label="y", score="risk", by="age", bins=20)
    return frame, group_rules.GroupRule(counts, counts.resample(200, strata="label", seed=1), rest=0.4)


def test_a_group_rule_judges_the_rows_it_was_counted_from(rule):
    frame, held = rule
    cut = frame["age"].astype(str).map({"18–29": 0.2, "30–69": 0.4, "70+": 0.7})
    flag = frame["risk"] >= cut - 1e-9
    rates = flag.groupby(frame["age"], observed=True).mean()
    found = held.judged(0.2, 0.7)
    assert found.flagged["estimate"].values.tolist() == pytest.approx(rates.tolist())
    assert found.accuracy == pytest.approx((flag == frame["y"]).mean())
    assert found.ratio == pytest.approx(rates.min() / rates.max())
    assert 0 <= found.vfr <= 0.5
    assert held.judged(0.2, 0.7) is found  # once for the frame and its words
    assert held.thresholds(0.2, 0.7) == {"18–29": 0.2, "30–69": 0.4, "70+": 0.7}


def test_a_frame_says_what_it_shows(rule):
    held = rule[1]
    figure, found = held.draw(0.2, 0.7), held.judged(0.2, 0.7)
    above, below = figure.axes
    (dots,) = markers(above)
    rates = found.flagged["estimate"].values
    assert np.array_equal(dots.get_xdata(), rates)
    assert [tick.get_text() for tick in above.get_yticklabels()] == [
        "18–29, from 0.2", "30–69, from 0.4", "70+, from 0.7",
    ]  # fmt: skip
    (span,) = above.patches
    edges = span.get_x(), span.get_x() + span.get_width()
    assert edges == (pytest.approx(0.8 * rates.max()), pytest.approx(rates.max()))
    widths = [bar.get_width() for bar in below.patches]
    assert widths == pytest.approx([found.accuracy, found.ratio, found.vfr, found.mean_vfr])
    assert below.get_xlabel() == f"{found.passes} of 7 metrics pass"
    said = held.words(0.2, 0.7)
    assert f"DI {found.ratio:.3f}" in said
    assert said.startswith("Flagged from 0.2 in 18–29, from 0.7 in 70+, from 0.4 between: 18–29 ")


def test_what_a_group_rule_refuses(rule):
    held = rule[1]
    with bad("again must be replicates"):
        group_rules.GroupRule(held.counts, held.counts)
    with bad("one attribute of at least two groups"):
        group_rules.GroupRule(held.counts.by(), held.again)
