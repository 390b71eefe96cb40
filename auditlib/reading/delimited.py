"""Delimited text as columns of text. A line with too few or too many fields is an error, never padded or cut.

Python's own parser reads it, with ``strict``: pandas pads short lines in silence, and with some columns only
(``usecols``) it cuts long ones, too; Arrow takes a quote that is never closed for one that is.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from auditlib.errors import AuditInputError
from auditlib.reading.names import MANY, Needed, alike, check_names
from auditlib.reading.text import breaks, lines
from auditlib.reading.words import said

USUAL = (",", ";", "\t", "|")
SPELLED = {"tab": "\t", "\\t": "\t"}
BATCH = 50_000
EXCEL = re.compile(r'"?sep=(.)"?(\r\n|\r|\n|\Z)')  # a first line in which Excel names the delimiter
ONE_COLUMN = " If the file has several, name what separates them with delimiter= (--delimiter)."


@dataclass
class Columns:
    """Columns of text (None where a field is empty), the delimiter, blank lines, and whether the last line ends."""

    table: pa.Table
    delimiter: str
    blank: int
    ended: bool


@dataclass
class Ragged:
    """Lines with too few or too many fields: the first, and how many there are."""

    width: int
    line: int = 0
    fields: int = 0
    count: int = 0
    one_more: bool = True

    def add(self, line: int, fields: int) -> None:
        """One more such line."""
        if not self.count:
            self.line, self.fields = line, fields
        self.count += 1
        self.one_more &= fields == self.width + 1

    def check(self, path: str, rows: int, end: str = "") -> None:
        """An error if there is one; ``end`` says why reading stopped before the end of the file."""
        if not self.count:
            return
        many = f"{self.count:,} such lines" if self.count > 1 else "the only such line"
        cause = "a delimiter inside a value needs quotes around the value"
        if self.one_more and not rows:
            cause = "if the first field numbers the rows, as in R, give it a name in the first line"
        raise AuditInputError(
            f"{path!r}, line {self.line:,}: {self.fields:,} fields, where the first line has {self.width:,} "
            f"({many}{end}); nothing is dropped or shifted, so mend the file: {cause}."
        )


def check_delimiter(delimiter: str | None) -> str | None:
    """One character that can separate fields; a tab may be written ``tab`` or ``\\t``."""
    if delimiter is None:
        return None
    found = SPELLED.get(delimiter, delimiter) if isinstance(delimiter, str) else ""
    if len(found) != 1 or found in '"\r\n\0' or found.isalnum():
        raise AuditInputError(f"delimiter={delimiter!r} cannot separate fields; name one character such as ';' or tab.")
    return found


def columns_of(path: str, blocks: Iterator[str], wanted: Needed, delimiter: str | None) -> Columns:
    """The needed columns of a delimited text."""
    first = next(blocks, "")
    skipped = 0
    if excel := EXCEL.match(first):
        delimiter, first, skipped = delimiter or excel[1], first[excel.end() :], 1
    names, delimiter = header_of(path, first, wanted, delimiter)
    check_names(path, names, wanted, ONE_COLUMN if len(names) == 1 else "")
    watched = Watched(chain([first], blocks))
    reader = csv.reader(chain.from_iterable(map(lines, watched)), delimiter=delimiter, strict=True)
    next(row for row in reader if row)  # the names
    rows = Rows(path, len(names), skipped)
    places = [names.index(name) for name in wanted.columns]
    batches = list(rows.batches(reader, places))
    held = {
        name: pa.chunked_array([batch[i] for batch in batches], pa.string()) for i, name in enumerate(wanted.columns)
    }
    return Columns(pa.table(held), delimiter, rows.blank, watched.ended)


@dataclass
class Watched:
    """Blocks of text, and whether the last of them ends with a line break."""

    blocks: Iterable[str]
    ended: bool = True

    def __iter__(self) -> Iterator[str]:
        for block in self.blocks:
            if block:
                self.ended = block.endswith(("\n", "\r"))
            yield block


@dataclass
class Rows:
    """The rows after the first line, checked one by one."""

    path: str
    width: int
    skipped: int
    blank: int = 0
    line: int = 0
    ragged: Ragged = field(init=False)

    def __post_init__(self) -> None:
        self.ragged = Ragged(self.width)

    def batches(self, reader: Any, places: Sequence[int]) -> Iterator[list[pa.Array]]:
        """The fields at ``places``, a column each, ``BATCH`` rows at a time."""
        pick, width, rows = picker(places), len(places), 0
        # Flat, because Python's garbage collector goes through millions of short tuples again and again.
        held: list[str] = []
        for row in self.whole(reader):
            held.extend(pick(row))
            if len(held) == BATCH * width:
                yield columns(held, width)
                rows, held = rows + BATCH, []
        self.ragged.check(self.path, rows + len(held))
        if held:
            yield columns(held, width)

    def whole(self, reader: Any) -> Iterator[list[str]]:
        """Rows with as many fields as there are names; the others are noted, blank lines passed over."""
        width, blank = self.width, 0
        self.line = reader.line_num
        try:
            for row in reader:
                if len(row) == width:
                    if blank:
                        self.blank, blank = self.blank + blank, 0
                    yield row
                elif row:
                    inside = sum(map(breaks, row))
                    self.ragged.add(reader.line_num - inside + self.skipped, len(row))
                else:
                    blank += 1
                self.line = reader.line_num
        except csv.Error as error:
            line = self.line + 1 + self.skipped
            self.ragged.check(self.path, 1, f" up to line {line:,}, where reading stopped")
            raise AuditInputError(f"{self.path!r}, line {line:,}: {wrong_quotes(error)}") from None


def wrong_quotes(error: csv.Error) -> str:
    """What the parser's error means."""
    text = said(error)
    if "unexpected end" in text:
        return "a quote that begins here is never closed; close it, or double each quote inside a value."
    if "field limit" in text:
        return f"a field of more than {csv.field_size_limit():,} characters; is a quote never closed?"
    return f"a quote is followed by other text ({text}); double each quote inside a value."


