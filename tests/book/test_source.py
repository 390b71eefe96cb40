"""The form of the chapters, read from their source."""

import re
from functools import cache

import jupytext
import pytest

from tests.book.conftest import CHAPTERS, NOTEBOOKS, PAGES, ROOT

ORDER = [
    "able to",
    "Before you start",
    "Try it",
    "misleads",
    "Check yourself",
    "Exercise",
    "Take-away",
    "Next",
    "References",
]
VERDICT = r"\b(is|are|was|were|model|subgroup|result)\b[^.|]{0,25}\b(unfair|biased|discriminatory)\b"
HYPE = (
    r"\b(ground-?breaking|revolutionary|cutting-edge|state-of-the-art|seamless(ly)?|game-chang\w+|"
    r"unprecedented|world-class|effortless(ly)?|best-in-class|powerful|delve)\b"
)
DRAWS = re.compile(r"\bplt\.show\(|\bplots\.\w+\.?\w*\(|\bsns\.\w+plot\(")


@cache
def source(page):
    return (ROOT / f"{page}.md").read_text(encoding="utf-8")


@cache
def cells(page, kind):
    return [cell for cell in jupytext.read(ROOT / f"{page}.md").cells if cell.cell_type == kind]


def prose(page):
    """The text alone: without code, maths, roles, addresses and tables."""
    text = "\n".join(cell.source for cell in cells(page, "markdown"))
    for ignored in (r"```.*?```", r"\$\$.*?\$\$", r"\$[^$\n]+\$", r"\{[\w:]+\}`[^`]*`", r"`[^`]*`", r"\]\([^)]*\)"):
        text = re.sub(ignored, " ", text, flags=re.DOTALL)
    return text


def draws(cell):
    tags = cell.metadata.get("tags", [])
    shown = "figure" in cell.metadata.get("mystnb", {}) or DRAWS.search(cell.source)
    return bool(shown) and "remove-cell" not in tags and "explore(" not in cell.source


@pytest.mark.parametrize("page", CHAPTERS)
def test_sections_stand_in_the_order_of_the_book(page):
    headings = [match.lower() for match in re.findall(r"^##? +(.*)", source(page), re.MULTILINE)]
    found = [next((i for i, text in enumerate(headings) if want.lower() in text), None) for want in ORDER]
    assert None not in found, f"no heading for {[w for w, f in zip(ORDER, found, strict=True) if f is None]}"
    assert found == sorted(found), headings


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_chapter_asks_and_answers_at_least_four_questions(page):
    part = source(page).partition("## Check yourself")[2].partition("\n## ")[0]
    assert len(re.findall(r"^\*\*\d+\. ", part, re.MULTILINE)) == part.count("{dropdown} Answer") >= 4


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_cells_are_short(page):
    lengths = [len(cell.source.splitlines()) for cell in cells(page, "code")]
    assert max(lengths) <= 24
    assert sum(length <= 15 for length in lengths) >= 0.7 * len(lengths), lengths


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_every_drawing_cell_has_alt_text_caption_and_name(page):
    for cell in filter(draws, cells(page, "code")):
        options = cell.metadata.get("mystnb", {})
        alt, figure = options.get("image", {}).get("alt", ""), options.get("figure", {})
        assert len(alt) > 40, f"alt text of {cell.source[:80]!r}"
        assert not re.search(r"\.(png|svg)\b|\w/\w+/", alt), alt
        assert figure.get("caption"), f"caption of {cell.source[:80]!r}"
        assert figure.get("name"), f"name of {cell.source[:80]!r}"


def test_names_of_figures_are_unique():
    options = [cell.metadata.get("mystnb", {}) for page in NOTEBOOKS for cell in cells(page, "code")]
    names = [entry["figure"]["name"] for entry in options if "name" in entry.get("figure", {})]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_chapter_uses_the_package_and_has_an_explorer(page):
    code = "\n".join(cell.source for cell in cells(page, "code"))
    assert re.search(r"^(import|from) auditlib", code, re.MULTILINE)
    assert re.search(r"\bexplore\(", code)


@pytest.mark.parametrize("page", CHAPTERS)
def test_solutions_are_folded_and_executed(page):
    text = source(page)
    exercises = re.findall(r"\{exercise(?:-start)?\}.*?:label: (\S+)", text, re.DOTALL)
    solutions = dict(re.findall(r"\{solution-start\} (\S+)\n(.*?)\{solution-end\}", text, re.DOTALL))
    assert len(exercises) >= 3
    assert text.count("\n:class: real-data\n") >= 1, "an exercise on real data"
    assert set(solutions) == set(exercises)
    assert all(":class: dropdown" in body for body in solutions.values())
    assert any("{code-cell}" in body for body in solutions.values())


@pytest.mark.parametrize("page", PAGES)
def test_language(page):
    text = prose(page)
    assert [m[0] for m in re.finditer(VERDICT, text, re.IGNORECASE)] == []
    assert [m[0] for m in re.finditer(HYPE, text, re.IGNORECASE)] == []


def test_every_chapter_is_in_the_table_of_contents():
    written = {f"chapters/{path.stem}" for path in (ROOT / "chapters").glob("*.md")}
    assert written <= set(PAGES)
