"""auditlib's metrics against fairlearn's; and what fairlearn answers where there is no answer, beside ours."""

from __future__ import annotations

import fairlearn.metrics as fm
import numpy as np
import pandas as pd
import pytest

import auditlib as al

THRESHOLD = 0.5


def rows(n: int = 3_000) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"group": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]), "label": rng.integers(0, 2, n)})
    frame["score"] = np.clip(rng.normal(0.45 + 0.1 * frame["label"], 0.2), 0, 1).round(2)
    return frame


def table(frame: pd.DataFrame) -> al.Counts:
    counts = al.count(frame, label="label", score="score", by="group", thresholds=[THRESHOLD])
    return counts.at(THRESHOLD)


def flags(frame: pd.DataFrame) -> pd.Series:
    return (frame["score"] >= THRESHOLD).astype(int)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (al.sensitivity, fm.true_positive_rate),
        (al.specificity, fm.true_negative_rate),
        (al.false_positive_rate, fm.false_positive_rate),
        (al.selection_rate, fm.selection_rate),
    ],
)
def test_rates_by_group(ours, theirs):
    frame = rows()
    expected = fm.MetricFrame(
        metrics=theirs, y_true=frame["label"], y_pred=flags(frame), sensitive_features=frame["group"]
    ).by_group
    found = ours(table(frame)).to_series()
    np.testing.assert_allclose(found.to_numpy(), expected[found.index].to_numpy(), rtol=1e-15)


def test_disparities() -> None:
    frame, held = rows(), table(rows())
    about = {"y_true": frame["label"], "y_pred": flags(frame), "sensitive_features": frame["group"]}
    selected = al.selection_rate(held)
    sensitivity = al.spread(al.sensitivity(held), "group")
    alarms = al.spread(al.false_positive_rate(held), "group")
    expected = {
        "ratio": fm.demographic_parity_ratio(**about),
        "difference": fm.demographic_parity_difference(**about),
        "opportunity": fm.equal_opportunity_difference(**about),
        "odds": fm.equalized_odds_difference(**about),
    }
    found = {
        "ratio": al.ratio(selected, "group"),
        "difference": al.spread(selected, "group"),
        "opportunity": sensitivity,
        "odds": np.maximum(sensitivity, alarms),
    }
    for name, value in expected.items():
        assert float(found[name]) == pytest.approx(value, rel=1e-14), name


def test_percentile_bootstrap() -> None:
    """fairlearn resamples rows too; its quantiles and ours differ by Monte-Carlo error only."""
    frame, n = rows(1_000), 300
    theirs = fm.MetricFrame(
        metrics=fm.true_positive_rate, y_true=frame["label"], y_pred=flags(frame), sensitive_features=frame["group"],
        n_boot=n, ci_quantiles=[0.16, 0.84], random_state=1,
    ).by_group_ci  # fmt: skip
    counts = al.count(frame, label="label", score="score", by="group", thresholds=[THRESHOLD]).cut(THRESHOLD)
    ours = al.interval(al.sensitivity(counts.resample(n, seed=1).at(THRESHOLD)), level=0.68)
    for group in ("a", "b", "c"):
        limits = np.array([values[group] for values in theirs])
        sd = float(limits[1] - limits[0]) / 2
        # A quantile at one SD of n normal replicates has a standard error of 1.5 SD / sqrt(n).
        np.testing.assert_allclose(ours.sel(group=group).to_array()[:2], limits, atol=4 * 1.5 * sd * (2 / n) ** 0.5)


# What has no answer. Group A of these rows has no positives.
LABEL = [0, 0, 0, 0, 1, 1, 1, 0, 0, 0]
FLAG = [1, 0, 0, 0, 1, 1, 0, 1, 0, 0]
GROUP = ["A"] * 4 + ["B"] * 6


