"""Inputs that make verdicts, flip rates and audit sizes say something else than they should."""

import time
from functools import cache

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import auditlib as al
from auditlib.counts.levels import check_names
from auditlib.verdicts import (
    METRICS,
    audit_size,
    compare_versions,
    expected_flip_rate,
    flip_rate,
    largest_bin_error,
    limits_of,
    passes,
    settling_size,
    verdict_metrics,
)


def bad(said):
    return pytest.raises(al.AuditInputError, match=said)


def frame(n=2_000, seed=0):
    rng = np.random.default_rng(seed)
    held = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "race": rng.choice(list("ABC"), n)})
    held["site"], held["p"] = rng.choice([f"s{k}" for k in range(4)], n), rng.beta(2, 3, n).round(2)
    held["y"] = (rng.random(n) < held["p"] * np.where(held["sex"] == "F", 1, 0.8)).astype(int)
    return held.assign(patient=rng.integers(0, n // 2, n))


def counted(by, rows=None, **options):
    rows = frame() if rows is None else rows
    return al.count(rows, label="y", score="p", by=by, bins=20, thresholds=[0.5], **options)


ALL = counted(["sex", "race", "site"])
SEX = ALL.by("sex")
REPEATED = SEX.resample(50, seed=1)
REPLICATES = verdict_metrics(REPEATED, "sex", threshold=0.5)
POINT = verdict_metrics(SEX, "sex", threshold=0.5)


# -- which metric ------------------------------------------------------------------------------------------------


def test_one_metric_of_several_over_a_metric_dim():
    several = REPLICATES.to_dataarray("metric")
    for name in METRICS:
        found = flip_rate(several, name)
        xr.testing.assert_identical(found, flip_rate(REPLICATES, name))
        assert found["vfr"].dims == ()
        assert float(found.p_pass) == float(flip_rate(REPLICATES).p_pass.sel(metric=name))
        xr.testing.assert_equal(passes(several, name), passes(REPLICATES[name]))
        xr.testing.assert_equal(passes(several.sel(metric=name)), passes(REPLICATES[name]))  # its coordinate says it
    assert flip_rate(several, "DI", limits={"DI": 0.5}).p_pass.item() == 1


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: flip_rate(REPLICATES.DI, point=POINT.SPD), "DI and SPD"),
        (lambda: flip_rate(REPLICATES, "DI", point=POINT.SPD), "DI and SPD"),
        (lambda: passes(POINT.DI, "SPD"), "SPD and DI"),
        (lambda: passes(POINT.to_dataarray("metric").sel(metric=["DI", "PP"]), "SPD"), "no SPD here, only DI, PP"),
        (lambda: passes(POINT[["SPD"]], "DI"), "no DI here, only SPD"),
        (lambda: passes(xr.Dataset()), "no metric in this Dataset"),
        (lambda: passes(POINT.SPD, ["SPD"]), "none of"),
        (lambda: passes(POINT, ["SPD"]), "none of"),
        (lambda: passes(xr.DataArray([0.1, 0.2], dims="metric", name="SPD")), "does not say which"),
        (lambda: passes(xr.DataArray([0.1, 0.2], {"metric": ["DI", "DI"]}, ["metric"])), "each once"),
        (lambda: limits_of({"TI": 10**400}), "limit of TI"),
    ],
)
def test_a_metric_is_named_once_and_there(call, said):
    with bad(said):
        call()


def test_point_in_another_order_is_reordered_and_a_part_of_it_refused():
    whole = flip_rate(REPLICATES, point=POINT)
    xr.testing.assert_identical(flip_rate(REPLICATES, point=POINT[list(POINT)[::-1]]), whole)
    assert whole["estimate"].sel(metric="DI") == POINT.DI
    assert whole["verdict"].sel(metric="PP").item() == ("pass" if POINT.PP <= 0.1 else "fail")
    with bad("point has metric DI, SPD, but the replicates have DI, SPD, EOpp"):
        flip_rate(REPLICATES, point=POINT[["DI", "SPD"]])
    sites = ALL.by("sex", "site")
    again, point = (verdict_metrics(held, "sex", threshold=0.5) for held in (sites.resample(20, seed=1), sites))
    turned = flip_rate(again, point=point.isel(site=[2, 0, 3, 1]))
    xr.testing.assert_identical(turned, flip_rate(again, point=point))
    with bad("point has site s0, s1, but"):
        flip_rate(again, point=point.isel(site=[0, 1]))
    assert flip_rate(REPLICATES.SPD, point=xr.DataArray(0.05)).verdict.item() == "pass"  # of the replicates' metric


