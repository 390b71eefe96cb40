"""For tests and doctests alike: figures are closed after each, or matplotlib warns of the twenty-first."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _figures_closed() -> Iterator[None]:
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")
