"""Count tables as text: format 1, and how it is read back with every check."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from auditlib.counts.edges import Edges, check_bins, grid_edges
from auditlib.counts.patterns import Lines
from auditlib.errors import AuditInputError

if TYPE_CHECKING:
    from auditlib.counts.table import Counts

MAGIC = "# auditlib-counts 1"
RESAVED = "{}: a spreadsheet program has saved this table again and changed it; use the file as it was written."
KEYS = (
    "label", "positive", "groups", "grid", "kind", "thresholds", "score_dtype", "models", "unit", "units", "rows",
    "lines", "small", "digest", "provenance",
)  # fmt: skip


def body_of(counts: Counts) -> str:
    """The long table as CSV text; floats in their shortest exact form."""
    names = [*counts.groups, *counts.models, *(level for levels in counts.groups.values() for level in levels)]
    bad = [name for name in names if "\0" in name or any("\ud800" <= letter <= "\udfff" for letter in name)]
    if bad:
        raise AuditInputError(f"{bad[0]!r} cannot be written as text; rename it.")
    # Only a carriage return needs every text quoted: minimal quoting would leave it bare.
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if any("\r" in name for name in names) else csv.QUOTE_MINIMAL
    return counts.to_frame().to_csv(index=False, lineterminator="\n", quoting=quoting)


def digest(header: Mapping[str, Any], body: str) -> str:
    """What tells an edited table from the one written: an added threshold would give wrong counts, too."""
    said = json.dumps({key: header[key] for key in sorted(header) if key != "digest"})
    return hashlib.sha256(f"{said}\n{body}".encode()).hexdigest()[:16]


def plain(value: Any) -> Any:
    """NumPy numbers and arrays, paths and dates in the provenance, as JSON has them."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)


def header_of(counts: Counts, body: str) -> dict[str, Any]:
    """The header, in the order of KEYS."""
    edges = counts.edges
    header = {
        "label": counts.label,
        "positive": counts.positive,
        "groups": {dim: list(levels) for dim, levels in counts.groups.items()},
        "grid": edges.grid,
        "kind": edges.kind,
        "thresholds": edges.extra,
        "score_dtype": list(edges.dtypes),
        "models": list(counts.models),
        "unit": counts.unit,
        "units": counts.n_units,
        "rows": counts.n_rows,
        "lines": len(counts.lines.n),
        "small": counts.small_cells(),
        "digest": "",
        "provenance": json.loads(json.dumps(dict(counts.provenance), default=plain)),
    }
    return header | {"digest": digest(header, body)}


def read(path: str | Path | IO[str]) -> Counts:
    """The table in a file or open text, checked against its header."""
    text: object
    if isinstance(path, str | Path):
        name = str(path)
        try:  # as bytes: reading as text would turn a carriage return in a group's name into a newline
            text = Path(path).read_bytes().decode()
        except UnicodeDecodeError:
            raise AuditInputError(f"{name}: not UTF-8 text, so not a count table.") from None
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            said = error.strerror if isinstance(error, OSError) else error
            raise AuditInputError(f"{name}: cannot be read ({said}).") from None
    else:
        name, text = "the table", path.read() if hasattr(path, "read") else None
    if not isinstance(text, str):
        raise AuditInputError(f"read_csv takes a path or an open text file, not {type(path).__name__}.")
    text = text.removeprefix("\ufeff")
    if text.partition("\n")[0].endswith("\r"):  # saved with Windows line ends
        text = text.replace("\r\n", "\n")
    return parse(text, name)


def parse(text: str, name: str) -> Counts:
    """Counts from the text of format 1."""
    first, _, rest = text.partition("\n")
    second, _, body = rest.partition("\n")
    if first.strip().rstrip(",;\t") != MAGIC:
        raise AuditInputError(f"{name}: the first line must be {MAGIC!r}; this is not a count table of format 1.")
    try:
        header = json.loads(second.removeprefix("#"))
        missing = [key for key in KEYS if key not in header]
    except (ValueError, TypeError, RecursionError):  # ValueError: no JSON, or a number of thousands of digits
        if first.strip() != MAGIC or second.lstrip("# ")[:1] == '"' or second.startswith('"'):
            raise AuditInputError(RESAVED.format(name)) from None
        raise AuditInputError(f"{name}: line 2 is not '# ' and one JSON object; write the table again.") from None
    if not isinstance(header, dict) or missing:
        raise AuditInputError(f"{name}: the header lacks {', '.join(missing) or 'its keys'}; write the table again.")
    try:
        if header["grid"] is not None:  # looked at before so many edges are made
            check_bins(header["grid"], f"{name}: damaged: grid")
        counts = assemble(header, body, name)
        check(counts, header, name)
    except AuditInputError:
        raise
    except Exception as error:  # anything else means a header or table of the wrong shape
        raise AuditInputError(
            f"{name}: damaged: the header or a line has not the form in which tables are written; write it again."
        ) from error
    return counts


