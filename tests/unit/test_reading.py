"""Files as an analyst has them: one cohort in every layout gives one table of counts; values are read or refused."""

import bz2
import codecs
import csv
import gzip
import hashlib
import io
import lzma
import os
import random
import string
import sys
import zipfile
from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import auditlib as al
from auditlib.reading import delimited, read_rows, rows
from auditlib.reading.values import _plain_floats, number
from tests.unit.frames import PROPERTY, same

WORDS = ["A", "Île, de", 'say "x"', "=cmd()", "أنثى", "😀", "two\nlines", "tab\there", "semi;colon|pipe", "01", " "]
ASKED = {"label": "died", "scores": ["risk"], "by": ["sex", "race"]}


def bad(said):
    return pytest.raises(al.AuditInputError, match=said)


def cohort(n=60, seed=0, words=WORDS):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "died": rng.integers(0, 2, n),
            "note": ["free, text"] * n,
            "risk": rng.integers(0, 1001, n) / 1000,
            "sex": rng.choice(["F", "M"], n),
            "race": [words[k % len(words)] for k in range(n)],
            "patient": [f"p{k}" for k in rng.integers(0, n // 2, n)],
        }
    )


def text_of(frame, delimiter=",", end="\n", quoting=csv.QUOTE_MINIMAL, decimal="."):
    stream = io.StringIO()
    frame.to_csv(stream, index=False, sep=delimiter, lineterminator=end, quoting=quoting, decimal=decimal)
    return stream.getvalue()


