"""Figures, one module a method; every estimate is drawn with its interval."""

from auditlib.plots import gaps, scores, style

__all__ = ["gaps", "scores", "style"]
