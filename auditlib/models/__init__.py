"""Risk models for a gap audit: six families, patient-wise splits, calibrated scores for a test set."""

from auditlib.models.crossfit import CrossFit, cross_fit
from auditlib.models.families import FAMILIES, MEMBERS, calibrated, family, preprocessor
from auditlib.models.splits import folds, split

__all__ = ["FAMILIES", "MEMBERS", "CrossFit", "calibrated", "cross_fit", "family", "folds", "preprocessor", "split"]
