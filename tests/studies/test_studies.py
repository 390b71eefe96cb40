"""The studies in a short form: fewer audits and settings, fixed seeds, the same claims."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import auditlib as al
from auditlib import datasets
from auditlib.benefit.frontier import capacity_frontier, points_table
from auditlib.studies import study_table
from auditlib.studies.capacity import samples
from tests.studies import band_coverage, capacity_optimism, fieller_coverage, gap_coverage, spread_coverage
from tests.studies.tools import write

LEAST = 0.93


def significantly_below(table: pd.DataFrame, least: float) -> pd.DataFrame:
    """Settings whose coverage lies more than three binomial standard errors under ``least``."""
    return table[table["coverage"] + 3 * table["coverage_se"] < least]


def test_gap_interval_covers() -> None:
    table = gap_coverage.study(audits=1_000, n=0, positives=(12, 75))
    assert significantly_below(table[table["method"] == "gap_interval"], LEAST + 0.01).empty
    severe = table[table["design"].str.contains("severe") & (table["sensitivity_a"] == 0.7)]
    assert (severe[severe["method"] == "newcombe_rows"]["coverage"] < 0.85).all()  # clusters must not be ignored


def test_the_percentile_bootstrap_does_not_cover_in_small_groups() -> None:
    rows = gap_coverage.DESIGNS[0]
    found = dict(gap_coverage.intervals(rows, (0.90, 0.95), 12, 400, 400, [1]))
    few = gap_coverage.coverage(found["percentile"], -0.05)
    assert few["coverage"] < 0.80
    assert gap_coverage.coverage(found["gap_interval"], -0.05)["coverage"] > LEAST


def test_spread_interval_covers() -> None:
    """Three groups of 100 positives, a true spread of 0, .05, .10 and .20."""
    table = spread_coverage.study(audits=2_000, n=200, groups=(3,), positives=(100,))
    ours, theirs = (table[table["method"] == name] for name in ("spread_interval", "percentile"))
    assert (ours["coverage"] >= LEAST).all()
    assert (ours.loc[ours["spread"] >= 0.10, "relative_width"] <= 1.4).all()
    assert (theirs.loc[theirs["spread"] == 0, "coverage"] == 0).all()


def test_band_covers_whole_curves() -> None:
    """Equal groups of 75 positives, and 30 v 300."""
    settings = tuple(each for each in band_coverage.SETTINGS[:4] if each.positives in ((75, 75), (30, 300)))
    table = band_coverage.study(audits=60, n=200, settings=settings)
    assert significantly_below(table[table["method"] == "band"], 0.95).empty
    pointwise = table["method"].isin(["percentile", "newcombe"]) & (table["metric"] == "sensitivity")
    assert (table.loc[pointwise, "coverage"] < 0.85).all()


def test_the_committed_study_of_the_band_is_what_its_docstring_says() -> None:
    table = study_table("band_coverage")
    assert (table["audits"] == band_coverage.AUDITS).all()
    assert len(table) == len(band_coverage.SETTINGS) * 5 * 3
    band = table[table["method"] == "band"]
    dozens = band[(band["unit"] == "row") & (band["positives_a"] >= 25)]
    assert len(dozens) == 11 * 3
    assert dozens["coverage"].between(LEAST, 0.955).all()
    held = table[table["metric"] == "sensitivity"]
    held = held.set_index(["method", "unit", "curves", "positives_a", "positives_b", "grid"])["coverage"].sort_index()
    few = held["band", "row", "equal", 5]
    assert few[5, 20] == pytest.approx(0.88, abs=0.005)
    assert few[300, 20] == pytest.approx(0.89, abs=0.005)
    assert held["band", "patient", "equal", 30, 300, 20] == pytest.approx(0.91, abs=0.005)
    naive = held["naive", "row"]
    assert (naive["equal", 75, 75, 20], naive["near", 75, 75, 20]) == (pytest.approx(0.963), pytest.approx(0.463))
    assert naive["near", 75, 75, 199] < 0.05


@pytest.mark.parametrize("design", gap_coverage.DESIGNS[1:2])
def test_simulated_tables_are_what_counting_gives(design: gap_coverage.Design) -> None:
    """The study's vectorised moments and patterns of one audit, against ``count`` on the same audit's rows."""
    cohort = gap_coverage.cohort(design, (0.7, 0.8))
    drawn = cohort.tables(1, 60, gap_coverage.THRESHOLD, seed=3, per_patient=True)
    frame = rows_of(drawn.isel(audit=0))
    counts = al.count(
        frame, label="label", score="score", by="group", thresholds=[gap_coverage.THRESHOLD], cluster="patient"
    ).cut(gap_coverage.THRESHOLD)
    counted = counts.at(gap_coverage.THRESHOLD)
    simulated = gap_coverage.with_moments(drawn.sum("patient"), drawn).isel(audit=0)
    np.testing.assert_array_equal(counted["unit_moments"].values, simulated["unit_moments"].values)
    for name in gap_coverage.CELLS:
        np.testing.assert_array_equal(counted[name].values, simulated[name].values)
    ours = al.interval(al.gap(al.sensitivity(counts.resample(4_000, "group", seed=1).at(0.2)), "a", "b"))
    weights = gap_coverage.patterns_of(drawn)
    study = gap_coverage.percentile(weights, gap_coverage.PATTERNS, 4_000, np.random.default_rng(2))
    width = float(study["high"][0] - study["low"][0])
    # A 2.5% quantile of 4,000 replicates has a standard error of about 1% of the width; gaps are discrete.
    np.testing.assert_allclose([ours["low"], ours["high"]], [study["low"][0], study["high"][0]], atol=0.05 * width)


def rows_of(patients: xr.Dataset) -> pd.DataFrame:
    """Rows of one audit's patients; a score of 0.5 is flagged at the study's threshold, 0.1 is not."""
    parts = []
    for number, cell in enumerate(gap_coverage.CELLS):
        counts = patients[cell].to_series().rename("n").reset_index()
        rows = counts.loc[counts.index.repeat(counts["n"]), ["group", "patient"]]
        parts.append(rows.assign(label=int(cell in ("tp", "fn")), score=0.5 if number < 2 else 0.1))
    frame = pd.concat(parts, ignore_index=True)
    return frame.assign(patient=frame["group"] + frame["patient"].astype(str))


def test_fieller_sets_cover_where_the_denominator_is_near_zero() -> None:
    """The ratio of net benefits and the tipping λ, with denominators 1, 2 and 4 standard errors from 0."""
    for quantity in fieller_coverage.NAMES:
        one, two, truth = fieller_coverage.sides(quantity, 2.0, 2_000)
        top = two.benefit if quantity == "ratio" else one.prevalence - two.prevalence
        bottom = one.benefit if quantity == "ratio" else one.benefit - two.benefit
        assert top / bottom == pytest.approx(truth, rel=1e-9)
    table = fieller_coverage.study(audits=2_000, people=(2_000,)).set_index(["quantity", "method", "distance"])
    ours = table.xs("fieller", level="method")
    assert ours["coverage"].between(0.93, 0.97).all()
    assert (ours["undefined"] == 0).all()
    ratio = ours.loc["ratio"]
    assert ratio["outside"].add(ratio["all"])[2.0] == pytest.approx(0.48, abs=0.03)  # P(|Z + 2| < 1.96)
    assert table.loc[("ratio", "delta", 1.0), "coverage"] < 0.85


def test_frontiers_chosen_on_few_people_promise_more_than_they_keep() -> None:
    """Forty samples of 250 and of 2,000: optimism falls, what is kept rises, and places are filled to the cap."""
    table = capacity_optimism.study({250: 40, 2_000: 40}).set_index(["point", "size"])
    for point in ("best overall", "best for under 15k"):
        few, more = (table.loc[(point, size)] for size in (250, 2_000))
        assert few["optimism"] == pytest.approx(few["promised"] - few["kept"])
        assert few["optimism"] > 2.5 * few["se"]
        assert few["optimism"] > 2 * more["optimism"]
        error = np.hypot(few["kept_places_se"], more["kept_places_se"])
        assert more["kept_places"] - few["kept_places"] > 2 * error  # what choosing on fewer costs, at one capacity
    counts = al.Counts.read_csv(datasets.counts_path("snb-heart-income")).sel(half="choose")
    (sample,) = samples(counts, 2_000, 1, seed=1)
    ends = capacity_frontier(sample, "under 15k", 0.03, 0.10, 0.22).isel(point=[0, -1])
    filled = capacity_optimism.in_proportion(counts, ends)
    flagged = points_table(counts, filled)[["tp", "fp"]].to_dataarray().sum(["variable", "income"]).values
    wanted = (ends["flagged_level"] + ends["flagged_rest"]).values / 60 * 2_283
    assert (flagged <= wanted).all()
    assert (flagged > wanted - 40).all()


def test_a_table_is_written_whole_and_the_same_each_time(tmp_path: Path) -> None:
    tables = [spread_coverage.study(audits=50, n=50, groups=(2,), positives=(30,)) for _ in range(2)]
    texts = [write("spread", table, tmp_path).read_bytes() for table in tables]
    assert texts[0] == texts[1]
    assert [path.name for path in tmp_path.iterdir()] == ["spread.csv"]
