"""The tool that runs the chapters: what it runs again, and what it does when a cell fails."""

import json
import os
import re
import shutil
import sys

import pytest

from tools import chapters
from tools.accessible import mend
from tools.chapters import ROOT, execute, is_notebook, main, pages

FRONT = "---\nkernelspec:\n  display_name: Python 3\n  language: python\n  name: python3\n---\n\n# A page\n\n"


def cell(code):
    return FRONT + f"```{{code-cell}} python3\n{code}\n```\n"


@pytest.fixture
def root(tmp_path):
    """A book of one plain page and one notebook."""
    (tmp_path / "_toc.yml").write_text(
        "format: jb-book\nroot: intro\nparts:\n- caption: One\n  chapters:\n  - file: chapters/01-one\n"
    )
    (tmp_path / "_config.yml").write_text("title: T\nsphinx: {config: {}}\n")
    (tmp_path / "references.bib").touch()
    for folder in ("_static", "chapters", "auditlib", "data/counts", "tools"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "tools" / "accessible.py", tmp_path / "tools")
    (tmp_path / "intro.md").write_text("# Plain\n")
    (tmp_path / "chapters" / "01-one.md").write_text(cell("print(6 * 7)"))
    return tmp_path


def test_pages_come_from_the_table_of_contents(root):
    assert pages(root) == ["intro", "chapters/01-one"]
    assert [is_notebook(root / f"{page}.md") for page in pages(root)] == [False, True]


def test_a_notebook_runs_again_only_when_something_it_depends_on_changed(root, monkeypatch):
    ran = []
    real = chapters.run
    monkeypatch.setattr(chapters, "run", lambda book, page, key: ran.append(page) or real(book, page, key))
    (first,) = execute(root, root / "build", jobs=1)
    assert first.ok
    assert first.collected == 1
    assert first.seconds > 0
    assert first.peak_mb > 20
    made = json.loads((root / "build/book/chapters/01-one.ipynb").read_text())
    assert "42" in str(made["cells"][-1]["outputs"])
    (again,) = execute(root, root / "build", jobs=1)
    assert again == first
    assert len(ran) == 1
    assert (root / "build/book/chapters/01-one.ipynb").exists()
    (root / "data/counts/table.csv").write_text("n\n1\n")
    execute(root, root / "build", jobs=1)
    assert len(ran) == 2


def test_a_failing_cell_is_shown_and_fails(root, monkeypatch, capsys):
    (root / "chapters" / "01-one.md").write_text(cell("one = 1\nraise ZeroDivisionError('seen by the reader')"))
    monkeypatch.setattr(chapters, "ROOT", root)
    monkeypatch.setattr(sys, "argv", ["chapters.py", "--out", str(root / "build"), "--jobs", "1"])
    assert main() == 1
    shown = capsys.readouterr().out
    assert "FAILED" in shown
    assert "ZeroDivisionError" in shown
    assert "seen by the reader" in shown


def test_a_notebook_that_was_not_collected_fails(root, monkeypatch):
    monkeypatch.setattr(chapters, "ROOT", root)
    monkeypatch.setattr(chapters, "run", lambda book, page, key: chapters.Run(page, key, 1.0, 1.0, 1, 0, ok=False))
    monkeypatch.setattr(sys, "argv", ["chapters.py", "--out", str(root / "build")])
    assert main() == 1


def test_the_kernel_counts_towards_the_peak(root):
    (root / "chapters" / "01-one.md").write_text(cell("len(bytearray(400 * 2**20))"))
    (run,) = execute(root, root / "build", jobs=1)
    assert run.peak_mb > 400


def test_maths_is_self_hosted_where_it_was_fetched(root):
    (root / "vendor" / "mathjax").mkdir(parents=True)
    (root / "vendor" / "mathjax" / "tex-chtml-full.js").touch()
    book = root / "build" / "book"
    chapters.lay_out(root, book)
    assert (book / "extra/vendor/mathjax/tex-chtml-full.js").exists()
    assert "mathjax_path: ../vendor/mathjax" in (book / "_config.yml").read_text()


def test_mended_html_keeps_its_text():
    html = '<div role="list" class="citation-list"><p role="doc-biblioentry">A</p></div> <th> </th><th>n</th>'
    assert re.sub("<[^>]+>", "", mend(html)).split() == ["A", "n"]
    assert "doc-" not in mend(html)


def test_a_folder_of_records_that_is_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("AUDITLIB_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(SystemExit, match="names no folder"):
        chapters.records()


def test_a_relative_folder_of_records_is_made_absolute(monkeypatch, tmp_path):
    (tmp_path / "cohorts").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUDITLIB_DATA", "cohorts")
    chapters.records()
    assert os.environ["AUDITLIB_DATA"] == str((tmp_path / "cohorts").resolve())
    (tmp_path / "cohorts" / "diabetes130.zip").touch()
    assert "diabetes130" in chapters.records()


def test_a_notebook_says_where_its_text_is_to_be_read(root, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import notebooks

    monkeypatch.setattr(notebooks, "ROOT", root)
    (root / "requirements.txt").write_text("myst-nb==1.2.3  # glue\n")
    (root / "_config.yml").write_text(
        "repository: {url: https://example.org/book, branch: shown}\nhtml: {baseurl: https://example.org/site/}\n"
    )
    notebooks.main()
    first, second, *_ = json.loads((root / "chapters" / "01-one.ipynb").read_text())["cells"]
    assert first["cell_type"] == "markdown"
    assert "[This page](https://example.org/site/chapters/01-one.html)" in "".join(first["source"])
    assert "[Is that gap real?](https://example.org/book)" in "".join(first["source"])
    assert "written for the book's site" in "".join(first["source"])
    assert '"--branch=shown", "https://example.org/book"' in "".join(second["source"])
    assert '"myst-nb==1.2.3"' in "".join(second["source"])
