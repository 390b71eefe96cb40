"""The folder of an audit: whole or not at all, and never over what is not an earlier result."""

import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import auditlib as al
from auditlib.audits.shared import edge_of, shared_counts
from auditlib.card import folder as module
from auditlib.card.exchange import exchange
from auditlib.card.facts import small_cells
from auditlib.card.folder import as_json, files_named, files_of, write
from auditlib.card.summary import LONGEST, escaped, summary
from auditlib.errors import AuditInputError
from tests.unit.cards import CASE14, refused, rows, run

FILES = ["counts.csv", "figures", "result_card.html", "results.json", "summary.md"]


def bad(said):
    return pytest.raises(AuditInputError, match=said)


@pytest.fixture(scope="module")
def typed():
    return al.audit(CASE14, replicates=100)


@pytest.fixture(scope="module")
def counted():
    return al.audit(rows(600), label="died", score="risk", by=["sex", "ward"], site="hospital", replicates=100)


def held(folder):
    """Every file below a folder and its bytes, drafts and all."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


# -- what is in it ------------------------------------------------------------------------------------------------


def test_the_files(typed, counted, tmp_path):
    assert typed.write(tmp_path / "a") == tmp_path / "a"
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == FILES
    counted.write(tmp_path / "b")
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == sorted([*FILES, "counts-2.csv"])
    assert (tmp_path / "b" / "results.json").read_text(encoding="utf-8") == as_json(counted.results)
    assert json.loads((tmp_path / "b" / "results.json").read_bytes()) == counted.results
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_the_counts_are_cut_to_the_question(counted):
    tables = shared_counts(counted.results, counted.counts)
    assert {name: table.dims for name, table in tables.items()} == {
        "counts.csv": ("sex", "hospital"), "counts-2.csv": ("ward", "hospital"),
    }  # fmt: skip
    points = {line["threshold"] for line in counted.results["questions"]["thresholds"]["points"]}
    for table in tables.values():
        assert set(table.edges.lower) == points | {0.0}
        assert table.n_rows == 600
        assert table.provenance["threshold"] == counted.results["threshold"]["value"]


def test_an_edge_is_found_from_twelve_digits():
    counts = al.count(rows(100), label="died", score="risk", by="sex", bins=300)
    assert edge_of(counts, float(f"{1 / 300:.12g}")) == 1 / 300
    with bad("no edge at the threshold 0.0034"):
        edge_of(counts, 0.0034)


def test_a_formula_in_counts_is_kept_as_it_is(tmp_path):
    al.audit("=1+1:8,1,9,2; -x:7,2,8,3", replicates=100).write(tmp_path / "a")
    text = (tmp_path / "a" / "counts.csv").read_text(encoding="utf-8")
    assert "\n=1+1,1," in text
    assert al.Counts.read_csv(tmp_path / "a" / "counts.csv").groups["group"] == ("=1+1", "-x")


def test_half_a_character_is_refused_with_nothing_left(tmp_path):
    with bad("cannot be written"):
        al.audit("\ud800:8,1,9,2; B:7,2,8,3", replicates=100).write(tmp_path / "a")
    assert held(tmp_path) == {}


# -- the summary --------------------------------------------------------------------------------------------------


def test_the_summary_says_what_the_results_say(counted):
    text = summary(counted.results)
    for said in (counted.results["headline"], *counted.results["tiles"], *counted.results["caveats"]):
        assert escaped(said["text"]) in text
    assert "| M | " in text
    assert "By ward: " in text
    assert text.count("| EOD | ") == 1
    assert counted.results["made"] in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", "a\\|b"),
        ("`x`", "\\`x\\`"),
        ("[a](b)", "\\[a\\](b)"),
        ("<script>&amp;", "&lt;script&gt;&amp;amp;"),
        ("a\n| b\r\tc", "a \\| b c"),
        ("http://x.org www.x.org", "http:\\//x.org www\\.x.org"),
        ("$x$ *b* _i_ ~s~ #h a\\b", "\\$x\\$ \\*b\\* \\_i\\_ \\~s\\~ \\#h a\\\\b"),
        ("a\x1bb\u202ec", "a�b�c"),
        ("−3.3 (−5.0 to −1.0); 41%", "−3.3 (−5.0 to −1.0); 41%"),
    ],
)
def test_names_are_shown_as_they_are(text, shown):
    assert escaped(text) == shown


def test_the_summary_of_sixty_long_names_keeps_its_length():
    names = [f"`|*_{n}" + "`" * 300 for n in range(60)]
    text = ";".join(f"{name}:{9 + n},5,80,9" for n, name in enumerate(names))
    assert len(summary(al.audit(text, replicates=100).results)) <= LONGEST


def test_a_name_cannot_end_the_block_of_a_command(tmp_path, capsys):
    name = "a```\n# heading"
    run(capsys, "audit", "--confusion", "x:8,1,9,2; y:7,2,8,3", "--out", tmp_path / "a", "--quiet")
    results = json.loads((tmp_path / "a" / "results.json").read_bytes())
    results["follow_ups"][0]["command"] = f"auditlib audit '{name}'"
    lines = summary(results).splitlines()
    assert lines.count("   ````sh") == 1
    assert lines.count("   ````") == 1
    assert "   # heading'" in lines


# -- small cells --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cluster", [None, "patient"])
@pytest.mark.parametrize("by", ["sex", ["sex", "ward"]])
def test_every_file_gives_one_number_of_small_cells(tmp_path, cluster, by):
    """Card, summary, results, the header of counts.csv, and its lines; the counts before the cut have more."""
    asked = {"label": "died", "score": "risk", "by": by, "site": "hospital", "cluster": cluster, "replicates": 100}
    found = al.audit(rows(600), threshold=0.3, **asked)
    place = found.write(tmp_path / "a")
    text = {name: (place / name).read_text(encoding="utf-8") for name in FILES if "." in name}
    number = json.loads(text["results.json"])["input"]["small_cells"]
    frame = al.Counts.read_csv(place / "counts.csv").to_frame()
    lines = frame["n"] * frame["units"] if cluster else frame["n"]  # of a pattern that several patients have
    assert number == (lines < 5).sum() > 0
    assert json.loads(text["counts.csv"].splitlines()[1][2:])["small"] == number
    said = f"{number} lines of counts.csv hold fewer than 5 {'rows' if cluster else 'people'}: who knows these people"
    for name in ("result_card.html", "summary.md"):
        assert text[name].count(said) == 1
        assert text[name].count("Further tables say theirs in their headers (small).") == (by != "sex")
    assert number < found.counts.small_cells()


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (0, "No line of counts.csv holds fewer than 5 people."),
        (1, "1 line of counts.csv holds fewer than 5 people: who knows"),
    ],
)
def test_none_or_one_small_cell(typed, cells, said):
    held = {**typed.results, "input": {**typed.results["input"], "small_cells": cells}}
    assert small_cells(held).startswith(said)
    assert ("fewer than 5" in summary(held)) == bool(cells)


def test_small_cells_of_matrices():
    found = al.audit("A:4,5,45,10; B:20,10,60,3", replicates=100).results
    assert found["input"]["small_cells"] == 2


# -- where it may stand -------------------------------------------------------------------------------------------


def test_an_earlier_result_is_replaced_and_keeps_who_may_read_it(typed, counted, tmp_path):
    counted.write(tmp_path / "a")
    os.chmod(tmp_path / "a", 0o750)
    (tmp_path / "a" / ".DS_Store").write_bytes(b"x")
    (tmp_path / "a" / "validation_report.json").write_text("{}")
    typed.write(tmp_path / "a")
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == FILES
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o750
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_an_empty_folder_is_filled_and_a_link_followed(typed, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to("a")
    typed.write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == FILES


def spoil(folder, name, how):
    {
        "file": lambda: (folder / name).write_bytes(b"mine"),
        "folder": lambda: (folder / name).mkdir(),
        "gone": lambda: (folder / name).unlink(),
        "link": lambda: ((folder / name).unlink(missing_ok=True), (folder / name).symlink_to("/etc/hostname")),
    }[how]()


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("notes.txt", "file"), (".hidden", "file"), ("more", "folder"), ("figures/mine.png", "file"),
        ("figures/deeper", "folder"), ("results.json", "gone"), ("results.json", "file"), ("summary.md", "link"),
        ("counts-x.csv", "file"), ("counts-2.csv", "folder"), ("counts-2.csv", "file"), ("counts-77.csv", "file"),
        ("figures/mine.svg", "file"), ("figures/thresholds.svg", "file"), ("figures/chance.svg", "link"),
    ],
)  # fmt: skip
def test_what_is_not_ours_is_never_lost(typed, tmp_path, name, how):
    typed.write(tmp_path / "a")
    spoil(tmp_path / "a", name, how)
    before = held(tmp_path)
    with bad(f"holds '?(a )?{name}.*, which would be lost; name another folder" if how != "gone" else "and no results"):
        typed.write(tmp_path / "a")
    assert held(tmp_path) == before


def test_all_that_is_not_ours_is_named(typed, tmp_path):
    typed.write(tmp_path / "a")
    for name in ("counts-77.csv", "figures/mine.svg", "notes.txt", "z.txt", "zz.txt"):
        spoil(tmp_path / "a", name, "file")
    with bad("holds 'counts-77.csv', 'figures/mine.svg', 'notes.txt' and 2 more, which would be lost"):
        typed.write(tmp_path / "a")


def test_files_named_are_those_written(typed, counted):
    for audit in (typed, counted):
        assert files_named(audit.results) == list(files_of(audit))


def test_results_that_do_not_say_what_is_theirs(typed, tmp_path):
    typed.write(tmp_path / "a")
    (tmp_path / "a" / "results.json").write_text('{"schema": "auditlib-results 1"}')
    with bad("holds a results.json that does not say which files are its own, which would be lost"):
        typed.write(tmp_path / "a")


def test_results_of_something_else_are_not_ours(typed, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "results.json").write_text('{"schema": "another-results 1"}')
    with bad("holds a results.json of something else"):
        typed.write(tmp_path / "a")


def test_where_no_folder_can_be(typed, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")
    for place, said in {
        tmp_path / "file": "is a file, and would be lost",
        tmp_path / "file" / "a": "is not a folder; make it before writing 'a'",
        tmp_path / "no" / "a": "is not a folder; make it before writing 'a'",
        tmp_path / "loop": "cannot be written|is not a folder",
        ".": "is the folder you are in, or one around it",
        "..": "is the folder you are in, or one around it",
        "/": "is the folder you are in, or one around it",
        "": "must be a path",
        "a\0b": "cannot be written",
        "x" * 300: "cannot be written",
    }.items():
        with bad(said):
            typed.write(place)
    assert held(tmp_path) == {"file": b"mine"}


def test_the_input_is_never_in_the_folder_written(typed, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    typed.write("a")
    before = held(tmp_path)
    said = refused(capsys, "audit", "a/counts.csv", "--out", "a")
    assert "'a/counts.csv' lies in 'a', which would be replaced" in said
    (tmp_path / "data").mkdir()
    rows(50).to_csv("data/preds.csv")
    words = ["audit", "data/preds.csv", "--label", "died", "--score", "risk", "--by", "sex", "--out", "data"]
    assert "'data/preds.csv' lies in 'data'" in refused(capsys, *words)
    assert {name: text for name, text in held(tmp_path).items() if name.startswith("a/")} == before


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_where_nothing_may_be_written(typed, tmp_path, monkeypatch, code):
    def refuse(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(module.os, "mkdir", refuse)
    with bad(f"{os.strerror(code)}.; nothing was changed"):
        typed.write(tmp_path / "a")
    assert held(tmp_path) == {}


# -- failures in the middle ---------------------------------------------------------------------------------------


def fail_at(monkeypatch, number, error):
    """The numberth file that is written meets an error."""
    calls, real = [], open

    def opened(path, mode="r", **more):
        calls.append(path)
        if len(calls) == number:
            raise error
        return real(path, mode, **more)

    monkeypatch.setattr(module, "open", opened, raising=False)


@pytest.mark.parametrize("number", [1, 3, 6])
@pytest.mark.parametrize("earlier", [False, True])
def test_a_full_disk_leaves_what_was_there(typed, counted, tmp_path, monkeypatch, number, earlier):
    if earlier:
        counted.write(tmp_path / "a")
    before = held(tmp_path)
    fail_at(monkeypatch, number, OSError(errno.ENOSPC, "No space left on device"))
    with bad("No space left on device"):
        typed.write(tmp_path / "a")
    assert held(tmp_path) == before


def test_a_limit_on_the_size_of_files_leaves_what_was_there(tmp_path):
    """A real write that fails half way, in a process of its own."""
    code = (
        "import resource, sys, auditlib as al\n"
        f"found = al.audit({CASE14!r}, replicates=100)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "try: found.write(sys.argv[1])\n"
        "except al.AuditInputError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "a"], capture_output=True, text=True)
    assert "File too large); nothing was changed" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("earlier", [False, True])
def test_ctrl_c_while_writing_leaves_what_was_there(typed, counted, tmp_path, monkeypatch, earlier):
    if earlier:
        counted.write(tmp_path / "a")
    before = held(tmp_path)
    fail_at(monkeypatch, 4, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        typed.write(tmp_path / "a")
    assert held(tmp_path) == before


@pytest.mark.parametrize("swap", ["exchange", "two steps"])
def test_both_ways_to_replace(typed, counted, tmp_path, monkeypatch, swap):
    if swap == "two steps":
        monkeypatch.setattr(module, "exchange", lambda *_: False)
    counted.write(tmp_path / "a")
    typed.write(tmp_path / "a")
    assert held(tmp_path / "a").keys() == files_of(typed).keys()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_swap_that_fails_brings_the_old_result_back(typed, counted, tmp_path, monkeypatch):
    counted.write(tmp_path / "a")
    before, real = held(tmp_path), os.rename
    monkeypatch.setattr(module, "exchange", lambda *_: False)

    def rename(source, target):
        if Path(target).name == "a" and not Path(source).name.endswith("-old"):
            raise OSError(errno.EBUSY, "Device or resource busy")
        real(source, target)

    monkeypatch.setattr(module.os, "rename", rename)
    with bad("Device or resource busy"):
        typed.write(tmp_path / "a")
    assert held(tmp_path) == before


def test_what_cannot_be_exchanged(tmp_path):
    (tmp_path / "a").mkdir()
    assert not exchange(tmp_path / "a", tmp_path / "none")
    assert (tmp_path / "a").is_dir()


def test_somebody_who_comes_between_is_not_overwritten(typed, counted, tmp_path, monkeypatch):
    counted.write(tmp_path / "a")
    real = module._fill

    def fill(draft, texts):
        real(draft, texts)
        (tmp_path / "a" / "notes.txt").write_text("mine")

    monkeypatch.setattr(module, "_fill", fill)
    with bad("holds 'notes.txt', which would be lost"):
        typed.write(tmp_path / "a")
    assert (tmp_path / "a" / "notes.txt").read_text() == "mine"


KILLED = """
import os, sys, time
import auditlib as al
from auditlib.card import folder
found = al.audit({text!r}, replicates=100)
real = folder.{slow}
def slow(*words, **more):
    print("now", flush=True)
    time.sleep({before})
    done = real(*words, **more)
    print("done", flush=True)
    time.sleep(60)
    return done
