"""Figures of estimates beside the truth: what is drawn is what the table says."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import auditlib as al
from auditlib.plots import strategies, style
from auditlib.studies import study_table

SIZES = pd.DataFrame(
    {
        "strategy": ["NoSA", "NoSA", "OneEach", "OneEach"],
        "group": "D",
        "method": ["apparent", "corrected"] * 2,
        "n": 500,
        "best": 9000.0,
        "truth": [8900.0, 8900.0, 8950.0, 8950.0],
        "truth_se": 5.0,
        "controlled": [40.0, 4.0, 120.0, 10.0],
        "controlled_se": [6.0, 7.0, 8.0, 9.0],
    }
)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def bars(ax):
    """Ends of the intervals, in the order drawn."""
    return [segment[:, 0].tolist() for collection in ax.collections for segment in collection.get_segments()]


def test_lines_are_per_ten_thousand_and_carry_the_truth_of_their_group():
    table = al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
    found = al.benefit_interval(table, 0.15, 0.58)
    truth = found.estimate.isel(group=[1, 0]) + 0.01
    rows = strategies.lines(found, "apparent", "group", truth).set_index("name")
    for level in ("Women", "Men"):
        for name in ("estimate", "low", "high"):
            assert rows.loc[level, name] == pytest.approx(10_000 * float(found[name].sel(group=level)))
        assert rows.loc[level, "truth"] == pytest.approx(rows.loc[level, "estimate"] + 100)
    with pytest.raises(al.AuditInputError, match="must lie over 'group' alone"):
        strategies.lines(found.expand_dims(model=["m"]), "apparent", "group")
    with pytest.raises(al.AuditInputError, match="truth: of the groups of the interval it lacks 'Men'"):
        strategies.lines(found, "apparent", "group", truth.sel(group=["Women"]))
    with pytest.raises(al.AuditInputError, match="truth must lie over 'group' alone"):
        strategies.lines(found, "apparent", "group", truth.sel(group="Women"))


def test_judged_draws_every_interval_and_every_truth_in_the_order_of_the_methods():
    table = pd.DataFrame(
        {
            "name": ["A", "A", "B", "B"],
            "series": ["held-out", "apparent"] * 2,
            "estimate": [1.0, 2.0, 3.0, 4.0],
            "low": [0.5, 1.5, 2.5, 3.5],
            "high": [1.5, 2.5, 3.5, 4.5],
            "truth": [1.1, 2.1, 3.1, 4.1],
        }
    )
    ax = strategies.judged(table)
    assert bars(ax) == [[1.5, 2.5], [3.5, 4.5], [0.5, 1.5], [2.5, 3.5]]  # apparent first
    assert [text.get_text() for text in ax.get_yticklabels()] == ["A", "B"]
    drawn = {line.get_label(): line for line in ax.lines}
    assert drawn["apparent"].get_color() == style.GROUPS[0]
    assert drawn["held-out"].get_color() == style.GROUPS[3]  # as on every other figure
    assert drawn["truth"].get_xdata().tolist() == [1.1, 3.1]
    heights = np.concatenate([line.get_ydata() for line in ax.lines])
    assert len(set(heights.round(6))) == 4  # an estimate and its truth share a line; no two estimates do
    with pytest.raises(al.AuditInputError, match="only 6 colours"):
        strategies.judged(pd.concat([table.assign(series=f"way {k}") for k in range(7)]))


@pytest.mark.parametrize("controlled", [False, True])
def test_errors_are_mean_and_monte_carlo_limits(controlled):
    table = SIZES.assign(error=[1.0, 2.0, 3.0, 4.0], error_se=[1.0, 1.0, 2.0, 2.0])
    ax = strategies.errors(table, "strategy", controlled=controlled)
    mean, se = (table[f"{'controlled' if controlled else 'error'}{end}"] for end in ("", "_se"))
    expected = np.c_[mean - 1.959964 * se, mean + 1.959964 * se][[0, 2, 1, 3]]
    np.testing.assert_allclose(bars(ax), expected, rtol=1e-6)
    assert ax.lines[-1].get_xdata() == [0, 0]
    assert ax.lines[-1].get_zorder() > 0.5  # where the grid of the house style lies


def test_sizes_are_below_the_best():
    differences = SIZES.assign(strategy="OneEach − NoSA", best=np.nan)  # are in the study's table, too
    rows = strategies.sizes(pd.concat([SIZES, differences]), 500, "D").set_index(["name", "series"])
    assert rows["estimate"].to_dict() == {
        ("NoSA", "apparent"): -60.0,
        ("NoSA", "corrected"): -96.0,
        ("NoSA", "true"): -100.0,
        ("OneEach", "apparent"): 70.0,
        ("OneEach", "corrected"): -40.0,
        ("OneEach", "true"): -50.0,
    }
    assert rows.loc[("OneEach", "true"), "high"] == pytest.approx(-50 + 1.959964 * 5)
    assert strategies.size_words(SIZES, 500, "D") == (
        "500 people, group D, sNB minus that of the true risk per 10,000. "
        "NoSA: apparent −60 (−72 to −48), corrected −96 (−110 to −82), true −100 (−110 to −90); "
        "OneEach: apparent +70 (+54 to +86), corrected −40 (−58 to −22), true −50 (−60 to −40)."
    )
    level = SIZES.assign(best=8900.0, controlled_se=1e-3)  # nothing is said of +0 or −0
    assert "NoSA: apparent +40 (+40 to +40), corrected +4 (+4 to +4), true 0 (−10 to +10)" in (
        strategies.size_words(level, 500, "D")
    )
    ax = strategies.by_size(SIZES, 500, "D").axes[0]
    low, high = ax.get_xlim()
    assert low < rows["low"].min()
    assert high > max(rows["high"].max(), 0)
    with pytest.raises(al.AuditInputError, match=r"n = 7, group = 'D': not in the table; there is n of \[500\]"):
        strategies.by_size(SIZES, 7, "D")
    with pytest.raises(al.AuditInputError, match="the table lacks truth_se; see the study optimism_sizes"):
        strategies.sizes(SIZES.drop(columns="truth_se"), 500, "D")
    for part in (SIZES.iloc[:3], pd.concat([SIZES, SIZES.iloc[3:]])):
        with pytest.raises(al.AuditInputError, match="OneEach: one row for apparent and one for corrected are needed"):
            strategies.sizes(part, 500, "D")
    with pytest.raises(al.AuditInputError, match="estimate or low or high is not defined for OneEach"):
        strategies.size_words(SIZES.assign(truth=[8900.0, 8900.0, np.nan, np.nan]), 500, "D")


def test_tables_without_their_columns():
    with pytest.raises(al.AuditInputError, match="the table lacks name, series, estimate, low, high"):
        strategies.judged(SIZES)
    with pytest.raises(al.AuditInputError, match="the table lacks error, error_se; see the study optimism"):
        strategies.errors(SIZES, "strategy")
    with pytest.raises(al.AuditInputError, match="the table lacks size"):
        strategies.errors(SIZES, "size", controlled=True)


def test_all_sizes_of_the_committed_table_share_an_axis():
    table = study_table("optimism_sizes")
    limits = {strategies.by_size(table, n, "D").axes[0].get_xlim() for n in sorted(set(table["n"]))}
    assert len(limits) == 1
