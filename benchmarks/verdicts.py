"""Flip rates of 336 verdicts from counts, and those of one model beside a bootstrap that resamples rows.

Seven metrics, four attributes, twelve models of long stays, 500 replicates drawn within labels, from the committed
tables. The rows' bootstrap does the 28 cells of one model: rows of the audit are rebuilt from its table (each score at
the middle of its bin) and sorted by label; integer group codes and flags are made off the clock.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import xarray as xr

import auditlib as al
from auditlib.studies import STAYS_MODELS, stays_table
from auditlib.verdicts import flip_rate, verdict_metrics
from benchmarks.audit import Metrics, bare_metrics
from benchmarks.clock import Result, side_by_side

ATTRIBUTES, MODEL, THRESHOLD = ("race", "sex", "ethnicity", "age"), "xgboost", 0.5


def audited(model: str) -> al.Counts:
    """The audit part of a model's table."""
    return stays_table(f"stays-{model}").sel(partition="audit")


def flips(counts: al.Counts, n: int) -> dict[str, xr.Dataset]:
    """Flip rates of the 28 cells of one model."""
    found = {}
    for number, dim in enumerate(ATTRIBUTES):
        again = counts.by(dim).resample(n, strata="label", seed=number)
        found[dim] = flip_rate(verdict_metrics(again, dim, threshold=THRESHOLD))
    return found


class Rows:
    """Rows sorted by label; each attribute's cell of group, label and flag as one small code, and the scores."""

    def __init__(self, counts: al.Counts) -> None:
        table = counts.to_frame()
        middle = counts.edges.representative()[np.searchsorted(counts.edges.lower, table["bin"])]
        rows = table.assign(middle=middle).loc[table.index.repeat(table["n"])].sort_values("label", kind="stable")
        label = rows["label"].to_numpy().astype(np.int64)
        self.score, self.labels = rows["middle"].to_numpy(), np.bincount(label)
        cell = label * 2 + (rows["bin"].to_numpy() >= THRESHOLD)
        self.groups = {dim: rows[dim].map(counts.groups[dim].index).to_numpy().astype(np.int8) for dim in ATTRIBUTES}
        self.cells = {dim: (code.astype(np.int16) * 4 + cell).astype(np.int16) for dim, code in self.groups.items()}
        self.sizes = {dim: len(counts.groups[dim]) for dim in ATTRIBUTES}

    def flips(self, n: int) -> dict[str, Metrics]:
        """Two ``bincount`` an attribute and replicate: cells, and sums of scores."""
        rng, (negative, positive) = np.random.default_rng(0), (int(size) for size in self.labels)
        held = {dim: np.empty((n, size * 4), np.int64) for dim, size in self.sizes.items()}
        scores = {dim: np.empty((n, size)) for dim, size in self.sizes.items()}
        for replicate in range(n):
            first = rng.integers(0, negative, negative, np.int32)
            at = np.concatenate([first, rng.integers(negative, negative + positive, positive, np.int32)])
            drawn = self.score[at]
            for dim, size in self.sizes.items():
                held[dim][replicate] = np.bincount(self.cells[dim][at], minlength=size * 4)
                scores[dim][replicate] = np.bincount(self.groups[dim][at], drawn, minlength=size)
        found = {}
        for dim, cells in held.items():
            table = cells.reshape(n, -1, 2, 2)
            off = (scores[dim] - table[:, :, 1].sum(axis=2)) / table.sum(axis=(2, 3))
            found[dim] = {**bare_metrics(table), "Cal": np.ptp(off, axis=1)}
        return found


def run(n: int = 500, rounds: int = 5, models: tuple[str, ...] = STAYS_MODELS, folds: int = 7) -> list[Result]:
    """Seconds from counts, and the ratio for one model, of its people and of ``folds`` times as many."""
    tables = {model: audited(model) for model in dict.fromkeys([*models, MODEL])}
    own = {times: sum([tables[MODEL]] * (times - 1), start=tables[MODEL]) for times in (1, folds)}  # tables add up
    rows = {times: Rows(counts) for times, counts in own.items()}
    tasks = {"all": lambda: [flips(tables[model], n) for model in models]}
    for times in own:
        tasks |= {f"counts {times}": partial(flips, own[times], n), f"rows {times}": partial(rows[times].flips, n)}
    spent = side_by_side(tasks, rounds)
    name = f"verdicts: flip rates of {n} replicates"
    found = [Result(name, f"{28 * len(models)} cells, tables read", "CPU seconds from counts", spent["all"])]
    for times, counts in own.items():
        case = f"{counts.n_rows:,} people, 28 cells of one model"
        found.append(Result(name, case, "CPU seconds from counts", spent[f"counts {times}"]))
        ratio = spent[f"rows {times}"] / spent[f"counts {times}"]
        found.append(Result(name, case, "times faster than rows, two bincounts a replicate and attribute", ratio))
    return found
