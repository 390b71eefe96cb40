"""The study of optimism in a short form: fewer samples and refits, fixed seeds, the same claims."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import auditlib as al
from tests.studies import optimism


def test_optimism_is_corrected_for_lasso() -> None:
    """Six samples of 2,000: errors less the luck of the samples, within their own Monte-Carlo error."""
    lines = optimism.samples(2_000, 6, ["NoSA", "OneEach"], refits=20)
    table = optimism.summary(lines).set_index(["strategy", "group", "method", "interval"]).sort_index()
    each = table.loc["OneEach", "overall"]
    apparent, corrected = each.loc[("apparent", "values")], each.loc[("corrected", "t law")]
    assert apparent["controlled"] > 20  # the first sample alone shows it: its people judge the models they made
    assert apparent["controlled"] > 3 * apparent["controlled_se"]
    assert abs(corrected["controlled"]) < 0.5 * apparent["controlled"]
    for method in ("cross-validated", "held-out"):
        assert abs(each.loc[(method, "values"), "controlled"]) < 4 * each.loc[(method, "values"), "controlled_se"]
    least = table.loc["NoSA", "overall"].loc[("apparent", "values"), "controlled"]
    assert least < apparent["controlled"]
    keys = ["group", "method", "interval", "seed"]
    indexed = {name: rows.set_index(keys).sort_index() for name, rows in lines.groupby("strategy")}
    one, two, both = (indexed[name] for name in ("OneEach", "NoSA", "OneEach − NoSA"))
    for name in ("estimate", "truth"):
        np.testing.assert_allclose(both[name], one[name] - two[name], atol=1e-12)
    width = [(frame["high"] - frame["low"]).loc["overall", "corrected", "t law"] for frame in (both, one)]
    assert (width[0] < 0.8 * width[1]).all()  # most luck moves both strategies together


def test_values_of_people_have_the_mean_and_interval_of_counts() -> None:
    trial = optimism.Trial(600, [1], "lasso", 0)
    fitted, sample = trial.fit("NoSA"), trial.sample
    frame = pd.DataFrame({"y": sample.y, "risk": fitted.predict(sample.x), "group": sample.group})
    counts = al.count(frame, label="y", score="risk", by="group", thresholds=[optimism.THRESHOLD])
    counted = al.benefit_interval(counts.at(optimism.THRESHOLD), optimism.THRESHOLD, optimism.LAM)
    found = optimism.plain(trial.value(fitted), sample.members())
    for name in ("estimate", "low", "high"):
        np.testing.assert_allclose(found[name].sel(group=counted["group"]), counted[name], atol=1e-12)
    assert float(found["estimate"].sel(group="overall")) == pytest.approx(float(trial.value(fitted).mean()))


def test_optimism_is_not_corrected_for_boosting() -> None:
    lines = optimism.samples(800, 2, ["NoSA"], "boosting", refits=5)
    error = optimism.summary(lines).set_index(["group", "method", "interval"]).sort_index()["controlled"]["overall"]
    assert error["apparent", "values"] > 300
    assert 150 < error["corrected", "t law"] < error["apparent", "values"]
    assert abs(error["cross-validated", "values"]) < 100
