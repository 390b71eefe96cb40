"""``python -m auditlib.studies [name …]``: write the tables that are missing, or those named.

Counts of a test set (``gap-…``, ``snb-…``, ``stays-…``, ``states-…``) go to ``data/counts``; results of many refits
(``split_seeds``, ``snb_diabetes_optimism``, ``multiverse_budget``) and of thresholds moved on committed tables
(``interventions_thresholds``, ``interventions``, ``interventions_flips``) to ``data/studies``; multiverses to
``data/multiverse``. A multiverse that is stopped goes on where it was: its finished specifications are in
``build/multiverse``. Of Texas-100X, which you must obtain yourself, ``stays-texas100x-…`` are made when named.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm.auto import tqdm

from auditlib.counts import Counts
from auditlib.datasets import counts_path, root
from auditlib.errors import AuditInputError
from auditlib.multiverse import write_multiverse
from auditlib.studies import COMPARISONS, gap_audit
from auditlib.studies.benefit import diabetes_counts, diabetes_models_counts
from auditlib.studies.comparisons import Comparison
from auditlib.studies.intervention_flips import flip_checks
from auditlib.studies.interventions import intervention_prices, intervention_thresholds
from auditlib.studies.multiverse import AXES, budget_study, gap_multiverse, multiverse_grid, multiverse_path
from auditlib.studies.optimism import diabetes_optimism
from auditlib.studies.splits import split_path, split_study
from auditlib.studies.states import STATES_TABLE, states_counts
from auditlib.studies.stays import STAYS_TABLES, TEXAS_TABLES, stays_counts


def _gap(comparison: Comparison) -> Callable[[int], Counts]:
    return lambda jobs: gap_audit(comparison.dataset, comparison.attribute, n_jobs=jobs, progress=True)


def _heart(jobs: int) -> Counts:
    from auditlib.studies.capacity import heart_counts

    return heart_counts()


def _stays(how: Mapping[str, Any]) -> Callable[[int], Counts]:
    return lambda jobs: stays_counts(**how, n_jobs=jobs)


#: What makes each table of counts, and each result of refits, given the number of processes.
COUNTED: dict[str, Callable[[int], Counts]] = {
    **{name: _gap(comparison) for name, comparison in COMPARISONS.items()},
    "snb-diabetes-race": lambda jobs: diabetes_counts(),
    "snb-diabetes-race-models": lambda jobs: diabetes_models_counts(),
    "snb-heart-income": _heart,
    **{name: _stays(how) for name, how in STAYS_TABLES.items()},
    STATES_TABLE: lambda jobs: states_counts(n_jobs=jobs),
}
#: The same as some of these, of records that only their users can get: made when named, and committed nowhere.
NAMED = {name: _stays(how) for name, how in TEXAS_TABLES.items()}
REFITTED: dict[str, Callable[[int], pd.DataFrame]] = {
    "split_seeds": lambda jobs: split_study(n_jobs=jobs, progress=True),
    "snb_diabetes_optimism": lambda jobs: diabetes_optimism(n_jobs=jobs, progress=True),
    "multiverse_budget": lambda jobs: budget_study(n_jobs=jobs, progress=True),
    "interventions_thresholds": lambda jobs: intervention_thresholds(n_jobs=jobs),
    "interventions": lambda jobs: intervention_prices(n_jobs=jobs),  # after its thresholds
    "interventions_flips": lambda jobs: flip_checks(n_jobs=jobs),
}
MULTIVERSES = {f"multiverse-{dataset}": dataset for dataset in AXES}
TABLES = [*COUNTED, *REFITTED, *MULTIVERSES]


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the tables; each is saved as it finishes, so that a run cut short can be continued."""
    parser = argparse.ArgumentParser(prog="python -m auditlib.studies", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of: {', '.join(TABLES)}")
    parser.add_argument("--refit", action="store_true", help="also those already there")
    parser.add_argument("--jobs", type=int, default=-1, help="processes, not 0 (default: -1, one a core)")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in (*TABLES, *NAMED)]
    if unknown:
        parser.error(f"no study {', '.join(unknown)}; choose from {', '.join(TABLES)}")
    if options.jobs == 0:
        parser.error("--jobs 0: give a number of processes, or -1 for one a core")
    chosen = list(dict.fromkeys(options.names)) or [
        name for name in TABLES if options.refit or not _path(name).exists()
    ]
    if not chosen:
        print(f"All {len(TABLES)} tables are there; name some, or pass --refit, to make them again.")
    failures = 0
    bar = tqdm(chosen, unit="table", disable=not chosen)
    for name in bar:
        bar.set_description(name)
        try:
            _write(name, options.jobs)
        except (AuditInputError, OSError) as error:  # one cohort not at hand does not stop the others
            failures += 1
            tqdm.write(f"{name}: {error}", file=sys.stderr)
    return 1 if failures else 0


def _path(name: str) -> Path:
    if name in MULTIVERSES:
        return multiverse_path(MULTIVERSES[name])
    return counts_path(name) if name in COUNTED or name in NAMED else split_path().with_name(f"{name}.csv")


def _write(name: str, jobs: int) -> None:
    path = _path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if name in COUNTED or name in NAMED:
        {**COUNTED, **NAMED}[name](jobs).to_csv(path)
    elif name in MULTIVERSES:
        _write_multiverse(MULTIVERSES[name], path, jobs)
    else:
        draft = path.with_suffix(".part")
        REFITTED[name](jobs).to_csv(draft, index=False)
        draft.replace(path)


def _write_multiverse(dataset: str, path: Path, jobs: int) -> None:
    kept = root() / "build" / "multiverse" / f"{dataset}.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    found = gap_multiverse(multiverse_grid(dataset), kept, n_jobs=jobs, progress=True)
    if len(found.failed):
        first = found.failed["error"].iloc[0]
        said = f"{len(found.failed):,} of {len(found.rows):,} specifications failed, the first with: {first}"
        if len(found.failed) == len(found.rows):
            raise AuditInputError(f"{said} Nothing was written; remove {kept} to try again.")
        tqdm.write(said, file=sys.stderr)
    write_multiverse(found, path)
    kept.unlink()  # what a run keeps is of use until it is whole


if __name__ == "__main__":
    sys.exit(main())
