"""Numbers on flip rates that follow from the public tables and from formulas; the records are not needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import ceil

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from auditlib.counts import confusion
from auditlib.metrics import theil
from auditlib.sites import agreement, tier
from auditlib.studies.reproduced.lines import (
    AFTER,
    FULL,
    audit_sizes,
    cells,
    groups_of,
    looked_up,
    pass_counts,
    printed,
)
from auditlib.studies.reproduced.ours import Ours, Registry

SHIFT, BEFORE, AGAIN = "threshold shifting", "before, another run", "VFR-Audit, another run"
TIER_LIMITS = {"vfr_limit": "vfr", "n_limit": "n", "kappa_limit": "kappa"}
METRICS = {name.lower(): name for name in ("DI", "SPD", "EOpp", "EOD", "PP", "TI", "Cal")}


def _setting(name: str) -> float:
    """A choice of the paper, from its line: resamples, limits, folds."""
    return printed("vfr_audit", f"vfr-setting-{name}")


def flip_rates(passed: pd.DataFrame) -> NDArray[np.float64]:
    """min(passes, K − passes)/K of pass counts of K resamples.

    >>> float(flip_rates(pass_counts()).max())
    0.476
    """
    counts, resamples = passed.to_numpy(dtype=np.float64), _setting("k")
    return np.minimum(counts, resamples - counts) / resamples


def _errors(run: str) -> NDArray[np.float64]:
    """Binomial standard error of each cell's flip rate."""
    rate = flip_rates(pass_counts(run))
    return np.sqrt(rate * (1 - rate) / _setting("k"))


def _mean_error(run: str) -> float:
    """As if cells were independent: those of one attribute share their resamples."""
    return float(np.sqrt((_errors(run) ** 2).sum()) / _errors(run).size)


def _max_error(run: str) -> float:
    return float(_errors(run).flat[flip_rates(pass_counts(run)).argmax()])


def _drop(what: Callable[[NDArray[np.float64]], float], error: Callable[[str], float]) -> Ours:
    """Threshold shifting minus VFR-Audit, taken as independent, although both saw the same resamples."""
    drop = what(flip_rates(pass_counts(SHIFT))) - what(flip_rates(pass_counts(AFTER)))
    half = 1.96 * float(np.hypot(error(SHIFT), error(AFTER)))
    return Ours(float(drop), float(drop) - half, float(drop) + half)


def _from_rates(what: Callable[[NDArray[np.float64]], float], run: str = AFTER) -> Ours:
    return Ours(float(what(flip_rates(cells("passes", run)))))


def _of_race(metric: str) -> Ours:
    """XGBoost before any intervention: the run that has the printed numbers, and the file that gives 146 and 259."""
    runs = (pass_counts(run).loc[[metric], ["race"]] for run in (BEFORE, "twelve models"))
    value, other = (flip_rates(one).item() for one in runs)
    return Ours(value, other=other)


def _stable(rates: NDArray[np.float64]) -> float:
    return float((rates <= _setting("tier-vfr")).sum())


def _flips(rates: NDArray[np.float64]) -> float:
    return float((rates > 0).sum())


def _sizes(settled: Callable[[NDArray[np.float64]], NDArray[np.bool_]]) -> Ours:
    return Ours(float(settled(audit_sizes().to_numpy()).sum()))


def _long_stays() -> pd.Series:
    """Share of each age group that stays over three days."""
    ages = groups_of("age")
    return ages["long_stays"] / ages["n"]


def _spread_by_race() -> Ours:
    percent = groups_of("race")["percent"]
    return Ours(float(percent.max() - percent.min()) / 100)


def _copied(item: str) -> Ours:
    """The number that stands in one public table, and in another where there is one."""
    value, *others = looked_up(item)
    return Ours(value, other=others[0] if others else float("nan"), copied=True)


def agreement_again() -> xr.Dataset:
    """Raw agreement, κ and AC1 from the public verdicts fold by fold, which are of another run than the printed κ's.

    One model judges all folds there, where the run of the paper has one a fold; and TI and Cal have other formulas.

    >>> again = agreement_again().sel(metric="DI")
    >>> round(float(again["raw"]), 3), round(float(again["kappa"]), 3)
    (0.854, 0.699)
    """
    passed, folds = cells("folds of 20 that pass", AGAIN).loc["XGBoost"], int(_setting("folds"))
    table = pd.DataFrame({metric: agreement(row.to_numpy(), folds) for metric, row in passed.iterrows()}).T
    return xr.Dataset.from_dataframe(table.rename_axis("metric")).sel(metric=list(passed.index))


def _kappa(metric: str) -> Ours:
    """κ as tabulated, and from the verdicts fold by fold of another run."""
    again = float(agreement_again()["kappa"].sel(metric=METRICS[metric]))
    return Ours(looked_up(f"vfr-kappa-{metric}")[0], other=again, copied=True)


