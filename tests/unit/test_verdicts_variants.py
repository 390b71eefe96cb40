"""Versions of TI and Cal: a small audit worked out by hand, in which they disagree in value and in verdict."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from sklearn.calibration import calibration_curve

import auditlib as al
from auditlib.errors import AuditInputError
from auditlib.verdicts.variants import CAL_VERSIONS, COMMITS, TI_VERSIONS, compare_versions


def frame_of(*cells: tuple[str, int, float, int]) -> pd.DataFrame:
    """Rows of (group, label, score, how many)."""
    return pd.concat([pd.DataFrame({"g": [g] * n, "y": y, "p": p}) for g, y, p, n in cells], ignore_index=True)


#: Group A: 20 people; B: 40. Both have the same share of flagged as of outcomes, so that the mean benefit is 1 in both.
HAND = frame_of(
    ("A", 0, 0.25, 12), ("A", 0, 0.55, 4), ("A", 1, 0.25, 4),
    ("B", 0, 0.25, 16), ("B", 1, 0.95, 24),
)  # fmt: skip


def counts_of(frame: pd.DataFrame, **more) -> al.Counts:
    return al.count(frame, label="y", score="p", by="g", bins=None, thresholds=[0.5], **more)


def test_ti_by_hand():
    found = compare_versions("TI", counts_of(HAND), "g", threshold=0.5)
    values = found["value"].to_series()
    # A: 4 of 20 flagged, 4 of 20 with the outcome; B: 24 of 40 and 24 of 40.
    assert values["benefit"] == pytest.approx(0, abs=1e-12)
    low, high = 0.2 / 0.4, 0.6 / 0.4
    assert values["selection rates"] == pytest.approx((low * np.log(low) + high * np.log(high)) / 2)
    assert values["disagreement"] == pytest.approx(0.2 * 0.4 + 0.6 * 0.8)
    a = np.array([0.75] * 12 + [0.45] * 4 + [0.25] * 4)
    b = np.array([0.75] * 16 + [0.95] * 24)
    within = [float(np.mean(one / one.mean() * np.log(one / one.mean()))) for one in (a, b)]
    assert values["within groups"] == pytest.approx(within[0] - within[1])
    assert values.round(4).to_dict() == {
        "benefit": 0.0, "selection rates": 0.1308, "within groups": 0.0625, "disagreement": 0.56,
    }  # fmt: skip
    assert found["passes"].to_series().to_dict() == {
        "benefit": 1.0, "selection rates": 0.0, "within groups": 1.0, "disagreement": 0.0,
    }  # fmt: skip


def test_cal_by_hand():
    """Mean score less share with the outcome: A .31 − .20 = .11, B .67 − .60 = .07."""
    found = compare_versions("Cal", counts_of(HAND), "g", threshold=0.5)
    values = found["value"].to_series()
    assert values["spread of signed errors"] == pytest.approx(0.04)
    assert values["largest group error"] == pytest.approx(0.11)
    assert values["spread of absolute errors"] == pytest.approx(0.04)
    # Errors of the bins: A at .25 (4 of 16) 0, A at .55 (0 of 4) .55, B at .25 (0 of 16) .25, B at .95 (24 of 24) .05.
    assert values["largest bin error, over 5"] == pytest.approx(0.25)
    assert values["largest bin error, from 10"] == pytest.approx(0.25)
    assert values["largest bin error, any"] == pytest.approx(0.55)
    # Shares with the outcome less the middle of the bin: .25 − .25, 0 − .55 (4 people, left out), 0 − .25, 1 − .95.
    held = frame_of(("A", 0, 0.25, 12), ("A", 1, 0.25, 4), ("B", 0, 0.22, 16), ("B", 1, 0.91, 24))
    for frame in (HAND, held):  # scores within a bin do not matter
        values = compare_versions("Cal", counts_of(frame), "g", threshold=0.5)["value"].to_series()
        assert values["mean bin error"] == pytest.approx((0 + 0.25 + 0.05) / 3)
    assert found["passes"].to_series().tolist() == [1, 0, 1, 0, 0, 0, 0]


def test_the_mean_bin_error_of_replicates_is_that_of_the_script():
    """Written from its description: row by row, bins with their upper end out, groups with few people in a bin."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"g": rng.choice(["A", "B", "C"], 400, p=[0.6, 0.35, 0.05]), "p": rng.integers(0, 100, 400)})
    frame["p"] = (frame["p"] + 0.5) / 100
    frame["y"] = (rng.random(400) < frame["p"] ** 1.3).astype(int)
    frame["bin"] = (frame["p"] * 10).astype(int)
    cells = frame.groupby(["g", "bin"])["y"].agg(["size", "mean"]).reset_index()
    cells = cells[cells["size"] >= 10]
    expected = (cells["mean"] - (cells["bin"] + 0.5) / 10).abs().mean()
    assert float(CAL_VERSIONS["mean bin error"](counts_of(frame), "g")) == pytest.approx(expected, abs=1e-12)
    assert len(cells) < frame.groupby(["g", "bin"]).ngroups  # some are left out


