"""Text as labels, scores and groups: exactly, or an error that names the values and how many rows hold them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from auditlib.counts.labels import check_near, value_key
from auditlib.errors import AuditInputError
from auditlib.reading.words import counted, listed, rows_of, shown

#: What other programs write for a missing value, in small letters.
MISSING_WORDS = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "?", "."})
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
COMMA = re.compile(r"[+-]?(\d+,?\d*|,\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
EXACT = 2**53  # from here on neighbouring whole numbers are one float
MOST = 10
LOOKED, RISKS = 1_000, 5  # distinct values looked at; so many strictly between 0 and 1 are no outcomes

Column: TypeAlias = Any  # a ChunkedArray; pyarrow has no types


def is_missing_word(text: str) -> bool:
    """Whether a text is what some program writes for a missing value.

    >>> is_missing_word("NA"), is_missing_word(" "), is_missing_word("Namibia")
    (True, True, False)
    """
    return len(text) < 100 and text.strip().lower() in MISSING_WORDS


def number(text: str) -> float | None:
    """A text as a number; None if it is none, such as ``nan``, ``1_000`` or digits of another script.

    >>> number("0.50"), number(" 1e-3 "), number("nan"), number("1_000")
    (0.5, 0.001, None, None)
    """
    text = text.strip(" \t")
    return float(text) if NUMBER.fullmatch(text) else None


def truth(text: str) -> bool | None:
    """A text as true or false; None if it is neither.

    >>> truth(" TRUE"), truth("no")
    (True, None)
    """
    return {"true": True, "false": False}.get(text.strip().lower())


def tally(column: Column) -> dict[str, int]:
    """The values that occur, without missing ones, and how many rows hold each."""
    found = pc.value_counts(column)
    values, n = found.field(0).to_pylist(), found.field(1).to_pylist()
    return {value: rows for value, rows in zip(values, n, strict=True) if value is not None}


def refuse_missing(what: str, column: Column, found: Mapping[str, int], held: str, why: str, but: Any = None) -> None:
    """An error for words that mean missing, ``but`` for a value that was named: how many rows hold which."""
    words = {text: n for text, n in found.items() if is_missing_word(text) and text != but}
    if words:
        raise AuditInputError(f"{what}: {sum(words.values()):,} of {len(column):,} rows {held} {counted(words)}{why}")


def mapped(column: Column, values: Mapping[str, Any], dtype: pa.DataType) -> Column:
    """Each text replaced by what ``values`` has for it; missing values stay missing."""
    keys = pa.array(list(values), column.type)
    return pc.take(pa.array(list(values.values()), dtype), pc.index_in(column, value_set=keys))


def scores(name: str, column: Column, comma_allowed: bool) -> tuple[Column, bool]:
    """Scores as floats, and whether they were written with a decimal comma."""
    if (floats := _plain_floats(column)) is not None:
        return floats, False
    found = tally(column)
    why = "; missing scores are never filled. Drop those rows knowingly, or predict for them."
    refuse_missing(f"score {name!r}", column, found, "hold no number but", why)
    comma = comma_allowed and any("," in text for text in found)
    comma = comma and all(COMMA.fullmatch(text.strip(" \t")) for text in found)
    values = {text: number(text.replace(",", ".") if comma else text) for text in found}
    wrong = {text: found[text] for text, value in values.items() if value is None}
    if wrong:
        raise AuditInputError(
            f"score {name!r}: {sum(wrong.values()):,} of {len(column):,} rows are no numbers: {counted(wrong)}"
            f"{_score_hint(wrong, comma_allowed)}."
        )
    return mapped(column, values, pa.float64()), comma


def _plain_floats(column: Column) -> Column | None:
    """The usual case, in Arrow; None where a text is no number, or one that Arrow alone takes for one (``nan``)."""
    try:
        floats = pc.cast(column, pa.float64())
    except pa.ArrowInvalid:
        return None
    return floats if pc.all(pc.is_finite(floats), min_count=0).as_py() else None


def _score_hint(wrong: Mapping[str, int], comma_allowed: bool) -> str:
    if any("%" in text for text in wrong):
        return "; divide percentages by 100 and write them as numbers"
    if any(COMMA.fullmatch(text.strip()) for text in wrong):
        where = "where every score has it" if comma_allowed else "where the delimiter is another one"
        return f"; a decimal comma is read only {where}"
    return ""


def labels(name: str, column: Column, positive: str | None) -> tuple[Column, Any]:
    """Labels, and what ``count`` is to take for positive (None where they are 0/1 or true/false)."""
    found = tally(column)
    why = "; missing labels are never filled. Drop those rows knowingly, or give the value another name if it is one."
    refuse_missing(f"label {name!r}", column, found, "hold", why, but=positive)
    truths = _all(found, truth)
    if truths:
        return mapped(column, truths, pa.bool_()), None if positive is None else _truth(name, positive, truths)
    numbers = _all(found, number)
    if positive is None:
        if numbers is not None and set(numbers.values()) <= {0.0, 1.0}:
            return mapped(column, {text: int(value) for text, value in numbers.items()}, pa.int8()), None
        raise AuditInputError(
            f"label {name!r} holds {listed(sorted(found), MOST)}, not 0 and 1 or true and false; "
            "say which value counts, with positive= (--positive)."
        )
    wanted = number(positive)
    if wanted is not None and numbers and all(abs(value) < EXACT for value in (*numbers.values(), wanted)):
        return _numeric(name, column, numbers, wanted, positive)
    if positive not in found:
        raise not_found(name, positive, found)
    check_near(name, positive, found)
    return column, positive


def _all(found: Mapping[str, int], read: Callable[[str], Any]) -> dict[str, Any] | None:
    """What ``read`` makes of every value, or None if it makes nothing of one."""
    values = {}
    for text in found:
        values[text] = read(text)
        if values[text] is None:
            return None
    return values


def _truth(name: str, positive: str, found: Mapping[str, Any]) -> bool:
    wanted = truth(positive)
    if wanted is None or wanted not in found.values():
        raise not_found(name, positive, found)
    return wanted


def _numeric(
    name: str, column: Column, numbers: Mapping[str, float], wanted: float, positive: str
) -> tuple[Column, int | float]:
    if wanted not in numbers.values():
        raise not_found(name, positive, numbers)
    whole = all(value.is_integer() for value in (*numbers.values(), wanted))
    values = {text: int(value) if whole else value for text, value in numbers.items()}
    return mapped(column, values, pa.int64() if whole else pa.float64()), plain(wanted)


def plain(value: float) -> int | float:
    """A whole number as int, so that a label of 1 and one of 1.0 are one."""
    return int(value) if value.is_integer() else value


def not_found(name: str, positive: str, found: Mapping[str, Any]) -> AuditInputError:
    """The error for a positive value that no row has."""
    near = [text for text in found if value_key(text) == value_key(positive)]
    meant = f"; did you mean {shown(near[0])}?" if near else "."
    held = f"the values are {listed(sorted(found), MOST)}" if found else "no row has a value"
    return AuditInputError(f"label {name!r}: no row has the value positive={positive!r}; {held}{meant}")


def distinct(column: Column, comma: bool = False) -> list[Any]:
    """Some of the values that occur, texts with a decimal point; none where Arrow cannot tell them apart."""
    try:
        found = pc.unique(column)[:LOOKED].to_pylist()
    except pa.ArrowException:  # lists, records
        return []
    return [value.replace(",", ".") if comma and isinstance(value, str) else value for value in found]


def like_risks(values: Iterable[Any]) -> bool:
    """Whether values that occur are numbers from 0 to 1, several of them strictly between.

    >>> like_risks(["0.1", "0.25", "0.4", "0.8", "0.9", "1"]), like_risks([0, 1]), like_risks([0.2, 0.3, 7])
    (True, False, False)
    """
    found = _numbers(values)
    inside = sum(value is not None and 0 < value < 1 for value in found)
    return inside >= RISKS and inside == len(found - {0, 1})


def like_outcomes(values: Iterable[Any]) -> bool:
    """Whether values that occur are 0 and 1, or true and false.

    >>> like_outcomes([0.0, 1.0, None]), like_outcomes(["True"]), like_outcomes([0, 0.5, 1]), like_outcomes([])
    (True, True, False, False)
    """
    found = _numbers(values)
    return bool(found) and found <= {0, 1}


def _numbers(values: Iterable[Any]) -> set[float | None]:
    """Values as numbers, true and false as 1 and 0, any other as None; without missing ones."""
    texts = [text for text in map(str, values) if not is_missing_word(text)]
    return {number(text) if truth(text) is None else truth(text) for text in texts}


def swapped(label: str, score: str) -> AuditInputError:
    """The error for a label whose values are risks beside a score whose values are outcomes."""
    return AuditInputError(
        f"label {shown(label)} holds numbers between 0 and 1, score {shown(score)} only 0 and 1 (or true and false): "
        f"they look swapped; write label={shown(score)} and score={shown(label)} (--label, --score)."
    )


def group_notes(name: str, column: Column) -> list[str]:
    """A sentence for each value that may mean missing and was taken as a group of its own."""
    distinct = pc.unique(column)
    words = [text for text in distinct.to_pylist() if text is not None and is_missing_word(text)]
    if not words:
        return []
    found = tally(pc.filter(column, pc.is_in(column, value_set=pa.array(words, column.type))))
    notes = [
        f"The value {text!r} in {name!r} was taken as a group of its own ({rows_of(n)})."
        for text, n in sorted(found.items(), key=lambda item: (-item[1], item[0]))
    ]
    return notes[:MOST]


def check_units(name: str, column: Column) -> None:
    """No unit is called by a word for missing: all its rows would be taken for one patient."""
    why = ", and would be taken for one unit. Drop those rows knowingly, or give each a value of its own."
    refuse_missing(f"cluster {name!r}", column, tally(column), "hold", why)
