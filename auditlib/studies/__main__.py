"""``python -m auditlib.studies [name …]``: write the tables in ``data/counts`` that are missing, or those named."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tqdm.auto import tqdm

from auditlib.datasets import counts_path
from auditlib.errors import AuditInputError
from auditlib.studies import COMPARISONS, gap_audit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparisons; each is saved as it finishes, so that a run cut short can be continued."""
    parser = argparse.ArgumentParser(prog="python -m auditlib.studies", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of: {', '.join(COMPARISONS)}")
    parser.add_argument("--refit", action="store_true", help="also those already there")
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: one a core)")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in COMPARISONS]
    if unknown:
        parser.error(f"no comparison {', '.join(unknown)}; choose from {', '.join(COMPARISONS)}")
    chosen = options.names or [n for n in COMPARISONS if options.refit or not counts_path(n).exists()]
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


def _write(name: str, jobs: int) -> None:
    comparison = COMPARISONS[name]
    counts = gap_audit(comparison.dataset, comparison.attribute, n_jobs=jobs, progress=True)
    path = counts_path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    counts.to_csv(path)


if __name__ == "__main__":
    sys.exit(main())
