"""Real cohorts: find a copy, or download one; check it; hand over a frame.

Where a cohort comes from and what must be true of it is data, in ``data/sources.toml``. A copy is looked for in
the folder ``$AUDITLIB_DATA``, then in ``data/raw/``, and only then downloaded from its official address. A relative
``$AUDITLIB_DATA`` is a folder in the working folder, or else in the repository (a notebook works in ``chapters/``); one
that is in neither is an error, lest a slip of the pen ends in a download.
"""

from __future__ import annotations

import hashlib
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
from auditlib.schema import checked, content

TIMEOUT = 60  # seconds without an answer before a download is given up
# What reading a broken file may raise; an encrypted zip or an unknown compression is a RuntimeError.
BROKEN = (ValueError, KeyError, OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)
REMOVE, PART = " Remove it.", " With extract=True it may be a part of the cohort."


class NoFolderError(AuditInputError):
    """``$AUDITLIB_DATA`` names none."""


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

    False also where ``$AUDITLIB_DATA`` names no folder; ``load`` then says so.

    Examples
    --------
    >>> available("diabetes130") in (True, False)
    True
    """
    spec = source(name)
    try:
        return _local(spec) is not None
    except NoFolderError:
        return False


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
        return hashlib.sha256(content(path, source(name))).hexdigest()


def load(name: str, *, download: bool = True, path: str | Path | None = None, extract: bool = False) -> pd.DataFrame:
    """A cohort as its source publishes it: one row an encounter or a respondent, nothing dropped or filled.

    Text stays text and whole numbers become ``int64``, so that every layout of a file gives the same frame.
    Missing values are what the source says they are (``?`` in Diabetes-130), never the text ``None`` or ``NA``.
    Codes stay codes; what they mean, where they do, is ``source(name)["levels"]``: a column's level of each code.

    Parameters
    ----------
    name : {"diabetes130", "cdc_diabetes", "brfss2022_heart", "texas100x"}
        The cohort.
    download : bool
        Whether the official address may be asked when no copy is at hand. The file then goes to ``data/raw/``.
    path : str or Path, optional
        A file (CSV, zip or Parquet) to read instead of those looked for.
    extract : bool
        Whether the file may be a part of the cohort, as one made to try something: columns, types and codes are
        checked, but not how many rows, patients with the outcome or hospitals there are, nor the SHA-256.

    Raises
    ------
    AuditInputError
        When ``download`` or ``extract`` is neither True nor False, when ``$AUDITLIB_DATA`` names no folder, when no
        copy can be had, or when it fails a check: columns, codes, whole numbers of 2⁵³ or more, number of rows, of
        patients with the outcome and of hospitals, and the SHA-256 where there is one to compare with. A download that
        fails leaves nothing behind.

    Examples
    --------
    >>> if available("cdc_diabetes"):
    ...     frame = load("cdc_diabetes", download=False)
    ...     assert frame["Diabetes_binary"].sum() == 35_346
    """
    spec = source(name)
    for option, value in (("download", download), ("extract", extract)):
        if not isinstance(value, bool):
            raise AuditInputError(f"{option} must be True or False, not {value!r}.")
    found = _local(spec) if path is None else _given(name, path)
    if found is not None:
        with _refused(name, found.name, REMOVE if path is None else "" if extract else PART):
            return checked(found, spec, hashed=spec["hash_copies"] and not extract, whole=not extract)
    if not download or "url" not in spec:
        raise AuditInputError(f"{name}: no copy at hand. {_help(name)}")
    return _download(name, spec)


def _named() -> Path | None:
    """The folder of ``$AUDITLIB_DATA``, if it is set: in the working folder, or else in the repository."""
    given = os.environ.get("AUDITLIB_DATA")
    if not given:
        return None
    with _searched():
        found = next((place for place in (Path(given), root() / given) if place.is_dir()), None)
    if found is None:
        places = [str(Path.cwd())] + ([str(root())] if root() != Path.cwd() else [])
        looked = "" if Path(given).is_absolute() else f" (looked from {' and '.join(places)})"
        raise NoFolderError(
            f"AUDITLIB_DATA={given[:200]} is no folder{looked}: name the one that holds the records, or unset it."
        )
    return found


def _local(spec: Mapping[str, Any]) -> Path | None:
    """First copy found; the order of folders, then of names, decides."""
    folders = [folder for folder in (_named(), root() / "data" / "raw") if folder is not None]
    with _searched():
        return next((path for folder in folders for file in spec["files"] if (path := folder / file).is_file()), None)


@contextmanager
def _searched() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise AuditInputError(
            f"a folder of data cannot be searched ({error.strerror}): check $AUDITLIB_DATA."
        ) from error


def _given(name: str, path: str | Path) -> Path:
    """The file named by the caller, or an error that says it is none."""
    try:
        if Path(path).is_file():
            return Path(path)
    except (TypeError, ValueError, OSError):
        pass
    raise AuditInputError(f"{name}: path = {str(path)[:200]!r} is no file. {_help(name)}")


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
                frame = checked(part, spec, hashed="sha256" in spec)
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


@contextmanager
def _refused(name: str, file: str | None = None, advice: str = REMOVE) -> Iterator[None]:
    """Whatever is wrong with a file (or with the download, if none is named) becomes one error that says what to do."""
    try:
        yield
    except BROKEN as error:
        found, remove = (file, advice) if file else ("the download", "")
        raise AuditInputError(f"{name}: {found} is not the expected table ({error}).{remove} {_help(name)}") from error
