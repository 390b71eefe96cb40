"""The gap audit's procedure: who is compared, what the model sees, and that counts say what the rows said."""

import numpy as np
import pandas as pd
import pytest

import auditlib as al
from auditlib import AuditInputError, datasets, studies
from auditlib.studies import COHORTS, COMPARISONS, __main__, gap
from auditlib.studies.comparisons import HOSPITAL_CODES, HOSPITAL_COUNTS, MEDICATIONS, band_levels


@pytest.fixture
def hospital(monkeypatch):
    """A made-up Diabetes-130: 1,500 encounters of about 900 patients, all its columns."""
    rng = np.random.default_rng(1)
    n = 1_500
    frame = pd.DataFrame(index=range(n))
    for column in datasets.source("diabetes130")["columns"]:
        frame[column] = rng.choice(["No", "Steady", "Up"], n)
    for column in HOSPITAL_COUNTS:
        frame[column] = rng.integers(0, 15, n)
    for column in HOSPITAL_CODES:
        frame[column] = rng.integers(1, 9, n)
    frame["patient_nbr"] = rng.integers(0, 1_200, n)
    frame["gender"] = rng.choice(["Male", "Female"], n)
    frame.loc[:2, "gender"] = "Unknown/Invalid"
    frame["race"] = rng.choice(["Caucasian", "AfricanAmerican", "Hispanic", np.nan], n).astype(object)
    frame["age"] = rng.choice([f"[{low}-{low + 10})" for low in range(0, 100, 10)], n)
    risk = 1 / (1 + np.exp(2.2 - 0.25 * frame["number_inpatient"]))
    frame["readmitted"] = np.where(rng.random(n) < risk, "<30", rng.choice(["NO", ">30"], n))
    monkeypatch.setattr(datasets, "load", lambda name: frame.copy())
    monkeypatch.setattr(datasets, "checksum", lambda name: "made up")
    return frame


@pytest.mark.parametrize(
    ("cohort", "band", "levels"),
    [
        ("diabetes130", "10–29", ["[10-20)", "[20-30)"]),
        ("diabetes130", "60+", ["[60-70)", "[70-80)", "[80-90)", "[90-100)"]),
        ("diabetes130", "<50", ["[10-20)", "[20-30)", "[30-40)", "[40-50)"]),  # 0–9 stays out
        ("cdc_diabetes", "18-44", [1, 2, 3, 4, 5]),
        ("cdc_diabetes", "65+", [10, 11, 12, 13]),
        ("cdc_diabetes", "80+", [13]),
        ("brfss2022_heart", "18–24", ["Age 18 to 24"]),
        ("brfss2022_heart", "75+", ["Age 75 to 79", "Age 80 or older"]),
    ],
)
def test_bands_are_whole_levels(cohort, band, levels):
    assert band_levels(COHORTS[cohort], band) == levels


@pytest.mark.parametrize("band", ["18–43", "67+", "young", "44–18", "130+", "<18", "", "60", "9" * 5_000 + "+", None])
def test_bands_that_cut_a_level_or_say_nothing(band):
    with pytest.raises(AuditInputError, match="age band"):
        band_levels(COHORTS["cdc_diabetes"], band)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("mimic", "sex"), "no comparison of mimic by sex: choose one of diabetes130 sex"),
        (("cdc_diabetes", "race"), "no comparison of cdc_diabetes by race"),
        (("cdc_diabetes", "sex", ("18–44", "65+")), "only for an age comparison"),
        (("cdc_diabetes", "age", "18–44"), "two bands"),
        (("cdc_diabetes", "age", 5), "two bands"),
        (("cdc_diabetes", "age", {"18–44", "65+"}), "two bands"),
        (("cdc_diabetes", "age", ("18–44",)), "two groups"),
        (("cdc_diabetes", "age", ("18–44", "40–64")), "share [5]"),
    ],
)
def test_comparisons_that_cannot_be_made(arguments, words):
    with pytest.raises(AuditInputError) as raised:
        studies.comparison_of(*arguments)
    assert words in str(raised.value)


@pytest.mark.parametrize("threshold", [0, 1, 1.5, float("nan"), "youden", None, np.array([0.1, 0.2])])
def test_thresholds_that_are_none(threshold):
    with pytest.raises(AuditInputError, match="threshold"):
        studies.gap_audit("cdc_diabetes", "sex", threshold=threshold)


