"""Cohorts of known risk: against numerical integration, formulas of simple rules, and large samples of themselves."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import integrate
from scipy.special import expit, logit
from scipy.stats import norm

from auditlib import AuditInputError
from auditlib.simulate import RiskCohort, RiskGroup

T, LAM = 0.15, 0.58
W = T / (1 - T)
COHORT = RiskCohort(
    {
        "A": RiskGroup(-2.5, (1.0, 0.5, 0.0), share=3.0),
        "B": RiskGroup(-1.5, (0.2, 0.9, 0.4), (0.5, -0.5, 0.0)),
    }
)


def everybody(people):
    return np.ones(len(people), dtype=bool)


def nobody(people):
    return np.zeros(len(people), dtype=bool)


def true_risk(people):
    """The risk of each of COHORT's people, from its parameters."""
    found = np.empty(len(people))
    for name, group in COHORT.groups.items():
        at = (people["group"] == name).to_numpy()
        found[at] = expit(
            group.intercept + people.loc[at, ["x1", "x2", "x3"]].to_numpy() @ np.array(group.coefficients)
        )
    return found


def integral(value, centre, scale, low=-np.inf):
    """∫ value(expit(u)) φ(u) du over u ≥ low, u ~ N(centre, scale²), by adaptive quadrature."""
    low, high = max(low, centre - 12 * scale), centre + 12 * scale
    return integrate.quad(
        lambda u: value(expit(u)) * norm.pdf(u, centre, scale), low, high, epsabs=1e-13, limit=500, points=[centre]
    )[0]


@pytest.mark.parametrize("coefficients", [(0.3,), (1.0, 0.7, 0.5), (3.0, -2.0), (8.0,)])
@pytest.mark.parametrize("intercept", [-4.0, -1.0, 2.0])
def test_prevalence_and_best_net_benefit_are_one_dimensional_integrals(intercept, coefficients):
    means = tuple(0.3 * k for k in range(len(coefficients)))
    group = RiskGroup(intercept, coefficients, means)
    centre = intercept + float(np.dot(coefficients, means))
    scale = float(np.linalg.norm(coefficients))
    assert group.predictor() == pytest.approx((centre, scale))
    assert group.prevalence() == pytest.approx(integral(lambda p: p, centre, scale), abs=1e-10)
    for t in (0.02, 0.15, 0.6):
        w = t / (1 - t)
        expected = integral(lambda p, w=w: p - w * (1 - p), centre, scale, float(logit(t)))
        assert group.net_benefit(t) == pytest.approx(expected, abs=1e-10)
    assert group.net_benefit(0) == pytest.approx(group.prevalence(), abs=1e-12)  # at t = 0 all are flagged


def test_logistic_normal_symmetry():
    """E expit(u) is exactly one half when u is symmetric about 0, whatever its spread."""
    assert RiskGroup(-1.0, (2.0, 0.5), (0.5, 0.0)).prevalence() == pytest.approx(0.5, abs=1e-12)
    assert RiskGroup(-1.0, (0.0,)).prevalence() == pytest.approx(expit(-1.0), abs=1e-15)


@pytest.mark.parametrize("slope", [20.0, 60.0, 1000.0, 9e5])
@pytest.mark.parametrize("intercept", [0.0, 3.0, -500.0, -4e5])
def test_steep_slopes(intercept, slope):
    """The risk is a step, to a width of 40 logits: adaptive quadrature on a mesh fine there, and the limit itself."""
    group = RiskGroup(intercept, (0.6 * slope, -0.8 * slope))
    mesh = np.clip(np.r_[np.linspace(-10, 10, 101), (np.linspace(-60, 60, 121) - intercept) / slope], -10, 10)
    for t in (0.0, 0.15, 0.6):
        low = (logit(t) - intercept) / slope if t else -10.0
        ends = np.unique(np.round([*mesh[mesh > low], max(low, -10.0)], 12))

        def value(z, w=t / (1 - t)):
            risk = expit(intercept + slope * z)
            return (risk - w * (1 - risk)) * norm.pdf(z)

        expected = sum(integrate.quad(value, a, b, epsabs=1e-14)[0] for a, b in pairwise(ends))
        assert group.net_benefit(t) == pytest.approx(expected, abs=1e-11)
        assert group.net_benefit(t) == pytest.approx(norm.cdf(intercept / slope), abs=1.2 / slope)
    assert group.prevalence() == pytest.approx(group.net_benefit(0), abs=1e-15)


