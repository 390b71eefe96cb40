"""Every engine gives the counts that a sorted search gives, to the last one."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.engines import ENGINES, KINDS, by_search, counted, rows


@pytest.mark.parametrize("kind", KINDS)
def test_identical_counts(kind):
    table = rows(kind, 200_000)
    truth = by_search(table)
    texts = set()
    for engine in ENGINES:
        counts = counted(engine, table)
        np.testing.assert_array_equal(counts.histogram().values, truth, err_msg=engine)
        texts.add(counts.to_csv())
    assert len(texts) == 1
