"""A file of rows as a source: read, counted, with what reading it has to say."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from auditlib.audits.inputs import rows_source
from auditlib.audits.options import Options
from auditlib.audits.source import Source
from auditlib.reading import read_rows


def file_source(
    path: str | Path, by: Sequence[str], known: Mapping[str, Any], options: Options, *, delimiter: str | None = None,
    encoding: str | None = None, facts: Mapping[str, Any] | None = None, told: Callable[[str], None] = lambda _: None,
) -> Source:  # fmt: skip
    """Rows of a CSV or Parquet file as a source; ``known`` as in ``rows_source``, ``told`` hears what is being done."""
    read = read_rows(
        path, label=known["label"], scores=[known["score"]], by=by, site=known["site"], cluster=known["cluster"],
        positive=known["positive"], delimiter=delimiter, encoding=encoding,
    )  # fmt: skip
    told(f"counting {read.rows:,} rows …")
    held = {"name": name_of(path), "sha256": read.sha256} | {
        key: value for key, value in (facts or {}).items() if value
    }
    return rows_source(read.frame, by, {**known, "positive": read.positive}, options, held, read.notes)


def name_of(path: str | Path) -> str:
    """A file's name without its folders, which are nobody else's business.

    >>> name_of("/home/me/preds.csv")
    'preds.csv'
    """
    return os.path.basename(os.path.normpath(path))
