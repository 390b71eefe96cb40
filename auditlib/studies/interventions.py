"""Thresholds shifted, then verdicts stabilised, for every table of long stays; and what that costs.

Thresholds are chosen on the selection part of each table and priced on both parts. A control searches the same
thresholds without any condition on DI: what it loses on other people is the price of searching. Chapters read the
result: one search takes seconds, all of them minutes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr
from joblib import Parallel, delayed

from auditlib.counts import Counts
from auditlib.errors import AuditInputError
from auditlib.jobs import check_jobs
from auditlib.mitigate import price, shift_thresholds, stabilize_verdicts
from auditlib.studies.reproduction import study_table
from auditlib.studies.stays import STAYS_TABLES, THRESHOLD, stays_table

SEED = 42
ATTRIBUTES = ("race", "sex", "ethnicity", "age")
SELECTION, AUDIT = "selection", "audit"
#: Columns of the thresholds: as given; most accurate with no condition on DI (the control); the same with every DI at
#: least .80; moved from there so that fewer verdicts flip; and with every DI at least .85.
POLICIES = ("start", "control", "shifted", "stabilised", "margin")
FREE = 1e-6  # a target that all thresholds reach, so that DI is no condition
MARGIN, MARGIN_GAP = 0.85, 0.01  # at .002 one table takes longer than the limit of a solve
#: The study of the thresholds.
FOUND = "interventions_thresholds"
DIGITS = 6


def intervention_thresholds(names: Sequence[str] = tuple(STAYS_TABLES), *, n_jobs: int = 1) -> pd.DataFrame:
    """Thresholds of every joint group, found on the selection part of each table.

    Parameters
    ----------
    names : names of tables of long stays
    n_jobs : int
        Processes; the result does not depend on it.

    Returns
    -------
    DataFrame
        A row a table and joint group of the four attributes that anybody is in: ``people`` (of the selection part),
        the thresholds of each policy, ``start``, ``control``, ``shifted``, ``stabilised`` and ``margin``, and ``why``
        it was left at the start.

    Raises
    ------
    AuditInputError
        For unknown tables, or one whose DI's no thresholds bring to .80.

    Examples
    --------
    >>> found = study_table("interventions_thresholds")
    >>> sorted(found["why"].dropna().unique())
    ['under 30 people']
    """
    check_jobs(n_jobs)
    return pd.concat(Parallel(n_jobs=n_jobs)(delayed(_search)(name) for name in names), ignore_index=True)


def intervention_prices(
    names: Sequence[str] = tuple(STAYS_TABLES), found: pd.DataFrame | None = None, *, n_jobs: int = 1
) -> pd.DataFrame:
    """``price`` of each table, policy and partition, 500 replicates each; numbers to six decimals.

    Parameters
    ----------
    names : names of tables of long stays
    found : DataFrame of ``intervention_thresholds``, optional
        The committed one by default.
    n_jobs : int

    Returns
    -------
    DataFrame
        ``table``, ``policy``, ``partition``, and the columns of ``price`` up to ``vfr``. Policies of one table
        and partition are judged on the same replicates.

    Examples
    --------
    >>> prices = study_table("interventions")
    >>> prices["policy"].unique().tolist(), len(prices.query("table == 'stays-xgboost'"))
    (['start', 'control', 'shifted', 'stabilised', 'margin'], 320)
    """
    check_jobs(n_jobs)
    held = study_table(FOUND) if found is None else found
    jobs = (
        delayed(_priced)(name, policy, part, held)
        for name in names
        for part in (SELECTION, AUDIT)
        for policy in POLICIES
    )
    return pd.concat(Parallel(n_jobs=n_jobs)(jobs), ignore_index=True)


def found_thresholds(name: str, policy: str, found: pd.DataFrame | None = None) -> xr.DataArray:
    """The thresholds of one table and policy, as ``Counts.at`` takes them: .5 where nobody was in the selection part.

    Raises
    ------
    AuditInputError
        For a table that was not searched, or a policy that there is none of.

    Examples
    --------
    >>> at = found_thresholds("stays-xgboost", "shifted")
    >>> at.dims, float(at.sel(race="Asian", sex="Male", ethnicity="not Hispanic", age="70+"))
    (('race', 'sex', 'ethnicity', 'age'), 0.5)
    """
    held = study_table(FOUND) if found is None else found
    rows = held[held["table"] == name]
    if not len(rows):
        raise AuditInputError(f"no thresholds of {name!r}: choose one of {', '.join(held['table'].unique())}.")
    if policy not in POLICIES:
        raise AuditInputError(f"policy = {policy!r}: choose one of {', '.join(POLICIES)}.")
    groups = stays_table(name).groups
    coords = {dim: list(groups[dim]) for dim in ATTRIBUTES}
    full = xr.DataArray(np.full([len(levels) for levels in coords.values()], THRESHOLD), coords, list(coords))
    for row in rows.to_dict("records"):
        full.loc[{dim: row[dim] for dim in ATTRIBUTES}] = row[policy]
    return full.rename("threshold")


def _search(name: str) -> pd.DataFrame:
    counts = _part(name, SELECTION)
    shifted = shift_thresholds(counts, ATTRIBUTES)
    if not shifted.ok:
        raise AuditInputError(f"{name}: {shifted.stopped}, so there is nothing to stabilise.")
    free = shift_thresholds(counts, ATTRIBUTES, target=FREE)
    stable = stabilize_verdicts(counts, shifted, ATTRIBUTES, seed=SEED)
    wide = shift_thresholds(counts, ATTRIBUTES, target=MARGIN, gap=MARGIN_GAP)
    cells = shifted.cells.rename(columns={"threshold": "shifted"})
    for policy, found in (("control", free), ("stabilised", stable), ("margin", wide)):
        cells[policy] = found.cells["threshold"]
    cells.insert(0, "table", name)
    return cells[["table", *ATTRIBUTES, "people", *POLICIES, "why"]]


def _priced(name: str, policy: str, partition: str, found: pd.DataFrame) -> pd.DataFrame:
    table = price(_part(name, partition), found_thresholds(name, policy, found), ATTRIBUTES, seed=SEED).round(DIGITS)
    table = table.drop(columns="dominant")  # which p_pass says
    for column, value in (("partition", partition), ("policy", policy), ("table", name)):
        table.insert(0, column, value)
    return table


def _part(name: str, partition: str) -> Counts:
    return stays_table(name).sel(partition=partition)
