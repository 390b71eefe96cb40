"""What must be true of a cohort's table before it is used; ``data/sources.toml`` says it for each cohort."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from auditlib.errors import AuditInputError

Spec = Mapping[str, Any]
LARGEST = 2**53  # from here on neighbouring whole numbers are one float


def content(path: Path, spec: Spec) -> bytes:
    """The table's bytes: the file's own, or those of its one member that the source names."""
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        inside = [n for n in archive.namelist() if n.endswith(spec["member"]) and "__MACOSX" not in n]
        if len(inside) != 1:
            raise AuditInputError(f"{path.name} holds {len(inside)} tables named {spec['member']}, expected 1.")
        return archive.read(inside[0])


def checked(path: Path, spec: Spec, *, hashed: bool, whole: bool = True) -> pd.DataFrame:
    """The table of a file, if it is what the source says; of a part of it (not ``whole``) nothing is counted.

    Raises
    ------
    AuditInputError, or what reading a broken file raises.
    """
    held = content(path, spec)
    if hashed and hashlib.sha256(held).hexdigest() != spec["sha256"]:
        raise AuditInputError("its SHA-256 is not the published one: truncated, edited or another file")
    frame = _parse(held, spec)
    if whole and len(frame) != spec["rows"]:
        raise AuditInputError(f"{len(frame):,} rows, expected {spec['rows']:,}")
    if frame.empty:
        raise AuditInputError("it has no rows")
    frame = _normalise(frame, spec)
    _check_values(frame, spec)
    if whole:
        _check_totals(frame, spec)
    return frame


def _kinds(spec: Spec) -> dict[str, str]:
    """Columns of numbers, and which numbers they hold."""
    whole = spec["columns"] if spec["integers"] == "all" else spec["integers"]
    return {**dict.fromkeys(spec.get("floats", []), "numbers"), **dict.fromkeys(whole, "whole numbers")}


def _parse(held: bytes, spec: Spec) -> pd.DataFrame:
    if held[:4] == b"PAR1":
        return pd.read_parquet(io.BytesIO(held))
    # As text first: guessing types would turn the code 250.83 into a number in some rows only. Where all columns are
    # numbers there is no code to spoil, and text of a million rows would take a gigabyte.
    types: Any = {"low_memory": False} if set(_kinds(spec)) == set(spec["columns"]) else {"dtype": str}
    return pd.read_csv(io.BytesIO(held), keep_default_na=False, na_values=spec["missing"], **types)


def _normalise(frame: pd.DataFrame, spec: Spec) -> pd.DataFrame:
    """Columns in the published order, whole numbers as int64, measurements as float64, the rest as text."""
    frame = frame.drop(columns=[c for c in spec.get("drop", ()) if c in frame])
    absent = [c for c in spec["columns"] if c not in frame]
    extra = [c for c in frame if c not in spec["columns"]]
    if absent or extra:
        raise AuditInputError(f"columns missing: {absent[:5]}, columns unknown: {extra[:5]}")
    kinds, held = _kinds(spec), {}
    for column in spec["columns"]:
        held[column] = frame[column]
        if column in kinds:
            held[column] = _numbers(column, frame[column], kinds[column])
    return pd.DataFrame(held)


def _numbers(column: str, given: pd.Series, kind: str) -> pd.Series:
    value = pd.to_numeric(given, errors="coerce").astype("float64")
    broken = ~np.isfinite(value) | (given.dtype == bool)
    if kind == "whole numbers":
        broken |= value % 1 != 0
    if broken.any():
        raise AuditInputError(f"column {column} holds {int(broken.sum())} values that are not {kind}")
    if kind == "whole numbers" and (large := int((value.abs() >= LARGEST).sum())):
        raise AuditInputError(f"column {column} holds {large:,} whole numbers of 2**53 or more, which would be rounded")
    return value if kind == "numbers" else value.astype("int64")


def _check_values(frame: pd.DataFrame, spec: Spec) -> None:
    """No number is below the ``lowest`` of its column, and no code beyond the ``codes``, which run from 0."""
    for column, lowest in spec.get("lowest", {}).items():
        below = int((frame[column] < lowest).sum())
        if below:
            raise AuditInputError(f"column {column} holds {below:,} values below {lowest}")
    sizes = {**spec.get("codes", {}), **{column: len(names) for column, names in spec.get("levels", {}).items()}}
    for column, size in sizes.items():
        unknown = frame.loc[~frame[column].between(0, size - 1), column]
        if len(unknown):
            shown = ", ".join(map(str, sorted(set(unknown))[:5]))
            raise AuditInputError(f"column {column} holds {len(unknown):,} codes other than 0–{size - 1}: {shown}")


def _check_totals(frame: pd.DataFrame, spec: Spec) -> None:
    """As many with the outcome (a value, or numbers ``above`` one), and as many different values, as published."""
    outcome, column = spec["outcome"], frame[spec["outcome"]]
    positive = column > spec["above"] if "above" in spec else column == spec["positive"]
    found, words = int(positive.sum()), f"> {spec['above']}" if "above" in spec else f"= {spec['positive']}"
    if found != spec["positives"]:
        raise AuditInputError(f"{found:,} rows with {outcome} {words}, expected {spec['positives']:,}")
    for name, size in spec.get("different", {}).items():
        if (there := frame[name].nunique()) != size:
            raise AuditInputError(f"{there:,} different values of {name}, expected {size:,}")
