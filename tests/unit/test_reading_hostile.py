"""Files that cannot be read: one line that says what is wrong, never another error, never a row less."""

import bz2
import contextlib
import csv
import gzip
import io
import lzma
import os
import socket
import threading
import time
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import auditlib as al
from auditlib.reading import delimited, files, read_rows, text

GOOD = "died,risk,sex,race\n1,0.5,F,A\n0,0.25,M,B\n1,0.75,F,B\n"
ASKED = {"label": "died", "scores": ["risk"], "by": ["sex", "race"]}


@contextlib.contextmanager
def bad(said):
    with pytest.raises(al.AuditInputError, match=said) as caught:
        yield
    message = str(caught.value)
    assert "\n" not in message
    assert "\r" not in message
    assert len(message) < 2500


def put(folder, content, name="cohort.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(folder, content, said, name="cohort.csv", **options):
    with bad(said):
        read_rows(put(folder, content, name), **{**ASKED, **options})


def parquet(frame=None, **options):
    stream = io.BytesIO()
    frame = pd.read_csv(io.StringIO(GOOD)) if frame is None else frame
    pq.write_table(frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame), stream, **options)
    return stream.getvalue()


def zst(content):
    return pa.compress(content, codec="zstd", asbytes=True)


def zipped(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return stream.getvalue()


# -- no file, or no ordinary one ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["", None, 3, b"x.csv", ["x.csv"]])
def test_what_is_no_path(path):
    with bad("the path of a file must be text"):
        read_rows(path, **ASKED)


def test_a_missing_file(tmp_path):
    with bad("there is no such file"):
        read_rows(tmp_path / "none.csv", **ASKED)
    with bad("cannot be read"):
        read_rows(tmp_path / "none\0.csv", **ASKED)
    with bad("cannot be read"):
        read_rows(tmp_path / ("x" * 300), **ASKED)
    with bad("cannot be read"):
        read_rows(put(tmp_path, GOOD) / "below.csv", **ASKED)


def test_links(tmp_path):
    (tmp_path / "link").symlink_to(put(tmp_path, GOOD))
    assert read_rows(tmp_path / "link", **ASKED).rows == 3
    (tmp_path / "broken").symlink_to(tmp_path / "none")
    with bad("there is no such file"):
        read_rows(tmp_path / "broken", **ASKED)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with bad("cannot be read"):
        read_rows(tmp_path / "loop", **ASKED)


def test_a_pipe_a_device_a_socket(tmp_path):
    """Nobody writes into the pipe; to open it would be to wait."""
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as plug:
        here = os.getcwd()
        os.chdir(tmp_path)  # a socket's path is short
        try:
            plug.bind("socket")
        finally:
            os.chdir(here)
        for path in (tmp_path / "pipe", tmp_path / "socket", "/dev/null", "/dev/zero"):
            with bad("is not an ordinary file"):
                read_rows(path, **ASKED)


def test_without_permission(tmp_path, monkeypatch):
    path = put(tmp_path, GOOD)

    def closed(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files.os, "open", closed)
    with bad(r"cannot be read \(Permission denied\)"):
        read_rows(path, **ASKED)


def test_a_folder(tmp_path):
    with bad("is a folder without Parquet files; name a file"):
        read_rows(tmp_path, **ASKED)
    put(tmp_path, GOOD)
    with bad("is a folder, and 'cohort.csv' in it is not Parquet"):
        read_rows(tmp_path, **ASKED)


def test_a_folder_of_parquet_and_others(tmp_path):
    put(tmp_path, parquet(), "a.parquet")
    assert read_rows(tmp_path, **ASKED).rows == 3
    put(tmp_path, GOOD, "b.csv")
    with bad(r"'b.csv' in it is not Parquet"):
        read_rows(tmp_path, **ASKED)


def test_a_folder_whose_files_differ(tmp_path):
    frame = pd.read_csv(io.StringIO(GOOD))
    put(tmp_path, parquet(), "a.parquet")
    put(tmp_path, parquet(frame.astype({"risk": "float32"})), "b.parquet")
    with bad("'b.parquet' has columns of other types than 'a.parquet' .'risk': double and float."):
        read_rows(tmp_path, **ASKED)
    put(tmp_path, parquet(frame.drop(columns="race")), "b.parquet")
    with bad("b.parquet': by='race' is not a column"):
        read_rows(tmp_path, **ASKED)
    put(tmp_path, parquet()[:-9], "b.parquet")
    with bad("b.parquet': the Parquet file cannot be read"):
        read_rows(tmp_path, **ASKED)


def test_a_column_in_the_file_and_in_its_folder(tmp_path):
    (tmp_path / "sex=F").mkdir()
    put(tmp_path / "sex=F", parquet(), "a.parquet")
    with bad("the column 'sex' occurs twice"):
        read_rows(tmp_path, **ASKED)


def test_a_pipe_in_a_folder(tmp_path):
    put(tmp_path, parquet(), "a.parquet")
    os.mkfifo(tmp_path / "b.parquet")
    with bad("is not an ordinary file"):
        read_rows(tmp_path, **ASKED)


# -- files that change -------------------------------------------------------------------------------------------


def during(monkeypatch, step):
    """Take a step once the file was opened and read for the first time."""
    real = files.ends_of

    def then(file):
        found = real(file)
        step()
        return found

    monkeypatch.setattr("auditlib.reading.rows.ends_of", then)
    monkeypatch.setattr("auditlib.reading.parquet.ends_of", then)


CHANGES = {
    "grows": lambda path: path.write_bytes(path.read_bytes() + b"0,0.5,F,A\n"),
    "is cut": lambda path: os.truncate(path, 40),
    "is written anew": lambda path: path.write_bytes(path.read_bytes()[::-1]),
    "is touched": lambda path: os.utime(path, ns=(1, 1)),
    "is replaced": lambda path: os.replace(put(path.parent, path.read_bytes(), "other"), path),
    "is removed": lambda path: path.unlink(),
}


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("kind", ["text", "parquet"])
def test_a_file_that_changes(tmp_path, monkeypatch, how, kind):
    path = put(tmp_path, GOOD if kind == "text" else parquet())
    os.utime(path, ns=(5, 5))
    during(monkeypatch, lambda: CHANGES[how](path))
    with bad("changed while it was read; read it again once it is complete"):
        read_rows(path, **ASKED)


def test_a_folder_that_grows(tmp_path, monkeypatch):
    put(tmp_path, parquet(), "a.parquet")
    during(monkeypatch, lambda: put(tmp_path, parquet(), "b.parquet"))
    with bad("changed while it was read"):
        read_rows(tmp_path, **ASKED)


def test_a_file_somebody_is_writing(tmp_path):
    """A real writer beside the reader: an error, or a whole file, never half of one in silence."""
    path, done = put(tmp_path, GOOD), threading.Event()

    def write():
        with open(path, "ab", buffering=0) as file:
            while not done.is_set():
                file.write(b"0,0.5,F,A\n" * 1000)
                time.sleep(0.001)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        time.sleep(0.2)
        with bad("changed while it was read"):
            read_rows(path, **ASKED)
    finally:
        done.set()
        writer.join()


# -- what is in them ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf", "nothing but blank lines"),
        (b"\xff\xfe", "nothing but blank lines"),
        (b"\n\r\n\n", "nothing but blank lines"),
        (b"x", "label='died', .* are not columns; the columns are: 'x'"),
        (b"\n", "nothing but blank lines"),
        (b"\x80", "byte 0x80 cannot be read as utf-8"),
        (b"\0", "line 1: a NUL byte"),
        (b"died,risk,sex,race", "has column names but no rows"),
        (b"died,risk,sex,race\r\n\r\n", "has column names but no rows"),
        (b"sep=;", "nothing but blank lines"),
    ],
)
def test_next_to_nothing(tmp_path, content, said):
    refused(tmp_path, content, said)
    for pack in (gzip.compress, bz2.compress, lzma.compress, zst):
        refused(tmp_path, pack(content), said)


