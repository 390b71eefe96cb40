"""From replicates or counts to intervals.

Percentile intervals are here to reproduce the papers and to be compared. For a difference of two rates, or the
spread of several, the score-based intervals cover what they claim in small groups too. All of them condition on one
fitted model and one split of the data.
"""

from auditlib.intervals.effective import effective, wilson
from auditlib.intervals.optimism import optimism_interval
from auditlib.intervals.rates import gap_interval, rate_interval, spread_interval
from auditlib.intervals.replicates import band, interval
from auditlib.intervals.summaries import auroc_interval, tidy

__all__ = [
    "auroc_interval",
    "band",
    "effective",
    "gap_interval",
    "interval",
    "optimism_interval",
    "rate_interval",
    "spread_interval",
    "tidy",
    "wilson",
]
