"""Which groups of which cohort are compared, and what the model may look at."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from auditlib.datasets import root
from auditlib.errors import AuditInputError

MEDICATIONS = [
    *("metformin", "repaglinide", "nateglinide", "chlorpropamide", "glimepiride", "acetohexamide", "glipizide"),
    *("glyburide", "tolbutamide", "pioglitazone", "rosiglitazone", "acarbose", "miglitol", "troglitazone"),
    *("tolazamide", "examide", "citoglipton", "insulin", "glyburide-metformin", "glipizide-metformin"),
    *("glimepiride-pioglitazone", "metformin-rosiglitazone", "metformin-pioglitazone"),
]
HOSPITAL_CODES = ["admission_type_id", "discharge_disposition_id", "admission_source_id"]
HOSPITAL_COUNTS = [
    *("time_in_hospital", "num_lab_procedures", "num_procedures", "num_medications"),
    *("number_outpatient", "number_emergency", "number_inpatient", "number_diagnoses"),
]
OLDEST = 120  # years; the end of an open band
FIVE_YEARS = [(18, 24), *((low, low + 4) for low in range(25, 80, 5)), (80, OLDEST)]


@dataclass(frozen=True)
class Cohort:
    """How one cohort enters a gap audit.

    Attributes
    ----------
    outcome, positive : the column of the outcome and the value that counts as an event.
    label : name of the 0/1 outcome in the counts.
    columns : column of each attribute.
    ages : first and last year of each level of the age column; a level left out takes part in no age comparison.
    cluster : column of the patient, where one patient may have several rows.
    predictors : columns a model may use; empty for all but the outcome and `never`.
    codes : whole numbers that are names, not amounts.
    """

    outcome: str
    positive: Any
    label: str
    columns: Mapping[str, str]
    ages: Mapping[Any, tuple[int, int]]
    cluster: str | None = None
    predictors: Sequence[str] = ()
    never: Sequence[str] = ()
    codes: Sequence[str] = ()


COHORTS = {
    "diabetes130": Cohort(
        outcome="readmitted",
        positive="<30",
        label="readmitted",
        columns={"sex": "gender", "age": "age", "race": "race"},
        ages={f"[{low}-{low + 10})": (low, low + 9) for low in range(10, 100, 10)},
        cluster="patient_nbr",
        predictors=[
            *("age", "race", *HOSPITAL_CODES, *HOSPITAL_COUNTS, *MEDICATIONS),
            *("max_glu_serum", "A1Cresult", "change", "diabetesMed"),
        ],
        codes=HOSPITAL_CODES,
    ),
    "cdc_diabetes": Cohort(
        outcome="Diabetes_binary",
        positive=1,
        label="diabetes",
        columns={"sex": "Sex", "age": "Age"},
        ages=dict(enumerate(FIVE_YEARS, start=1)),
    ),
    "brfss2022_heart": Cohort(
        outcome="HadHeartAttack",
        positive="Yes",
        label="heart_attack",
        columns={"sex": "Sex", "age": "AgeCategory", "race": "RaceEthnicityCategory"},
        ages={"Age 80 or older" if low == 80 else f"Age {low} to {high}": (low, high) for low, high in FIVE_YEARS},
        never=["State"],  # the sites of a later chapter
    ),
}


@dataclass(frozen=True)
class Comparison:
    """Two groups of one cohort; the gap is the first group's rate minus the second's.

    Attributes
    ----------
    dataset, attribute : cohort, and what the groups differ in.
    groups : name of each group and the levels of the attribute's column in it.
    bands : for age, two bands such as "18–44", "65+" or "<50" instead of `groups`.
    drop : columns that leave the predictors; the attribute's own column always does.
    """

    dataset: str
    attribute: str
    groups: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    bands: tuple[str, ...] = ()
    drop: Sequence[str] = ()

    @property
    def name(self) -> str:
        """Name of its table in ``data/counts``."""
        return f"gap-{self.dataset}-{self.attribute}"

    @property
    def cohort(self) -> Cohort:
        """How its cohort enters."""
        return COHORTS[self.dataset]

    def levels(self) -> dict[str, list[Any]]:
        """Levels of the attribute's column in each group, in order.

        Raises
        ------
        AuditInputError
            When there are not two groups, or a level is in both.

        Examples
        --------
        >>> Comparison("diabetes130", "age", bands=("10–29", "80+")).levels()
        {'10–29': ['[10-20)', '[20-30)'], '80+': ['[80-90)', '[90-100)']}
        """
        found = {name: list(levels) for name, levels in self.groups.items()}
        found |= {band: band_levels(self.cohort, band) for band in self.bands}
        shared = set.intersection(*map(set, found.values())) if found else set()
        if len(found) != 2 or shared:
            raise AuditInputError(
                f"{self.name}: two groups without a common level are needed; {list(found)} share {sorted(shared)}."
            )
        return found


_ALL = (
    # Three rows of sex "Unknown/Invalid" belong to neither group; they stay in the other comparisons.
    Comparison("diabetes130", "sex", {"Male": ["Male"], "Female": ["Female"]}),
    Comparison("diabetes130", "age", bands=("10–29", "60+")),
    Comparison("diabetes130", "race", {"AfricanAmerican": ["AfricanAmerican"], "Caucasian": ["Caucasian"]}),
    Comparison("cdc_diabetes", "sex", {"Male": [1], "Female": [0]}),
    Comparison("cdc_diabetes", "age", bands=("18–44", "65+"), drop=["Sex"]),
    Comparison("brfss2022_heart", "sex", {"Male": ["Male"], "Female": ["Female"]}),
    Comparison("brfss2022_heart", "age", bands=("18–44", "65+")),
    Comparison(
        "brfss2022_heart",
        "race",
        {
            "Black only, Non-Hispanic": ["Black only, Non-Hispanic"],
            "White only, Non-Hispanic": ["White only, Non-Hispanic"],
        },
    ),
)
COMPARISONS = {comparison.name: comparison for comparison in _ALL}


def comparison_of(dataset: str, attribute: str, age_bands: Sequence[str] | None = None) -> Comparison:
    """The declared comparison, or the same with other age bands.

    Raises
    ------
    AuditInputError
        When it is not declared, or `age_bands` are not two bands of an age comparison.

    Examples
    --------
    >>> comparison_of("cdc_diabetes", "age", ("18–24", "80+")).levels()
    {'18–24': [1], '80+': [13]}
    """
    found = COMPARISONS.get(f"gap-{dataset}-{attribute}")
    if found is None:
        known = ", ".join(f"{c.dataset} {c.attribute}" for c in _ALL)
        raise AuditInputError(f"no comparison of {dataset} by {attribute}: choose one of {known}.")
    if age_bands is None:
        return found
    if attribute != "age" or isinstance(age_bands, str) or not isinstance(age_bands, Sequence):
        raise AuditInputError(f"age_bands = {age_bands!r}: two bands, and only for an age comparison.")
    other = replace(found, bands=tuple(age_bands))
    other.levels()  # read the bands now, not after the cohort was loaded
    return other


def published() -> pd.DataFrame:
    """The paper's sensitivity gaps with their 95% intervals, by comparison (``data/published/gap_audit.csv``).

    Examples
    --------
    >>> float(published().loc["gap-cdc_diabetes-sex", "gap"])
    -0.033
    """
    lines = pd.read_csv(root() / "data" / "published" / "gap_audit.csv", index_col="id")
    found = lines.loc[lines["kind"] == "same data", ["value", "low", "high"]].astype(float)
    return found.rename(columns={"value": "gap"}).rename_axis("comparison")


def band_levels(cohort: Cohort, band: str) -> list[Any]:
    """Levels of a cohort's age column inside a band such as "18–44", "65+" or "<50".

    Raises
    ------
    AuditInputError
        When the band cannot be read, holds no level, or would cut a level in two.

    Examples
    --------
    >>> band_levels(COHORTS["diabetes130"], "<30")
    ['[10-20)', '[20-30)']
    """
    match = re.fullmatch(r"(?P<low>\d{1,3})(?:\+|[–-](?P<high>\d{1,3}))|<(?P<end>\d{1,3})", str(band).strip())
    if match is None:
        raise AuditInputError(f"age band {band!r}: write it as 18–44, 65+ or <50.")
    low = int(match["low"] or 0)
    high = int(match["end"]) - 1 if match["end"] else int(match["high"] or OLDEST)
    touched = {level: (a, b) for level, (a, b) in cohort.ages.items() if a <= high and b >= low}
    whole = [level for level, (a, b) in touched.items() if low <= a and b <= high]
    if not whole or len(whole) < len(touched):
        ages = ", ".join(f"{a}–{b}" for a, b in cohort.ages.values())
        raise AuditInputError(f"age band {band!r} must be made of whole recorded bands: {ages}.")
    return whole
