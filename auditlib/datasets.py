"""Real cohorts: find a copy, or download one; check it; hand over a frame.

Where a cohort comes from and what must be true of it is data, in ``data/sources.toml``. A copy is looked for in
the folder ``$AUDITLIB_DATA``, then in ``data/raw/``, and only then downloaded from its official address.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
import pooch

from auditlib.errors import AuditInputError

TIMEOUT = 60  # seconds without an answer before a download is given up
# What reading a broken file may raise; an encrypted zip or an unknown compression is a RuntimeError.
BROKEN = (ValueError, KeyError, OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)


def root() -> Path:
    """Folder that holds ``data/sources.toml``: the package's parent, else the nearest one above the working folder.

    Raises
    ------
    AuditInputError
        When neither exists, as when the package was installed without its repository.

    Examples
    --------
    >>> (root() / "data" / "sources.toml").is_file()
    True
    """
    here = Path.cwd()
    for folder in (Path(__file__).resolve().parents[1], here, *here.parents):
        if (folder / "data" / "sources.toml").is_file():
            return folder
    raise AuditInputError(
        "data/sources.toml was not found beside the package nor above the working folder: "
        "run from a copy of the book's repository."
    )


@lru_cache(maxsize=1)
def _read_sources(path: Path) -> dict[str, dict[str, Any]]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AuditInputError(f"{path} cannot be read ({error}): restore it from the book's repository.") from error


def sources() -> Mapping[str, dict[str, Any]]:
    """Everything ``data/sources.toml`` says, by cohort.

    Examples
    --------
    >>> sources()["diabetes130"]["licence"]
    'CC BY 4.0'
    """
    return _read_sources(root() / "data" / "sources.toml")


def source(name: str) -> dict[str, Any]:
    """What is known of one cohort: title, citation, licence, address, checks.

    Raises
    ------
    AuditInputError
        When no cohort has that name.

    Examples
    --------
    >>> source("cdc_diabetes")["positives"]
    35346
    """
    known = sources()
    if not isinstance(name, str) or name not in known:
        raise AuditInputError(f"no cohort named {name!r}: choose one of {', '.join(sorted(known))}.")
    return known[name]


def counts_path(name: str) -> Path:
    """Path of a committed table of counts, ``data/counts/<name>.csv``; the file need not exist.

    Examples
    --------
    >>> counts_path("gap-cdc_diabetes-sex").name
    'gap-cdc_diabetes-sex.csv'
    """
    return root() / "data" / "counts" / f"{name}.csv"


def available(name: str) -> bool:
    """Whether a copy is at hand, so that ``load`` needs no network. Its content is not looked at.

    Examples
    --------
    >>> available("diabetes130") in (True, False)
    True
    """
    return _local(source(name)) is not None


def checksum(name: str) -> str:
    """SHA-256 of the table at hand (of the CSV inside a zip), as it goes into a result's provenance.

    Raises
    ------
    AuditInputError
        When no copy is at hand, or it cannot be read.
    """
    path = _local(source(name))
    if path is None:
        raise AuditInputError(f"{name}: no copy at hand. {_help(name)}")
    with _refused(name, path.name):
        return hashlib.sha256(_content(path, source(name))).hexdigest()


def load(name: str, *, download: bool = True) -> pd.DataFrame:
    """A cohort as its source publishes it: one row an encounter or a respondent, nothing dropped or filled.

    Text stays text and whole numbers become ``int64``, so that every layout of a file gives the same frame.
    Missing values are what the source says they are (``?`` in Diabetes-130), never the text ``None`` or ``NA``.

    Parameters
    ----------
    name : {"diabetes130", "cdc_diabetes", "brfss2022_heart"}
        The cohort.
    download : bool
        Whether the official address may be asked when no copy is at hand. The file then goes to ``data/raw/``.

    Raises
    ------
    AuditInputError
        When no copy can be had, or when it fails a check: columns, number of rows, number of patients with the
        outcome, and the SHA-256 where there is one to compare with. A download that fails leaves nothing behind.

    Examples
    --------
    >>> if available("cdc_diabetes"):
    ...     frame = load("cdc_diabetes", download=False)
    ...     assert frame["Diabetes_binary"].sum() == 35_346
    """
    spec = source(name)
    path = _local(spec)
    if path is not None:
        with _refused(name, path.name):
            return _checked(path, spec, hashed=spec["hash_copies"])
    if not download or "url" not in spec:
        raise AuditInputError(f"{name}: no copy at hand. {_help(name)}")
    return _download(name, spec)


def _folders() -> list[Path]:
    given = os.environ.get("AUDITLIB_DATA")
    return [*([Path(given)] if given else []), root() / "data" / "raw"]


def _local(spec: Mapping[str, Any]) -> Path | None:
    """First copy found; the order of folders, then of names, decides."""
    candidates = (folder / file for folder in _folders() for file in spec["files"])
    try:
        return next((path for path in candidates if path.is_file()), None)
    except OSError as error:
        raise AuditInputError(
            f"a folder of data cannot be searched ({error.strerror}): check $AUDITLIB_DATA."
        ) from error


def _help(name: str) -> str:
    spec = source(name)
    names = " or ".join(file for file in spec["files"] if "/" not in file)
    folder = "$AUDITLIB_DATA" if os.environ.get("AUDITLIB_DATA") else "the folder named by $AUDITLIB_DATA"
    return f"Get it from {spec.get('url', spec['page'])} and put it in {folder} or in data/raw/, as {names}."


def _download(name: str, spec: Mapping[str, Any]) -> pd.DataFrame:
    target = root() / "data" / "raw" / spec["saved_as"]
    try:
        if target.is_dir():
            raise IsADirectoryError("a folder is in its place")
        with _partial(target) as part:
            _fetch(name, spec["url"], part)
            with _refused(name):
                frame = _checked(part, spec, hashed="sha256" in spec)
            os.replace(part, target)
    except OSError as error:
        raise AuditInputError(f"{name}: the download cannot be saved as {target} ({error}). {_help(name)}") from error
    return frame


def _fetch(name: str, url: str, part: Path) -> None:
    try:
        pooch.HTTPDownloader(progressbar=True, timeout=TIMEOUT, chunk_size=1 << 16)(url, str(part), None)
    except (OSError, ValueError) as error:  # of the network or the disk, requests' own included; of a broken header
        if (response := getattr(error, "response", None)) is not None:
            response.close()  # left open by pooch when the status is an error
        raise AuditInputError(f"{name}: the download failed ({error}). {_help(name)}") from error


@contextmanager
def _partial(target: Path) -> Iterator[Path]:
    """A temporary path in the target's folder, gone afterwards unless it was moved; so is a folder made for it."""
    made = not target.parent.exists()
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, suffix=target.suffix)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)
        if made and not any(target.parent.iterdir()):
            target.parent.rmdir()


