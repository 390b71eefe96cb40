"""Heart disease by income: who fits, who chooses, who judges; and the committed table."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import auditlib as al
from auditlib import datasets, studies
from auditlib.benefit.frontier import capacity_frontier, judge, points_table
from auditlib.studies import capacity

NAME = "snb-heart-income"
T, LAM = 0.10, 0.22


@pytest.fixture
def survey(monkeypatch):
    """A small survey of the same columns, whose outcome depends on age, sex and stroke."""
    rng = np.random.default_rng(0)
    n = 3_000
    frame = pd.DataFrame({name: rng.integers(0, 2, n) for name in datasets.source("cdc_diabetes")["columns"]})
    frame = frame.assign(Age=rng.integers(1, 14, n), BMI=rng.integers(15, 50, n), GenHlth=rng.integers(1, 6, n))
    frame = frame.assign(Income=rng.integers(1, 9, n), Education=rng.integers(1, 7, n))
    risk = 1 / (1 + np.exp(4.5 - 0.3 * frame["Age"] - 0.5 * frame["Sex"] - frame["Stroke"]))
    frame["HeartDiseaseorAttack"] = (rng.random(n) < risk).astype(int)
    monkeypatch.setattr(datasets, "load", lambda name: frame)
    monkeypatch.setattr(datasets, "checksum", lambda name: "none")
    return frame


def test_a_model_of_other_people_and_two_halves(survey):
    counts = capacity.heart_counts()
    facts = counts.provenance
    assert counts.groups == {"income": tuple(capacity.INCOMES), "half": ("choose", "judge")}
    assert facts["n_train"] == 1_200
    assert facts["n"] == {"choose": 900, "judge": 900}
    assert facts["n_train"] + counts.n_rows == len(survey)
    positives = survey["HeartDiseaseorAttack"].sum()
    assert facts["positives_train"] + sum(facts["positives"].values()) == positives
    rates = [n / facts["n"][half] for half, n in facts["positives"].items()]
    assert rates == pytest.approx([positives / len(survey)] * 2, abs=1e-3)  # drawn within outcome
    assert facts["auroc"]["judge"] > 0.75
    assert set(facts["auroc_by_income_judge"]) == set(capacity.INCOMES)


def test_the_same_seed_gives_the_same_table(survey):
    one, two, other = (capacity.heart_counts(seed).to_frame() for seed in (42, 42, 43))
    assert one.equals(two)
    assert not one.equals(other)


def test_income_and_what_stands_in_for_it_are_not_predictors(survey):
    before = capacity.heart_counts().by("half").to_frame()
    survey["Income"] = survey["Income"].to_numpy()[::-1]
    survey["Education"] = survey["AnyHealthcare"] = survey["NoDocbcCost"] = 1
    assert capacity.heart_counts().by("half").to_frame().equals(before)
    assert set(capacity.PREDICTORS) < set(survey)


def test_part_of_the_cohort(survey):
    counts = capacity.heart_counts(max_rows=1_000)
    assert counts.provenance["n_train"] + counts.n_rows == 1_000
    assert counts.provenance["max_rows"] == 1_000


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_rows": 0}, "max_rows must be a whole number"),
        ({"max_rows": 2.5}, "max_rows must be a whole number"),
        (
            {"max_rows": 3},
            "max_rows = 3: 3 people are too few to fit and judge a model on; take more",
        ),
        ({"seed": "x"}, "seed = 'x': give a whole number from 0"),
        ({"seed": -1}, "seed = -1: give a whole number from 0"),
        ({"seed": "x", "max_rows": 500}, "seed = 'x'"),
    ],
)
def test_what_cannot_be_split(survey, options, said):
    with pytest.raises(al.AuditInputError, match=said):
        capacity.heart_counts(**options)


def test_five_incomes_of_eight_codes():
    groups = capacity.income_of(pd.Series(range(1, 9), index=range(10, 18)))
    assert groups.tolist() == [
        *["under 15k"] * 2, *["15–25k"] * 2, *["25–50k"] * 2, "50–75k", "75k and over",
    ]  # fmt: skip
    assert groups.cat.categories.tolist() == list(capacity.INCOMES)
    assert groups.index.tolist() == list(range(10, 18))
    with pytest.raises(al.AuditInputError, match=r"2 rows hold none of 1 to 8 but \[9.0, nan\]"):
        capacity.income_of(pd.Series([1, 9, np.nan]))


@pytest.fixture(scope="module")
def committed():
    return al.Counts.read_csv(datasets.counts_path(NAME))


def test_the_committed_table(committed):
    facts, spec = committed.provenance, datasets.source("cdc_diabetes")
    assert datasets.counts_path(NAME).stat().st_size < 1_000_000
    assert committed.groups == {"income": tuple(capacity.INCOMES), "half": ("choose", "judge")}
    assert facts["n_train"] + committed.n_rows == spec["rows"]
    assert facts["n_train"] == round(0.4 * spec["rows"])
    assert facts["n"] == {"choose": 76_104, "judge": 76_104}
    assert facts["predictors"] == list(capacity.PREDICTORS)
    table = committed.at(T).sum("income")
    assert (table["tp"] + table["fn"]).to_series().to_dict() == facts["positives"]
    assert facts["seed"] == 42
    assert facts["max_rows"] is None


@pytest.mark.parametrize("half", ["choose", "judge"])
@pytest.mark.parametrize("capacity_share", [0.03, 0.01])
def test_edges_are_fine_enough_to_fill_both_caps(committed, half, capacity_share):
    """At every point of the frontier less than .02% of the people is left unused."""
    counts = committed.sel(half=half)
    for level in capacity.INCOMES:
        found = capacity_frontier(counts, level, capacity_share, T, LAM)
        assert found.attrs["people"] == 76_104
        assert int(found["unused"].max()) <= 0.0002 * 76_104


def test_the_lowest_income_is_lowest_untreated_and_along_the_frontier(committed):
    for share in (0.03, 0.01):
        found = capacity_frontier(committed.sel(half="choose"), "under 15k", share, T, LAM)
        assert found.attrs["lowest_untreated"] == "under 15k"
        assert set(found["lowest"].values.tolist()) == {"under 15k"}
        assert found.sizes["point"] > 20


LEVEL = "under 15k"


@pytest.fixture(scope="module")
def ends(committed):
    return capacity_frontier(committed.sel(half="choose"), LEVEL, 0.03, T, LAM).isel(point=[0, -1])


def test_gains_are_over_nobody_treated_or_over_a_point(committed, ends):
    held = committed.sel(half="judge")
    over_none = capacity.gains(held, ends, T, LAM, replicates=200)
    over_first = capacity.gains(held, ends, T, LAM, over=0, replicates=200)
    table = points_table(held, ends)
    w = T / (1 - T)
    for who, part in {"overall": table.sum("income"), "level": table.sel(income=LEVEL)}.items():
        n = sum(part[cell] for cell in ("tp", "fp", "fn", "tn"))
        expected = (10_000 * LAM * (part["tp"] - w * part["fp"]) / n).values
        assert over_none[who].to_numpy() == pytest.approx(expected)
        assert over_first[who].to_numpy() == pytest.approx(expected - expected[0])
        assert (over_none[f"{who}_low"] < over_none[who]).all()
        assert (over_none[who] < over_none[f"{who}_high"]).all()
    assert over_first.loc[0, "overall_low"] == over_first.loc[0, "overall_high"] == 0
    assert over_none["flagged"].to_numpy() == pytest.approx(1e4 * judge(held, ends, T, LAM)["flagged_overall"].values)
    assert "overall_low" not in capacity.gains(held, ends, T, LAM, replicates=0)


@pytest.mark.parametrize("over", [2, 999, -1, True, False, 0.0, "0"])
def test_a_point_to_compare_with_that_is_none(committed, ends, over):
    with pytest.raises(al.AuditInputError, match=f"over = {over!r}: give the place of a point, .* from 0 to 1"):
        capacity.gains(committed.sel(half="judge"), ends, T, LAM, over=over, replicates=0)


def test_gains_over_the_last_point_and_of_one_point(committed, ends):
    held = committed.sel(half="judge")
    over_last = capacity.gains(held, ends, T, LAM, over=np.int64(1), replicates=0)
    over_first = capacity.gains(held, ends, T, LAM, over=0, replicates=0)
    for who in ("overall", "level"):
        assert over_last[who].to_numpy() == pytest.approx(over_first[who].to_numpy() - over_first[who].iloc[1])
    both = capacity.gains(held, ends, T, LAM, replicates=0)
    one = capacity.gains(held, ends.isel(point=1), T, LAM, replicates=0)
    assert one.iloc[0].tolist() == pytest.approx(both.iloc[1].tolist())
    for replicates in (None, -1, 2.5, True):
        with pytest.raises(al.AuditInputError, match="replicates must be a whole number"):
            capacity.gains(held, ends, T, LAM, replicates=replicates)


def test_the_interval_of_a_gain_against_the_normal_one(committed, ends):
    """The gain is λ times a mean of independent values: 1 for a true, −w for a false positive, 0 else."""
    held = committed.sel(half="judge")
    found = capacity.gains(held, ends, T, LAM, replicates=2000)
    part = points_table(held, ends).sum("income")
    n, w = 76_104, T / (1 - T)
    mean = (part["tp"] - w * part["fp"]) / n
    se = 1e4 * LAM * np.sqrt(((part["tp"] + w**2 * part["fp"]) / n - mean**2) / n)
    width = (found["overall_high"] - found["overall_low"]).to_numpy()
    assert width == pytest.approx(2 * 1.96 * se.values, rel=0.08)


def test_samples_are_counts_of_their_own(committed):
    held = committed.sel(half="choose")
    first, second = capacity.samples(held, 400, 2, seed=5)
    assert first.n_rows == second.n_rows == 400
    assert not first.resampled
    assert not first.at(T)["tp"].equals(second.at(T)["tp"])
    assert capacity_frontier(first, LEVEL, 0.03, T, LAM).attrs["capacity"] == 12


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lam": 3}, "lam must be above 0 and at most 1"),
        ({"lam": {"under 15k": 0.2}}, "lam names groups"),
        ({"lam": xr.DataArray([0.2, 0.3], {"lam": [0.2, 0.3]}, ["lam"])}, "one number each"),
        ({"threshold": 1}, "threshold must be at least 0 and below 1"),
        ({"threshold": True}, "threshold must be a number"),
        ({"capacity": 3}, "capacity must be a share"),
        ({"level": "poor"}, "level 'poor' is no level of 'income': under 15k"),
    ],
)
def test_the_published_book_keeping_wants_the_same_as_the_frontier(committed, options, said):
    given = {"level": LEVEL, "capacity": 0.03, "threshold": T, "lam": LAM, **options}
    with pytest.raises(al.AuditInputError, match=said):
        capacity.as_published(committed.sel(half="choose"), **given)


def test_the_published_book_keeping_wants_one_dim_of_unresampled_counts(committed):
    held = committed.sel(half="choose")
    for counts, said in (
        (committed, r"takes counts over one dim, not income, half: counts.by\(…\) or .sel\(…\) first"),
        (held.by(), "over one dim, not none"),
        (held.resample(2, seed=1), "takes unresampled Counts of one model"),
        (held.at(T), "takes unresampled Counts of one model"),
        (studies.benefit_counts("snb-diabetes-race"), "takes unresampled Counts of one model"),
    ):
        with pytest.raises(al.AuditInputError, match=said):
            capacity.as_published(counts, LEVEL, 0.03, T, LAM)


def test_the_published_book_keeping_by_brute_force(committed):
    held = committed.sel(half="choose")
    (few,) = capacity.samples(held, 300, 1, seed=2)
    found = capacity.as_published(few, LEVEL, 0.1, T, LAM)
    lines = few.to_frame()
    people = lines.loc[lines.index.repeat(lines["n"])]
    own, ill, risk = (people["income"] == LEVEL).to_numpy(), people["label"].to_numpy(), people["bin"].to_numpy()
    edges = np.append(np.inf, np.unique(risk))
    worth = np.where(ill == 1, 1, -T / (1 - T))
    pairs = []
    for a in edges:
        for b in edges:
            counted = int((own & (risk >= a)).sum() + (risk >= b).sum())  # the group twice
            if counted <= 30:
                everybody, level = worth[risk >= b].sum() / 300, worth[own & (risk >= a)].sum() / own.sum()
                pairs.append((1e4 * LAM * everybody, 1e4 * LAM * level))
    pairs = np.array(pairs)
    mine = found[["overall", "level"]].to_dataframe()[["overall", "level"]].to_numpy()
    assert all(((mine >= pair - 1e-9).all(axis=1)).any() for pair in pairs)
    assert not any(((pairs >= one - 1e-9).all(axis=1) & (pairs > one + 1e-9).any(axis=1)).any() for one in mine)
    assert (found["counted"] <= 30).all()
    really = points_table(few, found)[["tp", "fp"]].to_dataarray().sum(["variable", "income"])
    assert (really <= found["counted"]).all()
    assert (really < found["counted"]).any()  # who is counted twice leaves a place empty


@pytest.mark.skipif(not datasets.available("cdc_diabetes"), reason="cdc_diabetes is not at hand: set AUDITLIB_DATA")
def test_the_committed_table_is_what_the_raw_data_give(committed):
    """From rows again. Another processor may move a few people by one edge."""
    facts = committed.provenance
    rebuilt = capacity.heart_counts()
    assert datasets.checksum("cdc_diabetes") == facts["source_sha256"]
    assert rebuilt.n_rows == committed.n_rows
    thresholds = [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5]
    a, b = rebuilt.at(thresholds), committed.at(thresholds)
    assert int(np.abs(a - b).to_array().max()) <= 0.001 * facts["n"]["judge"]
    assert ((a["tp"] + a["fn"]) == (b["tp"] + b["fn"])).all()
    for half, area in facts["auroc"].items():
        assert rebuilt.provenance["auroc"][half] == pytest.approx(area, abs=1e-4)
