"""Long stays: who takes part, what the model sees, that counts say what the rows said, and the committed tables."""

import numpy as np
import pandas as pd
import pytest

import auditlib as al
from auditlib import AuditInputError, datasets
from auditlib.mitigate.reweigh import reweigh
from auditlib.models.twelve import PACKAGES
from auditlib.simulate import Hospitals, texas_file
from auditlib.studies import STAYS_MODELS, STAYS_TABLES, __main__, stays, stays_counts, stays_table
from auditlib.studies.comparisons import HOSPITAL_CODES, HOSPITAL_COUNTS, MEDICATIONS
from auditlib.studies.stay_cohorts import STAY_COHORTS

COHORT, TEXAS = STAY_COHORTS["diabetes130"], STAY_COHORTS["texas100x"]
ATTRIBUTES = ("race", "sex", "ethnicity", "age")
RACES = ("AfricanAmerican", "Asian", "Caucasian", "Hispanic", "Other")
N = 2_400


@pytest.fixture
def hospital(monkeypatch):
    """A made-up Diabetes-130: 2,400 stays of about 1,500 patients, all its columns, in no order."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(index=range(N))
    for column in datasets.source("diabetes130")["columns"]:
        frame[column] = rng.choice(["No", "Steady", "Up"], N)
    for column in HOSPITAL_COUNTS:
        frame[column] = rng.integers(0, 15, N)
    for column in HOSPITAL_CODES:
        frame[column] = rng.integers(1, 9, N)
    frame["encounter_id"] = rng.permutation(N) * 6
    frame["patient_nbr"] = rng.integers(0, 2_000, N)
    frame["gender"] = rng.choice(["Male", "Female"], N)
    frame.loc[:2, "gender"] = "Unknown/Invalid"
    frame["race"] = rng.choice([*RACES, None], N, p=[0.3, 0.1, 0.3, 0.15, 0.1, 0.05]).astype(object)
    frame["age"] = rng.choice([f"[{low}-{low + 10})" for low in range(0, 100, 10)], N)
    frame["diag_1"] = rng.choice(["250.83", "428", "V57", None], N)
    long = rng.random(N) < 1 / (1 + np.exp(1.5 - 0.2 * frame["num_medications"]))
    frame["time_in_hospital"] = np.where(long, rng.integers(4, 15, N), rng.integers(1, 4, N))
    monkeypatch.setattr(datasets, "load", lambda name: frame.copy())
    monkeypatch.setattr(datasets, "checksum", lambda name: "made up")
    return frame


@pytest.fixture
def kept(hospital):
    return COHORT.kept(hospital)[0]


def test_the_first_stay_of_each_patient_with_race_and_sex(hospital):
    rows, facts = COHORT.kept(hospital)
    first = hospital.loc[hospital.groupby("patient_nbr")["encounter_id"].idxmin()]
    known = first[first["race"].notna() & first["gender"].isin(["Male", "Female"])]
    assert rows["encounter_id"].tolist() == sorted(known["encounter_id"])
    assert not rows["patient_nbr"].duplicated().any()
    assert facts == {
        "stays": N,
        "later_stays_left_out": N - len(first),
        "patients_left_out": len(first) - len(known),
        "not_recorded": {
            "race": first["race"].isna().sum(),
            "sex": (first["gender"] == "Unknown/Invalid").sum(),
            "ethnicity": first["race"].isna().sum(),
            "age": 0,
        },
        "patients": len(known),
    }


def test_groups_and_label(kept):
    for name, levels in {
        "race": RACES,
        "sex": ("Female", "Male"),
        "ethnicity": ("Hispanic", "not Hispanic"),
        "age": ("<30", "30–49", "50–69", "70+"),
    }.items():
        assert tuple(COHORT.group(kept, name).cat.categories) == levels
    assert ((COHORT.group(kept, "ethnicity") == "Hispanic") == (kept["race"] == "Hispanic")).all()
    first_year = kept["age"].str.extract(r"(\d+)", expand=False).astype(int)
    bands = pd.cut(first_year, [0, 30, 50, 70, 101], right=False, labels=["<30", "30–49", "50–69", "70+"])
    assert (COHORT.group(kept, "age").astype(str) == bands.astype(str)).all()
    assert (COHORT.label(kept) == (kept["time_in_hospital"] >= 4)).all()


def test_what_the_model_sees(kept):
    end, admission = COHORT.features(kept, "end"), COHORT.features(kept, "admission")
    assert set(end) == {
        *("race", "gender", "age", "diag_1", "medical_specialty", "max_glu_serum", "A1Cresult", "change"),
        *("diabetesMed", *MEDICATIONS, *HOSPITAL_CODES, *HOSPITAL_COUNTS),
    } - {"time_in_hospital"}
    assert set(admission) == {
        *("race", "gender", "age", "admission_type_id", "admission_source_id", "medical_specialty"),
        *("number_outpatient", "number_emergency", "number_inpatient"),
    }
    assert sorted(end["age"].unique()) == list(range(0, 100, 10))
    assert set(end["diag_1"].dropna()) == {"250", "428", "V57"}
    assert end["diag_1"].isna().sum() == kept["diag_1"].isna().sum() > 0
    for column in HOSPITAL_CODES:
        assert end[column].map(type).eq(str).all()  # a code is a name, not an amount


def test_three_parts_of_the_patients(kept):
    label = COHORT.label(kept)
    part = pd.Series(stays._parts(label, "random", 42))
    n = len(kept)
    for name, share in (("train", 0.4), ("selection", 0.2), ("audit", 0.4)):
        assert (part == name).sum() == pytest.approx(share * n, abs=1.5)
        assert label[part == name].mean() == pytest.approx(label.mean(), abs=1.5 / (share * n))  # drawn within label
    assert part.equals(pd.Series(stays._parts(label, "random", 42)))
    assert not part.equals(pd.Series(stays._parts(label, "random", 43)))


def test_three_parts_in_the_order_of_the_stays(kept):
    part = pd.Series(stays._parts(COHORT.label(kept), "in_order", 42))
    here = [kept["encounter_id"][part == name] for name in stays.PARTS]
    assert here[0].max() < here[1].min() <= here[1].max() < here[2].min()
    assert [(part == name).sum() for name in stays.PARTS] == pytest.approx(
        [0.4 * len(kept), 0.2 * len(kept), 0.4 * len(kept)], abs=1
    )


@pytest.fixture
def rows_scored(monkeypatch):
    """What ``scored`` was asked and gave."""
    seen, real = [], stays.scored

    def watched(estimator, train, label, held, weight=None, n_jobs=1):
        risk = real(estimator, train, label, held, weight, n_jobs)
        seen.append((train, held, weight, risk))
        return risk

    monkeypatch.setattr(stays, "scored", watched)
    return seen


def test_counts_say_what_the_rows_said(kept, rows_scored):
    counts = stays_counts("decision_tree")
    ((train, held, weight, risk),) = rows_scored
    part = stays._parts(COHORT.label(kept), "random", 42)
    assert weight is None
    assert held.index.tolist() == np.flatnonzero(part != "train").tolist()
    assert not set(train.index) & set(held.index)
    assert counts.dims == ("partition", *ATTRIBUTES)
    label, long = COHORT.label(kept).iloc[held.index].to_numpy(), risk >= 0.5
    facts = counts.provenance
    for name in ("selection", "audit"):
        here = part[held.index] == name
        for dim in ATTRIBUTES:
            table = counts.sel(partition=name).by(dim).at(0.5)
            for level, rows in COHORT.group(kept.iloc[held.index][here], dim).groupby(
                COHORT.group(kept.iloc[held.index][here], dim), observed=True
            ):
                mine = np.isin(held.index, rows.index)
                assert int(table["tp"].sel({dim: level})) == (mine & long & (label == 1)).sum()
                assert int(table["fp"].sel({dim: level})) == (mine & long & (label == 0)).sum()
                assert int(table["fn"].sel({dim: level})) == (mine & ~long & (label == 1)).sum()
        table = counts.sel(partition=name).by().at(0.5)
        assert facts["accuracy"][name] == pytest.approx(float(al.accuracy(table)), abs=1e-6)
        tp, fp, fn = (int(table[k]) for k in ("tp", "fp", "fn"))
        assert facts["f1"][name] == pytest.approx(2 * tp / (2 * tp + fp + fn), abs=1e-6)
        for dim in ATTRIBUTES:
            group = COHORT.group(kept.iloc[held.index][here], dim).to_numpy()
            errors = [float((risk - label)[here][group == level].mean()) for level in set(group)]
            assert facts["calibration_gap"][name][dim] == pytest.approx(max(errors) - min(errors), abs=1e-6)


def test_provenance_adds_up(hospital):
    facts = stays_counts("decision_tree", predictors="admission").provenance
    assert facts["stays"] == N == facts["later_stays_left_out"] + facts["patients_left_out"] + facts["patients"]
    assert sum(facts["n"].values()) == facts["patients"]
    assert facts["n"]["train"] == facts["n_train"]
    assert (facts["model"], facts["predictors"], facts["seed"]) == ("decision_tree", "admission", 42)
    assert len(facts["predictor_columns"]) == 9
    assert (facts["threshold"], facts["outcome"]) == (0.5, "time_in_hospital > 3")
    assert (facts["source_sha256"], facts["auditlib"]) == ("made up", al.__version__)


def test_a_cohort_read_twice_gives_the_same_text(hospital):
    first, second = (stays_counts("random_forest", n_jobs=jobs).to_csv() for jobs in (1, 2))
    assert first == second
    assert first != stays_counts("random_forest", seed=43).to_csv()


def test_weights_make_group_and_label_independent(kept, rows_scored):
    stays_counts("decision_tree", weights=["race", "sex"])
    ((train, _, weight, _),) = rows_scored
    rows, label = kept.iloc[train.index], COHORT.label(kept).iloc[train.index]
    merged = rows["race"].replace({"Asian": "Asian or Other", "Other": "Asian or Other"})
    group = merged + rows["gender"]
    assert weight.sum() == pytest.approx(len(rows))
    shares = pd.Series(weight * label.to_numpy()).groupby(group.to_numpy()).sum()
    assert (shares / pd.Series(weight).groupby(group.to_numpy()).sum()).to_numpy() == pytest.approx(label.mean())
    for level in set(group):
        n, positive = (group == level).sum(), ((group == level) & (label == 1)).sum()
        by_hand = n / len(rows) * label.mean() / (positive / len(rows))
        assert weight[(group == level).to_numpy() & (label == 1).to_numpy()] == pytest.approx(by_hand)
    alone = reweigh(pd.DataFrame({"race": merged, "sex": rows["gender"], "y": label}), "y", ["race", "sex"])
    assert weight == pytest.approx(alone.to_numpy())


def test_weights_need_every_label_in_every_group(hospital, kept, monkeypatch):
    hospital.loc[hospital["age"].isin(["[0-10)", "[10-20)", "[20-30)"]), "time_in_hospital"] = 1
    monkeypatch.setattr(datasets, "load", lambda name: hospital)
    with pytest.raises(AuditInputError, match=r"nobody is in .*<30"):
        stays_counts("decision_tree", weights=("race", "age"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "tabpfn"}, "no classifier named 'tabpfn'"),
        ({"predictors": "all"}, "predictors = 'all': choose one of 'end', 'admission'"),
        ({"split": "by site"}, "split = 'by site'"),
        ({"split": "in_order", "dataset": "texas100x"}, "nothing says which stay"),
        ({"dataset": "mimic"}, "dataset = 'mimic': choose one of diabetes130, texas100x"),
        ({"dataset": ["diabetes130"]}, "dataset ="),
        ({"site": True}, "diabetes130 does not name the hospitals"),
        ({"site": "yes"}, "site must be True or False, not 'yes'"),
        ({"site": None}, "site must be True or False"),
        ({"predictors": ["end"]}, "predictors = ['end']"),
        ({"weights": [["race"]]}, "are none of race, sex, ethnicity, age"),
        ({"seed": -1}, "seed"),
        ({"n_jobs": 0}, "n_jobs = 0"),
        ({"weights": "race"}, "weights = 'race'"),
        ({"weights": ()}, "weights = ()"),
        ({"weights": ["race", "payer"]}, "['payer'] are none of race, sex, ethnicity, age"),
        ({"rows": 3}, "rows: a pandas DataFrame is needed, not int"),
        ({"rows": pd.DataFrame({"race": ["Asian"]})}, "are missing"),
    ],
)
def test_what_cannot_be_asked(hospital, options, words):
    with pytest.raises(AuditInputError) as raised:
        stays_counts(**{"model": "decision_tree", **options})
    assert words in str(raised.value)


def test_the_same_study_of_a_file_like_texas():
    file = texas_file(3_000, seed=4, hospitals=Hospitals(sites=12))
    counts = stays_counts("decision_tree", dataset="texas100x", rows=file)
    assert counts.dims == ("partition", *ATTRIBUTES)
    assert counts.groups["race"] == ("Native American", "Asian", "Black", "White", "Other")
    assert counts.groups["age"] == ("<18", "18–39", "40–64", "65+")
    facts = counts.provenance
    assert (facts["patients"], facts["n"]["train"]) == (3_000, 1_199)  # parts of a label are rounded down
    assert facts["source_sha256"] is None
    assert facts["auroc"]["audit"] > 0.6
    sited = stays_counts("decision_tree", dataset="texas100x", rows=file, site=True, predictors="admission")
    assert sited.dims == ("partition", *ATTRIBUTES, "site")
    assert len(sited.groups["site"]) == 12
    assert not {"TOTAL_CHARGES", "PAT_STATUS", "LENGTH_OF_STAY"} & set(sited.provenance["predictor_columns"])
    assert sited.n_rows == counts.n_rows == 1_801


FILE = texas_file(3_000, seed=1)
DAYS = FILE["LENGTH_OF_STAY"]


@pytest.mark.parametrize(
    ("days", "rows"),
    [
        (DAYS.where((DAYS <= 3) | (FILE.index > 1_500)), int((DAYS[:1_501] > 3).sum())),
        (DAYS.astype("Int64").where(FILE.index > 500), 501),
        (DAYS.astype(str), 3_000),
        (DAYS.astype(object).where(FILE.index > 3, "4"), 4),
        (DAYS.astype(float).where(FILE.index > 5, np.inf), 6),
        (DAYS.where(FILE.index > 5, -1), 6),
        (DAYS > 3, 3_000),
    ],
)
def test_a_stay_without_a_length_is_no_short_stay(days, rows):
    with pytest.raises(AuditInputError, match=f"LENGTH_OF_STAY: {rows:,} of 3,000 rows hold no number of days"):
        stays_counts("decision_tree", dataset="texas100x", rows=FILE.assign(LENGTH_OF_STAY=days))


def test_nor_in_the_other_cohort(hospital):
    rows = hospital.assign(time_in_hospital=hospital["time_in_hospital"].where(hospital.index > 9))
    for given in (rows, rows.astype({"time_in_hospital": "Int64"})):
        with pytest.raises(AuditInputError, match="time_in_hospital: 10 of 2,400 rows"):
            stays_counts("decision_tree", rows=given)


def test_lengths_of_any_kind_of_number_give_one_label():
    first = TEXAS.label(TEXAS.kept(FILE)[0])
    for kind in ("float64", "Int64", "int32"):
        assert TEXAS.label(TEXAS.kept(FILE.astype({"LENGTH_OF_STAY": kind}))[0]).equals(first)


def test_what_is_not_recorded_is_counted():
    few = FILE.astype({"RACE": float, "SEX_CODE": "Int64"})
    few.loc[:9, "RACE"], few.loc[5:14, "SEX_CODE"] = np.nan, pd.NA
    facts = stays_counts("decision_tree", dataset="texas100x", rows=few, seed=np.int64(3)).provenance
    assert facts["not_recorded"] == {"race": 10, "sex": 10, "ethnicity": 0, "age": 0}
    assert (facts["stays"], facts["patients_left_out"], facts["patients"]) == (3_000, 15, 2_985)
    assert type(facts["seed"]) is int


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (FILE.assign(LENGTH_OF_STAY=9), "of 3,000 stays 3,000 are longer than 3 days"),
        (FILE.iloc[:5], "of 5 stays"),
        (FILE.iloc[:0], "rows: there are none"),
        (pd.concat([FILE, FILE[["RACE"]]], axis=1), r"columns \['RACE'\] are there more than once"),
        (FILE.assign(TOTAL_CHARGES=np.inf), "TOTAL_CHARGES: 3,000 of 3,000 rows are infinite"),
        (FILE.assign(TOTAL_CHARGES=FILE["TOTAL_CHARGES"].where(FILE.index > 1, 1e300)), "TOTAL_CHARGES: 2 of"),
        (FILE.assign(RACE=FILE["RACE"].where(FILE.index > 10, 9)), "RACE: 11 of 3,000 rows hold .* no group: 9"),
        (FILE.assign(RACE=FILE["RACE"].astype(str)), "RACE: 3,000 of 3,000 rows hold values that are in no group"),
        (FILE.assign(RACE=np.nan), r"of 3,000 stays none has every attribute recorded \(missing: race in 3,000\)"),
    ],
)
def test_rows_that_cannot_be_studied(rows, words):
    with pytest.raises(AuditInputError, match=words):
        stays_counts("decision_tree", dataset="texas100x", rows=rows)


def test_every_part_needs_both_kinds(hospital):
    late = hospital.assign(time_in_hospital=np.where(hospital["encounter_id"] > 5_000, 9, 1))
    with pytest.raises(AuditInputError, match="of the part 'train', 0 are longer"):
        stays_counts("decision_tree", rows=late, split="in_order")


def test_codes_of_texas_are_those_of_its_source():
    spec = datasets.source("texas100x")
    for attribute, column in (("race", "RACE"), ("sex", "SEX_CODE"), ("ethnicity", "ETHNICITY")):
        assert TEXAS.attributes[attribute][0] == column
        for name, (code,) in TEXAS.attributes[attribute][1].items():
            assert spec["levels"][column][code].lower() == name.lower()
    ages = [code for codes in TEXAS.attributes["age"][1].values() for code in codes]
    assert ages == list(range(22))
    assert set(TEXAS.columns()) <= set(spec["columns"])
    assert TEXAS.stay not in TEXAS.columns()


def test_texas_is_made_when_named_only():
    assert set(stays.TEXAS_TABLES) == set(__main__.NAMED)
    assert not set(__main__.NAMED) & set(__main__.TABLES)
    assert stays.TEXAS_TABLES["stays-texas100x-xgboost"] == {"model": "xgboost", "dataset": "texas100x"}
    assert "stays-texas100x-xgboost-in_order" not in stays.TEXAS_TABLES


def test_a_named_table_is_written(hospital, tmp_path, monkeypatch):
    file = texas_file(2_000, seed=4, hospitals=Hospitals(sites=5))
    monkeypatch.setattr(datasets, "load", lambda name: file)
    monkeypatch.setattr(__main__, "counts_path", lambda name: tmp_path / "counts" / f"{name}.csv")
    monkeypatch.setattr(stays, "counts_path", lambda name: tmp_path / "counts" / f"{name}.csv")
    name = "stays-texas100x-decision_tree"
    with pytest.raises(AuditInputError, match=f"python -m auditlib.studies {name}"):
        stays_table(name)
    assert __main__.main([name, "--jobs", "1"]) == 0
    assert stays_table(name).provenance["dataset"] == "texas100x"


def test_tables_have_names():
    assert len(STAYS_TABLES) == 16
    assert set(STAYS_TABLES) < set(__main__.COUNTED)
    with pytest.raises(AuditInputError, match="no table named 'stays-mimic'"):
        stays_table("stays-mimic")
    with pytest.raises(AuditInputError, match=r"no table named \['a'\]"):
        stays_table(["a"])


@pytest.mark.parametrize("name", STAYS_TABLES)
def test_committed_tables(name):
    counts, how = stays_table(name), STAYS_TABLES[name]
    facts = counts.provenance
    assert datasets.counts_path(name).stat().st_size < 500_000
    assert counts.dims == ("partition", *ATTRIBUTES)
    assert counts.groups == {
        "partition": ("selection", "audit"),
        **{dim: tuple(COHORT.attributes[dim][1]) for dim in ATTRIBUTES},
    }
    assert counts.edges.lower.tolist()[:3] == [0.0, 0.01, 0.02]
    assert 0.5 in counts.edges.lower
    assert (counts.label, counts.unit, counts.n_rows) == ("long_stay", "row", 41_742)
    assert (facts["stays"], facts["patients"], facts["n_train"]) == (101_766, 69_569, 27_827)
    assert (facts["later_stays_left_out"], facts["patients_left_out"]) == (30_248, 1_949)
    assert facts["n"] == {"train": 27_827, "selection": 13_914, "audit": 27_828}
    assert sum(facts["positives"].values()) == 34_746
    asked = {"predictors": "end", "seed": 42, "split": "random", "weights": None, **how}
    assert {key: facts[key] for key in asked} == {**asked, "weights": asked["weights"] and list(asked["weights"])}
    package = PACKAGES.get(how["model"])
    assert package is None or facts[package][0].isdigit()  # its version
    for part in ("selection", "audit"):
        here = counts.sel(partition=part)
        assert here.n_rows == facts["n"][part]
        table = here.by().at(0.5)
        assert int(table["tp"] + table["fn"]) == facts["positives"][part]
        assert float(al.accuracy(table)) == pytest.approx(facts["accuracy"][part], abs=1e-6)
        assert float(al.auroc(here.by())) == pytest.approx(facts["auroc"][part], abs=1e-3)
        for dim in ATTRIBUTES:  # the error of bin midpoints, beside a limit of 0.05
            assert float(al.calibration_gap(here.by(dim), dim)) == pytest.approx(
                facts["calibration_gap"][part][dim], abs=1e-3
            )
    ethnic = counts.by("race", "ethnicity").at(0.5)
    n = sum(ethnic[k] for k in ("tp", "fp", "fn", "tn"))
    assert int(n.sel(race="Hispanic", ethnicity="not Hispanic")) == 0
    assert int(n.sel(ethnicity="Hispanic").sum()) == int(n.sel(race="Hispanic").sum())


def test_the_same_patients_are_audited_by_all_models():
    held = {name: stays_table(f"stays-{name}").by("partition", *ATTRIBUTES).at(0.5) for name in STAYS_MODELS}
    first = held["xgboost"]
    for table in held.values():
        for label in (("tp", "fn"), ("fp", "tn")):
            assert (sum(table[k] for k in label) == sum(first[k] for k in label)).all()


@pytest.mark.skipif(not datasets.available("diabetes130"), reason="diabetes130 is not at hand: set AUDITLIB_DATA")
def test_a_committed_table_is_what_the_raw_data_give():
    """The cheapest model again, from rows. Another processor may move a few patients by one bin."""
    committed, rebuilt = stays_table("stays-decision_tree"), stays_counts("decision_tree")
    assert rebuilt.provenance["source_sha256"] == committed.provenance["source_sha256"]
    assert rebuilt.provenance["positives"] == committed.provenance["positives"]
    thresholds = [k / 10 for k in range(1, 10)]
    by = ("partition", "race", "age")
    moved = np.abs(rebuilt.by(*by).at(thresholds) - committed.by(*by).at(thresholds)).to_array()
    assert int(moved.max()) <= 0.001 * committed.n_rows
