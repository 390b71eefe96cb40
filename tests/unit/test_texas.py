"""The loader of a user's own Texas-100X file, on made-up files of the same schema: no record is here."""

import io
import zipfile

import numpy as np
import pandas as pd
import pytest

from auditlib import AuditInputError, datasets
from auditlib.simulate import Hospitals, texas_file

N = 1_000
SMALL = Hospitals(sites=40)
FILE = texas_file(N, seed=7, hospitals=SMALL)


def text(frame, index=False):
    return frame.to_csv(index=index).encode()


@pytest.fixture
def raw(tmp_path, monkeypatch):
    """A folder for the file, and the cohort's description with the totals of the made-up one."""
    spec = dict(datasets.source("texas100x"))
    spec |= {"rows": N, "positives": int((FILE["LENGTH_OF_STAY"] > 3).sum()), "different": {"THCIC_ID": 40}}
    monkeypatch.setattr(datasets, "sources", lambda: {"texas100x": spec})
    monkeypatch.setenv("AUDITLIB_DATA", str(tmp_path))
    return tmp_path


def test_description():
    spec = datasets.source("texas100x")
    assert (spec["rows"], spec["positives"], spec["different"]) == (925_128, 416_727, {"THCIC_ID": 441})
    assert len(spec["columns"]) == 12
    assert set(spec["integers"]) | set(spec["floats"]) == set(spec["columns"])
    coded = {**spec["codes"], **spec["levels"]}
    assert set(coded) | {"THCIC_ID", "LENGTH_OF_STAY", "TOTAL_CHARGES"} == set(spec["columns"])
    assert "url" not in spec  # nothing may be downloaded for the user
    assert list(FILE) == spec["columns"]


@pytest.mark.parametrize("index", [False, True], ids=["twelve columns", "row numbers before them"])
def test_both_layouts_give_one_frame(raw, index):
    (raw / "texas_100x.csv").write_bytes(text(FILE, index))
    pd.testing.assert_frame_equal(datasets.load("texas100x", download=False), FILE)


def test_zip_and_parquet(raw):
    with zipfile.ZipFile(raw / "Texas-100X.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Texas-100X/texas_100x_features.p", b"not looked at")
        archive.writestr("Texas-100X/texas_100x.csv", text(FILE))
    pd.testing.assert_frame_equal(datasets.load("texas100x"), FILE)
    assert len(datasets.checksum("texas100x")) == 64
    (raw / "Texas-100X.zip").unlink()
    FILE.to_parquet(raw / "texas_100x.parquet")
    pd.testing.assert_frame_equal(datasets.load("texas100x"), FILE)


def test_readable_levels(raw):
    levels = datasets.source("texas100x")["levels"]
    race = np.array(levels["RACE"])[FILE["RACE"]]
    assert pd.Series(race).value_counts().idxmax() == "White"
    sex = np.array(levels["SEX_CODE"])[FILE["SEX_CODE"]]
    assert (sex == "Female").mean() == pytest.approx(0.633, abs=0.05)
    assert (np.array(levels["ETHNICITY"])[FILE["ETHNICITY"]] == "Hispanic").mean() == pytest.approx(0.275, abs=0.05)


def edited(column, value, rows=1):
    frame = FILE.astype({column: object})
    frame.loc[frame.index[:rows], column] = value
    return frame


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        pytest.param(FILE.drop(columns="RACE"), r"columns missing: \['RACE'\]", id="eleven columns"),
        pytest.param(FILE.assign(RISK=1), r"columns unknown: \['RISK'\]", id="thirteen columns"),
        pytest.param(FILE.rename(columns={"SEX_CODE": "SEX"}), r"missing: \['SEX_CODE'\], .* \['SEX'\]", id="name"),
        pytest.param(edited("RACE", 5, 3), r"RACE holds 3 codes other than 0–4: 5", id="race"),
        pytest.param(edited("RACE", "White"), "RACE holds 1 values that are not whole numbers", id="race as text"),
        pytest.param(edited("SEX_CODE", "F"), "SEX_CODE holds 1 values that are not whole", id="sex as text"),
        pytest.param(FILE.assign(SEX_CODE=FILE["SEX_CODE"] == 1), "SEX_CODE holds 1000 values", id="sex as truth"),
        pytest.param(edited("SEX_CODE", 2), r"SEX_CODE holds 1 codes other than 0–1: 2", id="sex"),
        pytest.param(edited("ETHNICITY", -1), r"ETHNICITY holds 1 codes other than 0–1: -1", id="ethnicity"),
        pytest.param(edited("PAT_AGE", 27), r"PAT_AGE holds 1 codes other than 0–26: 27", id="age"),
        pytest.param(edited("PAT_AGE", 3.5), "PAT_AGE holds 1 values that are not whole", id="a fraction"),
        pytest.param(edited("PAT_STATUS", 23), "PAT_STATUS holds 1 codes", id="status"),
        pytest.param(edited("TYPE_OF_ADMISSION", 5), "TYPE_OF_ADMISSION holds 1 codes", id="type"),
        pytest.param(edited("SOURCE_OF_ADMISSION", 10), "SOURCE_OF_ADMISSION holds 1 codes", id="source"),
        pytest.param(edited("ADMITTING_DIAGNOSIS", 5225), "ADMITTING_DIAGNOSIS holds 1 codes", id="diagnosis"),
        pytest.param(edited("PRINC_SURG_PROC_CODE", 100), "PRINC_SURG_PROC_CODE holds 1 codes", id="procedure"),
        pytest.param(edited("LENGTH_OF_STAY", -1), "LENGTH_OF_STAY holds 1 values below 0", id="days"),
        pytest.param(edited("LENGTH_OF_STAY", None), "LENGTH_OF_STAY holds 1 values that are not whole", id="no days"),
        pytest.param(edited("TOTAL_CHARGES", "inf"), "TOTAL_CHARGES holds 1 values that are not numbers", id="charges"),
        pytest.param(edited("THCIC_ID", 2**60 + 1), r"THCIC_ID holds 1 whole numbers of 2\*\*53 or more", id="large"),
        pytest.param(edited("THCIC_ID", "1e30"), r"THCIC_ID holds 1 whole numbers of 2\*\*53 or more", id="huge"),
        pytest.param(edited("THCIC_ID", 2**70), r"THCIC_ID holds 1 whole numbers of 2\*\*53", id="beyond 64 bits"),
        pytest.param(
            edited("THCIC_ID", -(2**53)), r"THCIC_ID holds 1 whole numbers of 2\*\*53", id="large and negative"
        ),
        pytest.param(edited("THCIC_ID", None), "THCIC_ID holds 1 values that are not whole numbers", id="no hospital"),
        pytest.param(
            FILE.replace({"THCIC_ID": {139: 100}}),
            "39 different values of THCIC_ID, expected 40",
            id="a hospital short",
        ),
        pytest.param(edited("THCIC_ID", 999), "41 different values of THCIC_ID", id="a hospital more"),
        pytest.param(edited("LENGTH_OF_STAY", 3, 900), r"rows with LENGTH_OF_STAY > 3, expected", id="long stays"),
        pytest.param(FILE.iloc[:-1], "999 rows, expected 1,000", id="a row short"),
        pytest.param(FILE.iloc[:0], "0 rows, expected 1,000", id="no rows"),
    ],
)
def test_another_table_is_refused(raw, frame, words):
    path = raw / "texas_100x.csv"
    path.write_bytes(text(frame))
    with pytest.raises(AuditInputError, match=words) as raised:
        datasets.load("texas100x")
    assert "Texas-100X" in str(raised.value)  # where to get it
    assert path.read_bytes() == text(frame)