def put(folder, content, name="cohort.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def counted(path, label="died", scores=("risk",), by=("sex", "race"), cluster=None, **options):
    read = read_rows(path, label=label, scores=list(scores), by=list(by), cluster=cluster, **options)
    return al.count(
        read.frame, label=label, score=list(scores), by=list(by), cluster=cluster, positive=read.positive
    ), read


def direct(frame, label="died", scores=("risk",), by=("sex", "race"), **options):
    return al.count(frame, label=label, score=list(scores), by=list(by), **options)


def values(folder, column, cells, name="cohort.csv", **options):
    """One column of a small cohort filled with ``cells``, read."""
    frame = pd.DataFrame({"died": "1", "risk": "0.5", "sex": "F", "race": "A"}, index=range(len(cells)))
    frame[column] = cells
    return read_rows(put(folder, text_of(frame, **options.pop("text", {})), name), **{**ASKED, **options})


# -- one cohort, every layout ------------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", ":", "~", "^", " ", "§", "\x1f"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL], ids=["minimal", "all"])
def test_every_delimiter(tmp_path, delimiter, quoting):
    frame = cohort()
    path = put(tmp_path, text_of(frame, delimiter, quoting=quoting))
    expected = direct(frame).to_csv()
    assert counted(path)[0].to_csv() == expected
    assert counted(path, delimiter=delimiter)[0].to_csv() == expected


UNENDED = "The last line has no line break; if the file was cut short, its last value may be, too."


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("last", [True, False])
def test_every_line_end(tmp_path, end, last):
    """A line break inside a value stays the one it is."""
    frame = cohort()
    text = text_of(frame, end=end, quoting=csv.QUOTE_ALL)
    path = put(tmp_path, text if last else text.removesuffix(end))
    counts, read = counted(path)
    assert counts.to_csv() == direct(frame).to_csv()
    assert read.rows == 60
    space = "The value ' ' in 'race' was taken as a group of its own (5 rows)."
    assert read.notes == ((space,) if last else (UNENDED, space))


ENCODINGS = {
    "utf-8": ("utf-8", None),
    "utf-8-sig": ("utf-8-sig", None),
    "utf-8 named": ("utf-8-sig", "UTF8"),
    "utf-16": ("utf-16", None),
    "utf-16-be with a mark": ("be", None),
    "utf-16 named": ("utf-16", "utf-16"),
    "utf-16-le named": ("utf-16-le", "utf-16-le"),
    "utf-32": ("utf-32", None),
    "cp1256": ("cp1256", "cp1256"),
}


@pytest.mark.parametrize("kind", ENCODINGS)
def test_every_encoding(tmp_path, kind):
    written, named = ENCODINGS[kind]
    frame = cohort(words=["Île", "أنثى", "A"] if kind == "cp1256" else WORDS)
    if kind == "cp1256":
        frame["race"] = frame["race"].str.replace("Î", "î")
    text = text_of(frame)
    content = codecs.BOM_UTF16_BE + text.encode("utf-16-be") if written == "be" else text.encode(written)
    assert counted(put(tmp_path, content), encoding=named)[0].to_csv() == direct(frame).to_csv()


def test_cp1252_needs_to_be_named(tmp_path):
    frame = cohort(words=["Île", "A"])
    path = put(tmp_path, text_of(frame).encode("cp1252"))
    with bad(r"line 2: byte 0xce cannot be read as utf-8; .*encoding= \(--encoding\), such as cp1252"):
        read_rows(path, **ASKED)
    assert counted(path, encoding="cp1252")[0].to_csv() == direct(frame).to_csv()


def zipped(content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/", "")
        archive.writestr("folder/data.csv", content)
        archive.writestr("__MACOSX/folder/._data.csv", b"\0\5")
    return stream.getvalue()


PACKED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
    "zip": zipped,
}


@pytest.mark.parametrize("how", PACKED)
@pytest.mark.parametrize("written", ["utf-8", "utf-16"])
def test_every_compression_whatever_the_name(tmp_path, how, written):
    frame = cohort()
    content = PACKED[how](text_of(frame).encode(written))
    counts, read = counted(put(tmp_path, content, "cohort.txt"))
    assert counts.to_csv() == direct(frame).to_csv()
    assert read.sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("how", ["gz", "bz2", "xz", "zst"])
def test_streams_one_after_another_are_one_file(tmp_path, how):
    """As pigz, pbzip2 and ``cat`` write them; the halves meet within a line."""
    frame = cohort()
    text = text_of(frame).encode()
    content = PACKED[how](text[:777]) + PACKED[how](text[777:])
    assert counted(put(tmp_path, content))[0].to_csv() == direct(frame).to_csv()


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("scores", [["risk"], ["risk", "other"]])
def test_decimal_comma(tmp_path, delimiter, scores):
    frame = cohort().assign(other=lambda frame: frame["risk"] / 2)
    counts, read = counted(put(tmp_path, text_of(frame, delimiter, decimal=",")), scores=scores)
    assert counts.to_csv() == direct(frame, scores=scores).to_csv()
    assert read.notes[0] == "Scores were written with a decimal comma."


def test_decimal_comma_of_one_score(tmp_path):
    text = "died;risk;other;sex;race\n1;0,5;0.25;F;A\n0;1;0.75;F;A\n0;,25;1;F;A\n"
    read = read_rows(put(tmp_path, text), **{**ASKED, "scores": ["risk", "other"]})
    assert read.frame["risk"].to_pylist() == [0.5, 1.0, 0.25]
    assert read.frame["other"].to_pylist() == [0.25, 0.75, 1.0]
    assert read.notes == ("Scores were written with a decimal comma in 'risk'.",)


PARQUET = {
    "plain": {},
    "zstd": {"compression": "zstd"},
    "no dictionary": {"use_dictionary": False},
    "row groups": {"row_group_size": 7},
    "old version": {"version": "1.0", "data_page_version": "2.0"},
    "checksums": {"write_page_checksum": True},
}


@pytest.mark.parametrize("kind", PARQUET)
def test_parquet(tmp_path, kind):
    frame = cohort()
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "cohort.csv", **PARQUET[kind])
    counts, read = counted(tmp_path / "cohort.csv", cluster="patient")
    assert counts.to_csv() == direct(frame, cluster="patient").to_csv()
    assert read.frame.column_names == ["died", "risk", "sex", "race", "patient"]
    assert read.sha256 == hashlib.sha256((tmp_path / "cohort.csv").read_bytes()).hexdigest()


@pytest.mark.parametrize(
    "dtype", [pa.large_string(), pa.string_view(), pa.binary(), pa.dictionary(pa.int8(), pa.string())]
)
def test_text_of_any_kind_in_parquet(tmp_path, dtype):
    """Also labels and scores that were stored as text."""
    frame = cohort()
    table = pa.Table.from_pandas(frame.assign(died=frame["died"].astype(str), risk=frame["risk"].astype(str)))
    for i, name in enumerate(table.column_names):
        if name in ("died", "risk", "sex", "race", "patient"):
            column = table.column(name).cast(pa.string())
            column = column.dictionary_encode() if pa.types.is_dictionary(dtype) else column.cast(dtype)
            table = table.set_column(i, name, column)
    pq.write_table(table, tmp_path / "cohort")
    assert counted(tmp_path / "cohort", cluster="patient")[0].to_csv() == direct(frame, cluster="patient").to_csv()


