"""Published gaps beside ours, the splits study, and the picture made of them."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

import auditlib as al
from auditlib import studies
from auditlib.studies import reproduced, splits
from tools.picture import PICTURE, picture


@pytest.fixture(scope="module")
def table():
    return studies.gap_table().set_index("comparison")


def test_the_eight_comparisons_are_there(table):
    assert list(table.index) == list(studies.COMPARISONS)
    assert table["published_gap"].notna().sum() == 5


def test_published_gaps_are_met(table):
    known = table.dropna(subset=["published_gap"])
    assert known["overlap"].all()
    assert known["agree"].all()
    assert (known["gap"] - known["published_gap"]).abs().max() < 0.03


def test_the_published_gaps_are_the_lines_on_the_same_data():
    lines = reproduced.published_lines("gap_audit").query("kind == 'same data'")
    assert studies.published().astype(str).equals(lines[["value", "low", "high"]].astype(float).astype(str).set_axis(
        ["gap", "low", "high"], axis=1
    ))  # fmt: skip


def test_nothing_is_said_where_nothing_was_published(table):
    rest = table[table["published_gap"].isna()]
    assert rest["overlap"].isna().all()
    assert rest["agree"].isna().all()


@pytest.mark.parametrize("name", ["gap-cdc_diabetes-sex", "gap-brfss2022_heart-age"])
def test_newcombe_of_independent_rows_against_statsmodels(table, name):
    counts = studies.comparison_counts(name)
    cells = counts.at(counts.provenance["threshold"])
    (tp_a, tp_b), (n_a, n_b) = cells["tp"].values, (cells["tp"] + cells["fn"]).values
    expected = confint_proportions_2indep(tp_a, n_a, tp_b, n_b, method="newcomb", compare="diff")
    assert table.loc[name, ["newcombe_low", "newcombe_high"]].to_numpy(float) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["gap-diabetes130-sex", "gap-diabetes130-age", "gap-diabetes130-race"])
def test_patients_make_the_interval_wider_than_stays_do(table, name):
    counts = studies.comparison_counts(name)
    row = table.loc[name]
    a, b = row["groups"].split(" − ")
    stays = al.gap_interval(counts.as_rows().at(row["threshold"]), a, b)
    assert row["unit"] == "patient_nbr"
    assert min(row["deff_a"], row["deff_b"]) > 1.1
    assert row["newcombe_high"] - row["newcombe_low"] > 1.05 * float(stays.high - stays.low)


def test_side():
    found = studies.reproduction.side(pd.Series([0.1, -0.2, -0.3, 0.0]), pd.Series([0.2, 0.1, -0.1, 0.1]))
    assert found.tolist() == [1, 0, -1, 0]
    assert [int(studies.reproduction.side(*limits)) for limits in ((0.1, 0.2), (-0.2, 0.0), (-0.2, -0.1))] == [1, 0, -1]


def test_another_split_reports_the_gap_at_its_own_threshold(monkeypatch):
    counts = studies.comparison_counts("gap-diabetes130-sex")
    asked = []

    def quick(dataset, attribute, **options):
        asked.append((dataset, attribute, options))
        return counts

    monkeypatch.setattr(splits, "gap_audit", quick)
    found = splits.resplit("diabetes130", "sex", "logistic", 7)
    assert asked == [("diabetes130", "sex", {"model": "logistic", "seed": 7})]
    assert found["what"] == "split"
    assert found["estimate"] == pytest.approx(-0.0706, abs=1e-4)
    assert (found["n_a"], found["n_b"]) == (1486, 1807)


def test_a_redraw_keeps_patients_whole():
    patients = np.array([5, 6, 5, 7, 6, 5])
    for seed in range(20):
        rows = splits.redraw(patients, np.random.default_rng(seed))
        times = {p: np.bincount(rows, minlength=6)[patients == p] for p in (5, 6, 7)}
        assert all(len(set(found)) == 1 for found in times.values())  # all rows of a patient equally often
        assert sum(int(found[0]) for found in times.values()) == 3


def test_the_study_runs_every_setting(monkeypatch):
    def quick(what):
        return lambda dataset, attribute, model, seed: {"what": what, "dataset": dataset, "seed": seed}

    monkeypatch.setattr(splits, "resplit", quick("split"))
    monkeypatch.setattr(splits, "retrain", quick("training"))
    found = splits.split_study(draws=2)
    assert found["seed"].tolist() == [42, 43] * 3
    assert found["what"].tolist() == ["split"] * 4 + ["training"] * 2


def test_the_committed_splits_begin_with_the_published_seed():
    found = studies.study_table("split_seeds")
    assert found.groupby(["what", "dataset"]).size().to_dict() == {
        ("split", "diabetes130"): 20, ("split", "cdc_diabetes"): 20, ("training", "diabetes130"): 20,
    }  # fmt: skip
    for dataset, attribute in (("diabetes130", "sex"), ("cdc_diabetes", "age")):
        counts = studies.comparison_counts(f"gap-{dataset}-{attribute}")
        cells = counts.at(counts.provenance["threshold"])
        first = found[(found["what"] == "split") & (found["dataset"] == dataset)].iloc[0]
        assert first["seed"] == 42
        assert first[["n_a", "n_b"]].tolist() == (cells["tp"] + cells["fn"]).values.tolist()
    redrawn = found[found["what"] == "training"]
    assert redrawn[["n_a", "n_b"]].drop_duplicates().values.tolist() == [[1486, 1807]]  # the test patients stay
    assert (found["low"] < found["estimate"]).all()
    assert (found["estimate"] < found["high"]).all()


def test_the_picture_in_the_readme_is_that_of_the_tables():
    assert picture() == PICTURE.read_text(encoding="utf-8"), "run: python tools/picture.py"


def test_a_study_that_there_is_none_of_names_those_there_are():
    for name in ("foo", "optimism.csv", "../studies/optimism", None):
        with pytest.raises(al.AuditInputError, match=r"choose one of agreement_coverage, .*, optimism, "):
            studies.study_table(name)
