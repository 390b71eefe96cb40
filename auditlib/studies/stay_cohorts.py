"""How a cohort enters the study of long stays: its outcome, its groups, and what a model may look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from auditlib.errors import AuditInputError
from auditlib.studies.comparisons import HOSPITAL_CODES, HOSPITAL_COUNTS, MEDICATIONS

LONG = 3  # days; a stay is long when it lasts longer


@dataclass(frozen=True)
class StayCohort:
    """Where the study finds what it needs in one data set.

    Attributes
    ----------
    stay : column of the length of stay in days.
    attributes : of each attribute, in the order of the counts' dims: its column and the values in each group.
        A stay without a value takes no part.
    predictors : columns a model may use, by the name of the set: all that is known by the end of the stay (but not
        how long it was), and what is known at admission.
    patient, order : column of the patient, of whom the first stay in the order of `order` is kept; None where a row
        is a patient's only one, or nothing tells.
    codes : whole numbers that are names, not amounts.
    stems : columns of diagnosis codes of which the part before the point is kept.
    bands : columns of age bands written "[70-80)", which become the first year.
    merged : levels put together when training rows are weighted, by attribute.
    site : column of the hospital.
    unrecorded : by column of an attribute, values that say that it was not recorded, as a missing one does.
    """

    stay: str
    attributes: Mapping[str, tuple[str, Mapping[str, tuple[Any, ...]]]]
    predictors: Mapping[str, Sequence[str]]
    patient: str | None = None
    order: str | None = None
    codes: Sequence[str] = ()
    stems: Sequence[str] = ()
    bands: Sequence[str] = ()
    merged: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    site: str | None = None
    unrecorded: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def kept(self, frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
        """One stay a patient with every attribute recorded, in the order of the stays; and how many were left out.

        Raises
        ------
        AuditInputError
            For lengths of stay that are no numbers of days, attributes' values that are in no group, and nobody left.
        """
        self.check(frame)
        stays = len(frame)
        if self.order is not None:
            frame = frame.sort_values(self.order, kind="stable")
        if self.patient is not None:
            frame = frame.drop_duplicates(self.patient, keep="first")
        known = pd.DataFrame({name: self.group(frame, name).notna() for name in self.attributes})
        kept = known.all(axis=1)
        unknown = {name: int((~known[name]).sum()) for name in known}
        facts = {
            "stays": stays,
            "later_stays_left_out": stays - len(frame),
            "patients_left_out": int((~kept).sum()),  # for an attribute that is not recorded
            "not_recorded": unknown,
            "patients": int(kept.sum()),
        }
        if not kept.any():
            lacking = ", ".join(f"{name} in {n:,}" for name, n in unknown.items() if n)
            raise AuditInputError(f"rows: of {stays:,} stays none has every attribute recorded (missing: {lacking}).")
        return frame[kept].reset_index(drop=True), facts

    def check(self, frame: pd.DataFrame) -> None:
        """An error unless every stay has a length, and every attribute a value of a group or none."""
        days = frame[self.stay]
        wrong = ~days.map(_days).astype(bool)
        if wrong.any():
            raise AuditInputError(
                f"{self.stay}: {int(wrong.sum()):,} of {len(frame):,} rows hold no number of days, such as "
                f"{days[wrong].iloc[0]} ({days.dtype}); whether such a stay was long is not known, so drop these rows "
                "knowingly."
            )
        for column, groups in self.attributes.values():
            known = {value for values in groups.values() for value in values} | set(self.unrecorded.get(column, ()))
            unknown = frame[column].notna() & ~frame[column].isin(known)
            if unknown.any():
                found = ", ".join(repr(value) for value in frame.loc[unknown, column].unique()[:5].tolist())
                raise AuditInputError(
                    f"{column}: {int(unknown.sum()):,} of {len(frame):,} rows hold values that are in no group: "
                    f"{found}; use the cohort's codes, or leave the value empty where it is not known."
                )

    def group(self, frame: pd.DataFrame, attribute: str) -> pd.Series:
        """Group of each row, in the order declared; missing where the value is in none."""
        column, groups = self.attributes[attribute]
        where = {value: name for name, values in groups.items() for value in values}
        found = pd.Categorical(frame[column].map(where), categories=list(groups), ordered=True)
        return pd.Series(found, index=frame.index, name=attribute)

    def columns(self) -> list[str]:
        """Columns of the attributes and of every set of predictors."""
        sets = [column for names in self.predictors.values() for column in names]
        return list(dict.fromkeys([*(column for column, _ in self.attributes.values()), *sets]))

    def label(self, frame: pd.DataFrame) -> pd.Series:
        """1 where the stay was longer than three days."""
        return (frame[self.stay] > LONG).astype("int64").rename("long_stay")

    def features(self, frame: pd.DataFrame, predictors: str) -> pd.DataFrame:
        """What the model sees: codes as text, age as a number, diagnoses to the point."""
        if not isinstance(predictors, str) or predictors not in self.predictors:
            raise AuditInputError(
                f"predictors = {predictors!r}: choose one of {', '.join(map(repr, self.predictors))}."
            )
        found = frame[list(self.predictors[predictors])]
        for column in found.select_dtypes("number"):
            size = np.abs(found[column].to_numpy(dtype=np.float64, na_value=np.nan))
            if endless := int((size > np.finfo(np.float32).max).sum()):
                raise AuditInputError(
                    f"{column}: {endless:,} of {len(found):,} rows are infinite or too large; give what was recorded."
                )
        here = [c for c in self.codes if c in found]
        found = found.astype(dict.fromkeys(here, str))
        for column in self.bands:
            if column in found:
                found[column] = found[column].str.extract(r"(\d+)", expand=False).astype(float)
        for column in self.stems:
            if column in found:
                found[column] = found[column].str.partition(".")[0].where(found[column].notna(), np.nan)
        return found

    def weighed(self, frame: pd.DataFrame, attributes: Sequence[str]) -> pd.DataFrame:
        """Groups that training rows are weighted by, rare levels put together, as text."""
        if isinstance(attributes, str) or not isinstance(attributes, Sequence) or not attributes:
            raise AuditInputError(f"weights = {attributes!r}: give names of attributes, such as ('race', 'age').")
        if unknown := [name for name in attributes if not isinstance(name, str) or name not in self.attributes]:
            raise AuditInputError(f"weights: {unknown!r} are none of {', '.join(self.attributes)}.")
        one = {
            name: {level: merged for merged, levels in self.merged.get(name, {}).items() for level in levels}
            for name in attributes
        }
        return pd.DataFrame({name: self.group(frame, name).astype(str).replace(one[name]) for name in attributes})


def _days(value: Any) -> bool:
    """Whether this is a number of days: neither missing, infinite, below 0, nor text."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool | np.bool_)
    return number and bool(np.isfinite(value)) and value >= 0


