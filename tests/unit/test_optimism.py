"""Optimism correction: by hand, in a normal-theory case whose answer is known, and with input that cannot be used."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from auditlib import AuditInputError
from auditlib.intervals import optimism_interval


def bad(said):
    return pytest.raises(AuditInputError, match=said)


def reps(values, **coords):
    return xr.DataArray(np.asarray(values, dtype=float), coords, dims=["replicate", *coords])


APPARENT = xr.DataArray([0.90, 0.80], {"group": ["A", "B"]}, dims="group")
REFITTED = reps([[0.92, 0.83], [0.94, 0.81], [0.90, 0.82]], group=["A", "B"])
ORIGINAL = reps([[0.89, 0.79], [0.88, 0.80], [0.90, 0.78]], group=["A", "B"])


def test_by_hand():
    found = optimism_interval(APPARENT, REFITTED, ORIGINAL)
    # differences: A .03, .06, .00; B .04, .01, .04
    assert found.optimism.values == pytest.approx([0.03, 0.03])
    assert found.estimate.values == pytest.approx([0.87, 0.77])
    assert found.apparent.values == pytest.approx([0.90, 0.80])
    assert found.refits.values.tolist() == [3, 3]
    assert found.undefined.values.tolist() == [0, 0]
    s, d = np.array([0.02, 0.01]), np.array([0.03, np.sqrt(0.0003)])  # SD of .92, .94, .90, and of the differences
    assert found.mc_error.values == pytest.approx(d / np.sqrt(3))
    half = 4.302653 * np.sqrt(s**2 + d**2 / 3)  # the t law's 97.5% quantile with 2 degrees of freedom
    assert (found.estimate - found.low).values == pytest.approx(half, rel=1e-6)
    assert (found.high - found.estimate).values == pytest.approx(half, rel=1e-6)


def test_order_of_dims_does_not_matter():
    found = optimism_interval(APPARENT, REFITTED.transpose("group", "replicate"), ORIGINAL)
    assert found.equals(optimism_interval(APPARENT, REFITTED, ORIGINAL))
    assert found.low.dims == ("group",)


def test_level():
    narrow, wide = (optimism_interval(APPARENT, REFITTED, ORIGINAL, level) for level in (0.5, 0.99))
    assert (wide.low < narrow.low).all()
    assert narrow.estimate.equals(wide.estimate)
    with bad("level must lie between 0 and 1"):
        optimism_interval(APPARENT, REFITTED, ORIGINAL, 95)


def test_percentiles_of_given_replicates_are_moved():
    held = reps(np.linspace(0.8, 1.0, 201))
    found = optimism_interval(xr.DataArray(0.9), reps([0.92, 0.94]), reps([0.90, 0.90]), spread=held)
    assert [float(found[name]) for name in ("estimate", "low", "high")] == pytest.approx([0.87, 0.775, 0.965])
    over = optimism_interval(APPARENT, REFITTED, ORIGINAL, spread=REFITTED.transpose("group", "replicate"))
    assert over.low.sel(group="A") == pytest.approx(np.quantile([0.90, 0.92, 0.94], 0.025) - 0.03)


def test_undefined_refits_fall_out_in_pairs():
    refitted, original = REFITTED.copy(), ORIGINAL.copy()
    refitted[0, 0], original[1, 0] = np.nan, np.inf
    found = optimism_interval(APPARENT, refitted, original)
    one = found.sel(group="A")
    assert float(one.optimism) == pytest.approx(0.0)  # only the third pair is whole
    assert (int(one.refits), float(one.undefined)) == (1, pytest.approx(2 / 3))
    assert np.isnan([one.low, one.high, one.mc_error]).all()  # one refit shows no spread
    assert found.sel(group="B").equals(optimism_interval(APPARENT, REFITTED, ORIGINAL).sel(group="B"))


def test_a_group_without_any_pair_is_nan():
    refitted = REFITTED.where(REFITTED["group"] != "A")
    one = optimism_interval(APPARENT, refitted, ORIGINAL).sel(group="A")
    assert np.isnan([one[name] for name in ("estimate", "low", "high", "optimism", "apparent", "mc_error")]).all()
    assert (int(one.refits), float(one.undefined)) == (0, 1.0)
    gone = optimism_interval(APPARENT.where(APPARENT["group"] != "A"), REFITTED, ORIGINAL).sel(group="A")
    assert np.isnan([gone.estimate, gone.low, gone.high, gone.apparent]).all()


@pytest.mark.parametrize("refits", [5, 50])
def test_normal_theory(refits):
    """The mean of n values as model, its negative squared error as performance: optimism is 2σ²/n, exactly.

    The apparent error is the variance s² with divisor n, of mean σ²(1 − 1/n); a new value is missed by σ²(1 + 1/n)
    on average. A bootstrap sample's own error has mean s²(1 − 1/n) and its mean misses the sample by s²(1 + 1/n).
    """
    rng = np.random.default_rng(refits)
    n, audits = 20, 4000
    x = rng.normal(0, 1, (audits, n))
    apparent = -x.var(axis=1)
    again = np.take_along_axis(x[:, None], rng.integers(0, n, (audits, refits, n)).reshape(audits, 1, -1), axis=2)
    again = again.reshape(audits, refits, n)
    theta = -again.var(axis=2)
    phi = apparent[:, None] - (again.mean(axis=2) - x.mean(axis=1)[:, None]) ** 2
    over = {"audit": np.arange(audits)}
    found = optimism_interval(xr.DataArray(apparent, over, dims="audit"), reps(theta.T, **over), reps(phi.T, **over))
    # E optimism = E[s²]·2/n = 2(n − 1)/n²; the SD over audits of either term is known well enough for 4 SE
    optimism = found.optimism.values
    assert abs(optimism.mean() - 2 * (n - 1) / n**2) < 4 * optimism.std() / np.sqrt(audits)
    estimate = found.estimate.values
    bias = estimate.mean() + (1 + 1 / n)
    assert abs(bias - 2 / n**2) < 4 * estimate.std() / np.sqrt(audits)  # from −21/20 only the second order is left
    assert abs(apparent.mean() + (1 + 1 / n)) > 0.09  # the apparent error is off by 2/n


@pytest.mark.parametrize("refits", [4, 50])
def test_coverage_is_exact_for_normal_replicates(refits):
    """θ_k normal around the apparent value with its standard error, the optimism constant: the t law is exact."""
    rng = np.random.default_rng(7)
    audits = 20_000
    over = {"audit": np.arange(audits)}
    apparent = xr.DataArray(rng.normal(0.05, 1, audits), over, dims="audit")  # truth 0, optimism .05
    refitted = apparent + reps(rng.normal(0, 1, (refits, audits)), **over)
    found = optimism_interval(apparent, refitted, refitted - 0.05)
    covered = float(((found.low <= 0) & (found.high >= 0)).mean())
    assert abs(covered - 0.95) < 4 * np.sqrt(0.95 * 0.05 / audits)
    assert float(found.mc_error.max()) < 1e-12
    rough = optimism_interval(apparent, refitted, refitted - 0.05, spread=refitted)
    share = float(((rough.low <= 0) & (rough.high >= 0)).mean())
    assert share < 0.93  # percentiles of so few refits miss too often, as the docstring says
    if refits == 4:
        assert stats.t.ppf(0.975, 3) == pytest.approx(3.182446, abs=1e-6)


def test_what_is_not_paired():
    call = optimism_interval
    with bad(r"refitted: a DataArray with a 'replicate' dim is needed, not one over group \(2\)"):
        call(APPARENT, APPARENT, ORIGINAL)
    with bad("original: a DataArray of numbers is needed, not ndarray"):
        call(APPARENT, REFITTED, ORIGINAL.values)
    with bad("apparent: a DataArray of numbers is needed, not float"):
        call(0.9, REFITTED, ORIGINAL)
    with bad("apparent: one value of the fitted model is needed, but it has a 'replicate' dim"):
        call(REFITTED, REFITTED, ORIGINAL)
    with bad("refitted has 3 replicates, original 2: give both performances of each refit"):
        call(APPARENT, REFITTED, ORIGINAL.isel(replicate=[0, 1]))
    with bad("name their replicates differently"):
        call(APPARENT, REFITTED.assign_coords(replicate=[0, 1, 2]), ORIGINAL.assign_coords(replicate=[0, 2, 1]))
    with bad(r"original lies over no dim, apparent over group \(2\)"):
        call(APPARENT, REFITTED, ORIGINAL.sel(group="A"))
    with bad(r"refitted has the groups \['B', 'A'\], apparent \['A', 'B'\]"):
        call(APPARENT, REFITTED.sel(group=["B", "A"]), ORIGINAL)
    with bad("refitted: there is no replicate"):
        call(APPARENT, REFITTED.isel(replicate=[]), ORIGINAL.isel(replicate=[]))
    with bad("spread: a DataArray with a 'replicate' dim is needed, not ndarray"):
        call(APPARENT, REFITTED, ORIGINAL, spread=REFITTED.values)
    for kind in (str, bool, object, "datetime64[ns]"):
        with bad(r"spread: a DataArray of numbers is needed, not one over replicate \(3\), group \(2\) that holds"):
            call(APPARENT, REFITTED, ORIGINAL, spread=REFITTED.astype(kind))
        with bad("original: a DataArray of numbers is needed, not one over"):
            call(APPARENT, REFITTED, ORIGINAL.astype(kind))
    with bad("spread lies over no dim"):
        call(APPARENT, REFITTED, ORIGINAL, spread=REFITTED.sel(group="A"))
    with bad("refitted, original: not one of 3 refits has both values"):
        call(APPARENT, REFITTED * np.nan, ORIGINAL)
    with bad("a DataArray of numbers is needed"):
        call(APPARENT, REFITTED.astype(str), ORIGINAL)