# -- numbers and limits ------------------------------------------------------------------------------------------


def test_numbers_of_few_digits_are_the_decimals_they_were_written_as():
    assert passes(xr.DataArray(np.float32([0.1, 0.1001])), "SPD").values.tolist() == [1, 0]
    assert passes(xr.DataArray(np.float32(0.8) - np.float32(0)), "DI") == 1
    assert passes(xr.DataArray(np.float32(0.3) - np.float32(0.2)), "SPD") == 1  # .1 + 1.2e-8
    assert passes(xr.DataArray(np.float16(0.1)), "SPD") == 1
    assert passes(xr.DataArray(0.8), "DI", {"DI": np.float32(0.8)}) == 1  # which is .8 + 1.2e-8
    assert limits_of({"SPD": np.float32(0.1), "DI": np.float16(0.8), "PP": 0.1 * 3})["SPD"].value == 0.1
    assert [limits_of({"DI": np.float16(0.8), "PP": 0.1 * 3})[name].value for name in ("DI", "PP")] == [0.8, 0.3]
    assert flip_rate(xr.DataArray(np.float32([0.1] * 9), dims="replicate"), "SPD").p_pass == 1


def test_margin_of_replicates_that_do_not_vary():
    held = xr.DataArray([[0.3, 0.1, 0.1 + 1e-12, np.nan]] * 500, dims=("replicate", "case"))
    found = flip_rate(held, "SPD").margin.values
    assert found[0] == np.inf  # rounding in the mean of 500 times 0.3 is no spread
    assert np.isnan(found[1:]).all()
    some = flip_rate(xr.DataArray([0.3, np.nan, 0.3], dims="replicate"), "SPD").margin
    assert some == np.inf


# -- scores and the table ----------------------------------------------------------------------------------------


def both(table, dim, scores):
    """By both functions that take scores."""
    for function in (verdict_metrics, expected_flip_rate):
        yield lambda function=function: function(table, dim, scores=scores)


@pytest.mark.parametrize(
    ("table", "dim", "scores", "said"),
    [
        (REPEATED.at(0.5), "sex", SEX, "the scores do not"),
        (REPEATED.at(0.5), "sex", SEX.resample(20, seed=1), "'replicate'.*50, the scores 20"),
        (REPEATED.at(0.5), "sex", SEX.resample(50, seed=2), "other patients"),
        (SEX.at(0.5), "sex", REPEATED, "the table lacks: replicate"),
        (SEX.at(0.5), "sex", ALL.by("sex", "site"), "the table lacks: site"),
        (SEX.at(0.5), "sex", ALL.by("race"), "'sex' is not a group"),
        (ALL.by("race").at(0.5), "race", ALL.by("race").sel(race=["A"]), "A, B, C, the scores A"),
        (ALL.by("sex", "site").sel(site=["s0", "s1"]).at(0.5), "sex", ALL.by("sex", "site"), "s0, s1, the scores s0"),
        (ALL.by("sex", "site").at(0.5), "sex", SEX, "other patients"),
        (SEX.at(0.5), "sex", counted("sex", frame(seed=1)), "other patients"),
    ],
)
def test_scores_of_others_are_refused(table, dim, scores, said):
    for call in both(table, dim, scores):
        with bad(said):
            call()


def test_scores_of_the_same_patients_are_taken_in_the_order_of_the_table():
    by_site = ALL.by("sex", "site")
    turned = by_site.sel(site=["s3", "s1", "s0", "s2"], sex=["M", "F"])
    whole = verdict_metrics(by_site, "sex", threshold=0.5)
    xr.testing.assert_allclose(verdict_metrics(by_site.at(0.5), "sex", scores=turned), whole)
    closed = [expected_flip_rate(by_site.at(0.5), "sex", scores=scores) for scores in (by_site, turned)]
    xr.testing.assert_allclose(*closed)
    several = verdict_metrics(SEX.at([0.4, 0.5]), "sex", scores=SEX)  # one Cal, whatever the threshold
    assert several.Cal.values.tolist() == [POINT.Cal.item()] * 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda table: table.astype(str), "tp must be counts, but holds values of type"),
        (lambda table: -table, "at least 0"),
        (lambda table: table[["tp", "fp", "fn"]], "has no 'tn'"),
        (lambda table: table.astype(float) * np.inf, "finite"),
    ],
)
def test_cells_are_counts(change, said):
    for function in (verdict_metrics, expected_flip_rate, settling_size):
        with bad(said):
            function(change(SEX.at(0.5)), "sex")


def test_largest_bin_error_is_one_of_counts():
    with bad("takes Counts with score bins, not Dataset"):
        largest_bin_error(SEX.at(0.5), "sex")