def test_types_stay_what_they_are_in_parquet(tmp_path):
    frame = cohort().astype({"risk": "float32", "died": bool}).assign(sex=lambda frame: frame["id"] % 3)
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "cohort")
    counts, read = counted(tmp_path / "cohort")
    assert counts.to_csv() == direct(frame).to_csv()
    assert counts.edges.dtypes == ("float32",)
    assert read.positive is None


def test_a_folder_of_parquet(tmp_path):
    frame = cohort()
    sums = ""
    for name, part in (("a.parquet", frame[:20]), ("sub/b.parquet", frame[20:])):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pq.write_table(pa.Table.from_pandas(part), tmp_path / name)
        sums += f"{hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()}  {name}\n"
    (tmp_path / "_SUCCESS").write_bytes(b"")
    (tmp_path / ".part.crc").write_bytes(b"x")
    counts, read = counted(tmp_path)
    assert counts.to_csv() == direct(frame).to_csv()
    assert read.rows == 60
    assert read.sha256 == hashlib.sha256(sums.encode()).hexdigest()


def test_partitions_are_columns_of_text(tmp_path):
    """``01`` stays ``01``, which Arrow and Spark read as 1; a value is unquoted, and the folder of missing ones is."""
    frame = cohort(words=["01", "1", "a b/c"])
    pq.write_to_dataset(pa.Table.from_pandas(frame), str(tmp_path / "all"), partition_cols=["race", "died"])
    assert counted(tmp_path / "all")[0].to_csv() == direct(frame).to_csv()
    frame.loc[3, "race"] = None
    pq.write_to_dataset(pa.Table.from_pandas(frame), str(tmp_path / "gap"), partition_cols=["race"])
    with bad("group 'race': 1 of 60 rows have no value"):
        counted(tmp_path / "gap")


def test_several_scores_and_clusters(tmp_path):
    frame = cohort().assign(other=lambda frame: 1 - frame["risk"])
    options = {"scores": ("risk", "other"), "cluster": "patient"}
    assert counted(put(tmp_path, text_of(frame)), **options)[0].to_csv() == direct(frame, **options).to_csv()


def test_a_group_may_be_the_unit(tmp_path):
    frame = cohort()
    options = {"by": ("patient",), "cluster": "patient"}
    assert counted(put(tmp_path, text_of(frame)), **options)[0].to_csv() == direct(frame, **options).to_csv()


def test_names_as_text_and_no_groups(tmp_path):
    path = put(tmp_path, text_of(cohort()))
    assert read_rows(path, label="died", scores="risk", by="sex").frame.column_names == ["died", "risk", "sex"]
    assert read_rows(str(path), label="died", scores="risk", by=[]).frame.column_names == ["died", "risk"]


@PROPERTY
@given(
    cells=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6), min_size=1, max_size=9),
    name=st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"), min_size=1, max_size=6),
    delimiter=st.sampled_from(",;\t|§"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_any_text_is_read_as_it_was_written(cells, name, delimiter, quoting):
    """Into a file by Python's writer, and back."""
    from tempfile import TemporaryDirectory

    if name in ("died", "risk"):
        name += "2"
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, quoting=quoting)
    writer.writerows([["died", "risk", name], *([k % 2, 0.25, cell] for k, cell in enumerate(cells))])
    with TemporaryDirectory() as folder:
        path = os.path.join(folder, "x")
        with open(path, "wb") as file:
            file.write(stream.getvalue().encode())
        read = read_rows(path, label="died", scores="risk", by=name, delimiter=delimiter)
    assert read.frame[name].to_pylist() == [cell or None for cell in cells]
    assert read.rows == len(cells)


@pytest.mark.parametrize("batch", [1, 2, 7, 59, 60, 61])
def test_batches_meet(tmp_path, monkeypatch, batch):
    monkeypatch.setattr(delimited, "BATCH", batch)
    frame = cohort()
    assert counted(put(tmp_path, text_of(frame)))[0].to_csv() == direct(frame).to_csv()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("chunk", [1, 2, 3, 64, 1000])