def test_header_only_in_parquet(tmp_path):
    refused(tmp_path, parquet(pd.read_csv(io.StringIO(GOOD))[:0]), "has column names but no rows")


@pytest.mark.parametrize("seed", range(20))
def test_rubbish(tmp_path, seed):
    content = np.random.default_rng(seed).integers(0, 256, 5000).astype(np.uint8).tobytes()
    refused(tmp_path, content, "cannot be read as utf-8|a NUL byte|mark")
    for start in (b"PAR1", b"\x1f\x8b", b"BZh91AY&SY", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"):
        refused(tmp_path, start + b"\0" + content, "cannot be read|damaged|too early")


PACKS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zst, "zip": lambda it: zipped(a_csv=it)}


@pytest.mark.parametrize("how", PACKS)
def test_cut_at_every_byte(tmp_path, how):
    """What was cut is an error, or (a zip's comment, nothing else) the whole table; never a part of it."""
    content = PACKS[how](GOOD.encode())
    for end in range(1, len(content)):
        with bad(f"the {how} file|label='died'|cannot be read as utf-8|NUL byte"):
            read_rows(put(tmp_path, content[:end]), **ASKED)


def test_parquet_cut_at_every_byte(tmp_path):
    content = parquet()
    for end in [*range(1, 200), *range(200, len(content), 37), *range(len(content) - 20, len(content))]:
        with bad("the Parquet file cannot be read|label='died'"):
            read_rows(put(tmp_path, content[:end]), **ASKED)