@pytest.mark.parametrize("slope", [8.0, 20.0, 1000.0, 9e5])
def test_group_at_with_steep_slopes_has_the_prevalence_of_its_people(slope):
    group = RiskGroup.at(0.3, (slope, slope / 2), (0.5, 0.0))
    z = norm.ppf((np.arange(400_000) + 0.5) / 400_000)  # dense: quantiles of the predictor
    centre, scale = group.predictor()
    assert expit(centre + scale * z).mean() == pytest.approx(0.3, abs=5e-6)
    assert group.prevalence() == pytest.approx(0.3, abs=1e-11)


@pytest.mark.parametrize("prevalence", [0.001, 0.06, 0.5, 0.97])
def test_group_at_has_the_prevalence_asked_for(prevalence):
    group = RiskGroup.at(prevalence, (1.0, 0.7, -0.4), (0.3, 1.0, 0.0), share=2.0)
    assert group.prevalence() == pytest.approx(prevalence, abs=1e-11)
    assert (group.share, group.means) == (2.0, (0.3, 1.0, 0.0))
    assert RiskGroup.at(prevalence, (0.0,)).intercept == pytest.approx(logit(prevalence))


def test_a_group_whose_people_are_all_alike():
    alike = RiskCohort({"A": RiskGroup(float(logit(0.2)), (0.0,)), "B": RiskGroup(float(logit(0.1)), (0.0,))})
    best = alike.best(T, LAM)
    assert float(best.sel(group="A")) == pytest.approx(1 - 0.2 + LAM * (0.2 - W * 0.8))
    assert float(best.sel(group="B")) == pytest.approx(0.9)  # nobody reaches the threshold


@pytest.mark.parametrize(("lam", "burden"), [(0.58, 1.0), (0.2, 0.5), ({"A": 0.3, "B": 1.0}, {"A": 1.0, "B": 0.7})])
def test_all_none_and_best(lam, burden):
    lams, burdens = (pd.Series(v if isinstance(v, dict) else {"A": v, "B": v}) for v in (lam, burden))
    prevalence = COHORT.prevalences().to_series()
    none = 1 - burdens * prevalence[["A", "B"]]
    formulas = {"none": none, "all": none + burdens * lams * (prevalence - W * (1 - prevalence))[["A", "B"]]}
    formulas["best"] = COHORT.best(T, lam, burden).to_series()[["A", "B"]]
    rules = {"none": nobody, "all": everybody, "best": true_risk}
    found = COHORT.benefit(rules, T, lam, burden, n=100_000, seed=2)
    assert found.estimate.dims == ("model", "group")
    for name, expected in formulas.items():
        one = found.sel(model=name)
        overall = 0.75 * expected["A"] + 0.25 * expected["B"]
        errors = one.estimate.values - [*expected, overall]
        assert (abs(errors) <= 4.5 * one.se.values + 1e-12).all(), name
    assert float(found.se.sel(model="best").max()) == 0  # the true risk decides as the best rule does
    assert float(found.se.sel(model="none").min()) > 0


def test_standard_errors_are_those_of_many_draws():
    def rule(people):
        return people["x2"] > 0.5

    many = [COHORT.benefit(rule, T, LAM, n=1000, seed=k) for k in range(200)]
    spread = np.std([one.estimate.values for one in many], axis=0, ddof=1)
    stated = np.mean([one.se.values for one in many], axis=0)
    np.testing.assert_allclose(stated, spread, rtol=4.5 / np.sqrt(2 * 199))


def test_benefit_is_what_labels_give_on_average():
    """A rule judged on a large labelled sample by counting, against its benefit under the true risk."""

    def rule(people):
        return expit(-2.0 + 0.8 * people["x1"] + 0.6 * people["x2"])

    rows = COHORT.frame(400_000, seed=4)
    found = COHORT.benefit(rule, T, LAM)
    flag = rule(rows) >= T
    value = 1 - rows["label"] + LAM * flag * (rows["label"] - W * (1 - rows["label"]))
    for group in ("A", "B", "overall"):
        mine = value if group == "overall" else value[rows["group"] == group]
        error = np.hypot(mine.std() / np.sqrt(len(mine)), float(found.se.sel(group=group)))
        assert abs(mine.mean() - float(found.estimate.sel(group=group))) < 4.5 * error


def test_no_rule_beats_the_true_risk():
    example, rng = RiskCohort.example(), np.random.default_rng(5)
    for _ in range(20):
        slopes, cut = rng.normal(0, 1, 8), rng.normal()
        found = example.benefit(lambda p, b=slopes, c=cut: p[example.covariates] @ b > c, T, LAM, n=4000)
        assert (found.estimate <= example.best(T, LAM) + 1e-12).all()


