"""What an HTML page would load, show and run, found with the standard library's parser.

A browser reads some pages in another way than this parser. What the two could take differently (comments, escapes in a
style sheet, an attribute given twice) has no place in a card, and counts as loading.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import unquote_to_bytes

#: Attributes whose value a browser follows or loads.
ADDRESSES = ("src", "href", "xlink:href", "srcset", "poster", "action", "formaction", "data", "background", "ping",
             "manifest", "cite", "srcdoc", "codebase", "archive", "longdesc", "usemap")  # fmt: skip
ACTIVE = ("script", "iframe", "frame", "frameset", "object", "embed", "applet", "base", "link", "form", "foreignobject",
          "portal", "animate", "animatecolor", "animatemotion", "animatetransform", "set", "discard", "handler",
          "listener")  # fmt: skip
#: Elements whose content is text to one reader and elements to another.
UNSURE = ("math", "template", "noscript", "noembed", "noframes", "plaintext", "textarea", "xmp", "select", "listing")
LOADING = re.compile(
    r"url\(\s*['\"]?\s*(?!data:|#)[^)]*|@import[^;]*|expression\(|(?:image-set|src|image|cross-fade)\(", re.IGNORECASE
)
WORDS = ("alt", "title", "content", "aria-label")  # attributes that are read, not followed
MARKUP = re.compile(r"<[!?][^\n]{0,30}")
STRINGS = re.compile(r"""/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.DOTALL)
DOCTYPE = "<!DOCTYPE html>"
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
    early : what comes before the first of these, but for the elements that hold it and the encoding
    headings : text of each <h1>
    title : text of <title>
    """

    loads: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    policies: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    title: str = ""
    inside: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element: is it allowed, and is each of its attributes?"""
        if tag.rpartition(":")[2] in (*ACTIVE, *UNSURE):
            self.loads.append(f"<{tag}>")
        held: dict[str, str] = {}
        for name, value in attrs:
            if name in held:
                self.loads.append(f"<{tag}> with {name} twice")
            held.setdefault(name, value or "")  # the first is the one that counts
            self._attribute(tag, name, value or "")
        self._meta(tag, held)
        if tag == "img":
            self.images.append(_svg(held.get("src", "")))
        if tag == "h1":
            self.headings.append("")
        if tag in ("style", "h1", "title"):
            self.inside.append(tag)

    def _meta(self, tag: str, held: Mapping[str, str]) -> None:
        """A policy, and what comes before the first one."""
        if tag == "meta" and (kind := held.get("http-equiv", "").lower()):
            if kind == "content-security-policy":
                self.policies.append(held.get("content", ""))
            elif kind != "content-type":
                self.loads.append(f"<meta http-equiv={kind}>")
        elif not self.policies and tag not in ("html", "head") and not (tag == "meta" and list(held) == ["charset"]):
            self.early.append(tag)

    def _attribute(self, tag: str, name: str, value: str) -> None:
        if name.startswith("on"):
            self.loads.append(f"<{tag} {name}>")
        address = "".join(value.split()).lower()
        follows = name in ADDRESSES or name.endswith(":href")
        if follows and address and not address.startswith("#") and not _is_image(tag, address):
            self.loads.append(f"<{tag} {name}={value[:40]}>")
        if not follows and name not in WORDS:
            self.loads += [f"<{tag} {name}> {each[:40]}" for each in _styled(value)]

    def handle_endtag(self, tag: str) -> None:
        """The end of an element; some ends make an element of their own."""
        if not self.policies:
            self.early.append(f"/{tag}")
        if tag in self.inside:
            self.inside.remove(tag)

    def handle_data(self, data: str) -> None:
        """Text: of a style sheet, a heading, or the title."""
        if not self.policies and data.strip():
            self.early.append("text")
        if "style" in self.inside:
            self.loads += [each[:60] for each in _styled(data)]
            self.loads += [f"{found[0]!r} in a style sheet" for found in re.finditer("[<&]", data)]
        if "h1" in self.inside:
            self.headings[-1] += data
        if "title" in self.inside:
            self.title += data


def _styled(text: str) -> list[str]:
    """What a style sheet or the style of an element would load; an escape outside a string may spell anything.

    >>> _styled("p{background:\\\\75rl(//x.org)}"), _styled("p{content:'\\\\2014'}")
    (['an escape in a style'], [])
    """
    found = [each[0] for each in LOADING.finditer(text)]
    return found + ["an escape in a style"] * ("\\" in STRINGS.sub(" ", text))


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
    page.loads += [f"{found[0]!r}" for found in MARKUP.finditer(text.removeprefix(DOCTYPE))]
    return page


def policy_lacks(page: Page) -> str | None:
    """What the page's policy does not say, or None when it keeps everything out but images and styles of its own.

    A browser adds up policies, takes the first of two directives of one name, and heeds a policy from where it stands
    on: so there is one, each directive once, before all else.

    >>> policy_lacks(read("<p>"))
    "default-src 'none'"
    >>> policy_lacks(read(f"<p><meta http-equiv='Content-Security-Policy' content=\\"{'; '.join(POLICY)}\\">"))
    'its place before <p>'
    """
    found = [" ".join(part.split()) for policy in page.policies for part in policy.split(";") if part.strip()]
    lacking = next((part for part in POLICY if part not in found), None)
    if lacking is None and (other := [part for part in found if part not in POLICY and not part.endswith(" 'none'")]):
        return f"strictness: it says {other[0][:60]!r}"
    if lacking is None and (len(page.policies) > 1 or len({part.split()[0].lower() for part in found}) < len(found)):
        return "singleness: something in it is said twice"
    if lacking is None and page.early:
        return f"its place before <{page.early[0]}>"
    return lacking
