"""A Sphinx extension: mend what screen readers stumble over in the HTML of the tools below us, and what weighs.

Docutils gives a bibliography roles that ARIA has withdrawn, pandas gives a table's corner an empty header, MyST-NB
names a button otherwise than it is labelled. The theme repeats the title for print as a second main heading, leaves
its name outside the landmarks, and wires the first of two menu buttons, which is hidden here. It also sends two
thousand icons three times over, as a script and as two fonts; a page shows twenty of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx

MENDED = [
    (re.compile(r'<div role="list" class="citation-list">'), '<div class="citation-list">'),
    (re.compile(r' role="doc-(?:biblioentry|backlink)"'), ""),
    (re.compile(r"<th>\s*</th>"), "<td></td>"),
    (re.compile(r'<summary aria-label="Toggle hidden content">'), "<summary>"),
    # On a narrow screen a picture scrolls in a box of its own rather than shrink until its words are too small.
    (re.compile(r"(<figure\b[^<>]*>\s*)(<img\b[^<>]*>)"), r'\1<div class="al-picture-box">\2</div>'),
]
BANNER = '<div class="sidebar-primary-item" role="banner">'  # all content stands in some landmark
# These stand in the theme's frame around the text.
WHOLE = [
    (re.compile(r'<button class="pst-navbar-icon sidebar-toggle (?:primary|secondary)-toggle".*?</button>', re.S), ""),
    (re.compile(r'<script defer src="[^"]*/fontawesome\.js[^"]*"></script>'), ""),
    (re.compile(r'(<div id="jb-print-docs-body"[^>]*>\s*)<h1>(.*?)</h1>', re.DOTALL), r"\1<p>\2</p>"),
    (re.compile(r'<div class="sidebar-primary-item">(?=\s*<a class="navbar-brand logo")'), BANNER),
]
ICON_RULE = re.compile(r'((?:\.fa-[\w-]+(?:::?before)?,?)+)\{(?:--fa|content):"\\([0-9a-f]+)"\}')


def mend(html: str) -> str:
    """Return the page's HTML without these.

    >>> mend('<tr><th></th><th>n</th></tr>')
    '<tr><td></td><th>n</th></tr>'
    >>> mend('<figure id="f"><img alt="Two bars." src="f.svg" /></figure>')
    '<figure id="f"><div class="al-picture-box"><img alt="Two bars." src="f.svg" /></div></figure>'
    """
    for pattern, replacement in MENDED:
        html = pattern.sub(replacement, html)
    return html


def mend_whole(html: str) -> str:
    """Return the finished page without the icons' script and with one main heading.

    >>> mend_whole('<div id="jb-print-docs-body" class="onlyprint"><h1>Sites</h1></div>')
    '<div id="jb-print-docs-body" class="onlyprint"><p>Sites</p></div>'
    """
    for pattern, replacement in WHOLE:
        html = pattern.sub(replacement, html)
    return html


def icon_codes(css: str, names: set[str]) -> set[int]:
    """The code points of the icons with these class names, from the theme's style sheet.

    >>> sheet = '.fa-map:before{content:"\\\\f279"}.fa-x:before,.fa-xmark:before{content:"\\\\f00d"}'
    >>> sorted(map(hex, icon_codes(sheet, {"fa-xmark"})))
    ['0xf00d']
    """
    return {
        int(code, 16) for selectors, code in ICON_RULE.findall(css) if names & set(re.findall(r"fa-[\w-]+", selectors))
    }


def shrink(font: Path, codes: Iterable[int]) -> None:
    """Keep only these characters of the font."""
    options = Options()
    options.drop_tables += ["FFTM"]
    content = TTFont(font)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=sorted(codes))
    subsetter.subset(content)
    content.save(font)


def lighten(site: Path) -> None:
    """Leave the site the icons it shows, as fonts of a few kilobytes."""
    sheet = site / "_static" / "styles" / "pydata-sphinx-theme.css"
    fonts = site / "_static" / "vendor" / "fontawesome" / "webfonts"
    if not (sheet.exists() and fonts.is_dir()):
        return  # another theme, another version
    css = sheet.read_text(encoding="utf-8")
    used: set[str] = set()
    for path in [*site.rglob("*.html"), *site.glob("_static/*.js"), *site.glob("_static/scripts/*theme.js")]:
        used |= set(re.findall(r"fa-[a-z0-9-]+", path.read_text(encoding="utf-8")))
    codes = icon_codes(css, used)
    for font in fonts.glob("*.ttf"):
        shrink(font, codes)
        font.with_suffix(".woff2").unlink(missing_ok=True)
    css = re.sub(r'url\([^()]*\.woff2\) format\("woff2"\),', "", css)
    sheet.write_text(css, encoding="utf-8")
    for script in site.glob("_static/scripts/fontawesome.js*"):
        script.unlink()


def _on_page(_app: Sphinx, _name: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    if "body" in context:
        context["body"] = mend(context["body"])


def _on_finish(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for page in site.rglob("*.html"):
        before = page.read_text(encoding="utf-8")
        after = mend_whole(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
    lighten(site)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", _on_page)
    app.connect("build-finished", _on_finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
