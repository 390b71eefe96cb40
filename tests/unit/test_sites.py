"""Agreement of sites, folds, tiers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import auditlib as al
from auditlib.errors import AuditInputError
from auditlib.sites import (
    TIERS,
    agreement,
    agreement_beside_random,
    fleiss_kappa,
    folds_of_sites,
    gwet_ac1,
    in_folds,
    random_folds,
    raw_agreement,
    site_agreement,
    site_passes,
    site_sizes,
    tier,
)
from auditlib.studies.reproduced import verdicts as published
from auditlib.verdicts import METRICS, passes, verdict_metrics

TABLES = arrays.arrays(float, st.tuples(st.integers(2, 6), st.integers(2, 9)), elements=st.sampled_from([0.0, 1.0]))


@given(TABLES, st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(ratings, random):
    """Items and raters in any order, passes called fails: the same three numbers; and AC1 is never below κ."""
    rows, columns = list(range(ratings.shape[0])), list(range(ratings.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    others = (ratings[rows][:, columns], 1 - ratings, np.hstack([ratings, np.full((len(rows), 1), np.nan)]))
    for coefficient in (raw_agreement, fleiss_kappa, gwet_ac1):
        for other in others:
            assert coefficient(other) == pytest.approx(coefficient(ratings), abs=1e-12, nan_ok=True)
    assert np.isnan(fleiss_kappa(ratings)) == (len(np.unique(ratings)) == 1)
    assert not fleiss_kappa(ratings) > gwet_ac1(ratings) + 1e-12


def test_items_with_fewer_than_two_verdicts_are_left_out_and_counted():
    held = np.array([[1, 0, 1, np.nan], [1, 1, np.nan, np.nan], [0, np.nan, np.nan, np.nan], [np.nan] * 4])
    found = site_agreement(xr.DataArray(held, dims=("attribute", "site")), replicates=0)
    assert (int(found["items"]), int(found["left_out"])) == (2, 2)
    assert (float(found["raters"]), float(found["raters_min"])) == (2.5, 2.0)
    assert float(found["undefined"]) == 10 / 16
    assert float(found["raw"]) == pytest.approx((1 / 3 + 1) / 2)
    share = (2 / 3 + 1) / 2
    chance = share**2 + (1 - share) ** 2
    assert float(found["kappa"]) == pytest.approx((2 / 3 - chance) / (1 - chance))


def test_with_one_item_left_kappa_says_nothing():
    held = np.array([[1, 0, 1, 1], [1, np.nan, np.nan, np.nan]])
    assert np.isnan(fleiss_kappa(held))
    assert raw_agreement(held) == 0.5
    assert np.isfinite(gwet_ac1(held))
    none = np.full((3, 4), np.nan)
    assert all(np.isnan(coefficient(none)) for coefficient in (fleiss_kappa, gwet_ac1, raw_agreement))
    found = site_agreement(xr.DataArray(none, dims=("attribute", "site")), replicates=20, seed=1)
    assert np.isnan(found["raters_min"])
    assert not found["unanimous"]
    assert tier(0.0, 1_000, found)["flag"].item() == "κ undefined"


def test_intervals_are_those_of_resampled_sites_without_pairs_of_a_site_with_itself():
    rng = np.random.default_rng(3)
    held = (rng.random((3, 6)) < 0.6).astype(float)
    held[1, 2] = np.nan
    found = site_agreement(xr.DataArray(held, dims=("attribute", "site")), replicates=40, level=0.8, seed=11)
    kappas, raws = [], []
    for times in np.random.default_rng(11).multinomial(6, np.full(6, 1 / 6), size=40):
        agree, passed = [], []
        for item in held:
            drawn = [site for site in np.repeat(np.arange(6), times) if not np.isnan(item[site])]
            pairs = [(a, b) for a, b in combinations(drawn, 2) if a != b]
            if pairs:
                agree.append(np.mean([item[a] == item[b] for a, b in pairs]))
                passed.append(item[drawn].mean())
        raw, share = np.mean(agree), np.mean(passed)
        raws.append(raw)
        chance = share**2 + (1 - share) ** 2
        kappas.append((raw - chance) / (1 - chance) if 0 < share < 1 else np.nan)
    for name, values in (("kappa", kappas), ("raw", raws)):
        expected = np.nanquantile(values, [0.1, 0.9])
        assert [float(found[f"{name}_low"]), float(found[f"{name}_high"])] == pytest.approx(expected, abs=1e-12)
    assert float(found["kappa_undefined"]) == np.isnan(kappas).mean()


def test_intervals_of_agreement_cover():
    """Twenty independent sites, 400 audits: about what the docstring says, and no bias."""
    chances = np.array([0.9, 0.1, 0.5, 0.7])
    held = (np.random.default_rng(5).random((400, 4, 20)) < chances[:, None]).astype(float)
    found = site_agreement(xr.DataArray(held, dims=("audit", "attribute", "site")), replicates=400, seed=1)
    raw, share = (chances**2 + (1 - chances) ** 2).mean(), chances.mean()
    chance = share**2 + (1 - share) ** 2
    for name, truth in (("raw", raw), ("kappa", (raw - chance) / (1 - chance))):
        assert float(found[name].mean()) == pytest.approx(truth, abs=0.015)
        assert float(((found[f"{name}_low"] <= truth) & (found[f"{name}_high"] >= truth)).mean()) > 0.86


def test_other_dims_stay_and_items_can_be_several_dims():
    rng = np.random.default_rng(1)
    held = xr.DataArray(
        (rng.random((5, 2, 3, 4)) < 0.7).astype(float),
        {"site": list("abcde"), "model": ["x", "y"], "attribute": ["p", "q", "r"], "half": range(4)},
        ("site", "model", "attribute", "half"),
    )
    found = site_agreement(held, over=["attribute", "half"], replicates=30, seed=1)
    assert found["kappa"].dims == ("model",)
    one = held.sel(model="y").transpose("attribute", "half", "site").values.reshape(12, 5)
    assert float(found["kappa"].sel(model="y")) == pytest.approx(fleiss_kappa(one))
    assert int(found["items"].sel(model="x")) == 12
    alone = site_agreement(held.sel(model="y"), over=["half", "attribute"], replicates=30, seed=1)
    assert float(found["kappa_low"].sel(model="y")) == pytest.approx(float(alone["kappa_low"]))


VERDICTS = xr.DataArray(np.eye(3), dims=("attribute", "site"))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: site_agreement(VERDICTS.isel(site=[0])), "at least two raters"),
        (lambda: site_agreement(VERDICTS.isel(attribute=[0])), "at least two items"),
        (lambda: site_agreement(VERDICTS, "hospital"), "'hospital' is not a dim"),
        (lambda: site_agreement(VERDICTS, over="race"), "'race' is not a dim"),
        (lambda: site_agreement(VERDICTS, over=()), "over must name"),
        (lambda: site_agreement(VERDICTS, over=["attribute", "site"]), "over must name"),
        (lambda: site_agreement(VERDICTS * 0.5), "3 of 9 are not, such as 0.5"),
        (lambda: site_agreement(VERDICTS.astype(str)), "must be 1"),
        (lambda: site_agreement(VERDICTS.values), "DataArray"),
        (lambda: site_agreement(VERDICTS, replicates=-1), "replicates"),
        (lambda: site_agreement(VERDICTS, level=95), "level"),
        (lambda: site_agreement(VERDICTS, seed="x"), "seed"),
        (lambda: fleiss_kappa([1, 0, 1]), "items × raters"),
        (lambda: fleiss_kappa([[1], [0]]), "items × raters"),
        (lambda: gwet_ac1([[1, 0, 2], [1, 0, 0]]), "such as 2.0"),
        (lambda: raw_agreement([["a", "b"], ["a", "b"]]), "must be 1"),
        (lambda: agreement([3, 4], 3), "0 ≤ passes ≤ raters"),
        (lambda: agreement([0.5, 1], 3), "whole numbers"),
        (lambda: agreement([1], 3), "at least two items"),
        (lambda: agreement([1, 2], [3, 4, 5]), "raters must be"),
        (lambda: agreement([1, 2], "x"), "raters must be"),
        (lambda: agreement([[1], [1, 2]], 2), "passes: the lists are not all of one length"),
        (lambda: agreement(np.ma.masked_array([1, 2], mask=[False, True]), 3), "whole numbers"),
        (lambda: fleiss_kappa([[1, 0], [1]]), "ratings: the lists are not all of one length"),
        (lambda: site_agreement(VERDICTS, over=5), "over must be a list of names, not 5"),
        (lambda: site_agreement(VERDICTS, over=None), "over must be a list of names, not None"),
        (lambda: site_agreement(VERDICTS, over=[["attribute"]]), "over must be a list of names, but holds"),
        (lambda: site_agreement(VERDICTS, replicates=10**8), "over the limit of 512 MB"),
        (lambda: site_agreement(VERDICTS.expand_dims(raw=2)), "'raw'"),
        (lambda: site_agreement(VERDICTS.expand_dims(item_=2)), "'item_'"),
    ],
)
def test_input_that_is_no_agreement(call, words):
    with pytest.raises(AuditInputError, match=words):
        call()


def cohort(sizes: dict[str, int], seed: int = 1, **more) -> al.Counts:
    """Counts of a made-up cohort by site, sex and age."""
    rng = np.random.default_rng(seed)
    n = sum(sizes.values())
    frame = pd.DataFrame({"site": np.repeat(list(sizes), list(sizes.values()))})
    frame["sex"], frame["age"] = rng.choice(["F", "M"], n), rng.choice(["old", "young"], n, p=[0.7, 0.3])
    frame["p"] = rng.random(n).round(2)
    frame["y"] = (rng.random(n) < 0.2 + 0.6 * frame["p"]).astype(int)
    return al.count(frame.assign(**more), label="y", score="p", by=["site", "sex", "age"], bins=10)


def sizes_of(counts: al.Counts) -> xr.DataArray:
    return counts.by("site").histogram().sum(["label", "bin"])


def test_folds_hold_whole_sites_and_near_equal_numbers():
    rng = np.random.default_rng(2)
    sizes = {f"h{number}": int(size) for number, size in enumerate(rng.lognormal(5, 1, 441)) if size >= 1}
    folds = folds_of_sites(sizes, 20, seed=1)
    assert list(folds) == list(sizes)
    assert set(folds.values()) == {str(number) for number in range(1, 21)}
    held = pd.Series(sizes).groupby(pd.Series(folds)).sum()
    assert held.max() - held.min() <= 0.01 * held.mean()
    assert folds == folds_of_sites(pd.Series(sizes), 20, seed=1)
    array = xr.DataArray(list(sizes.values()), {"site": list(sizes)}, ("site",))
    assert folds == folds_of_sites(array, 20, seed=1)
    equal = dict.fromkeys(sizes, 10)
    assert folds_of_sites(equal, 20, seed=1) != folds_of_sites(equal, 20, seed=2)


def test_as_many_folds_as_sites():
    folds = folds_of_sites({"a": 1, "b": 1, "c": 500}, 3, seed=4)
    assert sorted(folds.values()) == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: folds_of_sites({"a": 1, "b": 2}, 3), "2 sites cannot fill 3 folds"),
        (lambda: folds_of_sites({"a": 1, "b": 2}), "cannot fill 20 folds"),
        (lambda: folds_of_sites({"a": 1, "b": 2}, 1), "k must be at least 2"),
        (lambda: folds_of_sites({"a": 1, "b": 2}, 0), "k must be"),
        (lambda: folds_of_sites({"a": 1, "b": 2}, 2.0), "k must be"),
        (lambda: folds_of_sites({"a": 0, "b": 2}, 2), "at least 1"),
        (lambda: folds_of_sites({"a": 1.5, "b": 2}, 2), "whole numbers"),
        (lambda: folds_of_sites({"a": "1", "b": "2"}, 2), "whole numbers"),
        (lambda: folds_of_sites({1: 5, "1": 5}, 2), "'1' is named twice"),
        (lambda: folds_of_sites([5, 5], 2), "dict or Series"),
        (lambda: folds_of_sites({"a": np.inf, "b": 2}, 2), "whole numbers"),
        (lambda: folds_of_sites({"a": 1e300, "b": 2}, 2), r"more than 2\*\*53 people"),
        (lambda: folds_of_sites(dict.fromkeys("abc", 2**62), 2), r"more than 2\*\*53 people"),
        (lambda: folds_of_sites({"a": 2**53, "b": 1}, 2), r"more than 2\*\*53 people"),
        (lambda: folds_of_sites({"a": [1], "b": [1, 2]}, 2), "sizes must be a list of numbers"),
        (lambda: folds_of_sites(pd.Series([3, None], index=["a", "b"], dtype="Int64"), 2), "whole numbers"),
        (lambda: random_folds(cohort({"a": 9, "b": 9}), 2, within=5), "within must be a list"),
        (lambda: random_folds(cohort({"a": 9, "b": 9}), 2, within=[["sex"]]), "within must be a list"),
        (lambda: site_passes(cohort({"a": 9, "b": 9}), None, threshold=0.5), "attributes must be a list"),
        (lambda: site_passes(cohort({"a": 9, "b": 9}), 5, threshold=0.5), "attributes must be a list"),
        (lambda: site_passes(cohort({"a": 9, "b": 9}), [["sex"]], threshold=0.5), "attributes must be a list"),
        (lambda: site_passes(cohort({"a": 9, "b": 9}).at(0.5), ["sex"], threshold=0.5), "from Counts"),
        (
            lambda: agreement_beside_random(cohort({"a": 9, "b": 9}), ["sex", "age"], threshold=0.5, n=10**8),
            "over 512 MB",
        ),
        (lambda: folds_of_sites(xr.DataArray([5, 5], dims="site"), 2), "coordinate"),
        (lambda: in_folds(cohort({"a": 9, "b": 9}), 3), "2 sites cannot fill"),
        (lambda: in_folds(cohort({"a": 9, "b": 9}), 2, "hospital"), "'hospital'"),
        (lambda: random_folds(cohort({"a": 9, "b": 9}), 0), "n must be"),
        (lambda: random_folds(cohort({"a": 9}), 2), "at least two levels"),
        (lambda: random_folds(cohort({"a": 9, "b": 9}).resample(2, seed=1), 2), "replicates already"),
        (lambda: random_folds(cohort({"a": 9, "b": 9}).at(0.5), 2), "made of Counts"),
        (lambda: random_folds(cohort({"a": 9, "b": 9}), 2, within=["site"]), "within must name dims other than 'site'"),
        (lambda: random_folds(cohort({"a": 9, "b": 9}), 2, within=["sex", "sex"]), "each once"),
        (lambda: random_folds(cohort({"a": 9, "b": 9}), 2, within=["race"]), "'race' is not a group"),
        (lambda: site_sizes(cohort({"a": 9, "b": 9}), "site", threshold=0.5), "attributes"),
        (lambda: site_sizes(cohort({"a": 9, "b": 9}).resample(2, seed=1), ["sex"], threshold=0.5), "not of replicates"),
        (lambda: site_passes(cohort({"a": 9, "b": 9}), [], threshold=0.5), "attributes"),
        (lambda: site_passes(cohort({"a": 9, "b": 9}), ["site"], threshold=0.5), "attributes"),
        (lambda: site_passes(cohort({"a": 9, "b": 9}), ["sex", "sex"], threshold=0.5), "attributes"),
    ],
)
def test_folds_that_cannot_be(call, words):
    with pytest.raises(AuditInputError, match=words):
        call()


def test_many_sites_are_soon_in_folds():
    folds = folds_of_sites({f"s{number}": number % 50 + 1 for number in range(20_000)}, 20, seed=1)
    held = pd.Series({f"s{number}": number % 50 + 1 for number in range(20_000)}).groupby(pd.Series(folds)).sum()
    assert held.sum() == 510_000
    assert held.max() - held.min() <= 1


def test_sites_without_people_are_in_no_fold():
    counts = cohort({"a": 90, "b": 50, "c": 40, "d": 10})
    frame = pd.DataFrame({"y": [0, 1], "p": [0.1, 0.8], "site": ["e", "e"], "sex": "F", "age": "few"})
    empty = (counts + al.count(frame, label="y", score="p", by=["site", "sex", "age"], bins=10)).sel(
        age=["old", "young"]
    )
    assert sizes_of(empty).sel(site="e") == 0
    merged = in_folds(empty, 2, seed=1)
    assert merged.groups["site"] == ("1", "2")
    np.testing.assert_array_equal(sizes_of(merged), sizes_of(in_folds(counts, 2, seed=1)))
    with pytest.raises(AuditInputError, match="4 sites cannot fill 5 folds"):
        in_folds(empty, 5)
    dealt = random_folds(empty, 3, seed=1)
    np.testing.assert_array_equal(sizes_of(dealt).values, np.tile([90, 50, 40, 10, 0], (3, 1)))
    assert site_passes(dealt, ["sex"], threshold=0.5).sel(site="e").isnull().all()


def test_what_is_masked_is_undefined():
    masked = np.ma.masked_array([[1, 0, 1], [1, 1, 0], [0, 0, 1]], mask=[[0, 1, 0], [0, 0, 0], [1, 0, 0]])
    plain = masked.astype(float).filled(np.nan)
    for coefficient in (raw_agreement, fleiss_kappa, gwet_ac1):
        assert coefficient(masked) == coefficient(plain) != coefficient(masked.data)
        assert coefficient(list(masked)) == coefficient(plain)
    assert raw_agreement(np.ma.masked_array([[1, 0], [1, 1]], mask=[[0, 1], [0, 0]])) == 1.0
    assert raw_agreement(np.ma.masked_array([[1, 0], [1, 1]])) == 0.5


def test_sites_cannot_be_a_dim_that_results_have():
    for name in ("metric", "attribute", "DI"):
        with pytest.raises(AuditInputError, match=f"'{name}'"):
            site_passes(renamed(name), ["sex"], threshold=0.5, dim=name)


def renamed(name: str) -> al.Counts:
    frame = pd.DataFrame(
        {"y": [0, 1] * 8, "p": [0.1, 0.8, 0.6, 0.7] * 4, "sex": list("FFMM") * 4, name: list("ab") * 8}
    )
    return al.count(frame, label="y", score="p", by=[name, "sex"], bins=10)


def test_sites_in_folds_keep_their_people():
    counts = cohort({"a": 90, "b": 50, "c": 40, "d": 10})
    merged = in_folds(counts, 2, seed=1)
    assert sizes_of(merged).values.tolist() in ([100, 90], [90, 100])
    xr.testing.assert_equal(merged.by("sex").histogram(), counts.by("sex").histogram())


def test_random_folds_use_everybody_once():
    counts = cohort({"a": 60, "b": 1, "c": 25})
    dealt = random_folds(counts, 300, seed=1)
    assert dealt.resampled
    np.testing.assert_array_equal(sizes_of(dealt).values, np.tile([60, 1, 25], (300, 1)))
    pooled = dealt.by("sex", "age").histogram()
    assert (pooled == counts.by("sex", "age").histogram()).all()  # in every deal
    assert dealt.dims == counts.dims
    xr.testing.assert_equal(dealt.histogram(), random_folds(counts, 300, seed=1).histogram())


@pytest.mark.parametrize("within", [["sex"], ["sex", "age"], "age"])
def test_dealt_within_groups_each_fold_keeps_its_residents(within):
    counts = cohort({"a": 60, "b": 1, "c": 25})
    dealt = random_folds(counts, 200, seed=1, within=within)
    names = [within] if isinstance(within, str) else within
    kept, real = (held.by("site", *names).histogram().sum(["label", "bin"]) for held in (dealt, counts))
    assert (kept == real).all()  # in every deal
    assert (dealt.by("sex", "age").histogram() == counts.by("sex", "age").histogram()).all()
    moved = dealt.by("site").histogram().sel(site="a", label=1).sum("bin")
    assert float(moved.std()) > 1
    xr.testing.assert_equal(dealt.histogram(), random_folds(counts, 200, seed=1, within=within).histogram())


def test_dealt_within_groups_have_the_law_of_a_draw_without_replacement_in_each():
    counts = cohort({"a": 60, "b": 40, "c": 25})
    drawn = random_folds(counts, 4_000, seed=1, within=["sex"]).by("site", "sex").histogram().sum("bin")
    for sex in ("F", "M"):
        whole = counts.by("sex").histogram().sum("bin").sel(sex=sex)
        n, share = int(whole.sum()), float(whole.sel(label=1) / whole.sum())
        size = int(counts.by("site", "sex").histogram().sum(["label", "bin"]).sel(site="a", sex=sex))
        cases = drawn.sel(site="a", sex=sex, label=1)
        variance = size * share * (1 - share) * (n - size) / (n - 1)
        assert float(cases.mean()) == pytest.approx(size * share, abs=4 * np.sqrt(variance / 4_000))
        assert float(cases.var()) == pytest.approx(variance, rel=0.1)


def test_random_folds_have_the_law_of_a_draw_without_replacement():
    counts = cohort({"a": 60, "b": 40, "c": 25})
    drawn = random_folds(counts, 4_000, seed=1).by("site", "sex").histogram().sum(["label", "bin"]).sel(sex="F")
    n, women = counts.n_rows, int(counts.by("sex").histogram().sum(["label", "bin"]).sel(sex="F"))
    for site, size in (("a", 60), ("b", 40), ("c", 25)):
        mean = size * women / n
        variance = mean * (1 - women / n) * (n - size) / (n - 1)
        assert float(drawn.sel(site=site).mean()) == pytest.approx(mean, abs=4 * np.sqrt(variance / 4_000))
        assert float(drawn.sel(site=site).var()) == pytest.approx(variance, rel=0.1)
    covariance = np.cov(drawn.sel(site="a"), drawn.sel(site="b"))[0, 1]
    share = women / n
    assert covariance == pytest.approx(-60 * 40 * share * (1 - share) / (n - 1), rel=0.25)


def test_patients_with_several_rows_stay_together():
    rng = np.random.default_rng(1)
    patient = np.repeat(np.arange(60), 2)
    frame = pd.DataFrame({"patient": patient, "site": np.where(patient < 20, "a", "b"), "y": rng.integers(0, 2, 120)})
    frame["p"], frame["sex"] = rng.random(120).round(1), np.where(patient % 2, "F", "M")
    by = {"label": "y", "score": "p", "by": ["site", "sex"], "bins": 10, "cluster": "patient"}
    dealt = random_folds(al.count(frame, **by), 5, seed=1)
    np.testing.assert_array_equal(sizes_of(dealt).values, np.tile([40, 80], (5, 1)))  # rows: 20 and 40 patients of two
    kept = random_folds(al.count(frame, **by), 5, seed=1, within=["sex"]).by("site", "sex").histogram()
    assert (kept.sum(["label", "bin"]).sel(site="a") == 20).all()  # ten patients of two rows, women and men
    frame["half"] = np.tile(["x", "z"], 60)
    mixed = al.count(frame, **by | {"by": ["site", "half"]})
    with pytest.raises(AuditInputError, match=r"60 of 60 units \(patient\) are in several levels of 'half'"):
        random_folds(mixed, 5, within=["half"])
    frame.loc[0, "site"] = "b"
    with pytest.raises(AuditInputError, match=r"1 of 60 units \(patient\) are in several levels of 'site'"):
        random_folds(al.count(frame, **by), 5)


def test_random_folds_of_sites_that_differ_agree_more_than_the_sites():
    """In half of the sites the score flags women alone, in half men alone: sites disagree, random folds do not."""
    rng = np.random.default_rng(1)
    n = 4_000
    frame = pd.DataFrame({"site": rng.choice([f"s{i}" for i in range(10)], n), "sex": rng.choice(["F", "M"], n)})
    frame["age"], frame["y"] = rng.choice(["old", "young"], n), rng.integers(0, 2, n)
    odd = frame["site"].str[1:].astype(int) % 2 == 1
    frame["p"] = np.where(odd & (frame["sex"] == "F"), 0.9, rng.random(n).round(2))
    counts = al.count(frame, label="y", score="p", by=["site", "sex", "age"], bins=10)
    found = agreement_beside_random(counts, ["sex", "age"], threshold=0.5, n=50, replicates=200, seed=1)
    spd = found.sel(metric="SPD")
    assert float(spd["raw"]) < float(spd["raw_random_low"])
    assert float(spd["kappa_random_below"]) == 0.0
    assert found["kappa"].dims == ("metric",)
    real = site_agreement(site_passes(counts, ["sex", "age"], threshold=0.5), replicates=0)
    xr.testing.assert_allclose(found["kappa"], real["kappa"])
    assert float(spd["raw_random_below"]) == 0.0
    sex = spd.sel(attribute="sex")
    assert float(sex["sd"]) > 2 * float(sex["sd_random"])
    assert float(sex["sd_random_above"]) == 0.0
    assert float(sex["passes"]) > float(sex["passes_random_high"])
    kept = agreement_beside_random(counts, ["sex", "age"], threshold=0.5, n=50, replicates=0, seed=1, within=["sex"])
    assert float(kept["raw_random_below"].sel(metric="SPD")) == 0.0  # not who lives there: the score is another
    ti = found.sel(metric="TI")
    assert float(ti["raw_random_below"]) == 1
    assert np.isnan(ti["kappa"])
    assert np.isnan(ti["kappa_random_below"])


def test_random_folds_of_other_people_agree_more_and_folds_with_the_same_people_do_not():
    """Half of the sites have old patients, half young; the score flags old men, and is the same everywhere."""
    rng = np.random.default_rng(2)
    n = 8_000
    frame = pd.DataFrame({"site": rng.choice([f"s{i}" for i in range(10)], n), "sex": rng.choice(["F", "M"], n)})
    odd = frame["site"].str[1:].astype(int) % 2 == 1
    frame["age"] = np.where(rng.random(n) < np.where(odd, 0.85, 0.15), "old", "young")
    frame["y"], frame["p"] = rng.integers(0, 2, n), rng.random(n).round(2) * 0.6
    frame.loc[(frame["age"] == "old") & (frame["sex"] == "M") & (rng.random(n) < 0.25), "p"] = 0.9
    counts = al.count(frame, label="y", score="p", by=["site", "sex", "age"], bins=10)
    told = {"threshold": 0.5, "n": 60, "replicates": 0, "seed": 1, "limits": {"SPD": 0.08}}
    dealt, kept = (agreement_beside_random(counts, ["sex", "age"], within=w, **told) for w in ([], ["sex", "age"]))
    where = {"metric": "SPD", "attribute": "sex"}
    assert float(dealt["sd_random_above"].sel(where)) == 0.0
    assert 0.05 < float(kept["sd_random_above"].sel(where)) < 0.95
    assert float(kept["passes_random_low"].sel(where)) <= float(kept["passes"].sel(where))
    values = verdict_metrics(counts.by("site", "sex"), "sex", threshold=0.5)["SPD"]
    assert float(kept["sd"].sel(where)) == pytest.approx(float(values.std(ddof=1)))
    assert [float(kept[k].sel(where)) for k in ("least", "most")] == [float(values.min()), float(values.max())]
    assert float(kept["passes"].sel(where)) == int((values <= 0.08).sum())


def test_site_sizes_count_small_groups():
    counts = cohort({"a": 400, "b": 300, "lone": 1})
    found = site_sizes(counts, ["sex", "age"], threshold=0.5)
    assert found.index.tolist() == ["sex", "age"]
    table = counts.by("site", "age").at(0.5)
    assert found.loc["age", "groups"] == 6
    assert found.loc["age", "small"] == int(al.small(table).sum())
    assert found.loc["age", "under 5 positives"] == int((table.tp + table.fn < 5).sum()) >= 2
    assert found.loc["age", "no positives"] == int((table.tp + table.fn == 0).sum()) >= 1
    assert found.loc["age", "sites with a small group"] == int(al.small(table).any("age").sum())


def test_site_passes_are_those_of_each_site_and_a_site_of_one_patient_is_undefined():
    counts = cohort({"a": 300, "b": 200, "lone": 1})
    found = site_passes(counts, ["sex", "age"], threshold=0.5)
    assert found.dims == ("metric", "attribute", "site")
    alone = passes(verdict_metrics(counts.sel(site="b").by("age"), "age", threshold=0.5))
    np.testing.assert_array_equal(found.sel(site="b", attribute="age").values, alone.values)
    assert found.sel(site="lone").isnull().all()
    agreed = site_agreement(found, replicates=50, seed=1)
    assert (agreed["raters"] == 2).all()
    np.testing.assert_allclose(agreed["undefined"], 1 / 3)
    strict = site_passes(counts, ["sex"], threshold=0.5, limits={"DI": 1.0})
    assert (strict.sel(metric="DI", site="a") == 0).all()
    dealt = agreement_beside_random(counts, ["sex", "age"], threshold=0.5, n=20, replicates=20, seed=1)
    assert dealt["raw"].sizes == {"metric": len(METRICS)}


def test_thresholds_over_joint_groups_are_summed_over_the_other_dims():
    counts = cohort({"a": 300, "b": 200, "c": 250})
    at = xr.DataArray([[0.3, 0.7], [0.5, 0.6]], {"sex": ["F", "M"], "age": ["old", "young"]}, ["sex", "age"])
    found = site_passes(counts, ["sex", "age"], threshold=at)
    for name, other in (("sex", "age"), ("age", "sex")):
        alone = counts.sel(site="b")
        wanted = passes(verdict_metrics(alone.at(at).sum(other), name, scores=alone.by(name)))
        np.testing.assert_array_equal(found.sel(site="b", attribute=name).values, wanted.values)
    assert found.notnull().all()
    flat = xr.full_like(at, 0.5)
    assert site_passes(counts, ["sex", "age"], threshold=flat).identical(
        site_passes(counts, ["sex", "age"], threshold=0.5)
    )
    options = {"n": 5, "replicates": 20, "seed": 1}
    joint, one = (agreement_beside_random(counts, ["sex", "age"], threshold=t, **options) for t in (flat, 0.5))
    xr.testing.assert_allclose(joint, one)
    assert site_sizes(counts, ["sex"], threshold=flat).equals(site_sizes(counts, ["sex"], threshold=0.5))


def test_deals_can_be_held_a_few_at_a_time(monkeypatch):
    counts = cohort({"a": 30, "b": 20, "c": 25})
    told = {"threshold": 0.5, "n": 6, "replicates": 20, "seed": 1}
    whole = agreement_beside_random(counts, ["sex", "age"], **told)
    monkeypatch.setitem(agreement_beside_random.__globals__, "CHUNK", 1)
    xr.testing.assert_allclose(agreement_beside_random(counts, ["sex", "age"], **told), whole)


@pytest.mark.parametrize(
    ("vfr", "n_star", "kappa", "violated"),
    [
        (0.10, 50_000, 0.40, 0),  # limits are inclusive
        (0.1 + 1e-12, 50_000, 0.4 - 1e-12, 0),
        (0.11, 50_000, 0.40, 1),
        (0.0, 50_001, 0.40, 1),
        (0.0, np.nan, 0.40, 1),  # never settled
        (0.0, np.inf, 0.40, 1),
        (0.0, 1_000, 0.39, 1),
        (0.3, np.nan, 0.9, 2),
        (0.3, np.nan, -0.1, 3),
    ],
)
def test_tier_counts_violations(vfr, n_star, kappa, violated):
    found = tier(vfr, n_star, kappa)
    assert found["violated"].item() == violated
    assert found["tier"].item() == TIERS[violated]
    assert found["flag"].item() == ""


def test_tiers_that_are_undefined():
    assert tier(np.nan, 1_000, 0.9)["tier"].item() == "undefined"
    assert tier(np.nan, 1_000, 0.9)["flag"].item() == "VFR undefined"
    unknown = tier(0.0, 1_000, np.nan)
    assert (unknown["tier"].item(), unknown["flag"].item()) == ("undefined", "κ undefined")
    assert np.isnan(unknown["violated"])
    assert tier(np.nan, 1_000, np.nan)["flag"].item() == "VFR undefined; κ undefined"
    for raw in (0.9, 1.0):  # nothing says of how many items
        assert tier(0.0, 1_000, xr.Dataset({"kappa": np.nan, "raw": raw}))["tier"].item() == "undefined"
    told = xr.Dataset({"kappa": np.nan, "raw": 1.0, "items": 2})
    assert tier(0.0, 1_000, told)["flag"].item() == "κ 0/0: unanimous"
    assert tier(0.0, 1_000, told.assign(items=1))["flag"].item() == "κ undefined"
    assert tier(0.0, 1_000, told.assign(unanimous=False))["flag"].item() == "κ undefined"


def test_two_verdicts_of_eighty_are_not_unanimous():
    held = xr.DataArray(np.full((4, 20), np.nan), dims=("attribute", "site"))
    held[0, :2] = 1
    found = tier(0.0, 2_000, site_agreement(held, replicates=0))
    assert (found["tier"].item(), found["flag"].item()) == ("undefined", "κ undefined")
    assert np.isnan(found["violated"])
    held[1, :2] = 1  # a second item makes it so
    assert tier(0.0, 2_000, site_agreement(held, replicates=0))["flag"].item() == "κ 0/0: unanimous"


def test_numbers_of_single_precision_are_the_numbers_written():
    for kind in (np.float16, np.float32):
        assert tier(kind(0.1), kind(1_000), kind(0.4))["violated"].item() == 0
        assert tier(xr.DataArray(np.array([0.1], dtype=kind)), 1_000, 0.4)["violated"].values.tolist() == [0]
        assert tier(0.1, 1_000, 0.4, vfr_limit=kind(0.1), kappa_limit=kind(0.4))["violated"].item() == 0
    assert tier(np.float32(0.11), 1_000, 0.4)["violated"].item() == 1


def test_kappa_of_a_metric_serves_all_its_cells():
    vfr = xr.DataArray([[0.0, 0.2], [0.0, 0.0]], {"metric": ["DI", "TI"], "attribute": ["race", "sex"]})
    values = {"kappa": ("metric", [0.1, np.nan]), "unanimous": ("metric", [False, True])}
    sites = xr.Dataset(values, {"metric": ["DI", "TI"]})
    found = tier(vfr, xr.full_like(vfr, 2_000.0), sites)
    assert found["violated"].values.tolist() == [[1, 2], [0, 0]]
    assert found["flag"].values.tolist() == [["", ""], ["κ 0/0: unanimous"] * 2]
    assert tier(vfr, 2_000, sites, kappa_limit=0.1)["violated"].values.tolist() == [[0, 1], [0, 0]]
    assert tier(vfr, 2_000, sites, n_limit=1_999)["violated"].values.tolist() == [[2, 3], [1, 1]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tier(0.6, 1_000, 0.5), "vfr must lie between 0 and 0.5, not 0.6"),
        (lambda: tier(-0.1, 1_000, 0.5), "vfr must lie"),
        (lambda: tier(0.1, 0, 0.5), "n_star must be above 0"),
        (lambda: tier(0.1, 1_000, 1.5), "kappa must lie"),
        (lambda: tier("0.1", 1_000, 0.5), "vfr must be a number"),
        (lambda: tier(0.1, 1_000, xr.Dataset({"kappa": 0.5})), "no 'raw'"),
        (lambda: tier(0.1, 1_000, xr.Dataset({"raw": 0.5})), "no 'kappa'"),
        (lambda: tier(xr.DataArray([0.1], dims="flag"), 1_000, 0.5), "'flag'"),
        (lambda: tier(0.1, 1_000, 0.5, vfr_limit=10), "vfr_limit"),
        (lambda: tier(0.1, 1_000, 0.5, n_limit=-1), "n_limit"),
        (lambda: tier(0.1, 1_000, 0.5, kappa_limit=40), "kappa_limit"),
        (lambda: tier(xr.DataArray([True]), 1_000, 0.5), "vfr must be numbers"),
        (
            lambda: tier(xr.DataArray([0.1], {"metric": ["DI"]}), 1_000, xr.DataArray([0.5], {"metric": ["SPD"]})),
            "different coordinates",
        ),
    ],
)
def test_tiers_that_cannot_be(call, words):
    with pytest.raises(AuditInputError, match=words):
        call()


def test_published_cells_with_kappa_of_the_public_verdicts():
    again = published.agreement_again()
    expected = {
        "DI": (0.854, 0.699), "SPD": (0.883, 0.766), "EOpp": (0.782, 0.143), "EOD": (0.916, 0.830),
        "PP": (0.807, 0.607), "TI": (0.975, -0.013), "Cal": (0.874, 0.505),
    }  # fmt: skip
    for metric, numbers in expected.items():
        one = again.sel(metric=metric)
        assert (float(one["raw"]), float(one["kappa"])) == pytest.approx(numbers, abs=0.0006)
    found, printed = published.published_tiers(again=True), published.published_tiers()
    counted = found["tier"].to_series().value_counts()
    assert [int(counted[name]) for name in TIERS] == [5, 13, 9, 1]
    assert int((found["violated"] != printed["violated"]).sum()) == 24


def test_published_cells_by_tier():
    """FACTS of the paper's public tables: pass counts of 500, N*, κ of each metric."""
    found = published.published_tiers()
    counted = found["tier"].to_series().value_counts()
    assert [int(counted[name]) for name in TIERS] == [3, 11, 11, 3]
    practical = found["tier"].to_series()
    assert sorted(practical.index[practical == TIERS[0]]) == [("EOD", "age"), ("EOpp", "age"), ("TI", "age")]
    assert sorted(practical.index[practical == TIERS[3]]) == [("PP", "ethnicity"), ("SPD", "age"), ("SPD", "race")]
    flagged = found["flag"].to_series()
    assert set(flagged.index[flagged != ""].get_level_values("metric")) == {"TI"}
    # By hand, from the numbers as printed: passes of 500, whether N* is at most 50,000, whether κ is at least 0.40.
    passed = {
        "DI": (262, 500, 500, 116), "SPD": (265, 500, 500, 146), "EOpp": (187, 500, 500, 0), "EOD": (82, 500, 500, 0),
        "TI": (500, 500, 500, 500), "PP": (14, 10, 449, 0), "Cal": (0, 29, 25, 0),
    }  # fmt: skip
    settled = {"DI": (1, 1, 1, 1), "EOpp": (0, 0, 0, 1), "EOD": (0, 0, 0, 1), "PP": (0, 1, 0, 1), "TI": (0, 0, 0, 1)}
    agreed = {"EOpp", "EOD", "TI"}
    for metric, counts in passed.items():
        for number, count in enumerate(counts):
            violated = min(count, 500 - count) > 50
            violated += (1 - settled.get(metric, (0, 0, 0, 0))[number]) + (metric not in agreed)
            assert float(found["violated"].sel(metric=metric)[number]) == violated
