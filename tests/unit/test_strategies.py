"""How a model may use the attribute: each strategy against the same fit by other means."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.linear_model import LogisticRegression

from auditlib import AuditInputError
from auditlib.models import LEARNERS, PENALTY, STRATEGIES, family, fit_strategy, preprocessor, propensity_weights

N = 1_200


@pytest.fixture(scope="module")
def cohort():
    """Three groups of unlike size, prevalence and age."""
    rng = np.random.default_rng(5)
    group = rng.choice(["B", "A", "C"], N, p=[0.3, 0.6, 0.1])
    x = pd.DataFrame({"age": rng.normal(50, 12, N) + 6 * (group == "B"), "bmi": rng.normal(28, 5, N)})
    x["noise"] = rng.normal(size=N)
    log_odds = -2 + 0.05 * (x["age"] - 50) + 0.08 * (x["bmi"] - 28) + 0.8 * (group == "B")
    y = (rng.random(N) < 1 / (1 + np.exp(-log_odds))).astype(int).to_numpy()
    return x, y, group


def by_statsmodels(x, y, penalty=PENALTY):
    """Predictions of ``sm.Logit(y, [1, z]).fit_regularized(alpha=[0, n·penalty, …])``, z standardised."""
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    design = sm.add_constant(np.asarray(z))
    alpha = np.r_[0, np.full(z.shape[1], len(y) * penalty)]
    fit = sm.Logit(y, design).fit_regularized(alpha=alpha, disp=0, acc=1e-12, maxiter=2_000)
    return fit.predict(design)


def test_left_out_against_statsmodels(cohort):
    x, y, group = cohort
    found = fit_strategy("NoSA", "lasso", x, y, group).predict(x)
    # the intercept, which liblinear shrinks by penalty/100, moves the mean risk by 1e-5
    assert found == pytest.approx(by_statsmodels(x.to_numpy(), y), abs=5e-5)
    assert found.mean() - y.mean() == pytest.approx(PENALTY / 100, abs=2e-6)


def test_attribute_in_is_one_indicator_a_group(cohort):
    x, y, group = cohort
    found = fit_strategy("SingleSA", "lasso", x, y, group).predict(x, group)
    by_hand = np.column_stack([x, group == "A", group == "B", group == "C"]).astype(float)
    assert found == pytest.approx(by_statsmodels(by_hand, y), abs=1e-4)
    z = (by_hand - by_hand.mean(axis=0)) / by_hand.std(axis=0)
    sk = LogisticRegression(l1_ratio=1, solver="saga", C=1 / (N * PENALTY), tol=1e-10, max_iter=20_000).fit(z, y)
    assert found == pytest.approx(sk.predict_proba(z)[:, 1], abs=1e-4)


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_each_is_separate_fits(cohort, learner):
    x, y, group = cohort
    found = fit_strategy("OneEach", learner, x, y, group).predict(x, group)
    for level in "ABC":
        own = group == level
        alone = fit_strategy("NoSA", learner, x[own], y[own])
        assert np.array_equal(found[own], alone.predict(x[own]))


def test_weights_are_the_formula_by_hand(cohort):
    x, _, group = cohort
    found = propensity_weights(x, group)
    assert list(found.columns) == ["A", "B", "C"]
    assert found.index.equals(x.index)
    capped = 0
    for level in "ABC":
        own = group == level
        p = sm.Logit(own.astype(float), sm.add_constant(x)).fit(disp=0, tol=1e-12).predict()
        s = own.mean()
        raw = p / (1 - p) * (1 - s) / s
        assert found[level].to_numpy() == pytest.approx(np.where(own, 1, np.minimum(1, raw)), abs=1e-4)
        assert (found.loc[own, level] == 1).all()
        capped += (found.loc[~own, level] == 1).sum()
        assert ((raw[~own] > 1) == (found.loc[~own, level] == 1)).all()
    assert capped > 100


def test_one_model_a_group_on_all_rows_weighted(cohort):
    """Weights in thirds are rows repeated up to three times: only their ratios count."""
    x, y, group = cohort
    rng = np.random.default_rng(2)
    times = pd.DataFrame(rng.integers(0, 4, (N, 3)), columns=list("ABC"))
    for level in "ABC":
        times.loc[group == level, level] = 3
    found = fit_strategy("MultiSA", "lasso", x, y, group, weights=times / 3).predict(x, group)
    for level in "ABC":
        repeated = np.repeat(np.arange(N), times[level])
        alone = fit_strategy("NoSA", "lasso", x, y, rows=repeated)
        assert found[group == level] == pytest.approx(alone.predict(x[group == level]), abs=1e-5)


def test_boosting_is_the_family_fitted_with_the_weights(cohort):
    x, y, group = cohort
    weights = propensity_weights(x, group)
    found = fit_strategy("MultiSA", "boosting", x, y, group, weights=weights).predict(x, group)
    alone = family("gradient_boosting").fit(x.to_numpy(), y, sample_weight=weights["B"].to_numpy())
    own = group == "B"
    assert np.array_equal(found[own], alone.predict_proba(x[own].to_numpy())[:, 1])


def test_weights_are_computed_when_not_given(cohort):
    x, y, group = cohort
    given = fit_strategy("MultiSA", "lasso", x, y, group, weights=propensity_weights(x, group))
    computed = fit_strategy("MultiSA", "lasso", x, y, group)
    assert np.array_equal(given.predict(x, group), computed.predict(x, group))


@pytest.mark.parametrize("learner", LEARNERS)
def test_left_out_ignores_the_group(cohort, learner):
    x, y, group = cohort
    found = fit_strategy("NoSA", learner, x, y, group)
    other = fit_strategy("NoSA", learner, x, y, np.roll(group, 7))
    assert np.array_equal(found.predict(x, group), other.predict(x))


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_bits_are_reproducible_and_a_refit_takes_its_rows(cohort, strategy, learner):
    x, y, group = cohort
    weights = propensity_weights(x, group)
    rows = np.random.default_rng(3).integers(0, N, N)
    first, second = (
        fit_strategy(strategy, learner, x, y, group, weights=weights, rows=rows).predict(x, group) for _ in range(2)
    )
    assert np.array_equal(first, second)
    taken = (x.iloc[rows].to_numpy(), y[rows], group[rows])
    again = fit_strategy(strategy, learner, *taken, weights=weights.iloc[rows]).predict(x.to_numpy(), group)
    assert np.array_equal(first, again)


def test_one_penalty_serves_any_number_of_rows(cohort):
    x, y, group = cohort
    once = fit_strategy("SingleSA", "lasso", x, y, group).predict(x, group)
    twice = fit_strategy("SingleSA", "lasso", x, y, group, rows=np.tile(np.arange(N), 2)).predict(x, group)
    assert twice == pytest.approx(once, abs=1e-5)


def test_text_and_missing_numbers(cohort):
    x, y, _ = cohort
    mixed = x.assign(sex=np.where(np.arange(N) % 2, "F", "M"), age=x["age"].where(np.arange(N) % 10 > 0))
    found = fit_strategy("NoSA", "lasso", mixed, y).predict(mixed.iloc[::-1])
    prepared = preprocessor(mixed).fit_transform(mixed)[:, :-1]  # of two indicators one says all
    assert found[::-1] == pytest.approx(by_statsmodels(prepared, y), abs=1e-4)
    numbers = mixed.drop(columns="sex")
    filled = numbers.fillna({"age": numbers["age"].median()})
    assert np.array_equal(
        fit_strategy("NoSA", "lasso", numbers, y).predict(numbers),
        fit_strategy("NoSA", "lasso", filled, y).predict(filled),
    )
    assert np.array_equal(  # columns are found by name, and a number in a frame is that in an array
        fit_strategy("NoSA", "lasso", x, y).predict(x[["noise", "bmi", "age"]]),
        fit_strategy("NoSA", "lasso", x.to_numpy(), y).predict(x.to_numpy()),
    )


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_label_only_predicts_its_prevalence(cohort, learner):
    x, y, group = cohort
    rows = np.flatnonzero((group != "C") | (y == 0))
    found = fit_strategy("OneEach", learner, x, y, group, rows=rows).predict(x, group)
    assert (found[group == "C"] == 0).all()
    assert (found[group != "C"] > 0).all()
    borrowed = fit_strategy("MultiSA", learner, x, y, group, rows=rows).predict(x, group)
    assert (borrowed[group == "C"] > 0).all()  # the other groups' cases count
    assert (fit_strategy("NoSA", learner, x, np.ones(N), group).predict(x) == 1).all()


def test_a_group_not_drawn_has_no_model(cohort):
    x, y, group = cohort
    rows = np.flatnonzero(group != "C")
    found = fit_strategy("OneEach", "lasso", x, y, group, rows=rows).predict(x, group)
    assert np.array_equal(np.isnan(found), group == "C")


def test_a_group_told_for_certain_keeps_finite_weights():
    x, group = np.arange(400.0)[:, None], np.repeat(["A", "B"], 200)
    found = propensity_weights(x, group).to_numpy()
    assert np.isfinite(found).all()
    assert found[0].tolist() == [1, pytest.approx(0, abs=1e-6)]


def test_a_constant_column_takes_no_part(cohort):
    x, y, group = cohort
    more = x.assign(nothing=7.0)
    assert np.array_equal(
        fit_strategy("NoSA", "lasso", more, y).predict(more.assign(nothing=9.0)),
        fit_strategy("NoSA", "lasso", more, y).predict(more),
    )
    assert propensity_weights(more, group).to_numpy() == pytest.approx(propensity_weights(x, group).to_numpy())


WEIGHTS = pd.DataFrame({"a": [1, 0.2, 1, 1, 0.4, 0.5], "b": [0.2, 1, 0.3, 0.2, 1, 1]})


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"strategy": "Both"}, "strategy = 'Both': choose one of NoSA, SingleSA, OneEach, MultiSA"),
        ({"learner": "logistic"}, "learner = 'logistic': choose one of lasso, boosting"),
        ({"learner": None}, "learner = None"),
        ({"penalty": 0}, "penalty = 0"),
        ({"penalty": float("nan")}, "penalty = nan"),
        ({"penalty": True}, "penalty = True"),
        ({"y": [0, 1]}, r"y: its shape is \(2,\) for 6 rows"),
        ({"y": [0, 1, 2, 0, 1, 1]}, "1 rows hold neither 0 nor 1 but"),
        ({"y": [0, 1, None, 0, 1, 1]}, "1 rows hold neither 0 nor 1"),
        ({"group": None}, "group: one group a row is needed"),
        ({"group": ["a", "b"]}, "group: one group a row is needed"),
        ({"group": ["a", "b", None, "a", "b", "a"]}, "group: missing in 1 rows"),
        ({"rows": [0, 6]}, "rows: give positions of rows of X as whole numbers from 0 to 5"),
        ({"rows": [-1, 2]}, "rows: give positions"),
        ({"rows": [0.5]}, "rows: give positions"),
        ({"rows": []}, "rows: give positions"),
        ({"X": np.full((6, 1), np.inf)}, "X: 6 values are infinite"),
        ({"X": np.full((6, 1), np.nan)}, r"X: columns at positions \[0\] hold no value"),
        ({"X": np.zeros(6)}, "X: a table with at least one row and one column"),
        ({"X": np.zeros((0, 2))}, "X: a table with at least one row"),
        ({"X": [["a"]] * 6}, "X: some values are no numbers"),
        ({"X": pd.DataFrame({0: range(6)})}, "X: its columns need names of text"),
        ({"X": pd.DataFrame({"a": [1, "b", 2, 3, 4, 5]})}, "X: the predictors cannot be prepared"),
        ({"weights": pd.DataFrame({"a": [1.0] * 6})}, "weights: give propensity_weights"),
        ({"weights": pd.DataFrame({"a": [1.0] * 5, "b": [1.0] * 5})}, "weights: give propensity_weights"),
        ({"weights": WEIGHTS.assign(b=-1.0)}, "weights: some are negative, above 1 or missing"),
        ({"weights": WEIGHTS.assign(b=1.5)}, "weights: some are negative, above 1 or missing"),
        ({"weights": WEIGHTS.assign(b=np.inf)}, "weights: some are negative, above 1 or missing"),
        ({"weights": WEIGHTS.assign(b=np.nan)}, "weights: some are negative, above 1 or missing"),
        ({"weights": WEIGHTS.astype("Float64").mask(WEIGHTS < 1)}, "weights: some are negative, above 1 or missing"),
        ({"weights": WEIGHTS.astype(str)}, "weights: a, b hold no numbers"),
        ({"weights": WEIGHTS.assign(b=WEIGHTS["b"].astype(object))}, "weights: b hold no numbers"),
        ({"weights": WEIGHTS > 0.3}, "weights: a, b hold no numbers"),
        ({"weights": WEIGHTS.assign(c=1.0)}, "weights: give propensity_weights"),
        ({"weights": WEIGHTS.set_axis(["a", "a"], axis=1)}, "weights: give propensity_weights"),
        ({"weights": pd.concat([WEIGHTS, WEIGHTS[["a"]]], axis=1)}, "for each of a, b, each once"),
        ({"weights": WEIGHTS * 0}, "weights: in 6 rows that of the row's own group is not 1"),
        ({"weights": WEIGHTS.assign(b=0.0)}, "weights: in 3 rows that of the row's own group is not 1"),
        ({"weights": WEIGHTS[::-1].reset_index(drop=True)}, "weights: in 2 rows"),
        ({"group": [1, "1", 2, 1, "1", 2]}, "group: some names are equal or spelled alike, but of different types"),
        ({"group": [1, True, 2, 1, 1, 2]}, "group: some names are equal or spelled alike"),
        ({"seed": -1}, "seed = -1: give a whole number from 0 to 4,294,967,295"),
        ({"seed": 2**32}, "seed = 4294967296"),
        ({"seed": 1.5}, "seed = 1.5"),
        ({"seed": True}, "seed = True"),
        ({"seed": None}, "seed = None"),
        ({"seed": "42", "strategy": "NoSA"}, "seed = '42'"),
        ({"penalty": "0.01"}, "penalty = '0.01'"),
        ({"penalty": np.float32(1)}, r"penalty = np.float32\(1.0\)"),
        ({"weights": "propensity"}, "weights: give propensity_weights"),
    ],
)
def test_errors_in_words(changed, words):
    given = {
        "strategy": "MultiSA",
        "learner": "lasso",
        "X": np.arange(12.0).reshape(6, 2),
        "y": [0, 1, 1, 0, 1, 0],
        "group": ["a", "b", "a", "a", "b", "b"],
    }
    with pytest.raises(AuditInputError, match=words):
        fit_strategy(**{**given, **changed})


def test_rows_of_series_and_weights_must_be_those_of_the_predictors(cohort):
    """Rows go by position: what pandas would align by its index is an error, not another fit."""
    x, y, group = cohort
    weights = propensity_weights(x, group)
    series = {"y": pd.Series(y, x.index), "group": pd.Series(group, x.index)}
    fitted = fit_strategy("MultiSA", "lasso", x, **series, weights=weights)
    assert np.array_equal(
        fitted.predict(x, series["group"]),
        fit_strategy("MultiSA", "lasso", x, y, group, weights=weights).predict(x, group),
    )
    for name in series:
        turned = {**series, name: series[name][::-1]}
        with pytest.raises(AuditInputError, match=rf"^{name}: its index is not that of X"):
            fit_strategy("MultiSA", "lasso", x, **turned, weights=weights)
        other = "group" if name == "y" else "y"
        with pytest.raises(AuditInputError, match=r"^y: its index is not that of group"):
            fit_strategy("SingleSA", "lasso", x.to_numpy(), **turned)
        plain = {**turned, other: turned[other].to_numpy()}
        fit_strategy("SingleSA", "lasso", x.to_numpy(), **plain)  # positions are all there is
    fit_strategy("NoSA", "lasso", x, y, series["group"][::-1])  # not looked at
    with pytest.raises(AuditInputError, match=r"^y: its index is not that of X"):
        fit_strategy("NoSA", "lasso", x, series["y"][::-1])
    with pytest.raises(AuditInputError, match=r"^weights: its index is not that of X"):
        fit_strategy("MultiSA", "lasso", x, y, group, weights=weights[::-1])
    with pytest.raises(AuditInputError, match=r"^group: its index is not that of X"):
        fitted.predict(x, series["group"][::-1])
    with pytest.raises(AuditInputError, match=r"^group: its index is not that of X"):
        propensity_weights(x, series["group"][::-1])


def test_numbers_of_numpy_are_numbers(cohort):
    x, y, _ = cohort
    found = fit_strategy("NoSA", "lasso", x, y, penalty=np.float32(0.01), seed=np.int64(7)).predict(x)
    assert np.array_equal(
        found, fit_strategy("NoSA", "lasso", x, y, penalty=float(np.float32(0.01)), seed=7).predict(x)
    )
    assert found == pytest.approx(by_statsmodels(x.to_numpy(), y, 0.01), abs=5e-4)


def test_a_group_named_by_a_number_is_found_by_its_name(cohort):
    x, y, group = cohort
    number = pd.Series(group).map({"A": 1, "B": 2, "C": 3}).to_numpy()
    fitted = fit_strategy("SingleSA", "lasso", x, y, number)
    assert fitted.levels == ("1", "2", "3")
    assert np.array_equal(fitted.predict(x, number), fitted.predict(x, number.astype(str)))


def test_predicting_something_else(cohort):
    x, y, group = cohort
    fitted = fit_strategy("SingleSA", "lasso", x, y, group)
    for other, groups, words in (
        (x.drop(columns="bmi"), group, r"columns \['bmi'\] of the fit are absent"),
        (x.to_numpy(), group, "the fit was given a DataFrame"),
        (x, None, "group: one group a row"),
        (x, ["D"] * N, r"group: \['D'\] were not in the fit; its groups are A, B, C"),
    ):
        with pytest.raises(AuditInputError, match=words):
            fitted.predict(other, groups)
    with pytest.raises(AuditInputError, match="4 columns, 3 in the fit"):
        fit_strategy("NoSA", "lasso", x.to_numpy(), y).predict(np.zeros((2, 4)))
    with pytest.raises(AuditInputError, match="at least two groups"):
        propensity_weights(x, ["A"] * N)
