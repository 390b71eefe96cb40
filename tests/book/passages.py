"""The sentences, table rows, captions and alt texts of a page, read from its source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jupytext
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from tools.chapters import is_notebook

CITED, GLUED, OTHER = "⟦cited⟧", "⟦glued⟧", "⟦…⟧"
# What is no prose, and what stands in its place. Line breaks are kept, so that lines can be named.
HIDDEN = [
    (r"(?s)\$\$.*?\$\$(?: *\([\w-]+\))?|<!--.*?-->", ""),
    (r"(?m)^%.*?$|^\([\w:-]+\)=$|^ *:(?!alt:)[\w-]+:.*?$|^ *:alt:", ""),
    (r"\{cite[:\w]*\}`[^`]*`", CITED),
    (r"\{glue:?\w*\}`[^`]*`", GLUED),
    (r"\{[\w:-]+\}`[^`]*`|`[^`]*`|(?<!\\)\$[^$\n]+\$", OTHER),
    (r"!?\[([^\]]*)\]\([^)]*\)", r"\1"),
    (r"<?https?://[^\s>]*>?|\[\^[^\]]*\]:?|</?[a-zA-Z][^>]*>", ""),
]
FENCE = re.compile(r"\s*(?P<marks>`{3,}|:{3,})(?:\{(?P<name>[\w:+-]+)\})?(?P<rest>.*)")
VERBATIM = ["", "math", "bibliography", "tableofcontents", "toctree", "mermaid", "code-block", "code", "raw", "glue"]
TITLED = ["admonition", "table", "list-table", "card", "tab-item"]
END = re.compile(r"[.?!][\"”)*_]*\s+(?=[\"“(*_]*[A-Z⟦])|\Z")
ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)]) +|\**\d+\. ")


@dataclass(frozen=True)
class Passage:
    """One sentence or row: where it stands, and what stands around it that may explain its numbers."""

    line: int
    where: str  # text, heading, table, question, answer, exercise, solution, alt or caption
    text: str
    lead: str = ""  # a table's lead sentence; the question of an answer; the exercise of a solution
    head: str = ""  # the first row of a row's table
    code: str = field(default="", repr=False)  # the cell that a caption or alt text belongs to


def unfence(text: str) -> tuple[str, set[int]]:
    """Drop fences and what is no prose inside them; say which lines are answers."""
    kept, answers, stack = [], set[int](), list[tuple[str, str]]()
    for k, line in enumerate(text.split("\n")):
        fence = FENCE.fullmatch(line)
        hidden = any(name in VERBATIM for _, name in stack)
        closing = fence and not fence["name"] and not fence["rest"].strip()
        if fence and closing and stack and fence["marks"].startswith(stack[-1][0]):
            stack.pop()
        elif fence and not hidden:
            stack.append((fence["marks"], fence["name"] or ""))
        elif not hidden:
            if any(name == "dropdown" for _, name in stack):
                answers.add(k)
            kept.append(line)
            continue
        kept.append(fence["rest"] if fence and not hidden and fence["name"] in TITLED else "")
    return "\n".join(kept), answers


def clean(text: str) -> str:
    """Leave the words and numbers: no code, maths, roles, addresses or labels."""
    for pattern, instead in HIDDEN:

        def put(match: re.Match[str], instead: str = instead) -> str:
            return match.expand(instead) + "\n" * match[0].count("\n")

        text = re.sub(pattern, put, text)
    return text


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Give each sentence with the number of lines before it."""
    start = 0
    for match in END.finditer(text):
        piece = text[start : match.end()]
        if piece.strip():
            before = start + len(piece) - len(piece.lstrip())
            yield text.count("\n", 0, before), " ".join(piece.split())
        start = match.end()


