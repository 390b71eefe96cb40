"""Numbers on subgroup net benefit: what follows from the published ones, and ours on other people."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np
import xarray as xr

from auditlib.benefit import mean_gap, net_benefit, subgroup_net_benefit, threshold_for, treat
from auditlib.benefit.core import UNIT
from auditlib.benefit.frontier import capacity_frontier
from auditlib.counts import Counts, confusion
from auditlib.intervals import rate_interval
from auditlib.metrics import gap, selection_rate
from auditlib.studies.benefit import LAM, RACES, THRESHOLD, benefit_counts
from auditlib.studies.bookkeeping import as_published
from auditlib.studies.capacity import gains
from auditlib.studies.places import same_places
from auditlib.studies.reproduced.lines import number, published_lines
from auditlib.studies.reproduced.ours import Ours, Registry, numbers, with_interval
from auditlib.studies.reproduction import REPLICATES, SEED

#: Of the chapter on capacity: threshold, λ, room, and the group named beforehand.
HEART_T, HEART_LAM, ROOM, LOWEST = 0.10, 0.22, 0.03, "under 15k"
#: The public code tries thresholds from 1.5% to 10%; the same multiple of ours.
WIDEST = 0.1 / 0.015


@cache
def _diabetes() -> tuple[xr.Dataset, xr.Dataset]:
    """The test set at t by race and model, and its resamples within race."""
    counts = benefit_counts("snb-diabetes-race").sel(race=list(RACES.values()))
    again = counts.cut(THRESHOLD).resample(REPLICATES, strata="race", seed=SEED)
    return counts.at(THRESHOLD), again.at(THRESHOLD)


def _changed(change: Callable[[xr.DataArray], xr.DataArray], *races: str) -> Ours:
    """A change of sNB per 10,000 with a common λ: λ times a difference of net benefits, prevalence cancels."""
    table, again = _diabetes()
    estimate, replicates = (UNIT * LAM * change(net_benefit(one, THRESHOLD)) for one in (table, again))
    people = table.sel(model="SingleSA").to_dataarray().sum("variable").to_series()
    return with_interval(estimate, replicates, *people[list(races)])


@cache
def _heart(half: str) -> Counts:
    return benefit_counts("snb-heart-income").sel(half=half)


def _deprived() -> Ours:
    """What the lowest income gains over nobody treated, everybody from t upwards being treated."""
    counts = _heart("judge")
    again = counts.cut(HEART_T).resample(REPLICATES, seed=SEED).at(HEART_T)
    lowest = [one.sel(income=LOWEST) for one in (counts.at(HEART_T), again)]
    estimate, replicates = (UNIT * HEART_LAM * net_benefit(one, HEART_T) for one in lowest)
    return with_interval(estimate, replicates, counts.sel(income=LOWEST).n_rows)


def _rescaled(lam: float) -> Ours:
    line = published_lines("snb").loc["snb-asian-white"]
    value, low, high = (number(str(line[name])) * lam / LAM for name in ("value", "low", "high"))
    return Ours(value, low, high)


def _random(right: bool) -> Ours:
    """sNB of treating 5% at random with π = 3%; the script adds their net benefit without λ."""
    people = confusion(tp=0, fp=0, fn=300, tn=9_700)
    treated = treat(people, 0.05)
    if right:
        return Ours(UNIT * float(subgroup_net_benefit(treated, THRESHOLD, LAM)))
    nobody = float(subgroup_net_benefit(people, THRESHOLD, LAM))
    return Ours(UNIT * (nobody + float(net_benefit(treated, THRESHOLD))))


def _flagged() -> Ours:
    """Share of people that the model flags when there is no cap."""
    counts = _heart("choose")
    found = rate_interval(counts.by().at(HEART_T), selection_rate)
    return Ours(float(found.estimate), float(found.low), float(found.high), numbers(counts.n_rows))


def _rest() -> Ours:
    """How the total changes between the ends of the curve that the script draws: counted rightly, and as reported.

    No price: of the ends, chosen by the wrong book-keeping, neither fills the places.
    """
    counts = _heart("choose")
    points = as_published(counts, LOWEST, ROOM, HEART_T, HEART_LAM)
    limits = points[["threshold_level", "threshold_rest"]].to_dataframe()
    tried = ((limits >= HEART_T) & (limits <= WIDEST * HEART_T)).all(axis=1)
    ends = points.isel(point=np.flatnonzero(tried)).isel(point=[0, -1])
    right = gains(counts, ends, HEART_T, HEART_LAM, over=0).iloc[-1]
    reported = float(ends["overall"][-1] - ends["overall"][0])
    note = f"{reported:+.1f}".replace("-", "−") + " as the script reports it"
    change, low, high = (float(right[name]) for name in ("overall", "overall_low", "overall_high"))
    return Ours(change, low, high, numbers(counts.n_rows), note)


def price_of_places() -> Ours:
    """What giving the places of 3% to the lowest income costs everybody: chosen on one half, judged on the other.

    From end to end of the exact frontier, per 10,000; the places are carried over, not the thresholds.

    >>> round(price_of_places().value, 1)
    -13.0
    """
    ends = capacity_frontier(_heart("choose"), LOWEST, ROOM, HEART_T, HEART_LAM).isel(point=[0, -1])
    judge = _heart("judge")
    last = gains(judge, same_places(judge, ends), HEART_T, HEART_LAM, over=0).iloc[-1]
    price, low, high = (float(last[name]) for name in ("overall", "overall_low", "overall_high"))
    return Ours(price, low, high, numbers(judge.n_rows))


def _ties() -> Ours:
    """People between "more than" and "at least" at the first whole percent above which the places suffice."""
    counts = _heart("choose")
    cap = int(ROOM * counts.n_rows + 1e-9)
    whole = counts.by().at([k / 100 for k in range(1, 100)])
    at_least = (whole["tp"] + whole["fp"]).values
    more = np.append(at_least[1:], 0)
    place = int((more <= cap).argmax())
    return Ours(float(at_least[place] - more[place]), n=numbers(counts.n_rows), note=f"{cap:,} places")


def _apart(nb: xr.DataArray) -> xr.DataArray:
    return nb.sel(model="SingleSA", drop=True)


OURS: Registry = {
    "snb-asian-white": partial(_changed, lambda nb: gap(_apart(nb), "Other", "White", "race"), "Other", "White"),
    "snb-mean-white": partial(_changed, lambda nb: mean_gap(_apart(nb), "White", "race"), *RACES.values()),
    "snb-asian-single": partial(_changed, lambda nb: gap(nb.sel(race="Other"), "SingleSA", "NoSA", "model"), "Other"),
    "snb-deprived": _deprived,
    "snb-asian-white-lam20": partial(_rescaled, 0.2),
    "snb-asian-white-lam80": partial(_rescaled, 0.8),
    "snb-harm-held": lambda: Ours(float(threshold_for(THRESHOLD, 0.2, LAM))),
    "snb-random-script": partial(_random, False),
    "snb-random-right": partial(_random, True),
    "snb-no-constraint": _flagged,
    "snb-bands": lambda: Ours(0.95 - 0.05),
    "snb-rest": _rest,
    "snb-ties": _ties,
    "snb-setting-t-diabetes": lambda: Ours(THRESHOLD),
    "snb-setting-lam-diabetes": lambda: Ours(LAM),
    "snb-setting-bootstraps": lambda: Ours(REPLICATES),
}
