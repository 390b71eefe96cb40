"""An audit with 500 replicates: auditlib against a bootstrap that resamples rows.

Rows with four attributes of 5, 2, 2 and 4 groups; the six count-based metrics of a fairness audit for each
attribute, in every replicate; replicates drawn within labels. The rows' bootstrap is given integer group codes,
flags, and rows sorted by label, none of it on the clock.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import xarray as xr

import auditlib as al
from benchmarks.clock import Result, judged, side_by_side
from benchmarks.data import ATTRIBUTES, THRESHOLD, frame

Metrics = dict[str, Any]
NAME = "audit of 4 attributes"
FINE = ("pandas, integer groups", "Polars, integer groups")  # also with the bins that other questions need


def counted(rows: Any, bins: int = 1) -> al.Counts:
    """The one pass over the data; an audit at one threshold needs no bins beside it."""
    return al.count(rows, label="label", score="score", by=list(ATTRIBUTES), thresholds=[THRESHOLD], bins=bins)


def audit(counts: al.Counts, n: int) -> dict[str, Metrics]:
    """The six metrics of every attribute in ``n`` replicates, from counts."""
    found, few = {}, counts.cut(THRESHOLD)
    for number, dim in enumerate(ATTRIBUTES):
        again = few.by(dim).resample(n, strata="label", seed=number)
        found[dim] = six_metrics(again.at(THRESHOLD), dim)
    return found


def whole(rows: Any, n: int, bins: int = 1) -> dict[str, Metrics]:
    """Counting and audit."""
    return audit(counted(rows, bins), n)


def six_metrics(table: xr.Dataset, dim: str) -> Metrics:
    """DI, SPD, EOpp, EOD, PP and TI by auditlib."""
    selected, sensitivity = al.selection_rate(table), al.spread(al.sensitivity(table), dim)
    return {
        "DI": al.ratio(selected, dim),
        "SPD": al.spread(selected, dim),
        "EOpp": sensitivity,
        "EOD": np.maximum(sensitivity, al.spread(al.false_positive_rate(table), dim)),
        "PP": al.spread(al.ppv(table), dim),
        "TI": al.theil(table, dim),
    }


def bare_metrics(held: np.ndarray) -> Metrics:
    """The same in NumPy; ``held`` is (replicates, groups, label, flagged)."""
    (tn, fp), (fn, tp) = np.moveaxis(held[:, :, 0], -1, 0), np.moveaxis(held[:, :, 1], -1, 0)
    people = held.sum(axis=(2, 3))
    selected, sensitivity, alarms = (tp + fp) / people, tp / (tp + fn), fp / (fp + tn)
    benefit = people + fp - fn
    share = benefit / benefit.sum(axis=1, keepdims=True)
    relative = share * people.sum(axis=1, keepdims=True) / people
    return {
        "DI": selected.min(axis=1) / selected.max(axis=1),
        "SPD": np.ptp(selected, axis=1),
        "EOpp": np.ptp(sensitivity, axis=1),
        "EOD": np.maximum(np.ptp(sensitivity, axis=1), np.ptp(alarms, axis=1)),
        "PP": np.ptp(tp / (tp + fp), axis=1),
        "TI": (share * np.log(np.where(relative > 0, relative, 1))).sum(axis=1),
    }


class Rows:
    """Rows prepared for the fastest resampling of rows: sorted by label, each attribute's cell as one small code."""

    def __init__(self, rows: pd.DataFrame) -> None:
        ordered = rows.sort_values("label", kind="stable")
        label = ordered["label"].to_numpy().astype(np.int64)
        cell = label * 2 + (ordered["score"].to_numpy() >= THRESHOLD)
        codes = {name: ordered[name].to_numpy().astype(np.int64) for name in ATTRIBUTES}
        joint = np.zeros(len(rows), np.int64)
        for name, size in ATTRIBUTES.items():
            joint = joint * size + codes[name]
        self.cells = {name: (code * 4 + cell).astype(np.int16) for name, code in codes.items()}
        self.joint = (joint * 4 + cell).astype(np.int16)
        self.labels = np.bincount(label)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Row numbers of one replicate, drawn within labels."""
        negative, positive = (int(n) for n in self.labels)
        first = rng.integers(0, negative, negative, np.int32)
        return np.concatenate([first, rng.integers(negative, negative + positive, positive, np.int32)])

    def by_attribute(self, n: int) -> dict[str, Metrics]:
        """One ``bincount`` an attribute and replicate."""
        rng = np.random.default_rng(0)
        held = {name: np.empty((n, size * 4), np.int64) for name, size in ATTRIBUTES.items()}
        for replicate in range(n):
            at = self.draw(rng)
            for name, cells in self.cells.items():
                held[name][replicate] = np.bincount(cells[at], minlength=held[name].shape[1])
        return {name: bare_metrics(counts.reshape(n, -1, 2, 2)) for name, counts in held.items()}

    def joint_cells(self, n: int) -> dict[str, Metrics]:
        """One ``bincount`` a replicate, of joint cells: half of the idea of counting, without its other half."""
        rng, shape = np.random.default_rng(0), tuple(ATTRIBUTES.values())
        held = np.empty((n, int(np.prod(shape)) * 4), np.int64)
        for replicate in range(n):
            held[replicate] = np.bincount(self.joint[self.draw(rng)], minlength=held.shape[1])
        table = held.reshape(n, *shape, 2, 2)
        axes = range(1, len(shape) + 1)
        return {
            name: bare_metrics(table.sum(axis=tuple(axis for axis in axes if axis != own)))
            for own, name in zip(axes, ATTRIBUTES, strict=True)
        }

    def multinomial(self, n: int) -> dict[str, Metrics]:
        """The draws and metrics of ``audit`` in bare NumPy, from confusion counts that are already there."""
        found = {}
        for number, (name, size) in enumerate(ATTRIBUTES.items()):
            rng = np.random.default_rng(number)
            cells = np.bincount(self.cells[name], minlength=size * 4).reshape(size, 2, 2)
            held = np.empty((n, size, 2, 2), np.int64)
            for label in (0, 1):
                weight = cells[:, label].reshape(-1)
                held[:, :, label] = rng.multinomial(weight.sum(), weight / weight.sum(), size=n).reshape(n, size, 2)
            found[name] = bare_metrics(held)
        return found


def fairlearn_seconds(rows: pd.DataFrame, n: int) -> float:
    """CPU seconds of ``n`` replicates of fairlearn's bootstrap, extrapolated from two."""
    from fairlearn import metrics as fm

    # TI is not among its metrics; the rates that the other five are made of are.
    rates = {
        "selected": fm.selection_rate,
        "sensitivity": fm.true_positive_rate,
        "alarms": fm.false_positive_rate,
        "ppv": _precision,
    }
    flag, quantiles = (rows["score"] >= THRESHOLD).astype(int), [0.025, 0.975]

    def run(replicates: int) -> None:
        for name in ATTRIBUTES:
            fm.MetricFrame(
                metrics=rates, y_true=rows["label"], y_pred=flag, sensitive_features=rows[name],
                n_boot=replicates, ci_quantiles=quantiles, random_state=1,
            )  # fmt: skip

    spent = side_by_side({"one": lambda: run(1), "three": lambda: run(3)}, rounds=1)
    return (spent["three"] - spent["one"]) / 2 * n


