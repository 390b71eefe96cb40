"""A finished multiverse as a table to share: rows as CSV under their grid, replicates beside it."""

from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from auditlib.counts.write import save
from auditlib.errors import AuditInputError
from auditlib.multiverse.grid import Grid
from auditlib.multiverse.record import FORMAT
from auditlib.multiverse.rows import Multiverse, axis_column

MAGIC = "# auditlib-multiverse 1"
AGAIN = "write it again with write_multiverse, or use the file as it was written"


def write_multiverse(found: Multiverse, path: str | Path) -> None:
    """Rows to ``path`` (CSV under two lines that declare the grid), replicates to ``<path>.replicates.parquet``.

    The second line also says how many replicates there are and what both files hold, so that a table that was cut off
    or edited, or replicates of another table, are not read as this one. The files are put in place one after the
    other: between them the old table does not fit the new replicates, and is refused.

    Raises
    ------
    AuditInputError
        When the rows are not those of the grid, or a file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from auditlib.multiverse import run_multiverse
    >>> found = run_multiverse(Grid("example", {"x": [1, 2]}), lambda spec: {"estimate": spec["x"] / 10})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_multiverse(found, Path(folder) / "example.csv")
    ...     read_multiverse(Path(folder) / "example.csv").rows["estimate"].tolist()
    [0.1, 0.2]
    """
    if not isinstance(found, Multiverse):
        raise AuditInputError(f"write_multiverse takes what run_multiverse returns, not {type(found).__name__}.")
    path = _checked(path)
    _check_rows(found.grid, found.rows, path)
    body = found.rows.to_csv(index=False, lineterminator="\n")
    held = None if found.replicates is None else found.replicates.to_numpy(dtype=np.float64)
    if held is not None and len(held) != len(found.rows):
        raise AuditInputError(
            f"{len(held)} rows of replicates for {len(found.rows)} specifications: take both from one run."
        )
    head = {**found.grid.declaration, "replicates": 0 if held is None else held.shape[1], "digest": _digest(body, held)}
    beside = replicates_path(path)
    if held is not None:
        _write_values(beside, held)
    save(path, f"{MAGIC}\n# {json.dumps(head, ensure_ascii=False)}\n{body}")
    if held is None:
        beside.unlink(missing_ok=True)


def read_multiverse(path: str | Path) -> Multiverse:
    """What ``write_multiverse`` wrote; the file that ``run_multiverse`` keeps at its ``path`` is another kind.

    Raises
    ------
    AuditInputError
        When the file is no such table, was changed, or the replicates beside it are missing or of another table.

    Examples
    --------
    >>> from auditlib import studies
    >>> found = read_multiverse(studies.multiverse.multiverse_path("cdc_diabetes"))
    >>> len(found.rows), found.replicates.shape, found.grid.default["family"]
    (864, (864, 200), 'logistic')
    """
    path = _checked(path)
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise AuditInputError(f"{str(path)!r} cannot be read ({error}).") from error
    magic, head, body = (*text.split("\n", 2), "", "")[:3]
    if FORMAT in magic:
        raise AuditInputError(
            f"{str(path)!r} is the record of a run, which goes on with run_multiverse(grid, judge, path=…); "
            "read_multiverse reads what write_multiverse wrote."
        )
    if magic != MAGIC:
        raise AuditInputError(f"{str(path)!r} is no table of a multiverse: its first line is not {MAGIC!r}.")
    grid, draws, digest = _head(path, head)
    held = _values(replicates_path(path), len(grid), draws) if draws else None
    if digest != _digest(body, held):
        what = " or its replicates were" if draws else " was"
        raise AuditInputError(f"{str(path)!r}{what} cut off, edited or taken from another run: {AGAIN}.")
    texts = dict.fromkeys([*grid.axes, "error"], str)
    rows = pd.read_csv(
        io.StringIO(body), dtype=texts, keep_default_na=False, na_values=[""], float_precision="round_trip"
    )
    rows["error"] = rows["error"].fillna("")
    for axis in grid.axes:
        rows[axis] = axis_column(grid, axis)
    return Multiverse(grid, rows, None if held is None else pd.DataFrame(held))


def replicates_path(path: str | Path) -> Path:
    """Where the replicates of a table are."""
    return Path(path).with_name(f"{Path(path).name}.replicates.parquet")


def _checked(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike) or not Path(path).name or "\0" in str(path):
        raise AuditInputError(f"path = {path!r}: give the path of a file.")
    return Path(path).resolve()  # both files stand where a link points to


def _check_rows(grid: Grid, rows: Any, path: Path) -> None:
    wanted = pd.DataFrame({axis: axis_column(grid, axis) for axis in grid.axes})
    named = isinstance(rows, pd.DataFrame) and all(name in rows for name in [*grid.axes, "error"])
    if not named or not wanted.equals(rows[list(grid.axes)].reset_index(drop=True)):
        raise AuditInputError(f"{str(path)!r}: the rows are not those of the grid in its order; nothing was written.")


def _digest(body: str, values: np.ndarray | None) -> str:
    """What tells a table that was changed from the one written."""
    found = hashlib.sha256(body.encode())
    if values is not None:
        found.update(np.where(np.isnan(values), np.nan, values + 0.0).tobytes())  # one NaN, one zero
    return found.hexdigest()[:16]


def _head(path: Path, line: str) -> tuple[Grid, int, str]:
    try:
        held = json.loads(line.removeprefix("# "))
        draws, digest = held.pop("replicates"), held.pop("digest")
        if type(draws) is not int or draws < 0:
            raise ValueError("replicates")
        return Grid(**held), draws, digest
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise AuditInputError(f"{str(path)!r}: its second line declares no grid ({error}); {AGAIN}.") from error


def _write_values(path: Path, values: np.ndarray) -> None:
    """One long column: its values recur, and Parquet keeps each of them once."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        pd.DataFrame({"value": values.reshape(-1)}).to_parquet(draft, index=False, compression="zstd")
        draft.replace(path)
    except OSError as error:
        raise AuditInputError(f"{str(path)!r} cannot be written ({error.strerror or error}).") from error
    finally:
        draft.unlink(missing_ok=True)


def _values(path: Path, rows: int, draws: int) -> np.ndarray:
    try:
        values = pd.read_parquet(path)["value"].to_numpy(dtype=np.float64)
        return values.reshape(rows, draws)
    except (OSError, KeyError, ValueError, TypeError, pa.ArrowException) as error:
        raise AuditInputError(
            f"{str(path)!r}: no {draws} replicates of each of {rows} specifications can be read there ({error})."
        ) from error
