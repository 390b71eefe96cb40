"""How many processes."""

from __future__ import annotations

import numpy as np

from auditlib.errors import AuditInputError

MOST = 4096


def check_jobs(n_jobs: object) -> None:
    """An error unless `n_jobs` is a number of processes: 1 or more, or −1 for one a core (−2 for one fewer, …).

    Examples
    --------
    >>> check_jobs(-1)
    """
    whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if not whole or not 0 < abs(int(n_jobs)) <= MOST:  # type: ignore[call-overload]
        raise AuditInputError(f"n_jobs = {n_jobs!r}: give a whole number of processes, or -1 for one a core.")
