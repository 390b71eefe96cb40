"""The fuzzer of the parsers in a short form: same seed, same inputs, and it does find what is broken."""

import random
from collections import Counter

import pytest

import auditlib as al
from auditlib.studies import study_table
from tests.studies import fuzz_inputs, fuzz_parsers
from tests.studies.__main__ import STUDIES
from tests.studies.fuzz_parsers import KINDS, Found


@pytest.fixture(scope="module")
def table():
    return fuzz_parsers.study(100, seed=11).set_index("kind")


def test_every_kind_is_both_read_and_refused(table):
    """An input that is always refused, or never, would show nothing."""
    assert list(table.index) == list(KINDS)
    assert (table["inputs"] == 100).all()
    assert (table["read"] + table["refused"] == 100).all()
    assert (table["read"] >= 5).all()
    assert (table["refused"] >= 5).all()


def test_the_full_study():
    """The committed table: 10,000 inputs of every kind, each read or refused in one line."""
    assert STUDIES["fuzz_parsers"] is fuzz_parsers.run
    full = study_table("fuzz_parsers").set_index("kind")
    assert list(full.index) == list(KINDS)
    assert (full["inputs"] == 10_000).all()
    assert (full["read"] + full["refused"] == 10_000).all()
    assert (full[["read", "refused"]] > 100).all(axis=None)
    assert (full["memory"] == 0).all()


def test_one_seed_gives_the_same_inputs(tmp_path):
    for kind in KINDS:
        runs = [fuzz_parsers.inputs(kind, 3, tmp_path) for _ in range(2)]
        assert [next(runs[0]) for _ in range(30)] == [next(runs[1]) for _ in range(30)]


def test_what_is_written_whole_is_read(tmp_path, monkeypatch):
    """Where every cell is a good one, every layout is read."""
    asked = {"label": "died", "scores": "risk", "by": "sex", "cluster": None, "positive": None}
    monkeypatch.setattr(fuzz_inputs, "CELLS", ("1",))
    monkeypatch.setattr(fuzz_inputs, "LABELS", (("0", "1"),))
    monkeypatch.setattr(fuzz_parsers, "question", lambda *_: asked)
    draw = random.Random(5)
    assert Counter(fuzz_parsers.one("whole", draw, tmp_path) for _ in range(60)) == {"read": 60}


BROKEN = {
    "another error": lambda *_, **__: {}["x"],
    "a message of two lines": lambda *_, **__: (_ for _ in ()).throw(al.AuditInputError("a\nb")),
}


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("kind", KINDS)
def test_it_finds_what_is_broken(tmp_path, monkeypatch, how, kind):
    monkeypatch.setattr(fuzz_parsers, "read_rows", BROKEN[how])
    monkeypatch.setattr(al, "parse_confusion", BROKEN[how])
    with pytest.raises(Found, match=f"{kind}, seed 1, input 0: .*(KeyError|not one line)"):
        next(fuzz_parsers.inputs(kind, 1, tmp_path))


@pytest.mark.parametrize("kind", ["whole", "text"])
def test_it_finds_a_row_that_is_lost(tmp_path, monkeypatch, kind):
    real = fuzz_parsers.read_rows

    def losing(*given, **asked):
        read = real(*given, **asked)
        return type(read)(read.frame.slice(1), read.positive, read.notes, read.sha256) if read.rows > 1 else read

    monkeypatch.setattr(fuzz_parsers, "read_rows", losing)
    with pytest.raises(Found, match=r"rows, .* counted, .* written"):
        for _, _ in zip(range(500), fuzz_parsers.inputs(kind, 1, tmp_path), strict=False):
            pass


def test_it_finds_numbers_that_changed(tmp_path, monkeypatch):
    real = al.parse_confusion
    monkeypatch.setattr(al, "parse_confusion", lambda text: real(text) + 1)
    with pytest.raises(Found, match="read of"):
        for _, _ in zip(range(500), fuzz_parsers.inputs("confusion", 1, tmp_path), strict=False):
            pass


def test_rows_counted_without_the_parser():
    assert fuzz_parsers.lines_of(b"a,b\n1,2\r\n\r3,4") == 2
    assert fuzz_parsers.lines_of(b'a,b\n1,"2"\n') is None
    assert fuzz_parsers.lines_of(b"\xff") is None
