"""Verdict-stable shifting: its arithmetic against the public functions, its greedy rule against brute force."""

from itertools import pairwise

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import auditlib as al
from auditlib.mitigate import shift_thresholds, stabilize_verdicts
from auditlib.mitigate.cells import make_cells
from auditlib.mitigate.levels import MOVABLE, flip_rates, level_metrics, passed
from auditlib.verdicts import METRICS, flip_rate, verdict_metrics
from tests.unit.frames import PROPERTY
from tests.unit.mitigations import ATTRIBUTES, counted, people, public_ratio

K, SEED = 60, 5
COUNTS = counted(people(1500, 2, ("a", "b", "c")), 100)
SHIFT = shift_thresholds(COUNTS, list(ATTRIBUTES), gap=1e-3)


def stabilize(start=SHIFT, counts=COUNTS, **options):
    options = {"seed": SEED, "replicates": K, "steps": (1,), **options}
    return stabilize_verdicts(counts, start, options.pop("attributes", list(ATTRIBUTES)), **options)


def public_verdicts(counts, thresholds, **options):
    """p_pass and VFR of every metric and attribute by resample, at, verdict_metrics and flip_rate."""
    again = counts.resample(K, strata="label", seed=SEED)
    tables = again.at(thresholds).reset_coords(drop=True)
    parts = [
        flip_rate(
            verdict_metrics(tables.sum([d for d in counts.dims if d != dim]), dim, scores=again.by(dim)), **options
        )
        for dim in ATTRIBUTES
    ]
    return xr.concat(parts, xr.Variable("attribute", list(ATTRIBUTES)), coords="minimal", compat="override")


def lowest(counts, thresholds):
    return min(public_ratio(counts, thresholds, dim) for dim in ATTRIBUTES)


@PROPERTY
@given(st.integers(0, 10_000))
def test_quick_metrics_are_those_of_verdict_metrics(seed):
    rng = np.random.default_rng(seed)
    sizes, shape = (2, 3), (5, 4)
    cells = {name: rng.integers(0, rng.choice([2, 40]), (sum(sizes), *shape)) for name in ("tp", "fp", "fn", "tn")}
    slices = [slice(0, 2), slice(2, 5)]
    found = level_metrics(cells["tp"], cells["fp"], cells["tp"] + cells["fn"], cells["fp"] + cells["tn"], slices)
    for number, part in enumerate(slices):
        names = [str(level) for level in range(part.stop - part.start)]
        table = al.confusion(
            **{name: held[part] for name, held in cells.items()}, group=names, one=range(5), two=range(4)
        )
        expected = verdict_metrics(table, "group")
        for row, name in enumerate(MOVABLE):
            assert found[row, number] == pytest.approx(
                expected[name].transpose("one", "two").values, abs=1e-12, nan_ok=True
            )


def test_passes_and_flip_rates_are_those_of_flip_rate():
    rng = np.random.default_rng(1)
    values = rng.uniform(0, 0.2, (6, 3, 40))
    values[0] += 0.7
    values[:, 0, ::3] = np.nan
    values[:, 1] = np.nan
    values[1, 2, 0], values[0, 2, 0] = 0.3 - 0.2, 0.8 - 1e-12  # at the limit but for noise
    names = dict(zip(MOVABLE, values, strict=True))
    public = flip_rate(xr.Dataset({name: (("attribute", "replicate"), held) for name, held in names.items()}))
    n_pass, n = passed(values)
    assert (n == public["n"].values).all()
    assert flip_rates(n_pass, n) == pytest.approx(public["vfr"].values, nan_ok=True)


@pytest.mark.parametrize("limits", [None, {"EOpp": 0.2, "Cal": 0.02}])
def test_verdicts_are_those_of_the_public_functions_on_the_same_replicates(limits):
    found = stabilize(limits=limits, max_rounds=3)
    public = public_verdicts(COUNTS, found.thresholds, limits=limits)
    for name in ("p_pass", "vfr"):
        expected = public[name].sel(metric=list(METRICS)).transpose("metric", "attribute")
        assert found.verdicts[name].values == pytest.approx(expected.values, abs=1e-12)
    assert found.history["objective"].iloc[-1] == pytest.approx(float(found.verdicts["vfr"].mean()))
    assert found.history["p_pass"].iloc[-1] == pytest.approx(float(found.verdicts["p_pass"].mean()))


def neighbours(thresholds, edges):
    """Every array that differs from ``thresholds`` in one group by one edge."""
    for place in np.ndindex(thresholds.shape):
        at = int(np.searchsorted(edges, thresholds.values[place]))
        for edge in (at - 1, at + 1):
            if 0 <= edge < len(edges):
                values = thresholds.values.copy()
                values[place] = edges[edge]
                yield thresholds.copy(data=values)


def test_the_first_move_is_the_best_of_all_single_moves():
    found = stabilize(max_rounds=1)
    keys = []
    for thresholds in neighbours(SHIFT.thresholds, COUNTS.edges.lower):
        if lowest(COUNTS, thresholds) >= 0.8 - 1e-9:
            vfr = float(public_verdicts(COUNTS, thresholds)["vfr"].mean())
            accuracy = float(al.accuracy(COUNTS.at(thresholds).sum(ATTRIBUTES)))
            keys.append((round(vfr, 9), -round(accuracy, 9)))
    first, last = found.history.iloc[0], found.history.iloc[-1]
    assert len(keys) >= 3
    assert len(found.history) == 2
    assert (round(last["objective"], 9), -round(last["accuracy"], 9)) == min(keys)
    assert last["objective"] < first["objective"]
    assert found.stopped == "max_rounds"
    moved = found.cells[found.cells["threshold"] != found.cells["start"]]
    assert len(moved) == 1
    assert last["moved"] == ", ".join(moved.iloc[0][["sex", "age"]])
    assert (last["from"], last["to"]) == tuple(moved.iloc[0][["start", "threshold"]])


