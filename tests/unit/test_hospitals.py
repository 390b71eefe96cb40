"""The simulated hospitals: closed forms against draws of rows, of counts, and another way to the same sums."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats
from sklearn.metrics import roc_auc_score

import auditlib as al
from auditlib import AuditInputError, datasets
from auditlib.simulate import Hospitals, texas_facts
from auditlib.simulate.texas_facts import LEVELS
from auditlib.verdicts import verdict_metrics

ALIKE = Hospitals()
UNLIKE = Hospitals(auroc=0.85, sites=12, prevalence_sd=0.5, score_sd=0.4, site_seed=3)
BOTH = pytest.mark.parametrize("hospitals", [ALIKE, UNLIKE], ids=["alike", "unlike"])
RATES = ["sensitivity", "specificity", "ppv", "npv", "selection_rate", "prevalence", "accuracy"]


def published():
    return pd.read_csv(datasets.root() / "data" / "published" / "vfr_groups.csv")


def test_groups_have_their_published_sizes_and_shares_of_long_stays():
    table = published()
    ages, races = table[table["attribute"] == "age"], table[table["attribute"] == "race"]
    truth = ALIKE.truth(0.5, by="age")
    size = (truth["tp"] + truth["fp"] + truth["fn"] + truth["tn"]).values
    assert size == pytest.approx(ages["n"] / texas_facts.STAYS, abs=1e-12)
    assert truth["prevalence"].values == pytest.approx(ages["long_stays"] / ages["n"], abs=1e-12)
    truth = ALIKE.truth(0.5, by="race")
    names = ["White", "Black", "Asian", "Native American", "Other"]  # the table's order
    truth = truth.sel(race=names)
    size = (truth["tp"] + truth["fp"] + truth["fn"] + truth["tn"]).values
    assert size == pytest.approx(races["n"] / texas_facts.STAYS, abs=1e-12)
    assert (100 * truth["prevalence"].values).round(1).tolist() == races["percent"].tolist()


@pytest.mark.parametrize(("dim", "gap"), [("age", 0.399), ("race", 0.189), ("sex", 0.107), ("ethnicity", 0.074)])
def test_gaps_in_base_rates_are_the_published_ones(dim, gap):
    """Of age and race as the paper gives them; of sex 51.8 − 41.1, of ethnicity 47.1 − 39.7."""
    rate = ALIKE.truth(0.5, by=dim)["prevalence"]
    assert round(float(rate.max() - rate.min()), 3) == gap


def test_all_stays():
    held = texas_facts
    assert sum(map(sum, held.RACE_ETHNICITY)) == sum(held.SEX) == sum(held.AGE) == held.STAYS == 925_128
    assert sum(held.LONG_BY_AGE) == 416_727 == datasets.source("texas100x")["positives"]
    assert datasets.source("texas100x")["different"]["THCIC_ID"] == held.SITES
    levels = datasets.source("texas100x")["levels"]
    assert [levels["RACE"], levels["SEX_CODE"], levels["ETHNICITY"]] == [list(LEVELS[d]) for d in list(LEVELS)[:3]]
    assert sum(row[0] for row in held.RACE_ETHNICITY) == 254_542  # Hispanic, code 0


@pytest.mark.parametrize("n", [441, 1_000, 185_026, 925_128])
@pytest.mark.parametrize("sites", [1, 7, 441])
def test_site_sizes_add_up(n, sites):
    sizes = list(Hospitals(sites=sites).site_sizes(n).values())
    assert sum(sizes) == n
    assert len(sizes) == sites
    assert all(a >= b - 1 for a, b in pairwise(sizes))


def test_sites_are_as_uneven_as_published():
    sizes = np.array(list(ALIKE.site_sizes(925_128).values()))
    share = sizes.cumsum() / sizes.sum()
    found = [share[k - 1] for k in (10, 50, 100, 200)]
    assert found == pytest.approx([0.135, 0.465, 0.705, 0.933], abs=0.001)
    assert 600 < np.median(sizes) < 750


@BOTH
def test_truth_is_that_of_the_cohort_of_eighty_groups(hospitals):
    """At ½, which both scales share: another class sums the same cells its own way."""
    whole = hospitals.cohort.truth(0.5, by=("group", "site"))
    number = np.arange(80).reshape(5, 2, 2, 4)
    for axis, dim in enumerate(LEVELS):
        mine = hospitals.truth(0.5, by=dim)
        for code, level in enumerate(LEVELS[dim]):
            groups = [str(cell) for cell in number.take(code, axis).ravel()]
            for cell in ("tp", "fp", "fn", "tn"):
                theirs = float(whole[cell].sel(group=groups).sum())
                assert float(mine[cell].sel({dim: level})) == pytest.approx(theirs, abs=1e-13)
    by_site = hospitals.truth(0.5, by="site")["tp"]
    assert by_site.values == pytest.approx(whole["tp"].sum("group").values, abs=1e-13)


@BOTH
@pytest.mark.parametrize("dims", [["sex", "site"], ["site", "race"], ["age", "race", "site"], ["site"]])
def test_truths_by_more_dims_add_up_to_those_by_fewer(hospitals, dims):
    fine = hospitals.truth([0.2, 0.7], by=dims)
    assert fine["tp"].dims == ("threshold", *dims)
    for dim in dims:
        coarse = hospitals.truth([0.2, 0.7], by=dim)
        for cell in ("tp", "fp", "fn", "tn"):
            summed = fine[cell].sum([d for d in dims if d != dim])
            assert summed.values == pytest.approx(coarse[cell].values, abs=1e-13)
    total = sum(float(fine[cell].isel(threshold=0).sum()) for cell in ("tp", "fp", "fn", "tn"))
    assert total == pytest.approx(1, abs=1e-12)


@BOTH
@pytest.mark.parametrize("dim", [*LEVELS, "site"])
def test_rates_in_many_stays_are_within_five_standard_errors_of_the_truth(hospitals, dim):
    n, thresholds = 4_000_000, [0.1, 0.5, 0.83]
    table = hospitals.counts(n, seed=11, by=dim, thresholds=thresholds).at(thresholds)
    truth = hospitals.truth(thresholds, by=dim)
    for name in RATES:
        metric = getattr(al, name, None) or getattr(al.metrics, name)
        _, trials = al.metrics.parts(table, name)
        p = truth[name].transpose(*metric(table).dims)
        error = np.sqrt(p * (1 - p) / trials)
        away = np.abs(metric(table) - p) / error.where(trials > 30)
        assert float(away.max()) < 5, name


@BOTH
@pytest.mark.parametrize("dim", list(LEVELS))
def test_verdict_metrics_in_many_stays_are_within_five_standard_errors_of_the_truth(hospitals, dim):
    counts = hospitals.counts(20_000_000, seed=5, by=dim, bins=200)
    truth = hospitals.verdict_metrics(0.5, dim)
    again = counts.resample(100, strata="label", seed=1)

    replicates, point = (verdict_metrics(held, dim, threshold=0.5) for held in (again, counts))
    assert list(truth) == list(point)
    for name in point:
        away = abs(float(point[name]) - float(truth[name]))
        midpoints = 2e-4 if name == "Cal" else 0  # bins of 1/200 read at their midpoints
        assert away < 5 * float(replicates[name].std("replicate")) + midpoints, name


def chances(hospitals, dims, bins):
    """Chance of each cell (*dims, label, bin), from truths at the edges: another way to that of ``counts``."""
    truth = hospitals.truth([k / bins for k in range(bins)], by=dims)
    tails = [truth["fp"].transpose(*dims, "threshold").values, truth["tp"].transpose(*dims, "threshold").values]
    return np.stack([-np.diff(tail, axis=-1, append=0) for tail in tails], axis=-2)


def histogram(counts, dims, bins):
    held = counts.histogram().transpose(*dims, "label", "bin").values
    assert held[..., bins].sum() == 0  # a score of 1
    return held[..., :bins]


def chi_square(held, expected):
    """p-value against expected numbers, cells that expect under 5 put together."""
    rare = expected < 5
    seen, meant = np.append(held[~rare], held[rare].sum()), np.append(expected[~rare], expected[rare].sum())
    keep = meant > 0
    return stats.chisquare(seen[keep], meant[keep] * seen.sum() / meant[keep].sum()).pvalue


@BOTH
@pytest.mark.parametrize("dims", [["race", "age"], ["sex", "ethnicity", "site"]])
def test_rows_and_counts_have_the_same_distribution_which_is_the_closed_form(hospitals, dims):
    n, bins = 300_000, 10
    rows = hospitals.frame(n, seed=21)
    by_row = al.count(rows, label="label", score="score", by=dims, bins=bins)
    at_once = hospitals.counts(n, seed=22, by=dims, bins=bins)
    expected = n * chances(hospitals, dims, bins)
    assert expected.sum() == pytest.approx(n)
    first, second = histogram(by_row, dims, bins), histogram(at_once, dims, bins)
    assert first.sum() == second.sum() == n
    assert chi_square(first, expected) > 0.001
    assert chi_square(second, expected) > 0.001
    common = expected > 20
    away = (first - second)[common] / np.sqrt(2 * expected[common])
    assert np.abs(away).max() < 5
    assert away.std() == pytest.approx(1, abs=0.1)
    assert (by_row + at_once).n_rows == 2 * n  # levels in one order


def test_counts_are_the_same_from_the_same_seed_and_can_be_kept(tmp_path):
    asked = {"seed": 4, "by": ["sex", "site"], "bins": 20, "thresholds": [0.333]}
    counts = UNLIKE.counts(5_000, **asked)
    assert counts.to_frame().equals(UNLIKE.counts(5_000, **asked).to_frame())
    counts.to_csv(tmp_path / "held.csv")
    again = al.Counts.read_csv(tmp_path / "held.csv")
    assert again.to_frame().equals(counts.to_frame())
    assert again.provenance["prevalence_sd"] == 0.5
    assert counts.thresholds == [0.333]
    counts.at(0.333)


def test_levels_that_nobody_has_are_there():
    counts = ALIKE.counts(50, seed=1, by=["race", "site"], bins=10)
    assert counts.groups["race"] == LEVELS["race"]
    assert len(counts.groups["site"]) == 441
    assert counts.n_rows == 50


@pytest.mark.parametrize("hospitals", [ALIKE, Hospitals(auroc=0.8, sites=3)], ids=["published", "0.8"])
def test_auroc_is_as_asked(hospitals):
    rows = hospitals.frame(400_000, seed=2)
    assert roc_auc_score(rows["label"], rows["score"]) == pytest.approx(hospitals.auroc, abs=0.0015)


def test_the_score_is_the_risk_where_hospitals_are_alike():
    for dim in LEVELS:
        truth = ALIKE.truth(0.5, by=dim)
        assert ALIKE.mean_scores(dim).values == pytest.approx(truth["prevalence"].values, abs=1e-9)
        assert float(ALIKE.verdict_metrics(0.5, dim)["Cal"]) < 1e-9
    rows = ALIKE.frame(500_000, seed=8)
    tenth = (rows["score"] * 10).astype(int)
    for _, part in rows.groupby(tenth):
        error = np.sqrt((part["score"] * (1 - part["score"])).sum()) / len(part)
        assert abs(part["score"].mean() - part["label"].mean()) < 4 * error


def test_mean_scores_where_they_are_not():
    rows = UNLIKE.frame(400_000, seed=9)
    for dim in ("race", "site"):
        held = rows.groupby(dim, observed=False)["score"].agg(["mean", "sem"])
        away = (held["mean"] - UNLIKE.mean_scores(dim).to_series()) / held["sem"]
        assert away.abs().max() < 4
    assert float(UNLIKE.verdict_metrics(0.5, "race")["Cal"]) > 1e-4


def test_site_effects_are_as_asked():
    up, shift = UNLIKE.shifts
    assert [up.std(), shift.std()] == pytest.approx([0.5, 0.4])
    assert [up.mean(), shift.mean()] == pytest.approx([0, 0], abs=1e-12)
    assert UNLIKE.truth(0.5, by="site")["prevalence"].std() > 0.05
    assert ALIKE.truth(0.5, by="site")["prevalence"].std() < 1e-12
    assert Hospitals(sites=1, prevalence_sd=1.0).shifts[0].tolist() == [0.0]


def test_rates_of_ones_own():
    even = {"race": dict.fromkeys(LEVELS["race"], 0.4), "age": dict.fromkeys(LEVELS["age"], 0.3)}
    hospitals = Hospitals(auroc=0.9, rates=even)
    for dim in ("race", "age"):  # those of age say how many, and the others follow
        assert hospitals.truth(0.5, by=dim)["prevalence"].values == pytest.approx(0.3, abs=1e-12)
    sex = hospitals.truth(0.5, by="sex")["prevalence"].values
    assert sex[0] / sex[1] == pytest.approx(0.518 / 0.411)


def test_rates_as_far_apart_as_can_be():
    """A full Newton step overshoots here; halved ones arrive."""
    sex = {"Male": 1e-9, "Female": 0.5}
    hospitals = Hospitals(auroc=0.999, rates={"sex": sex})
    found = hospitals.truth(0.5, by="sex")["prevalence"]
    assert float(found.sel(sex="Male") / found.sel(sex="Female")) == pytest.approx(2e-9, rel=1e-3)
    assert hospitals.truth(0.5, by="age")["prevalence"].values == pytest.approx(list(texas_facts.RATES["age"].values()))


def test_cells_have_shares_exactly_where_a_linear_program_finds_some():
    rng, share = np.random.default_rng(0), texas_facts.shares()
    codes, size, outcomes = np.indices(share.shape).reshape(4, -1), share.ravel(), set()
    for _ in range(60):
        drawn = {name: 1 / (1 + np.exp(-rng.normal(0, 2.5, len(levels)))) for name, levels in LEVELS.items()}
        rates = {
            name: dict(zip(LEVELS[name], drawn[name].tolist(), strict=True)) for name in LEVELS if rng.random() < 0.7
        }
        held = texas_facts.checked_rates(rates)
        rows, wanted = [], []
        total = sum(size[codes[3] == k].sum() * rate for k, rate in enumerate(held["age"].values()))
        for axis, name in enumerate(LEVELS):
            long = np.array([size[codes[axis] == k].sum() * rate for k, rate in enumerate(held[name].values())])
            wanted += (long * total / long.sum()).tolist()
            rows += [size * (codes[axis] == k) for k in range(len(LEVELS[name]))]
        possible = optimize.linprog(np.zeros(80), A_eq=np.array(rows), b_eq=wanted, bounds=(0, 1)).status == 0
        try:
            found = texas_facts.cell_rates(rates)
            assert np.array(rows) @ found.ravel() == pytest.approx(wanted, abs=1e-8)
        except AuditInputError:
            found = None
        assert (found is not None) == possible
        outcomes.add(possible)
    assert outcomes == {True, False}


def test_parameters_are_kept_as_plain_numbers_and_rates_are_its_own():
    rates = {"sex": {"Male": 0.5, "Female": 0.4}}
    hospitals = Hospitals(sites=12.0, auroc=np.float64(0.95), site_seed=np.int64(4), rates=rates)
    assert hospitals == Hospitals(sites=12, auroc=0.95, site_seed=4, rates={"sex": {"Male": 0.5, "Female": 0.4}})
    assert [type(value) for value in (hospitals.sites, hospitals.auroc, hospitals.site_seed)] == [int, float, int]
    first = hospitals.counts(100, seed=np.int64(7), by="sex", bins=10)
    rates["sex"]["Male"] = 0.9
    again = hospitals.counts(100, seed=7, by="sex", bins=10)
    assert first.provenance == again.provenance
    assert first.provenance["rates"] == {"sex": {"Male": 0.5, "Female": 0.4}}
    assert first.provenance["seed"] == 7
    assert first.to_frame().equals(again.to_frame())


def test_frames():
    rows = UNLIKE.frame(3_000, seed=1)
    assert rows.equals(UNLIKE.frame(3_000, seed=1))
    assert rows.columns.tolist() == ["label", "score", *LEVELS, "site"]
    assert rows["site"].cat.categories.tolist() == [f"H{k:03d}" for k in range(1, 13)]
    assert rows["score"].between(0, 1).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Hospitals(auroc=0.4), "auroc"),
        (lambda: Hospitals(auroc=0.6), "base rates alone give more"),
        (lambda: Hospitals(sites=0), "sites"),
        (lambda: Hospitals(prevalence_sd=-1), "prevalence_sd"),
        (lambda: Hospitals(score_sd=float("nan")), "score_sd"),
        (lambda: Hospitals(site_seed="x"), "seed"),
        (lambda: Hospitals(site_seed=True), "seed"),
        (lambda: Hospitals(sites=441.5), "sites"),
        (lambda: Hospitals(rates=None), "name attributes"),
        (
            lambda: Hospitals(rates={"race": dict(zip(LEVELS["race"], (0.9, 0.9, 0.9, 0.3, 0.9), strict=True))}),
            "no shares",
        ),
        (
            lambda: Hospitals(rates={"age": dict(zip(LEVELS["age"], (1e-3, 1e-3, 1e-3, 0.999), strict=True))}),
            "no shares",
        ),
        (lambda: ALIKE.counts(100, thresholds=0.5), "thresholds must be a list of numbers, not 0.5"),
        (lambda: Hospitals(rates={"income": {}}), "name attributes among race"),
        (lambda: Hospitals(rates={"sex": {"Male": 0.5}}), "rates of sex: give one number for each of Male, Female"),
        (lambda: Hospitals(rates={"sex": {"Male": 0.5, "Female": 1.5}}), "rate of Female = 1.5"),
        (lambda: Hospitals(rates={"sex": {"Male": 0.99, "Female": 0.01}}), "rates of sex: they cannot have the total"),
        (lambda: ALIKE.truth(1.5), "threshold"),
        (lambda: ALIKE.truth(0.5, by="income"), "choose from race"),
        (lambda: ALIKE.truth(0.5, by=["sex", "sex"]), "each once"),
        (lambda: ALIKE.counts(0), "n = 0"),
        (lambda: ALIKE.counts(100, bins=0), "bins"),
        (lambda: ALIKE.counts(100, by=[*LEVELS, "site"], bins=200), "14,182,560 cells"),
        (lambda: ALIKE.frame(10.5), "whole number"),
        (lambda: ALIKE.frame(10, seed="x"), "seed"),
        (lambda: ALIKE.site_sizes(0), "n = 0"),
    ],
)
def test_bad_input_is_named(make, words):
    with pytest.raises(AuditInputError, match=words):
        make()
