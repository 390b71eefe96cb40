"""Pass or fail against seven limits, how often the verdict flips, and how many patients settle it."""

from auditlib.verdicts.closed import expected_flip_rate
from auditlib.verdicts.flips import flip_rate
from auditlib.verdicts.judged import limits_of, passes, verdict
from auditlib.verdicts.metrics import LIMITS, METRICS, Limit, largest_bin_error, verdict_metrics
from auditlib.verdicts.plan import planned_table
from auditlib.verdicts.ranges import range_probability
from auditlib.verdicts.sizes import SIZES, audit_size, settling_size
from auditlib.verdicts.variants import CAL_VERSIONS, TI_VERSIONS, compare_versions

__all__ = [
    "CAL_VERSIONS",
    "LIMITS",
    "METRICS",
    "SIZES",
    "TI_VERSIONS",
    "Limit",
    "audit_size",
    "compare_versions",
    "expected_flip_rate",
    "flip_rate",
    "largest_bin_error",
    "limits_of",
    "passes",
    "planned_table",
    "range_probability",
    "settling_size",
    "verdict",
    "verdict_metrics",
]