@pytest.mark.parametrize("how", ["gz", "bz2", "xz", "zst"])
def test_a_second_stream_that_is_damaged(tmp_path, how):
    """The standard library's readers of bz2 and xz take its rows away without a word."""
    first, second = PACKS[how](GOOD.encode()), PACKS[how](b"0,0.5,F,A\n")
    assert read_rows(put(tmp_path, first + second), **ASKED).rows == 4
    refused(tmp_path, first + b"X" + second, f"the {how} file is damaged")
    refused(tmp_path, first + second[:-6], f"the {how} file (ends too early|is damaged)")


@pytest.mark.parametrize("how", ["gz", "bz2", "xz", "zip"])
def test_a_bit_that_flipped(tmp_path, how):
    """A checksum says so, where the format has one and the packed bytes do not."""
    content = bytearray(PACKS[how](GOOD.encode() * 50 if how != "zip" else GOOD.encode()))
    content[len(content) // 2 if how != "zip" else content.index(b"0.25") + 2] ^= 1
    refused(tmp_path, bytes(content), f"the {how} file (is damaged|ends too early)")


def test_a_bit_that_flipped_in_parquet_with_checksums(tmp_path):
    content = bytearray(parquet(write_page_checksum=True, compression="none", use_dictionary=False))
    content[content.index(np.array([0.5, 0.25, 0.75]).tobytes()) + 14] ^= 1
    refused(tmp_path, bytes(content), "the Parquet file cannot be read")


OTHERS = [
    (zipped(a_csv=GOOD, b_csv=GOOD), r"holds 2 files \('a.csv', 'b.csv'\), not one"),
    (zipped(), "holds 0 files, not one"),
    (zipped(a__=""), "holds 0 files, not one"),
    (zipped(xl__workbook_xml="x"), "is an Excel workbook; save the sheet as CSV"),
    (zipped(mimetype="x", content_xml="x"), "is a LibreOffice document"),
    (zipped(a_parquet=parquet()), "holds another packed file, or Parquet"),
    (gzip.compress(gzip.compress(GOOD.encode())), "holds another packed file"),
    (gzip.compress(parquet()), "holds another packed file, or Parquet"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "is an old Excel workbook"),
    (b"ARROW1\0\0" + bytes(50), r"is an Arrow \(Feather\) file; save it as Parquet"),
    (b"%PDF-1.7\n", "is a PDF"),
    (b"SQLite format 3\0" + bytes(50), "is an SQLite database"),
]


@pytest.mark.parametrize(("content", "said"), OTHERS, ids=[said for _, said in OTHERS])
def test_other_formats(tmp_path, content, said):
    refused(tmp_path, content, said)


@pytest.mark.parametrize(
    ("name", "program"), [("a.sav", "SPSS"), ("a.DTA", "Stata"), ("a.sas7bdat", "SAS"), ("a.xlsx", "Excel")]
)
def test_files_of_other_programs(tmp_path, name, program):
    refused(tmp_path, b"\1\2", f"is a file of {program}; save it as CSV or Parquet", name=name)


def test_a_zip_with_a_password(tmp_path):
    content = bytearray(zipped(a_csv=GOOD))
    for magic, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(magic) + place] |= 1
    refused(tmp_path, bytes(content), "the zip file is damaged .*password|encrypted")


