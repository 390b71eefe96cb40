"""Published numbers, one line each, with ours beside them and a rule for what counts as agreement.

What was published is in ``data/published``; ours is computed here, from the committed tables.
"""

from auditlib.studies.reproduced.agreement import (
    RULES,
    Estimate,
    accepted,
    criteria,
    failing,
    pass_rates,
    what_passes,
)
from auditlib.studies.reproduced.benefit import price_of_places
from auditlib.studies.reproduced.lines import (
    KINDS,
    PAPERS,
    audit_sizes,
    independent_run,
    pass_counts,
    published_lines,
    reasons,
)
from auditlib.studies.reproduced.show import by_reason, explained, readable
from auditlib.studies.reproduced.splits import among_splits, split_gaps, split_pairs
from auditlib.studies.reproduced.table import reproduction_table

__all__ = [
    "KINDS",
    "PAPERS",
    "RULES",
    "Estimate",
    "accepted",
    "among_splits",
    "audit_sizes",
    "by_reason",
    "criteria",
    "explained",
    "failing",
    "independent_run",
    "pass_counts",
    "pass_rates",
    "price_of_places",
    "published_lines",
    "readable",
    "reasons",
    "reproduction_table",
    "split_gaps",
    "split_pairs",
    "what_passes",
]
