"""What ``al.audit`` is given: matched by guess never, read as it is meant, or refused in words."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import auditlib as al
from auditlib.audits import Options, added
from auditlib.audits.source import chosen, nearest_edge
from tests.unit.cards import CASE14, refused, rows, run

D = rows(1_200, seed=5)
X = D[["risk"]]
QUICK = {"replicates": 100, "multiverse": False}
K = {"label": "died", "score": "risk", "by": "sex", **QUICK}


class Model:
    """Whose predicted risk of the second class is the first column of X."""

    def __init__(self, classes=(0, 1), flip=False):
        self.classes_ = np.array(classes)
        self.flip = flip

    def predict_proba(self, X):
        risk = np.asarray(X)[:, 0].astype(float)
        return np.column_stack([risk, 1 - risk] if self.flip else [1 - risk, risk])


class Gives(Model):
    """Whose risks are whatever it was made with."""

    def __init__(self, found):
        super().__init__()
        self.found = found

    def predict_proba(self, X):
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def bad(said):
    return pytest.raises(al.AuditInputError, match=said)


def fitted(model=None, X=X, y=D.died, by=D.sex, **options):
    return al.audit(model or Model(), X, y, by, **QUICK, **options).results


def gap_of(results):
    return results["questions"]["chance"]["gap"]["estimate"]


@pytest.fixture(scope="module")
def expected():
    """The audit of the same rows."""
    return al.audit(D, **K).results


# -- a classifier: which rows belong together ----------------------------------------------------------------------


def same(found, expected):
    """Whatever the attribute is called."""
    assert [line | {"attribute": "sex"} for line in found["groups"]] == expected["groups"]
    assert found["questions"] == expected["questions"]


def test_a_classifier_is_audited_as_its_rows_are(expected):
    same(fitted(), expected)
    same(fitted(X=X.to_numpy(), y=D.died.to_list(), by=D.sex.to_numpy()), expected)
    same(fitted(by=D.sex.to_list()), expected)
    same(fitted(X=D[["risk", "sex"]], by="sex"), expected)
    same(fitted(X=D[["risk", "sex"]], by=["sex"]), expected)


def test_equal_indexes_are_one_whatever_they_are(expected):
    index = pd.Index([f"p{n}" for n in range(len(D))])
    held = D.set_index(index)
    same(fitted(X=held[["risk"]], y=held.died, by=held[["sex"]]), expected)


@pytest.mark.parametrize("part", ["y", "by", "frame"])
def test_rows_in_another_order_are_refused(part):
    mixed = D.sample(frac=1, random_state=0)
    other = {"y": {"y": mixed.died}, "by": {"by": mixed.sex}, "frame": {"by": mixed[["sex"]]}}[part]
    with bad(r"(y|by) has the index labels of X in another order; reorder it with \.loc\[X\.index\]"):
        fitted(**other)


def test_other_rows_are_refused():
    with bad(r"y lacks 1,200 of the 1,200 index labels of X; .*reset_index\(drop=True\)"):
        fitted(y=D.died.set_axis(D.index + 5_000))
    with bad("by lacks 1 of the 1,200 index labels of y"):
        fitted(X=X.to_numpy(), by=D.sex.set_axis([-1, *range(1, len(D))]))
    with bad("X, y and by have 1,200, 1,199 and 1,200 rows"):
        fitted(y=D.died[1:])


# -- a classifier: which class is the outcome ----------------------------------------------------------------------


def test_classes_of_text_need_a_name():
    words = pd.Series(np.where(D.died == 1, "dead", "healthy"), name="state")
    model = Model(["dead", "healthy"], flip=True)
    with bad("classes are 'dead' and 'healthy', not 0 and 1 or False and True; say which one .* positive="):
        fitted(model, y=words)
    found = fitted(model, y=words, positive="dead")
    assert (found["input"]["label"], found["input"]["positive"]) == ("state", "dead")
    ill = {group: int(part.died.sum()) for group, part in D.groupby("sex")}
    assert {line["group"]: line["tp"] + line["fn"] for line in found["groups"]} == ill
    turned = fitted(model, y=words, positive="healthy")
    assert turned["input"]["positive"] == "healthy"
    assert {line["group"]: line["fp"] + line["tn"] for line in turned["groups"]} == ill


def test_other_numbers_need_a_name(expected):
    with bad("classes are 1 and 2, not 0 and 1"):
        fitted(Model([1, 2]), y=D.died + 1)
    found = fitted(Model([1, 2]), y=D.died + 1, positive=2)
    assert found["input"]["positive"] == "2"
    same(found, expected)
    with bad("positive=3 is no class of the model; its classes are 1 and 2"):
        fitted(Model([1, 2]), y=D.died + 1, positive=3)


def test_truth_needs_no_name(expected):
    found = fitted(Model([False, True]), y=D.died == 1)
    assert found["input"]["positive"] == "True"
    same(found, expected)
    healthy = fitted(Model([False, True], flip=True), y=D.died == 0, positive=False)
    assert healthy["input"]["positive"] == "False"
    assert gap_of(healthy) == gap_of(expected)
    assert fitted(y=D.died.astype(float))["input"]["positive"] == "1"


# -- a classifier: shapes -------------------------------------------------------------------------------------------


def test_outcomes_in_one_column(expected):
    found = fitted(y=D[["died"]])
    assert found["input"]["label"] == "died"
    same(found, expected)
    same(fitted(y=D[["died"]].to_numpy()), expected)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"y": D[["died", "risk"]]}, "y has 2 columns"),
        ({"y": D[["died", "risk"]].to_numpy()}, r"one outcome a person.*an array of shape \(1200, 2\)"),
        ({"y": "died"}, "X and y are the predictors and the outcomes themselves, not text"),
        ({"y": [[0], [1]] * 600}, "one outcome a person"),
        ({"y": D.died.where(D.index > 3)}, "y: 4 of 1,200 outcomes are missing"),
        ({"y": D.died.replace(1, 7)}, "y holds '7', which the model does not know"),
        ({"by": D[["sex", "ward"]].to_numpy()}, r"by is an array of shape \(1200, 2\); groups are names of columns"),
        ({"by": D[["sex", "ward"]].to_numpy().tolist()}, "by is a list; groups are"),
        ({"by": {"sex": D.sex}}, "by is a dict; groups are"),
        ({"by": pl.from_pandas(D[["sex", "ward"]])}, "by is a DataFrame of shape"),
        ({"by": 3}, "by is a int; groups are"),
        ({"by": "age"}, "'age' is no column of X"),
        ({"X": sparse.csr_matrix(X.to_numpy()), "by": ["sex", "ward"]}, "predict_proba fails on X|no column of X"),
        ({"X": pd.concat([X, D[["sex", "sex"]]], axis=1), "by": "sex"}, "the name of several columns of X"),
        ({"cluster": D.patient}, "cluster must be the name of a column, not a Series"),
        ({"site": D.hospital}, "site must be the name of a column, not a Series"),
        ({"X": None}, "a classifier needs X, y and by"),
    ],
)
def test_shapes_that_are_refused(given, said):
    with bad(said):
        fitted(**given)


def test_sparse_predictors(expected):
    class Sparse(Model):
        def predict_proba(self, X):
            return super().predict_proba(X.toarray())

    held = sparse.csr_matrix(X.to_numpy())
    same(fitted(Sparse(), X=held), expected)
    with bad("'sex' is no column of X; pass the groups themselves"):
        fitted(Sparse(), X=held, by=["sex", "ward"])


RISK = D.risk.to_numpy()


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (RISK, r"gives an array of shape \(1200,\); it must give a column for each of the two classes"),
        (RISK[:, None], r"gives an array of shape \(1200, 1\)"),
        (np.column_stack([RISK] * 3), r"shape \(1200, 3\)"),
        (np.column_stack([1 - RISK, np.where(RISK > 0.5, np.nan, RISK)]), f"{(RISK > 0.5).sum()} of 1,200 .* are NaN"),
        (np.column_stack([1 - RISK, RISK * 100]), f"{(RISK * 100 > 1).sum():,} of 1,200 risks are outside 0–1"),
        (np.array([["a", "b"]] * 1_200), "gives values of type <U1, not numbers"),
        (ValueError("X has 1 features, but 2 are expected"), "fails on X .ValueError: X has 1 features"),
    ],
)
def test_risks_that_are_refused(found, said):
    with bad(said):
        fitted(Gives(found))


def test_float32_risks_stay_so(expected):
    held = np.column_stack([1 - RISK, RISK]).astype(np.float32)
    assert fitted(Gives(held))["groups"] == expected["groups"]


@pytest.mark.parametrize("classes", [(), (0, 1, 2), ([0, 1], [0, 1])])
def test_classes_that_are_not_two(classes):
    model = Model()
    model.classes_ = list(classes)
    with bad("the classifier knows . classes; an audit needs a fitted one with two"):
        fitted(model)


def test_a_missing_group_is_no_group_called_nan():
    groups = [None, *D.sex[1:]]
    with bad("group 'group'"):
        fitted(by=groups)


def test_sites_and_clusters_of_a_classifier():
    found = fitted(X=D[["risk", "hospital", "patient"]], by=D[["sex", "ward"]], site="hospital", cluster="patient")
    assert list(found["input"]["groups"]) == ["sex", "ward"]
    assert (found["input"]["site"], found["input"]["unit"]) == ("hospital", "patient")
    assert found["input"]["units"] == D.patient.nunique()


# -- labels that are nearly the positive one ------------------------------------------------------------------------


def labelled(**words):
    """The cohort with words for its outcomes."""
    return D.assign(died=np.where(D.died == 1, words["yes"], words["no"]))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("yes", "Yes"),
        ("yes", "yes "),
        ("yes", "\u00a0yes"),
        ("caf\u00e9", "cafe\u0301"),
        ("1", "TRUE"),
        ("1", "1.0"),
        ("true", "1"),
        ("heart failure", "heart  failure"),
    ],
)
@pytest.mark.parametrize("form", ["pandas", "polars", "csv", "category"])
def test_nearly_the_positive_label(tmp_path, one, other, form):
    """Ten of the people with the outcome are spelled otherwise; another value keeps labels from being numbers."""
    frame = labelled(yes=one, no="none of it")
    ill = frame.index[D.died == 1]
    frame.loc[ill[:10], "died"] = other
    data = {"pandas": lambda: frame, "polars": lambda: pl.from_pandas(frame).lazy(), "csv": lambda: tmp_path / "d.csv",
            "category": lambda: frame.astype({"died": "category"})}[form]()  # fmt: skip
    if form == "csv":
        frame.to_csv(data, index=False)
    with bad(f"label 'died': .* \\(10 rows\\) would count as no outcome beside .* \\({len(ill) - 10:,} rows\\)"):
        al.audit(data, **K, positive=one)


def test_several_values_are_no_outcome(tmp_path, expected):
    frame = labelled(yes="yes", no="no")
    alive = frame.index[D.died == 0]
    frame.loc[alive[:100], "died"] = "unknown"
    said = f"Every value of 'died' but 'yes' was taken as no outcome: 'no' ({len(alive) - 100:,}), 'unknown' (100)."
    frame.to_csv(tmp_path / "d.csv", index=False)
    for data in (frame, pl.from_pandas(frame), tmp_path / "d.csv"):
        found = al.audit(data, **K, positive="yes").results
        assert found["input"]["notes"] == [said]
        same(found, expected)
    assert al.audit(labelled(yes="yes", no="no"), **K, positive="yes").results["input"]["notes"] == []


def test_several_numbers_are_no_outcome(tmp_path):
    frame = D.assign(died=np.where(D.died == 1, 1, np.where(D.index < 300, 9, 0)))
    n = frame.died.value_counts()
    frame.to_csv(tmp_path / "d.csv", index=False)
    said = f"Every value of 'died' but '1' was taken as no outcome: '0' ({n[0]:,}), '9' ({n[9]:,})."
    assert al.audit(frame, **K, positive=1).results["input"]["notes"] == [said]
    assert al.audit(tmp_path / "d.csv", **K, positive="1").results["input"]["notes"] == [said]


def test_positive_as_a_number_for_text():
    with bad("positive=1 is of another type: pass it as text, positive='1'"):
        al.audit(labelled(yes="1", no="0"), **K, positive=1)


# -- groups that are nearly one -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("one", "other"), [("F", "F "), ("F", "f"), ("caf\u00e9", "cafe\u0301")])
def test_groups_that_differ_in_what_is_overlooked(one, other):
    frame = D.assign(sex=np.where(D.sex == "M", "M", np.where(D.index % 2, one, other)))
    (note,) = al.audit(frame, **K).results["input"]["notes"]
    assert note.startswith("In 'sex', ")
    assert "differ only in spaces, capitals or the coding of letters" in note
    assert al.audit(D, **K).results["input"]["notes"] == []


def test_matrices_and_counts_tell_it_too():
    (note,) = al.audit("Women:8,4,80,3; women:12,9,70,2; Men:5,5,5,5", **QUICK).results["input"]["notes"]
    assert note.startswith("In 'group', 'Women' and 'women' differ only")
    counts = al.count(D.assign(sex=np.where(D.sex == "M", "", "A")), label="died", score="risk", by="sex")
    n = int((D.sex == "M").sum())
    said = f"The value '' in 'sex' was taken as a group of its own ({n} rows)."
    assert al.audit(counts, **QUICK).results["input"]["notes"] == [said]


# -- what is passed as data -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "there is nothing to audit: an empty list"),
        (None, "there is nothing to audit: None; pass a table of rows"),
        ("preds.csv", r"'preds.csv' is no confusion matrices.*for a file pass pathlib\.Path"),
        ("C:/data/preds.csv", "for a file pass"),
        ("Women:1,2,3", "Women"),
        ([Path("a.csv"), Path("b.csv")], "a list of 2 names: audit one file, or count each hospital's"),
        (["a.csv"], "a list of 1 names"),
        ([{"tp": 1}], "a list with a dict in it cannot be audited"),
    ],
)
def test_data_that_is_nothing(data, said):
    with bad(said):
        al.audit(data)


@pytest.mark.parametrize("role", ["label", "score", "site", "cluster", "positive"])
def test_matrices_have_no_columns(role):
    with bad(f"{role}= goes with rows; confusion matrices have none, so leave it out"):
        al.audit(CASE14, **{role: "x"})
    with bad(f"{role}= goes with rows"):
        al.audit(al.parse_confusion(CASE14), **{role: "x"})
    counts = al.count(D, label="died", score="risk", by="sex")
    if role != "site":
        with bad(f"{role}= goes with rows; counts hold it already"):
            al.audit(counts, **{role: "x"})


def test_predictors_go_with_a_classifier():
    for data in (CASE14, D, Path("x.csv"), al.parse_confusion(CASE14)):
        with bad("X and y go with a fitted classifier"):
            al.audit(data, X, D.died, by="sex")


@pytest.mark.parametrize("by", [D.sex, 5, {"sex"}, {"sex": 1}])
def test_groups_are_named_in_a_list(by):
    with bad("by must be the name of a column or a list of names, not a"):
        al.audit(D, **(K | {"by": by}))
    with bad("by must name columns by text, not '3'"):
        al.audit(D, **(K | {"by": ["sex", 3]}))


def test_one_score():
    assert al.audit(D, **(K | {"score": ["risk"]})).results["groups"] == al.audit(D, **K).results["groups"]
    with bad("score names 2 columns; an audit is of one model"):
        al.audit(D, **(K | {"score": ["risk", "risk2"]}))
    both = al.count(D.assign(other=D.risk), label="died", score=["risk", "other"], by="sex")
    with bad(r"these counts hold several models \(risk, other\)"):
        al.audit(both)


# -- columns that are not there, that play two parts, or each other's --------------------------------------------------

NAMES = "'died', 'risk', 'sex', 'ward', 'hospital', 'patient'"
FRAMES = {
    "pandas": lambda frame, _: frame,
    "Polars": lambda frame, _: pl.from_pandas(frame).lazy(),
    "PyArrow": lambda frame, _: pl.from_pandas(frame).to_arrow(),
    "CSV": lambda frame, place: written(frame, place / "x.csv", "to_csv"),
    "Parquet": lambda frame, place: written(frame, place / "x.parquet", "to_parquet"),
}


def written(frame, path, how):
    getattr(frame, how)(path, index=False)
    return Path(path)


@pytest.mark.parametrize("way", FRAMES)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"site": "hosp"}, "site='hosp' is not a column (did you mean 'hospital'?)"),
        ({"cluster": "patents"}, "cluster='patents' is not a column (did you mean 'patient'?)"),
        ({"by": ["sex", "Ward"]}, "by='Ward' is not a column (did you mean 'ward'?)"),
        ({"label": "dead"}, "label='dead' is not a column (did you mean 'died'?)"),
        ({"score": "rsik", "site": "zzz"}, "score='rsik', site='zzz' are not columns (did you mean 'risk'?)"),
        ({"site": "zzz"}, "site='zzz' is not a column"),
    ],
)
def test_a_column_that_is_not_there_is_named_with_its_option(tmp_path, way, given, said):
    with pytest.raises(al.AuditInputError) as error:
        al.audit(FRAMES[way](D, tmp_path), **(K | given))
    assert (
        str(error.value)
        .removeprefix(f"{str(tmp_path / 'x.csv')!r}: ")
        .removeprefix(f"{str(tmp_path / 'x.parquet')!r}: ")
        == f"{said}; the columns are: {NAMES}."
    )


@pytest.mark.parametrize("way", FRAMES)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"site": "sex"}, "column 'sex' is used twice (by and site)"),
        ({"by": ["sex", "ward"], "site": "ward"}, "column 'ward' is used twice (by and site)"),
        ({"by": ["sex", "sex"]}, "column 'sex' is used twice (by)"),
        ({"score": "died"}, "column 'died' is used twice (label and score)"),
        ({"cluster": "risk"}, "column 'risk' is used twice (score and cluster)"),
        ({"site": "died"}, "column 'died' is used twice (label and site)"),
    ],
)
def test_a_column_in_two_parts_is_named_with_both(tmp_path, way, given, said):
    with pytest.raises(al.AuditInputError) as error:
        al.audit(FRAMES[way](D, tmp_path), **(K | given))
    assert str(error.value) == f"{said}; name another column for one of them."


def test_a_group_may_be_the_unit():
    """People of one ward are drawn together."""
    found = al.audit(D, **(K | {"by": "hospital", "cluster": "ward"})).results
    assert (found["input"]["unit"], found["input"]["units"]) == ("ward", 3)
    both = al.audit(D, **(K | {"by": "hospital", "cluster": "hospital"})).results
    assert both["input"]["units"] == 2


def test_a_site_that_counts_or_a_classifier_do_not_have():
    counts = al.count(D, label="died", score="risk", by=["sex", "hospital"])
    asked = {"by": "sex", **QUICK}
    with bad(r"^site='hosp' is not a group here \(did you mean 'hospital'\?\); there are: 'sex', 'hospital'\.$"):
        al.audit(counts, site="hosp", **asked)
    with bad(r"^column 'sex' is used twice \(by and site\); name another column for one of them\.$"):
        al.audit(counts, site="sex", **asked)
    with bad(r"^by='age' is not a group here; there are: 'group'\.$"):
        al.audit(CASE14, by="age")
    with bad(r"^site='hosp' is no column of X \(did you mean 'hospital'\?\); name one of X, or of by\.$"):
        fitted(X=D[["risk", "hospital"]], site="hosp")
    with bad(r"^cluster='patents' is no column of X \(did you mean 'patient'\?\); name one of X, or of by\.$"):
        fitted(by=D[["sex", "patient"]], cluster="patents")
    with bad(r"^by='Sex' is no column of X \(did you mean 'sex'\?\); pass the groups themselves"):
        fitted(X=D[["risk", "sex"]], by="Sex")
    for by in ("sex", D.sex, D[["sex"]]):
        with bad(r"^column 'sex' is used twice \(by and site\)"):
            fitted(X=D[["risk", "sex"]], by=by, site="sex")
    assert fitted(by=D[["sex", "hospital"]], site="hospital")["sites"]["sites"] == 2


@pytest.mark.parametrize("way", FRAMES)
@pytest.mark.parametrize("outcome", [lambda y: y, lambda y: y.astype(float), lambda y: y == 1])
@pytest.mark.parametrize("positive", [None, 1])
def test_label_and_score_swapped(tmp_path, way, outcome, positive):
    """Risks are no outcomes with one value that counts: naming it, as other labels need, would lead further astray."""
    frame = FRAMES[way](D.assign(died=outcome(D.died)), tmp_path)
    given = None if positive is None else "1" if isinstance(frame, Path) else positive
    with pytest.raises(al.AuditInputError) as error:
        al.audit(frame, **(K | {"label": "risk", "score": "died"}), positive=given)
    assert str(error.value) == (
        "label 'risk' holds numbers between 0 and 1, score 'died' only 0 and 1 (or true and false): they look swapped; "
        "write label='died' and score='risk' (--label, --score)."
    )


@pytest.mark.parametrize("way", FRAMES)
@pytest.mark.parametrize(
    ("label", "score"),
    [
        (D.died + 1, D.risk),  # another coding of the outcome
        (D.died / 2, D.died),  # one value between 0 and 1
        (D.risk, D.risk.round(1)),  # two risks
        (10 * D.risk, D.died),  # numbers beyond 1
    ],
)
def test_what_does_not_look_swapped_still_asks_for_the_outcome(tmp_path, way, label, score):
    frame = FRAMES[way](D.assign(y=label, p=score), tmp_path)
    with bad(r"label 'y'.* say which value counts, with positive="):
        al.audit(frame, **(K | {"label": "y", "score": "p"}))


def test_swapped_with_a_decimal_comma(tmp_path):
    D.to_csv(tmp_path / "x.csv", index=False, sep=";", decimal=",")
    with bad("label 'risk' .* score 'died' .* they look swapped"):
        al.audit(tmp_path / "x.csv", **(K | {"label": "risk", "score": "died"}))


def test_swapped_is_not_said_of_another_error():
    """Nor where the columns hold what cannot be told apart."""
    with bad("group 'sex': 1 of 1,200 rows have no value"):
        al.audit(D.assign(sex=D.sex.where(D.index > 0)), **K)
    with bad("label 'died'"):
        al.audit(D.assign(died=[[1]] * len(D)), **K)
    with bad("label 'risk' holds text"):
        al.audit(D.assign(risk="1e99999999999999999999"), **(K | {"label": "risk", "score": "died"}))


# -- hospitals ------------------------------------------------------------------------------------------------------


def test_a_table_twice():
    counts = al.count(D, label="died", score="risk", by=["sex", "ward"])
    other = al.count(D[:500], label="died", score="risk", by=["sex", "ward"])
    again = counts.by("ward", "sex").sel(sex=["M", "F"]).with_provenance(hospital="north")
    for tables in ([counts, counts], [other, counts, again]):
        with bad("table . and table . are the same table; its people would count twice"):
            al.audit(tables, **QUICK)
    assert added([counts, other]).n_rows == 1_700
    patients = [al.count(D, label="died", score="risk", by="sex", cluster=name) for name in ("patient", None)]
    with bad("unit"):
        added(patients)


def test_a_table_twice_on_the_command_line(tmp_path, capsys):
    """By content, not by bytes: one is saved with other line breaks."""
    counts = al.count(D, label="died", score="risk", by="sex")
    text = counts.to_csv()
    (tmp_path / "a.csv").write_text(text, newline="")
    (tmp_path / "b.csv").write_text(text.replace("\n", "\r\n"), newline="")
    for second in ("a.csv", "b.csv"):
        said = refused(capsys, "audit", tmp_path / "a.csv", tmp_path / second, "--out", tmp_path / "o", "--quiet")
        assert "its people would count twice" in said
    al.count(D[:600], label="died", score="risk", by="sex").to_csv(tmp_path / "c.csv")
    words = ("--replicates", "100", "--no-multiverse", "--quiet", "--out", tmp_path / "o")
    assert run(capsys, "audit", tmp_path / "a.csv", tmp_path / "c.csv", *words)[0] == 0


def test_thresholds_that_hospitals_name():
    parts = [al.count(D[at], label="died", score="risk", by="sex") for at in (D.index < 700, D.index >= 700)]

    def threshold(*named):
        pairs = zip(parts, named, strict=True)
        tables = [part if t is None else part.with_provenance(threshold=t) for part, t in pairs]
        found = al.audit(tables, **QUICK).results
        return found["threshold"], found["input"]["notes"]

    found, notes = threshold(0.3, 0.3)
    assert (found["value"], found["rule"], notes) == (0.3, "given", [])
    found, notes = threshold(0.3, 0.2)
    assert found["rule"].startswith("the edge nearest the prevalence")
    assert notes == [
        "The counts that were added name different thresholds (0.2 and 0.3), so none of these is the one in use."
    ]
    assert "a threshold in some of them only (0.3)" in threshold(0.3, None)[1][0]
    assert threshold(None, None)[1] == []


# -- thresholds -----------------------------------------------------------------------------------------------------


def test_a_rare_outcome_has_a_prevalence():
    """2 of 40,000 is 0.00005, and 0.00014 is not 0.0001."""
    for ill, people, expected in ((2, 40_000, 0.00005), (1, 7_001, 0.0001428), (3, 7, 0.4286)):
        frame = pd.DataFrame({"y": np.arange(people) < ill, "p": 0.2, "g": np.arange(people) % 2})
        assert chosen(al.count(frame, label="y", score="p", by="g"), None)[0] == expected


def test_a_prevalence_that_is_no_threshold():
    for ill, said in ((0, "0"), (1, "1")):
        frame = D.assign(died=ill)
        with bad(f"the prevalence of 'died' is {said}, which is no threshold; give a number"):
            al.audit(frame, **K)


def test_a_prevalence_of_nearly_one_is_not_rounded_to_one():
    frame = pd.DataFrame({"y": np.arange(40_000) > 0, "p": 0.2, "g": np.arange(40_000) % 2})
    assert chosen(al.count(frame, label="y", score="p", by="g"), None)[0] == 39_999 / 40_000


def test_counts_in_which_no_threshold_tells_people_apart():
    counts = al.count(D, label="died", score="risk", by="sex")
    for held in (al.count(D, label="died", score="risk", by="sex", bins=1), counts.cut(0.0)):
        with bad("no edge above 0 and below 1"):
            al.audit(held, **QUICK)
    assert nearest_edge(counts, 0.0) == 0.005
    assert nearest_edge(counts, 1.0) == 0.995
    with bad("bins must be at least 2"):
        Options(bins=1)


@pytest.mark.parametrize("value", [0, 1, True])
def test_a_provenance_that_names_no_threshold(value):
    counts = al.count(D, label="died", score="risk", by="sex")
    expected = al.audit(counts, **QUICK).results["threshold"]
    found = al.audit(counts.with_provenance(threshold=value), **QUICK).results["threshold"]
    assert found == expected
    assert 0 < found["value"] < 1


# -- options in the types that people have --------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [np.float32(0.3), Decimal("0.3"), Fraction(3, 10), np.array(0.3)])
def test_thresholds_of_any_number(threshold):
    assert al.audit(D, **K, threshold=threshold).results["threshold"]["value"] == 0.3


def test_options_become_plain(tmp_path):
    given = {
        "seed": np.int64(3), "replicates": np.int64(200), "bins": np.int64(100), "level": np.float32(0.9),
        "lam": np.float32(0.3), "benefit_threshold": np.float32(0.1), "target_prevalence": np.float32(0.2),
        "capacity": np.float32(0.2), "multiverse": np.False_, "limits": None,
    }  # fmt: skip
    expected = {
        "seed": 3, "replicates": 200, "bins": 100, "level": 0.9, "lam": 0.3, "benefit_threshold": 0.1,
        "target_prevalence": 0.2, "capacity": 0.2, "multiverse": False, "limits": {},
    }  # fmt: skip
    held = Options(**given).plain()
    for name, value in expected.items():
        assert (held[name], type(held[name])) == (value, type(value))
    al.audit(D, label="died", score="risk", by="sex", **given).write(tmp_path / "card")
    assert (tmp_path / "card" / "results.json").is_file()


@pytest.mark.parametrize("lam", [{0: 0.2, 1: 0.3}, {0.0: 0.2, 1.0: 0.3}, {"0": 0.2, "1": Decimal("0.3")}])
def test_lam_of_groups_that_are_numbers(lam):
    frame = D.assign(sex=(D.sex == "M").astype(int))
    for each in (lam, pd.Series(lam)):
        found = al.audit(frame, **K, lam=each).results["benefit"]
        assert {line["group"]: line["lam"] for line in found["groups"]} == {"0": 0.2, "1": 0.3}


def test_groups_that_are_numbers_can_be_named():
    frame = D.assign(sex=(D.sex == "M").astype(int))
    found = al.audit(frame, **K, group_a=1, group_b=0.0).results["comparison"]
    assert (found["a"], found["b"]) == ("1", "0")
    with bad("group_a and group_b are both '1'"):
        Options(group_a=1, group_b="1")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lam": {1: 0.2, "1": 0.3}}, "lam names '1' twice"),
        ({"lam": {1: 2.0}}, "lam of '1' must be above 0"),
        ({"limits": {"DI": "x"}}, "DI"),
        ({"limits": [0.8]}, "limits must map metrics to numbers"),
        ({"threshold": Decimal("nan")}, "threshold must lie"),
        ({"threshold": Fraction(3, 2)}, "threshold must lie"),
        ({"threshold": np.bool_(True)}, "threshold must"),
        ({"capacity": np.float32("nan")}, "capacity must be a share"),
        ({"multiverse": 1}, "multiverse must be true or false"),
        ({"bins": None}, "bins must be a whole number"),
    ],
)
def test_options_that_are_refused(options, said):
    with bad(said):
        Options(**options)


def test_options_can_be_replaced():
    """A frozen dataclass stays one: its copy has the same plain values."""
    options = Options(lam={1: Fraction(1, 4)}, limits={"DI": 0.9})
    assert replace(options, seed=7).plain() == options.plain() | {"seed": 7}
    assert options.lam == {"1": 0.25}