def test_delimiter_and_encoding_say_nothing_of_parquet(tmp_path):
    refused(tmp_path, parquet(), "has no delimiter and no encoding", delimiter=",")
    refused(tmp_path, parquet(), "has no delimiter and no encoding", encoding="utf-8")


# -- text --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_nul_is_in_its_line(tmp_path, end):
    lines = GOOD.splitlines()
    lines[2] = "0,0.25,M\0,B"
    refused(tmp_path, end.join(lines), "line 3: a NUL byte")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_an_undecodable_byte_is_in_its_line(tmp_path, monkeypatch, end, chunk):
    """In a column that nobody asked for, too."""
    monkeypatch.setattr(files, "CHUNK", chunk)
    content = GOOD.replace("\n", end).encode().replace(b"M,B", b"M\xe9,B")
    refused(tmp_path, content, "line 3: byte 0xe9 cannot be read as utf-8; .*such as cp1252")
    refused(tmp_path, content, "line 3: byte 0xe9 cannot be read as ascii; .*another encoding", encoding="ascii")


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (GOOD.encode() + b"0,0.5,\xed\xa0\x80,A\n", {}),  # a surrogate as UTF-8
        ((GOOD + "0,0.5,F,A").encode("utf-16") + b"\0", {}),  # half a unit
        (GOOD.encode("utf-16") + b"\0\xd8", {}),  # half a character
        (GOOD.encode() + b"1,0.5,\xc3", {}),  # ends within a character
        (GOOD.encode() + b"1,0.5,+2AA-,A\n", {"encoding": "utf-7"}),
        (GOOD.encode("utf-8-sig"), {"encoding": "cp1252"}),
        (GOOD.encode("utf-16"), {"encoding": "utf-8"}),
        (GOOD.encode("utf-16-le"), {}),
        (GOOD.encode("utf-16-be"), {}),
    ],
)
def test_encodings_that_do_not_fit(tmp_path, content, options):
    refused(tmp_path, content, "cannot be read as|surrogate|mark|NUL|encoding", **options)


RAGGED = [
    (
        "1,0.5,F\n",
        r"line 5: 3 fields, where the first line has 4 \(the only such line\); nothing is dropped",
    ),
    ("1,0.5,F,A,\n", r"line 5: 5 fields, where the first line has 4 \(the only such line\)"),
    ("1,0.5,F\n1,0.5,F,A\n1,2,3,4,5\n", r"line 5: 3 fields, .*\(2 such lines\)"),
    ("1,0.5,F,A\n   \n", "line 6: 1 fields"),
    ('1,0.5,"F\nG",A\n1,"a\r\nb"\n', "line 7: 2 fields"),
    ('\n\n1,0.5,"F"\n', "line 7: 3 fields"),
    ('1,0.5,F\n1,0.5,F,"A\n', r"line 5: 3 fields, .*\(the only such line up to line 6, where reading stopped\)"),
]


