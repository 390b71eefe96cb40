"""A Sphinx extension for the reference of the package: what docstrings need to be pages of this book.

Docstrings are written to be read in a terminal: ``|Δ|`` and ``gap*`` are mathematics there, and markup to Sphinx.
Under each function and class stand the chapters whose code names it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

LITERAL = re.compile(r"(``.+?``|(?<!\w)\*\w[^*|]*\*(?!\w))")
NEAR = re.compile(r":func:`(\w+)`")
FORMATTED = re.compile(r'(\w+)=f"[^"]*"')


def escaped(line: str) -> str:
    """Return a docstring's line with the signs of mathematics kept from being markup.

    >>> escaped("the largest |gap* − gap|, *not* ``|x|``")
    'the largest \\\\|gap\\\\* − gap\\\\|, *not* ``|x|``'
    """
    if line.lstrip().startswith((">>>", "...")):
        return line
    parts = LITERAL.split(NEAR.sub(r":func:`.\1`", line))  # whichever module documents it
    return "".join(part if at % 2 else re.sub(r"([*|])", r"\\\1", part) for at, part in enumerate(parts))


def rejoined(lines: list[str]) -> list[str]:
    """Return the lines of a docstring with what numpydoc would take apart on one line: literals, sentences on returns.

    >>> rejoined(["Returns", "-------", "The mean of ``all", "rows``, by", "name."])
    ['Returns', '-------', 'The mean of ``all rows``, by name.']
    """
    found: list[str] = []
    section = ""
    for line in lines:
        last = found[-1] if found else ""
        if line and not line.strip("-"):
            section = last
            found.append(line)
            continue
        sentence = section == "Returns" and last.strip("- ") and not last.startswith(" ") and " : " not in line
        if last.count("``") % 2 or (sentence and line and not line.startswith(" ")):
            found[-1] = f"{last} {line.strip()}"
        else:
            found.append(line)
    return found


def headed(lines: list[str]) -> list[str]:
    """Return the lines with a heading over the first example, if it has none.

    >>> headed(["What it is.", "", ">>> 1 + 1", "2"])
    ['What it is.', '', 'Examples', '--------', '>>> 1 + 1', '2']
    """
    first = next((at for at, line in enumerate(lines) if line.startswith(">>>")), None)
    if first is None or "Examples" in lines:
        return lines
    return [*lines[:first], "Examples", "--------", *lines[first:]]


def spelled_out(found: Any, signature: str) -> str:
    """Return a signature whose defaults are values where the source formats text.

    >>> from auditlib.plots.benefit import levels
    >>> spelled_out(levels, '(found, *, label=f"sNB {PER}")')
    "(found, *, label='sNB per 10,000')"
    """
    defaults = getattr(found, "__kwdefaults__", None) or {}  # autodoc puts source text into the signature
    return FORMATTED.sub(lambda match: f"{match[1]}={defaults[match[1]]!r}", signature)


def code_of(page: Path) -> str:
    """Return the code cells of an executed notebook, without what is not Python."""
    cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
    lines = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code").split("\n")
    return "\n".join(line for line in lines if not line.startswith(("%", "!")))


def named(dotted: str) -> Any:
    """Return the object behind a dotted name of the package; None for what is none.

    >>> named("auditlib.intervals.effective").__name__  # the function, not the module that it stands in
    'effective'
    """
    above, _, last = dotted.rpartition(".")
    if not above:
        return importlib.import_module(last) if last == "auditlib" else None
    inside = getattr(named(above), last, None)
    if inside is None and inspect.ismodule(named(above)):
        try:
            return importlib.import_module(dotted)
        except ImportError:
            return None
    return inside


def uses(code: str) -> set[str]:
    """Return the full names of this package that code uses, through whatever names it imports them.

    >>> sorted(uses("import auditlib as al\\nfrom auditlib.plots import gaps\\ngaps.row('a', al.gap_interval(t))"))
    ['auditlib.gap_interval', 'auditlib.plots.gaps.row']
    """
    tree, local, found = ast.parse(code), {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            local.update({a.asname: a.name for a in node.names if a.asname and a.name.startswith("auditlib")})
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("auditlib"):
            local.update({a.asname or a.name: f"{node.module}.{a.name}" for a in node.names})
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in local:
            found.add(local[node.id])
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            base = ast.unparse(node.value).split(".")
            if base[0] in local:
                found.add(".".join([local[base[0]], *base[1:], node.attr]))
    return {name for name in found if inspect.isfunction(named(name)) or inspect.isclass(named(name))}


@cache
def chapters_of(folder: Path) -> dict[int, list[str]]:
    """Return the pages, in order, that use each function or class, by its identity: it may have several names."""
    pages: dict[int, list[str]] = {}
    for page in [folder / "intro.ipynb", *sorted((folder / "chapters").glob("*.ipynb"))]:
        for found in {id(named(name)) for name in uses(code_of(page))}:
            pages.setdefault(found, []).append(page.relative_to(folder).with_suffix("").as_posix())
    return pages


def _link(page: str) -> str:
    number = re.match(r"chapters/(\d+)", page)
    return f":doc:`{f'chapter {int(number[1])}' if number else 'the introduction'} </{page}>`"


def _before(_app: Sphinx, _what: str, _name: str, _found: Any, _options: Any, lines: list[str]) -> None:
    lines[:] = [escaped(line) for line in headed(rejoined(lines))]


def _after(app: Sphinx, what: str, _name: str, found: Any, _options: Any, lines: list[str]) -> None:
    pages = chapters_of(Path(app.srcdir)).get(id(found), []) if what in ("function", "class") else []
    if pages:
        lines += ["", ".. rubric:: Named in the code of", "", ", ".join(map(_link, pages)), ""]


def _signature(
    _app: Sphinx, _what: str, _name: str, found: Any, _options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    return (spelled_out(found, signature) if signature else signature), returned


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx: before numpydoc (500) what it reads, after it what it would take for a section."""
    app.add_css_file("api.css")
    app.connect("autodoc-process-docstring", _before, priority=400)
    app.connect("autodoc-process-docstring", _after, priority=600)
    app.connect("autodoc-process-signature", _signature, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