def blocks(text: str) -> Iterator[tuple[int, str, str]]:
    """Give paragraphs, list items, rows and headings, each with its first line (from 0) and kind."""
    held: list[str] = []
    for k, line in enumerate([*text.split("\n"), ""]):
        row, heading, item = line.lstrip().startswith("|"), re.match(r"#+ ", line), ITEM.match(line)
        if held and (not line.strip() or row or heading or item):
            yield k - len(held), "text", "\n".join(held)
            held = []
        if row and re.search(r"[^\s|:-]", line):
            yield k, "table", line
        elif heading:
            yield k, "heading", re.sub(r"^#+ (?:\d[\d.]* )?", "", line)
        elif line.strip() and not row:
            held.append(line[item.end() :] if item else line)


def captions(options: Mapping[str, Any], code: str) -> Iterator[tuple[str, str]]:
    """Give a cell's alt text and caption, and the constant ones that its code hands to an explorer."""
    for kind, part in (("alt", "image"), ("caption", "figure")):
        if text := options.get("mystnb", {}).get(part, {}).get(kind):
            yield kind, str(text)
    for node in ast.walk(ast.parse(re.sub(r"^[%!].*$", "", code, flags=re.MULTILINE))):
        if isinstance(node, ast.keyword) and node.arg in ("alt", "caption") and isinstance(node.value, ast.Constant):
            yield str(node.arg), str(node.value.value)


class Reader:
    """Walks a page and remembers what its questions and exercises have given."""

    def __init__(self) -> None:
        self.asking, self.task = False, ""
        self.asked, self.lead, self.last, self.head = "", "", "", ""

    def prose(self, source: str, first: int) -> Iterator[Passage]:
        """Give the passages of a Markdown cell whose first line is that line (from 0) of the page."""
        gates = {
            k: gate for k, line in enumerate(source.split("\n")) if (gate := re.search(r"\{(\w+)-(start|end)\}", line))
        }
        text, answers = unfence(source)
        for k, kind, block in blocks(clean(text)):
            for line in [one for one in gates if one < k]:
                gate = gates.pop(line)
                self.task = gate[1] if gate[2] == "start" else ""
            if kind == "heading":
                self.asking = "check yourself" in block.lower()
            for offset, sentence in sentences(block):
                where = kind if kind != "text" else "answer" if k + offset in answers else self.task
                yield self.note(first + k + offset + 1, where or ("question" if self.asking else "text"), sentence)
        self.task = next((gate[1] if gate[2] == "start" else "" for gate in reversed(gates.values())), self.task)

    def note(self, line: int, where: str, sentence: str) -> Passage:
        if where in ("question", "exercise"):
            self.asked = f"{self.asked} {sentence}" if self.last == where else sentence
        lead = self.asked if where in ("answer", "solution") or self.task == "solution" else self.lead
        if where == "table":
            self.head = self.head or sentence
        else:
            self.lead, self.last, self.head = sentence, where, ""
        return Passage(line, where, sentence, lead, self.head)


def cells(path: Path) -> list[NotebookNode]:
    """Read the cells of a notebook; a plain page is one of Markdown, whatever code it shows."""
    if is_notebook(path):
        return list(jupytext.read(path).cells)
    return [new_markdown_cell(re.sub(r"(?s)\A---\n.*?\n---\n", "", path.read_text(encoding="utf-8")))]


def passages(path: Path) -> Iterator[Passage]:
    """Give everything that a reader of the page reads, in its order."""
    source, end, reader = path.read_text(encoding="utf-8"), 0, Reader()
    for cell in cells(path):
        start = source.index(cell.source, end)
        first = source.count("\n", 0, start)
        if cell.cell_type == "markdown":
            yield from reader.prose(cell.source, first)
        elif cell.cell_type == "code":
            for kind, text in captions(cell.metadata, cell.source):
                option = re.search(rf"^ +{kind}:", source[end:start], re.MULTILINE)
                line = source.count("\n", 0, end + option.start()) if option else first
                yield from (Passage(line + 1, kind, each, code=cell.source) for _, each in sentences(clean(text)))
        end = start + len(cell.source)
