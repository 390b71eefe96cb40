"""A follow-up as a command to paste: the one that was run, with what changes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from auditlib.command.listed import OPTIONS, OUT, dest
from auditlib.command.parser import Given
from auditlib.command.values import flag, named

#: What names groups of an attribute, and says nothing of those of another.
OF_GROUPS = ("group_a", "group_b", "lam")


def speller(given: Given) -> Callable[[Mapping[str, Any]], str]:
    """What spells the first follow-up of a command, then the second, …, each with a folder of its own.

    >>> spell = speller(Given("audit", ("preds.csv",), {"by": ["sex"], "label": "died", "score": "risk"}))
    >>> print(spell({"threshold": 0.14}))
    auditlib audit preds.csv --label died --score risk --by sex --threshold 0.14 --out audit-card-2
    >>> print(spell({"by": ["race", "sex"]}))
    auditlib audit preds.csv --label died --score risk --by race --by sex --out audit-card-3
    """
    folder, numbers = _family(given.options.get("out", OUT)), count(2)
    return lambda changed: command(given, changed, f"{folder}-{next(numbers)}")


def _family(out: str) -> str:
    """Follow-ups of ``audit-card`` go to ``audit-card-2``, …; those of ``audit-card-2`` to ``audit-card-2-2``, …

    >>> _family("elsewhere/audit-card-2"), _family("mine")
    ('audit-card-2', 'audit-card')
    """
    name = Path(out).name
    return name if re.fullmatch(rf"{OUT}(-\d+)+", name) else OUT


def command(given: Given, changed: Mapping[str, Any], out: str) -> str:
    """One line for a shell."""
    held = {name: value for name, value in given.options.items() if name not in ("quiet", "out")}
    new = {name: text_of(name, value) for name, value in changed.items()}
    if set(changed) & {"by", "age_bands", "attribute"}:
        held = {name: value for name, value in held.items() if name not in OF_GROUPS or _of_all(name, value)}
        if "lam" not in held:
            held.pop("benefit_threshold", None)
    words = ["auditlib", given.command, *(_path(path) for path in given.files)]
    asked = held | new | {"out": out}
    done: set[str] = set()
    for option in OPTIONS[given.command]:
        name = dest(option.name)
        if name in asked and name not in done:
            done.add(name)
            words += _option(name, asked[name])
    return " ".join(map(shlex.quote, words))


def _of_all(name: str, value: str) -> bool:
    """Whether an option holds for groups of any attribute: one λ does."""
    return name == "lam" and "=" not in value and "{" not in value


def _option(name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [flag(name if value else f"no_{name}")]
    found = []
    for text in value if isinstance(value, list) else [value]:
        # "-x" after a space would be taken for an option
        found += [f"{flag(name)}={text}"] if text.startswith("-") else [flag(name), text]
    return found


def _path(path: str) -> str:
    return f"./{path}" if path.startswith("-") else path


def text_of(name: str, value: Any) -> Any:
    """A changed option as it is typed.

    >>> text_of("lam", {"F": 0.1}), text_of("age_bands", ["<50", "70+"]), text_of("threshold", 0.1)
    ('F=0.1', '<50 v 70+', '0.1')
    """
    if isinstance(value, Mapping):
        return named(value)
    if name == "age_bands":
        return " v ".join(value)
    if isinstance(value, list | tuple):
        return [str(each) for each in value]
    return value if isinstance(value, str | bool) else repr(value)
