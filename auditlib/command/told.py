"""What a command says: progress and warnings on the standard error, findings on the standard output.

A stream that is closed or full stops no audit: what was found is in the folder.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO

from auditlib.audits.said import short
from auditlib.card import Audit
from auditlib.card.facts import small_cells
from auditlib.plots.style import legible


def say(line: str, quiet: bool = False) -> None:
    """A line of progress, or of what is wrong."""
    if quiet or sys.stderr is None:  # print would take the standard output instead
        return
    try:
        print(one_line(line), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        _silence(sys.stderr)


def tell(text: str, instead: str) -> bool:
    """Text on the standard output; where that is closed or full, ``instead`` on the standard error, and False."""
    if sys.stdout is None:
        said = "it is closed"
    else:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
            return True
        except BrokenPipeError:  # the reader of a pipe has seen enough
            _silence(sys.stdout)
            return True
        except (OSError, ValueError) as error:  # ValueError: closed within Python
            said = str(getattr(error, "strerror", None) or error)
            _silence(sys.stdout)
    say(f"auditlib: note: the standard output cannot be written ({said}); {instead}")
    return False


def _silence(stream: TextIO) -> None:
    """What Python flushes at its end goes nowhere, rather than to an error and another status."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def one_line(text: object) -> str:
    """Text on one line, without what moves a terminal's cursor.

    >>> one_line("a\\x1b[2Jb\\n c")
    'a�[2Jb c'
    """
    return " ".join(legible(str(text).encode("utf-8", "replace").decode()).split())


def found(audit: Audit, folder: str) -> None:
    """The headline, where the card is, and what to ask next."""
    lines = [audit.headline, ""]
    lines += [f"Written to {one_line(folder)}; open {one_line(folder)}/result_card.html in a browser.", ""]
    lines += ["To ask next:"]
    for line in audit.results["follow_ups"]:
        lines += [f"- {line['why']['text']}", f"  {legible(line['command'])}"]
    tell("\n".join(lines) + "\n", f"the findings are in {folder}.")


def warn_small(audit: Audit) -> None:
    """A line when lines of the counts hold so few people that sharing them needs thought."""
    if audit.results["input"]["small_cells"]:
        say(f"auditlib: note: {small_cells(audit.results)}")


def called(path: str) -> str:
    """A file as progress names it."""
    return short(path, 80)
