"""A file as bytes: that it is an ordinary one, what it holds, unpacked, and the same before and after."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

import pyarrow as pa

from auditlib.errors import AuditInputError
from auditlib.reading.words import listed, said

CHUNK = 1 << 20
#: Beginnings of files. That of bz2 is longer than its usual "BZh", which could begin a column's name.
PACKED = {
    "gz": re.compile(rb"\x1f\x8b"),
    "bz2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\0"),
    "zst": re.compile(rb"\x28\xb5\x2f\xfd"),
    "zip": re.compile(rb"PK(\x03\x04|\x05\x06|\x07\x08)"),
}
#: A Parquet file's first page header follows its "PAR1"; a column may be called PAR1, after the receptor.
PARQUET = re.compile(rb"PAR1([^\t\r\n\x20-\xff]|$)", re.DOTALL)
SAVE_AS = "save it as CSV or Parquet"
OTHERS = {
    re.compile(rb"\xd0\xcf\x11\xe0"): "an old Excel workbook, or one with a password; save it as CSV",
    re.compile(rb"ARROW1\0\0"): "an Arrow (Feather) file; save it as Parquet",
    re.compile(rb"%PDF-"): "a PDF",
    re.compile(rb"SQLite format 3\0"): "an SQLite database; export the table as CSV",
}
#: Formats of other programs, by the ending of the name.
PROGRAMS = {
    ".sav": "SPSS", ".zsav": "SPSS", ".por": "SPSS", ".dta": "Stata", ".sas7bdat": "SAS", ".xpt": "SAS",
    ".rds": "R", ".rdata": "R", ".rda": "R", ".xls": "Excel", ".xlsx": "Excel", ".xlsm": "Excel", ".xlsb": "Excel",
    ".ods": "LibreOffice",
}  # fmt: skip
#: What reading a damaged packed file raises.
BROKEN = (OSError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)

Stamp = tuple[int, int, int, int]


def stamp(found: os.stat_result) -> Stamp:
    """What changes when a file grows, is written anew or is replaced."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def found_at(path: str) -> os.stat_result:
    """What stands at a path; an error if nothing does."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        raise AuditInputError(f"{path!r}: there is no such file.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise AuditInputError(f"{path!r} cannot be read ({said(error)}).") from error


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """An ordinary file, open for reading; an error if it changed by the time it is closed."""
    before = found_at(path)
    if not stat.S_ISREG(before.st_mode):  # opening a pipe would wait for whoever writes to it
        raise AuditInputError(f"{path!r} is not an ordinary file; copy what it gives into one.")
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise AuditInputError(f"{path!r} cannot be read ({said(error)}).") from error
    with os.fdopen(handle, "rb") as file:
        _check_same(path, file, stamp(before))
        try:
            yield file
        except Exception:
            _check_same(path, file, stamp(before))  # the likelier reason for whatever went wrong
            raise
        _check_same(path, file, stamp(before))


def _check_same(path: str, file: IO[bytes], before: Stamp) -> None:
    try:
        same = stamp(os.fstat(file.fileno())) == before == stamp(os.stat(path))
    except OSError:
        same = False
    if not same:
        raise AuditInputError(f"{path!r} changed while it was read; read it again once it is complete.")


def digest(file: IO[bytes]) -> str:
    """SHA-256 of a whole file."""
    file.seek(0)
    return hashlib.file_digest(cast(io.BufferedReader, file), "sha256").hexdigest()


def check_program(path: str) -> None:
    """An error for files of other programs."""
    program = PROGRAMS.get(os.path.splitext(path)[1].lower())
    if program:
        raise AuditInputError(f"{path!r} is a file of {program}; {SAVE_AS} there.")


def is_parquet(head: bytes, tail: bytes) -> bool:
    """Whether a file with this beginning and end is Parquet, be it cut short."""
    return head.startswith(b"PAR1") and (bool(PARQUET.match(head)) or tail == b"PAR1")


def ends_of(file: IO[bytes]) -> tuple[bytes, bytes]:
    """The first and the last few bytes of a file."""
    head = file.read(64)
    file.seek(max(file.seek(0, os.SEEK_END) - 4, 0))
    tail = file.read(4)
    file.seek(0)
    return head, tail


def unpacked(path: str, file: Any, head: bytes) -> Iterator[bytes]:
    """The bytes of the one table in a file, piece by piece, whatever it is packed in."""
    how = next((name for name, magic in PACKED.items() if magic.match(head)), None)
    _check_other(path, head)
    if how is None:
        yield from iter(lambda: file.read(CHUNK), b"")
        return
    unpack = {"gz": _gz, "bz2": _bz2, "xz": _xz, "zst": _zst, "zip": _zip}[how]
    first = True
    try:
        for piece in unpack(path, file):
            if first and piece:
                _check_inside(path, piece[:64])
                first = False
            yield piece
    except AuditInputError:
        raise
    except EOFError:
        raise AuditInputError(f"{path!r}: the {how} file ends too early; copy or download it again.") from None
    except BROKEN as error:
        raise AuditInputError(f"{path!r}: the {how} file is damaged ({said(error)}); copy it again.") from error


def _check_other(path: str, head: bytes) -> None:
    for magic, what in OTHERS.items():
        if magic.match(head):
            raise AuditInputError(f"{path!r} is {what}.")


def _check_inside(path: str, head: bytes) -> None:
    _check_other(path, head)
    if PARQUET.match(head) or any(magic.match(head) for magic in PACKED.values()):
        raise AuditInputError(f"{path!r} holds another packed file, or Parquet; unpack it first.")


def _gz(path: str, file: IO[bytes]) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=file, mode="rb") as stream:
        yield from iter(lambda: stream.read(CHUNK), b"")


def _bz2(path: str, file: IO[bytes]) -> Iterator[bytes]:
    return _streams(file, bz2.BZ2Decompressor)


def _xz(path: str, file: IO[bytes]) -> Iterator[bytes]:
    return _streams(file, lzma.LZMADecompressor)


def _streams(file: IO[bytes], new: Callable[[], Any]) -> Iterator[bytes]:
    """Streams one after another; the standard library's own readers drop in silence a second one that is damaged."""
    engine, held = new(), b""
    while True:
        if engine.eof:
            held = (engine.unused_data or file.read(CHUNK)).lstrip(b"\0")
            engine = new()
            while not held:  # padding is zeros
                held = file.read(CHUNK)
                if not held:
                    return
                held = held.lstrip(b"\0")
        elif engine.needs_input:
            held = file.read(CHUNK)
            if not held:
                raise EOFError
        if piece := engine.decompress(held, CHUNK):
            yield piece
        held = b""


