"""CSV, format 1: what is written comes back, and what was edited does not."""

import io
import json
import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import auditlib as al
from tests.unit.frames import PROPERTY, cohort, count, frames, read, same

KINDS = [
    {},
    {"bins": None},
    {"thresholds": [0.112, 1 / 3]},
    {"cluster": "patient"},
    {"score": ["p", "q"]},
    {"score": ["p", "q"], "cluster": "patient", "bins": None, "thresholds": [0.1 * 3]},
]
HOSTILE = [
    "a,b", '"', 'a "quoted" b', "new\nline", "\n", "crlf\r\nx", "\r", "😀", "NA", "NaN", "null", "None", "", " ",
    " lead", "=1+1", "@x", "-1", "01", "1.0", "1e5", "#", "# auditlib-counts 1", "\u2028", "\ufeff", "true",
    "\\", "\\n", "'", "\t",
]  # fmt: skip


def bad(said):
    return pytest.raises(al.AuditInputError, match=said)


def lines_of(text):
    return text.split("\n")


@pytest.fixture(scope="module")
def text():
    """Line 1 magic, 2 header, 3 columns, 4 … the table, the first three of which differ."""
    return count(cohort(60), by="sex", thresholds=[0.112]).with_provenance(seed=1).to_csv()


@pytest.fixture(scope="module")
def clustered():
    return count(cohort(60), by="sex", cluster="patient").to_csv()


# -- round trip --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@PROPERTY
@given(data=st.data())
def test_round_trip(dtype, data):
    frame = data.draw(frames(dtype=dtype))
    counts = count(frame, **data.draw(st.sampled_from(KINDS)))
    again = read(counts.to_csv())
    assert same(again, counts)
    assert again.to_csv() == counts.to_csv()
    assert same(again.by("sex").cut(0), counts.by("sex").cut(0))
    assert again.at(0.0).identical(counts.at(0.0))


def test_every_digit_of_a_score_comes_back():
    """pandas' own parser of decimals is off by one bit for some, such as 0.0652704164112913."""
    frame = cohort(2000)
    counts = count(frame, score="fine", bins=None)
    again = read(counts.to_csv())
    assert (again.edges.lower == counts.edges.lower).all()
    assert set(frame["fine"]) <= set(again.edges.lower.tolist())


@PROPERTY
@given(
    names=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8), min_size=2, unique=True),
    cluster=st.booleans(),
)
def test_any_text_names_a_group(names, cluster):
    rows = max(len(names), 6)
    frame = cohort(60).head(rows).assign(sex=[names[k % len(names)] for k in range(rows)])
    counts = count(frame, by="sex", **({"cluster": "patient"} if cluster else {}))
    assert same(read(counts.to_csv()), counts)


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_hostile_levels_through_a_file(options, tmp_path):
    frame = cohort(90, sex=[HOSTILE[k % len(HOSTILE)] for k in range(90)])
    counts = count(frame, **options)
    assert set(counts.groups["sex"]) == set(HOSTILE)
    counts.to_csv(tmp_path / "hostile.csv")
    assert same(al.Counts.read_csv(tmp_path / "hostile.csv"), counts)
    assert same(al.Counts.read_csv(str(tmp_path / "hostile.csv")), counts)
    with open(tmp_path / "hostile.csv", encoding="utf-8", newline="") as file:
        assert same(al.Counts.read_csv(file), counts)


@pytest.mark.parametrize("name", [*HOSTILE, "Unnamed: 0", "index", "p q", "bin2"])
def test_hostile_column_names(name):
    frame = cohort(60).rename(columns={"sex": name})
    for options in ({}, {"cluster": "patient"}):
        counts = count(frame, by=[name, "race"], **options)
        assert same(read(counts.to_csv()), counts)


@pytest.mark.parametrize("name", ["a,b", 'say "x"', "new\nline", "😀", "p q"])
def test_hostile_model_names(name):
    counts = count(cohort(60).rename(columns={"q": name}), score=["p", name])
    assert same(read(counts.to_csv()), counts)


@pytest.mark.parametrize("name", ["nul\0", "half \ud800"])
def test_names_that_text_cannot_hold(name, tmp_path):
    with bad("cannot be written as text; rename it"):
        count(cohort(60, sex=name)).to_csv(tmp_path / "x.csv")
    assert os.listdir(tmp_path) == []