def test_scaled_features_are_refused(raw):
    """What the same code pickles, made a CSV: every column divided by its largest value."""
    (raw / "texas_100x.csv").write_bytes(text(FILE / FILE.max()))
    with pytest.raises(AuditInputError, match="values that are not whole numbers"):
        datasets.load("texas100x")


def test_a_part_of_ones_own(raw, tmp_path_factory):
    path = tmp_path_factory.mktemp("mine") / "few.csv"
    path.write_bytes(text(FILE.iloc[:100], index=True))
    few = datasets.load("texas100x", path=path, extract=True)
    pd.testing.assert_frame_equal(few, FILE.iloc[:100])
    with pytest.raises(
        AuditInputError, match=r"few\.csv is not .* .100 rows, expected 1,000.* With extract=True"
    ) as raised:
        datasets.load("texas100x", path=path)
    assert "Remove" not in str(raised.value)
    path.write_bytes(text(edited("RACE", 9).iloc[:100]))
    with pytest.raises(AuditInputError, match="codes other than 0–4: 9"):
        datasets.load("texas100x", path=path, extract=True)
    path.write_bytes(text(FILE.iloc[:0]))
    with pytest.raises(AuditInputError, match="it has no rows"):
        datasets.load("texas100x", path=path, extract=True)


@pytest.mark.parametrize("path", ["nowhere.csv", 5, "x" * 5_000, "a\0b"])
def test_a_path_that_is_none(raw, path):
    with pytest.raises(AuditInputError, match=r"is no file.*Get it from"):
        datasets.load("texas100x", path=path)


def test_where_to_get_it(raw):
    with pytest.raises(AuditInputError) as raised:
        datasets.load("texas100x")
    assert "https://github.com/bargavj/Texas-100X" in str(raised.value)
    assert "texas_100x.csv or Texas-100X.zip" in str(raised.value)


def test_made_up_file():
    assert texas_file(N, seed=7, hospitals=SMALL).equals(FILE)
    assert FILE["THCIC_ID"].nunique() == 40
    assert texas_file(441, seed=1)["THCIC_ID"].nunique() == 441
    many = texas_file(60_000, seed=3)
    rate = (many["LENGTH_OF_STAY"] > 3).groupby(np.digitize(many["PAT_AGE"], [5, 10, 15])).mean()
    assert rate.tolist() == pytest.approx([0.403, 0.207, 0.418, 0.606], abs=0.03)
    held = io.BytesIO(text(many))
    assert len(pd.read_csv(held)) == 60_000
    with pytest.raises(AuditInputError, match="441 hospitals need a stay each"):
        texas_file(100)
    for other in ("x", 0, {}):
        with pytest.raises(AuditInputError, match="hospitals must be Hospitals"):
            texas_file(1_000, 1, other)


def test_whole_numbers_that_a_float_holds_are_kept(raw):
    path = raw / "large.csv"
    for value in (2**53 - 1, 1 - 2**53):
        path.write_bytes(text(edited("THCIC_ID", value)))
        assert datasets.load("texas100x", path=path, extract=True)["THCIC_ID"].iloc[0] == value
    parquet = raw / "large.parquet"
    FILE.assign(THCIC_ID=2**60 + 1).to_parquet(parquet)
    with pytest.raises(AuditInputError, match=r"THCIC_ID holds 1,000 whole numbers of 2\*\*53 or more"):
        datasets.load("texas100x", path=parquet, extract=True)


@pytest.mark.parametrize("option", ["extract", "download"])
@pytest.mark.parametrize("value", ["no", None, 1])
def test_options_are_true_or_false(raw, option, value):
    with pytest.raises(AuditInputError, match=f"{option} must be True or False, not {value!r}"):
        datasets.load("texas100x", **{option: value})
