"""Writing: only where a table may stand, readable by those who could before, and errors that say why not."""

import errno
import os
import stat
from dataclasses import replace

import pytest

import auditlib as al
from tests.unit.frames import cohort, count, same


@pytest.fixture(scope="module")
def counts():
    return count(cohort(60))


def bad(said):
    return pytest.raises(al.AuditInputError, match=said)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_links_stay_and_what_they_point_to_is_written(counts, tmp_path):
    (tmp_path / "real.csv").write_text("before")
    for link, target in (("link", "real.csv"), ("dangling", "new.csv")):
        (tmp_path / link).symlink_to(tmp_path / target)
        counts.to_csv(tmp_path / link)
        assert (tmp_path / link).is_symlink()
        assert same(al.Counts.read_csv(tmp_path / target), counts)
    assert sorted(os.listdir(tmp_path)) == ["dangling", "link", "new.csv", "real.csv"]


def test_what_is_no_ordinary_file_is_not_replaced(counts, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "folder").mkdir()
    for name, said in {"fifo": "no ordinary file", "link": "no ordinary file", "folder": "a folder"}.items():
        with bad(f"is {said}, and would be lost; name a file"):
            counts.to_csv(tmp_path / name)
    with bad("loop': cannot be written"):
        counts.to_csv(tmp_path / "loop")
    assert stat.S_ISFIFO((tmp_path / "fifo").stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["fifo", "folder", "link", "loop"]


def test_who_may_read_it(counts, tmp_path):
    old = os.umask(0o027)
    try:
        counts.to_csv(tmp_path / "new.csv")
        (tmp_path / "old.csv").write_text("before")
        for kept in (0o600, 0o664):
            os.chmod(tmp_path / "old.csv", kept)
            counts.to_csv(tmp_path / "old.csv")
            assert mode(tmp_path / "old.csv") == kept
    finally:
        os.umask(old)
    assert mode(tmp_path / "new.csv") == 0o640


def test_long_names_that_are_allowed(counts, tmp_path):
    counts.to_csv(tmp_path / ("x" * 250 + ".csv"))
    with bad("cannot be written"):
        counts.to_csv(tmp_path / ("x" * 300))


@pytest.mark.parametrize("path", [5, "", b"x.csv", ["x.csv"]], ids=str)
def test_what_is_no_path(counts, path):
    with bad("to_csv takes the path of a file, not "):
        counts.to_csv(path)


def test_paths_that_cannot_be(counts, tmp_path):
    (tmp_path / "file").write_text("before")
    for path in ("a\0b", "\ud800"):
        with bad("cannot be written"):
            counts.to_csv(path)
    with bad("file' is not a folder; make it before writing 'x.csv'"):
        counts.to_csv(tmp_path / "file" / "x.csv")


def test_a_full_disk_leaves_nothing(counts, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with bad(r"x.csv': cannot be written \(No space left on device\)"):
        counts.to_csv(tmp_path / "x.csv")
    assert os.listdir(tmp_path) == []


def test_provenance_that_json_cannot_hold(counts, tmp_path):
    circle = {}
    circle["itself"] = circle
    for value in ({(1, 2): 3}, circle):
        with bad("the provenance cannot be written as JSON"):
            counts.with_provenance(a=value).to_csv(tmp_path / "x.csv")
    half = "\ud800"
    for table in (counts.with_provenance(a=half), replace(counts, label=half), replace(counts, positive=half)):
        with bad("half a character .a surrogate., which cannot be written as text"):
            table.to_csv()
    assert os.listdir(tmp_path) == []
