"""Drawing patterns is resampling rows: the short form of the study ``bootstrap_oracle``."""

from __future__ import annotations

import numpy as np
import pytest

from tests.studies.bootstrap_oracle import SCHEMES, STATISTICS, brute_force, cohort_frame, compare, ours

REPLICATES = 800
FRAME = cohort_frame()
#: Differences are in standard errors of two Monte-Carlo runs. Of 56 true nulls the largest is 3.7 one time in 80.
TOLERANCE = 4.0


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_means_and_sds_agree(scheme):
    one, two = ours(FRAME, scheme, REPLICATES, 5), brute_force(FRAME, scheme, REPLICATES, 6)
    for name in STATISTICS:
        found = compare(one[name], two[name])
        assert abs(found["z_mean"]) < TOLERANCE, (name, found)
        assert abs(found["z_sd"]) < TOLERANCE, (name, found)


def test_the_comparison_can_fail() -> None:
    """Rows drawn where patients should be: the same means, another SD."""
    rows, patients = SCHEMES[0], next(scheme for scheme in SCHEMES if scheme.name == "patients")
    one, two = ours(FRAME, rows, REPLICATES, 5), brute_force(FRAME, patients, REPLICATES, 6)
    assert compare(one["sensitivity"], two["sensitivity"])["z_sd"] < -TOLERANCE


def test_some_patients_are_in_two_age_bands() -> None:
    bands = FRAME.groupby("patient")["age"].nunique()
    assert (bands == 2).sum() > 30
    assert np.isin(FRAME["label"], [0, 1]).all()
