"""Does the 95% interval of a sensitivity gap contain the true gap in 95 of 100 audits?

Two groups, a prevalence of 10%, so many rows that 12, 25, 75 or 300 positives are expected in each group. Rows are
independent, or belong to patients of 1 to 6 encounters whose scores (``rho``) and labels (``rho_label``) are alike.
Every audit is analysed by

- ``gap_interval``: Newcombe's interval, with the effective n where clustered;
- ``newcombe_rows``: the same, blind to clusters;
- ``percentile``: the percentile bootstrap of units (rows, or patients with all encounters) within groups;
- ``percentile_rows``: the same of rows, blind to clusters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
import xarray as xr
from tqdm import tqdm

import auditlib as al
from auditlib.simulate import Cohort, Group
from tests.studies.tools import coverage

AUDITS, REPLICATES, SEED = 4_000, 1_000, 20_240
THRESHOLD, PREVALENCE, SPECIFICITY = 0.2, 0.10, 0.80
POSITIVES = (12, 25, 75, 300)
SENSITIVITIES = ((0.70, 0.80), (0.90, 0.95))
CELLS = ("tp", "fp", "fn", "tn")
LARGEST = 6
CHUNK = 100  # audits bootstrapped at once

#: Positives of one patient who are (flagged, missed); the commonest first, so that binomials run out early.
PATTERNS = np.array([(t, m) for t, m in product(range(LARGEST + 1), repeat=2) if t + m <= LARGEST])


@dataclass(frozen=True)
class Design:
    """How rows belong to patients."""

    name: str
    rho: float = 0.0
    rho_label: float = 0.0
    largest: int = 1

    @property
    def clustered(self) -> bool:
        return self.largest > 1

    @property
    def rows_a_patient(self) -> float:
        return (1 + self.largest) / 2


DESIGNS = (
    Design("rows"),
    Design("patients", 0.3, 0.8, LARGEST),
    Design("patients", 0.6, 0.8, LARGEST),
    Design("patients, severe", 0.9, 0.99, LARGEST),
)


def cohort(design: Design, sensitivities: tuple[float, float]) -> Cohort:
    """Two groups of these sensitivities."""
    groups = {
        name: Group.at(THRESHOLD, prevalence=PREVALENCE, sensitivity=se, specificity=SPECIFICITY)
        for name, se in zip("ab", sensitivities, strict=True)
    }
    encounters = dict.fromkeys(range(1, design.largest + 1), 1.0)
    return Cohort(groups, encounters=encounters, rho=design.rho, rho_label=design.rho_label)


def patterns_of(patients: xr.Dataset) -> np.ndarray:
    """Patients of each pattern of positives: (audits, groups, patterns)."""
    number = np.full((LARGEST + 1, LARGEST + 1), -1)
    number[tuple(PATTERNS.T)] = np.arange(len(PATTERNS))
    held = number[patients["tp"].values, patients["fn"].values]
    audits, groups, _ = held.shape
    width = len(PATTERNS)
    place = np.arange(audits * groups).reshape(audits, groups, 1) * width
    counts = np.bincount((place + held).reshape(-1), minlength=audits * groups * width)
    return counts.reshape(audits, groups, width)


def with_moments(table: xr.Dataset, patients: xr.Dataset) -> xr.Dataset:
    """The table as ``Counts.at`` gives it for clusters: with the sums of products of a patient's cells."""
    cells = np.stack([patients[name].values for name in CELLS], axis=-1).astype(np.float64)
    cells = np.concatenate([cells, np.ones((*cells.shape[:-1], 1))], axis=-1)
    moments = np.swapaxes(cells, -1, -2) @ cells
    dims = [*table["tp"].dims, "cell", "cell_"]
    return table.assign_coords(unit_moments=(dims, moments.astype(np.int64))).assign_attrs(unit="patient")


def replicates(events: np.ndarray, trials: np.ndarray) -> xr.DataArray:
    """Replicated sensitivity gaps from flagged positives and positives: (replicate, audit, group)."""
    levels = {"group": ["a", "b"]}
    dims = ("replicate", "audit", "group")
    tp, positives = (xr.DataArray(values, levels, dims) for values in (events, trials))
    nobody = xr.zeros_like(tp)
    table = xr.Dataset({"tp": tp, "fp": nobody, "fn": positives - tp, "tn": nobody})
    return al.gap(al.sensitivity(table), "a", "b")


def percentile(weights: np.ndarray, patterns: np.ndarray, n: int, rng: np.random.Generator) -> xr.Dataset:
    """Percentile intervals of the gap when units are drawn within groups.

    ``weights`` are units of each pattern, (audits, groups, patterns); ``patterns`` their (flagged, missed) positives.
    """
    parts = []
    for start in range(0, len(weights), CHUNK):
        units = weights[start : start + CHUNK]
        total = units.sum(axis=-1)
        drawn = rng.multinomial(total, units / total[..., None], size=(n, *total.shape))
        parts.append(al.interval(replicates(drawn @ patterns[:, 0], drawn @ patterns.sum(axis=1))))
    return xr.concat(parts, "audit")


def row_weights(table: xr.Dataset) -> np.ndarray:
    """Rows that are flagged positives, missed positives and negatives: (audits, groups, 3)."""
    cells = (table["tp"], table["fn"], table["fp"] + table["tn"])
    return np.stack([cell.values.astype(np.int64) for cell in cells], axis=-1)


def intervals(
    design: Design, pair: tuple[float, float], positives: int, audits: int, n: int, seed: list[int]
) -> Iterator[tuple[str, xr.Dataset]]:
    """Intervals of every method on the same simulated audits; without the bootstrap where ``n`` is 0."""
    rng = np.random.default_rng(seed)
    people = round(positives / PREVALENCE / design.rows_a_patient)
    drawn = cohort(design, pair).tables(audits, people, THRESHOLD, seed=rng, per_patient=design.clustered)
    table = drawn.sum("patient") if design.clustered else drawn
    yield "gap_interval", al.gap_interval(with_moments(table, drawn) if design.clustered else table, "a", "b")
    kinds = np.array([(1, 0), (0, 1), (0, 0)])
    if design.clustered:
        yield "newcombe_rows", al.gap_interval(table, "a", "b")
    if n and design.clustered:
        yield "percentile", percentile(patterns_of(drawn), PATTERNS, n, rng)
    if n:
        name = "percentile_rows" if design.clustered else "percentile"
        yield name, percentile(row_weights(table), kinds, n, rng)


def study(audits: int = AUDITS, n: int = REPLICATES, positives: tuple[int, ...] = POSITIVES) -> pd.DataFrame:
    """One line a setting and method."""
    lines = []
    settings = list(product(DESIGNS, SENSITIVITIES, positives))
    for number, (design, pair, expected) in enumerate(tqdm(settings, desc="gap_coverage")):
        setting = {
            "design": design.name,
            "rho": design.rho,
            "rho_label": design.rho_label,
            "sensitivity_a": pair[0],
            "sensitivity_b": pair[1],
            "positives": expected,
        }
        for method, limits in intervals(design, pair, expected, audits, n, [SEED, number]):
            drawn = n if method.startswith("percentile") else 0
            lines.append({**setting, "method": method, "replicates": drawn, **coverage(limits, pair[0] - pair[1])})
    return pd.DataFrame(lines)


def run() -> pd.DataFrame:
    """The study in full."""
    return study()
