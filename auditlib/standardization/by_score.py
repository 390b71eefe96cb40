"""How much of a gap in PPV lies between people of the same score, and how much in where the scores lie."""

from __future__ import annotations

from typing import Any

import xarray as xr

from auditlib.counts import Counts
from auditlib.errors import AuditInputError
from auditlib.metrics import find_dim, pick


def split_by_score(counts: Counts, a: str, b: str, threshold: float, dim: str | None = None) -> xr.Dataset:
    """Split the gap in PPV into a part at the same score and a part of where the scores of the flagged lie.

    Let q_k be the share of a group's flagged people in score bin k and r_k the share of these with the outcome, so that
    PPV = Σ q_k·r_k. Then PPV_a − PPV_b = Σ (r_ak − r_bk)(q_ak + q_bk)/2 + Σ (q_ak − q_bk)(r_ak + r_bk)/2: the average
    of the two weightings, each with the other group's shares and rates (Kitagawa). A score that means the same risk in
    both groups has no part at the same score, whatever the risks of the two groups are; ``split_gap`` cannot tell that.

    People of one bin count as having one score, so wide bins (after ``.cut``) bring score into the first part. A bin
    with flagged people of one group alone compares nobody and counts as distribution: see ``compared``.

    Parameters
    ----------
    counts : Counts
        With several bins from the threshold on; replicates, too.
    a, b : str
        Levels of one group dim.
    threshold : float
        An edge of the counts, for both groups.
    dim : str, optional
        The group dim, when both levels occur in several.

    Returns
    -------
    Dataset of ``at_same_score``, ``score_distribution``, ``total`` (the gap in PPV, which they add up to; differences
    of shares) and ``compared``, the share of flagged people, averaged over the two groups, whose bin holds both; over
    the remaining dims. NaN where a group has nobody flagged. For intervals split resampled counts and take ``interval``
    of a part.

    Raises
    ------
    AuditInputError
        For anything but counts, a threshold that is no edge or has a single bin, or unknown levels.

    References
    ----------
    Kitagawa EM. Components of a difference between two rates. JASA 1955;50:1168–1194.

    Examples
    --------
    >>> import pandas as pd
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [0, 1, 1, 0, 0, 0, 1, 1], "p": [0.5, 0.5, 0.8, 0.8] * 2, "sex": list("FFFFMMMM")})
    >>> found = split_by_score(al.count(frame, label="y", score="p", by="sex"), "F", "M", 0.5)
    >>> float(found.at_same_score), float(found.score_distribution), float(found.compared)
    (0.0, 0.0, 1.0)
    """
    ill, people = _flagged(counts, threshold)
    dim = find_dim(people, a, b, dim)
    cases, n = ([pick(held, dim, level) for level in (a, b)] for held in (ill, people))
    totals = [held.sum("bin") for held in n]
    shares = [held / total.where(total > 0) for held, total in zip(n, totals, strict=True)]
    own = [case / held.where(held > 0) for case, held in zip(cases, n, strict=True)]
    rates = [own[0].fillna(own[1]).fillna(0), own[1].fillna(own[0]).fillna(0)]  # nobody in either: share 0
    weight = (shares[0] + shares[1]) / 2
    parts = {
        "at_same_score": (rates[0] - rates[1]) * weight,
        "score_distribution": (shares[0] - shares[1]) * (rates[0] + rates[1]) / 2,
        "compared": weight.where((n[0] > 0) & (n[1] > 0) | weight.isnull(), 0),
    }
    found = xr.Dataset({name: part.sum("bin", skipna=False) for name, part in parts.items()})
    ppv = [case.sum("bin") / total.where(total > 0) for case, total in zip(cases, totals, strict=True)]
    return found.assign(total=ppv[0] - ppv[1])


def _flagged(counts: Any, threshold: float) -> tuple[xr.DataArray, xr.DataArray]:
    """Flagged people with the outcome, and all flagged, over ``bin``."""
    if not isinstance(counts, Counts):
        raise AuditInputError(
            f"split_by_score needs the score bins of counts, as count(…) makes them, not {type(counts).__name__}."
        )
    first = counts.edges.index(threshold)
    if len(counts.edges) - first < 2:
        raise AuditInputError(
            f"only one score bin begins at {threshold!r} or above, so that all who are flagged count as having one "
            "score: use the counts from before .cut(…), or keep thresholds above it."
        )
    held = counts.histogram().isel(bin=slice(first, None)).astype(float).drop_vars("bin")
    return held.sel(label=1, drop=True), held.sum("label")