@pytest.mark.parametrize("written", ["utf-8-sig", "utf-16"])
def test_pieces_meet(tmp_path, monkeypatch, end, chunk, written):
    """A piece may end within a character, a quoted value, or between CR and LF."""
    monkeypatch.setattr("auditlib.reading.files.CHUNK", chunk)
    frame = cohort()
    path = put(tmp_path, text_of(frame, end=end, quoting=csv.QUOTE_ALL).encode(written))
    counts, read = counted(path)
    assert counts.to_csv() == direct(frame).to_csv()
    assert not any("blank line" in note for note in read.notes)


def test_digits_of_scores(tmp_path):
    """The nearest float to each text, as Python has it; pandas' fast parser is off by one bit for some."""
    picker = random.Random(3)
    cells = ["0." + "".join(picker.choices(string.digits, k=picker.randint(1, 25))) for _ in range(3000)]
    cells += ["1e-3", "1E-3", "+0.5", ".5", "1.", "0", "00.50", " 0.5 ", "-0.0", "5e-324", "1e-400"]
    assert values(tmp_path, "risk", cells).frame["risk"].to_pylist() == [float(cell) for cell in cells]


def test_arrow_reads_no_number_that_we_do_not():
    """The fast way and the slow one agree, also on what is no number."""
    picker, read = random.Random(1), 0
    for _ in range(10_000):
        cell = "".join(picker.choices("0123456789.eE+-_ xinfaN,\t", k=picker.randint(1, 7)))
        floats = _plain_floats(pa.chunked_array([pa.array([cell])]))
        if floats is not None:
            assert floats.to_pylist() == [number(cell)]
            read += 1
    assert read > 500


# -- the notes, the hash, the delimiter --------------------------------------------------------------------------


def test_words_for_missing_are_groups_with_a_note(tmp_path):
    cells = ["NA", "NA", "NaN", "null", "None", "?", "x", "n/a", "."]
    read = values(tmp_path, "race", cells)
    assert read.frame["race"].to_pylist() == cells
    assert read.notes[0] == "The value 'NA' in 'race' was taken as a group of its own (2 rows)."
    assert set(read.notes[1:]) == {
        f"The value {word!r} in 'race' was taken as a group of its own (1 row)." for word in {*cells} - {"NA", "x"}
    }


def test_ten_notes_at_most(tmp_path):
    assert len(values(tmp_path, "race", [" " * k for k in range(1, 30)]).notes) == 10


def test_an_empty_field_is_missing(tmp_path):
    for column, said in (("died", "label"), ("risk", "score"), ("race", "group")):
        for empty in ("", '""'):
            cells = dict.fromkeys(("died", "risk", "race", "sex"), "1") | {column: empty}
            lines = [",".join(cells), "1,1,1,1", ",".join(cells.values())]
            with bad(f"{said} '{column}': 1 of 2 rows have no value"):
                counted(put(tmp_path, "\n".join(lines)))


def test_a_row_of_delimiters_is_a_row(tmp_path):
    """Spreadsheets write them below the table; they are counted as missing, not passed over."""
    with bad("label 'died': 2 of 3 rows have no value"):
        counted(put(tmp_path, "died,risk,sex,race\n1,0.5,F,A\n,,,\n,,,\n"))


def test_blank_lines(tmp_path):
    text = "\n\ndied,risk,sex,race\n1,0.5,F,A\n\n\n0,0.5,F,A\n\n"
    read = read_rows(put(tmp_path, text), **ASKED)
    assert read.rows == 2
    assert read.notes == ("2 blank lines were passed over.",)
    assert read_rows(put(tmp_path, text.replace("\n\n\n", "\n")), **ASKED).notes == ()


def test_excel_names_the_delimiter_itself(tmp_path):
    text = "sep=;\r\ndied;risk;sex;race\r\n1;0,5;F;A\r\n"
    assert read_rows(put(tmp_path, text), **ASKED).frame["risk"].to_pylist() == [0.5]
    with bad("line 4: 3 fields"):
        read_rows(put(tmp_path, text + "1;2;3\r\n"), **ASKED)


def test_the_delimiter_is_the_one_that_gives_the_names(tmp_path):
    """More commas than semicolons in the first line, and names with commas."""
    text = 'a,b,c,d,e;died;"risk, of death";sex\n1;1;0,5;F\n'
    read = read_rows(put(tmp_path, text), label="died", scores="risk, of death", by="sex")
    assert read.frame["risk, of death"].to_pylist() == [0.5]


