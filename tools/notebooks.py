"""Write a notebook beside every MyST notebook of the book, for Binder and for the branch that the buttons open.

    python tools/notebooks.py

Colab opens a notebook without its repository, so each starts with a cell that fetches the book there, after one that
says where its text is to be read. Elsewhere that cell does nothing.

What it installs has the package's lower bounds, not this book's pins: Colab's own NumPy, pandas and Matplotlib are
loaded before the first cell, and where one is replaced Python has to be restarted, which the cell then asks for. Only
myst-nb, which Colab lacks, is pinned, and pandas stays below 3, with which xarray cannot join two lists of names
(chapter 4).
"""

from __future__ import annotations

import re

import jupytext
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell

from chapters import ROOT, is_notebook, pages

SITE = (
    "*[This page]({base}{page}.html) of [Is that gap real?]({url}), to be run. Its text is written for the book's "
    "site: the numbers inside sentences, references and citations show there alone, so keep that page open beside "
    "this one. Boxes and folded answers show in a JupyterLab with `jupyterlab-myst`, which Binder's has.*"
)
COLAB = """\
# On Colab only: fetch the book into the folder "book" and install it; a minute or two.
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

if "google.colab" in sys.modules and "auditlib" not in sys.modules:
    book = Path("book").resolve()
    clone = ["git", "clone", "--quiet", "--depth=1", "--branch={branch}", "{url}", str(book)]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--editable", f"{{book}}[widgets]"]
    pip += ["{myst_nb}", "pandas<3", "sympy"]
    for command in [pip] if (book / "pyproject.toml").exists() else [clone, pip]:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            what = "fetched" if command == clone else "installed"
            raise RuntimeError(f"The book was not {{what}}, so nothing below can run: {{done.stderr[-1000:]}}")
    loaded = [name for name in ("numpy", "pandas", "matplotlib") if name in sys.modules]
    if old := [name for name in loaded if sys.modules[name].__version__ != version(name)]:
        raise RuntimeError(f"{{', '.join(old)}} had to be replaced: restart the session (menu Runtime) and run all.")
    sys.path.insert(0, str(book))"""


def main() -> None:
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    url, branch = settings["repository"]["url"], settings["repository"]["branch"]
    myst_nb = re.search(r"^myst-nb==\S+", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    colab = COLAB.format(url=url, branch=branch, myst_nb=myst_nb[0] if myst_nb else "myst-nb")
    for page in pages(ROOT):
        source = ROOT / f"{page}.md"
        if is_notebook(source):
            notebook = jupytext.read(source)
            about = SITE.format(base=settings["html"]["baseurl"], page=page, url=url)
            notebook.cells[:0] = [new_markdown_cell(about), new_code_cell(colab)]
            jupytext.write(notebook, source.with_suffix(".ipynb"))
            print(source.with_suffix(".ipynb").relative_to(ROOT))


if __name__ == "__main__":
    main()
