"""The checker of typed results: what it must find, what it must leave alone, and the pages themselves."""

import math
import re

import pytest

from tests.book.conftest import PAGES, ROOT
from tests.book.digits import derived, evaluate, literals, numbers, spelled
from tests.book.known import ALLOWED, settings
from tests.book.passages import passages
from tests.book.prose import explained, findings, in_words

PAGE = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

(label-37)=
# A page

```{{code-cell}} python3
table = counts.cut(0.15).resample(1_000, seed=42)
sizes, band = [250, 7777], "18–44"
```

{text}
"""
FIGURE = """
```{{code-cell}} python3
---
mystnb:
  image:
    alt: "{alt}"
  figure:
    caption: "{caption}"
    name: page-figure
---
draw(tp=[56, 32], fn=[14, 8])
```
"""
QUESTION = """## Check yourself

**1. {question}**

```{{dropdown}} Answer
{answer}
```
"""
EXERCISE = """```{{exercise-start}}
:label: ex-93
```
{exercise}
```{{exercise-end}}
```

```{{solution-start}} ex-93
:class: dropdown
```

```{{code-cell}} python3
print(250)
```

{solution}
```{{solution-end}}
```
"""


def figure(alt="Two curves that cross once, the second above the first.", caption="Two curves."):
    return FIGURE.format(alt=alt, caption=caption)


def question(question, answer):
    return QUESTION.format(question=question, answer=answer)


def exercise(exercise, solution):
    return EXERCISE.format(exercise=exercise, solution=solution)


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "page.md"
        path.write_text(PAGE.format(text=text), encoding="utf-8")
        return path

    return write


FOUND = {
    "a percentage": ("The model finds 62% of the women.", ["62%"]),
    "points": ("The gap is 8.4 points.", ["8.4 points"]),
    "a signed gap": ("It goes from +12 to −7 points.", ["12 points", "7 points"]),
    "three decimals": ("The AUROC is 0.813.", ["0.813"]),
    "one decimal": ("Widths differ by a factor of 2.7 here.", ["2.7"]),
    "without the zero": ("A VFR of .232 is reported.", ["0.232"]),
    "thousands": ("There are 4,321 patients in it.", ["4,321"]),
    "an interval": ("It is +37 (+34 to +250) there.", ["37", "34", "250"]),
    "a count in words": ("The sign is settled in 3 of the eight comparisons.", ["3"]),
    "a count": ("Of the young 276 came back.", ["276"]),
    "a of b": ("Seven metrics were tried, and 9 of 28 cells flip.", ["9"]),
    "times": ("The interval is 3 times as wide.", ["3 times"]),
    "in words": ("Only 40 per cent of them came.", ["40%"]),
    "hedged, though the code has it": ("About 15% of them came back.", ["15%"]),
    "a list that shares its unit": ("It finds 61, 64 and 72% of them.", ["61%", "64%", "72%"]),
    "a list item": ("- sensitivity is 0.62 in women", ["0.62"]),
    "emphasis": ("It is **0.62** in women.", ["0.62"]),
    "a heading": ("## Why 62% is not enough", ["62%"]),
    "a table": ("Rates:\n\n| group | rate |\n|---|---|\n| women | 62% |", ["62%"]),
    "a note": ("```{note}\nWomen have 0.62.\n```", ["0.62"]),
    "after a fence": ("```python\nx = 0.62\n```\n\nThis is 0.62.\n\n```sh\nls\n```", ["0.62"]),
    "an alt text": (figure(alt="A bar rises to 62 per cent and another stays below."), ["62%"]),
    "a small number in an alt text": (figure(alt="The gap goes from 7 to 3, then stays."), ["7", "3"]),
    "read off, though the code has it": (figure(alt="The curve is above 15 per cent in women."), ["15%"]),
    "a signed word in an alt text": (figure(alt="The gap by sex is minus 4 at both ends."), ["4"]),
    "a caption": (figure(caption="Sensitivity, 0.62 in women."), ["0.62"]),
    "an explorer's caption": ('```{code-cell} python3\nexplore(draw, caption="It falls to 62%.")\n```', ["62%"]),
    "an answer": (question("Which group is found more often?", "Women, by 8.4 points."), ["8.4 points"]),
    "a solution": (exercise("Compute the gap.", "It is 8.4 points."), ["8.4 points"]),
    "an equation that does not hold": ("In all, 250 + 1,000 = 1,350 people.", ["1,350"]),
    "a share that does not hold": (question("It flags 50 of 60.", "Fifty of sixty are 84%."), ["84%"]),
    "a citation in another sentence": ("So {cite:t}`joy2026` say. Here it is .464 again.", ["0.464"]),
    "beside a glued number": ("It is {glue:text}`x:.0%`, not 62%.", ["62%"]),
    "an image": ("![A bar of 62 per cent](figure-88.png)", ["62%"]),
}
EXPLAINED = {
    "glued": "The gap is {glue:text}`gap-33:+.1f` points.",
    "published, in the sentence": "They found 146 of 336 cells with .480 {cite:p}`joy2026`.",
    "published, in the row": "Rates:\n\n| group | rate |\n|---|---|\n| women {cite:p}`joy2026` | 62.5% |",
    "published, in the table's lead": "In {cite:t}`joy2026`:\n\n| group | rate |\n|---|---|\n| women | 62.5% |",
    "a setting as a percentage": "Whoever has a risk of 15% is called.",
    "a setting as a decimal": "The threshold of .15 is a judgement.",
    "a setting beside a share": "With t = 0.15 and 5% treated.",
    "a setting with a comma": "From 1,000 replicates; for sizes of 250 and 7,777.",
    "a level": "Among those aged 18–44.",
    "ages": "From 18 to 44, under 30, 65 and over, 70+.",
    "small counts": "Three groups, 2 × 2 tables, 12 models and 16 places.",
    "conventions": "A 95% interval leaves 2.5% on either side, 0 and 1 at the ends, 1.96 standard errors, 50% or 100%.",
    "of a hundred": "It holds the truth in 95 of 100 audits.",
    "per": "Per 10,000 people and per 1,000 stays.",
    "ordinals": "From the 2.5th to the 97.5th percentile.",
    "years": "Stays of 1999 to 2008, a survey of 2022.",
    "bits, times, places": "A 32-bit number; 45 minutes to read; task 24 of chapter 23; Python 3.12 or 1.1.7.",
    "a timetable": "Then:\n\n| part | minutes |\n|---|---|\n| first | 45 |",
    "names": "Diabetes-130, Texas-100X, BRFSS2022 and F1.",
    "code, maths, roles, links": "`x = 0.62`, $t = 0.62$, {ref}`fig-62`, [here](https://a.b/62.5), <https://a.b/62>.",
    "display maths": "$$\n0.62 = 1 - 0.38\n$$ (eq-77)",
    "a code block": "```python\nx = 0.62\n```",
    "a comment and a label": "% 0.62 of them\n\n(section-62)=\n\nText.",
    "the question's numbers": question(
        "50 of 60, and a gap from −0.02 to +0.30.", "It holds 30 points; 0.30 is its end."
    ),
    "arithmetic from the question": question("It flags 50 of 60 and 300 of 400.", "That is 83% against 75%."),
    "a share in words": question("How many?", "Fifty of sixty are 83%."),
    "a chain of equations": exercise(
        "Of 1,000 people 200 have it; t is 20%, 80 are found and 100 flagged in vain.",
        "w = 0.2/0.8 = 0.25, so it is 80 − 25 = 55. And √(.25 · .75/1,000) = .0137.",
    ),
    "a solution after its code": exercise(
        "A sensitivity of 70%, a limit of 12.5 points.", "It is 70%, within 12.5 points."
    ),
    "a hypothetical": "Suppose that 62% are found. A gap of, say, 8.4 points.",
    "chance's own bound": "From 250 audits each (Monte-Carlo error at most .032; at most 3/250 = 0.012).",
    "a data set's rows": "The records are answers of 253,680 adults.",
    "an axis of an alt text": figure(alt="Two curves from 0 to 1, with a dashed line at the threshold of 15 per cent."),
    "counts of a picture": figure(alt="4 panels of 3 rows.", caption="Filled: flagged at 15%, of 250 people."),
    "sums of drawn counts": figure(alt="Of 70 people with it 56 are flagged, of 40 others 32."),
    "glued in a caption": figure(caption="Of {glue:text}`n:,` people, 95% intervals."),
}


@pytest.mark.parametrize(("text", "expected"), FOUND.values(), ids=FOUND)
def test_a_typed_result_is_found(text, expected, written):
    assert [one.number for one in findings(written(text))] == expected


@pytest.mark.parametrize("text", EXPLAINED.values(), ids=EXPLAINED)
def test_an_explained_number_is_left_alone(text, written):
    assert findings(written(text)) == []


def test_a_finding_says_where_it_stands(written):
    text = "One line.\nIt is 0.62 here,\nand 0.71 there.\n" + figure(alt="It rises to 0.83.", caption="Falls to 0.44.")
    path = written(text)
    lines = path.read_text(encoding="utf-8").split("\n")
    found = findings(path)
    assert [(one.where, one.number) for one in found] == [
        ("text", "0.62"),
        ("text", "0.71"),
        ("alt", "0.83"),
        ("caption", "0.44"),
    ]
    assert [lines[one.line - 1].strip()[:8] for one in found] == ["It is 0.", "It is 0.", 'alt: "It', "caption:"]
    assert found[0].sentence == "It is 0.62 here, and 0.71 there."


def test_a_plain_page_is_read_as_well(tmp_path):
    path = tmp_path / "plain.md"
    path.write_text(
        "# Plain\n\n```python\nx = 0.62\n```\n\n```sh\nserve -p 62.5\n```\n\nIt is 0.62.\n\n"
        "```{figure} bars-88.png\n:alt: A bar of 71 per cent\n\nSensitivity, 0.83.\n```\n",
        encoding="utf-8",
    )
    assert [(one.line, one.number) for one in findings(path)] == [(11, "0.62"), (14, "71%"), (16, "0.83")]


def test_each_passage_is_told_by_its_place(written):
    text = (
        "# Title\n\nText.\n\n| a | b |\n|---|---|\n| c | d |\n\n"
        + question("Why?", "So.")
        + "\n## Exercises\n\n"
        + exercise("Do it.", "Done.")
    )
    places = [(at.where, at.text, at.lead) for at in passages(written(text))]
    assert [where for where, _, _ in places] == [
        *("heading", "heading", "text", "table", "table", "heading"),
        *("question", "answer", "heading", "exercise", "solution"),
    ]
    assert places[4] == ("table", "| c | d |", "Text.")
    assert places[7] == ("answer", "So.", "Why?**")
    assert places[10] == ("solution", "Done.", "Do it.")


def test_results_in_words_are_reported_apart(written):
    path = written(
        "The gap is three points. It is twice as wide, and a fifth of them came.\n\n"
        "A gap of five points {cite:p}`joy2026`. Suppose ten points.\n\n" + question("Is it nine percent?", "Yes.")
    )
    assert findings(path) == []
    assert [one.number for one in in_words(path)] == ["three points", "twice", "a fifth"]


def test_numbers_are_read_with_their_units():
    text = "8.5%; −4 points; .05; 1,000; 10, 20 and 30%; 4–6 points; 2 × 3; 2.5th; 1999; x2 and a-3; 7×"
    assert [(one.value, one.unit) for one in numbers(text)] == [
        *((8.5, "%"), (4, "points"), (0.05, ""), (1000, ""), (10, "%"), (20, "%"), (30, "%"), (4, "points")),
        *((6, "points"), (2, ""), (3, ""), (2.5, ""), (1999, ""), (7, "times")),
    ]
    assert [one.value for one in numbers(text) if one.signed] == [4]
    assert [str(one) for one in numbers("62.50% of 1,234 and .050")] == ["62.50%", "1,234", "0.050"]


def test_literals_of_code_are_settings_and_its_strings_are_not():
    assert literals("f(0.15, n=1_000)\nx = '18–44', \"62%\", 'a 5.5', f'{y:.1%}'  # 9.9\n") == {0.15, 1000, 18, 44, 62}


def test_a_page_has_the_settings_of_the_studies_whose_tables_it_reads(written):
    text = '```{code-cell} python3\nstudies.table("gap_coverage")\n```'
    assert 0.99 not in settings(written(""))
    assert {0.99, 0.15, 253_680} <= settings(written(text))


def test_arithmetic_is_evaluated_and_nothing_else():
    assert evaluate("(500 − 262)/500") == pytest.approx(0.476)
    assert evaluate("√(.476 · .524/500)") == pytest.approx(0.02233, abs=1e-5)
    assert evaluate(".95² + .05²") == pytest.approx(0.905)
    assert evaluate("10,000 − 1,000") == 9000
    assert all(math.isnan(evaluate(text)) for text in ("12", "1/0", "import os", "3 +", "λ · 2"))
    assert spelled("Fifty of sixty, a hundred of 1,000") == "50 of 60, 100 of 1000"
    (number,) = numbers("83%")
    assert derived(number, {50, 60})
    assert not derived(number, {50, 61})


@pytest.mark.parametrize("page", PAGES)
def test_results_are_not_typed_into_prose(page):
    found = [f"line {one.line} [{one.where}] {one.number}: {one.sentence}" for one in findings(ROOT / f"{page}.md")]
    assert found == [], "glue them, quote them beside their citation, or leave them out of an alt text"


@pytest.mark.parametrize("page", PAGES)
def test_plain_sentences_with_a_percentage_are_all_read(page):
    """Nothing of a page may be taken for code or maths: lines without either must come out as they stand."""
    path = ROOT / f"{page}.md"
    read = " ".join(at.text for at in passages(path))
    lines = (line.strip() for line in path.read_text(encoding="utf-8").split("\n"))
    plain = [line for line in lines if re.fullmatch(r"[A-Z][^`$\[{}<=]*\d%[^`$\[{}<=]*\.", line)]
    assert [line for line in plain if line not in read] == []


def test_what_is_allowed_still_stands_on_its_page():
    texts = {page.rpartition("/")[2]: "\n".join(at.text for at in passages(ROOT / f"{page}.md")) for page in PAGES}
    texts[""] = "\n".join(texts.values())
    assert [(page, words) for page, words, _ in ALLOWED if not re.search(words, texts[page], re.MULTILINE)] == []
    assert all(len(why) > 4 for _, _, why in ALLOWED)


def test_each_rule_is_used():
    rules = {why for page in PAGES for _, _, why in explained(ROOT / f"{page}.md")}
    assert rules >= {"published", "convention", "small", "setting", "age", "given", "repeated", "arithmetic", "allowed"}
