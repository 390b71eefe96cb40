"""What a release offers for download, made from a small repository and a small site."""

import gzip
import hashlib
import os
import subprocess
import tarfile

import pytest

from tests.book.conftest import ROOT
from tools import release
from tools.release import disagreements, main, newest, versions

CHANGES = """\
# Changelog

## 1.2.0 (2026-12-01)

- New: a page.
- Mended: a link.

## 1.1.0 (2026-01-01)

- Old.
"""
CITATION = 'cff-version: 1.2.0\nversion: "1.2.0"\ndate-released: 2026-12-01\n'
PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "auditlib"
version = "1.2.0"

[tool.setuptools]
packages = ["auditlib"]
"""


def git(root, *words):
    known = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *known, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A repository of one commit, with a built site and one file that is not committed."""
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    root = tmp_path / "book"
    (root / "auditlib").mkdir(parents=True)
    (root / "auditlib" / "__init__.py").write_text('__version__ = "1.2.0"\n')
    (root / "CHANGELOG.md").write_text(CHANGES)
    (root / "CITATION.cff").write_text(CITATION)
    (root / "pyproject.toml").write_text(PROJECT)
    (root / "run").write_text("#!/bin/sh\n")
    (root / "run").chmod(0o755)
    (root / ".gitignore").write_text("build/\ndist/\n")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "One", "--date", "2026-12-01T00:00:00Z")
    site = root / "build" / "site"
    (site / "_static").mkdir(parents=True)
    (site / "index.html").write_text("<p>A page</p>")
    (site / ".nojekyll").touch()
    (site / "_static" / "b.css").write_text("p {}")
    (root / "not-committed.md").write_text("x")
    return root


def made(root, out="dist"):
    assert main(["--root", str(root), "--out", str(root / out), "--tag", "v1.2.0"]) == 0
    return {path.name: path.read_bytes() for path in (root / out).iterdir()}


def members(path):
    with tarfile.open(path) as tar:
        return {member.name: member for member in tar.getmembers()}


def test_the_folder_holds_site_source_and_true_checksums(root, capsys):
    files = made(root)
    wheels = {"auditlib-1.2.0-py3-none-any.whl", "auditlib-1.2.0.tar.gz"} if release.can_build() else set()
    archives = {"auditlib-book-1.2.0-site.tar.gz", "auditlib-book-1.2.0-source.tar.gz"}
    assert files.keys() == archives | wheels | {"SHA256SUMS"}
    assert ("left out: wheel" in capsys.readouterr().err) == (not wheels)
    sums = dict(reversed(line.split("  ")) for line in files.pop("SHA256SUMS").decode().splitlines())
    assert sums == {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def test_checksums_are_in_the_form_that_sha256sum_reads(root):
    made(root)
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=root / "dist", check=True)
    (root / "dist" / "auditlib-book-1.2.0-site.tar.gz").write_bytes(b"other")
    assert subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=root / "dist").returncode == 1


def test_archives_hold_every_file_once_and_nothing_uncommitted(root):
    made(root)
    site = members(root / "dist" / "auditlib-book-1.2.0-site.tar.gz")
    assert list(site) == [f"auditlib-book-1.2.0-site/{name}" for name in (".nojekyll", "_static/b.css", "index.html")]
    source = members(root / "dist" / "auditlib-book-1.2.0-source.tar.gz")
    names = [".gitignore", "CHANGELOG.md", "CITATION.cff", "auditlib/__init__.py", "pyproject.toml", "run"]
    assert list(source) == [f"auditlib-book-1.2.0-source/{name}" for name in names]
    assert source["auditlib-book-1.2.0-source/run"].mode == 0o755
    assert source["auditlib-book-1.2.0-source/pyproject.toml"].mode == 0o644
    assert {member.uid for member in [*site.values(), *source.values()]} == {0}


def test_the_same_files_give_the_same_bytes_whenever_and_wherever_they_were_written(root):
    first = made(root)
    site = root / "build" / "site"
    for number, path in enumerate(site.rglob("*")):
        os.utime(path, (number * 1000, number * 1000))
        path.chmod(0o700)
    site.rename(root / "build" / "elsewhere")
    words = ["--root", str(root), "--site", str(root / "build" / "elsewhere"), "--out", str(root / "again")]
    assert main(words) == 0
    for name in ("auditlib-book-1.2.0-site.tar.gz", "auditlib-book-1.2.0-source.tar.gz"):
        assert (root / "again" / name).read_bytes() == first[name]