def test_a_group_without_positives_has_no_sensitivity() -> None:
    theirs = fm.MetricFrame(metrics=fm.true_positive_rate, y_true=LABEL, y_pred=FLAG, sensitive_features=GROUP)
    assert theirs.by_group["A"] == 0.0
    assert fm.equalized_odds_difference(LABEL, FLAG, sensitive_features=GROUP) == pytest.approx(2 / 3)
    frame = pd.DataFrame({"label": LABEL, "score": np.array(FLAG, float), "group": GROUP})
    held = table(frame)
    assert np.isnan(al.sensitivity(held).sel(group="A"))
    assert np.isnan(al.spread(al.sensitivity(held), "group"))
    assert np.isnan(al.gap(al.sensitivity(held), "A", "B"))
    limits = al.gap_interval(held, "A", "B")
    assert np.isnan(limits["estimate"])
    assert np.isnan(limits["low"])
    assert np.isnan(limits["high"])
    spread = al.spread_interval(held, "group")
    assert np.isnan(spread["high"])


def test_text_labels_are_not_all_negative() -> None:
    words = np.where(np.array(LABEL) == 1, "yes", "no")
    flagged = np.where(np.array(FLAG) == 1, "yes", "no")
    theirs = fm.MetricFrame(metrics=fm.selection_rate, y_true=words, y_pred=flagged, sensitive_features=GROUP)
    assert theirs.by_group.tolist() == [0.0, 0.0]
    assert fm.demographic_parity_difference(words, flagged, sensitive_features=GROUP) == 0.0
    frame = pd.DataFrame({"label": words, "score": np.array(FLAG, float), "group": GROUP})
    about = {"label": "label", "score": "score", "by": "group", "thresholds": [THRESHOLD]}
    with pytest.raises(al.AuditInputError, match="positive="):
        al.count(frame, **about)
    held = al.count(frame, **about, positive="yes").at(THRESHOLD)
    assert al.selection_rate(held).values.tolist() == [0.25, 0.5]


def test_a_missing_score_is_not_a_negative() -> None:
    flagged = np.array(FLAG, float)
    flagged[0] = np.nan
    theirs = fm.MetricFrame(metrics=fm.selection_rate, y_true=LABEL, y_pred=flagged, sensitive_features=GROUP)
    assert theirs.by_group["A"] == 0.0
    with pytest.raises(al.AuditInputError, match="1 of 10 rows have no value"):
        table(pd.DataFrame({"label": LABEL, "score": flagged, "group": GROUP}))


def test_one_group_has_nothing_to_be_compared_with() -> None:
    assert fm.demographic_parity_ratio(LABEL, FLAG, sensitive_features=["A"] * 10) == 1.0
    held = table(pd.DataFrame({"label": LABEL, "score": np.array(FLAG, float), "group": "A"}))
    for compare in (al.ratio, al.spread):
        with pytest.raises(al.AuditInputError, match="at least two groups"):
            compare(al.selection_rate(held), "group")


def test_a_group_that_a_replicate_misses() -> None:
    """fairlearn used to crash here (its issue 1441); now a replicate of one group counts as a difference of 0."""
    group = ["A", *["B"] * 9]
    theirs = fm.MetricFrame(
        metrics=fm.selection_rate, y_true=LABEL, y_pred=FLAG, sensitive_features=group,
        n_boot=100, ci_quantiles=[0.1, 0.9], random_state=1,
    )  # fmt: skip
    assert theirs.difference_ci()[0] == 0.0
    frame = pd.DataFrame({"label": LABEL, "score": np.array(FLAG, float), "group": group})
    counts = al.count(frame, label="label", score="score", by="group", thresholds=[THRESHOLD])
    n, missed = 4_000, 0.9**10
    rates = al.selection_rate(counts.resample(n, seed=1).at(THRESHOLD))
    found = al.interval(al.spread(rates, "group"), level=0.8)
    assert found["low"] > 0
    assert float(found["undefined"]) == pytest.approx(missed, abs=4 * (missed * (1 - missed) / n) ** 0.5)
