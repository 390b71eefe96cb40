"""Risk models for an audit: families and published classifiers, splits, calibrated scores, uses of the attribute."""

from auditlib.models.crossfit import CrossFit, cross_fit
from auditlib.models.families import FAMILIES, MEMBERS, calibrated, family, preprocessor
from auditlib.models.learners import LEARNERS, PENALTY
from auditlib.models.splits import check_seed, folds, split
from auditlib.models.strategies import STRATEGIES, Fitted, fit_strategy, propensity_weights
from auditlib.models.twelve import CLASSIFIERS, classifier

__all__ = [
    "CLASSIFIERS",
    "FAMILIES",
    "LEARNERS",
    "MEMBERS",
    "PENALTY",
    "STRATEGIES",
    "CrossFit",
    "Fitted",
    "calibrated",
    "check_seed",
    "classifier",
    "cross_fit",
    "family",
    "fit_strategy",
    "folds",
    "preprocessor",
    "propensity_weights",
    "split",
]