@pytest.mark.parametrize("max_rows", [-5, 0, 1.5, "x", True, np.nan])
def test_a_part_of_the_cohort_that_is_none(max_rows):
    with pytest.raises(AuditInputError, match="max_rows must be a whole number of at least 1"):
        studies.gap_audit("cdc_diabetes", "sex", max_rows=max_rows)


@pytest.mark.parametrize("max_rows", [1, 3, 12])
def test_a_part_too_small_to_fit(hospital, max_rows):
    with pytest.raises(AuditInputError, match="label"):
        studies.gap_audit("diabetes130", "race", model="shallow_tree", max_rows=max_rows)


@pytest.mark.parametrize(("seed", "max_rows"), [("abc", None), ("abc", 800), (-1, 800), (1.5, None)])
def test_seeds_that_are_none(hospital, seed, max_rows):
    with pytest.raises(AuditInputError, match="seed"):
        studies.gap_audit("diabetes130", "sex", model="shallow_tree", seed=seed, max_rows=max_rows)


def test_eight_comparisons_and_the_published_ones_among_them():
    assert len(COMPARISONS) == 8
    table = studies.published()
    assert set(table.index) < set(COMPARISONS)
    assert table.loc["gap-cdc_diabetes-age", ["gap", "low", "high"]].tolist() == [-0.207, -0.241, -0.170]
    assert ((table["low"] < 0) & (table["high"] > 0)).sum() == 2  # Diabetes-130 by age and by race


def test_two_groups_and_nobody_else(hospital):
    rows, group = gap.compared(hospital, COMPARISONS["gap-diabetes130-sex"])
    assert len(rows) == len(group) == 1_497
    assert group.cat.categories.tolist() == ["Male", "Female"]
    rows, group = gap.compared(hospital, COMPARISONS["gap-diabetes130-age"])
    assert set(rows["age"]) == {"[10-20)", "[20-30)", "[60-70)", "[70-80)", "[80-90)", "[90-100)"}
    assert (group[rows["age"] == "[20-30)"] == "10–29").all()
    rows, _ = gap.compared(hospital, COMPARISONS["gap-diabetes130-race"])
    assert set(rows["race"]) == {"Caucasian", "AfricanAmerican"}


def test_what_the_hospital_model_sees(hospital):
    seen = {
        attribute: gap.predictors(hospital, COMPARISONS[f"gap-diabetes130-{attribute}"])
        for attribute in ("sex", "age", "race")
    }
    assert len(MEDICATIONS) == len(set(MEDICATIONS)) == 23
    common = {*HOSPITAL_CODES, *HOSPITAL_COUNTS, *MEDICATIONS, "max_glu_serum", "A1Cresult", "change", "diabetesMed"}
    assert set(seen["sex"]) == common | {"age", "race"}
    assert set(seen["age"]) == common | {"race"}
    assert set(seen["race"]) == common | {"age"}
    assert sorted(seen["sex"]["age"].unique()) == list(range(0, 100, 10))
    assert seen["sex"]["admission_type_id"].map(type).eq(str).all()  # a code is a name, not an amount


def test_what_the_survey_models_see():
    survey = pd.DataFrame(columns=datasets.source("cdc_diabetes")["columns"], dtype="int64")
    by_sex = gap.predictors(survey, COMPARISONS["gap-cdc_diabetes-sex"])
    by_age = gap.predictors(survey, COMPARISONS["gap-cdc_diabetes-age"])
    assert set(survey) - set(by_sex) == {"Diabetes_binary", "Sex"}
    assert set(survey) - set(by_age) == {"Diabetes_binary", "Sex", "Age"}
    heart = pd.DataFrame({c: ["Age 80 or older"] for c in datasets.source("brfss2022_heart")["columns"]})
    by_race = gap.predictors(heart, COMPARISONS["gap-brfss2022_heart-race"])
    assert set(heart) - set(by_race) == {"HadHeartAttack", "RaceEthnicityCategory", "State"}
    assert by_race["AgeCategory"].tolist() == [80]


def test_counts_say_what_the_rows_said(hospital):
    made = studies.gap_predictions("diabetes130", "race", model="shallow_tree")
    frame, tau = made.frame, made.threshold
    counts = made.counts()
    table = counts.at(tau)
    for race, part in frame.groupby("race", observed=True):
        flag, label = part["risk"] >= tau, part["readmitted"] == 1
        found = {name: int(table[name].sel(race=race)) for name in ("tp", "fp", "fn", "tn")}
        assert found == {
            "tp": (flag & label).sum(),
            "fp": (flag & ~label).sum(),
            "fn": (~flag & label).sum(),
            "tn": (~flag & ~label).sum(),
        }
    assert counts.unit == "patient_nbr"
    assert counts.n_units == frame["patient_nbr"].nunique() < counts.n_rows == len(frame)
    assert counts.thresholds == sorted([*gap.OPERATING, tau])
    assert counts.groups["race"] == ("AfricanAmerican", "Caucasian")


