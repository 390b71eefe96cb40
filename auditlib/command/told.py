"""What a command says: progress and warnings on the standard error, findings on the standard output."""

from __future__ import annotations

import sys

from auditlib.audits.said import short
from auditlib.card import Audit
from auditlib.card.folder import COUNTS, shared_counts
from auditlib.plots.style import legible


def say(line: str, quiet: bool = False) -> None:
    """A line of progress."""
    if not quiet:
        print(one_line(line), file=sys.stderr, flush=True)


def one_line(text: object) -> str:
    """Text on one line, without what moves a terminal's cursor.

    >>> one_line("a\\x1b[2Jb\\n c")
    'a�[2Jb c'
    """
    return " ".join(legible(str(text).encode("utf-8", "replace").decode()).split())


def found(audit: Audit, folder: str) -> None:
    """The headline, where the card is, and what to ask next."""
    print(audit.headline)
    print(f"\nWritten to {one_line(folder)}; open {one_line(folder)}/result_card.html in a browser.")
    print("\nTo ask next:")
    for line in audit.results["follow_ups"]:
        print(f"- {line['why']['text']}")
        print(f"  {legible(line['command'])}")
    sys.stdout.flush()


def warn_small(audit: Audit) -> None:
    """A line when cells of the counts hold so few people that sharing them needs thought."""
    cells = shared_counts(audit)[COUNTS].small_cells()
    if cells:
        lines = "1 line holds" if cells == 1 else f"{cells:,} lines hold"
        print(f"auditlib: note: in {COUNTS} {lines} fewer than 5 people; mind that before sharing it.", file=sys.stderr)


def called(path: str) -> str:
    """A file as progress names it."""
    return short(path, 80)
