"""Each rule of the headline on made-up answers, and the order in which rules are tried."""

from __future__ import annotations

import re
from copy import deepcopy

import pytest

from auditlib.audits.headline import headline, tiles
from auditlib.audits.said import at, short, shown
from auditlib.errors import AuditInputError


def estimate(value, low, high, **more):
    return {"estimate": value, "low": low, "high": high, **more}


GROUPS = [  # those compared stand in no place of their own
    {"attribute": "ward", "group": "Women", "n": 7},
    {"attribute": "sex", "group": "X", "n": 9},
    {"attribute": "sex", "group": "Women", "n": 1_150},
    {"attribute": "sex", "group": "Men", "n": 1},
]
BESIDE = {"input": {"people": 5_000, "unit": "row"}, "options": {"level": 0.95}, "groups": GROUPS}


def results(**changed):
    """A gap that survives everything, unless changed."""
    questions = {
        "chance": {"gap": estimate(-0.1, -0.15, -0.05, n_a=200, n_b=300)},
        "prevalence": {
            "available": True,
            "raw": estimate(0.05, 0.01, 0.09),
            "standardized": estimate(0.02, -0.01, 0.05),
            "target": 0.1,
        },
        "thresholds": {
            "available": True, "range": [0.05, 0.2], "thresholds": 4, "same_side": 4, "excluding": 4, "turns_at": None,
            "lost": 0, "lost_at": None,
        },
        "choices": {
            "available": True, "source": "counts", "specifications": 40, "above": 0, "below": 40, "share_above": 0.0,
            "share_below": 1.0, "positive": 0, "negative": 30, "of": None,
            "axes": {"people": ["everyone", "without sex F"]},
        },
    }  # fmt: skip
    for name, more in changed.items():
        questions[name] = {**questions[name], **more}
    return {"questions": questions, "comparison": {"attribute": "sex", "a": "Women", "b": "Men"}, **deepcopy(BESIDE)}


BOTH = {"above": 4, "below": 30, "share_above": 0.1, "share_below": 0.75}
PPV = {"standardized": estimate(-0.03, -0.05, -0.01)}
TURNS = {"turns_at": {"threshold": 0.07}, "same_side": 3}
LOST = {"lost": 1, "lost_at": {"threshold": 0.06}, "same_side": 3}
SOME = {"below": 30, "share_below": 0.75}
CHANCE = {"gap": estimate(-0.1, -0.25, 0.05, n_a=20, n_b=30)}
EMPTY = {"gap": estimate(None, None, None, n_a=0, n_b=30)}
NONE = {"available": False, "why": "Confusion matrices hold one threshold."}


@pytest.mark.parametrize(
    ("changed", "rule", "words"),
    [
        ({}, "survives", "The gap in sensitivity of −10.0 points between “Women” and “Men” keeps its side of zero"),
        ({"thresholds": {"same_side": 3}}, "some survive", "but not at all thresholds near"),
        ({"choices": SOME}, "some survive", "under 75% of the variations"),
        ({"choices": SOME | {"source": "committed multiverse"}}, "some survive", "under 75% of the specifications"),
        (
            {"thresholds": LOST, "choices": SOME},
            "threshold loses",
            "at 0.06 it is another, and its interval contains zero",
        ),
        ({"thresholds": TURNS | LOST}, "threshold turns", "points the other way at a threshold of 0.07"),
        ({"prevalence": PPV, "thresholds": TURNS}, "PPV turns", "+5.0 points become −3.0"),
        ({"choices": BOTH, "prevalence": PPV}, "both signs", "above zero under 10% of the variations"),
        ({"choices": BOTH | {"above": 1}}, "some survive", "75%"),
        ({"choices": BOTH | {"share_above": 0.025}}, "some survive", "75%"),
        (
            {"chance": CHANCE, "choices": {"below": 1, "share_below": 0.02}},
            "chance",
            "the group with fewer has 20 people",
        ),
        ({"chance": CHANCE, "prevalence": PPV}, "PPV turns", "changes sign"),
        (
            {"chance": EMPTY, "choices": BOTH},
            "undefined",
            "“Women” has nobody with the outcome among its 1,150 people.",
        ),
        ({"thresholds": NONE, "choices": NONE}, "alone", "could not be tried"),
        ({"choices": NONE}, "alone", "at all 4 thresholds near"),
        ({"choices": NONE, "thresholds": {"same_side": 3}}, "alone", "not at all thresholds near"),
        ({"choices": SOME | {"negative": 40}}, "some survive", "all estimates have that sign"),
        ({"choices": {"axes": {"people": ["everyone"]}}}, "survives", "under all 40 thresholds"),
        (
            {"choices": BOTH | {"of": "the younger minus the older"}},
            "both signs",
            "the gap (the younger minus the older)",
        ),
    ],
)
def test_rules_in_their_order(changed, rule, words):
    found, said = headline(results(**changed))
    assert found == rule
    assert words in said.text
    assert 1 <= len(said.numbers) <= 2


