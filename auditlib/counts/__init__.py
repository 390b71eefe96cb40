"""The one idea: everything after the model is a function of counts."""

from auditlib.counts.engine import count
from auditlib.counts.table import Counts
from auditlib.counts.typed import confusion, parse_confusion

__all__ = ["Counts", "confusion", "count", "parse_confusion"]
