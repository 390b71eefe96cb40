"""Each paper's procedure, from a cohort to a table of counts; ``python -m auditlib.studies`` runs them all."""

from auditlib.studies.benefit import benefit_counts, diabetes_cohort, diabetes_counts, diabetes_models_counts
from auditlib.studies.comparisons import COHORTS, COMPARISONS, Cohort, Comparison, comparison_of, published
from auditlib.studies.gap import Predictions, gap_audit, gap_predictions
from auditlib.studies.multiverse import committed_multiverse, gap_multiverse, multiverse_grid
from auditlib.studies.optimism import diabetes_optimism
from auditlib.studies.reproduction import comparison_counts, gap_row, gap_table, study_table
from auditlib.studies.states import regions, states_counts, states_table
from auditlib.studies.stays import STAYS_MODELS, STAYS_TABLES, stays_counts, stays_table

__all__ = [
    "COHORTS",
    "COMPARISONS",
    "STAYS_MODELS",
    "STAYS_TABLES",
    "Cohort",
    "Comparison",
    "Predictions",
    "benefit_counts",
    "committed_multiverse",
    "comparison_counts",
    "comparison_of",
    "diabetes_cohort",
    "diabetes_counts",
    "diabetes_models_counts",
    "diabetes_optimism",
    "gap_audit",
    "gap_multiverse",
    "gap_predictions",
    "gap_row",
    "gap_table",
    "multiverse_grid",
    "published",
    "regions",
    "states_counts",
    "states_table",
    "stays_counts",
    "stays_table",
    "study_table",
]
