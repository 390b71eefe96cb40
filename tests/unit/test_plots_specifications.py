"""Multiverses on a page: the overview says what rows and counts say, controls hold what they name."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import auditlib as al
from auditlib.multiverse import Grid, Multiverse
from auditlib.plots.held_choices import holding_words
from auditlib.plots.specifications import NAMES, controls, in_points, overview, patients
from auditlib.studies import committed_multiverse, comparison_counts, multiverse_grid
from tests.unit.multiverses import made

CELLS = {"tp_a": 40, "fp_a": 30, "fn_a": 10, "tn_a": 120, "tp_b": 70, "fp_b": 60, "fn_b": 30, "tn_b": 240}


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def two(**changed):
    """Two specifications, of which the second has the changed cells."""
    rows = pd.DataFrame({"seed": [1, 2], **{name: [n, changed.get(name, n)] for name, n in CELLS.items()}})
    rows = rows.assign(n_a=rows["tp_a"] + rows["fn_a"], n_train=[1000, 999], error=["", ""])
    return Multiverse(Grid("two", {"seed": [1, 2]}), rows.assign(n_test=rows[list(CELLS)].sum(axis=1)), None)


def stays():
    """The rows the first of the two judges, two stays for each of the first hundred patients."""
    lines = []
    for group, (tp, fp, fn, tn) in {"10–29": (40, 30, 10, 120), "60+": (70, 60, 30, 240)}.items():
        lines += [(group, 1, 0.9)] * tp + [(group, 0, 0.9)] * fp + [(group, 1, 0.1)] * fn + [(group, 0, 0.1)] * tn
    frame = pd.DataFrame(lines, columns=["age", "ill", "risk"])
    return frame.assign(who=np.where(frame.index < 200, frame.index // 2, frame.index))


def counted(frame=None, **how):
    return al.count(stays() if frame is None else frame, label="ill", score="risk", by="age", thresholds=[0.5], **how)


def test_an_overview_written_down():
    table = overview({"it": two(fn_a=4)})["it"]
    assert table.to_dict() == {
        "choices": "2",
        "specifications": "2",
        "failed": "0",
        "training rows, at most": "1,000",
        "rows judged": "594 to 600",
        "young rows with outcome": "44 to 50",
        "with a small group": "1",
    }
    table = overview({"it": two(), "other": two()}, {"it": counted(cluster="who")})
    assert table.loc["… by the default"].tolist() == ["600 stays of 500 people", "–"]
    assert table.loc["… of the default"].tolist() == ["50 stays of 25 people", "–"]  # 40 and 10 stays, two a patient
    assert overview({"it": two()}, {"it": counted()}).loc["… by the default", "it"] == "600 people"


def test_the_overview_of_the_books_multiverses():
    worlds = {"stays": committed_multiverse("diabetes130"), "survey": committed_multiverse("cdc_diabetes")}
    counts = {"stays": comparison_counts("gap-diabetes130-age"), "survey": comparison_counts("gap-cdc_diabetes-age")}
    table = overview(worlds, counts)
    assert table.loc["specifications"].tolist() == ["1,728", "864"]
    assert table.loc["… by the default"].tolist() == ["21,264 stays of 14,892 people", "43,042 people"]
    assert table.loc["… of the default"].tolist() == ["82 stays of 45 people", "671 people"]
    for name, world in worlds.items():
        cells = world.rows[list(CELLS)]
        few = (cells < 5).any(axis=1)
        for group in "ab":
            few |= (cells[f"tp_{group}"] + cells[f"fn_{group}"] < 30) | (
                cells[f"fp_{group}"] + cells[f"tn_{group}"] < 30
            )
        assert table.loc["with a small group", name] == f"{few.sum():,}"


def test_every_choice_of_the_books_grids_has_its_own_name():
    for dataset in ("diabetes130", "cdc_diabetes"):
        axes = multiverse_grid(dataset).axes
        for axis, choices in axes.items():
            assert len({NAMES.get(str(choice), str(choice)) for choice in choices}) == len(choices)
            assert "_" not in NAMES.get(axis, axis)


def test_people_of_the_first_level():
    assert patients(counted(cluster="who")) == ((600, 500), (50, 25))
    assert patients(counted()) == ((600, 600), (50, 50))


def test_in_points_keeps_the_rows():
    rows = made().iloc[[3, 3, 5]]  # labels may repeat, as those of forks do
    texts = in_points(rows, ".0f")
    assert texts.index.tolist() == [3, 3, 5]
    mid, low, high = 100 * rows[["estimate", "low", "high"]].iloc[2]
    assert texts.iloc[2] == f"{mid:.0f} ({low:.0f} to {high:.0f})".replace("-", "−")


def test_controls_hold_what_they_name():
    rows = made()
    found = controls(rows, ["threshold", "bands"], label="Gap", names=NAMES)
    assert found["threshold"] == ["any", "prevalence τ", "top 20%", "risk of 30%"]
    assert found["bands"] == ["any", "10–29 v 60+", "<50 v 70+"]
    assert found["labels"] == {"threshold": "Threshold", "bands": "Bands"}
    figure = found["draw"](threshold="top 20%", bands="any")
    assert figure.axes[0].get_xlabel().splitlines()[0] == "Gap (12 of 36 specifications)"
    held = {"threshold": "train_prevalence", "bands": "<50 v 70+"}
    assert found["alt"](threshold="prevalence τ", bands="<50 v 70+") == holding_words(rows, held, NAMES)


def test_controls_say_how_many_rest_on_a_small_group():
    rows = made().assign(**CELLS)
    rows.loc[rows["seed"] == 43, "fn_a"] = 4
    found = controls(rows, ["threshold", "seed"])
    for seed, n in {"42": 0, "43": 18, "any": 18}.items():
        label = found["draw"](threshold="any", seed=seed).axes[0].get_xlabel()
        assert label.splitlines()[3:] == [f"{n} specifications with a small group"]
        assert found["alt"](threshold="any", seed=seed).endswith(f"; {n} specifications with a small group.")
    assert "\n6 specifications" in found["draw"](threshold="top20", seed="43").axes[0].get_xlabel()


def test_wrong_input_is_answered_in_words():
    other = counted(stays().iloc[1:])
    for call, said in (
        (lambda: overview({"it": two()}, {"that": counted()}), "counts of 'that': there are multiverses of it"),
        (lambda: overview({"it": two()}, {"it": other}), "599 rows, 49 of them young .* judges 600, 50"),
        (lambda: overview({"it": Multiverse(two().grid, made(), None)}), "lacks n_train"),
        (lambda: patients(counted().by()), "over no group; give"),
        (lambda: in_points(made().drop(columns="low")), "lacks low"),
        (lambda: controls(made(), ["site"]), "lacks site"),
        (lambda: controls(made(), ["seed"], names={"42": "one", "43": "one"}), "seed: two .* called 'one'"),
        (lambda: controls(made(), ["seed"], names={"42": "any"}), "seed: two .* called 'any'"),
    ):
        with pytest.raises(al.AuditInputError, match=said):
            call()