@pytest.mark.parametrize(("more", "said"), RAGGED)
@pytest.mark.parametrize("chunk", [3, 1 << 20])
@pytest.mark.parametrize("batch", [1, 2, 50_000])
def test_ragged_lines(tmp_path, monkeypatch, more, said, chunk, batch):
    """pandas fills the short ones with nothing and, asked for some columns, cuts the long ones."""
    monkeypatch.setattr(files, "CHUNK", chunk)
    monkeypatch.setattr(delimited, "BATCH", batch)
    refused(tmp_path, GOOD + more, said)


def test_row_names_as_r_writes_them(tmp_path):
    lines = GOOD.splitlines()
    content = "\n".join([lines[0], *(f"{i},{line}" for i, line in enumerate(lines[1:]))])
    refused(tmp_path, content, r"line 2: 5 fields, .*\(3 such lines\).*numbers the rows, as in R, give it a name")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (GOOD + '1,0.5,F,"A\n' + GOOD, "line 5: a quote that begins here is never closed"),
        (GOOD + '1,0.5,F,"A', "line 5: a quote that begins here is never closed"),
        (GOOD + '1,0.5,"F"x,A\n', "line 5: a quote is followed by other text"),
        (GOOD + '1,0.5,"F"" ,A\n', "line 5: a quote that begins here is never closed"),
        (GOOD + '1,0.5,F,"A\n1,0.5,M,"B"\n', "line 5: a quote is followed by other text"),
        ('"died,risk,sex,race\n1,0.5,F,A\n', "line 1: a quote that begins here is never closed"),
        ('"died"x,risk,sex,race\n1,0.5,F,A\n', "line 1: a quote is followed by other text"),
        (GOOD + '1,0.5,F,"A' + "\n1,0.5,F,A" * 20_000, "line 5: a field of more than 131,072 characters; is a quote"),
    ],
)
def test_wrong_quotes(tmp_path, content, said):
    refused(tmp_path, content, said)


def test_a_quote_inside_a_field_is_a_character(tmp_path):
    read = read_rows(put(tmp_path, GOOD + '1,0.5,F,5" tall\n1,0.5,F, "x"\n'), **ASKED)
    assert read.frame["race"].to_pylist()[3:] == ['5" tall', ' "x"']


def test_long_lines(tmp_path, monkeypatch):
    refused(tmp_path, "x" * 10_000_000, "line 1: a field of more than 131,072 characters")
    refused(tmp_path, "x,y" * 3_333_333, "label='died', .* are not columns; .* and 3,333,314 more")
    wide = ",".join(f"c{k}" for k in range(100_000))
    content = GOOD.replace("race\n", f"race,{wide}\n", 1).replace("A\n", "A" + "," * 100_000 + "\n")
    refused(tmp_path, content, r"line 3: 4 fields, where the first line has 100,004 \(2 such lines\)")
    monkeypatch.setattr(text, "LONGEST", 5000)
    refused(tmp_path, GOOD + "x," * 2_000_000, "line 5: no line break for 5,000 characters; it is no table")


def test_a_value_of_300_characters(tmp_path):
    long, name = "v" * 300, "n" * 300
    content = GOOD.replace("A\n", long + "\n").replace("race", name)
    read = read_rows(put(tmp_path, content), **{**ASKED, "by": ["sex", name]})
    assert read.frame[name].to_pylist() == [long, "B", "B"]
    assert long in al.count(read.frame, label="died", score="risk", by=name).groups[name]
    refused(tmp_path, content, "'n{60}…'")
    refused(tmp_path, GOOD.replace("1,0.5", long + ",0.5"), "'v{60}…'")
    refused(tmp_path, GOOD.replace("0.5", long), "'v{60}…'")


def test_a_million_groups(tmp_path):
    body = "".join(f"{k % 2},0.5,g{k},A\n" for k in range(1_000_000))
    read = read_rows(put(tmp_path, "died,risk,sex,race\n" + body), **ASKED)
    assert read.rows == 1_000_000
    assert read.frame["sex"][777_777].as_py() == "g777777"
    assert read.notes == ()


