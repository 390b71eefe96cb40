"""Published gaps beside ours, from the committed tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from auditlib.counts import Counts
from auditlib.datasets import counts_path, root
from auditlib.errors import AuditInputError
from auditlib.intervals import effective, gap_interval, interval
from auditlib.metrics import gap, sensitivity
from auditlib.studies.comparisons import COMPARISONS, published

REPLICATES, SEED = 1000, 42  # the published procedure's


def comparison_counts(name: str) -> Counts:
    """The committed table of one comparison of the gap audit.

    Examples
    --------
    >>> comparison_counts("gap-cdc_diabetes-sex").groups["sex"]
    ('Male', 'Female')
    """
    return Counts.read_csv(counts_path(name))


def study_table(name: str) -> pd.DataFrame:
    """A committed result of a study (``make studies``), ``data/studies/<name>.csv``.

    Raises
    ------
    AuditInputError
        For a name that no committed table has.

    Examples
    --------
    >>> found = study_table("spread_coverage").query("spread == 0 and groups == 3 and method == 'percentile'")
    >>> found["coverage"].tolist()
    [0.0, 0.0, 0.0]
    """
    folder = root() / "data" / "studies"
    if name not in (known := sorted(path.stem for path in folder.glob("*.csv"))):
        raise AuditInputError(f"no table of a study named {name!r}: choose one of {', '.join(known)}.")
    return pd.read_csv(folder / f"{name}.csv")


def gap_row(name: str, replicates: int = REPLICATES, seed: int = SEED) -> dict[str, Any]:
    """One comparison: its gap in sensitivity at τ with the published percentile interval and Newcombe's.

    Rows are resampled within each group; where patients have several rows, patients are resampled, unstratified,
    because some change group between stays.
    """
    counts = comparison_counts(name)
    ((dim, (a, b)),) = counts.groups.items()
    tau = counts.provenance["threshold"]
    table = counts.at(tau)
    strata = () if counts.clustered else dim
    again = counts.cut(tau).resample(replicates, strata=strata, seed=seed).at(tau)
    percentile = interval(gap(sensitivity(again), a, b))
    newcombe, worth = gap_interval(table, a, b), effective(table)
    return {
        "comparison": name,
        "groups": f"{a} − {b}",
        "unit": counts.unit,
        "model": counts.provenance["model"],
        "auroc": counts.provenance["test_auroc"],
        "rows": counts.n_rows,
        "threshold": tau,
        "positives_a": int(newcombe.n_a),
        "positives_b": int(newcombe.n_b),
        "deff_a": float(worth.deff.sel({dim: a})),
        "deff_b": float(worth.deff.sel({dim: b})),
        "gap": float(newcombe.estimate),
        "low": float(percentile.low),
        "high": float(percentile.high),
        "undefined": float(percentile.undefined),
        "newcombe_low": float(newcombe.low),
        "newcombe_high": float(newcombe.high),
    }


def gap_table(replicates: int = REPLICATES, seed: int = SEED) -> pd.DataFrame:
    """Every committed comparison, with the published gap and interval where there is one.

    Returns
    -------
    DataFrame
        One row a comparison: ``gap_row`` and ``published_gap``, ``published_low``, ``published_high`` (NaN where
        nothing was published), ``overlap`` of the two percentile intervals, and ``agree``: whether both exclude
        zero on the same side, or neither excludes it.

    References
    ----------
    Ghorbanpourbaboli et al., SMASH 2026 (published columns).
    """
    names = [name for name in COMPARISONS if counts_path(name).exists()]
    ours = pd.DataFrame([gap_row(name, replicates, seed) for name in names])
    theirs = published().add_prefix("published_").reset_index()
    table = ours.merge(theirs, on="comparison", how="left")
    known = table["published_gap"].notna() & table["low"].notna()
    overlap = (table["low"] <= table["published_high"]) & (table["published_low"] <= table["high"])
    same = side(table["low"], table["high"]) == side(table["published_low"], table["published_high"])
    return table.assign(overlap=overlap.where(known), agree=same.where(known))


def side(low: Any, high: Any) -> Any:
    """+1 or −1 where the interval lies on one side of zero, 0 where it contains zero; of Series, arrays or numbers.

    >>> side(pd.Series([0.1, -0.2, -0.3]), pd.Series([0.2, 0.1, -0.1])).tolist()
    [1, 0, -1]
    """
    return np.greater(low, 0).astype(int) - np.less(high, 0).astype(int)
