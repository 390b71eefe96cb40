"""Diabetes by race: what the models see, that counts say what the rows said, and what the committed tables hold."""

import numpy as np
import pandas as pd
import pytest

import auditlib as al
from auditlib import AuditInputError, datasets, models, studies
from auditlib.studies import __main__, benefit, optimism
from auditlib.studies.splits import split_study

RACES = ("White", "Black", "Hispanic", "Other", "Multiracial")
PREDICTORS = [
    *("male", "age", "bmi", "smoker", "former_smoker", "sleep", "active", "alcohol"),
    *("heart_attack", "angina", "stroke", "copd", "depression", "arthritis"),
]
HERE = datasets.available("brfss2022_heart")


@pytest.fixture
def survey(monkeypatch):
    """A made-up BRFSS 2022: 3,000 respondents, the columns that are read and two that must not be."""
    rng = np.random.default_rng(8)
    n = 3_000
    bands = ["Age 18 to 24", *(f"Age {low} to {low + 4}" for low in range(25, 80, 5)), "Age 80 or older"]
    frame = pd.DataFrame({name: rng.choice(["Yes", "No"], n, p=[0.2, 0.8]) for name in benefit.YES})
    frame["Sex"] = rng.choice(["Female", "Male"], n)
    frame["AgeCategory"] = rng.choice(bands, n)
    frame["BMI"] = rng.normal(28, 6, n).round(2)
    frame["SleepHours"] = rng.integers(4, 11, n).astype(float)
    smoking = ["Never smoked", "Former smoker", "Current smoker - now smokes every day"]
    frame["SmokerStatus"] = rng.choice([*smoking, "Current smoker - now smokes some days"], n)
    frame["RaceEthnicityCategory"] = rng.choice(list(benefit.RACES), n, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    black = frame["RaceEthnicityCategory"] == "Black only, Non-Hispanic"
    risk = 1 / (1 + np.exp(1.8 - 0.1 * (frame["BMI"] - 28) - 0.8 * black))
    rest = rng.choice(
        ["No", "No, pre-diabetes or borderline diabetes", "Yes, but only during pregnancy (female)"],
        n,
    )
    frame["HadDiabetes"] = np.where(rng.random(n) < risk, "Yes", rest)
    frame["State"], frame["GeneralHealth"] = "Ohio", "Good"
    monkeypatch.setattr(datasets, "load", lambda name: frame.copy())
    monkeypatch.setattr(datasets, "checksum", lambda name: "made up")
    return frame


def test_what_the_diabetes_models_see(survey):
    cohort = studies.diabetes_cohort()
    assert list(cohort.x) == PREDICTORS
    assert set(map(str, cohort.x.dtypes)) == {"float64"}
    assert sorted(cohort.x["age"].unique()) == [18, *range(25, 85, 5)]
    assert cohort.x["male"].mean() == (survey["Sex"] == "Male").mean()
    assert cohort.x["smoker"].sum() == survey["SmokerStatus"].str.contains("now smokes").sum()
    assert cohort.x["former_smoker"].sum() == (survey["SmokerStatus"] == "Former smoker").sum()
    assert cohort.x["stroke"].tolist() == (survey["HadStroke"] == "Yes").astype(float).tolist()


def test_the_outcome_is_a_diagnosis_outside_pregnancy_and_every_row_stays(survey):
    cohort = studies.diabetes_cohort()
    assert len(cohort.y) == len(survey)
    assert cohort.y.sum() == (survey["HadDiabetes"] == "Yes").sum()
    assert tuple(cohort.race.categories) == RACES
    assert not pd.isna(cohort.group).any()
    short = pd.Series(cohort.group).value_counts()
    assert short["Hispanic"] == (survey["RaceEthnicityCategory"] == "Hispanic").sum()


def test_counts_say_what_the_rows_said(survey):
    cohort = studies.diabetes_cohort()
    train, test = models.split(cohort.y, seed=42)
    counts = studies.diabetes_counts()
    fitted = models.fit_strategy("SingleSA", "lasso", cohort.matrix[train], cohort.y[train], cohort.group[train])
    risk = fitted.predict(cohort.matrix[test], cohort.group[test])
    for t in (0.15, 0.34, 0.3385):
        table = counts.at(t).sel(model="SingleSA")
        for race in RACES:
            own = cohort.group[test] == race
            assert int(table["tp"].sel(race=race)) == ((risk >= t) & (cohort.y[test] == 1) & own).sum()
            assert int(table["fp"].sel(race=race)) == ((risk >= t) & (cohort.y[test] == 0) & own).sum()


def test_a_small_version_is_reproducible(survey):
    first, second = (studies.diabetes_counts(max_rows=1_500).to_csv() for _ in range(2))
    assert first == second
    counts = studies.diabetes_counts(max_rows=1_500)
    assert counts.provenance["max_rows"] == counts.provenance["n_train"] + counts.provenance["n_test"] == 1_500
    assert studies.diabetes_counts(max_rows=1_500, seed=7).to_csv() != first


def test_eight_models_are_counted_on_the_same_rows(survey, monkeypatch):
    fitted = models.fit_strategy

    def quick(strategy, learner, *given, weights=None, **options):
        used.append((strategy, learner, weights is not None))
        return fitted(strategy, "lasso", *given, weights=weights, **options)

    used = []
    monkeypatch.setattr(models, "fit_strategy", quick)
    counts = studies.diabetes_models_counts()
    assert counts.models == tuple(f"{s} {learner}" for s in models.STRATEGIES for learner in models.LEARNERS)
    assert all(given for *_, given in used)  # propensities are computed once
    assert counts.groups == {"race": RACES, "half": ("choose", "judge")}
    two = studies.diabetes_counts()
    joint = counts.by("race").at(0.15)
    for strategy in ("NoSA", "SingleSA"):
        one = two.at(0.15).sel(model=strategy, drop=True).reset_coords(drop=True)
        assert (one == joint.sel(model=f"{strategy} lasso", drop=True).reset_coords(drop=True)).to_array().all()
    halves = counts.by("half").at(0.15).isel(model=0)
    n = sum(halves[cell] for cell in ("tp", "fp", "fn", "tn"))
    assert abs(int(n.sel(half="choose") - n.sel(half="judge"))) <= 1


@pytest.mark.parametrize("max_rows", [0, -1, 1.5, True, "all"])
def test_a_part_that_is_none(survey, max_rows):
    with pytest.raises(AuditInputError, match="max_rows must be a whole number of at least 1"):
        studies.diabetes_counts(max_rows=max_rows)


@pytest.mark.parametrize("make", [studies.diabetes_counts, studies.diabetes_models_counts])
def test_few_rows_are_too_few(survey, make):
    for max_rows in (3, 12):
        with pytest.raises(AuditInputError, match=f"^max_rows = {max_rows}: {max_rows} people are too few to fit and"):
            make(max_rows=max_rows)
    with pytest.raises(AuditInputError, match="seed = -1"):
        make(seed=-1, max_rows=12)


def test_a_table_that_is_not_there():
    for name in ("snb-diabetes", "../secret", None):
        with pytest.raises(AuditInputError, match="choose one of snb-diabetes-race, snb-diabetes-race-models"):
            studies.benefit_counts(name)


@pytest.fixture
def quick(survey, monkeypatch):
    """The optimism study with two models and few refits."""
    monkeypatch.setattr(optimism, "PAIRS", (("NoSA", "lasso"), ("MultiSA", "lasso")))
    monkeypatch.setattr(optimism, "REFITTED", (("MultiSA", "lasso"),))
    return lambda **options: studies.diabetes_optimism(1_000, 3, 1, **options)


def test_the_optimism_study_by_hand(quick):
    found = quick().set_index(["strategy", "race", "method"])
    cohort = studies.diabetes_cohort()
    fit, held = optimism.sampled(cohort, 1_000, 42)
    inside, outside = optimism.part(cohort, fit), optimism.part(cohort, held)
    assert np.bincount(inside.race.codes) == pytest.approx(np.bincount(cohort.race.codes) / 3, abs=2)
    weights = models.propensity_weights(inside.matrix, inside.group)

    def benefit_of(part, risk, rows=slice(None), race="Black"):
        y, flag, own = part.y[rows], risk[rows] >= 0.15, part.group[rows] == race
        tp, fp, n = (flag & (y == 1) & own).sum(), (flag & (y == 0) & own).sum(), own.sum()
        return 1 - (y[own].mean() - 0.58 * (tp - 0.15 / 0.85 * fp) / n)

    def fitted(strategy, rows=None, learner="lasso"):
        given = weights if strategy == "MultiSA" else None
        return models.fit_strategy(
            strategy, learner, inside.matrix, inside.y, inside.group, weights=given, rows=rows
        ).predict

    for strategy in ("NoSA", "MultiSA"):
        predict = fitted(strategy)
        apparent = benefit_of(inside, predict(inside.matrix, inside.group))
        assert found.loc[(strategy, "Black", "apparent"), "estimate"] == pytest.approx(apparent, abs=1e-8)
        elsewhere = benefit_of(outside, predict(outside.matrix, outside.group))
        assert found.loc[(strategy, "Black", "held-out"), "estimate"] == pytest.approx(elsewhere, abs=1e-8)
    bias = []
    for k in range(3):
        rows = optimism.redrawn(inside, np.random.default_rng([42, k]))
        assert np.array_equal(np.bincount(inside.race.codes[rows]), np.bincount(inside.race.codes))
        risk = fitted("MultiSA", rows)(inside.matrix, inside.group)
        bias.append(benefit_of(inside, risk, rows) - benefit_of(inside, risk))
    corrected = found.loc[("MultiSA", "Black", "corrected")]
    assert corrected["estimate"] == pytest.approx(apparent - np.mean(bias), abs=1e-8)
    assert corrected["refits"] == 3
    crossed = np.empty(1_000)
    for rest, away in models.folds(inside.y):
        predict = models.fit_strategy("NoSA", "lasso", inside.matrix[rest], inside.y[rest]).predict
        crossed[away] = predict(inside.matrix[away])
    assert found.loc[("NoSA", "Black", "cross-validated"), "estimate"] == pytest.approx(
        benefit_of(inside, crossed), abs=1e-8
    )
    assert ("NoSA", "Black", "corrected") not in found.index


def test_processes_do_not_change_the_optimism_study(quick):
    pd.testing.assert_frame_equal(quick(n_jobs=1), quick(n_jobs=2))


@pytest.mark.parametrize("budget", [0, 3, 3_000, 10_000])
def test_a_budget_that_cannot_be(survey, budget):
    with pytest.raises(AuditInputError, match="budget"):
        studies.diabetes_optimism(budget)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"budget": 20, "max_rows": 40}, "budget = 20"),
        ({"budget": 60}, r"budget = 60: too few rows to fit on; .* nobody of the group \w+ is left"),
        ({"n_jobs": 0}, "n_jobs = 0: give a whole number of processes, or -1 for one a core"),
        ({"n_jobs": 1.5}, "n_jobs = 1.5"),
        ({"seed": -1}, "seed = -1: give a whole number from 0"),
        ({"seed": "x"}, "seed = 'x'"),
        ({"refits": 0}, "refits must be a whole number"),
        ({"max_rows": 0}, "max_rows must be a whole number"),
    ],
)
def test_an_optimism_study_that_cannot_be(survey, options, said):
    survey.loc[survey.index % 5 > 0, "RaceEthnicityCategory"] = "White only, Non-Hispanic"
    with pytest.raises(AuditInputError, match=said):
        studies.diabetes_optimism(**{"budget": 1_000, "refits": 2, "boosted_refits": 1, **options})


