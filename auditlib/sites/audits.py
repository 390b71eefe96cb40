"""From counts with a site dim to sizes and verdicts site by site, and agreement beside that of random folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from auditlib.counts import Counts
from auditlib.counts.draws import generator
from auditlib.counts.levels import check_names
from auditlib.counts.merge import check_whole
from auditlib.counts.table import MAX_BYTES
from auditlib.counts.thresholds import Thresholds
from auditlib.errors import AuditInputError
from auditlib.intervals.replicates import check_level, quantiles
from auditlib.metrics import small
from auditlib.sites.agreement import NAMES, site_agreement
from auditlib.sites.folds import random_folds
from auditlib.values import listed
from auditlib.verdicts import METRICS, Limit, passes, verdict_metrics

CHUNK = 2**23  # counts of random folds held at once
_SLACK = 1e-9  # the same verdicts summed in another order


def site_sizes(counts: Counts, attributes: Sequence[str], *, threshold: Thresholds, dim: str = "site") -> pd.DataFrame:
    """How many groups the sites have, and how many of them are too small to lean on (``small``), by attribute.

    Parameters
    ----------
    counts, attributes, threshold, dim : as ``site_passes`` takes them
        Counts not resampled, at one threshold a group.

    Returns
    -------
    DataFrame, a row an attribute: ``groups`` (sites × levels), ``small``, ``under 5 positives``, ``no positives``, and
    ``sites with a small group``.

    Raises
    ------
    AuditInputError
        For replicates, and as ``site_passes``.

    Examples
    --------
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [0, 1] * 8, "p": [0.1, 0.8, 0.6, 0.7] * 4, "sex": list("FFMM") * 4})
    >>> counts = al.count(frame.assign(site=list("ab") * 8), label="y", score="p", by=["site", "sex"], bins=10)
    >>> site_sizes(counts, ["sex"], threshold=0.5).loc["sex"].tolist()
    [4, 4, 4, 2, 2]
    """
    names = _attributes(counts, attributes, dim)
    if counts.resampled:
        raise AuditInputError("sizes are those of the original counts, not of replicates.")
    rows = {}
    for name in names:
        rest = _summed(counts, name, threshold, dim)
        table = counts.by(dim, name, *rest).at(threshold)[["tp", "fp", "fn", "tn"]].sum(rest)
        few, positives = small(table), table["tp"] + table["fn"]
        rows[name] = {
            "groups": few.size,
            "small": int(few.sum()),
            "under 5 positives": int((positives < 5).sum()),
            "no positives": int((positives == 0).sum()),
            "sites with a small group": int(few.any(name).sum()),
        }
    return pd.DataFrame(rows).T


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
        A DataArray may run over any group dims of the counts, such as ``shift_thresholds(…).thresholds``.
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
    return passes(_metrics(counts, attributes, threshold, dim), limits=limits).transpose(
        "metric", "attribute", ..., dim
    )


def _attributes(counts: Counts, attributes: Sequence[str], dim: str) -> list[str]:
    if not isinstance(counts, Counts):
        raise AuditInputError(f"sites are audited from Counts, as count(…) makes them, not {type(counts).__name__}.")
    check_names([dim], ("metric", "attribute", *METRICS), "site_passes")
    names = listed("attributes", attributes)
    if not names or len(set(names)) < len(names) or dim in names:
        raise AuditInputError(f"attributes must be dims other than {dim!r}, at least one and each once, not {names!r}.")
    return names


def _summed(counts: Counts, name: str, threshold: Thresholds, dim: str) -> list[str]:
    """Dims that the thresholds run over besides the sites and the attribute: summed over once people are flagged."""
    own = threshold.dims if isinstance(threshold, xr.DataArray) else ()
    return [group for group in counts.dims if group in own and group not in (dim, name)]


def _one(counts: Counts, name: str, threshold: Thresholds, dim: str) -> xr.Dataset:
    held, rest = counts.by(dim, name), _summed(counts, name, threshold, dim)
    if not rest:
        return verdict_metrics(held, name, threshold=threshold)
    table = counts.by(dim, name, *rest).at(threshold).reset_coords(drop=True).sum(rest)
    return verdict_metrics(table, name, scores=held)


def _metrics(counts: Counts, attributes: Sequence[str], threshold: Thresholds, dim: str) -> xr.Dataset:
    """The seven metrics of every attribute in every site."""
    names = _attributes(counts, attributes, dim)
    found = [_one(counts, name, threshold, dim) for name in names]
    return xr.concat(found, pd.Index(names, name="attribute"), coords="minimal", compat="override")


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
    within: Sequence[str] = (),
) -> xr.Dataset:
    """``site_agreement`` of an audit's verdicts, beside the agreement of random folds of the same sizes.

    If sites were samples from one population, their κ would be one of those of random folds. Sites that agree less may
    differ in how the model does, or only in who lives there: their ages, groups and the sizes of these. `within` keeps
    the latter as they are. κ has little power to tell: read it beside the passes and the values of each cell.

    Parameters
    ----------
    counts, attributes, threshold, dim, limits : as ``site_passes`` takes them
        Counts not resampled.
    n : int
        Random deals of all people to folds (``random_folds``).
    replicates, level : as in ``site_agreement``
    seed : int or Generator
    within : list of str
        As ``random_folds`` takes it.

    Returns
    -------
    Dataset over metric: what ``site_agreement`` returns, and

    - ``kappa_random``: mean over the deals in which κ is defined; ``kappa_random_low`` and ``kappa_random_high``:
      quantiles of these deals; ``raw_random`` and ``ac1_random`` likewise;
    - ``kappa_random_undefined``: share of deals without κ;
    - ``kappa_random_below``: share of the other deals whose κ is no higher than that of the sites (NaN where that is
      undefined); ``raw_random_below`` likewise, of all deals.

    Over metric and attribute:

    - ``passes``: how many sites pass; ``passes_random`` and its ``_low`` and ``_high`` as for κ;
    - ``least`` and ``most``: the values of the sites; ``least_random`` and ``most_random``: means over deals;
    - ``sd``: of the values of the sites; ``sd_random``: mean over deals; ``sd_random_above``: share of deals in which
      it is no lower.

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
    real = _metrics(counts, attributes, threshold, dim)
    if (size := 8 * n * sum(values.size for values in real.values())) > MAX_BYTES:
        raise AuditInputError(f"n = {n:,}: the deals would take {size / 1024**2:,.0f} MB, over 512 MB; ask for fewer.")
    step = max(CHUNK // (real.sizes[dim] * len(counts.lines.n)), 1)
    deals = [
        _metrics(random_folds(counts, min(step, n - at), dim, rng, within=within), attributes, threshold, dim)
        for at in range(0, n, step)
    ]
    dealt = xr.concat(deals, "replicate")
    said, others = passes(real, limits=limits), passes(dealt, limits=limits)
    found = site_agreement(said, dim, replicates=replicates, level=level, seed=rng)
    chance = site_agreement(others, dim, replicates=0)
    for name in NAMES:
        drawn, held = chance[name], found[name]
        defined = drawn.notnull().sum("replicate")
        found = found.assign(_random(name, drawn, level))
        below = (drawn <= held + _SLACK).sum("replicate") / defined.where(defined > 0)
        found[f"{name}_random_below"] = below.where(held.notnull())
        if name == "kappa":
            found["kappa_random_undefined"] = 1 - defined / drawn.sizes["replicate"]
    return found.merge(_by_cell(real, dealt, dim)).merge(
        {"passes": said.sum(dim)} | _random("passes", others.sum(dim), level)
    )


def _random(name: str, drawn: xr.DataArray, level: float) -> dict[str, xr.DataArray]:
    """Mean and quantiles over the deals in which it is defined."""
    drawn = drawn.transpose("replicate", ...)
    low, high = quantiles(drawn.values, [(1 - level) / 2, (1 + level) / 2])
    mean = drawn.mean("replicate")
    return {
        f"{name}_random": mean,
        f"{name}_random_low": mean.copy(data=low),
        f"{name}_random_high": mean.copy(data=high),
    }


def _by_cell(real: xr.Dataset, dealt: xr.Dataset, dim: str) -> dict[str, xr.DataArray]:
    """How far the values of the sites spread, beside those of random folds."""
    values, others = real.to_dataarray("metric"), dealt.to_dataarray("metric")
    spread, usual = values.std(dim, ddof=1), others.std(dim, ddof=1)
    above = (usual >= spread - _SLACK).mean("replicate")
    return {
        "least": values.min(dim),
        "most": values.max(dim),
        "sd": spread,
        "least_random": others.min(dim).mean("replicate"),
        "most_random": others.max(dim).mean("replicate"),
        "sd_random": usual.mean("replicate"),
        "sd_random_above": above.where(spread.notnull()),
    }