@pytest.mark.parametrize(
    "word", ["=cmd()", "+1", "@x", "-1", "أنثى", "😀", "\u202eabc", "a\u0301", "\u2028", "\x0b", "\x85"]
)
def test_groups_are_kept_as_they_are(tmp_path, word):
    read = read_rows(put(tmp_path, GOOD.replace("A\n", word + "\n")), **ASKED)
    assert read.frame["race"].to_pylist() == [word, "B", "B"]
    assert word in al.count(read.frame, label="died", score="risk", by="race").groups["race"]


def test_messages_are_one_line_whatever_the_names(tmp_path):
    header = '"a\nb","c\rd","e\u2028f",\u202eg,😀\n1,2,3,4,5\n'
    refused(tmp_path, header, r"'a\\nb', 'c\\rd', 'e\\u2028f', '\\u202eg', '😀'")
    refused(tmp_path, GOOD + '"x\ny",0.5,F,A\n', r"'x\\ny'")
    refused(tmp_path, GOOD, r"positive='x\\ny'", positive="x\ny")


# -- columns -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (GOOD.replace("sex", " sex"), r"by='sex' is not a column \(did you mean ' sex'\?\); the columns are: 'died'"),
        (GOOD.replace("sex", "SEX"), r"did you mean 'SEX'\?"),
        (GOOD.replace("sex", "sexe"), r"did you mean 'sexe'\?"),
        (GOOD.replace("race", "race_or"), r"by='race' .*did you mean 'race_or'\?"),
        (GOOD.replace("sex", "\u00a0sex"), r"did you mean '\\xa0sex'\?"),
        (GOOD.replace("sex", "gender"), "by='sex' is not a column; the columns are: 'died', 'risk', 'gender', 'race'"),
        (GOOD.replace("died", "y").replace("risk", "p"), "label='died', score='risk' are not columns"),
        (GOOD.replace("race", "race,sex"), "the column 'sex' occurs twice"),
        ("died\n1\n", r"the columns are: 'died'\. If the file has several, .*delimiter= \(--delimiter\)"),
        (",".join(f"c{k}" for k in range(30)) + "\n", "'c19' and 10 more"),
        ("<html><body>Please log in</body></html>", "is not a column|are not columns"),
    ],
)
def test_columns_that_are_not_there(tmp_path, content, said):
    refused(tmp_path, content, said)


def test_a_site_is_a_group_with_a_name_of_its_own(tmp_path):
    """Read as the groups are; in messages it is the site."""
    one = {**ASKED, "by": "sex", "site": "race"}
    two = read_rows(put(tmp_path, GOOD), **ASKED)
    assert read_rows(put(tmp_path, GOOD), **one).frame.equals(two.frame)
    refused(tmp_path, GOOD.replace("race", "place"), r"site='race' is not a column \(did you mean 'place'\?\);", **one)
    refused(
        tmp_path, parquet(pa.table({"died": [1], "risk": [0.5], "sex": ["F"]})), "site='race' is not a column;", **one
    )


def test_the_exact_name_comes_first(tmp_path):
    read = read_rows(put(tmp_path, "died,risk,sex, sex,race\n1,0.5,F,X,A\n"), **ASKED)
    assert read.frame["sex"].to_pylist() == ["F"]


def test_columns_that_are_not_needed_may_occur_twice(tmp_path):
    read = read_rows(put(tmp_path, "died,risk,sex,,,race\n1,0.5,F,x,y,A\n"), **ASKED)
    assert read.frame["race"].to_pylist() == ["A"]


def test_columns_of_parquet(tmp_path):
    table = pa.Table.from_pandas(pd.read_csv(io.StringIO(GOOD)))
    refused(tmp_path, parquet(table.rename_columns(["died", "risk", "sex", "race "])), r"did you mean 'race '\?")
    refused(tmp_path, parquet(table.rename_columns(["died", "risk", "race", "race"])), "by='sex' is not a column")
    twice = table.append_column("race", table["sex"])
    refused(tmp_path, parquet(twice), "the column 'race' occurs twice")
    dotted = table.rename_columns(["died", "risk", "a.b", "race"]).append_column("a", pa.array([{"b": 1}] * 3))
    read = read_rows(put(tmp_path, parquet(dotted)), **{**ASKED, "by": ["a.b", "race"]})
    assert read.frame["a.b"].to_pylist() == ["F", "M", "F"]


