"""Weights of Kamiran and Calders: the definition, what they achieve, and AIF360's on a binary case."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import auditlib as al
from auditlib.mitigate import reweigh, reweighing_table
from tests.unit.frames import PROPERTY, cohort, count

#: (sex, y) of 17 people: 5 × (1, 1), 3 × (1, 0), 2 × (0, 1), 7 × (0, 0).
BINARY = [(1, 1)] * 5 + [(1, 0)] * 3 + [(0, 1)] * 2 + [(0, 0)] * 7
#: AIF360 0.6.1 on the same rows, frame = pd.DataFrame(BINARY, columns=["sex", "y"]):
#:   data = BinaryLabelDataset(df=frame, label_names=["y"], protected_attribute_names=["sex"],
#:                             favorable_label=1, unfavorable_label=0)
#:   Reweighing(unprivileged_groups=[{"sex": 0}], privileged_groups=[{"sex": 1}]).fit_transform(data).instance_weights
AIF360 = (
    [0.6588235294117647] * 5 + [1.5686274509803921] * 3 + [1.8529411764705883] * 2 + [0.7563025210084033] * 7
)  # fmt: skip


def test_the_weights_of_aif360_on_a_binary_case():
    frame = pd.DataFrame(BINARY, columns=["sex", "y"])
    assert reweigh(frame, "y", "sex").to_numpy() == pytest.approx(AIF360, rel=1e-14)


@st.composite
def complete(draw):
    """Frames whose joint groups over two columns each hold every one of two to four labels."""
    groups = draw(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), min_size=2, unique=True))
    labels = draw(st.integers(2, 4))
    times = draw(st.lists(st.integers(1, 9), min_size=len(groups) * labels, max_size=len(groups) * labels))
    cells = [(*group, label) for group in groups for label in range(labels)]
    rows = [cell for cell, n in zip(cells, times, strict=True) for _ in range(n)]
    return pd.DataFrame(draw(st.permutations(rows)), columns=["one", "two", "y"])


@PROPERTY
@given(complete())
def test_weighted_group_and_label_are_independent_and_weights_add_up(frame):
    weight = reweigh(frame, "y", ["one", "two"])
    n = len(frame)
    assert weight.index.equals(frame.index)
    assert (weight > 0).all()
    assert weight.sum() == pytest.approx(n, rel=1e-12)
    group = frame["one"] + frame["two"]
    joint = pd.crosstab(group, frame["y"], values=weight, aggfunc="sum") / n
    # independent, with the margins of the unweighted data
    share = np.outer(
        group.value_counts(normalize=True).sort_index(), frame["y"].value_counts(normalize=True).sort_index()
    )
    assert np.abs(joint.to_numpy() - share).max() < 1e-12
    table = reweighing_table(frame, "y", ["one", "two"])
    assert table["n"].sum() == n
    assert (table["n"] * table["weight"]).sum() == pytest.approx(n, rel=1e-12)
    merged = frame.merge(table, on=["one", "two", "y"], how="left")
    assert (merged["weight"].to_numpy() == weight.to_numpy()).all()


def test_rows_are_matched_by_position_under_any_index():
    frame = pd.DataFrame(BINARY, columns=["sex", "y"], index=[7] * len(BINARY))
    found = reweigh(frame, "y", ["sex"])
    assert found.to_numpy() == pytest.approx(AIF360, rel=1e-14)
    assert found.index.tolist() == [7] * len(BINARY)
    assert found.name == "weight"


def test_counts_give_the_table_of_their_rows():
    frame = cohort(500, seed=3)
    table = reweighing_table(frame, "y", ["sex", "race"])
    for counts in (count(frame), count(frame, cluster="patient")):
        found = reweighing_table(counts)
        assert found[["sex", "race"]].equals(table[["sex", "race"]].astype(found["sex"].dtype))
        assert found["y"].tolist() == table["y"].tolist()
        assert found["n"].tolist() == table["n"].tolist()
        assert found["weight"].to_numpy() == pytest.approx(table["weight"].to_numpy(), rel=1e-14)
    by_sex = reweighing_table(count(frame), groups="sex")
    assert by_sex["weight"].to_numpy() == pytest.approx(reweighing_table(frame, "y", "sex")["weight"].to_numpy())


def test_a_joint_group_that_nobody_is_in_is_no_group():
    frame = pd.DataFrame({"a": list("uuvv"), "b": list("xxyy"), "y": [0, 1, 0, 1]})
    assert reweigh(frame, "y", ["a", "b"]).tolist() == [1.0] * 4
    unused = frame.assign(a=pd.Categorical(frame["a"], categories=["t", "u", "v"]))
    assert len(reweighing_table(unused, "y", "a")) == 4


def test_the_product_of_all_levels_may_pass_any_whole_number():
    rng = np.random.default_rng(0)
    columns = {f"g{number}": rng.integers(0, 200, 3_000) for number in range(10)}
    once = pd.DataFrame(columns)
    assert once.nunique().astype(float).prod() > 2.0**64
    frame = pd.concat([once.assign(y=0), once.assign(y=1), once[:1].assign(y=1)], ignore_index=True)
    found = reweigh(frame, "y", list(columns))
    one = found[frame.index == 0].item()
    assert one == pytest.approx(3 * 3_000 / 6_001 / 1)  # (n_g · n_y) / (n · n_gy) of the one group of three
    assert found[1] == pytest.approx(2 * 3_000 / 6_001)
    table = reweighing_table(frame, "y", list(columns))
    assert table[list(columns)].equals(table[list(columns)].sort_values(list(columns)))
    assert table["n"].sum() == 6_001


@pytest.mark.parametrize("name", ["n", "weight"])
def test_columns_of_the_table_cannot_be_groups_or_the_label(name):
    for frame, label, groups in ((SMALL.rename(columns={"g": name}), "y", name), (SMALL, "y", "g")):
        assert reweigh(frame, label, groups).tolist() == [1.0] * 4
    for frame, label, groups in (
        (SMALL.rename(columns={"g": name}), "y", name),
        (SMALL.rename(columns={"y": name}), name, "g"),
    ):
        with pytest.raises(al.AuditInputError, match=f"'{name}'"):
            reweighing_table(frame, label, groups)
    whole = pd.concat([SMALL.assign(p=0.5)] * 2)
    with pytest.raises(al.AuditInputError, match=f"'{name}'"):
        reweighing_table(al.count(whole.rename(columns={"y": name}), label=name, score="p", by=["g"], bins=2))


SMALL = pd.DataFrame({"g": list("aabb"), "h": list("xyxy"), "y": [0, 1, 0, 1]})


@pytest.mark.parametrize(
    ("frame", "label", "groups", "words"),
    [
        (SMALL.assign(y=[0, 1, 1, 1]), "y", "g", "every group to hold every label, but nobody is in b × y 0"),
        (SMALL, "y", ["g", "h"], "nobody is in a, x × y 1; a, y × y 0; b, x × y 1; b, y × y 0"),
        (SMALL.assign(y=1), "y", "g", "at least two labels, but there is 1: 'y 1'"),
        (SMALL.assign(g="a"), "y", "g", "at least two groups, but there is 1: 'a'"),
        (SMALL.assign(g=["a", None, "b", "b"]), "y", "g", "'g': 1 of 4 rows have no value"),
        (SMALL.assign(y=[0, 1, np.nan, np.nan]), "y", "g", "'y': 2 of 4 rows have no value"),
        (SMALL.assign(g=[1, "1", "b", "b"]), "y", "g", "one spelling"),
        (SMALL, "y", [], "at least one column"),
        (SMALL, "y", ["g", "g"], "each once"),
        (SMALL, "y", ["y"], "none the label"),
        (SMALL, "z", "g", "'z' is not a column"),
        (SMALL, "y", "z", "'z' is not a column"),
        (pd.concat([SMALL, SMALL[["g"]]], axis=1), "y", "g", "'g' is there more than once"),
        (SMALL.iloc[:0], "y", "g", "no rows"),
        (SMALL.to_dict(), "y", "g", "takes a pandas DataFrame, not dict"),
        (SMALL.assign(g=[[1], [2], [1], [2]]), "y", "g", "make them text"),
        (SMALL, ["y"], "g", "label must be the name of a column"),
        (SMALL, "y", None, "groups must be a list of columns, not None"),
        (SMALL, "y", 5, "groups must be a list of columns, not 5"),
        (SMALL, "y", [["g"]], "groups must be a list of columns, but holds"),
        (
            pd.DataFrame({"g": np.arange(400) % 200, "y": np.arange(400.0)}),
            "y",
            "g",
            "200 groups × 400 labels are more cells than there are rows",
        ),
    ],
)
def test_what_cannot_be_reweighed_is_an_error_in_words(frame, label, groups, words):
    with pytest.raises(al.AuditInputError, match=words):
        reweigh(frame, label, groups)


def test_tables_of_counts_refuse_what_they_cannot_use():
    counts = count(cohort(200))
    with pytest.raises(al.AuditInputError, match="replicates"):
        reweighing_table(counts.resample(2, seed=1))
    with pytest.raises(al.AuditInputError, match="not of 'z'"):
        reweighing_table(counts, "z")
    with pytest.raises(al.AuditInputError, match="at least one group"):
        reweighing_table(counts, groups=[])
    with pytest.raises(al.AuditInputError, match="groups must be a list of names, not 5"):
        reweighing_table(counts, groups=5)
    with pytest.raises(al.AuditInputError, match="name the label column"):
        reweighing_table(SMALL)
    with pytest.raises(al.AuditInputError, match="nobody is in"):
        reweighing_table(count(SMALL.assign(y=[0, 1, 1, 1], p=0.5), by="g"))
