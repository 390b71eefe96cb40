"""Write a notebook beside every MyST chapter, for the branch that Binder and Colab open.

    python tools/notebooks.py

Colab opens a notebook without its repository, so each starts with a cell that fetches the book there, after one that
says where its text is to be read.
"""

from __future__ import annotations

import jupytext
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell

from chapters import ROOT, is_notebook, pages

SITE = (
    "*A page of [Is that gap real?]({url}), to be run. Its text is written for the book's site: the numbers inside "
    "sentences, references and citations show there alone, so keep that page open beside this one. In JupyterLab, "
    "`pip install jupyterlab-myst` shows boxes and folded answers.*"
)
COLAB = """\
# On Colab only: fetch the book, its package and its count tables.
import sys

if "google.colab" in sys.modules:
    !git clone --quiet --depth 1 {url} /content/book
    !pip install --quiet "/content/book[widgets]" myst-nb
    sys.path.insert(0, "/content/book")"""


def main() -> None:
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    for page in pages(ROOT):
        source = ROOT / f"{page}.md"
        if is_notebook(source):
            notebook = jupytext.read(source)
            url = settings["repository"]["url"]
            notebook.cells[:0] = [new_markdown_cell(SITE.format(url=url)), new_code_cell(COLAB.format(url=url))]
            jupytext.write(notebook, source.with_suffix(".ipynb"))
            print(source.with_suffix(".ipynb").relative_to(ROOT))


if __name__ == "__main__":
    main()
