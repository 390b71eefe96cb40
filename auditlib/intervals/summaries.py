"""An interval for an area under the ROC curve, and tables to read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats

from auditlib.errors import AuditInputError
from auditlib.intervals.replicates import check_level


def auroc_interval(area: float, positives: int, negatives: int, level: float = 0.95) -> tuple[float, float]:
    """Hanley and McNeil's interval of an area under the ROC curve, from the area and the numbers alone.

    SE² = [A(1 − A) + (P − 1)(A/(2 − A) − A²) + (N − 1)(2A²/(1 + A) − A²)] / (P·N). Rows are taken as independent.

    Raises
    ------
    AuditInputError
        For an area outside 0–1 or fewer than one positive or negative.

    References
    ----------
    Hanley JA, McNeil BJ. The meaning and use of the area under a ROC curve. Radiology 1982;143:29–36.

    Examples
    --------
    >>> [round(limit, 3) for limit in auroc_interval(0.8, 50, 100)]
    [0.719, 0.881]
    """
    if not 0 <= area <= 1 or positives < 1 or negatives < 1:
        raise AuditInputError(
            f"an area of {area!r} with {positives!r} positives and {negatives!r} negatives: give an "
            "area in 0–1 and at least one of each."
        )
    above, below = area / (2 - area) - area**2, 2 * area**2 / (1 + area) - area**2
    variance = (area * (1 - area) + (positives - 1) * above + (negatives - 1) * below) / (positives * negatives)
    half = float(stats.norm.ppf((1 + check_level(level)) / 2) * np.sqrt(variance))
    return area - half, area + half


def tidy(found: xr.Dataset, digits: int = 3) -> pd.DataFrame:
    """Intervals as a table to read: one row a group, numbers of people whole.

    Examples
    --------
    >>> import auditlib as al
    >>> tidy(al.gap_interval(al.parse_confusion("a:56,1,1,14; b:48,1,1,32"), "a", "b"))
      estimate    low   high  n_a  n_b
           0.2  0.052  0.334   70   80
    """
    plain = found.reset_coords(drop=True)
    table = plain.to_dataframe() if plain.dims else pd.DataFrame(plain.to_pandas()).T.set_axis([""])
    people = [name for name in table if name in ("n", "n_a", "n_b")]
    return table.round(digits).astype(dict.fromkeys(people, "int64"))
