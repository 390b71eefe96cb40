"""``python -m auditlib``, which is also installed as ``auditlib``."""

from __future__ import annotations

import io
import signal
import sys
from typing import NoReturn

from auditlib.command import main as run


def _stopped(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


def main() -> int:
    """The command line, asked to stop as by Ctrl-C: drafts are removed."""
    signal.signal(signal.SIGTERM, _stopped)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that has no minus or no Greek loses no finding
    return run()


if __name__ == "__main__":
    sys.exit(main())
