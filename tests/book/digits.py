"""Numbers written in digits: in prose, with their unit, and in code, as literals."""

from __future__ import annotations

import io
import itertools
import math
import re
import tokenize
from dataclasses import dataclass

DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+"
# Between a number and a unit that it shares with others: "10, 20 and 30%", "25–80 units".
LIST = rf"(?:(?:%?, [+−-]?(?:{DIGITS}))*%?(?:,? to|,? and|,? or|–| v) [+−-]?(?:{DIGITS})|%?–(?:{DIGITS}))?"
UNIT = r"%|per ?cent\b|(?:percentage )?points?\b|times\b|×(?! *\d)|fold\b"
NUMBER = re.compile(
    rf"(?<![\w.\-])(?P<sign>[+−-]|(?:plus|minus) )?(?P<digits>{DIGITS})(?P<ordinal>st|nd|rd|th)?(?!\w|\.\d)"
    rf"(?={LIST}[ -]?(?P<unit>{UNIT})?)"
)
UNITS = {"percentage points": "points", "percentage point": "points", "point": "points", "×": "times", "fold": "times"}
UNITS |= {"per cent": "%", "percent": "%"}
# An estimate with its interval, which no setting has: "8.4 points (3.1 to 13.6)".
INTERVAL = re.compile(rf"(?:[+−-]?(?:{DIGITS})(?:%| points?)? )?\([+−-]?(?:{DIGITS})%? to [+−-]?(?:{DIGITS})%?\)")
HEDGE = re.compile(r"(?i)\b(?:about|around|nearly|almost|roughly|approximately|some) (?:plus |minus )?$")

ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
SPELLED = {word: k for k, word in enumerate(ONES)} | TENS | {"hundred": 100, "a hundred": 100, "thousand": 1000}


@dataclass(frozen=True)
class Number:
    """A number as written: 8.5%, −4 points, .05, 1,000, 2.5th."""

    value: float  # without its sign
    unit: str  # %, points, times, or nothing
    decimals: int
    signed: bool
    ordinal: bool
    interval: bool  # an end of an interval in brackets, or the estimate before one
    before: str
    after: str

    @property
    def share(self) -> float:
        """The value on the scale of code: 15% is 0.15."""
        return self.value / 100 if self.unit in ("%", "points") else self.value

    @property
    def hedged(self) -> bool:
        """Whether "about" or the like stands before it: nobody sets a threshold of about 0.15."""
        return bool(HEDGE.search(self.before))

    @property
    def start(self) -> int:
        return len(self.before)

    def __str__(self) -> str:
        written = f"{self.value:,.{self.decimals}f}" if self.value >= 1000 else f"{self.value:.{self.decimals}f}"
        return written + {"%": "%", "": ""}.get(self.unit, f" {self.unit}")


def numbers(text: str) -> list[Number]:
    """Find the numbers of a text."""
    found = []
    spans = [one.span() for one in INTERVAL.finditer(text)]
    for match in NUMBER.finditer(text):
        digits, unit = match["digits"], match["unit"] or ""
        if text[: match.start()].endswith("= ") and not re.match(rf"[ -]?(?:{UNIT})", text[match.end() :]):
            unit = ""  # "λ = 0.58 and 5% treated" is no list
        found.append(
            Number(
                value=float(digits.replace(",", "")),
                unit=UNITS.get(unit, unit),
                decimals=len(digits.partition(".")[2]),
                signed=match["sign"] is not None,
                ordinal=match["ordinal"] is not None,
                interval=any(start <= match.start() < end for start, end in spans),
                before=text[: match.start()],
                after=text[match.end() :],
            )
        )
    return found


def spelled(text: str) -> str:
    """Write simple number words in digits, and digits without commas: "fifty of 1,000" is "50 of 1000"."""
    words = "|".join(sorted(SPELLED, key=len, reverse=True))
    text = re.sub(rf"\b(?:{words})\b", lambda match: str(SPELLED[match[0].lower()]), text, flags=re.IGNORECASE)
    return re.sub(r"(?<=\d),(?=\d{3})", "", text)


def literals(code: str) -> set[float]:
    """Collect a code's numbers, and those in strings that are nothing but numbers ("10–29").

    >>> sorted(literals("table.cut(0.15).resample(1_000, by='18–44')"))
    [0.15, 18.0, 44.0, 1000.0]
    """
    found: set[float] = set()
    code = re.sub(r"^[%!].*$", "", code, flags=re.MULTILINE)
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.NUMBER and re.fullmatch(r"[\d_.]+(e-?\d+)?", token.string):
            found.add(float(token.string.replace("_", "")))
        elif token.type == tokenize.STRING and not re.search(r"[A-Za-z{]", token.string):
            found |= {number.value for number in numbers(token.string.strip("\"'"))}
    return found


def shows(number: Number, value: float) -> bool:
    """Tell whether the number is that value, rounded as it is written."""
    shown = abs(value) * (100 if number.unit in ("%", "points") else 1)
    return value != 0 and abs(shown - number.value) <= 0.500001 * 10.0**-number.decimals


def derived(number: Number, known: set[float]) -> bool:
    """Tell whether one step of arithmetic leads to it from two known numbers (or 1, 2, 10 and 100)."""
    pairs = itertools.product(known | {1.0, 2.0, 10.0, 100.0}, repeat=2)
    return any(shows(number, one) for a, b in pairs for one in (a + b, a - b, a * b, a / b if b else math.nan))


def evaluate(expression: str) -> float:
    """Work out an expression in digits and signs, √ and brackets; NaN if it is none."""
    text = expression.replace(",", "").replace("−", "-").replace("·", "*").replace("×", "*").replace("²", "**2").strip()
    text = re.sub(
        r"√(\d*\.?\d+|\()", lambda match: f"root({match[1].removeprefix('(')}" + ")" * (match[1] != "("), text
    )
    if not re.fullmatch(r"(?:root\(|[\d.()+*/\s-])+", text) or not re.search(r"\d\s*[-+*/)]|root", text):
        return math.nan
    try:
        return float(eval(text, {"__builtins__": {}, "root": math.sqrt}))
    except (SyntaxError, TypeError, ValueError, ZeroDivisionError):
        return math.nan
