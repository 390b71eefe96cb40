"""Run simulation studies in full: ``python -m tests.studies [name ...]``."""

from __future__ import annotations

import argparse

from tests.studies import (
    agreement_coverage,
    audit_sweeps,
    band_coverage,
    bootstrap_oracle,
    capacity_optimism,
    few_patients,
    fieller_coverage,
    flip_closed_form,
    flip_truth,
    fuzz_parsers,
    gap_coverage,
    headline_rates,
    kappa_identical_sites,
    optimism,
    settling,
    settling_plans,
    share_coverage,
    spread_coverage,
)
from tests.studies.tools import write

STUDIES = {
    "agreement_coverage": agreement_coverage.run,
    "bootstrap_oracle": bootstrap_oracle.run,
    "capacity_optimism": capacity_optimism.run,
    "band_coverage": band_coverage.run,
    "spread_coverage": spread_coverage.run,
    "few_patients": few_patients.run,
    "gap_coverage": gap_coverage.run,
    "optimism": optimism.run,
    "optimism_boosting": optimism.run_boosting,
    "optimism_sizes": optimism.run_sizes,
    "fieller_coverage": fieller_coverage.run,
    "share_coverage": share_coverage.run,
    "flip_truth": flip_truth.run,
    "flip_closed_form": flip_closed_form.run,
    "settling": settling.run,
    "settling_plans": settling_plans.run,
    "audit_sweeps": audit_sweeps.run,
    "kappa_identical_sites": kappa_identical_sites.run,
    "headline_rates": headline_rates.run,
    "fuzz_parsers": fuzz_parsers.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.studies", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"any of {', '.join(STUDIES)}; all by default")
    names = parser.parse_args().names or list(STUDIES)
    unknown = [name for name in names if name not in STUDIES]
    if unknown:
        parser.error(f"no study is called {', '.join(unknown)}; there are {', '.join(STUDIES)}")
    for name in names:
        print(write(name, STUDIES[name]()))


if __name__ == "__main__":
    main()
