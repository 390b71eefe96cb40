"""Net benefit and subgroup net benefit: who gains when a model is used, and how much hangs on λ."""

from auditlib.benefit.core import UNIT, net_benefit, standardized_net_benefit, subgroup_net_benefit
from auditlib.benefit.curves import decision_curve
from auditlib.benefit.decompose import decompose_gap
from auditlib.benefit.effects import lambda_ratio_bound, pooled_lambda, threshold_for, tipping_lambda
from auditlib.benefit.frontier import capacity_frontier
from auditlib.benefit.points import judge, points_table
from auditlib.benefit.policies import treat
from auditlib.benefit.summaries import mean_gap, worst_off
from auditlib.benefit.uncertainty import benefit_interval, fieller, words

__all__ = [
    "UNIT",
    "benefit_interval",
    "capacity_frontier",
    "decision_curve",
    "decompose_gap",
    "fieller",
    "judge",
    "lambda_ratio_bound",
    "mean_gap",
    "net_benefit",
    "points_table",
    "pooled_lambda",
    "standardized_net_benefit",
    "subgroup_net_benefit",
    "threshold_for",
    "tipping_lambda",
    "treat",
    "words",
    "worst_off",
]
