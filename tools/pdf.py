"""Print the whole book as one PDF: every page of the table of contents, in order, by the browser's own print.

    python -m tools.pdf [--site build/site] [--out build/is-that-gap-real.pdf] [PAGE ...]

Fails when a figure is missing, was not drawn, or does not lie whole on one sheet, and when a table, a formula or code
is wider than the sheet.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

import yaml
from pypdf import PageObject, PdfReader, PdfWriter
from pypdf.annotations import Link
from pypdf.generic import ArrayObject, DictionaryObject, Fit, NameObject, RectangleObject, TextStringObject

from tools.browser import chromium, serve, settle
from tools.chapters import ROOT, pages

# A link around each figure leaves its place in the PDF; the link itself is taken out again.
MARK = "http://figure.invalid/"
PREPARE = """async mark => {
  window.dispatchEvent(new Event("beforeprint"));
  const figures = [...document.querySelectorAll("article img")], found = [];
  for (const [number, image] of figures.entries()) {
    await image.decode().catch(() => null);
    const svg = /\\.svg$|^data:image\\/svg/.test(image.src) ? await (await fetch(image.src)).text() : "";
    const drawn = new DOMParser().parseFromString(svg.slice(svg.indexOf("<svg")) || "<svg/>", "text/html");
    const link = document.createElement("a");
    link.href = mark + number;
    link.style.display = "block";
    image.replaceWith(link);
    link.append(image);
    found.push({
      alt: image.alt, loaded: image.naturalWidth > 0, shown: image.checkVisibility(),
      words: [...drawn.querySelectorAll("text")].map(word => word.textContent).filter(word => /\\p{L}{3}/u.test(word)),
    });
  }
  return found;
}"""
WIDTH = 673  # CSS pixels between the margins of A4, 178 mm
WIDER = """() => [...document.querySelectorAll("article :is(table, pre, img, mjx-container[display='true'])")]
  .filter(e => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1)
  .map(e => `wider than the sheet: ${e.tagName.toLowerCase()} ${e.textContent.trim().slice(0, 60)}`)"""
SHEET = {"format": "A4", "prefer_css_page_size": True, "print_background": True}
NUMBERS = """<style>@page {{ margin: 0; size: A4 }} body {{ margin: 0; font: 9pt sans-serif; color: #59636e }}
div {{ height: 297mm; position: relative; break-after: page }}
span {{ position: absolute; bottom: 9mm; width: 100%; text-align: center }}</style>{sheets}"""


@dataclass
class Printed:
    """A page of the book on paper: its title, its sheets and what of its figures failed."""

    page: str
    title: str
    reader: PdfReader
    figures: int
    faults: list[str] = field(default_factory=list)


def squeezed(text: str) -> str:
    """The letters and digits alone, as a PDF may tear words apart and join letters.

    >>> squeezed("share  ﬂagged, −0.1")
    'shareflagged01'
    """
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text))


def _uri(annotation: Any) -> str:
    return str(annotation.get("/A", {}).get("/URI", ""))


def places(reader: PdfReader) -> dict[int, list[tuple[int, list[float]]]]:
    """Where each figure lies, by number: sheets and rectangles; its marks are taken out."""
    found: dict[int, list[tuple[int, list[float]]]] = {}
    for number, sheet in enumerate(reader.pages):
        kept = ArrayObject()
        for reference in sheet.get("/Annots", ()):
            annotation = reference.get_object()
            if _uri(annotation).startswith(MARK):
                rectangle = [float(side) for side in annotation["/Rect"]]
                found.setdefault(int(_uri(annotation).removeprefix(MARK)), []).append((number, rectangle))
            else:
                kept.append(reference)
        sheet[NameObject("/Annots")] = kept
    return found


def faults(figures: list[dict[str, Any]], reader: PdfReader) -> list[str]:
    """What is wrong with which figure: not loaded, not on paper, cut, or without its words."""
    where, texts, wrong = places(reader), [squeezed(sheet.extract_text()) for sheet in reader.pages], []
    for number, figure in enumerate(figures):
        name = f"figure {number + 1} ({figure['alt'][:60]})"
        parts = where.get(number, [])
        if not figure["loaded"] or not figure["shown"]:
            wrong.append(f"{name} was not loaded or is hidden")
        elif len(parts) != 1:
            wrong.append(f"{name} lies on {len(parts)} sheets")
        else:
            sheet, (left, low, right, high) = parts[0]
            box = reader.pages[sheet].mediabox
            if not (left >= 0 and low >= 0 and right <= float(box.right) + 1 and high <= float(box.top) + 1):
                wrong.append(f"{name} is cut at the edge of its sheet")
            if min(right - left, high - low) < 40:
                wrong.append(f"{name} has shrunk to nothing")
            lost = [word for word in figure["words"] if squeezed(word) not in texts[sheet]]
            if len(lost) > len(figure["words"]) / 10:
                wrong.append(f"{name} lacks its words {lost[:3]}")
    return wrong


def print_page(browser: Any, address: str, page: str) -> Printed:
    """Print one page of the site and check its figures."""
    context = browser.new_context(color_scheme="light", viewport={"width": WIDTH, "height": 1000})
    tab = context.new_page()
    tab.goto(f"{address}/{page}.html")
    settle(tab)
    tab.emulate_media(media="print")
    figures = tab.evaluate(PREPARE, MARK)
    wide = tab.evaluate(WIDER)
    title = " ".join(tab.locator("article h1").first.inner_text().rstrip("#").split())
    reader = PdfReader(io.BytesIO(tab.pdf(**SHEET)))
    context.close()
    return Printed(page, title, reader, len(figures), wide + faults(figures, reader))


def _targets(reader: PdfReader) -> dict[str, tuple[int, float]]:
    """The sheets and heights of a page's anchors."""
    found = {}
    for name, goal in reader.named_destinations.items():
        number = reader.get_destination_page_number(goal)
        if number is not None and number >= 0:
            found[unquote(str(name)).lstrip("/")] = (number, float(goal.top or 800))
    return found


def _link(writer: PdfWriter, sheet: PageObject, annotation: DictionaryObject, goal: tuple[int, float]) -> None:
    number, top = goal
    rectangle = RectangleObject(annotation["/Rect"])  # type: ignore[arg-type]  # an array of four
    fit = Fit.xyz(left=0, top=top, zoom=0)
    writer.add_annotation(sheet, Link(rect=rectangle, target_page_index=number, fit=fit, border=[0, 0, 0]))


def _rewire(writer: PdfWriter, printed: list[Printed], starts: list[int], address: str) -> None:
    """Let links between pages and to anchors lead inside the PDF; links to other hosts stay as they are."""
    first = {entry.page: start for entry, start in zip(printed, starts, strict=True)}
    anchors = {entry.page: _targets(entry.reader) for entry in printed}
    for entry, start in zip(printed, starts, strict=True):
        for sheet in writer.pages[start : start + len(entry.reader.pages)]:
            old = [reference.get_object() for reference in ArrayObject(sheet.get("/Annots", ()))]
            kept = ArrayObject()
            sheet[NameObject("/Annots")] = kept
            for annotation in old:
                target = _uri(annotation) or urljoin(f"{address}/{entry.page}.html", f"#{_named(annotation)}")
                url, anchor = urldefrag(target)
                page = url.removeprefix(f"{address}/").removesuffix(".html")
                if not url.startswith(address):
                    kept.append(writer._add_object(annotation))
                elif page in first:
                    number, top = anchors[page].get(unquote(anchor), (0, 800.0))
                    _link(writer, sheet, annotation, (first[page] + number, top))


def _named(annotation: DictionaryObject) -> str:
    goal = annotation.get("/Dest") or annotation.get("/A", {}).get("/D", "")
    return str(goal).lstrip("/")


def _bookmarks(writer: PdfWriter, printed: list[Printed], starts: list[int]) -> None:
    """One bookmark a page, under those of the parts."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    parts = {entry["file"]: part["caption"] for part in toc.get("parts", ()) for entry in part["chapters"]}
    heads: dict[str, Any] = {}
    for entry, start in zip(printed, starts, strict=True):
        part = parts.get(entry.page)
        if part and part not in heads:
            heads[part] = writer.add_outline_item(title=part, page_number=start, bold=True)
        writer.add_outline_item(title=entry.title, page_number=start, parent=heads.get(part or ""))


def _number(browser: Any, writer: PdfWriter) -> None:
    """Write each sheet's number at its foot."""
    tab = browser.new_page()
    tab.set_content(
        NUMBERS.format(sheets="".join(f"<div><span>{n + 1}</span></div>" for n in range(len(writer.pages))))
    )
    numbers = PdfReader(io.BytesIO(tab.pdf(**SHEET)))
    tab.close()
    for sheet, number in zip(writer.pages, numbers.pages, strict=False):
        sheet.merge_page(number)


def bind(browser: Any, printed: list[Printed], address: str, out: Path) -> int:
    """Bind the pages to one PDF and return its number of sheets."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    writer, starts = PdfWriter(), []
    for entry in printed:
        starts.append(len(writer.pages))
        for sheet in entry.reader.pages:
            writer.add_page(sheet)
    _rewire(writer, printed, starts, address)
    _number(browser, writer)
    _bookmarks(writer, printed, starts)
    writer.add_metadata({"/Title": settings["title"], "/Author": settings["author"]})
    writer.root_object[NameObject("/Lang")] = TextStringObject("en")
    for sheet in writer.pages:
        sheet.compress_content_streams()
    writer.compress_identical_objects()
    out.parent.mkdir(parents=True, exist_ok=True)
    writer.write(out)
    return len(writer.pages)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--site", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "is-that-gap-real.pdf")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="such as intro; all where none is named")
    options = parser.parse_args()
    with serve(options.site) as address, chromium() as browser:
        printed = [print_page(browser, address, page) for page in options.pages or pages(ROOT)]
        sheets = bind(browser, printed, address, options.out)
    for entry in printed:
        print(f"{entry.page:<42}{len(entry.reader.pages):4} sheets{entry.figures:4} figures", *entry.faults, sep="\n  ")
    print(f"{options.out}: {sheets} sheets, {sum(entry.figures for entry in printed)} figures")
    return int(any(entry.faults for entry in printed))


if __name__ == "__main__":
    sys.exit(main())
