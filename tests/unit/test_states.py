"""Heart attacks by state: the halves, the groups, that counts say what the rows said, and the committed table."""

import numpy as np
import pandas as pd
import pytest

import auditlib as al
from auditlib import AuditInputError, datasets, models
from auditlib.studies import __main__, states, states_counts, states_table

STATES = ("Alaska", "Guam", "Texas")
N = 3_000
RACES = ["White only, Non-Hispanic", "Black only, Non-Hispanic", "Hispanic", "Multiracial, Non-Hispanic"]
AGES = ["Age 18 to 24", "Age 40 to 44", "Age 45 to 49", "Age 60 to 64", "Age 65 to 69", "Age 80 or older"]


@pytest.fixture
def survey(monkeypatch):
    """A made-up BRFSS 2022: three states, all its columns."""
    rng = np.random.default_rng(5)
    spec = datasets.source("brfss2022_heart")
    frame = pd.DataFrame({c: rng.choice(["Yes", "No"], N) for c in spec["columns"]})
    for column in spec["floats"]:
        frame[column] = rng.normal(30, 5, N)
    frame["State"] = rng.choice(STATES, N, p=[0.5, 0.2, 0.3])
    frame["Sex"] = rng.choice(["Male", "Female"], N)
    frame["AgeCategory"] = rng.choice(AGES, N)
    frame["RaceEthnicityCategory"] = rng.choice(RACES, N)
    risk = 1 / (1 + np.exp(2 - 1.5 * (frame["AgeCategory"] == AGES[-1]) - (frame["Sex"] == "Male")))
    frame["HadHeartAttack"] = np.where(rng.random(N) < risk, "Yes", "No")
    monkeypatch.setattr(datasets, "load", lambda name: frame.copy())
    monkeypatch.setattr(datasets, "checksum", lambda name: "made up")
    monkeypatch.setattr(states, "FAMILY", "shallow_tree")
    return frame


def test_half_of_each_states_cases_and_of_its_others(survey):
    label = (survey["HadHeartAttack"] == "Yes").astype(int)
    train, held = states._halves(survey["State"], label, 42)
    assert sorted([*train, *held]) == list(range(N))
    for state in STATES:
        for value in (0, 1):
            cell = np.flatnonzero((survey["State"] == state) & (label == value))
            assert np.isin(held, cell).sum() == pytest.approx(len(cell) / 2, abs=0.51)
    assert not np.array_equal(held, states._halves(survey["State"], label, 43)[1])


def test_groups(survey):
    groups = states.state_groups(survey)
    levels = {name: tuple(groups[name].cat.categories) for name in groups}
    assert levels == {
        "state": STATES,
        "sex": ("Female", "Male"),
        "age": ("18–44", "45–64", "65+"),
        "race": ("White", "other"),
        "ethnicity": ("Hispanic", "not Hispanic"),
    }
    assert ((groups["race"] == "White") == (survey["RaceEthnicityCategory"] == RACES[0])).all()
    assert ((groups["ethnicity"] == "Hispanic") == (survey["RaceEthnicityCategory"] == "Hispanic")).all()
    assert (groups["age"].astype(str) == survey["AgeCategory"].map(dict(zip(AGES, np.repeat(
        ["18–44", "45–64", "65+"], 2), strict=True)))).all()  # fmt: skip


def test_the_model_sees_all_but_the_state_and_the_outcome(survey):
    x = states.respondents(survey)
    assert set(survey) - set(x) == {"State", "HadHeartAttack"}
    assert sorted(x["AgeCategory"].unique()) == [18, 40, 45, 60, 65, 80]


