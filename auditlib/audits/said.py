"""Sentences whose numbers are places in the results, so that a card can be checked against them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from auditlib.audits.names import labels
from auditlib.errors import AuditInputError

SHORT = 40  # letters of a name in a sentence; the tables have it whole
UNDEFINED = "undefined"
NOTHING = 5e-6  # a share under which points are shown as zero


def shown(value: Any, form: str) -> str:
    """A number in one of the forms in which cards show them; "undefined" for None.

    >>> shown(-0.0331, "points"), shown(0.412, "share"), shown(1262, "count"), shown(0.1161, "risk")
    ('−3.3', '41%', '1,262', '0.116')
    >>> shown(0.9412, "ten thousand"), shown(-0.0023, "per ten thousand"), shown(0.9964, "share"), shown(0.004, "share")
    ('9,412', '−23', 'over 99%', 'under 1%')

    Points that are not zero, but round to it, have one digit, so that the end of an interval that excludes zero does
    not read as zero; under 0.0005 points they are zero.

    >>> shown(-0.00004, "points"), shown(0.00004, "width"), shown(-0.000004, "points")
    ('−0.004', '0.004', '0.0')
    """
    if value is None:
        return UNDEFINED
    if form == "share":
        return _share(value)
    text = {
        "points": f"{100 * value:+{_digits(value)}}",
        "width": f"{100 * value:{_digits(value)}}",
        "count": f"{value:,.0f}",
        "risk": f"{value:.3g}",
        "value": f"{value:.3f}",
        "percent": f"{100 * value:.1f}%",
        "ten thousand": f"{10_000 * value:,.0f}",
        "per ten thousand": f"{10_000 * value:+,.0f}",
    }[form]
    return _unsigned(text)


def _digits(share: float) -> str:
    """One decimal of a hundredth, or one digit where that would be 0.0 and the share is not."""
    return ".1g" if abs(share) >= NOTHING and float(f"{100 * share:.1f}") == 0 else ".1f"


def _unsigned(text: str) -> str:
    """With a true minus, and no sign before a zero."""
    if text.strip("+-0.,%") == "":
        return text.lstrip("+-")
    return text.replace("-", "−")


def _share(value: float) -> str:
    """Whole percent; what is not all or none does not look it."""
    if 0.99 < value < 1:
        return "over 99%"
    if 0 < value < 0.01:
        return "under 1%"
    return f"{100 * value:.0f}%"


def short(name: Any, width: int = SHORT) -> str:
    """A name as it stands in a sentence: on one line, readable, at most so long.

    >>> short("a" * 50) == "a" * 39 + "…", short("left\\nright")
    (True, 'left right')
    """
    return labels([name], width)[str(name)]


def at(results: Any, pointer: str) -> Any:
    """The value at a JSON pointer (RFC 6901); an error where there is none.

    >>> at({"a": [{"b/c": 3}]}, "/a/0/b~1c")
    3
    """
    held = results
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        try:
            held = held[int(key)] if isinstance(held, list) else held[key]
        except (KeyError, IndexError, ValueError, TypeError):
            raise AuditInputError(f"there is nothing at {pointer!r} in the results.") from None
    return held


@dataclass(frozen=True)
class Said:
    """A sentence, and where each of its numbers stands in the results."""

    text: str
    numbers: tuple[tuple[str, str, str], ...]  # text, pointer, form

    def plain(self) -> dict[str, Any]:
        """For ``results.json``."""
        numbers = [{"text": text, "pointer": pointer, "form": form} for text, pointer, form in self.numbers]
        return {"text": self.text, "numbers": numbers}


def say(
    results: Mapping[str, Any], template: str, names: Mapping[str, Any] | None = None, /, **numbers: tuple[str, str]
) -> Said:
    """A sentence from a template: ``names`` as they are, each number a (pointer, form).

    >>> say({"gap": {"estimate": -0.033}}, "A gap of {g} points.", g=("/gap/estimate", "points")).text
    'A gap of −3.3 points.'
    """
    held = [(shown(at(results, pointer), form), pointer, form) for pointer, form in numbers.values()]
    filled = dict(zip(numbers, (text for text, *_ in held), strict=True))
    apart = labels((names or {}).values(), SHORT)
    words = {name: apart[str(value)] for name, value in (names or {}).items()}
    return Said(template.format(**words, **filled), tuple(held))
