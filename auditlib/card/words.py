"""Words that a card may not use: judgements that no audit can make, and hype."""

from __future__ import annotations

import re
from collections.abc import Iterable

from auditlib.audits.names import clean

#: Patterns of what a card does not say of a model, a group or a result.
BARRED: tuple[str, ...] = (
    r"\bfair(?:er|est|ly|ness)?\b",
    r"\bunfair\w*",
    r"\b(?:un)?bias\w*",
    r"\b\w*discriminat\w*",
    r"\b(?:in)?equitabl\w*",
    r"\b(?:racis|sexis|ageis)[tm]\w*",
    r"\bcrucial\w*",
    r"\b(?:powerful|striking|dramatic|remarkabl|astonish|groundbreaking|revolution|seamless|effortless)\w*",
    r"\b(?:cutting[- ]edge|state[- ]of[- ]the[- ]art|best[- ]in[- ]class|world[- ]class|game[- ]chang\w*)\b",
)
_BARRED = re.compile("|".join(BARRED), re.IGNORECASE)
_LEAST = 3  # letters of a shortened name that are taken for it


def barred(text: str, names: Iterable[object] = ()) -> list[str]:
    """The barred words of a text, in order; what stands inside a name that the user gave is not the card's word.

    Parameters
    ----------
    text : str
        As a reader sees it, without mark-up.
    names : of groups, columns, files; also recognised where they were shortened with "…".

    Examples
    --------
    >>> barred("A fair model for the “Fair Isle” ward.", ["Fair Isle"])
    ['fair']
    >>> barred("“Fair Isle an…” has 12 people.", ["Fair Isle and other islands"])
    []
    """
    held = text
    known = sorted({" ".join(clean(name).split()) for name in names}, key=len, reverse=True)
    for name in filter(None, known):
        held = re.sub(rf"(?<!\w){_loose(name)}(?!\w)", _blank, held)
        held = _without_parts(held, name)
    return [match[0] for match in _BARRED.finditer(held)]


def _loose(name: str) -> str:
    return r"\s+".join(map(re.escape, name.split(" ")))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _without_parts(text: str, name: str) -> str:
    """Without the beginning of the name before a "…", and its end after one."""
    lengths = range(len(name), _LEAST - 1, -1)
    for place in [match.start() for match in re.finditer("…", text)]:
        rest = text[place + 1 :]
        before = next((k for k in lengths if k <= place and text[place - k : place] == name[:k]), 0)
        after = next((k for k in lengths if rest[:k] == name[-k:]), 0)
        text = text[: place - before] + " " * before + "…" + " " * after + rest[after:]
    return text
