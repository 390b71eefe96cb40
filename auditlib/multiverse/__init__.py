"""A grid of analyst choices → one row a specification, and what the rows say together."""

from auditlib.multiverse.files import read_multiverse, write_multiverse
from auditlib.multiverse.grid import Grid
from auditlib.multiverse.rows import Multiverse
from auditlib.multiverse.runner import run_multiverse
from auditlib.multiverse.shares import choice_means, variance_shares
from auditlib.multiverse.summaries import forks, sign_counts, small_groups
from auditlib.multiverse.weights import resampled_table, resampling_weights

__all__ = [
    "Grid",
    "Multiverse",
    "choice_means",
    "forks",
    "read_multiverse",
    "resampled_table",
    "resampling_weights",
    "run_multiverse",
    "sign_counts",
    "small_groups",
    "variance_shares",
    "write_multiverse",
]
