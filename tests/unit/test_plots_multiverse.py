"""Figures of a multiverse: what is drawn is what the rows say, and thousands of specifications stay light."""

from __future__ import annotations

import gzip
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from auditlib import AuditInputError
from auditlib.multiverse.shares import choice_means, variance_shares
from auditlib.multiverse.summaries import sign_counts
from auditlib.plots import held_choices, multiverse, style
from tests.unit.multiverses import AXES, DEFAULT, again, broken, made

ROWS = made(noise=0.02)
SIDES = ("interval above zero", "interval contains zero", "interval below zero")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def hairlines(ax):
    """Ends of the intervals of each side, by the place they stand at."""
    found = {}
    for line in ax.lines:
        if str(line.get_label()).startswith("interval"):
            x, y = (np.reshape(values, (-1, 3)) for values in line.get_data())
            assert np.isnan(y[:, 2]).all()  # a gap after each
            found[line.get_label()] = {place: tuple(ends) for place, ends in zip(x[:, 0], y[:, :2], strict=True)}
    return found


def bars(ax):
    """Share of each strip that has each choice, by the line it stands on."""
    return [(patch.get_data().baseline - patch.get_data().values) / 0.84 for patch in ax.patches]


def test_the_curve_has_every_interval_in_the_order_of_estimates():
    rows = broken(ROWS, 2, 8)
    figure = multiverse.specification_curve(rows, AXES, DEFAULT)
    top, below = figure.axes
    held = rows.dropna(subset="estimate").sort_values("estimate", kind="stable")
    drawn = hairlines(top)
    counted = sign_counts(rows)["n"]
    assert {side: len(drawn.get(side, ())) for side in SIDES} == {side: counted[side] for side in SIDES}
    ends = {place: pair for each in drawn.values() for place, pair in each.items()}
    np.testing.assert_allclose(
        [ends[place] for place in np.arange(len(held)) + 0.5], held[["low", "high"]].to_numpy(), rtol=1e-12
    )
    (estimates,) = (line for line in top.lines if line.get_label() == "estimate")
    np.testing.assert_array_equal(estimates.get_ydata(), held["estimate"])
    (dot,) = (line for line in top.lines if line.get_label() == "default")
    at = list(held.index).index(0)
    assert (dot.get_xdata()[0], dot.get_ydata()[0]) == (at + 0.5, held["estimate"].iloc[at])
    assert below.get_xlabel() == "34 specifications in the order of their estimates"


def test_choices_stand_under_their_specifications():
    _, below = multiverse.specification_curve(ROWS, AXES, names={"42": "first split", "seed": "split"}).axes
    told = [text.get_text() for text in below.get_yticklabels()]
    assert told[:4] == ["family", "logistic", "shallow_tree", "gradient_boosting"]
    assert told[-3:] == ["split", "first split", "43"]
    held, drawn = ROWS.sort_values("estimate"), bars(below)
    assert len(drawn) == sum(map(len, AXES.values()))
    np.testing.assert_allclose(drawn[0], held["family"] == "logistic", atol=1e-12)  # 36: a strip each
    np.testing.assert_allclose(drawn[-1], held["seed"] == 43, atol=1e-12)


def test_neighbours_share_a_strip_when_there_are_many():
    axes = {**AXES, "draw": tuple(range(30))}
    rows = made(axes, {axis: np.linspace(-0.1, 0.1, len(choices)) for axis, choices in axes.items()}, noise=0.01)
    figure = multiverse.specification_curve(rows, axes, {axis: choices[0] for axis, choices in axes.items()})
    drawn = bars(figure.axes[1])
    edges = figure.axes[1].patches[0].get_data().edges
    assert len(drawn[0]) == multiverse.STRIPS
    held = (rows.sort_values("estimate")["threshold"] == "top20").to_numpy()
    expected = [held[int(a) : int(b)].mean() for a, b in pairwise(edges)]
    np.testing.assert_allclose(drawn[4], expected, atol=1e-12)  # three families, then the second threshold
    np.testing.assert_allclose(sum(drawn[3:6]), 1, atol=1e-12)
    text = style.svg_text(figure)
    assert len(gzip.compress(text.encode())) < 100_000
    assert text.count("<path") < 400  # not one an interval


