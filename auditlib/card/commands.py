"""Whether the commands of the follow-ups can be run, and ask for the same audit but for what changes."""

from __future__ import annotations

import ast
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from auditlib.audits import name_of
from auditlib.audits.follow_ups import KNOWN, WANTED
from auditlib.card.compare import same
from auditlib.counts import parse_confusion
from auditlib.errors import AuditInputError

#: What tells the options of a command, given its words, with its ``files``; an error when it cannot be read.
Reader = Callable[[list[str]], dict[str, Any]]
#: Options that go with the attribute that was asked about, and may be gone with it.
OF_GROUPS = ("group_a", "group_b", "lam", "benefit_threshold")
REGROUPED = ("by", "age_bands", "attribute")
#: Where the input has what an option of the same audit must say.
OF_INPUT = {"label": "label", "score": "score", "site": "site", "cluster": "unit"}


def follow_up_faults(results: Mapping[str, Any], parameters_of: Reader | None) -> Iterator[str]:
    """Follow-ups that are not three, change what is no option, or whose command says something else."""
    if len(results["follow_ups"]) != WANTED:
        yield f"there are {len(results['follow_ups'])} follow-ups, not {WANTED}"
    for place, line in enumerate(results["follow_ups"], start=1):
        changed, command = line["parameters"], line["command"]
        if unknown := [name for name in changed if name not in KNOWN]:
            yield f"follow-up {place} changes {unknown[0]!r}, which is no option"
        try:
            typed = not command.startswith("al.")
            said = _typed(command, parameters_of) if typed else _called(command)
        except (AuditInputError, ValueError, SyntaxError, SystemExit) as error:
            yield f"follow-up {place}: {command[:60]!r} cannot be run ({error})"
            continue
        if said is None:
            continue
        for name, value in changed.items():
            if not _says(said.get(name), value):
                yield f"follow-up {place}: its command does not say {name} = {str(value)[:40]}"
        others = [*_of_input(said, changed, results), *(_of_options(said, changed, results) if typed else ())]
        yield from (f"follow-up {place}: its command says {fault}" for fault in others)


def _typed(command: str, parameters_of: Reader | None) -> dict[str, Any] | None:
    program, *words = shlex.split(command)
    if program != "auditlib":
        raise ValueError(f"it calls {program[:20]!r}")
    return None if parameters_of is None else parameters_of(words)


def _called(command: str) -> dict[str, Any]:
    """Arguments of a call such as ``al.audit(…, threshold=0.3)``, which leaves the input to the reader.

    >>> _called("al.audit_gap('cdc_diabetes', 'sex', level=0.99)")
    {'dataset': 'cdc_diabetes', 'attribute': 'sex', 'level': 0.99}
    """
    call = ast.parse(command.replace("(…,", "(...,", 1), mode="eval").body
    if not isinstance(call, ast.Call) or ast.unparse(call.func) not in ("al.audit", "al.audit_gap"):
        raise ValueError("it is no call of al.audit or al.audit_gap")
    given = [ast.literal_eval(each) for each in call.args]
    found = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    if ast.unparse(call.func) == "al.audit":
        if given != [...]:
            raise ValueError("it names another input than …")
        return found
    return dict(zip(("dataset", "attribute"), given, strict=True)) | found


def _says(found: Any, value: Any) -> bool:
    """Whether a command asks for what changes."""
    if isinstance(value, list | tuple):
        return isinstance(found, list | tuple) and list(found) == list(value)
    return bool(found == value)


def _of_input(said: Mapping[str, Any], changed: Mapping[str, Any], results: Mapping[str, Any]) -> Iterator[str]:
    """Where a command names another input: another file, column, cohort or matrix."""
    held = results["input"]
    if said.get("files") and held["name"] is not None:
        name = " + ".join(map(name_of, said["files"]))
        if name != held["name"]:
            yield f"FILE = {name[:60]!r}, and the input was {held['name'][:60]!r}"
    for option, key in OF_INPUT.items():
        known = None if held.get(key) == "row" and key == "unit" else held.get(key)
        if said.get(option) is not None and said[option] != known:
            yield f"{option} = {str(said[option])[:40]!r}, and the input has {str(known)[:40]!r}"
    if "by" in said and "by" not in changed and sorted(said["by"]) != sorted(held["groups"]):
        yield f"by = {str(said['by'])[:60]}, and the attributes were {str(list(held['groups']))[:60]}"
    cohort = {"dataset": held["name"], "attribute": results["comparison"]["attribute"]}
    for name, value in cohort.items():
        if name in said and name not in changed and results["kind"] == "gap" and said[name] != value:
            yield f"{name} = {str(said[name])[:40]!r}, and it was {str(value)[:40]!r}"
    if "confusion" in said:
        yield from _of_matrices(said["confusion"], results)


def _of_matrices(text: str, results: Mapping[str, Any]) -> Iterator[str]:
    """Where the matrices typed, or the file that holds them, are not those of the results."""
    if text.startswith("@") and (":" not in text or os.path.isfile(text[1:])):
        if results["input"]["name"] not in (None, name_of(text[1:])):
            yield f"confusion = {text[:60]!r}, and the input was {results['input']['name'][:60]!r}"
        return
    table = parse_confusion(text)
    dim = str(table["tp"].dims[0])
    for line in results["groups"]:
        known = line["group"] in table[dim].values
        if not known or any(
            int(table[cell].sel({dim: line["group"]})) != line[cell] for cell in ("tp", "fp", "tn", "fn")
        ):
            yield f"other matrices than those of {line['group'][:40]!r}"


def _of_options(said: Mapping[str, Any], changed: Mapping[str, Any], results: Mapping[str, Any]) -> Iterator[str]:
    """Where a command asks for something else than the audit was asked, and the follow-up does not say so."""
    let = {"error", *changed} | ({"replicates"} if "level" in changed else set())
    let |= {*OF_GROUPS} if set(changed) & {*REGROUPED} else set()
    for name, value in results["options"].items():
        if name in said and name not in let and not _alike(said[name], value):
            yield f"{name} = {str(said[name])[:40]}, and the audit was asked {str(value)[:40]}"


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return set(one) == set(other) and all(same(one[name], other[name]) for name in one)
    return same(one, other)