def test_few_rows_that_are_enough_leave_no_gap(quick):
    """A budget with a handful of rows a race either says so or gives every line."""
    found = studies.diabetes_optimism(150, 2, 1, max_rows=600)
    assert set(found["race"]) == set(optimism.GROUPS)
    assert found.loc[found["method"] != "corrected", ["estimate", "low", "high"]].notna().all(axis=None)


@pytest.mark.parametrize("ask", [["split_seeds", "--jobs", "0"], ["--jobs", "0"]])
def test_no_process_is_no_way_to_run(ask, capsys):
    with pytest.raises(SystemExit) as left:
        __main__.main(ask)
    assert left.value.code == 2
    assert "--jobs 0: give a number of processes, or -1 for one a core" in capsys.readouterr().err


def test_a_study_of_splits_wants_draws_and_processes():
    for options, said in (({"n_jobs": 0}, "n_jobs = 0"), ({"draws": 0}, "draws must be a whole number of at least 1")):
        with pytest.raises(AuditInputError, match=said):
            split_study(**options)


def test_main_writes_counts_and_studies_each_in_its_folder(survey, tmp_path, monkeypatch, capsys):
    def absent(jobs):
        raise AuditInputError("cdc: no copy at hand.")

    monkeypatch.setattr(__main__, "counts_path", lambda name: tmp_path / "counts" / f"{name}.csv")
    monkeypatch.setattr(__main__, "split_path", lambda: tmp_path / "studies" / "split_seeds.csv")
    monkeypatch.setattr(__main__, "diabetes_optimism", lambda n_jobs, progress: pd.DataFrame({"jobs": [n_jobs]}))
    monkeypatch.setitem(__main__.COUNTED, "snb-heart-income", absent)
    asked = ["snb-heart-income", "snb-diabetes-race", "snb_diabetes_optimism"]
    assert __main__.main([*asked, "--jobs", "2"]) == 1  # one failed, the others were made
    assert "snb-heart-income: cdc: no copy at hand" in capsys.readouterr().err
    written = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*"))
    assert written == ["counts/snb-diabetes-race.csv", "studies/snb_diabetes_optimism.csv"]
    assert (tmp_path / written[1]).read_text() == "jobs\n2\n"
    assert al.Counts.read_csv(tmp_path / written[0]).n_rows == 900