def test_a_default_without_an_estimate_is_not_marked():
    figure = multiverse.specification_curve(broken(ROWS, 0), AXES, DEFAULT)
    assert "default" not in [line.get_label() for line in figure.axes[0].lines]
    single = multiverse.specification_curve(ROWS[ROWS["seed"] == 42], AXES, DEFAULT)  # an axis of one choice
    assert "seed" not in [text.get_text() for text in single.axes[1].get_yticklabels()]
    with pytest.raises(AuditInputError, match="default: 'site' is none of the axes family"):
        multiverse.specification_curve(ROWS, AXES, DEFAULT | {"site": "A"})


def test_shares_have_their_intervals_and_stand_in_the_order_of_the_last():
    replicates = again(ROWS)
    found = {
        "by itself": variance_shares(ROWS, AXES, replicates),
        "with interactions": variance_shares(ROWS, AXES, replicates, interactions=True),
    }
    ax = multiverse.shares(found, names={"threshold": "rule"})
    order = list(found["with interactions"]["net"].sort_values().index)  # the largest is on top
    assert [text.get_text() for text in ax.get_yticklabels()] == [{"threshold": "rule"}.get(a, a) for a in order]
    nets, bars_ = ax.lines[::2], ax.lines[1::2]
    for table, net, plain, spans in zip(found.values(), nets, bars_, ax.collections, strict=True):
        np.testing.assert_array_equal(net.get_xdata(), table.loc[order, "net"])
        np.testing.assert_array_equal(plain.get_xdata(), table.loc[order, "share"])
        np.testing.assert_array_equal([s[:, 0] for s in spans.get_segments()], table.loc[order, ["low", "high"]])
    heights = np.concatenate([line.get_ydata() for line in nets])
    assert len(set(heights.round(6))) == 8
    unknown = variance_shares(ROWS, AXES, again(ROWS, sd=0.5))  # no net share: the order of the plain ones
    told = [text.get_text() for text in multiverse.shares({"": unknown}).get_yticklabels()]
    assert told == list(unknown.loc[list(AXES), "share"].sort_values().index)
    one = multiverse.shares(found["with interactions"])  # a table alone is one series
    assert one.get_legend_handles_labels()[1] == ["with interactions", "with the luck of the patients"]
    assert multiverse.shares(found["by itself"]).get_legend_handles_labels()[1][0] == "by itself"
    with pytest.raises(AuditInputError, match=r"give them by name, .*variance_shares.*not a bare list"):
        multiverse.shares([found["by itself"]])
    failed = broken(ROWS, *ROWS.index).drop(columns=["estimate", "low", "high"])
    with pytest.raises(AuditInputError, match=r"all 36 specifications failed, the first: ValueError: nobody"):
        multiverse.specification_curve(failed, AXES)
    with pytest.raises(AuditInputError, match="lacks net, low, high; see variance_shares"):
        multiverse.shares({"": variance_shares(ROWS, AXES)})
    with pytest.raises(AuditInputError, match="of the same axes, at least one"):
        multiverse.shares({"a": found["by itself"], "b": found["by itself"].iloc[:2]})
    with pytest.raises(AuditInputError, match="of the same axes, at least one"):
        multiverse.shares({})