folder.{slow} = slow
found.write(sys.argv[1])
"""


@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize(("slow", "until"), [("_fill", "done"), ("_move", "now"), ("_move", "done")])
def test_kill_9_leaves_nothing_or_a_whole_folder(counted, tmp_path, earlier, slow, until):
    target = tmp_path / "a"
    if earlier:
        counted.write(target)
    before = held(target) if earlier else {}
    code = KILLED.format(text=CASE14, slow=slow, before=60 if until == "now" else 0)
    with subprocess.Popen([sys.executable, "-c", code, target], stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            if line.strip() == until:
                break
        child.send_signal(signal.SIGKILL)
    if (slow, until) == ("_move", "done"):  # it stood already
        assert held(target).keys() == files_of(al.audit(CASE14, replicates=100)).keys()
        assert json.loads((target / "results.json").read_bytes())["kind"] == "confusion"
    elif earlier:
        assert held(target) == before
    else:
        assert not target.exists()
    for left in tmp_path.glob(".auditlib-*"):  # what a killed run leaves has a name of its own, and is no result
        shutil.rmtree(left)


def test_killed_again_and_again_at_any_moment(typed, counted, tmp_path):
    """What stands is the old result or the new one, whole, whenever the writer dies."""
    target = tmp_path / "a"
    code = (
        "import sys, auditlib as al\n"
        f"found = al.audit({CASE14!r}, replicates=100)\n"
        "other = al.audit('x:8,1,9,2; y:7,2,8,3', replicates=100)\n"
        "print('now', flush=True)\n"
        "while True:\n    found.write(sys.argv[1]); other.write(sys.argv[1])\n"
    )
    counted.write(target)
    for wait in (0.4, 0.9, 1.7):
        with subprocess.Popen([sys.executable, "-c", code, target], stdout=subprocess.PIPE, text=True) as child:
            child.stdout.readline()
            time.sleep(wait)
            child.send_signal(signal.SIGKILL)
        there = held(target)
        results = json.loads(there["results.json"])
        assert set(FILES) - {"figures"} <= set(there)
        assert f"{results['headline']['text'][:30]}" in there["summary.md"].decode().replace("\\", "")
        for left in tmp_path.glob(".auditlib-*"):
            shutil.rmtree(left)


def test_write_is_the_method(typed, tmp_path):
    assert held(write(typed, tmp_path / "a")) == held(typed.write(tmp_path / "b"))