@pytest.mark.parametrize(
    ("n_a", "n_b", "unit", "said"),
    [
        (0, 0, "row", "neither “Women” (1,150 people) nor “Men” (1 person) has anybody with the outcome."),
        (0, 0, "who", "neither “Women” (1,150 rows) nor “Men” (1 row) has anybody with the outcome."),
        (3, 0, "row", "“Men” has nobody with the outcome among its 1 person."),
        (0, 3, "who", "“Women” has nobody with the outcome among its 1,150 rows."),
    ],
)
def test_groups_without_the_outcome_have_their_own_sizes(n_a, n_b, unit, said):
    held = results(chance={"gap": estimate(None, None, None, n_a=n_a, n_b=n_b)})
    held["input"]["unit"] = unit
    rule, found = headline(held)
    assert rule == "undefined"
    assert found.text == f"There is no gap to judge: {said}"
    places = [2] * (n_a == 0) + [3] * (n_b == 0)
    assert [pointer for _, pointer, _ in found.numbers] == [f"/groups/{place}/n" for place in places]


@pytest.mark.parametrize("changed", [{}, {"choices": BOTH}, {"chance": EMPTY}, {"thresholds": NONE, "choices": NONE}])
def test_no_number_is_typed(changed):
    """All digits of headline and tiles come from the results."""
    held = results(**changed)
    for text, numbers in [(headline(held)[1].text, headline(held)[1].numbers)] + [
        (tile["text"], [tuple(number.values()) for number in tile["numbers"]]) for tile in tiles(held)
    ]:
        rest = text
        for number, pointer, form in numbers:
            assert shown(at(held, pointer), form) == number
            rest = rest.replace(number, "", 1)
        assert not re.search(r"\d", rest)


def test_rows_of_patients_are_not_people():
    """Where a person may have several rows, what is counted is called rows."""
    held = results(chance=CHANCE, choices={"below": 1, "share_below": 0.02})
    held["input"]["unit"] = "patient"
    assert "the group with fewer has 20 rows with the outcome" in headline(held)[1].text
    assert "20 and 30 rows with the outcome" in tiles(held)[0]["text"]


def test_long_names_stay_apart():
    """Two names with one beginning are cut so that they differ."""
    held = results()
    held["comparison"] |= {
        "a": "Patients of the eastern part of the city, 1",
        "b": "Patients of the eastern part of the city, 2",
    }
    text = headline(held)[1].text
    assert "city, 1”" not in text
    assert "…, 1”" in text
    assert "…, 2”" in text


def test_braces_in_names_are_names():
    held = deepcopy(results())
    held["comparison"]["a"] = "{gap} {0} {x!r}"
    assert "“{gap} {0} {x!r}”" in headline(held)[1].text


@pytest.mark.parametrize("pointer", ["/a/3", "/b", "/a/x", "/a/0/c"])
def test_pointers_to_nothing(pointer):
    with pytest.raises(AuditInputError, match="nothing at"):
        at({"a": [{"b": 1}]}, pointer)


def test_names_in_sentences():
    """On one line, legible, at most forty letters."""
    assert short("a\nb\t c") == "a b c"
    assert len(short("x" * 300)) == 40
    assert "\x00" not in short("a\x00b")


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (-0.0004, "points", "−0.04"), (0.0, "points", "0.0"), (-0.00004, "points", "−0.004"),
        (0.0004, "points", "+0.04"), (0.000499, "points", "+0.05"), (0.0006, "points", "+0.1"),
        (5e-6, "points", "+0.0005"), (-4.9e-6, "points", "0.0"), (1e-15, "width", "0.0"), (0.00004, "width", "0.004"),
        (0.0, "width", "0.0"), (0.0004, "percent", "0.0%"), (-0.0331, "points", "−3.3"), (0.412, "width", "41.2"),
        (0.5, "share", "50%"), (1.0, "share", "100%"),
        (0.0, "share", "0%"), (0.995, "share", "over 99%"), (0.001, "share", "under 1%"), (None, "points", "undefined"),
        (0.11613, "risk", "0.116"), (-0.004, "per ten thousand", "−40"), (1e12, "count", "1,000,000,000,000"),
    ],
)  # fmt: skip
def test_forms(value, form, text):
    assert shown(value, form) == text


@pytest.mark.parametrize("share", [10.0**-power * digit for power in range(1, 6) for digit in (1, 4.96, 5, 9.7)])
@pytest.mark.parametrize("form", ["points", "width"])
def test_what_is_not_zero_does_not_read_as_zero(share, form):
    """Down to 0.0005 points, and with its sign; never more than half of the last digit off."""
    for sign in (1, -1) if form == "points" else (1,):
        text = shown(sign * share, form)
        value = float(text.replace("−", "-"))
        assert value * sign > 0
        digit = 10.0 ** -len(text.partition(".")[2])
        assert abs(value - 100 * sign * share) <= 0.5001 * digit
