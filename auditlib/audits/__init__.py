"""From counts to the results of an audit: plain values, and sentences whose numbers stand in them."""

from auditlib.audits.files import file_source, name_of
from auditlib.audits.gaps import KEYS, MODELS, Gap, gap_choices, gap_published, gap_source, params_of
from auditlib.audits.inputs import Columns, added, confusion_source, counts_source, rows_source, source_from
from auditlib.audits.options import Options
from auditlib.audits.result import SCHEMA, results_of, told
from auditlib.audits.source import Source

__all__ = [
    "KEYS",
    "MODELS",
    "SCHEMA",
    "Columns",
    "Gap",
    "Options",
    "Source",
    "added",
    "confusion_source",
    "counts_source",
    "file_source",
    "gap_choices",
    "gap_published",
    "gap_source",
    "name_of",
    "params_of",
    "results_of",
    "rows_source",
    "source_from",
    "told",
]