@pytest.mark.parametrize("steps", [(1,), (1, 2, 5)])
def test_every_round_improves_and_keeps_the_ratios(steps):
    found = stabilize(steps=steps)
    keys = list(zip(found.history["objective"], -found.history["accuracy"], strict=True))
    assert all(after < before for before, after in pairwise(keys))
    assert len(keys) > 2
    assert found.stopped == "no move improves"
    assert (found.history["lowest DI"] >= 0.8 - 1e-9).all()
    assert found.ok
    assert lowest(COUNTS, found.thresholds) == pytest.approx(found.history["lowest DI"].iloc[-1])
    again = stabilize(found, steps=steps)
    assert again.thresholds.identical(found.thresholds)
    assert len(again.history) == 1


def test_one_seed_gives_one_answer():
    one, two, other = stabilize(), stabilize(), stabilize(seed=SEED + 1)
    assert one.thresholds.identical(two.thresholds)
    assert one.history.equals(two.history)
    assert other.history["objective"].iloc[0] != one.history["objective"].iloc[0]


def test_a_size_changes_the_replicates_but_not_the_people_judged():
    small = stabilize(size=200, max_rounds=1)
    whole = stabilize(max_rounds=1)
    assert small.history["objective"].iloc[0] > whole.history["objective"].iloc[0]
    assert small.history["accuracy"].iloc[0] == whole.history["accuracy"].iloc[0] == pytest.approx(SHIFT.accuracy)


def test_thresholds_over_one_attribute_move_all_its_people():
    start = shift_thresholds(COUNTS, list(ATTRIBUTES), by="age", gap=1e-3)
    found = stabilize(start)
    assert found.thresholds.dims == ("age",)
    assert found.history["objective"].iloc[-1] == pytest.approx(
        float(public_verdicts(COUNTS, found.thresholds)["vfr"].mean())
    )


def test_small_groups_are_left_alone():
    found = stabilize(min_n=10_000)
    assert found.thresholds.identical(SHIFT.thresholds)
    assert found.stopped == "no move improves"
    assert set(found.cells["why"]) == {"under 10000 people"}


def test_cal_is_left_out_where_scores_were_cut():
    cut = COUNTS.cut([0.0, *np.unique(SHIFT.thresholds).tolist()])
    found = stabilize(counts=cut, max_rounds=1)
    assert found.verdicts["vfr"].sel(metric="Cal").isnull().all()
    assert found.history["objective"].iloc[-1] == pytest.approx(float(found.verdicts["vfr"].mean()))


def test_no_move_leaves_more_undefined_than_the_start():
    """Groups so small that a move could leave nobody flagged, where PPV, and its flips, would vanish."""
    frame = people(60, 3)
    counts = counted(frame, 10)
    start = shift_thresholds(counts, list(ATTRIBUTES), min_n=0)
    found = stabilize(start, counts, min_n=0, steps=(1, 2, 3))
    again = counts.resample(K, strata="label", seed=SEED)

    def undefined(thresholds):
        tables = again.at(thresholds).reset_coords(drop=True)
        parts = [verdict_metrics(tables.sum([d for d in ATTRIBUTES if d != dim]), dim) for dim in ATTRIBUTES]
        return np.array([[int(part[name].isnull().sum()) for name in MOVABLE] for part in parts])

    assert (undefined(found.thresholds) <= undefined(start.thresholds)).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"start": 0.5}, r"start must have every DI at least 0.8 on these counts, but has sex 0\.\d+, age 0\.\d+"),
        ({"start": shift_thresholds(COUNTS, list(ATTRIBUTES), edges=[0.5])}, "start must have every DI"),
        ({"attributes": ["race"]}, "'race' is not a group here"),
        ({"replicates": 0}, "replicates must be a whole number of at least 1"),
        ({"max_rounds": 0}, "max_rounds must be a whole number"),
        ({"steps": (0,)}, "steps must be a whole number"),
        ({"steps": ()}, "at least one step"),
        ({"steps": 1}, "steps must be a list of whole numbers, not 1"),
        ({"steps": None}, "steps must be a list of whole numbers, not None"),
        ({"target": -1}, "target must be a ratio"),
        ({"limits": {"XX": 0.1}}, "no metric 'XX'"),
        ({"counts": COUNTS.resample(2, seed=1)}, "replicates"),
        ({"counts": counted(people(300), by=("partition", *ATTRIBUTES)), "start": 0.5}, "select one"),
        ({"seed": -1}, "seed must be"),
        ({"size": 0}, "size must be"),
    ],
)
def test_bad_input_is_an_error_in_words(change, words):
    with pytest.raises(al.AuditInputError, match=words):
        stabilize(**change)


def test_units_of_all_dims_and_levels_are_laid_out_as_said():
    cells = make_cells(COUNTS, list(ATTRIBUTES))
    assert cells.unit_names()[:3] == ["F, a", "F, b", "F, c"]
    assert cells.member.sum(axis=1).tolist() == [2] * 6
    assert cells.people == COUNTS.n_rows
