"""The simulators' closed forms against large samples of themselves and against independent formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm
from sklearn.metrics import roc_auc_score

from auditlib import AuditInputError
from auditlib.simulate import Cohort, Group, Site, both, stays

GROUPS = {
    "Men": Group.at(0.2, prevalence=0.3, sensitivity=0.8, specificity=0.7),
    "Women": Group.at(0.2, prevalence=0.15, sensitivity=0.7, specificity=0.85, share=2.0),
}
SITES = {"A": Site(share=3.0), "B": Site(prevalence_shift=0.8, score_shift=0.4)}


def rates(frame, threshold):
    """Rates of a frame by plain pandas, with the number of rows each rests on."""
    flag, label = frame["score"] >= threshold, frame["label"] == 1
    parts = {
        "sensitivity": flag[label],
        "specificity": ~flag[~label],
        "ppv": label[flag],
        "prevalence": label,
        "selection_rate": flag,
    }
    return {name: (part.mean(), len(part)) for name, part in parts.items()}


def assert_near(frame, truth, threshold, deff=1.0):
    """Every rate within 4.5 standard errors of its closed form (about 1 false alarm in 150,000)."""
    for name, (found, n) in rates(frame, threshold).items():
        expected = float(truth[name])
        se = np.sqrt(deff * expected * (1 - expected) / n)
        assert abs(found - expected) < 4.5 * se, (name, found, expected)


@pytest.fixture(scope="module")
def sample():
    return Cohort(GROUPS, SITES).frame(400_000, seed=1)


@pytest.mark.parametrize("threshold", [0.05, 0.2, 0.7])
def test_truth_by_group_and_site(sample, threshold):
    truth = Cohort(GROUPS, SITES).truth(threshold, by=["group", "site"])
    for (group, site), part in sample.groupby(["group", "site"]):
        assert_near(part, truth.sel(group=group, site=site), threshold)


@pytest.mark.parametrize("by", ["group", "site"])
def test_truth_pooled_over_the_other_dim(sample, by):
    truth = Cohort(GROUPS, SITES).truth(0.2, by=by)
    for level, part in sample.groupby(by):
        assert_near(part, truth.sel({by: level}), 0.2)


def test_truth_of_the_whole_cohort(sample):
    assert_near(sample, Cohort(GROUPS, SITES).truth(0.2, by=[]), 0.2)


def test_group_at_gives_the_rates_asked_for():
    truth = Cohort(GROUPS).truth(0.2)
    np.testing.assert_allclose(truth["sensitivity"], [0.8, 0.7], atol=1e-12)
    np.testing.assert_allclose(truth["specificity"], [0.7, 0.85], atol=1e-12)
    np.testing.assert_allclose(truth["prevalence"], [0.3, 0.15], atol=1e-12)
    # Bayes' rule, written out
    np.testing.assert_allclose(truth["ppv"][0], 0.8 * 0.3 / (0.8 * 0.3 + 0.3 * 0.7), atol=1e-12)


def test_frame_is_as_promised(sample):
    assert sample.columns.tolist() == ["group", "site", "patient", "label", "score"]
    assert set(sample["label"]) == {0, 1}
    assert sample["score"].between(0, 1).all()
    assert sample["patient"].is_unique
    shares = sample["group"].value_counts(normalize=True)
    assert abs(shares["Women"] - 2 / 3) < 0.004
    same = Cohort(GROUPS, SITES).frame(100, seed=3)
    assert same.equals(Cohort(GROUPS, SITES).frame(100, seed=3))
    assert not same.equals(Cohort(GROUPS, SITES).frame(100, seed=4))


def test_clusters_leave_the_rates_alone():
    clustered = Cohort(GROUPS, encounters={1: 2, 3: 1, 6: 1}, rho=0.6, rho_label=0.5)
    frame = clustered.frame(150_000, seed=2)
    sizes = frame.groupby("patient").size().value_counts(normalize=True)
    np.testing.assert_allclose(sizes[[1, 3, 6]], [0.5, 0.25, 0.25], atol=0.006)
    for group, part in frame.groupby("group"):
        assert_near(part, clustered.truth(0.2).sel(group=group), 0.2, deff=4)


@given(st.floats(0.02, 0.98), st.floats(0, 0.95))
@settings(deadline=None, max_examples=50)
def test_both_is_the_bivariate_normal_law(rate, rho):
    h = norm.ppf(rate)
    expected = multivariate_normal.cdf([h, h], cov=[[1, rho], [rho, 1]])
    assert both(rate, rho) == pytest.approx(expected, abs=1e-6)


def test_icc_and_design_effect_against_many_audits():
    cohort = Cohort(GROUPS, encounters=dict.fromkeys(range(1, 7), 1), rho=0.5, rho_label=0.8)
    effect = cohort.design_effect(0.2).isel(site=0)
    tables = cohort.tables(4_000, 400, 0.2, seed=5)
    truth = cohort.truth(0.2)
    for rate, hit, miss in (("sensitivity", "tp", "fn"), ("specificity", "tn", "fp")):
        n = (tables[hit] + tables[miss]).astype(float)
        p = truth[rate]
        # variance of Σ(hits − p n) over that of as many independent rows: the ratio the design effect names
        found = ((tables[hit] - p * n) ** 2).mean("audit") / (n.mean("audit") * p * (1 - p))
        np.testing.assert_allclose(found, effect["deff"].sel(rate=rate), rtol=4.5 * np.sqrt(2 / 4_000))
    assert (effect["deff"] > 1.5).all()
    assert (effect["icc"] < 0.5).all()  # cutting a normal in two loses correlation


def test_icc_of_pairs():
    cohort = Cohort({"A": GROUPS["Men"]}, encounters={2: 1}, rho=0.5)
    cells = cohort.tables(1, 300_000, 0.2, seed=6, per_patient=True).isel(audit=0, group=0)
    pairs = (cells["tp"] + cells["fn"]) == 2
    tp = cells["tp"].values[pairs.values]
    p = tp.mean() / 2
    icc = ((tp == 2).mean() - p**2) / (p * (1 - p))
    assert icc == pytest.approx(float(cohort.design_effect(0.2)["icc"].sel(rate="sensitivity").squeeze()), abs=0.03)


def test_tables_rows():
    cohort = Cohort(GROUPS, SITES)
    tables = cohort.tables(3_000, {"Men": 80, "Women": 120}, 0.2, seed=7)
    assert dict(tables.sizes) == {"audit": 3_000, "group": 2}
    total = tables["tp"] + tables["fp"] + tables["fn"] + tables["tn"]
    assert (total == [80, 120]).all()
    truth = cohort.truth(0.2)
    pooled = tables.sum("audit")
    found = pooled["tp"] / (pooled["tp"] + pooled["fn"])
    se = np.sqrt(truth["sensitivity"] * (1 - truth["sensitivity"]) / (pooled["tp"] + pooled["fn"]))
    assert (abs(found - truth["sensitivity"]) < 4.5 * se).all()
    # independent rows: the number of positives is binomial
    positives = tables["tp"] + tables["fn"]
    expected = total.isel(audit=0) * truth["prevalence"] * (1 - truth["prevalence"])
    np.testing.assert_allclose(positives.var("audit"), expected, rtol=4.5 * np.sqrt(2 / 3_000))


def test_tables_do_not_depend_on_chunks_in_law_and_sum_over_patients():
    cohort = Cohort(GROUPS, encounters={1: 1, 4: 1}, rho=0.4)
    kept = cohort.tables(50, {"Men": 30, "Women": 20}, 0.2, seed=8, per_patient=True)
    summed = cohort.tables(50, {"Men": 30, "Women": 20}, 0.2, seed=8)
    assert kept.sizes["patient"] == 30
    assert kept.sum("patient").equals(summed)
    assert int(kept.sel(group="Women").isel(patient=slice(20, None)).to_array().sum()) == 0


@given(
    prevalence=st.floats(0.01, 0.99),
    sensitivity=st.floats(0.01, 0.99),
    specificity=st.floats(0.01, 0.99),
    threshold=st.floats(0.01, 0.99),
    shift=st.floats(-2, 2),
)
@settings(deadline=None, max_examples=60)
def test_truth_invariants(prevalence, sensitivity, specificity, threshold, shift):
    group = Group.at(threshold, prevalence=prevalence, sensitivity=sensitivity, specificity=specificity)
    sites = {"A": Site(), "B": Site(prevalence_shift=shift, score_shift=-shift)}
    truth = Cohort({"A": group}, sites).truth([threshold / 2, threshold], by=["group", "site"])
    cells = truth["tp"] + truth["fp"] + truth["fn"] + truth["tn"]
    np.testing.assert_allclose(cells.sum(["group", "site"]), 1, atol=1e-12)
    lower, upper = truth.isel(threshold=0), truth.isel(threshold=1)
    assert (lower["sensitivity"] >= upper["sensitivity"]).all()  # a lower threshold flags more
    assert (lower["specificity"] <= upper["specificity"]).all()
    own = upper.sel(group="A", site="A")
    assert float(own["sensitivity"]) == pytest.approx(sensitivity, abs=1e-9)
    assert float(own["specificity"]) == pytest.approx(specificity, abs=1e-9)
    np.testing.assert_allclose(
        truth["selection_rate"],
        truth["prevalence"] * truth["sensitivity"] + (1 - truth["prevalence"]) * (1 - truth["specificity"]),
        atol=1e-12,
    )


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Group(prevalence=0), "prevalence = 0: it must lie in (0, 1)"),
        (lambda: Group(prevalence=float("nan")), "prevalence = nan"),
        (lambda: Group(prevalence=0.2, share=-1), "share = -1"),
        (lambda: Group(prevalence=0.2, positive=float("inf")), "positive = inf"),
        (lambda: Group.at(0.2, prevalence=0.1, sensitivity=1, specificity=0.7), "sensitivity = 1"),
        (lambda: Site(share=0), "share = 0"),
        (lambda: Site(prevalence_shift=float("nan")), "prevalence_shift = nan"),
        (lambda: Cohort({}), "groups: at least one"),
        (lambda: Cohort(GROUPS, {}), "sites: at least one"),
        (lambda: Cohort(GROUPS, rho=1.0), "rho = 1.0: it must lie in [0, 1)"),
        (lambda: Cohort(GROUPS, rho_label=-0.1), "rho_label = -0.1"),
        (lambda: Cohort(GROUPS, encounters={0: 1.0}), "encounters: rows of a patient = 0"),
        (lambda: Cohort(GROUPS, encounters={1.5: 1.0}), "encounters: rows of a patient = 1.5"),
        (lambda: Cohort(GROUPS, encounters={2: 0.0}), "encounters[2] = 0.0"),
        (lambda: Cohort(GROUPS).truth(1.0), "threshold = 1.0"),
        (lambda: Cohort(GROUPS).truth(0.2, by=["age"]), "choose from group and site"),
        (lambda: Cohort(GROUPS).frame(0), "n = 0"),
        (lambda: Cohort(GROUPS).tables(0, 5, 0.2), "n_audits = 0"),
        (lambda: Cohort(GROUPS).tables(5, {"Men": 3}, 0.2), "n names the groups ['Men']"),
        (lambda: Cohort(GROUPS).tables(5, {"Men": 3, "Women": 0}, 0.2), "n of Women = 0"),
    ],
)
def test_bad_parameters_are_named(make, words):
    with pytest.raises(AuditInputError) as raised:
        make()
    assert words in str(raised.value)


ONE = Cohort({"A": Group(0.2)})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Group("x"), "prevalence = 'x': it must lie in (0, 1)"),
        (lambda: Group(None), "prevalence = None"),
        (lambda: Group(0.2, share=10**400), "share = 1000"),
        (lambda: Site([1, 2]), "prevalence_shift = [1, 2]"),
        (lambda: Cohort("x"), "groups = 'x': give a mapping such as {'A': Group(0.2)}"),
        (lambda: Cohort({"A": 0.3}), "groups = {'A': 0.3}"),
        (lambda: Cohort(None), "groups = None"),
        (lambda: Cohort(GROUPS, {"A": None}), "sites = {'A': None}: give a mapping such as {'all': Site()}"),
        (lambda: Cohort(GROUPS, encounters=[1]), "encounters = [1]: give a mapping such as {1: 1.0}"),
        (lambda: Cohort(GROUPS, encounters={float("nan"): 1}), "encounters: rows of a patient = nan"),
        (lambda: Cohort(GROUPS, encounters={"2": 1}), "encounters: rows of a patient = '2'"),
        (lambda: Cohort(GROUPS, encounters={10**30: 1}), "encounters: rows of a patient = 1000"),
        (lambda: Cohort(GROUPS, encounters={1: "x"}), "encounters[1] = 'x'"),
        (lambda: Cohort(GROUPS, encounters={1: 1e308, 2: 1e308}), "encounters[1] = 1e+308: it must lie in (0, 1e+06)"),
        (lambda: Group(0.2, share=1e308), "share = 1e+308: it must lie in (0, 1e+06)"),
        (lambda: Site(share=1e308), "share = 1e+308"),
        (lambda: Group(True), "prevalence = True"),
        (lambda: Cohort(GROUPS, rho=False), "rho = False"),
        (lambda: ONE.frame(True), "n = True"),
        (lambda: Cohort(GROUPS, rho=None), "rho = None"),
        (lambda: ONE.truth("x"), "threshold = 'x'"),
        (lambda: ONE.truth([0.2, None]), "threshold = None"),
        (lambda: ONE.truth(0.2, by=None), "choose from group and site"),
        (lambda: ONE.truth(0.2, by=[["group"]]), "choose from group and site"),
        (lambda: ONE.frame(2.7), "n = 2.7: it must be a whole number"),
        (lambda: ONE.frame("x"), "n = 'x'"),
        (lambda: ONE.tables(2.5, 5, 0.5), "n_audits = 2.5"),
        (lambda: ONE.tables(2, "x", 0.5), "n of A = 'x'"),
        (lambda: ONE.tables(2, {"A": 1, 3: 4}, 0.5), "n names the groups ['A', 3]"),
        (lambda: ONE.tables(2, 5, "x"), "threshold = 'x'"),
        (lambda: ONE.frame(5, seed="abc"), "seed = 'abc'"),
        (lambda: ONE.frame(5, seed=-1), "seed = -1"),
        (lambda: ONE.tables(2, 5, 0.5, seed=1.5), "seed = 1.5"),
    ],
)
def test_what_is_no_parameter_at_all_is_named(make, words):
    with pytest.raises(AuditInputError) as raised:
        make()
    assert words in str(raised.value)


def test_whole_numbers_of_numpy_count():
    assert ONE.tables(np.int64(2), np.int64(5), 0.5, seed=1).equals(ONE.tables(2, 5, 0.5, seed=1))
    assert len(ONE.frame(np.int32(4))) == 4


def test_the_risk_of_stays_is_calibrated_and_ranks_as_said():
    found = stays(60_000, seed=3)
    outcome = (found["readmitted"] == "<30").astype(int)
    assert outcome.mean() == pytest.approx(0.114, abs=0.003)
    for low, high in ((0.05, 0.08), (0.08, 0.12), (0.12, 0.2), (0.2, 0.4)):
        part = found["risk"].between(low, high)
        assert outcome[part].mean() == pytest.approx(found["risk"][part].mean(), abs=0.012)
    assert found["risk"].between(0.05, 0.2).mean() > 0.8
    assert roc_auc_score(outcome, found["risk"]) == pytest.approx(0.638, abs=0.008)
    assert found["race"].isna().mean() == pytest.approx(0.02, abs=0.002)
