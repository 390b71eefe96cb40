"""Two sets of plain values side by side: where they differ, by JSON pointer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

SAME = 1e-9  # results have twelve digits
UNKNOWN = ...  # a value that cannot be told


@dataclass(frozen=True)
class About:
    """A number that is known but for chance."""

    value: float | None
    within: float


def differences(found: Any, held: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Pointer, value found and value held wherever ``held`` is not what was found.

    Of an object only the names in ``found`` are looked at, and nothing where that is ``UNKNOWN``.

    >>> list(differences({"a": [1, 2.0]}, {"a": [1, 2.5], "b": 3}))
    [('/a/1', 2.0, 2.5)]
    >>> list(differences([About(0.5, 0.1), ...], [0.55, "anything"]))
    []
    """
    if found is UNKNOWN:
        return
    if isinstance(found, Mapping) and isinstance(held, Mapping):
        for name, value in found.items():
            yield from differences(value, held.get(name), f"{path}/{_escaped(name)}")
    elif isinstance(found, list | tuple) and isinstance(held, list | tuple) and len(found) == len(held):
        for place, (one, other) in enumerate(zip(found, held, strict=True)):
            yield from differences(one, other, f"{path}/{place}")
    elif not same(found, held):
        yield path, found, held


def same(found: Any, held: Any) -> bool:
    """Whether two values are the same, numbers to the digits of the results.

    >>> same(0.1, 0.1 + 1e-13), same(None, None), same(0.0, None), same(1, True), same(About(0.1, 0.05), 0.2)
    (True, True, False, False, False)
    """
    if isinstance(found, About):
        if found.value is None or not _is_number(held):
            return found.value is None and held is None
        return abs(found.value - float(held)) <= found.within
    if _is_number(found) and _is_number(held):
        return math.isclose(found, held, rel_tol=SAME, abs_tol=SAME)
    return type(found) is type(held) and bool(found == held)


def worded(value: Any) -> str:
    """A value in a sentence, cut where it is long.

    >>> worded(0.25), worded(None), worded(About(0.25, 0.05)), worded([1, 2])
    ('0.25', 'null', 'about 0.25', '2 entries')
    """
    if isinstance(value, About):
        return f"about {worded(value.value)}"
    if value is None:
        return "null"
    if isinstance(value, Mapping | list | tuple):
        return f"{len(value):,} entries"
    return f"{value:.12g}" if _is_number(value) else repr(value)[:60]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _escaped(name: Any) -> str:
    return str(name).replace("~", "~0").replace("/", "~1")
