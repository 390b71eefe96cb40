"""Along a model's thresholds: the gap of a rate with a band, where it can be told from zero, and which meets a rate."""

from auditlib.thresholds.curve import enough, gap_curve, sign_runs
from auditlib.thresholds.meeting import threshold_at

__all__ = ["enough", "gap_curve", "sign_runs", "threshold_at"]
