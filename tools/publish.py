"""A Sphinx extension: what a page says about itself to search engines and to programs that show a shared link.

sphinxext-opengraph writes these lines. It takes a description from wherever the page's first letters run out, so it is
given one here: the first prose, whole sentences while they fit. The home-screen icon and the preview picture's size and
words are the same on all pages; the words stand in one place, `ogp_image_alt` in _config.yml.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

ICON = "_static/apple-touch-icon.png"
WIDTH, HEIGHT = 1200, 630  # of the preview picture, which tools/picture.py draws
LENGTH = 240  # letters of a description; search engines show about 160, previews up to 300


def first_prose(doctree: nodes.document) -> str:
    """Return the paragraphs between the title and the next heading, or the first one at all; "" where there is none."""
    page = doctree.next_node(nodes.section) or doctree
    opening = []
    for child in page.children:
        if isinstance(child, nodes.section):
            break
        if isinstance(child, nodes.paragraph):
            opening.append(child.astext())
    aside = (nodes.Admonition, nodes.Invisible, nodes.entry, nodes.list_item)
    anywhere = (one.astext() for one in page.findall(nodes.paragraph) if not isinstance(one.parent, aside))
    return " ".join((" ".join(opening) or next(anywhere, "")).split())


def clip(text: str, length: int = LENGTH) -> str:
    """Return as many whole sentences as `length` letters hold, or else whole words and an ellipsis.

    >>> clip("Who gains? By how much, and compared with what?", 20)
    'Who gains?'
    >>> clip("Compared with what they would have had?", 20)
    'Compared with what …'
    """
    if len(text) <= length:
        return text
    ends = [found.end() for found in re.finditer(r"[.?!](?= )", text[: length + 1])]
    return text[: ends[-1]] if ends else text[: text.rindex(" ", 0, length - 1)] + " …"


def head(icon: str, alt: str, description: str) -> str:
    """Return the lines for a page's head, from the icon's address, the picture's words and the page's description.

    >>> print(head("icon.png", "Two dots", "Who gains?"))
    <link rel="apple-touch-icon" href="icon.png" />
    <link rel="icon" type="image/png" sizes="180x180" href="icon.png" />
    <meta name="description" content="Who gains?" />
    <meta property="og:image:width" content="1200" />
    <meta property="og:image:height" content="630" />
    <meta name="twitter:card" content="summary_large_image" />
    <meta name="twitter:image:alt" content="Two dots" />
    <BLANKLINE>
    """
    lines = [
        f'<link rel="apple-touch-icon" href="{escape(icon)}" />',
        f'<link rel="icon" type="image/png" sizes="180x180" href="{escape(icon)}" />',
        f'<meta name="description" content="{escape(description)}" />',
        f'<meta property="og:image:width" content="{WIDTH}" />',
        f'<meta property="og:image:height" content="{HEIGHT}" />',
        '<meta name="twitter:card" content="summary_large_image" />',
        f'<meta name="twitter:image:alt" content="{escape(alt)}" />',
    ]
    return "\n".join(lines) + "\n"


def _on_page(app: Sphinx, _name: str, _template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    if doctree is None:  # search and index are no pages to share
        return
    described = clip(first_prose(doctree))
    # A new dict: the one there belongs to Sphinx's memory of the page. Quotes are escaped by sphinxext-opengraph.
    context["meta"] = dict(context.get("meta") or {}) | {"og:description": escape(described, quote=False)}
    context["metatags"] += head(context["pathto"](ICON, 1), app.config.ogp_image_alt, described)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, before sphinxext-opengraph looks at the page (500)."""
    app.connect("html-page-context", _on_page, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