def test_no_groups_nobody_cut():
    counts = count(cohort(), by=[])
    assert same(read(counts.to_csv()), counts)
    cut = count(cohort()).cut([0.2])
    assert same(read(cut.to_csv()), cut)
    with bad("auroc needs the score bins"):
        al.auroc(read(cut.to_csv()))
    nobody = count(cohort().query("sex == 'F' or race == 'A'")).sel(sex="M", race="B")
    assert read(nobody.to_csv()).n_rows == 0


def test_provenance_travels():
    facts = {
        "n": np.int64(3),
        "tau": np.float64(0.1),
        "grid": np.array([1, 2]),
        "day": pd.Timestamp("2020-01-01"),
        "é": "😀",
    }
    again = read(count(cohort()).with_provenance(**facts).to_csv())
    assert again.provenance == {"n": 3, "tau": 0.1, "grid": [1, 2], "day": "2020-01-01 00:00:00", "é": "😀"}
    assert read(again.to_csv()).provenance == again.provenance


def test_the_format(text):
    first, second, columns, *table = lines_of(text)
    header = json.loads(second.removeprefix("# "))
    assert first == "# auditlib-counts 1"
    assert columns == "sex,label,bin,n"
    assert header["label"] == "y"
    assert header["positive"] == "1"
    assert header["groups"] == {"sex": ["F", "M"]}
    assert (header["grid"], header["thresholds"], header["score_dtype"]) == (200, [0.112], ["float64"])
    assert (header["unit"], header["units"], header["rows"], header["models"]) == ("row", 60, 60, [])
    assert header["lines"] == len(table) - 1
    assert header["small"] == sum(int(line.rpartition(",")[2]) < 5 for line in table[:-1])
    assert header["provenance"] == {"seed": 1}
    assert table[-1] == ""  # a last line end


def test_the_format_of_clusters_and_models():
    text = count(cohort(60), by="sex", score=["p", "q"], cluster="patient").to_csv()
    assert lines_of(text)[2] == "pattern,units,sex,label,bin.p,bin.q,n"


def test_float32_is_written_as_the_decimal_it_was():
    frame = pd.DataFrame({"y": [1], "p": np.array([0.7], dtype="float32"), "sex": ["F"]})
    text = count(frame, by="sex", bins=None).to_csv()
    assert lines_of(text)[3] == "F,1,0.7,1"
    assert read(text).at(0.7)["tp"].item() == 1


def test_all_or_nothing(tmp_path, monkeypatch):
    counts = count(cohort())
    (tmp_path / "x.csv").write_text("before")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with bad(r"x.csv': cannot be written \(disk full\)"):
        counts.to_csv(tmp_path / "x.csv")
    assert os.listdir(tmp_path) == ["x.csv"]
    assert (tmp_path / "x.csv").read_text() == "before"
    with bad("is not a folder; make it before writing 'x.csv'"):
        counts.to_csv(tmp_path / "none" / "x.csv")


# -- what was edited ---------------------------------------------------------------------------------------------


def with_header(text, **changes):
    first, second, rest = text.split("\n", 2)
    header = json.loads(second.removeprefix("# ")) | changes
    return "\n".join([first, "# " + json.dumps({k: v for k, v in header.items() if v is not KeyError}), rest])


def with_line(text, number, *fields):
    """Line ``number`` with fields replaced from the right; None keeps one."""
    lines = lines_of(text)
    old = lines[number - 1].split(",")
    new = [
        was if now is None else str(now)
        for was, now in zip(old, [None] * (len(old) - len(fields)) + list(fields), strict=True)
    ]
    lines[number - 1] = ",".join(new)
    return "\n".join(lines)


def test_the_helpers_change_nothing_by_themselves(text):
    assert same(read(with_header(text)), read(text))
    assert with_line(text, 5, None) == text


