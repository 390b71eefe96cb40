"""What needs the score itself: discrimination and calibration, from the bins."""

from __future__ import annotations

import numpy as np
import xarray as xr

from auditlib.counts import Counts
from auditlib.errors import AuditInputError


def _fine(counts: Counts, what: str) -> xr.DataArray:
    if not isinstance(counts, Counts):
        raise AuditInputError(f"{what} needs counts, as count(…) makes them, not {type(counts).__name__}.")
    if counts.edges.kind == "cut":
        raise AuditInputError(
            f"{what} needs the score bins, but these counts were cut to {len(counts.thresholds)} thresholds; "
            "use the counts from before .cut(…)."
        )
    return counts.histogram()


def auroc(counts: Counts) -> xr.DataArray:
    """Area under the ROC curve, P(S₁ > S₀) + ½ P(S₁ = S₀), scores of one bin counting as equal.

    Parameters
    ----------
    counts : Counts
        Not cut. With ``bins=None`` the area is exact.

    Returns
    -------
    DataArray over (replicate, *groups, model), as present; NaN where a group has one label only.

    Raises
    ------
    AuditInputError
        After ``.cut``.

    References
    ----------
    Hanley JA, McNeil BJ. The meaning and use of the area under a ROC curve. Radiology 1982;143:29–36.

    Examples
    --------
    >>> import pandas as pd
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [0, 0, 1, 1], "p": [0.1, 0.4, 0.35, 0.8], "g": ["a"] * 4})
    >>> auroc(al.count(frame, label="y", score="p", by="g", bins=None)).values
    array([0.75])
    """
    held = _fine(counts, "auroc").astype(np.float64)
    negative, positive = held.sel(label=0, drop=True), held.sel(label=1, drop=True)
    below = negative.cumsum("bin") - negative
    wins = (positive * (below + negative / 2)).sum("bin")
    pairs = positive.sum("bin") * negative.sum("bin")
    return (wins / pairs.where(pairs > 0)).rename("auroc")


def mean_score(counts: Counts) -> xr.DataArray:
    """Mean score of each group, each bin standing for its midpoint (the score itself with ``bins=None``)."""
    held = _fine(counts, "mean_score").sum("label")
    middle = xr.DataArray(counts.edges.representative(), dims="bin", coords={"bin": held["bin"]})
    n = held.sum("bin")
    return ((held * middle).sum("bin") / n.where(n > 0)).rename("mean_score")


def calibration_gap(counts: Counts, dim: str) -> xr.DataArray:
    """Largest minus smallest, over groups, of mean score − mean label.

    Scores are read at bin midpoints, so that counts stay whole numbers and add exactly: a group's mean is within
    1/(2·bins) of the exact one (0.0025 at 200 bins), in smooth score distributions far closer.

    Raises
    ------
    AuditInputError
        After ``.cut``, or if ``dim`` is not a group here.

    Examples
    --------
    >>> import pandas as pd
    >>> import auditlib as al
    >>> frame = pd.DataFrame({"y": [0, 1, 0, 1], "p": [0.2, 0.6, 0.4, 0.8], "g": list("aabb")})
    >>> round(float(calibration_gap(al.count(frame, label="y", score="p", by="g", bins=None), "g")), 3)
    0.2
    """
    held = _fine(counts, "calibration_gap")
    counts.column(dim)
    n = held.sum(["label", "bin"])
    error = mean_score(counts) - held.sel(label=1, drop=True).sum("bin") / n.where(n > 0)
    return (error.max(dim, skipna=False) - error.min(dim, skipna=False)).rename("calibration_gap")
