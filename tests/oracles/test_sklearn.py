"""auditlib's metrics against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, precision_score, recall_score, roc_auc_score

import auditlib as al

THRESHOLD = 0.37


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(11)
    found = pd.DataFrame({"group": rng.choice(["a", "b"], 2_000, p=[0.8, 0.2]), "label": rng.integers(0, 2, 2_000)})
    found["fine"] = np.clip(rng.normal(0.4 + 0.15 * found["label"], 0.25), 0, 1)
    found["coarse"] = found["fine"].round(2)  # ties
    return found


def counted(frame: pd.DataFrame, score: str, bins: int | None = 200) -> al.Counts:
    return al.count(frame, label="label", score=score, by="group", thresholds=[THRESHOLD], bins=bins)


@pytest.mark.parametrize("score", ["fine", "coarse"])
def test_confusion_counts(frame, score):
    table = counted(frame, score).at(THRESHOLD)
    for group, rows in frame.groupby("group"):
        tn, fp, fn, tp = confusion_matrix(rows["label"], rows[score] >= THRESHOLD).ravel()
        found = {name: int(values) for name, values in table.sel(group=group).data_vars.items()}
        assert found == {"tp": tp, "fp": fp, "fn": fn, "tn": tn}


@pytest.mark.parametrize(
    ("ours", "theirs", "options"),
    [
        (al.sensitivity, recall_score, {}),
        (al.specificity, recall_score, {"pos_label": 0}),
        (al.ppv, precision_score, {}),
        (al.npv, precision_score, {"pos_label": 0}),
        (al.accuracy, accuracy_score, {}),
    ],
)
def test_rates(frame, ours, theirs, options):
    found = ours(counted(frame, "fine").at(THRESHOLD))
    for group, rows in frame.groupby("group"):
        flagged = (rows["fine"] >= THRESHOLD).astype(int)
        assert float(found.sel(group=group)) == pytest.approx(theirs(rows["label"], flagged, **options), rel=1e-14)


@pytest.mark.parametrize("score", ["fine", "coarse"])
def test_auroc_of_every_score_is_exact(frame, score):
    found = al.auroc(counted(frame, score, bins=None))
    for group, rows in frame.groupby("group"):
        assert float(found.sel(group=group)) == pytest.approx(roc_auc_score(rows["label"], rows[score]), rel=1e-12)


def test_auroc_of_bins_is_that_of_binned_scores(frame):
    found = al.auroc(counted(frame, "fine", bins=20))
    edges = np.unique(np.append(np.arange(21) / 20, THRESHOLD))
    for group, rows in frame.groupby("group"):
        binned = np.searchsorted(edges, rows["fine"], side="right")
        assert float(found.sel(group=group)) == pytest.approx(roc_auc_score(rows["label"], binned), rel=1e-12)