@pytest.mark.parametrize(
    "changes",
    [
        {"label": "z"}, {"positive": "0"}, {"groups": {"sex": ["M", "F"]}}, {"groups": {"sex": ["F"]}},
        {"groups": {"sex": ["F", "M", "X"]}}, {"groups": {"sex": ["F", "M", "M"]}}, {"groups": {"gender": ["F", "M"]}},
        {"groups": ["sex"]}, {"groups": None}, {"grid": 400}, {"grid": 100}, {"grid": None}, {"grid": "x"}, {"grid": 0},
        {"kind": "cut"}, {"kind": "distinct"}, {"kind": "other"}, {"thresholds": [0.112, 0.3001]}, {"thresholds": []},
        {"thresholds": ["x"]}, {"thresholds": [2]}, {"thresholds": None}, {"score_dtype": ["float32"]},
        {"score_dtype": []}, {"models": ["a"]}, {"models": ["a", "b"]}, {"unit": "patient"}, {"units": 61},
        {"units": "60"}, {"rows": 59}, {"rows": "60"}, {"rows": None},
        {"lines": 1}, {"lines": "x"}, {"small": 0}, {"digest": ""}, {"digest": None},
        {"provenance": {"seed": 2}}, {"provenance": {}}, {"added": 1}, {"rows": KeyError}, {"digest": KeyError},
    ],
    ids=str,
)  # fmt: skip
def test_an_edited_header(text, changes):
    """An added threshold would give wrong counts at that threshold, so the header is covered by the digest too."""
    with bad("^the table: ") as error:
        read(with_header(text, **changes))
    assert any(word in str(error.value) for word in ("edited", "damaged", "header", "no edge")), error.value


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda t: with_line(t, 5, 7), "the table holds 66 units, but the header says 60; it was edited"),
        (lambda t: with_line(with_line(t, 4, 2), 5, 0), "line 5: n is '0', not a whole number of at least 1"),
        (lambda t: with_line(t, 5, -1), "line 5: n is '-1', not a whole number of at least 1"),
        (lambda t: with_line(t, 5, 1.5), "line 5: n is '1.5'"),
        (lambda t: with_line(t, 5, "x"), "line 5: n is 'x'"),
        (lambda t: with_line(t, 5, ""), "line 5: n is ''"),
        (lambda t: with_line(t, 5, "nan"), "line 5: n is 'nan'"),
        (lambda t: with_line(t, 5, "1e300"), "line 5: n is '1e\\+?300'"),
        (lambda t: with_line(t, 5, 2, None, None), "line 5: label is '2', not a whole number from 0 to 1"),
        (lambda t: with_line(t, 5, 1, None, None), "not what was written; it was edited"),
        (lambda t: with_line(t, 5, 0.999, None), "bin has 0.999, which is no edge of this table"),
        (lambda t: with_line(t, 5, 0.995, None), "not what was written; it was edited"),
        (lambda t: with_line(t, 5, "x", None), "damaged"),
        (lambda t: with_line(t, 5, "X", None, None, None), "sex has 'X', which the header lacks"),
        (lambda t: with_line(t, 5, "M", None, None, None), "not what was written; it was edited"),
        (lambda t: "\n".join([*lines_of(t)[:5], *lines_of(t)[6:]]), "lines, but the header counts .*; it was cut"),
        (lambda t: "\n".join([*lines_of(t)[:5], *lines_of(t)[4:]]), r"\d+ lines, but the header counts \d+"),
        (lambda t: "\n".join([*lines_of(t)[:5], lines_of(t)[4], *lines_of(t)[6:]]), "not what was written"),
        (lambda t: "\n".join([*lines_of(t)[:4], *lines_of(t)[5:3:-1], *lines_of(t)[6:]]), "not what was written"),
        (lambda t: "\n".join([*lines_of(t)[:4], "# note", *lines_of(t)[4:]]), "lines, but the header counts"),
        (lambda t: "\n".join([*lines_of(t)[:4], lines_of(t)[4] + ",9", *lines_of(t)[5:]]), "damaged"),
        (lambda t: "\n".join([*lines_of(t)[:4], "F,1", *lines_of(t)[5:]]), "line 5|no edge"),
        (lambda t: t.replace("sex,label", "gender,label"), r"the columns are \['gender', .*header asks for \['sex'"),
        (lambda t: t.replace("sex,label", "label,sex"), r"the columns are"),
        (lambda t: t.replace("counts 1", "counts 2"), r"first line must be '# auditlib-counts 1'"),
        (lambda t: t.replace("# {", "# ["), "line 2 is not '# ' and one JSON object"),
        (lambda t: t.partition("\n")[2], "first line must be"),
        (lambda t: "sex,label\nF,1\n", "first line must be"),
        (lambda t: "", "first line must be"),
        (lambda t: "# auditlib-counts 1\n# {}\n", "the header lacks label, positive"),
        (lambda t: "# auditlib-counts 1\n# " + "[" * 200_000 + "\n", "line 2 is not"),
        (lambda t: '# auditlib-counts 1\n# {"a": ' + "1" * 5000 + "}\n", "line 2 is not"),
        (lambda t: with_header(t, grid=10**9), "damaged: grid must be a whole number from 1 to 100,000"),
        (lambda t: with_header(t, groups=5), "damaged: the header or a line has not the form"),
        (lambda t: "# auditlib-counts 1\n# 3\n", "header|JSON"),
        (lambda t: "# auditlib-counts 1\n# []\n", "the header lacks"),
        (lambda t: t.replace("\n", "\r"), "first line must be"),
    ],
)  # fmt: skip
def test_an_edited_table(text, edit, said):
    assert edit(text) != text
    with bad("^the table") as error:
        read(edit(text))
    error.match(said)


