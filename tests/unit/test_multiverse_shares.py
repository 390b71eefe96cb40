"""Variance shares and means by choice: against closed forms, statsmodels and brute force."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from auditlib import AuditInputError
from auditlib.multiverse.shares import REST, choice_means, variance_shares
from tests.unit.multiverses import AXES, DEFAULT, EFFECTS, MEAN, again, broken, made

ROWS = made(noise=0.02)


def anova(rows, axes=tuple(AXES)):
    """Type II sums of squares over the total: what an axis adds to all others."""
    formula = "estimate ~ " + " + ".join(f"C({axis})" for axis in axes)
    table = anova_lm(ols(formula, rows.dropna(subset="estimate")).fit(), typ=2)["sum_sq"]
    estimates = rows["estimate"].dropna()
    return (table / ((estimates - estimates.mean()) ** 2).sum()).to_numpy()


def test_shares_of_known_effects():
    """Without noise SS_axis = N · mean of squared effects, and nothing is left for interactions."""
    squares = {axis: np.mean(np.square(EFFECTS[axis])) for axis in AXES}
    found = variance_shares(made(), AXES)
    for axis in AXES:
        assert found.loc[axis, "share"] == pytest.approx(squares[axis] / sum(squares.values()), abs=1e-12)
    assert found.loc[REST, "share"] == pytest.approx(0, abs=1e-12)
    assert found["choices"].tolist() == [3, 3, 2, 2, pd.NA]


def test_shares_are_those_of_statsmodels():
    np.testing.assert_allclose(variance_shares(ROWS, AXES)["share"], anova(ROWS), atol=1e-12)
    lacking = broken(ROWS, 0, 1, 5, 17, 30, 31, 32)
    found = variance_shares(lacking, AXES)
    np.testing.assert_allclose(found["share"], anova(lacking), atol=1e-12)
    assert found["share"].sum() != pytest.approx(1, abs=1e-3)  # no longer balanced
    few = ["threshold", "seed"]
    np.testing.assert_allclose(variance_shares(lacking, few)["share"], anova(lacking, few), atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(-3, 3), st.floats(0.1, 10))
def test_shares_of_a_full_factorial_add_up_and_know_no_unit(seed, shift, scale):
    rows = made(seed=seed, noise=0.05)
    share = variance_shares(rows, AXES)["share"]
    assert share.sum() == pytest.approx(1, abs=1e-10)
    assert (share >= -1e-12).all()
    other = rows.assign(estimate=shift + scale * rows["estimate"]).sample(frac=1, random_state=seed)
    np.testing.assert_allclose(variance_shares(other, list(AXES)[::-1])["share"][share.index], share, atol=1e-10)


def saturated(rows, axis):
    """What the model of all other axes with all their interactions leaves, over the total."""
    others = " * ".join(f"C({other})" for other in AXES if other != axis)
    return ols(f"estimate ~ {others}", rows).fit().ssr / ((rows["estimate"] - rows["estimate"].mean()) ** 2).sum()


def test_shares_with_interactions_are_what_the_other_axes_leave():
    found = variance_shares(ROWS, AXES, interactions=True)
    np.testing.assert_allclose(found["share"], [saturated(ROWS, axis) for axis in AXES], atol=1e-12)
    assert list(found.index) == list(AXES)
    alone = variance_shares(ROWS, AXES)["share"]
    assert (found["share"] >= alone[list(AXES)] - 1e-12).all()
    np.testing.assert_allclose(
        variance_shares(made(), AXES, interactions=True)["share"],
        variance_shares(made(), AXES)["share"][:-1],
        atol=1e-12,
    )
    lacking = broken(ROWS, 0, 1, 5, 17, 30, 31, 32)
    groups = lacking.dropna(subset="estimate").groupby(["family", "threshold", "bands"])["estimate"]
    within = ((lacking["estimate"] - groups.transform("mean")) ** 2).sum() / lacking["estimate"].var(ddof=0) / 29
    assert variance_shares(lacking, AXES, interactions=True).loc["seed", "share"] == pytest.approx(within)
    gone = variance_shares(broken(ROWS, *ROWS.index[ROWS["seed"] == 43]), AXES, interactions=True)
    assert np.isnan(gone.loc["seed", "share"])
    assert variance_shares(ROWS, ["seed"], interactions=True)["share"].tolist() == pytest.approx([1.0])


def test_a_choice_that_only_turns_another_round_has_a_share_with_it():
    """Seed 43 turns the bands round: no main effect of either, all of the variance in their interaction."""
    rows = ROWS.assign(estimate=np.where((ROWS["bands"] == "10–29 v 60+") == (ROWS["seed"] == 42), 0.1, -0.1))
    assert variance_shares(rows, AXES)["share"].round(12).tolist() == [0, 0, 0, 0, 1]
    assert variance_shares(rows, AXES, interactions=True)["share"].round(12).tolist() == [0, 0, 1, 1]


def test_axes_that_failures_leave_inseparable_have_no_share():
    confounded = broken(ROWS, *ROWS.index[(ROWS["bands"] == "<50 v 70+") != (ROWS["seed"] == 43)])
    found = variance_shares(confounded, AXES)["share"]
    assert found[["bands", "seed"]].isna().all()
    assert found[["family", "threshold", REST]].notna().all()
    lost = variance_shares(broken(ROWS, *ROWS.index[ROWS["seed"] == 43]), AXES)
    assert np.isnan(lost.loc["seed", "share"])
    assert lost.loc["seed", "choices"] == 1
    assert lost.loc["family", "share"] > 0


def test_equal_estimates_have_no_shares():
    found = variance_shares(ROWS.assign(estimate=0.1), AXES, again(ROWS.assign(estimate=0.1)))
    assert found[["share", "net"]].isna().all(axis=None)
    assert (found["low"] == 0).all()
    assert (found["high"] == 1).all()


def by_hand(rows, replicates, level=0.95, interactions=False):
    """Net shares and limits in a full factorial, from means by choice, or by all other choices."""

    def squares(values):
        about = values - values.mean(axis=0)
        parts = {}
        for axis in AXES:
            by = [rows[other].to_numpy() for other in AXES if other != axis] if interactions else rows[axis].to_numpy()
            means = pd.DataFrame(about).groupby(by).transform("mean").to_numpy()
            parts[axis] = ((about - means if interactions else means) ** 2).sum(axis=0)
        total = (about**2).sum(axis=0)
        return parts | {REST: total - sum(parts.values()), "total": total}

    y, z = rows[["estimate"]].to_numpy(), np.asarray(replicates)
    plain, star, centred = squares(y), squares(z), squares(z - z.mean(axis=1, keepdims=True))
    noise = {key: value.sum() / (z.shape[1] - 1) for key, value in centred.items()}
    lines = {}
    for key in [*AXES, *([] if interactions else [REST])]:
        net = (plain[key][0] - noise[key]) / (plain["total"][0] - noise["total"])
        shares = np.clip((star[key] - 2 * noise[key]) / (star["total"] - 2 * noise["total"]), 0, 1)
        lines[key] = [min(max(net, 0), 1), *np.quantile(shares, [(1 - level) / 2, (1 + level) / 2])]
    return pd.DataFrame(lines, ["net", "low", "high"]).T


@pytest.mark.parametrize("interactions", [False, True])
def test_net_shares_and_their_interval_by_hand(interactions):
    replicates = again(ROWS)
    found = variance_shares(ROWS, AXES, replicates, level=0.9, interactions=interactions)
    np.testing.assert_allclose(found[["net", "low", "high"]], by_hand(ROWS, replicates, 0.9, interactions), atol=1e-10)
    assert (found["replicates"] == 100).all()
    np.testing.assert_array_equal(found["share"], variance_shares(ROWS, AXES, interactions=interactions)["share"])
    swapped = variance_shares(ROWS.iloc[::-1], AXES, replicates.iloc[::-1], level=0.9, interactions=interactions)
    np.testing.assert_allclose(swapped["net"], found["net"], atol=1e-12)


def test_noise_between_seeds_is_taken_out():
    rows = made()
    luck = 0.035 * np.where(rows["seed"] == 43, 1.0, -1.0)  # what patients alone can do
    rng = np.random.default_rng(3)
    noise = 0.05 * rng.normal(size=(2, 500))[(rows["seed"] == 43).to_numpy().astype(int)]
    seen = rows.assign(estimate=rows["estimate"] + luck)
    found = variance_shares(seen, AXES, seen["estimate"].to_numpy()[:, None] + noise)
    assert found.loc["seed", "share"] > 0.25
    assert found.loc["seed", "net"] < 0.1
    assert found.loc["seed", "low"] == 0
    assert found.loc["threshold", "net"] > found.loc["threshold", "share"]


def test_more_noise_than_variance_leaves_everything_open():
    found = variance_shares(ROWS, AXES, again(ROWS, sd=0.5))
    assert found["net"].isna().all()
    assert found[["low", "high"]].drop_duplicates().values.tolist() == [[0, 1]]


def test_replicates_that_lack_an_estimate_are_left_out():
    replicates = again(ROWS)
    replicates.iloc[3, :10] = np.nan
    found = variance_shares(ROWS, AXES, replicates)
    assert set(found["replicates"]) == {90}
    pd.testing.assert_frame_equal(found, variance_shares(ROWS, AXES, replicates.iloc[:, 10:]))
    lacking = broken(ROWS, 3)  # its replicates do not matter then
    assert set(variance_shares(lacking, AXES, replicates)["replicates"]) == {100}
    replicates.iloc[4] = np.nan
    empty = variance_shares(ROWS, AXES, replicates)
    assert empty[["net", "low", "high"]].isna().all(axis=None)
    assert set(empty["replicates"]) == {0}
    assert choice_means(ROWS, AXES, replicates)[["mean_low", "shift_high"]].isna().all(axis=None)


def test_means_by_choice():
    found = choice_means(made(), AXES).set_index(["axis", "choice"])
    for axis, choices in AXES.items():
        for choice, effect in zip(choices, EFFECTS[axis], strict=True):
            assert found.loc[(axis, choice), "shift"] == pytest.approx(effect, abs=1e-12)
            assert found.loc[(axis, choice), "mean"] == pytest.approx(MEAN + effect, abs=1e-12)
            assert found.loc[(axis, choice), "n"] == 36 / len(choices)


def test_intervals_of_means_are_percentiles_and_shifts_are_paired():
    replicates = again(ROWS, n=400)
    found = choice_means(ROWS, AXES, replicates, level=0.9).set_index(["axis", "choice"])
    z, tree = replicates.to_numpy(), (ROWS["family"] == "shallow_tree").to_numpy()
    np.testing.assert_allclose(
        found.loc[("family", "shallow_tree"), ["mean_low", "mean_high"]].astype(float),
        np.quantile(z[tree].mean(axis=0), [0.05, 0.95]),
    )
    shifts = z[tree].mean(axis=0) - z.mean(axis=0)
    np.testing.assert_allclose(
        found.loc[("family", "shallow_tree"), ["shift_low", "shift_high"]].astype(float),
        np.quantile(shifts, [0.05, 0.95]),
    )
    width = found.assign(mean=found["mean_high"] - found["mean_low"], shift=found["shift_high"] - found["shift_low"])
    assert width.loc["family", "shift"].max() < 0.3 * width.loc["family", "mean"].min()  # common noise cancels
    lost = choice_means(broken(ROWS, *ROWS.index[ROWS["seed"] == 43]), ["seed"], replicates).set_index("choice")
    assert lost.loc[43, "n"] == 0
    assert lost.loc[43, "mean":].isna().all()
    assert lost.loc[42, "shift"] == pytest.approx(0)


def test_shifts_from_the_default_are_differences_of_means():
    replicates, start = again(ROWS), DEFAULT | {"family": "shallow_tree"}
    found = choice_means(ROWS, AXES, replicates, level=0.9, default=start).set_index(["axis", "choice"])
    assert [pair for pair, own in found["default"].items() if own] == list(start.items())
    assert (found.loc[found["default"], ["shift", "shift_low", "shift_high"]] == 0).all(axis=None)
    for axis in AXES:
        means = ROWS.groupby(axis)["estimate"].mean()
        for choice in AXES[axis]:
            assert found.loc[(axis, choice), "shift"] == pytest.approx(means[choice] - means[start[axis]])
    by = replicates.groupby(ROWS["family"]).mean()
    limits = np.quantile(by.loc["gradient_boosting"] - by.loc["shallow_tree"], [0.05, 0.95])
    shown = found.loc[("family", "gradient_boosting"), ["shift_low", "shift_high"]].astype(float)
    np.testing.assert_allclose(shown, limits)
    about = choice_means(ROWS, AXES, replicates, level=0.9).set_index(["axis", "choice"])
    columns = ["shift", "shift_low", "shift_high"]  # of two choices, one is half a switch from the mean of both
    np.testing.assert_allclose(found.loc[("seed", 43), columns], 2 * about.loc[("seed", 43), columns].astype(float))
    assert "default" not in about
    gone = broken(ROWS, *ROWS.index[ROWS["seed"] == 42])
    assert choice_means(gone, ["seed"], replicates, default=start)[["shift", "shift_low"]].isna().all(axis=None)
    for wrong, said in (
        ("a", "give the choice of family, threshold, bands, seed"),
        ({"family": "logistic"}, "give the choice of family"),
        (DEFAULT | {"seed": 44}, "no row has seed = 44"),
    ):
        with pytest.raises(AuditInputError, match=said):
            choice_means(ROWS, AXES, default=wrong)


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for interactions in (False, True):
            variance_shares(broken(ROWS, *ROWS.index[ROWS["seed"] == 43]), AXES, again(ROWS), interactions=interactions)


BAD = [
    ({"axes": "family"}, "give the names of the columns"),
    ({"axes": []}, "give the names of the columns"),
    ({"axes": ["family", "family"]}, "named twice"),
    ({"axes": ["family", "site"]}, "rows: no column site; there are family"),
    ({"axes": ["family", "n_a"]}, "n_a has one choice in these rows"),
    (
        {"rows": ROWS.iloc[:1]},
        r"family has one choice in these rows \(so have threshold, bands, seed\), .* leave it out",
    ),
    ({"rows": ROWS[ROWS["seed"] == 42]}, r"seed has one .*leave it out: axes=\['family', 'threshold', 'bands'\]"),
    ({"rows": ROWS.iloc[:0]}, "give a DataFrame with one row"),
    ({"rows": ROWS.drop(columns="estimate")}, "rows: no column estimate"),
    ({"rows": broken(ROWS, *ROWS.index[1:])}, "1 of 36 estimates are defined; a comparison needs two"),
    ({"rows": ROWS.drop(columns=["low", "high"]).assign(estimate="x")}, "estimate must hold numbers"),
    ({"replicates": again(ROWS).iloc[:35]}, "numbers in 36 rows"),
    ({"replicates": again(ROWS).iloc[::-1]}, "labelled otherwise"),
    ({"replicates": again(ROWS).iloc[:, :1]}, "at least 2 columns"),
    ({"replicates": again(ROWS)[0].to_numpy()}, r"shape \(36,\)"),
    ({"replicates": again(ROWS).astype(str)}, "numbers in 36 rows"),
    ({"level": 95}, "level must lie between 0 and 1"),
]


@pytest.mark.parametrize(("change", "said"), BAD)
@pytest.mark.parametrize("summary", [variance_shares, choice_means])
def test_wrong_input_is_answered_in_words(summary, change, said):
    with pytest.raises(AuditInputError, match=said):
        summary(**({"rows": ROWS, "axes": list(AXES), "replicates": again(ROWS)} | change))
