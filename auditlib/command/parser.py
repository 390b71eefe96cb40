"""From what is typed to options by name: each once, none unknown, nothing guessed."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from auditlib.command import texts
from auditlib.command.listed import OPTIONS, Option, dest
from auditlib.errors import AuditInputError

SAID = {
    "audit": ("FILE", texts.AUDIT, texts.AUDIT_MORE),
    "gap": (None, texts.GAP, texts.GAP_MORE),
    "check": ("DIR", texts.CHECK, texts.CHECK_MORE),
}
NOTHING = "a value must follow it; one that begins with - after =, as in --group-a=-x"
USED = {"audit": "[FILE …] ", "gap": "", "check": "DIR "}


@dataclass(frozen=True)
class Given:
    """A command as typed: its files (or folder), and the text of each option."""

    command: str
    files: tuple[str, ...]
    options: Mapping[str, Any]


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        words = message.removeprefix("argument ").replace("expected one argument", NOTHING)
        raise AuditInputError(f"{words} ({self.prog} --help tells more)")


class _Once(argparse.Action):
    """An option that is given once: the last of two would win in silence."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if hasattr(namespace, self.dest):
            parser.error(f"{option_string} is given twice, or beside its opposite")
        setattr(namespace, self.dest, self.const if self.nargs == 0 else values)


def parse(arguments: Sequence[str]) -> Given:
    """What a command line asks for; ``SystemExit`` after a help was printed.

    Raises
    ------
    AuditInputError
        For an unknown command or option, with what was probably meant, or an option without its value.

    Examples
    --------
    >>> parse(["audit", "preds.csv", "--label", "died", "--by", "sex", "--by", "race"]).options
    {'label': 'died', 'by': ['sex', 'race']}
    """
    command, rest = arguments[0], list(arguments[1:])
    if command not in OPTIONS:
        raise AuditInputError(f"no command {command[:60]!r}{_near(command, OPTIONS)}; there are {', '.join(OPTIONS)}.")
    parser = parser_of(command)
    found, unknown = parser.parse_known_intermixed_args(rest)
    if unknown:
        _unknown(parser, unknown[0], command)
    held = vars(found)
    files = tuple(held.pop("files", ()))
    return Given(command, files, {name: held[name] for name in held if held[name] is not None})


def _unknown(parser: _Parser, word: str, command: str) -> NoReturn:
    name = word.partition("=")[0]
    if not name.startswith("-"):
        parser.error(f"{name[:60]!r} belongs to no option")
    known = [f"--{option.name}" for option in OPTIONS[command]] + ["--help"]
    other = [each for each in OPTIONS if each != command and name.removeprefix("--") in {o.name for o in OPTIONS[each]}]
    hint = _near(name, known) or (f"; it is one of `auditlib {other[0]}`" if other else "")
    parser.error(f"unknown option {name[:60]}{hint}")


def _near(word: str, known: Any) -> str:
    """What was probably meant."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {found[0]}?" if found else ""


def parser_of(command: str) -> _Parser:
    """The parser of one command."""
    files, before, after = SAID[command]
    parser = _Parser(
        prog=f"auditlib {command}", usage=f"auditlib {command} {USED[command]}[options]", description=before,
        epilog=after, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter, argument_default=argparse.SUPPRESS,
    )  # fmt: skip
    if files is not None:
        parser.add_argument("files", nargs="*", metavar=files, default=(), help=argparse.SUPPRESS)
    for option in OPTIONS[command]:
        parser.add_argument(f"--{option.name}", **_how(option))
    return parser


def _how(option: Option) -> dict[str, Any]:
    how: dict[str, Any] = {"dest": dest(option.name), "help": option.help.replace("%", "%%")}
    if option.what is None:
        return how | {"action": _Once, "nargs": 0, "const": not option.name.startswith("no-")}
    how["metavar"] = option.what
    if option.choices is not None:
        how["choices"] = option.choices
    return how | {"action": "append" if option.repeated else _Once}
