"""Interventions, found on one partition and judged on another: reweigh, shift thresholds, stabilise verdicts, price."""

from auditlib.mitigate.price import headline, price
from auditlib.mitigate.result import Shift
from auditlib.mitigate.reweigh import reweigh, reweighing_table
from auditlib.mitigate.shift import shift_thresholds
from auditlib.mitigate.stabilize import stabilize_verdicts

__all__ = [
    "Shift",
    "headline",
    "price",
    "reweigh",
    "reweighing_table",
    "shift_thresholds",
    "stabilize_verdicts",
]