def published_tiers(*, again: bool = False) -> xr.Dataset:
    """The tier of each of the 28 cells after VFR-Audit, from pass counts, N* and κ in the public tables.

    κ of TI, which the paper prints as 1.000, is 0/0: all its verdicts are passes. An N* of the whole test partition
    means that no size below it settled. With `again`, κ is that of ``agreement_again``.

    >>> published_tiers()["violated"].to_series().value_counts().sort_index().to_dict()
    {0.0: 3, 1.0: 11, 2.0: 11, 3.0: 3}
    """
    passed = pass_counts()
    over = {"metric": list(passed.index), "attribute": list(passed.columns)}
    sizes = audit_sizes().loc[over["metric"]]
    settled = sizes.where(sizes < FULL).to_numpy(dtype=np.float64)
    kappa = [np.nan if metric == "TI" else looked_up(f"vfr-kappa-{metric.lower()}")[0] for metric in over["metric"]]
    alike = [metric == "TI" for metric in over["metric"]]
    sites = xr.Dataset({"kappa": ("metric", kappa), "unanimous": ("metric", alike)}, {"metric": over["metric"]})
    if again:
        sites = agreement_again()[["kappa", "raw"]].sel(metric=over["metric"])
    limits = {name: _setting(f"tier-{setting}") for name, setting in TIER_LIMITS.items()}
    return tier(xr.DataArray(flip_rates(passed), over), xr.DataArray(settled, over), sites, **limits)


def _points(before: str, after: str) -> Ours:
    """A change in percentage points; where two runs have the number before, with both."""
    change = [100 * (looked_up(after)[0] - first) for first in looked_up(before)]
    return Ours(change[0], other=change[1] if len(change) > 1 else float("nan"))


def _theil() -> Ours:
    """b̄ = 1 + selection rate − prevalence is 0.56 in one group of 100 and 1.44 in the other."""
    two = confusion(tp=[0, 0], fp=[0, 44], fn=[44, 0], tn=[56, 56], group=["A", "B"])
    return Ours(float(theil(two, "group")))


def _verdicts(which: str, dissents: int) -> Ours:
    """Of four cells in which all folds agree, but for so many."""
    folds = int(_setting("folds"))
    return Ours(agreement(np.array([folds - dissents, folds, folds, folds]), folds)[which])


OURS: Registry = {
    "vfr-flips": partial(_from_rates, _flips),
    "vfr-stable": partial(_from_rates, _stable),
    "vfr-mean": partial(_from_rates, np.mean),
    "vfr-max": partial(_from_rates, np.max),
    "vfr-none-mean": partial(_from_rates, np.mean, "no intervention"),
    "vfr-shift-mean": partial(_from_rates, np.mean, SHIFT),
    "vfr-shift-max": partial(_from_rates, np.max, SHIFT),
    "vfr-baseline-flips": partial(_from_rates, _flips, "twelve models"),
    "vfr-baseline-stable": partial(_from_rates, _stable, "twelve models"),
    "vfr-cells": partial(_from_rates, np.size, "twelve models"),
    "vfr-mean-se": lambda: Ours(_mean_error(AFTER)),
    "vfr-max-se": lambda: Ours(_max_error(AFTER)),
    "vfr-mean-drop": partial(_drop, np.mean, _mean_error),
    "vfr-max-drop": partial(_drop, np.max, _max_error),
    "vfr-age-di-fails": lambda: Ours(float(_setting("k") - pass_counts()["age"]["DI"])),
    "vfr-records": lambda: Ours(float(groups_of("race")["n"].sum())),
    "vfr-test-size": lambda: Ours(float(ceil(printed("vfr_audit", "vfr-records") / 5))),
    "vfr-los-old": lambda: Ours(float(_long_stays()["65 and over"])),
    "vfr-los-young": lambda: Ours(float(_long_stays()["18-39"])),
    "vfr-base-rate-age": lambda: Ours(float(_long_stays().max() - _long_stays().min())),
    "vfr-base-rate-race": _spread_by_race,
    "vfr-cv-field": partial(_sizes, lambda sizes: sizes <= _setting("tier-n")),
    "vfr-cv-full": partial(_sizes, lambda sizes: sizes >= FULL),
    "vfr-cv-exploding": lambda: Ours(float((cells("CV at 1,000", AGAIN) > 0.5).to_numpy().sum())),
    "vfr-accuracy-loss": partial(_points, "accuracy-before", "vfr-accuracy"),
    "vfr-f1-loss": partial(_points, "f1-before", "f1-after"),
    "vfr-ti-limit": _theil,
    "vfr-kappa-ti": partial(_verdicts, "kappa", 0),
    "vfr-kappa-one": partial(_verdicts, "kappa", 1),
    "vfr-ac1-one": partial(_verdicts, "ac1", 1),
    **{f"vfr-kappa-{metric}": partial(_kappa, metric) for metric in ("eopp", "eod", "di", "spd", "pp", "cal")},
    **{f"vfr-base-race-{metric}": partial(_of_race, METRICS[metric]) for metric in ("eopp", "eod", "pp")},
    **{
        item: partial(_copied, item)
        for item in (
            *("vfr-accuracy", "vfr-auroc", "vfr-shift-accuracy", "vfr-hospitals", "vfr-age-di-best"),
            *("vfr-race-di-base", "vfr-race-di-reweighed", "vfr-race-di-1k", "vfr-race-di-10k", "vfr-race-di-all"),
        )
    },
}
