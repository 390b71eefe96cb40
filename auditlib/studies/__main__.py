"""``python -m auditlib.studies [name …]``: write the tables that are missing, or those named.

Each comparison becomes a table in ``data/counts``; ``split_seeds`` refits one of them on other splits and becomes
``data/studies/split_seeds.csv``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tqdm.auto import tqdm

from auditlib.datasets import counts_path
from auditlib.errors import AuditInputError
from auditlib.studies import COMPARISONS, gap_audit
from auditlib.studies.splits import split_path, split_study

SPLITS = "split_seeds"
TABLES = [*COMPARISONS, SPLITS]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparisons; each is saved as it finishes, so that a run cut short can be continued."""
    parser = argparse.ArgumentParser(prog="python -m auditlib.studies", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of: {', '.join(TABLES)}")
    parser.add_argument("--refit", action="store_true", help="also those already there")
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: one a core)")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in TABLES]
    if unknown:
        parser.error(f"no study {', '.join(unknown)}; choose from {', '.join(TABLES)}")
    chosen = options.names or [name for name in TABLES if options.refit or not _path(name).exists()]
    if not chosen:
        print(f"All {len(TABLES)} tables are there; name some, or pass --refit, to make them again.")
    failures = 0
    bar = tqdm(chosen, unit="comparison")
    for name in bar:
        bar.set_description(name)
        try:
            _write(name, options.jobs)
        except AuditInputError as error:  # one cohort not at hand does not stop the others
            failures += 1
            tqdm.write(f"{name}: {error}", file=sys.stderr)
    return 1 if failures else 0


def _path(name: str) -> Path:
    return split_path() if name == SPLITS else counts_path(name)


def _write(name: str, jobs: int) -> None:
    path = _path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if name == SPLITS:
        draft = path.with_suffix(".part")
        split_study(n_jobs=jobs, progress=True).to_csv(draft, index=False)
        draft.replace(path)
    else:
        comparison = COMPARISONS[name]
        gap_audit(comparison.dataset, comparison.attribute, n_jobs=jobs, progress=True).to_csv(path)


if __name__ == "__main__":
    sys.exit(main())
