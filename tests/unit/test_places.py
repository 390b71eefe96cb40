"""Places carried to other people: filled in order of risk, without a look at outcomes."""

import numpy as np
import pandas as pd
import pytest

import auditlib as al
from auditlib.benefit.frontier import capacity_frontier, points_table
from auditlib.studies import benefit_counts
from auditlib.studies.places import filling, same_places

T, LAM, LEVEL = 0.10, 0.22, "under 15k"


@pytest.fixture(scope="module")
def halves():
    counts = benefit_counts("snb-heart-income")
    return counts.sel(half="choose"), counts.sel(half="judge")


@pytest.fixture(scope="module")
def points(halves):
    found = capacity_frontier(halves[0], LEVEL, 0.03, T, LAM)
    return found.isel(point=[0, found.sizes["point"] // 2, -1])


def few(risks, ill=None):
    frame = pd.DataFrame(
        {"risk": risks, "ill": ill or [0, 1] * (len(risks) // 2), "sex": list("MF") * (len(risks) // 2)}
    )
    return al.count(frame, label="ill", score="risk", by="sex", bins=None)


def test_filling_is_the_lowest_threshold_that_fits():
    """Risks .9, .8, .8, .5, .3, .3: a block of equal risks comes whole or not at all."""
    counts = few([0.9, 0.8, 0.8, 0.5, 0.3, 0.3])
    assert filling(counts, [1, 2, 3, 4, 5, 6]).tolist() == [0.9, 0.9, 0.8, 0.5, 0.5, 0.3]
    assert filling(few([0.8, 0.8, 0.3, 0.1]), [1, 2]).tolist() == [np.inf, 0.8]
    assert float(filling(counts, 3.7)) == 0.8


def test_the_same_places_whoever_is_ill(halves, points):
    choose, judge = halves
    found = same_places(judge, points)
    table = points_table(judge, found)
    flagged = table["tp"] + table["fp"]
    named, rest = flagged.sel(income=LEVEL), flagged.sum("income") - flagged.sel(income=LEVEL)
    for mine, wanted in ((named, points["flagged_level"]), (rest, points["flagged_rest"])):
        assert (mine.values <= wanted.values).all()
        assert (mine.values >= wanted.values - 20).all()  # blocks of equal risk
    assert same_places(choose, points)[["threshold_level", "threshold_rest"]].equals(
        points[["threshold_level", "threshold_rest"]]
    )
    assert found.drop_vars(["threshold_level", "threshold_rest"]).equals(
        points.drop_vars(["threshold_level", "threshold_rest"])
    )
    assert found.attrs == points.attrs


def test_outcomes_play_no_part():
    risks = np.round(np.random.default_rng(4).random(60), 2).tolist()
    ill = [int(r > 0.6) for r in risks]
    points = capacity_frontier(few(risks, ill), "F", 0.2, T, LAM)
    one, other = (same_places(few(risks, y), points)["threshold_rest"].values for y in (ill, [1 - y for y in ill]))
    assert one.tolist() == other.tolist()


@pytest.mark.parametrize(
    ("places", "said"), [(-1, "from 0 on"), ([np.nan], "from 0 on"), ("many", "from 0 on"), ([True], "from 0 on")]
)
def test_places_that_are_no_numbers(halves, places, said):
    with pytest.raises(al.AuditInputError, match=said):
        filling(halves[0], places)


def test_counts_that_cannot_be_filled(halves, points):
    _, judge = halves
    with pytest.raises(al.AuditInputError, match="unresampled"):
        filling(judge.cut([0.5]).resample(2, seed=1), 5)
    with pytest.raises(al.AuditInputError, match="find the frontier anew"):
        same_places(judge.sel(income=[LEVEL, "15–25k"]), points)
    with pytest.raises(al.AuditInputError, match="points must be"):
        same_places(judge, points.drop_attrs())
