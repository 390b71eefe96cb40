"""Count tables written: whole or not at all, and only where a table may stand."""

from __future__ import annotations

import json
import os
import secrets
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from auditlib.counts.files import MAGIC, body_of, header_of
from auditlib.errors import AuditInputError

if TYPE_CHECKING:
    from auditlib.counts.table import Counts


def text_of(counts: Counts) -> str:
    """The table as text of format 1."""
    body = body_of(counts)
    try:
        text = f"{MAGIC}\n# {json.dumps(header_of(counts, body), ensure_ascii=False)}\n{body}"
        text.encode()
    except UnicodeEncodeError:
        raise AuditInputError(
            "the label, unit, thresholds or provenance hold half a character (a surrogate), "
            "which cannot be written as text; rename it."
        ) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise AuditInputError(f"the provenance cannot be written as JSON ({error}); make it plain values.") from None
    return text


def write(counts: Counts, path: str | Path | None) -> str | None:
    """Text of the table, or a file moved into place once it is complete."""
    text = text_of(counts)
    if path is None:
        return text
    save(path, text)
    return None


def save(path: str | Path, text: str) -> None:
    """A text as a file, moved into place once it is complete; an error says why it cannot be written."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise AuditInputError(f"to_csv takes the path of a file, not {path!r}.")
    try:
        target = Path(path).resolve()  # a link stays, what it points to is written
        _check_target(target)
        _replace(target, text)
    except (
        OSError,
        ValueError,
        RuntimeError,
    ) as error:  # ValueError: a NUL in the path; RuntimeError: a link to itself
        if isinstance(error, AuditInputError):
            raise
        said = getattr(error, "strerror", None) or error
        raise AuditInputError(f"{os.fspath(path)!r}: cannot be written ({said}).") from error


def _check_target(target: Path) -> None:
    if not target.parent.is_dir():
        raise AuditInputError(f"{str(target.parent)!r} is not a folder; make it before writing {target.name!r}.")
    if target.exists() and not target.is_file():
        what = "a folder" if target.is_dir() else "no ordinary file"
        raise AuditInputError(f"{str(target)!r} is {what}, and would be lost; name a file.")


def _replace(target: Path, text: str) -> None:
    """The text in a draft beside the target, then in its place; who may read the old file may read the new one."""
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    draft = target.parent / f".auditlib-{secrets.token_hex(8)}"

    def opener(name: str, flags: int) -> int:  # nobody else may read it until it is done, unless the umask says so
        return os.open(name, flags, 0o666 if mode is None else 0o600)

    try:
        with open(draft, "x", encoding="utf-8", newline="", opener=opener) as file:
            file.write(text)
        if mode is not None:
            os.chmod(draft, mode)
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