@pytest.mark.parametrize("spelled", ["\t", "tab", "\\t"])
def test_a_tab_can_be_spelled(tmp_path, spelled):
    read = read_rows(put(tmp_path, "died\trisk\tsex\trace\n1\t0.5\tF,G\tA\n"), **ASKED, delimiter=spelled)
    assert read.frame["sex"].to_pylist() == ["F,G"]


@pytest.mark.parametrize("delimiter", ["", ",,", "a", "1", '"', "\n", "\0", 3])
def test_what_cannot_be_a_delimiter(tmp_path, delimiter):
    with bad("cannot separate fields"):
        read_rows(put(tmp_path, "x"), **ASKED, delimiter=delimiter)


@pytest.mark.parametrize(
    "encoding", ["nonsense", "base64", "rot13", "idna", "punycode", "unicode_escape", "undefined", "", "a\0b", 8]
)
def test_what_is_no_encoding(tmp_path, encoding):
    with bad("is no encoding that is known"):
        read_rows(put(tmp_path, "x"), **ASKED, encoding=encoding)


def test_a_large_file_shows_a_bar(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(rows, "SHOW_PROGRESS", 10)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    read_rows(put(tmp_path, text_of(cohort())), **ASKED)
    captured = capsys.readouterr()
    assert "cohort.csv" in captured.err
    assert captured.out == ""


def test_a_column_may_be_called_like_a_magic_number(tmp_path):
    """PAR1 is a receptor, and the beginning of a Parquet file."""
    text = "PAR1,died,risk,sex,race\n1,1,0.5,F,A\n"
    assert read_rows(put(tmp_path, text), **ASKED).rows == 1
    assert read_rows(put(tmp_path, text.replace("PAR1", "BZh9")), **ASKED).rows == 1


# -- labels ------------------------------------------------------------------------------------------------------

LABELS = {
    "0/1": (["0", "1", "1"], [0, 1, 1]),
    "floats": (["0.0", "1.0", "1.00"], [0, 1, 1]),
    "other spellings": (["+0", " 1 ", "1e0"], [0, 1, 1]),
    "boolean": (["False", "True", "true"], [False, True, True]),
    "capitals": (["FALSE", "TRUE", "tRuE"], [False, True, True]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_that_need_no_positive(tmp_path, kind):
    cells, expected = LABELS[kind]
    read = values(tmp_path, "died", cells)
    assert read.frame["died"].to_pylist() == expected
    assert read.positive is None
    counts = al.count(read.frame, label="died", score="risk", by="sex")
    assert counts.at(0)["tp"].item() == 2
    assert counts.positive == ("True" if isinstance(expected[0], bool) else "1")


POSITIVES = {
    "number": (["1", "1.0", "2", "0"], "1", [1, 1, 2, 0], 1),
    "number with a point": (["1", "1.0", "2", "0"], "1.0", [1, 1, 2, 0], 1),
    "half": (["0.5", ".50", "2", "0"], "0.5", [0.5, 0.5, 2, 0], 0.5),
    "boolean": (["TRUE", "True", "FALSE", "FALSE"], "true", [True, True, False, False], True),
    "false counts": (["TRUE", "True", "FALSE", "FALSE"], "False", [True, True, False, False], False),
    "text": (["<30", "<30", ">30", "NO"], "<30", ["<30", "<30", ">30", "NO"], "<30"),
    "formula": (["=1+1", "=1+1", "x", "y"], "=1+1", ["=1+1", "=1+1", "x", "y"], "=1+1"),
    "text and number": (["1", "1", "2.0", "yes"], "1", ["1", "1", "2.0", "yes"], "1"),
    "too large for floats": (
        ["9007199254740993", "9007199254740993", "9007199254740992", "0"],
        "9007199254740993",
        ["9007199254740993", "9007199254740993", "9007199254740992", "0"],
        "9007199254740993",
    ),
    "a word for missing that is named": (["None", "None", "x", "y"], "None", ["None", "None", "x", "y"], "None"),
}


@pytest.mark.parametrize("kind", POSITIVES)
def test_labels_with_positive(tmp_path, kind):
    cells, positive, expected, found = POSITIVES[kind]
    read = values(tmp_path, "died", cells, positive=positive)
    assert read.frame["died"].to_pylist() == expected
    assert read.positive == found
    assert type(read.positive) is type(found)
    counts = al.count(read.frame, label="died", score="risk", by="sex", positive=read.positive)
    assert counts.at(0)["tp"].item() == 2


@pytest.mark.parametrize(
    ("cells", "positive", "said"),
    [
        (["1", "1", "1.0", "yes"], "1", r"'1.0' \(1 rows\) would count as no outcome beside '1' \(2 rows\)"),
        (["yes", "YES", "yes ", "no"], "yes", r"'YES' \(1 rows\), 'yes ' \(1 rows\) would count"),
        (["1", "TRUE", "0", "FALSE"], "1", r"'TRUE' \(1 rows\)"),
        (["TRUE", "true", "FALSE", "no"], "TRUE", r"'true' \(1 rows\)"),
        (["e\u0301", "\u00e9", "x", "x"], "\u00e9", r"\(1 rows\) would count as no outcome"),
    ],
)
def test_labels_that_say_the_same(tmp_path, cells, positive, said):
    with bad(f"label 'died': .*{said}"):
        values(tmp_path, "died", cells, positive=positive)


def test_a_label_of_dates(tmp_path):
    days = pa.array([date(2020, 1, day) for day in (1, 2, 2, 3)])
    table = pa.table({"died": days, "risk": [0.1, 0.2, 0.3, 0.4], "sex": list("aabb"), "race": list("aabb")})
    pq.write_table(table, tmp_path / "d.parquet")
    with bad(r"label 'died' has type date32\[day\], of which positive= \(--positive\) can name no value; write"):
        read_rows(tmp_path / "d.parquet", **ASKED, positive="2020-01-02")


@pytest.mark.parametrize("kind", ["number", "half", "boolean", "text"])
def test_labels_in_parquet_and_text_give_one_table(tmp_path, kind):
    cells, positive, typed, _ = POSITIVES[kind]
    frame = pd.DataFrame({"died": typed, "risk": 0.5, "sex": "F", "race": "A"})
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "cohort")
    text = put(tmp_path, text_of(frame.assign(died=cells)))
    one, two = counted(tmp_path / "cohort", positive=positive)[0], counted(text, positive=positive)[0]
    assert one.to_csv() == two.to_csv()


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["yes", "no"], r"label 'died' holds 'no', 'yes', not 0 and 1 or true and false; .*positive= \(--positive\)"),
        (["0", "1", "2"], r"holds '0', '1', '2', not 0 and 1"),
        (["1", "true"], r"holds '1', 'true', not 0 and 1"),
        ([f"v{k:02}" for k in range(12)], r"holds 'v00', .*'v09' and 2 more, not"),
        (
            ["1", "NA", "NA", "?"],
            r"3 of 4 rows hold 'NA' \(2\), '\?' \(1\); missing labels are never filled",
        ),
        (["1", " ", "0"], r"label 'died': 1 of 3 rows hold ' ' \(1\); missing labels"),
        (["1", "nan"], "missing labels are never filled"),
        (["1", "1_0"], "holds '1', '1_0', not 0 and 1"),
        (["1", "١"], "not 0 and 1"),
        (["1", "inf"], "not 0 and 1"),
    ],
)
def test_labels_that_are_refused(tmp_path, cells, said):
    with bad(said):
        values(tmp_path, "died", cells)


