"""The result card: an audit as a page to share, and the ways into it."""

from auditlib.card.entry import Audit, audit, audit_gap

__all__ = ["Audit", "audit", "audit_gap"]