# -- rows that are not independent -------------------------------------------------------------------------------


def test_expected_flip_rate_refuses_what_is_not_independent():
    clustered = counted(["sex", "race"], cluster="patient")
    for source in (clustered.by("sex").at(0.5), clustered.at(0.5).sum("race"), clustered.at(0.5).sum("race") * 1):
        for function in (expected_flip_rate, settling_size):
            with bad("rows as independent"):
                function(source, "sex")
    with bad("rows as independent"):
        expected_flip_rate(clustered.resample(3, seed=1).by("sex"), "sex", threshold=0.5)
    with bad("rows as independent"):
        expected_flip_rate(SEX.at(0.5), "sex", scores=clustered.by("sex"))
    rows = clustered.as_rows().at(0.5).sum("race")
    assert expected_flip_rate(rows, "sex").p_pass.equals(expected_flip_rate(SEX.at(0.5), "sex").p_pass)
    with bad("same patients"):
        expected_flip_rate(SEX.at([0.4, 0.5]), "threshold")


# -- rates that do not vary --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "limits", "chances"),
    [
        ("A:40,0,40,0; B:30,0,30,0", {"EOpp": 0, "EOD": 0, "PP": 0, "TI": 0}, {"EOpp": 1, "EOD": 1, "PP": 1, "TI": 1}),
        ("A:40,0,40,0; B:30,0,30,0; C:9,0,9,0", {"EOpp": 0, "EOD": 0, "PP": 0}, {"EOpp": 1, "EOD": 1, "PP": 1}),
        ("A:40,10,0,0; B:30,20,0,0", {"DI": 1.0, "SPD": 0}, {"DI": 1, "SPD": 1}),
        ("A:40,0,40,0; B:0,0,30,30", {"EOpp": 1, "EOD": 1}, {"EOpp": 1, "EOD": 1}),
        ("A:40,0,40,0; B:0,0,30,30; C:1500,0,3000,1500", {"EOpp": 1, "EOD": 1}, {"EOpp": 1, "EOD": 1}),  # C is between
        ("A:40,0,40,0; B:0,0,30,30; C:1500,0,3000,1500", {"EOpp": 0.99}, {"EOpp": 0}),
        ("A:0,0,40,0; B:0,0,30,0", {"TI": 0, "SPD": 0}, {"TI": 1, "SPD": 1}),  # nobody flagged, nobody ill
        ("A:20,20,20,20; B:20,20,20,20", {"TI": 0, "SPD": 0}, {"TI": 0, "SPD": 0}),  # equal by chance alone
    ],
)
def test_rates_without_variance_are_decided_exactly(text, limits, chances):
    table = al.parse_confusion(text)
    for size in (None, 100, 10**7):
        found = expected_flip_rate(table, "group", limits=limits, size=size).p_pass
        for name, chance in chances.items():
            assert float(found.sel(metric=name)) == pytest.approx(chance, abs=1e-9)


def test_scores_without_variance_are_no_rounding():
    rows = pd.DataFrame({"y": [0] * 30 + [0] * 30, "p": [0.13] * 30 + [0.23] * 30, "g": ["a"] * 30 + ["b"] * 30})
    counts = al.count(rows.assign(y=1), label="y", score="p", by="g", bins=None, positive=1)
    for limit, chance in ((0.1, 1), (0.0999, 0)):
        found = expected_flip_rate(counts, "g", threshold=0.0, limits={"Cal": limit}).p_pass.sel(metric="Cal")
        assert float(found) == chance


# -- sizes -------------------------------------------------------------------------------------------------------


def test_a_metric_that_most_audits_lack_is_not_settled():
    two = pd.DataFrame({"y": [0, 1] * 1000 + [0, 1], "p": [0.2, 0.8] * 1000 + [0.8, 0.8]})
    counts = counted("g", two.assign(g=["a"] * 2000 + ["b"] * 2))
    found = audit_size(counts, "g", threshold=0.5, sizes=[100, 500, 1000], seed=1)
    assert (found["undefined"].sel(size=100) >= 0.9).all()
    assert float(found["cv"].sel(metric="SPD", size=100)) < 0.05  # of the few audits that have it
    for name in ("n_star", "n_star_corrected", "n_precision"):
        assert np.isnan(found[name]).all()
    # 30 of b with the outcome and 30 without, where 1 of 2,002 are either
    assert (found["n_settled"] == 60_060).all()
    for metric in METRICS:
        row = audit_size(SEX, "sex", threshold=0.5, sizes=[200, 1000], cv=2.0, seed=1).sel(metric=metric)
        assert float(row["undefined"].max()) == 0
        assert float(row["n_star"]) == 200


