"""Numbers that are known to be no results: settings, facts of the data sets, and the few that no rule covers."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tests.book.digits import literals, numbers
from tests.book.passages import cells

ROOT = Path(__file__).resolve().parents[2]
# What no rule covers and is yet no result: the page (or all), the words, why they may be typed.
ALLOWED = [
    ("", r"\b28 (?:published )?(?:cells|verdicts)|\bof (?:our )?28\b", "seven metrics by four attributes"),
    ("", r"\b54 (?:states|sites|offices|folds)|\ball 54\b", "the states and territories of data/README.md"),
    ("", r"\b2,592 specifications", "1,728 and 864, of data/README.md"),
    ("", r"\b30 (?:people|patients|positives|with|without|in every|long)|(?:[Bb]elow|under|than) 30\b", "al.small"),
    ("", r"\b[Ss]eeds?\b.*?\b4[2-4]\b(?:.*\b4[2-4]\b)?|number 42 and the other from 43", "seeds"),
    ("", r"within 30 days", "the outcome of the hospital records"),
    ("", r"[\d,]+(?: to [\d,]+)? dollars", "names of income groups"),
    ("", r"(?:fit(?:ted)? (?:to|on)|other|the)(?: the)?(?: earliest| latest)? [2-47]0%", "splits, of data/README.md"),
    ("", r"\b[2-47]0%(?: of the \w+)? to (?:fit|judge|choose|audit)\b", "splits, of data/README.md"),
    ("", r"\b(?:of|in) 80 verdicts", "20 folds by four attributes"),
    ("", r"5th (?:to the|and) 95th percentiles?.*? 90%", "what lies between the two"),
    ("", r"AI Fairness 360", "a name"),
    ("", r"given 20%, about 20%", "what calibration means"),
    ("", r"[≥≤] ?[\d.,]*\d|limit of \.\d+", "a limit"),
    ("", r"(?:VFR|flip rate)[^.;]*? at most (?:\.10|10%)", "the limits of stable and settled"),
    ("02-the-sensitivity-gap", r"deff is 1\.5: a hundred stays are worth 67", "1 + (2 − 1)/2, and 100/1.5"),
    ("03-net-benefit-subgroup-by-subgroup", r"sNB of 9,000 .* 9,000", "10,000 less 1,000"),
    ("03-net-benefit-subgroup-by-subgroup", r"from 2 to 50 per cent", "thresholds of the table, of data/README.md"),
    ("05-which-model-serves-whom", r"or 63%", "1 − 1/e"),
    ("07-prevalence-and-ppv", r"finds 80% .* clears 80%", "56 of 70 and 744 of 930, in the cell below"),
    ("08-thresholds", r"199 in one setting", "a setting of band_coverage"),
    ("09-the-multiverse", r"top 20%", "a setting of the grid"),
    ("10-the-verdict-flip-rate", r"48 audits", "twelve models by four attributes"),
    ("10-the-verdict-flip-rate", r"\.2 and \.8 make \.68", "1 − 2 · .2 · .8"),
    ("10-the-verdict-flip-rate", r"0\.3 − 0\.2, which is \.10", "an example of rounding"),
    ("11-how-large-an-audit", r"15,000 audits", "500 sweeps of thirty audits"),
    ("11-how-large-an-audit", r"0\.16 at 20% or 80%, a factor of 1\.6", "p (1 − p)"),
    ("11-how-large-an-audit", r"is 4\.9%, thirty audits often say 5\.1%", "an example"),
    ("11-how-large-an-audit", r"2 · 0\.1 · 0\.9, 18%", "the product"),
    ("11-how-large-an-audit", r"1\.28 standard errors|90% quantile", "the normal law"),
    ("12-across-sites", r"6 of 12", "three pairs of sites, both ways, of twelve"),
    ("12-across-sites", r"or \.99", "an example"),
    ("13-interventions", r"(?<!\d)\.80\b(?!\d)", "the limit of DI"),
    (
        "13-interventions",
        r"within \.05%|gap of \.002|is \.0005|threshold by \.01",
        "settings of the solver and of the public script",
    ),
    ("12-across-sites", r"At 5 points and 400 positives", "steps of the explorer"),
    ("14-audit-your-own-model", r"\.005 wide", "1/200"),
    ("guide", r"^\*\*\".*", "a misunderstanding, in quotation marks"),
    ("guide", r"misunderstandings [\d, and]+", "their numbers"),
    ("guide", r"^\*(?!\*)[^*]+", "a question for an examination, in italics"),
    ("assignment", r".+", "the page is one exercise, which gives its numbers"),
]


@cache
def facts() -> frozenset[float]:
    """Whole numbers of the data sets (rows, patients, specifications) from 100, of the package's code from 1,000."""
    found: set[float] = set()
    for name in ("sources.toml", "README.md"):
        text = (ROOT / "data" / name).read_text(encoding="utf-8")
        found |= {
            one.value for one in numbers(re.sub(r"`[^`]*`|\".*?\"", "", text)) if not one.unit and one.value >= 100
        }
    for path in (ROOT / "auditlib").rglob("*.py"):
        found |= {one for one in literals(path.read_text(encoding="utf-8")) if one >= 1000}
    return frozenset(value for value in found if value == int(value))


def settings(path: Path) -> frozenset[float]:
    """The literals of a page's code and of the simulation studies whose tables it reads."""
    code = [cell.source for cell in cells(path) if cell.cell_type == "code"]
    scripts = (ROOT / "tests" / "studies").glob("*.py")
    code += [one.read_text(encoding="utf-8") for one in scripts if any(f'"{one.stem}"' in cell for cell in code)]
    return facts().union(*map(literals, code))
