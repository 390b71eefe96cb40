"""The options of each command: their names, what is typed after them, and what they mean in plain words."""

from __future__ import annotations

from dataclasses import dataclass

from auditlib.audits import MODELS
from auditlib.audits.options import MOST_REPLICATES
from auditlib.studies.comparisons import COMPARISONS


@dataclass(frozen=True)
class Option:
    """One option: its name, the word for what follows it (None: nothing), its help, and whether it may be repeated."""

    name: str
    what: str | None
    help: str
    repeated: bool = False
    choices: tuple[str, ...] | None = None


DATASETS = tuple(dict.fromkeys(each.dataset for each in COMPARISONS.values()))
ATTRIBUTES = tuple(dict.fromkeys(each.attribute for each in COMPARISONS.values()))
OUT = "audit-card"

ROWS = (
    Option("label", "COLUMN", "column of outcomes: 0/1 or true/false; anything else with --positive"),
    Option("score", "COLUMN", "column of predicted risks, from 0 to 1"),
    Option("by", "COLUMN", "column of groups; repeat it for more attributes: the questions are asked of the first",
           repeated=True),
    Option("site", "COLUMN", "column of sites, such as hospitals: do they agree on the verdicts?"),
    Option("cluster", "COLUMN", "column of people who have several rows: they are resampled whole"),
    Option("positive", "VALUE", "the value of the label that counts as the outcome, as written in the file"),
    Option("missing", "HOW", "'raise' stops at missing groups (default); 'category' makes them a group of their own",
           choices=("raise", "category")),
    Option("delimiter", "C", "what separates fields, such as ';' or tab (default: found from the column names)"),
    Option("encoding", "NAME", "encoding of the text, such as cp1252 (default: UTF-8, or what its first bytes say)"),
    Option("bins", "N", "score bins in which people are counted, 1 to 100,000 (default 200)"),
)  # fmt: skip
TYPED = Option(
    "confusion", "TEXT", "confusion matrices, 'Group:TP,FP,TN,FN; Group:TP,FP,TN,FN', or @FILE that holds them"
)
COHORT = (
    Option("dataset", "NAME", f"cohort of the book: {', '.join(DATASETS)}", choices=DATASETS),
    Option("attribute", "NAME", f"what the groups differ in: {', '.join(ATTRIBUTES)}", choices=ATTRIBUTES),
    Option("age-bands", "BANDS", "two other age bands, such as '18–24 v 80+' or '<50, 70+'; fits anew"),
    Option("model", "NAME", f"{', '.join(MODELS)}: auto is the book's; another one is fitted anew", choices=MODELS),
    Option("params", "FILE", "JSON object with dataset, attribute, age_bands, group_a, group_b, threshold, "
           "target_prevalence, model, multiverse; or byo_confusion with confusion matrices of your own; "
           "null, \"\" or [] is the default"),
    Option("max-rows", "N", "rows of the two groups that a new fit uses at most, or 'all' (default 50000)"),
    Option("refit", None, "fit anew even where the book's counts answer"),
    Option("jobs", "N", "processes of a new fit; -1 for one a core (default 1); the result is the same"),
)  # fmt: skip
THRESHOLD = Option("threshold", "T", "people with a score of at least T are flagged: above 0 and below 1; or "
                   "'prevalence' (share with the outcome), or 'top20' (the 20% of highest risk, any whole percentage); "
                   "default: the prevalence, or what a count table names")  # fmt: skip
OF_GAP = Option("threshold", "T", "people with a risk of at least T are flagged: above 0 and below 1; or "
                "'train_prevalence' (default), or 'top20' (the 20% of highest risk, any whole percentage); a number "
                "that is no edge of the book's counts fits anew")  # fmt: skip
SHARED = (
    Option("group-a", "NAME", "first group of the gap, which is A minus B (default: the two with the most outcomes)"),
    Option("group-b", "NAME", "second group of the gap"),
    Option("target-prevalence", "P", "prevalence at which positive predictive values are compared: above 0 and below "
           "1, or 'pooled' (default: that of the two groups together)"),
    Option("lam", "L", "relative risk reduction by treatment, above 0 and at most 1: adds who gains (net benefit); "
           "or one a group, 'Women=0.2,Men=0.4'"),
    Option("benefit-threshold", "T", "risk from which treatment is worth its harm, at least 0 and below 1 "
           "(default: --threshold)"),
    Option("capacity", "SHARE", "largest share of people who can be flagged, above 0 and at most 1"),
    Option("limits", "M=X,…", "other limits of the verdicts, such as 'DI=0.9,SPD=0.05'; DI above 0 and at most 1, "
           "SPD, EOpp, EOD, PP and Cal from 0 to 1, TI from 0"),
    Option("replicates", "N", f"bootstrap samples, up to {MOST_REPLICATES:,} (default 1000); --level asks for some"),
    Option("seed", "N", "whole number from 0 that fixes the bootstrap samples (default 42)"),
    Option("level", "X", "of the intervals, between 0 and 1 (default 0.95)"),
    Option("multiverse", None, "vary the analyst's choices (default)"),
    Option("no-multiverse", None, "leave the fourth question out"),
    Option("out", "DIR", f"folder to write (default {OUT}); it may hold an earlier result, which is replaced"),
    Option("quiet", None, "no lines of progress"),
)  # fmt: skip

#: Options of each command, in the order of its help.
OPTIONS: dict[str, tuple[Option, ...]] = {
    "audit": (TYPED, *ROWS, THRESHOLD, *SHARED),
    "gap": (*COHORT, OF_GAP, *SHARED),
    "check": (Option("quiet", None, "only what fails"),),
}


def dest(name: str) -> str:
    """Name of an option as a parameter.

    >>> dest("no-multiverse"), dest("group-a")
    ('multiverse', 'group_a')
    """
    return name.removeprefix("no-").replace("-", "_")