def picker(places: Sequence[int]) -> Any:
    """What takes the fields at ``places`` from a row, always as a tuple."""
    return itemgetter(*places) if len(places) > 1 else lambda row: (row[places[0]],)


def columns(fields: list[str], width: int) -> list[pa.Array]:
    """The fields of rows, one row after the other, as columns; an empty field is a missing value."""
    held = [pa.array(fields[i::width], pa.string()) for i in range(width)]
    return [pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column) for column in held]


def header_of(path: str, first: str, wanted: Needed, delimiter: str | None) -> tuple[list[str], str]:
    """The names in the first line, and the delimiter under which they are those asked for, or most nearly."""
    best: tuple[tuple[int, int, int], list[str], str] | None = None
    failed: csv.Error | None = None
    for found in [delimiter] if delimiter else candidates(first, wanted.label):
        reader = csv.reader(lines(first), delimiter=found, strict=True)
        try:
            names = next((row for row in reader if row), None)
        except csv.Error as error:
            failed = failed or error
            continue
        if names is None:
            raise AuditInputError(f"{path!r} holds nothing but blank lines.")
        rank = fit(names, wanted)
        if best is None or rank > best[0]:
            best = rank, names, found
    if best is None:
        raise AuditInputError(f"{path!r}, line 1: {wrong_quotes(failed or csv.Error('no names'))}")
    return best[1], best[2]


def fit(names: Sequence[str], wanted: Needed) -> tuple[int, int, int]:
    """How well the names are those asked for: exactly, nearly, and how many there are."""
    held = set(names)
    exact = sum(name in held for name in wanted.columns)
    if exact == len(wanted.columns):
        return exact, 0, len(names)
    near = len({alike(name) for name in wanted.columns} & {alike(name) for name in names[:MANY]})
    return exact, near, len(names)


def candidates(first: str, label: str) -> list[str]:
    """The usual delimiters, and what stands beside the label's name in the first line."""
    line = next((text for text in lines(first) if text.strip()), "")
    beside: dict[str, None] = {}
    for match in re.finditer(re.escape(label), line[:1_000_000]) if label else ():
        around = (line[: match.start()].rstrip('"')[-1:], line[match.end() :].lstrip('"')[:1])
        beside.update({sign: None for sign in around if sign and not sign.isalnum() and sign not in '"\r\n_'})
        if len(beside) > 10:
            break
    return [*USUAL, *(sign for sign in beside if sign not in USUAL)]


def blank_note(blank: int) -> list[str]:
    """A sentence on blank lines between rows, if there are any."""
    return [f"{blank:,} blank {'line was' if blank == 1 else 'lines were'} passed over."] if blank else []


def end_note(ended: bool) -> list[str]:
    """A sentence on a last line without a line break: a file cut short ends so."""
    return [] if ended else ["The last line has no line break; if the file was cut short, its last value may be, too."]
