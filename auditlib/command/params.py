"""A file of parameters for ``auditlib gap``, as options."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from auditlib.audits import KEYS, MODELS, params_of
from auditlib.command import values
from auditlib.command.audit import small_file
from auditlib.command.listed import ATTRIBUTES, DATASETS
from auditlib.command.parser import Given
from auditlib.errors import AuditInputError

MATRICES = "byo_confusion"
ALLOWED = {
    "dataset": ", ".join(DATASETS),
    "attribute": ", ".join(ATTRIBUTES),
    "age_bands": 'two bands such as ["18–24", "80+"]',
    "group_a": "the name of a group",
    "group_b": "the name of a group",
    "threshold": f"{values.TRAINING}, top20 (any whole percentage), or a number above 0 and below 1",
    "target_prevalence": "pooled, or a number above 0 and below 1",
    "model": ", ".join(MODELS),
    "multiverse": "true, false",
    MATRICES: 'text such as "Women:80,40,800,30; Men:120,90,700,25"',
}
ONE_OF = {"dataset": DATASETS, "attribute": ATTRIBUTES, "model": MODELS}


def with_params(given: Given) -> Given:
    """The command with what its file of parameters says, spelled as options; the same without such a file.

    Raises
    ------
    AuditInputError
        For a file that is no JSON object, an unknown key or value, or an option that the file could say, too.
    """
    if "params" not in given.options:
        return given
    clash = [name for name in given.options if name in KEYS]
    if clash:
        raise AuditInputError(f"{values.flag(clash[0])} beside --params: say it in the file, or leave the file out.")
    path = given.options["params"]
    held = options_from(read(path), path)
    rest = {name: value for name, value in given.options.items() if name != "params"}
    return Given(given.command, (), rest | held)


def read(path: str) -> Any:
    """The JSON in a file."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise AuditInputError(f"{path!r} has {twice[0][:60]!r} twice.")
        return dict(pairs)

    def never(word: str) -> NoReturn:
        raise AuditInputError(f"{path!r} holds {word}, which is no number.")

    held = small_file(path)
    try:
        return json.loads(held.decode("utf-8-sig"), object_pairs_hook=once, parse_constant=never)
    except AuditInputError:
        raise
    except (ValueError, RecursionError):  # also what is no UTF-8 text
        raise AuditInputError(f'{path!r} is not JSON; write an object such as {{"dataset": "cdc_diabetes"}}.') from None


def options_from(given: Any, path: str) -> dict[str, Any]:
    """Parameters as the options that say the same.

    >>> options_from({"dataset": "cdc_diabetes", "attribute": "age", "threshold": 0.3, "age_bands": []}, "p.json")
    {'dataset': 'cdc_diabetes', 'attribute': 'age', 'threshold': '0.3'}
    """
    try:
        held = params_of(given)
    except AuditInputError as error:
        raise AuditInputError(f"{path!r}: {error}") from None
    for name, value in held.items():
        if not _allowed(name, value):
            shown = json.dumps(value, ensure_ascii=False)[:60]
            raise AuditInputError(f"{path!r}: {name} is {shown}; allowed: {ALLOWED[name]}.")
    if MATRICES in held:
        _check_alone(held, path)
        matrices = str(held.pop(MATRICES))
        held["confusion"] = f" {matrices}" if matrices.startswith("@") else matrices  # no file here
    elif lacking := [name for name in ("dataset", "attribute") if name not in held]:
        raise AuditInputError(f"{path!r} lacks {lacking[0]}; allowed: {ALLOWED[lacking[0]]}; or give {MATRICES}.")
    if "age_bands" in held:
        held["age_bands"] = " v ".join(values.bands(held["age_bands"]))
    return {name: _text(value) for name, value in held.items()}


def _allowed(name: str, value: Any) -> bool:
    if name == "multiverse":
        return isinstance(value, bool)
    if name in ("threshold", "target_prevalence"):
        return isinstance(value, str | int | float) and not isinstance(value, bool)
    if name == "age_bands":
        return isinstance(value, str) or (isinstance(value, list) and all(isinstance(each, str) for each in value))
    return isinstance(value, str) and value in ONE_OF.get(name, (value,))


def _check_alone(held: Mapping[str, Any], path: str) -> None:
    clash = [name for name in ("dataset", "attribute", "age_bands", "model", "threshold") if name in held]
    if clash:
        raise AuditInputError(f"{path!r}: {MATRICES} and {clash[0]} exclude each other; leave one of them blank.")


def _text(value: Any) -> Any:
    return value if isinstance(value, str | bool) else repr(value)
