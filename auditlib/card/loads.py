"""What an HTML page would load, show and run, found with the standard library's parser."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import unquote_to_bytes

#: Attributes whose value a browser follows or loads.
ADDRESSES = ("src", "href", "xlink:href", "srcset", "poster", "action", "formaction", "data", "background", "ping",
             "manifest", "cite", "srcdoc", "codebase", "archive", "longdesc", "usemap")  # fmt: skip
ACTIVE = ("script", "iframe", "frame", "object", "embed", "applet", "base", "link", "form", "foreignobject", "portal")
LOADING = re.compile(r"url\(\s*['\"]?\s*(?!data:|#)[^)]*|@import[^;]*|expression\(|image-set\(", re.IGNORECASE)
SVG = "data:image/svg+xml"
POLICY = ("default-src 'none'", "img-src data:", "style-src 'unsafe-inline'")


@dataclass
class Page(HTMLParser):
    """A page, read once.

    Attributes
    ----------
    loads : what it would load from elsewhere, or run
    images : its embedded SVG images
    policies : Content-Security-Policy of each <meta> that has one
    headings : text of each <h1>
    title : text of <title>
    """

    loads: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    policies: list[str] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    title: str = ""
    inside: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element: is it allowed, and is each of its attributes?"""
        if tag in ACTIVE:
            self.loads.append(f"<{tag}>")
        held = {name: value or "" for name, value in attrs}
        for name, value in held.items():
            self._attribute(tag, name, value)
        if tag == "meta" and (kind := held.get("http-equiv", "").lower()):
            if kind == "content-security-policy":
                self.policies.append(held.get("content", ""))
            elif kind != "content-type":
                self.loads.append(f"<meta http-equiv={kind}>")
        if tag == "img":
            self.images.append(_svg(held.get("src", "")))
        if tag == "h1":
            self.headings.append("")
        if tag in ("style", "h1", "title"):
            self.inside.append(tag)

    def _attribute(self, tag: str, name: str, value: str) -> None:
        if name.startswith("on"):
            self.loads.append(f"<{tag} {name}>")
        address = "".join(value.split()).lower()
        if name in ADDRESSES and address and not address.startswith("#") and not _is_image(tag, address):
            self.loads.append(f"<{tag} {name}={value[:40]}>")
        if name not in ADDRESSES and (found := LOADING.search(value)) and name not in ("alt", "title", "content"):
            self.loads.append(f"<{tag} {name}> {found[0][:40]}")

    def handle_endtag(self, tag: str) -> None:
        """The end of an element."""
        if tag in self.inside:
            self.inside.remove(tag)

    def handle_data(self, data: str) -> None:
        """Text: of a style sheet, a heading, or the title."""
        if "style" in self.inside:
            self.loads += [found[0][:60] for found in LOADING.finditer(data)]
        if "h1" in self.inside:
            self.headings[-1] += data
        if "title" in self.inside:
            self.title += data


def _is_image(tag: str, address: str) -> bool:
    return address.startswith("data:image/") and tag in ("img", "image")


def _svg(address: str) -> str:
    """The text of an embedded SVG; empty for anything else."""
    head, comma, body = address.partition(",")
    if not comma or not head.startswith(SVG):
        return ""
    try:
        held = unquote_to_bytes(body)
        return (base64.b64decode(held, validate=True) if head.endswith(";base64") else held).decode()
    except (ValueError, binascii.Error):
        return ""


def read(text: str) -> Page:
    """A page or an SVG, read to its end.

    >>> read('<img src="https://example.org/a.png"><a href="#top">').loads
    ['<img src=https://example.org/a.png>']
    """
    page = Page()
    page.feed(text)
    page.close()
    return page


def policy_lacks(page: Page) -> str | None:
    """What the page's policy does not say, or None when it keeps everything out but images and styles of its own.

    >>> policy_lacks(read("<p>"))
    "default-src 'none'"
    """
    held = {" ".join(part.split()) for policy in page.policies for part in policy.split(";")}
    return next((part for part in POLICY if part not in held), None)
