"""The glossary and the table of symbols: each word once, each function real, each with a place in the book."""

import re
from functools import reduce

import pytest

import auditlib as al
import auditlib.models
import auditlib.plots.specifications
from tests.book.conftest import PAGES, ROOT

TEXT = {name: (ROOT / "reference" / f"{name}.md").read_text(encoding="utf-8") for name in ("glossary", "symbols")}
BLOCKS = re.findall(r"```\{glossary\}\n(.*?)\n```", TEXT["glossary"], re.DOTALL)
ENTRIES = [entry.splitlines() for block in BLOCKS for entry in block.split("\n\n")]
TERMS = [line.replace("\\", "") for entry in ENTRIES for line in entry if not line.startswith(" ")]


def test_every_term_stands_once_and_has_a_definition():
    assert len(ENTRIES) > 90
    assert len({term.lower() for term in TERMS}) == len(TERMS)
    assert [entry for entry in ENTRIES if not entry[-1].startswith("  ")] == []


def test_every_entry_says_where_the_book_introduces_it():
    assert [entry[0] for entry in ENTRIES if not re.search(r"\{doc\}`[^`]+ </(chapters/\d\d-|intro>)", entry[-1])] == []


def test_entries_are_in_the_order_of_the_alphabet():
    firsts = [re.sub(r"[^a-z0-9 -]", "", e[0].lower().replace("λ", "lambda")) for e in ENTRIES]
    assert firsts == sorted(firsts)


def test_every_function_of_the_package_that_a_word_names_exists():
    named = re.findall(r"`(al|auditlib|Counts)\.([\w.]+)", TEXT["glossary"])
    assert len(named) > 80
    start = {"al": al, "auditlib": auditlib, "Counts": al.Counts}
    fields = al.Counts.__dataclass_fields__
    missing = [
        name
        for base, name in named
        if not (base == "Counts" and name in fields)
        and reduce(lambda x, y: getattr(x, y, None), [start[base], *name.split(".")]) is None
    ]
    assert missing == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("chapters/") or page == "intro"])
def test_every_word_that_a_chapter_links_is_in_the_glossary(page):
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    linked = [re.sub(r".*<(.*)>", r"\1", text) for text in re.findall(r"\{term\}`([^`]+)`", text, re.DOTALL)]
    assert [word for word in linked if word.lower() not in {term.lower() for term in TERMS}] == []


def test_symbols_are_tables_a_phone_can_show_and_every_equation_is_one_of_the_book():
    rows = [line for line in TEXT["symbols"].splitlines() if line.startswith("|")]
    assert len(rows) > 80
    assert {len(re.split(r"(?<!\\)\|", row)) - 2 for row in rows} <= {2, 3}
    chapters = "\n".join((ROOT / f"{page}.md").read_text(encoding="utf-8") for page in PAGES if "reference" not in page)
    labels = set(re.findall(r"^\$\$ \(([\w-]+)\)", chapters, re.MULTILINE))
    used = {label for text in TEXT.values() for label in re.findall(r"\{eq\}`([\w-]+)`", text)}
    assert len(used) > 30
    assert used <= labels