def test_two_numbers_changed_so_that_the_totals_agree(text):
    n = [int(line.rpartition(",")[2]) for line in lines_of(text)[3:-1]]
    i, j = next((i, j) for i, a in enumerate(n) for j, b in enumerate(n) if a != b)
    with bad("the totals agree, but header or table is not what was written; it was edited"):
        read(with_line(with_line(text, i + 4, n[j]), j + 4, n[i]))


@pytest.mark.parametrize("step", range(1, 12))
def test_cut_short_anywhere(text, clustered, step):
    for whole in (text, clustered):
        with bad("^the table"):
            read(whole[: len(whole) * step // 12])
    with bad("^the table"):
        read("\n".join(lines_of(text)[:-2]) + "\n")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda t: t.replace("\n0,", "\n7,", 1), "patterns must be numbered 0, 1, 2"),
        (lambda t: "\n".join([*lines_of(t)[:3], *lines_of(t)[4:5], *lines_of(t)[3:4], *lines_of(t)[5:]]), "edited"),
        (lambda t: with_line(t, 4, 9, None, None, None, None), "but the header says|two numbers of units"),
        (lambda t: with_line(t, 4, 0, None, None, None, None), "line 4: units is '0'"),
        (lambda t: with_line(t, 4, -1, None, None, None, None, None), "line 4: pattern is '-1'"),
        (lambda t: with_line(t, 4, 2), "but the header says"),
    ],
)
def test_edited_patterns(clustered, edit, said):
    with bad(said):
        read(edit(clustered))


def test_two_numbers_of_units_in_one_pattern():
    frame = pd.DataFrame({"y": [0, 1], "p": [0.1, 0.2], "sex": "F", "patient": [1, 1]})
    text = count(frame, by="sex", cluster="patient").to_csv()
    with bad("one pattern has two numbers of units"):
        read(with_line(text, 4, 2, None, None, None, None))


def test_what_editors_do_harmlessly(text, tmp_path):
    """A byte-order mark, Windows line ends, a lost last line end, blank lines at the end."""
    for name, changed in {
        "bom": "\ufeff" + text, "crlf": text.replace("\n", "\r\n"), "no end": text[:-1], "blank": text + "\n\n",
        "both": "\ufeff" + text.replace("\n", "\r\n"),
    }.items():  # fmt: skip
        assert read(changed).to_csv() == text, name
        (tmp_path / name).write_bytes(changed.encode())
        assert al.Counts.read_csv(tmp_path / name).to_csv() == text, name


def test_windows_line_ends_with_newlines_in_names():
    counts = count(cohort(60, sex="a\nb"))
    assert same(read(counts.to_csv().replace("\n", "\r\n")), counts)


def test_what_is_no_table(text, tmp_path):
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 9)
    (tmp_path / "zeros").write_bytes(bytes(99))
    (tmp_path / "utf-16").write_bytes(text.encode("utf-16"))
    (tmp_path / "empty").write_bytes(b"")
    for name, said in {
        "binary": "not UTF-8 text, so not a count table",
        "zeros": "first line must be '# auditlib-counts 1'",
        "utf-16": "not UTF-8 text",
        "empty": "first line must be",
        "absent": "cannot be read .No such file or directory.",
        ".": "cannot be read .Is a directory.",
    }.items():
        with bad(said) as error:
            al.Counts.read_csv(tmp_path / name)
        assert str(tmp_path) in str(error.value)
    for thing in (io.BytesIO(text.encode()), 3, None, ["x"]):
        with bad(f"takes a path or an open text file, not {type(thing).__name__}"):
            al.Counts.read_csv(thing)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_saved_again_by_a_spreadsheet(text, mark):
    first, second, *rest = lines_of(text)
    other = [line.replace(",", mark) for line in rest]
    quoted = '"' + second.replace('"', '""') + '"'
    for changed in ([first + 3 * mark, quoted + 3 * mark, *other], [first, quoted, *other]):
        with bad("the table: a spreadsheet program has saved this table again and changed it"):
            read("\n".join(changed))
    if mark != ",":
        with bad("a spreadsheet program has saved this table again"):
            read("\n".join([first, second, *other]))


def test_a_path_that_cannot_be():
    for path in ("a\0b", "x" * 5000):
        with bad("cannot be read"):
            al.Counts.read_csv(path)
