"""What came of the build: the executed notebooks and the pages made from them."""

import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin, urlsplit

import nbformat
import pytest

from tests.book.conftest import BUILD, NOTEBOOKS, PAGES

SECONDS, MEGABYTES = 45, 1000  # what one chapter may take


class Page(HTMLParser):
    """Links, anchors, and the pictures of the article, from a page's HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.alts: list[str | None] = []
        self._article = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        self._article = self._article or tag == "article"
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag == "img" and self._article:
            self.alts.append(values.get("alt"))

    def handle_endtag(self, tag):
        self._article = self._article and tag != "article"


@pytest.fixture(scope="session")
def runs(site):
    return {run["page"]: run for run in json.loads((BUILD / "chapters.json").read_text())}


@pytest.fixture(scope="session")
def html(site):
    return {path.relative_to(site).as_posix(): path.read_text("utf-8") for path in site.rglob("*.html")}


def test_every_notebook_was_run_and_counted(runs):
    assert sorted(runs) == sorted(NOTEBOOKS)
    assert sum(run["collected"] for run in runs.values()) == len(NOTEBOOKS)
    assert all(run["ok"] for run in runs.values())


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_a_chapter_fits_binder(runs, page):
    assert runs[page]["cpu"] <= SECONDS
    assert runs[page]["peak_mb"] <= MEGABYTES


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_outputs_are_clean(runs, page):
    notebook = nbformat.read(BUILD / "book" / f"{page}.ipynb", as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code if cell.source.strip())
    outputs = [output for cell in code for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output.text for output in outputs if output.get("name") == "stderr"]
    assert "widgets" not in notebook.metadata


EXPLORER = re.compile(r'class="al-explorer".*?<script type="application/json">(.*?)</script>', re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_pictures_have_words_not_paths(html, page):
    source = html[f"{page}.html"]
    frames = [json.loads(found) for found in EXPLORER.findall(source)]
    for alt in [*Page(source).alts, *(alt for explorer in frames for _, alt in explorer)]:
        assert alt, "a picture without alt text"
        assert len(alt) > 40, alt
        assert not re.search(r"\.(png|svg|jpe?g)$|_images/|\w/\w+/", alt), alt


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_left_unrendered(html, page):
    article = re.search(r"<article.*?</article>", html[f"{page}.html"], re.DOTALL)[0]
    article = re.sub(r"<(script|pre)\b.*?</\1>", "", article, flags=re.DOTALL)
    assert not re.findall(r"\{(?:glue|cite|ref|doc|eq|numref)(?::\w+)?\}", article)
    assert 'pasted-text"></span>' not in article
    assert "np.float64(" not in article


def test_buttons_open_notebooks(html):
    for page in NOTEBOOKS:
        launched = re.findall(r'href="(https://(?:mybinder|colab)[^"]+)"', html[f"{page}.html"])
        assert len(launched) == 2
        assert all(link.endswith(f"{page}.ipynb") for link in launched)


def test_links_and_anchors_inside_the_book_resolve(html):
    read = {path: Page(text) for path, text in html.items()}
    broken = []
    for path, page in read.items():
        for link in page.links:
            target = urlsplit(urljoin(f"http://book/{path}", link))
            if target.netloc != "book" or not target.path.endswith((".html", "/")):
                continue
            goal = unquote(target.path).lstrip("/") or "index.html"
            if goal not in read or (target.fragment and unquote(target.fragment) not in read[goal].anchors):
                broken.append(f"{path}: {link}")
    assert broken == []


def test_no_widget_library_and_no_live_code_service(html):
    for path, text in html.items():
        assert not re.search(r"html-manager|require\.min\.js|thebe|unpkg", text), path
