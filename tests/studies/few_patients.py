"""Where coverage is hardest: few patients with many rows, and groups of very unequal size.

Patient u of a group has m_u positives; the patient's own sensitivity is drawn from a beta law with the group's
sensitivity as mean, so that the intraclass correlation of the flags is ``icc``. The first setting has the numbers of
positives of the youngest group of the diabetes records (45 patients, 82 stays).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd
import xarray as xr
from tqdm import tqdm

import auditlib as al
from tests.studies.tools import coverage

AUDITS, SEED = 8_000, 20_250
YOUNGEST = (12, 8, 5, 5, 4, 3, 3, *[2] * 4, *[1] * 34)
#: Positives of each patient in either group, and the two sensitivities.
CLUSTERED = {
    "45 patients, 82 stays, v 2,390": (YOUNGEST, [1] * 2390, ((0.67, 0.585), (0.90, 0.85))),
    "5 patients × 20 in both": ([20] * 5, [20] * 5, ((0.70, 0.80), (0.90, 0.95))),
    "5 patients × 20 v 200": ([20] * 5, [1] * 200, ((0.70, 0.80), (0.90, 0.95))),
    "10 patients × 10 v 1,000": ([10] * 10, [1] * 1000, ((0.70, 0.80), (0.90, 0.95))),
    "20 patients × 10 in both": ([10] * 20, [10] * 20, ((0.70, 0.80), (0.90, 0.95))),
}
ROWS = {"12 v 1,000": (12, 1000), "25 v 1,000": (25, 1000)}
PAIRS = ((0.98, 0.50), (0.99, 0.90), (0.98, 0.98), (0.70, 0.80))


def positives(sizes: Sequence[int], se: float, icc: float, audits: int, rng: np.random.Generator) -> xr.Dataset:
    """Confusion counts of one group over ``audit``, with the moments of its patients."""
    m = np.asarray(sizes)
    own = (
        rng.beta(se * (1 / icc - 1), (1 - se) * (1 / icc - 1), (audits, len(m)))
        if icc
        else np.full((audits, len(m)), se)
    )
    tp = rng.binomial(m, own)
    zero = np.zeros_like(tp)
    held = np.stack([tp, zero, m - tp, zero, np.ones_like(tp)], axis=-1).astype(np.int64)
    table = xr.Dataset({name: ("audit", held[..., k].sum(axis=1)) for k, name in enumerate(("tp", "fp", "fn", "tn"))})
    return table.assign_coords(unit_moments=(("audit", "cell", "cell_"), np.swapaxes(held, 1, 2) @ held))


def two_groups(first: xr.Dataset, second: xr.Dataset) -> xr.Dataset:
    """Both groups in one table."""
    return xr.concat([first, second], pd.Index(["a", "b"], name="group"), coords=["unit_moments"])


def study(audits: int = AUDITS) -> pd.DataFrame:
    """One line a setting."""
    lines = []
    settings = [
        (name, one, two, pair, icc)
        for name, (one, two, pairs) in CLUSTERED.items()
        for pair, icc in product(pairs, (0.1, 0.3, 0.6))
    ] + [(name, [1] * a, [1] * b, pair, 0.0) for name, (a, b) in ROWS.items() for pair in PAIRS]
    for number, (name, one, two, pair, icc) in enumerate(tqdm(settings, desc="few_patients")):
        rng = np.random.default_rng([SEED, number])
        table = two_groups(*(positives(m, se, icc, audits, rng) for m, se in zip((one, two), pair, strict=True)))
        if not icc:
            table = table.drop_vars("unit_moments")
        limits = al.gap_interval(table, "a", "b")
        setting = {"setting": name, "icc": icc, "sensitivity_a": pair[0], "sensitivity_b": pair[1]}
        lines.append({**setting, **coverage(limits, pair[0] - pair[1])})
    return pd.DataFrame(lines)


def run() -> pd.DataFrame:
    """The study in full."""
    return study()
