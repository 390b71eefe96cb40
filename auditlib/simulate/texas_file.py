"""A made-up file with the columns of Texas-100X, to try the loader and the studies on; no row of it is a patient."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import logit, ndtr

from auditlib.errors import AuditInputError
from auditlib.simulate.hospitals import Hospitals
from auditlib.simulate.parameters import generator, whole

AGE_CODES = ((0, 5), (5, 10), (10, 15), (15, 22))  # of PAT_AGE, banded as the published audit did
DIAGNOSES, PROCEDURES = 5225, 100
STATUS = (0.75, *(0.25 / 22,) * 22)


def texas_file(
    n: int, seed: int | np.random.Generator | None = None, hospitals: Hospitals | None = None
) -> pd.DataFrame:
    """``n`` made-up stays in the twelve columns of ``texas_100x.csv``, in their codes.

    Race, sex, ethnicity, age, hospital and whether the stay is long are those of ``hospitals.frame``, except that every
    hospital has at least one stay. The diagnosis and the procedure each tell part of the score, and charges grow with
    the days, so that models have something to learn, and something that leaks.

    Parameters
    ----------
    n : int
        At least one a hospital.
    seed : int or Generator
    hospitals : Hospitals, optional

    Raises
    ------
    AuditInputError
        For fewer stays than hospitals.

    Examples
    --------
    >>> texas_file(500, seed=1).shape
    (500, 12)
    """
    hospitals = Hospitals() if hospitals is None else hospitals
    if not isinstance(hospitals, Hospitals):
        raise AuditInputError(f"hospitals must be Hospitals(…), not {type(hospitals).__name__}.")
    n, rng = whole("n", n), generator(seed)
    if n < hospitals.sites:
        raise AuditInputError(f"n = {n!r}: {hospitals.sites} hospitals need a stay each.")
    rows = hospitals.frame(n, seed=rng)
    site = rows["site"].cat.codes.to_numpy().copy()
    site[: hospitals.sites] = np.arange(hospitals.sites)
    low, high = np.array(AGE_CODES)[rows["age"].cat.codes].T
    long = rows["label"].to_numpy() == 1
    days = np.where(long, 4 + rng.geometric(0.2, n) - 1, rng.integers(1, 4, n))
    risk = logit(rows["score"].to_numpy().clip(1e-12, 1 - 1e-12))
    return pd.DataFrame(
        {
            "THCIC_ID": 100 + site.astype(np.int64),
            "SEX_CODE": rows["sex"].cat.codes.astype(np.int64),
            "TYPE_OF_ADMISSION": rng.integers(0, 5, n),
            "SOURCE_OF_ADMISSION": rng.integers(0, 10, n),
            "LENGTH_OF_STAY": days,
            "PAT_AGE": rng.integers(low, high),
            "PAT_STATUS": rng.choice(len(STATUS), n, p=STATUS),
            "RACE": rows["race"].cat.codes.astype(np.int64),
            "ETHNICITY": rows["ethnicity"].cat.codes.astype(np.int64),
            "TOTAL_CHARGES": np.round(5_000 * days**0.8 * np.exp(0.5 * rng.standard_normal(n)), 2),
            "ADMITTING_DIAGNOSIS": _code(risk, DIAGNOSES, rng),
            "PRINC_SURG_PROC_CODE": _code(risk, PROCEDURES, rng),
        }
    )


def _code(risk: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """A code below ``size``, the larger the riskier the stay, give or take as much noise as there is in the risk."""
    noisy = (risk - risk.mean()) / max(float(risk.std()), 1e-12) + rng.standard_normal(len(risk))
    return np.minimum((size * ndtr(noisy / np.sqrt(2))).astype(np.int64), size - 1)
