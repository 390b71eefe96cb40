"""What a user called things, made fit to be shown: legible, short, and still told apart."""

from __future__ import annotations

import re
from collections.abc import Iterable

from auditlib.plots.style import legible

# Marks that turn the direction of everything after them; letters of right-to-left scripts need none.
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def clean(text: object) -> str:
    """A text with a mark in place of what no page may hold, or what would turn round the text beside it.

    >>> clean("ward\\x001"), clean("a\\u202eb")
    ('ward�1', 'a�b')
    """
    return _TURNS.sub("�", legible(text))


def labels(names: Iterable[object], width: int) -> dict[str, str]:
    """Each name on one line of at most ``width`` letters, no two alike.

    Names that would be cut to the same text keep their ends; those still alike get a number.

    >>> labels(["left\\nhand", "x"], 12)
    {'left\\nhand': 'left hand', 'x': 'x'}
    >>> list(labels(["Ward of the north side, 1", "Ward of the north side, 2"], 12).values())
    ['Ward of…, 1', 'Ward of…, 2']
    """
    known = list(dict.fromkeys(map(str, names)))
    lines = {name: " ".join(clean(name).split()) or "(blank)" for name in known}
    for tail in (0, 3, width // 2):
        found = {name: _cut(line, width, tail) for name, line in lines.items()}
        if len(set(found.values())) == len(found):
            return found
    taken: set[str] = set()
    for name, text in found.items():
        number = 1
        while text in taken:
            number += 1
            mark = f" ({number})"
            text = _cut(lines[name], width - len(mark), 0) + mark
        taken.add(text)
        found[name] = text
    return found


def _cut(line: str, width: int, tail: int) -> str:
    """The line, or its beginning and the last ``tail`` letters."""
    if len(line) <= width:
        return line
    return line[: width - 1 - tail].rstrip() + "…" + line[len(line) - tail :]
