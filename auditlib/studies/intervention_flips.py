"""Flip rates of rules on the same replicates, and how far those of one table hold for another search or size.

A Monte-Carlo error says what other replicates of the same people would give. It does not say what another seed of the
search, another gap of the solver, or resamples of another size would: ``flip_checks`` does, for XGBoost.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from joblib import Parallel, delayed

from auditlib.counts import Counts
from auditlib.counts.thresholds import Thresholds
from auditlib.errors import AuditInputError
from auditlib.intervals import interval
from auditlib.jobs import check_jobs
from auditlib.metrics import accuracy
from auditlib.mitigate import Shift, shift_thresholds, stabilize_verdicts
from auditlib.mitigate.program import GAP
from auditlib.mitigate.result import thresholds_of
from auditlib.studies.interventions import ATTRIBUTES, AUDIT, SEED, SELECTION
from auditlib.studies.stays import THRESHOLD, stays_table
from auditlib.verdicts import passes, verdict_metrics

TABLE = "stays-xgboost"
SEEDS, GAPS = (42, 1, 2, 3, 4, 5), (0.002, 0.001)
PUBLISHED_SIZE = 10_000
REPLICATES, CHUNK, DIGITS = 10_000, 500, 6


def flip_checks(*, replicates: int = REPLICATES, n_jobs: int = 1) -> pd.DataFrame:
    """Mean VFR of rules of several searches, on fresh replicates of both partitions, and of the published size.

    Parameters
    ----------
    replicates : int
        A multiple of 500.
    n_jobs : int
        Processes; the result does not depend on it.

    Returns
    -------
    DataFrame
        A row a partition, ``size`` of a resample, and rule: ``policy`` and ``search`` ("seed 42", …, "gap 0.002", or
        "" where neither was changed); ``vfr`` and its Monte-Carlo standard ``error``; and ``change``, paired by
        replicate, of shifting since the start and of stabilising since the shift it began from, with
        ``change_error``.

    Raises
    ------
    AuditInputError
        For another number of replicates.

    Examples
    --------
    >>> from auditlib.studies import study_table
    >>> found = study_table("interventions_flips")
    >>> sorted(found["size"].unique().tolist())
    [10000, 13914, 27828]
    """
    check_jobs(n_jobs)
    if isinstance(replicates, bool) or not isinstance(replicates, int) or replicates < CHUNK or replicates % CHUNK:
        raise AuditInputError(f"replicates must be a multiple of {CHUNK}, not {replicates!r}.")
    parts = {name: stays_table(TABLE).sel(partition=name) for name in (SELECTION, AUDIT)}
    rules = _rules(parts[SELECTION], n_jobs)
    places = [(SELECTION, parts[SELECTION].n_rows), (AUDIT, parts[AUDIT].n_rows), (AUDIT, PUBLISHED_SIZE)]
    jobs = [(place, number) for place in places for number in range(replicates // CHUNK)]
    work = (delayed(_shares)(parts[part], size, rules, number) for (part, size), number in jobs)
    held: dict[tuple[str, int], list[np.ndarray]] = {place: [] for place in places}
    for (place, _), chunk in zip(jobs, Parallel(n_jobs=n_jobs)(work), strict=True):
        held[place].append(chunk)
    rows = [row for place in places for row in _rows(place, list(rules), np.concatenate(held[place], axis=-1))]
    return pd.DataFrame(rows).round(DIGITS)


Rule = tuple[str, str]  # of which search, and which policy


def _rules(counts: Counts, n_jobs: int) -> dict[Rule, Thresholds]:
    gaps = {"": GAP} | {f"gap {gap:g}": gap for gap in GAPS}
    found = Parallel(n_jobs=n_jobs)(delayed(shift_thresholds)(counts, ATTRIBUTES, gap=gap) for gap in gaps.values())
    begun = dict(zip(gaps, found, strict=True))
    rules: dict[Rule, Thresholds] = {("", "start"): THRESHOLD}
    rules |= {(name, "shifted"): shift.thresholds for name, shift in begun.items()}
    searches = [(f"seed {seed}", begun[""], seed) for seed in SEEDS]
    searches += [(name, shift, SEED) for name, shift in begun.items() if name]
    for name, shift, seed in searches:
        rules[name, "stabilised"] = stabilize_verdicts(counts, shift, ATTRIBUTES, seed=seed).thresholds
    return rules


def _shares(counts: Counts, size: int, rules: dict[Rule, Thresholds], chunk: int) -> np.ndarray:
    """Whether each cell passes, of a chunk of replicates: (rules, cells, replicates)."""
    # the seed of a chunk is none of a search: [42, 0] would be 42 itself
    again = counts.resample(CHUNK, strata="label", size=size, seed=np.random.default_rng([SEED, 1 + chunk]))
    held = [passed(again, rule).transpose("metric", "attribute", "replicate").values for rule in rules.values()]
    return np.stack([one.reshape(-1, CHUNK) for one in held])


def _rows(place: tuple[str, int], rules: list[Rule], held: np.ndarray) -> list[dict[str, object]]:
    share = held.mean(axis=-1, keepdims=True)
    one = np.where(share <= 0.5, held, 1 - held).mean(axis=1)  # of each replicate: (rules, replicates)
    rows: list[dict[str, object]] = []
    for k, (search, policy) in enumerate(rules):
        begun = search if (search, "shifted") in rules else ""
        before = {"start": ("", "start"), "shifted": ("", "start"), "stabilised": (begun, "shifted")}[policy]
        since = one[k] - one[rules.index(before)]
        row: dict[str, object] = {"partition": place[0], "size": place[1], "search": search, "policy": policy}
        row |= {"vfr": one[k].mean(), "error": _error(one[k])}
        rows.append(row | {"change": since.mean(), "change_error": _error(since)})
    return rows


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(values.size))


def passed(again: Counts, thresholds: Shift | Thresholds) -> xr.DataArray:
    """1 where a verdict of a replicate is a pass, over metric, attribute and replicate; NaN where it is undefined.

    Parameters
    ----------
    again : Counts
        Replicates of one partition, over the four attributes: ``counts.resample(500, …)``.
    thresholds : Shift, or as ``Counts.at`` takes it

    Raises
    ------
    AuditInputError
        For counts that are not resampled.

    Examples
    --------
    >>> counts = stays_table("stays-logistic").sel(partition="audit")
    >>> float(passed(counts.resample(100, strata="label", seed=1), 0.5).sel(metric="DI", attribute="age").mean())
    0.0
    """
    if not again.resampled:
        raise AuditInputError("again must be replicates: counts.resample(500, strata='label', seed=…).")
    tables = again.at(thresholds_of(thresholds)).reset_coords(drop=True)
    found = []
    for name in ATTRIBUTES:
        alone = tables.sum([dim for dim in again.dims if dim != name])
        found.append(passes(verdict_metrics(alone, name, scores=again.by(name))))
    return xr.concat(found, pd.Index(ATTRIBUTES, name="attribute"))


def each_round(start: Shift, stable: Shift) -> list[xr.DataArray]:
    """The thresholds a search began with, and those after each of its rounds.

    Parameters
    ----------
    start : Shift
        What ``stabilize_verdicts`` began from.
    stable : Shift
        What it returned.

    Examples
    --------
    >>> import auditlib as al
    >>> risk, sex = np.linspace(0.01, 0.99, 400), ["F", "M"] * 200
    >>> frame = pd.DataFrame({"y": risk > 0.5, "risk": risk, "sex": sex})
    >>> counts = al.count(frame, label="y", score="risk", by="sex", bins=20)
    >>> first = al.shift_thresholds(counts, "sex")
    >>> again = al.stabilize_verdicts(counts, first, "sex", seed=1, replicates=50)
    >>> len(each_round(first, again)) == len(again.history)
    True
    """
    held = [start.thresholds.copy()]
    for row in stable.history.iloc[1:].to_dict("records"):
        levels = dict(zip(held[-1].dims, row["moved"].split(", "), strict=True))
        held.append(held[-1].copy())
        held[-1].loc[levels] = row["to"]
    return held


def minority(again: Counts, thresholds: Shift | Thresholds) -> xr.DataArray:
    """1 where a replicate's verdict is that of the minority: its mean over replicates is VFR.

    So the mean VFR is a mean over replicates of each one's share of such verdicts, and has its Monte-Carlo standard
    error, also that of a difference between policies judged on the same replicates.

    Parameters
    ----------
    again : Counts
        Replicates of one partition, over the four attributes: ``counts.resample(500, …)``.
    thresholds : Shift, or as ``Counts.at`` takes it

    Returns
    -------
    DataArray over ``metric``, ``attribute`` and ``replicate``; NaN where a metric is undefined.

    Raises
    ------
    AuditInputError
        For counts that are not resampled.

    Examples
    --------
    >>> counts = stays_table("stays-logistic").sel(partition="audit")
    >>> held = minority(counts.resample(100, strata="label", seed=1), 0.5)
    >>> bool(held.mean("replicate").max() <= 0.5)
    True
    """
    held = passed(again, thresholds)
    return held.where(held.mean("replicate") <= 0.5, 1 - held)


def mean_flips(again: Counts, thresholds: Shift | Thresholds) -> xr.DataArray:
    """Each replicate's share of minority verdicts: the mean over replicates is the mean VFR.

    Its spread over replicates gives the Monte-Carlo error of the mean VFR, and that of the difference of two rules'
    gives the error of a change.

    Examples
    --------
    >>> counts = stays_table("stays-logistic").sel(partition="audit")
    >>> mean_flips(counts.resample(100, strata="label", seed=1), 0.5).dims
    ('replicate',)
    """
    return minority(again, thresholds).mean(["metric", "attribute"])


def paired(counts: Counts, again: Counts, rule: Shift | Thresholds, base: Shift | Thresholds = THRESHOLD) -> xr.Dataset:
    """Change of accuracy and of F1 between two rules, both judged on the same replicates.

    Parameters
    ----------
    counts : Counts
        Of one partition, over the attributes the rules have thresholds for.
    again : Counts
        The same, resampled.
    rule, base : Shift, or as ``Counts.at`` takes it
        The change is that of ``rule`` since ``base``.

    Returns
    -------
    Dataset of ``estimate``, ``low`` and ``high`` over ``measure``.

    Examples
    --------
    >>> counts = stays_table("stays-logistic").sel(partition="audit")
    >>> again = counts.resample(100, strata="label", seed=1)
    >>> float(abs(paired(counts, again, 0.5)["estimate"]).max())
    0.0
    """
    point, redrawn = (_both(source, rule) - _both(source, base) for source in (counts, again))
    return interval(redrawn).assign(estimate=point)


def unpaired(before: Counts, after: Counts, *, replicates: int = 500, seed: int = SEED) -> xr.Dataset:
    """Change of the four DI at a threshold of .5 between two models, resampled each on its own.

    Two tables of counts do not say which patient is which: the interval is that of two samples, wider than need be.

    Returns
    -------
    Dataset of ``estimate``, ``low`` and ``high`` over ``attribute``.

    Examples
    --------
    >>> counts = stays_table("stays-logistic").sel(partition="audit")
    >>> float(unpaired(counts, counts, replicates=50)["estimate"].sum())
    0.0
    """
    point = _ratios(after) - _ratios(before)
    rngs = np.random.default_rng(seed).spawn(2)
    old, new = (
        _ratios(counts.resample(replicates, strata="label", seed=rng))
        for counts, rng in zip((before, after), rngs, strict=True)
    )
    return interval(new - old).assign(estimate=point)


def _ratios(counts: Counts) -> xr.DataArray:
    found = [verdict_metrics(counts.by(name), name, threshold=THRESHOLD)["DI"] for name in ATTRIBUTES]
    return xr.concat([one.reset_coords(drop=True) for one in found], pd.Index(ATTRIBUTES, name="attribute"))


def _both(counts: Counts, rule: Shift | Thresholds) -> xr.DataArray:
    table = counts.at(thresholds_of(rule)).reset_coords(drop=True).sum(counts.dims)
    below = 2 * table["tp"] + table["fp"] + table["fn"]
    f1 = 2 * table["tp"] / below.where(below > 0)
    return xr.concat([accuracy(table), f1], pd.Index(["accuracy", "F1"], name="measure"))
