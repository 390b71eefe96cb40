"""What a program must do before anything large is imported; ``auditlib/__init__.py`` imports this first.

Importing takes a second or two, in which Ctrl-C is answered here, and NumPy reads ``SOURCE_DATE_EPOCH`` while it is
imported. As a library nothing is touched.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import NoReturn

WRONG, INTERRUPTED = 2, 130


def is_program(words: Sequence[str]) -> bool:
    """Whether Python was started as ``python -m auditlib`` or by the script ``auditlib``.

    >>> is_program(["python", "-m", "auditlib", "check"]), is_program(["python", "/bin/auditlib"])
    (True, True)
    >>> is_program(["python", "-c", "import auditlib"]), is_program(["python", "study.py", "auditlib"])
    (False, False)
    """
    rest = list(words[1:])
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c", "-"):
        rest = rest[2:] if rest[0] in ("-W", "-X") else rest[1:]
    if rest[:1] == ["-m"]:
        return rest[1:2] == ["auditlib"]
    name = os.path.basename(rest[0]) if rest else ""
    return name.removesuffix(".exe").removesuffix("-script.py") == "auditlib"


def wrong_epoch(value: str | None) -> str | None:
    """What is wrong with ``SOURCE_DATE_EPOCH``, in words; None if nothing is.

    >>> wrong_epoch("abc")
    "SOURCE_DATE_EPOCH must be seconds since 1970, not 'abc'."
    >>> wrong_epoch("1700000000"), wrong_epoch(None)
    (None, None)
    """
    if value is None:
        return None
    try:
        datetime.fromtimestamp(int(value), UTC)
    except (ValueError, OverflowError, OSError):
        return f"SOURCE_DATE_EPOCH must be seconds since 1970, not {value[:60]!r}."
    return None


def prepare() -> None:
    """Streams that are closed lead nowhere, Ctrl-C ends with one line, and a wrong date is told."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the free number, which else the first file opened would
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored, as after nohup
        signal.signal(signal.SIGINT, _interrupted)
    said = wrong_epoch(os.environ.get("SOURCE_DATE_EPOCH"))
    if said is not None:
        _leave(said.encode("ascii", "backslashreplace"), WRONG, b"error: ")


def _interrupted(number: int, frame: object) -> NoReturn:
    _leave(b"interrupted.", INTERRUPTED)


def _leave(said: bytes, status: int, kind: bytes = b"") -> NoReturn:
    with suppress(OSError):
        os.write(2, b"auditlib: " + kind + said + b"\n")
    os._exit(status)  # nothing is open yet, and an exception could be caught by whatever is being imported


if is_program(sys.orig_argv):
    prepare()
