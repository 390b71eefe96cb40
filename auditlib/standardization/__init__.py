"""Predictive values at a common prevalence, and how much of their gap is prevalence, or lies at the same score.

Not named after ``standardize``: a function and a module of one name hide each other.
"""

from auditlib.standardization.bayes import npv_at, ppv_at
from auditlib.standardization.by_score import split_by_score
from auditlib.standardization.expected import standardize
from auditlib.standardization.split import split_gap

__all__ = ["npv_at", "ppv_at", "split_by_score", "split_gap", "standardize"]