def test_provenance_is_complete_and_adds_up(hospital):
    made = studies.gap_predictions("diabetes130", "sex", model="shallow_tree")
    facts = made.counts().provenance
    assert facts["n_train"] + facts["n_test"] + facts["rows_in_neither_group"] == len(hospital)
    positives = (hospital["readmitted"] == "<30") & (hospital["gender"] != "Unknown/Invalid")
    assert facts["positives_train"] + facts["positives_test"] == positives.sum()
    assert facts["threshold"] == facts["positives_train"] / facts["n_train"]
    assert facts["model"] == "shallow_tree"
    assert set(facts["test_auroc_by_group"]) == {"Male", "Female"}
    assert 0.5 < facts["test_auroc"] < 1
    assert facts["auditlib"] == al.__version__
    assert facts["source_sha256"] == "made up"


def test_a_patient_is_in_the_test_set_whole_or_not_at_all(hospital):
    made = studies.gap_predictions("diabetes130", "sex", model="shallow_tree")
    here = made.frame.groupby("patient_nbr").size()
    everywhere = hospital[hospital["gender"] != "Unknown/Invalid"].groupby("patient_nbr").size()
    assert here.equals(everywhere[here.index])


def test_other_thresholds_bands_and_a_part_of_the_cohort(hospital):
    counts = studies.gap_audit(
        "diabetes130", "age", model="shallow_tree", threshold=0.3, age_bands=("<50", "70+"), max_rows=800
    )
    assert counts.groups["age"] == ("<50", "70+")
    assert 0.3 in counts.thresholds
    facts = counts.provenance
    assert (facts["threshold"], facts["threshold_rule"], facts["max_rows"]) == (0.3, "given", 800)
    assert 780 < facts["n_train"] + facts["n_test"] <= 800  # of the two groups
    assert (
        facts["rows_in_neither_group"]
        == (
            ~hospital["age"].isin(
                [*band_levels(COHORTS["diabetes130"], "<50"), *band_levels(COHORTS["diabetes130"], "70+")]
            )
        ).sum()
    )
    part = gap._sampled(hospital, "patient_nbr", 800, seed=42)
    assert (
        part.groupby("patient_nbr")
        .size()
        .equals(hospital.groupby("patient_nbr").size()[lambda s: s.index.isin(part["patient_nbr"])])
    )
    assert len(gap._sampled(hospital, None, 100, seed=1)) == 100


def test_a_cohort_read_twice_gives_the_same_text(hospital):
    first, second = (studies.gap_audit("diabetes130", "sex", model="shallow_tree").to_csv() for _ in range(2))
    assert first == second


@pytest.fixture
def folder(tmp_path, monkeypatch, hospital):
    """Where ``main`` writes; the fit is a shallow tree, and only Diabetes-130 is at hand."""

    def quick(dataset, attribute, **_):
        if dataset != "diabetes130":
            raise AuditInputError(f"{dataset}: no copy at hand.")
        made.append(attribute)
        if attribute not in fitted:
            fitted[attribute] = studies.gap_audit(dataset, attribute, model="shallow_tree")
        return fitted[attribute]

    def absent(jobs):
        raise AuditInputError("brfss2022_heart: no copy at hand.")

    made, fitted = [], {}
    for name in (name for name in __main__.COUNTED if not name.startswith("gap-")):
        monkeypatch.setitem(__main__.COUNTED, name, absent)
    monkeypatch.setattr(__main__, "diabetes_optimism", lambda **_: absent(1))
    monkeypatch.setattr(__main__, "budget_study", lambda **_: absent(1))
    monkeypatch.setattr(__main__, "intervention_thresholds", lambda **_: absent(1))
    monkeypatch.setattr(__main__, "intervention_prices", lambda **_: absent(1))
    monkeypatch.setattr(__main__, "flip_checks", lambda **_: absent(1))
    monkeypatch.setattr(__main__, "gap_multiverse", lambda *_, **__: absent(1))
    monkeypatch.setattr(__main__, "multiverse_path", lambda dataset: tmp_path / "multiverse" / f"{dataset}.csv")
    monkeypatch.setattr(__main__, "root", lambda: tmp_path)
    monkeypatch.setattr(__main__, "gap_audit", quick)
    monkeypatch.setattr(__main__, "counts_path", lambda name: tmp_path / "counts" / f"{name}.csv")
    monkeypatch.setattr(__main__, "split_path", lambda: tmp_path / "splits" / "split_seeds.csv")
    monkeypatch.setattr(__main__, "split_study", lambda **_: pd.DataFrame({"seed": [42]}))
    return tmp_path / "counts", made


