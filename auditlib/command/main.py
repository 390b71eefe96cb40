"""``main``: a command line in, a status out; whatever is wrong with input is one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import auditlib
from auditlib.card.folder import target_of, write
from auditlib.command import audit, check, gap, texts
from auditlib.command.listed import OUT
from auditlib.command.parser import Given, parse
from auditlib.command.told import found, one_line, say, tell, warn_small
from auditlib.errors import AuditInputError

DONE, FAILED, WRONG, INTERRUPTED = 0, 1, 2, 130
NO_HELP = "there is nobody to tell."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; 0 done, 1 a check failed, 2 input that cannot be used, 130 interrupted.

    >>> main(["--version"])  # doctest: +ELLIPSIS
    auditlib ...
    0
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(words)
    except AuditInputError as error:
        return _wrong(error)
    except MemoryError:
        return _wrong("there is not enough memory for this audit; count fewer columns or groups.")
    except KeyboardInterrupt:
        say("auditlib: interrupted.")
        return INTERRUPTED
    except SystemExit as left:  # a help was printed, or the process asked to stop
        return int(left.code or 0) if left.code or tell("", NO_HELP) else WRONG


def _wrong(error: object) -> int:
    say(f"auditlib: error: {one_line(error)}")
    return WRONG


def _run(words: Sequence[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        return DONE if tell(texts.TOP, NO_HELP) and words else WRONG
    if words[0] == "--version":
        return DONE if tell(f"auditlib {auditlib.__version__}\n", NO_HELP) else WRONG
    strange = next((word for word in words if not word.isprintable() and _surrogate(word)), None)
    if strange is not None:
        raise AuditInputError(f"{strange!r} is no UTF-8 text; rename the file or write the name in UTF-8.")
    given = parse(words)
    if given.command == "check":
        return check.run(given)
    return _audited(given)


def _surrogate(word: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in word)


def check_places(inputs: Sequence[str]) -> None:
    """An error where the working folder is gone, or an input is a link that leads to itself."""
    try:
        os.getcwd()
    except OSError:
        raise AuditInputError("the folder you are in is gone; change into another one.") from None
    for each in inputs:
        try:
            Path(each).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            loop = isinstance(error, RuntimeError)
            said = "a link that leads to itself" if loop else getattr(error, "strerror", None) or error
            raise AuditInputError(f"{each!r} cannot be read ({said}).") from None


def _audited(given: Given) -> int:
    """An audit, its folder and what it found; that the folder can be written is looked at first."""
    quiet, out = bool(given.options.get("quiet")), given.options.get("out", OUT)
    inputs = [*given.files, *(given.options[name] for name in ("params",) if name in given.options)]
    check_places(inputs)
    target_of(out, inputs)
    held = audit.run(given, quiet) if given.command == "audit" else gap.run(given, quiet)
    say(f"writing {out} …", quiet)
    write(held, out, inputs)
    warn_small(held)
    found(held, out)
    return DONE
