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
from auditlib.multiverse import (
    Grid,
    choice_means,
    forks,
    read_multiverse,
    run_multiverse,
    sign_counts,
    variance_shares,
    write_multiverse,
)
from auditlib.scores import auroc, calibration_gap
from auditlib.standardization import npv_at, ppv_at, split_by_score, split_gap, standardize
from auditlib.thresholds import gap_curve, sign_runs, threshold_at

__version__ = "0.1.0"
__all__ = [
    "AuditInputError",
    "Counts",
    "Grid",
    "accuracy",
    "auroc",
    "auroc_interval",
    "band",
    "benefit_interval",
    "calibration_gap",
    "capacity_frontier",
    "choice_means",
    "confusion",
    "count",
    "decision_curve",
    "decompose_gap",
    "effective",
    "false_positive_rate",
    "forks",
    "gap",
    "gap_curve",
    "gap_interval",
    "interval",
    "lambda_ratio_bound",
    "mean_gap",
    "net_benefit",
    "npv",
    "npv_at",
    "optimism_interval",
    "parse_confusion",
    "pooled_lambda",
    "ppv",
    "ppv_at",
    "prevalence",
    "rate_interval",
    "ratio",
    "read_multiverse",
    "run_multiverse",
    "selection_rate",
    "sensitivity",
    "sign_counts",
    "sign_runs",
    "small",
    "specificity",
    "split_by_score",
    "split_gap",
    "spread",
    "spread_interval",
    "standardize",
    "standardized_net_benefit",
    "subgroup_net_benefit",
    "theil",
    "threshold_at",
    "threshold_for",
    "tidy",
    "tipping_lambda",
    "treat",
    "variance_shares",
    "worst_off",
    "write_multiverse",
]
