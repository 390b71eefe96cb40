"""The command line: ``auditlib audit``, ``auditlib gap``, ``auditlib check``."""

from auditlib.command.main import main

__all__ = ["main"]