@pytest.mark.parametrize(
    "options",
    [
        {"label": 3},
        {"label": None},
        {"scores": []},
        {"scores": [None]},
        {"by": [3]},
        {"by": {"sex": 1}},
        {"cluster": 3},
        {"label": "risk"},
        {"by": ["sex", "sex"]},
        {"scores": ["risk", "risk"]},
        {"cluster": "died"},
        {"by": ["risk"]},
        {"site": "sex"},
        {"site": "risk"},
        {"site": 3},
        {"positive": 1},
        {"positive": True},
    ],
)
def test_questions_that_cannot_be_asked(tmp_path, options):
    with bad("must name columns by text|is used twice|names no column|must be text"):
        read_rows(put(tmp_path, GOOD), **{**ASKED, **options})


ODD = {
    "lists": pa.array([[1], [2], [3]]),
    "records": pa.array([{"a": 1}] * 3),
    "dates": pa.array([1, 2, 3], pa.date32()),
    "times": pa.array([1, 2, 3], pa.timestamp("us", "UTC")),
    "durations": pa.array([1, 2, 3], pa.duration("s")),
    "half floats": pa.array(np.array([0, 1, 0], "float16")),
    "decimals": pa.array([0, 1, 0], pa.decimal128(5, 2)),
    "nothing": pa.nulls(3),
    "bytes": pa.array([b"\xff", b"\xfe", b"a"]),
    "categories": pa.array([1, 0, 1]).dictionary_encode(),
    "empty text": pa.array(["", "1", ""]),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("role", ["died", "risk", "sex"])
def test_types_of_parquet_that_are_odd(tmp_path, kind, role):
    """Counted or refused in one line, as each type deserves."""
    table = pa.Table.from_pandas(pd.read_csv(io.StringIO(GOOD)))
    place = table.column_names.index(role)
    path = put(tmp_path, parquet(table.set_column(place, role, ODD[kind])))
    fine = {
        ("half floats", "died"),
        ("decimals", "died"),
        ("decimals", "risk"),
        ("categories", "died"),
        ("categories", "risk"),
    }
    groups = {"dates", "times", "durations", "half floats", "decimals", "categories", "empty text"}
    if (kind, role) in fine or (role == "sex" and kind in groups):
        read = read_rows(path, **ASKED)
        assert al.count(read.frame, label="died", score="risk", by=["sex", "race"]).n_rows == 3
        return
    with bad("died|risk|sex|cannot be read"):
        read = read_rows(path, **ASKED)
        al.count(read.frame, label="died", score="risk", by=["sex", "race"])


def test_empty_text_is_a_group_of_parquet_with_a_note(tmp_path):
    """In a Parquet file it is a value that somebody wrote, and not the missing one."""
    table = pa.table({"died": [1, 0], "risk": [0.5, 0.2], "sex": ["", "F"], "race": ["A", "A"]})
    read = read_rows(put(tmp_path, parquet(table)), **ASKED)
    assert read.notes == ("The value '' in 'sex' was taken as a group of its own (1 row).",)


def test_the_widest_limit_of_csv_is_not_ours_to_change(tmp_path):
    before = csv.field_size_limit()
    read_rows(put(tmp_path, GOOD), **ASKED)
    assert csv.field_size_limit() == before


def test_what_nobody_thought_of_is_one_line_too(tmp_path, monkeypatch):
    def broken(*_):
        raise RuntimeError("first\nsecond")

    monkeypatch.setattr("auditlib.reading.rows.columns_of", broken)
    refused(tmp_path, GOOD, r"cannot be read \(RuntimeError: first\)")
    monkeypatch.setattr("auditlib.reading.rows.columns_of", lambda *_: (_ for _ in ()).throw(MemoryError()))
    with pytest.raises(MemoryError):
        read_rows(put(tmp_path, GOOD), **ASKED)