@pytest.mark.parametrize("name", ["snb-diabetes-race", "snb-diabetes-race-models"])
def test_committed_tables(name):
    counts = studies.benefit_counts(name)
    facts, spec = counts.provenance, datasets.source("brfss2022_heart")
    assert datasets.counts_path(name).stat().st_size < 300_000
    assert counts.groups["race"] == RACES
    assert counts.n_rows == facts["n_test"] == 73_807
    assert facts["n_train"] + facts["n_test"] == spec["rows"]
    assert facts["positives_train"] + facts["positives_test"] == 33_813
    assert facts["predictors"] == PREDICTORS
    assert (facts["threshold"], facts["lam"], facts["seed"]) == (0.15, 0.58, 42)
    assert facts["max_rows"] is None
    table = counts.at(0.15).isel(model=0)
    assert int((table["tp"] + table["fn"]).sum()) == facts["positives_test"]
    assert set(facts["test_auroc"]) == set(counts.models)
    prevalence = al.prevalence(counts.by("race").at(0.15).isel(model=0))
    assert prevalence.round(3).values.tolist() == [0.129, 0.193, 0.151, 0.150, 0.132]


def test_thresholds_of_the_committed_tables():
    two, eight = studies.benefit_counts("snb-diabetes-race"), studies.benefit_counts("snb-diabetes-race-models")
    assert two.models == ("NoSA", "SingleSA")
    expected = {*(k / 50 for k in range(1, 26)), 0.15, *benefit.harm_thresholds()}
    assert two.thresholds == sorted(expected)
    for lam, t in zip(benefit.LAMS, benefit.harm_thresholds(), strict=True):
        assert lam * t / (1 - t) == pytest.approx(0.58 * 0.15 / 0.85, rel=1e-3)  # the harm is the same
    assert benefit.harm_thresholds()[0] == 0.3385  # λ = .2: w = .15/.85 · .58/.2, t = w/(1 + w)
    assert eight.thresholds == [0.15]
    assert eight.groups["half"] == ("choose", "judge")
    assert len(eight.models) == 8