class _Kept:
    """A file that stays open when Arrow closes what it read."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self.read = file.read

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


def _zst(path: str, file: IO[bytes]) -> Iterator[bytes]:
    if not pa.Codec.is_available("zstd"):
        raise AuditInputError(f"{path!r}: this pyarrow cannot read zst; unpack the file, or install another pyarrow.")
    with pa.CompressedInputStream(pa.PythonFile(_Kept(file), mode="r"), "zstd") as stream:
        try:
            yield from iter(lambda: stream.read(CHUNK), b"")
        except OSError as error:
            if "Truncated" in str(error):
                raise EOFError from error
            raise


def _zip(path: str, file: IO[bytes]) -> Iterator[bytes]:
    with zipfile.ZipFile(file) as archive:
        inside = archive.namelist()
        if any(name.startswith("xl/") for name in inside):
            raise AuditInputError(f"{path!r} is an Excel workbook; save the sheet as CSV.")
        if "mimetype" in inside and "content.xml" in inside:
            raise AuditInputError(f"{path!r} is a LibreOffice document; save the sheet as CSV.")
        tables = [name for name in inside if not name.endswith("/") and not name.startswith("__MACOSX/")]
        if len(tables) != 1:
            names = f" ({listed(tables, 5)})" if tables else ""
            raise AuditInputError(f"{path!r} holds {len(tables)} files{names}, not one; unpack it and name the table.")
        with archive.open(tables[0]) as stream:
            yield from iter(lambda: stream.read(CHUNK), b"")