_AT_ADMISSION = (
    *("race", "gender", "age", "admission_type_id", "admission_source_id"),
    *("number_outpatient", "number_emergency", "number_inpatient", "medical_specialty"),
)
_DIABETES = StayCohort(
    stay="time_in_hospital",
    patient="patient_nbr",
    order="encounter_id",
    attributes={
        "race": ("race", {name: (name,) for name in ("AfricanAmerican", "Asian", "Caucasian", "Hispanic", "Other")}),
        "sex": ("gender", {"Female": ("Female",), "Male": ("Male",)}),
        "ethnicity": (
            "race",
            {"Hispanic": ("Hispanic",), "not Hispanic": ("AfricanAmerican", "Asian", "Caucasian", "Other")},
        ),
        "age": (
            "age",
            {
                "<30": ("[0-10)", "[10-20)", "[20-30)"),
                "30–49": ("[30-40)", "[40-50)"),
                "50–69": ("[50-60)", "[60-70)"),
                "70+": ("[70-80)", "[80-90)", "[90-100)"),
            },
        ),
    },
    predictors={
        "end": (
            *("race", "gender", "age", *HOSPITAL_CODES),
            *(column for column in HOSPITAL_COUNTS if column != "time_in_hospital"),
            *("diag_1", "medical_specialty", *MEDICATIONS, "max_glu_serum", "A1Cresult", "change", "diabetesMed"),
        ),
        "admission": _AT_ADMISSION,
    },
    unrecorded={"gender": ("Unknown/Invalid",)},
    codes=HOSPITAL_CODES,
    stems=("diag_1",),
    bands=("age",),
    merged={"race": {"Asian or Other": ("Asian", "Other")}},  # some age bands hold too few to weight by
)


def _codes(first: int, last: int) -> tuple[int, ...]:
    return tuple(range(first, last + 1))


# Age comes as codes of bands, 0 to 21; the groups are the codes that the published audit put together, by the names it
# gave them. Diagnosis and procedure have many levels: the preprocessing keeps the 50 most frequent of a column, where
# the published code takes each level's mean outcome. The hospital is no predictor here, so that it can be a site.
_TEXAS = StayCohort(
    stay="LENGTH_OF_STAY",
    attributes={
        "race": (
            "RACE",
            {name: (code,) for code, name in enumerate(("Native American", "Asian", "Black", "White", "Other"))},
        ),
        "sex": ("SEX_CODE", {"Female": (1,), "Male": (0,)}),
        "ethnicity": ("ETHNICITY", {"Hispanic": (0,), "not Hispanic": (1,)}),
        "age": (
            "PAT_AGE",
            {"<18": _codes(0, 4), "18–39": _codes(5, 9), "40–64": _codes(10, 14), "65+": _codes(15, 21)},
        ),
    },
    predictors={
        # Charges and the status at discharge say much of how long a stay was; the published models use both.
        "end": (
            *("PAT_AGE", "SEX_CODE", "RACE", "ETHNICITY", "TYPE_OF_ADMISSION", "SOURCE_OF_ADMISSION", "PAT_STATUS"),
            *("TOTAL_CHARGES", "ADMITTING_DIAGNOSIS", "PRINC_SURG_PROC_CODE"),
        ),
        "admission": (
            *("PAT_AGE", "SEX_CODE", "RACE", "ETHNICITY", "TYPE_OF_ADMISSION", "SOURCE_OF_ADMISSION"),
            "ADMITTING_DIAGNOSIS",
        ),
    },
    codes=(
        *("SEX_CODE", "RACE", "ETHNICITY", "TYPE_OF_ADMISSION", "SOURCE_OF_ADMISSION", "PAT_STATUS"),
        *("ADMITTING_DIAGNOSIS", "PRINC_SURG_PROC_CODE"),
    ),
    site="THCIC_ID",
)
STAY_COHORTS: Mapping[str, StayCohort] = MappingProxyType({"diabetes130": _DIABETES, "texas100x": _TEXAS})
