"""``python -m auditlib``, which is also installed as ``auditlib``."""

from __future__ import annotations

import io
import signal
import sys
from typing import NoReturn


def _stopped(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


def main() -> int:
    """The command line, asked to stop as by Ctrl-C: drafts are removed."""
    try:
        from auditlib.command import main as run  # takes a second, in which Ctrl-C may come

        if callable(signal.getsignal(signal.SIGINT)):  # that of auditlib.started, unless it is ignored
            signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, _stopped)
        if isinstance(sys.stdout, io.TextIOWrapper):
            # a terminal that has no minus or no Greek loses no finding
            sys.stdout.reconfigure(errors="backslashreplace")
        return run()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            print("auditlib: interrupted.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