@pytest.mark.parametrize("sizes", [500, np.int64(500), [500], (n for n in (500, 9_999)), np.array([500]), {500}])
def test_sizes_in_any_form(sizes):
    assert audit_size(SEX, "sex", threshold=0.5, sizes=sizes, repetitions=2, seed=1)["size"].values.tolist() == [500]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: audit_size(REPEATED, "sex", threshold=0.5), "not resampled"),
        (lambda: audit_size(SEX, "sex", threshold=0.5, sizes=None), "sizes must be numbers of patients"),
        (lambda: audit_size(SEX, "sex", threshold=0.5, sizes="500"), "sizes"),
        (lambda: audit_size(SEX, "sex", threshold=0.5, sizes=[]), "no size is below"),
        (lambda: expected_flip_rate(SEX, "sex", threshold=0.5, size=[]), "list of sizes is empty"),
    ],
)
def test_sizes_that_are_none(call, said):
    with bad(said):
        call()


def test_many_groups_settle_in_seconds_and_too_many_rates_are_refused():
    rng = np.random.default_rng(1)
    tp, fp = rng.integers(60, 80, 441), rng.integers(15, 25, 441)
    table = al.confusion(tp=tp, fp=fp, fn=100 - tp, tn=100 - fp, site=[str(k) for k in range(441)])
    start = time.perf_counter()
    found = settling_size(table, "site", limits={"EOpp": 0.5, "SPD": 0.5})
    assert time.perf_counter() - start < 60  # minutes, before
    assert float(found.sel(metric="SPD")) == 441 * 200 * 30 / 100  # what 30 in the smallest group take, and no more
    ill = float(found.sel(metric="EOpp")) / (2 * 441)  # in each group
    drawn = np.ptp(rng.normal(tp / 100, np.sqrt(tp * (100 - tp) / 1e4 / ill), (20_000, 441)), axis=1)
    assert min((drawn <= 0.5).mean(), (drawn > 0.5).mean()) == pytest.approx(0.1, abs=0.01)
    with bad("more than 512 MB"):
        expected_flip_rate(table, "site", size=list(range(1, 200_000)))


# -- names -------------------------------------------------------------------------------------------------------

CALLS = {
    "verdict_metrics": lambda c: verdict_metrics(c, "sex", threshold=0.5),
    "passes": lambda c: passes(verdict_metrics(c, "sex", threshold=0.5)),
    "flip_rate": lambda c: flip_rate(verdict_metrics(c.resample(3, seed=1), "sex", threshold=0.5)),
    "expected_flip_rate": lambda c: expected_flip_rate(c, "sex", threshold=0.5, size=[100, 200]),
    "settling_size": lambda c: settling_size(c, "sex", threshold=0.5),
    "audit_size": lambda c: audit_size(c, "sex", threshold=0.5, sizes=[500], repetitions=2, seed=1),
    "largest_bin_error": lambda c: largest_bin_error(c, "sex", bins=10),
    "versions of TI": lambda c: compare_versions("TI", c, "sex", threshold=0.5),
    "versions of Cal": lambda c: compare_versions("Cal", c, "sex", threshold=0.5),
}
NAMES = [
    *("p_pass", "vfr", "dominant", "margin", "verdict", "disagrees", "metric", "attribute", "size", "version"),
    *("passes", "wide", "tenth", "mean", "sd", "cv", "n_star", "n_settled", "raw", "kappa", "items", "weight"),
    *METRICS,
]


def tried(call, counts):
    try:
        return call(counts), ""
    except al.AuditInputError as error:
        return None, str(error)


@cache
def by_race(what):
    return CALLS[what](counted(["sex", "race"], frame(800)))


@pytest.mark.parametrize("name", NAMES)
def test_a_group_called_like_a_result_keeps_it_or_is_refused(name):
    """What is returned is what the same groups under another name give; else an error names the group."""
    mine, said = counted(["sex", name], frame(800).rename(columns={"race": name})), []
    for what, call in CALLS.items():
        found, error = tried(call, mine)
        if found is None:
            said.append(error)
        else:
            xr.testing.assert_identical(found.rename({name: "race"}) if name in found.dims else found, by_race(what))
    assert all(repr(name) in error and "rename the column" in error for error in said)
    assert len(said) < len(CALLS)  # a table by this name can be counted, and used for the rest


def test_check_names():
    check_names(["sex", "vfr"], ["metric"], "this")
    with bad("this: its results use the name 'vfr' and 'size'"):
        check_names(["sex", "vfr", "size"], ["size", "vfr", "metric"], "this")
