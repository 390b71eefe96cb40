"""The folder of an audit: written whole or not at all, and never over what is not an earlier result."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from auditlib.audits import SCHEMA
from auditlib.audits.shared import counts_named, shared_counts
from auditlib.card.drawn import DRAWN, there
from auditlib.card.entry import Audit
from auditlib.card.exchange import exchange
from auditlib.card.figures import figures
from auditlib.card.page import page
from auditlib.card.summary import summary
from auditlib.counts.write import text_of
from auditlib.errors import AuditInputError

CARD, RESULTS, SUMMARY, FIGURES = "result_card.html", "results.json", "summary.md", "figures"
REPORT = "validation_report.json"
LITTER = (".DS_Store", "Thumbs.db", "desktop.ini")  # what file managers leave behind
MOST_RESULTS = 200_000_000  # bytes of results.json


def write(audit: Audit, folder: str | os.PathLike[str], inputs: Iterable[str] = ()) -> Path:
    """Write card, results, counts, figures and summary into a folder, and return it.

    What is there already is replaced in one step when it is an earlier result and nothing but the files that its
    ``results.json`` implies, and left as it is otherwise.

    Parameters
    ----------
    audit
    folder : path
        Not there yet (its parent is), empty, or an earlier result.
    inputs : paths that must not lie in it

    Raises
    ------
    AuditInputError
        When the folder holds anything else, or cannot be written; nothing is left behind.
    """
    target = target_of(folder, inputs)
    texts = files_of(audit)
    draft = target.parent / f".auditlib-{secrets.token_hex(8)}"
    try:
        _fill(draft, texts)
        if target.exists():
            os.chmod(draft, stat.S_IMODE(target.stat().st_mode))
        target_of(folder, inputs)  # somebody may have put something there in the meantime
        _move(draft, target)
    except (OSError, ValueError) as error:  # ValueError: half a character, which is no text
        if isinstance(error, AuditInputError):
            raise
        said = getattr(error, "strerror", None) or error
        raise AuditInputError(f"{os.fspath(folder)!r}: cannot be written ({said}); nothing was changed.") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)  # what is left of it, or the result that was replaced
    return Path(folder)


def files_of(audit: Audit) -> dict[str, str]:
    """Every file of the folder by its name, as text.

    Examples
    --------
    >>> import auditlib as al
    >>> list(files_of(al.audit("Women:80,40,800,30; Men:120,90,700,25")))[:4]
    ['result_card.html', 'results.json', 'counts.csv', 'summary.md']
    """
    pictures = figures(audit.results)
    tables = shared_counts(audit.results, audit.counts)
    texts = {name: text_of(counts) for name, counts in tables.items()}  # first: it names what cannot be written
    held = {CARD: page(audit.results, pictures), RESULTS: as_json(audit.results)}
    held |= texts | {SUMMARY: summary(audit.results)}
    return held | {f"{FIGURES}/{name}.svg": picture.svg for name, picture in pictures.items()}


def as_json(results: Mapping[str, Any]) -> str:
    """Results as ``results.json`` has them.

    >>> print(as_json({"gap": None, "group": "Ä"}), end="")
    {
     "gap": null,
     "group": "Ä"
    }
    """
    return json.dumps(results, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def files_named(results: Mapping[str, Any]) -> list[str]:
    """Every file of the folder that these results are written to.

    >>> import auditlib as al
    >>> files_named(al.audit("Women:80,40,800,30; Men:120,90,700,25").results)[-2:]
    ['figures/chance.svg', 'figures/prevalence.svg']
    """
    held = [CARD, RESULTS, *counts_named(results), SUMMARY]
    return held + [f"{FIGURES}/{name}.svg" for name in DRAWN if there(results, name)]


def target_of(folder: str | os.PathLike[str], inputs: Iterable[str] = ()) -> Path:
    """The folder to write, a link followed; an error where writing would lose anything.

    Raises
    ------
    AuditInputError
    """
    if not isinstance(folder, str | os.PathLike) or not os.fspath(folder):
        raise AuditInputError(f"the folder to write must be a path, not {folder!r}.")
    name = os.fspath(folder)
    try:
        target = Path(folder).resolve()
        if not target.parent.is_dir():
            raise AuditInputError(f"{str(target.parent)!r} is not a folder; make it before writing {target.name!r}.")
        here = Path.cwd().resolve()
        if target == here or target in here.parents:
            raise AuditInputError(f"{name!r} is the folder you are in, or one around it; name a new one inside it.")
        for each in inputs:
            if target in (held := Path(each).resolve()).parents or target == held:
                raise AuditInputError(f"{each!r} lies in {name!r}, which would be replaced; name another --out.")
        if not target.exists():
            return target
        if not target.is_dir():
            raise AuditInputError(f"{name!r} is a file, and would be lost; name a folder.")
        found = foreign(target)
    except (OSError, ValueError, RuntimeError) as error:  # a NUL in the path; a link to itself
        if isinstance(error, AuditInputError):
            raise
        raise AuditInputError(f"{name!r}: cannot be written ({getattr(error, 'strerror', None) or error}).") from error
    if found is not None:
        raise AuditInputError(f"{name!r} holds {found}, which would be lost; name another folder.")
    return target


def foreign(folder: Path) -> str | None:
    """What a folder holds beside an earlier result, in words; None when it holds nothing else."""
    names = sorted(each.name for each in folder.iterdir() if each.name not in LITTER)
    if not names:
        return None
    if not any(name == RESULTS for name in names):
        return f"{names[0]!r} and no {RESULTS}"
    if not _is_file(folder / RESULTS) or (results := _earlier(folder / RESULTS)) is None:
        return f"a {RESULTS} of something else"
    try:
        found = strange(folder, files_named(results))
    except (LookupError, TypeError, AttributeError, ValueError):  # of another version, or edited
        return f"a {RESULTS} that does not say which files are its own"
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return ", ".join(map(repr, found[:3])) + more if found else None


def strange(folder: Path, names: Iterable[str]) -> list[str]:
    """What a folder holds beside the files named and the report of a check, or in the place of one of these."""
    ours, found = {*names, REPORT}, []
    for each in sorted(folder.iterdir()):
        if each.name == FIGURES and _is_folder(each):
            inside = [(f"{FIGURES}/{one.name}", one) for one in sorted(each.iterdir()) if one.name not in LITTER]
        else:
            inside = [(each.name, each)] if each.name not in LITTER else []
        found += [name for name, path in inside if name not in ours or not _is_file(path)]
    return found


def _is_file(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)


def _is_folder(path: Path) -> bool:
    return stat.S_ISDIR(path.lstat().st_mode)


def _earlier(path: Path) -> dict[str, Any] | None:
    """Results of an earlier audit; None for anything else."""
    if path.stat().st_size > MOST_RESULTS:
        return None
    try:
        held = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    name = SCHEMA.rpartition(" ")[0]
    return held if isinstance(held, dict) and str(held.get("schema")).rpartition(" ")[0] == name else None


def _fill(draft: Path, texts: Mapping[str, str]) -> None:
    os.mkdir(draft)
    os.mkdir(draft / FIGURES)
    for name, text in texts.items():
        with open(draft / name, "x", encoding="utf-8", newline="") as file:
            file.write(text)


def _move(draft: Path, target: Path) -> None:
    """The draft in the target's place; what was there, if anything, in the draft's."""
    if not target.exists():
        os.rename(draft, target)
    elif not exchange(draft, target):
        aside = draft.with_name(f"{draft.name}-old")
        os.rename(target, aside)
        try:
            os.rename(draft, target)
        except BaseException:
            os.rename(aside, target)
            raise
        os.rename(aside, draft)