def _content(path: Path, spec: Mapping[str, Any]) -> bytes:
    """The table's bytes: the file's own, or those of its one member that the source names."""
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        inside = [n for n in archive.namelist() if n.endswith(spec["member"]) and "__MACOSX" not in n]
        if len(inside) != 1:
            raise AuditInputError(f"{path.name} holds {len(inside)} tables named {spec['member']}, expected 1.")
        return archive.read(inside[0])


@contextmanager
def _refused(name: str, file: str | None = None) -> Iterator[None]:
    """Whatever is wrong with a file (or with the download, if none is named) becomes one error that says what to do."""
    try:
        yield
    except BROKEN as error:
        found, remove = (file, " Remove it.") if file else ("the download", "")
        raise AuditInputError(f"{name}: {found} is not the expected table ({error}).{remove} {_help(name)}") from error


def _checked(path: Path, spec: Mapping[str, Any], *, hashed: bool) -> pd.DataFrame:
    content = _content(path, spec)
    if hashed and hashlib.sha256(content).hexdigest() != spec["sha256"]:
        raise AuditInputError("its SHA-256 is not the published one: truncated, edited or another file")
    frame = _normalise(_parse(content, spec), spec)
    _check_outcome(frame, spec)
    return frame


def _parse(content: bytes, spec: Mapping[str, Any]) -> pd.DataFrame:
    if content[:4] == b"PAR1":
        return pd.read_parquet(io.BytesIO(content))
    # As text first: guessing types chunk by chunk would turn the code 250.83 into a number in some rows only.
    return pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False, na_values=spec["missing"])


def _normalise(frame: pd.DataFrame, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Columns in the published order, whole numbers as int64, measurements as float64, the rest as text."""
    if len(frame) != spec["rows"]:
        raise AuditInputError(f"{len(frame):,} rows, expected {spec['rows']:,}")
    frame = frame.drop(columns=[c for c in spec.get("drop", ()) if c in frame])
    absent = [c for c in spec["columns"] if c not in frame]
    extra = [c for c in frame if c not in spec["columns"]]
    if absent or extra:
        raise AuditInputError(f"columns missing: {absent[:5]}, columns unknown: {extra[:5]}")
    whole = spec["columns"] if spec["integers"] == "all" else spec["integers"]
    kinds = {**dict.fromkeys(spec.get("floats", []), "numbers"), **dict.fromkeys(whole, "whole numbers")}
    for column, kind in kinds.items():
        value = pd.to_numeric(frame[column], errors="coerce")
        broken = value.isna() if kind == "numbers" else value % 1 != 0  # true of a missing value as well
        if broken.any():
            raise AuditInputError(f"column {column} holds {int(broken.sum())} values that are not {kind}")
    frame = frame[spec["columns"]].astype(dict.fromkeys(kinds, "float64"))
    return frame.astype(dict.fromkeys(whole, "int64"))


def _check_outcome(frame: pd.DataFrame, spec: Mapping[str, Any]) -> None:
    positives = int((frame[spec["outcome"]] == spec["positive"]).sum())
    if positives != spec["positives"]:
        raise AuditInputError(
            f"{positives:,} rows with {spec['outcome']} = {spec['positive']}, expected {spec['positives']:,}"
        )
