"""Audit a clinical prediction model for subgroup gaps, from counts.

>>> import auditlib as al
>>> table = al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
>>> round(float(al.gap(al.sensitivity(table), "Women", "Men")), 3)
-0.1
"""

from auditlib.counts import Counts, confusion, count, parse_confusion
from auditlib.errors import AuditInputError
from auditlib.intervals import (
    auroc_interval,
    band,
    effective,
    gap_interval,
    interval,
    rate_interval,
    spread_interval,
    tidy,
)
from auditlib.metrics import (
    accuracy,
    false_positive_rate,
    gap,
    npv,
    ppv,
    prevalence,
    ratio,
    selection_rate,
    sensitivity,
    small,
    specificity,
    spread,
    theil,
)
from auditlib.scores import auroc, calibration_gap

__version__ = "0.1.0"
__all__ = [
    "AuditInputError",
    "Counts",
    "accuracy",
    "auroc",
    "auroc_interval",
    "band",
    "calibration_gap",
    "confusion",
    "count",
    "effective",
    "false_positive_rate",
    "gap",
    "gap_interval",
    "interval",
    "npv",
    "parse_confusion",
    "ppv",
    "prevalence",
    "rate_interval",
    "ratio",
    "selection_rate",
    "sensitivity",
    "small",
    "specificity",
    "spread",
    "spread_interval",
    "theil",
    "tidy",
]
