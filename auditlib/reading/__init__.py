"""From an analyst's file to a frame that can be counted: nothing dropped, shifted, filled or guessed."""

from auditlib.reading.rows import Rows, read_rows

__all__ = ["Rows", "read_rows"]