def test_another_page_gives_other_bytes(root):
    first = made(root)
    (root / "build" / "site" / "index.html").write_text("<p>Another</p>")
    name = "auditlib-book-1.2.0-site.tar.gz"
    assert made(root, "again")[name] != first[name]


def test_times_are_the_last_commits_or_what_the_environment_says(root, monkeypatch):
    committed = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=root, capture_output=True, check=True).stdout
    for seconds, out in ((int(committed), "dist"), (86_400, "again")):
        if out == "again":
            monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
        made(root, out)
        for path in (root / out).glob("auditlib-book-*.tar.gz"):
            assert {member.mtime for member in members(path).values()} == {seconds}
            with gzip.open(path) as packed:
                packed.read(1)
                assert packed.mtime == seconds


def test_the_pdf_joins_where_there_is_one(root, capsys):
    (root / "build" / "is-that-gap-real.pdf").write_bytes(b"%PDF-1.7")
    files = made(root)
    assert files["auditlib-book-1.2.0.pdf"] == b"%PDF-1.7"
    assert b"  auditlib-book-1.2.0.pdf\n" in files["SHA256SUMS"]
    (root / "build" / "draft.pdf").touch()
    assert main(["--root", str(root), "--out", str(root / "again")]) == 1
    assert "which is the book? draft.pdf, is-that-gap-real.pdf" in capsys.readouterr().err


def test_the_notes_are_the_versions_section_and_nothing_else(root, capsys):
    made(root)
    assert capsys.readouterr().out == "- New: a page.\n- Mended: a link.\n"


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("pyproject.toml", "1.2.0", "1.3.0", "versions differ: pyproject.toml 1.3.0, CITATION.cff 1.2.0"),
        ("CITATION.cff", 'version: "1.2.0"', "version: 1.2", "CITATION.cff 1.2,"),
        ("CITATION.cff", 'version: "1.2.0"\n', "", "CITATION.cff None"),
        ("CITATION.cff", "2026-12-01", "2026-12-02", "date-released is 2026-12-02, not 2026-12-01"),
        ("CITATION.cff", "date-released: 2026-12-01\n", "", "date-released is missing"),
        ("CHANGELOG.md", "## 1.2.0", "## 1.3.0", "CHANGELOG.md 1.3.0"),
        ("CHANGELOG.md", "(2026-12-01)", "(unreleased)", "1.2.0 has no date (unreleased)"),
        ("CHANGELOG.md", "## 1.2.0 (2026-12-01)", "## Next", "not of the form"),
        ("CHANGELOG.md", "## ", "### ", "not of the form"),
        ("auditlib/__init__.py", "1.2.0", "1.1.9", "auditlib 1.1.9"),
    ],
)
def test_each_disagreement_is_an_error(root, capsys, name, old, new, said):
    path = root / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert main(["--root", str(root), "--out", str(root / "dist"), "--tag", "v1.2.0"]) == 1
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.out == ""
    assert not (root / "dist").exists()


@pytest.mark.parametrize(("tag", "said"), [("v1.2.1", "tag 1.2.1"), ("1.2.0", "does not begin with v")])
def test_a_tag_that_does_not_fit_is_an_error(root, capsys, tag, said):
    assert main(["--root", str(root), "--tag", tag, "--check"]) == 1
    assert said in capsys.readouterr().err


def test_without_a_tag_an_unreleased_version_may_be_laid_out(root):
    (root / "CHANGELOG.md").write_text(CHANGES.replace("2026-12-01", "unreleased"))
    assert disagreements(root, None) == []
    assert main(["--root", str(root), "--out", str(root / "dist")]) == 0


def test_an_unbuilt_site_and_a_full_folder_are_named(root, capsys):
    assert main(["--root", str(root), "--site", str(root / "auditlib")]) == 1
    assert "no built site" in capsys.readouterr().err
    made(root)
    assert main(["--root", str(root)]) == 1
    assert "dist is not empty" in capsys.readouterr().err


def test_an_old_setuptools_or_none_leaves_the_wheel_out(monkeypatch):
    monkeypatch.setattr(release.importlib.metadata, "version", lambda name: "65.5.0")
    assert not release.can_build()
    monkeypatch.setattr(release.importlib.metadata, "version", lambda name: "84.2.1")
    assert release.can_build()


def test_this_books_versions_agree():
    assert disagreements(ROOT, None) == []
    assert set(versions(ROOT, None)) >= {"pyproject.toml", "CITATION.cff", "CHANGELOG.md"}
    assert len(newest(ROOT)[2]) > 200
