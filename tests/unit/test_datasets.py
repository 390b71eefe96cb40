"""Loaders against small made-up files, a local server that misbehaves, and the real files where they are at hand."""

import gc
import hashlib
import io
import re
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pandas as pd
import pytest

from auditlib import AuditInputError, datasets

HOSPITAL = pd.DataFrame(
    {
        "encounter_id": ["1", "2", "3", "4"],
        "race": ["Caucasian", "?", "Other", "?"],
        "diag_1": ["250.83", "V27", "?", "401"],
        "A1Cresult": ["None", ">8", "None", "Norm"],
        "readmitted": ["<30", "NO", ">30", "<30"],
    }
)
SURVEY = pd.DataFrame({"Diabetes_binary": [0, 1, 1, 0], "BMI": [40, 25, 25, 31], "Sex": [0, 1, 1, 0]})
HEART = pd.DataFrame({"HadHeartAttack": ["Yes", "No"], "RemovedTeeth": ["None of them", "NA"], "BMI": [27.5, 30.0]})


def text(frame):
    return frame.to_csv(index=False).encode()


def zipped(content, member="folder/diabetic_data.csv"):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/folder/._diabetic_data.csv", b"junk")
        archive.writestr(member, content)
    return target.getvalue()


GOOD = zipped(text(HOSPITAL))


class Server(ThreadingHTTPServer):
    """Answers every request with `reply`: (status, content type, body, announced length)."""

    reply = (200, "application/zip", GOOD, len(GOOD))


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        status, kind, body, length = self.server.reply
        self.send_response(status)
        if status == 302:
            self.send_header("Location", kind)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with Server(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture
def home(tmp_path, monkeypatch, server):
    """A repository without data, whose sources name the local server."""
    known = {
        "hospital": {
            "page": "https://example.org/hospital",
            "url": f"http://127.0.0.1:{server.server_port}/hospital.zip",
            "saved_as": "hospital.zip",
            "files": ["hospital.zip", "diabetic_data.csv", "deep/diabetic_data.csv"],
            "member": "diabetic_data.csv",
            "sha256": hashlib.sha256(text(HOSPITAL)).hexdigest(),
            "hash_copies": True,
            "rows": 4,
            "outcome": "readmitted",
            "positive": "<30",
            "positives": 2,
            "missing": ["?"],
            "integers": ["encounter_id"],
            "columns": list(HOSPITAL),
        },
        "survey": {
            "page": "https://example.org/survey",
            "url": f"http://127.0.0.1:{server.server_port}/survey.csv",
            "saved_as": "survey.csv",
            "files": ["survey.csv", "survey.zip"],
            "member": ".csv",
            "hash_copies": False,
            "rows": 4,
            "outcome": "Diabetes_binary",
            "positive": 1,
            "positives": 2,
            "drop": ["ID"],
            "missing": [],
            "integers": "all",
            "columns": list(SURVEY),
        },
        "heart": {
            "page": "https://example.org/heart",
            "files": ["heart.parquet", "heart.csv"],
            "member": "heart.csv",
            "hash_copies": False,
            "rows": 2,
            "outcome": "HadHeartAttack",
            "positive": "Yes",
            "positives": 1,
            "missing": [],
            "integers": [],
            "floats": ["BMI"],
            "columns": list(HEART),
        },
    }
    monkeypatch.setattr(datasets, "sources", lambda: known)
    monkeypatch.setattr(datasets, "root", lambda: tmp_path)
    monkeypatch.setattr(datasets, "TIMEOUT", 3)
    monkeypatch.delenv("AUDITLIB_DATA", raising=False)
    (tmp_path / "data").mkdir()
    return tmp_path


def raw(home, name, content):
    folder = home / "data" / "raw"
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    return folder / name


def left(home):
    return sorted(str(p.relative_to(home)) for p in (home / "data").rglob("*"))


def test_download_is_checked_saved_and_read_again(home, server):
    assert not datasets.available("hospital")
    frame = datasets.load("hospital")
    assert left(home) == ["data/raw", "data/raw/hospital.zip"]
    assert datasets.available("hospital")
    server.reply = (404, "text/plain", b"", 0)
    assert datasets.load("hospital").equals(frame)  # from the file, no network
    assert datasets.checksum("hospital") == hashlib.sha256(text(HOSPITAL)).hexdigest()


def test_missing_is_what_the_source_says(home):
    frame = datasets.load("hospital")
    assert frame["encounter_id"].dtype == "int64"
    assert frame["race"].isna().sum() == 2
    assert frame["A1Cresult"].tolist() == ["None", ">8", "None", "Norm"]
    assert frame["diag_1"].tolist()[:2] == ["250.83", "V27"]  # codes stay text
    assert frame["diag_1"].isna().sum() == 1


HTML = b"<!doctype html><title>Sign in</title>"
EDITED = zipped(text(HOSPITAL.assign(race="Other")))


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        pytest.param((200, "application/zip", GOOD[:-60], len(GOOD)), "download failed", id="cut, length announced"),
        pytest.param((200, "application/zip", GOOD[:-60], len(GOOD) - 60), "not the expected", id="cut, well-formed"),
        pytest.param((200, "text/html", HTML, len(HTML)), "SHA-256", id="HTML with status 200"),
        pytest.param((200, "application/zip", EDITED, len(EDITED)), "SHA-256", id="another table"),
        pytest.param((200, "application/zip", b"", 0), "SHA-256", id="empty"),
        pytest.param((404, "text/plain", b"gone", 4), "404", id="404"),
        pytest.param((500, "text/plain", b"oops", 4), "500", id="500"),
    ],
)
def test_a_bad_download_leaves_nothing_and_says_what_to_do(home, server, reply, words):
    server.reply = reply
    with pytest.raises(AuditInputError) as raised:
        datasets.load("hospital")
    message = str(raised.value)
    assert words in message
    assert f"http://127.0.0.1:{server.server_port}/hospital.zip" in message
    assert "data/raw" in message
    assert "hospital.zip or diabetic_data.csv" in message
    assert "Remove" not in message  # nothing is left to remove
    assert left(home) == []


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param((200, "application/zip", GOOD, "abc"), id="a length that is none"),
        pytest.param((302, "http://", b"", 0), id="sent on to nowhere"),
        pytest.param((302, "http://a..b/x", b"", 0), id="sent on to a bad host"),
        pytest.param((302, "http://[bad/x", b"", 0), id="sent on to a bad address"),
        pytest.param((302, "gopher://a/x", b"", 0), id="sent on to another protocol"),
    ],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # pooch leaves these connections to the garbage collector