def test_counts_say_what_the_rows_said(survey, monkeypatch):
    kept = []

    def watched(*args, **options):
        kept.append((args, models_cross_fit(*args, **options)))
        return kept[-1][1]

    models_cross_fit = models.cross_fit
    monkeypatch.setattr(models, "cross_fit", watched)
    counts = states_counts()
    (((_, train_label, test), fit),) = kept
    tau = counts.provenance["threshold"]
    assert tau == train_label.mean() == counts.provenance["positives_train"] / counts.provenance["n_train"]
    risk, rows = fit.scores["shallow_tree"].to_numpy(), survey.loc[test.index]
    label, flag = (rows["HadHeartAttack"] == "Yes").to_numpy(), risk >= tau
    groups = states.state_groups(survey).loc[test.index]
    assert counts.dims == ("state", "sex", "age", "race", "ethnicity")
    for dim in groups:
        table = counts.by("state", dim).at(tau) if dim != "state" else counts.by("state").at(tau)
        for key in set(zip(groups["state"], groups[dim], strict=True)):
            here = ((groups["state"] == key[0]) & (groups[dim] == key[1])).to_numpy()
            cell = table.sel({"state": key[0], dim: key[1]})
            assert [int(cell[k]) for k in ("tp", "fp", "fn", "tn")] == [
                (here & flag & label).sum(), (here & flag & ~label).sum(),
                (here & ~flag & label).sum(), (here & ~flag & ~label).sum(),
            ]  # fmt: skip
    facts = counts.provenance
    for dim in states.ATTRIBUTES:
        error = [(risk - label)[(groups[dim] == level).to_numpy()].mean() for level in groups[dim].cat.categories]
        assert facts["calibration_gap"][dim] == pytest.approx(max(error) - min(error), abs=1e-6)
    assert facts["accuracy"] == pytest.approx((flag == label).mean(), abs=1e-6)
    assert (facts["n_train"], facts["n_test"]) == (N // 2, N // 2)
    assert (facts["source_sha256"], facts["predictors"]) == ("made up", 38)


def test_the_same_again_whatever_the_processes(survey):
    first = states_counts(n_jobs=1).to_csv()
    assert first == states_counts(n_jobs=2).to_csv()
    assert first != states_counts(seed=43).to_csv()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": -1}, "seed"),
        ({"max_rows": 0}, "max_rows"),
        ({"max_rows": 6}, "max_rows"),
        ({"n_jobs": 0}, "n_jobs = 0"),
    ],
)
def test_what_cannot_be_asked(survey, options, words):
    with pytest.raises(AuditInputError, match=words):
        states_counts(**options)


def test_a_part_of_the_respondents(survey):
    assert states_counts(max_rows=1_000).provenance["n_test"] == 500


def test_committed_table():
    counts = states_table()
    facts, spec = counts.provenance, datasets.source("brfss2022_heart")
    assert states.STATES_TABLE in __main__.COUNTED
    assert datasets.counts_path(states.STATES_TABLE).stat().st_size < 1_000_000
    assert counts.dims == ("state", *states.ATTRIBUTES)
    assert len(counts.groups["state"]) == 54
    assert counts.groups["age"] == states.AGES
    assert counts.n_rows == facts["n_test"] == 123_011 == facts["n_train"]
    assert facts["n_train"] + facts["n_test"] == spec["rows"]
    assert facts["positives_train"] + facts["positives_test"] == spec["positives"]
    assert facts["threshold"] == facts["positives_train"] / facts["n_train"]
    table = counts.at(facts["threshold"])
    whole = table.sum(["state", *states.ATTRIBUTES])
    assert int(whole["tp"] + whole["fn"]) == facts["positives_test"]
    assert float(al.accuracy(whole)) == pytest.approx(facts["accuracy"], abs=1e-6)
    positives = (table["tp"] + table["fn"]).sum(states.ATTRIBUTES)
    assert int(positives.min()) == 12  # the Virgin Islands
    assert float(al.auroc(counts.by())) == pytest.approx(facts["auroc"], abs=4e-3)  # most scores share few bins
    for dim in states.ATTRIBUTES:  # the error of bin midpoints, beside a limit of 0.05
        assert float(al.calibration_gap(counts.by(dim), dim)) == pytest.approx(facts["calibration_gap"][dim], abs=1e-3)
    n = sum(table[k] for k in ("tp", "fp", "fn", "tn"))
    assert int(n.sel(race="White", ethnicity="Hispanic").sum()) == 0  # white is white only and not Hispanic


def test_no_other_table():
    with pytest.raises(AuditInputError, match="there is states-heart"):
        states_table("states-asthma")


def test_every_state_is_in_one_region():
    held = [state for members in states.regions().values() for state in members]
    assert sorted(held) == list(states_table().groups["state"])
    assert list(states.regions()) == [str(number) for number in range(1, 11)]
