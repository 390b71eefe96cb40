"""``read_rows``: a file, and the columns an audit needs of it."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

import pyarrow as pa
import pyarrow.types as pt
from tqdm import tqdm

from auditlib.errors import AuditInputError
from auditlib.reading import values
from auditlib.reading.delimited import blank_note, check_delimiter, columns_of, end_note
from auditlib.reading.files import check_program, digest, ends_of, found_at, is_parquet, opened, unpacked
from auditlib.reading.names import Needed, needed
from auditlib.reading.parquet import read_file, read_folder
from auditlib.reading.text import blocks, check_encoding
from auditlib.reading.words import said, shown

SHOW_PROGRESS = 50_000_000  # bytes from which on a bar is shown


@dataclass(frozen=True)
class Rows:
    """What ``read_rows`` makes of a file.

    Attributes
    ----------
    frame : pyarrow.Table
        The needed columns, as ``count`` takes them.
    positive : str, int, float, bool or None
        What to pass to ``count`` as ``positive=``.
    notes : tuple of str
        Sentences on what was decided in reading, for the result card.
    sha256 : str
        Of the file's bytes as they are on the disk; of a folder, of the lines that ``sha256sum`` gives for its files.
    """

    frame: pa.Table
    positive: Any
    notes: tuple[str, ...]
    sha256: str

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.frame.num_rows)


def read_rows(
    path: str | os.PathLike[str],
    *,
    label: str,
    scores: str | Sequence[str],
    by: str | Sequence[str],
    site: str | None = None,
    cluster: str | None = None,
    positive: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Rows:
    """The columns of a file that ``count`` needs, with nothing dropped, shifted, filled or guessed.

    Delimited text (also packed as gz, bz2, xz, zst, or a zip of one file), a Parquet file, or a folder of Parquet
    files; what a file is, its first bytes say, not its name. Groups and units stay text. An empty field is a missing
    value. Words for missing (``NA``, ``NaN``, ``null``, ``None``, ``?``, …) are groups of their own, with a note; as a
    label, score or unit they are an error.

    Parameters
    ----------
    path : str or path
        The file, or a folder of Parquet files.
    label : str
        Column of outcomes: 0/1, true/false in any case, or anything when ``positive`` names the value that counts.
    scores : str or list of str
        Column(s) of predicted risks, with a decimal point, or all with a decimal comma where it separates no fields.
    by : str or list of str
        Group columns.
    site : str, optional
        One more group column, which messages call so.
    cluster : str, optional
        Column naming the unit, such as a patient with several rows.
    positive : str, optional
        The label that counts, exactly as it is written; where all labels are numbers, "1" is also 1.0.
    delimiter : str, optional
        What separates fields. By default the one that makes the needed names columns.
    encoding : str, optional
        UTF-8 by default, or what a byte order mark says.

    Returns
    -------
    Rows

    Raises
    ------
    AuditInputError
        One line, for whatever is wrong with the file, its columns or its values; also when it changes meanwhile.

    Examples
    --------
    >>> import tempfile, auditlib as al
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/cohort.csv"
    ...     with open(path, "w") as file:
    ...         _ = file.write("died;risk;race\\nyes;0,7;NA\\nno;0,2;A\\n")
    ...     read = read_rows(path, label="died", scores="risk", by="race", positive="yes")
    >>> for note in read.notes:
    ...     print(note)
    Scores were written with a decimal comma.
    The value 'NA' in 'race' was taken as a group of its own (1 row).
    >>> counts = al.count(read.frame, label="died", score="risk", by="race", positive=read.positive)
    >>> counts.at(0.5)["tp"].values
    array([0, 1])
    """
    wanted = needed(label, scores, by, cluster, site)
    if positive is not None and not isinstance(positive, str):
        raise AuditInputError(f"positive={positive!r} must be text, as the value is written in the file.")
    separator, codec = check_delimiter(delimiter), check_encoding(encoding)
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str) or not os.fspath(path):
        raise AuditInputError(f"the path of a file must be text, not {shown(repr(path))}.")
    place = os.fspath(path)
    try:
        return _read(place, wanted, positive, separator, codec)
    except (AuditInputError, MemoryError):
        raise
    except Exception as error:  # whatever a hostile file makes a parser do
        raise AuditInputError(f"{place!r} cannot be read ({type(error).__name__}: {said(error)}).") from error


def _read(path: str, wanted: Needed, positive: str | None, delimiter: str | None, codec: str | None) -> Rows:
    if stat.S_ISDIR(found_at(path).st_mode):
        _check_no_text(path, delimiter, codec)
        table, sha256 = read_folder(path, wanted)
        return _typed(path, table, wanted, positive, True, [], sha256)
    with opened(path) as file:
        check_program(path)
        head, tail = ends_of(file)
        if is_parquet(head, tail):
            _check_no_text(path, delimiter, codec)
            table, comma, notes = read_file(path, file, wanted), True, []
        else:
            with _progress(path, file) as watched:
                pieces = unpacked(path, watched, head)
                found = columns_of(path, blocks(path, pieces, codec), wanted, delimiter)
            table, comma = found.table, found.delimiter != ","
            notes = [*blank_note(found.blank), *end_note(found.ended)]
        sha256 = digest(file)
    return _typed(path, table, wanted, positive, comma, notes, sha256)


def _check_no_text(path: str, delimiter: str | None, codec: str | None) -> None:
    if delimiter is not None or codec is not None:
        raise AuditInputError(f"{path!r} is Parquet, which has no delimiter and no encoding to name; leave them out.")


def _progress(path: str, file: IO[bytes]) -> Any:
    """The file, with a bar on the standard error where it is large and somebody watches."""
    size = os.fstat(file.fileno()).st_size
    off = None if size > SHOW_PROGRESS else True
    name = os.path.basename(path)
    return tqdm.wrapattr(file, "read", total=size, desc=name, disable=off, leave=False, file=sys.stderr)


def _typed(
    path: str, table: pa.Table, wanted: Needed, positive: str | None, comma: bool, notes: list[str], sha256: str
) -> Rows:
    """Columns of text as labels, scores and groups; those of Parquet that have a type keep it."""
    if not table.num_rows:
        raise AuditInputError(f"{path!r} has column names but no rows.")
    held, commas, found = {}, [], positive
    for name in wanted.columns:
        column = _as_text(table.column(name), name in wanted.by or name == wanted.cluster)
        text = pt.is_string(column.type)
        if name == wanted.label:
            column, found = _labels(table, column, wanted, positive, comma)
        elif name in wanted.scores and text:
            column, with_comma = values.scores(name, column, comma)
            commas += [name] if with_comma else []
        elif name == wanted.cluster and text:
            values.check_units(name, column)
        if name in wanted.by and text:
            notes = [*notes, *values.group_notes(name, column)]
        held[name] = column
    return Rows(pa.table(held), found, (*_comma_notes(commas, wanted), *notes), sha256)


def _labels(table: pa.Table, column: Any, wanted: Needed, positive: str | None, comma: bool) -> tuple[Any, Any]:
    """Labels, and what is positive; an error for risks says so where a score has the outcomes."""
    read = values.labels if pt.is_string(column.type) else typed_label
    try:
        return read(wanted.label, column, positive)
    except AuditInputError:
        if values.like_risks(values.distinct(column, comma)):
            for score in wanted.scores:
                if values.like_outcomes(values.distinct(_as_text(table.column(score), False), comma)):
                    raise values.swapped(wanted.label, score) from None
        raise


def _comma_notes(commas: Sequence[str], wanted: Needed) -> list[str]:
    if not commas:
        return []
    which = "" if len(commas) == len(wanted.scores) else f" in {', '.join(map(repr, commas))}"
    return [f"Scores were written with a decimal comma{which}."]


def _as_text(column: Any, group: bool) -> Any:
    """Text of any kind as plain strings; an empty one is missing, except as a group."""
    kind = column.type
    if pt.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pt.is_large_string(kind) or pt.is_string_view(kind) or pt.is_binary(kind) or pt.is_large_binary(kind):
        column = column.cast(pa.string())  # text written by older programs has the type of bytes
    if pt.is_null(kind):
        return column.cast(pa.string())
    if pt.is_string(column.type) and not group:
        empty = pa.compute.equal(column, "")
        return pa.compute.if_else(empty, pa.scalar(None, pa.string()), column)
    return column


def typed_label(name: str, column: Any, positive: str | None) -> tuple[Any, Any]:
    """A Parquet column of booleans or numbers, and the text ``positive`` as a value of that type."""
    if positive is None:
        return column, None
    if pt.is_boolean(column.type):
        wanted: Any = values.truth(positive)
    elif not (pt.is_integer(column.type) or pt.is_floating(column.type) or pt.is_decimal(column.type)):
        raise AuditInputError(
            f"label {name!r} has type {column.type}, of which positive= (--positive) can name no value; "
            "write the column as text, as numbers or as true and false."
        )
    else:
        wanted = values.number(positive)
        wanted = None if wanted is None else values.plain(wanted)
    if wanted is None:
        held = {str(value): 1 for value in column.unique().slice(0, 1000).to_pylist() if value is not None}
        raise values.not_found(name, positive, held)
    return column, wanted