def test_a_reply_that_cannot_be_followed(home, server, reply):
    server.reply = reply
    with pytest.raises(AuditInputError, match=r"the download failed .*Get it from"):
        datasets.load("hospital")
    assert left(home) == []
    gc.collect()


def test_no_server(home, server):
    server.shutdown()
    server.server_close()
    with pytest.raises(AuditInputError, match="download failed"):
        datasets.load("hospital")
    assert left(home) == []


def test_html_without_a_known_hash(home, server):
    server.reply = (200, "text/html", HTML, len(HTML))
    with pytest.raises(AuditInputError, match="0 rows, expected 4"):
        datasets.load("survey")
    assert left(home) == []


def test_a_failed_download_keeps_what_was_there(home, server):
    raw(home, "other.txt", b"mine")
    server.reply = (404, "text/plain", b"", 0)
    with pytest.raises(AuditInputError):
        datasets.load("hospital")
    assert left(home) == ["data/raw", "data/raw/other.txt"]


def test_download_can_be_refused(home):
    with pytest.raises(AuditInputError, match="no copy at hand"):
        datasets.load("hospital", download=False)
    with pytest.raises(AuditInputError, match="no copy at hand"):
        datasets.checksum("hospital")


def test_both_layouts_of_the_hospital_table(home):
    expected = datasets.load("hospital")
    (home / "data/raw/hospital.zip").unlink()
    raw(home, "diabetic_data.csv", text(HOSPITAL))
    assert datasets.load("hospital", download=False).equals(expected)


def test_both_layouts_of_the_survey_give_one_frame(home):
    """Whole numbers with an ID column, or decimals in a zip; rows that repeat another stay."""
    path = raw(home, "survey.csv", text(SURVEY.assign(ID=range(4))[["ID", "BMI", "Sex", "Diabetes_binary"]]))
    first = datasets.load("survey", download=False)
    path.unlink()
    raw(home, "survey.zip", zipped(text(SURVEY.astype(float)), "survey2015.csv"))
    second = datasets.load("survey", download=False)
    pd.testing.assert_frame_equal(first, second)
    pd.testing.assert_frame_equal(first, SURVEY)
    assert first.duplicated().sum() == 1


def test_parquet_or_csv_of_the_heart_table(home):
    HEART.to_parquet(raw(home, "heart.parquet", b""))
    first = datasets.load("heart")
    (home / "data/raw/heart.parquet").unlink()
    raw(home, "heart.csv", text(HEART))
    pd.testing.assert_frame_equal(first, datasets.load("heart"))
    assert first["RemovedTeeth"].tolist() == ["None of them", "NA"]


def test_no_address(home):
    with pytest.raises(AuditInputError) as raised:
        datasets.load("heart")
    assert "https://example.org/heart" in str(raised.value)
    assert "data/raw/, as heart.parquet or heart.csv" in str(raised.value)


