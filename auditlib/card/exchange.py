"""Two folders exchanged in one step, where the system can."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

HERE, EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux


def exchange(one: Path, other: Path) -> bool:
    """Exchange two names, so that at no moment either is missing; False where the system cannot.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     one, other = Path(folder, "one"), Path(folder, "other")
    ...     one.mkdir(), (other / "held").mkdir(parents=True)
    ...     exchange(one, other) == (one / "held").is_dir()
    (None, None)
    True
    """
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    return bool(rename(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE) == 0)
