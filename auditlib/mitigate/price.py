"""What thresholds cost and what verdicts they meet, on people they were not chosen on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.counts import Counts
from auditlib.counts.levels import check_names
from auditlib.counts.merge import check_whole
from auditlib.counts.thresholds import Thresholds, as_thresholds
from auditlib.errors import AuditInputError
from auditlib.intervals import auroc_interval, interval, rate_interval
from auditlib.metrics import accuracy, selection_rate
from auditlib.mitigate.cells import check_attributes
from auditlib.mitigate.result import Shift, thresholds_of
from auditlib.scores import auroc
from auditlib.verdicts import Limit, flip_rate, verdict_metrics
from auditlib.verdicts.judged import NOISE

STABLE = 0.10  # VFR up to which the paper calls a verdict practically stable


def price(
    counts: Counts,
    thresholds: Shift | Thresholds,
    attributes: str | Sequence[str],
    *,
    seed: int | np.random.Generator | None,
    limits: Mapping[str, float | Limit] | None = None,
    replicates: int = 500,
    size: int | None = None,
    strata: str | Sequence[str] = "label",
    level: float = 0.95,
) -> pd.DataFrame:
    """Accuracy, F1, AUROC and the seven metrics of every attribute at given thresholds, on one partition.

    Thresholds are taken as they are: intervals and flip rates are those of resampling these people, which says nothing
    of how the thresholds would have come out on others. On the people they were chosen on, everything looks better
    than it is. With one ``seed``, several sets of thresholds are judged on the same replicates of the same counts.

    Parameters
    ----------
    counts : Counts
        Of one partition and one model, not resampled.
    thresholds : Shift, or as ``Counts.at`` takes it
    attributes : str or list of str
    seed : int or Generator
    limits : mapping, optional
        As ``auditlib.verdicts.passes``.
    replicates, size, strata : as ``Counts.resample``
    level : float
        Of the intervals.

    Returns
    -------
    DataFrame with a row a measure and attribute ("" for those of everybody):

    - ``measure``, ``attribute``, ``estimate``, ``low``, ``high``, ``n`` (people, a whole number)
    - ``verdict``, ``p_pass``, ``vfr``, ``dominant`` of the seven metrics: the estimate's verdict, and that of most
      replicates ("pass", "fail", "tie", "undefined"), which may be the other one

    Intervals: Wilson's for accuracy and the share flagged, Hanley and McNeil's for AUROC (which does not depend on
    thresholds), percentiles of the replicates for F1, for the seven metrics, and for all of them where rows are
    clustered. Percentiles of a largest minus a smallest value do not cover it near a tie of groups; see
    ``spread_interval``. They are of samples of ``size``.

    Raises
    ------
    AuditInputError
        For counts of several partitions or models, or resampled; unknown attributes or thresholds, or an attribute
        without a name; no replicate.

    Examples
    --------
    >>> import auditlib as al
    >>> rng = np.random.default_rng(0)
    >>> risk, sex = rng.beta(2, 3, 600).round(2), rng.choice(["F", "M"], 600)
    >>> frame = pd.DataFrame({"y": rng.random(600) < risk, "risk": risk, "sex": sex})
    >>> counts = al.count(frame, label="y", score="risk", by="sex", bins=20)
    >>> found = price(counts, {"F": 0.4, "M": 0.45}, "sex", seed=1, replicates=100).set_index("measure")
    >>> round(float(found.loc["accuracy", "estimate"]), 3), str(found.loc["DI", "verdict"])
    (0.695, 'pass')

    Thresholds found on some people, priced on others:

    >>> frame["part"] = ["selection", "audit"] * 300
    >>> parts = al.count(frame, label="y", score="risk", by=["part", "sex"], bins=20)
    >>> shift = al.shift_thresholds(parts.sel(part="selection"), "sex")
    >>> found = price(parts.sel(part="audit"), shift, "sex", seed=1, replicates=100).set_index("measure")
    >>> round(shift.accuracy, 3), round(float(found.loc["accuracy", "estimate"]), 3)
    (0.73, 0.713)
    """
    names = check_attributes(counts, attributes)
    check_names(names, [""], "price")
    check_whole(replicates, "replicates")
    values = thresholds_of(thresholds)
    if isinstance(values, Mapping):  # one dim only, and a DataArray can be joined with other attributes
        values = as_thresholds(counts.by(*names), values).values
    own = [str(dim) for dim in values.dims] if isinstance(values, xr.DataArray) else []
    for dim in own:
        counts.column(dim)
    held = counts.by(*(dim for dim in counts.dims if dim in names or dim in own))
    again = held.resample(replicates, strata=strata, size=size, seed=seed)
    table, tables = (source.at(values).reset_coords(drop=True) for source in (held, again))
    if "threshold" in table.dims:
        raise AuditInputError("give one threshold, or one a group, not a list of them.")
    rows = _overall(held, again, table.sum(held.dims), tables.sum(held.dims), level)
    for name in names:
        rest = [dim for dim in held.dims if dim != name]
        sources = ((table, held), (tables, again))
        point, redrawn = (verdict_metrics(part.sum(rest), name, scores=source.by(name)) for part, source in sources)
        rows += _verdicts(name, point, redrawn, limits, level, held.n_rows)
    columns = ["measure", "attribute", "estimate", "low", "high", "n", "verdict", "p_pass", "vfr", "dominant"]
    return pd.DataFrame(rows, columns=columns).astype({"n": np.int64}).fillna({"verdict": "", "dominant": ""})


def headline(priced: pd.DataFrame) -> pd.Series:
    """One line of ``price``: accuracy, F1, AUROC, the DI's, and how the flip rates are spread.

    Parameters
    ----------
    priced : DataFrame of ``price``, or read from a CSV of it

    Returns
    -------
    Series of accuracy, F1, AUROC, ``DI <attribute>``, ``passes``, ``mean VFR``, ``max VFR``, ``flips`` (cells with VFR
    above 0), ``stable`` (VFR at most 0.10), ``cells`` (those with a defined VFR, which the others are of) and
    ``contrary``.

    ``passes`` counts the verdicts of the estimates; ``stable`` counts cells whose replicates agree, on a pass or on a
    fail. A cell can be counted in both and still fail in nearly every replicate: ``contrary`` is the number of cells
    whose dominant verdict (of most replicates, or "tie") is not the estimate's; see ``dominant`` of ``price``.

    Raises
    ------
    AuditInputError
        For anything but a DataFrame with the columns of ``price``.

    Examples
    --------
    >>> rows = [["accuracy", "", 0.8, ""], ["Cal", "sex", 0.04, "pass", 0.08, 0.08], ["SPD", "sex", 0.2, "fail", 0, 0]]
    >>> found = headline(pd.DataFrame(rows, columns=["measure", "attribute", "estimate", "verdict", "p_pass", "vfr"]))
    >>> found[["passes", "stable", "contrary"]].tolist(), float(found["mean VFR"])
    ([1, 2, 1], 0.04)
    """
    if not isinstance(priced, pd.DataFrame):
        raise AuditInputError(f"headline takes the DataFrame of price(…), not {type(priced).__name__}.")
    needed = ("measure", "attribute", "estimate", "verdict", "vfr", "p_pass")
    if absent := [name for name in needed if name not in priced]:
        raise AuditInputError(f"headline takes the DataFrame of price(…); this one has no column {absent[0]!r}.")
    priced = priced.assign(attribute=priced["attribute"].astype(object).fillna(""))  # an empty field of a CSV
    overall = priced[priced["attribute"] == ""].set_index("measure")["estimate"]
    cells = priced[priced["attribute"] != ""]
    ratios = cells[cells["measure"] == "DI"]
    vfr = cells["vfr"].dropna()
    found = {name: overall[name] for name in ("accuracy", "F1", "AUROC") if name in overall}
    found |= {f"DI {name}": value for name, value in zip(ratios["attribute"], ratios["estimate"], strict=True)}
    found |= {"passes": int((cells["verdict"] == "pass").sum()), "mean VFR": vfr.mean(), "max VFR": vfr.max()}
    found |= {"flips": int((vfr > 0).sum()), "stable": int((vfr <= STABLE + NOISE).sum()), "cells": len(vfr)}
    return pd.Series(found | {"contrary": _contrary(cells)}, dtype=object)


def _contrary(cells: pd.DataFrame) -> int:
    """Cells whose verdict is not that of most replicates, as ``disagrees`` of ``flip_rate``."""
    known = cells[cells["verdict"].isin(["pass", "fail"]) & cells["p_pass"].notna()]
    agree = np.where(known["verdict"] == "pass", known["p_pass"] > 0.5, known["p_pass"] < 0.5)
    return int((~agree.astype(bool)).sum())


Row = dict[str, Any]


def _overall(held: Counts, again: Counts, table: xr.Dataset, tables: xr.Dataset, level: float) -> list[Row]:
    people = held.n_rows
    rows = []
    for name, metric in (("accuracy", accuracy), ("flagged", selection_rate)):
        found = interval(metric(tables), level) if held.clustered else rate_interval(_unmarked(table), metric, level)
        rows.append(_row(name, "", float(metric(table)), float(found.low), float(found.high), people))
    found = interval(_f1(tables), level)
    rows.append(_row("F1", "", float(_f1(table)), float(found.low), float(found.high), people))
    area, low, high = np.nan, np.nan, np.nan
    if held.edges.kind != "cut":
        area = float(auroc(held.by()))
        positives, negatives = (int((table[a] + table[b]).item()) for a, b in (("tp", "fn"), ("fp", "tn")))
        if held.clustered:
            found = interval(auroc(again.by()), level)
            low, high = float(found.low), float(found.high)
        elif positives and negatives:
            low, high = auroc_interval(area, positives, negatives, level)
    return [*rows, _row("AUROC", "", area, low, high, people)]


def _unmarked(table: xr.Dataset) -> xr.Dataset:
    """The table without notes on its units; of rows, so that nothing is lost."""
    return xr.Dataset({name: table[name] for name in ("tp", "fp", "fn", "tn")})


def _f1(table: xr.Dataset) -> xr.DataArray:
    """2·TP / (2·TP + FP + FN); NaN where nobody is flagged or has the outcome."""
    below = 2 * table["tp"] + table["fp"] + table["fn"]
    return 2 * table["tp"] / below.where(below > 0)


def _row(measure: str, attribute: str, estimate: float, low: float, high: float, n: int, **more: Any) -> Row:
    return {"measure": measure, "attribute": attribute, "estimate": estimate, "low": low, "high": high, "n": n, **more}


def _verdicts(name: str, point: xr.Dataset, redrawn: xr.Dataset, limits: Any, level: float, people: int) -> list[Row]:
    found = flip_rate(redrawn, limits=limits, point=point)
    rows = []
    for metric in map(str, point.data_vars):
        held, one = interval(redrawn[metric], level), found.sel(metric=metric)
        rows.append(
            _row(
                metric, name, float(point[metric]), float(held.low), float(held.high), people,
                verdict=str(one["verdict"].item()), p_pass=float(one["p_pass"]), vfr=float(one["vfr"]),
                dominant=str(one["dominant"].item()),
            )
        )  # fmt: skip
    return rows
