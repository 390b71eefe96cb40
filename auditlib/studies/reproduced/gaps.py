"""The gap audit's numbers, from the counts of our repetition."""

from __future__ import annotations

from functools import cache, partial

from auditlib.metrics import gap, ppv
from auditlib.models.crossfit import FOLDS
from auditlib.standardization import standardize
from auditlib.studies.reproduced.lines import number, printed, published_lines
from auditlib.studies.reproduced.ours import Ours, Registry, numbers, with_interval
from auditlib.studies.reproduction import REPLICATES, SEED, comparison_counts, gap_row, side

SAME_DATA = (
    *("gap-cdc_diabetes-sex", "gap-cdc_diabetes-age"),
    *("gap-diabetes130-sex", "gap-diabetes130-age", "gap-diabetes130-race"),
)
SEX, AGE, RACE = (f"gap-brfss2022_heart-{attribute}" for attribute in ("sex", "age", "race"))
COHORTS = ("gap-diabetes130", "gap-cdc_diabetes", "gap-brfss", "gap-nhanes", "gap-cchs")
ATTRIBUTES = ("sex", "age", "race")
BY_RACE = 3  # intervals by race, by the claim itself: "none of the three"


@cache
def _gap(name: str) -> Ours:
    """The gap in sensitivity at τ by the published procedure; n are positives, first group and second."""
    row = gap_row(name)
    people = numbers(row["positives_a"], row["positives_b"])
    return Ours(row["gap"], row["low"], row["high"], people, row["model"].replace("_", " "))


def _ppv(name: str, standardized: bool) -> Ours:
    """The gap in PPV at τ, as observed or at the pooled prevalence of the test set; n are people flagged."""
    counts = comparison_counts(name)
    ((dim, (a, b)),) = counts.groups.items()
    tau = counts.provenance["threshold"]
    again = counts.cut(tau).resample(REPLICATES, strata=dim, seed=SEED).at(tau)
    table = counts.at(tau)
    estimate, replicates = (
        gap(ppv(standardize(one) if standardized else one), a, b) for one in (table, again)
    )  # fmt: skip
    flagged = (table["tp"] + table["fp"]).sel({dim: [a, b]}).values
    return with_interval(estimate, replicates, *flagged)


def _excluding(attribute: str, comparisons: int) -> Ours:
    """Between which limits the number of intervals that exclude zero must lie, given those in our source."""
    lines = published_lines("gap_audit").filter(regex=f"^gap-[^-]+-{attribute}$", axis=0)
    limits = [(number(low), number(high)) for low, high in lines[["low", "high"]].to_numpy() if low and high]
    excluding = sum(abs(int(side(low, high))) for low, high in limits)
    unknown = comparisons - len(limits)
    return Ours(low=excluding, high=excluding + unknown)


def _comparisons() -> Ours:
    """At least those that our source names, at most every cohort by every attribute."""
    cohorts = "|".join(name.split("-")[1] for name in COHORTS)
    pattern = rf"^gap-(?:ppv-)?({cohorts})-({'|'.join(ATTRIBUTES)})\b"
    named = published_lines("gap_audit").index.str.extract(pattern).dropna().drop_duplicates()
    return Ours(low=len(named), high=len(COHORTS) * len(ATTRIBUTES))


def _all() -> Ours:
    return Ours(sum(printed("gap_audit", f"gap-excluding-{attribute}") for attribute in ATTRIBUTES))


def _share() -> Ours:
    facts = comparison_counts("gap-cdc_diabetes-sex").provenance
    return Ours(facts["n_test"] / (facts["n_train"] + facts["n_test"]))


OURS: Registry = {
    **{name: partial(_gap, name) for name in SAME_DATA},
    "gap-brfss-sex": partial(_gap, SEX),
    "gap-brfss-age": partial(_gap, AGE),
    "gap-comparisons": _comparisons,
    "gap-excluding-all": _all,
    "gap-excluding-sex": partial(_excluding, "sex", len(COHORTS)),
    "gap-excluding-age": partial(_excluding, "age", len(COHORTS)),
    "gap-excluding-race": partial(_excluding, "race", BY_RACE),
    "gap-ppv-brfss-sex-raw": partial(_ppv, SEX, False),
    "gap-ppv-brfss-sex-standardized": partial(_ppv, SEX, True),
    "gap-ppv-brfss-race-raw": partial(_ppv, RACE, False),
    "gap-ppv-brfss-race-standardized": partial(_ppv, RACE, True),
    "gap-setting-replicates": lambda: Ours(REPLICATES),
    "gap-setting-share": _share,
    "gap-setting-folds": lambda: Ours(FOLDS),
    "gap-setting-seed": lambda: Ours(SEED),
}
