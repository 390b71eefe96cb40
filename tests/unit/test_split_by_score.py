"""The split of a PPV gap over score bins: by hand, person by person, with true risks, and on the committed counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

import auditlib as al
from auditlib import simulate, studies
from tests.unit.frames import PROPERTY
from tests.unit.test_benefit import bad
from tests.unit.test_intervals import clustered

PARTS = ("at_same_score", "score_distribution")
#: Score, label and group of people; scores in tenths, a person flagged from 0.5.
people = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 1), st.sampled_from("AB")), min_size=2, max_size=60)


def counted(rows, **options):
    frame = pd.DataFrame(rows, columns=["tenth", "y", "g"]).assign(p=lambda rows: rows["tenth"] / 10)
    return al.count(frame, label="y", score="p", by="g", bins=10, **options)


def cohort(bins):
    """One row a person: {(group, tenth): (with the outcome, all)}."""
    return [(k, int(i < ill), g) for (g, k), (ill, n) in bins.items() for i in range(n)]


# -- what it is ----------------------------------------------------------------------------------------------------


def test_two_bins_by_hand():
    """A: 3 of 4 and 1 of 6; B: 1 of 2 and 2 of 8 with the outcome, in two bins. PPV 4/10 and 3/10.

    At the same score: (3/4 − 1/2)(4/10 + 2/10)/2 + (1/6 − 1/4)(6/10 + 8/10)/2 = 3/40 − 7/120 = 1/60.
    Distribution: (4/10 − 2/10)(3/4 + 1/2)/2 + (6/10 − 8/10)(1/6 + 1/4)/2 = 1/8 − 1/24 = 1/12.
    """
    rows = cohort({("A", 8): (3, 4), ("A", 6): (1, 6), ("B", 8): (1, 2), ("B", 6): (2, 8), ("A", 1): (5, 7)})
    found = al.split_by_score(counted(rows), "A", "B", 0.5)
    assert {name: float(found[name]) for name in found} == pytest.approx(
        {"at_same_score": 1 / 60, "score_distribution": 1 / 12, "compared": 1.0, "total": 1 / 10}
    )


@PROPERTY
@given(people)
def test_person_by_person_in_fractions(rows):
    """Each group's flagged people with the other's rate at their score, and with their own: the average of both."""
    flagged = {g: [(k, y) for k, y, group in rows if group == g and k >= 5] for g in "AB"}
    assume(all(flagged.values()) and {group for _, _, group in rows} == {"A", "B"})

    def mean(values):
        return sum(values, Fraction(0)) / len(values)

    def rate(g, k):
        here = [Fraction(y) for tenth, y in flagged[g] if tenth == k]
        return mean(here) if here else mean([Fraction(y) for tenth, y in flagged["AB".replace(g, "")] if tenth == k])

    worth = {(who, whose): mean([rate(whose, k) for k, _ in flagged[who]]) for who in "AB" for whose in "AB"}
    same = (worth["A", "A"] - worth["A", "B"] + worth["B", "A"] - worth["B", "B"]) / 2
    moved = (worth["A", "A"] - worth["B", "A"] + worth["A", "B"] - worth["B", "B"]) / 2
    both = {k for k, _ in flagged["A"]} & {k for k, _ in flagged["B"]}
    compared = mean([mean([Fraction(k in both) for k, _ in flagged[g]]) for g in "AB"])

    counts = counted(rows)
    found = al.split_by_score(counts, "A", "B", 0.5)
    told = {"at_same_score": same, "score_distribution": moved, "compared": compared, "total": same + moved}
    assert {name: float(found[name]) for name in told} == pytest.approx(
        {name: float(value) for name, value in told.items()}, abs=1e-13
    )
    assert float(found["total"]) == pytest.approx(float(al.gap(al.ppv(counts.at(0.5)), "A", "B")), abs=1e-15)
    swapped = al.split_by_score(counts, "B", "A", 0.5)
    for name in (*PARTS, "total"):
        assert float(swapped[name]) == pytest.approx(-float(found[name]), abs=1e-15)


def test_what_is_equal_has_no_part():
    rates = cohort({("A", 8): (6, 8), ("A", 5): (1, 4), ("B", 8): (3, 4), ("B", 5): (4, 16)})
    found = al.split_by_score(counted(rates), "A", "B", 0.5)
    assert float(found["at_same_score"]) == 0
    assert float(found["score_distribution"]) == pytest.approx(7 / 12 - 7 / 20)
    places = cohort({("A", 8): (6, 8), ("A", 5): (1, 4), ("B", 8): (3, 8), ("B", 5): (4, 4)})
    assert float(al.split_by_score(counted(places), "A", "B", 0.5)["score_distribution"]) == 0


def test_a_bin_of_one_group_compares_nobody():
    rows = cohort({("A", 9): (4, 4), ("A", 5): (2, 4), ("B", 5): (1, 4), ("B", 7): (0, 1)})
    found = al.split_by_score(counted(rows), "A", "B", 0.5)
    assert float(found["at_same_score"]) == pytest.approx((1 / 2 - 1 / 4) * (1 / 2 + 4 / 5) / 2)
    assert float(found["compared"]) == pytest.approx((1 / 2 + 4 / 5) / 2)
    assert float(found["total"]) == pytest.approx(6 / 8 - 1 / 5)
    alone = cohort({("A", 9): (2, 4), ("B", 5): (1, 4)})
    apart = al.split_by_score(counted(alone), "A", "B", 0.5)
    assert [float(apart[name]) for name in (*PARTS, "compared")] == [0, 0.25, 0]


def test_nobody_flagged_is_nan():
    rows = cohort({("A", 9): (2, 4), ("B", 1): (1, 4)})
    with np.errstate(all="raise"):
        found = al.split_by_score(counted(rows), "A", "B", 0.5)
    assert bool(found.to_dataarray().isnull().all())


# -- against what prevalence and Se and Sp say ---------------------------------------------------------------------


def exact(kinds, threshold):
    """Confusion table of infinitely many people who are flagged by their true risk, by quadrature."""
    z = np.linspace(-9, 9, 200_001)
    weight = norm.pdf(z) / norm.pdf(z).sum()
    cells = {cell: [] for cell in ("tp", "fp", "fn", "tn")}
    for group in kinds.values():
        mean, sd = group.predictor()
        risk = expit(mean + sd * z)
        flag = risk >= threshold
        for cell, part in {"tp": risk * flag, "fp": (1 - risk) * flag, "fn": risk * ~flag}.items():
            cells[cell].append((weight * part).sum())
        cells["tn"].append((weight * (1 - risk) * ~flag).sum())
    return al.confusion(**{cell: np.rint(1e12 * np.array(held)) for cell, held in cells.items()}, group=list(kinds))


def test_differing_risks_alone_give_a_standardized_gap():
    """True risks of SD 2 on the logit scale, prevalences and threshold of heart attack by sex."""
    kinds = {"men": simulate.RiskGroup.at(0.0712, (2.0,)), "women": simulate.RiskGroup.at(0.0393, (2.0,))}
    table = exact(kinds, 0.0546)
    np.testing.assert_allclose(al.sensitivity(table), [0.857, 0.767], atol=5e-4)
    np.testing.assert_allclose(al.false_positive_rate(table), [0.252, 0.148], atol=5e-4)
    ways = {"raw": table, "at one prevalence": al.standardize(table, 0.0546)}
    gaps = {name: 100 * float(al.gap(al.ppv(one), "men", "women")) for name, one in ways.items()}
    assert gaps == pytest.approx({"raw": 3.1, "at one prevalence": -6.7}, abs=0.05)
    assert (al.split_gap(table, "men", "women")["performance"] < 0).all()


def test_prevalences_of_16_and_4_per_cent():
    kinds = {"16": simulate.RiskGroup.at(0.16, (1.0,)), "4": simulate.RiskGroup.at(0.04, (1.0,))}
    table = exact(kinds, 0.1)
    raw, pooled = (100 * float(al.gap(al.ppv(one), "16", "4")) for one in (table, al.standardize(table)))
    assert (raw, pooled) == pytest.approx((7.5, -18.1), abs=0.05)
    np.testing.assert_allclose(al.ppv(table), [0.2303, 0.1555], atol=5e-5)


def test_a_score_that_is_the_true_risk_has_no_part_at_the_same_score():
    kinds = {"men": simulate.RiskGroup.at(0.0712, (2.0,)), "women": simulate.RiskGroup.at(0.0393, (2.0,))}
    drawn = simulate.RiskCohort(kinds).frame(400_000, seed=3)
    counts = al.count(drawn, label="label", score="true_risk", by="group", thresholds=[0.0546])
    found = al.split_by_score(counts, "men", "women", 0.0546)
    assert float(found["at_same_score"]) == pytest.approx(0, abs=0.006)  # its standard error is 0.003
    assert float(found["score_distribution"]) == pytest.approx(0.031, abs=0.006)


@pytest.mark.parametrize(
    ("name", "same", "moved"),
    [
        ("gap-brfss2022_heart-sex", (4.0, 2.8, 5.0), (3.0, 2.4, 3.5)),
        ("gap-cdc_diabetes-sex", (3.2, 2.1, 4.2), (-1.1, -1.4, -0.8)),
        ("gap-cdc_diabetes-age", (-11.4, -13.1, -9.7), (-3.5, -4.2, -2.9)),
    ],
)
def test_committed_counts(name, same, moved):
    """Bins 0.02 wide and replicates by a script of its own with NumPy alone; here the 200 bins of the table."""
    counts = studies.comparison_counts(name)
    pair, tau = next(iter(counts.groups.values())), counts.provenance["threshold"]
    draws = counts.resample(400, strata=list(counts.groups), seed=1)
    one, many = (al.split_by_score(held, *pair, tau) for held in (counts, draws))
    for part, (mid, low, high) in dict(zip(PARTS, (same, moved), strict=True)).items():
        assert 100 * float(one[part]) == pytest.approx(mid, abs=0.2)
        held = al.interval(100 * many[part])
        assert (float(held.low), float(held.high)) == pytest.approx((low, high), abs=0.35)
    assert float(one["compared"]) > 0.99


# -- replicates, other dims, and what cannot be split --------------------------------------------------------------


def test_replicates_and_other_groups_are_split_one_by_one():
    frame = clustered(600).assign(site=lambda rows: np.where(rows["patient"] % 2, "p", "q"))
    options = {"label": "y", "score": "p", "cluster": "patient", "thresholds": [0.5], "bins": 20}
    counts = al.count(frame, by=["sex", "site"], **options)
    draws = counts.resample(5, seed=2)
    found = al.split_by_score(draws, "F", "M", 0.5)
    assert set(found["total"].dims) == {"replicate", "site"}
    np.testing.assert_allclose(found["at_same_score"] + found["score_distribution"], found["total"], atol=1e-14)
    np.testing.assert_allclose(found["total"], al.gap(al.ppv(draws.at(0.5)), "F", "M"), atol=1e-14)
    whole, alone = (al.split_by_score(one, "F", "M", 0.5) for one in (counts, counts.sel(site="p")))
    assert whole.sel(site="p", drop=True).equals(alone)


def test_wide_bins_are_one_score():
    rows = cohort({("A", 9): (4, 4), ("A", 5): (1, 4), ("B", 9): (1, 1), ("B", 5): (1, 4)})
    counts = counted(rows)
    assert float(al.split_by_score(counts, "A", "B", 0.5)["at_same_score"]) == 0
    wide = al.split_by_score(counts.cut([0.2, 0.5]), "A", "B", 0.2)
    assert float(wide["at_same_score"]) == pytest.approx(5 / 8 - 2 / 5)
    assert float(wide["score_distribution"]) == 0
    with bad("only one score bin begins at 0.5"):
        al.split_by_score(counts.cut([0.5]), "A", "B", 0.5)


def test_what_cannot_be_split_by_score():
    counts = counted(cohort({("A", 9): (4, 4), ("B", 5): (1, 4)}))
    with bad("needs the score bins of counts"):
        al.split_by_score(counts.at(0.5), "A", "B", 0.5)
    with bad("is not an edge"):
        al.split_by_score(counts, "A", "B", 0.55)
    with bad("not levels of one dim"):
        al.split_by_score(counts, "A", "C", 0.5)
    with bad("'sex' is not a dim"):
        al.split_by_score(counts, "A", "B", 0.5, dim="sex")
