"""``auditlib audit``: rows, count tables or confusion matrices."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from auditlib.audits import Options, Source, confusion_source, counts_source, file_source, name_of, results_of
from auditlib.audits import added as sum_of
from auditlib.card import Audit
from auditlib.card.entry import finished
from auditlib.command.parser import Given
from auditlib.command.spell import speller
from auditlib.command.told import called, say
from auditlib.command.values import flag, options_of
from auditlib.counts import Counts, parse_confusion
from auditlib.counts.files import MAGIC
from auditlib.errors import AuditInputError

OF_ROWS = ("label", "score", "cluster", "positive", "missing", "delimiter", "encoding", "bins")
NEEDED = ("label", "score", "by")
MOST_TEXT = 1_000_000  # bytes of a file of confusion matrices


def plan(given: Given) -> Options:
    """The options of an audit, checked without opening a file.

    Raises
    ------
    AuditInputError
    """
    if given.files and "confusion" in given.options:
        raise AuditInputError("give a FILE or --confusion, not both.")
    if not given.files and "confusion" not in given.options:
        raise AuditInputError("say what is audited: a FILE, or --confusion 'Women:80,40,800,30; Men:120,90,700,25'.")
    if "confusion" in given.options:
        refuse(given, (*OF_ROWS, "by", "site"), "goes with rows; confusion matrices have none")
    return options_of(given.options)


def run(given: Given, quiet: bool) -> Audit:
    """The audit that a command line asks for."""
    options = plan(given)
    if "confusion" in given.options:
        return told_of(confusions(given.options["confusion"], options), options, given, quiet)
    tables = [path for path in given.files if is_counts(path)]
    if not tables and len(given.files) > 1:
        raise AuditInputError(
            f"{len(given.files)} tables of rows: audit one, or count each hospital's and give their count tables."
        )
    if tables and len(tables) < len(given.files):
        other = next(path for path in given.files if path not in tables)
        raise AuditInputError(f"{other!r} is no count table, but {tables[0]!r} is; only count tables can be added.")
    source = added(given, options, quiet) if tables else rows(given, options, quiet)
    return told_of(source, options, given, quiet)


def told_of(source: Source, options: Options, given: Given, quiet: bool) -> Audit:
    """Results of a source with their sentences and commands."""
    say(f"{options.replicates:,} replicates …", quiet)
    return finished(results_of(source, options), source, speller(given))


def rows(given: Given, options: Options, quiet: bool) -> Source:
    """A table of rows as a source."""
    asked = given.options
    lacking = [flag(name) for name in NEEDED if name not in asked]
    if lacking:
        raise AuditInputError(f"{called(given.files[0])!r} is a table of rows: name its columns, {', '.join(lacking)}.")
    path, by = given.files[0], list(asked["by"])
    say(f"reading {called(path)} …", quiet)
    known = {name: asked.get(name) for name in ("label", "score", "site", "cluster", "positive")}
    known["missing"] = asked.get("missing", "raise")
    form = {name: asked.get(name) for name in ("delimiter", "encoding")}
    return file_source(path, by, known, options, **form, told=lambda text: say(text, quiet))


def added(given: Given, options: Options, quiet: bool) -> Source:
    """Count tables, added where there are several, as a source."""
    refuse(given, OF_ROWS, "goes with rows; a count table holds it already")
    held: dict[str, tuple[Counts, str]] = {}
    for path in given.files:
        say(f"reading {called(path)} …", quiet)
        if path in held:
            raise AuditInputError(f"{path!r} is named twice; its people would count twice.")
        held[path] = Counts.read_csv(path), hashlib.sha256(Path(path).read_bytes()).hexdigest()
    total = sum_of([counts for counts, _ in held.values()], list(held))
    facts: dict[str, Any] = {"name": " + ".join(map(name_of, held)), "sha256": together(held)}
    if len(held) > 1:
        facts["hospitals"] = len(held)
    return counts_source(total, given.options.get("by"), given.options.get("site"), options, facts)


def together(held: Mapping[str, tuple[Counts, str]]) -> str:
    """SHA-256 of a file, or of the lines that ``sha256sum`` gives for several."""
    if len(held) == 1:
        return next(iter(held.values()))[1]
    lines = "".join(f"{digest}  {name_of(path)}\n" for path, (_, digest) in held.items())
    return hashlib.sha256(lines.encode()).hexdigest()


def confusions(text: str, options: Options, name: str = "--confusion") -> Source:
    """Confusion matrices as a source: the text itself, or ``@FILE`` that holds it."""
    facts: dict[str, Any] = {}
    if text.startswith("@") and (":" not in text or os.path.isfile(text[1:])):
        path = text[1:]
        held = small_file(path)
        facts = {"name": name_of(path), "sha256": hashlib.sha256(held).hexdigest()}
        try:
            text = held.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise AuditInputError(f"{path!r} is no UTF-8 text, so it holds no confusion matrices.") from None
    try:
        table = parse_confusion(text)
    except AuditInputError as error:
        raise AuditInputError(f"{name}: {error}") from None
    return confusion_source(table, None, options, facts)


def refuse(given: Given, names: Sequence[str], why: str) -> None:
    """An error for an option that says nothing here."""
    for name in names:
        if name in given.options:
            raise AuditInputError(f"{flag(name)} {why}; leave it out.")


def is_counts(path: str) -> bool:
    """Whether a file begins as a count table does, be it saved again by a spreadsheet program."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False  # opening a pipe would wait
        with open(path, "rb") as file:
            head = file.read(64)
    except (OSError, ValueError):
        return False  # what is wrong with it, reading rows says
    return head.decode("utf-8", "replace").lstrip('\ufeff"').startswith(MAGIC)


def small_file(path: str) -> bytes:
    """The bytes of an ordinary file that is not large."""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            raise AuditInputError(f"{path!r} is not an ordinary file.")
        if found.st_size > MOST_TEXT:
            raise AuditInputError(f"{path!r} holds {found.st_size:,} bytes; more than {MOST_TEXT:,} is no such file.")
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, AuditInputError):
            raise
        raise AuditInputError(f"{path!r} cannot be read ({getattr(error, 'strerror', None) or error}).") from None