def test_shifts_have_their_intervals():
    means = choice_means(ROWS, AXES, again(ROWS))
    found = {"from all": means, "from the default": choice_means(ROWS, AXES, again(ROWS), default=DEFAULT)}
    figure = multiverse.shifts(found, names={"seed": "split", "43": "second"})
    drawn = [means, found["from the default"].query("~default")]
    for ax, title, table in zip(figure.axes, found, drawn, strict=True):
        assert title in (ax.get_title(), ax.get_title(loc="left"))
        (dots,) = (line.get_xdata() for line in ax.lines if line.get_marker() == "o")
        np.testing.assert_allclose(dots, 100 * table["shift"])
        (spans,) = ax.collections
        ends = [segment[:, 0] for segment in spans.get_segments()]
        np.testing.assert_allclose(ends, 100 * table[["shift_low", "shift_high"]])
        low, high = ax.get_xlim()
        assert [low, high] == [ax.get_xticks()[0], ax.get_xticks()[-1]]
        assert low <= np.min(ends)
        assert np.max(ends) <= high
        assert ax.get_yticklabels()[-1].get_text() == "split: second"
    assert len(drawn[1]) == len(drawn[0]) - len(AXES)
    with pytest.raises(AuditInputError, match="lacks shift_low, shift_high"):
        multiverse.shifts({"": choice_means(ROWS, AXES)})
    for nothing in ({}, {"": found["from the default"].query("default")}):
        with pytest.raises(AuditInputError, match="with a choice that is not the default's"):
            multiverse.shifts(nothing)


@pytest.mark.parametrize("chosen", [{"threshold": "top20"}, {"threshold": "any", "seed": 43}, {"family": "any"}])
def test_holding_counts_what_has_the_choices(chosen):
    figure = held_choices.holding(ROWS, chosen)
    (ax,) = figure.axes
    held = ROWS
    for axis, choice in chosen.items():
        held = held if choice == "any" else held[held[axis] == choice]
    n = sign_counts(held)["n"]
    assert ax.get_xlabel().splitlines()[1:] == [
        f"{n['positive']} positive, {n['zero']} zero, {n['negative']} negative",
        f"intervals: {n[SIDES[0]]} above zero, {n[SIDES[1]]} contain it, {n[SIDES[2]]} below",
    ]
    heights = {bar.get_label(): sum(patch.get_height() for patch in bar) for bar in ax.containers}
    counted = sign_counts(held)["n"]
    assert heights == {side: counted[side] for side in SIDES}
    (outline,) = (patch for patch in ax.patches if patch.get_label() == "all specifications")
    assert outline.get_data().values.sum() == len(ROWS)
    edges = outline.get_data().edges
    assert np.abs(edges).min() < 1e-12
    below = sum(h for h, edge in zip(outline.get_data().values, edges, strict=False) if edge < -1e-12)
    assert below == (ROWS["estimate"] < 0).sum()
    limits = {held_choices.holding(ROWS, {"seed": seed}).axes[0].get_xlim() for seed in (42, 43)}
    assert len(limits) == 1  # frames compare


def test_holding_in_words():
    rows = broken(made(), 0)
    assert held_choices.holding_words(rows, {"threshold": "train_prevalence", "seed": "any"}) == (
        "threshold train_prevalence: of 11 estimates 0 positive and 11 negative; "
        "intervals above zero 0, below 5, containing it 6."
    )
    assert held_choices.holding_words(rows, {"seed": "any"}).startswith("all choices: of 35 ")
    assert held_choices.holding_words(rows, {"seed": 42}, {"seed": "split", "42": "first"}).startswith(
        "split first: of 17 "
    )


def test_wrong_input_is_answered_in_words():
    for call, said in (
        (lambda: multiverse.specification_curve(ROWS, ["site"]), "lacks site"),
        (lambda: multiverse.specification_curve(broken(ROWS, *ROWS.index), AXES), "none of 36 specifications has"),
        (lambda: held_choices.holding(ROWS, {"seed": 44}), "seed = 44: no row left has it; there is 42, 43"),
        (lambda: held_choices.holding(ROWS, {"site": "any"}), "lacks site"),
        (lambda: held_choices.holding_words(pd.DataFrame(), {"seed": 42}), "lacks seed"),
        (lambda: multiverse.shifts({"": None}), "must be a DataFrame"),
    ):
        with pytest.raises(AuditInputError, match=said):
            call()
