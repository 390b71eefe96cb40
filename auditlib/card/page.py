"""The result card as a page of its own, or as a part of a notebook or book page."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from auditlib.audits.caveats import ZERO
from auditlib.audits.names import clean
from auditlib.audits.said import UNDEFINED
from auditlib.card import facts, tables
from auditlib.card.figures import Picture, figures
from auditlib.card.names import marked
from auditlib.card.readings import NAMES, groups, readings
from auditlib.errors import AuditInputError
from auditlib.plots.style import PALETTE

PAPER, LONG = 430, 200  # letters on paper: of the caveats, and of the three commands
LEVELS = range(1, 6)
WIDE = ("groups", "benefit")
#: What each tile stresses, by where it stands in the results.
STRESSED = ("/chance/gap/estimate", "/raw/estimate", "/same_side", "/excluding", "/choices/above", "/choices/below")


def page(results: Mapping[str, Any], pictures: Mapping[str, Picture] | None = None) -> str:
    """The card as a whole HTML document that loads nothing.

    Parameters
    ----------
    results : mapping
        As in ``results.json``.
    pictures : mapping of name to Picture, optional
        Those of ``figures(results)``, where they were drawn already.

    Examples
    --------
    >>> import auditlib as al
    >>> text = page(al.audit("Women:80,40,800,30; Men:120,90,700,25").results)
    >>> text.splitlines()[0], text.count("<h1"), "http:" in text
    ('<!DOCTYPE html>', 1, False)
    """
    return _rendered(results, pictures, 1, whole=True)


def fragment(results: Mapping[str, Any], pictures: Mapping[str, Picture] | None = None, level: int = 3) -> str:
    """The same card as one element for a page that has its own headings and landmarks.

    Parameters
    ----------
    results, pictures : as in ``page``
    level : int
        Of the headline among the headings of that page, 1 to 5.

    Raises
    ------
    AuditInputError
        For another level.

    Examples
    --------
    >>> import auditlib as al
    >>> text = fragment(al.audit("Women:80,40,800,30; Men:120,90,700,25").results)
    >>> text[:21], text.count("<h3"), "<main" in text
    ('<div class="al-card">', 1, False)
    """
    if level not in LEVELS:
        raise AuditInputError(f"level must be a whole number from 1 to 5, not {level!r}.")
    return _rendered(results, pictures, level, whole=False)


def _rendered(results: Mapping[str, Any], pictures: Mapping[str, Picture] | None, level: int, whole: bool) -> str:
    drawn = figures(results) if pictures is None else pictures
    told, made = readings(results), tables.tables(results)
    questions = [
        {"question": tile["question"], "picture": drawn.get(name), "reading": told[name]}
        for name, tile in zip(NAMES, results["tiles"], strict=True)
    ]
    return _template().render(
        results=results,
        whole=whole,
        level=level,
        palette=PALETTE,
        audited=facts.audited(results),
        tiles=[{"question": tile["question"], "text": _stressed(tile)} for tile in results["tiles"]],
        questions=questions,
        wide=[(table, drawn.get(table.name)) for table in made if table.name in WIDE],
        narrow=[table for table in made if table.name not in WIDE],
        capacity=tables.capacity(results),
        attributes=tables.attributes(results),
        published=tables.published(results),
        printed=_printed(results),
        made=facts.made(results),
        small_cells=facts.small_cells(results),
    )


def _printed(results: Mapping[str, Any]) -> dict[str, Any]:
    """Which caveats, and how many lines of the other parts, fit on one page.

    The rest is on the screen, and all of it in results.json.
    """
    commands = sum(len(one.get("command", "")) for one in results["follow_ups"])
    return {
        "caveats": _caveats([caveat["text"] for caveat in results["caveats"]]),
        "attributes": 2 if len(results["attributes"]) < 4 else 1,
        "benefit": 4 if len(groups(results)) < 5 else 2,
        "commands": 2 if commands < LONG else 1,  # lines of each
    }


def _caveats(texts: Sequence[str]) -> list[int]:
    """Places of the caveats on paper: the first that fit, and that of an interval that contains zero among them.

    >>> _caveats(["x" * 300, "y" * 100, ZERO, "z"]), _caveats(["x" * 200, ZERO, "y" * 100])
    ([0, 2], [0, 1, 2])
    """
    kept = [place for place, text in enumerate(texts) if text == ZERO]
    room = PAPER - sum(len(texts[place]) for place in kept)
    rest = [place for place in range(len(texts)) if place not in kept]
    lengths = list(accumulate(len(texts[place]) for place in rest))
    return sorted([*kept, *rest[: max(1, sum(length <= room for length in lengths))]])


def _stressed(tile: Mapping[str, Any]) -> Markup:
    """The sentence of a tile with its answers stressed: an estimate at its first place, a count at its last."""
    text = str(marked(tile["text"]))
    for number in tile["numbers"]:
        if number["pointer"].endswith(STRESSED):
            places = list(re.finditer(rf"(?<![\w.,−+>]){re.escape(number['text'])}(?![\d%]|[.,]\d)", text))
            if places:
                found = places[0 if number["form"] == "points" else -1]
                text = f"{text[: found.start()]}<strong>{found[0]}</strong>{text[found.end() :]}"
    return Markup(text)


def _src(picture: Picture) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(picture.svg.encode()).decode()


def _kind(text: str) -> Markup:
    """The class of a cell that is no ordinary number."""
    if text == "fail":
        return Markup(' class="al-fail"')
    return Markup(' class="al-reason"') if text.startswith(f"{UNDEFINED} (") else Markup("")


def _fit(value: Any) -> Any:
    """Whatever a user called things, legible."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _template() -> Any:
    made = Environment(
        loader=FileSystemLoader(__file__.removesuffix("page.py")),
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined, finalize=_fit,
    )  # fmt: skip
    made.globals["kind"] = _kind
    made.filters |= {"marked": marked, "src": _src}
    return made.get_template("card.html.j2")
