"""How values and names are shown in a message of one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

LONGEST = 60


def shown(value: str) -> str:
    """A value in quotes, cut where it is long; line breaks and other invisible characters are escaped by ``repr``.

    >>> shown("a\\nb")
    "'a\\\\nb'"
    """
    return repr(value if len(value) <= LONGEST else value[:LONGEST] + "…")


def listed(values: Iterable[str], most: int) -> str:
    """Up to ``most`` values, and how many more there are.

    >>> listed(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    held = list(values)
    more = f" and {len(held) - most:,} more" if len(held) > most else ""
    return ", ".join(map(shown, held[:most])) + more


def counted(found: Mapping[str, int], most: int = 10) -> str:
    """Up to ``most`` values, the commonest first, each with its number of rows.

    >>> counted({"NA": 2, "?": 1200})
    "'?' (1,200), 'NA' (2)"
    """
    held = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    more = f" and {len(held) - most:,} more" if len(held) > most else ""
    return ", ".join(f"{shown(value)} ({n:,})" for value, n in held[:most]) + more


def rows_of(n: int) -> str:
    """A number of rows in words.

    >>> rows_of(1), rows_of(1234)
    ('1 row', '1,234 rows')
    """
    return "1 row" if n == 1 else f"{n:,} rows"


def said(error: BaseException) -> str:
    """The first line of what an error says, cut where it is long."""
    text = getattr(error, "strerror", None) or str(error).strip().partition("\n")[0] or type(error).__name__
    return "".join(letter if letter.isprintable() else " " for letter in str(text))[:200].rstrip(".")