def assemble(header: dict[str, Any], body: str, name: str) -> Counts:
    """The table as its header describes it."""
    from auditlib.counts.table import Counts

    groups = {dim: tuple(levels) for dim, levels in header["groups"].items()}
    models, unit = tuple(header["models"]), header["unit"]
    edges = edges_of(header)
    bins = [f"bin.{model}" for model in models] or ["bin"]
    expected = (["pattern", "units"] if unit != "row" else []) + [*groups, "label", *bins, "n"]
    columns = next(csv.reader(io.StringIO(body, newline="")), [])
    if columns != expected and len(columns) == 1 and {";", "\t"} & set(columns[0]):
        raise AuditInputError(RESAVED.format(name))
    if columns != expected:
        raise AuditInputError(f"{name}: the columns are {columns}, but the header asks for {expected}.")
    frame = pd.read_csv(
        io.StringIO(body, newline=""), names=expected, header=0, keep_default_na=False, index_col=False,
        dtype=dict.fromkeys(groups, str), float_precision="round_trip",
    )  # fmt: skip
    if len(frame) != header["lines"]:
        raise AuditInputError(
            f"{name}: {len(frame):,} lines, but the header counts {header['lines']:,}; it was cut short or edited."
        )
    coded = []
    for dim, levels in groups.items():
        codes = pd.Index(levels).get_indexer(pd.Index(frame[dim]))
        if (codes < 0).any():
            raise AuditInputError(f"{name}: {dim} has {frame[dim][codes < 0].iloc[0]!r}, which the header lacks.")
        coded.append(codes)
    coded.append(whole(frame, "label", name, low=0, high=1))
    for column in bins:
        values = pd.to_numeric(frame[column]).to_numpy(float)
        found = np.searchsorted(edges.lower, values).clip(max=len(edges) - 1)
        if (edges.lower[found] != values).any():
            bad = float(values[edges.lower[found] != values][0])
            raise AuditInputError(f"{name}: {column} has {bad!r}, which is no edge of this table.")
        coded.append(found)
    n, cells = whole(frame, "n", name), np.stack(coded, axis=1).astype(np.int64)
    if unit == "row":
        lines = Lines(np.arange(len(n)), cells, np.ones(len(n), np.int64), n)
    else:
        pattern = whole(frame, "pattern", name, low=0)
        present, start = np.unique(pattern, return_index=True)
        units = whole(frame, "units", name)
        if (np.diff(pattern) < 0).any() or (present != np.arange(len(present))).any():
            raise AuditInputError(f"{name}: patterns must be numbered 0, 1, 2, … in order; it was edited.")
        if (units != units[start][pattern]).any():
            raise AuditInputError(f"{name}: one pattern has two numbers of units; it was edited.")
        lines = Lines(pattern, cells, n, units[start])
    return Counts(groups, edges, models, header["label"], header["positive"], unit, lines, header["provenance"])


def edges_of(header: dict[str, Any]) -> Edges:
    """Edges from the header's grid, extra thresholds and score types."""
    extra, grid = np.array(header["thresholds"], dtype=np.float64), header["grid"]
    lower = np.unique(np.concatenate([[0.0] if grid is None else grid_edges(grid), extra]))
    if not ((lower >= 0) & (lower <= 1)).all() or header["kind"] not in ("grid", "distinct", "cut"):
        raise ValueError("thresholds must lie between 0 and 1, and kind be grid, distinct or cut")
    return Edges(lower, grid, header["kind"], tuple(header["score_dtype"]))


def whole(frame: pd.DataFrame, column: str, name: str, low: int = 1, high: int | None = None) -> np.ndarray:
    """A column of whole numbers in range, or an error that names the line."""
    values = pd.to_numeric(frame[column], errors="coerce").to_numpy(float)
    bad = ~((values >= low) & (values == np.floor(values)) & (values <= (high if high is not None else 2**53)))
    if bad.any():
        line = int(np.flatnonzero(bad)[0])
        said = f"from {low} to {high}" if high is not None else f"of at least {low}"
        raise AuditInputError(
            f"{name}, line {line + 4}: {column} is {str(frame[column].iloc[line])!r}, not a whole number {said}."
        )
    return values.astype(np.int64)


def check(counts: Counts, header: dict[str, Any], name: str) -> None:
    """Units, rows and the digest match the header."""
    for key, found in (("units", counts.n_units), ("rows", counts.n_rows)):
        if header[key] != found:
            raise AuditInputError(
                f"{name}: the table holds {found:,} {key}, but the header says {header[key]:,}; it was edited."
            )
    if digest(header, body_of(counts)) != header["digest"]:
        raise AuditInputError(
            f"{name}: the totals agree, but header or table is not what was written; it was edited. "
            "Count and write it again."
        )