def test_errors_of_opposite_sign_are_what_the_spread_of_absolute_errors_misses():
    frame = frame_of(("A", 0, 0.6, 4), ("A", 1, 0.6, 6), ("B", 0, 0.4, 6), ("B", 1, 0.4, 4))
    moved = frame.assign(p=frame["p"] + np.where(frame["g"] == "A", 0.04, -0.04))
    found = compare_versions("Cal", counts_of(moved), "g", threshold=0.5)
    values = found["value"].to_series()
    assert values["spread of signed errors"] == pytest.approx(0.08)
    assert values["spread of absolute errors"] == pytest.approx(0, abs=1e-12)
    assert values["largest group error"] == pytest.approx(0.04)
    assert found["passes"].to_series().tolist() == [0, 1, 1, 1, 1, 1, 0]  # the last is .05, its limit


def test_the_least_number_in_a_bin_decides():
    """The third bin of A holds 5, 6, 9 or 10 people, all without the outcome at a score of .25."""
    for n, over_5, from_10 in ((5, 0.0, 0.0), (6, 0.25, 0.0), (9, 0.25, 0.0), (10, 0.25, 0.25)):
        frame = frame_of(
            ("A", 0, 0.25, n), ("A", 1, 0.75, 15), ("A", 0, 0.75, 5), ("B", 1, 0.75, 15), ("B", 0, 0.75, 5)
        )
        values = compare_versions("Cal", counts_of(frame), "g", threshold=0.5)["value"].to_series()
        assert values["largest bin error, over 5"] == pytest.approx(over_5, abs=1e-12)
        assert values["largest bin error, from 10"] == pytest.approx(from_10, abs=1e-12)
        assert values["largest bin error, any"] == pytest.approx(0.25)


