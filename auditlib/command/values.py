"""What is typed after an option, as a value; which values an audit takes, its own options check."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from auditlib.audits import Options
from auditlib.errors import AuditInputError

TRAINING = "train_prevalence"
#: Sentences that must name the option as it is typed.
EACH = {"lam": '--lam "Women=0.2,Men=0.4"', "limits": '--limits "DI=0.9,SPD=0.05"'}
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|[-+]?inf"
_ITEM = re.compile(rf"\s*(?P<name>.+?)\s*=\s*(?P<value>{_NUMBER})\s*(?:,|$)", re.DOTALL)
_BANDS = re.compile(r"\s*(?:,|;|\bvs?\b\.?)\s*")


def flag(name: str) -> str:
    """An option as it is typed.

    >>> flag("group_a")
    '--group-a'
    """
    return "--" + name.replace("_", "-")


def number(name: str, text: str) -> float:
    """A number with a decimal point.

    >>> number("lam", "0.3")
    0.3
    """
    if not re.fullmatch(rf"\s*(?:{_NUMBER})\s*", text, re.ASCII):
        raise AuditInputError(f"{flag(name)} must be a number such as 0.3, not {text[:60]!r}.")
    return float(text)


def whole(name: str, text: str) -> int:
    """A whole number.

    >>> whole("seed", "42")
    42
    """
    if not re.fullmatch(r"\s*[-+]?\d{1,18}\s*", text, re.ASCII):
        raise AuditInputError(f"{flag(name)} must be a whole number, not {text[:60]!r}.")
    return int(text)


def is_number(text: str) -> bool:
    """Whether text is meant as a number.

    >>> is_number("0.3"), is_number("top20")
    (True, False)
    """
    return re.fullmatch(rf"\s*(?:{_NUMBER})\s*", text, re.ASCII) is not None


def rule(text: str) -> float | str:
    """A threshold: a number, or the name of a rule, which is checked later.

    >>> rule("0.3"), rule("top20")
    (0.3, 'top20')
    """
    return number("threshold", text) if is_number(text) else text


def target(text: str) -> float | str:
    """A prevalence: a number, or "pooled"."""
    return text if text == "pooled" else number("target_prevalence", text)


def by_name(name: str, text: str) -> dict[str, float]:
    """Numbers by name, ``Women=0.2,Men=0.4``; or, for names that this cannot tell apart, a JSON object.

    >>> by_name("lam", "Black only, Non-Hispanic=0.2, a=b=.4")
    {'Black only, Non-Hispanic': 0.2, 'a=b': 0.4}
    >>> by_name("lam", '{"x=1,y": 0.2}')
    {'x=1,y': 0.2}
    """
    if text.lstrip().startswith("{"):
        return _from_json(name, text)
    found: dict[str, float] = {}
    at = 0
    while at < len(text):
        item = _ITEM.match(text, at)
        if item is None:
            raise AuditInputError(f"{flag(name)}: {text[at:][:60]!r} is not NAME=NUMBER; write {EACH[name]}.")
        if item["name"] in found:
            raise AuditInputError(f"{flag(name)} names {item['name'][:60]!r} twice.")
        found[item["name"]], at = float(item["value"]), item.end()
    if not found:
        raise AuditInputError(f"{flag(name)} is empty; write {EACH[name]}.")
    return found


def _from_json(name: str, text: str) -> dict[str, float]:
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        held = None
    wrong = not isinstance(held, dict) or not held
    if wrong or any(isinstance(value, bool) or not isinstance(value, int | float) for value in held.values()):
        raise AuditInputError(f"{flag(name)}: {text[:60]!r} is not a JSON object of numbers; or write {EACH[name]}.")
    return {key: float(value) for key, value in held.items()}


def named(values: Mapping[str, float]) -> str:
    """Numbers by name as they are typed, such that they are read back as they were.

    >>> named({"Women": 0.2, "Men": 0.4}), named({"x=1,y": 0.2})
    ('Women=0.2,Men=0.4', '{"x=1,y": 0.2}')
    """
    text = ",".join(f"{name}={value!r}" for name, value in values.items())
    try:
        same = by_name("lam", text) == dict(values)
    except AuditInputError:
        same = False
    return text if same else json.dumps(dict(values), ensure_ascii=False)


def lam(text: str) -> float | dict[str, float]:
    """A treatment effect, or one a group."""
    return number("lam", text) if is_number(text) or "=" not in text else by_name("lam", text)


def bands(given: str | Sequence[Any]) -> tuple[str, str]:
    """Two age bands, with a comma or "v" between them and an en dash or a hyphen in them.

    >>> bands("18-24, 80+"), bands("<50 v 70+"), bands(["18–24", "80+"])
    (('18–24', '80+'), ('<50', '70+'), ('18–24', '80+'))
    """
    found = _BANDS.split(given.strip()) if isinstance(given, str) else list(given)
    if len(found) != 2 or not all(isinstance(band, str) and band.strip() for band in found):
        raise AuditInputError(f"age_bands: {str(given)[:60]!r} is not two bands such as '18–24, 80+' or '<50 v 70+'.")
    first, second = (dashed(band) for band in found)
    return first, second


def dashed(band: str) -> str:
    """A band with the dash that the book's bands have.

    >>> dashed(" 18-24")
    '18–24'
    """
    return re.sub(r"(?<=\d)\s*[-–—]\s*(?=\d)", "–", band.strip())


#: How the text of each option of ``auditlib.audits.Options`` becomes its value.
READ: dict[str, Any] = {
    "threshold": rule,
    "target_prevalence": target,
    "lam": lam,
    "limits": lambda text: by_name("limits", text),
    **{name: (lambda text, name=name: number(name, text)) for name in ("benefit_threshold", "capacity", "level")},
    **{name: (lambda text, name=name: whole(name, text)) for name in ("replicates", "seed", "bins")},
}


def options_of(given: Mapping[str, Any]) -> Options:
    """The options that all audits share, from those typed; what was not typed has its default.

    >>> options_of({"threshold": "top20", "label": "died", "multiverse": False}).asked()
    {'threshold': 'top20', 'multiverse': False}
    """
    if "benefit_threshold" in given and "lam" not in given:
        raise AuditInputError("--benefit-threshold goes with --lam, the treatment effect; give both or neither.")
    shared = [name for name in given if name in Options.__dataclass_fields__]
    return Options(**{name: READ.get(name, lambda held: held)(given[name]) for name in shared})
