"""Parquet: a file, or a folder of files whose subfolders may be called ``column=value``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import IO
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from auditlib.errors import AuditInputError
from auditlib.reading.files import digest, ends_of, is_parquet, opened
from auditlib.reading.names import Needed, check_names
from auditlib.reading.words import said, shown

NULL = "__HIVE_DEFAULT_PARTITION__"  # how Hive and Spark call the folder of missing values


def read_file(path: str, file: IO[bytes], wanted: Needed) -> pa.Table:
    """The needed columns of an open Parquet file."""
    try:
        source = pq.ParquetFile(file, page_checksum_verification=True)
        names = source.schema_arrow.names
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(path, error) from error
    check_names(path, names, wanted)
    return read_columns(path, source, wanted.columns)


def read_columns(path: str, source: pq.ParquetFile, names: Sequence[str]) -> pa.Table:
    """Whole columns by their names; a name with a dot is not the way into a nested column."""
    try:
        table = source.read(columns=list(names))
        return pa.table({name: table.column(name) for name in names}) if names else pa.table({})
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise damaged(path, error) from error


def damaged(path: str, error: BaseException) -> AuditInputError:
    """The error for a file that begins like Parquet and cannot be read."""
    return AuditInputError(f"{path!r}: the Parquet file cannot be read ({said(error)}); copy or write it again.")


def read_folder(folder: str, wanted: Needed) -> tuple[pa.Table, str]:
    """The needed columns of all Parquet files in a folder, and a SHA-256 over those of the files.

    That is what ``sha256sum`` gives of its own output for the files in the order of their names.
    """
    found = list(files_in(folder))
    if not found:
        raise AuditInputError(
            f"{folder!r} is a folder without Parquet files; name a file, or a folder of Parquet files."
        )
    tables, sums = [], sha256()
    for relative in found:
        path = os.path.join(folder, relative)
        with opened(path) as file:
            if not is_parquet(*ends_of(file)):
                raise AuditInputError(
                    f"{folder!r} is a folder, and {shown(relative)} in it is not Parquet; "
                    "name a file, or a folder of Parquet files only."
                )
            tables.append(read_part(path, relative, file, wanted))
            sums.update(f"{digest(file)}  {relative.replace(os.sep, '/')}\n".encode(errors="surrogateescape"))
        if tables[-1].schema != tables[0].schema:
            raise AuditInputError(
                f"{folder!r}: {shown(relative)} has columns of other types than {shown(found[0])} "
                f"({differing(tables[0].schema, tables[-1].schema)}); write them with the same types."
            )
    if list(files_in(folder)) != found:
        raise AuditInputError(f"{folder!r} changed while it was read; read it again once it is complete.")
    return pa.concat_tables(tables), sums.hexdigest()


def read_part(path: str, relative: str, file: IO[bytes], wanted: Needed) -> pa.Table:
    """One file of a folder, with the columns that the names of its subfolders give."""
    given = {key: value for key, value in parts_of(relative).items() if key in wanted.columns}
    try:
        source = pq.ParquetFile(file, page_checksum_verification=True)
        names = source.schema_arrow.names
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(path, error) from error
    check_names(path, [*names, *given], wanted)
    held = read_columns(path, source, [name for name in wanted.columns if name not in given])
    rows = source.metadata.num_rows
    columns = {
        name: pa.array([given[name]] * rows, pa.string()) if name in given else held.column(name)
        for name in wanted.columns
    }
    return pa.table(columns)


def parts_of(relative: str) -> dict[str, str | None]:
    """Columns in the names of subfolders; their values stay text.

    >>> parts_of("site=01/sex=F/part-0.parquet")
    {'site': '01', 'sex': 'F'}
    """
    pairs = [folder.partition("=") for folder in relative.split(os.sep)[:-1] if "=" in folder]
    return {unquote(key): None if value == NULL else unquote(value) for key, _, value in pairs}


def differing(first: pa.Schema, other: pa.Schema) -> str:
    """The columns whose types differ, with both types."""
    pairs = [(one, two) for one, two in zip(first, other, strict=True) if one.type != two.type]
    return ", ".join(f"{shown(one.name)}: {one.type} and {two.type}" for one, two in pairs[:5])


def files_in(folder: str) -> Iterator[str]:
    """Files in a folder and below, in the order of their names, without those that begin with a dot or underscore."""
    for place, folders, files in os.walk(folder, onerror=_raise):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        for name in sorted(files):
            if not name.startswith((".", "_")):
                yield os.path.relpath(os.path.join(place, name), folder)


def _raise(error: OSError) -> None:
    raise AuditInputError(f"{error.filename!r} cannot be read ({said(error)}).") from error
