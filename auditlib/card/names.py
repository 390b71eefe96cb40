"""Names as HTML, isolated from the text around them."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from auditlib.audits.names import clean

_QUOTED = re.compile("“([^“”]*)”")


def marked(text: object) -> Markup:
    """A sentence as HTML, each name in “ ” isolated, so that one from right to left does not turn its neighbours.

    >>> marked("“<b>” has 3")
    Markup('“<bdi>&lt;b&gt;</bdi>” has 3')
    """
    return Markup(_QUOTED.sub(r"“<bdi>\1</bdi>”", str(escape(clean(text)))))


def named(name: object, label: str) -> Markup:
    """A name as HTML by its label; the whole of it in a title where the label is shorter.

    >>> named("left hand", "left…")
    Markup('<bdi title="left hand">left…</bdi>')
    """
    whole = clean(name)
    title = Markup(' title="{}"').format(whole) if whole != label else ""
    return Markup("<bdi{}>{}</bdi>").format(title, label)