def test_the_folder_in_the_environment_comes_first(home, tmp_path_factory, monkeypatch):
    given = tmp_path_factory.mktemp("given")
    monkeypatch.setenv("AUDITLIB_DATA", str(given))
    raw(home, "survey.csv", b"not a table")
    (given / "survey.csv").write_bytes(text(SURVEY))
    assert len(datasets.load("survey", download=False)) == 4


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(text(SURVEY)[:-7], "3 rows, expected 4", id="truncated"),
        pytest.param(text(SURVEY)[:-4], "column Sex holds 1 values that are not whole", id="truncated in a row"),
        pytest.param(text(SURVEY.drop(columns="BMI")), "columns missing: ['BMI']", id="a column short"),
        pytest.param(text(SURVEY.assign(x=1)), "columns unknown: ['x']", id="a column too many"),
        pytest.param(text(SURVEY.assign(BMI=[40, 25, 25, 31.5])), "column BMI holds 1 values", id="a fraction"),
        pytest.param(text(SURVEY.assign(BMI=["", 25, 25, 31])), "BMI", id="a missing value"),
        pytest.param(text(SURVEY.assign(Diabetes_binary=1)), "4 rows with Diabetes_binary = 1, expected 2", id="label"),
        pytest.param(b"\xff\xfe\x00", "not the expected table", id="bytes"),
        pytest.param(b"", "not the expected table", id="empty"),
        pytest.param(b"PK\x03\x04junk", "not the expected table", id="broken zip"),
    ],
)
def test_a_bad_copy_is_named(home, content, words):
    path = raw(home, "survey.csv", content)
    with pytest.raises(AuditInputError) as raised:
        datasets.load("survey")
    assert words in str(raised.value)
    assert "survey.csv" in str(raised.value)
    assert path.read_bytes() == content  # the user's file is not ours to touch


def test_a_zip_without_the_table(home):
    raw(home, "hospital.zip", zipped(b"a,b\n", "readme.csv"))
    with pytest.raises(AuditInputError, match="holds 0 tables named diabetic_data"):
        datasets.load("hospital")


def broken(**fields):
    """The good zip with other bytes in the central directory entry of its table."""
    content = bytearray(GOOD)
    at = content.rindex(b"PK\x01\x02")
    for place, value in ((8, fields.get("flags")), (10, fields.get("method"))):
        if value is not None:
            content[at + place] = content[content.index(b"PK\x03\x04", 30) + place - 2] = value
    if "body" in fields:
        start = content.index(b"diabetic_data.csv", content.index(b"PK\x03\x04", 30)) + 17
        content[start : start + 8] = fields["body"]
    return bytes(content)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(broken(body=b"\xff" * 8), id="corrupt"),
        pytest.param(broken(flags=1), id="encrypted"),
        pytest.param(broken(method=97), id="unknown compression"),
        pytest.param(broken(method=14), id="not the compression it says"),
    ],
)
def test_a_zip_that_cannot_be_unpacked(home, content):
    raw(home, "hospital.zip", content)
    for read in (datasets.load, datasets.checksum):
        with pytest.raises(AuditInputError, match=r"hospital\.zip is not the expected table .*Remove it\. Get it from"):
            read("hospital")


def test_data_raw_is_no_folder(home):
    (home / "data" / "raw").write_bytes(b"mine")
    with pytest.raises(AuditInputError, match="cannot be saved as"):
        datasets.load("hospital")
    assert (home / "data" / "raw").read_bytes() == b"mine"
    (home / "data" / "raw").unlink()
    (home / "data" / "raw").symlink_to(home / "nowhere")
    with pytest.raises(AuditInputError, match="cannot be saved as"):
        datasets.load("hospital")


def test_a_folder_in_the_place_of_the_file(home):
    (home / "data" / "raw" / "hospital.zip").mkdir(parents=True)
    with pytest.raises(AuditInputError, match=r"cannot be saved as .*a folder is in its place"):
        datasets.load("hospital")
    assert left(home) == ["data/raw", "data/raw/hospital.zip"]


def test_a_folder_that_cannot_be_written(home, monkeypatch):
    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(datasets.tempfile, "mkstemp", refuse)
    with pytest.raises(AuditInputError, match=r"cannot be saved as .*Permission denied"):
        datasets.load("hospital")


def test_a_folder_in_the_environment_that_cannot_be(home, monkeypatch):
    monkeypatch.setenv("AUDITLIB_DATA", "x" * 5_000)
    for ask in (datasets.load, datasets.available, datasets.checksum):
        with pytest.raises(AuditInputError, match=r"too long\): check \$AUDITLIB_DATA"):
            ask("hospital")


@pytest.fixture
def elsewhere(home, tmp_path_factory, monkeypatch):
    """A working folder that is not the repository, as a notebook's is not."""
    place = tmp_path_factory.mktemp("chapters")
    monkeypatch.chdir(place)
    return place