def test_the_two_tables_hold_the_same_models():
    two = studies.benefit_counts("snb-diabetes-race").at(0.15).reset_coords(drop=True)
    eight = studies.benefit_counts("snb-diabetes-race-models").by("race").at(0.15).reset_coords(drop=True)
    for strategy in two["model"].values:
        one, other = two.sel(model=strategy, drop=True), eight.sel(model=f"{strategy} lasso", drop=True)
        assert (one == other).to_array().all()


def test_the_committed_optimism_study():
    found = studies.study_table("snb_diabetes_optimism")
    assert list(found) == optimism.COLUMNS
    assert set(found["race"]) == {"all", *RACES}
    assert not found.isna().any().any()
    assert (found["low"] < found["estimate"]).all()
    assert (found["estimate"] < found["high"]).all()
    counted = found.groupby(["learner", "strategy"])["method"].unique().map(set)
    plain = {"apparent", "cross-validated", "held-out"}
    for (learner, strategy), methods in counted.items():
        assert methods == (plain | {"corrected"} if (strategy, learner) in optimism.REFITTED else plain)
    everybody = found[found["race"] == "all"].set_index("method")["n"]
    assert set(everybody["held-out"]) == {226_022}
    assert set(everybody["apparent"]) == {20_000}
    assert set(found.loc[found["method"] == "corrected", "refits"]) == {200, 50}
    by_method = found[found["race"] != "all"].groupby(["strategy", "learner", "method"])["n"].sum()
    assert set(by_method) == {20_000, 226_022}


@pytest.mark.skipif(not HERE, reason="brfss2022_heart is not at hand: set AUDITLIB_DATA")
def test_a_committed_table_is_what_the_raw_data_give():
    """Every line again, from rows; the header too where it is the same file and the same versions."""
    path = datasets.counts_path("snb-diabetes-race")
    committed, rebuilt = studies.benefit_counts("snb-diabetes-race"), studies.diabetes_counts()
    same = ("source_sha256", "auditlib", "scikit_learn")
    facts = {name: committed.provenance[name] for name in same}
    assert rebuilt.with_provenance(**facts).to_csv() == path.read_text(encoding="utf-8")