def test_any_bin_is_scikit_learns_curve():
    """The script takes the curve of each group; scores here lie inside bins, where both put them alike."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"g": rng.choice(["A", "B", "C"], 300, p=[0.6, 0.38, 0.02]), "p": rng.integers(1, 200, 300)})
    frame["p"] = frame["p"].where(frame["p"] % 20 > 0, 7) / 200
    frame["y"] = (rng.random(300) < frame["p"]).astype(int)
    errors = []
    for _, group in frame.groupby("g"):
        if len(group) >= 10:
            true, mean = calibration_curve(group["y"], group["p"], n_bins=10)
            errors.append(np.abs(true - mean).max())
    found = CAL_VERSIONS["largest bin error, any"](counts_of(frame), "g")
    assert float(found) == pytest.approx(max(errors), abs=1e-12)
    assert (frame["g"] == "C").sum() < 10  # and is left out


def test_disagreement_is_the_mean_over_orders_of_what_the_scripts_pair():
    flagged = {"A": np.array([1, 1, 0, 0, 0]), "B": np.array([1, 1, 1, 0])}
    rng = np.random.default_rng(1)
    pairs = [(rng.permutation(flagged["A"])[:4] != rng.permutation(flagged["B"])[:4]).mean() for _ in range(4_000)]
    table = al.parse_confusion("A:1,1,2,1; B:2,1,1,0")
    assert float(TI_VERSIONS["disagreement"](table, "group")) == pytest.approx(0.4 * 0.25 + 0.75 * 0.6)
    assert np.mean(pairs) == pytest.approx(0.55, abs=4 * np.std(pairs) / np.sqrt(4_000))
    assert not TI_VERSIONS["disagreement"].exact


def test_a_limit_met_exactly_is_judged_by_the_side_of_the_source():
    at_limit = xr.DataArray([0.1, 0.1 + 1e-12, 0.1 - 1e-6, np.nan])
    assert TI_VERSIONS["benefit"].passes(at_limit).values[:3].tolist() == [0, 0, 1]
    assert TI_VERSIONS["benefit"].passes(at_limit, "≤").values[:3].tolist() == [1, 1, 1]
    assert np.isnan(TI_VERSIONS["benefit"].passes(at_limit).values[3])
    assert CAL_VERSIONS["spread of absolute errors"].passes(xr.DataArray(0.05)).item() == 1
    assert CAL_VERSIONS["largest group error"].passes(xr.DataArray(0.05)).item() == 0
    with pytest.raises(AuditInputError, match="comparison"):
        TI_VERSIONS["benefit"].passes(at_limit, ">=")


def test_undefined_is_nan_and_replicates_stay():
    nobody = al.parse_confusion("A:0,0,5,5; B:0,0,5,5")
    assert np.isnan(TI_VERSIONS["selection rates"](nobody, "group"))
    few = frame_of(("A", 0, 0.25, 5), ("B", 1, 0.75, 5))
    held = compare_versions("Cal", counts_of(few), "g", threshold=0.5)
    assert held["value"].isnull().to_series().to_dict() == {
        "spread of signed errors": False, "largest group error": False, "spread of absolute errors": False,
        "largest bin error, over 5": True, "largest bin error, from 10": True, "largest bin error, any": True,
        "mean bin error": True,
    }  # fmt: skip
    assert held["passes"].isnull().sum() == 4
    assert np.isnan(compare_versions("TI", counts_of(few), "g", threshold=0.5)["value"].sel(version="within groups"))
    again = compare_versions("TI", counts_of(HAND).resample(7, "g", seed=1), "g", threshold=0.5)
    assert again["value"].dims == ("version", "replicate")


def test_every_version_has_its_files():
    versions = [*TI_VERSIONS.values(), *CAL_VERSIONS.values()]
    assert (len(TI_VERSIONS), len(CAL_VERSIONS)) == (4, 6)
    assert {path for version in versions for path in version.source} == set(COMMITS)
    assert {side for version in versions for side in version.source.values()} == {"<", "≤", ""}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: compare_versions("DI", counts_of(HAND), "g", threshold=0.5), "not of 'DI'"),
        (lambda: compare_versions("TI", counts_of(HAND).at(0.5), "g", threshold=0.5), "needs Counts"),
        (lambda: compare_versions("Cal", counts_of(HAND).cut(0.5), "g", threshold=0.5), "before .cut"),
        (lambda: compare_versions("Cal", counts_of(HAND), "sex", threshold=0.5), "'sex'"),
        (lambda: compare_versions("Cal", counts_of(HAND).sel(g=["A"]), "g", threshold=0.5), "two groups"),
        (lambda: TI_VERSIONS["selection rates"](al.parse_confusion("A:1,1,1,1; B:1,1,1,1"), "sex"), "'sex'"),
        (
            lambda: CAL_VERSIONS["largest bin error, any"](
                al.count(HAND, label="y", score="p", by="g", bins=4, thresholds=[0.5]), "g"
            ),
            "does not divide",
        ),
    ],
)
def test_versions_that_cannot_be_had(call, words):
    with pytest.raises(AuditInputError, match=words):
        call()