def test_a_relative_folder_is_sought_where_python_runs_and_then_in_the_repository(home, elsewhere, monkeypatch):
    monkeypatch.setenv("AUDITLIB_DATA", "cohorts")
    (home / "cohorts").mkdir()
    (home / "cohorts" / "survey.csv").write_bytes(text(SURVEY))
    assert datasets.available("survey")
    assert datasets.load("survey", download=False)["BMI"].tolist() == [40, 25, 25, 31]
    (elsewhere / "cohorts").mkdir()
    (elsewhere / "cohorts" / "survey.csv").write_bytes(text(SURVEY.assign(BMI=[1, 2, 3, 4])))
    assert datasets.load("survey", download=False)["BMI"].tolist() == [1, 2, 3, 4]


def test_a_folder_in_the_environment_that_is_not_there_is_an_error_and_nothing_is_downloaded(
    home, elsewhere, monkeypatch
):
    raw(home, "survey.csv", text(SURVEY))
    monkeypatch.setenv("AUDITLIB_DATA", "cohrots")
    said = f"AUDITLIB_DATA=cohrots is no folder (looked from {elsewhere} and {home}): name the one that holds the"
    for ask in (datasets.load, datasets.checksum):
        for name in ("hospital", "survey"):
            with pytest.raises(AuditInputError, match=re.escape(said)):
                ask(name)
    assert not datasets.available("survey")
    assert not datasets.available("hospital")
    assert left(home) == ["data/raw", "data/raw/survey.csv"]
    monkeypatch.setenv("AUDITLIB_DATA", str(home / "nowhere"))
    with pytest.raises(AuditInputError, match=r"nowhere is no folder: name the one"):
        datasets.load("survey")
    assert len(datasets.load("survey", path=home / "data/raw/survey.csv")) == 4  # a file that is named needs no folder


@pytest.mark.parametrize("content", [b"[hospital", b"\xff"])
def test_sources_that_cannot_be_read(tmp_path, content):
    (tmp_path / "sources.toml").write_bytes(content)
    with pytest.raises(AuditInputError, match="restore it"):
        datasets._read_sources(tmp_path / "sources.toml")


@pytest.mark.parametrize("name", [["diabetes130"], None, 5])
def test_a_name_that_is_none(name):
    with pytest.raises(AuditInputError, match="no cohort named"):
        datasets.load(name)


def test_unknown_name():
    with pytest.raises(AuditInputError, match=r"'mimic'.*brfss2022_heart, cdc_diabetes, diabetes130"):
        datasets.load("mimic")


def test_root_is_found_from_the_working_folder_when_the_package_is_elsewhere(tmp_path, monkeypatch):
    repository = tmp_path / "clone"
    (repository / "data").mkdir(parents=True)
    (repository / "data" / "sources.toml").write_text("")
    (repository / "chapters").mkdir()
    monkeypatch.setattr(datasets, "__file__", str(tmp_path / "site-packages" / "auditlib" / "datasets.py"))
    monkeypatch.chdir(repository / "chapters")
    assert datasets.root() == repository
    assert datasets.counts_path("x") == repository / "data" / "counts" / "x.csv"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AuditInputError, match="copy of the book's repository"):
        datasets.root()


def at_hand(name):
    return pytest.mark.skipif(not datasets.available(name), reason=f"{name} is not at hand: set AUDITLIB_DATA")


@at_hand("diabetes130")
def test_real_diabetes130():
    frame = datasets.load("diabetes130", download=False)
    assert frame.shape == (101_766, 50)
    assert frame["patient_nbr"].nunique() == 71_518
    assert (frame["readmitted"] == "<30").sum() == 11_357
    assert (frame["max_glu_serum"] == "None").sum() == 96_420
    assert frame["A1Cresult"].notna().all()
    assert frame["race"].isna().sum() == 2_273
    assert frame["weight"].isna().sum() == 98_569
    assert (frame["gender"] == "Unknown/Invalid").sum() == 3


@at_hand("cdc_diabetes")
def test_real_cdc_diabetes():
    frame = datasets.load("cdc_diabetes", download=False)
    assert frame.shape == (253_680, 22)
    assert frame["Diabetes_binary"].sum() == 35_346
    assert frame.duplicated().sum() == 24_206
    assert (frame.dtypes == "int64").all()


@at_hand("brfss2022_heart")
def test_real_brfss2022_heart():
    frame = datasets.load("brfss2022_heart", download=False)
    assert frame.shape == (246_022, 40)
    assert (frame["HadHeartAttack"] == "Yes").sum() == 13_435
    assert frame["State"].nunique() == 54
    assert not frame.isna().any().any()