@pytest.mark.parametrize(
    ("cells", "positive", "said"),
    [
        (
            ["yes", "no"],
            "Yes",
            r"positive='Yes'; the values are 'no', 'yes'; did you mean 'yes'\?",
        ),
        ([" yes", "no"], "yes", r"did you mean ' yes'\?"),
        (["0", "1"], "2", r"no row has the value positive='2'; the values are '0', '1'\."),
        (["0", "1"], "yes", "no row has the value"),
        (["TRUE", "FALSE"], "1", "no row has the value"),
        (["TRUE", "TRUE"], "false", "no row has the value"),
        (["yes", "NA"], "yes", r"1 of 2 rows hold 'NA' \(1\); missing labels are never filled"),
        (["", ""], "yes", "no row has a value"),
        ([f"v{k:02}" for k in range(12)], "x", r"'v09' and 2 more"),
    ],
)
def test_a_positive_that_no_row_has(tmp_path, cells, positive, said):
    with bad(said):
        values(tmp_path, "died", cells, positive=positive)


@pytest.mark.parametrize(("cells", "said"), [([1, 0], "'0', '1'"), ([True, False], "'False', 'True'")])
def test_a_positive_that_no_row_of_parquet_has(tmp_path, cells, said):
    frame = pd.DataFrame({"died": cells, "risk": 0.5, "sex": "F", "race": "A"})
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "cohort")
    with bad(f"label 'died': no row has the value positive='yes'; the values are {said}"):
        counted(tmp_path / "cohort", positive="yes")
    with bad("label 'died': no row has the value positive="):
        counted(tmp_path / "cohort", positive="7")