def test_flags_are_flags_and_floats_are_risks():
    """At t = 0 a risk of 0 is flagged, False is not; a whole number could mean either."""
    shown = COHORT.benefit({"flags": nobody, "risks": lambda p: np.zeros(len(p))}, 0.0, LAM, n=1000).estimate
    none = 1 - COHORT.prevalences()
    assert shown.sel(model="risks").values == pytest.approx(COHORT.best(0.0, LAM).values)
    assert (shown.sel(model="flags") < shown.sel(model="risks")).all()
    assert shown.sel(model="flags").values == pytest.approx(none.values, abs=0.01)


def test_one_is_in_the_range_of_both_settings():
    best = COHORT.best(T, 1.0, burden=1.0)
    assert best.values == pytest.approx(COHORT.best(T, 1 - 1e-12).values)
    assert COHORT.benefit(nobody, T, 1, n=100).estimate.shape == (3,)
    assert COHORT.best(T, {"A": np.float32(1), "B": 1.0}).values == pytest.approx(best.values)


def test_frame():
    example = RiskCohort.example()
    frame = example.frame(200_000, seed=1)
    assert frame.columns.tolist() == ["group", *[f"x{k}" for k in range(1, 9)], "label", "true_risk"]
    shares = frame["group"].value_counts(normalize=True)
    np.testing.assert_allclose(shares[["A", "B", "C", "D"]], [0.60, 0.20, 0.12, 0.08], atol=0.004)
    for name, rows in frame.groupby("group"):
        group = example.groups[name]
        risk = expit(group.intercept + rows[example.covariates].to_numpy() @ np.array(group.coefficients))
        np.testing.assert_allclose(rows["true_risk"], risk, rtol=1e-12)
        np.testing.assert_allclose(rows[example.covariates].mean(), group.means, atol=4.5 / np.sqrt(len(rows)))
        np.testing.assert_allclose(rows[example.covariates].std(), 1, atol=4.5 / np.sqrt(2 * len(rows)))
        off = (rows["label"] - rows["true_risk"]).sum() / np.sqrt((risk * (1 - risk)).sum())
        assert abs(off) < 4.5
    assert example.frame(50, seed=3).equals(example.frame(50, seed=3))
    assert not example.frame(50, seed=3).equals(example.frame(50, seed=4))


