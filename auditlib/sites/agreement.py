"""Agreement of sites on the verdicts of an audit, with intervals by resampling sites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from auditlib.counts.draws import generator
from auditlib.counts.levels import check_names
from auditlib.counts.merge import check_whole
from auditlib.counts.table import MAX_BYTES
from auditlib.errors import AuditInputError
from auditlib.intervals.replicates import check_level, quantiles
from auditlib.sites.coefficients import check_verdicts, coefficients
from auditlib.values import listed

NAMES = ("raw", "kappa", "ac1")
RESULTS = (
    *(f"{name}{end}" for name in NAMES for end in ("", "_low", "_high")), "kappa_undefined",
    "items", "left_out", "raters", "raters_min", "undefined", "unanimous",
)  # fmt: skip
CHUNK = 2**22  # numbers held at once while sites are resampled


def site_agreement(
    passes: xr.DataArray,
    dim: str = "site",
    over: str | Sequence[str] = "attribute",
    *,
    replicates: int = 2000,
    level: float = 0.95,
    seed: int | np.random.Generator | None = None,
) -> xr.Dataset:
    """Agreement of sites on the verdicts of an audit, with intervals by resampling sites.

    κ describes how far these sites agree beyond what their common share of passes would give. It is low for identical
    sites, too, when verdicts lie near their limits or nearly all are the same
    (``data/studies/kappa_identical_sites.csv``): read it beside raw agreement, AC1 and the κ of random folds of the
    same sizes (``random_folds``).

    Parameters
    ----------
    passes : DataArray of 1 (pass), 0 (fail) and NaN (undefined)
        As ``passes`` makes it, with `dim`, the dims of `over` and any others (metric, model, replicate).
    dim : str
        The raters: sites, or folds of sites.
    over : str or list of str
        The items: all combinations of these dims together.
    replicates : int
        Samples of sites, drawn with replacement; 0 for no intervals.
    level : float
        Of the percentile intervals.
    seed : int or Generator

    Returns
    -------
    Dataset over the remaining dims:

    - ``raw``, ``kappa``, ``ac1``; κ is NaN when all verdicts are the same, and ``unanimous`` says so;
    - ``raw_low`` … ``ac1_high``: quantiles of the replicates in which the coefficient is defined (NaN where the
      coefficient itself is undefined). A site drawn twice is not compared with itself, which would add agreement that
      is not there;
    - ``kappa_undefined``: share of replicates without κ, because their verdicts were all the same. With few dissents it
      is large, and the interval then describes the other replicates only;
    - ``items`` used and ``left_out`` (fewer than two defined verdicts), ``raters`` (mean number of defined verdicts of
      an item used) and ``raters_min``, ``undefined`` (share of verdicts).

    The intervals take sites as a sample of sites; attributes and metrics are those of the audit. They are approximate.
    Of simulated audits with four items (``data/studies/agreement_coverage.csv``) they contained the truth

    - in 93% to 96% at 20 and 54 sites, 82% to 91% at 10, where no item is near unanimous and sites judge items
      independently;
    - in 82% to 93%, at 10 sites 61% to 94%, where items are nearly or wholly unanimous: too low for a low κ, too high
      for a high one;
    - those of κ in 71% to 80% where sites are of two kinds, one of which passes items more often than the other, and in
      36% to 44% where the kinds are opposite: too low. Those of raw agreement keep their 95% there.

    Raises
    ------
    AuditInputError
        For a missing dim, one site, one item, values other than 0, 1 and NaN, a level outside (0, 1), a dim named like
        what is returned, and replicates that would take over 512 MB.

    References
    ----------
    Fleiss 1971; Gwet 2008, 2014 (see ``fleiss_kappa`` and ``gwet_ac1``). Leaving out a rater's pairs with itself:
    as for any U-statistic, Arcones MA, Giné E. Ann Stat 1992;20:655–674.

    Examples
    --------
    >>> verdicts = xr.DataArray(np.ones((4, 20)), dims=("attribute", "site"))
    >>> verdicts[0, 0] = 0
    >>> found = site_agreement(verdicts, seed=1)
    >>> [round(float(found[name]), 4) for name in ("raw", "kappa", "ac1", "kappa_undefined")]
    [0.975, -0.0127, 0.9744, 0.354]
    """
    items = _check_dims(passes, dim, over)
    if replicates != 0:
        check_whole(replicates, "replicates")
    level = check_level(level)
    check_names(passes.dims, ["item_"], "site_agreement")
    stacked = passes.stack(item_=items).transpose(..., "item_", dim)
    held = check_verdicts(stacked.values, "passes")
    rest = stacked.isel({"item_": 0, dim: 0}, drop=True).reset_coords(drop=True)
    check_names(rest.dims, RESULTS, "site_agreement")
    _check_bytes(int(replicates), stacked.sizes[dim], stacked.sizes["item_"], rest.size)
    defined = np.isfinite(held)
    passed, raters = np.nansum(held, axis=-1), defined.sum(axis=-1)
    estimates = coefficients(passed, raters)
    found: dict[str, np.ndarray] = dict(estimates)
    used = raters > 1
    if replicates:
        found |= _intervals(np.nan_to_num(held), defined, estimates, int(replicates), level, seed)
    with np.errstate(invalid="ignore"):
        found["raters"] = np.where(used, raters, 0).sum(-1) / np.where(used.any(-1), used.sum(-1), np.nan)
    found["raters_min"] = np.where(used.any(-1), np.where(used, raters, np.inf).min(-1), np.nan)
    found |= {"items": used.sum(-1), "left_out": (~used).sum(-1), "undefined": 1 - defined.mean(axis=(-2, -1))}
    found["unanimous"] = (estimates["raw"] == 1) & np.isnan(estimates["kappa"]) & (used.sum(-1) > 1)
    return xr.Dataset({name: rest.copy(data=np.asarray(value)) for name, value in found.items()})


def _check_dims(passes: Any, dim: str, over: str | Sequence[str]) -> list[str]:
    """The dims whose combinations are the items."""
    if not isinstance(passes, xr.DataArray):
        raise AuditInputError(f"site_agreement takes the DataArray that passes(…) makes, not {type(passes).__name__}.")
    items = listed("over", over)
    known = ", ".join(map(str, passes.dims)) or "none"
    for name in [dim, *items]:
        if name not in passes.dims:
            raise AuditInputError(f"{name!r} is not a dim of these verdicts; they have: {known}. Say dim= and over=.")
    if not items or dim in items or len(set(items)) < len(items):
        raise AuditInputError(f"over must name dims other than {dim!r}, at least one and each once, not {over!r}.")
    if passes.sizes[dim] < 2:
        raise AuditInputError(f"agreement needs at least two raters, but {dim!r} has {passes.sizes[dim]}.")
    count = int(np.prod([passes.sizes[name] for name in items]))
    if count < 2:
        raise AuditInputError(f"agreement needs at least two items, but {' × '.join(items)} has {count}.")
    return items


def _check_bytes(replicates: int, sites: int, items: int, rest: int) -> None:
    """The samples, the tallies of one of the remaining cells, and what is kept of all stay within 512 MB."""
    largest = replicates * max(sites, items, len(NAMES) * rest) * 8
    if largest > MAX_BYTES:
        raise AuditInputError(
            f"replicates = {replicates:,}: they would take {largest / 1024**2:,.0f} MB, over the limit of 512 MB; ask "
            "for fewer (2,000 give a 95% interval), or fewer of the remaining dims."
        )


def _intervals(
    held: np.ndarray,
    defined: np.ndarray,
    estimates: dict[str, np.ndarray],
    replicates: int,
    level: float,
    seed: int | np.random.Generator | None,
) -> dict[str, np.ndarray]:
    """Quantiles over samples of sites; the same samples for all remaining dims."""
    sites, rest = held.shape[-1], held.shape[:-2]
    times = generator(seed).multinomial(sites, np.full(sites, 1 / sites), size=replicates).astype(np.float64)
    flat, known = held.reshape(-1, *held.shape[-2:]), defined.reshape(-1, *held.shape[-2:]).astype(np.float64)
    step = max(CHUNK // (replicates * held.shape[-2]), 1)
    parts = [_resampled(flat[at : at + step], known[at : at + step], times) for at in range(0, len(flat), step)]
    found: dict[str, np.ndarray] = {}
    for name in NAMES:
        drawn = np.concatenate([part[name] for part in parts], axis=1)
        low, high = quantiles(drawn, [(1 - level) / 2, (1 + level) / 2])
        there = np.isfinite(estimates[name])
        found[f"{name}_low"] = np.where(there, low.reshape(rest), np.nan)
        found[f"{name}_high"] = np.where(there, high.reshape(rest), np.nan)
        if name == "kappa":
            found["kappa_undefined"] = (~np.isfinite(drawn)).mean(axis=0).reshape(rest)
    return found


def _resampled(held: np.ndarray, known: np.ndarray, times: np.ndarray) -> dict[str, np.ndarray]:
    """Coefficients of every sample, (samples, rest), from how often each site was drawn (samples, sites)."""
    passes, raters, itself = (
        np.moveaxis(values @ weights.T, -1, 0)
        for values, weights in ((held, times), (known, times), (known, times**2))  # a site's w² pairs with itself agree
    )
    return coefficients(passes, raters, passes**2 + (raters - passes) ** 2 - itself, raters**2 - itself)
