"""A Sphinx extension: mend what screen readers stumble over in the HTML of the tools below us.

Docutils gives a bibliography roles that ARIA has withdrawn, pandas gives a table's corner an empty header.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

MENDED = [
    (re.compile(r'<div role="list" class="citation-list">'), '<div class="citation-list">'),
    (re.compile(r' role="doc-(?:biblioentry|backlink)"'), ""),
    (re.compile(r"<th>\s*</th>"), "<td></td>"),
]


def mend(html: str) -> str:
    """Return the page's HTML without these.

    >>> mend('<tr><th></th><th>n</th></tr>')
    '<tr><td></td><th>n</th></tr>'
    """
    for pattern, replacement in MENDED:
        html = pattern.sub(replacement, html)
    return html


def _on_page(_app: Sphinx, _name: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    if "body" in context:
        context["body"] = mend(context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", _on_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