def _precision(y_true: Any, y_pred: Any) -> float:
    from sklearn.metrics import precision_score

    return float(precision_score(y_true, y_pred, zero_division=np.nan))


def run(n_rows: int = 185_026, n: int = 500, rounds: int = 5, fairlearn: bool = True) -> list[Result]:
    """The comparison: ratios of CPU time."""
    data = frame(n_rows)
    text = data.assign(**{name: data[name].map("group {}".format) for name in ATTRIBUTES})
    kinds = {
        "pandas, integer groups": data,
        "pandas, categories": text.astype(dict.fromkeys(ATTRIBUTES, "category")),
        "pandas, text": text,
        "Polars, integer groups": pl.from_pandas(data),
    }
    rows, counts = Rows(data), counted(data)
    tasks: dict[str, Callable[[], object]] = {name: partial(whole, given, n) for name, given in kinds.items()}
    tasks |= {f"{name}, 200 bins": partial(whole, kinds[name], n, 200) for name in FINE}
    tasks |= {
        "audit alone": lambda: audit(counts, n),
        "bare NumPy": lambda: rows.multinomial(n),
        "by attribute": lambda: rows.by_attribute(n),
        "joint": lambda: rows.joint_cells(n),
    }
    spent = side_by_side(tasks, rounds)
    found = []
    for name in (*kinds, *(f"{name}, 200 bins" for name in FINE)):
        ratio = spent["by attribute"] / spent[name]
        found.append(judged(NAME, name, "times faster than a bincount a replicate and attribute", ratio, least=40))
        ratio = spent["joint"] / spent[name]
        found.append(Result(NAME, name, "times faster than a bincount a replicate, of joint cells", ratio))
    ratio = spent["audit alone"] / spent["bare NumPy"]
    found.append(Result(NAME, "after counting", "times bare NumPy's multinomial and metrics", ratio))
    if fairlearn:
        ratio = fairlearn_seconds(data, n) / spent["pandas, integer groups"]
        measure = f"times faster than fairlearn's bootstrap (extrapolated to {n} from 2 replicates)"
        found.append(Result(NAME, "pandas, integer groups", measure, ratio))
    return found
