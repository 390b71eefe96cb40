"""From counts with a site dim to verdicts site by site, and their agreement beside that of random folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.counts import Counts
from auditlib.counts.draws import generator
from auditlib.counts.merge import check_whole
from auditlib.counts.thresholds import Thresholds
from auditlib.errors import AuditInputError
from auditlib.intervals.replicates import check_level, quantiles
from auditlib.sites.agreement import NAMES, site_agreement
from auditlib.sites.folds import random_folds
from auditlib.verdicts import Limit, passes, verdict_metrics

CHUNK = 2**23  # counts of random folds held at once


def site_passes(
    counts: Counts,
    attributes: Sequence[str],
    *,
    threshold: Thresholds,
    dim: str = "site",
    limits: Mapping[str, float | Limit] | None = None,
) -> xr.DataArray:
    """Pass, fail or undefined of every metric of every attribute in every site.

    Parameters
    ----------
    counts : Counts with `dim` and the attributes; replicates are kept
    attributes : list of str
        Group dims; people of one site are compared over the levels that the whole table has, so a site without
        anybody in a level has no verdict there.
    threshold : as ``Counts.at`` takes it
    dim : str
        Sites, or folds of sites.
    limits : mapping, optional
        As ``passes`` takes it.

    Returns
    -------
    DataArray of 1, 0 and NaN over metric, attribute, the remaining dims and `dim`.

    Raises
    ------
    AuditInputError
        For no attribute, one named twice or unknown, or `dim` among them; else as ``verdict_metrics``.

    Examples
    --------
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [0, 1] * 8, "p": [0.1, 0.8, 0.6, 0.7] * 4, "sex": list("FFMM") * 4})
    >>> counts = al.count(frame.assign(site=list("ab") * 8), label="y", score="p", by=["site", "sex"], bins=10)
    >>> site_passes(counts, ["sex"], threshold=0.5).sel(metric="SPD", attribute="sex").values
    array([0., 1.])
    """
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    if not names or len(set(names)) < len(names) or dim in names:
        raise AuditInputError(f"attributes must be dims other than {dim!r}, at least one and each once, not {names!r}.")
    found = [passes(verdict_metrics(counts.by(dim, name), name, threshold=threshold), limits=limits) for name in names]
    together = xr.concat(found, pd.Index(names, name="attribute"), coords="minimal", compat="override")
    return together.transpose("metric", "attribute", ..., dim)


def agreement_beside_random(
    counts: Counts,
    attributes: Sequence[str],
    *,
    threshold: Thresholds,
    dim: str = "site",
    n: int = 200,
    replicates: int = 2000,
    level: float = 0.95,
    limits: Mapping[str, float | Limit] | None = None,
    seed: int | np.random.Generator | None = None,
) -> xr.Dataset:
    """``site_agreement`` of an audit's verdicts, beside the agreement of random folds of the same sizes.

    If sites differed in nothing but who happens to be there, their κ would be one of those of random folds.

    Parameters
    ----------
    counts, attributes, threshold, dim, limits : as ``site_passes`` takes them
        Counts not resampled.
    n : int
        Random deals of all people to folds (``random_folds``).
    replicates, level : as in ``site_agreement``
    seed : int or Generator

    Returns
    -------
    Dataset over metric: what ``site_agreement`` returns, and

    - ``kappa_random``: mean over the deals in which κ is defined; ``kappa_random_low`` and ``kappa_random_high``:
      quantiles of these deals; ``raw_random`` and ``ac1_random`` likewise;
    - ``kappa_random_undefined``: share of deals without κ;
    - ``kappa_random_below``: share of the other deals whose κ is below that of the sites (NaN where that is undefined).

    Raises
    ------
    AuditInputError
        As these functions.

    Examples
    --------
    >>> import auditlib as al
    >>> rng = np.random.default_rng(1)
    >>> frame = pd.DataFrame({"y": rng.integers(0, 2, 400), "p": rng.random(400).round(2), "site": list("abcd") * 100})
    >>> frame["sex"], frame["age"] = rng.choice(["F", "M"], 400), rng.choice(["old", "young"], 400)
    >>> counts = al.count(frame, label="y", score="p", by=["site", "sex", "age"], bins=10)
    >>> found = agreement_beside_random(counts, ["sex", "age"], threshold=0.5, n=20, replicates=100, seed=1)
    >>> round(float(found["raw"].sel(metric="SPD")), 2), round(float(found["raw_random"].sel(metric="SPD")), 2)
    (0.42, 0.51)
    """
    level, rng = check_level(level), generator(seed)
    check_whole(n, "n")
    real = site_passes(counts, attributes, threshold=threshold, dim=dim, limits=limits)
    step = max(CHUNK // (real.sizes[dim] * len(counts.lines.n)), 1)
    dealt = xr.concat(
        [
            site_passes(
                random_folds(counts, min(step, n - at), dim, rng),
                attributes,
                threshold=threshold,
                dim=dim,
                limits=limits,
            )
            for at in range(0, n, step)
        ],
        "replicate",
    )
    found = site_agreement(real, dim, replicates=replicates, level=level, seed=rng)
    chance = site_agreement(dealt, dim, replicates=0)
    for name in NAMES:
        drawn = chance[name].transpose("replicate", ...)
        defined = drawn.notnull().sum("replicate")
        found[f"{name}_random"] = drawn.sum("replicate") / defined.where(defined > 0)
        low, high = quantiles(drawn.values, [(1 - level) / 2, (1 + level) / 2])
        found[f"{name}_random_low"] = found[name].copy(data=low)
        found[f"{name}_random_high"] = found[name].copy(data=high)
        if name == "kappa":
            found["kappa_random_undefined"] = 1 - defined / drawn.sizes["replicate"]
            below = (drawn < found["kappa"]).sum("replicate") / defined.where(defined > 0)
            found["kappa_random_below"] = below.where(found["kappa"].notnull())
    return found
