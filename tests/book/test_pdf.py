"""The book on paper, in short: two of its pages, and figures that go wrong."""

import pytest
from pypdf import PdfReader

from tests.book.conftest import CHAPTERS
from tools.browser import serve
from tools.pdf import bind, print_page

PAIR = ["intro", CHAPTERS[0]]


@pytest.fixture(scope="module")
def packed(site):
    with serve(site) as address:
        yield address


@pytest.fixture(scope="module")
def bound(browser, packed, tmp_path_factory):
    out = tmp_path_factory.mktemp("paper") / "pair.pdf"
    printed = [print_page(browser, packed, page) for page in PAIR]
    bind(browser, printed, packed, out)
    return printed, PdfReader(out)


def test_every_figure_lies_whole_on_a_sheet(bound):
    printed, _ = bound
    assert [entry.faults for entry in printed] == [[], []]
    assert [entry.figures for entry in printed] == [3, 3]


def test_sheets_bookmarks_title_and_numbers(bound):
    printed, paper = bound
    assert len(paper.pages) == sum(len(entry.reader.pages) for entry in printed)
    assert paper.metadata.title == "Is that gap real?"
    intro, part, (chapter,) = paper.outline
    assert [intro.title, part.title, chapter.title] == ["Is that gap real?", "Chapters", "1. From records to counts"]
    assert paper.get_destination_page_number(chapter) == len(printed[0].reader.pages)
    for number, sheet in enumerate(paper.pages):
        assert sheet.extract_text().split()[-1] == str(number + 1)


def test_links_lead_inside_the_pdf_or_to_the_web(bound, packed):
    _, paper = bound
    annotations = [ref.get_object() for sheet in paper.pages for ref in sheet.get("/Annots", ())]
    addresses = [str(a["/A"]["/URI"]) for a in annotations if "/URI" in a.get("/A", {})]
    assert not [url for url in addresses if url.startswith(packed) or "figure.invalid" in url]
    assert [url for url in addresses if url.startswith("https://doi.org/")]
    inside = [a["/Dest"][0] for a in annotations if "/Dest" in a]
    assert len(inside) > 10
    assert {paper.get_page_number(goal.get_object()) for goal in inside} & set(range(8, 30))


def test_answers_are_on_paper_and_folded_code_is_not(bound):
    _, paper = bound
    text = "".join(sheet.extract_text() for sheet in paper.pages)
    assert "Solution to" in text
    assert "Answer" in text
    assert "Show code cell source" not in text
    assert "Copy to clipboard" not in text


PAGE = """<!doctype html><html lang="en"><title>t</title><article><h1>Title</h1>
<p><img src="{src}" alt="A drawing with words." style="{style}"></p></article></html>"""
DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200" viewBox="0 0 300 200">
<rect width="300" height="200" fill="#eee"/><text x="20" y="40">sensitivity</text>{more}</svg>"""


@pytest.mark.parametrize(
    ("src", "style", "fault"),
    [
        ("drawn.svg", "", None),
        ("none.svg", "", "not loaded"),
        ("drawn.svg", "display: none", "hidden"),
        ("drawn.svg", "width: 20px", "shrunk"),
        ("drawn.svg", "width: 3000px; max-width: none; margin-left: 900px", "sheet"),
        ("unseen.svg", "", "lacks its words"),
    ],
)
def test_a_figure_that_goes_wrong_is_told(browser, tmp_path, src, style, fault):
    (tmp_path / "one.html").write_text(PAGE.format(src=src, style=style), encoding="utf-8")
    (tmp_path / "drawn.svg").write_text(DRAWING.format(more=""), encoding="utf-8")
    hidden = '<text x="20" y="90" opacity="0" visibility="hidden">specificity</text>'
    (tmp_path / "unseen.svg").write_text(DRAWING.format(more=hidden), encoding="utf-8")
    with serve(tmp_path) as address:
        printed = print_page(browser, address, "one")
    assert printed.figures == 1
    assert bool(printed.faults) == (fault is not None)
    assert fault is None or any(fault in told for told in printed.faults)
