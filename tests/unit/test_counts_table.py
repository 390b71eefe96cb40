"""Counts: by, sel, regroup, cut, at, +, resample, histogram."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import assume, given
from hypothesis import strategies as st

import auditlib as al
from auditlib.counts.draws import shares, stratum_of
from tests.unit.frames import PROPERTY, brute, cohort, count, frames, same

CELLS = ["tp", "fp", "fn", "tn"]
KINDS = [{}, {"cluster": "patient"}, {"score": ["p", "q"]}, {"score": ["p", "q"], "cluster": "patient"}]
kinds = st.sampled_from(KINDS)
T = 0.112


def bad(said):
    return pytest.raises(al.AuditInputError, match=said)


def straddling():
    """Four patients: two only F, one only M, one both; the last also with both labels."""
    rows = [("a", "F", 0), ("a", "F", 0), ("b", "F", 1), ("c", "M", 0), ("d", "F", 0), ("d", "M", 1)]
    frame = pd.DataFrame(rows, columns=["patient", "sex", "y"]).assign(p=0.3, race="A")
    return count(frame, cluster="patient")


# -- smaller questions commute ---------------------------------------------------------------------------------


@PROPERTY
@given(frame=frames(), options=kinds, order=st.permutations(range(3)))
def test_by_regroup_cut_commute(frame, options, order):
    levels = sorted(frame["race"].unique())
    steps = [
        lambda counts: counts.by("race"),
        lambda counts: counts.regroup(race={"some": levels[:2]}),
        lambda counts: counts.cut([0.3, T]),
    ]
    counts = count(frame, thresholds=[T], **options)
    straight, other = counts, counts
    for step in steps:
        straight = step(straight)
    for number in order:
        other = steps[number](other)
    assert same(straight, other)


@PROPERTY
@given(frame=frames(), options=kinds)
def test_by_equals_counting_by_it(frame, options):
    assert same(count(frame, **options).by("race"), count(frame, by="race", **options))
    assert same(count(frame, **options).by("race", "sex"), count(frame, by=["race", "sex"], **options))
    assert same(count(frame, **options).by(), count(frame, by=[], **options))


@PROPERTY
@given(frame=frames(), options=kinds)
def test_regroup_equals_counting_renamed(frame, options):
    levels = sorted(frame["race"].unique())
    members = [levels[0], levels[-1]] if len(levels) > 1 else levels
    renamed = frame.assign(race=frame["race"].where(~frame["race"].isin(members), "0 merged"))
    assert same(count(frame, **options).regroup(race={"0 merged": members}), count(renamed, **options))


@PROPERTY
@given(frame=frames(), options=kinds, level=st.sampled_from("ABC"))
def test_sel_equals_filtering(frame, options, level):
    assume(level in frame["race"].unique())
    part = frame[frame["race"] == level]
    held = count(frame, **options).sel(race=level)
    assert held.dims == ("sex",)
    right = count(part, **options).by("sex")
    assert same(held.sel(sex=list(right.groups["sex"])), right)


@PROPERTY
@given(frame=frames(), options=kinds)
def test_cut_keeps_what_it_keeps(frame, options):
    counts = count(frame, thresholds=[T], **options)
    cut = counts.cut([0.3, T, T])
    assert cut.edges.lower.tolist() == [0.0, T, 0.3]
    assert cut.at([0.3, 0, T]).identical(counts.at([0.3, 0, T]))
    assert len(cut.lines.n) <= len(counts.lines.n)


def test_sel_several_in_the_order_asked():
    counts = count(cohort())
    found = counts.sel(race=["C", "A"], sex="M")
    assert found.groups == {"race": ("C", "A")}
    right = counts.at(0.2)["tp"].sel(sex="M", race=["C", "A"])
    assert found.at(0.2)["tp"].values.tolist() == right.values.tolist()


def test_regroup_puts_merged_first_and_takes_numbers():
    frame = cohort(race=np.arange(400) % 4)
    counts = count(frame)
    assert counts.regroup(race={"1-2": [1, 2], "3": ["3"]}).groups["race"] == ("1-2", "3", "0")
    one = counts.regroup(race={"two": ["2"]})
    assert one.groups["race"] == ("two", "0", "1", "3")  # those not named stay, in order, with their own patients
    assert one.at(0.2)["tp"].values.tolist() == counts.at(0.2)["tp"].sel(race=["2", "0", "1", "3"]).values.tolist()
    assert counts.sel(race=3).n_rows == 100


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda c: c.by("age"), r"'age' is not a group here; there are: sex, race"),
        (lambda c: c.by(["sex"]), r"\['sex'\] is not a group here"),
        (lambda c: c.by("sex", "sex"), r"named twice in by\('sex', 'sex'\)"),
        (lambda c: c.sel(sex="X"), r"'sex': unknown: 'X'. The levels are 'F', 'M'"),
        (lambda c: c.sel(age="X"), r"'age' is not a group here"),
        (lambda c: c.sel(sex=[]), r"name at least one level, each once"),
        (lambda c: c.sel(sex=["F", "F"]), r"name at least one level, each once"),
        (lambda c: c.regroup(age={}), r"'age' is not a group here"),
        (lambda c: c.regroup(sex=["F"]), r"'sex': say which levels go where, .* not \['F'\]"),
        (lambda c: c.regroup(sex={"all": "FM"}), r"members of 'all' must be a list, not the text 'FM'"),
        (lambda c: c.regroup(sex={"all": None}), r"members of 'all' must be a list, not None"),
        (lambda c: c.regroup(sex={"all": ["X"]}), r"'sex': unknown: 'X'"),
        (lambda c: c.regroup(sex={"all": []}), r"name at least one level"),
        (lambda c: c.regroup(sex={"u": ["F"], "v": ["F", "M"]}), r"'F' is put into two groups"),
        (lambda c: c.regroup(sex={"M": ["F"]}), r"has the name of a level that stays: M, M"),
        (lambda c: c.cut([]), r"no threshold was given"),
        (lambda c: c.cut(0.1234), r"0.1234 is not an edge.*nearest edges are 0.12 and 0.125"),
        (lambda c: c.at([]), r"no threshold was given"),
        (lambda c: c.at(0.1234), r"0.1234 is not an edge.*0.12 and 0.125.*thresholds=\[0.1234\]"),
        (lambda c: c.at([0.2, np.nan]), r"must lie between 0 and 1, not nan"),
        (lambda c: c.at("high"), r"must be a number between 0 and 1, not 'high'"),
        (lambda c: c.at(b"0.5"), r"must be a number between 0 and 1, not b'0.5'"),
        (lambda c: c.at(np.timedelta64(1)), r"must be a number between 0 and 1, not np.timedelta64"),
        (lambda c: c.at(10**400), r"must lie between 0 and 1, not a number too large for a float"),
        (lambda c: c.at(None), r"must be a number between 0 and 1, not None"),
        (lambda c: c.at({"F": 0.5, "M": 0.5}), r"dict of thresholds needs one group dimension, but there are 2"),
        (lambda c: c.by("sex").at({"F": 0.5}), r"no threshold for 'M'. The levels are 'F', 'M'"),
        (lambda c: c.by("sex").at({"F": 0.5, "M": 0.5, "X": 0.1}), r"unknown: 'X'"),
        (lambda c: c.at(xr.DataArray([0.5], dims="age")), r"run over 'age', which is not a group here"),
        (lambda c: c.at(xr.DataArray([0.5, 0.5], dims="sex")), r"no coordinate for 'sex'"),
        (lambda c: c.at(xr.DataArray([0.5], coords={"sex": ["F"]}, dims="sex")), r"no threshold for 'M'"),
        (lambda c: c.at(xr.DataArray([0.5] * 3, coords={"sex": list("FFM")}, dims="sex")), r"level is named twice"),
        (lambda c: c.resample(0), r"n must be a whole number of at least 1, not 0"),
        (lambda c: c.resample(1.5), r"n must be a whole number of at least 1, not 1.5"),
        (lambda c: c.resample(True), r"n must be a whole number of at least 1, not True"),
        (lambda c: c.resample(5, size=0), r"size must be a whole number of at least 1, not 0"),
        (lambda c: c.resample(5, size=401, replace=False), r"size=401 without replacement is more than the 400"),
        (lambda c: c.resample(5, size=10**18), r"size must be at most 9,007,199,254,740,992"),
        (lambda c: c.resample(5, size=10**30), r"size must be at most"),
        (lambda c: c.resample(5, replace="no"), r"replace must be True or False, not 'no'"),
        (lambda c: c.resample(5, seed="abc"), r"seed must be a whole number .* not 'abc'"),
        (lambda c: c.resample(5, seed=-1), r"seed must be a whole number of at least 0, .* not -1"),
        (lambda c: c.resample(5, seed=1.5), r"seed must be a whole number .* not 1.5"),
        (lambda c: c.resample(5, strata=None), r"strata must be a name or a list of names, not None; leave it out"),
        (lambda c: c.resample(5, strata=5), r"strata must be a name or a list of names, not 5"),
        (lambda c: c.resample(5, strata="age"), r"'age' is not a group here"),
        (lambda c: c.resample(5).resample(5), r"these counts are replicates already"),
        (lambda c: c.resample(5).to_csv(), r"replicates have no single table"),
        (lambda c: c.resample(5) + c, r"replicates are not added"),
        (lambda c: c.resample(10**7), r"over the limit of 512 MB.*\.by\(…\) \(now: sex, race\).*\.cut\(…\) \(now: 201"),
        (lambda c: c.resample(2000).at([k / 200 for k in range(201)] * 20), r"over the limit of 512 MB"),
        (lambda c: c.regroup(sex={"none": ["F"]}).sel(sex="none", race="A").cut(1).resample(10**9), r"512 MB"),
    ],
)
def test_what_cannot_be_asked(call, said):
    counts = count(cohort())
    with bad(said):
        call(counts)
    assert same(counts, count(cohort()))  # nothing was changed on the way


def test_nobody_left():
    frame = cohort().query("not (sex == 'F' and race == 'C')")
    nobody = count(frame).sel(sex="F", race="C")
    assert nobody.n_rows == nobody.n_units == 0
    table = nobody.at(0.2)
    assert [int(table[cell]) for cell in CELLS] == [0, 0, 0, 0]
    assert np.isnan(al.sensitivity(table))
    with bad("there is nobody to resample"):
        nobody.resample(2)


# -- at --------------------------------------------------------------------------------------------------------


def test_at_several_forms_agree():
    counts = count(cohort(), thresholds=[T])
    several = counts.at([0.5, T, 0.5])
    assert several["threshold"].values.tolist() == [0.5, T, 0.5]
    for place, threshold in enumerate([0.5, T, 0.5]):
        assert several.isel(threshold=place, drop=True).equals(counts.at(threshold).drop_vars("threshold"))
    assert counts.at(np.float64(T)).equals(counts.at(T))
    assert counts.at(np.array([T, 0.5])).equals(counts.at([T, 0.5]))
    same_for_all = counts.at(xr.DataArray([T, T], coords={"sex": ["M", "F"]}, dims="sex"))
    assert same_for_all.drop_vars("threshold").equals(counts.at(T).drop_vars("threshold"))


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_at_a_threshold_a_group(options):
    frame = cohort()
    counts = count(frame, **options).by("sex")
    found = counts.at({"M": 0.2, "F": 0.5})
    for level, threshold in {"M": 0.2, "F": 0.5}.items():
        assert (
            found.sel(sex=level)
            .drop_vars("threshold")
            .equals(counts.at(threshold).sel(sex=level, drop=True).assign_coords(sex=level).drop_vars("threshold"))
        )


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_at_a_threshold_a_joint_cell_then_summed(options):
    frame = cohort()
    sexes, races = ["F", "M"], ["A", "B", "C"]
    values = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    cells = xr.DataArray(values.T, coords={"race": races, "sex": sexes}, dims=["race", "sex"])
    found = count(frame, **options).at(cells).sum(["race"])
    for i, sex in enumerate(sexes):
        parts = [
            brute(frame[(frame.sex == sex) & (frame.race == race)], values[i, j], ["sex"])
            for j, race in enumerate(races)
        ]
        right = sum(parts)
        table = found.sel(sex=sex, **({"model": "p"} if "score" in options else {}))
        assert [int(table[cell]) for cell in CELLS] == right.loc[sex, CELLS].tolist()


def test_at_a_threshold_a_model():
    frame = cohort()
    by_model = xr.DataArray([0.2, 0.5], coords={"model": ["p", "q"]}, dims="model")
    found = count(frame, score=["p", "q"]).by("sex").at(by_model)
    for model, threshold in (("p", 0.2), ("q", 0.5)):
        right = brute(frame, threshold, ["sex"], model)
        assert found["tp"].sel(model=model).values.tolist() == right["tp"].tolist()


def test_with_every_score_an_edge_each_is_its_own_threshold():
    """Snapping first once took 1 - 0.9 for 0.1, and 5e-324 for 0."""
    scores = np.array([0.05, 1 - 0.9, 0.1, 5e-324, 1e-17, 0.9999999999999999])
    counts = count(pd.DataFrame({"y": 1, "p": scores, "sex": "F"}), by="sex", bins=None)
    edges = counts.edges.lower.tolist()
    right = [int((scores >= edge).sum()) for edge in edges]
    assert counts.at(edges)["tp"].values[0].tolist() == right
    assert counts.at(edges)["threshold"].values.tolist() == edges
    assert [counts.at(edge)["tp"].item() for edge in edges] == right
    assert [counts.at({"F": edge})["tp"].item() for edge in edges] == right
    assert [counts.cut(edge).at(edge)["tp"].item() for edge in edges] == right
    assert counts.at(0.05 + 1e-17)["tp"].item() == 4  # no edge itself: its decimal


def test_very_many_groups_name_their_size():
    """3**41 cells overflow an int64, and once passed for few."""
    rng = np.random.default_rng(0)
    names = [f"g{k}" for k in range(41)]
    frame = pd.DataFrame(rng.integers(0, 3, (50, 41)), columns=names).assign(y=1, p=0.5)
    counts = count(frame, by=names)
    for call in (lambda: counts.at(0.5), counts.histogram, lambda: al.auroc(counts), lambda: counts.resample(2).at(0)):
        with bad("over the limit of 512 MB"):
            call()
    assert counts.by("g0", "g40").at(0.5)["tp"].sum() == 50


def test_at_replicates():
    reps = count(cohort()).resample(7, seed=1)
    assert reps.at(0.2)["tp"].dims == ("replicate", "sex", "race")
    assert reps.at([0.2, 0.5])["tp"].dims == ("replicate", "sex", "race", "threshold")
    assert reps.at([0.2, 0.5]).isel(threshold=1, drop=True).equals(reps.at(0.5).drop_vars("threshold"))


# -- clusters --------------------------------------------------------------------------------------------------


def moments(frame, threshold, level, score="p"):
    """Σ over patients of c cᵀ, c = (tp, fp, fn, tn, 1), brute force."""
    part = frame[frame["sex"] == level]
    total = np.zeros((5, 5), dtype=int)
    for _, rows in part.groupby("patient"):
        c = [*brute(rows, threshold, ["sex"], score).loc[level, CELLS], 1]
        total += np.outer(c, c)
    return total


@PROPERTY
@given(frame=frames(), options=st.sampled_from([{}, {"score": ["p", "q"]}]))
def test_unit_moments(frame, options):
    counts = count(frame, cluster="patient", thresholds=[T], **options).by("sex")
    table, several = counts.at(T), counts.at([T, 0.3])
    for level in counts.groups["sex"]:
        for score in options.get("score", ["p"]):
            where = {"sex": level, **({"model": score} if options else {})}
            assert table["unit_moments"].sel(where).values.tolist() == moments(frame, T, level, score).tolist()
            assert (
                several["unit_moments"].sel(where).sel(threshold=0.3).values.tolist()
                == moments(frame, 0.3, level, score).tolist()
            )


def test_unit_moments_at_a_threshold_a_group():
    frame = cohort(120)
    table = count(frame, cluster="patient").by("sex").at({"F": 0.2, "M": 0.5})
    for level, threshold in (("F", 0.2), ("M", 0.5)):
        assert table["unit_moments"].sel(sex=level).values.tolist() == moments(frame, threshold, level).tolist()


def test_rows_have_no_moments_and_say_so():
    table = count(cohort()).at(0.2)
    assert "unit_moments" not in table.coords
    assert table.attrs == {"unit": "row"}
    assert count(cohort(), cluster="patient").at(0.2).attrs == {"unit": "patient"}


@PROPERTY
@given(frame=frames())
def test_patterns_hold_every_row_and_unit(frame):
    counts = count(frame, cluster="patient")
    assert counts.n_units == frame["patient"].nunique()
    assert counts.n_rows == len(frame)
    # order of rows, and names of patients, change nothing
    other = frame.sample(frac=1, random_state=1).assign(patient=frame["patient"].map(lambda k: f"id{9 - k}"))
    assert same(counts, count(other, cluster="patient"))


# -- adding ----------------------------------------------------------------------------------------------------


def arranged(counts):
    return counts.sel(**{dim: sorted(levels) for dim, levels in counts.groups.items()})


@PROPERTY
@given(one=frames(), two=frames(), options=kinds)
def test_adding_is_counting_the_concatenation(one, two, options):
    two = two.assign(patient=two["patient"] + 100)  # a patient of two hospitals is two units
    both = count(pd.concat([one, two]), thresholds=[T], **options)
    left, right = count(one, thresholds=[T], **options), count(two, thresholds=[T], **options)
    assert same(arranged(left + right), both)
    assert same(arranged(right + left), both)
    assert same(arranged(sum([left, right])), both)
    assert same(arranged((left + right).cut(T)), arranged(left.cut(T) + right.cut(T)))


def test_adding_finds_groups_by_name_whatever_their_order():
    frame = cohort()
    assert same(count(frame, by=["sex", "race"]) + count(frame, by=["race", "sex"]), count(pd.concat([frame, frame])))


def test_a_level_of_one_hospital_only():
    one, two = cohort(60, 1, race="A"), cohort(50, 2, race="Z")
    both = count(one) + count(two)
    assert both.groups["race"] == ("A", "Z")
    assert both.sel(race="Z").n_rows == 50


def test_adding_keeps_where_the_numbers_come_from():
    one, two, three = (count(cohort(50, seed)).with_provenance(site=seed) for seed in (1, 2, 3))
    assert (one + two + three).provenance == {"sum_of": [{"site": 1}, {"site": 2}, {"site": 3}]}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"bins": 100}, "their edges differ; count both with the same bins and thresholds"),
        ({"thresholds": [T]}, "their edges differ"),
        ({"bins": None}, "their edges differ"),
        ({"score": "q"}, "their edges differ .scores of float64 and of float32."),
        ({"by": "sex"}, "their dims differ"),
        ({"score": ["p", "fine"]}, "their models differ"),
        ({"cluster": "patient"}, "their unit differ .'row' and 'patient'."),
        ({"positive": 0}, "their positive differ .'1' and '0'."),
    ],
    ids=str,
)
def test_what_cannot_be_added(options, said):
    with bad(f"cannot be added: {said}"):
        count(cohort()) + count(cohort(), **options)


def test_adding_something_else():
    with pytest.raises(TypeError):
        count(cohort()) + 1


# -- resampling ------------------------------------------------------------------------------------------------


@PROPERTY
@given(frame=frames(), options=kinds, seed=st.integers(0, 99))
def test_totals_stay_fixed(frame, options, seed):
    counts = count(frame, **options)
    reps = counts.resample(9, seed=seed)
    assert reps.lines.units.shape[0] == 9
    assert (reps.n_units == counts.n_units).all()
    assert reps.resampled
    assert not counts.resampled


@pytest.mark.parametrize("options", [{}, {"score": ["p", "q"]}], ids=str)
@pytest.mark.parametrize("strata", ["sex", "race", "label", ["sex", "label"], ["race", "sex"]], ids=str)
def test_totals_of_every_stratum_stay_fixed(options, strata):
    frame = cohort()
    counts = count(frame, **options)
    names = [strata] if isinstance(strata, str) else strata
    dims = [name for name in names if name != "label"]
    reps = counts.resample(20, strata=strata, seed=3).histogram().sum("bin")
    if options:
        reps = reps.isel(model=0)
    rest = [dim for dim in reps.dims if dim not in ("replicate", *names)]
    totals = reps.sum(rest)
    fixed = counts.by(*dims).histogram().sum("bin")
    fixed = (fixed.isel(model=0) if options else fixed).sum([] if "label" in names else ["label"])
    assert (totals == fixed).all()
    free = counts.resample(20, seed=3).histogram().sum("bin")
    assert (free.sum(["sex", "race"]).std("replicate") > 0).all()


def test_units_belong_to_the_set_of_levels_they_touch():
    counts = straddling()
    assert sorted(np.bincount(stratum_of(counts, ["sex"]), counts.lines.units)) == [1, 1, 2]
    reps = counts.resample(200, strata="sex", seed=0)
    by_stratum = np.stack([reps.lines.units[:, stratum_of(counts, ["sex"]) == k].sum(axis=1) for k in range(3)])
    assert np.array_equal(np.sort(by_stratum, axis=0), np.tile([[1], [1], [2]], 200))


def test_label_cannot_be_a_stratum_of_units_with_both():
    with bad(r"strata='label' needs units of one label, but 1 of 4 units \(patient\) hold both"):
        straddling().resample(5, strata="label")
    with bad("1 of 4 units"):
        straddling().resample(5, strata=["sex", "label"])
    only = cohort().assign(y=lambda frame: frame["patient"] % 2)
    reps = count(only, cluster="patient").resample(5, strata="label")
    assert (reps.n_units == only["patient"].nunique()).all()


@PROPERTY
@given(st.lists(st.integers(1, 50), min_size=1, max_size=6), st.data())
def test_shares_by_largest_remainder(sizes, data):
    total = data.draw(st.integers(1, sum(sizes)))
    found = shares(np.array(sizes), total)
    exact = np.array(sizes) * total / sum(sizes)
    assert found.sum() == total
    assert (abs(found - exact) < 1).all()
    assert (found <= np.array(sizes)).all()
    up, down = (
        [exact[k] % 1 for k in np.flatnonzero(found > exact)],
        [exact[k] % 1 for k in np.flatnonzero(found < exact)],
    )
    if up and down:
        assert min(up) >= max(down) - 1e-9


def test_shares_of_huge_sizes_are_exact():
    assert shares(np.array([10**9, 2 * 10**9, 1]), 2**53).sum() == 2**53
    reps = count(cohort()).resample(2, strata="sex", size=10**15, seed=0)
    assert (reps.n_units == 10**15).all()


def test_too_many_units_to_draw_from_without_replacement():
    counts = count(cohort())
    lines = replace(counts.lines, units=counts.lines.units * 10**8)
    with bad(r"replace=False draws from at most 1,000,000,000 units, but there are 40,000,000,000 in one stratum"):
        replace(counts, lines=lines).resample(2, size=5, replace=False)


def test_size_is_shared_over_strata():
    frame = cohort()
    counts = count(frame)
    sizes = frame["race"].value_counts().sort_index()
    reps = counts.resample(6, strata="race", size=50, seed=0)
    found = reps.by("race").histogram().sum(["label", "bin"])
    assert (found == xr.DataArray(shares(sizes.to_numpy(), 50), dims="race", coords={"race": list("ABC")})).all()
    assert (reps.n_units == 50).all()


@pytest.mark.parametrize("options", KINDS, ids=str)
@pytest.mark.parametrize("strata", [(), "sex"], ids=str)
def test_without_replacement_nothing_is_drawn_twice(options, strata):
    counts = count(cohort(), **options)
    part = counts.resample(30, size=counts.n_units // 2, replace=False, strata=strata, seed=0)
    assert (part.lines.units <= counts.lines.units).all()
    assert (part.n_units == counts.n_units // 2).all()
    everyone = counts.resample(3, replace=False, strata=strata, seed=0)
    assert (everyone.lines.units == counts.lines.units).all()
    with bad("without replacement is more than"):
        counts.resample(3, size=counts.n_units + 1, replace=False, strata=strata)


def test_a_larger_sample_with_replacement():
    assert (count(cohort()).resample(3, size=1000, seed=0).n_units == 1000).all()


def test_sel_before_fixes_the_size_and_after_does_not():
    frame = cohort()
    counts = count(frame)
    women = int((frame["sex"] == "F").sum())
    assert (counts.sel(sex="F").resample(50, seed=0).n_units == women).all()
    after = counts.resample(50, seed=0).sel(sex="F").n_units
    assert after.std() > 0
    assert abs(after.mean() - women) < 5 * np.sqrt(women / 2 / 50)


def test_seeds():
    counts = count(cohort())
    one, two, other = (counts.resample(5, seed=seed).lines.units for seed in (1, 1, 2))
    assert (one == two).all()
    assert (one != other).any()
    generator = np.random.default_rng(1)
    assert (counts.resample(5, seed=generator).lines.units == one).all()
    assert (counts.resample(5, seed=generator).lines.units != one).any()


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_replicates_are_summed_regrouped_and_cut_like_counts(options):
    reps = count(cohort(), **options).resample(6, strata="sex", seed=0)
    table = reps.at(0.2)
    assert reps.by("sex").at(0.2).equals(table.sum("race"))
    assert reps.cut([0.2]).at(0.2).equals(table)
    merged = reps.regroup(race={"AB": ["A", "B"]}).at(0.2)
    assert (merged["tp"].sel(race="AB") == table["tp"].sel(race=["A", "B"]).sum("race")).all()
    assert reps.sel(race="B").at(0.2).equals(table.sel(race="B", drop=True))


@pytest.mark.parametrize("options", [{}, {"cluster": "patient"}], ids=str)
def test_by_and_cut_commute_with_resample_in_distribution(options):
    """Mean and variance of TP, 3,000 replicates each way, within 5 Monte-Carlo standard errors."""
    counts = count(cohort(), **options)
    before = counts.by("sex").cut(0.2).resample(3000, seed=1).at(0.2)["tp"]
    after = counts.resample(3000, seed=2).by("sex").cut(0.2).at(0.2)["tp"]
    variance = float(before.var("replicate").max())
    assert abs(before.mean("replicate") - after.mean("replicate")).max() < 5 * np.sqrt(2 * variance / 3000)
    assert abs(before.var("replicate") / after.var("replicate") - 1).max() < 5 * np.sqrt(4 / 3000)
    assert abs(before.mean("replicate") - counts.by("sex").at(0.2)["tp"]).max() < 5 * np.sqrt(variance / 3000)


def test_models_are_resampled_jointly():
    """The same model twice has no difference in any replicate."""
    frame = cohort(twin=cohort()["p"])
    reps = al.sensitivity(count(frame, score=["p", "twin"]).resample(20, seed=0).by("sex").at(0.2))
    assert (reps.sel(model="p") == reps.sel(model="twin")).all()


# -- the rest --------------------------------------------------------------------------------------------------


def test_histogram():
    frame = cohort()
    held = count(frame, bins=10).histogram()
    assert held.dims == ("sex", "race", "label", "bin")
    assert held["bin"].values.tolist() == [k / 10 for k in range(11)]
    for sex, label in itertools.product("FM", (0, 1)):
        part = frame[(frame.sex == sex) & (frame.y == label)]["p"]
        right = np.histogram(part.mul(100).round(), bins=[*range(0, 101, 10), 101])[0]
        assert held.sel(sex=sex, label=label).sum("race").values.tolist() == right.tolist()


def test_histogram_of_several_models_and_replicates():
    counts = count(cohort(), score=["p", "q"])
    assert counts.histogram().dims == ("sex", "race", "model", "label", "bin")
    assert int(counts.histogram().sel(model="q").sum()) == 400
    reps = counts.resample(3).histogram()
    assert reps.dims == ("replicate", "sex", "race", "model", "label", "bin")
    assert reps.sum(["sex", "race", "label", "bin"]).values.tolist() == [[400, 400]] * 3


def test_what_a_table_says_of_itself():
    counts = count(cohort(), cluster="patient", thresholds=[T])
    assert counts.dims == ("sex", "race")
    assert counts.thresholds == [T]
    assert counts.clustered
    said = repr(counts)
    for part in ("400 rows", f"{counts.n_units} units (patient)", "y = 1", "202 score bins (grid)", "sex: F, M"):
        assert part in said
    assert "7 replicates of" in repr(counts.resample(7))
    assert counts.small_cells() == sum(counts.lines.rows() < 5)


def test_small_cells_are_those_under_five():
    frame = pd.DataFrame({"y": 0, "p": [0.1] * 5 + [0.2] * 4 + [0.3], "sex": "F"})
    assert count(frame, by="sex").small_cells() == 2


def test_to_frame_by_hand():
    frame = pd.DataFrame({"y": [1, 1, 0], "p": [0.7, 0.7, 0.112], "sex": ["M", "M", "F"]})
    assert count(frame, by="sex", thresholds=[T]).to_frame().to_dict("list") == {
        "sex": ["F", "M"], "label": [0, 1], "bin": [T, 0.7], "n": [1, 2]
    }  # fmt: skip


def test_frozen():
    with pytest.raises(AttributeError):
        count(cohort()).unit = "x"
