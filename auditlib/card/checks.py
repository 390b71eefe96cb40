"""A folder of results once more: whether its files are whole, agree, and say no more than was measured."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any, NoReturn

import jsonschema

import auditlib
from auditlib.audits.shared import COUNTS
from auditlib.card import rendered, sentences
from auditlib.card.commands import Reader, follow_up_faults
from auditlib.card.folder import CARD, FIGURES, LITTER, REPORT, RESULTS, SUMMARY, files_named, strange
from auditlib.card.loads import policy_lacks, read
from auditlib.card.recount import recounted
from auditlib.errors import AuditInputError

NEEDED = (CARD, RESULTS, COUNTS, SUMMARY, FIGURES)
MOST_SAID = 300


@dataclass(frozen=True)
class Check:
    """One check: whether it passed, and what was found."""

    name: str
    passed: bool
    said: str


def check_folder(folder: str | Path, parameters_of: Reader | None = None) -> list[Check]:
    """Check an output folder: whether it is what its results give, and these what its counts give.

    Card, figures, summary and sentences are made again from ``results.json`` and compared to the byte (when this
    version wrote them), and the results are computed again from ``counts.csv`` as far as it goes. What nothing in the
    folder can contradict is taken as it stands: the input's name and checksum, its notes, the date, and what a user
    called columns and groups (also where a name holds a word that a card may not use).

    Parameters
    ----------
    folder : path of a folder that ``Audit.write`` or the command line wrote
    parameters_of : function, optional
        What the command line makes of a command's words; without it, commands are not read.

    Returns
    -------
    list of Check
        ``files``, ``json``, ``schema``, ``text``, ``follow-ups``, ``numbers``, ``counts``, ``card``; those that need
        sound results fail when there are none. A check that passes may have something to say, too.

    Examples
    --------
    >>> import tempfile, auditlib as al
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = al.audit("Women:80,40,800,30; Men:120,90,700,25").write(place + "/card")
    ...     [check.name for check in check_folder(folder) if not check.passed]
    []
    """
    place = Path(folder)
    try:
        results = load(place)
    except AuditInputError:
        results = None
    schema_ = _checked("schema", lambda: _schema(_sound(results)))
    if not schema_.passed:
        results = None
    found = [_checked("files", lambda: _files(place, results)), _checked("json", lambda: _json(place)), schema_]
    rest: dict[str, Callable[[Any], Iterator[str]]] = {
        "text": lambda held: _text(place, held),
        "follow-ups": lambda held: _follow_ups(held, parameters_of),
        "numbers": sentences.number_faults,
        "counts": lambda held: recounted(place, held),
        "card": lambda held: _card(place, held),
    }
    for name, faults in rest.items():
        found.append(_checked(name, lambda faults=faults: faults(_sound(results))))  # type: ignore[misc]
    if results is not None and found[-1].passed:
        found[-1] = replace(found[-1], said=rendered.other_version(results) or "")
    return found


def report(folder: str | Path, checks: list[Check]) -> str:
    """The checks as ``validation_report.json``, with the checksum of the results they are about."""
    digest = hashlib.sha256((Path(folder) / RESULTS).read_bytes()).hexdigest()
    held = {"schema": "auditlib-validation 1", "auditlib": auditlib.__version__, "results_sha256": digest}
    held |= {"passed": all(check.passed for check in checks), "checks": [asdict(check) for check in checks]}  # type: ignore[dict-item]
    return json.dumps(held, indent=1, ensure_ascii=False) + "\n"


def load(folder: Path) -> Any:
    """``results.json`` as it stands; an error unless it is JSON, without NaN, Infinity or a name given twice.

    Raises
    ------
    AuditInputError
    """

    def never(word: str) -> NoReturn:
        raise AuditInputError(f"{RESULTS} holds {word}, which is not JSON.")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        held = dict(pairs)
        if len(held) < len(pairs):
            raise AuditInputError(f"{RESULTS} has a name twice in one object.")
        return held

    try:
        return json.loads((folder / RESULTS).read_bytes().decode(), parse_constant=never, object_pairs_hook=once)
    except AuditInputError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise AuditInputError(f"{RESULTS} cannot be read as JSON ({error}).") from None


def schema() -> dict[str, Any]:
    """``results.schema.json``: what every field of the results is.

    >>> schema()["properties"]["schema"]["const"]
    'auditlib-results 1'
    """
    held = json.loads(package_files("auditlib.card").joinpath("results.schema.json").read_text(encoding="utf-8"))
    return dict(held)


def _checked(name: str, faults: Callable[[], Iterator[str]]) -> Check:
    """A check passes when it finds no fault; a folder of which it cannot be told fails."""
    found: list[str] = []
    try:
        found.extend(faults())  # one by one: what was found before an error stays
    except Exception as error:  # whatever edited results make of it, nothing was checked
        found.append(str(error) if isinstance(error, AuditInputError) else f"cannot be checked ({error!r})")
    more = f" (and {len(found) - 3} more)" if len(found) > 3 else ""
    return Check(name, not found, "; ".join(found[:3])[:MOST_SAID] + more)


def _sound(results: Any) -> Any:
    if results is None:
        raise AuditInputError("there are no sound results to check against.")
    return results


def _files(folder: Path, results: Any) -> Iterator[str]:
    """What is missing, does not belong here, or is empty; which figures and tables there are, sound results say."""
    there = {each.name for each in folder.iterdir()} - {*LITTER}
    drafts = sorted(name for name in there if name.startswith(".auditlib-"))
    yield from (f"{name} was left by a run that was stopped; remove it" for name in drafts)
    yield from (f"{name} is missing" for name in NEEDED if name not in there)
    yield from (f"{name} is empty" for name in NEEDED if name in there and name != FIGURES and not _size(folder, name))
    if results is not None:
        named = files_named(results)
        yield from (f"{name} is missing" for name in named if name not in NEEDED and not (folder / name).exists())
        yield from (f"{name!r} does not belong here" for name in strange(folder, named) if name not in drafts)


def _size(folder: Path, name: str) -> int:
    return (folder / name).stat().st_size


def _json(folder: Path) -> Iterator[str]:
    load(folder)
    if (folder / REPORT).exists():
        json.loads((folder / REPORT).read_bytes())
    yield from ()


def _schema(results: Any) -> Iterator[str]:
    validator = jsonschema.Draft202012Validator(schema())
    for error in sorted(validator.iter_errors(results), key=lambda error: error.json_path):
        yield f"{error.json_path}: {error.message[:120]}"


def _text(folder: Path, results: Mapping[str, Any]) -> Iterator[str]:
    yield from sentences.text_faults(results)
    yield from sentences.summary_faults((folder / SUMMARY).read_bytes().decode(), results)
    yield from rendered.sentence_faults(results)
    yield from rendered.summary_again(folder, results)


def _follow_ups(results: Mapping[str, Any], parameters_of: Reader | None) -> Iterator[str]:
    yield from follow_up_faults(results, parameters_of)
    yield from rendered.changed_faults(results)


def _card(folder: Path, results: Mapping[str, Any]) -> Iterator[str]:
    """The page loads and runs nothing, shows the headline, embeds the figures' files, and is what the results give."""
    yield from _page(folder, results)
    yield from rendered.card_again(folder, results)


def _page(folder: Path, results: Mapping[str, Any]) -> Iterator[str]:
    page = read((folder / CARD).read_bytes().decode())
    yield from (f"the card would load or run {each}" for each in page.loads)
    if (lacking := policy_lacks(page)) is not None:
        yield f"the card's policy lacks {lacking}"
    said = [" ".join(text.split()) for text in page.headings]
    if said != [" ".join(sentences.clean(results["headline"]["text"]).split())]:
        yield f"the card's first heading is not the headline but {said}"
    held = {each.stem: each.read_bytes().decode() for each in (folder / FIGURES).glob("*.svg")}
    for name, svg in sorted(held.items()):
        if svg not in page.images:
            yield f"figure {name} is not the one in the card"
        yield from (f"figure {name} would load or run {each}" for each in read(svg).loads)
    if len(page.images) != len(held):
        yield f"the card has {len(page.images)} images, and there are {len(held)} figures"