def test_main_saves_what_it_can_and_says_what_it_cannot(folder, capsys):
    counts, made = folder
    assert __main__.main([]) == 1
    assert (counts.parent / "splits" / "split_seeds.csv").read_text() == "seed\n42\n"
    assert sorted(p.name for p in counts.iterdir()) == [f"gap-diabetes130-{a}.csv" for a in ("age", "race", "sex")]
    assert "cdc_diabetes: no copy at hand" in capsys.readouterr().err
    assert made == ["sex", "age", "race"]
    assert al.Counts.read_csv(counts / "gap-diabetes130-sex.csv").provenance["comparison"] == "sex"


def test_main_runs_what_is_missing_named_or_asked_again(folder):
    counts, made = folder
    assert __main__.main(["gap-diabetes130-sex"]) == 0
    assert __main__.main(["gap-diabetes130-sex"]) == 0  # named: again
    assert made == ["sex", "sex"]
    __main__.main([])
    assert made == ["sex", "sex", "age", "race"]  # only what was missing
    __main__.main(["--refit"])
    assert made[4:] == ["sex", "age", "race"]
    (counts / "gap-diabetes130-age.csv").unlink()
    __main__.main([])
    assert made[7:] == ["age"]


def test_main_refuses_an_unknown_name(capsys):
    with pytest.raises(SystemExit) as stopped:
        __main__.main(["gap-mimic-sex"])
    assert stopped.value.code == 2
    assert "gap-mimic-sex" in capsys.readouterr().err


@pytest.mark.parametrize("name", COMPARISONS)
def test_committed_tables(name):
    path = datasets.counts_path(name)
    counts, facts = al.Counts.read_csv(path), al.Counts.read_csv(path).provenance
    comparison, spec = COMPARISONS[name], datasets.source(COMPARISONS[name].dataset)
    assert path.stat().st_size < 1_000_000
    assert counts.groups == {comparison.attribute: tuple(comparison.levels())}
    assert counts.n_rows == facts["n_test"]
    assert facts["n_train"] + facts["n_test"] + facts["rows_in_neither_group"] == spec["rows"]
    assert facts["threshold"] == facts["positives_train"] / facts["n_train"]
    assert facts["threshold"] in counts.thresholds
    assert facts["model"] == max(facts["cv_auc"], key=facts["cv_auc"].get)
    assert len(facts["cv_auc"]) == 6
    table = counts.at(facts["threshold"])
    assert int((table["tp"] + table["fn"]).sum()) == facts["positives_test"]
    if comparison.cohort.cluster is None:
        # The rows' AUROC survives 200 equal bins, less well when an outcome is rare and most scores share a few bins
        assert float(al.auroc(counts.by())) == pytest.approx(facts["test_auroc"], abs=1.5e-3)


@pytest.mark.skipif(not datasets.available("cdc_diabetes"), reason="cdc_diabetes is not at hand: set AUDITLIB_DATA")
def test_a_committed_table_is_what_the_raw_data_give():
    """The cheapest comparison again, from rows. Another processor may move a few patients by one bin."""
    committed = al.Counts.read_csv(datasets.counts_path("gap-cdc_diabetes-age"))
    facts = committed.provenance
    rebuilt = studies.gap_audit("cdc_diabetes", "age", model=facts["model"], n_jobs=2)
    assert datasets.checksum("cdc_diabetes") == facts["source_sha256"]
    assert rebuilt.provenance["threshold"] == facts["threshold"]
    assert rebuilt.n_units == committed.n_units
    thresholds = [*gap.OPERATING, facts["threshold"]]
    a, b = rebuilt.at(thresholds), committed.at(thresholds)
    assert int(np.abs(a - b).to_array().max()) <= 0.001 * facts["n_test"]
    assert ((a["tp"] + a["fn"]) == (b["tp"] + b["fn"])).all()
