"""A stand-in for hospital records: stays of patients, with the true risk of each."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import expit, logit, ndtri

from auditlib.simulate.cohort import Cohort
from auditlib.simulate.parameters import Group

RACES = {"AfricanAmerican": 0.19, "Caucasian": 0.76, "Hispanic": 0.02, "Asian": 0.01, None: 0.02}
AGES = ["[10-20)", "[40-50)", "[60-70)", "[80-90)"]
PREVALENCE, APART = 0.114, 0.5


def stays(n: int = 16_000, seed: int | np.random.Generator | None = None) -> pd.DataFrame:
    """Stays of ``n`` patients with the columns of the diabetes records that chapter 1 uses, and their risk.

    The score x of a stay is normal with variance 1 and mean ½ before a readmission, 0 otherwise; the risk is the
    true one given x, logit(π) + x/2 − 1/8 on the logit scale, so that it is calibrated and its area under the ROC
    curve is Φ(½/√2) = .638. Some patients have several stays, alike in outcome and score;
    sex, race and age do not matter.

    Returns
    -------
    DataFrame
        patient_nbr, gender, race (None where not recorded), age, readmitted (``<30`` or ``NO``) and risk.

    Examples
    --------
    >>> found = stays(1000, seed=1)
    >>> found.columns.tolist()
    ['patient_nbr', 'gender', 'race', 'age', 'readmitted', 'risk']
    """
    rng = np.random.default_rng(seed)
    group = Group(PREVALENCE, positive=APART, negative=0.0)
    several = {1: 0.6, 2: 0.2, 3: 0.1, 6: 0.1}
    cohort = Cohort({"Female": group, "Male": group}, encounters=several, rho=0.7, rho_label=0.7)
    rows = cohort.frame(n, seed=rng)
    risk = expit(logit(PREVALENCE) + APART * ndtri(rows["score"]) - APART**2 / 2)
    races = rng.choice(len(RACES), len(rows), p=list(RACES.values()))
    return pd.DataFrame(
        {
            "patient_nbr": rows["patient"],
            "gender": rows["group"],
            "race": np.array(list(RACES), dtype=object)[races],
            "age": rng.choice(AGES, len(rows)),
            "readmitted": np.where(rows["label"] == 1, "<30", "NO"),
            "risk": risk,
        }
    )
