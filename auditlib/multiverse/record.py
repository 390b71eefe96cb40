"""Finished specifications, kept as they come: a run that was killed goes on where it stopped."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, TypeGuard

from auditlib.errors import AuditInputError
from auditlib.multiverse.code import differs
from auditlib.multiverse.grid import Grid

FORMAT = "auditlib-multiverse-record"
VERSION = 1


class Record:
    """A file of one line a finished specification, under a first line that says of which grid.

    Lines are JSON. A line without its end is a specification that was not finished when the run was killed: it is
    dropped, and done again. One run writes a record at a time.

    Parameters
    ----------
    path : str or Path
        Made if it is not there; its folder must be.
    grid : Grid
    code : str, optional
        Fingerprint of the functions that judge; a file that another wrote is used all the same, with a warning.

    Raises
    ------
    AuditInputError
        When the file is no such record, is one of another grid (what differs is named), holds a line that cannot be
        read or two results of one specification, is being written by another run, or cannot be opened.
    """

    def __init__(self, path: str | Path, grid: Grid, code: str | None = None) -> None:
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            raise AuditInputError(f"path = {path!r}: give the path of a file to keep the specifications in.")
        self.path, self.grid, self.code = Path(path), grid, code
        self.done: dict[int, dict[str, Any]] = {}
        try:
            self._file: IO[bytes] = self.path.open("a+b")
        except (OSError, ValueError) as error:
            raise AuditInputError(f"{str(path)!r} cannot be opened ({error}); name a file in a folder.") from error
        try:
            _lock(self._file, self.path)
            self._read()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Record:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def append(self, rows: Mapping[int, dict[str, Any]]) -> None:
        """Keep finished specifications, in one write."""
        lines = [json.dumps({"specification": k, "row": row}) for k, row in rows.items()]
        self._write(lines)
        self.done |= rows

    def _write(self, lines: Iterable[str]) -> None:
        try:
            self._file.write("".join(f"{line}\n" for line in lines).encode())
            self._file.flush()
        except OSError as error:
            raise AuditInputError(
                f"{str(self.path)!r} cannot be written ({error.strerror or error}). What was finished before is kept: "
                "make room, and run again."
            ) from error

    def _read(self) -> None:
        self._file.seek(0)
        *whole, rest = self._file.read().split(b"\n")
        head = json.dumps({"format": FORMAT, "version": VERSION, "grid": self.grid.declaration})
        if not whole and not head.encode().startswith(rest) and not rest.startswith(head[:-1].encode()):
            raise AuditInputError(
                f"{str(self.path)!r} is no record of a multiverse; name a file that is not there yet."
            )
        if whole:
            self._check(whole[0])
            for number, line in enumerate(whole[1:], start=2):
                self._take(number, line)
        if rest:  # killed while writing
            self._file.truncate(sum(len(line) + 1 for line in whole))
        if not whole:
            self._write([f'{head[:-1]}, "code": {json.dumps(self.code)}}}'])

    def _check(self, line: bytes) -> None:
        found = _parsed(line)
        if found.get("format") != FORMAT or found.get("version") != VERSION:
            raise AuditInputError(
                f"{str(self.path)!r} is no record of a multiverse of version {VERSION}; name another"
                + (" (a table of write_multiverse is read by read_multiverse)." if line.startswith(b"# ") else ".")
            )
        theirs, ours = found.get("grid"), self.grid.declaration
        if json.dumps(theirs) != json.dumps(ours):
            raise AuditInputError(
                f"{str(self.path)!r} holds results of another grid ({_difference(theirs, ours)}); "
                "name another file, or remove this one to begin again."
            )
        if differs(found.get("code"), self.code):
            warnings.warn(
                f"{str(self.path)!r} was begun with another judge or prepare: their code has changed since, and what "
                "is there is not done again. Remove the file to have all of it done by the new ones.",
                stacklevel=5,  # the caller of run_multiverse
            )

    def _take(self, number: int, line: bytes) -> None:
        found = _parsed(line)
        k, row = found.get("specification"), found.get("row")
        if type(k) is not int or not 0 <= k < len(self.grid) or not is_row(row, self.grid):
            raise AuditInputError(
                f"{str(self.path)!r}, line {number}: no result of this grid; remove the line to have it done again."
            )
        if self.done.setdefault(k, dict(row)) != row:
            raise AuditInputError(
                f"{str(self.path)!r}, line {number}: specification {k} has two different results; "
                "remove both lines to have it done again."
            )


def _difference(theirs: Any, ours: Mapping[str, Any]) -> str:
    """The first thing that differs, down to an axis or a setting."""
    theirs = theirs if isinstance(theirs, dict) else {}
    part = next((p for p in ours if json.dumps(theirs.get(p)) != json.dumps(ours[p])), "name")
    old, new = theirs.get(part), ours[part]
    if isinstance(old, dict) and isinstance(new, dict):
        key = next((k for k in [*new, *old] if (k in old, old.get(k)) != (k in new, new.get(k))), None)
        if key is None:
            return f"the order or the spelling of its {part}"
        there, here = (json.dumps(held[key]) if key in held else "absent" for held in (old, new))
        return f"{part}: {key} is {there} there and {here} here"
    return f"{part} is {json.dumps(old)} there and {json.dumps(new)} here"


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):  # also bytes that are no text
        return {}
    return found if isinstance(found, dict) else {}


def is_row(row: Any, grid: Grid) -> TypeGuard[dict[str, Any]]:
    """Whether a row is one that a run has kept: an error, numbers under names of their own, replicates."""
    if not isinstance(row, dict) or not isinstance(row.get("error"), str) or set(row) & {*grid.axes, "specification"}:
        return False
    again = row.get("replicates", [])
    values = [value for name, value in row.items() if name not in ("error", "replicates")]
    return isinstance(again, list) and all(
        value is None or isinstance(value, int | float) for value in [*values, *again]
    )


def _lock(file: IO[bytes], path: Path) -> None:
    """Two runs on one file would both drop the other's half-written line."""
    try:
        import fcntl
    except ImportError:  # no such lock on this system
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise AuditInputError(
            f"{str(path)!r} is being written by another run; wait for it, or name another file."
        ) from None
