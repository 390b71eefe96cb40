"""Make the slides: one self-contained page of key figures, from the executed notebooks.

    python -m tools.slides [--source teach/slides.md] [--executed build/executed] [--out FILE]

The page `teach/slides.md` is the list of slides. Each of its ``##`` headings is a title; below it stand two comments,

    % figure: gap-splits
    % numbers: The gap runs from {gap-split-low:+.1f} to {gap-split-high:+.1f} points.

the name of a figure and a line of glued numbers, each with an optional format, then a paragraph that points to the
figure (for the site), and the speaker's note. Picture, alt text and caption come from the cell of that name, numbers
from what the same build has glued, so that a slide cannot say anything else than its chapter.
"""

from __future__ import annotations

import argparse
import ast
import base64
import html
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils.nodes import make_id
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tools.chapters import ROOT, pages

Cell = dict[str, Any]
RECORD = "application/papermill.record/"  # where glue keeps what is not displayed


class SlideError(ValueError):
    """What is wrong with the list of slides, or missing from the notebooks."""


@dataclass(frozen=True)
class Entry:
    """One slide as `teach/slides.md` has it."""

    title: str
    figure: str
    numbers: str
    note: tuple[str, ...]


@dataclass(frozen=True)
class Figure:
    """A figure of an executed notebook, and where on the site it stands."""

    picture: str
    alt: str
    caption: str
    page: str
    heading: str

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the picture, in its own units."""
        box = re.search(r'viewBox="\S+ \S+ (\S+) (\S+)"', self.picture)
        if box is None:
            raise SlideError(f"the figure {self.alt[:40]!r} has no viewBox.")
        return float(box[1]), float(box[2])

    @property
    def link(self) -> str:
        """Address of the section from the slides' folder; docutils names a heading's anchor like this."""
        return f"../{self.page}.html#{make_id(self.heading)}"


def plain(markdown: str) -> str:
    """Inline Markdown as HTML: code and emphasis; anything more is an error.

    >>> plain("*Stable* is `p < .1`")
    '<em>Stable</em> is <code>p &lt; .1</code>'
    """
    if found := re.search(r"\{[\w:]+\}`|\]\(|\$|<\w", markdown):
        raise SlideError(
            f"{found[0]!r} in {markdown[:60]!r}: notes and captions are text, `code` and *emphasis* alone."
        )
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(markdown, quote=False))
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", text)


def entries(source: str) -> list[Entry]:
    """Read the list of slides."""
    found = []
    for section in re.split(r"^## +", source, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        said = dict(re.findall(r"^% (\w+): +(.+)$", body, re.MULTILINE))
        if set(said) != {"figure", "numbers"}:
            raise SlideError(f"slide {title!r}: it has {sorted(said)}, and needs one figure and one line of numbers.")
        if re.search(r"\d", title):
            raise SlideError(f"slide {title!r}: a number in a title is typed; let the line of numbers say it.")
        parts = [part.strip() for part in re.split(r"\n\s*\n", re.sub(r"^%.*$", "", body, flags=re.MULTILINE))]
        place, *note = [part for part in parts if part]
        if f"{{numref}}`{said['figure']}`" not in place or not note:
            raise SlideError(f"slide {title!r}: first a paragraph with {{numref}}`{said['figure']}`, then the note.")
        found.append(Entry(title, said["figure"], said["numbers"], tuple(note)))
    names = [entry.figure for entry in found]
    if not found or len(names) != len(set(names)):
        raise SlideError(f"slides: {len(names)} figures, {len(set(names))} different; each is shown once.")
    return found


def cells(executed: Path, root: Path) -> Iterator[tuple[str, Cell]]:
    """Every cell of the executed notebooks, with its page, in the book's order."""
    for page in pages(root):
        notebook = executed / f"{page}.ipynb"
        if notebook.exists():
            yield from ((page, cell) for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"])


def read(executed: Path, root: Path) -> tuple[dict[str, Figure], dict[str, Any]]:
    """Figures by name, and glued values by name."""
    figures: dict[str, Figure] = {}
    values: dict[str, Any] = {}
    headings: dict[str, str] = {}
    for page, cell in cells(executed, root):
        if cell["cell_type"] == "markdown":
            prose = re.sub(r"```.*?```", "", "".join(cell["source"]), flags=re.DOTALL)
            headings[page] = [headings.get(page, ""), *re.findall(r"^##? +(.+?) *$", prose, re.MULTILINE)][-1]
            continue
        options = cell["metadata"].get("mystnb", {})
        if name := options.get("figure", {}).get("name"):
            figures[name] = Figure(
                _picture(cell),
                options.get("image", {}).get("alt", ""),
                options["figure"].get("caption", ""),
                page,
                headings[page],
            )
        values |= dict(_glued(cell))
    return figures, values


def _picture(cell: Cell) -> str:
    """The SVG of a cell's last picture, or nothing."""
    made = [output.get("data", {}).get("image/svg+xml") for output in cell.get("outputs", [])]
    return "".join(next(filter(None, reversed(made)), ""))


def _glued(cell: Cell) -> Iterator[tuple[str, Any]]:
    for output in cell.get("outputs", []):
        name = output.get("metadata", {}).get("scrapbook", {}).get("name")
        data = output.get("data", {})
        text = data.get(f"{RECORD}text/plain", data.get("text/plain"))
        if name and text:
            yield name, ast.literal_eval("".join(text))


GLUE = re.compile(r"\{glue:(?:text)?\}`([^`]+)`")  # a number in a figure's caption


def filled(template: str, values: dict[str, Any]) -> str:
    """Put glued values into a line, formatted as on the page.

    >>> filled("a gap of {gap:+.1f} points", {"gap": -2.04})
    'a gap of −2.0 points'
    """

    def one(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise SlideError(f"no number called {match[1]!r} was glued in this build.")
        text = format(values[match[1]], match[2] or "")
        return text.replace("-", "−") if match[2] else text

    return re.sub(r"\{([\w.-]+)(?::([^}]*))?\}", one, template)


def slide(entry: Entry, figures: dict[str, Figure], values: dict[str, Any], numbered: dict[str, str]) -> dict[str, Any]:
    """What the template shows of one slide."""
    figure = figures.get(entry.figure)
    if figure is None:
        raise SlideError(f"slide {entry.title!r}: no figure is called {entry.figure!r}.")
    for what in ("picture", "alt", "caption"):
        if not getattr(figure, what):
            raise SlideError(f"slide {entry.title!r}: the figure {entry.figure!r} has no {what}.")
    source = base64.b64encode(figure.picture.encode()).decode()
    width, height = figure.size
    return {
        "ratio": f"{width / height:.4f}",
        "name": entry.figure,
        "title": plain(entry.title),
        "picture": f"data:image/svg+xml;base64,{source}",
        "alt": figure.alt,
        "caption": plain(filled(GLUE.sub(r"{\1}", figure.caption), values)),
        "numbers": plain(filled(entry.numbers, values)),
        "note": [plain(part) for part in entry.note],
        "link": figure.link,
        "place": f"{numbered[figure.page]}: {plain(figure.heading)}",
    }


def make(source: Path, executed: Path, root: Path = ROOT) -> str:
    """The slides as one page of HTML."""
    figures, values = read(executed, root)
    numbers = {page: f"Chapter {int(page[9:11])}" for page in pages(root) if page.startswith("chapters/")}
    numbered = {page: numbers.get(page, "Introduction") for page in pages(root)}
    listed = entries(source.read_text(encoding="utf-8"))
    template = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=False, undefined=StrictUndefined, trim_blocks=True
    ).get_template("slides.html.j2")
    return template.render(slides=[slide(entry, figures, values, numbered) for entry in listed], quote=html.escape)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, default=ROOT / "teach" / "slides.md")
    parser.add_argument("--executed", type=Path, default=ROOT / "build" / "executed")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site" / "slides" / "slides.html")
    options = parser.parse_args()
    try:
        made = make(options.source, options.executed)
    except SlideError as error:
        sys.exit(f"slides: {error}")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(made, encoding="utf-8")
    print(f"{made.count('<section ')} slides, {len(made.encode()) / 1000:.0f} kB: {options.out}")


if __name__ == "__main__":
    main()
