"""Is drawing patterns the same as resampling rows?

A small cohort of patients with 1 to 4 encounters, two models, and an age band that some patients change between
encounters. Each scheme is run twice: by ``Counts.resample``, which draws patterns, and by brute force, which draws
row numbers one replicate at a time and knows nothing of auditlib. Means and standard deviations of four statistics
must differ by no more than two independent Monte-Carlo runs do: z is the difference over its standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from tqdm import tqdm

import auditlib as al
from auditlib.simulate import Cohort, Group

REPLICATES, SEED, PATIENTS = 2_000, 20_243, 260
THRESHOLD = 0.4
STATISTICS = ("sensitivity", "ppv", "selection_ratio", "paired_difference")


@dataclass(frozen=True)
class Scheme:
    """One way of resampling: what is drawn, within what, how many."""

    name: str
    cluster: str | None = None
    strata: str | None = None
    size: int | None = None
    replace: bool = True


SCHEMES = (
    Scheme("rows"),
    Scheme("rows within age bands", strata="age"),
    Scheme("rows within labels", strata="label"),
    Scheme("200 rows without replacement", size=200, replace=False),
    Scheme("patients", cluster="patient"),
    Scheme("patients within sexes", cluster="patient", strata="sex"),
    Scheme("patients within age bands, some in two", cluster="patient", strata="age"),
)


def cohort_frame(seed: int = SEED) -> pd.DataFrame:
    """Rows of the cohort: sex, age, patient, label, and the scores of models ``a`` and ``b``."""
    rng = np.random.default_rng(seed)
    groups = {"F": Group(0.35, 0.6, -0.5), "M": Group(0.30, 0.3, -0.7)}
    cohort = Cohort(groups, encounters=dict.fromkeys(range(1, 5), 1.0), rho=0.7, rho_label=0.7)
    frame = cohort.frame(PATIENTS, rng).rename(columns={"group": "sex", "score": "a"}).drop(columns="site")
    old = rng.random(PATIENTS) < 0.6
    changes = rng.random(len(frame)) < 0.12
    frame["age"] = np.where(old[frame["patient"]] ^ changes, "old", "young")
    frame["b"] = np.clip(frame["a"] + rng.normal(0, 0.15, len(frame)), 0, 1)
    return frame


def ours(frame: pd.DataFrame, scheme: Scheme, n: int, seed: int) -> dict[str, np.ndarray]:
    """The statistics' replicates from counts."""
    counts = al.count(
        frame, label="label", score=["a", "b"], by=["sex", "age"], thresholds=[THRESHOLD], cluster=scheme.cluster
    ).cut(THRESHOLD)
    strata = scheme.strata or ()
    again = counts.resample(n, strata, size=scheme.size, replace=scheme.replace, seed=seed)
    by_age, overall = again.by("age").at(THRESHOLD), again.by().at(THRESHOLD)
    young = by_age.sel(age="young", model="a")
    found: dict[str, xr.DataArray] = {
        "sensitivity": al.sensitivity(young),
        "ppv": al.ppv(young),
        "selection_ratio": al.ratio(al.selection_rate(by_age.sel(model="a")), "age"),
        "paired_difference": al.gap(al.sensitivity(overall), "a", "b", dim="model"),
    }
    return {name: values.values for name, values in found.items()}


def row_numbers(frame: pd.DataFrame, scheme: Scheme) -> Callable[[np.random.Generator], np.ndarray]:
    """A function that draws one replicate's row numbers."""
    unit = frame[scheme.cluster] if scheme.cluster else pd.Series(np.arange(len(frame)))
    rows = [np.asarray(at) for at in unit.groupby(unit.to_numpy()).indices.values()]
    if scheme.strata:
        level = frame[scheme.strata].to_numpy()
        touched = pd.Series(["+".join(sorted(set(map(str, level[at])))) for at in rows])
        strata = list(touched.groupby(touched).indices.values())
    else:
        strata = [np.arange(len(rows))]

    def draw(rng: np.random.Generator) -> np.ndarray:
        taken = [rng.choice(units, scheme.size or len(units), replace=scheme.replace) for units in strata]
        return np.concatenate([rows[i] for i in np.concatenate(taken)])

    return draw


def brute_force(frame: pd.DataFrame, scheme: Scheme, n: int, seed: int) -> dict[str, np.ndarray]:
    """The statistics' replicates from rows."""
    rng, draw = np.random.default_rng(seed), row_numbers(frame, scheme)
    young, label = (frame["age"] == "young").to_numpy(), (frame["label"] == 1).to_numpy()
    a, b = (frame["a"] >= THRESHOLD).to_numpy(), (frame["b"] >= THRESHOLD).to_numpy()
    found = np.empty((n, len(STATISTICS)))
    for replicate in range(n):
        at = draw(rng)
        who, sick, flag = young[at], label[at], a[at]
        rates = flag[who].mean(), flag[~who].mean()
        found[replicate] = (
            flag[who & sick].mean(),
            sick[who & flag].mean(),
            min(rates) / max(rates),
            flag[sick].mean() - b[at][sick].mean(),
        )
    return dict(zip(STATISTICS, found.T, strict=True))


def sd_error(values: np.ndarray) -> float:
    """Standard error of a standard deviation, without assuming normal replicates."""
    centred = values - values.mean()
    kurtosis = float((centred**4).mean() / (centred**2).mean() ** 2)
    return float(values.std(ddof=1) * np.sqrt((kurtosis - 1) / (4 * len(values))))


def compare(one: np.ndarray, two: np.ndarray) -> dict[str, float]:
    """Means and SDs of two sets of replicates and their differences in standard errors."""
    sd = one.std(ddof=1), two.std(ddof=1)
    error = np.hypot(*sd) / np.sqrt(len(one))
    return {
        "mean_counts": one.mean(),
        "mean_rows": two.mean(),
        "z_mean": (one.mean() - two.mean()) / error,
        "sd_counts": sd[0],
        "sd_rows": sd[1],
        "z_sd": (sd[0] - sd[1]) / np.hypot(sd_error(one), sd_error(two)),
    }


def comparisons(n: int, schemes: tuple[Scheme, ...] = SCHEMES) -> Iterator[dict[str, object]]:
    """One line a scheme and statistic."""
    frame = cohort_frame()
    for number, scheme in enumerate(tqdm(schemes, desc="bootstrap_oracle")):
        one, two = ours(frame, scheme, n, SEED + number), brute_force(frame, scheme, n, SEED + 100 + number)
        for name in STATISTICS:
            yield {"scheme": scheme.name, "statistic": name, "replicates": n, **compare(one[name], two[name])}


def run() -> pd.DataFrame:
    """The study in full."""
    return pd.DataFrame(comparisons(REPLICATES))
