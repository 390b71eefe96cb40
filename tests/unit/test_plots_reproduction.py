"""Published and our intervals side by side, and what a rule lets pass."""

import numpy as np
import pandas as pd
import pytest

from auditlib.errors import AuditInputError
from auditlib.plots import reproduction, style

ROWS = pd.DataFrame(
    {"series": ["published", "this book"], "estimate": [-0.2, -0.18], "low": [-0.24, -0.21], "high": [-0.17, -0.14]}
)
VALUES = np.linspace(-0.35, 0.35, 71)


def table():
    names = ["CDC: men − women", "Diabetes-130: African American − Caucasian"]
    return pd.DataFrame(
        {
            "name": names * 2,
            "series": ["this book"] * 2 + ["published"] * 2,
            "estimate": [-0.1, 0.1, -0.12, 0.05],
            "low": [-0.2, -0.1, -0.2, -0.1],
            "high": [0.0, 0.3, 0.0, 0.2],
            "n": ["40 / 60", "5 / 700"] * 2,
        }
    )


def test_each_number_stands_with_its_n():
    axes = reproduction.beside(table(), label="Sensitivity gap")
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [
        "CDC:\nmen\u00a0−\u00a0women\nn = 40 / 60",
        "Diabetes-130:\nAfrican American −\nCaucasian\nn = 5 / 700",
    ]
    assert axes.get_xlabel() == "Sensitivity gap"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["this book", "published"]
    assert [line.get_xdata().tolist() for line in axes.lines if line.get_label() == "published"] == [[-0.12, 0.05]]


def test_a_table_without_n_is_refused():
    with pytest.raises(AuditInputError, match="lacks n"):
        reproduction.beside(table().drop(columns="n"))


def test_intervals_splits_and_what_passes():
    taken = (VALUES > -0.215) & (VALUES < -0.145)
    figure = reproduction.passing(ROWS, VALUES, taken, np.array([-0.22, -0.15]), title="by age", label="Gap")
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["published", "this book", "2 splits"]
    (patch,) = axes.patches
    low, width = patch.get_x(), patch.get_width()
    assert (low, low + width) == pytest.approx((-0.21, -0.15))
    segments = [path.vertices[:, 0].tolist() for lines in axes.collections for path in lines.get_paths()]
    assert segments == [[-0.24, -0.17], [-0.21, -0.14]]
    edges = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 2 and line.get_linestyle() == "-"]
    assert sorted(edge[0] for edge in edges if edge[0] == edge[1]) == pytest.approx([-0.21, -0.15])
    assert axes.get_xlim() == (-0.35, 0.35)
    assert [line.get_xdata().tolist() for line in axes.lines if line.get_marker() == "|"] == [[-0.22, -0.15]]
    assert axes.get_title("left") == "by age"


def test_nothing_passes_and_no_splits():
    figure = reproduction.passing(ROWS, VALUES, np.zeros(71, dtype=bool))
    assert list(figure.axes[0].patches) == []
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["published", "this book"]
    assert reproduction.words(ROWS, VALUES, np.zeros(71, dtype=bool)).endswith("passing: none")


def test_two_stretches_are_two():
    taken = abs(VALUES) > 0.305
    figure = reproduction.passing(ROWS, VALUES, taken)
    assert len(figure.axes[0].patches) == 2
    said = reproduction.words(ROWS, VALUES, taken, np.array([-0.15, -0.22]))
    assert said == (
        "published −0.200 (−0.240 to −0.170), this book −0.180 (−0.210 to −0.140), 2 splits −0.220 to −0.150; "
        "passing: beyond −0.350 to −0.310 and +0.310 to beyond +0.350"
    )


@pytest.mark.parametrize(
    ("rows", "values", "taken", "said"),
    [
        (ROWS.iloc[:1], VALUES, VALUES > 0, "one of 'published' and one of 'this book'"),
        (ROWS.drop(columns="low"), VALUES, VALUES > 0, "lacks low"),
        (ROWS, VALUES, VALUES[1:] > 0, "rising order"),
        (ROWS, VALUES[::-1], VALUES > 0, "rising order"),
        (ROWS, VALUES[:1], VALUES[:1] > 0, "rising order"),
    ],
)
def test_what_does_not_fit_is_refused(rows, values, taken, said):
    with pytest.raises(AuditInputError, match=said):
        reproduction.passing(rows, values, taken)


def test_names_that_look_like_formulas_are_drawn_as_they_are():
    style.use()
    shown = table().assign(name="$10k-$20k: men − women")
    assert "$10k-$20k" in style.svg_text(reproduction.beside(shown).figure)
    figure = reproduction.passing(ROWS, VALUES, VALUES > 0, title="$10k-$20k")
    assert "$10k-$20k" in style.svg_text(figure)
