"""Audit a clinical prediction model for subgroup gaps, from counts.

>>> import auditlib as al
>>> table = al.parse_confusion("Women:80,40,800,30; Men:120,90,700,25")
>>> round(float(al.gap(al.sensitivity(table), "Women", "Men")), 3)
-0.1
"""

from auditlib.benefit import (
    benefit_interval,
    capacity_frontier,
    decision_curve,
    decompose_gap,
    lambda_ratio_bound,
    mean_gap,
    net_benefit,
    pooled_lambda,
    standardized_net_benefit,
    subgroup_net_benefit,
    threshold_for,
    tipping_lambda,
    treat,
    worst_off,
)
from auditlib.counts import Counts, confusion, count, parse_confusion
from auditlib.errors import AuditInputError
from auditlib.intervals import (
    auroc_interval,
    band,
    effective,
    gap_interval,
    interval,
    optimism_interval,
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
    "benefit_interval",
    "calibration_gap",
    "capacity_frontier",
    "confusion",
    "count",
    "decision_curve",
    "decompose_gap",
    "effective",
    "false_positive_rate",
    "gap",
    "gap_interval",
    "interval",
    "lambda_ratio_bound",
    "mean_gap",
    "net_benefit",
    "npv",
    "optimism_interval",
    "parse_confusion",
    "pooled_lambda",
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
    "standardized_net_benefit",
    "subgroup_net_benefit",
    "theil",
    "threshold_for",
    "tidy",
    "tipping_lambda",
    "treat",
    "worst_off",
]