def test_the_example_has_something_to_gain_from_each_strategy():
    """Prevalence rises from 6 to 20%, and with slopes of its own a group's risk is another function."""
    example = RiskCohort.example()
    assert example.prevalences().values.tolist() == pytest.approx([0.06, 0.10, 0.15, 0.20, 0.09])
    slopes = [g.coefficients for g in example.groups.values()]
    assert len(set(slopes)) == 4
    assert (example.best(T, LAM) > 1 - example.prevalences() + 0.005).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: RiskGroup(float("nan"), (1.0,)), "intercept = nan"),
        (lambda: RiskGroup(0.0, ()), "coefficients: at least one is needed"),
        (lambda: RiskGroup(0.0, 1.0), "coefficients = 1.0: give a sequence of numbers"),
        (lambda: RiskGroup(0.0, ("a",)), "coefficients = ('a',): give a sequence of numbers"),
        (lambda: RiskGroup(0.0, (1.0, float("inf"))), "coefficients[1] = inf"),
        (lambda: RiskGroup(0.0, (1.0, 2.0), (0.0,)), "means: 1 values for 2 coefficients"),
        (lambda: RiskGroup(0.0, (1.0,), share=0), "share = 0"),
        (lambda: RiskGroup.at(0.0, (1.0,)), "prevalence = 0.0: it must lie in (0, 1)"),
        (lambda: RiskCohort({}), "groups: at least one is needed"),
        (lambda: RiskCohort({"A": 3}), "give a mapping such as"),
        (lambda: RiskCohort({"overall": RiskGroup(0.0, (1.0,))}), "'overall' is kept for all groups together"),
        (lambda: RiskCohort({1: RiskGroup(0.0, (1.0,))}), "names are text"),
        (
            lambda: RiskCohort({"A": RiskGroup(0.0, (1.0,)), "B": RiskGroup(0.0, (1.0, 1.0))}),
            "coefficients must be as many in each, but are {'A': 1, 'B': 2}",
        ),
        (lambda: COHORT.frame(0), "n = 0"),
        (lambda: COHORT.frame(10, seed=-1), "seed = -1"),
        (lambda: COHORT.best(1.0, LAM), "threshold = 1.0: it must lie in [0, 1)"),
        (lambda: COHORT.best(T, 1.2), "lam = 1.2: it must lie in (0, 1]"),
        (lambda: COHORT.best(T, 0.0), "lam = 0.0: it must lie in (0, 1]"),
        (lambda: COHORT.best(T, {"A": 1.5, "B": 1.0}), "lam of A = 1.5: it must lie in (0, 1]"),
        (lambda: COHORT.best(T, True), "lam = True"),
        (lambda: COHORT.best(True, LAM), "threshold = True"),
        (lambda: COHORT.best(T, {"A": True, "B": 0.5}), "lam of A = True"),
        (lambda: COHORT.best(T, pd.Series({"A": 0.5, "B": 0.5})), "lam: give a number or a dict of one number a group"),
        (lambda: COHORT.best(T, xr.DataArray([0.5, 0.5], dims="group")), "not a DataArray"),
        (lambda: COHORT.best(T, "0.5"), "lam: give a number or a dict of one number a group, not '0.5'"),
        (lambda: COHORT.best(T, LAM, [1.0, 1.0]), "burden: give a number or a dict of one number a group, not a list"),
        (lambda: COHORT.best(T, {"A": pd.Series([0.5]), "B": 0.5}), "lam of A = 0 0.5 dtype: float64: it must lie in"),
        (lambda: COHORT.benefit({}, T, LAM), "rules: at least one is needed"),
        (lambda: COHORT.benefit(lambda p: (p["x1"] > 0).astype(int), 0.0, LAM, n=100), "it gave whole numbers (int64)"),
        (lambda: COHORT.benefit(lambda p: np.ones(len(p), np.uint8), T, LAM, n=100), "give True or False for flagged"),
        (lambda: RiskGroup(0.0, (1e308, 1e308)), "coefficients[0] = 1e+308: it must lie in (-1e+06, 1e+06)"),
        (lambda: RiskGroup(0.0, (1.0,), (-1e308,)), "means[0] = -1e+308: it must lie in (-1e+06, 1e+06)"),
        (lambda: RiskGroup(1e308, (1.0,)), "intercept = 1e+308: it must lie in (-1e+15, 1e+15)"),
        (lambda: RiskGroup(0.0, (1.0,), share=1e308), "share = 1e+308: it must lie in (0, 1e+06)"),
        (lambda: RiskGroup(True, (1.0,)), "intercept = True"),
        (lambda: RiskGroup(0.0, (True,)), "coefficients = (True,): give a sequence of numbers"),
        (lambda: RiskGroup(0.0, ("1",)), "coefficients = ('1',): give a sequence of numbers"),
        (lambda: RiskGroup(0.0, "12"), "coefficients = '12': give a sequence of numbers"),
        (lambda: RiskGroup(0.0, (1.0,)).net_benefit(1), "threshold = 1: it must lie in [0, 1)"),
        (lambda: RiskGroup(0.0, (1.0,)).net_benefit(-1), "threshold = -1: it must lie in [0, 1)"),
        (lambda: RiskGroup(0.0, (1.0,)).net_benefit(1.5), "threshold = 1.5: it must lie in [0, 1)"),
        (lambda: COHORT.best(T, float("nan")), "lam = nan"),
        (lambda: COHORT.best(T, {"A": 0.5}), "lam names the groups ['A'], the cohort has ['A', 'B']"),
        (lambda: COHORT.best(T, {"A": 0.5, "B": 0.0}), "lam of B = 0.0"),
        (lambda: COHORT.best(T, LAM, burden=0), "burden = 0"),
        (lambda: COHORT.benefit(nobody, T, LAM, n=3), "n = 3: at least two people a group"),
        (lambda: COHORT.benefit("all", T, LAM), "rules = 'all': give a function of the people"),
        (lambda: COHORT.benefit({"m": 3}, T, LAM), "rules['m'] = 3"),
        (lambda: COHORT.benefit(lambda p: p["x1"], T, LAM, n=100), "risks lie outside 0–1 or are missing"),
        (lambda: COHORT.benefit(lambda p: 0.5, T, LAM, n=100), "one decision or risk a person is needed; it gave"),
        (lambda: COHORT.benefit(lambda p: p["group"], T, LAM, n=100), "it gave object"),
    ],
)  # fmt: skip
def test_errors_name_what_is_wrong(make, words):
    with pytest.raises(AuditInputError) as caught:
        make()
    assert words in str(caught.value)