# -- scores ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (
            ["0.5", "NA", "NA", "?"],
            r"3 of 4 rows hold no number but 'NA' \(2\), '\?' \(1\); missing scores",
        ),
        (["0.5", "NaN"], "missing scores are never filled"),
        (["0.5", "high"], r"1 of 2 rows are no numbers: 'high' \(1\)\."),
        (["0.5", "inf"], r"no numbers: 'inf'"),
        (["0.5", "1_0"], r"no numbers: '1_0'"),
        (["0.5", "0x1"], r"no numbers: '0x1'"),
        (["0.5", "٠.٥"], "no numbers"),
        (["50%", "20%"], r"2 of 2 rows are no numbers: '20%' \(1\), '50%' \(1\); divide percentages by 100"),
        (["0,5", "0,25"], "a decimal comma is read only where the delimiter is another one"),
        (["risk"], r"no numbers: 'risk'"),
        ([f"w{k}" for k in range(12)], "and 2 more"),
    ],
)
def test_scores_that_are_refused(tmp_path, cells, said):
    with bad(said):
        values(tmp_path, "risk", cells)


@pytest.mark.parametrize("cells", [["0,5", "0.25"], ["1.000,5", "0,5"], ["0,5", "high"]])
def test_a_decimal_comma_is_read_only_where_every_score_has_it(tmp_path, cells):
    with bad("a decimal comma is read only where every score has it|no numbers"):
        values(tmp_path, "risk", cells, text={"delimiter": ";"})


@pytest.mark.parametrize("cells", [["50", "20"], ["1.5", "100"], ["1e999", "0.5"]])
def test_percentages_are_refused_by_count(tmp_path, cells):
    read = values(tmp_path, "risk", cells)
    with bad("lie outside 0–1; .* Divide percentages by 100"):
        al.count(read.frame, label="died", score="risk", by="sex")


# -- units -------------------------------------------------------------------------------------------------------


def test_a_word_for_missing_is_no_unit(tmp_path):
    """All patients without a number would be one patient."""
    path = put(tmp_path, "died,risk,sex,id\n1,0.5,F,NA\n0,0.5,F,NA\n0,0.5,F,7\n")
    with bad(r"cluster 'id': 2 of 3 rows hold 'NA' \(2\), and would be taken for one unit"):
        read_rows(path, label="died", scores="risk", by="sex", cluster="id")


# -- real records ------------------------------------------------------------------------------------------------


@pytest.mark.skipif("AUDITLIB_DATA" not in os.environ, reason="AUDITLIB_DATA is not set")
def test_diabetes130_from_its_zip_member(tmp_path):
    """A real table: 101,766 encounters, `?` for a missing race."""
    with zipfile.ZipFile(os.path.join(os.environ["AUDITLIB_DATA"], "diabetes130.zip")) as archive:
        member = next(name for name in archive.namelist() if name.endswith("diabetic_data.csv"))
        frame = pd.read_csv(io.BytesIO(archive.read(member)), dtype=str, keep_default_na=False)
    frame = frame[["patient_nbr", "race", "gender", "age", "weight", "time_in_hospital", "readmitted"]]
    frame["risk"] = (frame["time_in_hospital"].astype(int) / 14).round(3)
    options = {"label": "readmitted", "by": ("gender", "race"), "cluster": "patient_nbr"}
    counts, read = counted(put(tmp_path, gzip.compress(text_of(frame, ";").encode(), 1)), positive="<30", **options)
    assert same(counts, direct(frame, positive="<30", **options))
    assert read.notes == ("The value '?' in 'race' was taken as a group of its own (2,273 rows).",)
    assert int(counts.by("race").at(0)["tp"].sum()) == 11_357
