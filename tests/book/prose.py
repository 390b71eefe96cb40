"""Typed results in the prose of a page.

The rule: every computed number that a reader meets in prose comes from executed code through ``{glue:text}``. A
number may be typed if something explains it: a citation in the same sentence or row (it is published), the page's own
code, which has it as a literal (it is a setting), the question or exercise that gives it, arithmetic that the text
shows and that holds, a fact of a data set, or a convention such as 95%. What nothing explains is reported.
Alt texts cannot be glued: a result is absent there. Numbers in words ("three points") are reported apart, to be judged.

    python -m tests.book.prose [page ...]
"""

from __future__ import annotations

import itertools
import math
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.book.digits import Number, derived, evaluate, literals, numbers, shows, spelled
from tests.book.known import ALLOWED, ROOT, settings
from tests.book.passages import CITED, GLUED, Passage, passages

MARKED = re.compile(r"\bsay,|, say\b|\(say\)|\b(?:suppose|imagine|invented|made-up)\b|^Let (?:a|the)\b", re.IGNORECASE)
# What an alt text says in this way it read off the picture, whatever literals the code has.
READ_OFF = re.compile(r"(?i)\b(?:near|close to|above|below|beyond|between|between [\d.]+ and|up to|down to|rate of) $")
# In an alt text a small number counts things only if a noun follows: "4 panels", but not "from 7 to 3".
NO_NOUN = "to|and|or|per|at|in|of|by|with|for|on|as|but|while|from|within|points?|v|below|above|beyond|instead"
NOUN = re.compile(rf"[ -](?!(?:{NO_NOUN})\b)[a-z]")
OUT_OF = re.compile(r" of (?:the |our |these |them )?(?:\d{1,3}\b|" + GLUED + ")")
AGES = {10, 18, 24, 29, 30, 34, 44, 45, 49, 50, 59, 60, 64, 65, 69, 70, 80}
AGE = (
    re.compile(r"\d\d(?:[–-]| to )$|(?:under|over|aged|woman of|man of|from) $|<$"),
    re.compile(r"(?:[–-]| to )\d\d\b|\+|(?: and| or) over\b| on\b"),
)
PLACES = r"(?i:chapters?|steps?|figures?|exercises?|tasks?|tables?|equation|session|plan|python|issue|request)"
EQUATION = re.compile(r"[\d.√(][\d.,√²()+−·×/ ]*(?:= ?[\d.,√²()+−·×/ ]*[\d)²])+")
WORDS = re.compile(
    r"\b(?:(?:(?:two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy|"
    r"eighty|ninety)(?: and a half)?|half a)[ -](?:per ?cent|(?:percentage )?points?|times|fold)|[a-z]+fold|"
    r"(?:a|one|two|three|four|nine) (?:third|quarter|fifth|sixth|eighth|tenth)s?|twice|half (?:of|as))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Finding:
    line: int
    where: str
    number: str
    sentence: str


@dataclass(frozen=True)
class Context:
    """What may explain the numbers of a passage."""

    passage: Passage
    page: str
    settings: frozenset[float]  # literals of the page's code, and whole numbers of the data sets and the package
    known: set[float] = field(default_factory=set)  # of an answer: given by its question, or explained before

    def read_off(self, number: Number) -> bool:
        """Tell whether an alt text gives the number as what can be seen."""
        seen = READ_OFF.search(number.before) and not (number.value >= 100 and NOUN.match(number.after))
        return self.passage.where == "alt" and (number.hedged or number.signed or bool(seen))


def published(number: Number, at: Context) -> bool:
    return CITED in at.passage.text or (at.passage.where == "table" and CITED in at.passage.lead)


def convention(number: Number, at: Context) -> bool:
    value, before, after = number.value, number.before, number.after
    if number.unit:
        return number.unit == "%" and value in (0, 2.5, 5, 50, 95, 97.5, 100) and not at.read_off(number)
    year = 1900 <= value < 2100 and bool(re.search(r"\d{4}$", before + f"{value:.0f}")) and not number.decimals
    per = value in (1000, 10_000, 100_000) and bool(re.search(r"\b(?:per|[Tt]imes|of|in) $", before))
    of_a_hundred = value in (90, 95, 99) and bool(re.match(r" (?:of|in) 100\b", after))
    timetable = not number.decimals and bool(re.search(r"^\| min \||\bminutes\b", at.passage.head))
    time = timetable or bool(re.match(r" minutes\b| seconds to run", after))
    place = bool(re.search(rf"\b(?:{PLACES}) $", before) or re.match(r"-?bit\b| bits\b", after))
    usual = value in (0, 1, 1.96, 100, 0.025, 0.975)
    return number.ordinal or usual or year or per or of_a_hundred or time or place


def small(number: Number, at: Context) -> bool:
    if number.unit or number.decimals or number.signed or number.value > 20:
        return False
    if OUT_OF.match(spelled(number.after)):  # 7 of 12 is a result, whatever was counted
        return False
    counts = bool(NOUN.match(number.after)) or number.before.endswith(" 0 to ")
    return at.passage.where != "alt" or (counts and not at.read_off(number))


def setting(number: Number, at: Context) -> bool:
    whole = not number.unit and not number.decimals
    if at.read_off(number) or (number.hedged and not whole):
        return False  # nobody sets a threshold of about 0.15
    if (number.signed and whole) or (number.unit == "times" and number.value < 100):
        return False
    if whole and number.value <= 20 and (at.passage.where == "alt" or OUT_OF.match(spelled(number.after))):
        return False
    return any(math.isclose(number.share, value) for value in at.settings)


def drawn(number: Number, at: Context) -> bool:
    """In a caption: the sum of two counts of the code below it."""
    pairs = itertools.combinations(literals(at.passage.code), 2)  # a caption's alone: other passages have no code
    return not number.hedged and any(shows(number, a + b) for a, b in pairs)


def age(number: Number, at: Context) -> bool:
    before, after = AGE
    plain = not number.unit and number.value in AGES
    return plain and bool(before.search(number.before) or after.match(number.after))


def given(number: Number, at: Context) -> bool:
    return at.passage.where in ("question", "exercise") or bool(MARKED.search(at.passage.text))


def repeated(number: Number, at: Context) -> bool:
    return any(math.isclose(one, value) for one in (number.share, number.value) for value in at.known)


def arithmetic(number: Number, at: Context) -> bool:
    """One step from what is known, the right side of an equation that holds, a of b as a share, a bound of chance."""
    text = at.passage.text
    if at.passage.where in ("answer", "solution") and derived(number, at.known):
        return True
    for equation in EQUATION.finditer(text):
        if equation.start() <= number.start < equation.end():
            sides = equation[0].split("=")
            side = equation[0][: number.start - equation.start()].count("=")
            return side > 0 and shows(number, evaluate(sides[side - 1]))
    sizes = [one.value for one in numbers(text) if one.value >= 100 and not one.unit]
    shares = [float(a) / float(b) for a, b in re.findall(r"\b(\d+) of (\d+)\b", spelled(text)) if float(b)]
    if "Monte-Carlo" in text and re.search(r"(?:at most|\bof|\() $|[±(]$", number.before):
        sizes += [k for k in at.settings if 100 <= k <= 100_000]
    chance = [one for k in sizes for one in (math.sqrt(0.25 / k), 1.96 * math.sqrt(0.25 / k), 3 / k)]
    bounds = chance if re.search(r"Monte-Carlo|at most", text) else []
    return any(shows(number, value) for value in [*shares, *bounds])


def allowed(number: Number, at: Context) -> bool:
    spans = [
        one.span() for page, words, _ in ALLOWED if page in ("", at.page) for one in re.finditer(words, at.passage.text)
    ]
    return any(start <= number.start < end for start, end in spans)


RULES: list[Callable[[Number, Context], bool]] = [
    published, convention, small, setting, drawn, age, given, repeated, arithmetic, allowed,
]  # fmt: skip


def explained(path: Path) -> Iterator[tuple[Passage, Number, str | None]]:
    """Give every number of a page with the rule that explains it, or None."""
    held, lead, known = settings(path), "", set[float]()
    for passage in passages(path):
        answer = passage.where in ("answer", "solution")
        if answer and passage.lead != lead:
            lead, known = passage.lead, {v for one in numbers(spelled(passage.lead)) for v in (one.value, one.share)}
        at = Context(passage, path.stem, held, known if answer else set())
        for number in numbers(passage.text):
            result = number.interval and str(number) not in ("0", "1", "2")  # the ends of a scale are none
            rules = [published, given, allowed] if result else RULES
            why = next((rule.__name__ for rule in rules if rule(number, at)), None)
            if answer and why:
                known |= {number.value, number.share}
            yield passage, number, why


def findings(path: Path) -> list[Finding]:
    """List the numbers that nothing explains."""
    return [Finding(at.line, at.where, str(one), at.text) for at, one, why in explained(path) if why is None]


def in_words(path: Path) -> list[Finding]:
    """List what may be a result in words ("three points", "a fifth"): for a reader to judge."""
    given = ("question", "exercise", "answer")
    read = [
        at for at in passages(path) if at.where not in given and CITED not in at.text and not MARKED.search(at.text)
    ]
    return [Finding(at.line, at.where, one[0], at.text) for at in read for one in WORDS.finditer(at.text)]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        for kind in (findings, in_words):
            for one in kind(ROOT / f"{name.removesuffix('.md')}.md"):
                print(f"{name}:{one.line} [{kind.__name__}, {one.where}] {one.number} | {one.sentence}")
