"""What few rows cannot do, said in terms of what was asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from auditlib.errors import AuditInputError


@contextmanager
def enough(rows: int, max_rows: int | None) -> Iterator[None]:
    """What cannot be split or fitted, as an error about ``max_rows``, which left this many rows.

    Examples
    --------
    >>> with enough(5_000, 5_000):
    ...     pass
    """
    try:
        yield
    except AuditInputError as error:
        if max_rows is None:
            raise
        raise AuditInputError(
            f"max_rows = {max_rows}: {rows:,} people are too few to fit and judge a model on; take more. ({error})"
        ) from error
